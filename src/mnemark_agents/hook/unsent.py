"""Read what was said and is not on a server yet."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from mnemark.files import transcripts
from mnemark_agents.hook.agents import Agent, Event
from mnemark_agents.hook.event import without_ours
from mnemark_agents.hook.spoken import transcript_of, turns_of_event

_BATCH: Final = 200
"""Maximum number of turns in one request."""
_BATCH_CHARACTERS: Final = 500_000
"""Characters of turns after which the next ones are another request; a server takes 8 MB."""


def turns(
    agent: Agent, event: Event, data: Mapping[str, Any], transcript: str, end: int
) -> tuple[list[list[Any]], str, int]:
    """Return the turns that an event tells of, in batches of plain JSON.

    Args:
        agent: the sender.
        event: by mnemark's name.
        data: the event.
        transcript: the name of the transcript that was read before.
        end: where in it.

    Returns:
        Beside them the transcript, and how far it is read now.
    """
    path = transcript_of(agent, data)
    if path is None:
        found = turns_of_event(agent, without_ours(data), event)
        return [msgspec.to_builtins(found)] if found else [], transcript, end
    if not path.is_file():  # it is read by the next hook
        return [], transcript, end
    is_same = transcript == path.name and end <= path.stat().st_size  # else it was rewritten
    end = end if is_same else 0
    batches: list[list[Any]] = []
    size = _BATCH_CHARACTERS
    for one in transcripts.read(path, agent.name, end):
        if size >= _BATCH_CHARACTERS or len(batches[-1]) == _BATCH:
            batches.append([])
            size = 0
        batches[-1].append(msgspec.to_builtins(one.turn))
        size, end = size + len(one.turn.content), one.end
    return batches, path.name, end
