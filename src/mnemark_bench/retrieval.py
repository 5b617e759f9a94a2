"""How well the right passages are found: the product's presets beside baselines, on the same questions."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from mnemark.embed import Embedder
from mnemark_bench.baselines import BM25, FTS5_CUT, FTS5_PLAIN, Baseline, Bm25, Fts5
from mnemark_bench.data import DataSet, SetQuestion, SetUnit, find_sets, load_set
from mnemark_bench.fixture import DEPTH, BenchFixture, bedded, embedder_for, kept_or_temporary
from mnemark_bench.measures import Difference, Measures, difference, mean, measure, percentiles

COMPARED: Final = ("turn_fractional@5", "turn_fractional@10", "session_any@5", "session_fractional@5")
"""The measures whose differences are given with an interval."""
REFERENCES: Final = ("lexical", BM25)
_TIMED: Final = 300
"""Questions asked again for their time, with as many hits as a user gets."""
NO_NOW: Final = ", undated"


class SystemResult(msgspec.Struct, kw_only=True):
    """What one system reached on one set."""

    system: str
    baseline: bool
    measures: Measures
    categories: dict[str, dict[str, float]] = {}
    differences: dict[str, dict[str, Difference]] = {}
    """To each reference, by measure."""
    latency: Measures = {}


class SetResult(msgspec.Struct, kw_only=True):
    """One set."""

    set: str
    units: int
    scopes: int
    scored: int
    skipped: dict[str, int]
    sync_seconds: float
    systems: list[SystemResult]


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What to run."""

    presets: tuple[str, ...] = ("lexical", "default")
    embedder: str = "bundled"
    keep: Path | None = None
    limit: int | None = None
    questions_from: Path | None = None
    undated: bool = False
    """Also ask without telling when."""
    names: bool = True


Rows = list[Measures]


def run(folder: Path, options: Options, tell: Callable[[str], None]) -> list[SetResult]:
    """Score every set below `folder`.

    Raises:
        UsageError: the folder or an option is wrong.
        EmbedderUnavailable: the embedder cannot be made.
    """
    embedder = embedder_for(options.embedder)
    results = []
    with kept_or_temporary(options.keep) as workspaces:
        for found in find_sets(folder):
            data = load_set(found, questions_from=options.questions_from, limit=options.limit)
            tell(f"{data.name}: {data.size:,} units, {len(data.questions):,} questions")
            results.append(_score_set(data, workspaces, embedder, options))
    return results


def _score_set(data: DataSet, folder: Path, embedder: Embedder | None, options: Options) -> SetResult:
    rows: dict[str, Rows] = {}
    latency: dict[str, Measures] = {}
    for name, baseline in baselines(data):
        rows[name], latency[name] = baseline_rows(data, baseline)
    with bedded(data, folder, embedder, names=options.names) as bed:
        for preset in options.presets:
            rows[preset] = preset_rows(bed, preset)
            latency[preset] = _latency(bed, preset)
            if options.undated:
                rows[preset + NO_NOW] = preset_rows(bed, preset, dated=False)
        seconds = bed.seconds
    systems = [
        SystemResult(
            system=name,
            baseline=name in {FTS5_PLAIN, FTS5_CUT, BM25},
            measures=mean(scored),
            categories=by_category(data.questions, scored),
            differences=_differences(name, rows),
            latency=latency.get(name, {}),
        )
        for name, scored in rows.items()
    ]
    return SetResult(
        set=data.name,
        units=data.size,
        scopes=len(data.units),
        scored=len(data.questions),
        skipped=data.skipped,
        sync_seconds=round(seconds, 3),
        systems=systems,
    )


def baselines(data: DataSet) -> Iterator[tuple[str, Mapping[str, Baseline]]]:
    """Each baseline by name, made for every scope when it is its turn."""
    for name, cut in ((FTS5_PLAIN, False), (FTS5_CUT, True)):
        yield name, {scope: Fts5(*_texts(units), cut=cut) for scope, units in data.units.items()}
    yield BM25, plain_bm25(data)


def plain_bm25(data: DataSet) -> dict[str, Bm25]:
    """Plain BM25 on every scope."""
    return {scope: Bm25(*_texts(units)) for scope, units in data.units.items()}


def _texts(units: Sequence[SetUnit]) -> tuple[list[str], list[str]]:
    return [unit.id for unit in units], [unit.text for unit in units]


def baseline_rows(data: DataSet, baseline: Mapping[str, Baseline]) -> tuple[Rows, Measures]:
    """The measures of every question, and the times."""
    session_of = {scope: {unit.id: unit.session_id for unit in units} for scope, units in data.units.items()}
    rows, seconds = [], []
    for question in data.questions:
        scope = question.scopes[0]
        started = time.perf_counter()
        units = baseline[scope].rank(question.query, DEPTH)
        seconds.append(time.perf_counter() - started)
        sessions = list(dict.fromkeys(session_of[scope][unit] for unit in units))
        rows.append(score(question, units, sessions))
    return rows, percentiles(seconds)


def preset_rows(bed: BenchFixture, preset: str, *, dated: bool = True) -> Rows:
    """The measures of every question, asked through the public API."""
    rows = []
    for question in bed.data.questions:
        found = bed.ask(question, preset=preset, dated=dated)
        rows.append(score(question, *bed.rank(question, found.hits)))
    return rows


def score(question: SetQuestion, units: Sequence[str], sessions: Sequence[str]) -> Measures:
    """The measures of one ranking."""
    turn = measure(units, set(question.gold_ids), "turn")
    return turn | measure(sessions, set(question.gold_sessions), "session")


def _latency(bed: BenchFixture, preset: str) -> Measures:
    """Times with as many hits as a user gets, over questions spread evenly, all asked before."""
    seconds = []
    for question in bed.data.limited(_TIMED).questions:
        started = time.perf_counter()
        bed.ask(question, preset=preset, k=8)
        seconds.append(time.perf_counter() - started)
    return percentiles(seconds)


def by_category(questions: Sequence[SetQuestion], rows: Rows) -> dict[str, dict[str, float]]:
    """The mean measures of each category, with their number as `n`."""
    groups: dict[str, Rows] = {}
    for question, row in zip(questions, rows, strict=True):
        groups.setdefault(question.category or "none", []).append(row)
    return {name: {"n": float(len(found)), **mean(found)} for name, found in sorted(groups.items())}


def _differences(name: str, rows: dict[str, Rows]) -> dict[str, dict[str, Difference]]:
    found: dict[str, dict[str, Difference]] = {}
    for reference in REFERENCES:
        if reference != name and reference in rows:
            found[reference] = compare(rows[name], rows[reference])
    return found


def compare(ours: Rows, theirs: Rows, measures: Sequence[str] = COMPARED) -> dict[str, Difference]:
    """Paired differences, ours minus theirs."""
    pairs = list(zip(ours, theirs, strict=True))
    return {name: difference([[mine[name] - other[name] for mine, other in pairs]]) for name in measures}


def as_json(results: Sequence[SetResult], options: Options) -> dict[str, Any]:
    """The results as JSON values."""
    about = {"embedder": options.embedder, "depth": DEPTH, "compared": list(COMPARED)}
    return {"about": about, "sets": msgspec.to_builtins(results)}
