"""Every command in a folder with pipes, sockets, closed files and links to nowhere: none hangs or fails."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.odd import as_a_user, ended_within, make, open_again
from interfaces.conftest import Shell

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX files")

PLACES = (
    "", "memory", "memory/facts", "memory/episodes", "sessions", "journal", "personas", "users", "users/ann",
    "users/ann/sessions", ".mnemark",
)  # fmt: skip
COMMANDS = (
    "status", "sync", "doctor", "verify --deep", "facts", "sessions", "log", "review", "why notes/n.md#L1",
    "search heron", "recall heron", "prompt heron", "read notes/n.md", "forget --query compass",
    "forget --query walnut --erase --dry-run", "forget --query walnut --erase --yes", "search walnut",
    "doctor --fix", "status --json", "remember city Lyon", "add said", "consolidate --dry-run", "consolidate",
    "learn", "revert --session none", "backup ../saved.zip", "export ../lines.jsonl --format jsonl",
    "export ../whole.zip", "import markdown ../source", "import zip ../whole.zip", "sync",
)  # fmt: skip


@pytest.fixture
def odd(shell: Shell, tmp_path: Path) -> Iterator[Shell]:
    """A workspace with odd things of all kinds in all places."""
    shell("init")
    shell.write("notes/n.md", "the heron likes lantern fish\n")
    shell.write("memory/2026-02-13.md", "- 10:00 compass\n- 11:00 the saffron secret of walnut hill\n")
    shell("add", "the heron lives in the harbour tower")
    shell("remember", "bird", "a grey heron")
    shell("sync")
    kinds = {"pipe": ".md", "socket": ".jsonl", "closed": ".txt", "loop": ".markdown", "closed folder": "",
             "out to a pipe": ".x.md", "dangling": ".y.jsonl"}  # fmt: skip
    for place in PLACES:
        for kind, ending in kinds.items():
            is_refused = place == ".mnemark" or (place in {"journal", "users"} and kind.startswith("out"))
            if not (is_refused and kind in {"loop", "dangling", "out to a pipe"}):
                make(shell.folder / place / f"odd{ending}", kind, tmp_path / "out")
    make(tmp_path / "source/odd.md", "pipe", tmp_path / "out")
    with as_a_user(), ended_within(120):
        yield shell
    open_again(tmp_path)


def test_no_command_hangs_or_fails(odd: Shell) -> None:
    ran = {line: odd(*line.split()) for line in COMMANDS}
    whole = {line for line in COMMANDS if line.startswith(("backup", "export", "import zip"))}
    whole |= {line for line in COMMANDS if line.startswith(("sync", "doctor", "verify", "forget"))}
    allowed = {line: {0, 8} for line in whole} | {"import markdown ../source": {1}}  # nothing but a pipe
    assert [(line, one.err) for line, one in ran.items() if one.code not in allowed.get(line, {0})] == []
    assert "walnut" not in (odd.folder / "notes/n.md").read_text(encoding="utf-8")


def test_what_is_not_finished_is_said_by_all_that_people_look_at(odd: Shell) -> None:
    receipt = odd("forget", "--query", "walnut", "--erase", "--yes")
    if os.geteuid() == 0 and sys.platform != "linux":
        pytest.skip("permissions do not count here")
    assert receipt.code == 8
    assert "not yet erased everywhere" in receipt.out
    assert "odd.txt: cannot be read: Permission denied" in receipt.out
    assert "odd.md: is a pipe, not a file; not searched" in receipt.out
    for line in ("search heron", "status", "doctor"):
        ran = odd(*line.split())
        assert ran.code == (8 if line == "doctor" else 0)
        assert "an erase is not finished" in ran.out + ran.err, line
    open_again(odd.folder)
    assert odd("sync").code == 0
    ran = odd("doctor")
    assert "not finished" not in ran.out + ran.err
    assert b"walnut" not in (odd.folder / "memory/2026-02-13.md").read_bytes()


def test_status_and_sync_say_which_workspaces_are_left_out(shell: Shell) -> None:
    shell("init")
    shell.write("inner/secret.md", "the swordfish of the inner workspace\n")
    assert "secret.md" in shell("search", "swordfish").out
    made = shell("init", "inner")
    assert f"searches in {shell.folder} no longer include it" in made.err
    assert "secret.md" not in shell("search", "swordfish").out
    assert "inner/ (a separate workspace; search with -w)" in shell("status").out
    assert shell("status", "--json").data["inner"] == ["inner"]
    assert "Not indexed: inner/ (a separate workspace; search with -w)" in shell("sync").err
    assert shell("sync", "--json").data["inner"] == ["inner"]
    refused = shell("read", "inner/secret.md")
    assert refused.code == 2
    assert "choose it with -w" in refused.err


def test_a_search_in_a_folder_of_another_workspace_takes_nothing_from_it(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell("init")
    shell.write("notes/MEMORY.md", "the swordfish of the notes\n")
    monkeypatch.chdir(shell.folder / "notes")
    assert "notes/MEMORY.md" in shell("search", "swordfish").out  # a MEMORY.md alone makes no workspace
    assert not (shell.folder / "notes/.mnemark").exists()
    made = shell("search", "swordfish", "-w", str(shell.folder / "notes"))
    assert "MEMORY.md" in made.out
    monkeypatch.chdir(tmp_path)
    assert json.loads(shell("status", "-w", str(shell.folder), "--json").out)["inner"] == []
    made = shell("init", str(shell.folder / "notes"))
    assert "is now a separate workspace" in made.err
    assert json.loads(shell("status", "-w", str(shell.folder), "--json").out)["inner"] == ["notes"]
