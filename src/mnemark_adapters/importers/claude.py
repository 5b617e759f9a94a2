"""Read the export of Claude: talks, what it remembers, projects, attached texts and artifacts.

What a tool returned is no turn. Texts that were attached, and artifacts, become notes below
`imported/claude/`: they are found like any other, and the turn names them.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from mnemark.errors import NotFoundError
from mnemark.files.turns import created
from mnemark.memory.transfer.importer import Incoming
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.types import Problem
from mnemark_adapters.importers.conversations import Conversation, Record, dicts, turns_of, words
from mnemark_adapters.importers.notes import file_name, note_of
from mnemark_adapters.importers.source import Member, Source

_SERVICE: Final = "claude"
_FOLDER: Final = "imported/claude"
_TAGGED: Final = lazy_pattern(r"<antArtifact\b([^>]{0,1000})>(.*?)</antArtifact>", re.DOTALL)
_ATTRIBUTE: Final = lazy_pattern(r'(\w{1,40})="([^"]{0,400})"')
_LEFT: Final = {
    "thinking": "what the model thought", "redacted_thinking": "what the model thought",
    "tool_use": "calls of tools", "tool_result": "output of tools",
}  # fmt: skip


def read(incoming: Incoming, source: Source, _: Mapping[str, str]) -> None:
    """Import an export of Claude. Raises NotFoundError if it holds none, IntegrityError if it is damaged."""
    talks = source.matching("conversations.json", "conversations-*.json")
    if not talks:
        raise NotFoundError(f"there is no conversations.json in {source.path}")
    for member in talks:
        for number, record in enumerate(_records(member)):
            talk = _Talk(incoming, record) if isinstance(record, dict) else None
            found = talk.conversation() if talk is not None else None
            if found is None:
                reason = f"conversation {number + 1} cannot be read: skipped"
                incoming.problems.append(Problem(member.base, reason))
            else:
                incoming.turns("", f"{_SERVICE}:{found.id}", turns_of(_SERVICE, found))
    if not source.is_single:
        _beside(incoming, source)


def _records(member: Member) -> Iterator[Any]:
    if "chat_messages" in member.look().paths:
        yield member.json()
    else:
        yield from member.items("conversations.item", "item")


def _beside(incoming: Incoming, source: Source) -> None:
    """Import what lies beside the talks: the memory, and projects with their documents."""
    projects: dict[str, str] = {}
    for member in source.matching("projects.json", "projects/*.json"):
        for project in _all_dicts(member.json()):
            projects[words(project.get("uuid"))] = words(project.get("name"))
            _project(incoming, project)
    for member in source.matching("memories.json"):
        for memory in _all_dicts(member.json()):
            _memory(incoming, memory, projects)


def _all_dicts(value: Any) -> list[Record]:
    return dicts(value) or ([value] if isinstance(value, dict) else [])


def _memory(incoming: Incoming, memory: Record, projects: dict[str, str]) -> None:
    if text := words(memory.get("conversations_memory")).strip():
        incoming.note(f"{_FOLDER}/memory.md", note_of("What Claude remembers", text))
    by_project = memory.get("project_memories")
    for identifier, text in by_project.items() if isinstance(by_project, dict) else ():
        if words(text).strip():
            name = projects.get(identifier) or identifier
            path = f"{_FOLDER}/projects/{file_name(name, identifier)}/memory.md"
            incoming.note(path, note_of(f"What Claude remembers of {name}", text))


def _project(incoming: Incoming, project: Record) -> None:
    name = words(project.get("name")) or "project"
    folder = f"{_FOLDER}/projects/{file_name(name, words(project.get('uuid')))}"
    about = {
        "description": words(project.get("description")),
        "created": words(project.get("created_at"))[:10],
    }
    if instructions := words(project.get("prompt_template")).strip():
        incoming.note(f"{folder}/instructions.md", note_of(f"{name}: instructions", instructions, about))
    elif about["description"]:
        incoming.note(f"{folder}/project.md", note_of(name, about["description"]))
    for doc in dicts(project.get("docs")):
        title, text = words(doc.get("filename")) or "document", words(doc.get("content"))
        if text.strip():
            path = f"{folder}/{file_name(title, words(doc.get('uuid')))}.md"
            incoming.note(path, note_of(title, text, {"project": name}, code=title))


class _Talk:
    """A talk of Claude."""

    def __init__(self, incoming: Incoming, record: Record) -> None:
        self.incoming = incoming
        self.record = record
        self.name = words(record.get("name"))
        self.artifacts: dict[str, Record] = {}

    def conversation(self) -> Conversation | None:
        """Return the talk; None if it is none. What was attached or made in it becomes notes."""
        identifier, messages = self.record.get("uuid"), self.record.get("chat_messages")
        if not isinstance(messages, list) or not identifier:
            return None
        shaped = [one for message in dicts(messages) if (one := self._shaped(message)) is not None]
        for key, made in self.artifacts.items():
            self._keep_artifact(str(identifier), key, made)
        return Conversation(str(identifier), self.name, created(self.record), shaped)

    def _shaped(self, message: Record) -> Record | None:
        sender = message.get("sender")
        if not isinstance(sender, str) or not sender:
            return None
        content, text = message.get("content"), message.get("text")
        if isinstance(content, list) and content:
            content = [part for part in content if self._is_said(part)]
            for part in content:
                self._find_tagged(part.get("text") if isinstance(part, dict) else part)
        else:
            content = words(text)
            self._find_tagged(content)
        role = {"human": "user"}.get(sender, sender)
        shaped: Record = {"id": message.get("uuid"), "role": role, "content": content}
        shaped["attachments"] = [self._attached(message, one) for key in ("attachments", "files")
                                 for one in dicts(message.get(key))]  # fmt: skip
        return shaped | ({"time": message["created_at"]} if message.get("created_at") else {})

    def _is_said(self, part: Any) -> bool:
        """Whether a part of a message is words of a person or Claude; what is not, is kept or counted."""
        if not isinstance(part, dict) or isinstance(part.get("text"), str):
            return True
        kind, given = words(part.get("type")), part.get("input")
        if kind == "tool_use" and isinstance(given, dict) and self._take_artifact(part, given):
            return False
        self.incoming.left("part of a message", _LEFT.get(kind, f"of the kind {kind[:40] or 'none'}"))
        return False

    def _attached(self, message: Record, one: Record) -> Record:
        """Return what a turn says of an attachment, whose text becomes a note."""
        name, text = words(one.get("file_name")) or "attachment", words(one.get("extracted_content"))
        kept = {key: value for key, value in one.items() if key != "extracted_content"}
        if not text.strip():
            self.incoming.left("attachment", "the export has no text of it")
            return kept
        path = f"{_FOLDER}/attachments/{file_name(name, words(message.get('uuid')))}.md"
        about = {"talk": self.name, "date": words(message.get("created_at"))[:10]}
        self.incoming.note(path, note_of(name, text, about, code=name))
        return kept | {"note": path}

    def _take_artifact(self, part: Record, given: Record) -> bool:
        """Note a version of an artifact, or of a file that Claude made; whether it is one."""
        if part.get("name") == "artifacts":
            key = words(given.get("id")) or words(given.get("title"))
            made = self.artifacts.setdefault(key, {})
            made |= {one: given[one] for one in ("title", "type", "language") if given.get(one)}
            if given.get("command") == "update":
                old, new = words(given.get("old_str")), words(given.get("new_str"))
                made["content"] = (
                    words(made.get("content")).replace(old, new, 1) if old else made.get("content")
                )
            elif words(given.get("content")):
                made["content"] = given["content"]
            return True
        if part.get("name") == "create_file" and words(given.get("file_text")):
            path = words(given.get("path"))
            self.artifacts[path] = {"title": path.rpartition("/")[2], "content": given["file_text"]}
            return True
        return False

    def _find_tagged(self, text: Any) -> None:
        """Note artifacts as older talks have them, within the text."""
        for found in _TAGGED.finditer(text) if isinstance(text, str) and "<antArtifact" in text else ():
            about = dict(_ATTRIBUTE.findall(found[1]))
            key = about.get("identifier") or about.get("title") or "artifact"
            self.artifacts[key] = {**about, "content": found[2].strip("\n")}

    def _keep_artifact(self, talk: str, key: str, made: Record) -> None:
        text, title = words(made.get("content")), words(made.get("title")) or key or "artifact"
        if not text.strip():
            self.incoming.left("artifact", "the export has no text of it")
            return
        path = f"{_FOLDER}/artifacts/{file_name(title, talk + key)}.md"
        about = {"talk": self.name, "date": words(self.record.get("updated_at"))[:10]}
        kind = words(made.get("type"))
        code = title if "." in title else words(made.get("language")) or kind
        self.incoming.note(path, note_of(title, text, about, code="" if "markdown" in kind else code))
