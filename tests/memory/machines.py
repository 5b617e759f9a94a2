"""Machines with a copy of one memory each: their names, their clocks, and what carries files between."""

import datetime as dt
import hashlib
import itertools
import json
import os
import random
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, timedelta, tzinfo
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest

from faults.layer import FaultyFileSystem, Killed
from mnemark import Memory
from mnemark.files import edit, ids, layout, platform

CONFIG: Final[dict[str, Any]] = {"embedder": "none", "timezone": "UTC"}
SKEW: Final = {
    "base": timedelta(-2),
    "laptop": timedelta(0),
    "desktop": timedelta(1),
    "stick": timedelta(-1),
}
"""How far the clock of each machine is off."""
_NOBODY: Final = (1 << 22) + 1
LATER: Final = timedelta(10)
"""When all are compared: on every machine all that was said is in the past."""


class Clock:
    """The time of the machine at work: each look is a millisecond later, so that runs can be repeated."""

    def __init__(self) -> None:
        self.start = dt.datetime.now(UTC).replace(hour=10, minute=0, second=0, microsecond=0)
        self.skew = timedelta(0)
        self._looks = 0

    def now(self, zone: tzinfo | None = None) -> dt.datetime:
        self._looks += 1
        moment = self.start + self.skew + timedelta(milliseconds=self._looks)
        return moment.astimezone(zone) if zone else moment.astimezone().replace(tzinfo=None)

    def time_ns(self) -> int:
        return int(self.now(UTC).timestamp() * 1000) * 1_000_000


class _Type(type):
    """Of a class that is `datetime`, but for the time that is now."""

    clock: Clock

    def __getattr__(cls, name: str) -> Any:
        return getattr(dt.datetime, name)

    def __call__(cls, *args: Any, **named: Any) -> Any:
        return dt.datetime(*args, **named)  # noqa: DTZ001 - who calls it gives the zone

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, dt.datetime)


def set_clock(patch: pytest.MonkeyPatch, clock: Clock) -> None:
    """Let ids, and all modules that are loaded, take their time from the clock."""

    class DateTime(metaclass=_Type):
        @staticmethod
        def now(tz: tzinfo | None = None) -> dt.datetime:
            return clock.now(tz)

    for name, module in list(sys.modules.items()):
        if name.startswith("mnemark") and getattr(module, "datetime", None) is dt.datetime:
            patch.setattr(module, "datetime", DateTime)
    patch.setattr(ids, "time", SimpleNamespace(time_ns=clock.time_ns))
    patch.setattr(ids, "_random_bits", random.Random(0).getrandbits)


class Machines:
    """Folders with a memory each; one machine works at a time."""

    def __init__(self, base: Path, names: tuple[str, ...]) -> None:
        self.base = base
        self.names = names
        self.patch = pytest.MonkeyPatch()
        self.clock = Clock()
        self.later = False
        self._name = "base"
        load_all()
        set_clock(self.patch, self.clock)
        self.patch.setattr(platform, "machine_name", lambda: f"{self._name}-000000")
        # Listed, not vouched for one by one: the user's state folder would grow with each history.
        (base / "config.toml").write_text(f"trusted = {json.dumps([str(base)])}\n", "utf-8")
        self.patch.setenv("MNEMARK_CONFIG", str(base / "config.toml"))
        self.patch.setattr(edit, "QUIET", 0.0)
        for function in (edit.edit, edit.settle, edit.sweep):
            self.patch.setitem(function.__kwdefaults__ or {}, "quiet", 0.0)
        self._steps = itertools.count(1)
        self._seen: dict[str, dict[str, platform.Identity | None]] = {}
        self.written: dict[str, dict[str, int]] = {}
        """The step in which each file of a machine got what is in it."""

    def close(self) -> None:
        self.patch.undo()

    def root(self, name: str) -> Path:
        return self.base / name

    @contextmanager
    def at(self, name: str) -> Iterator[None]:
        """Be that machine."""
        self._name = name
        self.clock.skew = LATER if self.later else SKEW[name]
        self.patch.setattr(ids, "_last", 0)
        yield
        self.look(name)

    @contextmanager
    def opened(self, name: str) -> Iterator[Memory]:
        with self.at(name), Memory.open(self.root(name), config=CONFIG) as memory:
            yield memory

    def save(self, name: str, path: str, data: bytes) -> None:
        """Save a file as an editor does."""
        with self.at(name):
            target = self.root(name) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            draft = target.with_name(".draft")
            draft.write_bytes(data)
            moment = self.clock.now(UTC).timestamp()
            os.utime(draft, (moment, moment))
            draft.replace(target)

    # --- what carries files from one machine to another

    def clone(self, name: str, other: str) -> None:
        """Begin a machine as a copy of another."""
        skipped = shutil.ignore_patterns(layout.PRIVATE)
        shutil.copytree(self.root(other), self.root(name), ignore=skipped)
        self.look(name)

    def copy_newer(self, name: str, other: str) -> list[str]:
        """Copy the files of `other` that are newer, or missing; what was in them is overwritten."""
        copied = []
        for path, step in sorted(self.written[other].items()):
            if step > self.written[name].get(path, -1) and self.data(name, path) != self.data(other, path):
                self.put(name, path, other)
                copied.append(path)
        return copied

    def put(self, name: str, path: str, other: str, as_path: str = "") -> None:
        """Copy a file with its time."""
        target = self.root(name) / (as_path or path)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(self.root(other) / path, target)
        self.look(name)
        self.written[name][as_path or path] = self.written[other][path]

    def merge(self, name: str, other: str) -> Any:
        with self.opened(name) as memory:
            return memory.merge(self.root(other))

    def killed_merge(self, name: str, other: str, at: int) -> bool:
        """Merge, and die at the call number `at` that changes files; whether it came to that."""
        with self.at(name), pytest.MonkeyPatch.context() as patch:
            memory = Memory.open(self.root(name), config=CONFIG)
            layer = FaultyFileSystem(at)
            patch.setattr(platform, "FS", layer)
            patch.setattr(os, "getpid", lambda: _NOBODY)  # the process will be gone
            remove = shutil.rmtree

            def removed(*args: Any, **named: Any) -> None:
                if layer.dead:
                    raise Killed
                remove(*args, **named)

            patch.setattr(shutil, "rmtree", removed)
            with suppress(Killed):
                memory.merge(self.root(other))
            with suppress(Killed):
                memory.close()
            return layer.dead

    # --- what is there

    def files(self, name: str) -> dict[str, bytes]:
        """Return the files that are memory, by path."""
        return {path: self.data(name, path) for path in self._paths(name)}

    def data(self, name: str, path: str) -> bytes:
        try:
            return (self.root(name) / path).read_bytes()
        except FileNotFoundError:
            return b""

    def tree(self, name: str) -> dict[str, str]:
        return {path: hashlib.sha256(data).hexdigest()[:12] for path, data in self.files(name).items()}

    def differing(self) -> list[str]:
        trees = [self.tree(name) for name in self.names]
        paths = sorted(set[str]().union(*trees))
        return [path for path in paths if len({tree.get(path) for tree in trees}) > 1]

    def holding(self, name: str, words: bytes) -> list[str]:
        """Return the files that hold these bytes, or have them in their name, `.mnemark` included."""
        every = (path for path in self.root(name).rglob("*") if path.is_file())
        return [
            path.relative_to(self.root(name)).as_posix()
            for path in every
            if words in path.read_bytes() or words in path.name.encode()
        ]

    def records(self, name: str, folder: str) -> list[tuple[str, dict[str, Any]]]:
        """Return the records of the logs in a folder, with their paths."""
        found = []
        for path, data in self.files(name).items():
            if path.startswith(f"{folder}/") and path.endswith(".jsonl"):
                for line in data.split(b"\n"):
                    with suppress(ValueError):
                        found.append((path, json.loads(line)))
        return found

    def look(self, name: str) -> None:
        """Note which files have changed."""
        step = next(self._steps)
        now = {path: platform.identity(self.root(name) / path) for path in self._paths(name)}
        before = self._seen.get(name, {})
        written = self.written.setdefault(name, {})
        self.written[name] = {
            path: written.get(path, step) if before.get(path) == state else step
            for path, state in now.items()
        }
        self._seen[name] = now

    def _paths(self, name: str) -> list[str]:
        found: list[str] = []
        root = self.root(name)
        for folder, folders, files in os.walk(root):
            folders[:] = [one for one in folders if one != layout.PRIVATE]
            inner = Path(folder).relative_to(root)
            found += [(inner / one).as_posix() for one in files if one != layout.CONFIG]
        return sorted(found)


@cache
def load_all() -> None:
    """Import what a memory imports late: the clock is set in modules that are loaded."""
    import importlib
    import pkgutil

    for package in ("text", "files", "facts", "index", "retrieval", "extraction", "summary", "llm", "memory"):
        top = importlib.import_module(f"mnemark.{package}")
        for module in pkgutil.walk_packages(top.__path__, f"{top.__name__}."):
            if "vectors" not in module.name:
                importlib.import_module(module.name)
