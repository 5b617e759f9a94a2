"""Cache fact indexes by scopes, and store which facts hold for processes without time to read them."""

import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final

import msgspec

from mnemark.errors import MnemarkError
from mnemark.facts import known, states
from mnemark.facts.groups import FactGroups
from mnemark.facts.known import Section, Stamp
from mnemark.facts.states import FactStates
from mnemark.facts.store import FactStore
from mnemark.files.journal import FOLDER as JOURNAL
from mnemark.retrieval.fact_index import FactIndex
from mnemark.retrieval.opened import OpenedIndex
from mnemark.retrieval.turns import in_turn

_CHECK_FACTOR: Final = 20.0
"""Seconds between checks of the fact files, for each second that a check takes; own writes end the pause."""
_SHARE: Final = 0.5
"""Share of the remaining time that reading facts may take; after it the previous index is used."""
_MAX_NEW_BYTES: Final = 1 << 16
"""Bytes appended to the journals after which the stored states are written again."""
_SAVE_SECONDS: Final = 30.0
"""Minimum seconds between background writes of the stored states, which are written as a whole."""


class _BuiltIndex(msgspec.Struct, frozen=True):
    stamp: Stamp
    book: "FactIndex"


class FactsInTime(msgspec.Struct, frozen=True):
    """The fact index to answer with, and whether it is up to date."""

    book: "FactIndex | None" = None
    """None where the facts are not read yet."""
    states: FactStates | None = None
    """Which facts are known to hold; None where `book` is up to date."""
    problem: str = ""
    """Why `book` is not up to date; empty where it is."""


class FactIndexCache:
    """Fact indexes of one workspace, by scopes. Thread-safe."""

    def __init__(self, facts: FactStore, opened: OpenedIndex) -> None:
        self._facts = facts
        self._opened = opened
        self._kept: dict[tuple[str, ...], _BuiltIndex] = {}
        self._lock = threading.Lock()
        self._reading: dict[tuple[str, ...], threading.Event] = {}
        self._check_at: dict[tuple[str, ...], float] = {}
        self._last_stamp: Stamp = ()
        self._saving = threading.Lock()
        self._unsaved = False
        self._saved_at = float("-inf")
        self._failure = ""

    def wrote(self) -> None:
        """Note that this process changed a fact: check the files before the next answer."""
        with self._lock:
            self._check_at.clear()
            self._unsaved = True

    def scopes(self) -> list[str]:
        """Return all scopes, the root's first."""
        return self._facts.workspace.scopes()

    def changed(self) -> bool:
        """Return whether a fact file changed since the last call."""
        root = self._facts.root
        stamp = states.stamp_of(root, self.scopes())
        files = tuple(one for one in stamp if not _is_journal(one[0]))
        changed, self._last_stamp = files != self._last_stamp, files
        return changed

    def of(self, scopes: "Iterable[str] | None", deadline: float | None = None) -> FactsInTime:
        """Return the facts of these scopes (None: all) as read by a monotonic `deadline`."""
        root = self._facts.root
        wanted = self._wanted(scopes)
        with self._lock:
            kept = self._kept.get(wanted)
            resting = time.monotonic() < self._check_at.get(wanted, 0.0)
        if resting and kept is not None and _journals(kept.stamp) == known.journals_of(root):
            return FactsInTime(kept.book)
        started = time.monotonic()
        stamp = states.stamp_of(root, wanted)
        with self._lock:
            self._check_at[wanted] = time.monotonic() + _CHECK_FACTOR * (time.monotonic() - started)
        if kept is None or kept.stamp != stamp:
            kept = self._read(wanted, stamp, deadline)
        if kept is not None and kept.stamp == stamp:
            return FactsInTime(kept.book)
        problem = (
            self._failure
            or "facts: still being read, so some may be missing; the next answer has all of them"
        )
        return FactsInTime(kept.book if kept is not None else None, self._states(kept), problem)

    def _wanted(self, scopes: "Iterable[str] | None") -> tuple[str, ...]:
        return tuple(sorted(self._facts.workspace.scopes() if scopes is None else {*scopes, ""}))

    def known(self, scopes: "Iterable[str] | None") -> FactStates:
        """Return which facts of these scopes (None: all) are known to hold, without reading all of them."""
        wanted = self._wanted(scopes)
        with self._lock:
            kept = self._kept.get(wanted)
        return self._states(kept)

    def in_memory(self, scopes: "Iterable[str] | None") -> FactIndex:
        """Return the facts of those of these scopes (None: all) that this process has read or written."""
        facts = self._facts
        with facts.lock:
            read = facts.scopes()
            groups = [one for scope in self._wanted(scopes) if scope in read for one in facts.groups(scope)]
            return FactIndex(groups, facts.zone)

    def _states(self, kept: _BuiltIndex | None) -> FactStates:
        """Return the fact states of the last read, by this process or as stored by another."""
        root = self._facts.root
        if kept is None:
            return states.kept(root, self._opened.index.home, self._facts.redacted, self._facts.zone)
        return self._known_as(lambda scope: _section(kept.stamp, scope, kept.book.parts))

    def _known_as(self, section: Callable[[str], Section | None]) -> FactStates:
        return FactStates(self._facts.root, section, self._facts.redacted, self._facts.zone)

    def _read(self, wanted: tuple[str, ...], stamp: Stamp, deadline: float | None) -> _BuiltIndex | None:
        if deadline is None:
            return self._build(wanted, stamp)
        with self._lock:
            done = self._reading.get(wanted)
            if done is None:
                done = self._reading[wanted] = threading.Event()
                work = threading.Thread(
                    target=self._build_async, args=(wanted, stamp, done), name="mnemark-facts", daemon=True
                )
                work.start()
        done.wait(max((deadline - time.monotonic()) * _SHARE, 0.0))
        return self._kept.get(wanted)

    def _build_async(self, wanted: tuple[str, ...], stamp: Stamp, done: threading.Event) -> None:
        try:
            self._build(wanted, stamp)
            self._failure = ""
        except (MnemarkError, OSError) as error:
            self._failure = f"facts: {error}"
        finally:
            with self._lock:
                self._reading.pop(wanted, None)
                self._check_at.pop(wanted, None)
            done.set()
        if time.monotonic() - self._saved_at > _SAVE_SECONDS:
            self.keep_unkept()

    def _build(self, wanted: tuple[str, ...], stamp: Stamp) -> _BuiltIndex:
        facts = self._facts
        with in_turn(), facts.lock:
            facts.log.refresh()
            groups = [one for scope in wanted for one in facts.groups(scope)]
            kept = _BuiltIndex(stamp, FactIndex(groups, facts.zone))
        with self._lock:
            self._kept[wanted] = kept
        self._unsaved = True
        return kept

    def keep(self, scopes: "Iterable[str] | None" = None) -> None:
        """Store beside the index which facts hold, for processes without time to read the facts.

        Up-to-date sections are kept. Nothing is stored where the index is open for reading only.

        Args:
            scopes: the scopes to store; all by default.
        """
        facts, home = self._facts, self._opened.index.home
        if self._opened.index.readonly:
            return
        with self._saving:
            self._unsaved, self._saved_at = False, time.monotonic()
            for scope in self.scopes() if scopes is None else scopes:
                stamp = states.stamp_of(facts.root, [scope])
                if not stamp or self._is_saved(scope, stamp):
                    continue
                with in_turn():
                    with facts.lock:
                        facts.log.refresh()
                        groups = facts.groups(scope)
                    states.save(home, scope, _section(stamp, scope, groups))

    def keep_unkept(self) -> None:
        """Store the states if facts were read or written since the last time; retry after a failure."""
        if self._unsaved:
            with suppress(MnemarkError, OSError):
                self.keep(self._facts.scopes())

    def _is_saved(self, scope: str, stamp: Stamp) -> bool:
        """Return whether the stored section of a scope is complete and cheap to bring up to date."""
        section = states.load(self._opened.index.home, scope)
        if section is None:
            return False
        new = sum(state[1] - section.journals.get(path, (0, 0, 0))[1] for path, state in _journals(stamp))
        return new <= _MAX_NEW_BYTES and self._known_as(lambda _: section).settled(scope)


def _section(stamp: Stamp, scope: str, groups: Iterable[FactGroups]) -> Section:
    return states.section_of(
        stamp, scope, (one for part in groups if part.scope == scope for one in part.known)
    )


def _is_journal(path: str) -> bool:
    return path.startswith(f"{JOURNAL}/")


def _journals(stamp: Stamp) -> Stamp:
    return tuple(one for one in stamp if _is_journal(one[0]))
