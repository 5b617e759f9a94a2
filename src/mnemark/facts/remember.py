"""Remember facts, list them as of any day, and write pending ones into their files."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import msgspec

from mnemark.errors import BusyError, ReadOnlyError, UsageError
from mnemark.facts.decide import CONFIDENCE, Deciding
from mnemark.facts.hand_edits import edits
from mnemark.facts.keys import predicate_key, subject_key, value_key
from mnemark.facts.model import PRIORITIES, TYPES, Fact
from mnemark.facts.parse import clean
from mnemark.facts.store import AT_ONCE, FactStore, bring_in
from mnemark.facts.timeline import FactVersion
from mnemark.facts.write import predicate_words
from mnemark.files import jsonl, layout, names
from mnemark.files.ids import new_id
from mnemark.files.locks import workspace_lock
from mnemark.files.names import split_ref
from mnemark.files.scopes import scopes_of
from mnemark.files.turns import decode_turn
from mnemark.text.dates.moment import moment
from mnemark.text.quoting.fence import strip_fences
from mnemark.text.redaction.redact import redact
from mnemark.types import ORIGINS, Origin, Turn


class _Said(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `remember`."""

    predicate: str
    value: str
    subject: str = "user"
    type: str = "fact"
    origin: Origin = "owner"
    since: datetime | str | None = None
    importance: float | None = None
    confidence: float | None = None
    priority: str = ""
    tags: Sequence[str] = ()
    source: str | None = None
    scope: str = ""


def remember(
    store: FactStore,
    predicate: str,
    value: str,
    *,
    subject: str = "user",
    type: str = "fact",  # noqa: A002 - the word of the file format
    origin: Origin = "owner",
    since: datetime | str | None = None,
    importance: float | None = None,
    confidence: float | None = None,
    priority: str = "",
    tags: Sequence[str] = (),
    source: str | None = None,
    scope: str = "",
    dry_run: bool = False,
) -> Fact:
    """Keep a fact; when this returns, it is on the disk.

    Of the same subject and predicate the newer `since` holds; the value before is kept as history. The same
    value again raises the confidence of the fact where another source says it. What tools or the web say,
    what contradicts someone who is trusted more, and what a person removed, waits in `memory/review/`: the
    fact returned then has a `review`.

    Args:
        store: where.
        predicate: what it is about the subject, in any language; empty for a statement.
        value: what it is; line breaks become blanks.
        subject: whom or what it is about.
        type: fact, preference, rule, skill or error.
        origin: who says so.
        since: from when it holds (a datetime, ISO text, or words such as "last week"); now by default.
        importance: 0 to 1.
        confidence: 0 to 1; by default what the origin is worth.
        priority: transient, short, long or permanent.
        tags: words.
        source: the ref where it was said, such as `sessions/cli-main-3f2a.jsonl#L12`.
        scope: whose memory, such as "users/ann"; the root's by default.
        dry_run: only say what would become of it.

    Raises:
        UsageError: an argument is wrong; the message names a right one.
        BusyError, ReadOnlyError: it could not be written, and is not kept.
    """
    said = {
        "predicate": predicate, "value": value, "subject": subject, "type": type, "origin": origin,
        "since": since, "importance": importance, "confidence": confidence, "priority": priority,
        "tags": tags, "source": source, "scope": scope,
    }  # fmt: skip
    return remember_many(store, [said], dry_run=dry_run)[0]


def remember_many(
    store: FactStore, said: Iterable[Mapping[str, Any]], *, dry_run: bool = False
) -> list[Fact]:
    """Keep many facts at once: all of them, or none; when this returns, they are on the disk.

    Each is decided in the light of those before it, as by as many calls of `remember`, with one line and one
    `fsync` of the journal for all, and one edit of each file.

    Args:
        store: where.
        said: the arguments of `remember` for each, at least `predicate` and `value`.
        dry_run: only say what would become of them.

    Raises:
        UsageError: an argument is wrong; nothing was kept.
        BusyError, ReadOnlyError: it could not be written, and nothing is kept.
    """
    if not dry_run:
        store.workspace.check_writable("remember")
    now = store.workspace.now()
    new = [_fact_of(store, now, one) for one in said]
    scopes = dict.fromkeys(fact.scope for fact in new)
    for scope in scopes:
        layout.check_border(store.root, scope)
    with store.lock:
        turns = {fact.source: _turn_of(store, fact.source) for fact in new if fact.source}
        meant = [(_as_said(fact, turns.get(fact.source)), turns.get(fact.source)) for fact in new]
        if dry_run:
            store.log.refresh()
            return Deciding(store, scopes).decide_all(meant)
        with workspace_lock(store.root):
            store.log.refresh()
            noted = [
                one for scope in scopes for one in edits(store.log, store.files, store.kept(scope), scope)
            ]
            if noted:
                store.log.append(*noted)
            deciding = Deciding(store, scopes, read=not noted)
            kept = deciding.decide_all(meant)
            if deciding.changes:
                store.log.append(*deciding.changes)
        for scope in scopes:
            bring_in(store, scope, most=max(AT_ONCE, len(new)))
    store.changed()
    return kept


def _fact_of(facts: FactStore, now: datetime, said: Mapping[str, Any]) -> Fact:
    """The fact that the arguments of `remember` mean."""
    try:
        given = _Said(**said)
    except TypeError as error:
        raise UsageError(f"wrong argument for a fact: {error}") from None
    origin, scope = given.origin, _scope(given.scope)
    if origin not in ORIGINS:
        raise UsageError(f"origin must be one of {', '.join(ORIGINS)}, not {origin!r}")
    recorded = now.isoformat()
    since = moment(given.since, "since", now)
    start = recorded if since is None else since.replace(tzinfo=since.tzinfo or facts.zone).isoformat()
    own = CONFIDENCE[origin] if given.confidence is None else _share(given.confidence, "confidence")
    return Fact(
        id=new_id(),
        subject=_safe(facts, given.subject) or "user",
        predicate=predicate_words(_safe(facts, given.predicate)),
        value=_kept_words(facts, given.predicate, given.value),
        type=_one_of(given.type, TYPES, "type"),
        since=start,
        recorded="" if start == recorded else recorded,
        origin=origin,
        importance=_share(given.importance, "importance"),
        confidence=own,
        priority=_one_of(given.priority, PRIORITIES, "priority") if given.priority else "",
        tags=tuple(filter(None, (_safe(facts, tag).replace(",", " ") for tag in given.tags))),
        source=_safe(facts, given.source or ""),
        scope=scope,
    )


def _kept_words(facts: FactStore, predicate: str, value: str) -> str:
    """The value without secrets and recalled blocks, on one line."""
    rules = facts.rules
    if predicate_key(predicate) == "email":  # an address is what this fact is about, not a leak
        rules = msgspec.structs.replace(rules, emails=False)
    before = f"{predicate_words(predicate)}: "  # "password: …" tells what the value alone does not
    together = redact(before + strip_fences(value), rules).text
    alone = together.startswith(before)
    words = clean(together.removeprefix(before) if alone else redact(strip_fences(value), rules).text)
    if not words:
        raise UsageError(
            "a fact needs a value that is not empty (recalled text and private passages are removed first)"
        )
    return words


def _safe(facts: FactStore, text: str) -> str:
    """Other words of a fact, without secrets."""
    return clean(redact(strip_fences(text), facts.rules).text)


def _one_of(word: str, known: Sequence[str], name: str) -> str:
    if word not in known:
        raise UsageError(f"{name} must be one of {', '.join(known)}, not {word!r}")
    return word


def _share(number: float | None, name: str) -> float | None:
    if number is not None and not 0 <= number <= 1:
        raise UsageError(f"{name} must be a number from 0 to 1, not {number}")
    return number


def _scope(scope: str) -> str:
    if scope == "*":
        raise UsageError('scope must be "users/NAME", "agents/NAME", "projects/NAME" or "" (shared)')
    scopes_of(scope)
    return scope


def _as_said(fact: Fact, turn: Turn | None) -> Fact:
    """An agent's fact that cites an owner's turn with the value in it counts as the owner's."""
    if fact.origin != "agent" or turn is None or turn.origin != "owner":
        return fact
    value = re.escape(value_key(fact.value))
    # "3" is not said by "3.12", nor "Ann" by "Anna"; Chinese words have no edges to look for.
    before, after = (r"(?<![a-z0-9.])" if value[:1].isascii() else ""), r"(?!\.?[a-z0-9])"
    found = re.search(
        before + value + (after if value[-1:].isascii() else ""), value_key(strip_fences(turn.content))
    )
    return msgspec.structs.replace(fact, origin="owner") if found else fact


def _turn_of(facts: FactStore, source: str) -> Turn | None:
    """The turn a source names; None where it is none."""
    path, line, last = split_ref(source)
    if last is None or not path.endswith(".jsonl"):
        return None
    for found, record in jsonl.records(names.inside(facts.root, path)):
        if found.number >= line:
            return decode_turn(record, found) if found.number == line else None
    return None


def catch_up(store: FactStore, *, most: int = AT_ONCE) -> int:
    """Bring up to `most` changes that are acknowledged but in no file yet into the files.

    What is busy waits on. Returns how many still wait; reads show them all the same.
    """
    with store.lock:
        store.log.refresh()
        if not store.workspace.readonly and store.log.pending():
            bring_in(store, most=most)
        return len(store.log.pending())


def follow(store: FactStore, scope: str = "") -> int:
    """Note in the journal what people changed in the fact files; returns how many changes there were."""
    store.workspace.check_writable("note changes")
    where = _scope(scope)
    with store.lock, workspace_lock(store.root):
        store.log.refresh()
        noted = edits(store.log, store.files, store.kept(where), where)
        if noted:
            store.log.append(*noted)
        return len(noted)


def facts(
    store: FactStore,
    *,
    subject: str | None = None,
    as_of: datetime | str | None = None,
    history: bool = False,
    scope: str = "",
) -> Iterator[Fact]:
    """The facts that hold, as the files and what is acknowledged say; a scope's own before the root's.

    Args:
        store: whose.
        subject: only about this one.
        as_of: those that held then; now by default. A fact without a date counts as true all along.
        history: also the values before, each behind the one that took its place, with `until`.
        scope: whose memory beside the root's.

    Raises:
        UsageError: an argument is wrong; the message names a right one.
    """
    known = store
    now = store.workspace.now()
    at = moment(as_of, "as_of", now, last=True) or datetime.now(UTC)
    at = at.replace(tzinfo=at.tzinfo or known.zone)
    with suppress(BusyError, ReadOnlyError):  # what waits for its file is shown all the same
        catch_up(store)
    with known.lock:
        held = [one for where in dict.fromkeys((_scope(scope), "")) for one in known.held(where)]
    groups: dict[tuple[str, ...], list[FactVersion]] = {}
    for one in held:
        if subject is None or subject_key(one.fact.subject) == subject_key(subject):
            groups.setdefault((one.fact.scope, *one.fact.key), []).append(one)
    for group in groups.values():
        for one in reversed(group):
            began = one.begin is None or one.begin <= at
            if one.at(at) or (history and (began or as_of is None)):
                yield one.fact
