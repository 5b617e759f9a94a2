"""Facts route: merge the facts that match a query into the hits.

A query that matches no fact keeps its hits. Among the hits a current value precedes the values it superseded,
and each is labelled.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from mnemark.facts.keys import subject_key
from mnemark.facts.known import FACT
from mnemark.facts.model import Fact, fact_text
from mnemark.facts.timeline import FactVersion, when
from mnemark.files import layout
from mnemark.index.rows import NO_TIME, seconds
from mnemark.retrieval import past_facts
from mnemark.retrieval.derived import MIN_SHARE
from mnemark.retrieval.fact_index import OWN, FactIndex, State, describe, hit_of, meta_of, without_stop_words
from mnemark.retrieval.filters import Filter
from mnemark.retrieval.presets import SUSPECT_FACTOR
from mnemark.retrieval.routes.fact_matches import Match, matches
from mnemark.retrieval.routes.fact_times import NO_TIME_ASKED, AskedTime, versions_asked
from mnemark.retrieval.routes.lexical import QueryTerm
from mnemark.text.dates import local
from mnemark.text.quoting.injection import looks_like_instructions
from mnemark.text.words.segment import index_terms
from mnemark.types import Hit

WEIGHT: Final = 0.8
"""Factor of `score ** _BEND`, added to the score of a matching fact: above any passage for a full match, and
much less where the query is about more than the fact."""
_EXPONENT: Final = 1.5
PAST_FACTOR: Final = 0.5
"""Factor on the score of a value that no longer holds: ranked lower, never hidden."""
_NEW_SHARE: Final = 0.5
"""Score of a fact that is not indexed yet, times the share of the query's terms it contains."""


class Joined(msgspec.Struct, frozen=True):
    """Hits with the facts merged in, and how well the best fact matches, 0 to 1."""

    hits: tuple[Hit, ...]
    match: float


def join(
    fact_index: FactIndex,
    hits: Sequence[Hit],
    question: str,
    terms: Sequence[QueryTerm],
    *,
    k: int,
    where: Filter,
    now: datetime,
    asked: AskedTime = NO_TIME_ASKED,
    explain: bool = False,
) -> Joined:
    """Merge facts into the hits: labelled, current before past, each fact once.

    Args:
        fact_index: the visible facts.
        hits: of the other routes, best first.
        question: text of the query.
        terms: of the query, with translations.
        k: hits at most.
        where: the filter of the search.
        now: the time of the query; `where.as_of` overrides it.
        asked: the time that the query asks for.
        explain: add the route to each `why`.
    """
    if not len(fact_index):
        return Joined(tuple(hits[:k]), 0.0)
    moment = where.as_of or now
    moment = moment if moment.tzinfo else moment.replace(tzinfo=fact_index.zone)
    found = matches(fact_index, question, terms, moment, asked) if _wanted(where) else []
    joining = _Joining(fact_index, moment, where, asked, explain=explain)
    content = without_stop_words(question)
    for hit in hits:
        if where.kinds is None and (entries := past_facts.restated_entries(hit)):
            joining.take_entries(hit, entries, content)
        else:
            joining.take(hit)
    for rank, match in enumerate(found, 1):
        joining.add(match, rank)
    joining.add_new(content, {term for term, _ in terms})
    best = next((match.score for match in found if match.version.fact.id in joining.scores), 0.0)
    return Joined(tuple(joining.ordered()[:k]), best)


def _wanted(where: Filter) -> bool:
    return where.kinds is None or "fact" in where.kinds


def _share(text: str, content: Sequence[str]) -> float:
    """Return the share of a question's terms that a text holds."""
    found = index_terms(text)
    return len({*found.words, *found.parts} & {*content}) / len(content) if content else 0.0


class _Joining:
    def __init__(
        self, fact_index: FactIndex, moment: datetime, where: Filter, asked: AskedTime, *, explain: bool
    ) -> None:
        self.fact_index = fact_index
        self.moment = moment
        self.where = where
        self.asked = asked
        self.explain = explain
        self.others: list[Hit] = []
        self.hits: dict[str, Hit] = {}
        """Passages of facts, by fact id."""
        self.scores: dict[str, float] = {}
        self.why: dict[str, dict[str, Any]] = defaultdict(dict)

    def take(self, hit: Hit) -> None:
        """Add a hit of another route, unless it is a deleted fact, or one that began after `as_of`."""
        identifier = hit.meta.get(FACT)
        held = self.fact_index.by_id.get(identifier) if isinstance(identifier, str) else None
        if held is None or hit.scope != held.fact.scope:
            shown = self._misplaced(hit, identifier) if isinstance(identifier, str) else hit
            self.others += [] if shown is None else [shown]
        elif self._state(held) != "future" or self.where.as_of is None:
            self.hits[held.fact.id] = hit
            self._raise(held.fact.id, hit.score)

    def _raise(self, identifier: str, score: float) -> None:
        """Raise the score of a fact to this one, if it is lower."""
        self.scores[identifier] = max(self.scores.get(identifier, 0.0), score)

    def take_entries(self, hit: Hit, entries: Sequence[str], content: Sequence[str]) -> None:
        """Add the facts that a generated part restates in its place, and what it says of no known fact.

        The line that says most of the question counts: the part as a whole holds the words of all its lines.

        Args:
            hit: of the generated part.
            entries: its lines that restate facts.
            content: the terms of the question.
        """
        known = self.fact_index.of_entries(hit.scope, entries)
        left = [line for line in entries if line not in known]
        if not known:
            self.take(hit)
            return
        said = {line: _share(line, content) for line in entries}
        most = max(said.values())
        if left and most and max(said[line] for line in left) == most:
            text = "\n".join(left)
            self.others.append(replace(hit, text=text, snippet=text))
        for line, held in known.items() if most >= MIN_SHARE else ():
            if said[line] == most and self._state(held) == "current" and self._allowed(held.fact):
                self._raise(held.fact.id, hit.score)

    def _misplaced(self, hit: Hit, identifier: str) -> Hit | None:
        """Return the hit of a fact bullet that is archived, or valid under its id in its scope; else None.

        Other bullets were deleted from their fact files after the last sync.
        """
        place = layout.place(hit.path)
        if place is not None and place.archived:
            return self._archived(hit)
        key = identifier, hit.scope
        found = (one for one in self.fact_index.facts if (one.fact.id, one.fact.scope) == key)
        return hit if any(one.at(self.moment) for one in found) else None

    def _archived(self, hit: Hit) -> Hit:
        """Label an archived fact with its current value."""
        predicate, _, value = hit.text.partition(": ")
        fact = Fact(id="", subject=hit.title, predicate=predicate, value=value, scope=hit.scope)
        current = self.fact_index.current(fact, self.moment)
        if current is None or current.fact.value == value:
            return hit
        text = f"{hit.text} (archived; now: {current.fact.value})"
        return replace(hit, text=text, snippet=text, meta={**hit.meta, "current": False})

    def add(self, match: Match, rank: int) -> None:
        """Add a match, or raise the score of its hit."""
        fact = match.version.fact
        if not self._allowed(fact):
            return
        gain = WEIGHT * match.score**_EXPONENT
        gain *= SUSPECT_FACTOR if looks_like_instructions(fact.value) else 1.0
        self.scores[fact.id] = self.scores.get(fact.id, 0.0) + gain
        route = {"score": round(match.score, 4), "rank": rank, "by": match.by}
        self.why[fact.id] = {"facts": route}

    def add_new(self, content: Sequence[str], terms: set[str]) -> None:
        """Add recent facts that may not be indexed yet, by their terms."""
        for held in self.fact_index.new if _wanted(self.where) else ():
            fact = held.fact
            if fact.id in self.hits or self._state(held) != "current" or not self._allowed(fact):
                continue
            # "user" occurs in every fact about the owner, and in many queries about something else.
            subject = "" if subject_key(fact.subject) in OWN else fact.subject
            found = index_terms(f"{subject} {fact_text(fact)}")
            own = {*found.words, *found.parts} & {*content, *terms}
            if own and content:
                share = min(len(own) / len(content), 1.0)
                self._raise(fact.id, _NEW_SHARE * share)
                self.why[fact.id].setdefault("facts", {"score": round(share, 4), "rank": None, "by": "new"})

    def _allowed(self, fact: Fact) -> bool:
        where, zone = self.where, self.fact_index.zone
        since = when(fact.since, zone)
        begun = seconds(local(since, zone)) if since is not None else NO_TIME
        if where.origins is not None and fact.origin not in where.origins:
            return False
        if where.since is not None and begun < seconds(where.since):
            return False
        return where.until is None or (bool(fact.since) and begun < seconds(where.until))

    def _state(self, version: FactVersion) -> State:
        if version.at(self.moment):
            return "current"
        return "future" if version.begin is not None and version.begin > self.moment else "past"

    def ordered(self) -> list[Hit]:
        """Return all hits by score, the value of a fact that is asked for before its others."""
        held = {identifier: self.fact_index.by_id[identifier] for identifier in self.scores}
        first: set[str] = set()
        for identifier, one in list(held.items()):
            wanted = self._asked_for(one.fact)
            if wanted is None or not self._allowed(wanted.fact):
                continue
            # A past value brings in the current one, and any the one that held when it is asked for.
            first.add(wanted.fact.id)
            self._raise(wanted.fact.id, self.scores[identifier])
            held[wanted.fact.id] = wanted
        found = [(hit.score, 1, hit) for hit in self.others]
        for identifier, one in held.items():
            state = self._state(one)
            leads = identifier in first or (state == "current" and not self.asked)
            hit = self._hit(one, state, round(self.scores[identifier] * (1.0 if leads else PAST_FACTOR), 4))
            found.append((hit.score, 0 if leads else 2, hit))
        found.sort(key=lambda entry: (-entry[0], entry[1], entry[2].path, entry[2].start_line, entry[2].ref))
        return [hit for _, _, hit in found]

    def _asked_for(self, fact: Fact) -> FactVersion | None:
        """Return the version of a fact that the query asks for."""
        if not self.asked:
            return self.fact_index.current(fact, self.moment)
        found = versions_asked(self.fact_index.versions(fact), self.asked, self.moment)
        return found[0][0] if found else None

    def _hit(self, version: FactVersion, state: State, score: float) -> Hit:
        fact = version.fact
        meta = meta_of(self.fact_index, version, state)
        text = describe(self.fact_index, version, state)
        passage = self.hits.get(fact.id)
        if (passage is None and looks_like_instructions(fact.value)) or (
            passage is not None and passage.meta.get("suspect")
        ):
            meta["suspect"] = True
        why = self._why(fact, passage, score)
        if passage is not None:
            meta = {**passage.meta, **meta}
            return replace(
                passage, score=score, text=text, snippet=text, meta=meta, why=why, origin=fact.origin
            )
        return hit_of(fact, text, score=score, meta=meta, why=why)

    def _why(self, fact: Fact, passage: Hit | None, score: float) -> dict[str, Any]:
        if not self.explain:
            return {}
        base: dict[str, Any] = dict(passage.why) if passage is not None else {"fused": 0.0, "terms": {}}
        routes = {**base.get("routes", {}), **self.why.get(fact.id, {})}
        boosts = dict(base.get("boosts", {}))
        if passage is not None and score != passage.score:
            boosts["facts"] = round(score - passage.score, 4)
        return {**base, "routes": routes, "boosts": boosts}
