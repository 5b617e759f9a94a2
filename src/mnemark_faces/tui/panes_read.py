"""The screens that show what a workspace holds: Search, Timeline and Facts."""

from typing import TYPE_CHECKING, Any, Final

from textual.content import Content

from mnemark.files import layout
from mnemark.files.names import split_ref
from mnemark.memory.browse.browse import DEPTH
from mnemark.memory.browse.change_rows import is_of_talk
from mnemark.present.facts import TOPICS, sentence, topic
from mnemark.present.plain import for_people
from mnemark.present.sources import place, source
from mnemark.present.talks import talk
from mnemark_faces.tui.cells import (
    DIM,
    WARNING,
    Sheet,
    brief,
    one_line,
    origin_of,
    padded,
    speaker,
)
from mnemark_faces.tui.explained import corrections, minute, sources, term_lines, values
from mnemark_faces.tui.filters import filters_in
from mnemark_faces.tui.panes_change import change_row, explain_change
from mnemark_faces.tui.rows import ListRow, RowPage
from mnemark_faces.tui.words import PanelWords
from mnemark_interfaces.queries import DOUBTFUL, by_belief
from mnemark_interfaces.render import on_clock

if TYPE_CHECKING:
    from mnemark.facts.model import Fact
    from mnemark.memory.browse.browse import FoundPage
    from mnemark.memory.browse.entries import TimelineEntry
    from mnemark.memory.browse.fact_rows import FactRow
    from mnemark.memory.browse.talk_rows import TalkRow
    from mnemark.memory.memory import Memory
    from mnemark.types import Hit

_NARROW_SEARCH: Final = frozenset({"kind", "origin", "since", "until", "as_of"})
_NARROW_FACTS: Final = frozenset({"as_of", "type", "origin", "subject"})
_NARROW_TIMELINE: Final = frozenset({"session", "tool", "kind", "origin", "until"})
_WHO: Final = 6
_DAY: Final = len("2026-03-14")
_TURNS: Final = 60
"""Messages of a talk that are shown beside it."""
_DATED: Final = frozenset({"note", "episode", "attachment"})
"""Kinds that have a day rather than a time."""
_SHOWN: Final = ("turn", "observation", "note", "attachment", "change")
"""Kinds of the timeline: pages of talks are shown with these, in Talks."""
_SUSPECT: Final = "Looks like instructions to a model. Enter shows it."


class SearchPane:
    """The hits for a query."""

    name = "Search"
    field = "What are you looking for?"
    empty = "Type a question or some words, in any language, and press Enter."

    def page(self, memory: "Memory", words: PanelWords, *, text: str, after: str, limit: int) -> RowPage:
        """Return a page of hits."""
        asked, given = filters_in(text, _NARROW_SEARCH)
        if not asked:
            return RowPage(())
        lists: Any = {f"{name}s": [given.pop(name)] for name in ("kind", "origin") if name in given}
        times: Any = given
        found = memory.browse.search(asked, limit=DEPTH, **lists, **times)
        head = words.count(found.total or 0, "{n} hit", "{n} hits")
        if found.total == DEPTH:
            head = words("the best {n} hits", n=DEPTH)
        if found.rows and found.on_topic < DOUBTFUL:
            head = f"{head} · {words('probably not in this memory')}"
        begin = int(after or 0)
        hits = _in_order(found)[begin : begin + limit]
        end = begin + len(hits)
        return RowPage(
            tuple(_hit(memory, hit, words, likely=likely) for hit, likely in hits),
            str(end) if end < len(found.rows) else "", head if found.rows else "",
            "; ".join(one_line(words.told(part).text) for part in found.degraded),
        )  # fmt: skip

    def explain(self, memory: "Memory", words: PanelWords, row: ListRow, text: str) -> Sheet:  # noqa: ARG002
        """Return where a hit comes from; why it was found is known."""
        return _explained(memory, words, row)


class TimelinePane:
    """What was said, noted and changed, the latest first."""

    name = "Timeline"
    field = "Only this session, or tool:NAME"
    empty = "Nothing has been said or noted yet. Connect an agent with `mnemark connect`, or `mnemark add`."

    def page(self, memory: "Memory", words: PanelWords, *, text: str, after: str, limit: int) -> RowPage:
        """Return a page of entries; words in the field are the id of a session."""
        session, given = filters_in(text, _NARROW_TIMELINE)
        lists: Any = {f"{name}s": [given.pop(name)] for name in ("kind", "origin") if name in given}
        narrow: Any = {"session": session} | given
        if not lists.get("kinds"):
            lists["kinds"] = _SHOWN
        rows: list[TimelineEntry] = []
        while not rows:
            found = memory.browse.timeline(limit=limit, after=after, **lists, **narrow)
            rows = [one for one in found.rows if one.change is None or not is_of_talk(one.change.step)]
            if not (after := found.next):
                break
        return RowPage(tuple(_entry(memory, one, words) for one in rows), after)

    def explain(self, memory: "Memory", words: PanelWords, row: ListRow, text: str) -> Sheet:  # noqa: ARG002
        """Return what a change did; of an entry all is known."""
        if row.change:
            return explain_change(memory, words, row)
        return Sheet(words)


class FactsPane:
    """The facts that hold, with what they replaced."""

    name = "Facts"
    field = "Only facts with these words"
    empty = "No fact. Facts are learned from conversations, or said with `mnemark remember`."

    def page(self, memory: "Memory", words: PanelWords, *, text: str, after: str, limit: int) -> RowPage:
        """Return a page of facts."""
        asked, given = filters_in(text, _NARROW_FACTS)
        narrow: Any = given
        found = memory.browse.facts(text=asked, limit=limit, after=after, part=_part, **narrow)
        head = words.count(found.total or 0, "{n} fact", "{n} facts")
        return RowPage(tuple(_fact(memory, one, words) for one in found.rows), found.next, head)

    def explain(self, memory: "Memory", words: PanelWords, row: ListRow, text: str) -> Sheet:  # noqa: ARG002
        """Return where a fact comes from, and its earlier values."""
        return _explained(memory, words, row)


class TalksPane:
    """The talks, the latest first."""

    name = "Talks"
    field = "Only talks with these words"
    empty = "No talk yet. Connect an agent with `mnemark connect`, or import talks with `mnemark import`."

    def page(self, memory: "Memory", words: PanelWords, *, text: str, after: str, limit: int) -> RowPage:
        """Return a page of talks."""
        found = memory.browse.talks(text=text, limit=limit, after=after)
        head = words.count(found.total, "{n} talk", "{n} talks") if found.total else ""
        return RowPage(tuple(_talk(memory, one, words) for one in found.rows), found.next, head)

    def explain(self, memory: "Memory", words: PanelWords, row: ListRow, text: str) -> Sheet:  # noqa: ARG002
        """Return what was said, in the order of reading."""
        sheet = Sheet(words)
        for entry in memory.browse.turns(row.key, limit=_TURNS).rows:
            said = on_clock(entry.turn.time.isoformat(), memory.workspace.now().tzinfo)[11:16]
            sheet.title(f"{speaker(entry.turn.role, words)} {said}", DIM)
            sheet.text(entry.turn.content).gap()
        return sheet


def _talk(memory: "Memory", row: "TalkRow", words: PanelWords) -> ListRow:
    told = talk(memory.workspace, row.path, words)
    title = told.title or words("(without words)")
    length = words.count(row.messages, "{n} message", "{n} messages")
    shown = Content.assemble((f"{row.began[11:16]} ", DIM), one_line(title), (f"  {length}", DIM))
    sheet = Sheet(words).title(title)
    for line in told.lines:
        sheet.text(line)
    sheet.gap().field("when", minute(memory, words, row.began)).field(
        "until", minute(memory, words, row.ended)
    )
    sheet.field("agent", told.agent).field("scope", row.scope).gap()
    return ListRow(row.path, shown, sheet, day=row.began[:10], text=brief(title))


def _explained(memory: "Memory", words: PanelWords, row: ListRow) -> Sheet:
    why = memory.why(row.about)
    sheet = Sheet(words)
    corrections(sheet, words, why.corrected)
    values(sheet, words, why)
    if why.kind != "turn":  # its own words
        sources(sheet, memory, words, why.sources)
    return sheet


def _in_order(found: "FoundPage") -> "list[tuple[Hit, bool]]":
    """Return the hits that are believed, facts first, then the others; each with whether it is."""
    sure, rest = by_belief(found)
    sure = sorted(sure, key=lambda hit: hit.kind != "fact")
    return [(hit, True) for hit in sure] + [(hit, False) for hit in rest]


def _hit(memory: "Memory", hit: "Hit", words: PanelWords, *, likely: bool) -> ListRow:
    suspect = bool(hit.meta.get("suspect"))
    origin, date = (
        origin_of(hit.origin, words),
        minute(memory, words, hit.date) if hit.date else words("undated"),
    )
    fact = _fact_of(memory, hit) if hit.kind == "fact" else None
    told = sentence(fact, words) if fact is not None else hit.snippet or for_people(hit.text)
    excerpt = words(_SUSPECT) if suspect else one_line(told)
    at = (
        source(memory.workspace, fact, words) if fact is not None else place(memory.workspace, hit.ref, words)
    )
    shown = Content.assemble(
        (_head(memory, hit, at, words), DIM), "\n", (excerpt, WARNING if suspect else "")
    )
    sheet = Sheet(words)
    if suspect:
        sheet.note(_SUSPECT, WARNING)
    else:
        sheet.text(told if fact is not None else for_people(hit.text))
    sheet.gap().text(at, DIM).field("when", date)
    sheet.field("said by", "" if fact is not None else origin).field("scope", hit.scope)
    if terms := hit.why.get("terms"):
        sheet.heading("Your words")
        term_lines(sheet, terms)
    about = str(hit.meta.get("fact") or hit.ref)
    day = "" if likely else words("Less likely")
    return ListRow(hit.ref, shown, sheet, day=day, about=about, text=brief(told), suspect=suspect, fact=fact)


def _head(memory: "Memory", hit: "Hit", at: str, words: PanelWords) -> str:
    """Return what stands above a hit: who, the talk or the note, and the day; of a fact who said it."""
    if hit.kind == "fact":
        return one_line(at)
    path = split_ref(hit.ref)[0]
    found = layout.place(path)
    is_talk = found is not None and found.role == "session"
    who = origin_of(hit.origin, words) if hit.kind in {"turn", "observation"} else ""
    where = talk(memory.workspace, path, words).title if is_talk else at
    day = words.date(hit.date[:_DAY], memory.workspace.now().date()) if is_talk and hit.date else ""
    return " · ".join(one_line(part) for part in (who, where, day) if part)


def _fact_of(memory: "Memory", hit: "Hit") -> "Fact | None":
    store = memory.workspace.fact_store
    with store.lock:
        store.log.refresh()
        return store.log.of(str(hit.meta.get("fact"))).last


def _entry(memory: "Memory", entry: "TimelineEntry", words: PanelWords) -> ListRow:
    if entry.change is not None:
        return change_row(memory, entry.change, words)
    who = speaker(entry.who or entry.kind, words)
    hour = "" if entry.kind in _DATED and entry.time[11:19] == "00:00:00" else entry.time[11:16]
    told = for_people(entry.text)
    excerpt = words(_SUSPECT) if entry.suspect else one_line(told.lstrip("# "))
    shown = Content.assemble(
        (f"{hour:5} {padded(who, _WHO)} ", DIM), (excerpt, WARNING if entry.suspect else "")
    )
    sheet = Sheet(words)
    if entry.suspect:
        sheet.note(_SUSPECT, WARNING)
    else:
        sheet.text(told)
    sheet.gap().text(place(memory.workspace, entry.ref, words), DIM)
    sheet.field("when", minute(memory, words, entry.time if hour else entry.time[:_DAY]))
    sheet.field("said by", origin_of(entry.origin, words))
    sheet.field("scope", entry.scope)
    return ListRow(
        entry.ref, shown, sheet, day=entry.time[:10], about=entry.ref, text=brief(told),
        suspect=entry.suspect,
    )  # fmt: skip


def _part(fact: "Fact") -> int:
    return TOPICS.index(topic(fact))


def _fact(memory: "Memory", row: "FactRow", words: PanelWords) -> ListRow:
    fact = row.fact
    told = sentence(fact, words)
    shown = Content.assemble(("? " if row.proposed else "", WARNING), one_line(told))
    origin = source(memory.workspace, fact, words)
    sheet = Sheet(words).title(told).text(origin, DIM).gap()
    sheet.field("since", minute(memory, words, fact.since)).field(
        "learned", minute(memory, words, fact.recorded)
    )
    sheet.field("tags", ", ".join(fact.tags)).field("scope", fact.scope)
    sheet.field("recalled", words.count(row.uses, "{n} time", "{n} times") if row.uses else "")
    sheet.field("fades", row.fades)
    for other in row.proposed:
        sheet.note("? Proposed instead: {value} (see Review)", WARNING, value=other.value)
    return ListRow(fact.id, shown, sheet, day=words(topic(fact)), about=fact.id, text=brief(told), fact=fact)
