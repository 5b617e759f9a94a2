"""Join two versions of a fact file that two machines changed.

A fact is told by its id, not by its line: what each side did to it (another source, an end, other words) is
joined, and what one side removed is removed. The rest is joined by lines; see `mnemark.files.join`.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime, tzinfo
from functools import partial
from typing import Final

from mnemark.facts import write
from mnemark.facts.files import fact_of
from mnemark.facts.fold import words_of
from mnemark.facts.journal import FactJournal
from mnemark.facts.model import Fact, refs_in
from mnemark.facts.parse import ParsedFact, parse
from mnemark.facts.timeline import in_order
from mnemark.files.join import JoinedText, join_texts
from mnemark.text.lines import decode, encode
from mnemark.text.markdown import drop_comments, names_id

Newer = Callable[[str, str, str], str | None]
"""Of an id and two values, the one that was written over the other."""
_ID: Final = re.compile(rb"\bid: ([0-9A-Z]{26})\b")


def join_facts(
    base: bytes | None, ours: bytes, theirs: bytes, path: str, *, zone: tzinfo, removed: Collection[str] = (),
    newer: Newer | None = None,
) -> JoinedText:  # fmt: skip
    """Return a fact file with the facts of both, in the order of their ids where both added some.

    Args:
        base: the last version that both had; None if there is none.
        ours: one version.
        theirs: the other; which is which makes no difference.
        path: of the file, relative to the workspace.
        zone: of the days in it.
        removed: ids of facts that a person removed, or took back: they stay only where both sides have them.
        newer: tells which of two values of a fact is the newer, where there is no base.
    """
    if base in (ours, theirs) or ours == theirs:
        return JoinedText(theirs if base == ours else ours)
    sides = [_Side(decode(data), path) for data in (base or b"", ours, theirs)]
    before, one, other = sides
    for identifier in {*one.bullets, *other.bullets}:
        mine, yours = one.bullets.get(identifier), other.bullets.get(identifier)
        old = before.bullets.get(identifier)
        if mine is not None and yours is not None:
            joined = _joined(old, mine, yours, partial(newer, identifier) if newer else None)
            for side in sides:
                side.put(identifier, joined)
        elif identifier in removed or (old is not None and old == (mine if yours is None else yours)):
            for side in sides:
                side.put(identifier, "")
    texts = [encode(side.text()) for side in sides]
    joined_text = join_texts(None if base is None else texts[0], texts[1], texts[2], order=_by_id)
    data = encode(_with_ends(_without_twins(decode(joined_text.data), path), path, zone))
    return JoinedText(data, joined_text.doubled)


def _by_id(line: bytes) -> bytes:
    found = _ID.search(line)
    return found[1] if found else b""


class _Side:
    """One version of the file: its bullets by the ids of their facts."""

    def __init__(self, text: str, path: str) -> None:
        self._text = text
        self.bullets: dict[str, str] = {}
        self._spans: dict[str, tuple[int, int]] = {}
        self._new: dict[str, str] = {}
        for parsed in parse(text):
            identifier = fact_of(parsed, path, "").id
            if identifier not in self.bullets:  # a bullet that was copied with its comment stays a line
                span = parsed.bullet.start, parsed.bullet.end
                self._spans[identifier] = span
                self.bullets[identifier] = text[slice(*span)]

    def put(self, identifier: str, bullet: str) -> None:
        """Replace a bullet that is here; an empty one removes it."""
        if self.bullets.get(identifier, bullet) != bullet:
            self._new[identifier] = bullet

    def text(self) -> str:
        text = self._text
        for identifier in sorted(self._new, key=lambda one: self._spans[one], reverse=True):
            start, end = self._spans[identifier]
            text = text[:start] + self._new[identifier] + text[end:]
        return text


def newer_value(log: FactJournal, identifier: str, one: str, other: str) -> str | None:
    """Return which of two values of a fact a person wrote over the other; None where nothing tells."""
    state = log.of(identifier)
    values = {one, other}
    if state.record is not None and state.record.value in values:  # the other was written since
        return (values - {state.record.value}).pop()
    if state.changed is not None and state.changed.value in values:
        return state.changed.value
    return None


def _joined(base: str | None, mine: str, yours: str, newer: Callable[[str, str], str | None] | None) -> str:
    """Return a bullet with what both did to it."""
    if base in (mine, yours) or mine == yours:
        return yours if base == mine else mine
    mine, yours = sorted((mine, yours))
    one, other = _parsed(mine), _parsed(yours)
    if one is None or other is None:
        return yours
    return _with_both(None if base is None else _parsed(base), (mine, one), (yours, other), newer)


def _with_both(
    old: ParsedFact | None, first: tuple[str, ParsedFact], second: tuple[str, ParsedFact],
    newer: Callable[[str, str], str | None] | None,
) -> str:  # fmt: skip
    """Return a bullet that both changed; each comes with its text."""
    (mine, one), (yours, other) = first, second
    if (one.predicate, one.value) != (other.predicate, other.value):
        value = newer(one.value, other.value) if newer and old is None else None
        if value is not None:
            return mine if one.value == value else yours
        if old is None or old.value not in {one.value, other.value}:
            # Both say something else under one id: it stays with the greater, and both stand.
            return f"{drop_comments(mine, names_id).rstrip()}\n{yours}"
        if one.value == old.value:
            mine, one, other = yours, other, one
    struck = _chosen(None if old is None else old.struck, one.struck, other.struck)
    fields = _fields(old.meta if old else {}, one.meta, other.meta)
    if not struck:
        fields["until"] = ""
    changed_text = write.change_comment(mine, one, fields)
    now = _parsed(changed_text)
    if now is None or now.struck == struck:
        return changed_text
    if struck:
        return write.strike(changed_text, now, {})
    start, end = now.bullet.words
    words = changed_text[start:end]
    return changed_text[:start] + words.removeprefix("~~").removesuffix("~~") + changed_text[end:]


def _parsed(bullet: str) -> ParsedFact | None:
    return next(iter(parse(bullet.lstrip(" \t"))), None)


def _chosen(old: bool | None, one: bool, other: bool) -> bool:  # noqa: FBT001 - three values of one thing
    if one == other:
        return one
    return (one or other) if old is None else not old


def _fields(old: Mapping[str, str], one: Mapping[str, str], other: Mapping[str, str]) -> dict[str, str]:
    """Return the fields of the comments of both: what one side changed, and of two changes the greater."""
    fields: dict[str, str] = {}
    for name in dict.fromkeys((*one, *other)):
        mine, yours, before = (side.get(name, "") for side in (one, other, old))
        if name == "source":
            fields[name] = ", ".join(sorted({*refs_in(mine), *refs_in(yours)}))
        elif mine == yours or (old and before == yours):
            fields[name] = mine
        elif old and before == mine:
            fields[name] = yours
        elif name == "until":  # it has been over since the earlier
            fields[name] = min(filter(None, (mine, yours)))
        else:
            fields[name] = max(mine, yours, key=_as_number)
    return fields


def _as_number(text: str) -> tuple[float, str]:
    try:
        return float(text), text
    except ValueError:
        return 0.0, text


def _without_twins(text: str, path: str) -> str:
    """Remove a fact that both machines learned from one turn, each for itself: the first id stays."""
    first: dict[tuple[str, ...], str] = {}
    facts = [(parsed.bullet, fact_of(parsed, path, "")) for parsed in parse(text) if parsed.id]
    said = {fact.id: (*words_of(fact), fact.since, fact.source) for _, fact in facts if fact.source}
    for identifier in sorted(said):
        first.setdefault(said[identifier], identifier)
    for bullet, fact in reversed(facts):
        if fact.id in said and first[said[fact.id]] != fact.id:
            text = text[: bullet.start] + text[bullet.end :]
    return text


def _with_ends(text: str, path: str, zone: tzinfo) -> str:
    """Strike out the facts that another of the file ends: each side knew its own only."""
    now = datetime.now(UTC)
    groups: defaultdict[tuple[str, ...], list[Fact]] = defaultdict(list)
    parsed_facts = parse(text)
    counts = Counter(parsed.id for parsed in parsed_facts)
    for parsed in parsed_facts:
        if parsed.id and counts[parsed.id] == 1:  # a bullet that was copied with its comment is a person's
            fact = fact_of(parsed, path, "")
            groups[fact.key].append(fact)
    for group in groups.values():
        if len(group) < 2:
            continue
        known = {fact.id: fact for fact in group}
        ordered = in_order(group, zone)
        for version, following in zip(ordered, [*ordered[1:], None], strict=True):
            fact = version.fact
            if version.end is None or fact.until == known[fact.id].until:
                continue
            if following is not None and words_of(fact) == words_of(following.fact):
                continue  # both machines noted it: a consolidation makes one of them
            bullet = next((one for one in parse(text) if one.id == fact.id), None)
            if bullet is not None:
                change = write.strike if version.end <= now else write.change_comment
                text = change(text, bullet, {"until": fact.until})
    return text
