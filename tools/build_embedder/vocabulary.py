"""Which words get a row, how often they occur, and what they mean before anything is learned."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from cedict import Entry, interleaved
from numpy.typing import NDArray
from stopwords import CHINESE, ENGLISH

WORD = re.compile(r"[a-z]+")
PIECE = re.compile(r"##[a-z]+")
HAN = re.compile(r"[\u3400-\u9fff]+")
SENSES = 6
RARE_RANK = 35_000
"""Zipf rank of English words that the teacher's vocabulary does not have."""
SIF = 1e-4


@dataclass(frozen=True)
class Vocabulary:
    """Words in the order of rows: English words, English pieces, Chinese words."""

    english: list[str]
    pieces: list[str]
    chinese: list[str]
    senses: dict[str, list[str]]
    """English senses by Chinese word."""
    probability: NDArray[np.float64]
    """(n,): relative frequency within the word's own language."""

    @property
    def words(self) -> list[str]:
        """All rows."""
        return [*self.english, *self.pieces, *self.chinese]

    @property
    def is_english(self) -> NDArray[np.bool_]:
        """(n,): the row is an English word or piece."""
        return np.arange(len(self.words)) < len(self.english) + len(self.pieces)

    @property
    def texts(self) -> list[str]:
        """Every short English text whose vector the prior needs."""
        found = {sense for word in self.chinese for sense in self.senses[word]}
        return sorted({*self.english, *self.pieces, *found})


def jieba_frequencies() -> dict[str, int]:
    """Word counts of jieba's dictionary (MIT)."""
    lines = (files("jieba") / "dict.txt").read_text(encoding="utf-8").splitlines()
    return {word: int(count) for word, count, *_ in (line.split(" ") for line in lines)}


def word_senses(entries: Sequence[Entry]) -> list[str]:
    """The first senses of a word, of all its readings."""
    return interleaved(entries)[:SENSES]


def choose(
    teacher_words: Sequence[str],
    entries: Mapping[str, Sequence[Entry]],
    corpus: Iterable[str],
    chinese_rows: int,
) -> Vocabulary:
    """English: the teacher's whole words, and words seen twice in glosses or eight times in the corpus.

    Chinese: all single characters with a sense, and the most frequent `chinese_rows` words.
    """
    senses = {word: word_senses(found) for word, found in entries.items() if HAN.fullmatch(word)}
    senses = {word: found for word, found in senses.items() if found}
    ranked = [word for word in teacher_words if WORD.fullmatch(word)]
    glosses = Counter(
        word for found in senses.values() for sense in found for word in WORD.findall(sense.lower())
    )
    texts = Counter(word for text in corpus for word in WORD.findall(text.lower()))
    added = {word for word, count in glosses.items() if count >= 2} | {
        word for word, count in texts.items() if count >= 8
    }
    english = sorted({*ranked, *(word for word in added if 2 <= len(word) <= 20)} - ENGLISH)
    pieces = sorted(word for word in teacher_words if PIECE.fullmatch(word))
    frequency = jieba_frequencies()
    order = sorted(senses.keys() - CHINESE, key=lambda word: (-frequency.get(word, 0), word))
    chinese = [word for word in order if len(word) > 1 and frequency.get(word, 0) > 0][:chinese_rows]
    chinese += [word for word in order if len(word) == 1]
    rank = {word: place for place, word in enumerate(ranked)}
    harmonic = math.fsum(1 / (place + 10) for place in range(40_000))
    total = sum(frequency.values())
    probability = [1 / ((rank.get(word, RARE_RANK) + 10) * harmonic) for word in [*english, *pieces]]
    probability += [max(frequency.get(word, 1), 1) / total for word in chinese]
    return Vocabulary(english, pieces, chinese, senses, np.array(probability))


def static_weights(probability: NDArray[np.float64]) -> NDArray[np.float32]:
    """Smooth inverse frequency (Arora et al. 2017) times information: `a/(a+p) * -ln(p)/10`."""
    weights: NDArray[np.float32] = (SIF / (SIF + probability) * -np.log(probability) / 10).astype(np.float32)
    return weights


def unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows of length 1; zero rows stay."""
    out: NDArray[np.float32] = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return out


def prior(vocabulary: Vocabulary, vectors: Mapping[str, NDArray[np.float32]]) -> NDArray[np.float32]:
    """Rows before learning: the teacher's vector of the word, of length `static_weights`.

    Of a Chinese word, the mean of its senses' vectors.
    """
    rows = [vectors[word] for word in [*vocabulary.english, *vocabulary.pieces]]
    rows += [
        np.mean([vectors[sense] for sense in vocabulary.senses[word]], axis=0) for word in vocabulary.chinese
    ]
    return unit(np.array(rows, np.float32)) * static_weights(vocabulary.probability)[:, None]


def chinese_prior(
    vocabulary: Vocabulary,
    vectors: Mapping[str, NDArray[np.float32]],
    bagged: Mapping[str, NDArray[np.float32]],
) -> NDArray[np.float32]:
    """Chinese rows once the English ones are learned, of length `static_weights`.

    Half the mean of the senses' teacher vectors, half the mean of the sums of their learned words
    (`bagged`, unit): the second speaks the language of the table that it will be compared with.
    """
    rows = []
    for word in vocabulary.chinese:
        senses = vocabulary.senses[word]
        whole = np.mean([vectors[sense] for sense in senses], axis=0)
        bag = np.mean([bagged[sense] for sense in senses], axis=0)
        rows.append(whole / max(np.linalg.norm(whole), 1e-9) + bag / max(np.linalg.norm(bag), 1e-9))
    weights = static_weights(vocabulary.probability)[-len(rows) :]
    return unit(np.array(rows, np.float32)) * weights[:, None]
