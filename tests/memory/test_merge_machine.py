"""Machines that work on copies of one memory have, once all have merged all, the same memory, and all of it.

A failure prints the history, a line for each step, and which promise was broken:

equal          the files of all machines are the same, byte for byte, and another merge changes nothing
nothing lost   turns, facts, lines of notes and attachments are there, but for what somebody removed
nothing twice  a turn stands once in its log
erased         no file holds a byte of what was erased, nor has it in its name, but where a merge said so
contradictions all know the same facts, and wait for the same decisions, each once
equal answers  a search finds the same
"""

import itertools
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from memory.machines import Machines
from mnemark.errors import NotFoundError, UsageError
from mnemark.memory.merging.merge import AGAIN, Merged
from sampled import examples

NAMES: Final = ("laptop", "desktop", "stick")
SAID: Final = (
    "Let us talk about {}.",
    "I live in Oslo now, {}.",
    "I moved to Rome last week, {}.",
    "My favourite editor is Helix, {}.",
    "We decided to use SQLite for {}.",
)
FACTS: Final = (
    ("city", "Paris"),
    ("city", "Rome"),
    ("name", "Anna"),
    ("editor", "vim"),
    ("editor", "emacs"),
    ("hobby", "chess"),
    ("hobby", "tennis"),
)
QUERIES: Final = ("plan milk", "where does she live", "editor")
ROUNDS: Final = 4
SHM: Final = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
"""Memory instead of a disk, where there is such a folder: half of the time is spent on waiting for it."""

machines = st.sampled_from(NAMES)
lines = st.integers(0, 7)


@cache
def beginning() -> Path:
    """Return a folder with the memory that all machines begin with."""
    base = Path(tempfile.mkdtemp(dir=SHM))
    one = Machines(base, ("base",))
    try:
        for path, text in {
            "MEMORY.md": "# Memory\n\nWritten by hand.\n",
            "notes/plan.md": "# Plan\n\n- buy milk\n- call Bob\n\nport: 80\n\nThe end.\n",
        }.items():
            one.save("base", path, text.encode())
        with one.opened("base") as memory:
            memory.session("cli:main").add("user", "Hello, this is the plan of zq0wx.")
            memory.session("cli:main").add("assistant", "Noted: zq0wx.")
            for predicate, value in (("city", "Berlin"), ("name", "Ann"), ("hobby", "piano")):
                memory.remember(predicate, value)
            memory.sync()
    finally:
        one.close()
    return base / "base"


class Memories(RuleBasedStateMachine):
    """Two or three machines, what is done on them, and what carries it from one to another."""

    def __init__(self) -> None:
        super().__init__()
        self.base = Path(tempfile.mkdtemp(dir=SHM))
        shutil.copytree(beginning(), self.base / "base")
        self.all = Machines(self.base, NAMES)
        self.history: list[str] = []
        self.numbers = itertools.count(1)
        self.failed = False
        self.turns: set[str] = set()
        self.facts: set[str] = set()
        self.written: set[bytes] = {
            b"- buy milk",
            b"- call Bob",
            b"port: 80",
            b"The end.",
            b"Written by hand.",
        }
        """Lines of notes, and attachments, that nobody removed."""
        self.secrets = ["zq0wx"]
        self.erased: dict[str, str] = {}
        """Erased words, and the id of their erasure."""
        self.exchanged: dict[frozenset[str], dict[str, bytes]] = {}

    @initialize(count=st.sampled_from([2, 3]))
    def begin(self, count: int) -> None:
        self.all.names = NAMES[:count]
        for name in self.all.names:
            self.all.clone(name, "base")
        for one, other in itertools.combinations(self.all.names, 2):
            self.exchanged[frozenset({one, other})] = self.all.files(one)

    @contextmanager
    def step(self, name: str, what: str) -> Iterator[None]:
        self.history.append(f"{name}: {what}")
        try:
            yield
        except BaseException as error:
            self.failed = True
            error.add_note(self.told())
            raise

    def told(self) -> str:
        return "\n".join(["History:", *self.history])

    def here(self, name: str) -> str:
        return name if name in self.all.names else self.all.names[0]

    def pair(self, name: str, other: str) -> tuple[str, str]:
        name, other = self.here(name), self.here(other)
        if name == other:
            other = self.all.names[(self.all.names.index(name) + 1) % len(self.all.names)]
        return name, other

    # --- what agents do

    @rule(name=machines, own=st.booleans(), said=st.sampled_from(SAID))
    def turn(self, name: str, own: bool, said: str) -> None:  # noqa: FBT001
        name = self.here(name)
        session = f"cli:{name}" if own else "cli:main"
        text = said.format(f"alpha-{next(self.numbers)}")
        with self.step(name, f"turn {session} {text!r}"), self.all.opened(name) as memory:
            self.turns.add(memory.session(session).add("user", text).id)

    @rule(name=machines)
    def secret(self, name: str) -> None:
        name, word = self.here(name), f"zq{next(self.numbers)}wx"
        with self.step(name, f"turn cli:main with {word}"), self.all.opened(name) as memory:
            self.turns.add(memory.session("cli:main").add("user", f"The number is {word}, for Bob.").id)
        self.secrets.append(word)

    @rule(name=machines, fact=st.sampled_from(FACTS))
    def remember(self, name: str, fact: tuple[str, str]) -> None:
        name = self.here(name)
        with self.step(name, f"remember {fact[0]}: {fact[1]}"), self.all.opened(name) as memory:
            self.facts.add(memory.remember(*fact).id)

    @rule(name=machines, own=st.booleans())
    def end(self, name: str, own: bool) -> None:  # noqa: FBT001
        name = self.here(name)
        session = f"cli:{name}" if own else "cli:main"
        with self.step(name, f"end {session}"), self.all.opened(name) as memory:
            memory.session(session).end()

    @rule(name=machines)
    def consolidate(self, name: str) -> None:
        name = self.here(name)
        with self.step(name, "consolidate"), self.all.opened(name) as memory:
            memory.consolidate(force=True)

    @rule(name=machines)
    def sync(self, name: str) -> None:
        name = self.here(name)
        with self.step(name, "sync"), self.all.opened(name) as memory:
            memory.sync()

    # --- what people do

    @rule(name=machines, what=st.sampled_from(["insert", "change", "delete", "quote"]), at=lines)
    def edit_note(self, name: str, what: str, at: int) -> None:
        name = self.here(name)
        path = next((one for one in self.all.files(name) if one.startswith("notes/plan")), "")
        if not path:
            return
        number = next(self.numbers)
        old = self.all.data(name, path).split(b"\n")
        at = min(at, len(old) - 1)
        word = self.known_word(name) if what == "quote" else ""
        if what == "quote" and not word:
            return
        new = {
            "insert": [*old[:at], b"- line %d" % number, *old[at:]],
            "change": [*old[:at], b"%b (%d)" % (old[at], number), *old[at + 1 :]],
            "delete": [*old[:at], *old[at + 1 :]],
            "quote": [*old[:at], b"- line %d of %b" % (number, word.encode()), *old[at:]],
        }[what]
        with self.step(name, f"{what} line {at + 1} of {path}, number {number}"):
            self.all.save(name, path, b"\n".join(new))
        self.written -= set(old) - set(new)
        self.written |= {b"- line %d" % number} if what == "insert" else set()

    def known_word(self, name: str) -> str:
        """Return the last secret that somebody can still read there: what is written later is new."""
        said = b"\n".join(data for path, data in self.all.files(name).items() if path.startswith("sessions/"))
        return next((word for word in reversed(self.secrets) if word.encode() in said), "")

    @rule(name=machines, what=st.sampled_from(["change", "delete", "strike", "add"]), at=lines)
    def edit_fact(self, name: str, what: str, at: int) -> None:
        name, path, number = self.here(name), "memory/facts/user.md", next(self.numbers)
        old = self.all.data(name, path).decode().split("\n")
        bullets = [at for at, line in enumerate(old) if line.startswith("- **")]
        if what == "add":
            new = [*old[:-1], f"- team: red-{number}", *old[-1:]]
        elif bullets:
            chosen = bullets[at % len(bullets)]
            words, mark, comment = old[chosen].partition(" <!--")
            line = {
                "change": [f"{words}-{number}{mark}{comment}"],
                "strike": [f"- ~~{words[2:]}~~{mark}{comment}"],
                "delete": [],
            }[what]
            new = [*old[:chosen], *line, *old[chosen + 1 :]]
        else:
            return
        with self.step(name, f"{what} bullet {at} of {path}, number {number}"):
            self.all.save(name, path, "\n".join(new).encode())

    @rule(name=machines)
    def rename(self, name: str) -> None:
        name = self.here(name)
        old, new = "notes/plan.md", "notes/plan-b.md"
        if not self.all.data(name, old):
            old, new = new, old
        if self.all.data(name, old) and not self.all.data(name, new):
            with self.step(name, f"rename {old} to {new}"), self.all.at(name):
                (self.all.root(name) / old).rename(self.all.root(name) / new)

    @rule(name=machines, file=st.sampled_from(["photo", "own"]))
    def attach(self, name: str, file: str) -> None:
        name = self.here(name)
        path = "files/photo.png" if file == "photo" else f"files/{name}.png"
        data = b"\x89PNG\0\1\2 %d" % next(self.numbers)
        with self.step(name, f"save {path}"):
            self.written -= {self.all.data(name, path)}
            self.all.save(name, path, data)
        self.written.add(data)

    @rule(name=machines, at=lines)
    def hide(self, name: str, at: int) -> None:
        name = self.here(name)
        with self.all.opened(name) as memory:
            said = [turn.turn for turn in memory.turns() if "zq" not in turn.turn.content]
            if not said:
                return
            chosen = said[at % len(said)]
            with self.step(name, f"forget turn {chosen.content!r}"):
                memory.forget(id=chosen.id)

    @rule(name=machines, at=lines)
    def erase(self, name: str, at: int) -> None:
        name = self.here(name)
        found = b"\n".join(self.all.files(name).values())
        words = [word for word in self.secrets if word.encode() in found and word not in self.erased]
        if not words:
            return
        word = words[at % len(words)]
        with self.step(name, f"erase {word}"), self.all.opened(name) as memory:
            receipt = memory.forget(query=word, erase=True)
        if receipt.items:
            self.erased[word] = receipt.id

    @rule(name=machines)
    def undo(self, name: str) -> None:
        name = self.here(name)
        with self.step(name, "undo"), self.all.opened(name) as memory:
            try:
                undone = memory.undo()
            except (NotFoundError, UsageError) as error:
                self.history[-1] += f" ({str(error)[:40]})"
            else:
                self.history[-1] += f" ({', '.join(one.what for one in undone)})"

    # --- what carries files

    @rule(name=machines, other=machines)
    def merge(self, name: str, other: str) -> None:
        name, other = self.pair(name, other)
        with self.step(name, f"merge from {other}"):
            self.heed(name, self.all.merge(name, other))

    @rule(name=machines, other=machines, at=st.integers(0, 60))
    def killed(self, name: str, other: str, at: int) -> None:
        name, other = self.pair(name, other)
        with self.step(name, f"merge from {other}, killed at {at}"):
            self.all.killed_merge(name, other, at)

    @rule(name=machines, other=machines)
    def copy(self, name: str, other: str) -> None:
        """What is older is overwritten, and may be lost by that: it is no longer asked for."""
        name, other = self.pair(name, other)
        with self.step(name, f"copy newer files from {other}"), self.unheard(name):
            copied = self.all.copy_newer(name, other)
            self.history[-1] += f": {', '.join(copied)}"
        self.overwritten()

    @contextmanager
    def unheard(self, name: str) -> Iterator[None]:
        """Note the words that a machine can find no more: a log came in which their turn is erased already.

        Quotations by hand stay there then: nobody has the words to look for.
        """
        before = {word for word in self.erased if self.says(name, word)}
        yield
        lost = {word for word in before if not self.says(name, word)}
        self.erased = {word: one for word, one in self.erased.items() if word not in lost}

    def says(self, name: str, word: str) -> bool:
        """Whether a log of a machine still has a word."""
        logs = (data for path, data in self.all.files(name).items() if path.startswith("sessions/"))
        return any(word.encode() in data for data in logs)

    def overwritten(self) -> None:
        every = [data for name in self.all.names for data in self.all.files(name).values()]
        together = b"\n".join(every)
        logs = b"\n".join(
            data
            for name in self.all.names
            for path, data in self.all.files(name).items()
            if path.startswith("sessions/")
        )
        self.turns = {
            one for one in self.turns if one.encode() in logs
        }  # a journal names erased ones as well
        self.facts = {one for one in self.facts if one.encode() in together}
        self.erased = {word: one for word, one in self.erased.items() if one.encode() in together}
        self.written = {one for one in self.written if one in together}

    @rule(name=machines, other=machines)
    def syncthing(self, name: str, other: str) -> None:
        name, other = self.pair(name, other)
        key = frozenset({name, other})
        before, theirs = self.exchanged[key], self.all.files(other)
        with self.step(name, f"Syncthing brings files of {other}"), self.unheard(name), self.all.at(name):
            for path, data in theirs.items():
                ours = self.all.files(name).get(path)
                if data in (ours, before.get(path)):
                    continue
                if ours is None or ours == before.get(path):
                    self.all.put(name, path, other)
                else:
                    stem, dot, suffix = path.rpartition(".")
                    number = 101500 + len(self.history)
                    copy = f"{stem}.sync-conflict-20260213-{number}-ABCDEF7{dot}{suffix}"
                    self.all.put(name, path, other, copy)
                    self.history[-1] += f"; conflict in {path}"
        self.exchanged[key] = theirs

    # --- what holds at the end

    def teardown(self) -> None:
        try:
            if not self.failed and self.all.written.get(self.all.names[-1]):
                self.all.later = True
                self.settle()
                self.compare()
        except BaseException as error:
            error.add_note(self.told())
            raise
        finally:
            self.all.close()
            if not os.environ.get("MNEMARK_TEST_KEEP"):
                shutil.rmtree(self.base)

    def settle(self) -> None:
        """Merge all into all, until nothing comes any more."""
        changes: list[str] = []
        for _ in range(ROUNDS):
            changes = []
            for name, other in itertools.permutations(self.all.names, 2):
                before = self.all.tree(name)
                with self.all.opened(name) as memory:
                    merged = memory.merge(self.all.root(other))
                    memory.sync()
                self.heed(name, merged)
                after = self.all.tree(name)
                paths = sorted(path for path in before | after if before.get(path) != after.get(path))
                changes += [f"{name} from {other}: {', '.join(paths)}"] if paths else []
            if not changes:
                return
        raise AssertionError("\n".join([f"equal: {ROUNDS} rounds of merges, and still", *changes]))

    def heed(self, name: str, merged: Merged) -> None:
        """Note which erased words a person was told of: written anew, or copied, they stay."""
        for one in merged.problems:
            if one.reason == AGAIN:
                data = self.all.data(name, one.path)
                self.erased = {word: at for word, at in self.erased.items() if word.encode() not in data}

    def compare(self) -> None:
        differing = self.all.differing()
        assert not differing, f"equal: these differ: {differing}{self.shown(differing[0])}"
        for name in self.all.names:
            self.nothing_lost(name)
            self.nothing_twice(name)
            for word in self.erased:
                held = self.all.holding(name, word.encode())
                assert not held, f"erased: {name} holds {word} in {held}"
        seen = {name: self.seen(name) for name in self.all.names}
        first = seen[self.all.names[0]]
        for name, (facts, waiting, answers) in seen.items():
            assert facts == first[0], f"contradictions: {name} knows {facts}, the first {first[0]}"
            assert waiting == first[1], f"contradictions: {name} asks {waiting}, the first {first[1]}"
            assert answers == first[2], f"equal answers: {name} answers {answers}, the first {first[2]}"
        twice = [one for one, count in Counter(first[1]).items() if count > 1]
        assert not twice, f"contradictions: asked twice: {twice}"

    def shown(self, path: str) -> str:
        versions = {name: self.all.data(name, path).decode("utf-8", "replace") for name in self.all.names}
        return "".join(f"\n--- {path} of {name}\n{text}" for name, text in versions.items())

    def nothing_lost(self, name: str) -> None:
        files = self.all.files(name)
        turns = {record.get("id") for _, record in self.all.records(name, "sessions")}
        lost = self.turns - turns
        assert not lost, f"nothing lost: {name} lacks turns {lost}"
        together = b"\n".join(files.values())
        facts = {one for one in self.facts if one.encode() not in together}
        assert not facts, f"nothing lost: {name} lacks facts {facts}"
        written = {one for one in self.written if one not in together}
        assert not written, f"nothing lost: {name} lacks {written}"

    def nothing_twice(self, name: str) -> None:
        ids = Counter((path, one["id"]) for path, one in self.all.records(name, "sessions") if "id" in one)
        ids += Counter((path, one["id"]) for path, one in self.all.records(name, "journal") if "id" in one)
        twice = [one for one, count in ids.items() if count > 1]
        assert not twice, f"nothing twice: {name} has {twice}"

    def seen(self, name: str) -> tuple[list[Any], list[Any], list[Any]]:
        with self.all.opened(name) as memory:
            memory.sync()
            facts = sorted((one.subject, one.predicate, one.value, one.id) for one in memory.facts())
            waiting = sorted((one.what, one.action, str(one.fact), one.against) for one in memory.review())
            answers = [[(hit.ref, hit.text) for hit in memory.search(query, k=20).hits] for query in QUERIES]
        return facts, waiting, answers


FEW: Final = int(os.environ.get("MNEMARK_TEST_HISTORIES", examples(200)))
SETTINGS: Final = settings(
    max_examples=FEW, stateful_step_count=8, deadline=None, suppress_health_check=list(HealthCheck),
    print_blob=False, report_multiple_bugs=False,
)  # fmt: skip
Memories.TestCase.settings = SETTINGS
TestMemories = Memories.TestCase


class ManyMemories(Memories):
    """The same for longer."""


ManyMemories.TestCase.settings = settings(SETTINGS, max_examples=10_000, stateful_step_count=16)
TestManyMemories = pytest.mark.slow(ManyMemories.TestCase)
