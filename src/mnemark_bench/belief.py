"""Does mnemark know when there is nothing? Questions asked to their own memory, to others, and after a loss.

Elsewhere: the question is asked to another memory of the same set, and to one of another set in the same
language. Gone: the units that hold the evidence are deleted from the files and the index follows. Near: one
word of the question is exchanged for another (see `exchanged`). Own: the set's own questions without an
answer. How well a score tells "there" from each is its AUROC. The estimate of the answer is compared with
what happens to the questions as they come: those of the set, with and without an answer.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from mnemark.embed import Embedder
from mnemark.errors import UsageError
from mnemark.memory.memory import Memory
from mnemark_agents.hook.event import FLOOR
from mnemark_bench.baselines import Bm25
from mnemark_bench.data import DataSet, SetQuestion, find_sets, load_set
from mnemark_bench.evidence import NAMES, rests_on
from mnemark_bench.exchanged import exchanged
from mnemark_bench.fixture import BenchFixture, bedded, embedder_for, kept_or_temporary
from mnemark_bench.logistic import Logistic, fit
from mnemark_bench.measures import Bin, auroc, calibration_by_chance, calibration_error, reliability
from mnemark_bench.removal import Removal
from mnemark_bench.retrieval import plain_bm25
from mnemark_bench.store import StoredScope

SCORES: Final = ("on_topic", "believable", "bm25 share", "bm25 raw")
ABSENT: Final = {
    "elsewhere": "another memory",
    "gone": "deleted",
    "near": "one word of the question exchanged",
    "own": "the set's own questions without an answer",
}
"""The ways without an answer, each with what it means."""
WAYS: Final = ("there", *ABSENT)
"""The groups of a set's cases; all but the first are without an answer."""
_HITS: Final = 8
_RIDGE: Final = 0.01


class Case(msgspec.Struct, frozen=True):
    """One question asked to one state of a memory."""

    scores: dict[str, float]
    """By the names in `SCORES`."""
    features: list[float] | None
    """By the names in `evidence.NAMES`; None where nothing was found."""
    answered: bool = False
    """Whether some of the evidence is among the hits."""


class Cases(msgspec.Struct, kw_only=True):
    """All cases of a set by the names in `WAYS`; a way that the set does not have is empty."""

    set: str
    by_way: dict[str, list[Case]]


class SetBelief(msgspec.Struct, kw_only=True):
    """What the scores tell on one set."""

    set: str
    scored: int
    apart: dict[str, dict[str, float]]
    """AUROC of each score, evidence there against each way without."""
    answered: dict[str, float]
    """AUROC of each score, questions answered against not, as they come."""
    share: float
    """Of the questions as they come, those that are answered."""
    topic_error: float
    """Expected calibration error of `on_topic`: own memory against others, each with half of the weight."""
    answer_error: float
    """The same of `believable` on the questions as they come."""
    by_chance: float
    """What that would be with so many questions if every estimate were right."""
    handed: dict[str, float]
    """Share of the cases of each way that hooks hand out: `on_topic` is at least their floor."""


class Fit(msgspec.Struct, kw_only=True):
    """The formula of `on_topic` fitted again on all sets, and on all but each, where it is tested."""

    names: list[str]
    intercept: float
    weights: list[float]
    fitted: dict[str, float]
    held_out: dict[str, float]


class BeliefResult(msgspec.Struct, kw_only=True):
    """The whole result."""

    embedder: str
    sets: list[SetBelief]
    bins: list[Bin]
    """`believable` against what happened, over the questions of all sets; every set weighs the same."""
    fit: Fit | None = None


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
    sets = list(_sets_with_evidence(folder, limit, tell))
    if not sets:
        raise UsageError(f"{folder} holds no set with questions and evidence")
    with kept_or_temporary(keep) as workspaces:
        cases = collect(sets, workspaces, model)
    values, truth, weights = ([x for found in cases for x in _as_they_come(found)[i]] for i in range(3))
    return BeliefResult(
        embedder=embedder,
        sets=[_judge(found) for found in cases],
        bins=reliability(values, truth, weights),
        fit=cross_validate(cases) if fitting else None,
    )


def _sets_with_evidence(folder: Path, limit: int | None, tell: Callable[[str], None]) -> Iterator[DataSet]:
    for path in find_sets(folder):
        data = load_set(path, limit=limit)
        if data.questions:
            tell(f"{data.name}: {len(data.questions):,} questions")
            yield data
        else:
            tell(f"{data.name}: no questions with evidence, left out")


class _Place(NamedTuple):
    """A memory to ask, and plain BM25 over what is stored in it."""

    memory: Memory
    stored: StoredScope
    ranker: Bm25


def collect(sets: Sequence[DataSet], folder: Path, model: Embedder | None) -> list[Cases]:
    """Ask all questions of all sets in all ways."""
    with ExitStack() as stack:
        places = [_places(data, stack.enter_context(bedded(data, folder, model))) for data in sets]
        found = []
        for data, own in zip(sets, places, strict=True):
            strange = [
                place
                for other, theirs in zip(sets, places, strict=True)
                if other is not data and _language(other) == _language(data)
                for place in theirs.values()
            ]
            asked = {"there": data.questions, "near": exchanged(data).values(), "own": data.unanswerable}
            by_way = {
                way: [_case(own[question.scopes[0]], question) for question in questions]
                for way, questions in asked.items()
            }
            by_way["elsewhere"] = [
                _case(place, question)
                for number, question in enumerate(data.questions)
                for place in _elsewhere(own, question.scopes[0], strange, number)
            ]
            found.append(Cases(set=data.name, by_way=by_way))
    for data, cases in zip(sets, found, strict=True):
        cases.by_way["gone"] = _gone(data, folder, model)
    return found


def _places(data: DataSet, bed: BenchFixture) -> dict[str, _Place]:
    rankers = plain_bm25(data)
    return {scope: _Place(bed.memory(scope), bed.stored(scope), rankers[scope]) for scope in data.units}


def _language(data: DataSet) -> str:
    return data.questions[0].lang


def _elsewhere(
    own: dict[str, _Place], scope: str, strange: Sequence[_Place], number: int
) -> Iterator[_Place]:
    """Yield the set's next memory, and one of another set."""
    if len(own) > 1:
        scopes = list(own)
        yield own[scopes[(scopes.index(scope) + 1) % len(scopes)]]
    if strange:
        yield strange[number % len(strange)]


def _gone(data: DataSet, folder: Path, model: Embedder | None) -> list[Case]:
    """Ask a copy of the set's memories without the evidence, which is deleted question by question."""
    with tempfile.TemporaryDirectory(prefix="mnemark-belief-") as copy:
        shutil.copytree(folder / data.name, Path(copy) / data.name)
        with bedded(data, Path(copy), model) as bed:
            places = _places(data, bed)
            removals = {
                scope: Removal(places[scope].memory, places[scope].stored, units)
                for scope, units in data.units.items()
            }
            found = []
            for question in data.questions:
                scope = question.scopes[0]
                with removals[scope].without(question.gold_ids):
                    found.append(_case(places[scope], question, set(question.gold_ids)))
    return found


def _case(place: _Place, question: SetQuestion, gone: AbstractSet[str] = frozenset()) -> Case:
    found = place.memory.search(question.query, k=_HITS, now=question.asked_at, explain=True)
    scored = place.ranker.score(question.query)
    left = scored.scores
    if gone:
        left = np.where([identifier in gone for identifier in place.ranker.ids], 0.0, left)
    best = float(left.max()) if len(left) else 0.0
    scores = {
        "on_topic": found.on_topic,
        "believable": found.believable,
        "bm25 share": best / scored.attainable if scored.attainable else 0.0,
        "bm25 raw": best,
    }
    answered = not set(question.gold_ids).isdisjoint(place.stored.ranking(found.hits))
    return Case(scores, rests_on(found), question.answerable and answered)


def _judge(cases: Cases) -> SetBelief:
    by_way = cases.by_way
    values, truth, weights = _as_they_come(cases)
    asked = [*by_way["there"], *by_way["own"]]
    return SetBelief(
        set=cases.set,
        scored=len(by_way["there"]),
        apart={way: _told_apart(by_way["there"], by_way[way]) for way in ABSENT if by_way[way]},
        answered=_told_apart(
            [case for case in asked if case.answered], [case for case in asked if not case.answered]
        ),
        share=float(np.mean(truth)),
        topic_error=calibration_error(*_on_topic(cases)),
        answer_error=calibration_error(values, truth, weights),
        by_chance=calibration_by_chance(values, weights),
        handed={
            way: float(np.mean([case.scores["on_topic"] >= FLOOR for case in by_way[way]]))
            for way in WAYS
            if by_way[way]
        },
    )


def _told_apart(there: Sequence[Case], absent: Sequence[Case]) -> dict[str, float]:
    """Return the AUROC of each score; none where a group is empty."""
    if not there or not absent:
        return {}
    return {
        score: auroc([one.scores[score] for one in there], [one.scores[score] for one in absent])
        for score in SCORES
    }


_Judged = tuple[list[float], list[float], list[float]]
"""Estimates, outcomes, and weights of cases."""


def _as_they_come(cases: Cases) -> _Judged:
    """Return `believable` of a set's own questions, and whether they were answered; one weight together."""
    asked = [*cases.by_way["there"], *cases.by_way["own"]]
    values = [case.scores["believable"] for case in asked]
    return values, [float(case.answered) for case in asked], [1 / len(asked)] * len(asked)


def _on_topic(cases: Cases) -> _Judged:
    """Return `on_topic` of questions to their own memory and to others, each group with one weight."""
    values, truth, weights = [], [], []
    for way, label in (("there", 1.0), ("elsewhere", 0.0)):
        group = cases.by_way[way]
        values += [case.scores["on_topic"] for case in group]
        truth += [label] * len(group)
        weights += [1 / len(group)] * len(group) if group else []
    return values, truth, weights


def cross_validate(cases: Sequence[Cases]) -> Fit:
    """Fit `on_topic` on all sets, and for each set on all others."""
    judged = [found for found in cases if found.by_way["elsewhere"]]
    whole = _fitted(judged)
    held_out = {
        left_out.set: _auroc(_fitted([one for one in judged if one is not left_out]), left_out)
        for left_out in judged
        if len(judged) > 1
    }
    return Fit(
        names=list(NAMES),
        intercept=whole.intercept,
        weights=whole.weights.tolist(),
        fitted={found.set: _auroc(whole, found) for found in judged},
        held_out=held_out,
    )


def _fitted(cases: Sequence[Cases]) -> Logistic:
    """Fit the formula; sets weigh the same, and so do both groups of each."""
    groups = [
        (_rows(found.by_way[way]), label)
        for found in cases
        for way, label in (("there", 1.0), ("elsewhere", 0.0))
    ]
    rows = np.concatenate([one for one, _ in groups])
    labels = np.concatenate([np.full(len(one), label) for one, label in groups])
    weights = np.concatenate([np.full(len(one), 1 / max(len(one), 1)) for one, _ in groups])
    return fit(rows, labels, weights, ridge=_RIDGE)


def _rows(cases: Sequence[Case]) -> NDArray[np.float64]:
    """Return the features of the cases in which something was found, shape (n, features)."""
    found = [case.features for case in cases if case.features is not None]
    return np.array(found, np.float64).reshape(-1, len(NAMES))


def _auroc(model: Logistic, cases: Cases) -> float:
    there, elsewhere = (model.predict(_rows(cases.by_way[way])).tolist() for way in ("there", "elsewhere"))
    return auroc(there, elsewhere)
