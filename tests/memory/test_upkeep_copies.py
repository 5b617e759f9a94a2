"""Conflict copies of syncing tools: joined where that is sure, told where it is not, never lost."""

from pathlib import Path

import pytest

from mnemark import Memory

MARK = ".sync-conflict-20260213-101500-ABCDEF7"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    (tmp_path / "mnemark.toml").write_text('embedder = "none"\n', "utf-8")
    memory = Memory.open(tmp_path)
    memory.session("chat").add("user", "The heron nests by the weir.")
    return memory


def chat(memory: Memory) -> str:
    (path,) = (memory.root / "sessions").glob("chat*[!7].jsonl")
    return f"sessions/{path.name}"


def copied(memory: Memory, path: str, more: bytes) -> Path:
    """What another machine had: the file as it is, and more."""
    original = memory.root / path
    copy = original.with_name(original.stem + MARK + original.suffix)
    copy.write_bytes(original.read_bytes() + more)
    return copy


def test_turns_of_another_machine_are_joined_and_found(memory: Memory) -> None:
    line = '{"id":"01KM0000000000000000000000","role":"user","content":"苍鹭在堰边"}\n'.encode()
    log = chat(memory)
    copy = copied(memory, log, line)
    before = (memory.root / log).read_bytes()
    shown = memory.consolidate(dry_run=True)
    assert any("1 message would be joined to sessions/chat" in note for note in shown.notes)
    assert copy.exists()
    assert (memory.root / log).read_bytes() == before
    report = memory.consolidate()
    assert (memory.root / log).read_bytes() == before + line
    assert not copy.exists()
    assert any("joined to sessions/chat" in note for note in report.notes)
    contents = {turn.content for turn in memory.session("chat").last(10)}
    assert contents == {"The heron nests by the weir.", "苍鹭在堰边"}
    again = memory.consolidate()
    assert not again.changed
    assert list((memory.root / "memory/archive/copies").iterdir())


def test_a_sync_joins_copies_of_every_kind(memory: Memory) -> None:
    copy = copied(memory, chat(memory), b"// by hand\n")
    (memory.root / "MEMORY.md").write_text("- ours\n", "utf-8")
    note = copied(memory, "MEMORY.md", b"- theirs\n")
    memory.remember("city", "Bern")
    (facts,) = (memory.root / "memory/facts").iterdir()
    more = b"- **river**: Aare <!-- id: 01KM0000000000000000000001 | since: 2026-02-13 -->\n"
    fact = copied(memory, "memory/facts/user.md", more)
    memory.sync()
    assert not any(one.exists() for one in (copy, note, fact))
    assert (memory.root / "MEMORY.md").read_text("utf-8") == "- ours\n- theirs\n"
    assert {(one.predicate, one.value) for one in memory.facts()} == {("city", "Bern"), ("river", "Aare")}
    assert facts.read_bytes().endswith(more)
    assert not any(one.what == "copies" for one in memory.attention())


def test_both_versions_of_a_line_stand_marked(memory: Memory) -> None:
    (memory.root / "plan.md").write_text("# Plan\n\nport: 8080\n", "utf-8")
    copy = copied(memory, "plan.md", b"")
    (memory.root / "plan.md").write_text("# Plan\n\nport: 9090\n", "utf-8")
    note = next(note for note in memory.consolidate().notes if "plan" in note)
    assert "both versions" in note
    text = (memory.root / "plan.md").read_text("utf-8")
    assert "port: 8080" in text
    assert "port: 9090" in text
    assert not copy.exists()


def test_a_name_that_only_looks_like_a_copy_stays(memory: Memory) -> None:
    memory.remember("city", "Bern")
    other = memory.root / "memory/facts/user 2.md"
    other.write_text("- **pet**: a heron\n", "utf-8")
    memory.sync()
    assert other.exists()


def test_a_version_that_could_not_be_joined_is_for_a_person(memory: Memory) -> None:
    (memory.root / "MEMORY.md").write_text("- ours\n", "utf-8")
    own = memory.root / "MEMORY.conflict-20260213T101500-1a2b3c4d.md"
    own.write_text("- theirs\n", "utf-8")
    memory.sync()
    assert own.exists()
    assert {one.what: one.count for one in memory.attention()} == {"copies": 1}


def test_a_note_that_says_nothing_new_goes_to_the_archive(memory: Memory) -> None:
    (memory.root / "MEMORY.md").write_text("- ours\n", "utf-8")
    note = copied(memory, "MEMORY.md", b"\n")
    (memory.root / "MEMORY.md").write_text("- ours\n- 我们的\n", "utf-8")
    memory.consolidate()
    assert not note.exists()
    assert (memory.root / f"memory/archive/copies/MEMORY{MARK}.md").read_text("utf-8") == "- ours\n\n"


def test_what_was_erased_does_not_come_back(memory: Memory) -> None:
    copy = copied(memory, chat(memory), b"")
    kept = copy.read_bytes()
    memory.sync()
    (hit,) = memory.search("heron").hits
    memory.forget(hit.ref, erase=True)
    copy.write_bytes(kept)  # another machine, which has not heard of it, sends it again
    memory.consolidate()
    assert "heron" not in (memory.root / chat(memory)).read_text("utf-8")
