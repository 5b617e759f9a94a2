"""Explain where a passage or fact came from, and why a query found it or not."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

import msgspec

from mnemark.errors import NotFoundError, text_given
from mnemark.facts.corrected_turns import told
from mnemark.facts.files import REVIEW
from mnemark.facts.fold.tables import Correction
from mnemark.facts.model import Fact, refs_in
from mnemark.facts.store import FactStore
from mnemark.files import jsonl, layout, names
from mnemark.files.journal import FOLDER
from mnemark.files.layout import in_scope
from mnemark.files.names import split_ref
from mnemark.files.turns import decode_turn
from mnemark.memory.curation.generated import behind
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.retrieval.read import read_ref
from mnemark.text.quoting.fence import visible
from mnemark.text.words.segment import index_terms
from mnemark.text.words.stopwords import content_terms
from mnemark.types import Hit, Turn

_DEPTH: Final = 200
"""Number of hits of a search in which the passage is looked for."""
_QUOTED: Final = 500
"""Maximum characters of a source that are quoted."""


class QuotedSource(msgspec.Struct, frozen=True, kw_only=True):
    """A source and its words."""

    ref: str
    origin: str = ""
    role: str = ""
    time: str = ""
    text: str = ""
    problem: str = ""
    """Why there is no text: the file or line does not exist any more."""


class JournalLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the journal about a fact."""

    ref: str
    id: str
    kind: str
    origin: str
    time: str


class CorrectedFact(msgspec.Struct, frozen=True, kw_only=True):
    """A correction of a fact."""

    id: str
    """For `undo`."""
    time: str
    origin: str
    """Who said that it was wrong."""
    was: Fact | None
    """As it was; None where its words are erased."""
    now: Fact | None
    """As corrected; None if it was never true."""
    text: str
    """The same in words, in the language of the values."""


class QueryRank(msgspec.Struct, frozen=True, kw_only=True):
    """The rank of a passage in the answer to a question."""

    query: str
    place: int | None
    score: float | None = None
    routes: Mapping[str, Any] = {}
    boosts: Mapping[str, float] = {}
    here: tuple[str, ...] = ()
    """Terms of the query that the passage holds."""
    absent: tuple[str, ...] = ()
    reason: str


class Why(msgspec.Struct, frozen=True, kw_only=True):
    """The provenance of a passage or a fact."""

    ref: str
    id: str = ""
    kind: str
    text: str
    origin: str
    session: str = ""
    time: str = ""
    """When it was said or recorded."""
    waits: str = ""
    """Why it waits for review; empty if it does not."""
    hidden: bool = False
    """Whether it was forgotten or undone, so that no search returns it."""
    entry: str = ""
    """The ref of its line in core memory, if that ref was explained."""
    earned: str = ""
    """Why it was promoted to core memory: "said by the owner", "said in 2 sessions"."""
    sources: tuple[QuotedSource, ...] = ()
    history: tuple[Fact, ...] = ()
    """All values it had, the latest first."""
    corrected: tuple[CorrectedFact, ...] = ()
    """How it was corrected, the latest first; of a turn what was corrected of it."""
    confirmations: tuple[JournalLine, ...] = ()
    journal: tuple[JournalLine, ...] = ()
    talks: int = 0
    """In how many talks it was used."""
    found: QueryRank | None = None


def why(ws: OpenWorkspace, ref: str, query: str | None = None) -> Why:
    """Explain where a passage or a fact came from, and with `query` why that query found it or not.

    Args:
        ws: the workspace.
        ref: the ref of a hit (`path#L12`), or the id of a fact or proposal.
        query: a query, as for `search`.

    Raises:
        NotFoundError: there is no such ref or fact.
        UsageError: the ref leaves the workspace.
    """
    text_given(ref, "the ref")
    known = ws.fact_store
    with known.lock:
        known.log.refresh()
        fact = _fact(known, ref)
    core = behind(ws, ref) if fact is None else None
    if core is not None:
        found = msgspec.structs.replace(_of_fact(ws, known, core[0]), entry=ref, earned=core[1])
    else:
        found = _of_fact(ws, known, fact) if fact is not None else _of_passage(ws, ref)
    ws.searcher.usage.write()
    talks = ws.state.talks_of([found.id or found.ref]).get(found.id or found.ref, 0)
    rank = None if query is None else _rank_of(ws, found, query)
    return msgspec.structs.replace(found, talks=talks, found=rank)


def fact_named(ws: OpenWorkspace, ref: str) -> Fact | None:
    """Return the fact or proposal with this id or ref, also one decided, ended or hidden; None if none is."""
    known = ws.fact_store
    with known.lock:
        known.log.refresh()
        return _fact(known, ref)


def _fact(known: FactStore, ref: str) -> Fact | None:
    path, first, last = split_ref(ref)
    if last is None and "/" in ref:
        return None
    scopes = [layout.scope_of(path)] if last is not None else known.workspace.scopes()
    for scope in scopes:
        for one in known.held(scope):
            if one.fact.id == ref or (one.fact.path == path and last and first <= one.fact.line <= last):
                return one.fact
    log = known.log
    edit = log.tables.edits.get(ref)
    past = log.tables.past.get(ref)
    return log.of(ref).fact or past or log.of(ref).known or (edit.fact if edit is not None else None)


def _of_fact(ws: OpenWorkspace, known: FactStore, fact: Fact) -> Why:
    with known.lock:
        lines = list(_lines(known, fact))
        held = [one.fact for one in known.held(fact.scope) if one.fact.key == fact.key]
        sources = list(dict.fromkeys(filter(None, (*refs_in(fact.source), fact.ended.strip()))))
        waits = fact.review if fact.review and fact.id not in known.log.tables.decided else ""
        hidden = known.log.of(fact.id).hidden
        corrected = tuple(_corrections(known, fact.id))
    texts = tuple(quoted(ws, one) for one in sources)
    review = in_scope(fact.scope, REVIEW)
    return Why(
        ref=review if fact.review else fact.ref or fact.path, id=fact.id,
        kind="proposal" if fact.review else "fact", text=_told(fact), origin=fact.origin,
        session=next((path for one in texts if (path := _session(one.ref))), ""),
        time=fact.recorded or fact.since, waits=waits, hidden=hidden, sources=texts,
        history=tuple(reversed(held)), corrected=corrected, journal=tuple(lines),
        confirmations=tuple(one for one in lines if one.kind == "confirm"),
    )  # fmt: skip


def _corrections(known: FactStore, identifier: str) -> Iterator[CorrectedFact]:
    """Yield what a fact was corrected to, and what it was before, the latest first."""
    corrections = known.log.corrections()
    by_wrong = {one.wrong: one for one in corrections.values()}
    later: list[Correction] = []
    while (one := by_wrong.get(later[-1].id if later else identifier)) is not None and one not in later:
        later.append(one)
    yield from (_corrected(one) for one in reversed(later))
    seen: set[str] = set()
    while (before := corrections.get(identifier)) is not None and identifier not in seen:
        seen.add(identifier)
        yield _corrected(before)
        identifier = before.wrong


def _corrected(one: Correction) -> CorrectedFact:
    text = (
        told(one.before, one.fact, one.time[:10])
        if one.before is not None
        else "corrected; its words are erased"
    )
    return CorrectedFact(id=one.id, time=one.time, origin=one.origin, was=one.before, now=one.fact, text=text)


def _corrections_of_turn(known: FactStore, ref: str) -> Iterator[CorrectedFact]:
    """Yield what was corrected of a turn."""
    corrections = known.log.corrections()
    for one in reversed(corrections.values()):
        if one.before is not None and _names_line(ref, one.before.source):
            yield _corrected(one)


def _names_line(ref: str, source: str) -> bool:
    """Return whether a source names a line."""
    path, first, _ = split_ref(ref)
    places = map(split_ref, refs_in(source))
    return any(path == its_path and begin <= first <= (end or begin) for its_path, begin, end in places)


def _told(fact: Fact) -> str:
    if fact.quote:
        about = f"{fact.subject} {fact.predicate}: over" if fact.until else str(fact)
        return f"{about}; said: “{fact.quote}”"
    return str(fact) if fact.otherwise is None else f"{fact} ({fact.otherwise})"


def _lines(known: FactStore, fact: Fact) -> Iterator[JournalLine]:
    for entry in known.log.journal.naming(fact.id):
        change = entry.change
        about = (change.id, change.fields.get("fact"), change.fields.get("supersedes"), *change.ids)
        if fact.id in about:
            yield JournalLine(
                ref=f"{FOLDER}/{entry.file}#L{entry.line}", id=change.id, kind=change.kind,
                origin=change.origin, time=_time(change.time),
            )  # fmt: skip


def _time(time: datetime | None) -> str:
    return time.isoformat(timespec="seconds") if time is not None else ""


def _session(ref: str) -> str:
    path = split_ref(ref)[0]
    place = layout.place(path)
    return path if place is not None and place.role == "session" else ""


def quoted(ws: OpenWorkspace, ref: str) -> QuotedSource:
    """Return the text of a source: of a turn as it was stored, of other files redacted."""
    turn = _turn(ws, ref)
    if turn is not None:
        return QuotedSource(
            ref=ref,
            origin=turn.origin,
            role=turn.role,
            time=_time(turn.time),
            text=turn.content[:_QUOTED],
        )
    try:
        return QuotedSource(ref=ref, text=read_ref(ws.visible, ref)[:_QUOTED].strip())
    except NotFoundError as error:
        return QuotedSource(ref=ref, problem=str(error))


def _turn(ws: OpenWorkspace, ref: str) -> Turn | None:
    path, first, last = split_ref(ref)
    if last is None or not path.endswith(".jsonl"):
        return None
    for place, record in jsonl.records(names.inside(ws.root, path)):
        if place.number == first:
            return decode_turn(record, place)
    return None


def _of_passage(ws: OpenWorkspace, ref: str) -> Why:
    text = ws.searcher.read(ref)
    place = layout.place(split_ref(ref)[0])
    turn = _turn(ws, ref)
    if turn is not None:
        with ws.fact_store.lock:
            corrected = tuple(_corrections_of_turn(ws.fact_store, ref))
        return Why(
            ref=ref, id=turn.id, kind="turn", text=turn.content[:_QUOTED], origin=turn.origin,
            session=split_ref(ref)[0], time=_time(turn.time),
            hidden=turn.id in ws.index.hidden.current().turns, sources=(quoted(ws, ref),),
            corrected=corrected,
        )  # fmt: skip
    is_mounted = ws.searcher.located(ref)[0] is not ws.visible
    return Why(
        ref=ref,
        kind=place.kind if place is not None else "note",
        text=text[:_QUOTED].strip(),
        origin="import" if is_mounted else place.origin if place is not None else "file",
        time=(place.dated or "") if place is not None else "",
    )


def _rank_of(ws: OpenWorkspace, about: Why, query: str) -> QueryRank:
    path = split_ref(about.ref)[0]
    scope = layout.scope_of(path)
    answer = ws.searcher.search(query, k=_DEPTH, scope=scope or None, explain=True)
    for place, hit in enumerate(answer.hits, 1):
        if _matches(hit, about):
            terms, shown = hit.why.get("terms", {}), ws.config.recall_hits
            below = f"; a search shows the first {shown}"
            return QueryRank(
                query=query, place=place, score=hit.score, routes=hit.why.get("routes", {}),
                boosts=hit.why.get("boosts", {}),
                here=tuple(term for term, entry in terms.items() if entry["here"]),
                absent=tuple(term for term, entry in terms.items() if not entry["here"]),
                reason=f"found at rank {place}{below if place > shown else ''}",
            )  # fmt: skip
    here, absent = _terms(about.text, query)
    return QueryRank(query=query, place=None, here=here, absent=absent, reason=_reason(ws, about, here))


def _matches(hit: Hit, about: Why) -> bool:
    if about.kind == "fact":
        return hit.meta.get("fact") == about.id
    path, first, last = split_ref(about.ref)
    return hit.path == path and (last is None or (hit.start_line <= last and first <= hit.end_line))


def _terms(text: str, query: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    found = index_terms(text)
    own = {*found.words, *found.parts}
    terms = content_terms(query)
    return tuple(term for term in terms if term in own), tuple(term for term in terms if term not in own)


def _reason(ws: OpenWorkspace, about: Why, here: tuple[str, ...]) -> str:
    """Return the first applicable reason why the passage is not among the hits."""
    path = split_ref(about.ref)[0]
    place = layout.place(path)
    searched = place is not None and place.searchable
    reasons = (
        (
            bool(about.waits),
            f"it waits for your review ({about.waits}); accept it with `mnemark review accept {about.id}`",
        ),
        (
            about.hidden and any(one.was is not None and one.was.id == about.id for one in about.corrected),
            "it was corrected; `mnemark undo` with the id of the correction takes that back",
        ),
        (
            about.hidden,
            "it was forgotten or undone; `mnemark undo` with the id from `mnemark log` restores it",
        ),
        (place is not None and place.archived, "it is in the archive; add --archived to search there"),
        (not searched, f"{visible(path)} is not part of the index"),
        (searched and ws.index.document(path) is None, "it is not in the index; run `mnemark sync`"),
        (not here, "it contains none of the words, and other passages are closer in meaning"),
    )
    otherwise = f"other passages match better: it is not among the first {_DEPTH}"
    return next((reason for holds, reason in reasons if holds), otherwise)
