"""Try what is shipped for hosters until something is lost: nodes killed, failovers, and a return to a moment.

Run by `make scale`, or alone: python tools/scale_drills.py --seconds 60
"""

import argparse
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from mnemark_server.database import Database, connect
from mnemark_server.node import Tenants
from server.cluster import BOUNCER, PASSWORDS, Cluster, Image, Member, ShippedNode
from server.processes import post
from server.test_kills import Writer


def main() -> None:
    """Run the drills."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="how long writers write")
    parser.add_argument("--writers", type=int, default=6)
    given = parser.parse_args()
    failovers(given.seconds, given.writers)
    moment()


class TimedWriter(Writer):
    """A writer that knows when it was acknowledged."""

    def __init__(self, number: int, key: str, ports: list[int], stop: threading.Event) -> None:
        super().__init__(number, key, ports, stop)
        self.acknowledged = self.kept = _Timed()


class _Timed(list[str]):
    def __init__(self) -> None:
        super().__init__()
        self.times: list[float] = []

    def append(self, text: str) -> None:
        self.times.append(time.monotonic())
        super().append(text)


def failovers(seconds: int, count: int) -> None:
    """Write through two nodes while nodes are killed and each standby takes over in turn."""
    with TemporaryDirectory(prefix="mnemark-drill-") as given:
        folder = Path(given)
        folder.chmod(0o755)
        cluster = Cluster(folder / "cluster", durable=True)
        keys = begun(cluster.direct, folder, max(count // 2, 1))
        addresses = (cluster.pooled or cluster.direct, cluster.direct)
        nodes = [ShippedNode(address, folder / f"node{n}") for n, address in enumerate(addresses)]
        stop = threading.Event()
        writers = [
            TimedWriter(n, keys[n % len(keys)], [one.port for one in nodes], stop) for n in range(count)
        ]
        try:
            for one in writers:
                one.start()
            kills, moments = _disturb(cluster, nodes, seconds)
            stop.set()
            for one in writers:
                one.join(60)
            found = turns(cluster.direct, folder / "fresh", len(keys))
            report(found, writers, kills, moments)
        finally:
            stop.set()
            for node in nodes:
                node.kill()
            cluster.close()


def _disturb(
    cluster: Cluster, nodes: Sequence[ShippedNode], seconds: int
) -> tuple[Counter[str], list[float]]:
    """Fail over for half of the time, then kill nodes: their leases would hide how long a failover takes."""
    chance, begun_at = random.Random(seconds), time.monotonic()
    kills, moments = Counter[str](), []
    while (passed := time.monotonic() - begun_at) < seconds:
        time.sleep(chance.uniform(1, 3))
        if passed < seconds / 2:
            moments.append(time.monotonic())
            cluster.fail_over()
            kills["failovers"] += 1
            time.sleep(chance.uniform(0.5, 2))
            cluster.renew_standby()
        else:
            node = chance.choice(nodes)
            node.kill()
            node.start()
            kills["nodes killed"] += 1
    return kills, moments


def report(
    found: Counter[str], writers: Sequence[TimedWriter], kills: Counter[str], moments: Sequence[float]
) -> None:
    """Print what was acknowledged, lost and doubled, and how long nothing was acknowledged."""
    said = [text for one in writers for text in one.acknowledged]
    lost = sum(found[text] == 0 for text in said)
    doubled = sum(number > 1 for number in found.values())
    times = sorted(moment for one in writers for moment in one.kept.times)
    gaps = list(pairwise(times))
    over = max((b - a for at in moments for a, b in gaps if a <= at < b), default=0.0)
    way = "one node through pgbouncer, one by two addresses" if BOUNCER else "both nodes by two addresses"
    done = ", ".join(f"{number} {name}" for name, number in sorted(kills.items()))
    print(
        f"{done} under {len(writers)} writers, two on each memory ({way}): {len(said):,} turns"
        f" acknowledged, {lost} lost,"
        f" {doubled} doubled, {sum(one.retried for one in writers):,} tried again; in a failover nothing was"
        f" acknowledged for {over:.1f} s at most"
    )
    assert not lost + doubled


def turns(url: str, folder: Path, memories: int) -> Counter[str]:
    """How often each turn is in the memories, as a fresh node has them."""
    database = Database(url)
    node = Tenants(database, folder)
    found = Counter[str]()
    for number in range(memories):
        with node.lease(str(number + 1)) as at:
            found.update(one.turn.content for one in at.memory.turns(limit=None))
    node.close()
    database.close()
    return found


def begun(url: str, folder: Path, memories: int = 1) -> list[str]:
    """Migrate, make memories without limits, and return a key of each."""
    image = Image(url, folder / "image")
    image.command("db", "migrate")
    names = [f"memory-{number}" for number in range(memories)]
    for name in names:
        image.command("db", "tenants", "create", name)
    with connect(url) as connection:
        connection.execute("UPDATE mnemark.tenants SET limits = '{\"requests_per_minute\": 1000000}'")
    return [image.command("db", "keys", name, "add", "drill").splitlines()[0] for name in names]


def moment() -> None:
    """Archive, take a base backup, write, note the time, write and erase more; go back to that time."""
    with TemporaryDirectory(prefix="mnemark-drill-") as given:
        folder = Path(given)
        folder.chmod(0o755)
        archive = folder / "archive"
        archive.mkdir()
        archive.chmod(0o777)
        with closing(Cluster(folder / "cluster", archive=archive)) as cluster:
            (key,) = begun(cluster.direct, folder)
            with running(cluster.direct, folder / "node") as node:
                backup(cluster.primary)
                tell(node, key, "Nimbus is the cat.")
                post(node.port, key, "/v1/remember", {"predicate": "city", "value": "Lisbon"})
                then, expected = cluster.primary.execute("SELECT clock_timestamp()")[0][0], known(node, key)
                time.sleep(0.1)
                tell(node, key, "Rex is the dog.")
                post(node.port, key, "/v1/remember", {"predicate": "city", "value": "Porto"})
                post(node.port, key, "/v1/forget", {"query": "Nimbus", "erase": True})
                assert known(node, key) != expected
            cluster.primary.execute("SELECT pg_switch_wal()")
            restored = back(cluster.primary, folder / "restored", then)
        try:
            url = f"postgresql://mnemark:{PASSWORDS['MNEMARK_PASSWORD']}@127.0.0.1:{restored.port}/mnemark"
            status = Image(url, folder / "image").command("db", "status").strip()
            with running(url, folder / "second") as node:
                assert known(node, key) == expected
                tell(node, key, "It goes on from here.")
        finally:
            restored.end()
        print(
            f"back to {then.astimezone(UTC):%H:%M:%S.%f}: `mnemark db status`: {status}; the answers are"
            " those of then, and it is written to again"
        )


@contextmanager
def running(url: str, folder: Path) -> Iterator[ShippedNode]:
    """Run a node for the length of the block."""
    node = ShippedNode(url, folder)
    try:
        yield node
    finally:
        node.kill()


def tell(node: ShippedNode, key: str, text: str) -> None:
    """Say a turn."""
    turn = {"role": "user", "content": text, "origin": "owner"}
    post(node.port, key, "/v1/turns", {"session": "chat:1", "turns": [turn]})


def known(node: ShippedNode, key: str) -> Any:
    """What a node answers to a few questions."""
    asked = [
        post(node.port, key, "/v1/search", {"query": query}) for query in ("Nimbus", "Rex", "who is the cat?")
    ]
    facts = post(node.port, key, "/v1/facts", {})["facts"]
    hits = [[(hit["ref"], hit["text"]) for hit in one["hits"]] for one in asked]
    return hits, sorted((one["id"], one["value"]) for one in facts)


def backup(member: Member) -> None:
    """Take a base backup of a server, beside its folder."""
    member.run(
        "pg_basebackup", "--pgdata", member.folder / "backup", "--checkpoint", "fast", "--wal-method", "none",
        "--no-manifest", "--host", member.folder, "--port", member.port, "--username", "postgres",
    )  # fmt: skip


def back(member: Member, folder: Path, then: datetime) -> Member:
    """Restore the backup of a server to a moment, as a second server."""
    archive = folder.parent / "archive"
    restored = Member(folder)
    restored.run("cp", "-R", member.folder / "backup", restored.data)
    with (restored.data / "postgresql.auto.conf").open("a", encoding="utf-8") as settings:
        settings.write(
            f"restore_command = 'cp {archive}/%f %p'\nrecovery_target_time = '{then.isoformat()}'\n"
            "recovery_target_action = 'promote'\nsynchronous_standby_names = ''\n"
        )
    restored.run("touch", restored.data / "recovery.signal")
    restored.start()
    end = time.monotonic() + 30
    while restored.execute("SELECT pg_is_in_recovery()") != [(False,)]:
        assert time.monotonic() < end, restored.log()
        time.sleep(0.1)
    return restored


if __name__ == "__main__":
    main()
