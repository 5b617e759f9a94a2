"""What no longer holds: facts that end without a new value, and what shows them."""

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import pytest

from mnemark.extraction.candidate import Candidate
from mnemark.memory.learning.candidates import CandidateWriter, SourcedCandidate
from mnemark.memory.memory import Memory
from mnemark.types import Origin

START = datetime(2026, 3, 2, 10, tzinfo=UTC)
LOG = "sessions/talk.jsonl"
USER = "memory/facts/user.md"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "agent", config={"timezone": "UTC"}) as opened:
        yield opened


def learned(
    memory: Memory,
    day: int,
    predicate: str,
    value: str,
    *,
    over: bool = False,
    origin: Origin = "owner",
    subject: str = "user",
    topic: str = "",
    log: str = LOG,
    against: Literal["", "change", "doubt"] = "",
) -> list[str]:
    """Learn as from a turn of that day; return what became of it."""
    said = START + timedelta(days=day)
    one = Candidate(
        subject=subject, predicate=predicate, value=value, since=said, confidence=0.85, importance=0.5,
        quote=value, over=over, topic=topic, against=against,
    )  # fmt: skip
    source = SourcedCandidate(one, f"{log}#L{day + 2}", "", origin, said)
    return [f"{fact.status}: {fact.value}" for fact in CandidateWriter(memory.workspace).keep([source])]


def now(memory: Memory) -> list[str]:
    return [str(fact) for fact in memory.facts()]


def page(memory: Memory) -> str:
    return (memory.root / USER).read_text(encoding="utf-8")


def test_what_is_over_becomes_history_from_the_turn_on(memory: Memory) -> None:
    learned(memory, 0, "likes", "coffee")
    learned(memory, 0, "likes", "tea")
    assert learned(memory, 5, "likes", "coffee", over=True) == ["ended: coffee"]
    assert now(memory) == ["user likes: tea"]
    past = next(fact for fact in memory.facts(history=True) if fact.value == "coffee")
    assert past.until[:10] == "2026-03-07"
    assert past.ended == f"{LOG}#L7"
    assert "~~**likes**: coffee~~" in page(memory)
    assert f"ended: {LOG}#L7" in page(memory)
    assert [str(one) for one in memory.facts(as_of=START + timedelta(days=2))] == [
        "user likes: coffee",
        "user likes: tea",
    ]


def test_an_end_without_a_matching_fact_stores_nothing(memory: Memory) -> None:
    learned(memory, 0, "likes", "tea")
    before = page(memory)
    assert learned(memory, 5, "likes", "coffee", over=True) == []
    assert learned(memory, 5, "city", "", over=True) == []
    assert page(memory) == before


def test_an_end_without_a_value_ends_all_values(memory: Memory) -> None:
    learned(memory, 0, "pets", "Rex")
    learned(memory, 1, "pets", "Tom")
    learned(memory, 2, "employer", "Bosch")
    assert learned(memory, 5, "pets", "", over=True) == ["ended: Rex", "ended: Tom"]
    assert now(memory) == ["user employer: Bosch"]


@pytest.mark.parametrize(
    ("value", "ended"),
    [("Labradors", "the Labrador"), ("花生", "peanuts"), ("Peanut", "花生"), ("Coffee.", "coffee")],
)
def test_one_thing_is_ended_in_its_other_words(memory: Memory, value: str, ended: str) -> None:
    learned(memory, 0, "likes", value)
    assert learned(memory, 5, "likes", ended, over=True)
    assert now(memory) == []


def test_what_is_no_longer_liked_is_no_favorite(memory: Memory) -> None:
    learned(memory, 0, "favorite food", "pizza")
    learned(memory, 0, "hobbies", "climbing")
    learned(memory, 5, "likes", "pizza", over=True)
    learned(memory, 5, "likes", "climbing", over=True)
    assert now(memory) == []


@pytest.mark.parametrize(
    ("first", "then"), [("likes", "dislikes"), ("dislikes", "likes"), ("喜欢", "dislikes"), ("likes", "讨厌")]
)
def test_a_dislike_ends_the_like_and_the_other_way_round(memory: Memory, first: str, then: str) -> None:
    learned(memory, 0, first, "dogs")
    learned(memory, 5, then, "dog")
    assert now(memory) == [f"user {then}: dog"]
    learned(memory, 9, first, "dogs")
    assert now(memory) == [f"user {first}: dogs"]


def test_an_older_like_that_is_learned_later_does_not_hold_beside_the_dislike(memory: Memory) -> None:
    learned(memory, 5, "dislikes", "dogs")
    learned(memory, 0, "likes", "dogs")
    assert now(memory) == ["user dislikes: dogs"]
    assert [str(one) for one in memory.facts(as_of=START + timedelta(days=2))] == ["user likes: dogs"]


def test_remembering_a_dislike_ends_the_like(memory: Memory) -> None:
    memory.remember("likes", "coffee", since=START)
    memory.remember("dislikes", "coffee", since=START + timedelta(days=1))
    assert now(memory) == ["user dislikes: coffee"]
    memory.undo()
    assert now(memory) == ["user likes: coffee"]
    assert "~~" not in page(memory)


def test_an_end_is_undone_and_not_learned_again(memory: Memory) -> None:
    learned(memory, 0, "likes", "coffee")
    learned(memory, 5, "likes", "coffee", over=True)
    (undone,) = memory.undo()
    assert (undone.what, [one.value for one in undone.facts]) == ("retract", ["coffee"])
    assert now(memory) == ["user likes: coffee"]
    assert "~~" not in page(memory)
    assert "until" not in page(memory)
    assert learned(memory, 5, "likes", "coffee", over=True) == []
    assert now(memory) == ["user likes: coffee"]
    assert learned(memory, 8, "likes", "coffee", over=True) == ["ended: coffee"]


def test_an_end_goes_with_the_session_that_is_taken_back(memory: Memory) -> None:
    memory.remember("likes", "coffee", since=START)
    learned(memory, 5, "likes", "coffee", over=True, log=memory.session("talk").path)
    assert now(memory) == []
    assert memory.revert(session="other").text.startswith("Nothing")
    memory.revert(session="talk")
    assert now(memory) == ["user likes: coffee"]


def test_why_tells_which_turn_ended_a_fact(memory: Memory) -> None:
    session = memory.session("talk")
    session.add("user", "I like coffee.")
    session.add("user", "I don't like coffee any more.")
    fact = memory.remember("likes", "coffee", since=START, source=f"{session.path}#L2")
    one = Candidate(
        subject="user", predicate="likes", value="coffee", since=START, confidence=0.85, importance=0.5,
        quote="", over=True,
    )  # fmt: skip
    said = START + timedelta(days=5)
    CandidateWriter(memory.workspace).keep([SourcedCandidate(one, f"{session.path}#L3", "", "owner", said)])
    why = memory.why(fact.id)
    assert [one.text for one in why.sources] == ["I like coffee.", "I don't like coffee any more."]
    assert "retract" in [line.kind for line in why.journal]


def test_a_forgotten_fact_that_was_over_is_gone_with_its_end(memory: Memory) -> None:
    learned(memory, 0, "likes", "coffee")
    learned(memory, 5, "likes", "coffee", over=True)
    (past,) = memory.facts(history=True)
    memory.forget(id=past.id, erase=True)
    assert list(memory.facts(history=True)) == []
    assert not any(b"coffee" in path.read_bytes() for path in (memory.root / "journal").glob("*.jsonl"))


def test_an_agent_does_not_end_what_the_owner_said(memory: Memory) -> None:
    memory.remember("likes", "coffee", since=START)
    assert learned(memory, 5, "likes", "coffee", over=True, origin="import") == []
    assert now(memory) == ["user likes: coffee"]


def test_a_statement_ends_with_its_words(memory: Memory) -> None:
    learned(memory, 0, "", "I have two cats", topic="pets")
    learned(memory, 0, "", "I like old trains", topic="leisure")
    learned(memory, 5, "", "I have two cats", over=True)
    learned(memory, 5, "likes", "old trains", over=True)
    assert now(memory) == []


def test_a_sentence_that_ends_a_fact_is_not_kept_as_a_statement_too(memory: Memory) -> None:
    learned(memory, 0, "likes", "Labradors")
    said = START + timedelta(days=5)
    quote = "I don't like Labradors any more"
    shared = {"subject": "user", "since": said, "confidence": 0.85, "importance": 0.5, "quote": quote}
    both = [
        Candidate(predicate="likes", value="Labradors", over=True, **shared),  # type: ignore[arg-type]
        Candidate(predicate="", value=quote, topic="tastes", **shared),  # type: ignore[arg-type]
    ]
    CandidateWriter(memory.workspace).keep(
        [SourcedCandidate(one, f"{LOG}#L7", "", "owner", said) for one in both]
    )
    assert now(memory) == []


def test_an_end_that_waits_for_its_file_holds_at_once(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    learned(memory, 0, "likes", "coffee")
    with monkeypatch.context() as patch:
        patch.setattr("mnemark.facts.remember.bring_in", lambda *_, **__: None)
        patch.setattr("mnemark.facts.pending._write", lambda *_: [])
        learned(memory, 5, "likes", "coffee", over=True)
        assert "~~" not in page(memory)
        assert now(memory) == []
    assert now(memory) == []
    memory.sync()
    assert "~~**likes**: coffee~~" in page(memory)


def test_a_value_changed_by_hand_and_then_deleted_stays_in_the_history(memory: Memory) -> None:
    path = memory.root / USER
    first = memory.remember("city", "Hamburg", since=START)
    memory.sync()
    path.write_text(page(memory).replace("Hamburg", "Bremen"), encoding="utf-8")
    _age(path)
    memory.sync()
    kept = [line for line in page(memory).splitlines(keepends=True) if "Bremen" not in line]
    path.write_text("".join(kept), encoding="utf-8")
    _age(path)
    memory.sync()
    assert now(memory) == []
    past = {fact.value: fact for fact in memory.facts(history=True)}
    assert set(past) == {"Hamburg", "Bremen"}
    assert past["Hamburg"].until == past["Bremen"].since
    assert past["Bremen"].until
    assert {fact.value for fact in memory.why(first.id).history} == {"Hamburg", "Bremen"}
    memory.remember("city", "Kiel")
    assert now(memory) == ["user city: Kiel"]
    memory.forget(query="Bremen", erase=True)
    assert "Bremen" not in {fact.value for fact in memory.facts(history=True)}
    assert not any(b"Bremen" in log.read_bytes() for log in (memory.root / "journal").glob("*.jsonl"))


def _age(path: Path) -> None:
    os.utime(path, (time.time() - 3,) * 2)


def test_a_new_value_takes_the_place_of_the_old_one_in_all_pages_at_once(
    memory: Memory,
) -> None:
    def talk(day: int, *said: str) -> None:
        log = memory.session(f"day-{day}")
        for number, text in enumerate(said):
            log.add("user", text, time=START + timedelta(days=day, minutes=number))
        log.end()

    talk(
        0, "I live in Bonn.", "I work at Bosch.", "Please always reply in English.", "我最喜欢的颜色是蓝色。"
    )
    memory.consolidate(force=True, commit=False)
    profile, persona = memory.root / "USER.md", memory.root / "personas/user_custom.md"
    assert "Bonn" in profile.read_text(encoding="utf-8")
    talk(9, "I moved to Hamburg.", "I left Bosch and joined Siemens.", "我最喜欢的颜色是绿色。")
    talk(10, "From now on, please reply in German.")
    shown = profile.read_text(encoding="utf-8")
    told = memory.prompt().text
    for old, new in (("Bonn", "Hamburg"), ("Bosch", "Siemens"), ("English", "German"), ("蓝色", "绿色")):
        assert old not in shown + told + persona.read_text(encoding="utf-8")
        assert new in shown
        assert new in told
    assert "German" in persona.read_text(encoding="utf-8")
    assert len([fact for fact in memory.facts(history=True) if fact.until]) == 4


@pytest.mark.parametrize(
    ("was", "end"),
    [
        ("我是护士。", "我不做护士了。"),
        ("我平时写Python。", "我不再写Python。"),
        ("我有一台索尼相机。", "我把相机卖了。"),
        ("我养了一只猫。", "我把猫送人了。"),
        ("我有一辆蓝色的宝马车。", "我把车卖了。"),
        ("我弹钢琴。", "我不弹钢琴了。"),
        ("我经常熬夜。", "我再也不熬夜了。"),
        ("我在清华大学读书。", "我退学了。"),
        ("我住在上海。", "我离开上海了。"),
    ],
)
def test_a_chinese_end_ends_what_was_said(memory: Memory, was: str, end: str) -> None:
    for day, text in enumerate((was, end)):
        log = memory.session(f"s{day}")
        log.add("user", text, time=START + timedelta(days=day))
        log.end()
        assert len(now(memory)) == 1 - day


def test_an_end_by_kind_leaves_two_of_that_kind(memory: Memory) -> None:
    learned(memory, 0, "pets", "一只黑猫")
    learned(memory, 0, "pets", "一只白猫")
    assert learned(memory, 5, "pets", "猫", over=True) == []
    assert learned(memory, 6, "pets", "一只白猫", over=True) == ["ended: 一只白猫"]
    assert learned(memory, 7, "pets", "猫", over=True) == ["ended: 一只黑猫"]


def test_a_standing_instruction_ends_where_it_is_to_stop(tmp_path: Path) -> None:
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        log = memory.session("s")
        log.add("user", "Answer in short sentences from now on please.")
        log.add("user", "Never push to main.")
        memory.learn()
        assert {one.value for one in memory.facts()} == {"Answer in short sentences", "Never push to main"}
        for said in (
            "Stop laughing in short sentences.",
            "Don't stop answering in short sentences.",
            "They stop answering in short sentences.",
        ):
            log.add("user", said)
        memory.learn()
        assert "Answer in short sentences" in {one.value for one in memory.facts()}
        log.add("user", "Stop answering in such short sentences, I need a bit more explanation again.")
        memory.learn()
        assert [one.value for one in memory.facts()] == ["Never push to main"]


@pytest.mark.parametrize(
    ("firm", "said"),
    [
        ("Mercy hospital", "Mercy"),
        ("St. Anna hospital", "St. Anna"),
        ("Mercy hospital", "the hospital"),
        ("平安银行", "平安"),
    ],
)
def test_a_firm_is_left_by_a_part_of_its_name(memory: Memory, firm: str, said: str) -> None:
    learned(memory, 0, "employer", firm)
    assert learned(memory, 5, "employer", said, over=True) == [f"ended: {firm}"]
    assert now(memory) == []


@pytest.mark.parametrize(
    ("firm", "said"), [("Mercy hospital", "Merc"), ("Boschmann", "Bosch"), ("平安银行", "平遥")]
)
def test_another_firm_is_not_left(memory: Memory, firm: str, said: str) -> None:
    learned(memory, 0, "employer", firm)
    assert learned(memory, 5, "employer", said, over=True) == []


def test_an_appointment_is_ended_by_its_kind_if_it_is_the_only_one_to_come(memory: Memory) -> None:
    learned(memory, 0, "appointments", "2026-03-01 09:00 dentist appointment")
    learned(memory, 0, "appointments", "2026-03-20 14:30 dentist appointment")
    learned(memory, 0, "appointments", "2026-03-21 10:00 eye exam")
    ended = learned(memory, 5, "appointments", "dentist appointment", over=True)
    assert ended == ["ended: 2026-03-20 14:30 dentist appointment"]
    assert learned(memory, 6, "appointments", "barber appointment", over=True) == []


def test_of_two_appointments_of_a_kind_none_is_ended(memory: Memory) -> None:
    learned(memory, 0, "appointments", "2026-03-20 14:30 看牙医")
    learned(memory, 0, "appointments", "2026-04-20 14:30 看牙医")
    assert learned(memory, 5, "appointments", "牙医", over=True) == []


def test_what_is_too_unsure_to_be_news_counts_as_a_change_of_what_is_known(memory: Memory) -> None:
    assert learned(memory, 0, "city", "Denver", against="change") == []
    learned(memory, 1, "city", "Chicago")
    assert learned(memory, 5, "employer", "Datadog", against="change") == []
    assert learned(memory, 5, "city", "Denver", against="change") == ["learned: Denver"]
    assert now(memory) == ["user city: Denver"]


def test_a_rule_is_taken_back_by_what_it_asks_for(memory: Memory) -> None:
    for rule in ("send me a summary every Friday", "answer in short sentences"):
        memory.remember("rules", rule, type="rule", since=START)
    ended = learned(memory, 5, "rules", "send the summary", over=True)
    assert ended == ["ended: send me a summary every Friday"]
    assert now(memory) == ["user rules: answer in short sentences"]


@pytest.mark.parametrize(
    ("kept", "said"),
    [("Always ask before deleting files", "deleting files"), ("回答用表格", "再用表格"), ("no emojis", "")],
)
def test_a_rule_that_may_be_taken_back_stays_and_is_in_doubt(memory: Memory, kept: str, said: str) -> None:
    for rule in (kept, "Use metric units"):
        memory.remember("rules", rule, type="rule", since=START)
    found = learned(memory, 5, "rules", said, over=True, against="change")
    assert len(found) == bool(said)
    doubted = [fact.value for fact in memory.facts() if fact.otherwise is not None]
    assert doubted == ([kept] if said else [])
    assert len(now(memory)) == 2


def test_words_of_two_rules_take_none_back(memory: Memory) -> None:
    for rule in ("send a summary on Friday", "send a summary to Ann"):
        memory.remember("rules", rule, type="rule", since=START)
    assert learned(memory, 5, "rules", "the summary", over=True) == []


def test_what_is_known_under_another_name_ends(memory: Memory) -> None:
    learned(memory, 0, "car", "大众")
    assert learned(memory, 5, "possessions", "大众", over=True) == ["ended: 大众"]
