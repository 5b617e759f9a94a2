"""Say where something is from in sentences: the fact itself, and what was corrected of it."""

from msgspec.structs import replace

from mnemark.facts.model import Fact
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.review.explain import CorrectedFact, Why, fact_named
from mnemark.present import changes
from mnemark.present.facts import words_for
from mnemark.present.phrases import bare, capital, joined
from mnemark.present.sources import place
from mnemark.present.words import Words


def told(ws: OpenWorkspace, why: Why, words: Words | None = None) -> Why:
    """Return an explanation that tells facts and corrections in sentences.

    Args:
        ws: the workspace.
        why: what is known of a passage or a fact.
        words: of the reader's language; by default that of the facts, as programs get it.
    """
    fact = fact_named(ws, why.id) if why.kind in {"fact", "proposal"} else None
    words = words or words_for(fact, *(one.now or one.was for one in why.corrected))
    text = why.text if fact is None else _doubted(changes.sentence_of(ws, fact, words), fact, words)
    if why.kind == "turn" and not why.id:  # a whole talk is told by its name, not by its records
        text = capital(place(ws, why.ref, words))
    corrected = (replace(one, text=_corrected(ws, one, words)) for one in why.corrected)
    return replace(why, text=text, corrected=tuple(corrected))


def _corrected(ws: OpenWorkspace, one: CorrectedFact, words: Words) -> str:
    """Return what a correction says, with the value that was wrong."""
    said = changes.corrected(ws, one.was, one.now, words)
    if one.was is None or one.now is None or one.was.value == one.now.value:
        return said
    return joined([said, words(" Not: {value}.", value=ws.visible.redacted(bare(one.was.value)))])


def _doubted(said: str, fact: Fact, words: Words) -> str:
    """Return a sentence with the words that speak against the fact."""
    if fact.otherwise is None:
        return joined([said, words(" You said: “{quote}”", quote=fact.quote)]) if fact.quote else said
    day = words.date(fact.otherwise.time[:10])
    return joined([said, words(" But on {day}: “{quote}”", day=day, quote=fact.otherwise.quote)])
