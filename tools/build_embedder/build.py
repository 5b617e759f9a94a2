"""Build the bundled embedder's data files.

    python tools/build_embedder/build.py --teacher WHEEL --cedict FILE --corpus DIR --out DIR [--cache DIR]

Needs torch, scipy and jieba beside mnemark itself (see docs/embedder.md). The same inputs on the same
machine give the same bytes.
"""

import argparse
import hashlib
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import scipy.sparse
import torch
from numpy.typing import NDArray

import cedict
import corpus
import learn
import lexicon
import pack
import vocabulary
from mnemark.embed.rows import WordRows
from stopwords import CHINESE, ENGLISH
from teacher import Teacher

CHINESE_ROWS = 40_000
DIMENSION = 256
PIECE_WEIGHT = 0.5
WHITENING = 1.0
STRENGTH = 3.0
SENTENCE_TOKENS = 96
CHUNK = 8192


def encode(teacher: Teacher, texts: Sequence[str], cache: Path | None) -> NDArray[np.float32]:
    """The teacher's vectors of `texts`, from the cache where the same texts were encoded before."""
    key = hashlib.blake2b("\n".join(texts).encode(), digest_size=12).hexdigest()
    path = cache / f"{key}.npy" if cache else None
    if path and path.exists():
        return np.load(path).astype(np.float32)
    parts = []
    for start in range(0, len(texts), CHUNK):
        parts.append(teacher.encode(texts[start : start + CHUNK], SENTENCE_TOKENS).astype(np.float16))
        print(f"  teacher {start + len(parts[-1]):,} of {len(texts):,}", flush=True)
    found = np.concatenate(parts)
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, found)
    return found.astype(np.float32)


def bags(counts: Sequence[Mapping[int, float]], width: int) -> scipy.sparse.csr_matrix:
    """Texts as rows of word counts."""
    starts = np.cumsum([0, *(len(found) for found in counts)])
    columns = np.array([row for found in counts for row in found])
    values = np.array([value for found in counts for value in found.values()], np.float32)
    return scipy.sparse.csr_matrix((values, columns, starts), shape=(len(counts), width))


def table(
    teacher: Teacher, words: vocabulary.Vocabulary, folder: Path, cache: Path | None
) -> NDArray[np.float32]:
    """The learned rows: direction from prior and regression, length = weight."""
    vectors = dict(zip(words.texts, encode(teacher, words.texts, cache), strict=True))
    weights = vocabulary.static_weights(words.probability)
    start = vocabulary.prior(words, vectors) * weights[:, None]
    sentences, pairs = corpus.sentences(folder), corpus.pairs(folder)
    english = sorted({text for _, text in pairs})
    rows = WordRows(words.words, ENGLISH | CHINESE, PIECE_WEIGHT)
    targets = np.concatenate([encode(teacher, sentences, cache), encode(teacher, english, cache)])
    learned = learn.regress(bags(rows.counts([*sentences, *english]), len(start)), targets, start, STRENGTH)
    lengths = np.linalg.norm(learned, axis=1, keepdims=True)
    whitened: NDArray[np.float32] = lengths * learn.whiten(
        learn.unit(learned), words.is_english, DIMENSION, WHITENING
    )
    return whitened


def main() -> None:
    """Read the arguments and build."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--teacher", type=Path, required=True, help="wheel with model.safetensors and vocab.txt")
    parser.add_argument("--cedict", type=Path, required=True, help="CC-CEDICT, plain or .gz")
    parser.add_argument("--corpus", type=Path, required=True, help="folder of unpacked documentation packages")
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
    words = vocabulary.choose(teacher.vocabulary, entries, corpus.sentences(arguments.corpus), CHINESE_ROWS)
    print(f"{len(words.english):,} English, {len(words.pieces):,} pieces, {len(words.chinese):,} Chinese")
    rows = table(teacher, words, arguments.corpus, arguments.cache)
    path = arguments.out / "embedder.bin"
    pack.write_table(path, words.words, sorted(ENGLISH | CHINESE), rows, PIECE_WEIGHT)
    print(f"{path}: {path.stat().st_size:,} bytes, {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
