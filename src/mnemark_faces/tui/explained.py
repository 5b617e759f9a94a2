"""Tell in a few lines where a passage or fact comes from, and why a search found it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import msgspec

from mnemark.files.names import split_ref
from mnemark.memory.journal.changes import KINDS
from mnemark.memory.review.explain import fact_named
from mnemark.present.changes import NAMES
from mnemark.present.explained import told
from mnemark.present.facts import sentence
from mnemark.present.plain import for_people
from mnemark.present.sources import place, source
from mnemark.present.words import ROUTES
from mnemark.types import Json
from mnemark_faces.tui.cells import DIM, WARNING, Sheet, one_line, origin_of, speaker
from mnemark_faces.tui.words import PanelWords
from mnemark_interfaces.render import on_clock
from mnemark_interfaces.tools_read import around

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory
    from mnemark.memory.review.explain import CorrectedFact, QueryRank, QuotedSource, Why


class _Said(msgspec.Struct):
    content: str = ""
    tool_calls: Sequence[Json] = ()
    tool_results: Sequence[Json] = ()


_DATE: Final = len("2026-03-14")
_JOURNAL: Final = 12
"""Lines of the journal that are shown."""
_AROUND: Final = 3
"""Turns that are shown before and after one."""


def minute(memory: "Memory", words: PanelWords, time: str) -> str:
    """Return an ISO time in words, on the workspace's clock: "14 March, 09:30"; a date without a time."""
    now = memory.workspace.now()
    shown = on_clock(time, now.tzinfo)
    if len(time) <= _DATE:
        return words.date(shown, now.date())
    try:
        return words.moment(datetime.fromisoformat(shown), now.date())
    except ValueError:  # an agent's own words for a time
        return shown


def sources(sheet: Sheet, memory: "Memory", words: PanelWords, found: "Sequence[QuotedSource]") -> None:
    """Add the words that a thing was learned from; with their places where they are of several."""
    if found:
        sheet.heading("It comes from")
    for one in found:
        who = one.role and speaker(one.role, words)
        at = place(memory.workspace, one.ref, words) if len(found) > 1 or not one.role else ""
        sheet.text(" · ".join(filter(None, (who, minute(memory, words, one.time), at))), DIM)
        told = words.told(one.problem).text if one.problem else one.text
        sheet.text(told, WARNING if one.problem else "")


def values(sheet: Sheet, words: PanelWords, why: "Why") -> None:
    """Add the values that a fact had, the latest first."""
    if len(why.history) > 1:
        sheet.heading("Its values")
        spans = (f"{words.date(fact.since[:10])} – {words.date(fact.until[:10])}" for fact in why.history)
        sheet.rows(
            (one_line(span), one_line(fact.value)) for span, fact in zip(spans, why.history, strict=True)
        )


def corrections(sheet: Sheet, words: PanelWords, found: "Sequence[CorrectedFact]") -> None:
    """Add what was corrected, the latest first: what was wrong, and what is right."""
    if found:
        sheet.heading("Corrected")
    for one in found:
        was = one_line(sentence(one.was, words)) if one.was is not None else words("(erased)")
        now = one_line(sentence(one.now, words)) if one.now is not None else words("never true")
        sheet.rows(((words("wrong"), was), (words("right"), now)))


def route_lines(sheet: Sheet, words: PanelWords, why: Mapping[str, Any], terms: Mapping[str, Any]) -> None:
    """Add how a search found a passage: the place in each route, words that match and that are missing."""
    for name, route in why.get("routes", {}).items():
        rank = words("rank {n}, score {score}", n=route.get("rank"), score=f"{route['score']:.2f}")
        sheet.field(ROUTES.get(name, name), rank if route.get("rank") else words("not found"))
    term_lines(sheet, terms)


def term_lines(sheet: Sheet, terms: Mapping[str, Any]) -> None:
    """Add the words of a search that a passage has, and those that it lacks."""
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
    sheet = Sheet(words)
    _title(sheet, memory, words, why)
    sheet.gap().field("said by", origin_of(why.origin, words)).field("when", minute(memory, words, why.time))
    sheet.field("promoted", words.told(why.earned).text)
    sheet.field("used", words.count(why.talks, "in 1 talk", "in {n} talks") if why.talks else "")
    if why.waits:
        sheet.note("It waits for review: {why}", WARNING, why=words(why.waits))
    if why.hidden:
        sheet.note("It was forgotten or undone: no search finds it.", WARNING)
    corrections(sheet, words, why.corrected)
    values(sheet, words, why)
    if why.kind != "turn":  # its own words
        sources(sheet, memory, words, why.sources)
    if why.found is not None:
        _rank(sheet, words, why.found)
    lines = [line for line in why.journal if line.kind in KINDS]
    if lines:
        sheet.heading("In the journal")
        sheet.rows((minute(memory, words, line.time), words(NAMES[line.kind])) for line in lines[-_JOURNAL:])
    sheet.heading("For programs").text("\n".join(filter(None, (why.ref, why.id))), DIM)
    return sheet


def _title(sheet: Sheet, memory: "Memory", words: PanelWords, why: "Why") -> None:
    """Add what is explained, and where it stands: a fact as a sentence, with who said it."""
    fact = fact_named(memory.workspace, why.id) if why.kind in {"fact", "proposal"} else None
    if fact is None:
        sheet.title(why.text).text(place(memory.workspace, why.ref, words), DIM)
        return
    sheet.title(why.text).text(source(memory.workspace, fact, words), DIM)


def _rank(sheet: Sheet, words: PanelWords, found: "QueryRank") -> None:
    sheet.heading("Searching for “{query}”", query=one_line(found.query)).text(words.told(found.reason).text)
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
    sheet = Sheet(words).text(place(memory.workspace, why.ref, words), DIM)
    sheet.field("said by", origin_of(why.origin, words)).field("when", minute(memory, words, why.time)).gap()
    sheet.text(_said(memory, about) if why.kind == "turn" else for_people(memory.read(about)))
    corrections(sheet, words, why.corrected)
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
        when = minute(memory, words, str(entry.get("time", "")))
        sheet.title(f"{'›' if here else ' '} {speaker(str(entry.get('who', '')), words)} {when}", DIM)
        sheet.text("…" if here else str(entry["text"]))
