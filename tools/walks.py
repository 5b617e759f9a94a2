"""How far a call walks through the house, and how large its rooms are: the figures that keep it plain.

    python tools/walks.py [--calls | --counts]

The first table counts, for one call, how often control goes from one file of mnemark to another: calls and
returns, with what others do in between left out, seen by `sys.setprofile` in the thread of the caller. The
memory has thirty turns and two facts, and each call is made before it is counted. The second table walks a
hook without a daemon, in a process of its own: how many files it enters, how many of those are called again
after another file was, and how many are called from a layer below their own. The third table counts lines,
imports inside functions, small files, class names and long functions in the source.
"""

import argparse
import ast
import inspect
import itertools
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

TOOLS: Final = Path(__file__).resolve().parent
ROOT: Final = TOOLS.parent
SOURCE: Final = ROOT / "src"
OWN: Final = f"{SOURCE}{os.sep}mnemark"
TURNS: Final = 30
SHORT_TURNS: Final = 32
QUESTION: Final = "When does the backup of the archive run?"
TOPICS: Final = ("backup", "archive", "printer", "garden", "invoice", "server", "meeting", "holiday")


class Walk:
    """A profile function that notes each file of mnemark that control enters."""

    def __init__(self) -> None:
        self.changes = 0
        self.entered: Counter[str] = Counter()
        self.above: set[str] = set()
        self._files: list[str] = []
        self._at = ""

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Note one event: a call of a Python function, or its return."""
        if event == "call":
            self._called(frame.f_code)
        elif event == "return" and self._files:
            self._files.pop()
            self._moved(next((name for name in reversed(self._files) if name.startswith(OWN)), self._at))

    def _called(self, code: CodeType) -> None:
        name = code.co_filename
        self._files.append(name)
        if name == self._at or not name.startswith(OWN) or not code.co_flags & inspect.CO_OPTIMIZED:
            return  # what is not optimized is the body of a module or class: an import
        if self._at and _level(name) > _level(self._at):
            self.above.add(name)
        self.entered[name] += 1
        self._moved(name)

    def _moved(self, name: str) -> None:
        if name != self._at:
            self.changes += bool(self._at)
            self._at = name


@cache
def _levels() -> dict[str, int]:
    """Return the number of each module that a contract of `pyproject.toml` puts in a layer, from below."""
    levels: dict[str, int] = {}
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    for contract in contracts:
        inside = f"{contract['containers'][0]}." if "containers" in contract else ""
        for number, layer in enumerate(reversed(contract.get("layers", []))):
            levels |= {inside + name.strip(): number for name in layer.split("|")}
    return levels


@cache
def _level(path: str) -> tuple[int, ...]:
    """Return the layers of a file: of its package, and of its part of that package."""
    parts = Path(path).relative_to(SOURCE).with_suffix("").parts
    names = [".".join(parts[:end]) for end in range(1, len(parts) + 1)]
    return tuple(_levels()[name] for name in names if name in _levels())


def walk(call: Callable[[], object]) -> Walk:
    """Return the walk of one call, in this thread."""
    seen = Walk()
    sys.setprofile(seen)
    try:
        call()
    finally:
        sys.setprofile(None)
    return seen


def calls() -> Iterator[tuple[str, int]]:
    """Yield each call of the first table with its changes of file."""
    from mnemark import Memory

    with tempfile.TemporaryDirectory() as folder, Memory.open(folder, trusted=True) as memory:
        session = memory.session("one")
        for number in range(TURNS):
            said = f"The {TOPICS[number % 8]} of room {number} is checked at {number % 24:02d}:15 by Ann."
            session.add("user" if number % 2 == 0 else "assistant", said)
        memory.remember("city", "Bonn")
        memory.remember("backup", "runs at 03:00", subject="archive")
        memory.sync()
        cities = itertools.cycle(("Berlin", "Bonn"))

        def changed() -> object:
            return memory.remember("city", next(cities))

        def search() -> object:
            return memory.search(QUESTION)

        yield "`remember` (a changed value)", _warm(changed)
        memory.sync()
        yield "`search` again", _warm(search)
        session.add("user", "The printer of the archive was moved to the second floor.")
        yield "`search` after a turn", walk(search).changes
        yield "`prompt`", _warm(lambda: memory.prompt(QUESTION))
        for words in ("printer", "garden"):
            erased = walk(lambda words=words: memory.forget(query=words, erase=True)).changes  # type: ignore[misc]
        yield "`forget --erase` by words", erased
        for name in ("warm", "end"):
            short = memory.session(name)
            for number in range(SHORT_TURNS):
                said = f"We moved the {TOPICS[number % 8]} to {TOPICS[(number + 3) % 8]} {number}."
                short.add("user" if number % 2 == 0 else "assistant", said)
            ended = walk(short.end).changes
        yield f"end of a session ({SHORT_TURNS} short turns)", ended


def _warm(call: Callable[[], object]) -> int:
    for _ in range(2):
        call()
    return walk(call).changes


def hook() -> str:
    """Return how many files a hook alone enters, calls again, and calls from a layer below their own."""
    from mnemark import Memory

    with tempfile.TemporaryDirectory() as folder:
        with Memory.open(folder, trusted=True) as memory:
            memory.session("one").add("user", "The backup of the archive runs at 03:00.")
            memory.remember("city", "Bonn")
            memory.sync()
        event = {"session_id": "s", "hook_event_name": "UserPromptSubmit", "cwd": folder, "prompt": QUESTION}
        ran = subprocess.run(
            [sys.executable, __file__, "--hook", folder],
            input=json.dumps(event), capture_output=True, text=True, check=True,
        )  # fmt: skip
    if "03:00" not in ran.stdout:
        raise SystemExit(f"the hook found nothing: {ran.stdout}{ran.stderr}")
    return ran.stderr.splitlines()[-1]


def _walked_hook(folder: str) -> None:
    from mnemark_agents.hook import command

    line = ["prompt", "--agent", "claude-code", "--alone", "--workspace", folder]
    seen = walk(lambda: command.run(line))
    again = sum(count > 1 for count in seen.entered.values())
    print(f"{len(seen.entered)} / {again} / {len(seen.above)}", file=sys.stderr)


def counts() -> Iterator[tuple[str, int]]:
    """Yield what is counted in the source."""
    sys.path[:0] = [str(TOOLS), str(ROOT / "tests")]
    from count_lines import kinds  # type: ignore[import-not-found,unused-ignore]

    from test_structure import LATE, late_imports

    texts = {path: path.read_text("utf-8") for path in sorted(SOURCE.rglob("*.py"))}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    core = SOURCE / "mnemark"
    extraction = core / "extraction"
    rooms = [*sorted(SOURCE.glob("mnemark_*")), extraction, core]
    sizes: Counter[Path] = Counter()
    for path, text in texts.items():
        sizes[next(room for room in rooms if room in path.parents)] += kinds(text)["lines"]
    yield "lines of the core (mnemark without extraction)", sizes[core]
    for room in rooms[:-1]:
        yield f"lines of {room.name}", sizes[room]
    yield "allowed places of late imports", len(LATE)
    yield "own imports in functions", sum(1 for tree in trees.values() for _ in late_imports(tree))
    own = [path for path in texts if core in path.parents]
    yield "files under 80 lines (mnemark)", sum(len(texts[path].splitlines()) < 80 for path in own)
    nodes: list[Any] = [node for tree in trees.values() for node in ast.walk(tree)]
    classes = Counter(node.name for node in nodes if isinstance(node, ast.ClassDef))
    yield "class names used twice or more", sum(count > 1 for count in classes.values())
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    long = [node for node in functions if (node.end_lineno or 0) - node.lineno >= 40]
    yield "functions over 40 lines", len(long)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="Count changes of file, and what the source holds.")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--calls", action="store_true", help="the calls and the hook alone")
    only.add_argument("--counts", action="store_true", help="the source alone")
    only.add_argument("--hook", metavar="FOLDER", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.hook:
        _walked_hook(given.hook)
        return
    if not given.counts:
        _walks()
    if not given.calls:
        print("in the source")
        for name, count in counts():
            print(f"  {name:52}{count:8,}")


def _walks() -> None:
    """Print the tables of calls, in a home of their own: no daemon and no settings of the user take part."""
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"HOME": home, "USERPROFILE": home, "XDG_STATE_HOME": home, "XDG_CONFIG_HOME": home}
        os.environ.pop("MNEMARK_CONFIG", None)
        print("changes of file during one call")
        for name, changes in calls():
            print(f"  {name:52}{changes:8,}")
        print("a hook alone: files entered / called again / called from below")
        print(f"  {'`hook prompt`':52}{hook():>8}")


if __name__ == "__main__":
    main()
