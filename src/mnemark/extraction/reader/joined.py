"""Join what the rules and the reader learn of a turn: each thing once, in the more exact form."""

from collections.abc import Sequence
from typing import Final

from mnemark.extraction.candidate import Candidate
from mnemark.extraction.reader.clauses import CLAUSE_END
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import han_pairs

_SEVERAL: Final = frozenset({"tools", "decisions"})
"""What a project has several of, so that a sentence may name more than the rules read."""
_LITTLE: Final = frozenset({"my", "our", "is", "are", "am", "the", "we"})
"""Words that tell nothing of how much of a statement a fact says."""
_WORD: Final = lazy_pattern(r"\d+|[^\W\d_]{2,}")


def joined(by_rule: Sequence[Candidate], by_reader: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates of a turn: the rules' and what only the reader sees.

    A statement that a fact says, too, is left out. Where both read the same words, the rule's form stays, whose dates
    and programs are exact.
    """
    new = [one for one in by_reader if not any(_same(one, other) for other in by_rule)]
    facts = [one for one in (*by_rule, *new) if one.predicate and one.against != "doubt"]
    kept = [one for one in by_rule if one.predicate or not any(_told(one, fact) for fact in facts)]
    return kept + [one for one in new if one.predicate or not any(_names(one, fact) for fact in facts)]


def _same(one: Candidate, other: Candidate) -> bool:
    """Return whether the reader's candidate is of the same words as one of the rules, which has its own."""
    alike = one.predicate == other.predicate
    if one.type == "rule" and other.type != "fact" and one.quote == other.quote:
        return True  # an order of which the rules have the form, or a language to answer in
    if one.over and (other.over or not other.predicate):
        return alike  # what ends, and what is kept of the sentence, are two
    exact = other.subject == "project" and other.predicate not in _SEVERAL
    if exact and alike and one.quote == other.quote and one.over == other.over:
        return True  # "pnpm, never npm" names both
    ours, theirs = words_of(one.value), words_of(f"{other.predicate} {other.value}")
    shared = len(ours & theirs)
    if alike and (shared or not ours):
        return True
    # A rule's statement is the whole sentence: a fact of it is more exact, as the other way round.
    return bool(other.predicate or other.over) and shared > 0 and shared >= 0.6 * min(len(ours), len(theirs))


def _told(statement: Candidate, fact: Candidate) -> bool:
    """Return whether a fact of the same sentence says what a statement says."""
    if not _names(statement, fact):
        return False
    alone = CLAUSE_END.search(statement.value) is None
    return alone or 2 * len(words_of(fact.value)) >= len(words_of(statement.value) - _LITTLE)


def _names(clause: Candidate, fact: Candidate) -> bool:
    """Return whether a clause that is kept in its words holds the value of a fact: it says one thing."""
    theirs = words_of(fact.value)
    return bool(theirs) and theirs <= words_of(clause.value)


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text in lower case, of Chinese the pairs of characters."""
    low = text.casefold()
    return frozenset(han_pairs(low) | {word for word in _WORD.findall(low) if word.isascii()})
