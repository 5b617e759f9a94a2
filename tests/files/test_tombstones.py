"""Tombstones: what hides forgotten text, and what it takes to keep them."""

import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mnemark.facts.journal import FactJournal
from mnemark.facts.store import Sources
from mnemark.files.ids import new_id
from mnemark.files.journal import Change, Journal
from mnemark.files.needles import BytePatterns
from mnemark.files.tombstones import TombstoneLog
from mnemark.files.truth import Folder

TURNS = 12


def erase_sessions(journal: Journal, count: int) -> list[str]:
    """Append what an erasure of each of some sessions says; return the ids of their turns."""
    erased: list[str] = []
    lines: list[Change] = []
    for _ in range(count):
        ids, line = [new_id() for _ in range(TURNS)], new_id()
        payload = {"turns": {f"sessions/s-{line}.jsonl": list(ids)}, "erase": True}
        lines.append(Change(kind="forget", id=line, payload=payload, origin="owner"))
        lines.append(Change(kind="erased", payload={"ids": [line]}, origin="owner"))
        erased += ids
    journal.append_many(lines)
    return erased


def kept_by(work: Callable[[], object]) -> tuple[int, int]:
    """Return the bytes that are still in use after some work, and those that were more during it."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        work()
        now, most = tracemalloc.get_traced_memory()
        return now - before, most - now
    finally:
        tracemalloc.stop()


def erase_facts(journal: Journal, count: int) -> None:
    """Append what an erasure of each of some facts says."""
    lines: list[Change] = []
    for _ in range(count):
        fact, line = new_id(), new_id()
        payload = {"ids": [fact], "erase": True, "said": [line[6:]]}
        lines.append(Change(kind="project", payload={"path": "memory/facts/user.md", "ids": [fact]}))
        lines.append(Change(kind="forget", id=line, payload=payload, origin="owner"))
        lines.append(Change(kind="erased", payload={"ids": [line]}, origin="owner"))
    journal.append_many(lines)


def hidden(facts: FactJournal) -> set[str]:
    return {fact for fact in facts.named() if facts.of(fact).hidden}


@pytest.mark.parametrize("reader", ["tombstones", "facts"])
def test_a_turn_that_was_erased_takes_some_bytes_of_memory(tmp_path: Path, reader: str) -> None:
    journal = Journal(Folder(tmp_path), "m1")
    read = TombstoneLog(journal).current if reader == "tombstones" else FactJournal(journal).refresh
    erase_sessions(journal, 20)
    read()
    erase_sessions(journal, 500)
    assert kept_by(read)[0] / (500 * TURNS) < 60


def test_of_an_erasure_of_turns_facts_keep_its_packed_id(tmp_path: Path) -> None:
    journal = Journal(Folder(tmp_path), "m1")
    facts = FactJournal(journal)
    erase_sessions(journal, 20)
    facts.refresh()
    erase_sessions(journal, 4_000)
    assert kept_by(facts.refresh)[0] / 4_000 < 100


def test_the_lines_of_a_fact_that_was_erased_are_not_kept(tmp_path: Path) -> None:
    journal = Journal(Folder(tmp_path), "m1")
    facts = FactJournal(journal)
    erase_facts(journal, 20)
    facts.refresh()
    erase_facts(journal, 2_000)
    assert kept_by(facts.refresh)[0] / 2_000 < 800
    assert (len(hidden(facts)), len(facts.was_erased())) == (2_020, 2_020)


def test_a_journal_read_anew_is_not_held_as_lines(tmp_path: Path) -> None:
    """What is kept of many lines would lie between them, and their memory would stay with the process."""
    journal = Journal(Folder(tmp_path), "m1")
    log = TombstoneLog(journal)
    erase_sessions(journal, 1_000)
    log.current()
    path = tmp_path / "journal/m1.jsonl"
    path.rename(path.with_suffix(".old"))
    path.write_bytes(path.with_suffix(".old").read_bytes())
    _, more = kept_by(log.current)
    assert more < 4 * path.stat().st_size
    assert all(one in log.current().turns for one in erase_sessions(journal, 1))


def test_erased_turns_stay_hidden_whatever_comes_after(tmp_path: Path) -> None:
    journal = Journal(Folder(tmp_path), "m1")
    log = TombstoneLog(journal)
    first = erase_sessions(journal, 3)
    assert all(one in log.current().turns for one in first)
    hidden = journal.append(Change(kind="forget", payload={"turns": {"sessions/a.jsonl": ["one", "two"]}}))
    assert "one" in log.current().turns
    assert log.current().count("sessions/a.jsonl") == 2
    journal.append(Change(kind="undo", payload={"ids": [hidden.id]}))
    more = erase_sessions(journal, 2)
    assert "one" not in log.current().turns
    assert log.current().count("sessions/a.jsonl") == 0
    again = TombstoneLog(Journal(Folder(tmp_path), "m1"))
    for now in (log.current(), again.current()):
        assert all(one in now.turns for one in first + more)
    assert not log.unfinished()
    assert {path: log.current().mark(path) for path in ("sessions/a.jsonl", "notes.md")} == {
        path: again.current().mark(path) for path in ("sessions/a.jsonl", "notes.md")
    }


def test_an_erasure_whose_end_was_read_first_is_complete(tmp_path: Path) -> None:
    journal, log = Journal(Folder(tmp_path), "m1"), TombstoneLog(Journal(Folder(tmp_path), "m1"))
    line = new_id()
    journal.append(Change(kind="erased", payload={"ids": [line]}))
    log.current()
    payload = {"turns": {"sessions/a.jsonl": ["one"]}, "lines": {"notes.md": [["00"]]}, "erase": True}
    journal.append(Change(kind="forget", id=line, payload=payload))
    assert "one" in log.current().turns
    assert not log.current().lines
    assert not log.unfinished()


def test_an_old_copy_of_a_journal_does_not_begin_an_erasure_again(tmp_path: Path) -> None:
    journal, log = Journal(Folder(tmp_path), "m1"), TombstoneLog(Journal(Folder(tmp_path), "m1"))
    payload = {"turns": {"sessions/a.jsonl": ["one"]}, "lines": {"notes.md": [["00"]]}, "erase": True}
    line = journal.append(Change(kind="forget", payload=payload))
    before = (tmp_path / "journal/m1.jsonl").read_bytes()
    journal.append(Change(kind="erased", payload={"ids": [line.id]}))
    log.current()
    (tmp_path / "journal/m1.sync-conflict-20261101-093000-ABCDEFG.jsonl").write_bytes(before)
    assert "one" in log.current().turns
    assert not log.current().lines
    assert not log.unfinished()


def test_a_fact_is_erased_as_of_the_last_erasure_whichever_was_completed_last(tmp_path: Path) -> None:
    journal = Journal(Folder(tmp_path), "m1")
    payload = {"ids": ["f1"], "erase": True, "said": ["mark"]}
    first, last = journal.append_many([Change(kind="forget", payload=payload) for _ in range(2)])
    facts = FactJournal(journal)
    for completed in (last, first):
        facts.refresh()
        assert facts.was_erased() == {"mark": last.id}
        journal.append(Change(kind="erased", payload={"ids": [completed.id]}))
    facts.refresh()
    assert facts.was_erased() == {"mark": last.id}


def test_an_erasure_is_read_from_a_copy_where_its_line_is_broken(tmp_path: Path) -> None:
    payload = {"ids": ["f1"], "turns": {"sessions/a.jsonl": ["one"]}}
    journal = Journal(Folder(tmp_path), "m1")
    journal.append(Change(kind="forget", payload=payload))
    path = tmp_path / "journal/m1.jsonl"
    whole = path.read_bytes()
    path.with_name("m1.sync-conflict-20261101-093000-ABCDEFG.jsonl").write_bytes(whole)
    path.write_bytes(whole.replace(b'{"ids"', b'{"ids'))
    assert "one" in TombstoneLog(Journal(Folder(tmp_path), "m1")).current().turns
    facts = FactJournal(journal)
    facts.refresh()
    assert hidden(facts) == {"f1"}


def test_turns_that_are_erased_change_no_facts(tmp_path: Path) -> None:
    journal = Journal(Folder(tmp_path), "m1")
    facts = FactJournal(journal)
    facts.refresh()
    before = facts.epoch
    erase_sessions(journal, 5)
    facts.refresh()
    assert facts.epoch == before
    journal.append(Change(kind="forget", payload={"ids": ["f1"], "ends": {"f0": "2026-01-01"}}))
    facts.refresh()
    assert (facts.epoch > before, hidden(facts), facts.of("f0").end) == (True, {"f1"}, "2026-01-01")


def test_what_was_touched_is_not_listed_for_ever_and_sources_stay_known(tmp_path: Path) -> None:
    journal = Journal(Folder(tmp_path), "m1")
    log = FactJournal(journal)
    sources = Sources(log)
    payload = {"subject": "user", "predicate": "city", "value": "Bonn", "source": "sessions/a.jsonl#L2"}
    fact = journal.append(Change(kind="remember", payload=payload))
    sources.refresh()
    before, now = log.epoch, datetime.now(UTC)
    assert sources.knows(log.stored(fact.id), now)
    lines = [Change(kind="confirm", payload={"fact": fact.id, "fields": {}}) for _ in range(5_000)]
    journal.append_many(lines)
    sources.refresh()
    assert len(log.touched) < 5_000
    assert log.epoch > before, "what was derived from it is made anew"
    assert sources.knows(log.stored(fact.id), now)


def test_a_large_file_is_searched_without_copies_of_it() -> None:
    data = bytes(range(256)) * 8192
    words = BytePatterns(["the words of a turn"])
    tracemalloc.start()
    try:
        assert not words.found_in(data)
        assert tracemalloc.get_traced_memory()[1] < len(data) // 8
    finally:
        tracemalloc.stop()
    dated = data + b"the words (2026-11-25) of a turn"
    assert words.found_in(dated)
    assert BytePatterns(["下周三交稿"]).found_in("下周三（2026-11-25）交稿".encode())


def test_what_another_machine_erased_is_to_be_erased_here(tmp_path: Path) -> None:
    there, here = Journal(Folder(tmp_path), "m1"), Journal(Folder(tmp_path), "m2")
    payload = {"turns": {"sessions/a.jsonl": ["one"]}, "lines": {"notes.md": [["00"]]}, "erase": True}
    line = there.append(Change(kind="forget", payload=payload))
    there.append(Change(kind="erased", payload={"ids": [line.id]}))
    log = TombstoneLog(here)
    assert [one.id for one in log.unfinished()] == [line.id]
    assert log.is_done_elsewhere(line.id)
    assert log.current().lines
    here.append(Change(kind="erased", payload={"ids": [line.id]}))
    assert not log.unfinished()
    assert "one" in log.current().turns
    assert not log.current().lines
