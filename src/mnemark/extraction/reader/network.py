"""The reader's network: a small convolution over tokens, in numpy alone.

Per token the rows of a hashed table are added up and set beside the projected vector of its word; residual
convolutions of width 3 with growing distance follow. From what they give: `tag`, where a value begins and goes
on; `key_tag`, of which key; `lasts`, which clause says what lasts; and of each span its key, what becomes of it,
whose it is, and whether its words are the value. `tools/reader` trains it.
"""

from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnemark.embed.sections import read_sections
from mnemark.extraction.reader.features import Encoded

DATA: Final = Path(__file__).resolve().parents[2] / "data" / "reader.bin"
"""Path of the weights."""

Floats = NDArray[np.float32]


class States(NamedTuple):
    """What the convolutions give for a message of n tokens."""

    inputs: Floats
    """(n, inputs): before the convolutions."""
    hidden: Floats
    """(n, hidden)."""
    mean: Floats
    """(hidden,)."""


class SpanScores(NamedTuple):
    """Probabilities of m spans."""

    key: Floats
    """(m, keys)."""
    act: Floats
    """(m, acts)."""
    other: Floats
    """(m,): that it is somebody else's."""
    words: Floats
    """(m,): that the span is the words that say so, not the value."""


class Network:
    """The trained weights and what is computed with them."""

    def __init__(self, path: Path = DATA) -> None:
        about, arrays = read_sections(path)
        self.keys: list[str] = about["keys"]
        self.is_slot = np.array([key != "statement" for key in self.keys], np.float32)
        """(keys,): 0 for what has no key of its own."""
        self.acts: list[str] = about["acts"]
        self.embedder: str = about["embedder"]
        """Name of the word table that it was trained with."""
        self.calibration: list[float] = about["calibration"]
        """Of the probability of a reading: constant, then factors of the logarithms of its parts."""
        self._table = arrays["table"]
        self._scale = np.float32(about["table_scale"])
        self._weights: dict[str, Floats] = {
            name: np.asarray(array, np.float32) for name, array in arrays.items() if name != "table"
        }
        self._convolutions = [
            (distance, np.hstack(np.split(self._weights.pop(f"conv{layer}.w"), 3)))
            for layer, distance in enumerate(about["distances"])
        ]
        """How far each looks, and the weights of what stands before, at and after a token, side by side."""

    def states(self, message: Encoded) -> States:
        """Run the convolutions over a message of at least one token."""
        w = self._weights
        hashed = self._table[message.rows].sum(1, dtype=np.int32).astype(np.float32) * self._scale
        inputs = np.concatenate([hashed + w["place"][message.places], message.vectors @ w["projection"]], 1)
        hidden = np.maximum(inputs @ w["input.w"] + w["input.b"], 0)
        width = hidden.shape[1]
        for layer, (distance, weights) in enumerate(self._convolutions):
            every = hidden @ weights
            heard = every[:, width : 2 * width]
            heard[distance:] += every[:-distance, :width]
            heard[:-distance] += every[distance:, 2 * width :]
            heard += w[f"conv{layer}.b"]
            hidden = _normed(hidden + np.maximum(heard, 0, out=heard))
            hidden *= w[f"norm{layer}.w"]
            hidden += w[f"norm{layer}.b"]
        return States(inputs, hidden, hidden.sum(0) / np.float32(len(hidden)))

    def tags(self, states: States) -> Floats:
        """Return the probabilities of each token to be outside, first, or within a value: (n, 3)."""
        return softmax(self._of_tokens(states, "tag"))

    def key_tags(self, states: States) -> Floats:
        """Return the probabilities of each token to be of no key, or of each: (n, 1 + keys)."""
        return softmax(self._of_tokens(states, "key_tag"))

    def kept(self, states: States) -> float:
        """Return the probability that a message has anything to keep."""
        w = self._weights
        both = np.concatenate([states.mean, states.hidden.max(0)])
        return float(1 / (1 + np.exp(-(both @ w["kept.w"] + w["kept.b"])[0])))

    def lasting(self, states: States, clauses: list[tuple[int, int]]) -> Floats:
        """Return the probability of each clause, given by its tokens, to say something that lasts: (m,)."""
        w = self._weights
        starts = np.array([start for start, _ in clauses])
        lengths = np.array([[end - start] for start, end in clauses], np.float32)
        read = np.concatenate(
            [
                np.add.reduceat(states.hidden, starts) / lengths, np.maximum.reduceat(states.hidden, starts),
                np.broadcast_to(states.mean, (len(starts), len(states.mean))),
            ],
            1,
        )  # fmt: skip
        hidden = np.maximum(read @ w["clause.w"] + w["clause.b"], 0)
        out: Floats = 1 / (1 + np.exp(-(hidden @ w["lasts.w"] + w["lasts.b"])[:, 0]))
        return out

    def spans(self, states: States, spans: list[tuple[int, int]]) -> SpanScores:
        """Return what is read of spans of tokens, given by start and end."""
        w = self._weights
        start, end = np.array(spans).T
        width = states.hidden.shape[1]
        length = (end - start)[:, None].astype(np.float32)
        zeros = np.zeros((1, width), np.float32)
        total = np.concatenate([zeros, states.hidden.cumsum(0)])
        own = np.concatenate([np.zeros((1, states.inputs.shape[1]), np.float32), states.inputs.cumsum(0)])
        around = np.concatenate([zeros, states.hidden, zeros])
        read = np.concatenate(
            [
                (total[end] - total[start]) / length, around[start], around[end + 1],
                np.broadcast_to(states.mean, (len(spans), width)), (own[end] - own[start]) / length,
            ],
            1,
        )  # fmt: skip
        hidden = np.maximum(read @ w["span.w"] + w["span.b"], 0)
        key, act, other, words = (
            softmax(hidden @ w[f"{name}.w"] + w[f"{name}.b"]) for name in ("key", "act", "who", "words")
        )
        return SpanScores(key, act, other[:, 1], words[:, 1])

    def _of_tokens(self, states: States, name: str) -> Floats:
        """Return scores of each token, by what it is and by what the message is."""
        weights, width = self._weights[f"{name}.w"], len(states.mean)
        out: Floats = states.hidden @ weights[:width]
        out += states.mean @ weights[width:] + self._weights[f"{name}.b"]
        return out


def softmax(scores: Floats) -> Floats:
    """Return probabilities over the last axis."""
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    out: Floats = powers / powers.sum(-1, keepdims=True)
    return out


def _normed(hidden: Floats) -> Floats:
    """Normalise each row, in place (layer normalisation, Ba, Kiros and Hinton 2016)."""
    width = np.float32(hidden.shape[1])
    hidden -= hidden.sum(1, keepdims=True) / width
    hidden /= np.sqrt(np.einsum("ij,ij->i", hidden, hidden) / width + np.float32(1e-5))[:, None]
    return hidden


@cache
def network() -> Network:
    """Return the network of the package."""
    return Network()
