"""Say what waits for a decision: what would be so, and what is so until then."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from mnemark.facts.correct import NEVER
from mnemark.memory.browse.browse import ReviewPage
from mnemark.memory.review.review import ReviewItem
from mnemark.present import facts
from mnemark.present.phrases import bare, joined
from mnemark.present.words import Words

_KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "proposal": "Proposed", "conflict": "Conflict", "removed": "You removed this before",
        "otherwise": "You may have said otherwise since", "edit": "Changed by hand",
    }
)  # fmt: skip
"""What waits, by `ReviewItem.what`."""
_EDITS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "added": "Added by hand", "changed": "Changed by hand", "moved": "Moved by hand",
        "ended": "Struck out by hand", "removed": "Taken out by hand",
    }
)  # fmt: skip
"""What a person did in a file of facts, by `ReviewItem.action`."""


def kind(one: ReviewItem, words: Words) -> str:
    """Return what kind of thing waits, in a word or two."""
    return words(_EDITS.get(one.action, _KINDS[one.what]) if one.what == "edit" else _KINDS[one.what])


def said(one: ReviewItem, words: Words) -> str:
    """Return what would be so, as a sentence."""
    told = facts.sentence(one.fact, words)
    if one.fact.review != NEVER:
        return told
    return words("This was never true: {fact}", fact=facts.clause(one.fact, words))


def told(one: ReviewItem) -> ReviewItem:
    """Return what waits with its sentence as text, for programs: in the language of the fact."""
    return replace(one, text=sentence(one, facts.words_for(one.fact)))


def told_page(page: ReviewPage) -> ReviewPage:
    """Return a page of what waits with its sentences, for programs."""
    return replace(page, rows=tuple(replace(row, waiting=told(row.waiting)) for row in page.rows))


def sentence(one: ReviewItem, words: Words, *, alone: bool = True) -> str:
    """Return what waits as a sentence, with what holds until it is decided.

    Args:
        one: what waits.
        words: of the reader's language.
        alone: whether it tells what `kind` of thing it is; not where that stands beside it.
    """
    told, inside = said(one, words), facts.clause(one.fact, words)
    if one.what == "otherwise":
        if one.fact.until:  # its own value is what was said; what may be over is the value that holds
            held = replace(one.fact, value=one.against or one.fact.value, until="")
            over = words("Is this over? {fact}", fact=facts.sentence(held, words))
        else:
            over = words("Is this so now? {fact}", fact=told)
        return joined([over, words(" You said: “{quote}”", quote=one.fact.quote)])
    if alone and one.what == "edit":
        told = words.named(_EDITS.get(one.action, _KINDS["edit"]), inside)
    if alone and one.what == "removed":
        told = words("You took this out before: {fact}", fact=inside)
    if not one.against or one.fact.review == NEVER or one.what == "removed":
        return told
    until = words(" Before: {value}." if one.what == "edit" else " So far: {value}.", value=bare(one.against))
    return joined([told, until])
