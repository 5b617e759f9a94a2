"""One memory in one process, used without pause: records, remembers, searches, forgets, syncs, consolidates.

    python tools/soak.py --minutes 60

What is older than `KEPT` sessions is erased, and each value of a fact that was replaced, so that the folder
stays as large as it was and what the process takes can be held against its own beginning. Prints memory, open
files and threads every 15 seconds. At the end the folder is opened anew: what was acknowledged must be there
once, what was erased nowhere, not even in the index. Memory is flat where the median of the last quarter is
at most `GROWN` times that of the second quarter (what is loaded once is loaded by then); open files and
threads where it is at most `FEW` more. glibc is told to return what is freed, as in the daemon, which is the
process that lives long. Exits with 1 where something failed. Linux only: `/proc` tells what a process takes.
"""

import argparse
import os
import random
import statistics
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from mnemark.facts.model import Fact
from mnemark.files import platform
from mnemark.memory.memory import Memory

KEPT = 30
FACTS = 40
TURNS = 12
GROWN = 1.1
FEW = 4
_WORDS = ["cache", "index", "vector", "deploy", "backup", "editor", "budget", "部署", "备份", "索引", "会议"]


class Used(NamedTuple):
    """What the process takes: MB of memory, open files, threads."""

    seconds: float
    memory: float
    files: int
    threads: int


class Soak:
    """What was acknowledged, and what is done next."""

    def __init__(self, memory: Memory, seed: int) -> None:
        self.memory = memory
        self.chance = random.Random(seed)
        self.sessions: deque[tuple[str, list[str]]] = deque()
        self.facts: dict[str, Fact] = {}
        self.erased = bytearray()
        """The words, one a line: as strings they would be most of what grows here."""
        self.count = 0

    def mark(self) -> str:
        """Return a word that is nowhere else."""
        self.count += 1
        return f"mark{self.count}x{self.chance.randrange(16**8):08x}"

    def text(self) -> tuple[str, str]:
        """Return a word that is nowhere else, and a text with it."""
        word = self.mark()
        return word, f"{word} {' '.join(self.chance.choices(_WORDS, k=20))}"

    def round(self, number: int) -> None:
        """Record a session, end it, remember, search, and erase what is old."""
        memory, said = self.memory, list[str]()
        session = memory.session(f"soak:{number}")
        for turn in range(TURNS):
            word, text = self.text()
            session.add("user" if turn % 2 == 0 else "assistant", text)
            said.append(word)
        self.sessions.append((session.id, said))
        memory.recall(" ".join(self.chance.choices(_WORDS, k=3)), deadline=0.5)
        session.end()
        subject = f"subject {self.chance.randrange(FACTS)}"
        before, word = self.facts.get(subject), self.mark()
        self.facts[subject] = memory.remember("state", word, subject=subject)
        if before is not None:
            self.forget(before.id, id=before.id)
            self.has_erased([before.value])
        newest = self.chance.choice(said)
        if not any(newest in hit.text for hit in memory.search(newest).hits):
            raise SystemExit(f"round {number}: {newest} was acknowledged and is not found")
        if number % 5 == 0:
            memory.sync()
        if number % 50 == 49:
            memory.consolidate(force=True)
        while len(self.sessions) > KEPT:
            self.erase()

    def erase(self) -> None:
        """Erase the oldest session with all that came of it."""
        name, words = self.sessions.popleft()
        self.forget(name, session=name)
        self.has_erased(words)

    def has_erased(self, words: Iterable[str]) -> None:
        """Remember words that were erased."""
        self.erased += "".join(f"{word}\n" for word in words).encode()

    def forget(self, name: str, *, session: str | None = None, id: str | None = None) -> None:  # noqa: A002
        """Erase a session or a fact."""
        if self.memory.forget(session=session, id=id, erase=True).waiting:
            raise SystemExit(f"{name} was not erased")

    def missing(self, root: Path) -> list[str]:
        """Return what is not as it was acknowledged, after the folder was opened anew."""
        with Memory.open(root, trusted=True) as memory:
            memory.sync()
            wanted = [word for _, words in self.sessions for word in words]
            logs = b"".join(path.read_bytes() for path in root.glob("sessions/*.jsonl"))
            found = [f"{word} is there {n} times" for word in wanted if (n := logs.count(word.encode())) != 1]
            found += [f"{word} is not found" for word in wanted[::50] if not memory.search(word).hits]
            known = {str(fact.value) for fact in memory.facts()}
            wrong = (fact for fact in self.facts.values() if fact.value not in known)
            found += [f"{fact.subject} is not {fact.value}" for fact in wrong]
        everywhere = b"".join(path.read_bytes() for path in root.rglob("*") if path.is_file())
        return found + [
            f"{word.decode()} was erased and is there" for word in self.erased.split() if word in everywhere
        ]


def used(started: float) -> Used:
    """Return what this process takes now."""
    status = Path("/proc/self/status").read_text("ascii")
    anonymous = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("RssAnon"))
    files = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    return Used(time.monotonic() - started, anonymous / 1000, files, threading.active_count())


def grown(seen: list[Used]) -> list[str]:
    """Return what is more in the last quarter than in the second."""
    quarter = len(seen) // 4
    if not quarter:
        return ["too short to tell: run at least two minutes"]
    found = []
    for name, most in (("memory", GROWN), ("files", 0), ("threads", 0)):
        before, after = (
            statistics.median(getattr(one, name) for one in part)
            for part in (seen[quarter : 2 * quarter], seen[-quarter:])
        )
        if after > (before * most if most else before + FEW):
            found.append(f"{name}: {before:.0f} in the second quarter, {after:.0f} in the last")
    return found


def run(root: Path, minutes: float, seed: int) -> list[str]:
    """Use a memory for some minutes; return what was wrong."""
    started, seen, number = time.monotonic(), list[Used](), 0
    with Memory.open(root, config={"embedder": "none"}, trusted=True) as memory:
        soak = Soak(memory, seed)
        print("seconds  MB  files  threads  rounds")
        while (passed := time.monotonic() - started) < minutes * 60:
            soak.round(number)
            number += 1
            if passed >= 15 * len(seen):
                seen.append(one := used(started))
                columns = f"{one.seconds:7.0f} {one.memory:4.0f} {one.files:4} {one.threads:4}"
                print(f"{columns} {number:6}", flush=True)
    words, erased = sum(len(words) for _, words in soak.sessions), len(soak.erased.split())
    print(f"{number} rounds; {words} turns and {len(soak.facts)} facts kept, {erased} turns erased")
    return grown(seen) + soak.missing(root)


def main() -> int:
    """Run the soak and print what was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    options = parser.parse_args()
    print(f"seed {options.seed}")
    platform.give_back_memory()
    with tempfile.TemporaryDirectory(prefix="mnemark-soak-") as folder:
        wrong = run(Path(folder), options.minutes, options.seed)
    for one in wrong[:20]:
        print(f"wrong: {one}")
    print("failed" if wrong else "passed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
