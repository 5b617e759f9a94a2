"""Split a fact file into units: each bullet is one; the rest as in any note."""

from collections.abc import Sequence

from mnemark.facts.files import visible_facts
from mnemark.facts.model import Fact
from mnemark.facts.parse import ParsedFact, clean
from mnemark.files.layout import Place


def bullets(path: str, text: str, place: Place, raw: str) -> list[tuple[ParsedFact, Fact]]:
    """The visible facts of a file with the bullets they stand in; none where it is no fact file."""
    if place.kind != "fact":
        return []
    return visible_facts(text, raw, path, "")


def date_of(fact: Fact) -> str | None:
    """Since when a fact holds; None where nobody dated it."""
    return fact.since or None


def words_of(fact: Fact) -> str:
    """What a fact says, as it is searched and embedded."""
    return clean(f"{fact.predicate}: {fact.value}" if fact.predicate else fact.value)


def without(text: str, found: Sequence[tuple[ParsedFact, Fact]]) -> str:
    """The text with the lines of these bullets emptied, so that the numbers of all lines hold."""
    for parsed, _ in reversed(found):
        lines = text[parsed.bullet.start : parsed.bullet.end].splitlines(keepends=True)
        ends = "".join(line[len(line.rstrip("\r\n")) :] for line in lines)
        text = text[: parsed.bullet.start] + ends + text[parsed.bullet.end :]
    return text


def says_something(text: str) -> bool:
    """Whether there is more than headings."""
    return any(line.strip() and not line.lstrip().startswith("#") for line in text.splitlines())
