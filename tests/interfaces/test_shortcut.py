"""`search`, `recall` and `read` print the same from the daemon and alone, whatever becomes of the daemon."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forked import mnemark
from interfaces.daemons import Running, running, surroundings
from mnemark_interfaces import shortcut
from mnemark_interfaces.app import loaded
from sampled import sampled

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals and terminals of POSIX")
NOTES = {
    "mnemark.toml": "",
    "MEMORY.md": "# Memory\n- The backup runs at 03:00.\n- password: hunter2secret\n",
    "memory/2026-02-13.md": "# 日记\n\n数据库系统迁移到了新的机器。备份在凌晨三点。\n",
    "memory/2026-02-14.md": "- 09:30 The kingfisher nests under the \x1b[31mbridge.\r\n- 10:00 sun\n",
    "notes/archive.md": "# Archive\n\nThe lighthouse is painted every five years.\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "w"
    for path, text in NOTES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode())
        os.utime(root / path, (1.7e9, 1.7e9))
    run(root, tmp_path / "nobody", "sync")
    return root


@pytest.fixture
def warm(tmp_path: Path) -> Iterator[Running]:
    pytest.importorskip("starlette")
    pytest.importorskip("uvicorn")
    with running(tmp_path / "state") as found:
        yield found


def run(where: Path, state: Path, *arguments: str, **more: str) -> tuple[int, str, str]:
    ran = mnemark(*arguments, cwd=where, env=surroundings(state) | more)
    number = re.compile("[0-9a-f]{16}")  # of a quoted block; each has another
    return ran.returncode, number.sub("N", ran.stdout), ran.stderr


def answered(warm: Running) -> int:
    """The number of requests the daemon has answered without an error, this one left out."""
    return int(warm.request("/health", b"", method="GET")[1]["served"])


def test_the_options_are_those_of_the_command_line() -> None:
    for command, known in shortcut.OPTIONS.items():
        types = {"str": str, "path": str, "int": int, "float": float, "boolean": bool}
        declared = {
            name: (one.name.rstrip("_"), list if one.multiple else types[one.type.name])
            for one in loaded(command).params
            if one.param_type_name == "option"
            for name in one.opts
        }
        everywhere = {"--lang": ("language", str)}  # of all commands, before or behind them
        assert dict(known) == declared | everywhere, command


@pytest.mark.parametrize(
    "line",
    [
        [], ["sync"], ["search"], ["search", "-h"], ["search", "a", "b"], ["search", "-"],
        ["search", "--", "a"], ["search", "a", "-k"], ["search", "a", "-k", "many"], ["search", "a", "-k5"],
        ["search", "a", "-k", "-1"], ["search", "a", "--json=1"], ["search", "a", "--jso"],
        ["search", "a", "--since="], ["read", "a", "-k", "1"], ["recall", "a", "--deadline", "soon"],
        ["--version", "search", "a"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_what_it_does_not_know_is_left_to_the_command_line(line: list[str]) -> None:
    assert shortcut.parsed(line) is None


def test_a_line_is_read_as_the_command_line_reads_it() -> None:
    line = ["search", "--kind=note", "--kind", "fact", "a b", "-k", "1", "-k", "2", "-w", "x", "--json"]
    found = shortcut.parsed(line)
    options = {"kind": ["note", "fact"], "count": 2, "json": True}
    assert found == shortcut.QueryLine("search", "a b", "x", options)


SAME = [
    ["search", "when does the backup run"],
    ["search", "数据库", "-k", "1"],
    ["search", "备份什么时候", "--json"],
    ["search", "backup", "--explain", "--preset", "lexical", "--kind", "note", "--origin=file"],
    ["search", "kingfisher", "--since", "2026-02-01", "--until", "2026-02-28", "--strict"],
    ["search", "zeppelin", "--since", "1999-01-01", "--until", "1999-02-01"],
    ["search", "the colour of the bicycle of my neighbour"],
    ["search", "lighthouse", "--scope", "*", "--archived", "--as-of", "2026-03-01"],
    ["read", "MEMORY.md"],
    ["read", "memory/2026-02-14.md#L1"],
    ["read", "memory/2026-02-13.md", "--json"],
    ["recall", "when does the backup run"],
    ["recall", "备份", "--budget", "60", "--deadline", "1.5", "-k", "2", "--json"],
    ["recall", "backup", "--budget", "1"],
]
MISTAKES = [
    ["search", " "],
    ["search", "backup", "--kind", "letter"],
    ["search", "backup", "-k", "0"],
    ["search", "backup", "--since", "blue"],
    ["search", "backup", "--preset", "best"],
    ["search", "backup", "-w", "nowhere"],
    ["search", "backup", "-w", "MEMORY.md"],
    ["search"],
    ["search", "backup", "--jsno"],
    ["read", "nowhere.md"],
    ["read", "../secret.md"],
    ["read", "MEMORY.md", "--raw"],
]


@pytest.mark.parametrize("step", sampled((3, 1), 2), ids=("some", "all"))
def test_the_daemon_prints_what_a_process_alone_prints(
    folder: Path, warm: Running, tmp_path: Path, step: int
) -> None:
    run(folder, tmp_path / "state", "search", "backup")  # the daemon opens the workspace
    for line in SAME[::step]:
        before = answered(warm)
        from_daemon = run(folder, tmp_path / "state", *line)
        assert answered(warm) == before + 2, f"the daemon did not answer {line}"
        assert from_daemon == run(folder, tmp_path / "nobody", *line), line
        assert from_daemon[0] == 0, line
    for line in MISTAKES[::step]:
        assert run(folder, tmp_path / "state", *line) == run(folder, tmp_path / "nobody", *line), line


@pytest.mark.parametrize("below", sampled([False, True], 2), ids=["named", "inside"])
def test_the_workspace_is_found_as_alone(folder: Path, warm: Running, tmp_path: Path, *, below: bool) -> None:
    where, more = (folder / "notes", {}) if below else (tmp_path, {"MNEMARK_WORKSPACE": "w"})
    before = answered(warm)
    found = run(where, tmp_path / "state", "search", "lighthouse", **more)
    assert "painted every five years" in found[1]
    assert answered(warm) == before + 2
    assert found == run(where, tmp_path / "nobody", "search", "lighthouse", **more)


@POSIX
@pytest.mark.parametrize("step", sampled((2, 1), 2), ids=("some", "all"))
def test_on_a_terminal_too(folder: Path, warm: Running, tmp_path: Path, step: int) -> None:
    import pty

    def shown(state: str, *line: str, **more: str) -> bytes:
        master, slave = pty.openpty()
        environment = surroundings(tmp_path / state) | {"TERM": "xterm", "NO_COLOR": ""} | more
        command = [sys.executable, "-m", "mnemark", *line]
        subprocess.run(
            command, cwd=folder / "notes", env=environment, stdin=slave, stdout=slave, stderr=slave,
            check=True, timeout=60,
        )  # fmt: skip
        os.close(slave)
        found = b""
        try:
            while chunk := os.read(master, 65_536):
                found += chunk
        except OSError:  # all has been read
            pass
        os.close(master)
        return found

    search = ["search", "backup bridge 备份"]
    cases: list[tuple[list[str], dict[str, str]]] = [
        (search, {}), (search, {"NO_COLOR": "1"}), (search, {"TERM": "dumb"}),
        (["search", "kingfisher", "--json"], {}), (["read", "memory/2026-02-14.md"], {}),
    ]  # fmt: skip
    for line, more in cases[::step]:
        before = answered(warm)
        found = shown("state", *line, **more)
        assert answered(warm) == before + 2
        assert found == shown("nobody", *line, **more)
        assert b"Workspace: " in found
        assert b"\x1b[1m" in found or line != search or more


def test_an_edit_is_found_at_once(folder: Path, warm: Running, tmp_path: Path) -> None:
    for number in range(4):
        (folder / "late.md").write_text(f"The heron number{number} has landed.\n", encoding="utf-8")
        before = answered(warm)
        assert f"number{number}" in run(folder, tmp_path / "state", "search", f"heron number{number}")[1]
        assert answered(warm) == before + 2
    (folder / "late.md").unlink()
    assert "late.md" not in run(folder, tmp_path / "state", "search", "heron")[1]


def test_where_the_answer_would_be_another_the_process_finds_its_own(
    folder: Path, warm: Running, tmp_path: Path
) -> None:
    before = answered(warm)
    found = run(folder, tmp_path / "state", "search", "backup", TZ="Asia/Tokyo")
    assert found == run(folder, tmp_path / "nobody", "search", "backup", TZ="Asia/Tokyo")
    new = tmp_path / "new"
    new.mkdir()
    (new / "a.md").write_text("The heron.\n", encoding="utf-8")
    code, out, err = run(new, tmp_path / "state", "search", "heron")
    assert (code, "heron" in out, "Created an index in" in err) == (0, True, True)
    broken = 'embedder = "api:some-model"\nembedder_url = "http://127.0.0.1:9/v1"\n'
    (folder / "mnemark.toml").write_text(broken, encoding="utf-8")
    for line in (["search", "backup"], ["search", "backup", "--strict"]):
        found = run(folder, tmp_path / "state", *line)
        assert found == run(folder, tmp_path / "nobody", *line)
        assert "search by meaning: " in found[2]
    assert answered(warm) == before + 5, "the daemon was asked, and said what keeps it from answering"


@POSIX
@pytest.mark.parametrize("delay", sampled([0.01, 0.0, 0.005, 0.02], 4))
def test_killed_at_any_moment_the_daemon_is_not_missed(
    folder: Path, warm: Running, tmp_path: Path, delay: float
) -> None:
    expected = run(folder, tmp_path / "nobody", "search", "backup")
    killer = threading.Timer(delay, os.kill, (warm.process.pid, signal.SIGKILL))
    killer.start()
    assert [run(folder, tmp_path / "state", "search", "backup") for _ in range(2)] == [expected] * 2
    killer.join()
    assert (tmp_path / "state/mnemark/daemon.json").exists()
    assert run(folder, tmp_path / "state", "search", "backup") == expected


@POSIX
def test_a_daemon_that_does_not_answer_is_not_waited_for(folder: Path, warm: Running, tmp_path: Path) -> None:
    warm.process.send_signal(signal.SIGSTOP)
    found = run(folder, tmp_path / "state", "search", "backup")
    assert found == run(folder, tmp_path / "nobody", "search", "backup")


def test_a_daemon_of_another_version_is_not_asked(folder: Path, warm: Running, tmp_path: Path) -> None:
    announced = tmp_path / "state/mnemark/daemon.json"
    data = json.loads(announced.read_bytes())
    announced.write_text(json.dumps(data | {"version": "0.0.1"}), encoding="utf-8")
    before = answered(warm)
    assert "03:00" in run(folder, tmp_path / "state", "search", "backup")[1]
    assert answered(warm) == before + 1


REFUSED: list[dict[str, Any]] = [
    {"arguments": ["forget", "x"]},
    {"arguments": ["read", "MEMORY.md", "--raw"]},
    {"arguments": ["search", "-"]},
    {"environment": {"TZ": "Mars", "HOME": "/"}},
    {"workspace": "relative"},
    {"more": 1},
]


def test_other_requests_are_refused(folder: Path, warm: Running) -> None:
    asked: dict[str, Any] = {
        "arguments": ["search", "backup"], "folder": str(folder), "workspace": str(folder),
        "terminals": [False, False], "colour": False, "environment": shortcut.environment(named=True),
    }  # fmt: skip
    assert warm.request("/query", json.dumps(asked).encode())[0] == 200
    for change in REFUSED:
        assert warm.request("/query", json.dumps(asked | change).encode())[0] in {400, 404}, change


def test_a_client_loads_little(folder: Path, warm: Running, tmp_path: Path) -> None:
    code = (
        "import sys\nfrom mnemark_interfaces.main import main\nsys.argv = ['mnemark', 'search', 'backup']\n"
        "try:\n    main()\nexcept SystemExit:\n    print(*sorted(sys.modules), file=sys.stderr)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=surroundings(tmp_path / "state"),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "03:00" in ran.stdout
    heavy = {"typer", "rich", "numpy", "msgspec", "apsw", "httpx", "logging", "email", "mnemark.files.layout"}
    loaded = set(ran.stderr.split())
    assert heavy & loaded == set()
    assert len([name for name in loaded if name.startswith("mnemark")]) <= 18
