"""A new version takes over while the old one answers: rows are migrated first, then nodes change."""

import json
import signal
import threading
import time
import urllib.request
from collections import Counter
from pathlib import Path

import pytest

import mnemark
from mnemark_server.database import connect
from mnemark_server.server import Node, Settings
from server.cluster import Image, ShippedNode
from server.conftest import MakeNode
from server.test_kills import Writer


def later(folder: Path) -> str:
    """A folder with the next version, which has one more step: links to this one's modules but for these."""
    source = Path(mnemark.__file__).parents[1]
    for room in source.glob("mnemark*"):
        changed = {"mnemark": "_version.py", "mnemark_server": "schema"}.get(room.name)
        if changed is None:
            (folder / room.name).symlink_to(room)
            continue
        (folder / room.name).mkdir()
        for one in room.iterdir():
            if one.name not in {changed, "__pycache__"}:
                (folder / room.name / one.name).symlink_to(one)
    (folder / "mnemark/_version.py").write_text('__version__ = "99.0.0"\n', "utf-8")
    schema = folder / "mnemark_server/schema"
    schema.mkdir()
    for one in (source / "mnemark_server/schema").glob("*.sql"):
        (schema / one.name).symlink_to(one)
    (schema / "9000_next.sql").write_text(
        "ALTER TABLE mnemark.tenants ADD COLUMN region text NOT NULL DEFAULT 'here';\n", "utf-8"
    )
    return str(folder)


def ready(node: ShippedNode) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{node.port}/readyz", timeout=5) as answer:
        return str(answer.read().decode())


def test_a_node_is_ready_while_a_newer_version_has_migrated(url: str, tmp_path: Path) -> None:
    node = Node(Settings(url), tmp_path / "node")
    try:
        assert node._not_ready() == ""
        with connect(url) as connection:
            connection.execute("INSERT INTO mnemark.migrations (number, name) VALUES (9999, 'later')")
        assert node._not_ready() == ""
        with connect(url) as connection:
            connection.execute("DELETE FROM mnemark.migrations WHERE number = 1")
        assert "run `mnemark db migrate`" in node._not_ready()
    finally:
        node.tenants.close()
        node.database.close()


@pytest.mark.slow
@pytest.mark.timed
def test_nodes_of_two_versions_answer_at_once(url: str, tmp_path: Path, new_node: MakeNode) -> None:
    (tmp_path / "later").mkdir()
    source = later(tmp_path / "later")
    image = Image(url, tmp_path / "image")
    key = image.command("db", "keys", "ann", "add", "writer").split()[0]
    with connect(url) as connection:
        connection.execute("UPDATE mnemark.tenants SET limits = '{\"requests_per_minute\": 1000000}'")
    old = ShippedNode(url, tmp_path / "old")
    nodes, stop = [old], threading.Event()
    ports = [old.port]
    writers = [Writer(n, key, ports, stop) for n in range(2)]
    try:
        for one in writers:
            one.start()
        newer = Image(url, tmp_path / "newer", source=source)
        assert json.loads(newer.command("db", "migrate", "--json")) == {"applied": ["9000 next"]}
        assert ready(old) == "ready\n"
        assert "install that version" in image.command("db", "status", code=6)
        assert "install that version" in image.command(
            "serve", "--database", url, "--folder", str(tmp_path / "refused"), code=6
        )
        new = ShippedNode(url, tmp_path / "new", source=source)
        nodes.append(new)
        ports.append(new.port)
        time.sleep(3)
        ports.remove(old.port)  # as a proxy does with a node that is not ready
        old.kill(signal.SIGTERM)
        time.sleep(1)
        stop.set()
        for one in writers:
            one.join(60)
        assert json.loads(newer.command("db", "status", "--json")) == {"missing": [], "memories": 2}
    finally:
        stop.set()
        for node in nodes:
            if node.process.poll() is None:
                node.kill()
    said = [text for one in writers for text in one.acknowledged]
    assert len(said) > 50
    with new_node().lease("1") as at:
        found = Counter(one.turn.content for one in at.memory.turns(limit=None))
    assert {found[text] for text in said} == {1}
    assert max(found.values()) == 1
