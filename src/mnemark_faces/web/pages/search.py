"""Search, and the page of one passage or fact: its text, where it comes from, why it was found or not."""

from datetime import datetime
from typing import Any, Final

from mnemark.errors import NotFoundError
from mnemark.facts.model import Fact
from mnemark.files import layout
from mnemark.files.names import split_ref
from mnemark.files.unread import told
from mnemark.memory.journal.changes import KINDS as KINDS_OF_CHANGES
from mnemark.present.words import ROUTES
from mnemark.text.quoting.memory_poisoning import speaks_for_owner
from mnemark.types import KINDS, ORIGINS
from mnemark_faces.web import charts
from mnemark_faces.web.at import At, PageContent
from mnemark_faces.web.render import moment
from mnemark_interfaces.queries import DOUBTFUL
from mnemark_interfaces.tools_read import around

_AROUND: Final = 3
"""Turns shown before and after one."""


def search(at: At) -> PageContent:
    """Show the hits for a query, with counts to narrow it."""
    query = at.asked("q")
    kinds: Any = [one for one in at.all_asked("kind") if one in KINDS]
    origins: Any = [one for one in at.all_asked("origin") if one in ORIGINS]
    given = {name: at.asked(name) for name in ("since", "until", "as_of")}
    values: dict[str, Any] = {
        "query": query, "kinds": kinds, "origins": origins, "given": given, "found": None,
        "all_kinds": KINDS, "all_origins": ORIGINS, "archived": bool(at.asked("archived")),
        "filtered": bool(kinds or origins or any(given.values()) or at.asked("archived")),
        "doubtful": DOUBTFUL,
    }  # fmt: skip
    if not query:
        return PageContent("search.html", values, {})
    asked: Any = {name: text or None for name, text in given.items()}
    found = at.memory.browse.search(
        query, kinds=kinds or None, origins=origins or None,
        archived=bool(at.asked("archived")), after=at.asked("after"), **asked,
    )  # fmt: skip
    best = max((hit.score for hit in found.rows), default=1.0)
    rows = [
        (hit, charts.share(at.words("score {n}", n=f"{hit.score:.2f}"), hit.score, best))
        for hit in found.rows
    ]
    unread = "" if rows else told(at.memory.workspace.searcher.unread())
    return PageContent("search.html", {**values, "found": found, "rows": rows, "unread": unread}, found)


def item(at: At) -> PageContent:
    """Show a passage or a fact by its ref or id."""
    ref, query = at.asked("ref"), at.asked("q")
    if not ref:
        raise NotFoundError("no ref is given; open an item from a list")
    why = at.memory.why(ref, query or None)
    path, first, last = split_ref(why.ref)
    place = layout.place(path)
    is_fact = why.kind in {"fact", "proposal"}
    whole = "" if is_fact or why.kind == "turn" else _text(at, ref)
    values = {
        "here": "facts" if is_fact else "timeline" if why.kind == "turn" and not query else "search",
        "journal": [line for line in why.journal if line.kind in KINDS_OF_CHANGES],
        "why": why, "ref": ref, "query": query, "path": path, "is_fact": is_fact, "whole": whole,
        "fact": why.history[0] if why.history else None,
        "held": next((fact for fact in why.history if fact.id == why.id), None),
        "routes": ROUTES, "life": _life(at, why.history) if len(why.history) > 1 else "",
        "around": _around(at, path, first) if why.kind == "turn" else (),
        "suspect": why.kind == "proposal" and speaks_for_owner(why.text),
        "is_log": place is not None and place.role == "session", "line": first if last else 0,
    }  # fmt: skip
    return PageContent("item.html", values, why)


def _text(at: At, ref: str) -> str:
    try:
        return at.memory.read(ref)
    except NotFoundError as error:
        return str(error)


def _around(at: At, path: str, line: int) -> Any:
    return around(at.memory, f"{path}#L{line}", before=_AROUND, after=_AROUND)


def _life(at: At, history: tuple[Fact, ...]) -> Any:
    """Return the values of a fact as a line from the first to now."""
    spans: list[tuple[datetime, datetime, Fact]] = []
    for fact in history:
        begin = moment(fact.since or fact.recorded, at)
        if begin is not None:
            spans.append((begin, moment(fact.until, at) or at.now if fact.until else at.now, fact))
    if not spans:
        return ""
    first = min(begin for begin, _, _ in spans)
    whole = max((at.now - first).total_seconds(), 1.0)
    drawn = [
        charts.Span(
            (begin - first).total_seconds() / whole, min((end - first).total_seconds() / whole, 1.0),
            f"{fact.value}: {fact.since[:10]} – {fact.until[:10] or at.words('now')}", not fact.until,
        )
        for begin, end, fact in sorted(spans, key=lambda span: span[0])
    ]  # fmt: skip
    return charts.life(at.words("The values of this fact over time"), drawn)
