"""Find hits that repeat what others say, and the form of it that serves a reader best."""

from collections.abc import Sequence
from enum import IntEnum
from functools import cached_property
from itertools import pairwise
from typing import Final

from msgspec.structs import replace

from mnemark.files.names import SOURCES
from mnemark.retrieval.render import speaker_of
from mnemark.text.words.normalize import chinese_runs
from mnemark.text.words.restated import BareSentence, SaidSentences, sentences
from mnemark.types import Hit

_MIN_SHARED: Final = 0.65
"""Share of a text's beginnings of words below which others do not say it; then no sentence is read."""
_BEGINNING: Final = 4


class Wording(IntEnum):
    """The forms in which something is said, best last."""

    DERIVED = 0
    """A line made of others."""
    STATEMENT = 1
    """A fact without a predicate: a sentence of a turn."""
    OWN = 2
    """People's words: a turn, a note."""
    VALUE = 3
    """A fact with a value; it is always shown, as older values may be."""


class HitSense:
    """A hit with what it says, read when it is needed."""

    def __init__(self, hit: Hit) -> None:
        self.hit = hit
        meta = hit.meta
        self.form = Wording.DERIVED if SOURCES in meta else Wording.OWN
        self.holds = True
        """False for a fact that no longer does: others may say it anew."""
        self._text, self._speaker = hit.text, speaker_of(hit)
        if hit.kind == "fact":
            valued = meta.get("predicate", ": " in hit.text) or meta.get("replaces")
            self.form = Wording.VALUE if valued else Wording.STATEMENT
            self.holds = meta.get("current", True) is not False
            if isinstance(value := meta.get("value"), str):  # without the dates
                subject = "" if meta.get("subject") == "user" else meta.get("subject", "")
                self._text = f"{subject} {meta.get('predicate', '')} {value}"

    @cached_property
    def sentences(self) -> list[BareSentence]:
        """What it says."""
        return sentences(self._text, self._speaker)

    def cut_to(self, words: str) -> "HitSense":
        """Return the hit with these of its words."""
        return HitSense(replace(self.hit, text=words))

    @property
    def may_go(self) -> bool:
        """Whether it serves for no more than what it says."""
        return self.holds and self.form < Wording.VALUE

    @cached_property
    def beginnings(self) -> frozenset[object]:
        """The beginnings of its longer words, and its pairs of Chinese characters."""
        words = {word[:_BEGINNING] for word in self._text.casefold().split() if len(word) >= _BEGINNING}
        if self._text.isascii():
            return frozenset(words)
        chinese = (run for is_chinese, run in chinese_runs(self._text) if is_chinese)
        return frozenset(words).union(*map(pairwise, chinese))


class ShownSoFar:
    """What is shown so far."""

    def __init__(self) -> None:
        self._beginnings: set[object] = set()
        self._said = SaidSentences()
        self._unread: list[HitSense] = []

    def add(self, told: HitSense) -> None:
        """Add what others need not say again."""
        if told.holds:
            self._beginnings |= told.beginnings
            self._unread.append(told)

    def say(self, told: HitSense) -> bool:
        """Return whether a hit only repeats what is shown."""
        own = told.beginnings
        if not told.may_go or len(own & self._beginnings) < _MIN_SHARED * len(own):
            return False
        for one in self._unread:
            self._said.add(one.sentences)
        self._unread.clear()
        return self._said.repeats(told.sentences)


def in_best_form(hits: Sequence[Hit]) -> list[HitSense]:
    """Return hits with each behind one that says the same, or more, in a better form."""
    found = [HitSense(hit) for hit in hits]
    order = list(range(len(found)))
    for at, one in enumerate(found):
        better = [place for place in order[order.index(at) + 1 :] if found[place].form > one.form]
        for place in better if one.may_go else ():
            shown = ShownSoFar()
            shown.add(found[place])
            if shown.say(one):
                order.remove(place)
                order.insert(order.index(at), place)
                break
    return [found[place] for place in order]
