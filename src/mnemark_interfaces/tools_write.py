"""Run the tool that writes a line of today's note or a paragraph of the long-term memory."""

import re
from collections.abc import Callable
from typing import Any, Final

from mnemark.errors import BusyError, UsageError
from mnemark.files import off_record
from mnemark.files.scopes import one_scope
from mnemark.memory.curation.files import curated_files
from mnemark.memory.file_edits import write
from mnemark.memory.memory import Memory
from mnemark.text.dates import local_now
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.markdown.writing import added as note_with
from mnemark.text.quoting.fence import strip_fences
from mnemark.text.redaction.redact import redact

STEP: Final = "memory_write"
_LONG_TERM: Final = frozenset(
    {"long-term", "longterm", "long_term", "memory", "memory.md", "memory/memory.md"}
)
_TODAY: Final = frozenset({"", "today", "daily", "note", "notes"})
_LINE: Final = lazy_pattern(r"^", re.MULTILINE)
_TIME: Final = lazy_pattern(r"^- \d\d:\d\d ", re.MULTILINE)


def note(memory: Memory, text: str, *, target: str = "today", scope: str = "") -> dict[str, Any]:
    """Write `text` to a note durably, without secrets, private passages and recalled blocks.

    Idempotent: the same text a second time changes nothing, so that a call may be retried.

    Returns:
        `path`, `ref`, `status` ("written" or "unchanged"), `id` of the change (for `mnemark undo`) and
        `redacted`, the kinds of secrets taken out.

    Raises:
        UsageError: the text is empty after redaction, or the target is unknown.
        BusyError: another program is saving the file; nothing was written.
    """
    off_record.check(memory.root, "write a note")
    cleaned, found = redact(strip_fences(text), memory.workspace.rules)
    words = cleaned.strip().replace("\r\n", "\n")
    if not words:
        raise UsageError(
            "nothing to write: the text is empty once recalled text, secrets and private passages are removed"
        )
    now = local_now(memory.config.timezone)
    folder = _folder(scope)
    day = f"{now:%Y-%m-%d}"
    plain = target.strip().casefold().removeprefix(folder.casefold())
    if plain in _LONG_TERM:
        path = next(iter(curated_files(memory.root, folder)), f"{folder}MEMORY.md")
        added, heading, before, body = _paragraph(words), "# Memory", _LINE, _paragraph(words)
    elif plain in _TODAY or plain in {day, f"{day}.md", f"memory/{day}.md"}:
        path = f"{folder}memory/{day}.md"
        body = words.replace("\n", "\n  ")
        added, heading, before = f"- {now:%H:%M} {body}", f"# {day}", _TIME
    else:
        raise UsageError(f"target must be today or long-term, not {target!r}; other files cannot be written")
    written, first = _append(memory, path, added, heading=heading, there=lambda old: _line(old, before, body))
    last = first + added.count("\n")
    ref = f"{path}#L{first}" + (f"-L{last}" if last > first else "")
    data = {"status": written.status, "path": path, "ref": ref} | ({"id": written.id} if written.id else {})
    kinds = sorted({kind for kind, _, _ in found})
    return data | ({"redacted": kinds} if kinds else {})


def _folder(scope: str) -> str:
    return f"{one_scope(scope)}/" if scope else ""


def _paragraph(words: str) -> str:
    """Turn one plain line into a bullet; keep Markdown and longer text."""
    one = "\n" not in words and not re.match(r"[-*+#>|] ?|\d+[.)] |```", words)
    return f"- {words}" if one else words


def _line(text: str, before: re.Pattern[str], body: str) -> int:
    """Return the number of the line where only `body` follows a match of `before`, or 0.

    `body` is not compiled into a pattern, as `re` caches patterns and notes differ.
    """
    for match in before.finditer(text):
        end = match.end() + len(body)
        if text.startswith(body, match.end()) and text[end : end + 1] in {"", "\n"}:
            return text.count("\n", 0, match.start()) + 1
    return 0


def _append(
    memory: Memory, path: str, added: str, *, heading: str, there: Callable[[str], int]
) -> tuple[Any, int]:
    """Append a block on lines of its own unless it exists; return the change and the block's first line."""
    at = 0

    def change(old: str) -> str:
        nonlocal at
        if at := there(old.replace("\r\n", "\n")):
            return old
        text = old if old.strip() else f"{heading}\n\n"
        text, at = note_with(text, added.split("\n"))
        return text

    written = write(memory.workspace, path, change, step=STEP)
    if written.status == "deferred":
        raise BusyError(f"another program is saving {path}; nothing was written, try again in a moment")
    return written, at
