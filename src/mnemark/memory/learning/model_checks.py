"""Check what a model proposes to keep: only what a sentence of its turn says, of whom it says it."""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from mnemark.extraction.candidate import Candidate
from mnemark.extraction.extract import OWNER_ROLES, is_doubtful, is_of_another
from mnemark.facts.keys import holds_many, predicate_key, subject_key, value_words
from mnemark.facts.model import Fact
from mnemark.memory.learning.model_prompt import Changed, Proposed, TurnExcerpt
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.quoting.fence import strip_fences
from mnemark.text.quoting.injection import looks_like_instructions
from mnemark.types import Turn

_CONFIDENCE: Final = 0.7
_PIECE: Final = lazy_pattern(r"[\u4e00-\u9fff]|[a-z0-9][\w.+#/-]*", re.IGNORECASE)
_GROUNDED: Final = 0.8
"""Share of a value's words that must stand in the quoted sentence; numbers must all."""

_SENTENCE: Final = lazy_pattern(r"[^.!?。！？\n]+(?:[.!?](?!\s|$)[^.!?。！？\n]*)*[.!?。！？]*")
SUPPOSED: Final = "if|suppose|assume|imagine|pretend|let's say"
"""Words that begin a case which is only thought of, as part of a pattern."""
_UNSAID: Final = lazy_pattern(
    r"(?i)[?？]|(?:吗|呢)[。.!！]?$|"
    rf"^(?:{SUPPOSED}|what if)\b|^(?:如果|假如|假设|要是|倘若|万一|想象)"
)
"""A question, or a case that is only thought of."""
_NEGATED: Final = lazy_pattern(
    r"(?i)\bI(?:'m| am| have|'ve)? ?(?:(?:do|did|wo|would|have|has|ca)n[o']?t|not|never|no longer|"
    r"do not|did not|cannot|used to)\b|"
    r"我(?:现在|已经|也|可|还)?(?:不|没|从不|从没|以前)"
)
_CLAUSE: Final = lazy_pattern(r"[,;:，；：]|\bbut\b|\bso\b|但是?|所以|而是")


def believed(
    proposed: Proposed, said: Sequence[TurnExcerpt], known: Sequence[Fact]
) -> tuple[TurnExcerpt, Candidate] | None:
    """Return the candidate in a proposal; None where its turn does not state it."""
    if not 1 <= proposed.turn <= len(said):
        return None
    one = said[proposed.turn - 1]
    turn = one.turn
    subject = subject_key(proposed.subject)
    about_owner = subject == "user" and proposed.type in {"fact", "preference"}
    if turn.origin not in {"owner", "agent", "import"} or (turn.origin == "agent" and about_owner):
        return None
    predicate = _predicate(proposed, known)
    support = _support(proposed.quote, strip_fences(turn.content))
    unsaid = proposed.type in {"fact", "preference"} and all(map(is_unsaid, support))
    denied = proposed.type == "fact" and is_denied(proposed.value, support)
    coming = predicate_key(predicate) in {"goals", "plans"}  # these are wishes
    doubtful = about_owner and not coming and is_doubtful(support)
    of_another = about_owner and is_of_another(turn.content, proposed.value)
    if not (subject and predicate) or unsaid or denied or doubtful or of_another:
        return None
    if not _grounded(proposed.value, support):
        return None
    if proposed.type != "rule" and looks_like_instructions(proposed.value):
        return None
    return one, Candidate(
        subject=subject if subject in {"user", "project", "agent"} else proposed.subject.strip(),
        predicate=predicate, value=proposed.value.strip(), type=proposed.type, since=turn.time,
        confidence=_CONFIDENCE, importance=0.5, quote=proposed.quote.strip(),
    )  # fmt: skip


def _predicate(proposed: Proposed, known: Sequence[Fact]) -> str:
    """Return the predicate, which is that of the known fact that the model says is the same."""
    if 1 <= proposed.same_as <= len(known):
        same = known[proposed.same_as - 1]
        # A key of another subject would put the value on someone else.
        if subject_key(same.subject) == subject_key(proposed.subject):
            return same.predicate
    return proposed.predicate.strip()


def believed_change(
    proposed: Changed, said: Sequence[TurnExcerpt], known: Sequence[Fact]
) -> tuple[TurnExcerpt, tuple[Candidate, ...]] | None:
    """Return what a proposed change leaves; None where its turn does not state it.

    The end of the fact that was known, unless the new value takes its place by itself, and the new value.
    """
    if not (1 <= proposed.turn <= len(said) and 1 <= proposed.known <= len(known)):
        return None
    one, fact = said[proposed.turn - 1], known[proposed.known - 1]
    value = proposed.value.strip()
    support = _support(proposed.quote, strip_fences(one.turn.content))
    if not _is_owners(one.turn) or all(map(is_unsaid, support)) or is_doubtful(support):
        return None
    if value and not (_grounded(value, support) and _is_clean(value, fact, one.turn)):
        return None
    new = Candidate(
        subject=fact.subject, predicate=fact.predicate, value=value, type=fact.type, since=one.turn.time,
        confidence=_CONFIDENCE, importance=0.5, standing=fact.type == "rule", quote=proposed.quote.strip(),
    )  # fmt: skip
    over = msgspec.structs.replace(new, value=fact.value, over=True)
    replaced = value and not holds_many(fact.predicate)
    return one, (*(() if replaced else (over,)), *((new,) if value else ()))


def _is_owners(turn: Turn) -> bool:
    return turn.origin == "owner" or (turn.origin == "import" and turn.role in OWNER_ROLES)


def _is_clean(value: str, fact: Fact, turn: Turn) -> bool:
    """Whether a new value is no attack, and nobody else's than the fact's."""
    if fact.type != "rule" and looks_like_instructions(value):
        return False
    return subject_key(fact.subject) != "user" or not is_of_another(turn.content, value)


def _support(quote: str, text: str) -> list[str]:
    """Return the sentences that a quote stands in; none where it is not in the text to the letter."""
    wanted = value_words(quote)
    if wanted not in value_words(text):
        return []
    found = [
        part for part in sentences_of(text) if (wanted in value_words(part) or value_words(part) in wanted)
    ]
    return found or [text]


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text; a dot in a version or an address ends none."""
    return [part for one in _SENTENCE.findall(text) if (part := one.strip())]


def is_unsaid(sentence: str) -> bool:
    """Tell whether a sentence asks or only supposes."""
    return _UNSAID.search(sentence) is not None


def is_denied(value: str, support: Sequence[str]) -> bool:
    """Tell whether the clauses that hold words of a value deny it, and the value itself denies nothing."""
    if _NEGATED.search(value) or re.search(r"(?i)\b(?:no|not|never)\b|n't|[不没]", value):
        return False
    pieces = set(_PIECE.findall(value_words(value)))
    clauses = [clause for sentence in support for clause in _CLAUSE.split(sentence)]
    holding = [clause for clause in clauses if pieces & set(_PIECE.findall(value_words(clause)))]
    return bool(holding) and all(map(_NEGATED.search, holding))


def _grounded(value: str, support: Sequence[str]) -> bool:
    pieces = _PIECE.findall(value_words(value))
    words = set(_PIECE.findall(value_words(" ".join(support))))
    there = [piece for piece in pieces if piece in words]
    exact = all(piece in words for piece in pieces if any(sign.isdigit() for sign in piece))
    return bool(pieces) and exact and len(there) >= _GROUNDED * len(pieces)
