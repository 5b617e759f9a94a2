"""Group the versions of facts by key, with what is derived from them for lookups."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from functools import cached_property
from math import inf

from mnemark.facts.keys import predicate_key, subject_key
from mnemark.facts.known import KnownFact
from mnemark.facts.timeline import FactVersion, when

Key = tuple[str, str, str]
"""Subject, predicate, and the value if several may hold at once: see `Fact.key`."""


class FactGroups:
    """The versions of some facts of a scope by key, oldest first. Immutable.

    What is derived from them is made when first asked for, and kept.
    """

    def __init__(self, scope: str, by_key: Mapping[Key, Sequence[FactVersion]], zone: tzinfo) -> None:
        self.scope = scope
        self.by_key = by_key
        self._zone = zone
        self.memo: dict[str, object] = {}
        """A cache for values that readers derive from these facts, by their own keys."""

    @cached_property
    def versions(self) -> tuple[FactVersion, ...]:
        """All versions, grouped by key."""
        return tuple(version for group in self.by_key.values() for version in group)

    @cached_property
    def by_id(self) -> Mapping[str, FactVersion]:
        """Versions by the ids of their facts."""
        return {version.fact.id: version for version in self.versions}

    @cached_property
    def by_predicate(self) -> Mapping[str, Sequence[FactVersion]]:
        """Versions by the keys of their predicates."""
        versions: dict[str, list[FactVersion]] = defaultdict(list)
        for version in self.versions:
            versions[predicate_key(version.fact.predicate)].append(version)
        return dict(versions)

    @cached_property
    def subjects(self) -> frozenset[str]:
        """Keys of all subjects."""
        return frozenset(subject_key(version.fact.subject) for version in self.versions)

    @cached_property
    def known(self) -> Sequence[KnownFact]:
        """The states of all versions, to save."""
        from mnemark.facts.doubts import known_of

        return tuple(map(known_of, self.versions))

    @cached_property
    def _recorded(self) -> Sequence[float]:
        """When each version was recorded, in seconds since 1970; infinite if it is in no file yet."""
        return tuple(map(self._recorded_at, self.versions))

    @cached_property
    def _last_recorded(self) -> float:
        return max(self._recorded, default=-inf)

    def _recorded_at(self, version: FactVersion) -> float:
        if not version.fact.line:
            return inf
        at = when(version.fact.recorded or version.fact.since, self._zone)
        return -inf if at is None else at.timestamp()

    def recent(self, moment: datetime, seconds: float) -> Iterator[FactVersion]:
        """Yield the versions that are in no file yet, or were recorded within `seconds` of a moment."""
        at = moment.timestamp()
        if self._last_recorded <= at - seconds:
            return
        for version, recorded in zip(self.versions, self._recorded, strict=True):
            if recorded == inf or abs(at - recorded) < seconds:
                yield version
