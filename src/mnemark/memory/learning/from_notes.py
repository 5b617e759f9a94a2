"""Learn facts from the daily notes of the last days.

By rule, and by a model where one is configured, which sees each line once. Facts are like those of sessions,
with the note as source: they enter the core memory when they have earned it, for example when notes of two
days say so. What contradicts a line that a person wrote waits for review; people's lines are not touched.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from typing import Final, NamedTuple

from mnemark.extraction.extract import by_rules
from mnemark.facts.remember import facts
from mnemark.files import layout, listing
from mnemark.files.layout import in_scope
from mnemark.llm.base import LLM, LLMUnavailable
from mnemark.memory.learning.by_hand import statements_of
from mnemark.memory.learning.candidates import CandidateWriter, SourcedCandidate
from mnemark.memory.learning.learned import LearnedFact
from mnemark.memory.learning.model_checks import believed
from mnemark.memory.learning.model_prompt import FACTS, Answer, TurnExcerpt, question
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.text.markdown.generated import mark
from mnemark.text.quoting.injection import looks_like_instructions
from mnemark.text.redaction.redact import redact
from mnemark.types import Turn

DAYS: Final = timedelta(days=7)
"""How far back notes are read, or up to the last consolidation where that is longer ago."""
SEEN: Final = "note:"
"""Prefix of the names of positions in `state.db` that hold the lines of a note a model has seen."""
_ASKED: Final = 3
"""Maximum number of requests of one run; the other lines are left to the next."""
_CHARACTERS: Final = 12_000
"""Of lines in one request."""


class NoteLine(NamedTuple):
    """A statement of a note."""

    ref: str
    text: str
    time: datetime
    """Midnight of the note's day, so that turns of that day are later."""


def learn_notes(
    ws: OpenWorkspace,
    scope: str,
    since: date,
    now: datetime,
    *,
    llm: LLM | None = None,
    dry_run: bool = False,
) -> tuple[list[LearnedFact], list[str]]:
    """Learn from the daily notes of a scope since that day; return new facts and remarks for people."""
    lines = list(_lines(ws, scope, since, now))
    found = [
        SourcedCandidate(one, line.ref, scope, "file", line.time)
        for line in lines
        for one in by_rules(line.text, time=line.time, origin="import")
    ]
    kept = CandidateWriter(ws, dry_run=dry_run).keep(found)
    notes: list[str] = []
    if llm is not None and not dry_run:
        more, problem = _asked(ws, llm, scope, lines)
        kept += more
        notes += [problem] if problem else []
    return [one for one in kept if one.status != "known"], notes


def _lines(ws: OpenWorkspace, scope: str, since: date, now: datetime) -> Iterator[NoteLine]:
    """Yield the statements of the notes, oldest day first, without forgotten and generated lines."""
    folder = in_scope(scope, "memory")
    for name in listing.names(ws.root, folder):
        path = f"{folder}/{name}"
        place = layout.place(path)
        day = place.dated if place is not None and place.role == "daily" else None
        if day is None or not since.isoformat() <= day <= f"{now:%Y-%m-%d}":
            continue
        time = datetime.fromisoformat(day).replace(tzinfo=now.tzinfo)
        for number, text in statements_of(ws, path):
            clean = redact(text, ws.rules).text
            if "[redacted:" not in clean and not looks_like_instructions(clean):
                yield NoteLine(f"{path}#L{number}", clean, time)


def _asked(
    ws: OpenWorkspace, llm: LLM, scope: str, lines: Sequence[NoteLine]
) -> tuple[list[LearnedFact], str]:
    """Send new lines to the model; return the learned facts, and why it stopped early."""
    state = ws.state
    seen = defaultdict(set, {name: set(value.split()) for name, value in state.positions(SEEN).items()})
    new = [line for line in lines if mark(line.text) not in seen[_name(line)]]
    found: list[LearnedFact] = []
    for group in _groups(new)[:_ASKED]:
        turns = [
            Turn(id="", time=line.time, role="note", content=line.text, origin="import") for line in group
        ]
        said = [TurnExcerpt(turn, line.ref, scope) for turn, line in zip(turns, group, strict=True)]
        known = list(facts(ws.fact_store, scope=scope))[:FACTS]
        try:
            answer = llm.complete(question(said, known), schema=Answer, timeout=ws.config.llm.timeout)
        except LLMUnavailable as error:
            return found, f"the notes were read without the language model: {error}"
        good = [pair for one in answer.value.facts if (pair := believed(one, said, known)) is not None]
        new_facts = [SourcedCandidate(fact, one.ref, scope, "file", one.turn.time) for one, fact in good]
        found += CandidateWriter(ws).keep(new_facts, by="model")
        for line in group:
            seen[_name(line)].add(mark(line.text))
        state.note({name: " ".join(sorted(seen[name])) for name in {_name(line) for line in group}})
    return found, ""


def _name(line: NoteLine) -> str:
    return SEEN + line.ref.partition("#")[0]


def _groups(lines: Iterable[NoteLine]) -> list[list[NoteLine]]:
    groups: list[list[NoteLine]] = []
    room = 0
    for line in lines:
        if len(line.text) > room:
            groups.append([])
            room = _CHARACTERS
        groups[-1].append(line)
        room -= len(line.text)
    return groups


def describe(fact: LearnedFact) -> str:
    """Return a learned fact as a line of a report."""
    words = " ".join(filter(None, (fact.subject, fact.predicate)))
    notes = {"review": " (waits in review)", "ended": " (no longer)", "would be ended": " (no longer)"}
    against = f"; you wrote: {fact.against}" if fact.against else ""
    return f"{words}: {fact.value} — {fact.ref}{notes.get(fact.status, '')}{against}"


def begin(now: datetime, last: datetime | None) -> date:
    """Return the first day whose notes are read by default."""
    week = (now - DAYS).date()
    return week if last is None else min(week, last.astimezone(now.tzinfo).date())
