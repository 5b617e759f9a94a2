"""Track which facts were learned from which turn or note, including facts changed or removed since."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

from mnemark.facts.journal import FactJournal
from mnemark.facts.model import Fact, refs_in
from mnemark.facts.payload import Words, said_mark, words_of
from mnemark.files.ids import time_of


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
        """Return whether a fact was already learned from its source, or erased after `said`."""
        when = self._erased.get(said_mark(fact.scope, words_of(fact)))
        if when is not None and said <= when:  # older sources do not restore an erased fact
            return True
        return not _sources(fact.source).isdisjoint(self._known.get((fact.scope, words_of(fact)), ()))


def _sources(refs: str) -> set[str]:
    """Return the sources in a list of refs."""
    return {source_of(ref) for ref in refs_in(refs)}


def source_of(ref: str) -> str:
    """Return what a ref is compared by: a turn with its line, a note without, since its lines move."""
    path, _, _ = ref.partition("#")
    return ref if path.endswith(".jsonl") else path
