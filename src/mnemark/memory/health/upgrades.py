"""Suggest upgrades and their price: packages, a reranker, another embedder. Nothing is written."""

import time
from typing import Final, NamedTuple

import numpy as np

from mnemark.embed import Embedder
from mnemark.errors import MnemarkError
from mnemark.extras import EXTRAS
from mnemark.index.passage import embedded_text
from mnemark.index.vectors.embed_missing import keys_of
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.retrieval.presets import preset
from mnemark.retrieval.stages import RERANKED

_SAMPLE: Final = 32
_PATIENCE: Final = 60.0
"""Seconds that a reranker may take to load and to score a sample."""


class Sample(NamedTuple):
    """Passages spread evenly over the index, as an embedder sees them."""

    passages: list[str]
    texts: int
    """Different texts that a new embedder has to embed."""

    @property
    def characters(self) -> int:
        """Characters of all texts; exact where the sample is complete."""
        return round(self.texts * sum(map(len, self.passages)) / max(len(self.passages), 1))


def sample(ws: OpenWorkspace) -> Sample:
    """Read a sample; empty where there is no readable index, which `verify` tells."""
    try:
        if not ws.index.exists():
            return Sample([], 0)
        with ws.searcher.reader.reading() as view:
            count = len(view.snapshot)
            positions = np.unique(np.linspace(0, count - 1, min(count, _SAMPLE)).astype(np.int64))
            passages = [embedded_text(record.title, record.text) for record in view.fetch(positions)]
        return Sample(passages, len(keys_of(ws.index)) if passages else 0)
    except MnemarkError:
        return Sample([], 0)


def packages() -> str:
    """List the missing optional packages, each with the command that installs it."""
    said = [
        f'{", ".join(absent)} (pip install "mnemark[{extra.name}]")'
        for extra in EXTRAS
        if (absent := extra.missing())
    ]
    if said:
        return f"optional packages not installed (mnemark works without them): {'; '.join(said)}"
    return "all optional packages are installed"


def reranker(ws: OpenWorkspace, sample: Sample) -> tuple[str, str]:
    """Return whether and how fast the reranker answers, and the fix where it does not, or not in time."""
    model = ws.searcher.reranker
    if model is None:
        return "no reranker configured (optional)", ""
    folder = ws.config.reranker
    passages = (sample.passages or ["a passage"])[:RERANKED]
    logits, problem = model.logits("", (), _PATIENCE)  # loads the model
    started = time.monotonic()
    if logits is not None:
        logits, problem = model.logits("a question", passages, _PATIENCE)
    took = (time.monotonic() - started) / len(passages) * RERANKED * 1000
    if logits is None:
        return f"the reranker {folder!r} does not work: {problem}", "correct reranker in mnemark.toml"
    what = f"reranker {model.name()}: about {took:.0f} ms for {RERANKED} passages of this memory"
    if preset(ws.config.preset).fusion != "absolute":
        return f"{what}; the preset {ws.config.preset!r} does not use it", 'set preset = "default"'
    if took > ws.config.recall_deadline_ms:
        late = f"{what}, longer than recall_deadline_ms ({ws.config.recall_deadline_ms} ms)"
        return late, "use a smaller model, or raise recall_deadline_ms"
    return what, ""


def switching(ws: OpenWorkspace, sample: Sample) -> str:
    """Return what another embedder would cost: every text is embedded again."""
    about = "" if sample.texts == len(sample.passages) else "about "
    return (
        f"after a change of the setting embedder, `mnemark sync` embeds all {sample.texts:,} texts again "
        f"({about}{sample.characters:,} characters); search keeps working meanwhile{_active_pace(ws, sample)}"
    )


def _active_pace(ws: OpenWorkspace, sample: Sample) -> str:
    if not ws.searcher.embeddings.wanted:
        return ""
    try:
        embedder = ws.searcher.embeddings.embedder()
    except MnemarkError:
        return ""  # told already, as the reason why the embedder does not answer
    if getattr(embedder, "remote", False):
        return "; the current embedder was not timed, because that would send texts to its server"
    return pace(embedder, sample, "; the current embedder")


def pace(embedder: Embedder, sample: Sample, who: str) -> str:
    """Return how long an embedder takes for all texts, timed on the sample; empty where unknown."""
    if not sample.texts:
        return ""
    try:
        embedder.passages(sample.passages[:1])  # loads the model
        started = time.perf_counter()
        embedder.passages(sample.passages)
        each = (time.perf_counter() - started) / len(sample.passages)
    except MnemarkError:
        return ""  # told already, as the reason why the embedder does not answer
    return (
        f"{who} takes about {max(each * sample.texts, 0.1):.1f} s on this machine "
        f"({1 / max(each, 1e-6):.0f} texts per second, measured on {len(sample.passages)})"
    )
