"""Measure a server beside the embedded engine in one run: answers, times, many memories, cost, drills.

Run by `make scale`; PostgreSQL is Debian's, or that of a wheel. Texts are made up.
"""

import argparse
import random
import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from tools.scale_drills import failovers, moment
from tools.scale_load import THINGS, load, seconds

from mnemark import Memory
from mnemark.files import platform
from mnemark.memory.sessions.session import Session
from mnemark_server import tenants
from mnemark_server.database import Database, connect
from mnemark_server.migrations import migrate
from mnemark_server.node import Tenants
from server.postgres import Postgres

QUESTIONS = tuple(f"where is the {one} of {THINGS[-at]}?" for at, one in enumerate(THINGS, 1))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--talks", type=int, default=100, help="talks of the measured memory, 20 turns each")
    parser.add_argument("--tenants", type=int, default=1_000, help="memories on one node")
    parser.add_argument("--seconds", type=int, default=60, help="how long nodes and databases are killed")
    given = parser.parse_args()
    with TemporaryDirectory(prefix="mnemark-scale-") as folder, running(Path(folder)) as url:
        one_memory(Path(folder), url, given.talks)
        many_memories(Path(folder), url, given.tenants)
    load()
    failovers(given.seconds, 6)
    moment()


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """A migrated database that writes to the disk as it would for users."""
    folder.chmod(0o755)
    postgres = Postgres(folder / "postgres", durable=True)
    postgres.start()
    url = postgres.database("scale")
    with connect(url) as connection:
        migrate(connection)
        tenants.create(connection, "measured")
    yield url
    postgres.stop("immediate")


def one_memory(folder: Path, url: str, talks: int) -> None:
    """Compare a memory on a server with the same one embedded."""
    database = Database(url)
    node = Tenants(database, folder / "node")
    alone = Memory.open(folder / "alone")
    for number in range(talks):
        fill(alone.session(f"chat:{number}"), number)
        with node.lease("1") as at:
            fill(at.session(f"chat:{number}"), number)
    alone.sync()
    with node.lease("1") as at:
        at.memory.sync()
        same = sum(answers(alone, one) == answers(at.memory, one) for one in QUESTIONS)
    print(f"{20 * talks:,} turns; identical answers: {same} of {len(QUESTIONS)}")

    def embedded(question: str) -> None:
        alone.recall(question)

    def served(question: str) -> None:
        with node.lease("1") as at:
            at.memory.recall(question)

    here, there = timed_in_turn(embedded, served)
    told("recall, warm", there, here)

    session = alone.session("chat:writes")

    def kept(text: str) -> None:
        session.add_many([session.turn("user", text, origin="owner")])

    def sent(text: str) -> None:
        with node.lease("1") as at:
            one = at.session("chat:writes")
            one.add_many([one.turn("user", text, origin="owner")])

    told("a turn written", *reversed(timed_in_turn(kept, sent)))
    node.close()
    cold_rows, cold_disk = [], []
    for number in range(5):
        fresh = Tenants(database, folder / f"fresh{number}")
        cold_rows.append(seconds(ask, fresh, QUESTIONS[0]))
        fresh.drop(fresh.root_of("1"), lambda _: None)  # closed, with its folder on the disk
        cold_disk.append(seconds(ask, fresh, QUESTIONS[1]))
        fresh.close()
    told("first recall, from rows", cold_rows, here)
    told("first recall, from the disk of the node", cold_disk, here)
    alone.close()
    database.close()


def many_memories(folder: Path, url: str, count: int) -> None:
    """Say what many memories on one node take."""
    platform.give_back_memory()  # as a node does
    database = Database(url)
    with connect(url) as connection:
        for number in range(count):
            tenants.create(connection, f"tenant-{number}")
    node = Tenants(database, folder / "many", most_open=64, most_folders=max(count // 2, 1))
    begun = time.perf_counter()
    for number in range(count):
        with node.lease(str(number + 2)) as at:
            fill(at.session("chat:1"), number)
    print(f"{count:,} memories made in {time.perf_counter() - begun:.0f} s")
    chance, times = random.Random(7), []
    for _ in range(300):
        name, question = str(chance.randrange(count) + 2), chance.choice(QUESTIONS)
        times.append(seconds(ask, node, question, name))
    disk = sum(path.stat().st_size for path in (folder / "many").rglob("*") if path.is_file())
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    descriptors = sum(1 for _ in Path("/proc/self/fd").iterdir())
    p50, p99 = (1e3 * percentile(times, share) for share in (50, 99))
    print(
        f"search in any of them: p50 {p50:.0f} ms, p99 {p99:.0f} ms; open {node.count()}, on the disk"
        f" {node.folders():,} ({disk / 1e6:,.0f} MB), evicted {node.evicted:,}; {memory:,.0f} MB of memory,"
        f" {descriptors} descriptors"
    )
    node.close()
    database.close()


def fill(session: Session, number: int) -> None:
    """Say twenty made-up turns."""
    begin = datetime(2026, 1, 1, 8, tzinfo=UTC) + timedelta(minutes=90 * number)
    session.add_many([
        session.turn(
            "user" if n % 2 == 0 else "assistant",
            f"The {THINGS[(number + n) % 24]} of {THINGS[(number * 7 + n * 3) % 24]}, number {number}.{n}:"
            f" it goes to the {THINGS[(number * 5 + n) % 24]} on day {n}.",
            time=begin + timedelta(seconds=40 * n), origin="owner" if n % 2 == 0 else "agent",
        )
        for n in range(20)
    ])  # fmt: skip


def ask(node: Tenants, question: str, name: str = "1") -> None:
    """Search in a memory."""
    with node.lease(name) as at:
        at.memory.search(question)


def answers(memory: Memory, question: str) -> list[tuple[str, str, float]]:
    """What a search finds, as far as it can be compared."""
    return [(hit.ref, hit.text, round(hit.score, 6)) for hit in memory.search(question).hits]


def timed_in_turn(*jobs: Callable[[str], None], rounds: int = 8) -> list[list[float]]:
    """Seconds of each job for each question; they take turns, so that a busy machine slows all alike."""
    for job in jobs:
        for question in QUESTIONS:
            job(question)
    found: list[list[float]] = [[] for _ in jobs]
    for _ in range(rounds):
        for question in QUESTIONS:
            for times, job in zip(found, jobs, strict=True):
                times.append(seconds(job, question))
    return found


def percentile(times: list[float], share: int) -> float:
    """The time that so many of a hundred do not exceed."""
    return sorted(times)[min(len(times) * share // 100, len(times) - 1)]


def told(what: str, times: list[float], beside: list[float]) -> None:
    """Print times, and their ratios to others."""
    parts = []
    for share in (50, 95, 99):
        found, base = percentile(times, share), percentile(beside, share)
        parts.append(f"p{share} {1e3 * found:.1f} ms ({found / base:.2f}×)")
    print(f"{what}: {', '.join(parts)}")


if __name__ == "__main__":
    main()
