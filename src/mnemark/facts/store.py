"""Provide the facts of a workspace, and write pending changes to their files."""

import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from mnemark.errors import ReadOnlyError, UsageError
from mnemark.facts.cache import FactCache
from mnemark.facts.files import REVIEW, Confirmation, FactFiles, project, review_bullet
from mnemark.facts.groups import FactGroups
from mnemark.facts.journal import FactJournal
from mnemark.facts.model import Fact
from mnemark.facts.parse import decode, encode
from mnemark.facts.sources import Sources
from mnemark.facts.timeline import FactVersion
from mnemark.facts.visible import Visible
from mnemark.facts.write import without_fact
from mnemark.files import links
from mnemark.files.config import Config
from mnemark.files.edit import edit
from mnemark.files.ids import is_id, time_of
from mnemark.files.journal import Change
from mnemark.files.layout import in_scope
from mnemark.files.workspace import Workspace
from mnemark.text.redaction.redact import Rules

T = TypeVar("T")
_DAY: Final = 86_400.0
_LOCK_TIMEOUT: Final = 0.3
_REVIEW_TIMEOUT: Final = 0.5
AT_ONCE: Final = 50
"""Maximum number of changes one call writes to the files: a long backlog must not delay a reader."""


class FactStore:
    """The facts of a workspace from files and journal. Hold `lock` while changing them."""

    def __init__(self, workspace: Workspace, visible: Visible) -> None:
        root, zone = workspace.root, workspace.config.timezone
        self.workspace = workspace
        self.root = root
        self.redacted = visible.redacted
        self.zone: tzinfo = _zone(zone) if zone else _local()
        self.log = FactJournal(workspace.journal, visible.redacted)
        self.files = FactFiles(root, visible.redacted, self.zone)
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


class PlainWorkspace(Workspace):
    """A workspace with its visible texts and facts, without an index, for those who cannot wait for one."""

    def __init__(self, root: Path, config: Config, *, readonly: bool = False) -> None:
        links.check(root)
        super().__init__(root, config, readonly=readonly)
        self.visible = Visible(root, config, self.journal)
        self.fact_store = FactStore(self, self.visible)


def _no_callback() -> None:
    return


def _local() -> tzinfo:
    return datetime.now().astimezone().tzinfo or UTC


def bring_in(facts: FactStore, scope: str | None = None, *, most: int = AT_ONCE) -> None:
    """Write up to `most` pending changes to the files; skip busy files."""
    links.check_again(facts.root)
    log = facts.log
    log.refresh()
    groups: dict[tuple[str, str], list[str]] = {}
    for one in log.pending(scope):
        if _is_ours(log, one):
            groups.setdefault((log.scopes[one], _path_of(facts, one)), []).append(one)
    for (where, path), waiting in groups.items():
        ids = waiting[:most]
        try:
            done = _write(facts, path, ids)
        except (ReadOnlyError, UsageError) as error:  # not writable or not a file: continue with the others
            facts.blocked[path] = str(error)
            continue
        facts.blocked.pop(path, None)
        if done:
            log.append(Change(kind="project", scope=where, payload={"path": path, "ids": done}))
        most -= len(done)
        if most <= 0:
            break


def _write(facts: FactStore, path: str, ids: Sequence[str]) -> list[str]:
    """Write changes to one file; return the ids of those now in it."""
    if path.endswith(REVIEW):
        return _propose(facts, path, ids)
    return project(facts.root, path, [_change_of(facts.log, one, path) for one in ids], facts.zone)[1]


def _is_ours(log: FactJournal, identifier: str) -> bool:
    """Whether this machine writes a change: its own, or another machine's after a day."""
    if log.machines[identifier] == log.journal.file:
        return True
    made = time_of(identifier) if is_id(identifier) else datetime.now(UTC)
    return (datetime.now(UTC) - made).total_seconds() > _DAY


def _path_of(facts: FactStore, identifier: str) -> str:
    log = facts.log
    scope = log.scopes[identifier]
    if identifier in log.proposals:
        return in_scope(scope, REVIEW)
    if (confirmation := log.confirmations.get(identifier)) is not None:
        for path in facts.files.paths(scope):
            if any(fact.id == confirmation.fact for fact in facts.files.facts(path)):
                return path
        record = log.records.get(confirmation.fact)
        return record.path if record is not None else facts.files.path_for("user", scope)
    record = log.records[identifier]
    path = record.path or facts.files.path_for(record.subject, scope)
    if not record.supersedes or path in facts.files.paths(scope):
        return path
    return facts.files.path_for(record.subject, scope)


def _change_of(log: FactJournal, identifier: str, path: str) -> Fact | Confirmation:
    record = log.records.get(identifier)
    if record is None:
        return log.confirmations[identifier]
    return msgspec.structs.replace(record, path=path)


def _propose(facts: FactStore, path: str, ids: Sequence[str]) -> list[str]:
    """Add proposals to the review file; return their ids, or none if it is busy."""

    def change(data: bytes) -> bytes:
        for one in ids:
            data = review_bullet(data, facts.log.proposals[one])
        return data

    return list(ids) if edit(facts.root, path, change, timeout=_LOCK_TIMEOUT).status != "deferred" else []


def _zone(name: str) -> tzinfo:
    from zoneinfo import ZoneInfo

    return ZoneInfo(name)


def drop_proposals(facts: FactStore, scope: str, ids: Sequence[str]) -> None:
    """Delete decided proposals from the review file; one that is busy keeps them."""
    path = in_scope(scope, REVIEW)
    if not (facts.root / path).is_file():
        return

    def change(data: bytes) -> bytes:
        text = decode(data)
        for identifier in ids:
            text = without_fact(text, identifier)
        return encode(text)

    edit(facts.root, path, change, timeout=_REVIEW_TIMEOUT)
