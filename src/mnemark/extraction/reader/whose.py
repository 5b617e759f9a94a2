"""Tell of whom a reading that is not the writer's speaks: the relative, pet or friend named beside it."""

from collections.abc import Iterator, Sequence
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


class Mention(NamedTuple):
    """Somebody who is spoken of in a message."""

    start: int
    end: int
    label: str
    """Their name if it stands there, else the word for them: "Vera", "dad", 妈妈."""


def whose(turn: str, one: Reading) -> str:
    """Return the subject of a reading that is another's, or of a relation; empty where nobody is named."""
    people = list(mentions(turn))
    if one.key == "relation":
        return _named(turn, one, people)
    before = [person for person in people if person.end <= one.start]
    same = [person for person in before if not _STOPS & set(turn[person.end : one.start])]
    after = [
        person
        for person in people
        if person.start >= one.end and not _STOPS & set(turn[one.end : person.start])
    ]
    if same:
        return same[-1].label
    return before[-1].label if before else after[0].label if after else ""


def mentions(turn: str) -> Iterator[Mention]:
    """Yield the people and animals of a message by the words for them, with the names beside these."""
    found = tokens(turn)
    classes = lexicon().classes(found)
    for at, token in enumerate(found):
        if "B-kin" not in classes.get(at, ()):
            continue
        end = at + 1
        while "I-kin" in classes.get(end, ()):
            end += 1
        name = _name_after(turn, found, end, classes)
        word = turn[token.start : found[end - 1].end]
        yield Mention(token.start, name[1] if name else found[end - 1].end, name[0] if name else _bare(word))


def _bare(word: str) -> str:
    return word.removeprefix("我的").removeprefix("我") or word


def _name_after(
    turn: str, found: list[Token], at: int, classes: dict[int, list[str]]
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


def _named(turn: str, one: Reading, people: Sequence[Mention]) -> str:
    """Return the name beside a word for a relation."""
    word = turn[one.start : one.end]
    for person in people:
        if person.start <= one.start < person.end or one.start <= person.start < one.end:
            return (
                person.label
                if person.label != _bare(turn[person.start : person.end]) and person.label != word
                else ""
            )
    found = tokens(turn)
    before = [token for token in found if token.end <= one.start and token.form not in _BETWEEN][-1:]
    return (
        turn[before[0].start : before[0].end]
        if before and before[0].shape == "Xx" and not _OWN.match(before[0].form)
        else ""
    )
