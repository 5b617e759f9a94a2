"""Cache the facts of one scope; re-read and reorder only facts of changed files and journal lines."""

import operator
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import tzinfo

import msgspec

from mnemark.facts.files import FactFiles
from mnemark.facts.journal import FactJournal
from mnemark.facts.model import Fact
from mnemark.facts.timeline import FactVersion, timeline
from mnemark.facts.versions import beside_files, shown_of, standing_facts, versions
from mnemark.files.platform import Identity

Key = tuple[str, str, str]


class _FilePart(msgspec.Struct):
    """The cached facts of one file."""

    state: Identity
    facts: tuple[Fact, ...]
    by_key: dict[Key, list[Fact]]
    """Versions by key, including those before hand edits."""
    timelines: dict[Key, list[FactVersion]] = {}
    """Cached timelines of keys that occur in this file only."""
    all_timelines: list[FactVersion] | None = None
    """All timelines, if all keys occur in this file only."""

    def reuse(self, before: "_FilePart") -> None:
        """Reuse the cached timelines of keys whose facts are unchanged."""
        for key, timelines in before.timelines.items():
            facts, known = self.by_key.get(key, ()), before.by_key[key]
            if len(facts) == len(known) and all(map(operator.is_, facts, known)):
                self.timelines[key] = timelines


class FactCache:
    """The facts of a scope in files and journal. Call `refresh` first, under the lock of the facts."""

    def __init__(self, log: FactJournal, files: FactFiles, scope: str, zone: tzinfo) -> None:
        self._log = log
        self._files = files
        self._scope = scope
        self._zone = zone
        self._recorded: dict[str, Identity] = {}
        """File states when their hand edits were last recorded in the journal."""
        self._clear()

    def _clear(self) -> None:
        self._epoch = self._log.epoch
        self._seen = len(self._log.touched)
        self._parts: dict[str, _FilePart] = {}
        self._places: dict[str, str] = {}
        """The file of each fact id."""
        self._paths: dict[Key, dict[str, None]] = defaultdict(dict)
        self._shared: set[Key] = set()
        """Keys that occur in several files."""
        self._not_in_files: dict[Key, list[Fact]] = {}
        self._all: list[FactVersion] | None = None
        self._duplicates = False

    @property
    def places(self) -> Mapping[str, str]:
        """The file of each fact id."""
        return self._places

    def refresh(self) -> None:
        """Load changes of the files and the journal."""
        log = self._log
        if self._duplicates or self._epoch != log.epoch:
            self._clear()
        touched = log.touched[self._seen :]
        self._seen = len(log.touched)
        paths = self._files.paths(self._scope)
        dirty = {self._places[version] for version in touched if version in self._places}
        found: dict[str, _FilePart] = {}
        for path in paths:
            facts = self._files.facts(path)
            state = self._files.state(path)
            part = self._parts.get(path)
            if part is not None and path not in dirty and part.state == state:
                found[path] = part
            elif state is not None:
                found[path] = _FilePart(state, facts, {})
        gone = [path for path, part in self._parts.items() if found.get(path) is not part]
        new = [path for path, part in found.items() if self._parts.get(path) is not part]
        before = {path: self._parts[path] for path in gone}
        for path in gone:
            self._drop(path)
        self._parts = found
        for path in new:
            self._add(path)
            if path in before:
                found[path].reuse(before[path])
        if touched or gone or new or self._all is None:
            self._all = None
            self._not_in_files = defaultdict(list)
            there = (
                {fact.id for part in found.values() for group in part.by_key.values() for fact in group}
                if log.past
                else self._places
            )
            for fact in beside_files(log, self._files, self._scope, there):
                self._not_in_files[fact.key].append(fact)

    def _drop(self, path: str) -> None:
        part = self._parts[path]
        for fact in part.facts:
            if self._places.get(fact.id) == path:
                del self._places[fact.id]
        for key in part.by_key:
            self._paths[key].pop(path, None)
            if len(self._paths[key]) < 2:
                self._shared.discard(key)

    def _add(self, path: str) -> None:
        part = self._parts[path]
        for fact in part.facts:
            self._duplicates |= fact.id in self._places
            self._places[fact.id] = path
            for version in shown_of(fact, self._log, self._files, self._scope):
                part.by_key.setdefault(version.key, []).append(version)
        for key in part.by_key:
            self._paths[key][path] = None
            if len(self._paths[key]) > 1:
                self._shared.add(key)

    def group(self, key: Key) -> list[FactVersion]:
        """Return all versions of a fact with their validity, the oldest first."""
        if self._duplicates:
            return [version for version in self.timelines() if version.fact.key == key]
        facts = [fact for path in self._in_order(key) for fact in self._parts[path].by_key[key]]
        return timeline([*facts, *self._not_in_files.get(key, ())], self._zone)

    def _in_order(self, key: Key) -> list[str]:
        there = self._paths.get(key, {})
        return sorted(there) if len(there) > 1 else list(there)

    def timelines(self) -> list[FactVersion]:
        """Return all versions of all facts, grouped by key."""
        if self._all is None:
            slow = self._duplicates
            self._all = self._all_files() if slow else list(self._by_part())
        return self._all

    def _all_files(self) -> list[FactVersion]:
        """Return the versions from all files at once: needed to resolve duplicate ids."""
        return timeline(versions(self._log, self._files, self._scope), self._zone)

    def _by_part(self) -> Iterator[FactVersion]:
        for path, part in self._parts.items():
            keys = part.by_key.keys()
            if keys.isdisjoint(self._shared) and keys.isdisjoint(self._not_in_files):
                if part.all_timelines is None:
                    part.all_timelines = [version for key in keys for version in self._timeline_in(part, key)]
                yield from part.all_timelines
                continue
            for key in keys:
                there = self._paths[key]
                if len(there) == 1 and key not in self._not_in_files:
                    yield from self._timeline_in(part, key)
                elif next(iter(self._in_order(key))) == path:
                    yield from self.group(key)
        for key in self._not_in_files:
            if not self._paths.get(key):
                yield from self.group(key)

    def _timeline_in(self, part: _FilePart, key: Key) -> list[FactVersion]:
        if key not in part.timelines:
            part.timelines[key] = timeline(part.by_key[key], self._zone)
        return part.timelines[key]

    def changed(self) -> set[str]:
        """Return the files that changed, or vanished, since their hand edits were last recorded."""
        now = {path: part.state for path, part in self._parts.items()}
        return {path for path in {*now, *self._recorded} if now.get(path) != self._recorded.get(path)}

    def standing(self, paths: set[str]) -> dict[str, Fact]:
        """Return the facts in these files, by id."""
        if self._duplicates:
            every = standing_facts(self._log, self._files, self._scope)
            return {identifier: fact for identifier, fact in every.items() if fact.path in paths}
        found = [self._parts[path] for path in self._parts if path in paths]
        return {fact.id: fact for part in found for fact in part.facts}

    def everywhere(self) -> Mapping[str, object]:
        """Return a mapping whose keys are the ids of all facts in files."""
        return standing_facts(self._log, self._files, self._scope) if self._duplicates else self._places

    def note(self, paths: set[str]) -> None:
        """Record that the hand edits of these files are in the journal."""
        for path in paths:
            if path in self._parts:
                self._recorded[path] = self._parts[path].state
            else:
                self._recorded.pop(path, None)
