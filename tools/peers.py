"""Ask mnemark and other memories the same questions about the same folder of Markdown, each as it is shipped.

    python tools/peers.py SET... --out DIR [--questions 100] [--peer NAME=COMMAND ...]

A set is a folder of labelled questions, as for `mnemark bench retrieval`. Each of its conversations (days,
sessions) becomes one Markdown file; a question is answered if a file with its evidence is among the first
five, or ten, that a program names. No program gets settings, models or a network; what one would fetch first,
it does without. `--peer qmd=/path/to/qmd` names a command that is installed; a peer that is not given is not
run. Times are of a process for each question (`shell`), or of one question to a running server (`server`).
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

Ask = Callable[[str], list[str]]
"""Answer a question with file names, best first."""


class Question(NamedTuple):
    """A question and the files that hold its evidence."""

    text: str
    scope: str
    files: frozenset[str]


def name_of(session: str) -> str:
    """Return a file name for a session."""
    return session.replace("/", "_") + ".md"


def written(data: Path, out: Path) -> list[Question]:
    """Write a folder for each scope of a set, a file for each session; return the answerable questions."""
    sessions: dict[tuple[str, str], list[str]] = defaultdict(list)
    where: dict[str, str] = {}
    for line in (data / "corpus.jsonl").open(encoding="utf-8"):
        unit = json.loads(line)
        session = unit["session_id"] or unit["id"]
        where[unit["id"]] = name_of(session)
        head = [f"# {unit['time'] or session}", ""]
        lines = sessions[unit["scope"], session]
        lines += [*(head if not lines else []), f"{unit['role']}: {unit['text']}", ""]
    for (scope, session), lines in sessions.items():
        folder = out / name_of(scope).removesuffix(".md")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name_of(session)).write_text("\n".join(lines), encoding="utf-8")
    asked = []
    for line in (data / "queries.jsonl").open(encoding="utf-8"):
        query = json.loads(line)
        if query.get("answerable", True) and query["gold_ids"] and len(query["scopes"]) == 1:
            gold = frozenset(where[unit] for unit in query["gold_ids"] if unit in where)
            asked.append(Question(query["query"], name_of(query["scopes"][0]).removesuffix(".md"), gold))
    return [question for question in asked if question.files]


def run(command: list[str], home: Path) -> str:
    """Run a command with a home of its own and return what it prints."""
    environment = {**os.environ, "HOME": str(home), "XDG_STATE_HOME": "", "XDG_CONFIG_HOME": ""}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=True)
    return done.stdout


def files_in(rows: list[dict[str, Any]], key: str) -> list[str]:
    """Return the file names in rows of a result, each once."""
    return list(dict.fromkeys(Path(row[key].partition("#")[0]).name for row in rows if row.get(key)))


class Tools:
    """An MCP server on stdin and stdout."""

    def __init__(self, command: list[str], home: Path) -> None:
        environment = {**os.environ, "HOME": str(home), "XDG_STATE_HOME": "", "XDG_CONFIG_HOME": ""}
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        client = {"name": "peers", "version": "1"}
        self._say("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def _say(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._send({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message: dict[str, Any] = json.loads(line)
            if message.get("id") == 1 and "method" not in message:
                return message
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

    def end(self) -> None:
        """Stop the server."""
        self._process.terminate()
        self._process.wait(20)


def mnemark_shell(command: str, folder: Path, home: Path) -> Ask:
    """`mnemark search`, a process for each question."""
    words = [command, "search", "--json", "-k", "10", "-w", str(folder)]
    run([*words, "first"], home)  # it indexes the folder
    return lambda text: files_in(json.loads(run([*words, text], home))["hits"], "ref")


def mnemark_server(command: str, folder: Path, home: Path) -> Ask:
    """`mnemark mcp`, one process."""
    server = Tools([command, "mcp", "-w", str(folder)], home)
    return lambda text: files_in(
        server.call("memory_search", {"query": text, "maxResults": 10})["results"], "path"
    )


def qmd_shell(command: str, folder: Path, home: Path) -> Ask:
    """`qmd search`, a process for each question; `qmd query` needs two gigabytes of models."""
    run([command, "collection", "add", str(folder), "--name", folder.name.lower()], home)
    words = [command, "search", "--json", "-n", "10", "-c", folder.name.lower()]

    def ask(text: str) -> list[str]:
        said = run([*words, text], home)
        return files_in(json.loads(said[said.index("[") :]) if "[" in said else [], "file")

    return ask


def basic_memory_server(command: str, folder: Path, home: Path) -> Ask:
    """`basic-memory mcp`, one process; its vectors need a model, so it searches for words."""
    run([command, "project", "add", folder.name.lower(), str(folder)], home)
    run([command, "project", "index", folder.name.lower()], home)
    server = Tools([command, "mcp"], home)
    fixed = {"project": folder.name.lower(), "page_size": 10, "output_format": "json"}

    def ask(text: str) -> list[str]:
        said = server.call("search_notes", {"query": text, **fixed})
        return files_in(said.get("result", said)["results"], "file_path")

    return ask


WAYS: dict[str, tuple[str, Callable[[str, Path, Path], Ask]]] = {
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


def measured(way: str, make: Callable[[Path, Path], Ask], questions: list[Question], out: Path) -> Row:
    """Ask all questions one way."""
    five, ten, silent, times = 0, 0, 0, list[float]()
    by_scope: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        by_scope[question.scope].append(question)
    for scope, asked in by_scope.items():
        home = out / "homes" / way.replace(", ", "-") / scope
        home.mkdir(parents=True, exist_ok=True)
        ask = make(out / "notes" / scope, home)
        ask(asked[0].text)  # what a server loads once
        for question in asked:
            started = time.perf_counter()
            found = ask(question.text)
            times.append(time.perf_counter() - started)
            five += not question.files.isdisjoint(found[:5])
            ten += not question.files.isdisjoint(found[:10])
            silent += not found
    count = len(questions)
    return Row(way, five / count, ten / count, 1000 * statistics.median(times), silent / count)


def rows(data: Path, out: Path, count: int, commands: dict[str, str]) -> Iterator[Row]:
    """Measure each way with a program that is given, on one set."""
    questions = written(data, out / "notes")
    chosen = random.Random(7).sample(questions, min(count, len(questions)))
    for way, (program, make) in WAYS.items():
        if command := commands.get(program):
            yield measured(way, lambda folder, home: make(command, folder, home), chosen, out)  # noqa: B023


def main() -> int:
    """Print a table for each set."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="an empty folder for notes and indexes")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=COMMAND")
    given = parser.parse_args()
    commands = {"mnemark": str(Path(sys.executable).with_name("mnemark"))}
    commands |= dict(pair.split("=", 1) for pair in given.peer)
    for data in given.sets:
        print(f"{data.name}: evidence among the first 5, 10 files; nothing found; median")
        for row in rows(data, (given.out / data.name).resolve(), given.questions, commands):
            print(
                f"  {row.way:24}{row.five:6.2f}{row.ten:6.2f}{row.silent:6.2f}{row.milliseconds:8.0f} ms",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
