"""What is erased on a server is in no file of a node and in no page of the tables."""

from pathlib import Path

import pytest

from mnemark_server import tenants
from mnemark_server.database import connect
from mnemark_server.scrubber import scrub
from server.conftest import MakeNode
from server.postgres import Postgres

SECRET = "Quetzalcoatlus"


def holding(folder: Path, text: str) -> list[str]:
    """The files that hold a text, those in `.mnemark` too."""
    return [str(path) for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


@pytest.mark.parametrize("talks", [1, 3])
def test_an_erased_text_is_gone_to_the_byte(
    new_node: MakeNode, postgres: Postgres, url: str, talks: int
) -> None:
    first, second = new_node(), new_node()
    roots = []
    for node in (first, second):
        with node.lease("1") as at:
            roots.append(at.root)
            for number in range(talks):
                session = at.session(f"chat:{number}")
                session.add_many(
                    [
                        session.turn("user", f"My pet is a {SECRET}.", origin="owner"),
                        session.turn("user", "My other pet is a heron.", origin="owner"),
                    ]
                )
                session.end()
            at.memory.search(SECRET)
    with first.lease("1") as at:
        receipt = at.memory.forget(query=SECRET, erase=True)
        assert receipt.waiting == ()
        assert any("db scrub" in one for one in receipt.still)
    with second.lease("1") as at:
        at.memory.sync()
        assert SECRET not in at.memory.recall("what is my pet?", deadline=5.0).text
        assert "heron" in at.memory.recall("what is my other pet?", deadline=5.0).text
    second.drop_erased()
    first.close()
    second.close()
    for root in roots:
        assert holding(root, SECRET) == []
    with connect(url) as connection:
        rows = connection.execute(
            "SELECT FROM mnemark.parts WHERE position(%s in data) > 0", [SECRET.encode()]
        )
        assert rows.fetchall() == []
        (folder,) = (
            connection.execute("SELECT oid FROM pg_database WHERE datname = current_database()").fetchone()
            or ()
        )
    assert scrub(url) == []
    assert holding(postgres.data / "base" / str(folder), SECRET) == []


def test_a_deleted_memory_leaves_a_receipt_alone(new_node: MakeNode, postgres: Postgres, url: str) -> None:
    node = new_node()
    with node.lease("1") as at:
        at.memory.remember("pet", SECRET)
    with node.lease("2") as at:
        at.memory.remember("pet", "heron")
    node.close()
    with connect(url) as connection:
        receipt = tenants.delete(connection, "ann")
        assert (receipt.name, receipt.parts >= 1, receipt.bytes > 0) == ("ann", True, True)
        assert "backups" in receipt.still
        assert [one.name for one in tenants.listed(connection)] == ["bob"]
        (folder,) = (
            connection.execute("SELECT oid FROM pg_database WHERE datname = current_database()").fetchone()
            or ()
        )
    assert scrub(url) == []
    assert holding(postgres.data / "base" / str(folder), SECRET) == []
    with new_node().lease("2") as at:
        assert [fact.value for fact in at.memory.facts()] == ["heron"]
