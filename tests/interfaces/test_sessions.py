"""`mnemark sessions`: what there is, and ending one by hand."""

import json
import os
from pathlib import Path

import pytest

from mnemark import Memory
from mnemark.files import platform

from .conftest import Shell


@pytest.fixture
def workspace(shell: Shell) -> Shell:
    assert shell("init").code == 0
    for role, text in (
        ("user", "Please fix the importer of project Atlas."),
        ("assistant", "Fixed: the importer keeps empty rows."),
        ("user", "好的，谢谢。下一步写迁移指南。"),
    ):
        assert shell("add", text, "--session", "chat:1", "--role", role).code == 0
    return shell


def test_listed_and_ended_once(workspace: Shell) -> None:
    (row,) = workspace("sessions", "--json").data["sessions"]
    assert (row["session"], row["scope"]) == ("chat:1", "")
    assert (row["title"], row["turns"], row["agent"]) == ("Please fix the importer of project Atlas.", 3, "")
    shown = workspace("sessions").out
    assert "  Please fix the importer of project Atlas  chat:1  3 messages · chat\n" in shown
    (ended,) = workspace("sessions", "end", "chat:1", "--json").data["ended"]
    assert (ended["status"], ended["turns"]) == ("ended", 3)
    page = (workspace.folder / ended["episodes"][0]).read_text(encoding="utf-8")
    assert "Fixed: the importer keeps empty rows." in page
    again = workspace("sessions", "end", "chat:1")
    assert (again.code, again.out) == (0, "")
    assert "No new messages" in again.err
    undone = workspace("undo", ended["group"])
    assert undone.code == 0
    assert not (workspace.folder / ended["episodes"][0]).exists()


def test_mistakes_name_the_fix(workspace: Shell) -> None:
    missing = workspace("sessions", "end", "nobody")
    assert (missing.code, "mnemark sessions" in missing.err) == (3, True)
    for wrong in (["begin"], ["end"], ["end", "chat:1", "--idle"]):
        assert workspace("sessions", *wrong).code == 2
    # Somebody may still be speaking: a session that is not silent is left alone.
    assert workspace("sessions", "end", "--idle", "--json").data["ended"] == []


def test_a_list_tells_sessions_apart(workspace: Shell) -> None:
    def add(session: str, *contents: str, meta: str = "{}") -> None:
        lines = [
            json.dumps(
                {"id": f"{session}{at}", "time": "2026-02-14T12:00:00Z", "role": "user", "content": text}
            )
            for at, text in enumerate(contents)
        ]
        lines = [line[:-1] + f', "meta": {meta}}}' for line in lines]
        text = "\n".join([json.dumps({"session": session}), *lines]) + "\n"
        workspace.write(f"sessions/{session}.jsonl", text)

    add("blank", "\u200b \n\n \u3000", "\t你好，\u202e我想 改解析器\n第二行")
    add("long", "长" * 500, meta='{"agent": "claude-code"}')
    add("named", "hello", meta='{"conversation": "搬家"}')
    add("empty")
    add("secret", "my key is sk-" + "a1B2c3D4e5F6g7H8" * 3)
    found = {row["session"]: row for row in workspace("sessions", "--json").data["sessions"]}
    assert found["blank"]["title"] == "你好， 我想 改解析器"
    assert (len(found["long"]["title"]), found["long"]["agent"]) == (80, "claude-code")
    assert found["named"]["title"] == "搬家"
    assert (found["empty"]["title"], found["empty"]["turns"], found["empty"]["last"]) == ("", 0, None)
    assert "a1B2c3D4" not in found["secret"]["title"]
    shown = workspace("sessions").out
    assert "1 message · claude-code\n" in shown
    assert shown.count("\n") == 6
    # What was forgotten is not a title, either.
    workspace("forget", "--session", "named")
    again = {row["session"]: row for row in workspace("sessions", "--json").data["sessions"]}
    assert (again["named"]["title"], again["named"]["turns"]) == ("", 0)


def test_only_the_last_ones_are_listed_and_opened(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory.open(shell.folder) as memory:
        for number in range(5):
            memory.session(f"s{number}").add("user", f"We talk about topic {number}.")
            os.utime(memory.session(f"s{number}").log.path, (number, number))
    opened: list[str] = []
    plain = platform.FS.open_to_read

    def noted(path: Path, *, links: bool = True) -> int:
        opened.append(path.name)
        return plain(path, links=links)

    monkeypatch.setattr(platform.FS, "open_to_read", noted)
    found = shell("sessions", "--last", "2", "--json").data["sessions"]
    assert [one["session"] for one in found] == ["s3", "s4"]
    assert {name[:2] for name in opened if name.endswith(".jsonl") and name.startswith("s")} == {"s3", "s4"}
    assert len(shell("sessions", "--json").data["sessions"]) == 5
    assert shell("sessions", "--last", "0").code == 2
    assert shell("sessions", "end", "s1", "--last", "2").code == 2
