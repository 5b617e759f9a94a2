"""Record executions of tools. A hook does it after each of them: imports stay light.

An observation is acknowledged as a journal entry of kind "observe", where search finds it;
`sessions.observations` lists it in the daily note later.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final, NamedTuple

import msgspec

from mnemark.errors import text_given
from mnemark.files import jsonl, off_record
from mnemark.files.ids import new_id
from mnemark.files.journal import Change
from mnemark.files.workspace import Workspace
from mnemark.hashes import blake2b
from mnemark.memory.journal.sessions import SessionJournal
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
    """Record an execution of a tool; None where it is not significant, known already, or off the record.

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
    if not off_record.load(workspace.root).keeps(when):
        return None
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
