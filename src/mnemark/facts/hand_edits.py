"""Detect hand edits in fact files and convert them to journal lines."""

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from time import time
from typing import TYPE_CHECKING

from mnemark.facts.files import FactFiles
from mnemark.facts.fold import payload_of
from mnemark.facts.journal import FactJournal
from mnemark.facts.keys import holds_many
from mnemark.facts.model import Fact
from mnemark.facts.versions import edited_at, says_same
from mnemark.files import edit, layout, listing, platform
from mnemark.files.journal import Change
from mnemark.types import Json

if TYPE_CHECKING:
    from mnemark.facts.cache import FactCache


def edits(log: FactJournal, files: FactFiles, kept: "FactCache", scope: str) -> list[Change]:
    """Return journal lines for the hand edits in a scope since the last call; refresh the log first.

    Only changed files are compared; none while a journal is unreadable, as its facts would look new.
    """
    if log.problems:
        return []
    kept.refresh()
    paths = kept.changed()
    if not paths:
        return []
    gone = _missing_facts(log, files, scope, kept.everywhere(), paths)
    if gone:
        edit.settle(log.journal.truth)
        kept.refresh()
        gone = _missing_facts(log, files, scope, kept.everywhere(), paths)
    found: list[Change] = []
    saved = {path: files.saved_iso(path) for path in paths}
    for fact in kept.standing(paths).values():
        state = log.of(fact.id)
        last = state.last
        replaced = None if last else _replaced(fact, gone)
        if replaced is not None:
            gone.remove(replaced)
        payload = _edit(fact, last, replaced, files)
        # Struck through without saying when: it ended when the file was last saved.
        if payload is None and fact.until and fact.until == saved[fact.path] and state.struck is None:
            payload = payload_of(fact) | {"fact": fact.id, "action": "ended"}
        if payload is not None:
            found.append(Change(kind="edit", origin="file", scope=scope, payload=payload))
        elif state.known is None and state.record is not None:
            found.append(Change(kind="project", scope=scope, payload={"path": fact.path, "ids": [fact.id]}))
    kept.note({path for path in paths if _is_removed(files, path)})
    tombstones = [payload_of(fact) | {"fact": fact.id} for fact in gone]
    return found + [Change(kind="tombstone", origin="file", scope=scope, payload=one) for one in tombstones]


def _edit(fact: Fact, last: Fact | None, replaced: Fact | None, files: FactFiles) -> dict[str, Json] | None:
    old = replaced or last
    said: dict[str, Json]
    if old is None:
        said = {"action": "added"}
    elif not says_same(old, fact):
        before = payload_of(old) | {"id": old.id, "origin": old.origin}
        said = {"action": "changed", "since": edited_at(files, fact.path, old), "before": before}
    elif last is not None and last.path and last.path != fact.path:
        said = {"action": "moved"}
    else:
        return None
    return payload_of(fact) | {"fact": fact.id} | said


def _replaced(fact: Fact, gone: list[Fact]) -> Fact | None:
    """Return the removed fact that a new bullet replaces: of the same key in the same file; or None."""
    if holds_many(fact.predicate):
        return None
    return next((old for old in gone if old.path == fact.path and old.key == fact.key), None)


def _missing_facts(
    log: FactJournal, files: FactFiles, scope: str, standing: Collection[str], paths: Collection[str]
) -> list[Fact]:
    """Return the facts that this machine saw in one of these files and that are in no file now.

    What was corrected left its file with that.
    """
    wrong = {one.wrong for one in log.tables.corrections.values()}
    missing = [
        fact
        for state in log.tables.facts.values()
        if state.own
        and (fact := state.known) is not None
        and fact.id not in standing
        and fact.id not in wrong
        and fact.scope == scope
        and fact.path in paths
        and _is_removed(files, fact.path)
    ]
    # Facts moved to the archive, the quarantine or a copy were not removed.
    elsewhere = _note_contents(files.root, layout.in_scope(scope, "memory")) if missing else []
    return [fact for fact in missing if not any(f"id: {fact.id}".encode() in data for data in elsewhere)]


def _is_removed(files: FactFiles, path: str) -> bool:
    """Whether facts missing in a file were removed: the file is in this workspace, readable and not busy.

    An in-place save truncates the file first.
    """
    full = files.root / path
    try:
        if layout.border(files.root, path):
            return False
        if platform.identity(full) is None:
            return True
        platform.opened(full).close()
    except OSError:
        return False
    return abs(time() - files.saved(path).timestamp()) >= edit.QUIET  # in the future: of a wrong clock


def _note_contents(root: Path, folder: str) -> list[bytes]:
    found = []
    for path in listing.walk(root, folder).files:
        if path.endswith(".md"):
            with suppress(OSError):  # reported by the sync
                found.append(platform.content(root / path))
    return found
