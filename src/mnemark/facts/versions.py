"""Facts as they are now: the files, what people changed in them, and what is not in them yet."""

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, timedelta
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Final

import msgspec

from mnemark.facts.files import Confirmation, FactFiles
from mnemark.facts.journal import FactLog, past_id, payload_of, words_of
from mnemark.facts.keys import holds_many
from mnemark.facts.model import Fact
from mnemark.facts.timeline import when
from mnemark.files import edit, journal, layout, listing, platform
from mnemark.files.journal import Change
from mnemark.types import Json

if TYPE_CHECKING:
    from mnemark.facts.cache import Kept

_MEMORY: Final = "memory"
_NEXT: Final = timedelta(microseconds=1)
_SHARES: Final = frozenset({"importance", "confidence"})


def versions(log: FactLog, files: FactFiles, scope: str) -> list[Fact]:
    """Every version of every fact of a scope, in the order of the files; pending ones last."""
    standing = standing_facts(log, files, scope)
    found = [one for fact in standing.values() for one in shown_of(fact, log, files, scope)]
    return found + beside_files(log, files, scope, {fact.id for fact in found})


def shown_of(fact: Fact, log: FactLog, files: FactFiles, scope: str) -> list[Fact]:
    """What a fact in a file is, and was before a person changed it; nothing where it was forgotten."""
    if fact.id in log.hidden:
        return []
    said = _said(log, scope)
    return [_ended(confirmed_by(one, said), log) for one in _with_past(fact, log, files)]


def beside_files(log: FactLog, files: FactFiles, scope: str, there: Collection[str]) -> list[Fact]:
    """What was in files before, and what is in none yet; `there` are ids of what stands in files."""
    past = [
        fact
        for fact in log.past.values()
        if fact.scope == scope and fact.id not in log.hidden and fact.id not in there
    ]
    waiting = set(log.pending(scope))
    new = (log.records[one] for one in sorted(waiting & log.records.keys()) if one not in there)
    found = [*past, *(_pending(fact, files) for fact in new)]
    said = _said(log, scope)
    return [_ended(confirmed_by(fact, said), log) for fact in found]


def _said(log: FactLog, scope: str) -> list[Confirmation]:
    """Confirmations that wait for their file."""
    return [log.confirmations[one] for one in log.pending(scope) if one in log.confirmations]


def _ended(fact: Fact, log: FactLog) -> Fact:
    """With the end that a forgotten fact had given it: a predecessor does not come back by itself."""
    end = log.ends.get(fact.id, "")
    return msgspec.structs.replace(fact, until=end) if end and not fact.until else fact


def _pending(fact: Fact, files: FactFiles) -> Fact:
    path = fact.path or files.path_for(fact.subject, fact.scope)
    return msgspec.structs.replace(fact, path=path, pending=True)


def standing_facts(log: FactLog, files: FactFiles, scope: str) -> dict[str, Fact]:
    """The facts in the files of a scope by id.

    Of an id that stands twice, the bullet with the last known words keeps it; the other gets one of its own.
    """
    found: dict[str, Fact] = {}
    for path in files.paths(scope):
        for fact in files.facts(path):
            other = found.get(fact.id)
            if other is None:
                found[fact.id] = fact
                continue
            known = _last(log, fact.id)
            keeps = known is not None and words_of(known) == words_of(fact) != words_of(other)
            kept, copy = (fact, other) if keeps else (other, fact)
            found[fact.id] = kept
            if words_of(copy) != words_of(kept):
                found.setdefault(past_id(copy), msgspec.structs.replace(copy, id=past_id(copy)))
    return found


def _last(log: FactLog, identifier: str) -> Fact | None:
    """A fact as it was last known."""
    known = log.known.get(identifier)
    return known.fact if known else log.records.get(identifier)


def _with_past(fact: Fact, log: FactLog, files: FactFiles) -> list[Fact]:
    """A fact, and what it said before a person changed it in its file."""
    if fact.id in log.ended and _struck_by_hand(fact, files):
        fact = msgspec.structs.replace(fact, until=log.ended[fact.id])
    words, since, before = log.changed.get(fact.id, (None, "", ""))
    if words is not None and words == words_of(fact):
        return [msgspec.structs.replace(fact, since=since, origin="file", supersedes=before)]
    last = _last(log, fact.id)
    if last is not None and not _same(last, fact):
        since = _edited_at(files, fact.path, last)
        old = msgspec.structs.replace(last, id=past_id(last), until=since, path=fact.path, line=0)
        return [old, msgspec.structs.replace(fact, since=since, origin="file", supersedes=old.id)]
    known = log.known.get(fact.id)
    if known is not None and not fact.since and known.fact.recorded:
        fact = msgspec.structs.replace(fact, recorded=known.fact.recorded)
    return [fact]


def _edited_at(files: FactFiles, path: str, last: Fact) -> str:
    """When a person changed a fact: at the file's last save, and after it began to hold.

    A copy keeps the time of its original, and clocks differ: a change is never older than what it changed.
    """
    saved = files.saved(path)
    began = when(last.since, UTC) or when(last.recorded, UTC)
    return (saved if began is None or began < saved else began + _NEXT).isoformat()


def _struck_by_hand(fact: Fact, files: FactFiles) -> bool:
    """Whether a bullet is struck through and does not say since when: it counts from the file's last save."""
    return bool(fact.until) and fact.until == files.saved_iso(fact.path)


def _same(last: Fact, fact: Fact) -> bool:
    """Whether a bullet says what it said; in another file it may be about another subject."""
    as_written = (last.predicate, last.value) == (fact.predicate, fact.value)
    if as_written and (last.path != fact.path or last.subject == fact.subject):
        return True
    start = 0 if last.path == fact.path else 1
    return words_of(last)[start:] == words_of(fact)[start:]


def confirmed_by(fact: Fact, said: Iterable[Confirmation]) -> Fact:
    """A fact with what confirmations that wait for its file say."""
    for one in said:
        if one.fact == fact.id:
            fields: Mapping[str, Json] = {
                name: None if name in _SHARES and not text else text
                for name, text in one.fields.items()
                if name != "source"
            }
            fact = msgspec.convert(msgspec.to_builtins(fact) | dict(fields), Fact, strict=False)
    return fact


def edits(log: FactLog, files: FactFiles, kept: "Kept", scope: str) -> list[Change]:
    """What people did in the files of a scope since it was last noted, as lines for the journal.

    Only files that changed since are looked at; none while a journal cannot be read, as what is in it would
    be taken for new.
    """
    if journal.look(log.journal.root).problems:
        return []
    kept.refresh()
    paths = kept.changed()
    if not paths:
        return []
    standing = kept.standing(paths)
    gone = _gone(log, files, scope, kept.everywhere(), paths)
    if gone:
        edit.settle(files.root)
        kept.refresh()
        standing = kept.standing(paths)
        gone = _gone(log, files, scope, kept.everywhere(), paths)
    found: list[Change] = []
    for fact in standing.values():
        last = _last(log, fact.id)
        replaced = None if last else _replaced(fact, gone)
        if replaced is not None:
            gone.remove(replaced)
        ended = _struck_by_hand(fact, files) and fact.id not in log.ended
        if (payload := _edit(fact, last, replaced, files)) is not None:
            found.append(Change(kind="edit", origin="file", scope=scope, payload=payload))
        elif ended:
            payload = payload_of(fact) | {"fact": fact.id, "action": "ended"}
            found.append(Change(kind="edit", origin="file", scope=scope, payload=payload))
        elif fact.id in log.records and fact.id not in log.known:
            found.append(Change(kind="project", scope=scope, payload={"path": fact.path, "ids": [fact.id]}))
    kept.note({path for path in paths if _is_removed(files, path)})
    tombstones = [payload_of(fact) | {"fact": fact.id} for fact in gone]
    return found + [Change(kind="tombstone", origin="file", scope=scope, payload=one) for one in tombstones]


def _edit(fact: Fact, last: Fact | None, replaced: Fact | None, files: FactFiles) -> dict[str, Json] | None:
    now = payload_of(fact) | {"fact": fact.id}
    old = replaced or last
    if old is None:
        return now | {"action": "added"}
    if not _same(old, fact):
        since = _edited_at(files, fact.path, old)
        before = payload_of(old) | {"id": old.id, "origin": old.origin}
        return now | {"action": "changed", "since": since, "before": before}
    if last is not None and last.path and last.path != fact.path:
        return now | {"action": "moved"}
    return None


def _replaced(fact: Fact, gone: list[Fact]) -> Fact | None:
    """The bullet without a comment that a person wrote anew: in the same file, about the same."""
    if holds_many(fact.predicate):
        return None
    return next((old for old in gone if old.path == fact.path and old.key == fact.key), None)


def _gone(
    log: FactLog, files: FactFiles, scope: str, standing: Collection[str], paths: Collection[str]
) -> list[Fact]:
    """Facts this machine saw in one of these files and that stand in none any more."""
    missing = [
        known.fact
        for identifier, known in log.known.items()
        if known.own and identifier not in standing and known.fact.scope == scope and known.fact.path in paths
    ]
    missing = [fact for fact in missing if _is_removed(files, fact.path)]
    if not missing:
        return []
    elsewhere = _bytes_elsewhere(files.root, f"{scope}/{_MEMORY}" if scope else _MEMORY)
    return [fact for fact in missing if not any(f"id: {fact.id}".encode() in data for data in elsewhere)]


def _is_removed(files: FactFiles, path: str) -> bool:
    """Whether what stands in a file no more was taken out of it: the file can be read, and nobody saves it.

    What lies in a workspace of its own by now is nobody's removal.
    """
    try:
        return not layout.border(files.root, path) and _is_quiet(files, path)
    except OSError:
        return False


def _is_quiet(files: FactFiles, path: str) -> bool:
    """Whether nobody is saving the file: a save in place begins by emptying it.

    Raises OSError where it cannot be read.
    """
    full = files.root / path
    if platform.identity(full) is None:
        return True
    platform.opened(full).close()
    return time() - files.saved(path).timestamp() >= edit.QUIET


def _bytes_elsewhere(root: Path, folder: str) -> list[bytes]:
    """What the archive, the quarantine and copies of a scope hold: what moved there was not removed."""
    found = []
    for path in listing.walk(root, folder).files:
        if path.endswith(".md"):
            with suppress(OSError):  # the sync tells of it
                found.append(platform.content(root / path))
    return found
