"""Implement `tui`: the panel in a terminal."""

import sys
from importlib.util import find_spec

from mnemark.errors import UsageError
from mnemark_interfaces import options, output, workspace


def tui(*, workspace_: options.Workspace = None) -> None:
    """Look at memory, decide what waits, and take changes back, in a panel.

    Shows Search, Timeline, Facts, Review, Changes and Health. All is done with keys: ? lists them. It needs
    the extra "tui", and a terminal.
    """
    if find_spec("textual") is None:
        raise UsageError(
            'the panel needs Textual; in the folder of mnemark\'s source, run: pip install ".[tui]"'
        )
    if not (output.is_terminal(sys.stdin) and output.is_terminal(output.stdout())):
        raise UsageError(
            "the panel needs a terminal; for scripts, use the other commands, such as `mnemark search`"
        )
    root = workspace.locate(workspace_)
    from mnemark_faces.tui.app import run
    from mnemark_faces.tui.words import PanelWords

    raise SystemExit(run(root, PanelWords.of_terminal()))
