"""List executions of tools in the daily note, and archive them after 30 days.

What `sessions.observing` recorded stands in the journal. Its short line in the daily note is a projection,
written when the session ends or with the next sync.
"""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

import msgspec

from mnemark.files import jsonl
from mnemark.files.journal import FOLDER, Change
from mnemark.files.layout import in_scope
from mnemark.files.truth import rewrite
from mnemark.memory import file_edits
from mnemark.memory.journal.sessions import Observed
from mnemark.memory.open_workspace import OpenWorkspace

HEADING: Final = "## Observations"
ARCHIVE: Final = "memory/archive/observations"
AGE_DAYS: Final = 30
_SECTION_ENDS: Final = ("# ", "## ", "<!-- mnemark:begin")
"""Prefixes of the line that ends a section."""
AGE_OUT: Final = "age out observations"
_EDIT_TIMEOUT: Final = 0.3


def note_down(ws: OpenWorkspace, session: str | None = None, *, timeout: float = _EDIT_TIMEOUT) -> int:
    """Write the observations that no note lists yet to their daily notes; return how many were written.

    Forgotten ones are left out until that is undone. If another program is saving a note, its observations
    are left to the next call.
    """
    if ws.readonly:
        return 0
    with ws.session_journal.fresh() as state:
        waiting: dict[tuple[str, str], list[Observed]] = {}
        hidden = ws.index.hidden.current().turns
        for identifier, seen in state.unnoted():  # only those recorded on this machine
            if identifier not in hidden and session in {None, seen.session}:
                day = _local(ws, seen).date().isoformat()
                waiting.setdefault((seen.change.scope, day), []).append(seen)
        count = 0
        for (scope, day), group in waiting.items():
            path = in_scope(scope, f"memory/{day}.md")
            done = file_edits.write(
                ws, path, _list_in_note(ws, day, group), step="observations", origin="tool",
                session=session or "", timeout=timeout, waits=True,
            )  # fmt: skip
            if done.status != "deferred":
                payload = {"path": path, "ids": [seen.change.id for seen in group]}
                state.append(Change(kind="noted", payload=payload, scope=scope))
                count += len(group)
        return count


def _local(ws: OpenWorkspace, seen: Observed) -> datetime:
    return ws.local(seen.change.time or datetime.now(UTC))


def _list_in_note(ws: OpenWorkspace, day: str, group: Sequence[Observed]) -> Callable[[str], str]:
    def change(text: str) -> str:
        new = []
        for seen in group:
            mark = f"<!-- observed: {seen.change.id} -->"
            if mark not in text:
                new.append(f"- {_local(ws, seen):%H:%M} {_one_line(str(seen.payload['title']))} {mark}")
        return added_below(text or f"# {day}\n", HEADING, new)

    return change


def _one_line(title: str) -> str:
    return " ".join(title.replace("<!--", "<\\!--").split())


def added_below(text: str, heading: str, lines: Sequence[str]) -> str:
    """Return `text` with lines added to the section of that heading, which is appended if missing."""
    if not lines:
        return text
    stop = "\r\n" if "\r\n" in text else "\n"
    rows = text.split(stop)
    at = next((i for i, row in enumerate(rows) if row.strip().casefold() == heading.casefold()), None)
    if at is None:
        gap = "" if text.endswith(stop) else stop
        return text + gap + stop + heading + 2 * stop + stop.join(lines) + stop
    end = next((i for i in range(at + 1, len(rows)) if rows[i].startswith(_SECTION_ENDS)), len(rows))
    while end > at + 1 and not rows[end - 1].strip():
        end -= 1
    gap_lines = [""] if end == at + 1 else []
    after = rows[end:] if end < len(rows) else [""]
    return stop.join([*rows[:end], *gap_lines, *lines, *after])


class Aged(NamedTuple):
    """The result of archiving observations."""

    ids: tuple[str, ...]
    paths: tuple[str, ...]
    deferred: tuple[str, ...]
    """Archive files that another program is saving: their observations are left to the next run."""


def age_out(ws: OpenWorkspace, now: datetime | None = None) -> Aged:
    """Move observations older than `AGE_DAYS`, with all fields, to `memory/archive/observations/<month>.md`.

    The archive is written first, then the lines in this machine's journal are blanked, so that a crash in
    between loses nothing; the move is idempotent. Each machine archives its own observations.
    """
    ws.check_writable("archive")
    limit = (now or ws.now()) - timedelta(days=AGE_DAYS)
    note_down(ws)
    with ws.session_journal.fresh() as state:
        months: dict[tuple[str, str], list[Observed]] = {}
        hidden = ws.index.hidden.current().turns  # hidden by id, which the archive would not respect
        for identifier, seen in sorted(state.observed.items()):
            when = _local(ws, seen)
            past = when < (limit if when.tzinfo else limit.replace(tzinfo=None))
            ours = seen.file == state.journal.file and identifier in state.noted
            if past and ours and identifier not in hidden:
                months.setdefault((seen.change.scope, f"{when:%Y-%m}"), []).append(seen)
        archived: list[str] = []
        paths: list[str] = []
        deferred: list[str] = []
        for (scope, month), group in months.items():
            path = in_scope(scope, f"{ARCHIVE}/{month}.md")
            change = _append_to_archive(ws, month, group)
            done = file_edits.write(ws, path, change, step=AGE_OUT, origin="tool")
            if done.status == "deferred":
                deferred.append(path)
            else:
                paths.append(path)
                archived += [seen.change.id for seen in group]
        if archived:
            state.append(Change(kind="aged", payload={"ids": archived}))
            _blank(ws, frozenset(archived))
            state.refresh()
    return Aged(tuple(archived), tuple(paths), tuple(deferred))


def _append_to_archive(ws: OpenWorkspace, month: str, group: Sequence[Observed]) -> Callable[[str], str]:
    def change(text: str) -> str:
        parts = [text or f"# Observations of {month}\n"]
        for seen in group:
            mark = f"<!-- id: {seen.change.id} | key: {seen.payload.get('key')} -->"
            if mark not in text:
                parts.append(_archive_entry(seen, _local(ws, seen), mark))
        return "\n".join(parts)

    return change


def _archive_entry(seen: Observed, when: datetime, mark: str) -> str:
    payload = seen.payload
    took = f" · {payload['duration_ms']} ms" if payload.get("duration_ms") is not None else ""
    head = f"## {when:%Y-%m-%d %H:%M} {_one_line(str(payload['title']))}\n\n{payload.get('tool')}"
    head += f" · {seen.session}{took} {mark}\n"
    body = [msgspec.json.format(msgspec.json.encode(payload.get("arguments"))).decode()]
    body += [str(payload[name]) for name in ("error", "result") if payload.get(name)]
    text = "\n".join(body)
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{head}\n{fence}text\n{text}\n{fence}\n"


def _blank(ws: OpenWorkspace, ids: frozenset[str]) -> None:
    """Blank the lines of archived observations in this machine's journal, so that line numbers stay."""

    def change(line: jsonl.Line) -> bytes | None:
        record = jsonl.decode(line.data) if b'"observe"' in line.data else None
        gone = record is not None and record.get("kind") == "observe" and record.get("id") in ids
        return b"{}" if gone else None

    rewrite(ws.truth, f"{FOLDER}/{ws.journal.file}", change)
