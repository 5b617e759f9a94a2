"""Read the transcripts of coding agents: Claude Code and Codex.

Session ids are those that the hooks use, so that a session which was captured live and is imported later
stays one session.
"""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from mnemark.errors import NotFoundError
from mnemark.files import jsonl, transcripts
from mnemark.files.disk_errors import unread
from mnemark.memory.transfer.importer import Incoming
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.types import Problem
from mnemark_adapters.importers.source import Source

Agent = Literal["claude-code", "codex"]
_FOLDERS: Final[dict[Agent, str]] = {"claude-code": "~/.claude/projects", "codex": "~/.codex/sessions"}
_ROLLOUT: Final = lazy_pattern(r"rollout-.*?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\Z")
_HEAD_LINES: Final = 50
"""Number of first lines of a transcript that are searched for its session id."""


def read_claude_code(incoming: Incoming, source: Source, _: Mapping[str, str]) -> None:
    """Import the transcripts of Claude Code."""
    _import_transcripts(incoming, source.path, "claude-code")


def read_codex(incoming: Incoming, source: Source, _: Mapping[str, str]) -> None:
    """Import the transcripts of Codex."""
    _import_transcripts(incoming, source.path, "codex")


def _import_transcripts(incoming: Incoming, path: Path, agent: Agent) -> None:
    """Import all transcripts below a folder, or one transcript; skip those of subagents.

    Raises:
        NotFoundError: there are none.
    """
    files = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
    by_session: dict[str, list[Path]] = defaultdict(list)
    for file in filter(Path.is_file, files):  # no folders, and no pipes, which would block
        try:
            session = _session(file, agent)
        except OSError as error:
            incoming.problems.append(Problem(file.name, unread(error)))
            continue
        if session:
            by_session[session].append(file)
        elif not path.is_dir():
            raise NotFoundError(
                f"{path.name} is not a transcript of {agent}; transcripts are in {_FOLDERS[agent]}"
            )
    if not by_session:
        raise NotFoundError(f"no transcripts of {agent} in {path}; they are usually in {_FOLDERS[agent]}")
    for session, parts in sorted(by_session.items()):
        for part in parts:
            try:
                found = [one.turn for one in transcripts.read(part, agent)]
            except OSError as error:
                incoming.problems.append(Problem(part.name, unread(error)))
                continue
            if found:
                incoming.turns("", f"{agent}:{session}", found)


def _session(file: Path, agent: Agent) -> str:
    """Return the session id that hooks use; empty if the file is no transcript, or a subagent's."""
    for line, record in jsonl.records(file):
        if line.number > _HEAD_LINES:
            break
        if agent == "claude-code" and isinstance(found := record.get("sessionId"), str):
            return "" if record.get("isSidechain") is True or record.get("agentId") else found
        payload = record.get("payload")
        if agent == "codex" and record.get("type") == "session_meta" and isinstance(payload, dict):
            named = _ROLLOUT.search(file.stem)
            return str(payload.get("id") or (named[1] if named else "") or "")
    return ""
