"""Group what a search finds by the talk or note it stands in, best first, as far as it is believed."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from mnemark.facts.model import Fact
from mnemark.files import layout
from mnemark.memory.browse.browse import FoundPage
from mnemark.memory.browse.page import counts
from mnemark.present import facts
from mnemark.present.plain import plain
from mnemark.present.sources import place
from mnemark.present.talks import talk
from mnemark.types import Hit
from mnemark_faces.web.at import At
from mnemark_faces.web.telling import speaker
from mnemark_interfaces.queries import by_belief

_LINES: Final = 3
"""Lines of a talk or note in the list."""
_CUT: Final = " .…"
"""What ends a title, but not the text that it is the beginning of."""


class FoundLine(NamedTuple):
    """A passage that was found."""

    hit: Hit
    who: str
    words: str
    """What was found; of a note without the marks of Markdown."""


class Place(NamedTuple):
    """A talk or a note, and the hits in it, the best first."""

    path: str
    hits: Sequence[Hit]


class Group(NamedTuple):
    """A talk or a note with what was found in it, as it stands in the list."""

    title: str
    link: str
    date: str
    """In words; empty for an undated note."""
    scope: str
    lines: Sequence[FoundLine]
    more: int
    solo: bool = False
    """Whether its one line begins with the title, which need not stand above it then."""


class FoundFact(NamedTuple):
    """A fact that answers."""

    fact: Fact
    sentence: str
    date: str


class Answers(NamedTuple):
    """What was found, by how far it is believed."""

    facts: Sequence[FoundFact]
    places: Sequence[Place]
    less_likely: Sequence[Place]
    sure: int
    """Passages that are believed."""
    doubted: int
    """Passages that are not."""
    kinds: Mapping[str, int]
    """Of those that are believed."""


def answers(at: At, found: FoundPage) -> Answers:
    """Return the facts, talks and notes of a search."""
    sure, doubted = by_belief(found)
    told = [fact for hit in sure if hit.kind == "fact" and (fact := _fact(at, hit)) is not None]
    rest = [hit for hit in sure if hit.kind != "fact"]
    kinds = counts(hit.kind for hit in sure)
    return Answers(told, _places(rest), _places(doubted), len(rest), len(doubted), kinds)


def _fact(at: At, hit: Hit) -> FoundFact | None:
    store = at.memory.workspace.fact_store
    with store.lock:
        store.log.refresh()
        fact = store.log.of(str(hit.meta.get("fact"))).last
    if fact is None:
        return None
    date = at.words.date(fact.since, at.now.date()) if fact.since else ""
    return FoundFact(fact, facts.sentence(fact, at.words), date)


def _places(hits: Iterable[Hit]) -> list[Place]:
    """Return hits by where they stand, in the order of the best of each; of a line only its best part."""
    by_path: dict[str, dict[tuple[str, int], Hit]] = {}
    for hit in hits:
        by_path.setdefault(hit.path, {}).setdefault((hit.path, hit.start_line), hit)
    return [Place(path, list(lines.values())) for path, lines in by_path.items()]


def group(at: At, found_in: Place) -> Group:
    """Return a talk or a note as it stands in the list."""
    ws, (path, hits) = at.memory.workspace, found_in
    best = hits[0]
    found = layout.place(path)
    role = found.role if found is not None else "note"
    date = at.words.date(best.date, at.now.date()) if best.date else ""
    if role == "session":
        title = talk(ws, path, at.words).title or at.words("(without words)")
        link = at.link("session", path=path)
    else:
        name = (best.title if role == "episode" else "") or place(ws, path, at.words)
        title, link = name[:1].upper() + name[1:], at.link("files", path=path)
        date = "" if date and date in title else date
    lines = [
        FoundLine(hit, _who(at, hit), hit.snippet if hit.kind == "turn" else plain(hit.snippet))
        for hit in hits[:_LINES]
    ]
    begins = title.rstrip(_CUT).casefold()
    solo = len(hits) == 1 and best.kind == "turn" and best.snippet.casefold().startswith(begins)
    return Group(title, link, date, best.scope, lines, len(hits) - len(lines), solo)


def _who(at: At, hit: Hit) -> str:
    """Return who said it; of a note nobody did."""
    role: Any = hit.meta.get("role") or ""
    if hit.kind == "observation":
        return at.words("tool")
    if hit.kind != "turn":
        return ""
    return speaker(at, str(role), hit.origin)
