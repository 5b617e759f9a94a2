"""Run the writing tools: a note, a fact, a correction, and what is forgotten, told in sentences."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import msgspec

from mnemark.errors import BusyError, UsageError
from mnemark.facts.correct import Right
from mnemark.files.noting import taken_in
from mnemark.files.scopes import one_scope
from mnemark.memory.curation.files import curated_files
from mnemark.memory.file_edits import write
from mnemark.memory.memory import Memory
from mnemark.memory.review.correct import ManyMeantError, correct_for_owner, meant
from mnemark.present.facts import sentence, words_for
from mnemark.present.receipts import forgotten
from mnemark.text.dates import local_now
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.markdown.writing import added as note_with
from mnemark.text.quoting.fence import inert, strip_fences

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
        OffRecordError: the memory is off the record.
        UsageError: the text is empty after redaction, or the target is unknown.
        BusyError: another program is saving the file; nothing was written.
    """
    new, kinds = taken_in(memory.root, strip_fences(text), memory.workspace.rules)
    words = new.replace("\r\n", "\n")
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
    return data | ({"redacted": list(kinds)} if kinds else {})


def remember(memory: Memory, value: str, predicate: str | None = None, **given: Any) -> dict[str, Any]:
    """Keep a fact, and return it as a sentence to its owner, in the language of the fact."""
    if predicate is not None and not predicate.strip():
        raise UsageError(
            'memory_remember: the predicate (key) is empty. Name the property, such as "birthday"; '
            "leave it out only where the value is a whole sentence."
        )
    fact = memory.remember(predicate or "", value, origin="agent", **given)
    told = inert(sentence(fact, words_for(fact)))
    data: dict[str, Any] = {"remembered": told, "id": fact.id, "path": fact.path}
    data |= {name: value for name in ("ref", "supersedes") if (value := getattr(fact, name))}
    if not fact.review:
        return {**data, "status": "remembered"}
    warning = f"Not a fact yet ({fact.review}): the user must accept it with `mnemark review`."
    return {**data, "status": "waits for review", "warning": warning}


def correct(memory: Memory, fact: str, scope: str = "", **right: Any) -> dict[str, Any]:
    """Correct a fact for its owner, and return what was so and what is, as sentences.

    Raises:
        UsageError: several facts are meant; the message lists them.
    """
    ws = memory.workspace
    with listed_facts():
        done = correct_for_owner(ws, meant(ws, fact, scope=scope), Right(**right))
    words = words_for(done.before, done.after)
    facts = {"was": done.before, "now": done.after, "holds again": done.again}
    data = {name: inert(sentence(one, words)) for name, one in facts.items() if one} | {"id": done.id}
    if not done.review:
        return {"status": "corrected" if done.after is not None else "never true", **data}
    warning = (
        "Not corrected yet: the user said it themselves, and has not just said otherwise. "
        f"They decide with `mnemark review accept {done.id}`."
    )
    return {"status": "waits for review", **data, "warning": warning}


@contextmanager
def listed_facts() -> Iterator[None]:
    """Let an error that several facts may be meant list them, as sentences."""
    try:
        yield
    except ManyMeantError as many:
        rows = "".join(
            f"\n  {one.id}  {sentence(one, words_for(one))}{f' ({one.scope})' if one.scope else ''}"
            for one in many.found
        )
        raise UsageError(f"{many}:{rows}") from None


def forget(
    memory: Memory,
    ref: str = "",
    query: str = "",
    *,
    erase: bool = False,
    dryRun: bool = False,  # noqa: N803
) -> Any:
    """Forget something, and return the receipt as JSON; its facts are told in sentences."""
    if not ref and not query:
        raise UsageError("memory_forget needs the ref of a row, or a query (the exact text to forget)")
    receipt = memory.forget(ref or None, query=query or None, erase=erase, dry_run=dryRun)
    return msgspec.to_builtins(forgotten(memory.workspace, receipt))


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
