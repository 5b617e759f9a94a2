"""Learn from the daily notes of the last days, compared with MEMORY.md.

By rule, and by a model where one is configured, which sees each line once. What is found is a fact like those
of sessions, its source the note: it enters the core memory when it has earned it, for example when notes of
two days say it. What a note says otherwise than MEMORY.md is told; people's lines are not touched.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from typing import Final, NamedTuple

from mnemark.facts.keys import holds_many, predicate_key, subject_key, value_key
from mnemark.facts.model import Fact
from mnemark.facts.remember import facts, remember_many
from mnemark.files import layout, listing
from mnemark.llm.base import LLM, LLMUnavailable
from mnemark.memory.curation.files import curated_files
from mnemark.memory.learning.by_rule import CandidateWriter, Heard, LearnedFact
from mnemark.memory.learning.model_prompt import FACTS, Answer, TurnExcerpt, believed, question
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.text.extraction.extract import Candidate, extract
from mnemark.text.extraction.notes import statements
from mnemark.text.markdown.generated import emptied, mark
from mnemark.text.quoting.fence import strip_fences
from mnemark.text.quoting.injection import looks_like_instructions
from mnemark.text.redaction.redact import redact
from mnemark.types import Problem, Turn

DAYS: Final = timedelta(days=7)
"""So far back notes are read, or up to the last consolidation where that is longer ago."""
SEEN: Final = "note:"
"""What the names of positions in `state.db` begin with: the lines of a note that a model has seen."""
_ASKED: Final = 3
"""Requests of one run at most; the other lines wait for the next."""
_CHARACTERS: Final = 12_000
"""Of lines in one request."""


class Line(NamedTuple):
    """A statement of a note."""

    ref: str
    text: str
    time: datetime
    """The beginning of the note's day: what was said on that day is later."""


class Read(NamedTuple):
    """What the notes of a scope brought."""

    facts: tuple[LearnedFact, ...] = ()
    notes: tuple[str, ...] = ()
    """What a person should look at."""


def learn_notes(
    ws: OpenWorkspace,
    scope: str,
    since: date,
    now: datetime,
    *,
    llm: LLM | None = None,
    dry_run: bool = False,
) -> Read:
    """Learn from the daily notes of a scope since that day. Done again it learns nothing twice."""
    lines = list(_lines(ws, scope, since, now))
    heard = [Heard(one, line.ref, scope, "file", line.time) for line in lines for one in _candidates(line)]
    kept = CandidateWriter(ws, dry_run=dry_run).keep(heard)
    notes = list(_contradictions(ws, scope, heard, now))
    if llm is not None and not dry_run:
        more, problem = _asked(ws, llm, scope, lines)
        kept += more
        notes += [problem] if problem else []
    return Read(tuple(one for one in kept if one.status != "known"), tuple(notes))


def _lines(ws: OpenWorkspace, scope: str, since: date, now: datetime) -> Iterator[Line]:
    """The statements of the notes, oldest day first; forgotten and generated lines left out."""
    folder = f"{scope}/memory" if scope else "memory"
    rules = ws.rules
    for name in listing.names(ws.root, folder):
        path = f"{folder}/{name}"
        place = layout.place(path)
        day = place.dated if place is not None and place.role == "daily" else None
        if day is None or not since.isoformat() <= day <= f"{now:%Y-%m-%d}":
            continue
        time = datetime.fromisoformat(day).replace(tzinfo=now.tzinfo)
        for number, text in _statements(ws, path):
            clean = redact(text, rules).text
            if "[redacted:" not in clean and not looks_like_instructions(clean):
                yield Line(f"{path}#L{number}", clean, time)


def _statements(ws: OpenWorkspace, path: str) -> list[tuple[int, str]]:
    """What people and agents wrote in a file, each statement with its line."""
    found = ws.visible.read(path)
    if isinstance(found, Problem):
        return []
    text = emptied(found.text)
    own = set(strip_fences(text).splitlines())  # what a recall handed out is nobody's words
    return list(statements([line if line in own else "" for line in text.splitlines()]))


def _candidates(line: Line) -> list[Candidate]:
    return extract(line.text, time=line.time, origin="import")


def _contradictions(ws: OpenWorkspace, scope: str, heard: Iterable[Heard], now: datetime) -> Iterator[str]:
    """What the newest note says otherwise than MEMORY.md does outside its generated part."""
    newest = {_key(one.fact): one for one in heard if not holds_many(one.fact.predicate)}
    for path in curated_files(ws.root, f"{scope}/" if scope else ""):
        for number, text in _statements(ws, path):
            for stated in extract(text, time=now, origin="import"):
                other = newest.get(_key(stated))
                if other is not None and value_key(other.fact.value) != value_key(stated.value):
                    yield (
                        f"conflict: {path}#L{number} says {stated.predicate}: {stated.value}, "
                        f"but {other.ref} says {other.fact.value}"
                    )


def _key(fact: Candidate) -> tuple[str, str]:
    return subject_key(fact.subject), predicate_key(fact.predicate)


def _asked(ws: OpenWorkspace, llm: LLM, scope: str, lines: Sequence[Line]) -> tuple[list[LearnedFact], str]:
    """Ask the model about lines it has not seen; what it did wrong is told."""
    state = ws.state
    seen = {name: set(value.split()) for name, value in state.positions(SEEN).items()}
    new = [line for line in lines if mark(line.text) not in seen.get(_name(line), set())]
    found: list[LearnedFact] = []
    for group in _groups(new)[:_ASKED]:
        said = [TurnExcerpt(turn=_turn(line), ref=line.ref, scope=scope) for line in group]
        known = list(facts(ws.fact_store, scope=scope))[:FACTS]
        try:
            answer = llm.complete(question(said, known), schema=Answer, timeout=ws.config.llm.timeout)
        except LLMUnavailable as error:
            return found, f"the notes were read without the language model: {error}"
        good = [pair for one in answer.value.facts if (pair := believed(one, said, known)) is not None]
        heard = [Heard(fact, one.ref, scope, "file", one.turn.time) for one, fact in good]
        found += CandidateWriter(ws).keep(heard, by="model")
        for line in group:
            seen.setdefault(_name(line), set()).add(mark(line.text))
        state.note({name: " ".join(sorted(seen[name])) for name in {_name(line) for line in group}})
    return found, ""


def _name(line: Line) -> str:
    return SEEN + line.ref.partition("#")[0]


def _turn(line: Line) -> Turn:
    return Turn(id="", time=line.time, role="note", content=line.text, origin="import")


def _groups(lines: Iterable[Line]) -> list[list[Line]]:
    groups: list[list[Line]] = []
    room = 0
    for line in lines:
        if len(line.text) > room:
            groups.append([])
            room = _CHARACTERS
        groups[-1].append(line)
        room -= len(line.text)
    return groups


def supposed(ws: OpenWorkspace, scope: str, learned: Sequence[LearnedFact]) -> list[Fact]:
    """What would become of facts of a scope that a dry run found, each in the light of those before it."""
    return remember_many(
        ws.fact_store,
        [
            {
                "predicate": one.predicate, "value": one.value, "subject": one.subject, "type": one.type,
                "origin": "agent", "since": datetime.fromisoformat(one.since), "importance": one.importance,
                "confidence": one.confidence, "priority": one.priority, "source": one.ref, "scope": scope,
            }
            for one in learned
        ],
        dry_run=True,
    )  # fmt: skip


def told(fact: LearnedFact) -> str:
    """A fact that was learned, for the report."""
    words = " ".join(filter(None, (fact.subject, fact.predicate)))
    waits = " (waits in review)" if fact.status == "review" else ""
    return f"{words}: {fact.value} — {fact.ref}{waits}"


def begin(now: datetime, last: datetime | None) -> date:
    """From which day on notes are read where nobody says."""
    week = (now - DAYS).date()
    return week if last is None else min(week, last.astimezone(now.tzinfo).date())
