"""The results as tables."""

from collections.abc import Sequence

from mnemark_bench.ablate import MEASURES, Ablation
from mnemark_bench.belief import ABSENT, SCORES, WAYS, BeliefResult, Fit
from mnemark_bench.lived import COMPARED as LIVED_COMPARED
from mnemark_bench.lived import MEASURES as LIVED_MEASURES
from mnemark_bench.lived import LivedSet
from mnemark_bench.retrieval import COMPARED, REFERENCES, SetResult
from mnemark_bench.speed import SpeedResult
from mnemark_bench.tables import number, points, short, table
from mnemark_bench.tokens import Spared

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
        table(title, ["set", "system", *map(short, COMPARED)], rows, left=2)


def _categories(results: Sequence[SetResult]) -> None:
    measures = ("turn_fractional@5", "turn_fractional@10", "session_any@5", "session_fractional@5")
    rows = [
        [result.set, category, system.system, f"{values['n']:.0f}", *(number(values[m]) for m in measures)]
        for result in results
        for category in (result.systems[0].categories if result.systems else ())
        for system in result.systems
        for values in (system.categories[category],)
    ]
    table("By category", ["set", "category", "system", "n", *map(short, measures)], rows, left=3)


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


def show_ablation(result: Ablation) -> None:
    """Print what each term gives, over all sets and on each."""
    rows = [
        [
            found,
            str(result.questions[found]),
            *(
                number(measures[name][found_measure])
                for measures, name in ((result.full, found), (result.baseline, found))
                for found_measure in MEASURES
            ),
        ]
        for found in result.full
    ]
    heads = [f"{name} {short(measure)}" for name in (result.preset, "bm25") for measure in MEASURES]
    table(f"All terms on ({result.embedder}), beside plain BM25", ["set", "n", *heads], rows)
    rows = [[effect.term, *(points(effect.pooled[name]) for name in MEASURES)] for effect in result.effects]
    title = "What a term gives over all sets, points (all on, less this one off; the control: less lexical)"
    table(title, ["term", *map(short, MEASURES)], rows)
    for measure in MEASURES[1:]:
        rows = [
            [effect.term, *(points(effect.sets[found][measure]) for found in result.full)]
            for effect in result.effects
        ]
        table(f"What a term gives, {short(measure)}", ["term", *result.full], rows)


def show_lived(results: Sequence[LivedSet]) -> None:
    """Print the measures of each state, and the differences to bare turns."""
    rows = [
        [result.set, str(result.scored), state, *(number(found[name]) for name in LIVED_MEASURES)]
        for result in results
        for state, found in result.states.items()
    ]
    table(
        "Bare turns, and a memory that was lived in",
        ["set", "n", "state", *map(short, LIVED_MEASURES)],
        rows,
        left=3,
    )
    rows = [
        [result.set, state, *(points(found[name]) for name in LIVED_COMPARED)]
        for result in results
        for state, found in result.differences.items()
    ]
    table("Against bare turns, points", ["set", "state", *map(short, LIVED_COMPARED)], rows, left=2)
    rows = [[result.set, str(result.notes), str(result.kept)] for result in results if result.notes]
    if rows:
        table("Recorded notes", ["set", "given", "kept"], rows)


def show_belief(result: BeliefResult) -> None:
    """Print what each score tells apart, how right the estimates are, and the fit."""
    for way, meaning in ABSENT.items():
        rows = [
            [found.set, *(number(told[score]) for score in SCORES)]
            for found in result.sets
            if (told := found.apart.get(way))
        ]
        if rows:
            table(f"AUROC ({result.embedder}), evidence there against {meaning}", ["set", *SCORES], rows)
    rows = [
        [found.set, *(number(found.answered[score]) for score in SCORES)]
        for found in result.sets
        if found.answered
    ]
    table("AUROC, questions answered among the hits against not answered", ["set", *SCORES], rows)
    rows = [
        [
            found.set,
            str(found.scored),
            number(found.topic_error),
            number(found.answer_error),
            number(found.by_chance),
            number(found.share),
            *(number(found.handed.get(way)) for way in WAYS),
        ]
        for found in result.sets
    ]
    heads = ["set", "n", "topic ECE", "answer ECE", "by chance", "answered", *WAYS]
    table("Calibration, and shares that hooks hand out", heads, rows)
    rows = [[number(one.said), number(one.was), number(one.share)] for one in result.bins]
    table("`believable` over all sets, each with the same weight", ["said", "was", "share"], rows)
    if result.fit:
        _show_fit(result.fit)


def _show_fit(fit: Fit) -> None:
    rows = [[name, number(weight)] for name, weight in zip(fit.names, fit.weights, strict=True)]
    table(
        "`on_topic` fitted on all sets", ["feature", "weight"], [["intercept", number(fit.intercept)], *rows]
    )
    rows = [[name, number(value), number(fit.held_out.get(name))] for name, value in fit.fitted.items()]
    table("AUROC on each set", ["set", "fitted on all", "fitted on the others"], rows)


def show_tokens(results: Sequence[Spared]) -> None:
    """Print tokens and hit rates."""
    rows = [
        [
            found.set,
            str(found.budget),
            str(found.scored),
            number(found.hit),
            number(found.opened),
            f"{found.tokens:,.0f}",
            f"{found.everything:,.0f}",
            f"{-100 * found.saved:.1f} %",
            f"{found.newest:,.0f}",
            f"{found.documents:,.0f}",
            number(found.documents_hit),
        ]
        for found in results
    ]
    heads = ["set", "budget", "n", "hit", "opened", "tokens", "everything", "change"]
    heads += ["newest, same hit", "whole documents", "their hit"]
    table("Tokens of the recall block; loading everything hits always", heads, rows)


def show_speed(results: Sequence[SpeedResult]) -> None:
    """Print rates, times and sizes, each beside its baseline."""
    rows = [
        [
            f"{found.passages:,}",
            f"{found.files:,}",
            f"{found.sync_rate:,.0f}",
            f"{found.embed_rate:,.0f}",
            f"{found.sync_clock_rate:,.0f}",
            f"{found.embed_clock_rate:,.0f}",
            f"{found.fts5_rate:,.0f}",
            f"{found.fts5_insert_rate:,.0f}",
            number(found.sync_ratio, 2),
            number(found.sync_seconds, 2),
            number(found.unchanged_seconds),
            number(found.changed_seconds),
        ]
        for found in results
    ]
    heads = ["passages", "files", "sync/s", "+vectors/s", "by the clock", "+vectors"]
    heads += ["fts5 cut+insert/s", "fts5 insert/s", "sync:fts5"]
    table(
        "Sync: passages a second of processor time, and by the clock; seconds of wall time",
        [*heads, "sync s", "unchanged s", "one note s"],
        rows,
        left=0,
    )
    _search_times(results)
    _fresh_processes(results)


def _search_times(results: Sequence[SpeedResult]) -> None:
    rows = [
        [
            f"{found.passages:,}",
            name,
            *(
                number(times[kind + part], 2)
                for kind in ("", "cpu_")
                for part in ("p50_ms", "p95_ms", "p99_ms")
            ),
        ]
        for found in results
        for name, times in found.latency.items()
    ]
    heads = ["passages", "route", "p50", "p95", "p99", "cpu p50", "cpu p95", "cpu p99"]
    table("Search, warm, milliseconds", heads, rows, left=2)
    rows = [
        [f"{found.passages:,}", *(number(found.statements[name], 1) for name in ("mean", "most"))]
        for found in results
    ]
    table("Statements of a search to its index", ["passages", "mean", "most"], rows, left=0)
    rows = [
        [f"{found.passages:,}", name, number(value, 2)]
        for found in results
        for name, value in found.ratios.items()
    ]
    table(
        "Search, p50 of processor time as a multiple of the baseline's",
        ["passages", "ratio", "times"],
        rows,
        left=2,
    )


def _fresh_processes(results: Sequence[SpeedResult]) -> None:
    cold = ("import_ms", "import_cpu_ms", "open_ms", "first_ms", "rss_mb", "bare_mb")
    rows = [
        [f"{found.passages:,}", name, *(number(values[part], 1) for part in cold)]
        for found in results
        for name, values in found.cold.items()
    ]
    heads = [
        "passages",
        "route",
        "import ms",
        "import cpu ms",
        "open ms",
        "first search ms",
        "peak MB",
        "bare python MB",
    ]
    table("A fresh process", heads, rows, left=2)
    sizes = ("source_bytes", "index_bytes", "vector_bytes", "fts5_bytes")
    rows = [
        [f"{found.passages:,}", *(f"{getattr(found, name) / 1e6:,.1f}" for name in sizes)]
        for found in results
    ]
    table("On the disk, MB", ["passages", "texts", "index", "vectors", "fts5"], rows, left=0)
    compared = [found for found in results if found.overlap]
    if compared:
        names = list(compared[0].overlap)
        rows = [[f"{f.passages:,}", *(number(f.overlap.get(name)) for name in names)] for f in compared]
        table("Of the ten best with exact float32 vectors, share found", ["passages", *names], rows, left=0)
