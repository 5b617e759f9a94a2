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
        (["export", "out.zip", "--format", "pdf"], 2, 'must be "zip" or "jsonl"'),
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
    assert brought.out.startswith("Imported from notes: 1 note\n")
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
    assert "1 session, 1 turn" in told.out
    assert "mnemark review learned" in told.err
    assert "mnemark forget --session" in told.err
