"""Nodes of a server: what one has acknowledged every other has, and their folders are equal by byte."""

import random
import threading
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from mnemark import Memory
from mnemark.errors import BusyError, NotFoundError
from mnemark_interfaces.http.pool import PooledWorkspace
from mnemark_server import nightly, tenants
from mnemark_server.database import UnavailableError, connect
from mnemark_server.nightly import Nightly
from mnemark_server.node import Tenants
from mnemark_server.rows import TenantRows
from server.conftest import MakeNode, truth

SAID = (
    "My cat is called Nimbus and sleeps on the harbour wall.",
    "I moved to Lisbon in March.",
    "我的狗叫豆豆，今年三岁。",
    "We chose PostgreSQL for the lantern project.",
    "My sister Ines plays the violin on Thursdays.",
    "Never call me before nine.",
)
QUESTIONS = (
    "what is my cat called?",
    "where do I live?",
    "豆豆是谁？",
    "which database?",
    "who plays the violin?",
)


def equal(*nodes: Tenants, tenant: str = "1") -> dict[str, bytes]:
    """The files of a memory, which all nodes have alike."""
    found = []
    for node in nodes:
        with node.lease(tenant) as at:
            found.append(truth(at.root))
    assert all(one == found[0] for one in found)
    return found[0]


def test_what_one_node_acknowledged_another_has_at_once(new_node: MakeNode) -> None:
    here, there = new_node(), new_node()
    for number in range(10):
        with here.lease("1") as at:
            session = at.session("chat:1")
            session.add_many([session.turn("user", f"The lantern {number} is green.", origin="owner")])
            at.memory.remember(f"lamp {number}", f"green {number}")
        with there.lease("1") as at:
            found = {hit.text for hit in at.memory.search(f"what colour is lantern {number}?", k=20).hits}
            assert f"The lantern {number} is green." in found
            assert f"green {number}" in {fact.value for fact in at.memory.facts()}
        here, there = there, here
    equal(here, there, new_node())


def test_a_memory_of_another_is_empty(new_node: MakeNode) -> None:
    node = new_node()
    with node.lease("1") as at:
        at.memory.remember("city", "Lisbon")
    with node.lease("2") as at:
        assert list(at.memory.facts()) == []
        assert truth(at.root) == {}


def test_the_same_secret_has_the_same_mark_on_all_nodes(new_node: MakeNode) -> None:
    marks = set()
    for node in (new_node(), new_node()):
        with node.lease("1") as at:
            session = at.session("chat:1")
            (kept,) = session.add_many(
                [session.turn("user", "The wifi password is hunter2x9", origin="owner")]
            )
            marks.add(kept.content)
    (mark,) = marks
    assert "hunter2x9" not in mark


def test_what_was_derived_is_kept_for_the_next_node(new_node: MakeNode) -> None:
    first = new_node()
    with first.lease("1") as at:
        session = at.session("chat:1")
        session.add_many([session.turn("user", text, origin="owner") for text in SAID])
        at.memory.sync()
        root = at.root
    assert first.drop(root, lambda _: None)  # closes it
    with new_node().lease("1") as at:
        assert at.memory.workspace.index.exists()
        assert at.memory.workspace.index.size() == len(SAID)  # before anything was synced here
        assert "Nimbus" in at.memory.recall("what is my cat called?", deadline=5.0).text


def test_each_memory_is_consolidated_once_a_night_by_one_node(new_node: MakeNode, url: str) -> None:
    nodes = [new_node(), new_node()]
    for tenant in ("1", "2"):
        with nodes[0].lease(tenant) as at:
            at.memory.remember("city", "Lisbon")
    nights = [Nightly(node._database, node) for node in nodes]
    first, second = date(2026, 3, 1), date(2026, 3, 2)
    assert [nights[n].run_one(first) for n in (0, 1, 0, 1)] == [True, True, False, False]
    for tenant in ("1", "2"):
        with nodes[1].lease(tenant) as at:
            assert len(at.memory.workspace.edits.runs()) == 1
    assert [night.run_one(first) for night in nights] == [False, False]
    with nodes[0].lease("2") as at:
        at.memory.remember("editor", "Helix")
    with connect(url) as connection:
        tenants.set_state(connection, "ann", "suspended")
    assert nights[1].run_one(second)
    assert not nights[0].run_one(second)
    equal(*nodes, new_node(), tenant="2")


def test_one_memory_that_fails_ends_no_night(new_node: MakeNode, monkeypatch: pytest.MonkeyPatch) -> None:
    node = new_node()
    for tenant in ("1", "2"):
        with node.lease(tenant) as at:
            at.memory.remember("city", "Lisbon")
    consolidated, done = [], threading.Event()

    def consolidate(memory: Memory) -> None:
        consolidated.append(memory.root.name)
        if memory.root.name == "1":
            raise ValueError("nobody foresaw it")
        done.set()

    monkeypatch.setattr(Memory, "consolidate", consolidate)
    monkeypatch.setattr(nightly, "_LOOK_SECONDS", 0.01)
    night = Nightly(node._database, node, now=lambda: datetime(2026, 3, 1, 3, tzinfo=UTC))
    night.start()
    assert done.wait(10)
    night.close()
    assert consolidated == ["1", "2"]


def test_folders_beyond_the_most_are_dropped_and_come_back(
    new_node: MakeNode, url: str, tmp_path: Path
) -> None:
    with connect(url) as connection:
        names = [f"more-{number}" for number in range(7)]
        for name in names:
            tenants.create(connection, name)
        numbers = [str(tenants.number_of(connection, name)) for name in names]
    node = new_node()
    node._most, node._most_folders = 1, 3
    for _ in range(2):
        for number in numbers:
            with node.lease(number) as at:
                at.memory.remember("number", number)
    deadline = time.monotonic() + 10
    while node.folders() > 3 and time.monotonic() < deadline:
        node._drop_folders(but=node.root_of(numbers[-1]))
        time.sleep(0.05)
    assert node.folders() <= 3
    assert node.evicted >= 4
    for number in numbers:
        with node.lease(number) as at:
            assert [fact.value for fact in at.memory.facts()] == [number]


def test_answers_are_those_of_one_machine(new_node: MakeNode, tmp_path: Path) -> None:
    begin = datetime(2026, 3, 1, 9, tzinfo=UTC)
    node, fresh = new_node(), new_node()
    alone = Memory.open(tmp_path / "alone")
    with alone, node.lease("1") as at:
        for session in (alone.session("chat:1"), at.session("chat:1")):
            session.add_many(
                [
                    session.turn("user", text, time=begin + timedelta(days=number), origin="owner")
                    for number, text in enumerate(SAID)
                ]
            )
        for question in QUESTIONS:
            expected = [(hit.ref, hit.text, round(hit.score, 6)) for hit in alone.search(question).hits]
            assert expected
            for place in (at.memory, _opened(fresh)):
                assert [
                    (hit.ref, hit.text, round(hit.score, 6)) for hit in place.search(question).hits
                ] == expected


def _opened(node: Tenants) -> Memory:
    with node.lease("1") as at:
        return at.memory


def test_a_line_whose_answer_was_lost_is_there_once(
    new_node: MakeNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = new_node()
    send = TenantRows._append
    lost: list[str] = []

    def losing(self: TenantRows, path: str, *rest: object, **more: object) -> object:
        made = send(self, path, *rest, **more)  # type: ignore[arg-type]
        if path not in lost:
            lost.append(path)
            raise UnavailableError("the answer to the commit was lost")
        return made

    monkeypatch.setattr(TenantRows, "_append", losing)
    with node.lease("1") as at:
        session = at.session("chat:1")
        kept = session.add_many([session.turn("user", text, origin="owner") for text in SAID])
        at.memory.remember("city", "Lisbon")
        assert len(lost) == 2  # of the session and of the journal
        found = [one.turn for one in at.memory.turns(session="chat:1")]
        assert [(turn.id, turn.content) for turn in found] == [(turn.id, turn.content) for turn in kept]
        assert [fact.value for fact in at.memory.facts()] == ["Lisbon"]
    equal(node, new_node())


def test_who_lost_the_lease_writes_nothing(new_node: MakeNode, url: str) -> None:
    slow, quick = new_node(), new_node()
    with slow.lease("1") as at:
        at.memory.remember("city", "Lisbon")
        folder = at.memory.workspace.truth
        with pytest.raises(BusyError, match="another node"), folder.change() as files:  # noqa: PT012
            (at.root / "memory" / "late.md").write_text("Written by a node that was stopped.\n", "utf-8")
            files.wrote("memory/late.md")
            with connect(url) as connection:  # as if it had been stopped for longer than the lease holds
                connection.execute("UPDATE mnemark.heads SET lease_until = now() - interval '1 second'")
            with quick.lease("1") as other:
                other.memory.remember("city", "Porto")
    with slow.lease("1") as at:
        assert [fact.value for fact in at.memory.facts()] == ["Porto"]
        at.memory.remember("editor", "Helix")
    files_now = equal(slow, quick, new_node())
    assert "memory/late.md" not in files_now


def test_a_call_that_is_sent_to_two_nodes_at_once_is_there_once(new_node: MakeNode) -> None:
    nodes = [new_node(), new_node()]
    start = threading.Barrier(4)

    def send(node: Tenants) -> None:
        with node.lease("1") as at:
            session = at.session("chat:1")
            start.wait(10)
            for number in range(20):
                said = [session.turn("user", text, origin="owner") for text in (f"{number}", f"and {number}")]
                assert len(session.add_once(said, f"call-{number}")) == 2

    threads = [threading.Thread(target=send, args=(node,)) for node in (*nodes, *nodes)]
    with new_node().lease("1") as at, at.memory.workspace.truth.change():  # they need no lease
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
    equal(*nodes, new_node())
    with nodes[0].lease("1") as at:
        found = [one.turn.content for one in at.memory.turns(session="chat:1")]
    assert sorted(found) == sorted(text for number in range(20) for text in (f"{number}", f"and {number}"))


def test_a_node_waits_for_another_that_changes_documents(new_node: MakeNode) -> None:
    first, second = new_node(), new_node()
    begun, done = threading.Event(), []

    def change() -> None:
        with second.lease("1") as at:
            begun.set()
            at.memory.remember("city", "Porto")
            done.append(time.monotonic())

    with first.lease("1") as at, at.memory.workspace.truth.change():
        thread = threading.Thread(target=change)
        thread.start()
        assert begun.wait(10)
        time.sleep(0.3)
        assert not done
        # A turn needs no lease: nobody waits for what changes documents.
        session = at.session("chat:1")
        session.add_many([session.turn("user", "Meanwhile I said this.", origin="owner")])
    thread.join(20)
    assert done
    equal(first, second, new_node())


@pytest.mark.parametrize("seed", range(3))
def test_nodes_that_do_anything_at_once_are_equal_in_the_end(new_node: MakeNode, seed: int) -> None:
    nodes = [new_node(), new_node()]
    acknowledged: list[str] = []
    failures: list[BaseException] = []
    guard = threading.Lock()

    def work(node: Tenants, number: int) -> None:
        chance = random.Random(seed * 100 + number)
        try:
            for step in range(12):
                with node.lease("1") as at:
                    what = chance.choice(("turn", "turn", "turn", "fact", "end", "forget", "note"))
                    _do(at, what, f"{number}-{step}", acknowledged, guard)
        except BaseException as error:  # noqa: BLE001 - told by the test
            failures.append(error)

    threads = [threading.Thread(target=work, args=(nodes[n % 2], n)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not failures
    equal(*nodes, new_node())
    with nodes[0].lease("1") as at:
        ids = [one.turn.id for one in at.memory.turns(limit=None)]
    assert sorted(ids) == sorted(set(ids))
    assert set(acknowledged) <= set(ids)


def _do(at: PooledWorkspace, what: str, name: str, acknowledged: list[str], guard: threading.Lock) -> None:
    memory, session = at.memory, at.session(f"chat:{name[0]}")
    try:
        if what == "turn":
            kept = session.add_many([session.turn("user", f"I saw the heron {name}.", origin="owner")])
            with guard:
                acknowledged.extend(turn.id for turn in kept)
        elif what == "fact":
            memory.remember(f"bird {name[0]}", f"heron {name}")
        elif what == "end":
            session.end()
        elif what == "forget":
            memory.forget(query=f"bird {name}")
        else:
            memory.sync()
    except (BusyError, NotFoundError):  # another node is writing; nothing to forget yet
        return
