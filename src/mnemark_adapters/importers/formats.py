"""The formats that an import reads, and how each is recognised: a row in a table for each.

A row says by what a file, folder or archive is known: names of files in it, and what such a file shows at its
beginning. So an import needs no name of a format, and what nothing recognises is refused with the list.
"""

import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple

from mnemark.errors import MnemarkError, UsageError
from mnemark.files import layout, manifest, old_layouts
from mnemark.memory.transfer.export.output import MANIFEST
from mnemark.memory.transfer.importer import Incoming
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark_adapters.importers import (
    assistants,
    coding_agents,
    cursor,
    gemini,
    memories,
    telegram,
    wechat,
    whatsapp,
)  # fmt: skip
from mnemark_adapters.importers.source import Look, Member, Source

_LOOKED_AT: Final = 20
"""Files of a folder or archive that are looked at for each format."""
_PERMALINK: Final = lazy_pattern(r"\A---\n(?:[^\n]{0,400}\n){0,20}?permalink: ?\S")
"""Front matter that basic-memory writes."""
_LISTED: Final = 100
"""Files and folders within one that are looked at, for other exports."""
_NOTES: Final = tuple(
    f"*{suffix}" for suffix in layout.SUFFIXES if suffix not in {".html", ".htm", ".xhtml", ".yaml", ".yml"}
)
"""Files that make a folder one of notes. Web pages and settings alone do not: messengers and programs export
such, too. They come with the others."""
_DOCUMENTS: Final = tuple(
    one for one in layout.SUFFIXES if one not in {".csv", ".tsv", ".txt", ".yaml", ".yml"}
)
"""Files that are documents where nothing else recognises them; tables and texts may be exports."""
_EXPORTED: Final = "conversations.json", "conversations-*.json"


class Signature(NamedTuple):
    """What a file shows at its beginning: all of what is given."""

    paths: frozenset[str] = frozenset()
    """Places in its JSON."""
    columns: frozenset[str] = frozenset()
    tables: frozenset[str] = frozenset()
    head: Callable[[str], Any] | None = None
    """Tells whether a text begins so."""

    def fits(self, look: Look) -> bool:
        """Whether a member shows it."""
        return (
            self.paths <= look.paths
            and self.columns <= look.columns
            and self.tables <= look.tables
            and (self.head is None or bool(look.head and self.head(look.head)))
        )


class Format(NamedTuple):
    """A format that can be imported."""

    name: str
    title: str
    expects: str
    """What a source of it is, for messages and the documentation."""
    reader: str
    """Module in this package, and function; it gets the import, the source, and the names of columns."""
    files: tuple[str, ...] = ()
    """Names of the files in a folder or archive that may show it; a single file may have any name."""
    shows: tuple[Signature, ...] = ()
    """Each of them is enough; none: it is not recognised by a file."""
    whole: Callable[[Source], bool] | None = None
    """Tells whether a folder or archive as a whole is of the format."""
    known: str = ""
    """The version, or the month in which the form was current."""

    def read_into(self, incoming: Incoming, source: Source, columns: Mapping[str, str]) -> None:
        """Import a source that is of this format."""
        module, _, function = self.reader.partition(":")
        reader = getattr(import_module(f"mnemark_adapters.importers.{module}"), function)
        reader(incoming, source, columns)

    def is_shown_by(self, source: Source) -> bool:
        """Whether a source is of this format."""
        if self.whole is not None and self.whole(source):
            return True
        return next(self.members_in(source), None) is not None

    def members_in(self, source: Source) -> Iterator[Member]:
        """Yield the first members that show the format."""
        for member in source.matching(*self.files)[:_LOOKED_AT] if self.shows else ():
            if any(one.fits(source.look(member)) for one in self.shows):
                yield member


def _json(*paths: str) -> Signature:
    return Signature(paths=frozenset(paths))


def _is_own_archive(source: Source) -> bool:
    names = {one.name for one in source.members}
    return source.is_archive and (layout.CONFIG in names or manifest.NAME in names or "MEMORY.md" in names)


def _is_of(kind: str) -> Callable[[Source], bool]:
    def is_of(source: Source) -> bool:
        if not source.path.is_dir() or (source.path / MANIFEST).is_file():  # our pages, for people
            return False
        found = old_layouts.detect(source.path)
        return found is not None and found.kind.removesuffix("-data") == kind

    return is_of


def _is_basic_memory(source: Source) -> bool:
    notes = source.matching("*.md")[:_LOOKED_AT] if source.path.is_dir() else []
    return any(_PERMALINK.search(source.look(one).head) for one in notes)


def _has_notes(source: Source) -> bool:
    return not source.is_single and bool(source.matching(*_NOTES))


FORMATS: Final = (
    Format(
        "chatgpt", "ChatGPT", "the archive that ChatGPT sends, its folder, or a conversations.json of it",
        "chatgpt:read", _EXPORTED,
        (_json("item.mapping"), _json("conversations.item.mapping"), _json("mapping")),
        known="2026-11",
    ),
    Format(
        "claude", "Claude", "the archive that Claude sends, its folder, or conversations.json in it",
        "claude:read", _EXPORTED,
        (_json("item.chat_messages"), _json("chat_messages"), _json("conversations.item.chat_messages")),
        known="2026-11",
    ),
    Format(
        "gemini", "Gemini",
        "the archive of Google Takeout, its folder, or MyActivity.json (or .html) of Gemini Apps",
        "gemini:read", gemini.FILES,
        (Signature(frozenset({"item.header", "item.time"}), head=gemini.is_json),
         Signature(head=gemini.is_html)),
        known="2026-09",
    ),
    Format(
        "grok", "Grok", "the archive that xAI sends, or prod-grok-backend.json of it", "assistants:read_grok",
        assistants.GROK_FILES, (_json("conversations.item.conversation", "conversations.item.responses"),),
        known="2026-09",
    ),
    Format(
        "open-webui", "Open WebUI", "the JSON that Open WebUI exports", "assistants:read_open_webui",
        ("*.json",),
        (_json("item.chat.history"), _json("item.chat.messages"), _json("chat.history.messages"),
         _json("item.history.messages"), _json("history.messages", "history.currentId")),
        known="0.6",
    ),
    Format(
        "librechat", "LibreChat", "the JSON that LibreChat exports of a talk, or a folder of them",
        "assistants:read_librechat", ("*.json",), (_json("conversationId", "exportAt"),), known="0.8",
    ),
    Format(
        "copilot", "Microsoft Copilot", "copilot-activity-history.csv of Microsoft's privacy dashboard",
        "assistants:read_copilot", ("*.csv",), (Signature(columns=assistants.COPILOT_COLUMNS),),
        known="2026-02",
    ),
    Format(
        "github-copilot", "GitHub Copilot Chat",
        "the JSON of VS Code's \"Chat: Export Chat…\", or its folder workspaceStorage",
        "coding_agents:read_github_copilot", coding_agents.COPILOT_FILES,
        (_json("requests.item.message", "requests.item.response"), _json("requests", "responderUsername"),
         _json("kind", "v.requests")),
        known="1.110",
    ),
    Format(
        "gemini-cli", "Gemini CLI", "a session of Gemini CLI, or a folder of them (~/.gemini/tmp)",
        "coding_agents:read_gemini_cli", coding_agents.GEMINI_FILES,
        (_json("sessionId", "projectHash"), _json("item.role", "item.parts"), _json("history.item.parts")),
        known="0.61",
    ),
    Format(
        "claude-code", "Claude Code", "a transcript of Claude Code, or a folder of them (~/.claude/projects)",
        "transcripts:read_claude_code", ("*.jsonl",),
        (_json("sessionId", "uuid"), _json("sessionId", "type")),
        known="2026-11",
    ),
    Format(
        "codex", "Codex", "a transcript of Codex, or a folder of them (~/.codex/sessions)",
        "transcripts:read_codex", ("rollout-*.jsonl",), (_json("payload", "timestamp", "type"),),
        known="2026-11",
    ),
    Format(
        "cursor", "Cursor", "state.vscdb of Cursor, or its folder User (globalStorage)", "cursor:read",
        cursor.FILES, (Signature(tables=frozenset({"cursorDiskKV"})),), known="3",
    ),
    Format(
        "opencode", "OpenCode",
        "opencode.db (~/.local/share/opencode), its folder storage, or what `opencode export` wrote",
        "coding_agents:read_opencode", ("opencode*.db", "opencode-*.json"),
        (Signature(tables=frozenset({"session", "message", "part"})),
         _json("info", "messages.item.info", "messages.item.parts")),
        whole=coding_agents.is_opencode_storage, known="1.2",
    ),
    Format(
        "telegram", "Telegram", "result.json that Telegram Desktop exported, or its folder", "telegram:read",
        telegram.FILES,
        (_json("messages.item.date", "messages.item.type"), _json("chats.list"),
         _json("personal_information", "about")),
        known="6",
    ),
    Format(
        "whatsapp", "WhatsApp", "the archive or text of a chat that WhatsApp exported", "whatsapp:read",
        whatsapp.FILES, (Signature(head=whatsapp.is_chat),), known="2026-10",
    ),
    Format(
        "wechat", "WeChat",
        "the text of a chat of WeChat, or the table or text that WeChatMsg (MemoTrace) writes",
        "wechat:read", wechat.FILES, (Signature(columns=wechat.COLUMNS), Signature(head=wechat.is_chat)),
        known="8.0, MemoTrace 2",
    ),
    Format(
        "mcp-memory", "MCP memory server", "memory.jsonl of MCP's memory server", "memories:read_mcp",
        memories.MCP_FILES,
        (_json("entityType", "observations"), _json("relationType", "from", "to")), known="2026-01",
    ),
    Format(
        "mem0", "mem0", "the JSON of mem0's get_all", "other_memories:read_mem0", ("*.json",),
        (_json("results.item.memory"), _json("memories.item.memory"), _json("item.memory")), known="1.0",
    ),
    Format(
        "zep", "Zep", "the JSON of Zep's edges (graph.edge.get_by_user_id) or facts", "memories:read_zep",
        ("*.json",),
        (_json("item.fact", "item.uuid"), _json("edges.item.fact"), _json("facts.item.fact")), known="v3",
    ),
    Format(
        "letta", "Letta", "an agent file of Letta (.af)", "memories:read_letta", ("*.af",),
        (_json("agents.item.agent_type"), _json("core_memory", "agent_type")), known="2026-01",
    ),
    Format(
        "claude-mem", "claude-mem", "the JSON that claude-mem exports", "other_memories:read_claude_mem",
        ("*.json",), (_json("observations.item.memory_session_id"), _json("observations", "summaries")),
        known="7",
    ),
    Format(
        "jsonl", "JSON Lines", "messages, one a line, or an export of mnemark", "messages:read", ("*.jsonl",),
        (_json("role", "content"), _json("messages.item.role"), _json("mnemark")),
    ),
    Format(
        "csv", "CSV", "a table with a line of names, and --columns text=NAME,role=NAME,time=NAME",
        "messages:read_csv", ("*.csv",),
    ),
    Format(
        "zip", "mnemark", "an archive that `mnemark export` or `mnemark backup` wrote", "own:read_zip",
        whole=_is_own_archive,
    ),
    Format("openclaw", "OpenClaw", "the workspace of OpenClaw", "own:read_agent", whole=_is_of("openclaw")),
    Format("nanobot", "nanobot", "the workspace of nanobot", "own:read_agent", whole=_is_of("nanobot")),
    Format("openakita", "OpenAkita", "the folder of OpenAkita", "own:read_agent", whole=_is_of("openakita")),
    Format(
        "basic-memory", "basic-memory", "the folder of notes of basic-memory", "own:read_markdown",
        whole=_is_basic_memory, known="0.16",
    ),
    Format(
        "markdown", "a folder of notes", "a folder or an archive of notes", "own:read_markdown",
        whole=_has_notes,
    ),
)  # fmt: skip
BY_NAME: Final = {one.name: one for one in FORMATS}


def check_name(name: str) -> None:
    """Raise UsageError unless a format has that name."""
    if name not in BY_NAME:
        raise UsageError(f"{name!r} is not an import format; use one of {', '.join(BY_NAME)}, or none")


@contextmanager
def opened(path: Path) -> Iterator[Source]:
    """Open a source for the time of a block; raises as `Source`."""
    source = Source(path)
    try:
        yield source
    finally:
        source.close()


def recognise(source: Source, columns: Mapping[str, str] | None = None) -> Format:
    """Return the format of a source; where columns are named, it is a table, or JSON Lines.

    Raises:
        MnemarkError: nothing recognises it; the message says what can be imported.
    """
    if columns and source.members:
        return BY_NAME["jsonl" if source.look(source.members[0]).paths else "csv"]
    if found := _recognised(source):
        return found
    name = source.path.name
    if inner := others_in(source):
        listed = ", ".join(f"{one.name} ({one.format.title})" for one in inner)
        raise MnemarkError(
            f"nothing was imported: {name} holds {listed}; import each of them by its own path"
        )
    if source.is_single and name.lower().endswith(_DOCUMENTS):
        raise MnemarkError(
            f"nothing was imported: {name} is a document: copy it into the folder of your memory, where it "
            "is searched as it is, or import the folder it is in"
        )
    names = ", ".join(one.title for one in FORMATS)
    raise MnemarkError(
        f"nothing was imported: {name} is of no kind that is recognised. Recognised are {names}; "
        "for a table, name its columns: --columns text=NAME,role=NAME,time=NAME. A text or table that is "
        "none of these is searched as it is in the folder of your memory: copy it there"
    )


def _recognised(source: Source) -> Format | None:
    return next((one for one in FORMATS if one.is_shown_by(source)), None)


class Inner(NamedTuple):
    """An export that lies in a folder beside others."""

    name: str
    format: Format


def others_in(source: Source, chosen: Format | None = None) -> list[Inner]:
    """Return what lies directly in a folder and can be imported, but is not when the folder is.

    Args:
        source: the folder; of all else nothing is returned.
        chosen: the format that the folder is imported as, if any. One that takes a folder as a whole, as
            agents' are, leaves nothing.
    """
    if not source.path.is_dir() or (chosen and chosen.whole and chosen.name != "markdown"):
        return []
    inner = sorted(one for one in source.path.iterdir() if not one.name.startswith("."))
    return [
        Inner(path.name, one)
        for path in inner[:_LISTED]
        if (one := _format_at(path)) and (one is not chosen or zipfile.is_zipfile(path))
    ]


def _format_at(path: Path) -> Format | None:
    """Return the format of a file or folder; None if nothing recognises it, or it cannot be read."""
    if path.is_symlink():
        return None
    try:
        with opened(path) as source:
            return _recognised(source)
    except (MnemarkError, OSError):
        return None
