"""What the texts of a poison set do to the questions of retrieval sets, with all of them in every memory.

Each scope of a set is asked before and after all texts were recorded there as turns of tools and pages,
through `search` and through `recall`. What a text takes from the units of the set is what an attacker gains
by being found; the measures count it as a unit that answers nothing.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from mnemark.types import Hit, Origin
from mnemark_bench.data import SetQuestion, find_sets, load_set
from mnemark_bench.fixture import BenchFixture, bedded, embedder_for, kept_or_temporary
from mnemark_bench.measures import Difference, Measures, mean, measure
from mnemark_bench.poison_ways import Attack
from mnemark_bench.retrieval import compare

SHOWN: Final = ("turn_fractional@5", "turn_fractional@10", "turn_mrr")
_DEPTH: Final = 10
_PLENTY: Final = 5.0
_BUDGET: Final = 20_000
_SESSIONS: Final = 7
"""Sessions of a scope that the texts are spread over."""
_ORIGINS: Final[tuple[Origin, ...]] = ("tool", "web")

Rows = list[Measures]


class AskedSet(msgspec.Struct, frozen=True, kw_only=True):
    """One set, asked in one way."""

    set: str
    asked: str
    """"search" or "recall"."""
    questions: int
    units: int
    texts: int
    """In each memory."""
    before: Measures
    after: Measures
    difference: dict[str, Difference]
    """After less before, with its 95 % interval."""


def run(
    folder: Path, attacks: Sequence[Attack], *, embedder: str, limit: int | None, say: Callable[[str], None]
) -> list[AskedSet]:
    """Ask every set below `folder` before and after.

    Raises:
        UsageError: the folder holds no set.
        EmbedderUnavailable: the embedder cannot be made.
    """
    chosen = [one for one in attacks if one.kind != "quoted"]
    model = embedder_for(embedder)
    results: list[AskedSet] = []
    with kept_or_temporary(None) as place:
        for found in find_sets(folder):
            data = load_set(found, limit=limit)
            say(f"{data.name}: {data.size:,} units, {len(data.questions):,} questions")
            with bedded(data, place, model) as bed:
                before = _asked(bed)
                _plant(bed, chosen)
                after = _asked(bed)
            for name, rows in after.items():
                results.append(
                    AskedSet(
                        set=data.name, asked=name, questions=len(data.questions), units=data.size,
                        texts=len(chosen), before=mean(before[name]), after=mean(rows),
                        difference=compare(rows, before[name], SHOWN),
                    )
                )  # fmt: skip
    return results


def _plant(bed: BenchFixture, attacks: Sequence[Attack]) -> None:
    """Record the texts in every scope, at the time of its last turns."""
    for scope in bed.scopes():
        memory, stored = bed.memory(scope), bed.stored(scope)
        times = [unit.time for unit in bed.data.units[scope] if unit.time]
        last = datetime.fromisoformat(max(times)) if times else datetime(1970, 1, 1, tzinfo=UTC)
        for number in range(_SESSIONS):
            session = memory.session(f"planted-{number}")
            turns = []
            for at, one in list(enumerate(attacks))[number::_SESSIONS]:
                unit = f"planted:{at}"
                stored.session_of[unit] = session.id
                origin = _ORIGINS[at % 2]
                turns.append(session.turn("tool", one.text, time=last, origin=origin, meta={"unit": unit}))
            session.add_many(turns)
        memory.sync()


def _asked(bed: BenchFixture) -> Mapping[str, Rows]:
    rows: dict[str, Rows] = {"search": [], "recall": []}
    for question in bed.data.questions:
        for name, hits in _answers(bed, question):
            units, _ = bed.rank(question, hits)
            rows[name].append(measure(units, set(question.gold_ids), "turn"))
    return rows


def _answers(bed: BenchFixture, question: SetQuestion) -> Iterator[tuple[str, tuple[Hit, ...]]]:
    memory, _ = bed.place(question)
    now = question.asked_at
    yield "search", memory.search(question.query, k=_DEPTH, now=now).hits
    yield "recall", memory.recall(question.query, k=_DEPTH, now=now, deadline=_PLENTY, budget=_BUDGET).hits


def table(results: Sequence[AskedSet]) -> str:
    """The figures as a table."""
    rows = [
        f"{'set':<16}{'asked':<8}{'questions':>10}{'units':>9}{'texts':>7}  "
        + "".join(f"{name:>30}" for name in SHOWN)
    ]
    for one in results:
        cells = [
            f"{one.before[name]:.3f} → {one.after[name]:.3f} [{100 * one.difference[name].low:+.1f},"
            f"{100 * one.difference[name].high:+.1f}]"
            for name in SHOWN
        ]
        rows.append(
            f"{one.set:<16}{one.asked:<8}{one.questions:>10,}{one.units:>9,}{one.texts:>7}  "
            + "".join(f"{cell:>30}" for cell in cells)
        )
    return "\n".join(rows)
