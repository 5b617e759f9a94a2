"""Words that may say otherwise than a fact: it is shown with them until that is decided."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mnemark.extraction.candidate import Candidate
from mnemark.memory.learning.candidates import CandidateWriter, SourcedCandidate
from mnemark.memory.memory import Memory
from mnemark.types import Origin

START = datetime(2026, 3, 2, 10, tzinfo=UTC)
QUOTE = "been on helix for a month, not looking back"
DOUBT = "but on 2026-03-22: “been on helix for a month, not looking back”"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "agent", config={"timezone": "UTC", "embedder": "none"}) as opened:
        opened.remember("editor", "Vim", since=START)
        yield opened


def doubt(
    memory: Memory,
    value: str,
    *,
    predicate: str = "editor",
    over: bool = False,
    day: int = 20,
    quote: str = QUOTE,
    ref: str = "",
    origin: Origin = "owner",
) -> None:
    """Hear something of which the reader is not sure."""
    said = START + timedelta(days=day)
    one = Candidate(
        subject="user", predicate=predicate, value=value, since=said, confidence=0.4, importance=0.5,
        quote=quote, over=over, against="doubt",
    )  # fmt: skip
    source = SourcedCandidate(one, ref or f"sessions/talk.jsonl#L{day}", "", origin, said)
    CandidateWriter(memory.workspace).keep([source])


def told(memory: Memory) -> list[str]:
    return [f"{fact} ({fact.otherwise})" if fact.otherwise else str(fact) for fact in memory.facts()]


def core(memory: Memory) -> list[str]:
    """Return the lines of core memory."""
    lines = (line for path in memory.root.glob("*.md") for line in path.read_text("utf-8").splitlines())
    return [line for line in lines if line.startswith("- ")]


def test_a_fact_is_nowhere_shown_without_the_words_against_it(memory: Memory) -> None:
    memory.consolidate()
    assert core(memory) == ["- editor: Vim"]
    doubt(memory, "Helix")
    assert told(memory) == [f"user editor: Vim ({DOUBT})"]
    assert f"editor: Vim ({DOUBT})" in memory.prompt().text
    assert DOUBT in memory.recall("which editor do I use?").text
    memory.consolidate()
    assert core(memory) == [f"- editor: Vim ({DOUBT})"]
    assert DOUBT in memory.why(next(iter(memory.facts())).id).text


def test_accepting_takes_the_new_value_and_undo_brings_the_doubt_back(memory: Memory) -> None:
    doubt(memory, "Helix")
    (waits,) = memory.review()
    assert (waits.what, waits.fact.value, waits.against) == ("otherwise", "Helix", "Vim")
    memory.accept(waits.id)
    assert told(memory) == ["user editor: Helix"]
    memory.undo(waits.id)
    assert told(memory) == [f"user editor: Vim ({DOUBT})"]


def test_accepting_that_it_is_over_ends_it(memory: Memory) -> None:
    doubt(memory, "", over=True)
    (waits,) = memory.review()
    assert waits.fact.until
    memory.accept(waits.id)
    assert told(memory) == []
    memory.undo(waits.id)
    assert told(memory) == [f"user editor: Vim ({DOUBT})"]


@pytest.mark.parametrize("how", ["reject", "undo"])
def test_turned_down_it_is_gone_and_does_not_come_again(memory: Memory, how: str) -> None:
    doubt(memory, "Helix")
    (waits,) = memory.review()
    getattr(memory, how)(waits.id)
    assert told(memory) == ["user editor: Vim"]
    doubt(memory, "Helix")
    assert (told(memory), memory.review()) == (["user editor: Vim"], [])


def test_what_is_said_again_is_in_doubt_no_more(memory: Memory) -> None:
    doubt(memory, "Helix")
    memory.remember("editor", "Vim")
    assert (told(memory), memory.review()) == (["user editor: Vim"], [])


def test_a_doubt_ends_with_its_fact(memory: Memory) -> None:
    doubt(memory, "Helix")
    memory.remember("editor", "Zed")
    assert (told(memory), memory.review()) == (["user editor: Zed"], [])


def test_where_nothing_is_known_nothing_is_in_doubt(memory: Memory) -> None:
    doubt(memory, "Porto", predicate="city")
    assert memory.review() == []


def test_the_end_of_a_value_that_is_not_known_puts_the_known_one_in_doubt(memory: Memory) -> None:
    doubt(memory, "Emacs", over=True)
    assert told(memory) == [f"user editor: Vim ({DOUBT})"]


def test_the_doubt_survives_the_journal_being_read_anew(memory: Memory) -> None:
    doubt(memory, "Helix")
    with Memory.open(memory.root, readonly=True) as again:
        assert told(again) == [f"user editor: Vim ({DOUBT})"]
        assert [one.what for one in again.review()] == ["otherwise"]


def test_forgetting_the_fact_takes_the_words_along(memory: Memory) -> None:
    doubt(memory, "Helix")
    memory.forget(id=next(iter(memory.facts())).id)
    assert (told(memory), memory.review()) == ([], [])


@pytest.mark.parametrize("value", ["Helix", ""])
def test_erasing_the_turn_leaves_the_fact_and_none_of_the_words(memory: Memory, value: str) -> None:
    session = memory.session("talk")
    quote = "that other one has grown on me, honestly"
    session.add("user", quote, time=START + timedelta(days=20))
    (turn,) = memory.turns(session=session.id)
    doubt(memory, value, over=not value, ref=turn.ref, quote=quote)
    memory.consolidate()
    memory.forget(ref=turn.ref, erase=True)
    assert told(memory) == ["user editor: Vim"]
    assert holding(memory, "grown on me") == []


def test_erasing_the_fact_takes_the_words_against_it_along(memory: Memory) -> None:
    doubt(memory, "Helix")
    memory.consolidate()
    memory.forget(id=next(iter(memory.facts())).id, erase=True)
    assert holding(memory, "not looking back") == []


def holding(memory: Memory, words: str) -> list[str]:
    """Return the files that hold some words."""
    return [
        path.name
        for path in memory.root.rglob("*")
        if path.is_file()
        and words.encode() in path.read_bytes()
        and path.suffix in {".md", ".jsonl", ".json"}
    ]


def test_undo_takes_back_what_the_owner_did_last_and_the_doubt_stands_again(memory: Memory) -> None:
    doubt(memory, "Helix")
    memory.remember("editor", "Zed")
    (undone,) = memory.undo()
    assert (undone.what, [one.value for one in undone.facts]) == ("remember", ["Zed"])
    assert told(memory) == [f"user editor: Vim ({DOUBT})"]


def test_a_long_sentence_does_not_crowd_the_fact_out(memory: Memory) -> None:
    doubt(memory, "Helix", quote="it feels good to type in it every day " * 80)
    memory.consolidate()
    assert "editor: Vim (but on 2026-03-22: “it feels" in memory.prompt().text
    assert max(map(len, core(memory))) < 300


def test_nobody_less_trusted_puts_the_owners_words_in_doubt(memory: Memory) -> None:
    doubt(memory, "Helix", origin="import")
    assert told(memory) == ["user editor: Vim"]


def test_an_accepted_value_holds_since_it_was_said(memory: Memory) -> None:
    doubt(memory, "Helix")
    memory.accept(memory.review()[0].id)
    assert next(iter(memory.facts())).since.startswith("2026-03-22")


def test_what_was_said_earlier_does_not_settle_later_words(memory: Memory) -> None:
    doubt(memory, "Helix")
    memory.remember("editor", "Vim", since=START + timedelta(days=10))
    assert told(memory) == [f"user editor: Vim ({DOUBT})"]


def test_the_same_end_is_asked_about_once(memory: Memory) -> None:
    for day in (20, 21, 22):
        doubt(memory, "", over=True, day=day)
    (waits,) = memory.review()
    memory.reject(waits.id)
    doubt(memory, "", over=True, day=23)
    assert (told(memory), memory.review()) == (["user editor: Vim"], [])


def test_words_with_a_comment_mark_leave_the_review_file_with_the_decision(memory: Memory) -> None:
    doubt(memory, "Helix", quote="use <!-- here, friend")
    memory.reject(memory.review()[0].id)
    memory.sync()
    assert "here, friend" not in (memory.root / "memory/review/facts.md").read_text("utf-8")


def test_a_hand_edit_made_later_is_in_no_doubt(memory: Memory) -> None:
    memory.sync()
    doubt(memory, "Helix")
    path = memory.root / "memory/facts/user.md"
    path.write_text(path.read_text("utf-8").replace("Vim", "Emacs"), "utf-8")
    memory.sync()
    assert (told(memory), memory.review()[1:]) == (["user editor: Emacs"], [])
