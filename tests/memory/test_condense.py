"""Condensing: the month says what mattered, the days are in the archive byte for byte, refs resolve."""

import subprocess
import sys
import textwrap
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from mnemark import Memory
from mnemark.errors import NotFoundError, ReadOnlyError
from mnemark.llm import Budget, Entry, Ledger, Message, Meter, spent_on
from mnemark.llm.function import FunctionLLM, from_callable
from mnemark.memory.consolidation.condense import propose
from mnemark.memory.consolidation.report import Consolidated
from mnemark.memory.curation.plan import ScopeView
from mnemark.text.markdown.generated import mark, put
from sampled import sampled

NOW = datetime(2026, 6, 15, 12).astimezone()
CONFIG = {"embedder": "none", "timezone": "Europe/Berlin"}
LONG = """# 2026-01-03

## Morning

It was raining and the train was late again. Nobody was in the office before ten. The coffee machine was
broken, too.

- 09:10 opened the laptop
- 09:30 read mail
- We decided to use SQLite for the catalogue because it needs no server.
- 11:00 lunch
- 12:00 read mail
- 14:00 talked with the others about holidays and about the weather in the mountains

## Afternoon

- Release date: 2026-03-01
- 16:00 looked at pictures of cats for a while and then at pictures of dogs for a while
- The root cause of the crash was a missing index on `turns.session`.
"""
CHINESE = "# 2026-01-20\n\n- 决定改用 SQLite，因为不需要服务器。\n- 中午吃面。\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "memory"
    folder.mkdir()
    (folder / "2026-01-03.md").write_bytes(LONG.encode().replace(b"\n", b"\r\n"))
    (folder / "2026-01-20-plan.md").write_text(CHINESE, "utf-8")
    (folder / "2026-05-30.md").write_text("# 2026-05-30\n\n- young\n")
    (folder / "2026-02.md").write_text("# 2026-02\n\nmine\n")
    (folder / "plans.md").write_text("# Plans\n")
    return tmp_path


@pytest.fixture
def memory(root: Path) -> Iterator[Memory]:
    with Memory.open(root, config=CONFIG) as found:
        yield found


def condense(memory: Memory, *, now: datetime = NOW, **more: Any) -> Consolidated:
    return memory.consolidate(only=["condense"], now=now, **more)


def files(root: Path) -> dict[str, bytes]:
    found = {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*.md")}
    return {path: data for path, data in found.items() if not path.startswith((".mnemark", "memory/reports"))}


def test_a_month_says_what_mattered_and_its_days_are_whole_in_the_archive(memory: Memory) -> None:
    before = files(memory.root)
    done = condense(memory)
    after = files(memory.root)
    assert done.notes == ()
    month = after["memory/2026-01.md"].decode()
    for kept in ("## [2026-01-03](archive/2026-01-03.md)", "decided to use SQLite",
                 "root cause", "Release date: 2026-03-01", "## 2026-01-20-plan", "决定改用 SQLite",
                 "中午吃面"):  # fmt: skip
        assert kept in month
    for gone in ("pictures of cats", "talked with the others"):
        assert gone not in month
    for name in ("2026-01-03.md", "2026-01-20-plan.md"):
        assert after[f"memory/archive/{name}"] == before[f"memory/{name}"]
        assert f"memory/{name}" not in after
    for same in ("memory/2026-05-30.md", "memory/2026-02.md", "memory/plans.md"):
        assert after[same] == before[same]


SESSIONS = """# 2026-01-05

I drew the tide tables by hand.

<!-- mnemark:begin session-0a1b2c3d | {} -->
## 09:30–09:42 cli:main: The parser breaks

- Asked: The parser breaks on nested lists.
- Done: It keeps its own stack now.

Episode: [The parser breaks](episodes/2026-01-05-the-parser-breaks.md)
<!-- mnemark:end session-0a1b2c3d -->

## Observations

- 09:32 exec: make test failed (exit 2) <!-- observed: 01KEDC5Q00W6Q7GQ2M1B7A9D3E -->
"""


def test_what_an_episode_holds_is_a_link_in_the_month(memory: Memory) -> None:
    rows = [line for line in SESSIONS.split("\n")[5:11] if line]
    (memory.root / "memory/2026-01-05.md").write_text(SESSIONS.format(" ".join(map(mark, rows))))
    new = put("# 2026-01-06\n", "session-1a1b2c3d", ["## 10:00 [Nets](episodes/2026-01-06-nets.md)"])
    (memory.root / "memory/2026-01-06.md").write_text(new)
    condense(memory)
    month = (memory.root / "memory/2026-01.md").read_text("utf-8")
    assert "## [2026-01-05](archive/2026-01-05.md)\n" in month
    assert "- 09:30–09:42 [The parser breaks](episodes/2026-01-05-the-parser-breaks.md)\n" in month
    assert "I drew the tide tables by hand." in month
    assert (
        "## 2026-01-06\n\n- 10:00 [Nets](episodes/2026-01-06-nets.md)\n" in month
    )  # nothing more in the archive
    for elsewhere in ("own stack", "nested lists", "make test", "cli:main"):
        assert elsewhere not in month


def test_refs_of_condensed_days_go_on_resolving(memory: Memory) -> None:
    line = memory.read("memory/2026-01-03.md#L10")
    condense(memory)
    assert memory.read("memory/2026-01-03.md#L10") == line
    assert memory.read("memory/2026-01-20-plan.md") == CHINESE
    with pytest.raises(NotFoundError):
        memory.read("memory/2026-01-04.md")


def test_a_dry_run_says_it_all_and_changes_nothing(memory: Memory) -> None:
    before = files(memory.root)
    planned = condense(memory, dry_run=True)
    assert files(memory.root) == before
    done = condense(memory)
    assert [one.path for one in planned.edits] == [one.path for one in done.edits]
    assert [one.diff for one in planned.edits] == [one.diff for one in done.edits]
    assert "decided to use SQLite" in planned.edits[0].diff


def test_twice_is_once_and_undo_brings_all_back(memory: Memory) -> None:
    before = files(memory.root)
    done = condense(memory)
    assert condense(memory).edits == ()
    memory.undo(done.group)
    assert files(memory.root) == before


def test_what_a_person_adds_to_the_month_stays(memory: Memory) -> None:
    condense(memory)
    month = memory.root / "memory/2026-01.md"
    month.write_text(month.read_text("utf-8") + "\nmy own words\n", "utf-8")
    (memory.root / "memory/2026-01-25.md").write_text("# 2026-01-25\n\n- found later\n")
    condense(memory)
    text = month.read_text("utf-8")
    assert "my own words" in text
    assert "found later" in text
    assert text.count("## [2026-01-03](") == 1


def test_a_day_that_came_back_is_left_to_a_person(memory: Memory) -> None:
    condense(memory)
    (memory.root / "memory/2026-01-03.md").write_text("# 2026-01-03\n\n- another one\n")
    before = files(memory.root)
    done = condense(memory)
    assert "memory/2026-01-03.md was not moved" in done.notes[0]
    assert files(memory.root) == before
    assert "another one" in memory.read("memory/2026-01-03.md")


def test_months_wait_until_their_last_day_is_old(root: Path) -> None:
    with Memory.open(root, config=CONFIG) as memory:
        assert condense(memory, now=NOW.replace(month=3, day=31)).edits == ()
    with Memory.open(root, config={**CONFIG, "consolidate": {"condense_days": 1}}) as memory:
        assert condense(memory, now=NOW.replace(month=2, day=2)).edits


def test_proposing_reads_and_writes_nothing(memory: Memory) -> None:
    before = files(memory.root)
    proposal = propose(ScopeView(memory.workspace, NOW))
    assert next(edit.path for edit in proposal.edits) == "memory/2026-01.md"
    assert files(memory.root) == before


def test_a_scope_has_its_own_months(memory: Memory) -> None:
    folder = memory.root / "users/ann/memory"
    folder.mkdir(parents=True)
    (folder / "2026-01-05.md").write_text("- hers\n")
    condense(memory)
    assert (folder / "2026-01.md").read_text().count("## 2026-01-") == 1
    assert "hers" not in (memory.root / "memory/2026-01.md").read_text("utf-8")
    assert memory.read("users/ann/memory/2026-01-05.md") == "- hers\n"


def test_secrets_are_not_copied_into_the_month(memory: Memory) -> None:
    key = "sk-proj-" + "a1B2c3D4" * 6
    (memory.root / "memory/2026-01-04.md").write_text(f"- We decided on the key {key}\n")
    condense(memory)
    assert key not in (memory.root / "memory/2026-01.md").read_text("utf-8")


def test_a_frozen_memory_is_not_changed(root: Path) -> None:
    with Memory.open(root, config=CONFIG) as memory:
        memory.sync()
    with Memory.open(root, config=CONFIG, readonly=True) as frozen:
        with pytest.raises(ReadOnlyError):
            condense(frozen)
        assert condense(frozen, dry_run=True).edits


def model(answer: str) -> FunctionLLM:
    def say(asked: Sequence[Message]) -> str:
        return answer

    entries: list[Entry] = []
    meter = Meter(Budget(100, 10**6), Ledger(entries.append, lambda day: spent_on(day, entries)))
    return from_callable(say, meter=meter)


def test_a_model_may_word_a_day_if_it_keeps_to_it(memory: Memory) -> None:
    good = '{"lines": ["SQLite for the catalogue: it needs no server", "Release date 2026-03-01"]}'
    shown = condense(memory, llm=model(good), dry_run=True)
    assert "- SQLite for the catalogue: it needs no server" in shown.edits[0].diff
    for bad in ('{"lines": ["Release date 2027-09-09"]}', '{"lines": []}', "no idea",
                '{"lines": ["The owner bought a sailing boat in Greece"]}'):  # fmt: skip
        shown = condense(memory, llm=model(bad), dry_run=True)
        assert "decided to use SQLite" in shown.edits[0].diff
        assert "without the language model" in shown.notes[0]


@pytest.mark.parametrize("call", sampled([1, 2, 3, 5, 7, 9, 12, 15], 4))
def test_a_kill_is_completed_by_the_next_run(root: Path, call: int) -> None:
    before = files(root)
    script = textwrap.dedent(f"""
        import os
        from mnemark import Memory
        from tests.memory.test_condense import CONFIG, condense
        count = 0
        real = os.fsync
        def dying(fd):
            global count
            count += 1
            if count == {call}:
                os._exit(9)
            real(fd)
        os.fsync = dying
        with Memory.open({str(root)!r}, config=CONFIG) as memory:
            condense(memory)
    """)
    subprocess.run([sys.executable, "-c", script], check=False, cwd=Path(__file__).parents[2])
    with Memory.open(root, config=CONFIG) as memory:
        condense(memory)
        assert condense(memory).edits == ()
        after = files(root)
        assert after["memory/2026-01.md"].decode().count("## [2026-01-03](") == 1
        assert after["memory/archive/2026-01-03.md"] == before["memory/2026-01-03.md"]
        assert "memory/2026-01-03.md" not in after
        assert not memory.workspace.edits.open()
