"""The command as a process: streams, signals, start-up."""

import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mnemark_interfaces.process import load

MNEMARK = [sys.executable, "-m", "mnemark"]
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes of POSIX")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "notes.md").write_text("数据库 in the harbour\n", encoding="utf-8")
    return tmp_path


def run(
    *arguments: str, cwd: Path, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*MNEMARK, *arguments],
        cwd=cwd,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def test_a_search_from_the_shell(notes: Path) -> None:
    ran = run("search", "数据库", cwd=notes)
    assert (ran.returncode, ran.stdout.startswith("notes.md#L1")) == (0, True)
    assert "\x1b" not in ran.stdout


@POSIX
def test_a_locale_without_chinese_still_finds_it(notes: Path) -> None:
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ran = run("search", "数据库", cwd=notes, environment=plain)
    assert "数据库 in the harbour" in ran.stdout


def test_an_error_is_one_line_and_the_trace_is_for_those_who_ask(notes: Path) -> None:
    ran = run("read", "nowhere.md", cwd=notes)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (3, "", 1)
    assert ran.stderr.startswith("mnemark: nowhere.md")
    debug = run("read", "nowhere.md", cwd=notes, environment={"MNEMARK_DEBUG": "1"})
    assert "Traceback" in debug.stderr
    assert debug.returncode != 0


def test_a_bug_is_one_line_too(notes: Path) -> None:
    broken = (
        "import mnemark.retrieval.read as r; r.read_ref = None\n"
        "from mnemark_interfaces.main import main; main()"
    )
    ran = subprocess.run(
        [sys.executable, "-c", broken, "read", "notes.md"],
        cwd=notes,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1
    assert ran.stderr.startswith("mnemark: unexpected TypeError: ")
    assert "MNEMARK_DEBUG=1" in ran.stderr
    assert ran.stderr.count("\n") == 1


@POSIX
def test_a_reader_that_goes_away_is_no_error(notes: Path) -> None:
    big = "plover\n\n" * 500_000  # more than any pipe holds
    (notes / "big.md").write_text(big, encoding="utf-8")
    process = subprocess.Popen(
        [*MNEMARK, "read", "big.md"],
        cwd=notes,
        # Without its buffer Python drops the rest of a write that was cut short, and never hears of the pipe.
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()
    with process.stderr:
        assert process.wait(60) == 141
        assert process.stderr.read() == b""


@POSIX
def test_closed_streams_are_no_error(notes: Path) -> None:
    command = " ".join([*MNEMARK, "search", "harbour"])
    assert subprocess.run(f"{command} >&-", shell=True, cwd=notes, check=False).returncode == 0
    assert subprocess.run(f"{command} 2>&- >/dev/null", shell=True, cwd=notes, check=False).returncode == 0


@pytest.mark.timed
@POSIX
def test_watch_follows_edits_and_ends_with_an_interrupt(notes: Path) -> None:
    # A shell without job control starts its jobs with interrupts ignored, and children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        [*MNEMARK, "watch", "--json"],
        cwd=notes,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        assert '"added":1' in process.stdout.readline()
        assert "Watching" in process.stderr.readline()
        (notes / "later.md").write_text("The kingfisher nests here.\n", encoding="utf-8")
        started = time.monotonic()
        assert '"later.md"' in process.stdout.readline()
        assert time.monotonic() - started < 2
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert "Traceback" not in process.stderr.read()
    finally:
        process.kill()
        process.communicate()


@POSIX
def test_a_terminal_gets_colour_and_a_person_can_refuse_it(notes: Path) -> None:
    import pty

    def shown(environment: dict[str, str]) -> bytes:
        controller, terminal = pty.openpty()
        clean = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm"}
        try:
            subprocess.run(
                [*MNEMARK, "search", "harbour"],
                cwd=notes,
                env=clean | environment,
                stdout=terminal,
                stderr=subprocess.DEVNULL,
                check=True,
            )
            return os.read(controller, 65536)
        finally:
            os.close(terminal)
            os.close(controller)

    assert b"\x1b[1mharbour\x1b[0m" in shown({})
    assert b"\x1b" not in shown({"NO_COLOR": "1"})


def test_the_version_needs_nothing_but_itself(tmp_path: Path) -> None:
    probe = (
        "import sys; sys.argv[1:] = ['--version']\n"
        "from mnemark_interfaces.main import main\n"
        "try:\n    main()\n"
        "finally:\n    print(sorted({'typer', 'msgspec', 'numpy', 'apsw', 'rich'} & set(sys.modules)))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", probe], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.stdout.splitlines()[1] == "[]"


def test_completion_knows_the_commands(tmp_path: Path) -> None:
    environment = {
        "_MNEMARK_COMPLETE": "complete_bash",
        "COMP_WORDS": "mnemark se",
        "COMP_CWORD": "1",
    }
    assert "search" in run(cwd=tmp_path, environment=environment).stdout


def test_memory_is_still_collected_after_a_module_that_cannot_be_loaded() -> None:
    with pytest.raises(ModuleNotFoundError):
        load("mnemark.no_such_module")
    assert gc.isenabled()


def ended(code: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a search as a process of its own, after some code."""
    whole = f"""
import os, sys
from mnemark_interfaces.main import command
{code}
class Freed:
    def __del__(self, write=os.write):  # nothing can be imported by then
        write(1, b"freed")
sys.freed = Freed()  # among the last that Python frees
sys.argv = ["mnemark", "search", "harbour", "--preset", "lexical"]
command()
"""
    return subprocess.run(
        [sys.executable, "-c", whole], cwd=folder, env={**os.environ, **environment},
        capture_output=True, text=True, check=True,
    )  # fmt: skip


def test_a_process_that_is_waited_for_ends_without_freeing_its_objects(notes: Path) -> None:
    ran = ended("import atexit; atexit.register(print, 'at exit')", notes)
    assert "harbour" in ran.stdout
    assert ran.stdout.endswith("at exit\n"), "what was registered is called, and printed; nothing is freed"
    assert "Error" not in ran.stderr
    assert ended("", notes, MNEMARK_DEBUG="1").stdout.endswith("freed")


@pytest.mark.parametrize(
    "left",
    [
        "import threading as t; t.Thread(target=lambda: print('waited for', t.main_thread().join())).start()",
        "import apsw; a=apsw.Connection('left.db'); a.execute('PRAGMA journal_mode=wal; CREATE TABLE t(x)')",
        "sys.setprofile(lambda *_: None)",
    ],
    ids=["thread", "database", "profiler"],
)
def test_a_process_with_something_left_ends_as_python_ends(notes: Path, left: str) -> None:
    ran = ended(left, notes)
    assert "freed" in ran.stdout
    assert ("waited for" in ran.stdout) == ("waited for" in left)
    assert not (notes / "left.db-wal").exists(), "a database is closed"
