"""Read a message: which words of it are values, of which key, whose, and what becomes of them."""

import math
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from mnemark.extraction.reader.clauses import clauses
from mnemark.extraction.reader.features import Encoded, Encoder
from mnemark.extraction.reader.network import Floats, Network, States

_EAGER: Final = 1.5
"""Added to the log-probability of being in a value when spans are cut: the probability of a whole decides."""
_OF_KEYS: Final = 0.5
"""Weight of what the keys of tokens say about being in a value."""


class Reading(NamedTuple):
    """What some words of a message say."""

    start: int
    end: int
    """Where the words stand in the message, in characters."""
    key: str
    act: str
    """What becomes of the value: empty (it is so), ends, replaces, corrects, cancels, plans, done."""
    other: bool
    """Whether it is somebody else's than the writer's."""
    evidence: bool
    """Whether the words say so without naming a value."""
    probability: float
    """That a person would mark these words so, with this key."""
    key_probability: float
    """Of the key alone, if they are marked."""
    topic_key: str
    """The likeliest key that is no statement."""


class Shares(NamedTuple):
    """What the probability of a reading is made of, each a probability by itself."""

    inside: float
    """Of the tokens to be one value, their geometric mean."""
    keyed: float
    """Of the tokens to be of any key."""
    kept: float
    """Of the message to have anything to keep."""
    key: float
    """Of the key, among all."""
    lasts: float
    """Of its clause to say something that lasts."""


class Clause(NamedTuple):
    """A clause of a message, and whether it says something that lasts."""

    start: int
    end: int
    """Where it stands in the message, in characters."""
    probability: float


class Read(NamedTuple):
    """What is read of a message."""

    readings: list[Reading]
    """In order; they do not overlap."""
    clauses: list[Clause]


def read_message(text: str, encoder: Encoder, network: Network) -> Read:
    """Read a message."""
    shared, parts = with_shares(text, encoder, network)
    return Read([one for one, _ in shared], parts)


def with_shares(
    text: str, encoder: Encoder, network: Network
) -> tuple[list[tuple[Reading, Shares]], list[Clause]]:
    """Return the readings of a message, each with what its probability is made of, and the clauses."""
    message = encoder.encode(text)
    if not message.tokens:
        return [], []
    states = network.states(message)
    cuts = clauses(text, message.tokens)
    lasting = network.lasting(states, cuts).tolist()
    parts = [
        Clause(message.tokens[start].start, message.tokens[end - 1].end, lasts)
        for (start, end), lasts in zip(cuts, lasting, strict=True)
    ]
    return _with_shares(message, states, network, parts), parts


def _with_shares(
    message: Encoded, states: States, network: Network, parts: Sequence[Clause]
) -> list[tuple[Reading, Shares]]:
    tags = network.tags(states)
    of_tokens = network.key_tags(states)
    spans = list(cut(tags, of_tokens[:, 0]))
    if not spans:
        return []
    scores = network.spans(states, spans)
    kept = network.kept(states)
    found = []
    for n, (start, end) in enumerate(spans):
        inside = tags[start, 1] * math.prod(tags[at, 2] for at in range(start + 1, end))
        first, last = message.tokens[start].start, message.tokens[end - 1].end
        keys = scores.key[n] * of_tokens[start:end, 1:].mean(0) ** 0.5
        key, act = int(keys.argmax()), int(scores.act[n].argmax())
        shares = Shares(
            float(inside ** (1 / (end - start))), float(1 - of_tokens[start:end, 0].mean()), kept,
            float(keys[key] / keys.sum()),
            max(part.probability for part in parts if part.start < last and part.end > first),
        )  # fmt: skip
        reading = Reading(
            first, last, network.keys[key], network.acts[act],
            bool(scores.other[n] > 0.5), bool(scores.words[n] > 0.5),
            probability(network.calibration, shares), shares.key,
            network.keys[int((keys * network.is_slot).argmax())],
        )  # fmt: skip
        found.append((reading, shares))
    return found


def probability(weights: Sequence[float], shares: Shares) -> float:
    """Return the calibrated probability of a reading: a constant, and a weight for each share (Platt scaling)."""
    logs = zip(weights[1:], shares, strict=True)
    score = weights[0] + sum(weight * math.log(max(share, 1e-6)) for weight, share in logs)
    return 1 / (1 + math.exp(-score))


def cut(tags: Floats, outside: Floats) -> Iterator[tuple[int, int]]:
    """Yield the spans of the likeliest sequence (Viterbi): within a value only what follows its first token.

    Args:
        tags: (n, 3), probabilities to be outside, first, within a value.
        outside: (n,), probabilities to be of no key.
    """
    logs = np.log(tags + 1e-9)
    logs[:, 0] += _OF_KEYS * np.log(outside + 1e-6)
    logs[:, 1:] += _OF_KEYS * np.log(1 - outside + 1e-6)[:, None] + _EAGER
    (out, first, _), *rest = logs.tolist()
    within = -1e9
    came: list[tuple[int, int, int]] = []
    for stays, begins, goes_on in rest:
        best = max((out, 0), (first, 1), (within, 2))
        inner = max((first, 1), (within, 2))
        came.append((best[1], best[1], inner[1]))
        out, first, within = best[0] + stays, best[0] + begins, inner[0] + goes_on
    tag = max((out, 0), (first, 1), (within, 2))[1]
    sequence = [tag]
    for step in reversed(came):
        tag = step[tag]
        sequence.append(tag)
    sequence.reverse()
    start = -1
    for at, tag in enumerate([*sequence, 0]):
        if start >= 0 and tag != 2:
            yield start, at
            start = -1
        if tag == 1:
            start = at
