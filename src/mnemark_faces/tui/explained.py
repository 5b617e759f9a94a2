"""Tell in a few lines where a passage or fact comes from, and why a search found it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from mnemark.files.names import split_ref
from mnemark.present.explained import told
from mnemark.present.words import ROUTES
from mnemark.types import Json
from mnemark_faces.tui.cells import WARNING, Sheet, one_line, origin_of
from mnemark_faces.tui.words import PanelWords
from mnemark_interfaces.tools_read import around

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory
    from mnemark.memory.review.explain import QueryRank, QuotedSource, Why


class _Said(msgspec.Struct):
    content: str = ""
    tool_calls: Sequence[Json] = ()
    tool_results: Sequence[Json] = ()


_JOURNAL: Final = 12
"""Lines of the journal that are shown."""
_AROUND: Final = 3
"""Turns that are shown before and after one."""


def minute(time: str) -> str:
    """Return an ISO time cut to the minute."""
    return time[:16].replace("T", " ")


def sources(sheet: Sheet, words: PanelWords, found: "Sequence[QuotedSource]") -> None:
    """Add the words that a thing was learned from, each with its place."""
    if found:
        sheet.heading("It comes from")
    for one in found:
        who = " · ".join(filter(None, (one.role and words(one.role), minute(one.time))))
        sheet.title(" ".join(filter(None, (who, one_line(one.ref)))), "dim")
        sheet.text(one.problem or one.text, WARNING if one.problem else "")


def values(sheet: Sheet, why: "Why") -> None:
    """Add the values that a fact had, the latest first."""
    if len(why.history) > 1:
        sheet.heading("Its values")
        sheet.rows((_span(fact.since, fact.until), one_line(fact.value)) for fact in why.history)


def _span(since: str, until: str) -> str:
    return f"{one_line(since)[:10]:<10} – {one_line(until)[:10]:<10}"


def route_lines(sheet: Sheet, words: PanelWords, why: Mapping[str, Any], terms: Mapping[str, Any]) -> None:
    """Add how a search found a passage: the place in each route, words that match and that are missing."""
    for name, route in why.get("routes", {}).items():
        place = words("rank {n}, score {score}", n=route.get("rank"), score=f"{route['score']:.2f}")
        sheet.field(ROUTES.get(name, name), place if route.get("rank") else words("not found"))
    here = [term for term, entry in terms.items() if entry["here"]]
    absent = [term for term, entry in terms.items() if not entry["here"]]
    sheet.field("matching", ", ".join(here))
    sheet.field("missing", ", ".join(absent))


def whole_why(memory: "Memory", words: PanelWords, about: str, query: str) -> Sheet:
    """Return all that is known of where a passage or fact comes from.

    Raises:
        MnemarkError: it is not there any more.
    """
    why = told(memory.workspace, memory.why(about, query or None), words)
    sheet = Sheet(words).title(why.text)
    sheet.gap().field("place", why.ref).field("id", why.id).field("kind", words(why.kind))
    sheet.field("said by", origin_of(why.origin, words)).field("when", minute(why.time))
    sheet.field("session", why.session).field("promoted", why.earned)
    if why.waits:
        sheet.note("It waits for review: {why}", WARNING, why=words(why.waits))
    if why.hidden:
        sheet.note("It was forgotten or undone: no search finds it.", WARNING)
    if why.found is not None:
        _rank(sheet, words, why.found)
    values(sheet, why)
    if why.kind != "turn":  # its own words
        sources(sheet, words, why.sources)
    if why.journal:
        sheet.heading("In the journal")
        sheet.rows(
            (minute(line.time), f"{words(line.kind)}  {one_line(line.ref)}")
            for line in why.journal[-_JOURNAL:]
        )
    return sheet


def _rank(sheet: Sheet, words: PanelWords, found: "QueryRank") -> None:
    sheet.heading("Searching for “{query}”", query=one_line(found.query)).text(found.reason)
    terms = {term: {"here": term in found.here} for term in (*found.here, *found.absent)}
    route_lines(sheet, words, {"routes": found.routes}, terms)
    for name, value in found.boosts.items():
        sheet.field(f"× {name}", f"{value:+.3f}")


def whole_text(memory: "Memory", words: PanelWords, about: str) -> Sheet:
    """Return the text of a passage with what was said before and after it.

    Raises:
        MnemarkError: it is not there any more.
    """
    why = memory.why(about)
    if why.kind in {"fact", "proposal"}:
        return whole_why(memory, words, about, "")
    sheet = Sheet(words).field("place", why.ref).field("said by", origin_of(why.origin, words))
    sheet.field("when", minute(why.time)).gap().text(
        _said(memory, about) if why.kind == "turn" else memory.read(about)
    )
    if why.kind == "turn":
        _conversation(sheet, memory, words, about)
    return sheet


def _said(memory: "Memory", ref: str) -> str:
    """Return the words of a turn: its line in the log is JSON."""
    path, line, _ = split_ref(ref)
    turn = msgspec.json.decode(memory.read(f"{path}#L{line}"), type=_Said)
    return "\n".join(filter(None, (turn.content, *map(_shown, (*turn.tool_calls, *turn.tool_results)))))


def _shown(value: Json) -> str:
    return msgspec.json.format(msgspec.json.encode(value)).decode()


def _conversation(sheet: Sheet, memory: "Memory", words: PanelWords, ref: str) -> None:
    line = split_ref(ref)[1]
    sheet.heading("The conversation around it")
    for entry in around(memory, ref, before=_AROUND, after=_AROUND):
        here = split_ref(str(entry["ref"]))[1] == line
        when = minute(str(entry.get("time", "")))
        sheet.title(f"{'›' if here else ' '} {words(str(entry.get('who', '')))} {when}", "dim")
        sheet.text("…" if here else str(entry["text"]))
