"""Wrong arguments and what runs short end in a sentence that says what to do."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from faults.logical import LEXICAL
from mnemark.errors import ConfigError, MnemarkError, UsageError
from mnemark.files import platform
from mnemark.files.config import load
from mnemark.files.disk_errors import shortage, translate_os_errors
from mnemark.memory.health.stats import collect
from mnemark.memory.memory import Memory

WRONG: dict[str, Callable[[Any], object]] = {
    "pin nothing": lambda memory: memory.pin(""),
    "pin None": lambda memory: memory.pin(None),
    "a deadline of 1e18": lambda memory: memory.recall("x", deadline=1e18),
    "a deadline that is none": lambda memory: memory.recall("x", deadline=float("nan")),
    "a deadline in words": lambda memory: memory.prompt("x", deadline="soon"),
    "a budget in words": lambda memory: memory.recall("x", budget="all"),
    "k in words": lambda memory: memory.search("x", k="3"),
    "nothing said": lambda memory: memory.session("s").add("user", None),
    "bytes said": lambda memory: memory.session("s").add("user", b"x"),
    "no role": lambda memory: memory.session("s").add(None, "x"),
    "a session of 3": lambda memory: memory.session(3).add("user", "x"),
    "read None": lambda memory: memory.read(None),
    "remember None": lambda memory: memory.remember("city", None),
    "an importance in words": lambda memory: memory.remember("city", "Oslo", importance="high"),
    "forget 3": lambda memory: memory.forget(3),
    "why None": lambda memory: memory.why(None),
    "a tool without a name": lambda memory: memory.session("s").observe(None, {}, "x"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_arguments_are_named(tmp_path: Path, what: str) -> None:
    with Memory.open(tmp_path, config=LEXICAL) as memory, pytest.raises(UsageError):
        WRONG[what](memory)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "free some space"),
        (OSError(errno.EMFILE, "Too many open files"), "ulimit -n"),
        (MemoryError(), "not enough memory"),
        (ImportError("x.so: failed to map segment from shared object"), "not enough memory"),
        (RuntimeError("can't start new thread"), "not enough memory"),
        (PermissionError(errno.EACCES, os.strerror(errno.EACCES), "a.md"), "a.md: Permission denied"),
    ],
)
def test_what_runs_short_is_said_with_what_to_do(error: Exception, words: str) -> None:
    assert words in shortage(error)


@pytest.mark.parametrize("code", [errno.EMFILE, errno.ENFILE])
def test_a_write_with_too_many_open_files_names_the_file_and_the_limit(tmp_path: Path, code: int) -> None:
    with pytest.raises(MnemarkError, match=r"a\.md: .*too many files are open; .* \(`ulimit -n"):  # noqa: SIM117
        with translate_os_errors(tmp_path / "a.md"):
            raise OSError(code, os.strerror(code))


@pytest.mark.parametrize(
    ("code", "words"), [(errno.EMFILE, "ulimit -n"), (errno.EACCES, "check its disk and permissions")]
)
def test_settings_that_the_system_does_not_open_are_not_called_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, words: str
) -> None:
    def opened(path: Path) -> NoReturn:
        raise OSError(code, os.strerror(code), str(path))

    monkeypatch.setattr(platform, "opened", opened)
    with pytest.raises(ConfigError, match=words) as told:
        load(tmp_path)
    assert "Correct the file" not in str(told.value)


def test_a_defect_is_no_shortage() -> None:
    assert not shortage(KeyError("x"))


def test_bookkeeping_that_a_full_disk_left_empty(tmp_path: Path) -> None:
    with Memory.open(tmp_path, config=LEXICAL) as memory:
        memory.session("s").add("user", "the heron")
        memory.sync()
    (tmp_path / ".mnemark/state.db").write_bytes(b"")
    with Memory.open(tmp_path, config=LEXICAL, readonly=True) as memory:
        assert collect(memory.workspace).files == 1
        assert memory.attention() == []
    with Memory.open(tmp_path, config=LEXICAL) as memory:
        memory.session("s").end()
        memory.consolidate()
