"""What was wrong leaves as if it had never been so; what was said stays, marked; all of it is taken back."""

import os
import time
from pathlib import Path

import pytest

from mnemark import Memory
from mnemark.errors import NotFoundError, UsageError
from mnemark.memory.review.correct import correct_for_owner, meant
from mnemark_interfaces.tools_read import read_lines

FACTS = "memory/facts/user.md"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory.open(tmp_path, config={"embedder": "none"})


def id_of(memory: Memory, value: str) -> str:
    return next(fact.id for fact in memory.facts(history=True) if fact.value == value)


def said(memory: Memory) -> list[str]:
    return sorted(fact.value for fact in memory.facts(history=True))


def learned(memory: Memory, text: str, value: str) -> str:
    memory.session("chat").add("user", text)
    memory.learn()
    return id_of(memory, value)


@pytest.mark.parametrize(
    ("text", "wrong", "right", "question", "told"),
    [
        ("My dentist is Dr Sousa.", "Dr Sousa", "Dr Costa", "who is my dentist?",
         "the dentist is Dr Costa, not Dr Sousa"),
        ("我的牙医是王小明。", "王小明", "李华", "我的牙医是谁", "牙医是李华，不是王小明"),
    ],
)  # fmt: skip
def test_the_wrong_value_leaves_and_its_turn_says_what_is_right(  # noqa: PLR0917 - a row of the table
    memory: Memory, text: str, wrong: str, right: str, question: str, told: str
) -> None:
    done = memory.correct(learned(memory, text, wrong), right)
    assert done.after is not None
    assert (done.before.value, done.after.value, done.after.origin) == (wrong, right, "owner")
    assert done.after.since == done.before.since
    assert said(memory) == [right]
    block = memory.recall(question, deadline=5).text
    assert text in block
    assert told in block
    assert block.count(wrong) == block.count(text) + block.count(told)  # nowhere unmarked
    assert told in memory.prompt(question, deadline=5).recall
    hits = [hit for hit in memory.search(question).hits if hit.kind == "turn"]
    assert told in hits[0].meta["corrected"][0]
    path = done.before.source.partition("#")[0]
    assert told in read_lines(memory, path, None, None)["text"]
    assert memory.why(done.before.source).corrected[0].text.endswith(told)


def test_it_is_not_learned_again_but_said_again_it_is(memory: Memory) -> None:
    done = memory.correct(learned(memory, "My dentist is Dr Sousa.", "Dr Sousa"), "Dr Costa")
    (memory.root / ".mnemark").rename(memory.root / ".gone")  # what was read is forgotten
    with Memory.open(memory.root, config={"embedder": "none"}, trusted=True) as again:
        again.learn()
        again.consolidate(force=True)
        assert said(again) == ["Dr Costa"]
        again.remember("dentist", "Dr Sousa", origin="agent", source=done.before.source)
        assert said(again) == ["Dr Costa"]
        again.session("chat").add("user", "My dentist is Dr Sousa.")
        again.learn()
        assert [fact.value for fact in again.facts() if fact.predicate == "dentist"] == ["Dr Sousa"]


def test_lines_of_a_person_are_edited_in_place_and_come_back(memory: Memory) -> None:
    path = memory.root / FACTS
    path.parent.mkdir(parents=True)
    facts = "* city: Porto (north) <!-- trigger: town -->\r\n- 牙医：王医生\r\n"
    before = f"# Me\r\n\r\nWords.\r\n\r\n{facts}\r\nEnd.\r\n"
    path.write_bytes(before.encode())
    os.utime(path, (time.time() - 60,) * 2)
    memory.sync()
    done = [
        memory.correct(id_of(memory, "Porto (north)"), "Braga"),
        memory.correct(id_of(memory, "王医生"), "李医生"),
    ]
    lines = path.read_text("utf-8").split("\n")
    assert lines[2] == "Words."
    assert lines[4].startswith("* city: Braga <!-- trigger: town --> <!-- id: ")
    assert lines[5].startswith("- 牙医：李医生 <!-- id: ")
    for one in reversed(done):
        memory.undo(one.id)
    assert path.read_bytes() == before.encode()
    assert said(memory) == ["Porto (north)", "王医生"]


@pytest.mark.parametrize(
    ("wrong", "right", "left"),
    [
        ("Lisbon", {"value": "Braga"}, ["Braga", "Faro", "Porto"]),
        ("Lisbon", {"never": True}, ["Faro", "Porto"]),
        ("Faro", {"never": True}, ["Lisbon", "Porto"]),
        ("Faro", {"value": "Lisbon"}, ["Lisbon", "Porto"]),
        ("Faro", {"since": "2026-07-01"}, ["Faro", "Lisbon", "Porto"]),
        ("Faro", {"until": "2026-08-01"}, ["Faro", "Lisbon", "Porto"]),
        ("Faro", {"subject": "Ann"}, ["Faro", "Lisbon", "Porto"]),
        ("Faro", {"predicate": "birthplace"}, ["Faro", "Lisbon", "Porto"]),
    ],
)
def test_values_before_and_after_fit(
    memory: Memory, wrong: str, right: dict[str, object], left: list[str]
) -> None:
    for value, since in (("Porto", "2026-01-01"), ("Lisbon", "2026-03-01"), ("Faro", "2026-06-01")):
        memory.remember("city", value, since=since)
    before = (memory.root / FACTS).read_bytes()
    spans = [(fact.value, fact.since, fact.until) for fact in memory.facts(history=True)]
    done = memory.correct(id_of(memory, wrong), **right)  # type: ignore[arg-type]
    assert said(memory) == left
    now = {fact.value: (fact.since[:10], fact.until[:10]) for fact in memory.facts(history=True)}
    if wrong == "Faro" and right.keys() & {"never", "subject", "predicate"}:
        assert now["Lisbon"] == ("2026-03-01", "")
        assert done.again is not None
    if "since" in right:
        assert now["Lisbon"][1] == now["Faro"][0] == "2026-07-01"
    with Memory.open(memory.root, config={"embedder": "none"}) as other:  # another process
        assert said(other) == left
    memory.undo(done.id)
    assert (memory.root / FACTS).read_bytes() == before
    assert [(fact.value, fact.since, fact.until) for fact in memory.facts(history=True)] == spans


def test_a_dislike_that_a_wrong_like_had_ended_holds_again(memory: Memory) -> None:
    memory.remember("dislikes", "coffee", since="2026-01-01")
    memory.remember("likes", "coffee", since="2026-02-01")
    done = memory.correct(next(fact.id for fact in memory.facts()), never=True)
    assert [(fact.predicate, fact.until) for fact in memory.facts(history=True)] == [("dislikes", "")]
    memory.undo(done.id)
    memory.sync()
    assert [fact.predicate for fact in memory.facts()] == ["likes"]


def test_why_tells_the_trace_and_the_old_id_finds_what_is_right(memory: Memory) -> None:
    wrong = learned(memory, "My dentist is Dr Sousa.", "Dr Sousa")
    first = memory.correct(wrong, "Dr Costa")
    second = memory.correct(wrong, "Dr Lima")
    trace = [
        (one.was and one.was.value, one.now and one.now.value) for one in memory.why(second.id).corrected
    ]
    assert trace == [("Dr Costa", "Dr Lima"), ("Dr Sousa", "Dr Costa")]
    assert memory.why(wrong).hidden
    with pytest.raises(NotFoundError):  # the later one first
        memory.undo(first.id)
    with pytest.raises(UsageError, match="was corrected already and is gone"):
        memory.correct(wrong, never=True)  # it is gone; what is right has not been seen
    assert second.after is not None
    never = memory.correct(second.after.id, never=True)
    with pytest.raises(NotFoundError, match=f"mnemark undo {never.id}"):
        memory.correct(wrong, "Dr Costa")


@pytest.mark.parametrize("erased", ["wrong", "turn", "right"])
def test_an_erasure_takes_its_words_out_of_the_journal(memory: Memory, erased: str) -> None:
    wrong = learned(memory, "My dentist is Doctor Sousa Pereira.", "Doctor Sousa Pereira")
    done = memory.correct(wrong, "Doctor Costa Almeida")
    if erased == "turn":
        memory.forget(done.before.source, erase=True)
    else:
        memory.forget(
            query="Doctor Costa Almeida" if erased == "right" else "Doctor Sousa Pereira", erase=True
        )
    gone, left = ("Costa", "Sousa") if erased == "right" else ("Sousa", "Costa")
    files = [path for path in memory.root.rglob("*") if path.is_file()]
    assert not [path for path in files if gone.encode() in path.read_bytes()]
    assert any(left.encode() in path.read_bytes() for path in memory.root.glob("journal/*"))
    memory.learn()
    assert said(memory) == ([] if erased == "right" else ["Doctor Costa Almeida"])


@pytest.mark.parametrize("origin", ["web", "tool", "import", "agent"])
def test_who_is_trusted_less_only_proposes_it(memory: Memory, origin: str) -> None:
    memory.remember("dentist", "Dr Sousa")
    done = memory.correct(id_of(memory, "Dr Sousa"), "Dr Costa", origin=origin)  # type: ignore[arg-type]
    assert (done.review, said(memory)) == ("correction", ["Dr Sousa"])
    (item,) = memory.review()
    memory.accept(item.id)
    assert (said(memory), memory.review()) == (["Dr Costa"], [])
    memory.undo(item.id)
    assert (said(memory), [one.id for one in memory.review()]) == (["Dr Sousa"], [item.id])


@pytest.mark.parametrize(
    ("turn", "waits"),
    [("No, that's wrong: it is Dr Costa.", False), ("What is the weather?", True), ("", True)],
)
def test_an_agent_corrects_what_its_owner_has_just_said_otherwise(
    memory: Memory,
    turn: str,
    waits: bool,  # noqa: FBT001
) -> None:
    from mnemark.facts.correct import Right

    memory.remember("dentist", "Dr Sousa")
    if turn:
        memory.session("chat").add("user", turn)
    done = correct_for_owner(memory.workspace, id_of(memory, "Dr Sousa"), Right(value="Dr Costa"))
    assert bool(done.review) == waits
    assert said(memory) == ["Dr Sousa" if waits else "Dr Costa"]


def test_what_waits_is_accepted_with_another_value_or_dropped(memory: Memory) -> None:
    waiting = memory.remember("pet", "a dog", origin="web")
    done = memory.correct(waiting.id, "a cat")
    assert (said(memory), memory.review()) == (["a cat"], [])
    memory.undo(done.id)
    assert (said(memory), [one.id for one in memory.review()]) == ([], [waiting.id])
    memory.correct(waiting.id, never=True)
    assert (said(memory), memory.review()) == ([], [])


def test_core_memory_says_what_is_right_at_once(memory: Memory) -> None:
    learned(memory, "Remember that my dentist is Dr Sousa.", "Dr Sousa")
    memory.consolidate(force=True)
    curated = [path for path in memory.root.glob("*.md") if "Dr Sousa" in path.read_text("utf-8")]
    assert curated
    done = memory.correct(id_of(memory, "Dr Sousa"), "Dr Costa")
    texts = [path.read_text("utf-8") for path in curated if "profile" in path.read_text("utf-8")]
    assert all("dentist: Dr Costa" in text and "dentist: Dr Sousa" not in text for text in texts)
    memory.undo(done.id)
    assert any("dentist: Dr Sousa" in path.read_text("utf-8") for path in curated)


@pytest.mark.parametrize(
    ("right", "error"),
    [
        ({}, "say what is right"),
        ({"value": "Dr Sousa"}, "says so already"),
        ({"value": "x", "never": True}, "give one of both"),
        ({"value": " "}, "not empty"),
        ({"since": "banana"}, "banana"),
        ({"since": "2026-05-01", "until": "2026-04-01"}, "cannot end"),
    ],
)
def test_wrong_input_changes_nothing(memory: Memory, right: dict[str, object], error: str) -> None:
    memory.remember("dentist", "Dr Sousa", since="2026-01-01")
    before = (memory.root / FACTS).read_bytes()
    with pytest.raises(UsageError, match=error):
        memory.correct(id_of(memory, "Dr Sousa"), **right)  # type: ignore[arg-type]
    with pytest.raises(NotFoundError):
        memory.correct("nothing", "x")
    assert (memory.root / FACTS).read_bytes() == before


def test_words_find_the_one_fact_that_has_them(memory: Memory) -> None:
    memory.remember("dentist", "Dr Sousa")
    memory.remember("likes", "tea")
    memory.remember("likes", "coffee")
    assert meant(memory.workspace, "who is my dentist?") == id_of(memory, "Dr Sousa")
    assert meant(memory.workspace, "牙医") == id_of(memory, "Dr Sousa")
    with pytest.raises(UsageError, match="2 facts have the words"):
        meant(memory.workspace, "likes")
    with pytest.raises(NotFoundError):
        meant(memory.workspace, "penguins")


def test_a_busy_file_is_corrected_later_and_shown_at_once(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mnemark.facts import corrections
    from mnemark.files.edit import EditResult

    memory.remember("dentist", "Dr Sousa")
    with monkeypatch.context() as patch:
        patch.setattr(corrections, "edit", lambda *_, **__: EditResult("deferred", Path(), b""))
        done = memory.correct(id_of(memory, "Dr Sousa"), "Dr Costa")
        assert said(memory) == ["Dr Costa"]
        assert "Dr Sousa" in (memory.root / FACTS).read_text("utf-8")
    memory.sync()
    assert "Dr Sousa" not in (memory.root / FACTS).read_text("utf-8")
    assert said(memory) == ["Dr Costa"]
    assert not memory.review()
    memory.undo(done.id)
    assert said(memory) == ["Dr Sousa"]


def test_an_answer_without_time_shows_no_wrong_value_that_another_process_corrected(memory: Memory) -> None:
    memory.remember("dentist", "Dr Sousa")
    memory.sync()
    memory.recall("who is my dentist?", deadline=5)
    with Memory.open(memory.root, config={"embedder": "none"}) as other:
        other.correct(id_of(other, "Dr Sousa"), "Dr Costa")
    for deadline in (0.001, 0.05, 5):
        assert "Dr Sousa" not in memory.recall("who is my dentist?", deadline=deadline).text
