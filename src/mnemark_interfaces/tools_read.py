"""Run the reading tools: lines of a file, the latest entries, the entries around a line."""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import islice
from typing import Any, Final

from mnemark.errors import NotFoundError, UsageError
from mnemark.facts.visible import Visible
from mnemark.files import jsonl, layout
from mnemark.files.names import columns_of, cut_to_columns, split_ref
from mnemark.files.reading import read
from mnemark.files.scopes import scopes_of
from mnemark.files.sessions import SessionLog
from mnemark.files.turns import decode_turn
from mnemark.memory.curation.files import past_lines
from mnemark.memory.memory import Memory
from mnemark.retrieval.corrected import corrected_in
from mnemark.retrieval.read import with_lines
from mnemark.text.dates import local_now
from mnemark.text.dates.ranges import moment
from mnemark.text.quoting.fence import inert, visible
from mnemark.text.words.tokens import cut_to_tokens
from mnemark.types import WHOLE, Problem
from mnemark_interfaces.timeline import LogEntry, Timeline, change_told, words_of

MAX_LINES: Final = 200
MAX_CHARACTERS: Final = 16_000
_ROW_TOKENS: Final = 60
_READ_FACTOR: Final = 4
_BOOKKEEPING: Final = frozenset({"write", "done", "drop", "move", "project", "edit", "confirm"})

Row = dict[str, Any]


def read_lines(memory: Memory, ref: str, start: int | None, count: int | None) -> Row:
    """Return lines of a memory file, escaped; those of a session as `time role: text`.

    A missing file gives an empty `text` and a warning: agents ask for notes of days without one.

    Raises:
        UsageError: the path leaves the workspace, or is not a memory file.
    """
    where, inside = memory.workspace.searcher.located(ref)
    named = _named(ref)
    path, first, last = split_ref(with_lines(where, inside))
    place = _place(where, path)
    first = start or first
    wanted = count or (last - first + 1 if last is not None and start is None else MAX_LINES)
    # The lines of a session are filtered one by one below, as few of very many are read.
    found = read(where.root, path) if place.role == "session" else where.read(path)
    if isinstance(found, Problem):
        return {
            "path": visible(named), "text": "", "warning": inert(found.reason),
            "action": "Look for the right path with memory_search.",
        }  # fmt: skip
    lines = found.text.splitlines()
    columns = columns_of(ref) if start is None and count is None and place.role != "session" else WHOLE
    past = _past(memory, where, path, lines)
    whole = lines[first - 1 : first - 1 + min(wanted, MAX_LINES)]
    chosen = _fitting(
        _with_corrections(
            where,
            path,
            number,
            _turn_text(where, line) if place.role == "session" else _marked(line, past=number in past),
        )
        for number, line in enumerate(cut_to_columns(whole, columns), first)
    )
    row: Row = {
        "path": visible(named), "from": first, "lines": len(chosen), "text": inert("\n".join(chosen)),
        "totalLines": len(lines), "origin": _origin(memory, where, place), "date": place.dated,
    }  # fmt: skip
    following = first + len(chosen)
    if following <= len(lines) and (count is None or len(chosen) < count):
        row |= {"truncated": last is None or len(chosen) < wanted, "nextFrom": following}
    return row


def _named(ref: str) -> str:
    """Return the path in a ref to lines, or to a page."""
    return split_ref(ref)[0].partition("#page=")[0]


def _fitting(lines: Iterable[str]) -> list[str]:
    """Return as many lines as an answer holds, at least one."""
    chosen: list[str] = []
    size = 0
    for line in lines:
        size += len(line) + 1
        if chosen and size > MAX_CHARACTERS:
            break
        chosen.append(line[:MAX_CHARACTERS])
    return chosen


def _place(where: Visible, path: str) -> layout.Place:
    """Classify a path; raise UsageError where it is not a memory file."""
    layout.safe_path(where.root, path)
    place = layout.place(path.replace("\\", "/"))
    if place is None or place.role in {"review", "copy", "journal"}:
        raise UsageError(f"{layout.shown(path)!r} is not a memory file; use a path from memory_search")
    return place


def _past(memory: Memory, where: Visible, path: str, lines: list[str]) -> frozenset[int]:
    """Return the numbers of the lines that state a past fact; this memory knows none of a mount's."""
    return (
        past_lines(memory.workspace, path.replace("\\", "/"), lines)
        if where is memory.workspace.visible
        else frozenset()
    )


def _origin(memory: Memory, where: Visible, place: layout.Place) -> str:
    return place.origin if where is memory.workspace.visible else "import"


def _marked(line: str, *, past: bool) -> str:
    """Return the line, labelled if it states a fact that no longer holds."""
    return f"{line} (past)" if past else line


def _with_corrections(where: Visible, path: str, number: int, text: str) -> str:
    """Return a line with what was corrected in it since."""
    if not text:
        return text
    told = corrected_in(where.corrections.current(), path, (number, number), text)
    return " ".join((text, *(f"[{one}]" for one in told)))


def _turn_text(visible: Visible, line: str) -> str:
    """Render a line of a session; headers and broken lines are only redacted, forgotten turns empty."""
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
    return f"{turn.time:%Y-%m-%d %H:%M} {turn.role}: {words_of(turn)}"


def latest(memory: Memory, given: Row) -> list[Row]:
    """Return the latest entries, oldest first."""
    now = local_now(memory.config.timezone)
    scopes = scopes_of(given.get("scope"))
    timeline = Timeline(memory.workspace.visible, scopes=scopes, zone=now.tzinfo, ignore=memory.config.ignore)
    since = moment(given.get("since"), "since", now)
    count = given.get("limit", 20)
    # Journal entries of edits are useless to an agent; more entries are read to replace them.
    found = timeline.latest(count * _READ_FACTOR, since=since, session=given.get("session") or None)
    found = [entry for entry in found if entry.who not in _BOOKKEEPING or entry.kind != "change"][-count:]
    return [
        {
            "time": entry.time.isoformat(timespec="seconds"), "ref": visible(entry.ref), "kind": entry.kind,
            "origin": entry.origin,
            **({"who": visible(entry.who)} if entry.who else {}),
            **({"session": visible(entry.session)} if entry.session else {}),
            "text": inert(_entry_text(memory, entry)),
        }
        for entry in found
    ]  # fmt: skip


def _entry_text(memory: Memory, entry: LogEntry) -> str:
    """Return the words of an entry, and of a change what it did as a sentence."""
    if entry.kind == "change":
        return cut_to_tokens(change_told(entry, memory.workspace), _ROW_TOKENS)
    path, first, _ = split_ref(entry.ref)
    return _with_corrections(memory.workspace.visible, path, first, cut_to_tokens(entry.text, _ROW_TOKENS))


def around(memory: Memory, ref: str, *, before: int, after: int) -> list[Row]:
    """Return the entries before and after a line: turns of a session, non-blank lines of other files.

    Raises:
        NotFoundError: there is no such file.
        UsageError: the path leaves the workspace, or is not a memory file.
    """
    where, inside = memory.workspace.searcher.located(ref)
    named = visible(_named(ref))
    path, line, last = split_ref(with_lines(where, inside))
    end = line if last is None else last
    place = _place(where, path)
    if not (where.root / path).is_file():
        raise NotFoundError(f"the file {layout.shown(path)} does not exist")
    if place.role == "session":
        return _turns_around(where, path, named, slice(line, end), before=before, after=after)
    document = where.read(path)
    if isinstance(document, Problem):
        raise NotFoundError(f"{layout.shown(path)} {document.reason}")
    whole = document.text.splitlines()
    past = _past(memory, where, path, whole)
    lines = [(number, words) for number, words in enumerate(whole, 1) if words.strip()]
    first = sum(number < line for number, _ in lines)
    beyond = sum(number <= end for number, _ in lines)
    return [
        {"ref": f"{named}#L{number}", "date": place.dated, "origin": _origin(memory, where, place),
         "text": inert(_with_corrections(
             where, path, number, _marked(cut_to_tokens(words, _ROW_TOKENS), past=number in past)
         ))}
        for number, words in lines[max(first - before, 0) : beyond + after]
    ]  # fmt: skip


def _turns_around(
    where: Visible, path: str, named: str, lines: slice, *, before: int, after: int
) -> list[Row]:
    log = SessionLog.at(where.root, path)
    hidden = where.hidden.current().turns
    seen = list(islice(log.turns(), lines.stop + after))
    first = bisect_left(seen, lines.start, key=lambda entry: entry.line)
    beyond = bisect_right(seen, lines.stop, key=lambda entry: entry.line)
    return [
        {"ref": f"{named}#L{entry.line}", "time": entry.turn.time.isoformat(timespec="seconds"),
         "kind": "turn", "origin": entry.turn.origin, "who": visible(entry.turn.role),
         "session": visible(log.id),
         "text": inert(_with_corrections(
             where, path, entry.line, cut_to_tokens(words_of(where.turn(entry.turn)), _ROW_TOKENS)
         ))}
        for entry in seen[max(first - before, 0) : beyond + after]
        if entry.turn.id not in hidden
    ]  # fmt: skip
