"""Say what waits for a decision: what would be so, and what is so until then."""

from typing import Final

from mnemark.facts.correct import NEVER
from mnemark.memory.review.review import ReviewItem
from mnemark.present import facts
from mnemark.present.phrases import joined
from mnemark.present.words import Words

_EDITS: Final = {
    "added": "Added by hand: {fact}",
    "changed": "Changed by hand: {fact}",
    "moved": "Moved by hand: {fact}",
    "ended": "Struck out by hand: {fact}",
    "removed": "Taken out by hand: {fact}",
}
"""What a person did in a file of facts, by `ReviewItem.action`."""


def headline(one: ReviewItem, words: Words) -> str:
    """Return what would be so, as a sentence."""
    if one.fact.review == NEVER:
        return words("This was never true: {fact}", fact=facts.sentence(one.fact, words))
    return facts.sentence(one.fact, words)


def sentence(one: ReviewItem, words: Words) -> str:
    """Return what waits as a sentence, with what holds until it is decided."""
    told = headline(one, words)
    if one.fact.review == NEVER:
        return told
    inside = facts.clause(one.fact, words)
    if one.what == "edit":
        template = _EDITS.get(one.action, _EDITS["changed"])
        told = words(template, fact=inside)
        return told if not one.against else joined([told, words(" Before: {value}.", value=one.against)])
    if one.what == "otherwise":
        over = words("Is this over? {fact}" if one.fact.until else "Is this so now? {fact}", fact=told)
        return joined([over, words(" You said: “{quote}”", quote=one.fact.quote)])
    if one.what == "removed":
        return words("You took this out before: {fact}", fact=inside)
    return joined([told, words(" So far: {value}.", value=one.against)]) if one.against else told
