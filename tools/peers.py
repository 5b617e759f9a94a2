"""Ask mnemark and other memories the same questions about the same folder of Markdown, each as it is shipped.

    python tools/peers.py [SET...] --out DIR [--questions 100] [--peer NAME=COMMAND ...]

A set is a folder of labelled questions, as for `mnemark bench retrieval`. Each of its conversations (days,
sessions) becomes one Markdown file; a question is answered if a file with its evidence is among the first
five, or ten, that a program names. No program gets settings, models or a network; what one would fetch first,
it does without. `--peer qmd=/path/to/qmd` names a command that is installed; a peer that is not given is not
run. Times are of a process for each question (`shell`), or of one question to a running server (`server`).

At the end each program deletes one note of fifty, and files that still hold its text are counted by bytes.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from latency import HELLO, message

from mnemark_bench.data import DataSet, SetUnit, load_set

Ask = Callable[[str], list[str]]
"""Answer a question with file names, best first."""


def folder_of(scope: str) -> str:
    """Return the name of the folder of a scope, or, with `.md`, of the file of a session."""
    return scope.replace("/", "_")


def file_of(unit: SetUnit) -> str:
    """Return the name of the file in which a unit stands."""
    return f"{folder_of(unit.session_id or unit.id)}.md"


def written(data: DataSet, notes: Path) -> None:
    """Write a folder for each scope of a set, and in it a file for each session."""
    for scope, units in data.units.items():
        sessions: dict[str, list[str]] = {}
        for unit in units:
            lines = sessions.setdefault(file_of(unit), [f"# {unit.time or unit.session_id or unit.id}", ""])
            lines += [f"{unit.role}: {unit.text}", ""]
        (notes / folder_of(scope)).mkdir(parents=True)
        for name, lines in sessions.items():
            (notes / folder_of(scope) / name).write_text("\n".join(lines), encoding="utf-8")


def at_home(home: Path) -> dict[str, str]:
    """Return an environment in which a program finds nothing of this user's."""
    return {**os.environ, "HOME": str(home), "XDG_STATE_HOME": "", "XDG_CONFIG_HOME": ""}


def run(command: list[str], home: Path) -> str:
    """Run a command with a home of its own and return what it prints."""
    done = subprocess.run(command, env=at_home(home), capture_output=True, text=True, timeout=600, check=True)
    return done.stdout


def files_in(rows: list[dict[str, Any]], key: str) -> list[str]:
    """Return the file names in rows of a result, each once."""
    return list(dict.fromkeys(Path(row[key].partition("#")[0]).name for row in rows if row.get(key)))


class Tools:
    """An MCP server on stdin and stdout; it ends with the block."""

    def __init__(self, command: list[str], home: Path) -> None:
        self._process = subprocess.Popen(
            command,
            env=at_home(home),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._say("initialize", HELLO)
        self._send(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(20)

    def _send(self, line: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line)
        self._process.stdin.flush()

    def _say(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._send(message(1, method, params))
        assert self._process.stdout is not None
        for line in self._process.stdout:
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == 1 and "method" not in answer:
                return answer
        raise RuntimeError(f"{method}: the server ended")

    def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        """Call a tool and return what its text holds.

        Raises:
            RuntimeError: it answered with an error.
        """
        result = self._say("tools/call", {"name": tool, "arguments": arguments})["result"]
        if result.get("isError"):
            raise RuntimeError(result["content"][0]["text"])
        return result.get("structuredContent") or json.loads(result["content"][0]["text"])


@contextmanager
def mnemark_shell(command: str, folder: Path, home: Path) -> Iterator[Ask]:
    """`mnemark search`, a process for each question."""
    words = [command, "search", "--json", "-k", "10", "-w", str(folder)]
    run([*words, "first"], home)  # it indexes the folder
    yield lambda text: files_in(json.loads(run([*words, text], home))["hits"], "ref")


@contextmanager
def mnemark_server(command: str, folder: Path, home: Path) -> Iterator[Ask]:
    """`mnemark mcp`, one process."""
    with Tools([command, "mcp", "-w", str(folder)], home) as server:
        yield lambda text: files_in(
            server.call("memory_search", {"query": text, "maxResults": 10})["results"], "path"
        )


def qmd_collection(command: str, folder: Path, home: Path) -> str:
    """Index a folder with qmd, and return the name of its collection."""
    name = folder.name.lower()
    run([command, "collection", "add", str(folder), "--name", name], home)
    return name


def basic_memory_project(command: str, folder: Path, home: Path) -> str:
    """Index a folder with basic-memory, and return the name of its project."""
    name = folder.name.lower()
    run([command, "project", "add", name, str(folder)], home)
    run([command, "project", "index", name], home)
    return name


@contextmanager
def qmd_shell(command: str, folder: Path, home: Path) -> Iterator[Ask]:
    """`qmd search`, a process for each question; `qmd query` needs two gigabytes of models."""
    words = [command, "search", "--json", "-n", "10", "-c", qmd_collection(command, folder, home)]

    def ask(text: str) -> list[str]:
        said = run([*words, text], home)
        return files_in(json.loads(said[said.index("[") :]) if "[" in said else [], "file")

    yield ask


@contextmanager
def basic_memory_server(command: str, folder: Path, home: Path) -> Iterator[Ask]:
    """`basic-memory mcp`, one process; its vectors need a model, so it searches for words."""
    project = basic_memory_project(command, folder, home)
    fixed = {"project": project, "page_size": 10, "output_format": "json"}
    with Tools([command, "mcp"], home) as server:

        def ask(text: str) -> list[str]:
            said = server.call("search_notes", {"query": text, **fixed})
            return files_in(said.get("result", said)["results"], "file_path")

        yield ask


Way = Callable[[str, Path, Path], AbstractContextManager[Ask]]
WAYS: dict[str, tuple[str, Way]] = {
    "mnemark, shell": ("mnemark", mnemark_shell),
    "mnemark, server": ("mnemark", mnemark_server),
    "qmd, shell": ("qmd", qmd_shell),
    "basic-memory, server": ("basic-memory", basic_memory_server),
}


class Row(NamedTuple):
    """What one program did with one set."""

    way: str
    five: float
    ten: float
    milliseconds: float
    silent: float


def measured(way: str, command: str, data: DataSet, out: Path) -> Row:
    """Ask all questions of a set one way."""
    five, ten, silent, times = 0, 0, 0, list[float]()
    for scope, units in data.units.items():
        asked = [question for question in data.questions if question.scopes == [scope]]
        if not asked:
            continue
        where = {unit.id: file_of(unit) for unit in units}
        home = out / "homes" / way.replace(", ", "-") / folder_of(scope)
        home.mkdir(parents=True)
        with WAYS[way][1](command, out / "notes" / folder_of(scope), home) as ask:
            ask(asked[0].query)  # what a server loads once
            for question in asked:
                started = time.perf_counter()
                found = ask(question.query)
                times.append(time.perf_counter() - started)
                gold = {where[identifier] for identifier in question.gold_ids}
                five += not gold.isdisjoint(found[:5])
                ten += not gold.isdisjoint(found[:10])
                silent += not found
    count = len(times)
    return Row(way, five / count, ten / count, 1000 * statistics.median(times), silent / count)


def rows(data: DataSet, out: Path, commands: dict[str, str]) -> Iterator[Row]:
    """Measure each way with a program that is given, on one set."""
    written(data, out / "notes")
    for way, (program, _) in WAYS.items():
        if command := commands.get(program):
            yield measured(way, command, data, out)


def forget_with_mnemark(command: str, folder: Path, home: Path) -> None:
    """Index the notes, and erase one."""
    run([command, "search", "note", "-w", str(folder)], home)
    run([command, "forget", "--query", MARK, "--erase", "--yes", "-w", str(folder)], home)


def forget_with_qmd(command: str, folder: Path, home: Path) -> None:
    """Index the notes, and delete the file of one."""
    qmd_collection(command, folder, home)
    (folder / "secret.md").unlink()
    run([command, "update"], home)


def forget_with_basic_memory(command: str, folder: Path, home: Path) -> None:
    """Index the notes, and delete one."""
    project = basic_memory_project(command, folder, home)
    run([command, "tool", "delete-note", "secret", "--project", project], home)


MARK: Final = "zanzibarquokka"
"""A word that stands in no text but the one that is deleted."""
FORGETTING: Final = {
    "mnemark": forget_with_mnemark,
    "qmd": forget_with_qmd,
    "basic-memory": forget_with_basic_memory,
}


def left(program: str, command: str, out: Path) -> list[str]:
    """Return the names of files that hold the text of a note after a program has deleted it."""
    folder, home = out / "erased" / program / "notes", out / "erased" / program / "home"
    folder.mkdir(parents=True)
    home.mkdir()
    for number in range(1, 50):
        (folder / f"n{number}.md").write_text(f"# Note {number}\n\nOn topic {number}.\n", encoding="utf-8")
    (folder / "secret.md").write_text(f"# secret\n\nThe safe opens with {MARK}.\n", encoding="utf-8")
    FORGETTING[program](command, folder, home)
    files = (path for path in folder.parent.rglob("*") if path.is_file())
    return sorted(path.name for path in files if MARK.encode() in path.read_bytes())


def main() -> int:
    """Print a table for each set."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="an empty folder for notes and indexes")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=COMMAND")
    given = parser.parse_args()
    commands = {"mnemark": str(Path(sys.executable).with_name("mnemark"))}
    commands |= dict(pair.split("=", 1) for pair in given.peer)
    for folder in given.sets:
        data = load_set(folder, limit=given.questions)
        print(f"{data.name}: evidence among the first 5, 10 files; nothing found; median")
        for row in rows(data, (given.out / data.name).resolve(), commands):
            print(
                f"  {row.way:24}{row.five:6.2f}{row.ten:6.2f}{row.silent:6.2f}{row.milliseconds:8.0f} ms",
                flush=True,
            )
    print("files with the text of a note after it was deleted")
    for program, command in commands.items():
        names = left(program, command, given.out.resolve())
        print(f"  {program:24}{len(names):6}  {', '.join(names)}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
