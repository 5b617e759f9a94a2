"""A database that stands still, or whose commits wait for a standby, keeps nobody waiting for ever."""

import os
import signal
import threading
import time
import urllib.error
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest

from mnemark_server import tenants
from mnemark_server.database import Database, Statement, UnavailableError, connect
from mnemark_server.migrations import migrate
from mnemark_server.rows import TenantRows
from mnemark_server.silence import Outage, SilentError
from server.cluster import Cluster, Image, ShippedNode, children
from server.postgres import Postgres, programs
from server.processes import post

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="needs /proc to find its processes"
)
ONE = Statement("SELECT 1", [])


@pytest.fixture
def own() -> Iterator[Postgres]:
    """A PostgreSQL that no other test uses."""
    with TemporaryDirectory(prefix="mnemark-frozen-") as folder:
        found = Postgres(Path(folder))
        found.start()
        yield found
        found.stop("immediate")


@contextmanager
def frozen(postgres: Postgres) -> Iterator[None]:
    first = int((postgres.data / "postmaster.pid").read_text().split()[0])
    every = [first, *children(first)]
    for pid in every:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in every:
            os.kill(pid, signal.SIGCONT)


def seconds_until_refused(job: Callable[[], object]) -> float:
    begun = time.monotonic()
    with pytest.raises(UnavailableError, match=r"does not answer|wait for this memory"):
        job()
    return time.monotonic() - begun


@pytest.mark.timed
def test_a_frozen_database_is_told_within_the_limit_and_used_again(own: Postgres) -> None:
    url = own.database("frozen")
    with connect(url) as connection:
        migrate(connection)
        tenants.create(connection, "ann")
    database = Database(url, silence=1.0)
    rows = TenantRows(database, 1, "a")

    def write(number: int) -> object:
        return rows.append("sessions/a.jsonl", b"", b'{"id":"%d"}\n' % number, [str(number)], after=0)

    write(0)
    try:
        with frozen(own):
            first = seconds_until_refused(lambda: database.read(1, ONE))
            assert 1.0 <= first < 4
            with ThreadPoolExecutor(20) as threads:
                took = list(threads.map(lambda n: seconds_until_refused(lambda: write(n)), range(1, 21)))
            assert max(took) < 20
            assert sorted(took)[len(took) // 2] < 2, "one tries, the others are answered at once"
        end = time.monotonic() + 10
        while True:
            try:
                write(0)
                break
            except UnavailableError:
                assert time.monotonic() < end
        assert sum(part.data.count(b'"0"') for part in rows.newer(0)) == 1
    finally:
        database.close()


def test_while_a_database_is_away_one_tries_it_and_the_others_do_not_wait() -> None:
    outage = Outage()
    with pytest.raises(SilentError), outage.trying():
        raise SilentError("nothing heard")
    tried = []

    def other() -> None:
        with pytest.raises(SilentError), outage.trying():
            pytest.fail("somebody tries it already")
        tried.append(True)

    with pytest.raises(psycopg.OperationalError), outage.trying():  # this one tries  # noqa: PT012
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        raise psycopg.OperationalError("refused")
    with pytest.raises(psycopg.OperationalError), outage.trying():  # and so does this one
        raise psycopg.errors.LockNotAvailable("it answers")
    with outage.trying(), outage.trying():
        tried.append(True)
    assert tried == [True, True]


@pytest.mark.slow
@pytest.mark.timed
@pytest.mark.skipif(not (programs() / "pg_basebackup").exists(), reason="needs pg_basebackup")
def test_every_request_of_a_node_is_answered_within_thirty_seconds(tmp_path: Path) -> None:
    """As shipped: first PostgreSQL stands still, then its standby is gone and commits wait for it."""
    with TemporaryDirectory(prefix="mnemark-frozen-") as folder:
        cluster = Cluster(Path(folder))
        try:
            image = Image(cluster.direct, tmp_path / "image")
            image.command("db", "migrate")
            for name in ("ann", "bob"):
                image.command("db", "tenants", "create", name)
            keys = [image.command("db", "keys", name, "add", "one").split()[0] for name in ("ann", "bob")]
            node = ShippedNode(cluster.pooled or cluster.direct, tmp_path / "node")
            try:
                _asked_while_away(cluster, node, keys)
            finally:
                node.kill()
        finally:
            cluster.close()


def _asked_while_away(cluster: Cluster, node: ShippedNode, keys: list[str]) -> None:
    def ask(number: int) -> tuple[int, float]:
        begun = time.monotonic()
        path, body = (("/v1/turns", said(number)), ("/v1/recall", {"query": "heron"}))[number % 2]
        key = (*keys, "mnk_unknown")[number % 3]
        try:
            post(node.port, key, path, body, timeout=60)
        except urllib.error.HTTPError as error:
            return error.code, time.monotonic() - begun
        return 200, time.monotonic() - begun

    def said(number: int) -> dict[str, object]:
        turn = {"role": "user", "content": f"Heron {number}.", "origin": "owner"}
        return {"session": "chat:1", "call": f"call-{number}", "turns": [turn]}

    assert ask(0)[0] == ask(1)[0] == 200
    cluster.primary.send(signal.SIGSTOP)
    with ThreadPoolExecutor(60) as threads:
        answers = list(threads.map(ask, range(60)))
    cluster.primary.send(signal.SIGCONT)
    assert {status for status, _ in answers} == {503}
    assert max(took for _, took in answers) < 30
    _until_answered(lambda: ask(0)[0])
    cluster.standby.end(signal.SIGQUIT)
    answers = [ask(6), ask(6)]
    assert {status for status, _ in answers} == {503}, "it is not acknowledged while the standby lacks it"
    assert max(took for _, took in answers) < 30
    cluster.standby.follow(cluster.primary)
    _until_answered(lambda: ask(6)[0])
    found = post(node.port, keys[0], "/v1/search", {"query": "heron", "k": 100})
    texts = [hit["text"] for hit in found["hits"]]
    assert (texts.count("Heron 0."), texts.count("Heron 6.")) == (1, 1)


def _until_answered(ask: Callable[[], int]) -> None:
    end = time.monotonic() + 20
    while ask() != 200:
        assert time.monotonic() < end
        time.sleep(0.1)
