"""Import transcripts that Claude Code and Codex keep, from before mnemark was connected.

Sessions and turns have the ids that their hooks would give them, so that a session that is captured as it
goes and imported later is one session, each turn in it once.
"""

import re
from collections import defaultdict
from pathlib import Path
from typing import Final, Literal

from mnemark.errors import NotFoundError
from mnemark.files import jsonl, transcripts
from mnemark.files.disk_errors import unread
from mnemark.memory.transfer.importer import Incoming
from mnemark.types import Problem

Agent = Literal["claude-code", "codex"]
_WHERE: Final[dict[Agent, str]] = {"claude-code": "~/.claude/projects", "codex": "~/.codex/sessions"}
_ROLLOUT: Final = re.compile(r"rollout-.*?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\Z")
_HEAD: Final = 50
"""Lines in which a transcript names its session."""


def read_transcripts(incoming: Incoming, path: Path, agent: Agent) -> None:
    """All transcripts below a folder, or one file; side conversations of subagents are left out.

    Raises:
        NotFoundError: there are none.
    """
    files = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
    by_session: dict[str, list[Path]] = defaultdict(list)
    for file in filter(Path.is_file, files):  # no folder, and no pipe that nobody writes to
        try:
            session = _session(file, agent)
        except OSError as error:
            incoming.problems.append(Problem(file.name, unread(error)))
            continue
        if session:
            by_session[session].append(file)
        elif not path.is_dir():
            raise NotFoundError(
                f"{path.name} is not a transcript of {agent}; transcripts are in {_WHERE[agent]}"
            )
    if not by_session:
        raise NotFoundError(f"no transcripts of {agent} in {path}; they are usually in {_WHERE[agent]}")
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
    """The session's id, as hooks call it; empty where the file is no transcript, or a subagent's."""
    for line, record in jsonl.records(file):
        if line.number > _HEAD:
            break
        if agent == "claude-code" and isinstance(found := record.get("sessionId"), str):
            return "" if record.get("isSidechain") is True or record.get("agentId") else found
        payload = record.get("payload")
        if agent == "codex" and record.get("type") == "session_meta" and isinstance(payload, dict):
            named = _ROLLOUT.search(file.stem)
            return str(payload.get("id") or (named[1] if named else "") or "")
    return ""
