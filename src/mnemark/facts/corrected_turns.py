"""Say of turns what was corrected in them, in English or Chinese."""

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence

from mnemark.facts.corrected import CorrectedTurn, plain
from mnemark.facts.fold.corrections import correction_of, turns_of
from mnemark.facts.keys import holds_many, subject_key
from mnemark.facts.labels import is_chinese, label, subject_label
from mnemark.facts.model import Fact
from mnemark.files.journal import JournalEntry
from mnemark.files.names import split_ref


def by_turns(lines: Iterable[JournalEntry], hidden: Container[str]) -> Mapping[str, Sequence[CorrectedTurn]]:
    """Return what was corrected of turns, by the paths of their logs; nothing of `hidden` facts."""
    read = (correction_of(entry, entry.change.fields) for entry in lines)
    standing = [one for one in read if one is not None]
    by_wrong = {one.wrong: one for one in standing}
    found: defaultdict[str, list[CorrectedTurn]] = defaultdict(list)
    for one in sorted(standing, key=lambda one: one.id):
        last = one
        for _ in by_wrong:  # what was corrected again
            last = by_wrong.get(last.id, last)
        fact = None if last.id in hidden else last.fact
        # Of what was forgotten, or erased and replaced by nothing, nothing is told.
        if (one.wrong in hidden and one.before is not None) or one.before is fact is None:
            continue
        text = told(one.before, fact, last.time[:10])
        wrong = one.before.value if one.before else ""
        for ref in turns_of(one.source):
            path, first, end = split_ref(ref)
            found[plain(path)].append(
                CorrectedTurn(one.id, first, first if end is None else end, wrong, text)
            )
    return dict(found)


def told(before: Fact | None, after: Fact | None, day: str) -> str:
    """Say that a fact was corrected, and what is right, in the language of its values.

    >>> wrong, right = (Fact(id="", predicate="dentist", value=name) for name in ("Dr Sousa", "Dr Costa"))
    >>> told(wrong, right, "2026-11-28")
    'corrected on 2026-11-28: the dentist is Dr Costa, not Dr Sousa'
    >>> told(wrong, None, "2026-11-28")
    'corrected on 2026-11-28: it was never true that the dentist is Dr Sousa'
    >>> wrong, right = (Fact(id="", predicate="dentist", value=name) for name in ("王医生", "李医生"))
    >>> told(wrong, right, "2026-11-28")
    '2026-11-28 已更正：牙医是李医生，不是王医生'
    """
    chinese = any(one is not None and is_chinese(f"{one.predicate}{one.value}") for one in (before, after))
    words = ("已更正", f"{day} 已更正") if chinese else ("corrected", f"corrected on {day}")
    parts = [words[bool(day)]]
    if after is not None:
        parts.append(_said(after, chinese=chinese) + (_not(before, after, chinese=chinese) if before else ""))
    elif before is not None:
        wrong = _said(before, chinese=chinese)
        clause = bool(before.predicate) and not holds_many(before.predicate)
        never = "it was never true that" if clause else "never true:"
        parts.append(f"“{wrong}”从来不是事实" if chinese else f"{never} {wrong}")
    return ("：" if chinese else ": ").join(parts)


def _said(fact: Fact, *, chinese: bool) -> str:
    """Return a fact as a clause."""
    if not fact.predicate:
        return fact.value
    name = label(fact.predicate, chinese=chinese)
    own = subject_key(fact.subject) == "user"
    subject = subject_label(fact.subject, chinese=chinese)
    if chinese:
        about = name if own else f"{subject}{' 的' if subject.isascii() else '的'}{name}"
        if holds_many(fact.predicate):
            return f"{about}：{fact.value}"
        return f"{about}是{' ' if fact.value[:1].isascii() else ''}{fact.value}"
    about = name if own else f"{subject}’s {name}"
    if holds_many(fact.predicate):
        return f"{about}: {fact.value}"
    return f"{'the ' if own else ''}{about} is {fact.value}"


def _not(before: Fact, after: Fact, *, chinese: bool) -> str:
    """Return what it is not: the value that was wrong, the subject, or the day."""
    names = ("value", "predicate", "subject")
    changed = [name for name in names if getattr(before, name) != getattr(after, name)]
    if changed:
        wrong = before.value if changed == ["value"] else _said(before, chinese=chinese)
        return f"，不是{' ' if wrong[:1].isascii() else ''}{wrong}" if chinese else f", not {wrong}"
    since, until = after.since[:10], after.until[:10]
    if before.since != after.since:
        return (
            f"，从 {since} 起，不是从 {before.since[:10]} 起"
            if chinese
            else f", since {since}, not since {before.since[:10]}"
        )
    return f"，到 {until} 为止" if chinese else f", until {until}"
