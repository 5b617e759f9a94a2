"""Every command refuses a workspace that leads elsewhere, whether it opens the index or not."""

import sys

import pytest

from .conftest import Shell

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
COMMANDS = (
    ["search", "x"], ["recall", "x"], ["read", "MEMORY.md"], ["add", "x"], ["add", "x", "--session", "s"],
    ["remember", "a", "b"], ["facts"], ["log"], ["sessions"], ["sessions", "end", "s"], ["why", "MEMORY.md"],
    ["forget", "--query", "x"], ["undo"], ["review"], ["revert", "--since", "2026-01-01"], ["pin", "x"],
    ["consolidate"], ["learn"], ["prompt"], ["status"], ["doctor"], ["doctor", "--fix"], ["verify"], ["sync"],
    ["backup"], ["export", "../x.zip"], ["import", "markdown", ".."], ["init"],
)  # fmt: skip


@pytest.mark.parametrize("place", [".mnemark", ".mnemark/salt", "memory", "journal"])
def test_a_link_out_ends_each_command_with_2(shell: Shell, place: str) -> None:
    shell("init")
    shell("add", "the ferry leaves at nine")
    shell("remember", "city", "Oslo")
    shell("sync")
    target = shell.folder.parent / "elsewhere"
    (shell.folder / place).rename(target)
    (shell.folder / place).symlink_to(target)
    listed = [target, *target.rglob("*")]
    before = {path: path.stat().st_mtime_ns for path in listed}
    for command in COMMANDS:
        ran = shell(*command)
        assert (ran.code, ran.out) == (2, ""), (command, ran)
        assert f"{shell.folder / place} is a link" in ran.err
    assert {path: path.stat().st_mtime_ns for path in [target, *target.rglob("*")]} == before
