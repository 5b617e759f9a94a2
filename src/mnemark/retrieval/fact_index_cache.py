"""Cache fact indexes, as fresh as the files."""

import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from mnemark.errors import MnemarkError
from mnemark.facts import doubts, known, states
from mnemark.facts.known import Known, Section, Stamp
from mnemark.facts.states import FactStates
from mnemark.facts.store import FactStore
from mnemark.files.journal import FOLDER as JOURNAL
from mnemark.index.store import Index
from mnemark.retrieval.fact_index import FactIndex

if TYPE_CHECKING:
    from mnemark.facts.timeline import FactVersion

_REST: Final = 20.0
"""Times a look at the fact files the pause after it lasts, but for this process's own writes."""
_SHARE: Final = 0.5
"""Part of what is left of a deadline that reading facts may take; then the facts read before are used."""
_TAIL: Final = 1 << 16
"""Bytes appended to the journals after which what is kept of the facts is kept anew."""
_KEEP_SECONDS: Final = 30.0
"""Pause between two times that what holds is kept in the background: a change costs all of it."""


class _Kept(NamedTuple):
    stamp: Stamp
    book: "FactIndex"


class Facts(NamedTuple):
    """The facts to answer with."""

    book: "FactIndex | None" = None
    """None where there are none, or they are not read yet."""
    states: FactStates | None = None
    """Which of them are known to hold, where the book is not of this moment; None where it is."""
    problem: str = ""
    """Why it is not."""


class FactIndexCache:
    """The books of one workspace, by scopes. Safe to use from several threads.

    `index` gives the workspace's index, which may be replaced by another.
    """

    def __init__(self, facts: FactStore, index: Callable[[], Index]) -> None:
        self._facts = facts
        self._index = index
        self._kept: dict[tuple[str, ...], _Kept] = {}
        self._lock = threading.Lock()
        self._reading: dict[tuple[str, ...], threading.Event] = {}
        self._due: dict[tuple[str, ...], float] = {}
        self._noted: Stamp = ()
        self._known: dict[int, tuple[FactVersion, Known]] = {}
        self._keeping = threading.Lock()
        self._unkept = False
        self._kept_at = float("-inf")
        self._failure = ""

    def wrote(self) -> None:
        """Note that this process changed a fact: the next answer looks at the files."""
        with self._lock:
            self._due.clear()
            self._unkept = True

    def scopes(self) -> list[str]:
        """Return all scopes; the root's is the first."""
        return self._facts.workspace.scopes()

    def changed(self) -> bool:
        """Whether a fact file changed since this was asked last."""
        root = self._facts.root
        stamp = states.stamp_of(root, self.scopes())
        files = tuple(one for one in stamp if not _is_journal(one[0]))
        changed, self._noted = files != self._noted, files
        return changed

    def of(self, scopes: "Iterable[str] | None", deadline: float | None = None) -> Facts:
        """Return the facts of these scopes (None: of all) that are read by a monotonic `deadline`."""
        root = self._facts.root
        wanted = tuple(sorted(self._facts.workspace.scopes() if scopes is None else {*scopes, ""}))
        with self._lock:
            kept = self._kept.get(wanted)
            resting = time.monotonic() < self._due.get(wanted, 0.0)
        if resting and kept is not None and _journals(kept.stamp) == known.journals_of(root):
            return Facts(kept.book)
        started = time.monotonic()
        stamp = states.stamp_of(root, wanted)
        with self._lock:
            self._due[wanted] = time.monotonic() + _REST * (time.monotonic() - started)
        if kept is None or kept.stamp != stamp:
            kept = self._read(wanted, stamp, deadline)
        if kept is not None and kept.stamp == stamp:
            return Facts(kept.book)
        problem = (
            self._failure
            or "facts: still being read, so some may be missing; the next answer has all of them"
        )
        return Facts(kept.book if kept is not None else None, self._states(kept), problem)

    def _states(self, kept: _Kept | None) -> FactStates:
        """Return what is known without reading: the facts as they were read last, here or elsewhere."""
        root = self._facts.root
        if kept is None:
            return states.kept(root, self._index().home, self._facts.redacted)
        return self._known_as(lambda scope: self._section(kept.stamp, scope, kept.book.facts))

    def _known_as(self, section: Callable[[str], Section | None]) -> FactStates:
        return FactStates(self._facts.root, section, self._facts.redacted)

    def _section(self, stamp: Stamp, scope: str, held: "Iterable[FactVersion]") -> Section:
        known = (self._known_of(one) for one in held if one.fact.scope == scope)
        return states.section_of(stamp, scope, known)

    def _known_of(self, held: "FactVersion") -> Known:
        found = self._known.get(id(held))
        return doubts.known_of(held) if found is None or found[0] is not held else found[1]

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
        done.wait(max((deadline - time.monotonic()) * _SHARE, 0.0))
        return self._kept.get(wanted)

    def _make_behind(self, wanted: tuple[str, ...], stamp: Stamp, done: threading.Event) -> None:
        try:
            self._make(wanted, stamp)
            self._failure = ""
        except (MnemarkError, OSError) as error:
            self._failure = f"facts: {error}"
        finally:
            with self._lock:
                self._reading.pop(wanted, None)
                self._due.pop(wanted, None)
            done.set()
        if time.monotonic() - self._kept_at > _KEEP_SECONDS:
            self.keep_unkept()

    def _make(self, wanted: tuple[str, ...], stamp: Stamp) -> _Kept:
        facts = self._facts
        with facts.lock:
            facts.log.refresh()
            held = [one for scope in wanted for one in facts.held(scope)]
        kept = _Kept(stamp, FactIndex(held, facts.zone))
        with self._lock:
            self._kept[wanted] = kept
        self._unkept = True
        return kept

    def keep(self, scopes: "Iterable[str] | None" = None) -> None:
        """Leave beside the index which facts hold, for a process that has no time to read them.

        What is there and still right stays. Nothing is kept where the index is open for reading only.

        Args:
            scopes: of which; all by default.
        """
        facts, home = self._facts, self._index().home
        if self._index().readonly:
            return
        with self._keeping:
            self._unkept, self._kept_at = False, time.monotonic()
            for scope in self.scopes() if scopes is None else scopes:
                stamp = states.stamp_of(facts.root, [scope])
                if not stamp or self._is_kept(scope, stamp):
                    continue
                with facts.lock:
                    facts.log.refresh()
                    held = facts.held(scope)
                section = self._section(stamp, scope, held)
                self._known = {id(one): (one, known) for one, known in zip(held, section.facts, strict=True)}
                states.save(home, scope, section)

    def keep_unkept(self) -> None:
        """`keep` of the scopes whose facts were read or written since; what fails is done the next time."""
        if self._unkept:
            with suppress(MnemarkError, OSError):
                self.keep(self._facts.scopes())

    def _is_kept(self, scope: str, stamp: Stamp) -> bool:
        """Whether the kept section of a scope is complete, and cheap to bring up to date."""
        section = states.load(self._index().home, scope)
        if section is None:
            return False
        new = sum(state[1] - section.journals.get(path, (0, 0, 0))[1] for path, state in _journals(stamp))
        return new <= _TAIL and self._known_as(lambda _: section).settled(scope)


def _is_journal(path: str) -> bool:
    return path.startswith(f"{JOURNAL}/")


def _journals(stamp: Stamp) -> Stamp:
    return tuple(one for one in stamp if _is_journal(one[0]))
