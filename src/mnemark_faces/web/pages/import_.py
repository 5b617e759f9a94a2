"""Import: what a file or folder of another program would add, and adding it, beside the page."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mnemark.errors import BusyError
from mnemark.memory.transfer.imports import format_titles, import_from
from mnemark_agents import homes
from mnemark_faces.web.at import At, Go, PageContent
from mnemark_faces.web.background import Work
from mnemark_faces.web.pages.connect import check_free
from mnemark_faces.web.upload import discard, is_upload
from mnemark_interfaces.render import from_home

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory

_KNOWN: Final[dict[str, Callable[[], Path]]] = {
    "claude-code": lambda: homes.claude() / "projects", "codex": lambda: homes.codex() / "sessions",
}  # fmt: skip
"""Where programs keep what can be imported."""
_WAIT: Final = 1.0
"""Seconds that a form waits for what is soon done, so that its page need not be loaded again."""

_NOTHING: Final = dict.fromkeys(("notes", "sessions", "turns", "facts", "proposals"), 0)
_EVERY: Final = 0.2
"""Seconds between two looks at how far it is."""


def show(at: At) -> PageContent:
    """Show the form, what is known to be there, and how far the last import is, or what it would add."""
    known = [(name, from_home(str(folder))) for name, place in _KNOWN.items() if (folder := place()).is_dir()]
    last = None if at.imports is None or at.asked("form") else at.imports.last(at.root)
    running = last is not None and last.running  # once: it may end while the page is made
    about = last.about if last is not None else {}
    found = last.found[-1] if last is not None and last.found else None
    values = {
        "chosen": about.get("format", ""), "path": about.get("path", ""), "me": about.get("me", ""),
        "looks": about.get("do") != "import", "formats": format_titles(), "known": known,
        "shown": _shown(about.get("path", "")),
        "last": last, "running": running, "so_far": found if running and found else _NOTHING,
        "summary": None if running or (last is not None and last.problem) else found,
    }  # fmt: skip
    return PageContent("import.html", values)


def _shown(path: str) -> str:
    """Return how a file is named: one that was sent has a name, and a place of ours."""
    return Path(path).name if is_upload(Path(path)) else path


def bring_in(at: At) -> Go:
    """Begin to look at what would be imported, which changes nothing, or to import it.

    Raises:
        UsageError: the daemon may only open some folders.
        BusyError: another import is going on.
    """
    if not is_upload(Path(at.sent("path"))):
        check_free(at, "import")
    about = {"format": at.sent("format"), "path": at.sent("path").strip(), "do": at.sent("do"),
             "me": at.sent("me").strip()}  # fmt: skip
    if at.imports is not None:
        work = _work(about, look=about["do"] != "import")
        run = at.imports.start(at.root, work, about)
        if run.about != about:
            raise BusyError("another import is going on; begin this one when it has ended")
        run.wait(_WAIT)
    return Go(at.link("import") + "#result")


def _work(about: Mapping[str, str], *, look: bool) -> Work:
    me = [about["me"]] if about["me"] else []

    def work(memory: "Memory", tell: Callable[[Any], None]) -> None:
        told = 0.0

        def so_far(counts: Mapping[str, int]) -> None:
            nonlocal told
            if (now := time.monotonic()) > told + _EVERY:
                told = now
                tell(counts)

        summary = import_from(
            memory.workspace, about["format"], Path(about["path"]), dry_run=look, me=me, progress=so_far
        )
        tell(summary)
        if not look:
            discard(Path(about["path"]))

    return work
