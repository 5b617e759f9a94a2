"""Curated memory and today's notes, and the old methods that code already calls."""

import os
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from faults.logical import LEXICAL
from mnemark.errors import UsageError
from mnemark.facts.visible import PlainWorkspace
from mnemark.files.config import load
from mnemark.memory.curation.context import context, read_context
from mnemark.memory.curation.files import paragraphs
from mnemark.memory.memory import Memory
from mnemark.text.quoting.fence import fence, is_fenced
from mnemark.text.words.tokens import estimate_tokens
from mnemark_adapters import memory_store as stores
from mnemark_adapters.memory_store import MemoryStore
from sampled import examples

NOW = datetime(2026, 2, 13, 9, 0, tzinfo=UTC)


def plain(root: Path) -> PlainWorkspace:
    return PlainWorkspace(root, load(root))


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    old = time.time() - 60
    os.utime(path, (old, old))


@pytest.mark.parametrize("name", ["MEMORY.md", "memory/MEMORY.md", "Memory.md"])
def test_curated_memory_and_notes_of_today(tmp_path: Path, name: str) -> None:
    write(tmp_path, name, "# Memory\n\nPython is 3.12.\n")
    write(tmp_path, "memory/2026-02-13.md", "# Today\n\nWe met.\n")
    write(tmp_path, "memory/2026-02-13-call.md", "A call.\n")
    write(tmp_path, "memory/2026-02-12.md", "Yesterday.\n")
    with Memory.open(tmp_path, config=LEXICAL) as memory:
        text = context(memory.workspace, now=NOW)
    assert text.index("Python is 3.12.") < text.index("We met.") < text.index("A call.")
    assert "Yesterday" not in text
    assert name in text


def test_a_scope_has_its_own_after_everyones(tmp_path: Path) -> None:
    write(tmp_path, "MEMORY.md", "everyone")
    write(tmp_path, "users/ann/MEMORY.md", "of ann")
    write(tmp_path, "users/bob/MEMORY.md", "of bob")
    text = read_context(plain(tmp_path), NOW.date(), scope="users/ann")
    assert text.index("everyone") < text.index("of ann")
    assert "of bob" not in text
    with pytest.raises(UsageError):
        read_context(plain(tmp_path), NOW.date(), scope="../elsewhere")


def test_what_was_recalled_is_not_learned_again(tmp_path: Path) -> None:
    write(tmp_path, "MEMORY.md", f"before\n\n{fence('recalled words')}\n\nafter\n")
    text = read_context(plain(tmp_path), NOW.date())
    assert "recalled words" not in text
    assert not is_fenced(text)
    assert "before" in text
    assert "after" in text


def test_nothing_is_nothing(tmp_path: Path) -> None:
    assert read_context(plain(tmp_path), NOW.date()) == ""
    write(tmp_path, "MEMORY.md", "\n\n")
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory/2026-02-13.md").write_bytes(b"\0\0\0")
    assert read_context(plain(tmp_path), NOW.date()) == ""
    with pytest.raises(UsageError):
        read_context(plain(tmp_path), NOW.date(), budget=0)


def test_of_notes_the_newest_stay_and_code_is_not_cut(tmp_path: Path) -> None:
    write(tmp_path, "MEMORY.md", "\n\n".join(f"fact {n} about things" for n in range(200)))
    write(tmp_path, "memory/2026-02-13.md", "\n\n".join(f"note {n} of the day" for n in range(200)))
    text = read_context(plain(tmp_path), NOW.date(), budget=300)
    assert "fact 0 " in text
    assert "note 199 " in text
    assert "of 200 paragraphs" in text
    assert paragraphs("a\n\n```\nx\n\ny\n```\n\nb") == ["a", "```\nx\n\ny\n```", "b"]


@settings(
    max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.text(max_size=600), st.text(max_size=600), st.integers(1, 400))
def test_never_over_the_budget(tmp_path: Path, curated: str, notes: str, budget: int) -> None:
    (tmp_path / "memory").mkdir(exist_ok=True)
    (tmp_path / "MEMORY.md").write_bytes(curated.encode("utf-8", "replace"))
    (tmp_path / "memory/2026-02-13.md").write_bytes(notes.encode("utf-8", "replace"))
    text = read_context(plain(tmp_path), NOW.date(), budget=budget)
    assert estimate_tokens(text) <= budget


def test_the_old_methods(tmp_path: Path) -> None:
    store = MemoryStore(tmp_path / "w")
    assert store.read_today() == store.read_long_term() == store.get_memory_context() == ""
    store.append_today("first")
    store.append_today("second\n")
    today = store.get_today_file()
    assert today.parent.name == "memory"
    assert store.read_today() == f"# {today.stem}\n\nfirst\n\nsecond\n"
    store.write_long_term("# Memory\n\nPython is 3.12.\n")
    assert store.read_long_term() == "# Memory\n\nPython is 3.12.\n"
    assert (tmp_path / "w/MEMORY.md").is_file()
    assert "second" in store.get_memory_context()
    assert "3.12" in store.get_memory_context()


def test_nanobots_place_is_kept(tmp_path: Path) -> None:
    write(tmp_path, "memory/MEMORY.md", "old\n")
    store = MemoryStore(tmp_path)
    assert store.read_long_term() == "old\n"
    store.write_long_term("old\nnew\n")
    assert (tmp_path / "memory/MEMORY.md").read_text() == "old\nnew\n"
    assert not (tmp_path / "MEMORY.md").exists()


def test_a_persons_edit_in_between_is_merged_or_kept(tmp_path: Path) -> None:
    write(tmp_path, "MEMORY.md", "one\ntwo\nthree\nfour\nfive\n")
    store = MemoryStore(tmp_path)
    store.read_long_term()
    write(tmp_path, "MEMORY.md", "one by hand\ntwo\nthree\nfour\nfive\n")
    store.write_long_term("one\ntwo\nthree\nfour\nfive by the agent\n")
    assert store.read_long_term() == "one by hand\ntwo\nthree\nfour\nfive by the agent\n"
    write(tmp_path, "MEMORY.md", "all by hand\n")
    store.write_long_term("all by the agent\n")
    assert store.read_long_term() == "all by the agent\n"
    (copy,) = tmp_path.glob("MEMORY.conflict-*.md")
    assert copy.read_text() == "all by hand\n"


def test_what_was_never_read_is_kept(tmp_path: Path) -> None:
    write(tmp_path, "MEMORY.md", "by hand\n")
    MemoryStore(tmp_path).write_long_term("by the agent\n")
    (copy,) = tmp_path.glob("MEMORY.conflict-*.md")
    assert copy.read_text() == "by hand\n"
    MemoryStore(tmp_path).write_long_term("by the agent\nand more\n")  # holds all that was there
    assert len(list(tmp_path.glob("MEMORY.conflict-*.md"))) == 1


def test_two_agents_append_side_by_side(tmp_path: Path) -> None:
    def work(who: int) -> None:
        store = MemoryStore(tmp_path)
        for number in range(5):
            store.append_today(f"agent {who} says {number}")

    threads = [threading.Thread(target=work, args=(who,)) for who in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    text = MemoryStore(tmp_path).read_today()
    assert sum(line.startswith("agent ") for line in text.splitlines()) == 15
    assert stores.PATIENCE > 1
