"""Take an event of an agent on another machine, which has read there what is of that machine."""

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Self

import msgspec

from mnemark.errors import UsageError
from mnemark.files import layout, platform
from mnemark.files.names import log_name
from mnemark.files.private import drop_session_note, private_folder
from mnemark.files.projects import PERSON, Project, scope_of_session
from mnemark.files.scopes import scope_name
from mnemark.memory.memory import Memory
from mnemark.types import Turn
from mnemark_agents.hook.capture import LOCK, PATIENCE, RecordedSession, unrecorded
from mnemark_agents.hook.event import HookCall
from mnemark_agents.hook.spoken import exchange_of

LOCAL: Final = frozenset({"cwd", "workspace_roots", "transcript_path"})
"""Fields of an event that name places on the machine of the agent: here they would be others."""


class Forwarded(msgspec.Struct, frozen=True, kw_only=True):
    """The body of an event that another machine sends."""

    agent: str
    event: Mapping[str, Any]
    """The agent's JSON, without what is of its machine."""
    turns: Sequence[Turn] = ()
    """What was said and is not sent yet, each with an id: a turn that is sent again is there once."""
    project: str = ""
    """The name of the project that the session belongs to, as `Memory.session` takes it."""
    time: datetime | None = None
    """When it happened."""
    late: bool = False
    """Whether nobody waits for an answer."""
    asks: bool = False
    """Whether an answer is all that is wanted: what is to be recorded comes later."""

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> Self:
        """Return a body as it was sent. Raises UsageError."""
        try:
            found = msgspec.convert(body, cls)
        except msgspec.ValidationError as error:
            raise UsageError(f"invalid event: {error}") from error
        if not all(turn.id for turn in found.turns):
            raise UsageError("invalid event: each turn needs an id, so that it is there once")
        kept = {name: value for name, value in found.event.items() if name not in LOCAL}
        return msgspec.structs.replace(found, event=kept)

    def project_in(self, memory: Memory, session: str) -> Project:
        """Return whose memory a session is: where it began, else the project that was sent.

        Raises:
            UsageError: that cannot be the name of a project.
        """
        begun = scope_of_session(memory.root, log_name(session)) if session else None
        if begun is not None:
            return Project(begun)
        named = self.project if memory.config.projects else ""
        return Project(scope_name(project=named)) if named else PERSON

    def record(self, root: Path, record: RecordedSession, call: HookCall) -> None:
        """Record the turns that are not there yet.

        Raises:
            BusyError: another event of this memory is being recorded for longer than `PATIENCE`.
            MnemarkError: they could not be written.
        """
        if not self.turns:
            return
        with platform.locked(private_folder(root) / LOCK, os.O_RDWR | os.O_CREAT, timeout=PATIENCE):
            there = record.log.known([turn.id for turn in self.turns])
            new = [turn for turn in self.turns if turn.id not in there]
            if not call.agent.transcript:
                new = unrecorded(root, record, new, has_id=bool(exchange_of(call.data)))
            record.add_many(new)
        if call.agent.transcript:
            drop_session_note(root, record.log.name, layout.SAID)
