"""Cache the facts of one scope; re-read and reorder only facts of changed files and journal lines."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import tzinfo

import msgspec

from mnemark.facts.files import Confirmation, FactFiles
from mnemark.facts.groups import FactGroups, Key
from mnemark.facts.journal import FactJournal
from mnemark.facts.model import Fact
from mnemark.facts.timeline import FactVersion, in_order, timeline
from mnemark.facts.versions import all_versions, beside_files, shown_of, standing_facts
from mnemark.files.platform import Identity


class _FilePart(msgspec.Struct):
    """The cached facts of one file."""

    state: Identity
    facts: tuple[Fact, ...]
    by_key: dict[Key, list[Fact]]
    """Versions by key, including those before hand edits."""
    past: frozenset[str] = frozenset()
    """Ids of the versions before hand edits."""
    timelines: dict[Key, list[FactVersion]] = {}
    """Cached timelines of keys that occur in this file only."""
    groups: FactGroups | None = None
    """All these timelines."""


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
        self._all: Sequence[FactGroups] | None = None
        self._duplicates = False

    def refresh(self) -> None:
        """Load changes of the files and the journal."""
        log = self._log
        if self._duplicates or self._epoch != log.epoch:
            self._clear()
        touched = log.touched[self._seen :]
        self._seen = len(log.touched)
        dirty = {self._places[version] for version in touched if version in self._places}
        parts = self._read(dirty)
        old = [path for path, part in self._parts.items() if parts.get(path) is not part]
        new = [path for path, part in parts.items() if self._parts.get(path) is not part]
        for path in old:
            self._drop(path)
        self._parts = parts
        confirmations = log.pending_confirmations(self._scope)
        for path in new:
            self._add(path, confirmations)
        if touched or old or new or self._all is None:
            self._all = None
            self._not_in_files = self._read_beside_files(confirmations)

    def _read(self, dirty: AbstractSet[str]) -> dict[str, _FilePart]:
        """Return the parts of all files: the cached one if a file is neither changed nor `dirty`."""
        parts: dict[str, _FilePart] = {}
        for path in self._files.paths(self._scope):
            state, facts = self._files.read(path)
            part = self._parts.get(path)
            if part is not None and path not in dirty and part.state == state:
                parts[path] = part
            elif state is not None:
                parts[path] = _FilePart(state, facts, {})
        return parts

    def _drop(self, path: str) -> None:
        part = self._parts[path]
        for fact in part.facts:
            if self._places.get(fact.id) == path:
                del self._places[fact.id]
        for key in part.by_key:
            self._paths[key].pop(path, None)
            if len(self._paths[key]) < 2:
                self._shared.discard(key)

    def _add(self, path: str, confirmations: Sequence[Confirmation]) -> None:
        part = self._parts[path]
        for fact in part.facts:
            self._duplicates |= fact.id in self._places
            self._places[fact.id] = path
            for version in shown_of(fact, self._log, self._files, confirmations):
                part.by_key.setdefault(version.key, []).append(version)
        part.past = (
            frozenset(version.id for group in part.by_key.values() for version in group) - self._places.keys()
        )
        for key in part.by_key:
            self._paths[key][path] = None
            if len(self._paths[key]) > 1:
                self._shared.add(key)

    def _read_beside_files(self, confirmations: Sequence[Confirmation]) -> dict[Key, list[Fact]]:
        """Return the past and pending facts that are in no file."""
        there = self._places.keys() | {past for part in self._parts.values() for past in part.past}
        facts: dict[Key, list[Fact]] = defaultdict(list)
        for fact in beside_files(self._log, self._files, self._scope, there, confirmations):
            facts[fact.key].append(fact)
        return dict(facts)

    def group(self, key: Key) -> Sequence[FactVersion]:
        """Return all versions of a fact with their validity, the oldest first."""
        if self._duplicates:
            (everything,) = self.groups()
            return everything.by_key.get(key, ())
        paths = sorted(self._paths.get(key, ()))
        if len(paths) == 1 and key not in self._not_in_files:
            return self._timeline_in(self._parts[paths[0]], key)
        facts = [fact for path in paths for fact in self._parts[path].by_key[key]]
        return timeline([*facts, *self._not_in_files.get(key, ())], self._zone)

    def versions(self) -> Iterator[FactVersion]:
        """Yield all versions of all facts, in the order of files and bullets; those in no file last."""
        *by_file, apart = self.groups()
        left = dict(apart.by_key)
        for part, groups in zip(
            self._parts.values(), by_file, strict=False
        ):  # `by_file` is empty for duplicates
            if left.keys().isdisjoint(part.by_key):
                yield from groups.versions
                continue
            for key in part.by_key:
                yield from groups.by_key.get(key) or left.pop(key, ())
        for group in left.values():
            yield from group

    def groups(self) -> Sequence[FactGroups]:
        """Return all versions of all facts: by file, then those of keys that are not in one file alone."""
        if self._all is None:
            self._all = [self._all_files()] if self._duplicates else self._by_part()
        return self._all

    def _all_files(self) -> FactGroups:
        """Return the versions from all files at once: needed to resolve duplicate ids."""
        versions: dict[Key, list[FactVersion]] = defaultdict(list)
        for version in timeline(all_versions(self._log, self._files, self._scope), self._zone):
            versions[version.fact.key].append(version)
        return FactGroups(self._scope, versions, self._zone)

    def _by_part(self) -> Sequence[FactGroups]:
        apart = self._shared | self._not_in_files.keys()
        by_file = [self._groups_of(part, part.by_key.keys() - apart) for part in self._parts.values()]
        return [*by_file, FactGroups(self._scope, {key: self.group(key) for key in apart}, self._zone)]

    def _groups_of(self, part: _FilePart, keys: AbstractSet[Key]) -> FactGroups:
        if part.groups is None or part.groups.by_key.keys() != keys:
            timelines = {key: self._timeline_in(part, key) for key in part.by_key if key in keys}
            part.groups = FactGroups(self._scope, timelines, self._zone)
        return part.groups

    def _timeline_in(self, part: _FilePart, key: Key) -> list[FactVersion]:
        if key not in part.timelines:
            part.timelines[key] = in_order(part.by_key[key], self._zone)
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
        parts = (part for path, part in self._parts.items() if path in paths)
        return {fact.id: fact for part in parts for fact in part.facts}

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
