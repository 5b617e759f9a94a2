"""What I know of you: facts by topic as sentences, told and corrected where they stand."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple, TypedDict

import msgspec
from markupsafe import Markup

from mnemark.errors import NotFoundError
from mnemark.facts.keys import subject_key
from mnemark.facts.labels import subject_label
from mnemark.facts.model import Fact
from mnemark.memory.browse.fact_rows import FactRow
from mnemark.memory.learning.told import remember_told
from mnemark.memory.review.explain import fact_named
from mnemark.present.changes import listed
from mnemark.present.facts import TOPICS, clause, heading, sentence, topic
from mnemark_faces.web.at import At, Go, PageContent
from mnemark_faces.web.lives import life, months_since

_ROWS: Final = 80
_STALE: Final = 6
"""Months without a confirmation from which on a fact says so."""


class Line(NamedTuple):
    """A fact as it stands in a list."""

    fact: Fact
    sentence: str
    row: FactRow
    stale: int
    """Months since it was last confirmed, if these are many; else 0."""
    history: tuple[Fact, ...]
    """Its values, the latest first."""
    life: Markup | str
    """The same as a line in time; empty if it has one."""


class Changes(TypedDict, total=False):
    """What is said otherwise than a fact, by the arguments of `Memory.correct`."""

    value: str
    since: str
    subject: str


def facts(at: At) -> PageContent:
    """Show what is known now or was at a time: by topic, or what was learned last first."""
    order: Any = "recent" if at.asked("order") == "recent" else "subject"
    asked: Any = {name: at.asked(name) for name in ("text", "subject", "type", "origin")}
    chosen = at.asked("topic") if at.asked("topic") in TOPICS else ""
    page = at.memory.browse.facts(
        **asked, as_of=at.asked("as_of") or None, order=order, after=at.asked("after"), limit=_ROWS,
        part=heading, only=TOPICS.index(chosen) if chosen else None,
    )  # fmt: skip
    lines = [_line(at, row) for row in page.rows]
    values = {
        "page": page, "asked": asked, "order": order, "as_of": at.asked("as_of"), "topic": chosen,
        "topics": [(name, page.parts[n]) for n, name in enumerate(TOPICS) if page.parts.get(n)],
        "subjects": [(name, _name(at, name), n) for name, n in page.subjects.items()],
        "filtered": any(asked.values()) or bool(at.asked("as_of") or chosen), "edit": at.asked("edit"),
        "parts": _parts(lines) if order == "subject" else [("", lines)], "today": f"{at.now:%Y-%m-%d}",
    }  # fmt: skip
    return PageContent(
        "facts.html", values, msgspec.structs.replace(page, parts={})
    )  # the numbers are this page's


def _name(at: At, subject: str) -> str:
    chinese = at.words.language == "zh"
    return at.words("you") if subject_key(subject) == "user" else subject_label(subject, chinese=chinese)


def _parts(lines: Sequence[Line]) -> list[tuple[str, list[Line]]]:
    return [(name, list(rows)) for name, rows in groupby(lines, key=lambda line: topic(line.fact))]


def _line(at: At, row: FactRow) -> Line:
    months = months_since(row.confirmed, at)
    stale = months if months >= _STALE and row.fact.priority != "permanent" else 0
    history = (row.fact, *row.earlier)
    then = msgspec.structs.replace(row.fact, until="")  # what ended later was so on that day
    return Line(
        row.fact, sentence(then, at.words), row, stale, history, life(at, history) if row.earlier else ""
    )


def remember(at: At) -> Go:
    """Remember what the owner says: a sentence, or a fact in fields; see `Memory.remember`."""
    if at.sent("sentence"):
        told = remember_told(at.memory.workspace, at.sent("sentence"))
        undo: tuple[str, ...] = told.changes
        for fact in told.ended:
            at.tell("No longer: {fact}", fact=clause(fact, at.words), undo=() if told.facts else undo)
        facts: Sequence[Fact] = told.facts
    else:
        subject = at.sent("subject").strip() or "user"
        facts = [at.memory.remember(at.sent("predicate").strip(), at.sent("value"), subject=subject)]
        undo = (facts[0].id,)
    if facts:
        said = listed(at.memory.workspace, facts, at.words)
        at.tell("Remembered: {fact}" if undo else "This is known: {fact}", fact=said, undo=undo)
    return _at_row(at.back("facts"), facts[0].id if facts else "")


def correct(at: At) -> Go:
    """Correct a fact, replace it by what holds now, or say that it was never true."""
    if never := at.sent("never"):
        done = at.memory.correct(never, never=True)
        at.tell("Taken out as not true: {fact}", fact=clause(done.before, at.words), undo=done.id)
        return _gone(at, at.back("facts"))
    fact = _fact(at, at.sent("id"))
    asked = asked_changes(at, fact)
    if not asked:
        at.tell("Nothing was changed: it is as it was.")
        return _at_row(at.back("facts"), fact.id)
    if at.sent("do") == "changed":
        after = at.memory.remember(
            fact.predicate, asked.get("value", fact.value), subject=asked.get("subject", fact.subject),
            type=fact.type, scope=fact.scope, since=asked.get("since"), replaces=fact.id,
        )  # fmt: skip
        at.tell("Changed: {fact} What was so before is kept.", fact=clause(after, at.words), undo=after.id)
        return _renamed(at, fact, after)
    made = at.memory.correct(fact.id, **asked)
    after = made.after or fact
    at.tell("Corrected: {fact}", fact=clause(after, at.words), undo=made.id)
    return _renamed(at, fact, after)


def _fact(at: At, identifier: str) -> Fact:
    if (fact := fact_named(at.memory.workspace, identifier)) is None:
        raise NotFoundError(f"there is no fact {identifier!r}; open it from a list")
    return fact


def asked_changes(at: At, fact: Fact) -> Changes:
    """Return what the form says otherwise than a fact; an empty field leaves it as it is."""
    changes = Changes()
    if (value := at.sent("value").strip()) and value != fact.value:
        changes["value"] = value
    if (since := at.sent("since")) and since != fact.since[:10]:
        changes["since"] = since
    subject = at.sent("subject").strip() or "user"
    shown = {fact.subject, subject_label(fact.subject, chinese=at.words.language == "zh")}
    if subject not in shown and not subject_key(subject) == subject_key(fact.subject) == "user":
        changes["subject"] = subject
    return changes


def _renamed(at: At, before: Fact, after: Fact) -> Go:
    """Go back to where a fact was corrected, which the page of the fact itself calls by its new id."""
    where = at.back("facts")
    of_item = where.path.startswith(at.link("item", ref=before.id))
    return Go(at.link("item", ref=after.id)) if of_item else _at_row(where, after.id)


def _gone(at: At, where: Go) -> Go:
    """Go back, or to the list where the page was that of the fact that is gone."""
    return Go(at.link("facts")) if where.path.startswith(at.link("item")) else where


def _at_row(where: Go, identifier: str) -> Go:
    return Go(f"{where.path}#f-{identifier}") if identifier else where
