"""Lists for people: pages that hold each row once, filters, counts, diffs, nothing that was forgotten."""

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from mnemark import Memory, NotFoundError, UsageError
from mnemark.facts.model import Fact
from mnemark.memory.browse.page import Page

AT = datetime(2026, 3, 2, 9, 30, tzinfo=timezone(timedelta(hours=8)))


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    (tmp_path / "mnemark.toml").write_text('embedder = "none"\ntimezone = "Asia/Shanghai"\n', "utf-8")
    return Memory.open(tmp_path)


def say(memory: Memory, session: str, *texts: str, at: datetime = AT, role: str = "user") -> str:
    log = memory.session(session)
    log.add_many([log.turn(role, text, time=at + timedelta(minutes=n)) for n, text in enumerate(texts)])
    return log.path


def all_pages(ask: Callable[[str], Page[Any]]) -> list[Any]:
    rows: list[Any] = []
    after, seen = "", 0
    while True:
        page = ask(after)
        rows += page.rows
        seen += 1
        if not page.next:
            return rows
        after = page.next
        assert seen < 100


def test_the_timeline_holds_each_entry_once_whatever_the_page(memory: Memory) -> None:
    for n in range(7):
        say(memory, f"s{n}", "one", "two", at=AT)  # several sessions in the same minute
    memory.remember("city", "Lisbon")
    memory.remember("editor", "Helix")
    memory.sync()
    whole = memory.browse.timeline(limit=200).rows
    assert len(whole) == 16
    for limit in (1, 2, 3, 5, 15):
        got = all_pages(lambda after: memory.browse.timeline(limit=limit, after=after))  # noqa: B023
        assert got == list(whole)
    times = [entry.time for entry in whole]
    assert times == sorted(times, reverse=True)


def test_the_timeline_sees_what_no_sync_has_read_yet_and_not_what_was_forgotten(memory: Memory) -> None:
    say(memory, "s", "the walrus is grey", "the otter swims")
    texts = [entry.text for entry in memory.browse.timeline(kinds=["turn"]).rows]
    assert texts == ["the otter swims", "the walrus is grey"]
    memory.forget(query="walrus")
    assert [one.text for one in memory.browse.timeline(kinds=["turn"]).rows] == ["the otter swims"]
    page = memory.browse.turns("sessions/" + next(memory.root.glob("sessions/*")).name)
    assert [row.turn.content for row in page.rows] == ["the otter swims"]


def test_the_timeline_is_filtered_by_kind_origin_and_day(memory: Memory) -> None:
    say(memory, "a", "first day", at=AT)
    say(memory, "b", "second day", at=AT + timedelta(days=1))
    say(memory, "b", "answered", at=AT + timedelta(days=1, hours=1), role="assistant")
    memory.remember("city", "Lisbon")
    shown = memory.browse.timeline
    assert [e.text for e in shown(kinds=["turn"], until="2026-03-02").rows] == ["first day"]
    assert [e.text for e in shown(kinds=["turn"], origins=["owner"]).rows] == ["second day", "first day"]
    (changed,) = shown(kinds=["change"]).rows
    assert changed.change is not None
    assert (changed.change.kind, changed.change.undo) == ("remember", True)
    with pytest.raises(UsageError, match="kinds: fact, turn"):
        shown(kinds=["turns"])  # type: ignore[list-item]


def test_facts_have_what_they_replaced_and_what_is_proposed_against_them(memory: Memory) -> None:
    memory.remember("city", "Oslo", since="2025-01-01")
    memory.remember("city", "Lisbon", since="2026-01-01")
    memory.remember("city", "Rome", origin="web")
    memory.remember("editor", "Helix", subject="project", type="preference")
    page = memory.browse.facts()
    assert [(row.fact.subject, row.fact.value) for row in page.rows] == [
        ("project", "Helix"), ("user", "Lisbon"),
    ]  # fmt: skip
    assert [fact.value for fact in page.rows[1].earlier] == ["Oslo"]
    assert [fact.value for fact in page.rows[1].proposed] == ["Rome"]
    assert (page.total, page.types) == (2, {"preference": 1, "fact": 1})
    assert [row.fact.value for row in memory.browse.facts(as_of="2025-06-01").rows] == ["Oslo"]
    assert [row.fact.value for row in memory.browse.facts(text="HELIX").rows] == ["Helix"]
    assert memory.browse.facts(type="fact").total == 1
    assert memory.browse.facts(type="fact").types == {"preference": 1, "fact": 1}  # of what can be chosen


def test_the_facts_of_a_part_stand_together_the_owners_first(memory: Memory) -> None:
    said = (("Ana", "city", "Lund"), ("user", "city", "Umeå"), ("Ana", "job", "cook"))
    for subject, predicate, value in said:
        memory.remember(predicate, value, subject=subject, since="2024-05-01")

    def part(fact: Fact) -> int:
        return ("job", "city").index(fact.predicate)

    rows = all_pages(lambda after: memory.browse.facts(part=part, limit=1, after=after))
    assert [row.fact.value for row in rows] == ["cook", "Umeå", "Lund"]
    one = memory.browse.facts(part=part, only=1)
    assert [row.fact.value for row in one.rows] == ["Umeå", "Lund"]
    assert one.parts == {0: 1, 1: 2}, "the other parts are counted, too"
    assert one.first == "2024-05-01"


def test_a_fact_says_when_it_was_last_confirmed(memory: Memory) -> None:
    path = say(memory, "s", "I live in Lund.", "Lund is home.")
    memory.remember("city", "Lund", origin="agent", source=f"{path}#L1")
    (before,) = memory.browse.facts().rows
    memory.remember("city", "Lund")
    (after,) = memory.browse.facts().rows
    assert before.confirmed == before.fact.recorded
    assert after.confirmed > before.confirmed


def test_what_one_source_says_waits_together(memory: Memory) -> None:
    path = say(memory, "s", "a page", "another page", role="tool")
    other = say(memory, "t", "a third", role="tool")
    for value, source in (("one", path), ("two", other), ("three", path)):
        memory.remember(f"thing {value}", value, origin="web", source=f"{source}#L1")
    memory.remember("thing four", "four", origin="web")
    rows = all_pages(lambda after: memory.browse.review(limit=1, after=after))
    assert [row.waiting.fact.value for row in rows] == ["one", "three", "two", "four"]


def test_facts_are_paged_in_both_orders_and_say_when_they_fade(memory: Memory) -> None:
    for n in range(9):
        memory.remember(f"thing {n}", f"value {n}", origin="agent", importance=0.2)
    for order in ("subject", "recent"):
        ask = lambda after, order=order: memory.browse.facts(order=order, limit=4, after=after)  # noqa: E731
        assert len({row.fact.id for row in all_pages(ask)}) == 9
    newest = memory.browse.facts(order="recent", limit=1).rows[0]
    assert newest.fact.value == "value 8"
    fades = datetime.fromisoformat(newest.fades)
    assert timedelta(days=60) < fades - datetime.now() < timedelta(days=80)  # noqa: DTZ005 - half in 69 days
    memory.remember("allergy", "penicillin")
    assert memory.browse.facts(text="penicillin").rows[0].fades == ""


def test_sessions_are_found_by_their_words_and_paged(memory: Memory) -> None:
    for n in range(5):
        say(memory, f"chat:{n}", f"about 水獭 number {n}", at=AT + timedelta(days=n))
    rows = all_pages(lambda after: memory.browse.sessions(limit=2, after=after))
    assert len({row.session for row in rows}) == 5
    assert [row.session for row in memory.browse.sessions(text="水獭 number 3").rows] == ["chat:3"]
    assert [row.session for row in memory.browse.sessions(text="CHAT:1").rows] == ["chat:1"]
    assert memory.browse.sessions(text="100%").rows == ()


def test_the_turns_of_a_log_are_paged_by_line(memory: Memory) -> None:
    path = say(memory, "s", *(f"turn {n}" for n in range(7)))
    rows = all_pages(lambda after: memory.browse.turns(path, limit=3, after=after))
    assert [row.turn.content for row in rows] == [f"turn {n}" for n in range(7)]
    assert memory.read(rows[6].ref).endswith("turn 6") or "turn 6" in memory.read(rows[6].ref)
    with pytest.raises(NotFoundError, match="does not exist"):
        memory.browse.turns("sessions/none.jsonl")
    with pytest.raises(UsageError, match="no log of a session"):
        memory.browse.turns("MEMORY.md")


def test_changes_have_diffs_and_tell_what_can_be_undone(memory: Memory) -> None:
    say(memory, "s", "I moved to Lisbon last week and I like it a lot.", "We decided to use Postgres.")
    memory.session("s").end()
    page = memory.browse.changes()
    written = next(row for row in page.rows if row.kind == "write")
    assert written.undo
    assert written.step.startswith("session end")
    detail = memory.browse.change(written.id)
    assert len(detail.parts) == written.count
    assert any("+" in part.diff and part.path.endswith(".md") for part in detail.parts)
    memory.undo(written.id)
    again = memory.browse.change(written.id)
    assert again.row.undone
    assert not again.row.undo
    assert memory.browse.changes().rows[0].kind == "undo"
    with pytest.raises(NotFoundError, match="mnemark log"):
        memory.browse.change("01NONE")


def test_a_change_does_not_tell_what_was_forgotten(memory: Memory) -> None:
    memory.remember("door code", "walrus at the harbour")
    memory.forget(query="walrus")
    shown = " ".join(f"{row.text} {row.paths}" for row in memory.browse.changes().rows)
    assert "walrus" not in shown


def test_the_review_list_quotes_the_source(memory: Memory) -> None:
    path = say(memory, "s", "the page says the capital is Rome")
    memory.remember("capital", "Rome", origin="web", source=f"{path}#L2")
    memory.remember("editor", "Helix", origin="tool", scope="users/ann")
    page = memory.browse.review()
    assert [(row.waiting.fact.value, row.waiting.what) for row in page.rows] == [
        ("Rome", "proposal"), ("Helix", "proposal"),
    ]  # fmt: skip
    assert page.rows[0].sources[0].text == "the page says the capital is Rome"
    assert (page.origins, page.kinds) == ({"web": 1, "tool": 1}, {"proposal": 2})
    assert [row.waiting.fact.value for row in memory.browse.review(origin="tool").rows] == ["Helix"]


def test_search_counts_what_it_found_and_goes_on(memory: Memory) -> None:
    for n in range(30):
        say(memory, f"s{n}", f"the otter number {n} swims")
    memory.remember("animal", "otter")
    page = memory.browse.search("otter", limit=10)
    assert page.total == sum(page.kinds.values()) > 25
    refs = [hit.ref for hit in all_pages(lambda after: memory.browse.search("otter", limit=10, after=after))]
    assert len(refs) == len(set(refs)) == page.total
    assert page.rows[0].why


def test_looking_counts_as_no_use(memory: Memory) -> None:
    memory.remember("animal", "otter")
    say(memory, "s", "the heron waits at the weir")
    memory.browse.search("otter")
    memory.browse.facts()
    assert "heron" in memory.browse.prompt("where does the heron wait", deadline=5.0).recall
    memory.close()
    assert Memory.open(memory.root).browse.recalled() == []


def test_days_spend_and_disk(memory: Memory) -> None:
    now = memory.workspace.now()
    say(memory, "s", "hello there", at=now)
    memory.remember("animal", "otter")
    last = memory.browse.activity(days=7)[-1]
    assert (last.day, last.turns, last.changes) == (now.date().isoformat(), 1, 1)
    memory.workspace.state.spend(("r", now.date().isoformat(), now.isoformat(), "m", "extract", 1, 100, 20))
    spent = memory.browse.spend(days=3).days
    assert [(day.calls, day.tokens) for day in spent] == [(0, 0), (0, 0), (1, 120)]
    assert spent[-1].purposes == {"extract": 120}
    parts = {part.name: part for part in memory.browse.disk()}
    assert parts["sessions/"].bytes == sum(f.stat().st_size for f in memory.root.glob("sessions/*"))
    assert parts[".mnemark/"].derived


@pytest.mark.parametrize("cursor", ["x", "%%", "WyJhIl0", "W10", "é"])
def test_a_wrong_cursor_is_named(memory: Memory, cursor: str) -> None:
    for ask in (memory.browse.facts, memory.browse.timeline, memory.browse.sessions, memory.browse.review):
        with pytest.raises(UsageError, match="no cursor of this list"):
            ask(after=cursor)


def test_a_limit_out_of_range_is_named(memory: Memory) -> None:
    for limit in (0, 201):
        with pytest.raises(UsageError, match="from 1 to 200"):
            memory.browse.changes(limit=limit)


def test_the_timeline_of_a_session_and_of_a_tool(memory: Memory) -> None:
    for name in ("a", "b"):
        log = memory.session(name)
        log.add("user", f"question of {name}")
        log.observe("exec", {"command": f"make {name}"}, "one file")
    memory.session("a").observe("Write", {"file_path": "x.md"}, "written")
    memory.sync()

    def shown(**asked: str) -> set[str]:
        return {one.text.split("\n")[0] for one in memory.browse.timeline(**asked).rows}  # type: ignore[arg-type]

    of_a = shown(session="a")
    assert "question of a" in of_a
    assert "question of b" not in of_a
    assert len(of_a) == 3
    assert len(shown(tool="exec")) == 2
    assert len(shown(tool="exec", session="b")) == 1
    assert shown(tool="Nothing") == set()
    first = memory.browse.timeline(session="a", limit=2)
    rest = memory.browse.timeline(session="a", limit=2, after=first.next)
    assert {one.key for one in (*first.rows, *rest.rows)} == {
        one.key for one in memory.browse.timeline(session="a").rows
    }


def test_attachments_are_listed_by_what_is_known_of_them(memory: Memory) -> None:
    log = memory.session("a")
    for name in ("one.pdf", "two.png"):
        log.add("user", f"here is {name}", attachments=[{"name": name, "path": f"/tmp/{name}"}])
    log.end()
    page = memory.browse.attachments(limit=1)
    assert page.total == 2
    rest = memory.browse.attachments(limit=1, after=page.next)
    found = {row.file: row for row in (*page.rows, *rest.rows)}
    assert set(found) == {"/tmp/one.pdf", "/tmp/two.png"}
    one = found["/tmp/two.png"]
    assert one.source.startswith(log.path)
    memory.describe(one.id, "A picture of a zebra", scope=one.scope)
    again = {row.file: row.description for row in memory.browse.attachments().rows}
    assert again["/tmp/two.png"] == "A picture of a zebra"
    assert rest.next == ""
