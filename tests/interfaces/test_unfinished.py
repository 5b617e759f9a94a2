"""What could not be finished is told by `doctor` and by exit codes, until a sync finishes it."""

import shutil
from pathlib import Path

import pytest

from faults.layer import FaultyFileSystem
from faults.odd import Closed
from interfaces.conftest import Shell
from memory.test_erase_faults import WORD, begun, erased, everywhere, quiet
from mnemark.files import platform


def test_doctor_tells_of_an_erase_that_met_a_full_disk_and_a_sync_ends_it(
    shell: Shell, tmp_path: Path
) -> None:
    begun(tmp_path / "template")
    shutil.copytree(tmp_path / "template", tmp_path / "whole")
    layer = FaultyFileSystem()
    erased(tmp_path / "whole", layer)
    run = tmp_path / "run"
    for at in range(layer.calls * 3 // 4, layer.calls):  # one that lets a session's file wait
        shutil.copytree(tmp_path / "template", run)
        receipt = erased(run, FaultyFileSystem(at, "ENOSPC"))
        if receipt is not None and any(one.startswith("sessions/") for one in receipt.waiting):
            break
        shutil.rmtree(run)
    told = shell("doctor", "-w", str(run))
    assert told.code == 8
    assert "an erase is not finished: " in told.out
    assert "run `mnemark sync`" in told.out
    quiet(run)
    assert shell("sync", "-w", str(run)).code == 0
    assert shell("doctor", "-w", str(run)).code == 0
    assert everywhere(run) == []


def test_forget_and_sync_exit_with_8_while_a_file_is_closed(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "w"
    begun(root)
    (root / "closed.md").write_text("# what nobody may read\n", "utf-8")
    with monkeypatch.context() as patch:
        patch.setattr(platform, "FS", Closed([root / "closed.md"]))
        first = shell("forget", "--query", WORD, "--erase", "--yes", "-w", str(root))
        assert (first.code, "closed.md" in first.out) == (8, True)
        quiet(root)
        second = shell("sync", "-w", str(root))
        assert (second.code, "closed.md" in second.err) == (8, True)
    quiet(root)
    assert shell("sync", "-w", str(root)).code == 0
    assert everywhere(root) == []


def test_a_fact_whose_file_cannot_be_written_is_kept_and_said_so(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "w"
    begun(root)
    with monkeypatch.context() as patch:
        patch.setattr(platform, "FS", Closed([root / "memory/facts/user.md"]))
        told = shell("remember", "tea", "oolong", "-w", str(root))
        assert told.code == 0
        assert "oolong" in told.out
        assert "the next sync writes it to memory/facts/user.md" in told.err
        assert shell("doctor", "-w", str(root)).code == 8
    assert "oolong" not in (root / "memory/facts/user.md").read_text("utf-8")
    quiet(root)
    assert shell("sync", "-w", str(root)).code == 0
    assert "oolong" in (root / "memory/facts/user.md").read_text("utf-8")
    assert shell("doctor", "-w", str(root)).code == 0
