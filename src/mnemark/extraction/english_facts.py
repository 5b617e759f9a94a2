"""Read the facts of an English sentence about the owner's life, clause by clause."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from mnemark.extraction.candidate import Found, Rule, usable
from mnemark.extraction.english_clauses import clauses, is_told
from mnemark.extraction.english_life import facts_of
from mnemark.extraction.english_names import named
from mnemark.extraction.english_parse import parse
from mnemark.extraction.validity import date_of
from mnemark.text.lazy_pattern import lazy_pattern

_NEVER: Final = lazy_pattern(r"(?!)")
_FACT: Final = Rule(_NEVER, lambda *_: [], importance=0.6, dated=True)
_TASTE: Final = Rule(_NEVER, lambda *_: [], type="preference")
_SELF: Final = Rule(_NEVER, lambda *_: [], importance=0.8, dated=True)
_RANKED: Final = {
    **dict.fromkeys(("likes", "dislikes"), _TASTE),
    **dict.fromkeys(("name", "city", "job", "employer", "spouse", "allergies", "diet", "health"), _SELF),
}
_SINCE_WORDS: Final = 5
"""Words from "since" on that say only since when."""
_FAVORITE: Final = lazy_pattern(
    r"(?i)^(?P<v>(?:[\w'&.-]+ ){1,5})(?:is|are) (?:my|our) (?P<p>favou?rite (?:[\w-]+ )?(?:[\w-]+))$"
)


def english_facts(text: str, time: datetime) -> Iterator[tuple[Rule, Found]]:
    """Yield what the clauses of a sentence tell, each with a rule that ranks it."""
    for clause in clauses(text):
        if not is_told(clause):
            continue
        for fact in _facts(clause, time):
            if (fact.value or fact.over) and (usable(fact.value) or not fact.value):
                rule = _TASTE if fact.predicate.startswith("favorite") else _RANKED.get(fact.predicate, _FACT)
                yield rule, fact


def to_do(text: str, time: datetime) -> Found | None:
    """Read what the owner wants to be reminded of, with its date: "to call Bob tomorrow"."""
    if text[:3].casefold() != "to " or not 2 <= len(text) <= 120:
        return None
    task = text[3:].strip(" .!?")
    when = date_of(task, time)
    return Found("user", "plans", f"{task} ({when})" if when else task) if task else None


def _facts(clause: str, time: datetime) -> list[Found]:
    said = parse(f"my {match['p']} is {match['v']}") if (match := _FAVORITE.match(clause)) else parse(clause)
    if said is None:
        return []
    if said.verb == "be" and "since" in said.low[1:]:  # "I'm vegan since January"
        at = said.low.index("since", 1)
        said = said._replace(rest=said.rest[:at]) if len(said.rest) - at <= _SINCE_WORDS else said
    if not said.own and said.verb == "be" and said.low[:1] in {("called",), ("named",)} and not said.negative:
        return named(f"{said.subject} name", said.rest[1:])
    if (
        not said.own
        and said.verb in {"be", "include"}
        and said.tense == "present"
        and not said.negative
        and said.rest
    ):
        found = named(said.subject, said.rest)
        if found:
            return found
    return facts_of(said, time)
