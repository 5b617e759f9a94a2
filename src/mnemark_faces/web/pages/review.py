"""Review: what tools, the web and imports proposed, conflicts, and edits by hand."""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import msgspec

from mnemark.errors import MnemarkError
from mnemark.facts.correct import NEVER
from mnemark.facts.model import Fact
from mnemark.memory.browse.browse import ReviewRow
from mnemark.memory.review.review import ReviewItem, by_source, source_of, waiting
from mnemark.present import proposals, sources
from mnemark.present.facts import clause, sentence
from mnemark_faces.web.at import At, Go, PageContent
from mnemark_faces.web.pages.facts import asked_changes

_ROWS = 50


class Decision(NamedTuple):
    """A thing to decide as it stands in the list."""

    number: int
    """Of the row on the page."""
    item: ReviewItem
    kind: str
    sentence: str
    instead: str
    """What it would replace, as a sentence; empty if nothing."""
    quote: str
    """What its source says; empty where the row before it quotes the same."""
    ref: str
    """Of its source."""


class SourceGroup(NamedTuple):
    """What one source says."""

    fact: Fact
    place: str
    """The source in words."""
    rows: tuple[Decision, ...]
    total: int
    """Number of things that wait of this source, on all pages."""


def review(at: At) -> PageContent:
    """Show what waits, what one source says together."""
    page = at.memory.browse.review(origin=at.asked("origin"), limit=_ROWS, after=at.asked("after"))
    groups = [list(rows) for _, rows in groupby(enumerate(page.rows), lambda one: _source(one[1].waiting))]
    every = [source_of(one) for one in waiting(at.memory.workspace, scope=None)] if page.next else []
    values = {
        "page": page, "origin": at.asked("origin"), "edit": at.asked("edit"),
        "groups": [_group(at, rows, every) for rows in groups],
    }  # fmt: skip
    return PageContent("review.html", values, lambda: proposals.told_page(page))


def _source(one: ReviewItem) -> tuple[str, str]:
    source = source_of(one)
    return source if source[1] else (one.id, "")


def _group(at: At, rows: Sequence[tuple[int, ReviewRow]], every: Sequence[tuple[str, str]]) -> SourceGroup:
    first = rows[0][1].waiting
    place = sources.source(at.memory.workspace, first.fact, at.words)
    shown: list[Decision] = []
    for number, row in rows:
        ref, quote = _quote(row)
        again = bool(shown) and any(one.ref == ref for one in shown)
        one, words = row.waiting, at.words
        shown.append(Decision(
            number, one, proposals.kind(one, words), proposals.said(one, words), replaced(at, one),
            "" if again else quote, ref,
        ))  # fmt: skip
    total = max(every.count(source_of(first)), len(shown)) if source_of(first)[1] else len(shown)
    return SourceGroup(first.fact, place, tuple(shown), total)


def _quote(row: ReviewRow) -> tuple[str, str]:
    source = next(iter(row.sources), None)
    quote = row.waiting.fact.quote or (source.text if source is not None else "")
    return (source.ref if source is not None else ""), " ".join(quote.split())


def replaced(at: At, one: ReviewItem) -> str:
    """Return what a thing to decide would replace, as a sentence; a line of a person's as they wrote it."""
    if one.fact.review == NEVER:
        return ""
    if one.fact.against:
        return one.against.rpartition(" (")[0] or one.against
    return sentence(msgspec.structs.replace(one.fact, value=one.against), at.words) if one.against else ""


def decide(at: At) -> Go:
    """Accept or reject one, or all that are marked or of one source; or accept one as it is corrected."""
    ids = at.all_sent("id")
    if at.sent("do") == "but":
        return _corrected(at, ids[-1] if ids else "")
    accept = at.sent("do") == "accept"
    if at.sent("do") == "source":
        ids = _of_source(at, ids[-1] if ids else "")
    done, failed = [], []
    for identifier in ids:
        try:
            if accept:
                fact = at.memory.accept(identifier, suspect=at.sent("suspect") == "yes")
            else:
                fact = at.memory.reject(identifier)
        except MnemarkError as error:
            failed.append(at.words.told(str(error)).text)
        else:
            done.append((fact, identifier))
    for text in failed:
        at.tell("{error}", error=text)
    undo = [one for _, one in done]
    if len(done) == 1 and done[0][0] is not None and accept:
        at.tell("Accepted: {fact}", fact=clause(done[0][0], at.words), undo=undo)
    elif done:
        text = at.words.count(
            len(done), "Accepted 1 entry" if accept else "Rejected 1 entry",
            "Accepted {n} entries" if accept else "Rejected {n} entries",
        )  # fmt: skip
        at.tell("{text}", text=text, undo=undo)
    return _next(at)


def _of_source(at: At, identifier: str) -> list[str]:
    """Return the ids of all that waits of the source of one."""
    every = waiting(at.memory.workspace, scope=None)
    wanted = next((_source(one) for one in every if one.id == identifier), None)
    return [one.id for one in by_source(every) if _source(one) == wanted]


def _corrected(at: At, identifier: str) -> Go:
    """Accept a thing and correct it at once: "yes, but …"; both or neither."""
    one = next((one for one in waiting(at.memory.workspace, scope=None) if one.id == identifier), None)
    changes = asked_changes(at, one.fact) if one is not None else {}
    if one is None or one.suspect or not changes:  # what waits no longer, or may not, is told by accepting it
        fact, undo = at.memory.accept(identifier) or (one.fact if one is not None else None), [identifier]
    else:
        made = at.memory.correct(one.fact.id, **changes)
        fact, undo = made.after, [made.id]
        if one.what == "edit":
            at.memory.accept(identifier)
            undo.append(identifier)
    if fact is not None:
        at.tell("Accepted: {fact}", fact=clause(fact, at.words), undo=undo)
    return _next(at)


def _next(at: At) -> Go:
    """Go to what follows: on the page it came from, the row that has its place now."""
    return Go(at.link("review", origin=at.sent("origin")) + f"#r{at.sent('at')}")
