"""What the prompt is spared: the recall block against loading everything, at the same hit rate.

A question is hit where a unit of its evidence is disclosed: its ref stands in the block. `opened` counts
those whose words were shown beyond the one line of first words.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

from mnemark.embed import Embedder
from mnemark.text.quoting.fence import inert
from mnemark.text.words.tokens import estimate_tokens
from mnemark.types import Recall
from mnemark_bench.blocks import is_whole, shown
from mnemark_bench.data import DataSet, SetQuestion, SetUnit, find_sets, load_set
from mnemark_bench.fixture import BenchFixture, bedded, embedder_for, kept_or_temporary
from mnemark_bench.store import StoredScope

BUDGETS: Final = (400, 800, 1600)
_DEADLINE: Final = 30.0
"""Seconds: tokens are measured here, not time."""


class Spared(msgspec.Struct, kw_only=True):
    """One set at one budget. Tokens are means over the questions, as estimated by the product."""

    set: str
    budget: int
    scored: int
    hit: float
    """Share of questions with evidence named in the block."""
    opened: float
    """Share with evidence shown in more than its first words."""
    tokens: float
    everything: float
    """All text of the memory asked; its hit rate is 1 where the model can take so much."""
    newest: float
    """The newest text, as much as is needed for the same hit rate."""
    documents: float
    """Whole notes and sessions of the best hits, as many as are needed for the same hit rate."""
    documents_hit: float
    saved: float
    """Share of tokens spared against everything."""


class _Sizes:
    """Tokens of a scope's units, by unit, by document, and newest first."""

    def __init__(self, units: Sequence[SetUnit], stored: StoredScope) -> None:
        tokens = {unit.id: estimate_tokens(unit.text) for unit in units}
        self.everything = sum(tokens.values())
        self.newest: dict[str, int] = {}
        """Tokens to load, newest first, until the unit is in."""
        total = 0
        for unit in sorted(units, key=lambda unit: (unit.time or "", unit.seq), reverse=True):
            total += tokens[unit.id]
            self.newest[unit.id] = total
        self.document_of = {
            unit.id: stored.path_of.get(unit.id) or f"session {unit.session_id}" for unit in units
        }
        self.document: dict[str, int] = {}
        for unit in units:
            name = self.document_of[unit.id]
            self.document[name] = self.document.get(name, 0) + tokens[unit.id]


def run(
    folder: Path, *, embedder: str, keep: Path | None, limit: int | None, tell: Callable[[str], None]
) -> list[Spared]:
    """Compare on every set below `folder`, at each of `BUDGETS`.

    Raises:
        UsageError: the folder holds no set.
    """
    model = embedder_for(embedder)
    results: list[Spared] = []
    with kept_or_temporary(keep) as workspaces:
        for found in find_sets(folder):
            data = load_set(found, limit=limit)
            tell(f"{data.name}: {len(data.questions):,} questions")
            results += _set(data, workspaces, model)
    return results


def _set(data: DataSet, folder: Path, model: Embedder | None) -> list[Spared]:
    with bedded(data, folder, model) as bed:
        sizes = {scope: _Sizes(units, bed.stored(scope)) for scope, units in data.units.items()}
        ranked = [_documents(bed, question, sizes[question.scopes[0]]) for question in data.questions]
        return [_budget(bed, budget, sizes, ranked) for budget in BUDGETS]


def _budget(
    bed: BenchFixture, budget: int, sizes: dict[str, _Sizes], ranked: Sequence[list[tuple[bool, int]]]
) -> Spared:
    questions = bed.data.questions
    hits, opened, tokens = [], [], []
    for question in questions:
        memory, stored = bed.place(question)
        found = memory.recall(question.query, budget=budget, deadline=_DEADLINE, now=question.asked_at)
        named, open_ones = _disclosed(found, stored)
        hits.append(bool(named.intersection(question.gold_ids)))
        opened.append(bool(open_ones.intersection(question.gold_ids)))
        tokens.append(estimate_tokens(found.text))
    rate = float(np.mean(hits)) if hits else 0.0
    documents, documents_hit = _whole_documents(ranked, rate)
    mean_tokens = float(np.mean(tokens)) if tokens else 0.0
    everything = float(np.mean([sizes[q.scopes[0]].everything for q in questions])) if questions else 0.0
    return Spared(
        set=bed.data.name,
        budget=budget,
        scored=len(questions),
        hit=rate,
        opened=float(np.mean(opened)) if opened else 0.0,
        tokens=mean_tokens,
        everything=everything,
        newest=_newest(questions, sizes, rate),
        documents=documents,
        documents_hit=documents_hit,
        saved=1 - mean_tokens / everything if everything else 0.0,
    )


def _disclosed(found: Recall, stored: StoredScope) -> tuple[set[str], set[str]]:
    """Units named in the block, and those of which more than the brief line is shown."""
    named: set[str] = set()
    opened: set[str] = set()
    for hit, words in shown(found.text, found.hits):
        unit = stored.unit_of(hit)
        if unit is None:
            continue
        named.add(unit)
        begin = inert(hit.snippet).strip()[:24]
        if is_whole(hit, words) or (begin and begin in words):
            opened.add(unit)
    return named, opened


def _newest(questions: Sequence[SetQuestion], sizes: dict[str, _Sizes], rate: float) -> float:
    """Tokens of newest text to load for each question so that the share `rate` of them is hit."""
    needed = sorted(min(sizes[q.scopes[0]].newest[gold] for gold in q.gold_ids) for q in questions)
    count = round(rate * len(needed))
    return float(needed[count - 1]) if count else 0.0


def _documents(bed: BenchFixture, question: SetQuestion, sizes: _Sizes) -> list[tuple[bool, int]]:
    """The documents of the hits, best first: whether each holds evidence, and its tokens."""
    units, _ = bed.rank(question, bed.ask(question, preset="default").hits)
    gold = {sizes.document_of[unit] for unit in question.gold_ids}
    names = dict.fromkeys(sizes.document_of[unit] for unit in units)
    return [(name in gold, sizes.document[name]) for name in names]


def _whole_documents(ranked: Sequence[list[tuple[bool, int]]], rate: float) -> tuple[float, float]:
    """Mean tokens and hit rate of loading the fewest whole documents that reach `rate` (or come nearest)."""
    most = max((len(names) for names in ranked), default=0)
    tokens = hit = 0.0
    for count in range(1, most + 1):
        hit = float(np.mean([any(right for right, _ in names[:count]) for names in ranked]))
        tokens = float(np.mean([sum(size for _, size in names[:count]) for names in ranked]))
        if hit >= rate:
            break
    return tokens, hit
