"""The results of `bench retrieval` as tables."""

from collections.abc import Sequence

from mnemark.bench.retrieval import COMPARED, REFERENCES, SetResult
from mnemark.bench.tables import number, points, table

_PARTS = ("any@5", "all@5", "fractional@5", "any@10", "all@10", "fractional@10", "mrr", "ndcg@10")


def show(results: Sequence[SetResult], *, categories: bool) -> None:
    """Print everything: measures of turns and sessions, differences, counts and times."""
    for prefix, title in (("turn", "Turns"), ("session", "Sessions")):
        rows = [
            [
                result.set,
                system.system,
                str(result.scored),
                *(number(system.measures.get(f"{prefix}_{part}")) for part in _PARTS),
            ]
            for result in results
            for system in result.systems
        ]
        heads = [part.replace("fractional", "frac") for part in _PARTS]
        table(title, ["set", "system", "n", *heads], rows, left=2)
    for reference in REFERENCES:
        _differences(results, reference)
    if categories:
        _categories(results)
    _counts(results)
    _times(results)


def _differences(results: Sequence[SetResult], reference: str) -> None:
    rows = [
        [
            result.set,
            system.system,
            *(points(system.differences[reference].get(measure)) for measure in COMPARED),
        ]
        for result in results
        for system in result.systems
        if reference in system.differences and not system.baseline
    ]
    if rows:
        title = f"Difference to {reference}, points, 95 % interval by paired bootstrap (*: 0 is outside)"
        table(title, ["set", "system", *COMPARED], rows, left=2)


def _categories(results: Sequence[SetResult]) -> None:
    measures = ("turn_fractional@5", "turn_fractional@10", "session_any@5", "session_fractional@5")
    rows = [
        [result.set, category, system.system, f"{values['n']:.0f}", *(number(values[m]) for m in measures)]
        for result in results
        for category in (result.systems[0].categories if result.systems else ())
        for system in result.systems
        for values in (system.categories[category],)
    ]
    table("By category", ["set", "category", "system", "n", *measures], rows, left=3)


def _counts(results: Sequence[SetResult]) -> None:
    rows = [
        [
            result.set,
            ", ".join(f"{reason}: {count}" for reason, count in result.skipped.items()) or "none",
            str(result.scopes),
            f"{result.units:,}",
            str(result.scored),
            number(result.sync_seconds, 2),
        ]
        for result in results
    ]
    table("Counts", ["set", "skipped", "scopes", "units", "scored", "sync s"], rows, left=2)


def _times(results: Sequence[SetResult]) -> None:
    rows = [
        [
            result.set,
            system.system,
            *(number(system.latency.get(name), 2) for name in ("p50_ms", "p95_ms", "p99_ms")),
        ]
        for result in results
        for system in result.systems
        if system.latency
    ]
    table("Time of one search, milliseconds", ["set", "system", "p50", "p95", "p99"], rows, left=2)
