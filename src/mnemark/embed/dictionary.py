"""Translate terms of a question by the dictionary behind the embedder.

For questions in a language that the stored text is not written in: each term adds the words of its first
senses as further OR terms. The data file is made by `tools/build_embedder` from CC-CEDICT (CC BY-SA 4.0);
it loads on first use.
"""

import threading
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnemark.embed.sections import read_sections, unpack_words
from mnemark.text.words.segment import query_terms

DATA = Path(__file__).resolve().parent.parent / "data" / "embedder-dictionary.bin"
"""The dictionary."""

MOST = 16
"""Words one term adds at most."""

PART_WEIGHT = 0.7
"""Of the parts of a word that is not in the dictionary."""

LONGEST_GIVEN_NAME = 2
"""Characters."""

_loading = threading.Lock()


class _Dictionary(NamedTuple):
    chinese: dict[str, int]
    words: list[str]
    """Chinese words by number."""
    terms: list[str]
    """English terms by number, as the index has them."""
    english: dict[str, list[int]]
    """Numbers of the English words that have one stem."""
    to_english: tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
    """Starts by Chinese word, and from there English numbers and weights."""
    to_chinese: tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
    """Starts by English word, and from there Chinese numbers and weights."""
    syllables: dict[str, str]
    """Pinyin by character."""
    surnames: dict[str, str]
    """Pinyin by surname."""


def expand(terms: Sequence[str], to: Literal["en", "zh"]) -> list[tuple[str, float]]:
    """Translate the terms of a question: weighted terms in language `to`, best first.

    `terms` are those of `mnemark.text.words.segment.query_terms`, in the question's order (names are seen in
    their neighbours); what comes back is meant for the same index: English stems or Chinese words. Weights
    are above 0 and at most 1. A term that several senses give keeps its largest weight; terms without a
    translation add nothing.

    Raises:
        IntegrityError: the data file is damaged.
    """
    with _loading:  # or workspaces that are opened at the same moment would each read it
        book = _read_dictionary()
    found: dict[str, float] = {}
    pairs = _english(terms, book) if to == "en" else _chinese(terms, book)
    for term, weight in pairs:
        found[term] = max(found.get(term, 0.0), weight)
    return sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))


def _english(terms: Sequence[str], book: _Dictionary) -> Iterator[tuple[str, float]]:
    for term in terms:
        if term and all("\u3400" <= char <= "\u9fff" for char in term):
            parts = _parts(term, book)
            share = PART_WEIGHT if len(parts) > 1 else 1.0
            for part in parts:
                for word, weight in _slice(book.to_english, book.chinese[part]):
                    yield book.terms[word], weight * share
    for name in _names(terms, book):
        for part in query_terms(name):
            yield part, 1.0


def _parts(term: str, book: _Dictionary) -> list[str]:
    """Return the term if the dictionary has it, else the longest words it is made of."""
    parts: list[str] = []
    start = 0
    while start < len(term):
        for end in range(len(term), start, -1):
            if term[start:end] in book.chinese:
                parts.append(term[start:end])
                start = end
                break
        else:
            start += 1
    return parts


def _names(terms: Sequence[str], book: _Dictionary) -> Iterator[str]:
    """Yield the pinyin of possible names: a surname and the one or two characters after it.

    The segmenter gives a name as one term, as surname and given name, or character by character.
    """
    for place, term in enumerate(terms):
        surname, rest = _surname(term, book)
        if not surname or (len(rest) == len(term) - 1 and term in book.chinese and rest):
            continue
        for after in ["", *terms[place + 1 : place + 1 + LONGEST_GIVEN_NAME]]:
            rest += after
            if len(rest) > LONGEST_GIVEN_NAME or not all(char in book.syllables for char in rest):
                break
            if rest:
                yield surname
                yield "".join(book.syllables[char] for char in rest)


def _surname(term: str, book: _Dictionary) -> tuple[str, str]:
    """Split a term into its surname's pinyin and the rest; "" if there is none."""
    for length in (2, 1):
        surname = book.surnames.get(term[:length])
        if surname and len(term) >= length:
            return surname, term[length:]
    return "", ""


def _chinese(terms: Sequence[str], book: _Dictionary) -> Iterator[tuple[str, float]]:
    for term in terms:
        pairs = [pair for number in book.english.get(term, ()) for pair in _slice(book.to_chinese, number)]
        for word, weight in sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:MOST]:
            yield book.words[word], weight


def _slice(table: tuple[NDArray[Any], NDArray[Any], NDArray[Any]], number: int) -> list[tuple[int, float]]:
    starts, numbers, weights = table
    span = slice(int(starts[number]), int(starts[number + 1]))
    return list(zip(numbers[span].tolist(), (weights[span] / 255).tolist(), strict=True))


@cache
def _read_dictionary() -> _Dictionary:
    arrays = read_sections(DATA).arrays
    words, plain = unpack_words(arrays["chinese"]), unpack_words(arrays["english"])
    # Every one is a run of lower-case letters: one word is one term.
    terms = query_terms("\n".join(plain))
    english: dict[str, list[int]] = {}
    for number, term in enumerate(terms):
        english.setdefault(term, []).append(number)
    characters = zip(unpack_words(arrays["characters"]), unpack_words(arrays["syllables"]), strict=True)
    surnames = zip(unpack_words(arrays["surnames"]), unpack_words(arrays["surname_syllables"]), strict=True)
    return _Dictionary(
        chinese={word: number for number, word in enumerate(words)},
        words=words,
        terms=terms,
        english=english,
        to_english=_table(arrays, "senses"),
        to_chinese=_table(arrays, "inverse"),
        syllables=dict(characters),
        surnames=dict(surnames),
    )


def _table(arrays: Any, name: str) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    starts = np.concatenate([[0], np.cumsum(arrays[f"{name}_counts"], dtype=np.int64)])
    return starts, arrays[f"{name}_numbers"], arrays[f"{name}_weights"]
