"""Measure what requests cost a node and PostgreSQL, and what a memory that works hard does to another."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))


from mnemark_server import grants, tenants
from mnemark_server.database import connect
from mnemark_server.migrations import migrate
from server.cluster import children, free_port
from server.postgres import Postgres
from server.processes import NodeProcess, post

REQUESTS: Final = 400
"""Requests of each measurement."""
TALKS: Final = 100
THINGS: Final = (
    "river", "lamp", "garden", "engine", "violin", "harbour", "window", "pepper", "copper", "meadow",
    "bicycle", "lantern", "orchard", "signal", "teapot", "compass", "ferry", "chimney", "walnut", "marble",
    "saddle", "thimble", "beacon", "gravel",
)  # fmt: skip
"""What made-up texts are about."""


def load() -> None:
    """Run a node in a process of its own, and ask it."""
    with TemporaryDirectory(prefix="mnemark-load-") as folder:
        _load(Path(folder))


def _load(folder: Path) -> None:
    folder.chmod(0o755)
    postgres = Postgres(folder / "postgres", durable=True)
    postgres.start()
    url = postgres.database("load")
    keys = [made(url, name) for name in ("quiet", "loud")]
    node = NodeProcess(url, folder / "node", free_port())
    try:
        for name, key in zip(("quiet", "loud"), keys, strict=True):
            for talk in range(TALKS):
                say(node.port, key, f"{name}:{talk}", talk)
        costs(node, postgres, keys[0])
        neighbours(node, *keys)
    finally:
        node.kill()
        postgres.stop("immediate")


def made(url: str, name: str) -> str:
    """Make a memory without limits, and return a key of it."""
    with connect(url) as connection:
        migrate(connection)
        tenants.create(connection, name)
        grants.set_limits(connection, name, {"requests_per_minute": 10_000_000})
        return tenants.add_key(connection, name, "load")


def say(port: int, key: str, session: str, talk: int) -> None:
    """Say twenty made-up turns."""
    turns = [
        {"role": "user" if n % 2 == 0 else "assistant", "origin": "owner" if n % 2 == 0 else "agent",
         "content": f"The {THINGS[(talk + n) % 24]} of {THINGS[talk * 7 % 24]}, number {talk}.{n}: day {n}."}
        for n in range(20)
    ]  # fmt: skip
    post(port, key, "/v1/turns", {"session": session, "turns": turns, "call": session})


def costs(node: NodeProcess, postgres: Postgres, key: str) -> None:
    """Print the CPU time that a request takes of a node and of PostgreSQL."""
    master = int((postgres.data / "postmaster.pid").read_text().split()[0])
    for what, ask in (("recall", recall), ("turn", turn)):
        ask(node.port, key, 0)
        before = cpu([node.process.pid]), cpu([master, *children(master)])
        for number in range(REQUESTS):
            ask(node.port, key, number)
        after = cpu([node.process.pid]), cpu([master, *children(master)])
        here, there = ((end - begin) / REQUESTS for begin, end in zip(before, after, strict=True))
        print(
            f"a {what}: {1e3 * here:.1f} ms of a core in the node, {1e3 * there:.1f} in PostgreSQL:"
            f" {1 / here:,.0f} a second for each core of nodes"
        )


def neighbours(node: NodeProcess, quiet: str, loud: str) -> None:
    """Print how long a recall of one memory takes while another is quiet, erases, and is consolidated."""

    def erase(number: int) -> None:
        post(
            node.port, loud, "/v1/forget", {"query": f"number {number % TALKS}.3:", "erase": True}, timeout=60
        )

    def consolidate(_: int) -> None:
        post(node.port, loud, "/v1/consolidate", {}, timeout=120)

    alone = None
    jobs = {"alone": None, "while another erases": erase, "while another is consolidated": consolidate}
    for what, job in jobs.items():
        with repeated(job) as done:
            times = sorted(seconds(recall, node.port, quiet, number) for number in range(REQUESTS))
        p50, p99, worst = (1e3 * times[at] for at in (REQUESTS // 2, REQUESTS * 99 // 100, -1))
        more = "" if alone is None else f", {p99 - alone:+.0f} ms at p99; the other did it {len(done)} times"
        alone = p99 if alone is None else alone
        print(f"a recall {what}: p50 {p50:.0f} ms, p99 {p99:.0f}, worst {worst:.0f}{more}")


@contextmanager
def repeated(job: Callable[[int], None] | None) -> Iterator[list[int]]:
    """Do a job over and over for the length of the block."""
    done: list[int] = []
    over = threading.Event()

    def run() -> None:
        while job is not None and not over.is_set():
            job(len(done))
            done.append(1)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield done
    finally:
        over.set()
        thread.join()


def recall(port: int, key: str, number: int) -> None:
    """Ask what stands in a memory."""
    query = f"where is the {THINGS[number % 24]} of {THINGS[(number * 5 + 1) % 24]}?"
    post(port, key, "/v1/recall", {"query": query, "deadline": 5.0})


def turn(port: int, key: str, number: int) -> None:
    """Say one turn."""
    said = {"role": "user", "content": f"I moved lamp {number}.", "origin": "owner"}
    post(port, key, "/v1/turns", {"session": "chat:0", "turns": [said], "call": f"{time.time_ns()}"})


def seconds(job: Callable[..., None], *given: Any) -> float:
    """Run a job; return how long it took."""
    begun = time.perf_counter()
    job(*given)
    return time.perf_counter() - begun


def cpu(pids: list[int]) -> float:
    """Seconds of a core that processes, and those below them that ended, took so far."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += sum(int(one) for one in fields[11:15])
    return ticks / 100


if __name__ == "__main__":
    load()
