"""Parts of a prompt: text, source, cost, and what was left out."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from mnemark.memory.curation.files import paragraphs
from mnemark.memory.curation.identity import Part
from mnemark.text.words.tokens import cut_to_tokens, estimate_tokens

JOIN: Final = "\n\n"
_CHINESE: Final = re.compile(r"[\u3400-\u9fff]")
_LATIN: Final = re.compile(r"[A-Za-z]+")


class Layer(msgspec.Struct, frozen=True, kw_only=True):
    """What a layer has to say, before it is cut to a budget: pieces that are shown whole or not at all."""

    name: str
    heading: str
    pieces: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    joint: str = "\n"
    newest: bool = False
    """Where not all fits, the last pieces stay."""


def cut(layer: Layer, budget: int) -> Part:
    """As many whole pieces as fit below the heading; of a first one that is too long, the beginning."""
    pieces = layer.pieces[::-1] if layer.newest else layer.pieces
    chosen: list[str] = []
    for piece in pieces:
        shown = _shown(layer, [*chosen, piece])
        if estimate_tokens(shown) > budget:
            break
        chosen.append(piece)
    if not chosen and pieces and layer.joint == JOIN:  # a line, such as a fact, is never shown in part
        room = budget - estimate_tokens(_shown(layer, [""])) - 1
        beginning = cut_to_tokens(pieces[0], room)
        if beginning and estimate_tokens(_shown(layer, [beginning])) <= budget:
            chosen = [beginning]
    text = _shown(layer, chosen) if chosen else ""
    whole = len(chosen) if chosen and chosen[-1] == pieces[len(chosen) - 1] else 0
    return Part(
        name=layer.name,
        text=text,
        sources=layer.sources,
        tokens=estimate_tokens(text),
        budget=budget,
        left_out=tuple(first_words(piece) for piece in pieces[whole:]),
    )


def _shown(layer: Layer, chosen: Sequence[str]) -> str:
    pieces = reversed(chosen) if layer.newest else chosen
    return layer.heading + (JOIN if layer.heading else "") + layer.joint.join(pieces)


def first_words(text: str) -> str:
    """What a piece is known by in a list."""
    return cut_to_tokens(" ".join(text.split()), 12)


def pieces_of(text: str) -> tuple[str, ...]:
    """Paragraphs, with a heading joined to what follows it."""
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
    """Whether people write Chinese here: a character counts as much as a word."""
    together = "\n".join(texts)
    return len(_CHINESE.findall(together)) > len(_LATIN.findall(together))
