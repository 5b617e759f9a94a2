"""Provide the facts of a workspace, and write pending changes to their files."""

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any, TypeVar

from mnemark.facts.cache import FactCache
from mnemark.facts.files import FactFiles
from mnemark.facts.fold import Words, said_mark, words_of
from mnemark.facts.groups import FactGroups
from mnemark.facts.journal import FactJournal
from mnemark.facts.model import Fact, refs_in
from mnemark.facts.timeline import FactVersion
from mnemark.files.ids import is_id, time_of
from mnemark.files.workspace import Workspace
from mnemark.text.redaction.redact import Rules


class Sources:
    """The sources of the facts in a journal; `refresh` reads new lines. Hold the store's lock."""

    def __init__(self, journal: FactJournal) -> None:
        self._journal = journal
        self._touched: list[str] = []
        self._seen = 0
        self._epoch = -1
        self._known: defaultdict[tuple[str, Words], set[str]] = defaultdict(set)
        self._erased: dict[str, datetime] = {}

    def refresh(self) -> None:
        """Read new lines of the journal."""
        log = self._journal
        log.refresh()
        touched: Iterable[str] = log.touched[self._seen :]
        if log.touched is not self._touched:  # the journal was read from the start, or much of it
            self._touched = log.touched
            self._known.clear()
            touched = log.named()
        for identifier in touched:
            self._add(identifier)
        self._seen = len(log.touched)
        if log.epoch != self._epoch:
            self._epoch = log.epoch
            self._erased = {mark: time_of(line) for mark, line in log.was_erased().items()}

    def _add(self, identifier: str) -> None:
        log = self._journal
        said = log.tables.confirmations.get(identifier)
        fact = log.of(said.fact if said is not None else identifier).fact
        if fact is not None:
            source = said.fields.get("source", "") if said is not None else fact.source
            self._known[fact.scope, words_of(fact)].update(_sources(source))

    def knows(self, fact: Fact, said: datetime) -> bool:
        """Return whether a fact was learned from its source before, or erased or corrected after `said`."""
        words = words_of(fact)
        when = self._erased.get(said_mark(fact.scope, words))
        if when is not None and said <= when:  # older sources do not restore an erased fact
            return True
        corrected = self._journal.corrected(fact.scope, words)
        if is_id(corrected) and said <= time_of(corrected):  # nor what was said to be wrong since
            return True
        return not _sources(fact.source).isdisjoint(self._known.get((fact.scope, words), ()))


def _sources(refs: str) -> set[str]:
    """Return the sources in a list of refs."""
    return {source_of(ref) for ref in refs_in(refs)}


def source_of(ref: str) -> str:
    """Return what a ref is compared by: a turn with its line, a note without, since its lines move."""
    path, _, _ = ref.partition("#")
    return ref if path.endswith(".jsonl") else path


T = TypeVar("T")


class FactStore:
    """The facts of a workspace from files and journal. Hold `lock` while changing them.

    `redacted` removes secrets from a text and keeps its line numbers.
    """

    def __init__(self, workspace: Workspace, redacted: Callable[[str], str]) -> None:
        root, zone = workspace.root, workspace.config.timezone
        self.workspace = workspace
        self.root = root
        self.truth = workspace.truth
        self.redacted = redacted
        self.zone: tzinfo = _zone(zone) if zone else _local()
        self.log = FactJournal(workspace.journal, redacted)
        self.files = FactFiles(root, redacted, self.zone)
        self.sources = Sources(self.log)
        self.lock = threading.RLock()
        self._kept: dict[str, FactCache] = {}
        self._derived: dict[Any, dict[str, tuple[Fact, Any]]] = {}
        self._epoch = self.log.epoch
        self.blocked: dict[str, str] = {}
        """Files with pending facts that cannot be written, with the reason."""
        self.changed: Callable[[], None] = _no_callback
        """A callback for facts written by this process."""

    def derive(self, make: Callable[[Fact, tzinfo], T], fact: Fact) -> T:
        """Return `make(fact, zone)`, cached until the fact changes or some fact is forgotten."""
        if self._epoch != self.log.epoch:  # or what was erased stays in memory
            self._derived.clear()
            self._epoch = self.log.epoch
        made = self._derived.setdefault(make, {})
        known = made.get(fact.id)
        if known is None or known[0] is not fact:
            known = made[fact.id] = fact, make(fact, self.zone)
        found: T = known[1]
        return found

    @property
    def rules(self) -> Rules:
        """The redaction rules applied to a fact before it is stored."""
        return self.workspace.rules

    def pending(self) -> int:
        """Return the number of changes that are in the journal and in no file yet."""
        with self.lock:
            self.log.refresh()
            return len(self.log.pending())

    def scopes(self) -> list[str]:
        """Return the scopes whose facts were read."""
        return list(self._kept)

    def held(self, scope: str) -> list[FactVersion]:
        """Return all versions of the facts of a scope with their validity."""
        return list(self.fresh(scope).versions())

    def groups(self, scope: str) -> Sequence[FactGroups]:
        """Return the same versions, grouped by key."""
        return self.fresh(scope).groups()

    def fresh(self, scope: str) -> FactCache:
        """Return the facts of a scope, refreshed."""
        kept = self.kept(scope)
        kept.refresh()
        return kept

    def kept(self, scope: str) -> FactCache:
        """Return the facts of a scope as last read."""
        if scope not in self._kept:
            self._kept[scope] = FactCache(self.log, self.files, scope, self.zone)
        return self._kept[scope]


def _no_callback() -> None:
    return


def _local() -> tzinfo:
    return datetime.now().astimezone().tzinfo or UTC


def _zone(name: str) -> tzinfo:
    from zoneinfo import ZoneInfo

    return ZoneInfo(name)
