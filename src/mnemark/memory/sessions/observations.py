"""Record executions of tools, list them in the daily note, and archive them after 30 days.

An observation is acknowledged as a journal entry of kind "observe", where search finds it. Its short line in
the daily note is a projection, written when the session ends or with the next sync.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

import msgspec

from mnemark.errors import text_given
from mnemark.files import jsonl
from mnemark.files.ids import new_id
from mnemark.files.journal import FOLDER, Change
from mnemark.files.layout import in_scope
from mnemark.files.truth import rewrite
from mnemark.files.workspace import Workspace
from mnemark.hashes import blake2b
from mnemark.memory import file_edits
from mnemark.memory.journal.sessions import Observed, SessionJournal
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.summary.tool_titles import (
    SIGNIFICANT,
    head_and_tail,
    is_significant,
    outcome_of,
    text_of,
    title_of,
)
from mnemark.text.quoting.memory_poisoning import without_recalled
from mnemark.types import Json, Turn

RESULT_CHARACTERS: Final = 4_000
ARGUMENT_CHARACTERS: Final = 2_000
"""Maximum characters of each text in the arguments."""
ALL_ARGUMENTS: Final = 50_000
"""Maximum characters of all arguments together, as JSON."""
HEADING: Final = "## Observations"
ARCHIVE: Final = "memory/archive/observations"
AGE_DAYS: Final = 30
_SECTION_ENDS: Final = ("# ", "## ", "<!-- mnemark:begin")
"""Prefixes of the line that ends a section."""
AGE_OUT: Final = "age out observations"
_EDIT_TIMEOUT: Final = 0.3


class Observation(NamedTuple):
    """A recorded execution of a tool."""

    id: str
    time: datetime
    session: str
    tool: str
    title: str
    failed: bool


def observe(
    journal: SessionJournal,
    session: str,
    tool: str,
    arguments: Json,
    result: Json,
    *,
    scope: str = "",
    call: str = "",
    error: str | None = None,
    duration_ms: int | None = None,
    time: datetime | None = None,
    tools: Sequence[str] = SIGNIFICANT,
) -> Observation | None:
    """Record an execution of a tool; None where it is not significant or was recorded before.

    Args:
        journal: the session journal of the workspace.
        session: id of the session of the call.
        tool: the host's name of the tool.
        arguments: the arguments of the call, any JSON.
        result: the result, any JSON; it is redacted, then its head and tail are stored.
        scope: the scope of the session.
        call: the host's id of the call; the same id in a session is stored once.
        error: the error, if the host knows it; else it is read from the result.
        duration_ms: the duration of the call.
        time: the time of the call; now by default.
        tools: the significant tools: words of names, shell patterns; "!pattern" excludes.

    Raises:
        UsageError: arguments or result are not JSON.
        BusyError, ReadOnlyError: the observation could not be written, and is not stored.
    """
    workspace = journal.workspace
    workspace.check_writable("observe")
    text_given(tool, "the name of a tool")
    if not is_significant(tool, arguments, tools):
        return None
    tool, arguments, result, error = _without_surrogates((tool, arguments, result, error))
    when = workspace.local(time or workspace.now())
    payload = _payload(workspace, session, tool, arguments, result, call=call, error=error)
    if duration_ms is not None:
        payload["duration_ms"] = duration_ms
    with journal.lock, workspace.truth.change():
        journal.refresh()
        if (scope, session, payload["key"]) in journal.keys:
            return None
        change = Change(kind="observe", payload=payload, origin="tool", scope=scope, id=new_id(), time=when)
        journal.append(change)
    title, failed = str(payload["title"]), bool(payload.get("failed"))
    return Observation(change.id, when, session, str(payload["tool"]), title, failed)


def _without_surrogates(values: tuple[str, Json, Json, str | None]) -> tuple[str, Json, Json, str | None]:
    """Replace lone surrogates, which UTF-8 cannot encode, with "?"."""
    with suppress(TypeError, ValueError, RecursionError):  # redaction raises an error for what is no JSON
        try:
            msgspec.json.encode(values)
        except UnicodeEncodeError:
            tool, arguments, result, error = msgspec.json.decode(jsonl.encode(list(values)))
            return tool, arguments, result, error
    return values


def _payload(
    workspace: Workspace, session: str, tool: str, arguments: Json, result: Json, *,
    call: str, error: str | None,
) -> dict[str, Json]:  # fmt: skip
    outcome = outcome_of(result, error)
    raw = Turn(
        id="", time=datetime.now(UTC), role="tool", origin="tool", content=without_recalled(text_of(result)),
        tool_calls=[{"arguments": arguments}],
        meta={"tool": tool, "error": error or "", "reason": outcome.reason},
    )  # fmt: skip
    clean = workspace.redact(raw)
    given, name = clean.tool_calls[0]["arguments"], str(clean.meta["tool"])
    said = msgspec.json.encode([name, given, clean.content], order="deterministic")
    cut = _cut(given)
    shown = msgspec.json.encode(cut).decode()
    payload: dict[str, Json] = {
        "session": session,
        "tool": name,
        "title": title_of(name, given, outcome._replace(reason=str(clean.meta["reason"]))),
        "arguments": cut if len(shown) <= ALL_ARGUMENTS else head_and_tail(shown, ARGUMENT_CHARACTERS),
        "result": head_and_tail(clean.content, RESULT_CHARACTERS),
        "key": f"call:{call}" if call else blake2b(said, digest_size=12).hexdigest(),
        "failed": outcome.failed or None,
        "error": head_and_tail(str(clean.meta["error"]), ARGUMENT_CHARACTERS) if error else None,
    }
    return {name: value for name, value in payload.items() if value not in ("", None)}


def _cut(value: Json) -> Json:
    if isinstance(value, str):
        return head_and_tail(value, ARGUMENT_CHARACTERS)
    if isinstance(value, Mapping):
        return {key: _cut(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_cut(one) for one in value[:100]]
    return value


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
