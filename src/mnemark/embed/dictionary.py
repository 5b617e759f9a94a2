"""Translate query terms between Chinese and English with a dictionary.

For queries in another language than the stored text: the translations of each term's first senses are added
as OR terms. `tools/build_embedder` makes the data file from CC-CEDICT (CC BY-SA 4.0); it is loaded at first
use.
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
"""Path of the dictionary."""

MOST = 16
"""Maximum number of Chinese words for one English term."""

PART_WEIGHT = 0.7
"""Weight factor of the parts of a word that is not in the dictionary."""

LONGEST_GIVEN_NAME = 2
"""Maximum characters of a Chinese given name."""

_load_lock = threading.Lock()


class _Dictionary(NamedTuple):
    chinese: dict[str, int]
    words: list[str]
    """Chinese words by number, the inverse of `chinese`."""
    terms: list[str]
    """English terms by number, stemmed as in the index."""
    english: dict[str, list[int]]
    """Numbers of the English words by stem."""
    to_english: tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
    """Compressed sparse rows by Chinese word: row starts, English numbers, weights."""
    to_chinese: tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
    """Compressed sparse rows by English word: row starts, Chinese numbers, weights."""
    syllables: dict[str, str]
    """Pinyin by character."""
    surnames: dict[str, str]
    """Pinyin by surname."""


def expand(terms: Sequence[str], to: Literal["en", "zh"]) -> list[tuple[str, float]]:
    """Translate query terms: return terms in language `to` with weights, highest first.

    `terms` are those of `mnemark.text.words.segment.query_terms`, in the order of the query (names span
    neighbouring terms); results are terms of the same index: English stems or Chinese words. Weights are
    above 0 and at most 1. A term of several senses keeps its largest weight; terms without a translation
    are skipped.

    Raises:
        IntegrityError: the data file is damaged.
    """
    with _load_lock:  # workspaces opened at the same time would each read the file
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
    """Return the term if it is in the dictionary, else its parts by greedy longest match."""
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
    """Yield the pinyin of possible personal names: a surname, then the given name of one or two characters.

    The segmenter returns a name as one term, as surname and given name, or character by character.
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
    """Split a term into its surname's pinyin and the rest; two empty strings if it has no surname."""
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
    # Every word is a run of lower-case letters, so it is exactly one term.
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
