"""Read what an event says: its transcript's path, and its turns. Imports stay light."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mnemark.files.ids import derived_id
from mnemark.types import Turn
from mnemark_agents.hook.agents import CALL, Agent, Event, session_of


def transcript_of(agent: Agent, data: Mapping[str, Any]) -> Path | None:
    """Return the path of the transcript that an event names, if turns are read from there."""
    given = data.get("transcript_path")
    if not agent.transcript or not isinstance(given, str) or not given:
        return None
    path = Path(given).expanduser()
    return path if path.is_absolute() and path.suffix == ".jsonl" else None


def turns_of_event(agent: Agent, data: Mapping[str, Any], event: Event) -> list[Turn]:
    """Return the turns in the event itself, for agents whose transcripts are not read."""
    found: list[tuple[str, Any]] = []
    if event == "prompt":
        found.append(("user", data.get("prompt")))
    elif event == "response" and "prompt_response" in data:  # with the prompt it answers
        found += [("user", data.get("prompt")), ("assistant", data.get("prompt_response"))]
    elif event == "response":
        found.append(("assistant", data.get("last_assistant_message") or data.get("text")))
    spoken = [(role, text.strip()) for role, text in found if isinstance(text, str)]
    return [_turn(agent, data, role, text) for role, text in spoken if text]


def exchange_of(data: Mapping[str, Any]) -> str:
    """Return the agent's id of an exchange; empty where it gives none."""
    return next((str(data[k]) for k in ("turn_id", "prompt_id", "generation_id") if data.get(k)), "")


def _turn(agent: Agent, data: Mapping[str, Any], role: str, text: str) -> Turn:
    """Make a turn whose id derives from its text and the id of the exchange, or the number of the call."""
    now = datetime.now(UTC).astimezone()
    exchange = exchange_of(data) or str(data.get(CALL) or "")
    source = f"{session_of(agent, data)}\n{exchange}\n{role}\n{text}"
    identifier = derived_id(source.encode("utf-8", "replace")) if exchange else ""
    origin = "owner" if role == "user" else "agent"
    return Turn(id=identifier, time=now, role=role, content=text, origin=origin, meta={"agent": agent.name})  # type: ignore[arg-type] # one of two
