"""Tell of whom a reading that is not the writer's speaks: the relative, pet or friend named beside it."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from mnemark.extraction.reader.lexicon import lexicon
from mnemark.extraction.reader.reading import Reading
from mnemark.extraction.reader.tokens import Token, tokens
from mnemark.text.lazy_pattern import lazy_pattern

_STOPS: Final = frozenset(".!?。！？\n")
_BETWEEN: Final = frozenset({",", "，", "、", "called", "named", "is", "叫", "(", "（", "'s", "名叫", "-"})
_OWN: Final = lazy_pattern(
    r"(?i)^(?:i|i'm|i've|my|me|we|our|us|it|the|a|he|she|they|his|her|their|ok|so|and|but|what|can|how)$"
)


_WHOSE: Final = frozenset({"", "my", "our", "我", "我的", "我家", "我们家", "咱", "咱家", "俺"})


class Mention(NamedTuple):
    """Somebody who is spoken of in a message."""

    start: int
    end: int
    label: str
    """Their name if it stands there, else the word for them: "Vera", "dad", 妈妈."""
    name: bool
    """Whether it is their name."""


class People:
    """The people and animals that a turn speaks of; looked for when the first is asked after."""

    def __init__(self, turn: str) -> None:
        self._turn = turn

    @cached_property
    def _tokens(self) -> list[Token]:
        return tokens(self._turn)

    @cached_property
    def _mentions(self) -> list[Mention]:
        return list(mentions(self._turn, self._tokens))

    def whose(self, one: Reading) -> str:
        """Return the subject of a reading that is another's, or of a relation; empty where nobody is named."""
        if one.key == "relation":
            return self._named(one)
        turn = self._turn
        before = [person for person in self._mentions if person.end <= one.start]
        if before:
            same = [person for person in before if not _STOPS & set(turn[person.end : one.start])]
            return (same or before)[-1].label
        after = (person for person in self._mentions if person.start >= one.end)
        return next((person.label for person in after if not _STOPS & set(turn[one.end : person.start])), "")

    def begins(self, sentence: int, place: int) -> bool:
        """Return whether the sentence that begins at a place speaks of somebody up to another: "my brother …"."""
        spoken_of = next((one for one in self._mentions if sentence <= one.start and one.end <= place), None)
        before = "" if spoken_of is None else self._turn[sentence : spoken_of.start].strip().casefold()
        return spoken_of is not None and before in _WHOSE

    def _named(self, one: Reading) -> str:
        """Return the name beside a word for a relation."""
        turn = self._turn
        for person in self._mentions:
            if person.start < one.end and one.start < person.end:
                return person.label if person.name and person.label != turn[one.start : one.end] else ""
        before = [token for token in self._tokens if token.end <= one.start and token.form not in _BETWEEN]
        last = before[-1] if before else None
        return (
            turn[last.start : last.end] if last and last.shape == "Xx" and not _OWN.match(last.form) else ""
        )


def mentions(turn: str, found: Sequence[Token]) -> Iterator[Mention]:
    """Yield the people and animals of a message by the words for them, with the names beside these."""
    classes = lexicon().classes(found)
    for at, token in enumerate(found):
        if "B-kin" not in classes.get(at, ()):
            continue
        end = at + 1
        while "I-kin" in classes.get(end, ()):
            end += 1
        last = found[end - 1].end
        if name := _name_after(turn, found, end, classes):
            yield Mention(token.start, name[1], name[0], name=True)
        else:
            yield Mention(token.start, last, _bare(turn[token.start : last]), name=False)


def _bare(word: str) -> str:
    return word.removeprefix("我的").removeprefix("我") or word


def _name_after(
    turn: str, found: Sequence[Token], at: int, classes: dict[int, list[str]]
) -> tuple[str, int] | None:
    """Return the name that follows the word for somebody, and where it ends."""
    while at < len(found) and found[at].form in _BETWEEN:
        at += 1
    if at >= len(found):
        return None
    token = found[at]
    if token.is_han:
        end = at
        if "B-surname" in classes.get(at, ()):
            end += 1
            while "I-surname" in classes.get(end, ()):
                end += 1
            length = (
                2
                if end + 1 < len(found) and found[end + 1].is_han and "B-given" in classes.get(end, ())
                else 1
            )
            end += length
        elif "B-given" in classes.get(at, ()):
            end += 1
            while "I-given" in classes.get(end, ()):
                end += 1
        if end == at or end > len(found):
            return None
        return turn[token.start : found[end - 1].end], found[end - 1].end
    known = "B-given" in classes.get(at, ()) or "B-petname" in classes.get(at, ())
    if (token.shape in {"Xx", "XxX"} or known) and not _OWN.match(token.form):
        return turn[token.start : token.end].removesuffix("'s").removesuffix("’s"), token.end
    return None
