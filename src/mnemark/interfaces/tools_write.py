"""Tools that write: a line of today's note, a paragraph of the long-term memory."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from mnemark.errors import BusyError, UsageError
from mnemark.memory.curation.files import curated_files
from mnemark.memory.file_edits import write
from mnemark.text.dates.clock import local_now
from mnemark.text.quoting.fence import strip_fences
from mnemark.text.redaction.redact import redact

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory

STEP: Final = "memory_write"
_LONG_TERM: Final = frozenset(
    {"long-term", "longterm", "long_term", "memory", "memory.md", "memory/memory.md"}
)
_TODAY: Final = frozenset({"", "today", "daily", "note", "notes"})
_LINE: Final = re.compile(r"^", re.MULTILINE)
_TIME: Final = re.compile(r"^- \d\d:\d\d ", re.MULTILINE)


def note(memory: "Memory", text: str, *, target: str = "today", scope: str = "") -> dict[str, Any]:
    """Write `text` down; when this returns it is on the disk.

    The same words a second time change nothing, so that a call may be repeated whose answer was lost.
    Secrets, private passages and recalled blocks are left out.

    Returns:
        `path`, `ref`, `status` ("written" or "unchanged"), `id` of the change (for `mnemark undo`), and
        `redacted`, the kinds of secrets that were taken out.

    Raises:
        UsageError: nothing is left to write, or there is no such target.
        BusyError: someone is saving the file; nothing was written.
    """
    cleaned, found = redact(strip_fences(text), memory.rules)
    words = cleaned.strip().replace("\r\n", "\n")
    if not words:
        raise UsageError(
            "nothing to write: the text is empty once recalled text, secrets and private passages are removed"
        )
    now = local_now(memory.config.timezone)
    folder = _folder(scope)
    day = f"{now:%Y-%m-%d}"
    if _is_long_term(target, folder):
        path = next(iter(curated_files(memory.root, folder)), f"{folder}MEMORY.md")
        added, heading, before, body = _paragraph(words), "# Memory", _LINE, _paragraph(words)
    elif _is_today(target, folder, day):
        path = f"{folder}memory/{day}.md"
        body = words.replace("\n", "\n  ")
        added, heading, before = f"- {now:%H:%M} {body}", f"# {day}", _TIME
    else:
        raise UsageError(f"target must be today or long-term, not {target!r}; other files cannot be written")
    written, first = _append(memory, path, added, heading=heading, there=lambda old: _line(old, before, body))
    last = first + added.count("\n")
    ref = f"{path}#L{first}" + (f"-L{last}" if last > first else "")
    data: dict[str, Any] = {"status": written.status, "path": path, "ref": ref}
    if written.id:
        data["id"] = written.id
    if kinds := sorted({kind for kind, _, _ in found}):
        data["redacted"] = kinds
    return data


def _folder(scope: str) -> str:
    from mnemark.files.scopes import scopes_of

    if scope == "*" or (scope and not scopes_of(scope)):
        raise UsageError(f"scope must be users/NAME, agents/NAME or projects/NAME, not {scope!r}")
    return f"{scope}/" if scope else ""


def _is_long_term(target: str, folder: str) -> bool:
    return target.strip().casefold().removeprefix(folder.casefold()) in _LONG_TERM


def _is_today(target: str, folder: str, day: str) -> bool:
    plain = target.strip().casefold().removeprefix(folder.casefold())
    return plain in _TODAY or plain in {day, f"{day}.md", f"memory/{day}.md"}


def _paragraph(words: str) -> str:
    """One line becomes a bullet; what is laid out already stays as it is."""
    one = "\n" not in words and not re.match(r"[-*+#>|] ?|\d+[.)] |```", words)
    return f"- {words}" if one else words


def _line(text: str, before: re.Pattern[str], body: str) -> int:
    """The line (1-based) in which `body` stands alone behind a match of `before`; 0 where there is none.

    No pattern is made of the words: patterns are kept, and no two notes have the same.
    """
    for match in before.finditer(text):
        end = match.end() + len(body)
        if text.startswith(body, match.end()) and text[end : end + 1] in {"", "\n"}:
            return text.count("\n", 0, match.start()) + 1
    return 0


def _append(
    memory: "Memory", path: str, added: str, *, heading: str, there: Callable[[str], int]
) -> tuple[Any, int]:
    """Add a block on lines of its own, unless it is there; the change and the block's first line."""
    from mnemark.text.markdown.daily_note import added as note_with

    at = 0

    def change(old: str) -> str:
        nonlocal at
        if at := there(old.replace("\r\n", "\n")):
            return old
        text = old if old.strip() else f"{heading}\n\n"
        text, at = note_with(text, added.split("\n"))
        return text

    written = write(memory, path, change, step=STEP)
    if written.status == "deferred":
        raise BusyError(f"another program is saving {path}; nothing was written, try again in a moment")
    memory.searcher.refresher.mark_stale()
    return written, at
