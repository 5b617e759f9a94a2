import zipfile
from pathlib import Path

import pytest

from .conftest import Shell


@pytest.fixture
def workspace(shell: Shell) -> Shell:
    shell("init")
    shell.write("notes/birds.md", "The kingfisher nests under the bridge.\n")
    shell("add", "数据库在新机器上", "--session", "chat:1")
    return shell


def test_a_memory_goes_into_a_file_and_comes_back(
    workspace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tmp_path / "memory.zip"
    done = workspace("export", str(archive), "--json").data
    assert (done["files"], done["problems"]) == (4, [])
    again = tmp_path / "again.zip"
    workspace("export", str(again))
    assert again.read_bytes() == archive.read_bytes()

    other = tmp_path / "other"
    workspace("init", str(other))
    monkeypatch.chdir(other)
    planned = workspace("import", "zip", str(archive), "--dry-run")
    assert planned.out.startswith("Would import from mnemark: ")
    assert not (other / "notes").exists()
    brought = workspace("import", "zip", str(archive))
    assert "notes/birds.md" in brought.out
    assert workspace("search", "数据库", "--json").data["hits"][0]["kind"] == "turn"
    assert workspace("import", "zip", str(archive), "--json").data["notes"] == 0


def test_a_line_for_each_passage(workspace: Shell, tmp_path: Path) -> None:
    ran = workspace("export", str(tmp_path / "memory.jsonl"), "--format", "jsonl")
    assert ran.out.startswith(f"{tmp_path / 'memory.jsonl'}: ")
    assert "kingfisher" in (tmp_path / "memory.jsonl").read_text(encoding="utf-8")


def test_notes_are_brought_in(workspace: Shell, tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault/plover.md").write_text("The plover is small.\n", encoding="utf-8")
    workspace("import", "markdown", str(tmp_path / "vault"))
    assert workspace("search", "plover", "--json").data["hits"][0]["path"] == "imported/vault/plover.md"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["import", "word", "x"], 2, "use one of chatgpt"),
        (["import", "zip", "nowhere.zip"], 3, "nowhere.zip does not exist"),
        (["import", "zip", "mnemark.toml"], 6, "not a readable zip archive"),
        (["import", "zip"], 2, "mnemark import zip PATH"),
        (["import"], 2, "Missing argument"),
        (["import", "none.zip"], 3, "does not exist"),
        (["export", "out.zip", "--format", "pdf"], 2, "use one of zip, jsonl, obsidian, markdown, html"),
        (["export", "pdf", "out.pdf"], 2, "use one of zip, jsonl, obsidian, markdown, html"),
        (["export"], 2, "say where to: `mnemark export FILE`"),
        (["export", "obsidian"], 2, "mnemark export obsidian FOLDER"),
        (["export", "jsonl"], 2, "mnemark export jsonl FILE"),
        (["export", "html", "x", "--format", "zip"], 2, "are two forms; give one"),
        (["export", "zip", "x.zip", "--scope", "users/ann"], 2, "holds all scopes"),
        (["export", "html", "../out", "--scope", "users/ann"], 2, "there is no scope users/ann"),
        (["export", "markdown", "notes"], 2, "would become part of the memory"),
        (["export", "markdown", "../no/out"], 2, "does not exist"),
        (["export", "markdown", "mnemark.toml"], 2, "is no folder"),
        (["export", "notes"], 2, "is a folder; give a file"),
        (["export", "copy.md"], 2, "would become part of the memory"),
    ],
)
def test_mistakes_name_the_fix(workspace: Shell, arguments: list[str], code: int, words: str) -> None:
    ran = workspace(*arguments)
    assert (ran.code, ran.out) == (code, "")
    assert words in ran.err


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".mnemark" not in path.parts and path.name != ".stignore"
    }


def test_a_backup_comes_back_to_the_byte(workspace: Shell, tmp_path: Path) -> None:
    workspace("remember", "城市", "杭州")
    archive = tmp_path / "backups/one.zip"
    archive.parent.mkdir()
    assert "verified" in workspace("backup", str(archive)).out
    ran = workspace("restore", str(archive), str(tmp_path / "back"))
    assert ran.out.startswith(str(tmp_path / "back"))
    assert files_of(tmp_path / "back") == files_of(Path.cwd())
    again = workspace("restore", str(archive), str(tmp_path / "back"))
    assert again.code == 2
    assert "is not empty" in again.err


def test_a_damaged_backup_writes_nothing(workspace: Shell, tmp_path: Path) -> None:
    archive = tmp_path / "one.zip"
    workspace("backup", str(archive))
    data = bytearray(archive.read_bytes())
    at = data.index(b"mnemark.toml") + 40
    data[at : at + 10] = b"\0" * 10
    archive.write_bytes(data)
    assert workspace("restore", str(archive), str(tmp_path / "back")).code == 6
    assert not (tmp_path / "back").exists()


def test_a_name_that_leads_out_is_refused(workspace: Shell, tmp_path: Path) -> None:
    archive = tmp_path / "trap.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("../out.md", "x")
    assert workspace("restore", str(archive), str(tmp_path / "back")).code == 2
    assert not (tmp_path / "out.md").exists()
    assert not (tmp_path / "back").exists()


def test_a_workspace_is_not_brought_into_itself(workspace: Shell) -> None:
    ran = workspace("import", "markdown", str(workspace.folder))
    assert (ran.code, "is this workspace itself" in ran.err) == (2, True)
    assert not (workspace.folder / "imported").exists()


def test_an_import_says_what_to_do_next(workspace: Shell, tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault/plover.md").write_text("The plover is small.\n", encoding="utf-8")
    planned = workspace("import", "markdown", str(tmp_path / "vault"), "--dry-run")
    assert "without --dry-run" in planned.err
    brought = workspace("import", "markdown", str(tmp_path / "vault"))
    assert brought.out.startswith("Imported from a folder of notes: 1 note\n")
    assert "mnemark search" in brought.err
    assert "mnemark learn" not in brought.err  # there is no conversation
    assert workspace("import", "markdown", str(tmp_path / "vault")).err == ""

    (tmp_path / "chats").mkdir()
    said = '{"uuid":"m1","sender":"human","text":"我搬到杭州了。","created_at":"2026-01-02T03:04:05Z"}'
    (tmp_path / "chats/conversations.json").write_text(
        f'[{{"uuid":"a1","name":"搬家","created_at":"2026-01-02T03:04:05Z","chat_messages":[{said}]}}]',
        encoding="utf-8",
    )
    told = workspace("import", "claude", str(tmp_path / "chats"))
    assert "1 session, 1 message" in told.out
    assert "mnemark review learned" in told.err
    assert "mnemark forget --session" in told.err


def test_a_memory_goes_into_pages(workspace: Shell, tmp_path: Path) -> None:
    ran = workspace("export", "obsidian", str(tmp_path / "vault"))
    assert ran.out.startswith(f"{tmp_path / 'vault'}: 1 conversation, 2 notes, ")
    assert (ran.code, ran.err) == (0, "")
    assert "kingfisher" in (tmp_path / "vault/notes/birds.md").read_text("utf-8")
    (tmp_path / "vault/notes/birds.md").write_text("mine\n", "utf-8")
    workspace.write("notes/birds.md", "The kingfisher left.\n")
    again = workspace("export", str(tmp_path / "vault"), "--format", "obsidian", "--json")
    assert (again.code, again.data["problems"][0]["path"]) == (0, "notes/birds.md")
    told = workspace("export", "obsidian", str(tmp_path / "vault"))
    assert "note: notes/birds.md: was changed there and is kept" in told.err
    assert "(0 new or changed)" in told.out

    page = workspace("export", "html", str(tmp_path / "talks"))
    assert page.out.startswith(f"{tmp_path / 'talks'}: 1 conversation, 3 files, ")
    assert "数据库在新机器上" in (tmp_path / "talks/index.html").read_text("utf-8")


def test_pages_lack_what_could_not_be_read_and_say_so(workspace: Shell, tmp_path: Path) -> None:
    (workspace.folder / "huge.md").write_bytes(b"x" * (16 * 1024 * 1024 + 1))
    ran = workspace("export", "markdown", str(tmp_path / "pages"))
    assert ran.code == 8
    assert "left out: huge.md: " in ran.err
    assert (tmp_path / "pages/notes/birds.md").exists()


def test_forgotten_text_is_in_no_export_but_the_files(workspace: Shell, tmp_path: Path) -> None:
    said = [f"The walrus is booked for day {day}." for day in range(3)]
    for text in said:
        workspace("add", text, "--session", "zoo:1", "--role", "user")
    workspace("remember", "animal", "walrus")
    workspace("sessions", "end", "zoo:1")
    workspace("forget", "--query", "walrus", "--yes")
    for form, target in {"jsonl": "out.jsonl", "obsidian": "v", "markdown": "m", "html": "h"}.items():
        assert workspace("export", form, str(tmp_path / target)).code == 0
        parts = [tmp_path / target] if form == "jsonl" else (tmp_path / target).rglob("*.*")
        words = b"walrus is booked" if form == "jsonl" else b"walrus"  # which names files as they are
        assert not [part for part in parts if part.is_file() and words in part.read_bytes().lower()], form
        assert not [part for part in (tmp_path / target).rglob("*walrus*") if form != "jsonl"], form


def test_what_is_refused_among_several_keeps_none_of_the_others_out(workspace: Shell, tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault/plover.md").write_text("The plover is small.\n", encoding="utf-8")
    (tmp_path / "empty.txt").touch()
    ran = workspace("import", str(tmp_path / "empty.txt"), str(tmp_path / "nowhere"), str(tmp_path / "vault"))
    assert ran.code == 1
    assert "empty.txt is of no kind that is recognised" in ran.err
    assert "nowhere does not exist" in ran.err
    assert "imported/vault/plover.md" in ran.out
    assert workspace("import", str(tmp_path / "nowhere"), str(tmp_path / "empty.txt")).code == 3
