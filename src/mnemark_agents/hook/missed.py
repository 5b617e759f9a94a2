"""Keep track of events that a hook could not handle, and make up for them at the next hook that can.

A session whose agent writes a transcript is read from there. What stands nowhere else is lost, and its
session says so, where it is missing. The notes hold no text: agent, session, path of the transcript, event
and time.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import msgspec

from mnemark.errors import MnemarkError
from mnemark.files import jsonl, off_record, platform
from mnemark.files.ids import derived_id
from mnemark.files.private import private
from mnemark.types import Turn
from mnemark_agents.hook import agents
from mnemark_agents.hook.capture import LOCK, PATIENCE, PlainRecord, take_transcript
from mnemark_agents.hook.project import folder_of, project_of

NAME: Final = "hooks-missed.jsonl"
_TAKEN: Final = ".taken"
_WORDS: Final = {"prompt": "message", "response": "message", "tool": "tool call"}
_MAX_WHY: Final = 200


class _Missed(msgspec.Struct, frozen=True, kw_only=True):
    agent: str
    session: str
    event: str
    time: str
    transcript: str = ""
    folder: str = ""
    """That the agent worked in."""
    why: str = ""


def places(root: Path) -> tuple[Path, Path]:
    """Return where notes may be: in the user's folder, and in the workspace where that cannot be written.

    Only notes of the first name transcripts to read: a folder that was cloned could name any of the user's.
    """
    key = derived_id(str(root.resolve()).encode("utf-8", "surrogateescape"))
    return platform.state_folder() / f"{key}-{NAME}", private(root) / NAME


def note(root: Path, event: str, agent: str, data: Mapping[str, Any], error: BaseException) -> None:
    """Note that an event was not handled; nothing where it names no session.

    Raises:
        OSError: there is nowhere to write.
    """
    if off_record.load(root).current():
        return
    known = agents.agent_named(agent) if agent else agents.recognised(data)
    found = agents.event_of(known, event, data) if known is not None else None
    if known is None or found is None or not (session := agents.session_of(known, data)):
        return
    transcript = data.get("transcript_path") if known.transcript else None
    missed = _Missed(
        agent=known.name, session=session, event=found[0], time=_now(),
        transcript=transcript if isinstance(transcript, str) else "", folder=folder_of(data),
        why=f"{type(error).__name__}: {error}"[:_MAX_WHY],
    )  # fmt: skip
    line = msgspec.json.encode(missed) + b"\n"
    outside, inside = places(root)
    try:
        platform.private_folder(outside.parent)
        with platform.open_appended(outside) as file:
            file.write(line)
    except OSError:
        with platform.open_appended(inside) as file:
            file.write(line)


def take_in(root: Path) -> None:
    """Record what was noted; what still cannot be recorded stays noted."""
    with platform.locked(private(root) / LOCK, os.O_RDWR | os.O_CREAT, timeout=PATIENCE):
        outside, inside = places(root)
        for place in (outside, inside):
            taken = place.with_name(place.name + _TAKEN)  # of a killed hook, too
            for path in (taken, place):
                if not path.exists():
                    continue
                if path == place:
                    platform.FS.replace(place, taken)
                _make_up(root, place, taken, trusted=place == outside)


def _make_up(root: Path, place: Path, taken: Path, *, trusted: bool) -> None:
    notes = list(_read(taken))
    if not trusted:
        notes = [msgspec.structs.replace(one, transcript="", folder="") for one in notes]
    notes.sort(key=lambda one: (one.agent, one.session, one.time))
    for (agent, session), group in groupby(notes, key=lambda one: (one.agent, one.session)):
        missed = list(group)
        try:
            _record(root, agent, session, missed)
        except (MnemarkError, OSError):
            with platform.open_appended(place) as file:
                file.write(b"".join(msgspec.json.encode(one) + b"\n" for one in missed))
    platform.FS.unlink(taken)


def _read(path: Path) -> Iterator[_Missed]:
    """Yield the notes of a file; what is damaged, or was put there, must not stop all hooks to come."""
    for line in jsonl.read(path):
        with suppress(msgspec.MsgspecError, ValueError, RecursionError):
            yield msgspec.convert(msgspec.json.decode(line.data), _Missed, strict=False)


def _record(root: Path, agent_name: str, session: str, missed: list[_Missed]) -> None:
    agent = agents.agent_named(agent_name)
    record = PlainRecord(root, session, project_of(root, session, missed[0].folder))
    transcript = next((one.transcript for one in reversed(missed) if one.transcript), "")
    if agent is not None and take_transcript(root, record, agent, {"transcript_path": transcript}):
        missed = [one for one in missed if one.event == "tool"]  # no transcript is read for results
    if gap := _gap(agent_name, session, missed):
        record.add_many([gap])


def _gap(agent: str, session: str, missed: Iterable[_Missed]) -> Turn | None:
    """Return a turn that says what is missing; None where it is nothing that anybody said."""
    lost = [one for one in missed if one.event in _WORDS]
    if not lost:
        return None
    counts = Counter(_WORDS[one.event] for one in lost)
    what = " and ".join(f"{count} {word}{'s' if count > 1 else ''}" for word, count in counts.items())
    text = (
        f"[Missing here: {what}, from {lost[0].time} to {lost[-1].time}, "
        f"when the memory could not be written ({lost[-1].why})]"
    )
    identifier = derived_id(f"{agent}\n{session}\n{text}".encode("utf-8", "replace"))
    now, meta = datetime.now(UTC).astimezone(), {"agent": agent, "missing": len(lost)}
    return Turn(id=identifier, time=now, role="system", content=text, origin="agent", meta=meta)


def _now() -> str:
    return datetime.now(UTC).astimezone().isoformat(timespec="seconds")
