"""Remember facts, list the facts valid at a time, and write pending ones to their files."""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from mnemark.errors import MnemarkError, UsageError, number_given, one_of, text_given
from mnemark.facts.decide import CONFIDENCE, Decision
from mnemark.facts.ends import Retraction
from mnemark.facts.hand_edits import edits
from mnemark.facts.keys import predicate_key, subject_key, value_words
from mnemark.facts.model import PRIORITIES, TYPES, Fact, NewFact
from mnemark.facts.pending import AT_ONCE, bring_in, drop_proposals
from mnemark.facts.store import FactStore
from mnemark.facts.timeline import FactVersion
from mnemark.facts.write import predicate_words, without_marker
from mnemark.files import jsonl, layout, names
from mnemark.files.ids import new_id
from mnemark.files.names import split_ref
from mnemark.files.scopes import one_scope
from mnemark.files.tombstones import strings
from mnemark.files.turns import decode_turn
from mnemark.text.dates import local
from mnemark.text.dates.ranges import moment
from mnemark.text.dates.written import undated
from mnemark.text.lines import clean
from mnemark.text.quoting.fence import strip_fences
from mnemark.text.quoting.injection import looks_like_instructions
from mnemark.text.redaction.redact import Rules, redact
from mnemark.types import ORIGINS, Turn

_QUOTED: Final = 200
"""Characters of a sentence that stand beside the fact that it may change."""


def remember(
    store: FactStore, predicate: str, value: str, *, dry_run: bool = False, **arguments: Any
) -> Fact:
    """Store a fact and return it once it is on disk.

    For the same subject and predicate the newer `since` is valid; earlier values are kept as history. Of a
    kind of which one has many (`rule`, `preference`, `project`, `likes`), each value is a fact of its own: it
    ends only the one that it contradicts, or that `replaces` names. The same value from another source raises
    the confidence. Facts of tools or the web, facts that contradict a more trusted origin, and facts that a
    person removed are proposed in `memory/review/`, with a `review`.

    Args:
        store: the fact store.
        predicate: in any language; empty for a statement.
        value: line breaks become blanks.
        dry_run: return the resulting fact without storing it.
        **arguments: the other fields of `NewFact`.

    Raises:
        UsageError: an argument is wrong; the message names a right one.
        NotFoundError: there is no fact that `replaces` names.
        BusyError, ReadOnlyError: the fact could not be written and is not stored.
    """
    return remember_many(store, [{"predicate": predicate, "value": value, **arguments}], dry_run=dry_run)[0]


def remember_many(
    store: FactStore, given: Iterable[Mapping[str, Any] | NewFact], *, dry_run: bool = False
) -> list[Fact]:
    """Store many facts, each given as a `NewFact` or its fields, atomically.

    Each is decided given those before it. The journal is appended and synced once, and each file edited once.
    Raises as `remember`.
    """
    if not dry_run:
        store.workspace.check_writable("remember")
    now = store.workspace.now()
    return _remember_all(store, [_fact_of(store, now, arguments) for arguments in given], dry_run=dry_run)


def remember_against(store: FactStore, given: Iterable[tuple[Mapping[str, Any], str]]) -> list[Fact]:
    """Store many facts, each with the line of a person's that it contradicts, if any; see `remember_many`.

    Those that contradict one wait for review.
    """
    store.workspace.check_writable("remember")
    now = store.workspace.now()
    return _remember_all(store, [
        msgspec.structs.replace(_fact_of(store, now, arguments), against=redacted(store.rules, against))
        for arguments, against in given
    ])  # fmt: skip


def _remember_all(store: FactStore, new: list[Fact], *, dry_run: bool = False) -> list[Fact]:
    scopes = dict.fromkeys(fact.scope for fact in new)
    for scope in scopes:
        layout.check_border(store.root, scope)
    with store.lock:
        turns = {fact.source: _turn_of(store, fact.source) for fact in new if fact.source}
        said = [(_as_owner(fact, turns.get(fact.source)), turns.get(fact.source)) for fact in new]

        def decide(decision: Decision) -> list[Fact]:
            # Who waited for another process says it later than that one: with the time before the wait, the
            # same value would become history.
            now = store.workspace.now().isoformat()
            return decision.decide_all([
                (fact if fact.recorded else msgspec.structs.replace(fact, since=now), turn)
                for fact, turn in said
            ])  # fmt: skip

        return _decided(store, scopes, decide, len(new), dry_run=dry_run)


def retract(store: FactStore, said: Retraction, *, dry_run: bool = False) -> list[Fact]:
    """End the facts that a retraction names, as history from its time on; return them.

    Nothing is stored where there are none. Facts of someone more trusted are not ended. Raises as `remember`.
    """
    if not dry_run:
        store.workspace.check_writable("end facts")
    layout.check_border(store.root, one_scope(said.scope))
    with store.lock:
        return _decided(store, [said.scope], lambda decision: decision.end(said), 1, dry_run=dry_run)


def otherwise(store: FactStore, said: Retraction, quote: str, *, over: bool) -> list[Fact]:
    """Propose what a turn may say against facts that hold; return the proposals.

    A fact is shown with these words until somebody decides on the proposal, the owner says it again, or it
    ends. Raises as `remember`.

    Args:
        store: the fact store.
        said: the value that would hold instead, or with `over` what would hold no longer.
        quote: the sentence that says so.
        over: whether it says that something holds no longer.
    """
    store.workspace.check_writable("propose facts")
    if said.origin != "owner" and looks_like_instructions(quote):
        return []
    rules = store.rules
    fact = Fact(
        id="", subject=redacted(rules, said.subject) or "user",
        predicate=predicate_words(redacted(rules, said.predicate)), value=redacted(rules, said.value),
        since=said.at.isoformat(), until=said.at.isoformat() if over else "", origin=said.origin,
        source=said.source, scope=said.scope, quote=_shortened(redacted(rules, quote)),
    )  # fmt: skip
    with store.lock:
        return _decided(store, [said.scope], lambda decision: decision.otherwise(fact), 1, dry_run=False)


def end_one(store: FactStore, identifier: str, said: Retraction) -> list[Fact]:
    """End the fact of an id, whatever it says by now; return it, or nothing. Raises as `remember`."""
    store.workspace.check_writable("end facts")
    with store.lock:
        return _decided(
            store, [said.scope], lambda decision: decision.end_one(identifier, said), 1, dry_run=False
        )


def _shortened(quote: str) -> str:
    """Return a quotation short enough to stand beside a fact, without what looks like a comment's mark."""
    text = without_marker(quote)
    return text if len(text) <= _QUOTED else f"{text[: _QUOTED - 2].rstrip()} …"


def _decided(
    store: FactStore,
    scopes: Collection[str],
    decide: Callable[[Decision], list[Fact]],
    count: int,
    *,
    dry_run: bool,
) -> list[Fact]:
    """Decide, append what follows to the journal and write it to the files; return the facts."""
    if dry_run:
        store.log.refresh()
        return decide(Decision(store, scopes))
    with store.truth.change():
        store.log.refresh()
        recorded_edits = sum(record_edits(store, scope) for scope in scopes)
        decision = Decision(store, scopes, fresh=not recorded_edits)
        kept = decide(decision)
        if decision.changes:
            store.log.append(*decision.changes)
    with suppress(MnemarkError, OSError):  # the journal has them: each sync tries again, and says why
        for change in decision.changes:
            if change.kind in {"accept", "reject"} and isinstance(change.payload, Mapping):
                drop_proposals(store, change.scope, strings(change.payload.get("ids")))
        for scope in scopes:
            bring_in(store, scope, most=max(AT_ONCE, count))
    store.changed()
    return kept


def record_edits(store: FactStore, scope: str) -> int:
    """Note in the journal what people changed in the fact files of a scope; return the number of changes."""
    recorded_edits = edits(store.log, store.files, store.kept(scope), scope)
    if recorded_edits:
        store.log.append(*recorded_edits)
    return len(recorded_edits)


def _fact_of(store: FactStore, now: datetime, arguments: Mapping[str, Any] | NewFact) -> Fact:
    try:
        given = arguments if isinstance(arguments, NewFact) else NewFact(**arguments)
    except TypeError as error:
        raise UsageError(f"wrong argument for a fact: {error}") from None
    for name in ("subject", "predicate", "value", "replaces"):
        text_given(getattr(given, name), f"the {name} of a fact")
    scope, origin = one_scope(given.scope), one_of(given.origin, ORIGINS, "origin")
    recorded = now.isoformat()
    since = moment(given.since, "since", now)
    start = recorded if since is None else local(since, store.zone).isoformat()  # its day is the workspace's
    own = CONFIDENCE[origin] if given.confidence is None else _share(given.confidence, "confidence")
    rules = store.rules
    return Fact(
        id=new_id(),
        subject=redacted(rules, given.subject) or "user",
        predicate=predicate_words(redacted(rules, given.predicate)),
        value=redacted_value(rules, given.predicate, given.value),
        type=one_of(given.type, TYPES, "type"),
        since=start,
        recorded="" if start == recorded else recorded,
        origin=origin,
        importance=_share(given.importance, "importance"),
        confidence=own,
        priority=one_of(given.priority, PRIORITIES, "priority") if given.priority else "",
        tags=tuple(filter(None, (redacted(rules, tag).replace(",", " ") for tag in _tags(given.tags)))),
        source=redacted(rules, given.source or ""),
        scope=scope,
        supersedes=given.replaces,
    )


def redacted_value(rules: Rules, predicate: str, value: str) -> str:
    """Return the value on one line, without secrets and recalled blocks; raise UsageError if it is empty."""
    if predicate_key(predicate) == "email":  # an address is what this fact is about, not a leak
        rules = msgspec.structs.replace(rules, emails=False)
    before = f"{predicate_words(predicate)}: "  # "password: …" reveals a secret that the value alone does not
    together = redact(before + strip_fences(value), rules).text
    alone = together.startswith(before)
    words = clean(together.removeprefix(before) if alone else redact(strip_fences(value), rules).text)
    if not words:
        raise UsageError(
            "a fact needs a value that is not empty (recalled text and private passages are removed first)"
        )
    return words


def redacted(rules: Rules, text: str) -> str:
    """Return a text on one line, without secrets and recalled blocks."""
    return clean(redact(strip_fences(text), rules).text) if text else ""


def _tags(given: Iterable[str]) -> tuple[str, ...]:
    tags = tuple(given)
    if isinstance(given, str) or not all(isinstance(tag, str) for tag in tags):
        raise UsageError(f"the tags of a fact must be a list of texts, not {given!r}")
    return tags


def _share(number: float | None, name: str) -> float | None:
    return None if number is None else number_given(number, name, 1)


def _tight(text: str) -> str:
    """Return a text without the blanks beside Chinese characters, which values do not keep."""
    return re.sub(r"(?<=[\u4e00-\u9fff]) | (?=[\u4e00-\u9fff])", "", text)


def _as_owner(fact: Fact, turn: Turn | None) -> Fact:
    """Return an agent's fact with origin "owner" if the owner's turn it cites contains the value."""
    if fact.origin != "agent" or turn is None or turn.origin != "owner":
        return fact
    said = holds_value(undated(fact.value), turn.content)
    return msgspec.structs.replace(fact, origin="owner") if said else fact


def holds_value(value: str, content: str) -> bool:
    """Return whether what was said holds a value: "3" is not in "3.12", nor "Ann" in "Anna"."""
    value, said = (_tight(value_words(text)) for text in (value, strip_fences(content)))
    # Chinese words have no boundaries to check.
    before, after = (r"(?<![a-z0-9.])" if value[:1].isascii() else ""), r"(?!\.?[a-z0-9])"
    return re.search(before + re.escape(value) + (after if value[-1:].isascii() else ""), said) is not None


def _turn_of(store: FactStore, source: str) -> Turn | None:
    """Return the turn that a source refers to, or None."""
    path, line, last = split_ref(source)
    if last is None or not path.endswith(".jsonl"):
        return None
    for found, record in jsonl.records(names.inside(store.root, path)):
        if found.number >= line:
            return decode_turn(record, found) if found.number == line else None
    return None


def follow(store: FactStore, scope: str = "") -> int:
    """Record hand edits of the fact files in the journal; return their number."""
    store.workspace.check_writable("note changes")
    where = one_scope(scope)
    with store.lock, store.truth.change():
        store.log.refresh()
        return record_edits(store, where)


def facts(
    store: FactStore,
    *,
    subject: str | None = None,
    as_of: datetime | str | None = None,
    history: bool = False,
    scope: str = "",
) -> Iterator[Fact]:
    """Yield the valid facts, pending ones included; a scope's own before the root's.

    Args:
        store: the facts.
        subject: yield only facts about this one.
        as_of: the time at which facts are valid; now by default. A fact without a date is always valid.
        history: also yield earlier values, each after the one that superseded it, with `until`.
        scope: a scope to include beside the root.

    Raises:
        UsageError: an argument is wrong; the message names a right one.
    """
    at = moment(as_of, "as_of", store.workspace.now(), last=True) or datetime.now(UTC)
    at = at.replace(tzinfo=at.tzinfo or store.zone)
    with store.lock:
        store.log.refresh()
        held = [one for where in dict.fromkeys((one_scope(scope), "")) for one in store.held(where)]
    groups: defaultdict[tuple[str, ...], list[FactVersion]] = defaultdict(list)
    for one in held:
        if subject is None or subject_key(one.fact.subject) == subject_key(subject):
            groups[one.fact.scope, *one.fact.key].append(one)
    for group in groups.values():
        for one in reversed(group):
            began = one.begin is None or one.begin <= at
            if one.at(at) or (history and (began or as_of is None)):
                yield one.fact
