"""What int8 costs against float32, and what it gains. Figures are those of `vector_rows`."""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from mnemark.index.vectors.mapped_file import VectorFile

DIMENSION = 256
Matrix = NDArray[np.float32]


def unit(matrix: NDArray[np.float64]) -> Matrix:
    rows: Matrix = (matrix / np.linalg.norm(matrix, axis=1, keepdims=True)).astype(np.float32)
    return rows


def random(rng: np.random.Generator, count: int) -> Matrix:
    return unit(rng.standard_normal((count, DIMENSION)))


def clustered(rng: np.random.Generator, count: int) -> Matrix:
    centres = np.random.default_rng(7).standard_normal((100, DIMENSION))
    return unit(centres[rng.integers(0, 100, count)] + 0.6 * rng.standard_normal((count, DIMENSION)))


def uneven(rng: np.random.Generator, count: int) -> Matrix:
    return unit(rng.standard_normal((count, DIMENSION)) / np.arange(1, DIMENSION + 1) ** 0.7)


def keys(count: int) -> list[bytes]:
    return [number.to_bytes(16, "big") for number in range(count)]


@pytest.mark.parametrize(
    ("draw", "most", "overlap"), [(random, 0.005, 0.95), (clustered, 0.005, 0.95), (uneven, 0.012, 0.92)]
)
def test_quantised_cosines_stay_near_and_keep_the_best(
    tmp_path: Path, draw: Callable[[np.random.Generator, int], Matrix], most: float, overlap: float
) -> None:
    rng = np.random.default_rng(1)
    matrix, queries = draw(rng, 10_000), draw(rng, 20)
    kept = []
    with VectorFile.open(tmp_path, "model", DIMENSION) as store:
        store.add(keys(len(matrix)), matrix)
        for query in queries:
            exact, scores = matrix @ query, store.scores(query)
            assert np.abs(exact - scores).max() < most
            best = np.argsort(-scores)[:10]
            kept.append(len(set(best) & set(np.argsort(-exact)[:10])) / 10)
            # What is swapped in is as good as what it replaces.
            assert np.sort(exact)[-10:].sum() - exact[best].sum() < most
    assert np.mean(kept) >= overlap


@pytest.mark.timed
@pytest.mark.slow
def test_a_scan_is_several_times_faster_than_numpy(tmp_path: Path) -> None:
    def fastest(run: Callable[[], object]) -> float:
        times = []
        for _ in range(15):
            start = time.perf_counter()
            run()
            times.append(time.perf_counter() - start)
        return min(times)

    matrix = random(np.random.default_rng(2), 100_000)
    with VectorFile.open(tmp_path, "model", DIMENSION) as store:
        store.add(keys(len(matrix)), matrix)
        query = matrix[0]
        # A ratio, as absolute times on shared machines wander; numpy may use every core here.
        assert fastest(lambda: store.scores(query)) * 2 < fastest(lambda: matrix @ query)
        rows = store.lookup(keys(100_000))
        assert fastest(lambda: store.scores(query, rows)) * 2 < fastest(lambda: matrix @ query)
        assert fastest(lambda: store.lookup(keys(100_000))) < 0.5
