"""What was acknowledged is there once, whoever is killed: nodes, or the database."""

import os
import random
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from mnemark_server import tenants
from mnemark_server.database import connect
from server.conftest import MakeNode, truth
from server.postgres import Postgres
from server.processes import NodeProcess, post


class Writer(threading.Thread):
    """Says something again and again, each time until it is acknowledged by one of the nodes."""

    def __init__(self, number: int, key: str, ports: list[int], stop: threading.Event) -> None:
        super().__init__()
        self.number = number
        self.acknowledged: list[str] = []
        self.retried = 0
        self._key = key
        self._ports = ports
        self._stop_writing = stop

    def run(self) -> None:
        chance = random.Random(self.number)
        said = 0
        while not self._stop_writing.is_set():
            said += 1
            text = f"Writer {self.number} saw heron number {said}."
            body = {
                "session": f"chat:{self.number}", "call": f"call-{self.number}-{said}",
                "turns": [{"role": "user", "content": text, "origin": "owner"}],
            }  # fmt: skip
            while True:
                try:
                    post(chance.choice(self._ports), self._key, "/v1/turns", body)
                except (OSError, ValueError):
                    self.retried += 1
                    time.sleep(0.05)
                    if self._stop_writing.is_set():
                        return  # whether this one is there is not known
                else:
                    self.acknowledged.append(text)
                    break


@pytest.mark.timed
@pytest.mark.parametrize(
    "seconds", [pytest.param(8, id="short"), pytest.param(90, id="long", marks=pytest.mark.slow)]
)
def test_what_was_acknowledged_is_there_once(
    url: str, tmp_path: Path, postgres: Postgres, new_node: MakeNode, seconds: int
) -> None:
    with connect(url) as connection:
        key = tenants.add_key(connection, "ann", "writer")
        connection.execute("UPDATE mnemark.tenants SET limits = '{\"requests_per_minute\": 1000000}'")
    first = 20_000 + os.getpid() % 20_000
    nodes = [NodeProcess(url, tmp_path / f"node{n}", first + n) for n in range(2)]
    stop = threading.Event()
    writers = [Writer(n, key, [one.port for one in nodes], stop) for n in range(3)]
    try:
        for one in writers:
            one.start()
        chance, end = random.Random(seconds), time.monotonic() + seconds
        kills = Counter[str]()
        while time.monotonic() < end:
            time.sleep(chance.uniform(0.5, 1.5))
            if chance.random() < 0.4:
                postgres.stop("immediate")
                postgres.start()
                kills["database"] += 1
            else:
                node = chance.choice(nodes)
                node.kill()
                node.start()
                kills["node"] += 1
        stop.set()
        for one in writers:
            one.join(60)
    finally:
        for node in nodes:
            node.kill()
    assert kills["database"]
    assert kills["node"]
    acknowledged = [text for one in writers for text in one.acknowledged]
    assert len(acknowledged) > seconds
    with new_node().lease("1") as at:
        found = Counter(one.turn.content for one in at.memory.turns(limit=None))
        assert not [text for text in acknowledged if found[text] != 1], (kills, len(acknowledged))
        assert max(found.values()) == 1
        fresh = truth(at.root)
    with new_node().lease("1") as at:
        assert truth(at.root) == fresh
