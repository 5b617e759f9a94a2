"""Cache the facts of one scope: only what changed is read and ordered again."""

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


class _Part(msgspec.Struct):
    """What one file says."""

    state: Identity
    facts: tuple[Fact, ...]
    by_key: dict[Key, list[Fact]]
    """With what they said before people changed them."""
    held: dict[Key, list[FactVersion]] = {}
    """Of the keys that stand in this file only, once they were asked for."""
    all_held: list[FactVersion] | None = None
    """All of them, where all keys stand in this file only."""

    def take_over(self, before: "_Part") -> None:
        """Take over what was asked for of the keys whose facts are the same as before."""
        for key, held in before.held.items():
            facts, known = self.by_key.get(key, ()), before.by_key[key]
            if len(facts) == len(known) and all(map(operator.is_, facts, known)):
                self.held[key] = held


class FactCache:
    """Facts of a scope as files and journal say. Ask `refresh` first; used under the lock of the facts."""

    def __init__(self, log: FactJournal, files: FactFiles, scope: str, zone: tzinfo) -> None:
        self._log = log
        self._files = files
        self._scope = scope
        self._zone = zone
        self._noted: dict[str, Identity] = {}
        """Files as they were when it was last noted what people changed in them."""
        self._clear()

    def _clear(self) -> None:
        self._epoch = self._log.epoch
        self._seen = len(self._log.touched)
        self._parts: dict[str, _Part] = {}
        self._places: dict[str, str] = {}
        """The file of each id that stands in one."""
        self._paths: dict[Key, dict[str, None]] = defaultdict(dict)
        self._shared: set[Key] = set()
        """Keys that stand in several files."""
        self._beside: dict[Key, list[Fact]] = {}
        self._all: list[FactVersion] | None = None
        self._twice = False

    @property
    def places(self) -> Mapping[str, str]:
        """The file of each id that stands in one."""
        return self._places

    def refresh(self) -> None:
        """Take in what changed in the files and the journal."""
        log = self._log
        if self._twice or self._epoch != log.epoch:
            self._clear()
        touched = log.touched[self._seen :]
        self._seen = len(log.touched)
        paths = self._files.paths(self._scope)
        dirty = {self._places[one] for one in touched if one in self._places}
        found: dict[str, _Part] = {}
        for path in paths:
            facts = self._files.facts(path)
            state = self._files.state(path)
            part = self._parts.get(path)
            if part is not None and path not in dirty and part.state == state:
                found[path] = part
            elif state is not None:
                found[path] = _Part(state, facts, {})
        gone = [path for path, part in self._parts.items() if found.get(path) is not part]
        new = [path for path, part in found.items() if self._parts.get(path) is not part]
        before = {path: self._parts[path] for path in gone}
        for path in gone:
            self._drop(path)
        self._parts = found
        for path in new:
            self._take(path)
            if path in before:
                found[path].take_over(before[path])
        if touched or gone or new or self._all is None:
            self._all = None
            self._beside = defaultdict(list)
            there = (
                {fact.id for part in found.values() for group in part.by_key.values() for fact in group}
                if log.past
                else self._places
            )
            for fact in beside_files(log, self._files, self._scope, there):
                self._beside[fact.key].append(fact)

    def _drop(self, path: str) -> None:
        part = self._parts[path]
        for fact in part.facts:
            if self._places.get(fact.id) == path:
                del self._places[fact.id]
        for key in part.by_key:
            self._paths[key].pop(path, None)
            if len(self._paths[key]) < 2:
                self._shared.discard(key)

    def _take(self, path: str) -> None:
        part = self._parts[path]
        for fact in part.facts:
            self._twice |= fact.id in self._places
            self._places[fact.id] = path
            for one in shown_of(fact, self._log, self._files, self._scope):
                part.by_key.setdefault(one.key, []).append(one)
        for key in part.by_key:
            self._paths[key][path] = None
            if len(self._paths[key]) > 1:
                self._shared.add(key)

    def group(self, key: Key) -> list[FactVersion]:
        """All versions of one fact and when they held, the oldest first."""
        if self._twice:
            return [one for one in self.held() if one.fact.key == key]
        facts = [fact for path in self._in_order(key) for fact in self._parts[path].by_key[key]]
        return timeline([*facts, *self._beside.get(key, ())], self._zone)

    def _in_order(self, key: Key) -> list[str]:
        there = self._paths.get(key, {})
        return sorted(there) if len(there) > 1 else list(there)

    def held(self) -> list[FactVersion]:
        """All versions of all facts, those of one key together."""
        if self._all is None:
            slow = self._twice
            self._all = self._slowly() if slow else list(self._quickly())
        return self._all

    def _slowly(self) -> list[FactVersion]:
        """Where an id stands twice, all files have a say in whose it is."""
        return timeline(versions(self._log, self._files, self._scope), self._zone)

    def _quickly(self) -> Iterator[FactVersion]:
        for path, part in self._parts.items():
            keys = part.by_key.keys()
            if keys.isdisjoint(self._shared) and keys.isdisjoint(self._beside):
                if part.all_held is None:
                    part.all_held = [one for key in keys for one in self._held_alone(part, key)]
                yield from part.all_held
                continue
            for key in keys:
                there = self._paths[key]
                if len(there) == 1 and key not in self._beside:
                    yield from self._held_alone(part, key)
                elif next(iter(self._in_order(key))) == path:
                    yield from self.group(key)
        for key in self._beside:
            if not self._paths.get(key):
                yield from self.group(key)

    def _held_alone(self, part: _Part, key: Key) -> list[FactVersion]:
        if key not in part.held:
            part.held[key] = timeline(part.by_key[key], self._zone)
        return part.held[key]

    def changed(self) -> set[str]:
        """Files that are not as they were when people's changes were last noted; gone ones, too."""
        now = {path: part.state for path, part in self._parts.items()}
        return {path for path in {*now, *self._noted} if now.get(path) != self._noted.get(path)}

    def standing(self, paths: set[str]) -> dict[str, Fact]:
        """The facts in these files, by id."""
        if self._twice:
            every = standing_facts(self._log, self._files, self._scope)
            return {identifier: fact for identifier, fact in every.items() if fact.path in paths}
        found = [self._parts[path] for path in self._parts if path in paths]
        return {fact.id: fact for part in found for fact in part.facts}

    def everywhere(self) -> Mapping[str, object]:
        """Ids of all facts in files."""
        return standing_facts(self._log, self._files, self._scope) if self._twice else self._places

    def note(self, paths: set[str]) -> None:
        """What people changed in these files is in the journal now."""
        for path in paths:
            if path in self._parts:
                self._noted[path] = self._parts[path].state
            else:
                self._noted.pop(path, None)
