"""Write pending changes of facts, which are in the journal, to their files."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

import msgspec

from mnemark.errors import MnemarkError
from mnemark.facts.corrections import paths_of, write_correction
from mnemark.facts.file_changes import project, review_bullet
from mnemark.facts.files import REVIEW, Confirmation
from mnemark.facts.journal import FactJournal
from mnemark.facts.model import Fact
from mnemark.facts.parse import parse
from mnemark.facts.store import FactStore
from mnemark.facts.write import without_fact
from mnemark.files import links, platform
from mnemark.files.disk_errors import shortage
from mnemark.files.edit import edit
from mnemark.files.ids import is_id, time_of
from mnemark.files.journal import Change
from mnemark.files.layout import in_scope
from mnemark.text.lines import decode, encode
from mnemark.types import Json

AT_ONCE: Final = 50
"""Maximum number of changes one call writes to the files: a long backlog must not delay a reader."""
_DAY: Final = 86_400.0
_LOCK_TIMEOUT: Final = 0.3
_REVIEW_TIMEOUT: Final = 0.5


def catch_up(store: FactStore) -> int:
    """Write pending changes, not too many, to the files; return how many are still pending.

    Busy files are skipped. Reads include pending changes.
    """
    with store.lock:
        store.log.refresh()
        if not store.workspace.readonly and store.log.pending():
            bring_in(store)
        return len(store.log.pending())


def bring_in(facts: FactStore, scope: str | None = None, *, most: int = AT_ONCE, own: str = "") -> None:
    """Write up to `most` pending changes to the files; skip busy files. Refresh the log first.

    `own`: a change that this machine writes, whoever made it: it has taken it back.
    """
    links.check_again(facts.root)
    log = facts.log
    groups: dict[tuple[str, str, str], list[str]] = {}
    for one in log.pending(scope):
        if one == own or _is_ours(log, one):
            alone = one if one in log.tables.corrections else ""  # it may change two files
            groups.setdefault((log.scope_of(one), _path_of(facts, one), alone), []).append(one)
    for (where, path, correction), waiting in groups.items():
        ids = waiting[:most]
        try:
            done = _correct(facts, correction) if correction else _write(facts, path, ids)
            if done:
                undone = {"restored": True} if correction in log.tables.undone else {}
                payload: dict[str, Json] = {"path": path, "ids": done, **undone}
                log.append(Change(kind="project", scope=where, payload=payload))
        except (MnemarkError, OSError) as error:  # the journal has them: each sync tries again
            facts.blocked[path] = shortage(error) or str(error)
            continue
        facts.blocked.pop(path, None)
        most -= len(done)
        if most <= 0:
            break


def _write(facts: FactStore, path: str, ids: Sequence[str]) -> list[str]:
    """Write changes to one file; return the ids of those now in it."""
    if path.endswith(REVIEW):
        return _propose(facts, path, ids)
    return project(facts.truth, path, [_change_of(facts.log, one, path) for one in ids], facts.zone)[1]


def _correct(facts: FactStore, identifier: str) -> list[str]:
    """Write a correction to its files, or take it out of them where it was undone; return its id if done."""
    tables = facts.log.tables
    undone = identifier in tables.undone
    done = write_correction(facts.truth, tables.corrections[identifier], facts.zone, undone=undone)
    return [identifier] if done else []


def _is_ours(log: FactJournal, identifier: str) -> bool:
    """Whether this machine writes a change: its own, or another machine's after a day."""
    if log.is_own(identifier):
        return True
    made = time_of(identifier) if is_id(identifier) else datetime.now(UTC)
    return (datetime.now(UTC) - made).total_seconds() > _DAY


def _path_of(facts: FactStore, identifier: str) -> str:
    log = facts.log
    scope = log.scope_of(identifier)
    if log.of(identifier).proposed:
        return in_scope(scope, REVIEW)
    if (confirmation := log.tables.confirmations.get(identifier)) is not None:
        for path in facts.files.paths(scope):
            if any(fact.id == confirmation.fact for fact in facts.files.facts(path)):
                return path
        fact = log.of(confirmation.fact).record
        return fact.path if fact is not None else facts.files.path_for("user", scope)
    if (correction := log.tables.corrections.get(identifier)) is not None:
        return next(reversed(paths_of(correction)), "")
    record = log.stored(identifier)
    path = record.path or facts.files.path_for(record.subject, scope)
    if not record.supersedes or path in facts.files.paths(scope):
        return path
    return facts.files.path_for(record.subject, scope)


def _change_of(log: FactJournal, identifier: str, path: str) -> Fact | Confirmation:
    return log.tables.confirmations.get(identifier) or msgspec.structs.replace(
        log.stored(identifier), path=path
    )


def _propose(facts: FactStore, path: str, ids: Sequence[str]) -> list[str]:
    """Add proposals to the review file; return their ids, or none if it is busy."""

    def change(data: bytes) -> bytes:
        for one in ids:
            data = review_bullet(data, facts.log.stored(one))
        return data

    return list(ids) if edit(facts.truth, path, change, timeout=_LOCK_TIMEOUT).status != "deferred" else []


def drop_decided(facts: FactStore) -> None:
    """Delete from the review files what was decided while a file was busy, and words against what is over."""
    against = facts.log.tables.otherwise
    over = {one: fact for fact, ids in against.items() for one in ids}
    over |= {one.id: one.supersedes for one in facts.log.proposals() if one.review in {"correction", "never"}}
    for scope in {facts.log.scope_of(one) for one in (*facts.log.tables.decided, *over)}:
        path = facts.root / in_scope(scope, REVIEW)
        if path.is_file():
            there = {one.id for one in parse(decode(platform.content(path))) if one.id}
            left = there & facts.log.tables.decided.keys()
            if waiting := (there & over.keys()) - left:
                now = facts.workspace.now()
                held = {one.fact.id for one in facts.held(scope) if one.at(now)}
                left |= {one for one in waiting if over[one] not in held or facts.log.of(one).hidden}
            if left:
                drop_proposals(facts, scope, sorted(left))


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

    edit(facts.truth, path, change, timeout=_REVIEW_TIMEOUT)
