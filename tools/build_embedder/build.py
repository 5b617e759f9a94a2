"""Build the bundled embedder's data files.

    python tools/build_embedder/build.py --teacher WHEEL --cedict FILE --corpus DIR --out DIR [--cache DIR]

Needs torch, scipy and jieba beside mnemark itself (see docs/embedder.md). The same inputs on the same
machine give the same bytes.
"""

import argparse
import hashlib
import time
from collections.abc import Sequence
from pathlib import Path

import cedict
import corpus
import learn
import lexicon
import numpy as np
import pack
import scipy.sparse
import torch
import vocabulary
from numpy.typing import NDArray
from stopwords import CHINESE, ENGLISH
from synthetic import synthetic
from teacher import Teacher

from mnemark.embed.rows import Bags, WordRows
from mnemark.embed.sections import pack_words

CHINESE_ROWS = 40_000
DIMENSION = 224
PIECE_WEIGHT = 0.5
WHITENING = 1.0
STRENGTH = 3.0
FLATTEN = 0.7
"""Exponent on the learned lengths: what sums well is a little too sure of rare words."""
SENTENCE_TOKENS = 96
CHUNK = 8192


def encode(teacher: Teacher, texts: Sequence[str], cache: Path | None) -> NDArray[np.float32]:
    """The teacher's vectors of `texts`, from the cache where the same texts were encoded before."""
    key = hashlib.blake2b("\n".join(texts).encode(), digest_size=12).hexdigest()
    path = cache / f"{key}.npy" if cache else None
    if path and path.exists():
        stored: NDArray[np.float16] = np.load(path)
        return stored.astype(np.float32)
    parts = []
    for start in range(0, len(texts), CHUNK):
        parts.append(teacher.encode(texts[start : start + CHUNK], SENTENCE_TOKENS).astype(np.float16))
        print(f"  teacher {start + len(parts[-1]):,} of {len(texts):,}", flush=True)
    found = np.concatenate(parts)
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, found)
    return found.astype(np.float32)


def bags(found: Bags, width: int) -> scipy.sparse.csr_matrix:
    """Texts as rows of word counts."""
    starts = np.cumsum([0, *found.sizes])
    return scipy.sparse.csr_matrix((found.weights, found.rows, starts), shape=(len(found.sizes), width))


class Builder:
    """Everything the table is made from, and the steps in order."""

    def __init__(self, teacher: Teacher, words: vocabulary.Vocabulary, cache: Path | None) -> None:
        self._teacher = teacher
        self._words = words
        self._cache = cache
        self._rows = WordRows(pack_words(words.words).tobytes(), ENGLISH | CHINESE, PIECE_WEIGHT)
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self.ask(words.texts)

    def ask(self, texts: Sequence[str]) -> None:
        """Have the teacher's vectors of `texts` at hand."""
        self._vectors.update(zip(texts, encode(self._teacher, texts, self._cache), strict=True))

    def _regress(
        self, texts: Sequence[str], targets: Sequence[str], start: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Learn from bags of `texts` towards the teacher's vectors of `targets`."""
        bagged = bags(self._rows.bags(texts), len(start))
        return learn.regress(bagged, np.array([self._vectors[text] for text in targets]), start, STRENGTH)

    def english(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """All rows, the English ones learned from the senses and from `texts`."""
        learned_from = [text for text in self._words.texts if " " in text] + list(texts)
        return self._regress(learned_from, learned_from, vocabulary.prior(self._words, self._vectors))

    def chinese(self, rows: NDArray[np.float32], pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """`rows` with the Chinese ones made from the learned English words, then learned from `pairs`."""
        senses = sorted({sense for word in self._words.chinese for sense in self._words.senses[word]})
        sums = vocabulary.unit(bags(self._rows.bags(senses), len(rows)) @ rows)
        start = rows.copy()
        start[-len(self._words.chinese) :] = vocabulary.chinese_prior(
            self._words, self._vectors, dict(zip(senses, sums, strict=True))
        )
        return self._regress([text for text, _ in pairs], [text for _, text in pairs], start)

    def space(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """Rows in the space that is shipped; their lengths are their weights."""
        weights = np.linalg.norm(rows, axis=1, keepdims=True) ** FLATTEN
        whitened: NDArray[np.float32] = weights * learn.whiten(
            vocabulary.unit(rows), self._words.is_english, DIMENSION, WHITENING
        )
        return whitened


def main() -> None:
    """Read the arguments and build."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--teacher", type=Path, required=True, help="wheel with model.safetensors and vocab.txt"
    )
    parser.add_argument("--cedict", type=Path, required=True, help="CC-CEDICT, plain or .gz")
    parser.add_argument(
        "--corpus", type=Path, required=True, help="folder of unpacked documentation packages"
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for the data files")
    parser.add_argument("--cache", type=Path, help="folder for the teacher's vectors, to build again faster")
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    began = time.perf_counter()
    teacher = Teacher(arguments.teacher)
    readings = list(cedict.read_entries(arguments.cedict))
    entries = cedict.by_word(readings)
    lexicon.write_dictionary(
        arguments.out / "embedder-dictionary.bin",
        entries,
        readings,
        cedict.read_lines(arguments.cedict),
        vocabulary.jieba_frequencies(),
    )
    sentences, pairs = corpus.sentences(arguments.corpus), corpus.pairs(arguments.corpus)
    words = vocabulary.choose(teacher.vocabulary, entries, sentences, CHINESE_ROWS)
    print(f"{len(words.english):,} English, {len(words.pieces):,} pieces, {len(words.chinese):,} Chinese")
    builder = Builder(teacher, words, arguments.cache)
    english = sorted({text for _, text in pairs})
    everyday = synthetic(entries, vocabulary.jieba_frequencies())
    for texts in (sentences, english, [text for _, text in everyday]):
        builder.ask(texts)
    rows = builder.english([*sentences, *english, *(text for _, text in everyday)])
    rows = builder.space(builder.chinese(rows, [*pairs, *everyday]))
    path = arguments.out / "embedder.bin"
    pack.write_table(path, words.words, sorted(ENGLISH | CHINESE), rows, PIECE_WEIGHT)
    print(f"{path}: {path.stat().st_size:,} bytes, {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
