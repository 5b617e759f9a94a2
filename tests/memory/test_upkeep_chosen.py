"""A chosen part of a consolidation is carried out, and nothing else."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from mnemark import Memory, UsageError
from mnemark.memory.consolidation import archive
from mnemark.memory.consolidation.run import LEARN
from mnemark.memory.curation.plan import Proposal, ProposedEdit, ProposedMove, ScopeView, parts_of

LATER = datetime.now().astimezone() + timedelta(days=200)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path, config={"embedder": "none", "timezone": "UTC"}) as found:
        yield found


def texts(root: Path) -> dict[str, str]:
    return {path.relative_to(root).as_posix(): path.read_text("utf-8") for path in root.rglob("*.md")}


def fill(memory: Memory) -> None:
    """A fact that fades, one for MEMORY.md, one for USER.md."""
    source = memory.session("a")
    source.add("user", "x")
    memory.remember("build", "slow", subject="atlas", origin="agent", priority="transient",
                    source=f"{source.path}#L2")  # fmt: skip
    memory.remember("database", "SQLite", subject="atlas", type="rule")
    memory.remember("editor", "Helix")
    memory.sync()


def parts(memory: Memory, **more: object) -> list[str]:
    plan = memory.consolidate(dry_run=True, now=LATER, force=True, **more)  # type: ignore[arg-type]
    return list(dict.fromkeys(edit.part for edit in plan.edits))


def test_a_plan_names_its_parts(memory: Memory) -> None:
    fill(memory)
    assert parts(memory) == ["decay:memory/archive/facts/atlas.md", "refresh:MEMORY.md", "refresh:USER.md"]


def test_only_the_chosen_part_is_done(memory: Memory) -> None:
    fill(memory)
    before = texts(memory.root)
    report = memory.consolidate(now=LATER, force=True, only=["refresh:USER.md"])
    assert [edit.path for edit in report.edits] == ["USER.md"]
    after = texts(memory.root)
    changed = {path for path in before | after if before.get(path) != after.get(path)}
    assert {path for path in changed if "/reports/" not in path} == {"USER.md"}
    assert parts(memory) == ["decay:memory/archive/facts/atlas.md", "refresh:MEMORY.md"]
    memory.undo(report.group)
    assert {path: text for path, text in texts(memory.root).items() if "/reports/" not in path} == before


def test_a_fact_moves_to_the_archive_whole_or_not_at_all(memory: Memory) -> None:
    fill(memory)
    memory.consolidate(now=LATER, force=True, only=["decay:memory/archive/facts/atlas.md"])
    assert "slow" in (memory.root / "memory/archive/facts/atlas.md").read_text("utf-8")
    assert "slow" not in (memory.root / "memory/facts/atlas.md").read_text("utf-8")
    assert not (memory.root / "USER.md").exists()


@pytest.mark.parametrize(("only", "there"), [(None, False), ([], True), (["decay:x"], True)])
def test_later_steps_see_what_was_not_chosen_as_it_is(
    memory: Memory, only: list[str] | None, *, there: bool
) -> None:
    fill(memory)
    view = ScopeView(memory.workspace, LATER, only=only)
    view.take(archive.propose(view))
    assert ("slow" in [fact.value for fact in view.current()]) is there
    assert bool(view.planned) is not there


def test_without_learning_no_session_ends_and_none_is_learned_from(memory: Memory) -> None:
    memory.session("a").add("user", "I moved to Lisbon in March.")
    assert memory.consolidate(dry_run=True, now=LATER, force=True).learned
    assert not memory.consolidate(dry_run=True, now=LATER, force=True, only=[]).learned
    memory.consolidate(now=LATER, force=True, only=[])
    assert list(memory.facts()) == []
    assert not (memory.root / "memory" / "episodes").exists()
    memory.consolidate(now=LATER, force=True, only=[LEARN])
    assert [fact.value for fact in memory.facts()] == ["Lisbon"]
    assert not (memory.root / "USER.md").exists()


def test_a_chosen_part_is_not_the_run_of_the_day(memory: Memory) -> None:
    fill(memory)
    memory.consolidate(now=LATER, force=True, only=["refresh:USER.md"])
    assert memory.workspace.edits.runs() == []
    memory.consolidate(now=LATER, force=True)
    assert len(memory.workspace.edits.runs()) == 1


def test_edits_that_share_a_file_or_a_reason_are_one_part() -> None:
    def same(text: str) -> str:
        return text

    edits = (
        ProposedEdit("b", same, ("one",)),
        ProposedEdit("a", same, ("one",)),
        ProposedEdit("c", same, ("two",)),
        ProposedEdit("c", same, ("three",)),
        ProposedMove("d", "e", ()),
        ProposedEdit("f", same, ("three",)),
    )
    assert parts_of(Proposal("s", edits), "") == ["s:b", "s:b", "s:c", "s:c", "s:d", "s:c"]
    assert set(parts_of(Proposal("s", edits, whole=True), "users/ann")) == {"s:users/ann"}


@pytest.mark.parametrize("unknown", ["foo", "foo:USER.md", ""])
def test_an_unknown_step_is_refused_and_the_steps_are_named(memory: Memory, unknown: str) -> None:
    fill(memory)
    before = texts(memory.root)
    with pytest.raises(UsageError, match=r"learn, deduplicate, decay, condense, refresh, clean up, tidy"):
        memory.consolidate(now=LATER, force=True, only=["refresh:USER.md", unknown])
    assert texts(memory.root) == before


def test_a_step_stands_for_all_its_parts(memory: Memory) -> None:
    fill(memory)
    report = memory.consolidate(now=LATER, force=True, only=["refresh"])
    assert [edit.path for edit in report.edits] == ["MEMORY.md", "USER.md"]


def test_what_a_dry_run_calls_learning_learns(memory: Memory) -> None:
    memory.session("a").add("user", "I moved to Lisbon in March.")
    plan = memory.consolidate(dry_run=True, now=LATER, force=True)
    named = next(edit.part for edit in plan.edits if edit.step == LEARN)
    memory.consolidate(now=LATER, force=True, only=[named])
    assert [fact.value for fact in memory.facts()] == ["Lisbon"]


def test_a_part_with_nothing_to_do_is_noted(memory: Memory) -> None:
    fill(memory)
    report = memory.consolidate(now=LATER, force=True, only=["refresh:OTHER.md"])
    assert not report.edits
    assert any("refresh:OTHER.md" in note for note in report.notes)
