"""Train the reader's network from the labelled messages: `make reader` (twenty minutes on one core).

The same labels, lexicon, word table and versions of `requirements/reader.txt` give the same bytes. A tenth
of the files is held back to calibrate the probabilities and to print how well it reads.
"""

import argparse
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from labels import ACTS, KEYS, KINDS, Message, load
from numpy.typing import NDArray
from templates import drawn
from torch import Tensor, nn
from torch.nn import functional

from mnemark.embed.bundled import BundledEmbedder
from mnemark.embed.sections import write_sections
from mnemark.extraction.reader.clauses import clauses
from mnemark.extraction.reader.features import BUCKETS, COLUMNS, Encoder
from mnemark.extraction.reader.network import DATA, Network
from mnemark.extraction.reader.reading import Shares, probability, with_shares

SEED: Final = 7
KEY: Final = sorted(KEYS)
ACT: Final = sorted(ACTS)
KIND: Final = sorted(KINDS)
HASHED: Final = 64
PROJECTED: Final = 64
HIDDEN: Final = 128
OF_CLAUSES: Final = 64
DISTANCES: Final = (1, 1, 2, 4)
"""How far the convolutions look to each side."""
BATCH: Final = 64
RATE: Final = 2.5e-3
DROPPED_FEATURES: Final = 0.15
DROPPED_WORDS: Final = 0.05
DROPPED: Final = 0.2
CROPPED: Final = 0.3
"""Share of messages of which only a run of clauses is learned from: what stands alone is read, too."""
HELD_BACK: Final = ("007.tsv", "015.tsv")
_STOPS: Final = frozenset(".!?。！？\n")
_COMMAS: Final = frozenset(",，;；")


class Gold(NamedTuple):
    """A mark, over tokens."""

    start: int
    end: int
    key: int
    act: int
    other: int
    evidence: int


class Item(NamedTuple):
    """An encoded message with its marks."""

    rows: NDArray[np.int64]
    vectors: NDArray[np.float16]
    places: NDArray[np.int64]
    words: list[str]
    gold: list[Gold]
    clauses: list[tuple[int, int, bool]]
    """Tokens of each clause, and whether a mark begins in it."""
    kinds: tuple[str, ...]


def encoded(encoder: Encoder, message: Message) -> Item:
    """Encode a message; marks beyond its last token that is read are left out."""
    found = encoder.encode(message.text)
    gold = []
    for mark in message.marks:
        inside = [
            n for n, token in enumerate(found.tokens) if token.start < mark.end and token.end > mark.start
        ]
        if inside:
            gold.append(
                Gold(
                    inside[0], inside[-1] + 1, KEY.index(mark.key), ACT.index(mark.act), int(bool(mark.who)),
                    int(mark.evidence),
                )
            )  # fmt: skip
    words = [message.text[token.start : token.end] for token in found.tokens]
    marked = {one.start for one in gold}
    parts = [
        (start, end, not marked.isdisjoint(range(start, end)))
        for start, end in clauses(message.text, found.tokens)
    ]
    return Item(
        found.rows, found.vectors.astype(np.float16), found.places, words, gold, parts, message.kinds,
    )  # fmt: skip


def cropped(item: Item, rng: random.Random) -> Item:
    """Return a message, or sometimes a run of its clauses; whole if it has a trap."""
    if item.kinds != ("talk",) or rng.random() >= CROPPED:
        return item
    n, cuts = len(item.words), [0]
    for at, word in enumerate(item.words[:-1], 1):
        enough = 3 if word in _STOPS else 5 if word in _COMMAS and n - at > 4 else n
        if at - cuts[-1] >= enough:
            cuts.append(at)
    cuts.append(n)
    if len(cuts) < 3:
        return item
    first = rng.randrange(len(cuts) - 1)
    start, end = cuts[first], cuts[min(len(cuts) - 1, first + rng.choice((1, 1, 1, 2, 2, 3)))]
    if any(one.start < at < one.end for one in item.gold for at in (start, end)):
        return item
    gold = [
        one._replace(start=one.start - start, end=one.end - start)
        for one in item.gold
        if start <= one.start and one.end <= end
    ]
    if (start and any(one.other for one in gold)) or (not gold and rng.random() < 0.5):
        return item
    part = slice(start, end)
    parts = [
        (max(first, start) - start, min(last, end) - start, lasts)
        for first, last, lasts in item.clauses
        if first < end and last > start
    ]
    return Item(
        item.rows[part], item.vectors[part], item.places[part], item.words[part], gold, parts,
        item.kinds if gold else ("request",),
    )  # fmt: skip


class Batch(NamedTuple):
    """Some messages, filled up to the same length."""

    rows: Tensor
    vectors: Tensor
    places: Tensor
    mask: Tensor
    tags: Tensor
    key_tags: Tensor
    spans: Tensor
    gold: Tensor
    clauses: Tensor
    kinds: Tensor


def batch(items: Sequence[Item]) -> Batch:
    """Put messages into one batch."""
    size, longest = len(items), max(len(item.words) for item in items)
    rows = np.zeros((size, longest, COLUMNS), np.int64)
    vectors = np.zeros((size, longest, items[0].vectors.shape[1]), np.float32)
    places = np.zeros((size, longest), np.int64)
    mask = np.zeros((size, longest), np.float32)
    tags = np.zeros((size, longest), np.int64)
    key_tags = np.zeros((size, longest), np.int64)
    kinds = np.zeros((size, len(KIND) + 1), np.float32)
    spans, gold, parts = [], [], []
    for at, item in enumerate(items):
        n = len(item.words)
        rows[at, :n], vectors[at, :n], places[at, :n], mask[at, :n] = item.rows, item.vectors, item.places, 1
        for one in item.gold:
            tags[at, one.start], tags[at, one.start + 1 : one.end] = 1, 2
            key_tags[at, one.start : one.end] = one.key + 1
            spans.append((at, one.start, one.end))
            gold.append((one.key, one.act, one.other, one.evidence))
        parts += [(at, *part) for part in item.clauses]
        for kind in item.kinds:
            kinds[at, KIND.index(kind)] = 1
        kinds[at, -1] = bool(item.gold)
    arrays = (
        rows, vectors, places, mask, tags, key_tags, np.array(spans, np.int64).reshape(-1, 3),
        np.array(gold, np.int64).reshape(-1, 4), np.array(parts, np.int64).reshape(-1, 4), kinds,
    )  # fmt: skip
    return Batch(*map(torch.from_numpy, arrays))


class States(NamedTuple):
    """What the convolutions give, and the scores of tokens and messages."""

    inputs: Tensor
    hidden: Tensor
    mean: Tensor
    tags: Tensor
    key_tags: Tensor
    kinds: Tensor


class Net(nn.Module):
    """The network of `mnemark.extraction.reader.network`, to be trained; it learns the kinds, too."""

    def __init__(self, dimension: int) -> None:
        super().__init__()
        self.table = nn.Embedding(BUCKETS, HASHED, padding_idx=0)
        self.place = nn.Embedding(4, HASHED)
        for embedding in (self.table, self.place):
            nn.init.normal_(embedding.weight, std=0.1)
        self.table.weight.data[0] = 0
        inputs = HASHED + PROJECTED
        self.projection = nn.Linear(dimension, PROJECTED, bias=False)
        self.input = nn.Linear(inputs, HIDDEN)
        self.conv = nn.ModuleList(nn.Conv1d(HIDDEN, HIDDEN, 3, dilation=n, padding=n) for n in DISTANCES)
        self.norm = nn.ModuleList(nn.LayerNorm(HIDDEN) for _ in DISTANCES)
        self.tag = nn.Linear(2 * HIDDEN, 3)
        self.key_tag = nn.Linear(2 * HIDDEN, len(KEY) + 1)
        self.kind = nn.Linear(2 * HIDDEN, len(KIND) + 1)
        self.clause = nn.Linear(3 * HIDDEN, OF_CLAUSES)
        self.lasts = nn.Linear(OF_CLAUSES, 1)
        self.span = nn.Linear(4 * HIDDEN + inputs, HIDDEN)
        self.key = nn.Linear(HIDDEN, len(KEY))
        self.act = nn.Linear(HIDDEN, len(ACT))
        self.who = nn.Linear(HIDDEN, 2)
        self.words = nn.Linear(HIDDEN, 2)

    def forward(self, part: Batch) -> States:
        """Score the tokens and kinds of messages."""
        mask = part.mask[..., None]
        keep = (part.rows > 0).float()
        if self.training:
            keep = keep * (torch.rand_like(keep) >= DROPPED_FEATURES)
            keep = keep * (torch.rand(*keep.shape[:2], 1) >= DROPPED_WORDS)
        hashed = (self.table(part.rows) * keep[..., None]).sum(2) + self.place(part.places)
        inputs = torch.cat([hashed, self.projection(part.vectors)], -1) * mask
        hidden = torch.relu(self.input(self._drop(inputs, 0.15))) * mask
        for conv, norm in zip(self.conv, self.norm, strict=True):
            heard = torch.relu(conv(hidden.transpose(1, 2)).transpose(1, 2))
            hidden = norm(hidden + self._drop(heard, 0.15)) * mask
        mean = hidden.sum(1) / mask.sum(1).clamp(min=1)
        most = (hidden - 1e4 * (1 - mask)).max(1)[0]
        hidden = self._drop(hidden, 0.15)
        beside = torch.cat([hidden, mean[:, None].expand_as(hidden)], -1)
        kinds = self.kind(torch.cat([mean, most], -1))
        return States(inputs, hidden, mean, self.tag(beside), self.key_tag(beside), kinds)

    def lasting(self, states: States, clauses: Tensor) -> Tensor:
        """Score clauses of messages, whether they say something that lasts."""
        at, start, end = clauses.T
        total = functional.pad(states.hidden.cumsum(1), (0, 0, 1, 0))
        mean = (total[at, end] - total[at, start]) / (end - start)[:, None].float()
        places = torch.arange(states.hidden.shape[1])
        within = (places >= start[:, None]) & (places < end[:, None])
        most = states.hidden[at].masked_fill(~within[..., None], -1e4).max(1)[0]
        read = torch.cat([mean, most, states.mean[at]], -1)
        scores: Tensor = self.lasts(self._drop(torch.relu(self.clause(self._drop(read, DROPPED))), 0.1))
        return scores[:, 0]

    def spans(self, states: States, spans: Tensor) -> tuple[Tensor, ...]:
        """Score key, act, whose and whether the words are the value, of spans of messages."""
        at, start, end = spans.T
        n = (end - start)[:, None].float()
        total = functional.pad(states.hidden.cumsum(1), (0, 0, 1, 0))
        own = functional.pad(states.inputs.cumsum(1), (0, 0, 1, 0))
        last = states.hidden.shape[1] - 1
        read = torch.cat(
            [
                (total[at, end] - total[at, start]) / n,
                states.hidden[at, (start - 1).clamp(min=0)] * (start > 0)[:, None],
                states.hidden[at, end.clamp(max=last)] * (end <= last)[:, None],
                states.mean[at],
                (own[at, end] - own[at, start]) / n,
            ],
            -1,
        )
        hidden = self._drop(torch.relu(self.span(self._drop(read, DROPPED))), 0.1)
        return self.key(hidden), self.act(hidden), self.who(hidden), self.words(hidden)

    def _drop(self, values: Tensor, share: float) -> Tensor:
        return functional.dropout(values, share, self.training)


def loss_of(net: Net, part: Batch) -> Tensor:
    """Return the loss of a batch: of tokens, of spans, and of kinds."""
    states = net(part)

    def of_tokens(scores: Tensor, gold: Tensor) -> Tensor:
        each = functional.cross_entropy(scores.transpose(1, 2), gold, reduction="none")
        return (each * part.mask).sum() / part.mask.sum()

    loss = 2 * of_tokens(states.tags, part.tags) + of_tokens(states.key_tags, part.key_tags)
    loss = loss + 0.2 * functional.binary_cross_entropy_with_logits(states.kinds, part.kinds)
    lasting = net.lasting(states, part.clauses[:, :3])
    loss = loss + 0.4 * functional.binary_cross_entropy_with_logits(lasting, part.clauses[:, 3].float())
    if len(part.spans):
        for scores, gold, weight in zip(
            net.spans(states, part.spans), part.gold.T, (0.6, 0.3, 0.15, 0.1), strict=True
        ):
            loss = loss + weight * functional.cross_entropy(scores, gold)
    return loss


def fit(items: Sequence[Item], epochs: int, seed: int, averaged: int) -> Net:
    """Train a network; its weights are the mean of those after each of the last `averaged` epochs."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(mode=True)
    torch.utils.deterministic.fill_uninitialized_memory = False
    rng = random.Random(seed)
    net = Net(items[0].vectors.shape[1])
    optimizer = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=0, betas=(0.9, 0.99))
    steps, step = epochs * (len(items) // BATCH + 1), 0
    ends: list[dict[str, Tensor]] = []
    for epoch in range(epochs):
        net.train()
        total = 0.0
        for part in _batches(items, rng):
            step += 1
            rate = RATE * min(1.0, step / 150) * max(0.02, 1 - step / steps)
            for group in optimizer.param_groups:
                group["lr"] = rate
            loss = loss_of(net, batch([cropped(item, rng) for item in part]))
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch + 1} of {epochs}: loss {total * BATCH / len(items):.3f}", flush=True)
        ends.append({name: value.clone() for name, value in net.state_dict().items()})
    last = ends[-averaged:]
    net.load_state_dict({name: sum(end[name] for end in last) / len(last) for name in last[0]})
    return net.eval()


def _batches(items: Sequence[Item], rng: random.Random) -> Iterator[list[Item]]:
    """Yield the messages in batches of about the same length, in random order."""
    order = sorted(items, key=lambda item: len(item.words) * (1 + 0.2 * rng.random()))
    parts = [order[at : at + BATCH] for at in range(0, len(order), BATCH)]
    rng.shuffle(parts)
    yield from parts


class Read(NamedTuple):
    """A span that the reader reads of a message: what its probability is made of, and whether it is right."""

    shares: Shares
    right: bool


def reads(path: Path, encoder: Encoder, messages: Sequence[Message]) -> tuple[list[Read], int]:
    """Return what the written weights read of messages, as the package does, and how many marks it should."""
    found, network = [], Network(path)
    for message in messages:
        left = list(message.marks)
        for one, shares in with_shares(message.text, encoder, network)[0]:
            hit = next((mark for mark in left if one.start < mark.end and one.end > mark.start), None)
            if hit is not None:
                left.remove(hit)
            found.append(Read(shares, hit is not None and hit.key == one.key))
    return found, sum(len(message.marks) for message in messages)


def calibration(found: Sequence[Read]) -> list[float]:
    """Fit the probability that a span is marked with its key (Platt 1999), by Newton's method."""
    x = np.array([(1.0, *np.log(np.maximum(one.shares, 1e-6))) for one in found])
    y = np.array([one.right for one in found], float)
    weights = np.zeros(x.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ weights))
        hessian = (x * (p * (1 - p))[:, None]).T @ x + 1e-3 * np.eye(len(weights))
        weights += np.linalg.solve(hessian, x.T @ (y - p) - 1e-3 * weights)
    return [round(float(weight), 4) for weight in weights]


def show(found: Sequence[Read], marks: int, weights: Sequence[float]) -> None:
    """Print how many marks are found, and how many readings are right, by probability."""
    for least in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        kept = [one for one in found if probability(weights, one.shares) >= least]
        right = sum(one.right for one in kept)
        print(
            f"from {least}: {right / marks:.3f} of the marks found with their key, "
            f"{right / max(len(kept), 1):.3f} of the readings right"
        )


def save(net: Net, weights: Sequence[float], path: Path) -> None:
    """Write the weights: the table in 8 bits, the rest in half precision."""
    state = {name: value.numpy().astype(np.float32) for name, value in net.state_dict().items()}
    table = state["table.weight"]
    scale = float(np.quantile(np.abs(table), 0.99995) / 127)
    arrays: dict[str, NDArray[Any]] = {
        "place": state["place.weight"],
        "projection": state["projection.weight"].T,
        "kept.w": state["kind.weight"][-1:].T,
        "kept.b": state["kind.bias"][-1:],
    }
    for n in range(len(DISTANCES)):
        arrays[f"conv{n}.w"] = state[f"conv.{n}.weight"].transpose(2, 1, 0).reshape(-1, HIDDEN)
        arrays[f"conv{n}.b"] = state[f"conv.{n}.bias"]
        arrays[f"norm{n}.w"], arrays[f"norm{n}.b"] = state[f"norm.{n}.weight"], state[f"norm.{n}.bias"]
    for name in ("input", "tag", "key_tag", "span", "key", "act", "who", "words", "clause", "lasts"):
        arrays[f"{name}.w"], arrays[f"{name}.b"] = state[f"{name}.weight"].T, state[f"{name}.bias"]
    halves = {name: np.ascontiguousarray(array.astype(np.float16)) for name, array in arrays.items()}
    about = {
        "keys": KEY, "acts": ACT, "distances": DISTANCES, "embedder": BundledEmbedder().name,
        "calibration": list(weights), "table_scale": scale,
    }  # fmt: skip
    eighths = np.clip(np.round(table / scale), -127, 127).astype(np.int8)
    write_sections(path, about, {"table": eighths, **halves})


def _file(message: Message) -> str:
    return message.place.partition(":")[0]


def main() -> None:
    """Train, print how well it reads, and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=9)
    parser.add_argument("--seed", type=int, default=SEED, help="of weights, order and what is dropped")
    parser.add_argument(
        "--averaged", type=int, default=3, help="mean of the weights after so many last epochs"
    )
    parser.add_argument("--out", type=Path, default=DATA)
    options = parser.parse_args()
    encoder = Encoder()
    messages = [*load(), *drawn()]
    held = [one for one in messages if _file(one).endswith(HELD_BACK)]
    rest = [one for one in messages if not _file(one).endswith(HELD_BACK)]
    print(f"{len(rest):,} messages to learn from, {len(held):,} held back", flush=True)
    items = [item for one in rest if (item := encoded(encoder, one)).words]
    net = fit(items, options.epochs, options.seed, options.averaged)
    save(net, [0.0] * (1 + len(Shares._fields)), options.out)
    found, marks = reads(options.out, encoder, held)
    weights = calibration(found)
    print("calibration", weights)
    show(found, marks, weights)
    save(net, weights, options.out)
    print(f"{options.out}: {options.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
