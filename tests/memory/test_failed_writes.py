"""A write that fails, or a disk that stays full: what is said of it is true, at any call of the file layer.

Either it is done and nothing is raised, or it is refused and nothing of it was kept, or the message says that
it may be there. What it left to a later sync is done by the second one.
"""

import shutil
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from faults.layer import Fault, FaultyFileSystem
from faults.logical import LEXICAL
from memory.erasing import old
from mnemark.errors import IncompleteError, MnemarkError
from mnemark.files import platform
from mnemark.memory import file_edits
from mnemark.memory.memory import Memory
from sampled import sampled

SAID = "the heron stands in the river"
_EDITED = "memory/2026-02-14.md"


def _turns(memory: Memory, session: str) -> int:
    return [turn.content for turn in memory.session(session).last(50)].count(SAID)


def _values(memory: Memory, predicate: str, value: str) -> int:
    return [fact.value for fact in memory.facts() if fact.predicate == predicate].count(value)


def _proposal(memory: Memory) -> str:
    return next(one.id for one in memory.review() if one.what == "proposal")


def _lines(memory: Memory, kind: str) -> int:
    return sum(file.read_text("utf-8").count(f'"kind":"{kind}"') for file in memory.root.glob("journal/*"))


def _fact(memory: Memory, predicate: str) -> str:
    return next(fact.id for fact in memory.facts() if fact.predicate == predicate)


def _text(memory: Memory) -> str:
    file = memory.root / _EDITED
    return file.read_text("utf-8") if file.exists() else ""


def _planted(memory: Memory) -> str:
    return next(one.id for one in memory.workspace.edits.entries() if one.step == "planted")


def _edit(memory: Memory) -> Callable[[], Any]:
    return lambda: file_edits.write(memory.workspace, _EDITED, lambda text: f"{text}- {SAID}\n", step="test")


_Operation = tuple[Callable[[Memory], Callable[[], Any]], Callable[[Memory], int]]
OPERATIONS: dict[str, _Operation] = {
    "add": (lambda m: partial(m.session("cli:main").add, "user", SAID), lambda m: _turns(m, "cli:main")),
    "first turn": (lambda m: partial(m.session("cli:new").add, "user", SAID), lambda m: _turns(m, "cli:new")),
    "observe": (
        lambda m: partial(m.session("cli:main").observe, "exec", {"command": "touch heron.txt"}, "ok"),
        lambda m: _lines(m, "observe"),
    ),
    "remember": (lambda m: partial(m.remember, "bird", SAID), lambda m: _values(m, "bird", SAID)),
    "change": (lambda m: partial(m.remember, "city", "Bergen"), lambda m: _values(m, "city", "Bergen")),
    "propose": (
        lambda m: partial(m.remember, "bird", SAID, origin="web"),
        lambda m: sum(one.fact.value == SAID for one in m.review()),
    ),
    "accept": (lambda m: partial(m.accept, _proposal(m)), lambda m: _values(m, "pet", "an otter")),
    "reject": (
        lambda m: partial(m.reject, _proposal(m)),
        lambda m: int(not any(one.what == "proposal" for one in m.review())),
    ),
    "undo": (lambda m: partial(m.undo, _fact(m, "colour")), lambda m: 1 - _values(m, "colour", "blue")),
    "pin": (lambda m: partial(m.pin, _fact(m, "colour")), lambda m: _lines(m, "pin")),
    "hide": (
        lambda m: partial(m.forget, query="the tapir is shy"),
        lambda m: int("the tapir is shy" not in [turn.content for turn in m.session("cli:main").last(50)]),
    ),
    "edit": (_edit, lambda m: _text(m).count(SAID)),
    "undo of an edit": (lambda m: partial(m.undo, _planted(m)), lambda m: 1 - _text(m).count("planted line")),
}
_FAULTS: dict[str, tuple[Fault, bool]] = {
    "full once": ("ENOSPC", False),
    "full for ever": ("ENOSPC", True),
    "failing": ("EIO", False),
    "closed": ("EACCES", False),
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("template") / "w"
    (root / "memory").mkdir(parents=True)
    with Memory.open(root, config=LEXICAL) as memory:
        memory.session("cli:main").add("user", "I moved to Lisbon last week")
        memory.session("cli:main").add("user", "the tapir is shy")
        memory.remember("city", "Oslo")
        memory.remember("pet", "an otter", origin="web")
        memory.remember("colour", "blue")
        file_edits.write(memory.workspace, _EDITED, lambda _: "# Day\n\n- planted line\n", step="planted")
        memory.sync()
    _quiet(root)
    return root


def _quiet(root: Path) -> None:
    for path in root.rglob("*.md"):
        old(path)


def _strike(root: Path, name: str, layer: FaultyFileSystem) -> Exception | None:
    """Do an operation with a fault, once the memory is open; return what it raised."""
    before = platform.FS
    with Memory.open(root, config=LEXICAL) as memory:
        work = OPERATIONS[name][0](memory)
        platform.FS = layer
        try:
            done = work()
        except (MnemarkError, OSError) as error:
            return error
        finally:
            platform.FS = before
    nothing = getattr(done, "action", "") == "nothing"  # found, as a file could not be searched: it says so
    return MnemarkError(f"nothing: {done.still}") if nothing and done.still else None


def _effect(root: Path, name: str, *, syncs: int = 0) -> int:
    for _ in range(syncs):
        _quiet(root)
        with Memory.open(root, config=LEXICAL) as memory:
            memory.sync()
            assert memory.workspace.unfinished(9) == []
    with Memory.open(root, config=LEXICAL) as memory:
        return OPERATIONS[name][1](memory)


@pytest.mark.parametrize(("fault", "name"), sampled(product(_FAULTS, OPERATIONS), 5))
@pytest.mark.parametrize(
    "step", [pytest.param(0, id="some"), pytest.param(1, id="all", marks=pytest.mark.slow)]
)
def test_what_is_said_of_a_failed_write_is_true(
    template: Path, tmp_path: Path, name: str, fault: str, step: int
) -> None:
    whole = FaultyFileSystem(reads=True)
    shutil.copytree(template, tmp_path / "whole")
    assert _effect(tmp_path / "whole", name) == 0
    assert _strike(tmp_path / "whole", name, whole) is None
    assert _effect(tmp_path / "whole", name, syncs=2) == 1
    kind, forever = _FAULTS[fault]
    for at in range(0, whole.calls, step or max(whole.calls // 5, 1)):
        root = tmp_path / "run"
        shutil.copytree(template, root)
        raised = _strike(root, name, FaultyFileSystem(at, kind, reads=True, forever=forever))
        now, after = _effect(root, name), _effect(root, name, syncs=2)
        said = (name, fault, at, str(raised))
        if isinstance(raised, IncompleteError) or "may be there or not" in str(raised):
            assert forever or after == 1, said
        else:
            done = int(raised is None)
            assert after == done, said
            # An edit of a text is made by a later sync where its file could not be changed.
            assert now == done or (now, done) == (0, 1), said
        shutil.rmtree(root)
