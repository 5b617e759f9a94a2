"""The page of one passage, fact or proposal: what it says, its life, where it comes from, why it is found."""

from typing import Any, Final

from mnemark.errors import NotFoundError
from mnemark.facts.decide import is_suspect
from mnemark.files import layout
from mnemark.files.names import split_ref
from mnemark.memory.journal.changes import KINDS as KINDS_OF_CHANGES
from mnemark.memory.review.explain import CorrectedFact, Why, fact_named
from mnemark.memory.review.review import ReviewItem, waiting, with_diff
from mnemark.present import proposals, sources
from mnemark.present.facts import sentence
from mnemark.present.talks import talk
from mnemark.present.words import BOOSTS, ROUTES
from mnemark_faces.web.at import At, PageContent
from mnemark_faces.web.lives import life
from mnemark_faces.web.pages.review import replaced
from mnemark_faces.web.telling import speaker
from mnemark_interfaces.tools_read import around

_AROUND: Final = 3
"""Turns shown before and after one."""


def item(at: At) -> PageContent:
    """Show a passage or a fact by its ref or id."""
    ref, query = at.asked("ref"), at.asked("q")
    if not ref:
        raise NotFoundError("no ref is given; open an item from a list")
    why = at.memory.why(ref, query or None)
    values = {
        "why": why, "ref": ref, "query": query, "path": split_ref(why.ref)[0], "routes": ROUTES,
        "edit": bool(at.asked("edit")), "boosts": BOOSTS,
        "speaker": lambda one: speaker(at, one["who"], one["origin"]),
        "places": {one.ref: sources.place(at.memory.workspace, one.ref, at.words) for one in why.sources},
        "corrected": [_trace(at, one) for one in why.corrected],
        **(_of_fact(at, why) if why.kind in {"fact", "proposal"} else _of_passage(at, why, ref)),
    }  # fmt: skip
    return PageContent("item.html", values, why)


def _of_fact(at: At, why: Why) -> dict[str, Any]:
    ws = at.memory.workspace
    held = next((fact for fact in why.history if fact.id == why.id), None)
    waits = _waiting(at, why.id) if why.waits else None
    fact = held or fact_named(ws, why.id)
    if fact is None:
        raise NotFoundError(f"{why.id} is no fact any more; open it from a list")
    return {
        "here": "review" if waits is not None else "facts", "is_fact": True, "held": held, "waits": waits,
        "fact": fact, "suspect": why.kind == "proposal" and is_suspect(fact),
        "title": proposals.said(waits, at.words) if waits is not None else sentence(fact, at.words),
        "origin": sources.source(ws, fact, at.words),
        "instead": replaced(at, waits) if waits is not None else "",
        "life": life(at, why.history) if len(why.history) > 1 else "",
        "journal": [line for line in why.journal if line.kind in KINDS_OF_CHANGES],
    }  # fmt: skip


def _trace(at: At, one: CorrectedFact) -> tuple[CorrectedFact, str, str]:
    """Return a correction with what was wrong and what is right, as sentences; empty where there is none."""
    was, now = (sentence(fact, at.words) if fact is not None else "" for fact in (one.was, one.now))
    return one, was, now


def _waiting(at: At, identifier: str) -> ReviewItem | None:
    ws = at.memory.workspace
    found = next((one for one in waiting(ws, scope=None) if one.id == identifier), None)
    return with_diff(ws, found) if found is not None else None


def _of_passage(at: At, why: Why, ref: str) -> dict[str, Any]:
    ws, (path, line, last) = at.memory.workspace, split_ref(why.ref)
    place = layout.place(path)
    is_turn = why.kind == "turn"
    is_log = place is not None and place.role == "session"
    title = talk(ws, path, at.words).title if is_log else sources.place(ws, why.ref, at.words)
    return {
        "here": "timeline" if is_turn and not at.asked("q") else "search", "is_fact": False,
        "title": title[:1].upper() + title[1:], "is_log": is_log, "line": line if last else 0,
        "whole": "" if is_turn else _text(at, ref), "suspect": False,
        "around": around(at.memory, f"{path}#L{line}", before=_AROUND, after=_AROUND) if is_turn else (),
    }  # fmt: skip


def _text(at: At, ref: str) -> str:
    try:
        return at.memory.read(ref)
    except NotFoundError as error:
        return str(error)
