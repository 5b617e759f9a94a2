"""Screens as they were looked at, at two sizes: `MNEMARK_SCREENS=write pytest …` stores them anew."""

import os
from pathlib import Path

import pytest

from mnemark import Memory
from mnemark.files.workspace import Workspace
from mnemark.retrieval import refresh

from .conftest import AT, say
from .seat import USUAL, WIDE, Seat, sit

pytest.importorskip("textual")
STORED = Path(__file__).parent / "screens"
SCREENS = {
    "timeline": ("2",),
    "search": ("1", *"harbour", "enter"),
    "facts": ("3",),
    "review": ("4",),
    "keys": ("question_mark",),
}
_FACTS = """# Ann

- **city**: Lisbon <!-- id: 01KJ0000000000000000000001 | since: 2026-02-01 -->
- **常用编辑器**: Helix <!-- id: 01KJ0000000000000000000002 | since: 2026-02-02 -->
"""


def fill(memory: Memory, *, facts: bool) -> None:
    """A memory in which nothing depends on the time of the test."""
    say(memory, "travel", "The walrus lives in the harbour of Lisbon.", "我们下周去杭州看西湖。")
    say(memory, "work", "The harbour pages go out on Thursday.", days=-1)
    if facts:  # that they were noticed is a change of now
        folder = memory.root / "memory" / "facts"
        folder.mkdir(parents=True)
        (folder / "user.md").write_text(_FACTS, "utf-8")
    memory.sync()


def shown(at: Seat) -> str:
    """The screen without its first line, which names the folder."""
    return "\n".join(line.rstrip() for line in at.lines[1:]) + "\n"


@pytest.mark.parametrize("size", [USUAL, WIDE], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", SCREENS)
def test_a_screen_is_as_it_was(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, name: str, size: tuple[int, int]
) -> None:
    for limit in ("_QUICK_SECONDS", "FRESH_SECONDS"):  # a search of a slow machine says what may be missing
        monkeypatch.setattr(refresh, limit, 60.0)
    monkeypatch.setattr(Workspace, "now", lambda _: AT)  # days of this year are told without it
    fill(memory, facts=name == "facts")
    stored = STORED / f"{name}-{size[0]}x{size[1]}.txt"

    async def job(at: Seat) -> None:
        await at.press(*SCREENS[name])
        if os.environ.get("MNEMARK_SCREENS") == "write":
            STORED.mkdir(exist_ok=True)
            stored.write_text(shown(at), "utf-8")
        assert shown(at) == stored.read_text("utf-8")

    sit(memory.root, job, size=size)
