"""`FactStore`: the facts of a workspace, and pending changes into their files."""

import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any, Final, TypeVar
from zoneinfo import ZoneInfo

import msgspec

from mnemark.errors import ReadOnlyError, UsageError
from mnemark.facts.cache import FactCache
from mnemark.facts.files import REVIEW, Confirmation, FactFiles, project, review_bullet
from mnemark.facts.journal import FactJournal
from mnemark.facts.model import Fact
from mnemark.facts.sources import Sources
from mnemark.facts.timeline import FactVersion
from mnemark.facts.visible import Visible
from mnemark.files import links
from mnemark.files.edit import edit
from mnemark.files.ids import is_id, time_of
from mnemark.files.journal import Change
from mnemark.files.workspace import Workspace
from mnemark.text.redaction.redact import Rules

T = TypeVar("T")
_DAY: Final = 86_400.0
_BUSY: Final = 0.3
AT_ONCE: Final = 50
"""Changes that one call brings into the files: a long backlog must not hold up a reader."""


class FactStore:
    """The facts of a workspace: files and journal together. Hold `lock` while changing them."""

    def __init__(self, workspace: Workspace, visible: Visible) -> None:
        root, zone = workspace.root, workspace.config.timezone
        self.workspace = workspace
        self.root = root
        self.redacted = visible.redacted
        self.zone: tzinfo = ZoneInfo(zone) if zone else _local()
        self.log = FactJournal(workspace.journal, visible.redacted)
        self.files = FactFiles(root, visible.redacted)
        self.sources = Sources(self.log)
        self.lock = threading.RLock()
        self._kept: dict[str, FactCache] = {}
        self._derived: dict[Any, dict[str, tuple[Fact, Any]]] = {}
        self.blocked: dict[str, str] = {}
        """Files that facts wait for and that cannot be written, with the reason."""
        self.changed: Callable[[], None] = _nobody_listens
        """Called when this process wrote a fact; who searches listens."""

    def derive(self, make: Callable[[Fact, tzinfo], T], fact: Fact) -> T:
        """Return `make(fact, zone)`, made once for as long as the fact stays as it was read."""
        made = self._derived.setdefault(make, {})
        known = made.get(fact.id)
        if known is None or known[0] is not fact:
            known = made[fact.id] = fact, make(fact, self.zone)
        found: T = known[1]
        return found

    @property
    def rules(self) -> Rules:
        """What is taken out of a fact before it is kept."""
        return self.workspace.rules

    def scopes(self) -> list[str]:
        """Scopes whose facts were read."""
        return list(self._kept)

    def held(self, scope: str) -> list[FactVersion]:
        """All versions of the facts of a scope and when they held."""
        return self.fresh(scope).held()

    def fresh(self, scope: str) -> FactCache:
        """The facts of a scope as files and journal are now."""
        kept = self.kept(scope)
        kept.refresh()
        return kept

    def kept(self, scope: str) -> FactCache:
        """The facts of a scope as they were last read."""
        if scope not in self._kept:
            self._kept[scope] = FactCache(self.log, self.files, scope, self.zone)
        return self._kept[scope]


def _nobody_listens() -> None:
    return


def _local() -> tzinfo:
    return datetime.now().astimezone().tzinfo or UTC


def bring_in(facts: FactStore, scope: str | None = None, *, most: int = AT_ONCE) -> None:
    """Bring up to `most` acknowledged changes into the files; what is busy is left for the next time."""
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
            done = _brought(facts, path, ids)
        except (ReadOnlyError, UsageError) as error:  # a file that is closed, or none: the others go on
            facts.blocked[path] = str(error)
            continue
        facts.blocked.pop(path, None)
        if done:
            log.append(Change(kind="project", scope=where, payload={"path": path, "ids": done}))
        most -= len(done)
        if most <= 0:
            break


def _brought(facts: FactStore, path: str, ids: Sequence[str]) -> list[str]:
    """Bring changes into one file; the ids of those that stand in it now."""
    if path.endswith(REVIEW):
        return _propose(facts, path, ids)
    return project(facts.root, path, [_change_of(facts.log, one, path) for one in ids], facts.zone)[1]


def _is_ours(log: FactJournal, identifier: str) -> bool:
    """Whether this machine brings a change into its file: its own, or one left lying for a day."""
    if log.machines[identifier] == log.journal.file:
        return True
    made = time_of(identifier) if is_id(identifier) else datetime.now(UTC)
    return (datetime.now(UTC) - made).total_seconds() > _DAY


def _path_of(facts: FactStore, identifier: str) -> str:
    log = facts.log
    scope = log.scopes[identifier]
    if identifier in log.proposals:
        return f"{scope}/{REVIEW}" if scope else REVIEW
    if (said := log.confirmations.get(identifier)) is not None:
        for path in facts.files.paths(scope):
            if any(fact.id == said.fact for fact in facts.files.facts(path)):
                return path
        record = log.records.get(said.fact)
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
    """List proposals for a person to decide on."""

    def change(data: bytes) -> bytes:
        for one in ids:
            data = review_bullet(data, facts.log.proposals[one])
        return data

    return list(ids) if edit(facts.root, path, change, timeout=_BUSY).status != "deferred" else []
