"""Convert exports of other memories: mem0's to facts, claude-mem's to turns."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from mnemark.errors import IntegrityError, NotFoundError, UsageError
from mnemark.files import platform
from mnemark.files.ids import derived_id
from mnemark.files.scopes import folder_name
from mnemark.memory.transfer.importer import Incoming
from mnemark.types import Problem, Turn
from mnemark_adapters.importers.conversations import dicts
from mnemark_adapters.importers.old_layouts import fact_bullets
from mnemark_adapters.importers.source import Source

Record = Mapping[str, Any]
_MILLISECONDS: Final = 1e11
_OBSERVED: Final = ("title", "subtitle", "narrative", "text")
_SUMMED: Final = ("request", "investigated", "learned", "completed", "next_steps", "notes")


def read_mem0(incoming: Incoming, source: Source, _: Mapping[str, str]) -> None:
    """Import the answer of mem0's `get_all`: a JSON list of memories, or `results`.

    Each memory is a fact of origin `import`. Where the export holds several users, each one's facts go to
    that user's scope, so that nobody's memory is mixed into another's.
    """
    path = source.path
    found = _json(path)
    entries = found.get("results", found.get("memories")) if isinstance(found, dict) else found
    if not isinstance(entries, list):
        raise IntegrityError(f"{path.name} is not an export of mem0: it contains no list of memories")
    by_user: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for entry in entries:
        if isinstance(entry, dict) and isinstance(entry.get("memory"), str):
            by_user[str(entry.get("user_id") or "")].append(_memory(entry, incoming))
        else:
            incoming.problems.append(Problem(path.name, "an entry without a memory was skipped"))
    for user, memories in sorted(by_user.items()):
        try:
            scope = f"users/{folder_name(user)}" if user and len(by_user) > 1 else ""
        except UsageError as error:
            incoming.problems.append(Problem(path.name, f"{len(memories)} memories skipped: {error}"))
            continue
        incoming.bullets(scope, fact_bullets(json.dumps(memories).encode()).bullets)


def _memory(entry: Record, incoming: Incoming) -> dict[str, Any]:
    categories = entry.get("categories")
    return {
        "id": entry.get("id"),
        "content": incoming.clean(entry["memory"]),
        "created_at": entry.get("created_at"),
        "updated_at": entry.get("updated_at"),
        "tags": [incoming.clean(str(one)) for one in categories] if isinstance(categories, list) else [],
        "source": "mem0",
    }


def read_claude_mem(incoming: Incoming, source: Source, _: Mapping[str, str]) -> None:
    """Import claude-mem's export: prompts, observations and summaries, by session."""
    path = source.path
    found = _json(path)
    if not isinstance(found, dict) or not isinstance(found.get("observations"), list):
        raise IntegrityError(f"{path.name} is not an export of claude-mem: it contains no observations")
    names = {
        str(one.get("content_session_id") or one.get("claude_session_id")): str(one["memory_session_id"])
        for one in dicts(found.get("sessions"))
        if one.get("memory_session_id")
    }
    sessions: dict[str, list[Turn]] = defaultdict(list)
    for session, turn in _claude_mem_turns(found, names):
        sessions[session].append(turn)
    for session, turns in sorted(sessions.items()):
        incoming.turns("", f"claude-mem:{session}", sorted(turns, key=lambda turn: (turn.time, turn.id)))


def _claude_mem_turns(found: Record, names: Mapping[str, str]) -> Iterator[tuple[str, Turn]]:
    for one in dicts(found.get("prompts")):
        session = str(one.get("content_session_id") or one.get("claude_session_id") or "prompts")
        text = str(one.get("prompt_text") or one.get("text") or "")
        yield names.get(session, session), _turn(one, "prompt", "user", text)
    for one in dicts(found.get("observations")):
        parts = [str(one[name]) for name in _OBSERVED if one.get(name)]
        parts += [f"- {fact}" for fact in _listed(one.get("facts"))]
        yield _session(one), _turn(one, "observation", "assistant", "\n".join(dict.fromkeys(parts)))
    for one in dicts(found.get("summaries")):
        parts = [f"{name.replace('_', ' ').capitalize()}: {one[name]}" for name in _SUMMED if one.get(name)]
        yield _session(one), _turn(one, "summary", "assistant", "\n".join(parts))


def _session(one: Record) -> str:
    return str(one.get("memory_session_id") or one.get("sdk_session_id") or one.get("project") or "unknown")


def _turn(one: Record, kind: str, role: str, text: str) -> Turn:
    moment = _time(one)
    mark = f"claude-mem\n{kind}\n{one.get('id')}\n{text}"
    meta = {name: one[name] for name in ("project", "type") if one.get(name)}
    files = [*_listed(one.get("files_read")), *_listed(one.get("files_modified"))]
    meta |= {"files": files} if files else {}
    return Turn(
        id=derived_id(mark.encode("utf-8", "replace"), moment), time=moment, role=role, content=text,
        origin="owner" if role == "user" else "agent", meta={"imported": f"claude-mem {kind}", **meta},
    )  # fmt: skip


def _time(one: Record) -> datetime:
    for name in ("created_at_epoch", "created_at"):
        value = one.get(name)
        try:
            if isinstance(value, int | float) and not isinstance(value, bool):
                return datetime.fromtimestamp(value / 1000 if value > _MILLISECONDS else value, UTC)
            if isinstance(value, str):
                found = datetime.fromisoformat(value)
                return found if found.tzinfo else found.replace(tzinfo=UTC)
        except (ValueError, OverflowError, OSError):
            continue
    return datetime.fromtimestamp(0, UTC)


def _listed(value: object) -> list[str]:
    """Return a list, or JSON of one, as their database holds it."""
    found: object = value
    if isinstance(value, str):
        try:
            found = json.loads(value)
        except ValueError:
            found = [value] if value.strip() else []
    return [str(item) for item in found if item] if isinstance(found, list) else []


def _json(path: Path) -> Any:
    if not path.is_file():
        raise NotFoundError(f"{path} is not a file; give the exported JSON file")
    try:
        return json.loads(platform.content(path).decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise IntegrityError(f"{path.name} is not JSON: {error}") from error
