"""What each term of the ranking gives: the default with one of them off, on the same questions."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import asdict, replace

from mnemark.embed import Embedder
from mnemark.embed.bundled import BundledEmbedder
from mnemark.retrieval.presets import Preset, preset
from mnemark_bench.control import control_for
from mnemark_bench.data import DataSet, find_sets, load_set
from mnemark_bench.fixture import BenchFixture, bedded, embedder_for, kept_or_temporary
from mnemark_bench.measures import Difference, Measures, difference, mean
from mnemark_bench.retrieval import Rows, baseline_rows, plain_bm25, score

MEASURES: Final = ("turn_fractional@5", "turn_fractional@10", "session_fractional@5", "session_mrr")
_SHAPES: Final = frozenset({"k1", "rrf", "relevance"})
"""Fields of a preset that are no terms: zero does not mean off."""
CONTROL: Final = "dense, random vectors"
MEANING: Final = "dense, beyond random"
BUNDLED: Final = "all, bundled embedder"
GAIN: Final = "embedder, beyond the bundled"


class Effect(msgspec.Struct, kw_only=True):
    """What a term adds: all terms on, less this one off."""

    term: str
    sets: dict[str, dict[str, Difference]]
    """By set, then by measure."""
    pooled: dict[str, Difference]
    """Over all sets, each weighing the same."""


class Ablation(msgspec.Struct, kw_only=True):
    """The whole result."""

    preset: str
    embedder: str
    questions: dict[str, int]
    full: dict[str, Measures]
    """With all terms on, by set."""
    baseline: dict[str, Measures]
    """Plain BM25, by set."""
    effects: list[Effect]


def terms_of(base: Preset) -> list[str]:
    """The fields of a preset that can be switched off and are on."""
    return [
        name
        for name, value in asdict(base).items()
        if isinstance(value, (int, float)) and value and name not in _SHAPES and not name.endswith("_days")
    ]


def run(
    folder: Path,
    *,
    name: str,
    embedder: str,
    keep: Path | None,
    limit: int | None,
    tell: Callable[[str], None],
) -> Ablation:
    """Switch off one term after another on every set below `folder`.

    Raises:
        UsageError, ConfigError: the folder, the preset or the embedder is none.
    """
    base = preset(name)
    model = embedder_for(embedder)
    rows: dict[str, dict[str, Rows]] = {}
    plain: dict[str, Rows] = {}
    with kept_or_temporary(keep) as workspaces:
        control = None if model is None or not base.dense else control_for(model, workspaces)
        for found in find_sets(folder):
            data = load_set(found, limit=limit)
            tell(f"{data.name}: {len(data.questions):,} questions")
            plain[data.name] = baseline_rows(data, plain_bm25(data))[0]
            rows[data.name] = _variants(data, workspaces, model, base)
            for label, other in ((CONTROL, control), (BUNDLED, _bundled_beside(model))):
                if other is not None:
                    with bedded(data, workspaces, other) as bed:
                        rows[data.name][label] = _rows(bed, base)
    return Ablation(
        preset=name,
        embedder=embedder,
        questions={found: len(made[""]) for found, made in rows.items()},
        full={found: mean(made[""]) for found, made in rows.items()},
        baseline={found: mean(made) for found, made in plain.items()},
        effects=_effects(rows),
    )


def _bundled_beside(model: Embedder | None) -> Embedder | None:
    """Return the bundled embedder, to compare another one with."""
    return None if model is None or isinstance(model, BundledEmbedder) else BundledEmbedder()


def _idle(model: Embedder | None) -> set[str]:
    """Return the terms that do nothing with an embedder."""
    if model is None:
        return {"dense", "meaning", "encoder"}
    return {"meaning" if model.semantic and not isinstance(model, BundledEmbedder) else "encoder"}


def _variants(data: DataSet, folder: Path, model: Embedder | None, base: Preset) -> dict[str, Rows]:
    with bedded(data, folder, model) as bed:
        made = {"": _rows(bed, base)}
        for term in terms_of(base):
            if term not in _idle(model):
                made[term] = _rows(bed, replace(base, **{term: type(getattr(base, term))(0)}))
    return made


def _rows(bed: BenchFixture, wanted: Preset) -> Rows:
    rows = []
    for question in bed.data.questions:
        found = bed.ask_with(question, wanted)
        rows.append(score(question, *bed.rank(question, found.hits)))
    return rows


def _effects(rows: dict[str, dict[str, Rows]]) -> list[Effect]:
    terms = [term for term in next(iter(rows.values()), {}) if term]
    # With random vectors less lexical alone: what joining two scores gives. The rest is meaning.
    pairs = {term: ("", term) for term in terms}
    if CONTROL in terms:
        pairs |= {CONTROL: (CONTROL, "dense"), MEANING: ("", CONTROL)}
    if BUNDLED in terms:
        pairs[GAIN] = pairs.pop(BUNDLED)
    effects = []
    for term in pairs:
        with_it, without = pairs[term]
        lists = {
            measure: {
                found: [a[measure] - b[measure] for a, b in zip(made[with_it], made[without], strict=True)]
                for found, made in rows.items()
            }
            for measure in MEASURES
        }
        effects.append(
            Effect(
                term=term,
                sets={
                    found: {measure: difference([by_set[found]]) for measure, by_set in lists.items()}
                    for found in rows
                },
                pooled={measure: difference(list(by_set.values())) for measure, by_set in lists.items()},
            )
        )
    return effects
