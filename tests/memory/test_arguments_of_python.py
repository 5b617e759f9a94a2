"""What Python callers may give, and what they are told else."""

from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from mnemark import Memory
from mnemark.errors import UsageError


def test_a_date_is_that_day(tmp_path: Path) -> None:
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        day: Any = date(2026, 3, 1)
        assert memory.remember("city", "Porto", since=day).since.startswith("2026-03-01")
        memory.remember("city", "Lisbon", since="2026-05-01")
        assert [fact.value for fact in memory.facts(as_of=day)] == ["Porto"]
        assert memory.search("city", as_of=day).hits[0].meta["value"] == "Porto"


@pytest.mark.parametrize("tags", ["home", [None], [1]])
def test_tags_are_a_list_of_texts(tmp_path: Path, tags: Any) -> None:
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        with pytest.raises(UsageError, match="tags of a fact must be a list of texts"):
            memory.remember("city", "Porto", tags=tags)
        assert list(memory.facts()) == []


def test_turns_are_turns_and_their_times_are_times(tmp_path: Path) -> None:
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        session = memory.session("a")
        wrong: Any = "2026-01-01T10:00:00+00:00"
        with pytest.raises(UsageError, match="must be a datetime"):
            session.add("user", "hello", time=wrong)
        said: Any = [{"role": "user", "content": "x"}]
        with pytest.raises(UsageError, match=r"session\.turn"):
            session.add_many(said)
        session.add("user", "hello", time=datetime(2026, 1, 1).astimezone())
        assert [turn.content for turn in session.last()] == ["hello"]


@pytest.mark.parametrize("folder", ["", None, 3])
def test_a_memory_has_a_folder(folder: Any) -> None:
    with pytest.raises(UsageError, match="give the folder of the memory"):
        Memory.open(folder)


def test_a_closed_memory_writes_nothing(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path, config={"embedder": "none"})
    session = memory.session("a")
    memory.close()
    for write in (lambda: memory.remember("city", "Porto"), lambda: session.add("user", "hello")):
        with pytest.raises(UsageError, match="this memory is closed; open it again"):
            write()
    with Memory.open(tmp_path, config={"embedder": "none"}) as again:
        assert list(again.facts()) == []


def test_turns_and_tags_of_a_generator_are_kept(tmp_path: Path) -> None:
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        session = memory.session("a")
        turns: Any = (session.turn("user", said) for said in ("one", "two"))
        session.add_many(turns)
        assert [turn.content for turn in session.last()] == ["one", "two"]
        tags: Any = (tag for tag in ("home", "north"))
        assert memory.remember("city", "Porto", tags=tags).tags == ("home", "north")
