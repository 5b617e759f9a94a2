"""Word vectors that add up to the teacher's sentence vectors, and the space they are shipped in."""

from collections.abc import Callable

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from vocabulary import unit

Matrix = NDArray[np.float32]
STEPS = 15
ROUNDS = 2
SAMPLE = 30_000


def regress(bags: scipy.sparse.csr_matrix, target: Matrix, start: Matrix, strength: float) -> Matrix:
    """Ridge regression towards `start`: `min |D (B U - T)|^2 + strength |U - start|^2`.

    `bags` B is (sentences, rows), `target` T the teacher's unit vectors (sentences, 384), `start` (rows,
    384). Only the direction of a sum is used later, so each sentence is scaled (D) to the length that its
    sum has now, and the problem is solved again with the new lengths. Rows no sentence has keep their value.
    """
    filled = np.flatnonzero(np.diff(bags.indptr))
    bags, target = bags[filled], target[filled]
    columns = np.unique(bags.indices)
    bags = bags[:, columns].tocsr()
    near = start[columns]
    learned = near.copy()
    for _ in range(ROUNDS):
        lengths = np.maximum(np.linalg.norm(bags @ learned, axis=1), 1e-3)
        scaled = (scipy.sparse.diags((1 / lengths).astype(np.float32)) @ bags).tocsr()
        transposed = scaled.T.tocsr()

        def normal(
            rows: Matrix,
            scaled: scipy.sparse.csr_matrix = scaled,
            transposed: scipy.sparse.csr_matrix = transposed,
        ) -> Matrix:
            out: Matrix = transposed @ (scaled @ rows) + np.float32(strength) * rows
            return out

        diagonal = np.asarray(scaled.multiply(scaled).sum(axis=0), np.float32).ravel() + np.float32(strength)
        learned = conjugate_gradient(
            normal, transposed @ target + np.float32(strength) * near, learned, diagonal[:, None]
        )
    out = start.copy()
    out[columns] = learned
    return out


def conjugate_gradient(
    apply: Callable[[Matrix], Matrix], right: Matrix, start: Matrix, diagonal: Matrix
) -> Matrix:
    """`STEPS` steps for all columns at once, preconditioned by the diagonal (Saad 2003, algorithm 9.1)."""
    solution = start
    residual = right - apply(solution)
    direction = step = residual / diagonal
    product = (residual * step).sum(axis=0)
    for _ in range(STEPS):
        image = apply(direction)
        length = product / np.maximum((direction * image).sum(axis=0), 1e-30)
        solution = solution + length * direction
        residual = residual - length * image
        step = residual / diagonal
        following = (residual * step).sum(axis=0)
        direction = step + following / np.maximum(product, 1e-30) * direction
        product = following
    return solution.astype(np.float32)


def whiten(rows: Matrix, english: NDArray[np.bool_], dimension: int, power: float) -> Matrix:
    """Unit rows in `dimension` axes.

    The mean of each language is taken off; the principal axes, in which both languages count alike, are
    scaled by eigenvalue^(-power/2), so that none dominates.
    """
    centred = rows.copy()
    generator = np.random.default_rng(0)
    chosen = []
    for group in (english, ~english):
        centred[group] -= centred[group].mean(axis=0)
        chosen.append(generator.permutation(np.flatnonzero(group))[:SAMPLE])
    sample = centred[np.concatenate(chosen)].astype(np.float64)
    values, vectors = np.linalg.eigh(sample.T @ sample / len(sample))
    order = np.argsort(-values)[:dimension]
    axes = vectors[:, order] * values[order] ** (-power / 2)
    # An axis has no sign of its own: fixed, so that a rebuild gives the same bytes.
    axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(dimension)])
    return unit(centred @ axes.astype(np.float32))
