"""A rejection can be undone: what was rejected waits for review again."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mnemark.errors import NotFoundError
from mnemark.memory.memory import Memory

REVIEW = Path("memory") / "review" / "facts.md"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "agent", config={"timezone": "UTC", "embedder": "none"}) as opened:
        yield opened


def waiting(memory: Memory) -> list[str]:
    return [f"{one.what}: {one.fact.value}" for one in memory.review()]


def values(memory: Memory) -> list[str]:
    return sorted(fact.value for fact in memory.facts())


@pytest.mark.parametrize("by", ["the rejection", "the proposal", "nothing"])
def test_a_rejected_proposal_waits_again(memory: Memory, by: str) -> None:
    memory.remember("city", "Lisbon")
    proposed = memory.remember("city", "Porto", origin="web")
    memory.reject(proposed.id)
    assert waiting(memory) == []
    assert "Porto" not in (memory.root / REVIEW).read_text("utf-8")
    (row,) = (one for one in memory.browse.changes().rows if one.kind == "reject")
    assert (row.undo, row.undone, row.named) == (True, False, (proposed.id,))
    given = {"the rejection": row.id, "the proposal": proposed.id, "nothing": None}[by]
    (done,) = memory.undo(given)
    assert (done.what, done.facts[0].value) == ("reject", "Porto")
    assert waiting(memory) == ["proposal: Porto"]
    assert "Porto" in (memory.root / REVIEW).read_text("utf-8")
    (row,) = (one for one in memory.browse.changes().rows if one.kind == "reject")
    assert (row.undo, row.undone) == (False, True)
    memory.accept(proposed.id)
    assert values(memory) == ["Porto"]
    assert waiting(memory) == []


def test_it_waits_again_for_those_who_open_the_memory_later(tmp_path: Path) -> None:
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        proposed = memory.remember("city", "Porto", origin="web")
        memory.reject(proposed.id)
        memory.undo(proposed.id)
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        assert waiting(memory) == ["proposal: Porto"]
        memory.reject(proposed.id)
        assert waiting(memory) == []
        memory.undo(proposed.id)
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        assert waiting(memory) == ["proposal: Porto"]
        assert (memory.root / REVIEW).read_text("utf-8").count("Porto") == 1


def test_a_rejection_is_undone_once(memory: Memory) -> None:
    proposed = memory.remember("city", "Porto", origin="web")
    memory.reject(proposed.id)
    memory.undo(proposed.id)
    with pytest.raises(NotFoundError):
        memory.undo(proposed.id)


@pytest.mark.parametrize("edit", ["changed", "added"])
def test_a_rejected_edit_of_a_file_holds_and_waits_again(memory: Memory, edit: str) -> None:
    memory.remember("city", "Lisbon")
    memory.remember("drink", "tea")
    path = memory.root / "memory" / "facts" / "user.md"
    text = path.read_text("utf-8")
    line = next(one for one in text.splitlines() if "Lisbon" in one)
    new = {"changed": line.replace("Lisbon", "Porto"), "added": f"{line}\n- editor: Helix"}
    path.write_text(text.replace(line, new[edit]), "utf-8")
    memory.sync()
    held = {"changed": ["Porto", "tea"], "added": ["Helix", "Lisbon", "tea"]}
    assert values(memory) == held[edit]
    (one,) = memory.review()
    memory.reject(one.id)
    assert values(memory) == ["Lisbon", "tea"]
    assert memory.review() == []
    memory.undo(one.id)
    assert values(memory) == held[edit]
    assert [again.id for again in memory.review()] == [one.id]
    memory.accept(one.id)
    assert values(memory) == held[edit]
    assert memory.review() == []


@pytest.mark.parametrize("by", ["the acceptance", "the proposal", "nothing"])
def test_an_accepted_proposal_waits_again_and_is_no_fact(memory: Memory, by: str) -> None:
    memory.remember("city", "Lisbon")
    proposed = memory.remember("city", "Porto", origin="web")
    memory.accept(proposed.id)
    assert values(memory) == ["Porto"]
    (row,) = (one for one in memory.browse.changes().rows if one.kind == "accept")
    assert row.undo
    given = {"the acceptance": row.id, "the proposal": proposed.id, "nothing": None}[by]
    (done,) = memory.undo(given)
    assert (done.what, done.facts[0].value) == ("accept", "Porto")
    assert values(memory) == ["Lisbon"]
    assert waiting(memory) == ["proposal: Porto"]
    with pytest.raises(NotFoundError):
        memory.undo(proposed.id)
    with Memory.open(memory.root, config={"embedder": "none"}) as again:
        assert (values(again), waiting(again)) == (["Lisbon"], ["proposal: Porto"])
        again.accept(proposed.id)
    assert values(memory) == ["Porto"]
    assert waiting(memory) == []


def test_a_fact_that_held_before_it_was_accepted_stays(memory: Memory) -> None:
    proposed = memory.remember("city", "Porto", origin="web")
    kept = memory.remember("city", "Porto")
    with pytest.raises(NotFoundError):
        memory.accept(proposed.id)  # said by the owner, it is accepted
    memory.undo(proposed.id)
    assert (values(memory), waiting(memory)) == ([], ["proposal: Porto"])
    assert kept.id not in {fact.id for fact in memory.facts()}


@pytest.mark.parametrize("erase", [False, True])
def test_what_was_accepted_and_forgotten_does_not_wait_again(memory: Memory, *, erase: bool) -> None:
    proposed = memory.remember("pet", "cat", origin="web")
    made = memory.accept(proposed.id)
    assert made is not None
    receipt = memory.forget(made.id, erase=erase)
    with pytest.raises(NotFoundError):
        memory.undo(proposed.id)
    if erase:
        with pytest.raises(NotFoundError):
            memory.undo()
    else:
        memory.undo(receipt.id)
        memory.undo(proposed.id)
    assert waiting(memory) == ([] if erase else ["proposal: cat"])


@pytest.mark.parametrize("given", ["edits", "one"])
def test_accepted_edits_of_a_file_wait_again_and_hold(memory: Memory, given: str) -> None:
    memory.remember("city", "Lisbon")
    path = memory.root / "memory" / "facts" / "user.md"
    path.write_text(path.read_text("utf-8").replace("Lisbon", "Porto"), "utf-8")
    memory.sync()
    (one,) = memory.review()
    memory.accept(one.id if given == "one" else "edits")
    assert memory.review() == []
    memory.undo(one.id)
    assert [again.id for again in memory.review()] == [one.id]
    assert values(memory) == ["Porto"]
