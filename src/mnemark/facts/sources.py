"""Which facts were learned from which turn or note, whatever became of them since."""

from collections import defaultdict
from datetime import datetime

from mnemark.facts.journal import FactJournal, Words, said_mark, words_of
from mnemark.facts.model import Fact
from mnemark.files.ids import time_of


class Sources:
    """The sources of the facts in a journal; `refresh` takes in what it gained. Hold the store's lock."""

    def __init__(self, journal: FactJournal) -> None:
        self._journal = journal
        self._touched: list[str] = []
        self._seen = 0
        self._epoch = -1
        self._known: defaultdict[tuple[str, Words], set[str]] = defaultdict(set)
        self._erased: dict[str, datetime] = {}

    def refresh(self) -> None:
        """Read on in the journal."""
        log = self._journal
        log.refresh()
        if log.touched is not self._touched:  # all of it was read anew
            self._touched, self._seen = log.touched, 0
        for identifier in log.touched[self._seen :]:
            self._take(identifier)
        self._seen = len(log.touched)
        if log.epoch != self._epoch:
            self._epoch = log.epoch
            self._erased = {mark: time_of(line) for mark, line in log.was_erased().items()}

    def _take(self, identifier: str) -> None:
        log = self._journal
        said = log.confirmations.get(identifier)
        fact = log.fact(said.fact if said is not None else identifier)
        if fact is not None:
            source = said.fields.get("source", "") if said is not None else fact.source
            self._known[fact.scope, words_of(fact)].update(_sources(source))

    def knows(self, fact: Fact, said: datetime) -> bool:
        """Return whether a fact was learned from its source before, or erased after it was said."""
        when = self._erased.get(said_mark(fact.scope, words_of(fact)))
        if when is not None and said <= when:  # then no other place that says so brings it back
            return True
        return not _sources(fact.source).isdisjoint(self._known.get((fact.scope, words_of(fact)), ()))


def _sources(refs: str) -> set[str]:
    """The identities of the sources in a list: a turn keeps its line, in a note lines move."""
    found = set()
    for ref in refs.split(","):
        path, _, _ = ref.strip().partition("#")
        found.add(ref.strip() if path.endswith(".jsonl") else path)
    return found - {""}
