"""A key in the id of a session reaches no file, no name and no answer; other ids stay as they are."""

import json
import secrets
import uuid
from pathlib import Path

import pytest

from forked import mnemark
from mnemark import Memory
from mnemark.files.sessions import SessionLog

KEY = "ghp_" + secrets.token_hex(18)


@pytest.mark.parametrize("identifier", ["{}", "telegram:{}", "{}/x", "bot {} chat"])
def test_a_key_in_an_id_is_nowhere(tmp_path: Path, identifier: str) -> None:
    identifier = identifier.format(KEY)
    with Memory.open(tmp_path / "w", config={"embedder": "none"}) as memory:
        session = memory.session(identifier)
        session.add("user", "The walrus pays nine crowns to the keeper, every day.")
        session.observe("exec", {"command": "make"}, "all built, nothing to do")
        session.add("assistant", "Noted: nine crowns.")
        session.end()
        memory.sync()
        found = memory.search("walrus crowns")
        assert found.hits
        assert KEY not in f"{found.text} {found.hits}"
        assert [turn.role for turn in memory.session(identifier).last()] == ["user", "assistant"]
        memory.session(identifier).add("user", "And ten on Sundays.")
        assert len(list((tmp_path / "w/sessions").glob("*.jsonl"))) == 1
    for path in (tmp_path / "w").rglob("*"):
        assert KEY not in str(path)
        assert not path.is_file() or KEY.encode() not in path.read_bytes()


def test_a_hook_with_a_key_for_an_id_writes_it_nowhere(tmp_path: Path) -> None:
    root = tmp_path / "w"
    Memory.open(root).close()
    said = {"session_id": KEY, "cwd": str(root), "prompt": "What does the walrus pay the keeper these days?"}
    for event in ("prompt", "session-end"):
        words = ["hook", event, "--agent", "cursor", "--alone", "-w", str(root)]
        assert mnemark(*words, given=json.dumps(said | {"conversation_id": KEY})).returncode == 0
    for path in root.rglob("*"):
        assert KEY not in str(path)
        assert not path.is_file() or KEY.encode() not in path.read_bytes()


RANDOM = {
    "uuid": str(uuid.uuid4()), "agent": f"claude-code:{uuid.uuid4()}", "hash": secrets.token_hex(32),
    "plain": "cli:main", "chinese": "会话一", "chat": "telegram:123456789",
    "token": secrets.token_urlsafe(24), "thread": f"thread_{secrets.token_hex(12)}",
}  # fmt: skip


@pytest.mark.parametrize("kind", RANDOM)
def test_an_id_that_is_only_random_stays(tmp_path: Path, kind: str) -> None:
    assert SessionLog(tmp_path, RANDOM[kind]).id == RANDOM[kind]
