"""Taking a memory elsewhere and bringing others in: nothing lost, nothing twice, nothing overwritten."""

import json
import os
import re
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from faults.logical import LEXICAL
from mnemark.errors import IntegrityError, MnemarkError, NotFoundError, UsageError
from mnemark.files.journal import changes_of
from mnemark.memory.memory import Memory
from mnemark.memory.transfer.export.export import export_folder
from mnemark.memory.transfer.imports import format_titles, import_from
from mnemark.memory.transfer.transfer import export_workspace

QUERIES = ["python", "数据库", "first turn", "nested"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "w"
    for name, text in {
        "MEMORY.md": "# Memory\r\n\r\npython is 3.12\r\n",
        "memory/2026-02-13.md": "# Day\n\n数据库系统\n\n```py\nx = 1\n```\n",
        "users/ann/notes/a.txt": "nested words\n" * 300,
        "memory/x.conflict-20260213T101500-01J.md": "a copy\n",
        "sessions/foreign.jsonl": '{"role": "user", "content": "foreign python"}\n{"torn',
        "mnemark.toml": 'owner = "Ann"\n',
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())
    with Memory.open(folder, config=LEXICAL) as memory:
        memory.session("cli:main").add("user", "the first turn", meta={"k": [1]})
        memory.session("cli:main", user="ann").add("assistant", "nested turn\n第二行")
        memory.sync()
    return folder


def opened(root: Path) -> Memory:
    return Memory.open(root, config=LEXICAL)


def texts(root: Path) -> list[tuple[str, str]]:
    with opened(root) as memory:
        memory.sync()
        return [
            (hit.text, hit.scope) for query in QUERIES for hit in memory.search(query, scope="*", k=20).hits
        ]


def tree(root: Path) -> dict[str, bytes]:
    found = {
        path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()
    }
    return {name: data for name, data in found.items() if not name.startswith((".mnemark", "journal/"))}


@pytest.mark.parametrize("form", ["zip", "jsonl"])
def test_there_and_back(root: Path, tmp_path: Path, form: Any) -> None:
    target = tmp_path / f"out.{form}"
    with opened(root) as memory:
        done = export_workspace(memory.workspace, target, format=form)
        again = tmp_path / "again"
        export_workspace(memory.workspace, again, format=form)
        assert target.read_bytes() == again.read_bytes()
        assert done.bytes == target.stat().st_size
        before = tree(root)
        same = import_from(memory.workspace, form, target)
        assert not same.notes + same.turns
        assert tree(root) == before
    assert b".mnemark/" not in target.read_bytes()
    with opened(tmp_path / "other") as memory:
        planned = import_from(memory.workspace, form, target, dry_run=True)
        assert not tree(tmp_path / "other")
        summary = import_from(memory.workspace, form, target)
        assert (summary.notes, summary.turns) == (planned.notes, planned.turns)
        assert summary.notes >= 3
        twice = import_from(memory.workspace, form, target)
        assert not twice.notes + twice.turns + twice.sessions
    assert sorted(texts(tmp_path / "other")) == sorted(texts(root))
    assert (tmp_path / "other/MEMORY.md").read_bytes() == (root / "MEMORY.md").read_bytes()


def test_what_is_there_is_never_overwritten(root: Path, tmp_path: Path) -> None:
    with opened(root) as memory:
        export_workspace(memory.workspace, tmp_path / "out.zip")
    (root / "MEMORY.md").write_text("by hand\n")
    with opened(root) as memory:
        assert import_from(memory.workspace, "zip", tmp_path / "out.zip").notes == 1
        assert import_from(memory.workspace, "zip", tmp_path / "out.zip").notes == 0
    assert (root / "MEMORY.md").read_text() == "by hand\n"
    assert "3.12" in (root / "MEMORY.imported.md").read_text()


def test_an_archive_cannot_write_elsewhere(tmp_path: Path) -> None:
    names = ["../out.md", "/tmp/out.md", "a/../../out.md", ".mnemark/index.db", ".git/config.md",
             "mnemark.toml", "C:out.md", "a\\..\\..\\out.md", "run.sh", "good.md"]  # fmt: skip
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        for name in names:
            archive.writestr(name, "planted")
    with opened(tmp_path / "w") as memory:
        summary = import_from(memory.workspace, "zip", tmp_path / "x.zip")
    assert summary.paths == ("good.md",)
    assert len(summary.problems) == len(names) - 1
    assert set(tree(tmp_path / "w")) == {"good.md"}
    assert not (tmp_path / "out.md").exists()


def test_markdown_of_others(root: Path, tmp_path: Path) -> None:
    with opened(tmp_path / "other") as memory:
        assert import_from(memory.workspace, "markdown", root).notes == 3
        assert import_from(memory.workspace, "markdown", root).notes == 0
        assert memory.search("数据库").hits[0].path == "imported/w/memory/2026-02-13.md"


def chatgpt() -> list[dict[str, Any]]:
    def node(name: str, parent: str | None, message: dict[str, Any] | None) -> dict[str, Any]:
        return {"id": name, "parent": parent, "children": [], "message": message}

    def said(name: str, role: str, text: str, time: float | None) -> dict[str, Any]:
        content = {"content_type": "text", "parts": [text]}
        return {"id": name, "author": {"role": role}, "create_time": time, "content": content}

    nodes = [
        node("r", None, None),
        node("s", "r", said("s", "system", "", None)),
        node("a", "s", said("a", "user", "Which database?", 1767225600.5)),
        node("b", "a", said("b", "assistant", "SQLite.", 1767225660.0)),
        node("b2", "a", said("b2", "assistant", "A branch not shown.", 1767225665.0)),
        node("c", "b", said("c", "user", "The key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789", None)),
    ]
    mapping = {entry["id"]: entry for entry in nodes}
    first = {
        "id": "c1",
        "title": "Databases",
        "create_time": 1767225600.0,
        "mapping": mapping,
        "current_node": "c",
    }
    return [first, {"broken": 1}, {"id": "c2", "title": "", "mapping": {"x": nodes[2]}}]


def claude() -> list[dict[str, Any]]:
    messages = [
        {"uuid": "m1", "sender": "human", "text": "你好", "created_at": "2026-01-02T03:04:05Z",
         "attachments": [{"file_name": "a.txt", "extracted_content": "words"}]},
        {"uuid": "m2", "sender": "assistant", "text": "", "created_at": "2026-01-02T03:04:06Z",
         "content": [{"type": "text", "text": "Hello there"}]},
    ]  # fmt: skip
    return [
        {"uuid": "k1", "name": "Greeting", "created_at": "2026-01-02T03:04:00Z", "chat_messages": messages}
    ]


def as_file(folder: Path, data: object) -> Path:
    (folder / "conversations.json").write_text(json.dumps(data), "utf-8")
    return folder / "conversations.json"


def as_folder(folder: Path, data: object) -> Path:
    return as_file(folder, data).parent


def as_archive(folder: Path, data: object) -> Path:
    with zipfile.ZipFile(folder / "export.zip", "w") as archive:
        archive.writestr("data/conversations.json", json.dumps(data))
    return folder / "export.zip"


@pytest.mark.parametrize("packed", [as_file, as_folder, as_archive])
def test_conversations_of_chatgpt(tmp_path: Path, packed: Callable[[Path, object], Path]) -> None:
    source = packed(tmp_path, chatgpt())
    with opened(tmp_path / "w") as memory:
        summary = import_from(memory.workspace, "chatgpt", source)
        assert (summary.sessions, summary.turns, summary.redacted) == (2, 4, 1)
        assert len(summary.problems) == 1
        assert import_from(memory.workspace, "chatgpt", source).turns == 0
        turns = memory.session("chatgpt:c1").last()
        assert [turn.role for turn in turns] == ["user", "assistant", "user"]
        assert [turn.origin for turn in turns] == ["owner", "agent", "owner"]
        assert turns[0].time.isoformat().startswith("2026-01-01T00:00:00")
        assert "sk-proj" not in turns[2].content
        # The other conversation asks the same and has no title: which of the two is first does not matter.
        titles = [hit.meta.get("conversation") for hit in memory.search("database").hits[:2]]
        assert "Databases" in titles
        assert not memory.search("branch").hits


def test_conversations_of_claude(tmp_path: Path) -> None:
    source = as_file(tmp_path, claude())
    with opened(tmp_path / "w") as memory:
        assert import_from(memory.workspace, "claude", source).turns == 2
        assert import_from(memory.workspace, "claude", source).turns == 0
        turns = memory.session("claude:k1").last()
        assert [(turn.role, turn.content) for turn in turns] == [
            ("user", "你好"),
            ("assistant", "Hello there"),
        ]
        assert turns[0].attachments
        assert str(turns[0].time).startswith("2026-01-02 03:04:05")


def test_a_conversation_that_went_on_gains_its_new_turns(tmp_path: Path) -> None:
    data = claude()
    with opened(tmp_path / "w") as memory:
        import_from(memory.workspace, "claude", as_file(tmp_path, data))
        more = {"uuid": "m3", "sender": "human", "text": "more", "created_at": "2026-01-02T03:05:00Z"}
        data[0]["chat_messages"].append(more)
        assert import_from(memory.workspace, "claude", as_file(tmp_path, data)).turns == 1
        assert [turn.content for turn in memory.session("claude:k1").last()] == [
            "你好",
            "Hello there",
            "more",
        ]


def test_messages_of_openai(tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    lines = [
        {"role": "user", "content": "alpha"},
        {"role": "assistant", "content": [{"type": "text", "text": "beta"}]},
    ]
    file.write_text(
        "\n".join(json.dumps(line) for line in lines) + "\n" + json.dumps({"messages": lines}) + "\n"
    )
    with opened(tmp_path / "w") as memory:
        assert import_from(memory.workspace, "jsonl", file).turns == 4
        assert import_from(memory.workspace, "jsonl", file).turns == 0
        assert {hit.text for hit in memory.search("alpha beta").hits} == {"alpha", "beta"}


def test_an_import_that_was_cut_off_goes_on(tmp_path: Path) -> None:
    lines = [json.dumps({"id": f"c{number}", "messages": [{"role": "user", "content": f"word {number}"}]})
             for number in range(300)]  # fmt: skip
    file = tmp_path / "talks.jsonl"
    file.write_text("\n".join(lines), "utf-8")

    def stop(counts: Mapping[str, int]) -> None:
        if counts["turns"] == 120:
            raise KeyboardInterrupt

    with opened(tmp_path / "w") as memory:
        with pytest.raises(KeyboardInterrupt):
            import_from(memory.workspace, "", file, progress=stop)
        memory.remember("city", "Oslo")  # nobody has to wait for the end of an import
        rest = import_from(memory.workspace, "", file)
        assert (rest.turns, rest.same) == (181, 119)
        logs = [one.read_text("utf-8") for one in (tmp_path / "w/sessions").glob("*.jsonl")]
        assert sorted(re.findall(r"word \d+", "".join(logs))) == sorted(f"word {one}" for one in range(300))
        named = {path for change in changes_of(memory.root, ("import",)) for path in change.fields["files"]}
        assert len(named) == 300


@pytest.mark.parametrize("form", ["", *format_titles()])
@pytest.mark.parametrize("data", [b"", b"\0\1\2", b"[1, 2]", b"{}", b'{"a": ' * 50_000, b"PK\x03\x04 broken"])
def test_what_is_none_of_these_says_so(tmp_path: Path, form: Any, data: bytes) -> None:
    (tmp_path / "x").write_bytes(data)
    with opened(tmp_path / "w") as memory, pytest.raises(MnemarkError):
        import_from(memory.workspace, form, tmp_path / "x")
    assert not tree(tmp_path / "w")


@pytest.mark.parametrize("form", ["chatgpt", "telegram"])
def test_json_of_any_depth_is_refused_at_its_beginning(tmp_path: Path, form: str) -> None:
    (tmp_path / "x").write_bytes(b'{"a": ' * 1_000_000)  # to read all of it would take minutes
    with opened(tmp_path / "w") as memory, pytest.raises(IntegrityError, match="nested too deeply"):
        import_from(memory.workspace, form, tmp_path / "x")


def test_wrong_arguments(root: Path, tmp_path: Path) -> None:
    wrong: Any = "docx"
    with opened(root) as memory:
        for target in (tmp_path, root / "MEMORY.md", root / "sessions/new.jsonl"):
            with pytest.raises(UsageError):
                export_workspace(memory.workspace, target)
        with pytest.raises(UsageError):
            export_workspace(memory.workspace, tmp_path / "x", format=wrong)
        with pytest.raises(UsageError):
            import_from(memory.workspace, wrong, tmp_path)
        with pytest.raises(NotFoundError):
            import_from(memory.workspace, "zip", tmp_path / "missing")
        with pytest.raises(MnemarkError):
            export_workspace(memory.workspace, tmp_path / "no/such/folder.zip")


@pytest.mark.parametrize("form", ["openclaw", "nanobot", "openakita"])
def test_agents_folders(tmp_path: Path, form: Any) -> None:
    old = tmp_path / "old"
    (old / "memory").mkdir(parents=True)
    (old / "memory/2026-01-01.md").write_text("# Day\n\nalpha\n")
    (old / "MEMORY.md").write_text("# Memory\n")
    with opened(tmp_path / "w") as memory:
        assert import_from(memory.workspace, form, old, dry_run=True).notes == 2
        assert import_from(memory.workspace, form, old).notes == 2
        assert import_from(memory.workspace, form, old).notes == 0
        assert memory.search("alpha").hits


@pytest.mark.parametrize("form", ["zip", "jsonl"])
def test_what_was_erased_does_not_come_back_from_an_export(tmp_path: Path, form: Any) -> None:
    with opened(tmp_path / "w") as memory:
        session = memory.session("cli:a")
        gone = [session.add("user", text).id for text in ("one", "the word is QUAGGA", "another")][1]
        export_workspace(memory.workspace, tmp_path / "old", format=form)
        memory.forget(id=gone, erase=True)
        assert import_from(memory.workspace, form, tmp_path / "old").turns == 0
    assert not [name for name, data in tree(tmp_path / "w").items() if b"QUAGGA" in data]


def test_what_is_in_an_archive_is_redacted_and_erases_nothing(tmp_path: Path) -> None:
    turn = {"id": "01HZZZZZZZZZZZZZZZZZZZZZZZ", "role": "user", "content": "key AKIAIOSFODNN7EXAMPLE"}
    payload = {"erase": True, "files": ["MEMORY.md"], "lines": {"MEMORY.md": [["00"]]}}
    erase = {"id": "01HZZZZZZZZZZZZZZZZZZZZZZY", "time": "2026-01-01T00:00:00Z", "kind": "forget",
             "origin": "owner", "payload": payload}  # fmt: skip
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("sessions/x.jsonl", json.dumps(turn) + "\n")
        archive.writestr("journal/other.jsonl", json.dumps(erase) + "\n")
    (tmp_path / "w").mkdir()
    (tmp_path / "w/MEMORY.md").write_text("# Memory\n\n- by hand\n", "utf-8")
    with opened(tmp_path / "w") as memory:
        summary = import_from(memory.workspace, "zip", tmp_path / "x.zip")
        assert (summary.redacted, len(summary.problems)) == (1, 1)
        assert import_from(memory.workspace, "zip", tmp_path / "x.zip").turns == 0
        memory.sync()
    with opened(tmp_path / "w") as memory:
        memory.sync()
    assert "by hand" in (tmp_path / "w/MEMORY.md").read_text("utf-8")
    assert b"AKIAIOSFODNN7EXAMPLE" not in (tmp_path / "w/sessions/x.jsonl").read_bytes()


def test_a_line_that_is_no_line_is_refused_before_it_fills_the_memory(tmp_path: Path) -> None:
    with (
        zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("sessions/x.jsonl", "w") as member,
    ):
        for _ in range(80):
            member.write(b" " * (1 << 20))
    with opened(tmp_path / "w") as memory, pytest.raises(IntegrityError, match="longer than"):
        import_from(memory.workspace, "zip", tmp_path / "x.zip")


def test_an_archive_of_many_lines_is_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnemark.memory.transfer.importer._BATCH_BYTES", 200)
    turns = [json.dumps({"id": f"t{n}", "role": "user", "content": f"said {n}"}) for n in range(50)]
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("sessions/x.jsonl", "\n".join([*turns, *turns[:5]]))
    with opened(tmp_path / "w") as memory:
        first = import_from(memory.workspace, "zip", tmp_path / "x.zip")
        assert (first.turns, first.sessions, first.same) == (50, 1, 5)
        assert import_from(memory.workspace, "zip", tmp_path / "x.zip").turns == 0
    assert (tmp_path / "w/sessions/x.jsonl").read_text("utf-8").splitlines() == turns


def test_secrets_do_not_come_in_with_another_agents_folder(tmp_path: Path) -> None:
    secret = "AKIAIOSFODNN7EXAMPLE"
    history = tmp_path / "old/memory/conversation_history"
    history.mkdir(parents=True)
    said = [{"id": f"t{n}", "role": "user", "content": f"{n} {secret}", "timestamp": "2026-01-01T10:00:00"}
            for n in range(3)]  # fmt: skip
    (history / "a.jsonl").write_text("\n".join(map(json.dumps, said)) + "\n", "utf-8")
    memories = [{"id": "1", "content": f"the key is {secret}", "tags": [secret], "type": "fact"}]
    (tmp_path / "old/memory/memories.json").write_text(json.dumps(memories), "utf-8")
    with opened(tmp_path / "w") as memory:
        first = import_from(memory.workspace, "openakita", tmp_path / "old")
        assert (first.turns, first.facts) == (3, 1)
        assert not [name for name, data in tree(tmp_path / "w").items() if secret.encode() in data]
        memory.forget(id="t1", erase=True)
        with (history / "a.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps({**said[0], "id": "t9", "content": "new"}) + "\n")
        assert import_from(memory.workspace, "openakita", tmp_path / "old").turns == 1


CHAT = (
    "12/13/24, 11:59 PM - Zebulon Quirk: the code is QUAGGA\n"
    "12/13/24, 11:59 PM - Ann: thanks, Zebulon Quirk\n"
    "12/14/24, 11:59 PM - Ann: I bought a kayak\n"
)


def journals(root: Path) -> bytes:
    return b"".join(path.read_bytes() for path in (root / "journal").iterdir())


def test_a_person_who_is_erased_from_a_chat_is_gone_from_the_record_of_the_import(tmp_path: Path) -> None:
    (tmp_path / "WhatsApp Chat with Zebulon Quirk.txt").write_text(CHAT, "utf-8")
    with opened(tmp_path / "w") as memory:
        import_from(memory.workspace, "", tmp_path / "WhatsApp Chat with Zebulon Quirk.txt")
        assert "Zebulon Quirk" in memory.browse.brought()[0].people
        receipt = memory.forget(query="Zebulon Quirk", erase=True)
        assert receipt.waiting == ()
        assert any("WhatsApp Chat with Zebulon Quirk.txt" in one for one in receipt.still)
        assert not {"Zebulon Quirk", "Ann"} & set(memory.browse.brought()[0].people)  # nothing of it is left
    assert b"Zebulon Quirk" not in journals(tmp_path / "w")


def test_who_is_not_erased_stays_in_the_record_of_the_import(tmp_path: Path) -> None:
    (tmp_path / "WhatsApp Chat with Crew.txt").write_text(CHAT.replace("Zebulon Quirk", "Cy Oak"), "utf-8")
    with opened(tmp_path / "w") as memory:
        import_from(memory.workspace, "", tmp_path / "WhatsApp Chat with Crew.txt")
        memory.forget(query="Cy Oak", erase=True)
        assert memory.browse.brought()[0].people == {"Ann": 2}
    assert b"Cy Oak" not in journals(tmp_path / "w")
    assert b"WhatsApp Chat with Crew" in journals(tmp_path / "w")


def test_what_was_erased_does_not_come_back_when_its_log_was_deleted(tmp_path: Path) -> None:
    (tmp_path / "WhatsApp Chat with Cy Oak.txt").write_text(CHAT, "utf-8")
    with opened(tmp_path / "w") as memory:
        import_from(memory.workspace, "", tmp_path / "WhatsApp Chat with Cy Oak.txt")
        export_workspace(memory.workspace, tmp_path / "old.zip", format="zip")
        memory.forget(query="QUAGGA", erase=True)
        for log in (tmp_path / "w/sessions").iterdir():
            log.unlink()  # as the receipt proposes for one that is named after a person
        assert import_from(memory.workspace, "", tmp_path / "WhatsApp Chat with Cy Oak.txt").turns == 2
        import_from(memory.workspace, "zip", tmp_path / "old.zip")
    assert not [name for name, data in tree(tmp_path / "w").items() if b"QUAGGA" in data]


def test_an_undo_right_after_an_import_takes_back_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "WhatsApp Chat with Cy Oak.txt").write_text(CHAT, "utf-8")
    with opened(tmp_path / "w") as memory:
        import_from(memory.workspace, "", tmp_path / "WhatsApp Chat with Cy Oak.txt")
        with pytest.raises(UsageError, match="the last change was an import"):
            memory.undo()
    with opened(tmp_path / "v") as memory:
        kept = memory.remember("city", "Leeds")
        import_from(memory.workspace, "", tmp_path / "WhatsApp Chat with Cy Oak.txt")
        with pytest.raises(UsageError, match="the last change was an import"):
            memory.undo()
        assert [fact.value for fact in memory.facts()] == ["Leeds"]
        assert [one.id for one in memory.undo(kept.id)] == [kept.id]


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_link_that_is_named_is_followed(tmp_path: Path) -> None:
    (tmp_path / "WhatsApp Chat with Cy Oak.txt").write_text(CHAT, "utf-8")
    (tmp_path / "latest.txt").symlink_to("WhatsApp Chat with Cy Oak.txt")
    with opened(tmp_path / "w") as memory:
        assert import_from(memory.workspace, "", tmp_path / "latest.txt").turns == 3
        assert import_from(memory.workspace, "", tmp_path / "WhatsApp Chat with Cy Oak.txt").turns == 0


@pytest.mark.parametrize("form", ["obsidian", "markdown", "html"])
def test_times_at_the_edges_of_the_calendar_are_exported(tmp_path: Path, form: Any) -> None:
    lines = "".join(
        json.dumps({"id": str(number), "role": "user", "content": f"turn {number}", "created_at": time})
        + "\n"
        for number, time in enumerate(("9999-12-31T23:59:59Z", "0001-01-01T00:00:00+14:00"))
    )
    (tmp_path / "m.jsonl").write_text(lines, "utf-8")
    with Memory.open(tmp_path / "w", config={**LEXICAL, "timezone": "Asia/Shanghai"}) as memory:
        assert import_from(memory.workspace, "", tmp_path / "m.jsonl").turns == 2
        assert export_folder(memory.workspace, tmp_path / "out", format=form).talks == 1


@pytest.mark.parametrize(
    "text", ["text;who\nhi;me\n\nshort\n", "text\twho\nhi\tme\n\nshort\n", "text,who\nhi,me\n\nshort\n"]
)
def test_tables_as_spreadsheets_write_them(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.csv").write_text(text, "utf-8-sig")
    with opened(tmp_path / "w") as memory:
        summary = import_from(
            memory.workspace, "", tmp_path / "t.csv", columns={"text": "text", "role": "who"}
        )
        assert (summary.turns, summary.left) == (2, ())
