import json
from datetime import UTC, datetime

import pytest

from mnemark.files.truth import Folder

from .conftest import Shell


@pytest.fixture
def workspace(shell: Shell) -> Shell:
    assert shell("init").code == 0
    return shell


def test_a_line_goes_into_the_note_of_the_day_and_is_found(workspace: Shell) -> None:
    before = datetime.now().astimezone()
    first = workspace("add", "Dentist on 5 March")
    second = workspace("add", "数据库迁移定在周六\n凌晨两点")
    day = f"memory/{before:%Y-%m-%d}.md"
    assert [first.out, second.out] == [f"{day}#L3\n", f"{day}#L4-L5\n"]
    lines = (workspace.folder / day).read_text(encoding="utf-8").splitlines()
    assert lines[0] == f"# {before:%Y-%m-%d}"
    assert lines[2].endswith(" Dentist on 5 March")
    assert lines[4] == "  凌晨两点"
    assert workspace("read", f"{day}#L4-L5").out.endswith("周六\n  凌晨两点\n")
    assert workspace("search", "迁移", "--json").data["hits"][0]["path"] == day


def test_a_turn_goes_into_its_session(workspace: Shell) -> None:
    ran = workspace("add", "Please answer in English.", "--session", "chat:1", "--role", "user", "--json")
    assert ran.data["text"] == "Please answer in English."
    recorded = (workspace.folder / ran.data["ref"]).read_text(encoding="utf-8").splitlines()
    turn = json.loads(recorded[1])
    assert (turn["id"], turn["role"], turn["origin"]) == (ran.data["id"], "user", "owner")
    hit = workspace("search", "answer in English", "--kind", "turn", "--json").data["hits"][0]
    assert hit["path"] == ran.data["ref"]


def test_what_belongs_to_a_user_stays_in_that_users_folder(workspace: Shell) -> None:
    note = workspace("add", "likes tea", "--scope", "users/ann")
    turn = workspace("add", "hello", "--scope", "users/ann", "--session", "s")
    assert note.out.startswith("users/ann/memory/")
    assert turn.out.startswith("users/ann/sessions/")
    assert workspace("log").out == ""
    assert len(workspace("log", "--scope", "users/ann").out.splitlines()) == 2


def test_text_comes_from_stdin(workspace: Shell) -> None:
    assert workspace("add", "-", "--json", stdin="one\ntwo\n").data["text"] == "one\ntwo"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["add", ""], "the text is empty"),
        (["add", "x", "--role", "user"], "--role can only be used with --session"),
        (["add", "x", "--scope", "*"], "name one scope"),
        (["add", "x", "--scope", "../up"], "scope"),
        (["add", "x", "--session", "s", "--scope", "projects/p"], "users/NAME or agents/NAME"),
        (["add", "x", "--session", ""], "a session needs an id"),
    ],
)
def test_mistakes_write_nothing(workspace: Shell, arguments: list[str], words: str) -> None:
    ran = workspace(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert list((workspace.folder / "memory").iterdir()) == []


def test_nothing_is_added_outside_a_workspace(shell: Shell) -> None:
    ran = shell("add", "x")
    assert (ran.code, "create one here with `mnemark init`" in ran.err) == (3, True)
    assert list(shell.folder.iterdir()) == []


def test_the_log_tells_turns_notes_and_changes_in_order(workspace: Shell) -> None:
    from datetime import UTC

    from mnemark.files.journal import Change, Journal

    workspace.write("mnemark.toml", 'timezone = "UTC"\n')
    workspace.write("memory/2026-02-13.md", "# Friday\n\nNo times here.\n")
    workspace.write("memory/2026-02-14.md", "- 09:30 early\n- 18:05 late\n- 25:00 no time\n")
    turns = (
        '{"session":"s"}\n{"id":"1","time":"2026-02-14T12:00:00Z","role":"user","content":"noon\\nbell"}\n'
    )
    workspace.write("sessions/s.jsonl", turns)
    when = datetime(2026, 2, 15, tzinfo=UTC)
    journal = Journal(Folder(workspace.folder), "here")
    done = journal.append(Change(kind="remember", payload={"value": "3.12"}, time=when))
    journal.append(Change(kind="project", payload={"ids": [done.id]}, time=when))
    expected = f"""\
2026-02-13 00:00  memory/2026-02-13.md#L1  Friday
2026-02-14 09:30  memory/2026-02-14.md#L1  early
2026-02-14 12:00  sessions/s.jsonl  user  noon bell
2026-02-14 18:05  memory/2026-02-14.md#L2  late
2026-02-15 00:00  {done.id}  Learned: 3.12.
"""
    assert workspace("log").out == expected
    assert workspace("log", "-n", "2").out == "".join(expected.splitlines(keepends=True)[-2:])
    assert workspace("log", "--since", "2026-02-14T15:00").out.count("\n") == 2
    assert workspace("log", "--session", "s").out.count("\n") == 1
    entry = workspace("log", "--session", "s", "--json").data["entries"][0]
    assert entry == {
        "time": "2026-02-14T12:00:00Z",
        "kind": "turn",
        "ref": "sessions/s.jsonl",
        "origin": "owner",
        "who": "user",
        "session": "s",
        "text": "noon\nbell",
        "id": "",
        "scope": "",
        "takes_back": [],
        "paths": [],
    }


def test_an_undo_is_one_entry_of_the_log(workspace: Shell) -> None:
    workspace("remember", "城市", "杭州")
    workspace("remember", "city", "Beijing")
    workspace("undo")
    *_, last = shown = workspace("log").out.splitlines()
    assert last.endswith("Taken back: you live in Beijing.")
    assert len(shown) == 3
    entry = workspace("log", "--json").data["entries"][-1]
    assert (entry["takes_back"], entry["paths"]) == (["You live in Beijing."], ["memory/facts/user.md"])
    # Twice the same day: each is an entry of its own.
    workspace("undo")
    assert ["Taken back" in line for line in workspace("log").out.splitlines()] == [False, False, True, True]


def test_a_group_taken_back_is_one_entry_of_the_log(workspace: Shell) -> None:
    for role, text in (
        ("user", "请修好导入。"),
        ("assistant", "已经修好了导入。"),
        ("user", "下一步写指南。"),
    ):
        workspace("add", text, "--session", "s", "--role", role)
    group = workspace("sessions", "end", "s", "--json").data["ended"][0]["group"]
    workspace("undo", group)
    shown = workspace("log", "-n", "99").out.splitlines()
    assert sum("Took 3 changes back." in line for line in shown) == 1
    assert shown[-1].endswith("Took 3 changes back.")
    assert len(workspace("log", "--json").data["entries"][-1]["takes_back"]) == 3


def test_a_log_of_nothing_says_so(workspace: Shell) -> None:
    ran = workspace("log")
    assert (ran.code, ran.out, ran.err) == (0, "", "Nothing has been written yet.\n")
    assert workspace("log", "--session", "nope").code == 3


def test_a_note_after_a_session_ended_is_no_part_of_its_summary(workspace: Shell) -> None:
    for role, text in (
        ("user", "请修好导入。"),
        ("assistant", "已经修好了导入。"),
        ("user", "下一步写指南。"),
    ):
        workspace("add", text, "--session", "s", "--role", role)
    workspace("sessions", "end", "s")
    ref = workspace("add", "买牛奶\n两瓶").out.strip()
    (note,) = (workspace.folder / "memory").glob("2*.md")
    text = note.read_text(encoding="utf-8")
    assert text.index("买牛奶") < text.index("<!-- mnemark:begin")
    assert "买牛奶" in workspace("read", ref).out
    before = text
    assert workspace("sessions", "end", "s").code == 0
    assert note.read_text(encoding="utf-8") == before


def test_an_empty_log_names_the_projects_that_have_entries(shell: Shell) -> None:
    shell("init")
    assert "Nothing has been written yet." in shell("log").err
    assert shell("add", "Never push to main.", "--scope", "projects/shop").code == 0
    ran = shell("log")
    assert ran.out == ""
    assert "but in projects/shop: see it with --scope projects/shop, or --scope '*'" in ran.err
    assert "Never push" in shell("log", "--scope", "projects/shop").out
    assert "Never push" in shell("log", "--scope", "*").out
    assert "Nothing has been written since then." in shell("log", "--since", "2999-01-01").err


def test_the_log_shows_no_marks_of_files(workspace: Shell) -> None:
    today = datetime.now(UTC).astimezone()
    line = "- 10:30 Bash: make test <!-- observed: 01JD0000000000000000000000 -->"
    workspace.write(f"memory/{today:%Y-%m-%d}.md", f"# {today:%Y-%m-%d}\n\n{line}\n")
    said = workspace("log").out
    assert "Bash: make test\n" in said
    assert "<!--" not in said
