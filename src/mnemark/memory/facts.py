"""Facts: remembered once acknowledged, replaced by newer ones, found as of any day."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import msgspec

from mnemark.errors import BusyError, ReadOnlyError, UsageError
from mnemark.files import jsonl, names
from mnemark.files.facts import Confirmation
from mnemark.files.ids import new_id
from mnemark.files.journal import Change
from mnemark.files.locks import workspace_lock
from mnemark.files.turns import decode_turn
from mnemark.memory.arguments import scopes_of
from mnemark.memory.facts_log import FactLog, payload_of, words_of
from mnemark.memory.facts_project import AT_ONCE, State, bring_in, state_of
from mnemark.memory.facts_view import confirmed_by, edits
from mnemark.memory.read import split_ref
from mnemark.memory.when import local_now, moment
from mnemark.text.facts import clean
from mnemark.text.facts_keys import predicate_key, subject_key, value_key
from mnemark.text.facts_timeline import PRIORITIES, TRUST, TYPES, Fact, Held, confirmed, order
from mnemark.text.facts_write import predicate_words
from mnemark.text.fence import strip_fences
from mnemark.text.redact import redact
from mnemark.types import ORIGINS, Origin, Turn

if TYPE_CHECKING:
    from mnemark.memory.core import Memory

CONFIDENCE: Final[dict[Origin, float]] = {
    "owner": 0.9, "agent": 0.7, "file": 0.9, "import": 0.6, "tool": 0.3, "web": 0.3,
}  # fmt: skip
"""Where the caller names none."""
_PATIENCE: Final = 10.0


def remember(
    memory: "Memory",
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
) -> Fact:
    """Keep a fact; when this returns, it is on the disk.

    Of the same subject and predicate the newer `since` holds; the value before is kept as history. The same
    value again raises the confidence of the fact where another source says it. What tools or the web say,
    what contradicts someone who is trusted more, and what a person removed, waits in `memory/review/`: the
    fact returned then has a `review`.

    Args:
        memory: where.
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

    Raises:
        UsageError: an argument is wrong; the message names a right one.
        BusyError, ReadOnlyError: it could not be written, and is not kept.
    """
    if memory.readonly:
        raise ReadOnlyError("this memory is open for reading only; open it for writing to remember")
    facts = state_of(memory)
    now = local_now(memory.config.timezone)
    recorded = now.isoformat()
    given = moment(since, "since", now)
    start = recorded if given is None else given.replace(tzinfo=given.tzinfo or facts.zone).isoformat()
    if origin not in ORIGINS:
        raise UsageError(f"origin {origin!r} is none of {', '.join(ORIGINS)}")
    fact = Fact(
        id=new_id(),
        subject=_safe(facts, subject) or "user",
        predicate=predicate_words(_safe(facts, predicate)),
        value=_kept_words(facts, predicate, value),
        type=_one_of(type, TYPES, "type"),
        since=start,
        recorded="" if start == recorded else recorded,
        origin=origin,
        importance=_share(importance, "importance"),
        confidence=CONFIDENCE[origin] if confidence is None else _share(confidence, "confidence"),
        priority=_one_of(priority, PRIORITIES, "priority") if priority else "",
        tags=tuple(filter(None, (_safe(facts, tag).replace(",", " ") for tag in tags))),
        source=_safe(facts, source or ""),
        scope=_scope(scope),
    )
    with facts.lock:
        turn = _turn_of(facts, fact.source)
        kept = _acknowledge(facts, _as_said(fact, turn), turn)
        bring_in(facts, fact.scope)
    memory.book.wrote()
    memory.follower.look_again()
    return kept


def _kept_words(facts: State, predicate: str, value: str) -> str:
    """The value without secrets and recalled blocks, on one line."""
    rules = facts.rules
    if predicate_key(predicate) == "email":  # an address is what this fact is about, not a leak
        rules = msgspec.structs.replace(rules, emails=False)
    before = f"{predicate_words(predicate)}: "  # "password: …" tells what the value alone does not
    together = redact(before + strip_fences(value), rules).text
    alone = together.startswith(before)
    words = clean(together.removeprefix(before) if alone else redact(strip_fences(value), rules).text)
    if not words:
        raise UsageError("a fact needs a value; recalled text and private passages are none")
    return words


def _safe(facts: State, text: str) -> str:
    """Other words of a fact, without secrets."""
    return clean(redact(strip_fences(text), facts.rules).text)


def _one_of(word: str, known: Sequence[str], name: str) -> str:
    if word not in known:
        raise UsageError(f"{name} {word!r} is none of {', '.join(known)}")
    return word


def _share(number: float | None, name: str) -> float | None:
    if number is not None and not 0 <= number <= 1:
        raise UsageError(f"{name} is a number from 0 to 1, not {number}")
    return number


def _scope(scope: str) -> str:
    if scope == "*":
        raise UsageError('a fact belongs to one scope: "users/NAME", "agents/NAME", "projects/NAME" or ""')
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


def _turn_of(facts: State, source: str) -> Turn | None:
    """The turn a source names; None where it is none."""
    path, line, last = split_ref(source)
    if last is None or not path.endswith(".jsonl"):
        return None
    for found, record in jsonl.records(names.inside(facts.root, path)):
        if found.number >= line:
            return decode_turn(record, found) if found.number == line else None
    return None


def _acknowledge(facts: State, fact: Fact, turn: Turn | None) -> Fact:
    """Decide what a fact is in the light of the others, and write that down."""
    log = facts.log
    with workspace_lock(facts.root, _PATIENCE):
        log.refresh()
        if noted := edits(log, facts.files, fact.scope):
            log.append(*noted)
        start = order(fact, facts.zone)[0]
        held = [one for one in facts.held(fact.scope) if one.fact.key == fact.key]
        there = [one.fact for one in held if one.at(start)]
        same = next((one for one in there if words_of(one) == words_of(fact)), None)
        if same is not None:
            return _confirm(log, same, fact)
        rival = max(there, key=lambda one: TRUST[one.origin], default=None)
        if reason := _doubt(log, fact, rival, turn):
            kind = "conflict" if reason == "conflict" else "propose"
            against = rival.id if rival is not None else ""
            fact = msgspec.structs.replace(fact, review=reason, supersedes=against)
        else:
            kind = "remember"
            path = rival.path if rival is not None else ""
            path = path or facts.files.path_for(fact.subject, fact.scope)
            fact = msgspec.structs.replace(fact, path=path, supersedes=there[-1].id if there else "")
        change = Change(kind=kind, payload=payload_of(fact), origin=fact.origin, scope=fact.scope, id=fact.id)
        log.append(change)
    return fact if fact.review else msgspec.structs.replace(fact, pending=True)


def _doubt(log: FactLog, fact: Fact, rival: Fact | None, turn: Turn | None) -> str:
    """Why a fact has to wait for a person; empty where it need not."""
    if fact.origin in {"tool", "web"}:
        return "untrusted"
    if rival is not None and TRUST[rival.origin] > TRUST[fact.origin]:
        return "conflict"
    removed = log.removed.get((fact.scope, words_of(fact)))
    if removed is None or (fact.origin == "owner" and not fact.source):
        return ""
    later = turn is not None and turn.time.astimezone(UTC) > datetime.fromisoformat(removed)
    return "" if fact.origin == "owner" and later else "removed"


def _confirm(log: FactLog, same: Fact, fact: Fact) -> Fact:
    """Said again: by a source of its own it makes the fact surer; what is not trusted changes nothing."""
    if fact.origin in {"tool", "web"}:
        return same
    said = [log.confirmations[one] for one in log.confirmations if log.confirmations[one].fact == same.id]
    sources = {_origin_of(part) for part in same.source.split(",")}
    sources |= {_origin_of(one.fields.get("source", "")) for one in said}
    fields: dict[str, str] = {}
    if fact.source and _origin_of(fact.source) not in sources:
        before = CONFIDENCE[same.origin] if same.confidence is None else same.confidence
        by = CONFIDENCE[fact.origin] if fact.confidence is None else fact.confidence
        fields = {"confidence": f"{max(before, confirmed(before, by)):g}", "source": fact.source}
    if TRUST[fact.origin] > TRUST[same.origin]:
        fields["origin"] = fact.origin
    if not fields:
        return same
    payload = {"fact": same.id, "path": same.path, "fields": fields}
    change = log.append(Change(kind="confirm", payload=payload, origin=fact.origin, scope=fact.scope))[0]
    return confirmed_by(same, [Confirmation(change.id, same.id, fields)])


def _origin_of(source: str) -> str:
    """What makes sources independent: the file, not the line."""
    return split_ref(source.strip())[0]


def catch_up(memory: "Memory", *, most: int = AT_ONCE) -> int:
    """Bring up to `most` changes that are acknowledged but in no file yet into the files.

    What is busy waits on. Returns how many still wait; reads show them all the same.
    """
    facts = state_of(memory)
    with facts.lock:
        facts.log.refresh()
        if not memory.readonly and facts.log.pending():
            bring_in(facts, most=most)
        return len(facts.log.pending())


def follow(memory: "Memory", scope: str = "") -> int:
    """Note in the journal what people changed in the fact files; returns how many changes there were."""
    if memory.readonly:
        raise ReadOnlyError("this memory is open for reading only; open it for writing to note changes")
    facts = state_of(memory)
    with facts.lock, workspace_lock(facts.root, _PATIENCE):
        facts.log.refresh()
        noted = edits(facts.log, facts.files, _scope(scope))
        if noted:
            facts.log.append(*noted)
        return len(noted)


def facts(
    memory: "Memory",
    *,
    subject: str | None = None,
    as_of: datetime | str | None = None,
    history: bool = False,
    scope: str = "",
) -> Iterator[Fact]:
    """The facts that hold, as the files and what is acknowledged say; a scope's own before the root's.

    Args:
        memory: whose.
        subject: only about this one.
        as_of: those that held then; now by default. A fact without a date counts as true all along.
        history: also the values before, each behind the one that took its place, with `until`.
        scope: whose memory beside the root's.

    Raises:
        UsageError: an argument is wrong; the message names a right one.
    """
    known = state_of(memory)
    now = local_now(memory.config.timezone)
    at = moment(as_of, "as_of", now, last=True) or datetime.now(UTC)
    at = at.replace(tzinfo=at.tzinfo or known.zone)
    with suppress(BusyError, ReadOnlyError):  # what waits for its file is shown all the same
        catch_up(memory)
    with known.lock:
        held = [one for where in dict.fromkeys((_scope(scope), "")) for one in known.held(where)]
    groups: dict[tuple[str, ...], list[Held]] = {}
    for one in held:
        if subject is None or subject_key(one.fact.subject) == subject_key(subject):
            groups.setdefault((one.fact.scope, *one.fact.key), []).append(one)
    for group in groups.values():
        for one in reversed(group):
            began = one.begin is None or one.begin <= at
            if one.at(at) or (history and (began or as_of is None)):
                yield one.fact
