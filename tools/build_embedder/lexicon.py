"""The dictionary file: English words by Chinese word, Chinese words by English word, pinyin for names."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from cedict import Entry, interleaved
from numpy.typing import NDArray
from stopwords import CHINESE, ENGLISH

from mnemark.embed.sections import pack_words, write_sections

WORD = re.compile(r"[a-z]{2,}")
HAN = re.compile(r"[\u3400-\u9fff]+")
SURNAME = re.compile(r"/surname ([A-Z][a-z]+)")
SENSES = 3
INVERSE = 16
EMPTY = ENGLISH | {"sb", "sth", "etc", "esp", "abbr", "coll", "lit", "fig", "tw", "prc"}


def core(sense: str) -> str:
    """A sense without the explanation that follows a comma ("Beijing, capital of ...")."""
    head, comma, _ = sense.partition(", ")
    return head if comma else sense


def translations(entries: Sequence[Entry]) -> dict[str, float]:
    """English words of a word's first senses: weight `1 / sqrt(1 + rank) / sqrt(words in the sense)`."""
    found: dict[str, float] = {}
    heads = dict.fromkeys(core(sense) for sense in interleaved(entries))
    senses = [[word for word in WORD.findall(head.lower()) if word not in EMPTY] for head in heads]
    for rank, words in enumerate([words for words in senses if words][:SENSES]):
        for word in words:
            weight = 1 / math.sqrt((1 + rank) * len(words))
            found[word] = max(found.get(word, 0.0), weight)
    return found


def invert(
    table: Mapping[str, Mapping[str, float]], frequency: Mapping[str, int]
) -> dict[str, dict[str, float]]:
    """Chinese words by English word: of many, the `INVERSE` best.

    Weight: that of the English word in the Chinese one's senses, times the log frequency of the Chinese
    word as a share of the highest: common words are what people say.
    """
    most = math.log(max(frequency.values()) + 2)
    found: dict[str, list[tuple[float, str]]] = {}
    for word, words in table.items():
        for english, weight in words.items():
            share = math.log(frequency.get(word, 0) + 2) / most
            found.setdefault(english, []).append((-weight * share, word))
    return {
        english: {word: -weight for weight, word in sorted(pairs)[:INVERSE]}
        for english, pairs in found.items()
    }


def plain_syllable(pinyin: str) -> str:
    """A syllable without tone, as in a passport: `lu:4` is `lu`."""
    bare = re.sub(r"[0-9:]", "", unicodedata.normalize("NFKD", pinyin)).lower()
    return "".join(char for char in bare if "a" <= char <= "z")


def syllables(entries: Iterable[Entry]) -> dict[str, str]:
    """The usual reading of each character: the one it has in most dictionary words."""
    counts: dict[str, Counter[str]] = {}
    for entry in entries:
        readings = entry.pinyin.replace("-", " ").split()
        if len(readings) == len(entry.simplified):
            for char, reading in zip(entry.simplified, readings, strict=True):
                if HAN.fullmatch(char):
                    counts.setdefault(char, Counter())[plain_syllable(reading)] += 1
    return {
        char: min(found.items(), key=lambda pair: (-pair[1], pair[0]))[0] for char, found in counts.items()
    }


def surnames(lines: Iterable[str]) -> dict[str, str]:
    """Surnames with their reading, from the dictionary's own words ("surname Feng")."""
    found: dict[str, str] = {}
    for line in lines:
        match = SURNAME.search(line)
        if match and not line.startswith("#"):
            found.setdefault(line.split(" ", 2)[1], match.group(1).lower())
    return {name: reading for name, reading in found.items() if HAN.fullmatch(name)}


def write_dictionary(
    path: Path,
    words: Mapping[str, Sequence[Entry]],
    entries: Sequence[Entry],
    lines: Iterable[str],
    frequency: Mapping[str, int],
) -> None:
    """Write the dictionary of the words that the segmenter can give, and of all single characters."""
    table = {
        word: translations(found)
        for word, found in words.items()
        if HAN.fullmatch(word) and word not in CHINESE and (frequency.get(word, 0) > 0 or len(word) == 1)
    }
    table = {word: table[word] for word in sorted(table) if table[word]}
    inverse = invert(table, frequency)
    chinese, english = list(table), sorted(inverse)
    readings, names = syllables(entries), surnames(lines)
    arrays: dict[str, NDArray[Any]] = {
        "chinese": pack_words(chinese),
        "english": pack_words(english),
        "characters": pack_words(sorted(readings)),
        "syllables": pack_words(readings[char] for char in sorted(readings)),
        "surnames": pack_words(sorted(names)),
        "surname_syllables": pack_words(names[name] for name in sorted(names)),
    }
    arrays |= _table("senses", [table[word] for word in chinese], english)
    arrays |= _table("inverse", [inverse[word] for word in english], chinese)
    write_sections(path, {"licence": "CC-BY-SA-4.0; see LICENSE-embedder.txt"}, arrays)


def _table(name: str, rows: Sequence[Mapping[str, float]], targets: Sequence[str]) -> dict[str, NDArray[Any]]:
    number = {word: place for place, word in enumerate(targets)}
    numbers = [number[word] for row in rows for word in row]
    weights = [max(1, round(255 * weight)) for row in rows for weight in row.values()]
    kind = np.uint16 if len(targets) < 2**16 else np.uint32
    return {
        f"{name}_counts": np.array([len(row) for row in rows], np.uint8),
        f"{name}_numbers": np.array(numbers, kind),
        f"{name}_weights": np.array(weights, np.uint8),
    }
