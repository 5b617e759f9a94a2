"""Cut layers of a prompt to their budgets: text, sources, tokens, and what was left out."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from mnemark.memory.curation.files import paragraphs
from mnemark.memory.curation.identity import Part
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import HAN
from mnemark.text.words.tokens import cut_to_tokens, estimate_tokens

JOIN: Final = "\n\n"
_KNOWN_BY: Final = 40
"""Characters that stand for a piece in a list."""
_HEADING: Final = lazy_pattern(r"(?P<marks>#{1,6}) .*")
_LATIN: Final = lazy_pattern(r"[A-Za-z]+")


class FactLine(msgspec.Struct, frozen=True, array_like=True):
    """A fact as a line, its ref, and the line in the other language."""

    line: str
    ref: str
    other: str


class PromptFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Current facts by layer of a prompt."""

    rules: tuple[FactLine, ...] = ()
    profile: tuple[FactLine, ...] = ()  # about the user
    core: tuple[FactLine, ...] = ()  # about everything else
    skills: tuple[FactLine, ...] = ()
    other: tuple[FactLine, ...] = ()  # not vouched for: only quoted
    subjects: Mapping[str, int]
    """Number of facts by subject."""


class Layer(msgspec.Struct, frozen=True, kw_only=True):
    """A layer before it is cut to a budget: pieces that are shown whole or not at all."""

    name: str
    heading: str
    pieces: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    joint: str = "\n"
    newest: bool = False
    """Where not all fits, the last pieces stay."""


def fact_layer(name: str, heading: str, facts: Sequence[FactLine]) -> Layer:
    """Return a layer of facts."""
    pieces, sources = tuple(one.line for one in facts), tuple(one.ref for one in facts)
    return Layer(name=name, heading=heading, pieces=pieces, sources=sources)


def cut(layer: Layer, budget: int) -> Part:
    """Return as many whole pieces as fit below the heading; of a first one too long, the beginning."""
    pieces = layer.pieces[::-1] if layer.newest else layer.pieces
    chosen: list[str] = []
    for piece in pieces:
        if estimate_tokens(_shown(layer, [*chosen, piece])) > budget:
            break
        chosen.append(piece)
    chosen = list(chosen if layer.newest else without_bare_headings(chosen))
    if not chosen and pieces and layer.joint == JOIN:  # a line, such as a fact, is never shown in part
        room = budget - estimate_tokens(_shown(layer, [""])) - 1
        beginning = cut_to_tokens(pieces[0], room)
        if beginning and estimate_tokens(_shown(layer, [beginning])) <= budget:
            chosen = [beginning]
    text = _shown(layer, chosen) if chosen else ""
    whole = len(chosen) if chosen and chosen[-1] == pieces[len(chosen) - 1] else 0
    return Part(
        name=layer.name, text=text, sources=layer.sources, tokens=estimate_tokens(text), budget=budget,
        left_out=tuple(map(first_words, pieces[whole:])),
    )  # fmt: skip


def _shown(layer: Layer, chosen: Sequence[str]) -> str:
    pieces = reversed(chosen) if layer.newest else chosen
    return layer.heading + (JOIN if layer.heading else "") + layer.joint.join(pieces)


def without_bare_headings(pieces: Sequence[str]) -> tuple[str, ...]:
    """Return pieces without the headings that nothing stands below."""
    kept: list[str] = []
    below = 0
    """The level of the heading last kept, as the end is reached first; 0 for text."""
    for piece in reversed(pieces):
        found = _HEADING.fullmatch(piece)
        level = len(found["marks"]) if found else 0
        if not level or (kept and (not below or level < below)):
            kept.append(piece)
            below = level
    return tuple(reversed(kept))


def first_words(text: str) -> str:
    """Return the first words of a piece, for a list."""
    words = " ".join(text[: 4 * _KNOWN_BY].split())
    if len(words) <= _KNOWN_BY:
        return words
    return words[:_KNOWN_BY].rsplit(" ", 1)[0].rstrip()


def pieces_of(text: str) -> tuple[str, ...]:
    """Return paragraphs, with each heading joined to what follows it."""
    found: list[str] = []
    heads: list[str] = []
    for one in paragraphs(text):
        if one.lstrip().startswith("#") and "\n" not in one:
            heads.append(one)
        else:
            found.append("\n".join([*heads, one]))
            heads = []
    return tuple(found)


def is_chinese(texts: Iterable[str]) -> bool:
    """Return whether texts are mostly Chinese: a character counts as much as a word."""
    together = "\n".join(texts)
    return not together.isascii() and len(HAN.findall(together)) > len(_LATIN.findall(together))
