"""Does mnemark know when there is nothing? Answerable questions, with their evidence in the memory and out.

Hard: the units that hold the evidence are deleted from the files and the index follows. Easy: the question
is asked to another memory of the same set. Near: one word of the question is exchanged for another (see
`exchanged`). Own: the set's own questions without an answer. How well a score tells "there" from each is its
AUROC.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from mnemark.embed import Embedder
from mnemark.errors import UsageError
from mnemark_agents.hook.event import FLOOR
from mnemark_bench.baselines import Bm25
from mnemark_bench.data import DataSet, SetQuestion, find_sets, load_set
from mnemark_bench.evidence import NAMES, features, vector
from mnemark_bench.exchanged import exchanged
from mnemark_bench.fixture import BenchFixture, bedded, embedder_for, kept_or_temporary
from mnemark_bench.logistic import Logistic, fit
from mnemark_bench.measures import Bin, auroc, brier, calibration_by_chance, calibration_error, reliability
from mnemark_bench.removal import Removal
from mnemark_bench.retrieval import plain_bm25

SCORES: Final = ("believable", "bm25 share", "bm25 raw")
WAYS: Final = ("there", "gone", "elsewhere", "near", "own")
"""The groups of a set's cases; all but the first are without an answer."""
_HITS: Final = 8
_RIDGE: Final = 0.01
_Judged = tuple[list[float], list[float], list[float]]
"""Estimates, outcomes, and weights of cases."""


class Case(msgspec.Struct, frozen=True):
    """One question asked to one state of a memory."""

    scores: dict[str, float]
    """By the names in `SCORES`."""
    features: dict[str, float]


class Cases(msgspec.Struct, kw_only=True):
    """All cases of a set, by question."""

    set: str
    there: list[Case]
    gone: list[Case]
    elsewhere: list[Case]
    """Empty where the set has one memory only."""
    near: list[Case]
    """Of the questions of which one word could be exchanged."""
    own: list[Case]
    """Of the set's own questions without an answer."""


class SetBelief(msgspec.Struct, kw_only=True):
    """AUROC on one set."""

    set: str
    scored: int
    hard: dict[str, float]
    easy: dict[str, float]
    near: dict[str, float]
    own: dict[str, float]
    falls: dict[str, float]
    """Chance that a question scores lower once its evidence is gone, ties counting one half."""
    single: dict[str, float]
    """AUROC of each feature alone, hard."""
    brier: float
    """Mean squared error of `believable`: evidence there against gone, elsewhere and near."""
    calibration: float
    """Expected calibration error of the same."""
    by_chance: float
    """What it would be with so many cases if every estimate were right."""
    handed: dict[str, float]
    """Share of the cases of each way that hooks hand out: `believable` is at least their floor."""
    length: float
    """Correlation of `believable` with the logarithm of the question's terms."""


class Pooled(msgspec.Struct, kw_only=True):
    """Calibration over the cases of all sets; every set weighs the same."""

    calibration: float
    by_chance: float
    length: float
    bins: list[Bin]


class Fit(msgspec.Struct, kw_only=True):
    """A model fitted on the cases of all sets, and what it reached on each when fitted on the others."""

    names: list[str]
    intercept: float
    weights: list[float]
    held_out: dict[str, float]
    held_out_easy: dict[str, float]
    held_out_near: dict[str, float]
    fitted: float
    """Mean AUROC over the sets it was fitted on: what is lost to `held_out` is what does not carry over."""


class BeliefResult(msgspec.Struct, kw_only=True):
    """The whole result."""

    embedder: str
    sets: list[SetBelief]
    mean_hard: dict[str, float]
    mean_easy: dict[str, float]
    mean_near: dict[str, float]
    mean_brier: float
    mean_calibration: float
    pooled: Pooled
    fits: list[Fit] = []


def run(
    folder: Path,
    *,
    embedder: str,
    keep: Path | None,
    limit: int | None,
    fitting: bool,
    tell: Callable[[str], None],
) -> BeliefResult:
    """Ask every question of every set below `folder` in all ways.

    Raises:
        UsageError: the folder holds no set.
    """
    model = embedder_for(embedder)
    with kept_or_temporary(keep) as workspaces:
        cases = [collect(data, workspaces, model) for data in _sets_with_evidence(folder, limit, tell)]
    if not cases:
        raise UsageError(f"{folder} holds no set with questions and evidence")
    sets = [_judge(found) for found in cases]
    fits = []
    if fitting:
        fits = [cross_validate(cases, names) for names in (NAMES[:1], NAMES)]
    return BeliefResult(
        embedder=embedder,
        sets=sets,
        mean_hard=_means([found.hard for found in sets]),
        mean_easy=_means([found.easy for found in sets if found.easy]),
        mean_near=_means([found.near for found in sets if found.near]),
        mean_brier=float(np.mean([found.brier for found in sets])),
        mean_calibration=float(np.mean([found.calibration for found in sets])),
        pooled=_pooled(cases),
        fits=fits,
    )


def _sets_with_evidence(folder: Path, limit: int | None, tell: Callable[[str], None]) -> Iterator[DataSet]:
    for path in find_sets(folder):
        data = load_set(path, limit=limit)
        if data.questions:
            tell(f"{data.name}: {len(data.questions):,} questions")
            yield data
        else:
            tell(f"{data.name}: no questions with evidence, left out")


def _means(found: Sequence[dict[str, float]]) -> dict[str, float]:
    return {score: float(np.mean([one[score] for one in found])) for score in SCORES} if found else {}


def collect(data: DataSet, folder: Path, model: Embedder | None) -> Cases:
    """Ask all questions of a set in all ways. Evidence is deleted from a copy of the workspaces."""
    ranker = plain_bm25(data)
    with _copied(data, folder, model) as copy, bedded(data, copy, model) as bed:
        there = [_case(bed, question, question.scopes[0], ranker) for question in data.questions]
        near = [_case(bed, asked, asked.scopes[0], ranker) for asked in exchanged(data).values()]
        own = [_case(bed, asked, asked.scopes[0], ranker) for asked in data.unanswerable]
        elsewhere = []
        if len(data.units) > 1:
            elsewhere = [
                _case(bed, question, _other(bed.scopes(), question.scopes[0]), ranker)
                for question in data.questions
            ]
        removals = {
            scope: Removal(bed.memory(scope), bed.stored(scope), units) for scope, units in data.units.items()
        }
        gone = []
        for question in data.questions:
            with removals[question.scopes[0]].without(question.gold_ids):
                gone.append(_case(bed, question, question.scopes[0], ranker, set(question.gold_ids)))
    return Cases(set=data.name, there=there, gone=gone, elsewhere=elsewhere, near=near, own=own)


@contextmanager
def _copied(data: DataSet, folder: Path, model: Embedder | None) -> Iterator[Path]:
    """A folder with the set stored in it that may be spoilt."""
    with bedded(data, folder, model):
        pass
    with tempfile.TemporaryDirectory(prefix="mnemark-belief-") as copy:
        shutil.copytree(folder / data.name, Path(copy) / data.name)
        yield Path(copy)


def _other(scopes: Sequence[str], scope: str) -> str:
    return scopes[(scopes.index(scope) + 1) % len(scopes)]


def _case(
    bed: BenchFixture,
    question: SetQuestion,
    scope: str,
    ranker: dict[str, Bm25],
    gone: set[str] | None = None,
) -> Case:
    found = bed.memory(scope).search(question.query, k=_HITS, now=question.asked_at, explain=True)
    scored = ranker[scope].score(question.query)
    left = scored.scores
    if gone:
        left = np.where([identifier in gone for identifier in ranker[scope].ids], 0.0, left)
    best = float(left.max()) if len(left) else 0.0
    share = best / scored.attainable if scored.attainable else 0.0
    return Case({"believable": found.believable, "bm25 share": share, "bm25 raw": best}, features(found))


def _judge(cases: Cases) -> SetBelief:
    def told_apart(absent: Sequence[Case]) -> dict[str, float]:
        if not absent:
            return {}
        return {
            score: auroc([c.scores[score] for c in cases.there], [c.scores[score] for c in absent])
            for score in SCORES
        }

    judged = _judged(cases)
    return SetBelief(
        set=cases.set,
        scored=len(cases.there),
        hard=told_apart(cases.gone),
        easy=told_apart(cases.elsewhere),
        near=told_apart(cases.near),
        own=told_apart(cases.own),
        falls={
            score: float(
                np.mean(
                    [
                        _above(a.scores[score], b.scores[score])
                        for a, b in zip(cases.there, cases.gone, strict=True)
                    ]
                )
            )
            for score in SCORES
        },
        single={
            name: auroc([c.features[name] for c in cases.there], [c.features[name] for c in cases.gone])
            for name in NAMES
        },
        brier=brier(*judged),
        calibration=calibration_error(*judged),
        by_chance=calibration_by_chance(judged[0], judged[2]),
        handed=_handed(cases),
        length=_by_length([case for group, *_ in _groups(cases) for case in group]),
    )


def _judged(cases: Cases) -> _Judged:
    """`believable` of all cases, whether there was an answer, and weights: there weighs what absent does."""
    values: list[float] = []
    truth: list[float] = []
    weights: list[float] = []
    for group, label, weight in _groups(cases):
        values += [case.scores["believable"] for case in group]
        truth += [label] * len(group)
        weights += [weight / len(group)] * len(group)
    return values, truth, weights


def _groups(cases: Cases) -> list[tuple[list[Case], float, float]]:
    """Cases with their label and what they weigh together."""
    absent = [group for group in (cases.gone, cases.elsewhere, cases.near) if group]
    return [(cases.there, 1.0, 1.0), *((group, 0.0, 1.0 / len(absent)) for group in absent)]


def _pooled(cases: Sequence[Cases]) -> Pooled:
    judged = [_judged(found) for found in cases]
    values, truth, weights = ([x for one in judged for x in one[column]] for column in range(3))
    return Pooled(
        calibration=calibration_error(values, truth, weights),
        by_chance=calibration_by_chance(values, weights),
        length=_by_length([case for found in cases for group, *_ in _groups(found) for case in group]),
        bins=reliability(values, truth, weights),
    )


def _by_length(cases: Sequence[Case]) -> float:
    """Return the correlation of `believable` with the logarithm of the question's terms; 0 without any."""
    rows = [(case.scores["believable"], case.features["terms"]) for case in cases if case.features["terms"]]
    if len({terms for _, terms in rows}) < 2 or len({value for value, _ in rows}) < 2:
        return 0.0
    return float(np.corrcoef(np.array(rows).T)[0, 1])


def _handed(cases: Cases) -> dict[str, float]:
    """Return the share of each way's cases that reach the hooks' floor."""
    return {
        way: float(np.mean([case.scores["believable"] >= FLOOR for case in group]))
        for way in WAYS
        if (group := getattr(cases, way))
    }


def _above(first: float, second: float) -> float:
    return 1.0 if first > second else 0.5 if first == second else 0.0


def cross_validate(cases: Sequence[Cases], names: Sequence[str]) -> Fit:
    """Fit on all sets, and for each set on all others."""
    whole = _fit(cases, names)
    held_out, easy, near = {}, {}, {}
    for left_out in cases:
        others = [found for found in cases if found is not left_out]
        if not others:
            continue
        model = _fit(others, names)
        held_out[left_out.set] = _auroc(model, left_out.there, left_out.gone, names)
        if left_out.elsewhere:
            easy[left_out.set] = _auroc(model, left_out.there, left_out.elsewhere, names)
        if left_out.near:
            near[left_out.set] = _auroc(model, left_out.there, left_out.near, names)
    return Fit(
        names=list(names),
        intercept=whole.intercept,
        weights=whole.weights.tolist(),
        held_out=held_out,
        held_out_easy=easy,
        held_out_near=near,
        fitted=float(np.mean([_auroc(whole, found.there, found.gone, names) for found in cases])),
    )


def _fit(cases: Sequence[Cases], names: Sequence[str]) -> Logistic:
    """Slopes from each set around its own mean, then scale and intercept over all; sets weigh the same.

    Without the first step a feature that differs more between the memories than inside them would get the
    slope that tells the memories apart.
    """
    inner, outer, labels, weights = [], [], [], []
    for found in cases:
        centre = _matrix([*found.there, *found.gone, *found.near], names).mean(axis=0)
        for group, label, weight in _groups(found):
            rows = _matrix(group, names)
            outer.append(rows)
            inner.append(rows - centre)
            labels.append(np.full(len(group), label))
            weights.append(np.full(len(group), weight / len(group)))
    y, share = np.concatenate(labels), np.concatenate(weights)
    slopes = fit(np.concatenate(inner), y, share, ridge=_RIDGE).weights
    scaled = fit((np.concatenate(outer) @ slopes)[:, None], y, share)
    return Logistic(scaled.intercept, slopes * scaled.weights[0])


def _matrix(cases: Sequence[Case], names: Sequence[str]) -> NDArray[np.float64]:
    return np.array([vector(case.features, names) for case in cases], np.float64).reshape(-1, len(names))


def _auroc(model: Logistic, there: Sequence[Case], absent: Sequence[Case], names: Sequence[str]) -> float:
    return auroc(
        model.predict(_matrix(there, names)).tolist(), model.predict(_matrix(absent, names)).tolist()
    )
