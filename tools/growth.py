"""What mnemark does as a memory ages: ends of sessions, pages, prompts, searches after a fact.

    python tools/growth.py grow FOLDER [--sessions 5000] [--facts 10000] [--passages 100000]
    python tools/growth.py ask FOLDER

`grow` makes a workspace that was used for long, through the library: sessions of four turns that are ended
as agents end them, ten a day (the last of them today), facts remembered in batches of a thousand, and a mixed
Chinese and English corpus beside them. It prints the processor time of an end as the sessions grow in number,
and that of the facts. `ask` prints what single calls take there: in a process of its own for each (the first
call), and again (the second). It leaves a few facts behind.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from mnemark import Memory
from mnemark_bench.corpus import Corpus, grow

SHOWN = (5, 50, 100, 200, 390, 600, 1000, 2000, 3000, 4000, 5000)
"""Sessions around which the median of the ends is printed."""
AROUND = 10
A_DAY = 10
BATCH = 1000


def end_sessions(memory: Memory, corpus: Corpus, count: int) -> None:
    """Record and end sessions; prints the median time of the ends around some of them."""
    now = memory.workspace.now()
    first = now - timedelta(days=count / A_DAY)
    spent: list[float] = []
    print("session.end, ms of processor time, median of the ends up to there")
    for number in range(count):
        session = memory.session(f"chat:{number}")
        begun = first + timedelta(days=number / A_DAY)
        said = [corpus.text(20).text for _ in range(4)]
        session.add_many(
            [
                session.turn("assistant" if n % 2 else "user", text, time=begun + timedelta(minutes=n))
                for n, text in enumerate(said)
            ]
        )
        before = time.process_time()
        session.end()
        spent.append((time.process_time() - before) * 1000)
        if number + 1 in SHOWN:
            print(f"  {number + 1:>6}  {statistics.median(spent[-AROUND:]):7.1f}", flush=True)


def remember(memory: Memory, corpus: Corpus, count: int) -> None:
    """Remember facts in batches; prints the time of each batch."""
    print(f"remember_many, s of processor time for each {BATCH}")
    for start in range(0, count, BATCH):
        said = [
            {
                "subject": f"project {n % 200}" if n % 3 else "user",
                "predicate": f"property {n}",
                "value": corpus.text(6).text,
            }
            for n in range(start, min(start + BATCH, count))
        ]
        before = time.process_time()
        memory.remember_many(said)
        print(f"  {start + len(said):>6}  {time.process_time() - before:7.2f}", flush=True)


def make(folder: Path, *, sessions: int, facts: int, passages: int) -> None:
    """Make the workspace."""
    corpus = Corpus()
    if passages:
        grown = grow(folder, passages, corpus)
        print(f"{len(grown.texts):,} passages in {grown.files:,} files")
    with Memory.open(folder, trusted=True) as memory:
        memory.sync()
        end_sessions(memory, corpus, sessions)
        remember(memory, corpus, facts)
        memory.sync()


def _sessions(memory: Memory) -> object:
    from mnemark.memory.sessions.history import listed

    return listed(memory.workspace, last=50)


def _search(memory: Memory) -> object:
    return memory.search("when does the backup run").hits


def _after_a_fact(memory: Memory) -> object:
    memory.remember("backup time", f"{time.time_ns() % 86_400} seconds after midnight")
    before = time.perf_counter(), time.process_time()
    _search(memory)
    return Timed(time.perf_counter() - before[0], time.process_time() - before[1])


class Timed:
    """Time that a call took itself, where not all of it counts."""

    def __init__(self, wall: float, processor: float) -> None:
        self.wall = wall
        self.processor = processor


CALLS: dict[str, Callable[[Memory], object]] = {
    "search": _search,
    "search after a fact": _after_a_fact,
    "remember": lambda memory: memory.remember("editor", f"number {time.time_ns()}"),
    "prompt": lambda memory: memory.prompt("When does the backup run?"),
    "status": lambda memory: memory.stats(),
    "attention": lambda memory: memory.attention(),
    "100 facts": lambda memory: list(islice(memory.facts(), 100)),
    "50 sessions": _sessions,
}


def call(folder: Path, name: str) -> None:
    """Make one call several times; prints wall and processor time of each, in ms, as JSON."""
    times = []
    with Memory.open(folder, trusted=True) as memory:
        if name != "search":
            _search(memory)  # the index is read: what is asked for is this call's own part
        for _ in range(6):
            before = time.perf_counter(), time.process_time()
            done = CALLS[name](memory)
            wall, processor = time.perf_counter() - before[0], time.process_time() - before[1]
            if isinstance(done, Timed):
                wall, processor = done.wall, done.processor
            times.append((wall * 1000, processor * 1000))
            time.sleep(0.05)
    print(json.dumps(times))


def ask(folder: Path) -> None:
    """Print what each call takes, the first time in its process and afterwards."""
    print(f"{'ms of wall time (processor)':28} {'first':>16} {'later, median':>20}")
    for name in CALLS:
        run = [sys.executable, __file__, "call", str(folder), "--name", name]
        times: Sequence[Any] = json.loads(subprocess.run(run, stdout=subprocess.PIPE, check=True).stdout)
        later = [statistics.median(column) for column in zip(*times[1:], strict=True)]
        print(
            f"  {name:26} {times[0][0]:7.0f} ({times[0][1]:5.0f}) {later[0]:11.1f} ({later[1]:5.1f})",
            flush=True,
        )


def main() -> int:
    """Grow, or ask."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=["grow", "ask", "call"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sessions", type=int, default=5_000)
    parser.add_argument("--facts", type=int, default=10_000)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--name", default="search", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.action == "grow":
        make(given.folder, sessions=given.sessions, facts=given.facts, passages=given.passages)
    elif given.action == "ask":
        ask(given.folder)
    else:
        call(given.folder, given.name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
