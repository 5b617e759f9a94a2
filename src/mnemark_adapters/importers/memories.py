"""Read other memories: MCP's memory server, Zep and Letta."""

import json
from collections.abc import Iterator, Mapping
from typing import Final

from mnemark.errors import IntegrityError, NotFoundError
from mnemark.memory.transfer.importer import Incoming
from mnemark_adapters.importers.conversations import (
    Conversation,
    Record,
    dicts,
    message_of,
    moment,
    text_of,
    turns_of,
    words,
)  # fmt: skip
from mnemark_adapters.importers.notes import file_name, note_of
from mnemark_adapters.importers.old_layouts import fact_bullets
from mnemark_adapters.importers.source import Member, Source

MCP_FILES: Final = "memory*.json", "memory*.jsonl"
_OWNER_NAMES: Final = frozenset({"default_user", "default user", "user", "me", "owner"})
_FACT_PLACES: Final = "edges.item", "facts.item", "item"
_EVENTS: Final = frozenset({"heartbeat", "login", "system_alert", "boot", "package_message"})
_LEFT: Final = {"reasoning": "what the model thought", "omitted_reasoning": "what the model thought",
                "redacted_reasoning": "what the model thought", "tool_call": "calls of tools",
                "tool_return": "output of tools", "image": "pictures of a talk are not imported"}  # fmt: skip


def _add(incoming: Incoming, entries: list[Record]) -> None:
    for entry in entries:
        for key in ("content", "subject", "predicate"):
            if words(entry.get(key)):
                entry[key] = incoming.clean(entry[key])
    incoming.bullets("", fact_bullets(json.dumps(entries).encode()).bullets)


def _subject(name: str) -> str:
    return "user" if name.strip().lower() in _OWNER_NAMES else name.strip()


# MCP's memory server


def read_mcp(incoming: Incoming, source: Source, _: Mapping[str, str]) -> None:
    """Import entities and relations of MCP's memory server as facts of origin `import`."""
    entries: list[Record] = []
    for member in source.matching(*MCP_FILES):
        for record in member.records():
            entries.extend(_mcp_facts(record))
    if not entries:
        raise NotFoundError(f"there are no entities of MCP's memory server in {source.path.name}")
    _add(incoming, entries)


def _mcp_facts(record: Record) -> Iterator[Record]:
    name, kind = words(record.get("name")), words(record.get("entityType"))
    observations = record.get("observations")
    for text in observations if isinstance(observations, list) and name else ():
        if isinstance(text, str) and text.strip():
            yield {"id": f"mcp\n{name}\n{text}", "content": text, "subject": _subject(name),
                   "tags": [kind] if kind else [], "source": "mcp memory"}  # fmt: skip
    ends = words(record.get("from")), words(record.get("to")), words(record.get("relationType"))
    if all(ends):
        yield {"id": "mcp\n" + "\n".join(ends), "content": _subject(ends[1]), "subject": _subject(ends[0]),
               "predicate": ends[2].replace("_", " "), "source": "mcp memory"}  # fmt: skip


# Zep


def read_zep(incoming: Incoming, source: Source, _: Mapping[str, str]) -> None:
    """Import the edges of Zep's graph, or its older facts, as facts of origin `import`."""
    entries: list[Record] = []
    for member in source.matching("*.json"):
        if source.is_single or any(place + ".fact" in source.look(member).paths for place in _FACT_PLACES):
            facts = (one for one in member.items(*_FACT_PLACES) if isinstance(one, dict))
            entries.extend(found for one in facts if (found := _zep_fact(one)) is not None)
    if not entries:
        raise NotFoundError(f"there are no facts of Zep in {source.path.name}")
    _add(incoming, entries)


def _zep_fact(edge: Record) -> Record | None:
    text = words(edge.get("fact"))
    if not text.strip():
        return None
    entry: Record = {
        "id": f"zep\n{edge.get('uuid') or text}", "content": text, "source": "zep",
        "created_at": edge.get("valid_at") or edge.get("created_at"),
        "subject": _subject(words(edge.get("source_node_name"))),
    }  # fmt: skip
    if ended := edge.get("invalid_at") or edge.get("expired_at"):
        entry |= {"superseded_by": "later", "updated_at": ended}
    return entry


# Letta


def read_letta(incoming: Incoming, source: Source, _: Mapping[str, str]) -> None:
    """Import agent files of Letta: talks, and blocks of memory as notes.

    What its block on the human says is proposed, too, by lines: nobody said it to this memory.
    """
    done = False
    for member in source.matching("*.af", "*.json") if not source.is_single else source.members:
        found = next(member.items(""), None)
        if not isinstance(found, dict) or not _agents_in(found):
            if source.is_single:
                raise IntegrityError(f"{member.base} is no agent file of Letta: it holds no agent")
            continue
        done = True
        blocks = dicts(found.get("blocks")) or dicts(found.get("core_memory"))
        for agent in _agents_in(found):
            _talk(incoming, member, agent)
            blocks += dicts(agent.get("memory_blocks"))
        for block in blocks:
            _block(incoming, block)
    if not done:
        raise NotFoundError(f"there is no agent file of Letta in {source.path.name}")


def _agents_in(found: Record) -> list[Record]:
    return dicts(found.get("agents")) or ([found] if "core_memory" in found else [])


def _block(incoming: Incoming, block: Record) -> None:
    label, text = words(block.get("label")) or "memory", words(block.get("value"))
    if not text.strip():
        return
    name = words(block.get("id")) or label
    about = {"letta": label, "description": words(block.get("description"))}
    incoming.note(f"imported/letta/{file_name(label, name)}.md", note_of(label, text, about))
    if label.lower() == "human":
        since = moment(block.get("updated_at") or block.get("created_at"))
        for line in text.splitlines():
            if (clean := line.strip().lstrip("-*• ").strip()) and not line.lstrip().startswith("#"):
                incoming.propose(clean, since)


def _talk(incoming: Incoming, member: Member, agent: Record) -> None:
    name = words(agent.get("name")) or member.base.rpartition(".")[0]
    every = dicts(agent.get("messages"))
    messages = [found for one in every if (found := _letta_message(incoming, one)) is not None]
    incoming.turns("", f"letta:{name}", turns_of("letta", Conversation(name, name, None, messages)))


def _letta_message(incoming: Incoming, one: Record) -> Record | None:
    role = words(one.get("role"))
    if role not in {"user", "assistant"}:
        incoming.left("message", "instructions of the agent" if role == "system" else "output of tools")
        return None
    content = one.get("content") if isinstance(one.get("content"), list | str) else one.get("text")
    text = text_of(content, incoming.left, _LEFT)
    said = _packed(text) if role == "user" else _sent(one)
    if said is None:
        incoming.left("message", "an event that Letta told its agent")
        return None
    if role == "assistant" and said and text.strip():
        incoming.left("part of a message", "what the model thought")
    return message_of(one.get("id"), role, said or text, one.get("created_at"))


def _packed(text: str) -> str | None:
    """Return what a person said in what Letta makes of it; None where it is an event."""
    if not text.lstrip().startswith("{"):
        return text
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(found, dict) or "type" not in found:
        return text
    return None if found["type"] in _EVENTS else words(found.get("message")) or text


def _sent(one: Record) -> str:
    """Return what an older agent said by calling a tool; its text is what it thought."""
    texts = []
    for call in dicts(one.get("tool_calls")):
        function = call.get("function")
        if isinstance(function, dict) and function.get("name") == "send_message":
            try:
                given = json.loads(words(function.get("arguments")))
            except (ValueError, RecursionError):
                continue
            texts.append(words(given.get("message")) if isinstance(given, dict) else "")
    return "\n".join(filter(None, texts))
