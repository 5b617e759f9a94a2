"""Find the sentences that facts were learned from, reading each session once."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from mnemark.extraction.sentences import sentences
from mnemark.facts.model import Fact, refs_in
from mnemark.files import jsonl, names
from mnemark.files.names import split_ref
from mnemark.files.turns import decode_turn
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import han_pairs

_WORD: Final = lazy_pattern(r"\w+")


def said(ws: OpenWorkspace, facts: Sequence[Fact]) -> dict[str, str]:
    """Return by id of a fact the sentence of its first turn that says it; none where the turn is gone."""
    wanted: dict[str, dict[int, list[Fact]]] = defaultdict(lambda: defaultdict(list))
    for fact in facts:
        path, first, _ = split_ref(next(iter(refs_in(fact.source)), ""))
        if path.endswith(".jsonl") and first is not None:
            wanted[path][first].append(fact)
    return {fact.id: words for path, lines in wanted.items() for fact, words in _in_session(ws, path, lines)}


def _in_session(ws: OpenWorkspace, path: str, lines: dict[int, list[Fact]]) -> Iterable[tuple[Fact, str]]:
    full = names.inside(ws.root, path)
    for place, record in jsonl.records(full) if full.is_file() else ():
        if place.number in lines and (turn := decode_turn(record, place)) is not None:
            yield from ((fact, _sentence(turn.content, fact.value)) for fact in lines[place.number])


def _sentence(text: str, value: str) -> str:
    """Return the sentence of a text that has most words of a value, on one line."""
    words = _words(value)
    parts = [one.text for one in sentences(text)] or [text]
    return " ".join(max(parts, key=lambda part: len(words & _words(part))).split())


def _words(text: str) -> frozenset[str]:
    low = text.casefold()
    return frozenset({*_WORD.findall(low), *han_pairs(low)})
