"""Import: what a file or folder of another program would add, and adding it."""

from pathlib import Path
from typing import Any, Final

from mnemark.errors import MnemarkError
from mnemark.interfaces.web.at import At, Go, Shown
from mnemark.interfaces.web.pages.connect import check_free
from mnemark.memory.transfer.transfer import FORMATS

_KNOWN: Final = {"claude-code": "~/.claude/projects", "codex": "~/.codex/sessions"}
"""Where programs keep what can be imported."""
_TITLES: Final = {
    "chatgpt": "ChatGPT", "claude": "Claude", "claude-code": "Claude Code", "codex": "Codex",
    "openclaw": "OpenClaw", "openakita": "OpenAkita",
}  # fmt: skip


def show(_: At) -> Shown:
    """Show the form, and what is known to be there."""
    return _shown()


def bring_in(at: At) -> Go | Shown:
    """Show what would be imported, which changes nothing, or import it.

    Raises:
        UsageError: the format is unknown, or the daemon may only open some folders.
    """
    check_free(at, "import")
    chosen: Any = at.sent("format")
    path = at.sent("path").strip()
    look = at.sent("do") != "import"
    try:
        summary = at.memory.import_(chosen, Path(path), dry_run=look)
    except MnemarkError as error:
        return _shown(chosen, path, problem=str(error), status=400)
    if look:
        return _shown(chosen, path, summary=summary)
    at.memory.changed()
    at.tell(
        "Imported: {notes} notes, {turns} turns, {facts} facts", notes=summary.notes, turns=summary.turns,
        facts=summary.facts,
    )  # fmt: skip
    return Go(at.link("timeline"))


def _shown(chosen: str = "", path: str = "", **more: Any) -> Shown:
    known = [(name, folder) for name, folder in _KNOWN.items() if Path(folder).expanduser().is_dir()]
    values = {
        "chosen": chosen, "path": path, "formats": FORMATS, "known": known, "names": _TITLES,
        "summary": None, "problem": "", **more,
    }  # fmt: skip
    return Shown("import.html", values)
