"""A value that was replaced is never shown as one that holds, however little time an answer has."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from shutil import rmtree

import pytest

from mnemark.facts import states
from mnemark.facts.visible import PlainWorkspace
from mnemark.files.config import load
from mnemark.files.mounts import accept
from mnemark.memory.memory import Memory
from mnemark.memory.prompt.briefing import briefing
from mnemark.retrieval.fact_index_cache import FactIndexCache
from mnemark.retrieval.refresh import IndexRefresher
from mnemark.retrieval.words import by_words_of
from mnemark.types import Recall
from mnemark_interfaces.tools_read import around, read_lines
from sampled import sampled

ASKED = "which python version do we use"
OLD = re.compile(r"python version\W+3\.10(?! \((?:past|since [0-9-]+; before))")
DEADLINES_MS = (0, 5, 10, 20, 40, 80, 150)


def says_old(found: Recall) -> list[str]:
    """What says that the value before is the one that holds."""
    texts = [found.text, *(hit.text for hit in found.hits), *(hit.snippet for hit in found.hits)]
    return [text for text in texts if OLD.search(text)]


def values(found: Recall) -> list[str]:
    return [hit.text for hit in found.hits if hit.kind == "fact"]


def make(root: Path, *, others: int = 5) -> Path:
    """A workspace whose index knows a fact and others; the fact was not replaced yet."""
    with Memory.open(root) as memory:
        said = [
            {"predicate": f"setting {number}", "value": "on", "subject": "project", "since": "2026-01-01"}
            for number in range(others)
        ]
        said.append({"predicate": "python version", "value": "3.10", "since": "2026-01-01"})
        memory.remember_many(said)
        memory.session("cli:main").add("user", "We talked about the python in the zoo and its version.")
        memory.sync()
    return root


def replace_it(root: Path) -> None:
    """As another process does."""
    with Memory.open(root) as memory:
        memory.remember("python version", "3.12", since="2026-02-20")


def keep_busy(path: Path) -> None:
    """As if someone were saving it, for as long as the test lasts."""
    path.write_bytes(path.read_bytes() + b"\n")
    later = time.time() + 3_600
    os.utime(path, (later, later))


def replace_while_the_file_is_busy(root: Path) -> None:
    """Only the journal knows: someone is saving the file."""
    path = root / "memory" / "facts" / "user.md"
    keep_busy(path)
    with Memory.open(root) as memory:
        memory.remember("python version", "3.12", since="2026-02-20")
        assert b"3.12" not in path.read_bytes()


def replace_in_another_wording(root: Path) -> None:
    with Memory.open(root) as memory:
        memory.remember("Python Version", "3.12", since="2026-02-20")


def edit_by_hand(root: Path) -> None:
    for path in (root / "memory" / "facts").glob("*.md"):
        path.write_bytes(path.read_bytes().replace(b"3.10", b"3.12"))


def add_by_hand(root: Path) -> None:
    """A second bullet without a comment, and the first one struck through."""
    for path in (root / "memory" / "facts").glob("*.md"):
        text = path.read_text("utf-8")
        if "3.10" in text:
            struck = re.sub(r"- (\*\*python version\*\*: 3\.10)", r"- ~~\1~~", text)
            path.write_text(struck + "- **python version**: 3.12\n", "utf-8")


def in_another_file_by_hand(root: Path) -> None:
    bullet = "- **python version**: 3.12 <!-- subject: user | since: 2026-02-20 -->\n"
    (root / "memory" / "facts" / "imported.md").write_text(f"# Imported\n\n{bullet}", "utf-8")


def remove_the_file(root: Path) -> None:
    for path in (root / "memory" / "facts").glob("*.md"):
        if b"3.10" in path.read_bytes():
            path.unlink()


CHANGES: list[Callable[[Path], None]] = [
    replace_it,
    replace_while_the_file_is_busy,
    replace_in_another_wording,
    edit_by_hand,
    add_by_hand,
    in_another_file_by_hand,
    remove_the_file,
]


@pytest.fixture
def slow_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Facts that are never read by the deadline."""
    monkeypatch.setattr(FactIndexCache, "_build_async", lambda *_: None)


@pytest.fixture
def stale_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """An index that does not follow the files in time."""
    monkeypatch.setattr(IndexRefresher, "freshen", lambda _: None)


def recalled(root: Path, *, deadline: float = 0.6, readonly: bool = False) -> Recall:
    with Memory.open(root, readonly=readonly) as memory:
        return memory.recall(ASKED, deadline=deadline)


@pytest.mark.usefixtures("slow_facts")
def test_without_the_facts_the_value_that_holds_is_found_all_the_same(tmp_path: Path) -> None:
    root = make(tmp_path)
    replace_it(root)
    with Memory.open(root) as memory:
        memory.sync()
    found = recalled(root)
    assert values(found)[:1] == ["python version: 3.12"]
    assert not says_old(found)
    assert not found.complete
    assert any(reason.startswith("facts: ") for reason in found.degraded)


@pytest.mark.usefixtures("slow_facts")
def test_where_nothing_changed_no_fact_is_lost(tmp_path: Path) -> None:
    root = make(tmp_path)
    assert "python version: 3.10" in values(recalled(root))
    with Memory.open(root) as memory:  # what an agent does all day says nothing about facts
        session = memory.session("cli:other")
        session.observe("exec", {"command": "make"}, "python 3.10 was used")
        session.add("user", "and another turn")
    assert "python version: 3.10" in values(recalled(root))
    assert "python version: 3.10" in [hit.text for hit in by_words_of(root, ASKED).hits]
    with Memory.open(root) as memory:  # nor does a fact about something else
        memory.remember("shell", "fish")
    assert "python version: 3.10" in values(recalled(root))
    assert "python version: 3.10" in [hit.text for hit in by_words_of(root, ASKED).hits]


@pytest.mark.usefixtures("slow_facts", "stale_index")
@pytest.mark.parametrize("change", CHANGES)
def test_an_index_of_before_does_not_show_what_was_replaced(
    tmp_path: Path, change: Callable[[Path], None]
) -> None:
    root = make(tmp_path)
    change(root)
    assert not says_old(recalled(root))
    assert not says_old(by_words_of(root, ASKED))
    assert not says_old(recalled(root, readonly=True))


@pytest.mark.usefixtures("slow_facts")
@pytest.mark.parametrize("change", CHANGES)
def test_nor_does_an_index_that_follows(tmp_path: Path, change: Callable[[Path], None]) -> None:
    root = make(tmp_path)
    change(root)
    with Memory.open(root) as memory:
        memory.workspace.searcher.refresher.sync(progress=None, wait=10, embed=False)  # the index alone
    assert not says_old(recalled(root))
    assert not says_old(by_words_of(root, ASKED))


@pytest.mark.usefixtures("stale_index")
@pytest.mark.parametrize("change", CHANGES)
def test_with_the_facts_read_a_bullet_of_before_is_not_shown(
    tmp_path: Path, change: Callable[[Path], None]
) -> None:
    root = make(tmp_path)
    change(root)
    with Memory.open(root) as memory:
        found = memory.search(ASKED, k=20)
        block = memory.recall(ASKED, deadline=20, k=20)
    assert not says_old(found)
    assert not says_old(block)
    if change is not remove_the_file:
        assert any("3.12" in text for text in values(found))


@pytest.mark.parametrize("change", CHANGES)
def test_facts_read_before_are_no_excuse(
    tmp_path: Path, change: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make(tmp_path)
    with Memory.open(root) as memory:
        assert memory.recall(ASKED, deadline=20).hits
        monkeypatch.setattr(FactIndexCache, "_build_async", lambda *_: None)
        monkeypatch.setattr(IndexRefresher, "freshen", lambda _: None)
        change(root)
        assert not says_old(memory.recall(ASKED, deadline=0.6))


@pytest.mark.usefixtures("slow_facts")
def test_facts_of_which_nothing_is_known_are_left_out(tmp_path: Path) -> None:
    root = make(tmp_path)
    rmtree(root / ".mnemark" / states.KEPT_IN)
    assert not values(recalled(root))
    assert by_words_of(root, "setting").hits == ()
    damaged = root / ".mnemark" / states.KEPT_IN
    with Memory.open(root) as memory:
        memory.sync()
    for path in damaged.iterdir():
        path.write_bytes(b"no such thing")
    assert not values(recalled(root))


@pytest.mark.usefixtures("slow_facts")
def test_what_was_undone_or_ends_by_itself_is_not_shown(tmp_path: Path) -> None:
    root = make(tmp_path)
    replace_it(root)
    with Memory.open(root) as memory:
        memory.sync()
        memory.undo()
    assert not any("3.12" in text for text in values(recalled(root)))
    for path in (root / "memory" / "facts").glob("*.md"):
        text = path.read_text("utf-8").replace("since: 2026-01-01", "until: 2026-01-02 | since: 2026-01-01")
        path.write_text(text, "utf-8")
    with Memory.open(root) as memory:
        memory.sync()
    assert not says_old(recalled(root))
    assert not says_old(by_words_of(root, ASKED))


def end_by_hand(root: Path, until: str) -> None:
    for path in (root / "memory" / "facts").glob("*.md"):
        ended = f"until: {until} | since: 2026-01-01"
        text = re.sub(r"(?:until: \S+ \| )?since: 2026-01-01", ended, path.read_text("utf-8"))
        path.write_text(text, "utf-8")


@pytest.mark.usefixtures("slow_facts", "stale_index")
def test_an_end_that_was_brought_forward_by_hand_is_seen(tmp_path: Path) -> None:
    root = make(tmp_path)
    end_by_hand(root, "2099-01-01")
    with Memory.open(root) as memory:
        memory.sync()
    assert says_old(recalled(root))
    end_by_hand(root, "2099-03-01")
    assert says_old(recalled(root)), "it holds today, whichever of the two is right"
    assert says_old(by_words_of(root, ASKED))
    end_by_hand(root, "2026-01-02")
    assert not says_old(recalled(root))
    assert not says_old(by_words_of(root, ASKED))


@pytest.mark.usefixtures("slow_facts")
def test_a_mount_keeps_to_it_too(tmp_path: Path) -> None:
    other, root = make(tmp_path / "other"), tmp_path / "own"
    root.mkdir()
    accept(root, "other", other)
    with Memory.open(root) as memory:
        assert "python version: 3.10" in values(memory.search(ASKED))[0]
    replace_it(other)
    with Memory.open(root) as memory:
        found = memory.recall(ASKED, deadline=2)
    assert not says_old(found)


@pytest.fixture
def core(tmp_path: Path) -> Path:
    """A workspace whose MEMORY.md and USER.md say what the facts say."""
    root = make(tmp_path, others=1)
    with Memory.open(root) as memory:
        memory.remember("python version", "3.10", subject="project", since="2026-01-01")
        memory.consolidate(force=True)
        memory.sync()
    said = (root / "MEMORY.md").read_text("utf-8") + (root / "USER.md").read_text("utf-8")
    assert said.count("python version: 3.10") == 2
    for path in root.rglob("*.md"):  # nobody is saving them
        os.utime(path, (time.time() - 60, time.time() - 60))
    with Memory.open(root) as memory:
        memory.sync()
    return root


def test_core_memory_says_at_once_no_more_what_was_replaced(core: Path) -> None:
    with Memory.open(core) as memory:
        memory.remember("python version", "3.12", subject="project")
        memory.remember("python version", "3.12")
    assert "3.10" not in (core / "MEMORY.md").read_text("utf-8")
    assert "3.10" not in (core / "USER.md").read_text("utf-8")


def _edit_core_facts(root: Path) -> None:
    edit_by_hand(root)


def _say_in_the_journal_only(root: Path) -> None:
    for path in (root / "MEMORY.md", root / "USER.md", *(root / "memory" / "facts").glob("*.md")):
        keep_busy(path)
    with Memory.open(root) as memory:
        memory.remember("python version", "3.12", subject="project")
        memory.remember("python version", "3.12")


@pytest.mark.parametrize("change", [_edit_core_facts, _say_in_the_journal_only])
def test_entries_of_core_memory_are_not_shown_either(
    core: Path, change: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    change(core)
    assert "python version: 3.10" in (core / "USER.md").read_text("utf-8")
    now = datetime.now().astimezone()
    assert "3.10" not in briefing(PlainWorkspace(core, load(core)), now).text
    with Memory.open(core) as memory:
        assert "3.10" not in memory.context()
        assert not says_old(memory.search("python version", k=20))
    monkeypatch.setattr(FactIndexCache, "_build_async", lambda *_: None)
    assert not says_old(recalled(core))
    assert not says_old(by_words_of(core, "python version"))


def test_a_fact_of_the_archive_says_what_holds_by_now(tmp_path: Path) -> None:
    root = make(tmp_path)
    here, there = (root / "memory" / folder / "user.md" for folder in ("facts", "archive/facts"))
    there.parent.mkdir(parents=True)
    here.rename(there)
    with Memory.open(root) as memory:
        memory.sync()
        archived = [hit for hit in memory.search(ASKED, archived=True).hits if "archive" in hit.path]
        assert [hit.text for hit in archived] == ["python version: 3.10"]
        memory.remember("python version", "3.12")
        memory.sync()
        found = memory.search(ASKED, archived=True, k=20)
    assert "python version: 3.10 (archived; now: 3.12)" in [hit.text for hit in found.hits]
    assert not any(OLD.search(hit.text) and "archived" not in hit.text for hit in found.hits)


def test_lines_that_a_model_reads_say_that_they_are_past(core: Path) -> None:
    _say_in_the_journal_only(core)
    with Memory.open(core) as memory:
        for path in ("memory/facts/user.md", "USER.md"):
            text = read_lines(memory, path, None, None)["text"]
            line = next(line for line in text.splitlines() if "3.10" in line)
            assert line.endswith(" (past)"), path
        beside = [row["text"] for row in around(memory, "memory/facts/user.md#L3", before=3, after=3)]
    assert any("3.10" in line for line in beside)
    assert all(line.endswith("(past)") for line in beside if "3.10" in line)


def test_by_any_deadline_in_a_memory_just_opened(tmp_path: Path) -> None:
    root = make(tmp_path, others=60)
    replace_it(root)
    answered = 0
    for deadline in DEADLINES_MS:
        for _ in range(5):
            found = recalled(root, deadline=deadline / 1000)
            assert not says_old(found), deadline
            answered += bool(found.hits)
    assert answered


_PROGRAM = """
import sys
from mnemark.memory.memory import Memory
with Memory.open(sys.argv[1]) as memory:
    found = memory.recall(sys.argv[2], deadline=float(sys.argv[3]))
    print(found.text, *(hit.text for hit in found.hits), sep="\\n")
"""


@pytest.mark.parametrize("deadline", sampled([0.02, 0.15, 0.6], 2))
def test_by_any_deadline_in_a_fresh_process(tmp_path: Path, deadline: float) -> None:
    root = make(tmp_path, others=60)
    replace_it(root)
    arguments = [sys.executable, "-c", _PROGRAM, str(root), ASKED, str(deadline)]
    for _ in range(3):
        said = subprocess.run(arguments, check=True, capture_output=True, text=True).stdout
        assert not OLD.search(said)
