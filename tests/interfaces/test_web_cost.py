"""What pages cost as a memory grows: processor time by ratio, so that the machine does not count."""

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

pytest.importorskip("jinja2")

from mnemark import Memory
from mnemark.files.scan import scan
from mnemark.present.words import Words
from mnemark.retrieval import refresh
from mnemark_faces.web.at import At, PageContent
from mnemark_faces.web.pages import PAGES
from mnemark_faces.web.render import page
from mnemark_interfaces.http.door import BrowserSession

pytestmark = pytest.mark.timed

FEW: Final = 150
TIMES: Final = 4
MOST: Final = {
    "": 1.7, "changes": 0.3, "review": 0.1, "health": 0.3, "timeline": 0.3, "facts": 0.3, "prompt": 0.8,
}  # fmt: skip
"""What pages may cost, in lists of the whole folder. Today makes one, in a folder where that is quick."""


def grow(root: Path, size: int) -> Memory:
    """Make a memory of `size` sessions, twice as many facts, and ten times as many notes."""
    (root / "mnemark.toml").write_text('embedder = "none"\n', "utf-8")
    for number in range(10 * size):
        folder = root / "notes" / str(number % 10)
        folder.mkdir(parents=True, exist_ok=True)
        text = f"# Note {number}\n\nA zebra of number {number}.\n"
        (folder / f"note-{number}.md").write_text(text, "utf-8")
    memory = Memory.open(root)
    at = memory.workspace.now() - timedelta(days=20)
    for number in range(size):
        log = memory.session(f"chat:{number}")
        log.add_many([log.turn("user", f"turn {number}", time=at + timedelta(minutes=number))])
    facts = [(f"thing {n}", f"value {n}", f"zebra {n % 50}") for n in range(2 * size)]
    memory.remember_many([{"predicate": what, "value": value, "subject": who} for what, value, who in facts])
    memory.sync()
    return memory


def least(works: Mapping[Any, Callable[[], object]]) -> dict[Any, float]:
    """Return the least processor time of some runs of each, in turn, so that a busy moment counts for all."""
    found = dict.fromkeys(works, float("inf"))
    for _ in range(7):
        for name, work in works.items():
            begin = time.process_time()
            work()
            found[name] = min(found[name], time.process_time() - begin)
    return found


def shown(memory: Memory, name: str) -> str:
    at = At(memory, "/ui/w/x", BrowserSession(0.0), Words("en"), query={}, page=name)
    made = PAGES[name](at)
    assert isinstance(made, PageContent)
    return page(made.template, at, {"here": name, "waiting": 0, **made.values})


def test_a_page_costs_less_than_looking_at_every_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a page costs more in a larger memory is measured by what listing its folder costs more.

    Listing counts as quick in both: else how long a sync took decides whether Today makes a list.
    """
    monkeypatch.setattr(refresh, "_QUICK_SECONDS", 60.0)
    works: dict[tuple[int, str], Callable[[], object]] = {}
    with ExitStack() as stack:
        for size in (FEW, FEW * TIMES):
            root = tmp_path / str(size)
            root.mkdir()
            memory = stack.enter_context(grow(root, size))
            works |= {(size, name): partial(shown, memory, name) for name in MOST}
            works[size, "scan"] = partial(scan, root)
        times = least(works)
    grown = {name: times[FEW * TIMES, name] - times[FEW, name] for name in (*MOST, "scan")}
    parts = {name: round(grown[name] / grown["scan"], 2) for name in MOST}
    assert {name: part for name, part in parts.items() if part > MOST[name]} == {}, parts
