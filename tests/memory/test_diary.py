"""Talks and the diary as lists: what was held when, page by page, and what recalls gave."""

from datetime import timedelta
from pathlib import Path

import pytest

from mnemark import Memory
from mnemark.errors import UsageError
from mnemark.memory.browse.diary import DiaryEntry
from mnemark.memory.browse.talk_rows import TalkRow


@pytest.fixture
def lived(tmp_path: Path) -> Path:
    """A memory of nine talks, two of them in the same second, of notes and of facts."""
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        now = memory.workspace.now().replace(microsecond=0)
        for n in range(9):
            log = memory.session(f"chat:{n}")
            begin = now - timedelta(days=max(n, 1), hours=1)
            log.add_many([
                log.turn("user", f"zebra {n}", time=begin),
                log.turn("assistant", "grass", time=begin + timedelta(minutes=5)),
            ])  # fmt: skip
        for n in range(4):
            memory.remember(f"thing {n}", f"value {n}")
        day = (now - timedelta(days=3)).date().isoformat()
        (tmp_path / "memory").mkdir(exist_ok=True)
        (tmp_path / "memory" / f"{day}.md").write_text("A note on grass.\n", "utf-8")
        memory.sync()
    return tmp_path


def test_talks_are_listed_page_by_page_the_last_first(lived: Path) -> None:
    with Memory.open(lived) as memory:
        found: list[TalkRow] = []
        after = ""
        while True:
            page = memory.browse.talks(limit=2, after=after)
            found += page.rows
            after = page.next
            if not after:
                break
        assert page.total == len(found) == len({row.path for row in found}) == 9
        assert [row.ended for row in found] == sorted((row.ended for row in found), reverse=True)
        assert all(row.messages == 2 and row.began < row.ended for row in found)
        (only,) = memory.browse.talks(text="ZEBRA 7").rows
        assert only.path.startswith("sessions/chat-7")
        assert memory.browse.talks(text="giraffe").rows == ()


def test_the_diary_has_each_thing_once(lived: Path) -> None:
    with Memory.open(lived) as memory:
        found: list[DiaryEntry] = []
        after = ""
        while True:
            page = memory.browse.diary(limit=3, after=after)
            found += page.rows
            after = page.next
            if not after:
                break
        keys = [(one.part, one.path, one.change.id if one.change else "") for one in found]
        assert len(keys) == len(set(keys))
        assert [one.time[:19] for one in found] == sorted((one.time[:19] for one in found), reverse=True)
        parts = [one.part for one in found]
        assert (parts.count("talk"), parts.count("note")) == (9, 1)
        assert parts.count("change") >= 1
        assert {one.part for one in memory.browse.diary(parts=["note"]).rows} == {"note"}
        with pytest.raises(UsageError, match="unknown part"):
            memory.browse.diary(parts=["day"])  # type: ignore[list-item]


def test_of_many_changes_in_a_row_only_the_first_are_looked_at(lived: Path) -> None:
    with Memory.open(lived) as memory:
        every = memory.browse.diary(parts=["change"]).rows
        some = memory.browse.diary(parts=["change"], told=2).rows
        assert len(every) >= 4
        assert all(one.change is not None for one in every)
        assert [one.time[:19] for one in some] == [one.time[:19] for one in every]
        assert [one.change for one in some] == [
            *(one.change for one in every[:2]),
            *[None] * (len(every) - 2),
        ]


def test_a_hidden_talk_is_in_neither(lived: Path) -> None:
    with Memory.open(lived) as memory:
        gone = memory.browse.talks(limit=1).rows[0].path
        memory.forget(ref=gone)
        assert gone not in {row.path for row in memory.browse.talks().rows}
        assert gone not in {one.path for one in memory.browse.diary().rows}


def test_recalls_are_recorded_with_their_talk(tmp_path: Path) -> None:
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        (tmp_path / "long.md").write_text("The zebra grazes.\n\n" + "Nothing else here.\n" * 400, "utf-8")
        fact = memory.remember("zebra food", "grass")
        for name in ("chat:1", "chat:2"):
            log = memory.session(name)
            log.add("user", "what is the zebra food")
            for _ in range(2):
                used = log.recall("what is the zebra food", deadline=5.0).used
                assert any(ref.startswith("memory/facts/") for ref in used)
        memory.recall("what is the zebra food", deadline=5.0)
        assert memory.recall("", deadline=5.0).used == ()
        memory.browse.search("what is the zebra food")
        *_, today = memory.browse.used()
        assert today.recalls == 5
        assert today.memories >= 5
        assert today.tokens > 0
        assert today.saved > 0
        (row,) = [one for one in memory.browse.facts().rows if one.fact.id == fact.id]
        assert row.talks == 2
        assert row.uses == 5
        assert memory.why(fact.id).talks == 2
