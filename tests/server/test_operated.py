"""What is shipped for hosters, run as processes: a failover loses and doubles nothing."""

import json
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tools.scale_drills import failovers, moment

from mnemark_server.database import Database, connect
from mnemark_server.node import Tenants
from server.cluster import BOUNCER, Cluster, Image, ShippedNode
from server.conftest import truth
from server.postgres import programs
from server.processes import post
from server.test_kills import Writer

pytestmark = [
    pytest.mark.timed,
    pytest.mark.skipif(not (programs() / "pg_basebackup").exists(), reason="needs pg_basebackup"),
]


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with TemporaryDirectory(prefix="mnemark-cluster-") as folder:
        found = Cluster(Path(folder))
        yield found
        found.close()


def begun(cluster: Cluster, folder: Path) -> str:
    """The key of a memory in the migrated database."""
    image = Image(cluster.direct, folder / "image")
    assert json.loads(image.command("db", "migrate", "--json"))["applied"]
    image.command("db", "tenants", "create", "ann")
    with connect(cluster.direct) as connection:
        connection.execute("UPDATE mnemark.tenants SET limits = '{\"requests_per_minute\": 1000000}'")
    return image.command("db", "keys", "ann", "add", "writer").splitlines()[0]


def test_a_failover_under_writers_loses_and_doubles_nothing(cluster: Cluster, tmp_path: Path) -> None:
    """One node goes through pgbouncer where there is one, the other finds by itself who takes writes."""
    key = begun(cluster, tmp_path)
    nodes = [
        ShippedNode(address, tmp_path / f"node{n}")
        for n, address in enumerate((cluster.pooled or cluster.direct, cluster.direct))
    ]
    stop = threading.Event()
    writers = [Writer(n, key, [one.port for one in nodes], stop) for n in range(3)]
    try:
        for one in writers:
            one.start()
        time.sleep(1.5)
        before = sum(len(one.acknowledged) for one in writers)
        cluster.fail_over()
        nodes[0].kill()
        nodes[0].start()
        time.sleep(3)
        stop.set()
        for one in writers:
            one.join(60)
        said = [text for one in writers for text in one.acknowledged]
        assert len(said) > before > 10
        for node in nodes:
            assert post(node.port, key, "/v1/recall", {"query": "heron number 1"})
            node.kill(signal.SIGTERM)
            assert node.process.returncode == 0
            assert "heron" not in node.log()
    finally:
        stop.set()
        for node in nodes:
            if node.process.poll() is None:
                node.kill()
    folders = []
    for number in range(2):
        database = Database(cluster.direct)
        fresh = Tenants(database, tmp_path / f"fresh{number}")
        with fresh.lease("1") as at:
            found = Counter(one.turn.content for one in at.memory.turns(limit=None))
            folders.append(truth(at.root))
        fresh.close()
        database.close()
    assert [text for text in said if found[text] != 1] == []
    assert max(found.values()) == 1
    assert folders[0] == folders[1]


@pytest.mark.skipif(BOUNCER is None, reason="needs pgbouncer")
def test_an_administrator_sees_all_through_pgbouncer_and_is_told_what_it_refuses(
    cluster: Cluster, tmp_path: Path
) -> None:
    key = begun(cluster, tmp_path)
    image = Image(cluster.pooled, tmp_path / "image")
    node = ShippedNode(cluster.pooled, tmp_path / "node")
    try:
        post(node.port, key, "/v1/remember", {"predicate": "city", "value": "Lisbon"})
        for _ in range(8):  # more often than a statement is sent before drivers prepare it
            assert post(node.port, key, "/v1/facts", {})["facts"]
    finally:
        node.kill()
    ((name, size),) = [
        (one["name"], one["bytes"])
        for one in json.loads(image.command("db", "tenants", "--json"))["memories"]
    ]
    assert (name, size > 0) == ("ann", True)
    assert "pgbouncer" in image.command("db", "scrub", code=2)
    assert json.loads(image.command("db", "tenants", "delete", "ann", "--yes", "--json"))["parts"] > 0
    assert Image(cluster.direct, tmp_path / "direct").command("db", "scrub") == "all tables are clean\n"


@pytest.mark.slow
def test_failovers_in_turn_lose_and_double_nothing() -> None:
    failovers(30, 4)


@pytest.mark.slow
def test_a_restored_database_answers_as_it_did_then() -> None:
    moment()
