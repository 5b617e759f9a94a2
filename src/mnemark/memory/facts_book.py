"""The facts a search may answer with, kept ready and as fresh as the files."""

import os
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from mnemark.errors import MnemarkError
from mnemark.files import listing

if TYPE_CHECKING:
    from mnemark.memory.core import Memory
    from mnemark.retrieval.facts_book import Book

_REST: Final = 20.0
"""Times a look at the fact files the pause after it lasts, but for this process's own writes."""
_SHARE: Final = 0.5
"""Part of what is left of a deadline that reading facts may take; then the facts read before are used."""

Stamp = tuple[tuple[str, int, int, int], ...]
"""Name, time, size and inode of every file that says something about facts."""


class _Kept(NamedTuple):
    stamp: Stamp
    book: "Book"


class FactBooks:
    """The books of one `Memory`, by scopes. Safe to use from several threads."""

    def __init__(self, memory: "Memory") -> None:
        self._memory = memory
        self._kept: dict[tuple[str, ...], _Kept] = {}
        self._lock = threading.Lock()
        self._reading: dict[tuple[str, ...], threading.Event] = {}
        self._due: dict[tuple[str, ...], float] = {}
        self._noted: Stamp = ()
        self.problem = ""
        """Why the last answer had to do with older facts; empty where it had not."""

    def wrote(self) -> None:
        """This process changed a fact: the next answer looks at the files."""
        with self._lock:
            self._due.clear()

    def scopes(self) -> list[str]:
        """All scopes there are; the root's is the first."""
        return all_scopes(self._memory.root)

    def changed(self) -> bool:
        """Whether a fact file changed since this was asked last."""
        stamp = tuple(_files(self._memory.root, self.scopes()))
        changed, self._noted = stamp != self._noted, stamp
        return changed

    def of(self, scopes: "Iterable[str] | None", deadline: float | None = None) -> "Book | None":
        """The facts of these scopes (None: of all); by a monotonic `deadline` those that are read by then.

        None where there are none.
        """
        wanted = tuple(sorted(all_scopes(self._memory.root) if scopes is None else {*scopes, ""}))
        self.problem = ""
        with self._lock:
            kept = self._kept.get(wanted)
            if time.monotonic() < self._due.get(wanted, 0.0):
                return kept.book if kept is not None and len(kept.book) else None
        started = time.monotonic()
        stamp = tuple(_stamp(self._memory.root, wanted))
        with self._lock:
            self._due[wanted] = time.monotonic() + _REST * (time.monotonic() - started)
        if kept is None or kept.stamp != stamp:
            kept = self._read(wanted, stamp, deadline) if stamp else None
        return kept.book if kept is not None and len(kept.book) else None

    def _read(self, wanted: tuple[str, ...], stamp: Stamp, deadline: float | None) -> _Kept | None:
        if deadline is None:
            return self._make(wanted, stamp)
        with self._lock:
            done = self._reading.get(wanted)
            if done is None:
                done = self._reading[wanted] = threading.Event()
                work = threading.Thread(
                    target=self._make_behind, args=(wanted, stamp, done), name="mnemark-facts", daemon=True
                )
                work.start()
        if not done.wait(max((deadline - time.monotonic()) * _SHARE, 0.0)):
            self.problem = "facts: still being read; the next answer has all of them"
        return self._kept.get(wanted)

    def _make_behind(self, wanted: tuple[str, ...], stamp: Stamp, done: threading.Event) -> None:
        try:
            self._make(wanted, stamp)
        except (MnemarkError, OSError) as error:
            self.problem = f"facts: {error}"
        finally:
            with self._lock:
                self._reading.pop(wanted, None)
                self._due.pop(wanted, None)
            done.set()

    def _make(self, wanted: tuple[str, ...], stamp: Stamp) -> _Kept:
        from mnemark.memory.facts_project import state_of
        from mnemark.retrieval.facts_book import Book

        facts = state_of(self._memory)
        with facts.lock:
            facts.log.refresh()
            held = [one for scope in wanted for one in facts.held(scope)]
        kept = _Kept(stamp, Book(held, facts.zone))
        with self._lock:
            self._kept[wanted] = kept
        return kept


def all_scopes(root: Path) -> list[str]:
    """All scopes there are; the root's is the first."""
    return ["", *listing.scopes(root)]


def _stamp(root: Path, scopes: Iterable[str]) -> Iterator[tuple[str, int, int, int]]:
    yield from _states(root, "journal")
    yield from _files(root, scopes)


def _files(root: Path, scopes: Iterable[str]) -> Iterator[tuple[str, int, int, int]]:
    for scope in scopes:
        yield from _states(root, f"{scope}/memory/facts".lstrip("/"))


def _states(root: Path, folder: str) -> Iterator[tuple[str, int, int, int]]:
    try:
        with os.scandir(root / folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                with suppress(OSError):  # a link to nothing, or in a circle
                    state = entry.stat()
                    yield f"{folder}/{entry.name}", state.st_mtime_ns, state.st_size, state.st_ino
    except OSError:  # there is none, or the scan tells of it
        return
