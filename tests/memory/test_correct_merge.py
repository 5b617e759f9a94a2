"""A correction holds on every machine; two that differ wait for a person."""

# ruff: noqa: F811 - the fixture is called as its argument

import shutil
from pathlib import Path

import pytest

from memory.test_merge import Opened, opened  # noqa: F401 - a fixture
from mnemark import Memory


@pytest.fixture
def pair(opened: Opened, tmp_path: Path) -> Path:
    """Two copies of a folder with a fact that was learned and one that somebody wrote."""
    memory = opened("laptop")
    chat = memory.session("chat")
    chat.add("user", "My dentist is Dr Sousa.")
    memory.learn()
    path = memory.root / "memory/facts/user.md"
    path.write_text(path.read_text("utf-8") + "- editor: vim\n", "utf-8")
    memory.sync()
    shutil.copytree(tmp_path / "laptop", tmp_path / "desktop", ignore=shutil.ignore_patterns(".mnemark"))
    return tmp_path


def said(memory: Memory) -> list[str]:
    return sorted(fact.value for fact in memory.facts(history=True))


def id_of(memory: Memory, value: str) -> str:
    return next(fact.id for fact in memory.facts() if fact.value == value)


def both_ways(opened: Opened, pair: Path) -> list[list[str]]:
    """Merge until both have all; return what each says, with its history."""
    for _ in range(2):
        for name, other in (("laptop", "desktop"), ("desktop", "laptop")):
            opened(name).merge(pair / other)
    files = [(pair / name / "memory/facts/user.md").read_text("utf-8") for name in ("laptop", "desktop")]
    assert files[0] == files[1]
    return [said(opened(name)) for name in ("laptop", "desktop")]


@pytest.mark.parametrize("never", [False, True])
@pytest.mark.parametrize("wrong", ["Dr Sousa", "vim"])
def test_a_correction_on_one_side_arrives(
    opened: Opened,
    pair: Path,
    wrong: str,
    never: bool,  # noqa: FBT001
) -> None:
    memory = opened("laptop")
    memory.correct(id_of(memory, wrong), None if never else "right", never=never)
    opened("desktop").session("chat").add("user", "Call the plumber.")
    expected = sorted({"Dr Sousa", "vim"} - {wrong} | (set() if never else {"right"}))
    assert both_ways(opened, pair) == [expected, expected]
    memory = opened("desktop")
    assert {one.status for one in memory.learn().facts} <= {"known"}
    assert not [one for one in memory.review() if one.what != "edit"]


def test_the_same_correction_on_both_sides_is_one_fact(opened: Opened, pair: Path) -> None:
    for name in ("laptop", "desktop"):
        memory = opened(name)
        memory.correct(id_of(memory, "Dr Sousa"), "Dr Costa")
    both_ways(opened, pair)
    for name in ("laptop", "desktop"):
        memory = opened(name)
        assert [fact.value for fact in memory.facts() if fact.predicate == "dentist"] == ["Dr Costa"]
        assert not [one for one in memory.review() if one.what != "edit"]


def test_different_corrections_wait_for_a_person(opened: Opened, pair: Path) -> None:
    for name, value in (("laptop", "Dr Costa"), ("desktop", "Dr Lima")):
        memory = opened(name)
        memory.correct(id_of(memory, "Dr Sousa"), value)
    assert "Dr Sousa" not in str(both_ways(opened, pair))
    for name in ("laptop", "desktop"):
        memory = opened(name)
        assert [fact.value for fact in memory.facts() if fact.predicate == "dentist"] == ["Dr Lima"]
        assert [one.fact.value for one in memory.review() if one.what == "conflict"] == ["Dr Costa"]


def test_a_correction_that_was_taken_back_is_on_both(opened: Opened, pair: Path) -> None:
    memory = opened("laptop")
    done = memory.correct(id_of(memory, "Dr Sousa"), "Dr Costa")
    opened("desktop").merge(pair / "laptop")
    memory = opened("laptop")
    memory.undo(done.id)
    assert both_ways(opened, pair) == [["Dr Sousa", "vim"]] * 2


def test_what_was_learned_there_from_the_same_turn_is_corrected_too(opened: Opened, tmp_path: Path) -> None:
    memory = opened("laptop")
    memory.session("chat").add("user", "My dentist is Dr Sousa.")
    memory.sync()
    shutil.copytree(tmp_path / "laptop", tmp_path / "desktop", ignore=shutil.ignore_patterns(".mnemark"))
    memory.learn()
    memory.correct(id_of(memory, "Dr Sousa"), "Dr Costa")
    memory = opened("desktop")
    memory.learn()
    assert said(memory) == ["Dr Sousa"]
    assert both_ways(opened, tmp_path) == [["Dr Costa"]] * 2
