"""What it costs to be sure: turns and facts until they are on the disk, beside a bare write and fsync.

All of them in turn, on the same disk, in the same run: disks differ more than programs.
"""

import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import quantiles
from typing import Final

import msgspec

from mnemark.memory.memory import Memory
from mnemark_bench.corpus import Corpus

COUNT: Final = 400
BARE: Final = "write and fsync"
_WARMING: Final = 20
_WORDS: Final = 22
_VALUE: Final = 60
"""Characters of a fact's value."""


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """Milliseconds until one thing was acknowledged."""

    what: str
    p50: float
    p99: float
    ratio: float
    """The median as a multiple of the bare write's."""


def run(count: int = COUNT, folder: Path | None = None) -> list[Recorded]:
    """Measure in a folder of its own below `folder`, or the system's; it goes away."""
    corpus = Corpus()
    texts = [corpus.text(_WORDS).text for _ in range(count + _WARMING)]
    with tempfile.TemporaryDirectory(prefix="mnemark-record-", dir=folder) as made:
        bare = os.open(Path(made) / "bare", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
        try:
            with Memory.open(Path(made) / "workspace", config={"embedder": "none"}) as memory:
                times = _in_turn(_ways(memory, bare), texts)
        finally:
            os.close(bare)
    medians = {what: quantiles(ours, n=100)[49] for what, ours in times.items()}
    return [
        Recorded(
            what=what, p50=1_000 * medians[what], p99=1_000 * quantiles(ours, n=100)[98],
            ratio=medians[what] / medians[BARE],
        )
        for what, ours in times.items()
    ]  # fmt: skip


def _ways(memory: Memory, bare: int) -> dict[str, Callable[[int, str], object]]:
    session = memory.session("bench:record")

    def plainly(_: int, text: str) -> None:
        os.write(bare, b'{"role":"user","content":"' + text.encode() + b'"}\n')
        os.fsync(bare)

    return {
        BARE: plainly,
        "a turn": lambda _, text: session.add("user", text),
        "a new fact": lambda number, text: memory.remember(f"thing {number}", text[:_VALUE]),
        "a newer value of a fact": lambda number, text: memory.remember("city", f"{number} {text[:_VALUE]}"),
    }


def _in_turn(
    ways: Mapping[str, Callable[[int, str], object]], texts: Sequence[str]
) -> dict[str, list[float]]:
    """Seconds of each way for each text, the first ones left out."""
    times: dict[str, list[float]] = {what: [] for what in ways}
    for number, text in enumerate(texts):
        for what, work in ways.items():
            started = time.perf_counter()
            work(number, text)
            times[what].append(time.perf_counter() - started)
    return {what: ours[_WARMING:] for what, ours in times.items()}


def table(rows: Sequence[Recorded]) -> str:
    """For people."""
    lines = [f"{'until it is on the disk':<26}{'p50':>10}{'p99':>10}{'':>4}median as a multiple"]
    lines += [f"{row.what:<26}{row.p50:>7.2f} ms{row.p99:>7.2f} ms{row.ratio:>15.1f}" for row in rows]
    return "\n".join(lines)
