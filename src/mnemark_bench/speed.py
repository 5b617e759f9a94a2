"""How fast, how large: sync and search on a growing corpus, as ratios to baselines on the same texts.

Times on a machine that others use wander; questions go to the product and to FTS5 in turn, so that both
meet the same load, and sync is compared by processor time.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import apsw
import msgspec
import numpy as np

from mnemark.embed import Embedder
from mnemark.errors import MnemarkError
from mnemark.memory.memory import Memory
from mnemark.text.words.stopwords import content_terms
from mnemark_bench.baselines import MATCH, match_expression, spaced
from mnemark_bench.corpus import Corpus, Text, grow
from mnemark_bench.fixture import embedder_for, opened
from mnemark_bench.measures import Measures, percentiles
from mnemark_bench.overlap import overlap

SIZES: Final = (1_000, 10_000, 100_000)
MILLION: Final = 1_000_000
QUESTIONS: Final = 200
_WARMING: Final = 50
_REPEATS: Final = 3
_COMPARED: Final = 100
_HITS: Final = 8
FTS5: Final = "fts5"
SCAN: Final = "numpy scan"


class Clocked(NamedTuple):
    """Seconds of wall time, and of the processor time of this process and those it started."""

    wall: float
    processor: float


class SpeedResult(msgspec.Struct, kw_only=True):
    """One size. `sync_*` and `fts5_*` are passages a second of processor time; seconds are wall time."""

    passages: int
    files: int
    source_bytes: int
    embedder: str
    sync_rate: float
    sync_seconds: float
    embed_rate: float
    """Passages a second for cutting, indexing and embedding together; 0 without an embedder."""
    sync_clock_rate: float
    """As `sync_rate`, by the clock: a large sync uses two cores."""
    embed_clock_rate: float
    """As `embed_rate`, by the clock."""
    fts5_rate: float
    """Cutting and inserting into FTS5."""
    fts5_insert_rate: float
    """Inserting alone."""
    sync_ratio: float
    """`sync_rate` as a multiple of `fts5_rate`."""
    unchanged_seconds: float
    changed_seconds: float
    """One note edited: sync, until it can be found."""
    latency: dict[str, Measures]
    """Wall and processor (`cpu_`) time of "lexical", "hybrid" (with an embedder), "fts5" and "numpy scan"."""
    statements: Measures
    """SQL statements of a search without vectors whose terms are not cached: "mean", "most"."""
    ratios: dict[str, float]
    """Processor time of a route, p50, as a multiple of the baseline's."""
    cold: dict[str, dict[str, float]]
    """A fresh process, by route: `import_ms`, `import_cpu_ms`, `open_ms`, `first_ms`, `rss_mb`, `bare_mb`."""
    overlap: dict[str, float]
    """Shares of the ten best with exact vectors that are found: see `overlap.overlap`; empty without them."""
    index_bytes: int
    vector_bytes: int
    fts5_bytes: int


def run(sizes: Sequence[int], *, embedder: str, tell: Callable[[str], None]) -> list[SpeedResult]:
    """Measure each size in a workspace of its own, which goes away."""
    results = []
    for size in sizes:
        tell(f"{size:,} passages")
        with tempfile.TemporaryDirectory(prefix="mnemark-speed-") as folder:
            results.append(measure(Path(folder), size, embedder, tell))
    return results


def measure(folder: Path, size: int, embedder: str, tell: Callable[[str], None]) -> SpeedResult:
    """Measure one size below `folder`."""
    corpus = Corpus()
    root = folder / "workspace"
    grown = grow(root, size, corpus)
    questions = _questions(grown.texts, corpus)
    tell(f"  {len(grown.texts):,} passages in {grown.files:,} files written; syncing")
    model = embedder_for(embedder)
    passages, indexed, embedded = _sync(root, model)
    unchanged, changed = _resync(root)
    fts5 = _Fts5(folder / "fts5.db", grown.texts)
    statements, latency, kept = _searched(root, model, fts5, questions, tell)
    # By itself: the scan throws everything else out of the caches, and its threads go on for a while.
    latency |= _in_turn({SCAN: _scan(len(grown.texts), model.dimension if model else 256)}, questions)
    return SpeedResult(
        passages=passages,
        files=grown.files,
        source_bytes=grown.bytes,
        embedder=embedder,
        sync_rate=passages / indexed.processor,
        sync_seconds=indexed.wall,
        embed_rate=passages / (indexed.processor + embedded.processor) if model else 0.0,
        sync_clock_rate=passages / indexed.wall,
        embed_clock_rate=passages / (indexed.wall + embedded.wall) if model else 0.0,
        fts5_rate=passages / (fts5.cutting.processor + fts5.inserting.processor),
        fts5_insert_rate=passages / fts5.inserting.processor,
        sync_ratio=(fts5.cutting.processor + fts5.inserting.processor) / indexed.processor,
        unchanged_seconds=unchanged,
        changed_seconds=changed,
        latency=latency,
        statements=statements,
        ratios=_ratios(latency),
        cold=_cold(root, embedder, questions[0]),
        overlap=kept,
        index_bytes=_bytes(root / ".mnemark", "index.db*"),
        vector_bytes=_bytes(root / ".mnemark" / "vectors", "*"),
        fts5_bytes=_bytes(folder, "fts5.db*"),
    )


def _searched(
    root: Path, model: Embedder | None, fts5: "_Fts5", questions: list[str], tell: Callable[[str], None]
) -> tuple[Measures, dict[str, Measures], dict[str, float]]:
    """Return how many statements a search takes, how long each way, and what it shares with exact vectors."""
    tell("  searching")
    with opened(root, None) as words, opened(root, model) as both:
        statements = _statements(words, questions)
        latency = _in_turn(_asks(words, both if model else None, fts5), questions)
        tell("  comparing with exact vectors")
        kept = overlap(both, model, questions[:_COMPARED]) if model else {}
    return statements, latency, kept


def _clocked(work: Callable[[], Any]) -> tuple[Any, Clocked]:
    wall, processor = time.perf_counter(), _processor_time()
    result = work()
    return result, Clocked(time.perf_counter() - wall, _processor_time() - processor)


def _processor_time() -> float:
    spent = os.times()
    return time.process_time() + spent.children_user + spent.children_system


def _questions(texts: Sequence[Text], corpus: Corpus) -> list[str]:
    step = max(1, len(texts) // (QUESTIONS + _WARMING))
    return [corpus.question(text) for text in texts[::step]][: QUESTIONS + _WARMING]


def _sync(root: Path, model: Embedder | None) -> tuple[int, Clocked, Clocked]:
    with opened(root, model) as memory:
        if model is not None:
            model.query("warm 热身")  # loading is measured by the fresh process
        report, indexed = _clocked(lambda: memory.sync(embed=False))
        problem, embedded = _clocked(
            lambda: memory.workspace.searcher.embeddings.embed(memory.workspace.index)
        )
        if problem:
            raise MnemarkError(problem)
        return report.passages, indexed, embedded


def _resync(root: Path) -> tuple[float, float]:
    """Seconds of a sync with nothing new, and of one with one edited note."""
    note = next((root / "notes").rglob("*.md"))
    unchanged, changed = [], []
    with opened(root, None) as memory:
        memory.sync()
        for number in range(_REPEATS):
            unchanged.append(_clocked(memory.sync)[1].wall)
            with note.open("a", encoding="utf-8") as file:
                file.write(f"\nedited{number}\n")
            changed.append(_clocked(memory.sync)[1].wall)
    return min(unchanged), min(changed)


class _Fts5:
    """The same texts in an FTS5 table on the disk, cut the same way."""

    def __init__(self, path: Path, texts: Sequence[Text]) -> None:
        self._connection = apsw.Connection(str(path))
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("CREATE VIRTUAL TABLE units USING fts5(text, tokenize='unicode61')")
        ready, self.cutting = _clocked(lambda: [spaced(text.text) for text in texts])
        _, self.inserting = _clocked(lambda: self._insert(ready))

    def _insert(self, ready: Sequence[str]) -> None:
        with self._connection:
            self._connection.executemany("INSERT INTO units (rowid, text) VALUES (?, ?)", enumerate(ready))

    def ask(self, question: str) -> object:
        """The ten best rows by bm25()."""
        return self._connection.execute(MATCH, (match_expression(content_terms(question)), 10)).fetchall()


def _scan(rows: int, dimension: int) -> Callable[[str], object]:
    matrix = np.random.default_rng(1).standard_normal((rows, dimension), np.float32)
    vector = matrix[0].copy()

    def scan(_: str) -> object:
        scores = matrix @ vector
        return np.argpartition(scores, -min(10, rows))[-10:]

    return scan


def _asks(words: Memory, both: Memory | None, fts5: _Fts5) -> dict[str, Callable[[str], object]]:
    asks: dict[str, Callable[[str], object]] = {
        "lexical": lambda question: words.search(question, k=_HITS, preset="lexical")
    }
    if both is not None:
        asks["hybrid"] = lambda question: both.search(question, k=_HITS)
    asks[FTS5] = fts5.ask
    return asks


def _statements(memory: Memory, questions: Sequence[str]) -> Measures:
    """Return the mean and the largest number of SQL statements of a search, the first searches apart."""
    connection, counts = memory.workspace.index.connection, [0]

    def count(_: object) -> None:
        counts[-1] += 1

    connection.trace_v2(apsw.SQLITE_TRACE_STMT, count)
    for question in questions:
        memory.search(question, k=_HITS)
        counts.append(0)
    connection.trace_v2(0, None)
    warm = counts[_WARMING:-1] or counts[:-1]
    return {"mean": sum(warm) / len(warm), "most": float(max(warm))}


def _in_turn(asks: dict[str, Callable[[str], object]], questions: Sequence[str]) -> dict[str, Measures]:
    """Percentiles of each, every question going to all of them one after the other."""
    seconds: dict[str, list[float]] = {name: [] for name in asks}
    processor: dict[str, list[float]] = {name: [] for name in asks}
    for number, question in enumerate(questions):
        for name, ask in asks.items():
            started, spent = time.perf_counter(), time.process_time()
            ask(question)
            if number >= _WARMING or len(questions) <= _WARMING:
                seconds[name].append(time.perf_counter() - started)
                processor[name].append(time.process_time() - spent)
    return {
        name: percentiles(found)
        | {f"cpu_{part}": value for part, value in percentiles(processor[name]).items()}
        for name, found in seconds.items()
    }


def _ratios(latency: dict[str, Measures]) -> dict[str, float]:
    p50 = {name: found["cpu_p50_ms"] for name, found in latency.items()}
    ratios = {"lexical to fts5": p50["lexical"] / p50[FTS5]}
    if "hybrid" in p50:
        ratios["hybrid to fts5 and scan"] = p50["hybrid"] / (p50[FTS5] + p50[SCAN])
    return ratios


_FRESH: Final = """
import json, sys, time
def peak():
    try:
        # The peak of this program; Linux's ru_maxrss is that of whoever started it, too.
        return next(int(line.split()[1]) / 2**10 for line in open("/proc/self/status") if line[:5] == "VmHWM")
    except OSError:
        pass
    try:
        import resource
    except ImportError:  # Windows does not say
        return 0.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
bare = peak()
spent = time.process_time()
root, embedder, question = json.loads(sys.argv[1])
a = time.perf_counter()
from mnemark import Memory
b, spent = time.perf_counter(), time.process_time() - spent
memory = Memory.open(root, config={"embedder": embedder}, readonly=True, trusted=True)
c = time.perf_counter()
memory.search(question)
d = time.perf_counter()
times = {"import": b - a, "import_cpu": spent, "open": c - b, "first": d - c}
times = {name + "_ms": value * 1e3 for name, value in times.items()}
print(json.dumps(times | {"rss_mb": peak(), "bare_mb": bare}))
"""


def _cold(root: Path, embedder: str, question: str) -> dict[str, dict[str, float]]:
    """The best of a few fresh processes, without and with the embedder."""
    routes = {"lexical": "none"} | ({"hybrid": embedder} if embedder != "none" else {})
    return {name: _fresh(root, spec, question) for name, spec in routes.items()}


def _fresh(root: Path, embedder: str, question: str) -> dict[str, float]:
    argument = json.dumps([str(root), embedder, question])
    runs: list[dict[str, float]] = []
    for _ in range(_REPEATS):
        done = subprocess.run(
            [sys.executable, "-c", _FRESH, argument],
            capture_output=True,
            check=False,
            env=os.environ | {"PYTHONWARNINGS": "ignore"},
        )
        if done.returncode:
            raise MnemarkError(f"a fresh process failed: {done.stderr.decode(errors='replace')[-500:]}")
        runs.append(json.loads(done.stdout))
    return {name: min(one[name] for one in runs) for name in runs[0]}


def _bytes(folder: Path, pattern: str) -> int:
    return sum(path.stat().st_size for path in folder.glob(pattern) if path.is_file())
