"""Search: what answers, by talk and note, up to where belief ends."""

from typing import Any, Final

from mnemark.files.unread import told
from mnemark.memory.browse.browse import DEPTH
from mnemark.text.words.stopwords import content_terms
from mnemark.types import KINDS, ORIGINS
from mnemark_faces.web.at import At, PageContent
from mnemark_faces.web.found import answers, group

_GROUPS: Final = 25


def search(at: At) -> PageContent:
    """Show what was found for a query, with counts to narrow it."""
    query = at.asked("q")
    kinds: Any = [one for one in at.all_asked("kind") if one in KINDS]
    origins: Any = [one for one in at.all_asked("origin") if one in ORIGINS]
    given = {name: at.asked(name) for name in ("since", "until", "as_of")}
    values: dict[str, Any] = {
        "query": query, "kinds": kinds, "origins": origins, "given": given, "found": None,
        "all_kinds": KINDS, "all_origins": ORIGINS, "archived": bool(at.asked("archived")),
        "filtered": bool(kinds or origins or any(given.values()) or at.asked("archived")),
    }  # fmt: skip
    if not query:
        return PageContent("search.html", values, {})
    asked: Any = {name: text or None for name, text in given.items()}
    as_data = at.asked("format") == "json"
    found = at.memory.browse.search(
        query, kinds=kinds or None, origins=origins or None, archived=bool(at.asked("archived")),
        limit=20 if as_data else DEPTH, after=at.asked("after") if as_data else "", **asked,
    )  # fmt: skip
    if as_data:
        return PageContent("search.html", values, found)
    told_of, start = answers(at, found), at.number("n", 0)
    unread = "" if found.rows else told(at.memory.workspace.searcher.unread())
    more = len(told_of.places) > start + _GROUPS
    shown = {
        "found": found, "answers": told_of, "start": start,
        "groups": [group(at, one) for one in told_of.places[start : start + _GROUPS]],
        "less": [] if more else [group(at, one) for one in told_of.less_likely[:_GROUPS]],
        "terms": frozenset(content_terms(query)),
        "next": start + _GROUPS if more else 0, "unread": unread,
        "kinds_found": told_of.kinds,
    }  # fmt: skip
    return PageContent("search.html", {**values, **shown})
