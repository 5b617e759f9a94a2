"""Cut layers of a prompt to their budgets: text, sources, tokens, and what was left out."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from mnemark.files import layout
from mnemark.memory.curation.files import paragraphs
from mnemark.memory.curation.identity import Part
from mnemark.memory.curation.personas import FOLDER as PERSONAS
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.prompt.facts import FactLine
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.quoting.fence import visible
from mnemark.text.words.normalize import HAN
from mnemark.text.words.tokens import cut_to_tokens, estimate_tokens

JOIN: Final = "\n\n"
_KNOWN_BY: Final = 40
"""Characters that stand for a piece in a list."""
_LATIN: Final = lazy_pattern(r"[A-Za-z]+")


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
    return len(HAN.findall(together)) > len(_LATIN.findall(together))


_MOST: Final = 40
"""Names in a line."""
_COUNTED: Final = (
    ("episode", "Episodes", "情景"),
    ("attachment", "Attachments", "附件"),
    ("session", "Sessions", "会话"),
)


def catalogue(ws: OpenWorkspace, facts: Mapping[str, int], *, scope: str, chinese: bool) -> list[str]:
    """Return a line for each kind of thing in memory.

    Args:
        ws: the workspace.
        facts: how many current facts there are about whom or what.
        scope: whose memory beside the root's; other scopes are not told of.
        chinese: the language of the words around the names.
    """
    names: dict[str, list[str]] = defaultdict(list)
    dates: list[str] = []
    for path in ws.searcher.paths():
        place = layout.place(path)
        if place is None or not place.searchable or place.scope not in {"", scope}:
            continue
        names[place.role].append(path)
        if place.role == "daily" and place.dated:
            dates.append(place.dated)
    lines: list[str] = []
    if facts:
        ordered = sorted(facts.items(), key=lambda pair: (-pair[1], pair[0]))
        told = [f"{name} ({count})" for name, count in ordered]
        lines.append(_line("关于这些有事实" if chinese else "Facts about", told, chinese=chinese))
    if dates:
        first, last = min(dates), max(dates)
        span = first if first == last else f"{first} – {last} ({len(set(dates))})"
        lines.append(f"- {'每日笔记：' if chinese else 'Notes by day: '}{span}")
    if names["note"]:
        lines.append(_line("其他笔记" if chinese else "Other notes", sorted(names["note"]), chinese=chinese))
    if names["persona"]:
        told = [path.rpartition("/")[2].rpartition(".")[0] for path in sorted(names["persona"])]
        lines.append(_line("角色" if chinese else PERSONAS.capitalize(), told, chinese=chinese))
    for role, english, zh in _COUNTED:
        if names[role]:
            lines.append(f"- {zh}：{len(names[role])}" if chinese else f"- {english}: {len(names[role])}")
    return lines


def _line(label: str, names: list[str], *, chinese: bool) -> str:
    more = len(names) - _MOST
    told = ("、" if chinese else ", ").join(map(visible, names[:_MOST]))
    if more > 0:
        told += f" … 另有 {more} 项" if chinese else f" … and {more} more"
    return f"- {label}：{told}" if chinese else f"- {label}: {told}"
