"""Tools that read: lines of a file, what was written last, what stands around a place."""

import json
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from mnemark.errors import NotFoundError, UsageError
from mnemark.facts.visible import Visible
from mnemark.files import jsonl, layout
from mnemark.files.names import split_ref
from mnemark.files.reading import Document, read
from mnemark.files.scopes import scopes_of
from mnemark.files.sessions import SessionLog
from mnemark.files.turns import decode_turn
from mnemark.interfaces.ledger import Ledger
from mnemark.memory.curation.files import past_lines
from mnemark.text.dates.clock import local_now
from mnemark.text.dates.moment import moment
from mnemark.text.quoting.fence import inert, visible
from mnemark.text.words.tokens import cut_to_tokens
from mnemark.types import Problem, Turn

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory

MOST_LINES: Final = 200
MOST_CHARACTERS: Final = 16_000
_ROW_TOKENS: Final = 60
_BESIDE: Final = 4
_BOOKKEEPING: Final = frozenset({"write", "done", "drop", "move", "project", "edit", "confirm"})

Row = dict[str, Any]


def read_lines(memory: "Memory", ref: str, start: int | None, count: int | None) -> Row:
    """Lines of a memory file, inert; those of a session as `time role: words`.

    A path without a file has an empty `text` and says so: agents ask for notes of days that had none.

    Raises:
        UsageError: the path leaves the workspace, or is no memory file.
    """
    path, first, last = split_ref(ref)
    place = _place(memory, path)
    first = start or first
    wanted = count or (last - first + 1 if last is not None and start is None else MOST_LINES)
    found = _read(memory, path, place)
    if isinstance(found, Problem):
        return {
            "path": visible(path), "text": "", "warning": inert(found.reason),
            "action": "Look for the right path with memory_search.",
        }  # fmt: skip
    lines = found.text.splitlines()
    past = past_lines(memory, path.replace("\\", "/"), lines)
    chosen: list[str] = []
    size = 0
    for number, line in enumerate(lines[first - 1 : first - 1 + min(wanted, MOST_LINES)], first):
        shown = _spoken(memory.visible, line) if place.role == "session" else _told(line, past=number in past)
        size += len(shown) + 1
        if chosen and size > MOST_CHARACTERS:
            break
        chosen.append(shown[:MOST_CHARACTERS])
    row: Row = {
        "path": visible(path), "from": first, "lines": len(chosen), "text": inert("\n".join(chosen)),
        "totalLines": len(lines), "origin": place.origin, "date": place.dated,
    }  # fmt: skip
    following = first + len(chosen)
    if following <= len(lines) and (count is None or len(chosen) < count):
        row |= {"truncated": last is None or len(chosen) < wanted, "nextFrom": following}
    return row


def _place(memory: "Memory", path: str) -> layout.Place:
    """What the path is; only memory can be read."""
    layout.safe_path(memory.root, path)
    place = layout.place(path.replace("\\", "/"))
    if place is None or place.role in {"review", "copy", "journal"}:
        raise UsageError(f"{layout.shown(path)!r} is not a memory file; use a path from memory_search")
    return place


def _read(memory: "Memory", path: str, place: layout.Place) -> Document | Problem:
    """What is visible of a file; a session's lines are taken one by one (`_spoken`), few of very many."""
    return read(memory.root, path) if place.role == "session" else memory.visible.read(path)


def _told(line: str, *, past: bool) -> str:
    """The line, with a word behind it where it tells a fact that does not hold any more."""
    return f"{line} (past)" if past else line


def _spoken(visible: Visible, line: str) -> str:
    """A line of a session as people read it; a header or a broken line as it is; a forgotten one empty."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return visible.redacted(line)
    turn = decode_turn(record, jsonl.Line(0, 1, b"", 0), None) if isinstance(record, dict) else None
    if turn is None:
        return visible.redacted(line)
    if turn.id in visible.hidden.current().turns:
        return ""
    turn = visible.turn(turn)
    return f"{turn.time:%Y-%m-%d %H:%M} {turn.role}: {_words(turn)}"


def _words(turn: Turn) -> str:
    """What was said, or what was called and came back."""
    rest = [list(part) for part in (turn.tool_calls, turn.tool_results) if part]
    called = [json.dumps(part, ensure_ascii=False) for part in rest]
    return " ".join(filter(None, (turn.content, *called)))


def latest(memory: "Memory", given: Row) -> list[Row]:
    """What was written last, oldest first."""
    now = local_now(memory.config.timezone)
    scopes = scopes_of(given.get("scope"))
    ledger = Ledger(memory.visible, scopes=scopes, zone=now.tzinfo, ignore=memory.config.ignore)
    since = moment(given.get("since"), "since", now)
    count = given.get("limit", 20)
    # Bookkeeping of edits stands between what was said and written, and tells an agent nothing.
    found = ledger.latest(count * _BESIDE, since=since, session=given.get("session") or None)
    found = [entry for entry in found if entry.who not in _BOOKKEEPING or entry.kind != "change"][-count:]
    return [
        {
            "time": entry.time.isoformat(timespec="seconds"),
            "ref": visible(entry.ref),
            "kind": entry.kind,
            "origin": entry.origin,
            **({"who": visible(entry.who)} if entry.who else {}),
            **({"session": visible(entry.session)} if entry.session else {}),
            "text": inert(cut_to_tokens(entry.text, _ROW_TOKENS)),
        }
        for entry in found
    ]


def around(memory: "Memory", ref: str, *, before: int, after: int) -> list[Row]:
    """The entries before and after a line: turns of a session, lines with words of any other file.

    Raises:
        NotFoundError: there is no such file.
        UsageError: the path leaves the workspace, or is no memory file.
    """
    path, line, last = split_ref(ref)
    place = _place(memory, path)
    if not (memory.root / path).is_file():
        raise NotFoundError(f"the file {layout.shown(path)} does not exist")
    end = line if last is None else last
    if place.role != "session":
        found = memory.visible.read(path)
        if isinstance(found, Problem):
            raise NotFoundError(f"{layout.shown(path)} {found.reason}")
        whole = found.text.splitlines()
        past = past_lines(memory, path.replace("\\", "/"), whole)
        lines = [(number, words) for number, words in enumerate(whole, 1) if words.strip()]
        first = sum(number < line for number, _ in lines)
        beyond = sum(number <= end for number, _ in lines)
        return [
            {"ref": f"{visible(path)}#L{number}", "date": place.dated, "origin": place.origin,
             "text": inert(_told(cut_to_tokens(words, _ROW_TOKENS), past=number in past))}
            for number, words in lines[max(first - before, 0) : beyond + after]
        ]  # fmt: skip
    log = SessionLog.at(memory.root, path)
    hidden = memory.visible.hidden.current().turns
    seen = list(islice(log.turns(), end + after))
    earlier = [entry for entry in seen if entry.line < line][-before:] if before else []
    there = [entry for entry in seen if line <= entry.line <= end]
    later = [entry for entry in seen if entry.line > end][:after]
    return [
        {"ref": f"{visible(path)}#L{entry.line}", "time": entry.turn.time.isoformat(timespec="seconds"),
         "kind": "turn", "origin": entry.turn.origin, "who": visible(entry.turn.role),
         "session": visible(log.id),
         "text": inert(cut_to_tokens(_words(memory.visible.turn(entry.turn)), _ROW_TOKENS))}
        for entry in (*earlier, *there, *later)
        if entry.turn.id not in hidden
    ]  # fmt: skip
