"""What learning by rule keeps of what people say: coverage of plain statements, lines of a conversation.

A file `owners.jsonl` has an owner a line, with the statements each makes about themselves: all of them should
leave something. A file `corpus.jsonl` has a unit of a conversation a line (`scope`, `time`, `role`, `kind`,
`text`): little of it should be kept. What is said twice
in a memory counts once.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import msgspec

from mnemark.errors import UsageError
from mnemark.extraction.extract import Candidate, extract

_SAID: Final = datetime(2026, 3, 2, 10, tzinfo=UTC)
_NOT_OWNERS: Final = frozenset({"assistant", "agent", "tool", "system", "noise"})
_DIALOGUE: Final = "user: "


class LearnedLine(msgspec.Struct, frozen=True):
    """A line that is kept, and the words it comes from."""

    said: str
    subject: str
    predicate: str
    value: str
    topic: str
    type: str
    over: bool = False


class Learned(msgspec.Struct, kw_only=True):
    """What was kept of one set."""

    set: str
    said: int
    """Statements, or turns of owners."""
    left: int
    """How many of them left something."""
    lines: int
    """How many facts and statements that were."""
    kept: list[LearnedLine] = []
    """A sample of them."""
    missed: list[str] = []
    """A sample of the statements that left nothing."""

    @property
    def share(self) -> float:
        """Share of the statements or turns that left something."""
        return self.left / self.said if self.said else 0.0


def run(path: Path, *, sample: int = 0, seed: int = 1) -> Learned:
    """Measure on `owners.jsonl` or `corpus.jsonl`, or a folder with one of them.

    Args:
        path: the file or folder.
        sample: how many lines, and how many missed statements, to draw.
        seed: of the draw.
    """
    file = next((file for name in ("owners.jsonl", "corpus.jsonl") if (file := path / name).exists()), path)
    records = [msgspec.json.decode(line) for line in file.read_bytes().splitlines() if line.strip()]
    if not records:
        raise UsageError(f"{file} is empty")
    said = list(_statements(records) if "statements" in records[0] else _turns(records))
    kept: list[LearnedLine] = []
    missed: list[str] = []
    left = 0
    for _, group in groupby(said, key=lambda one: one[0]):
        known: set[tuple[str, str, str]] = set()
        for _, time, text in group:
            found = [one for one in extract(text, time=time) if not one.against]  # beside what is known alone
            left += bool(found)
            new = [one for one in found if (one.subject, one.predicate, one.value) not in known]
            known |= {(one.subject, one.predicate, one.value) for one in new}
            kept += [_kept(one, text) for one in new]
            missed += [] if found else [text]
    draw = random.Random(seed)  # noqa: S311 - a sample
    return Learned(
        set=file.parent.name, said=len(said), left=left, lines=len(kept),
        kept=draw.sample(kept, min(sample, len(kept))),
        missed=draw.sample(missed, min(sample, len(missed))) if "statements" in records[0] else [],
    )  # fmt: skip


def _kept(one: Candidate, text: str) -> LearnedLine:
    return LearnedLine(
        one.quote or text, one.subject, one.predicate, one.value, one.topic, one.type, one.over
    )


def _statements(records: Sequence[dict[str, Any]]) -> Iterator[tuple[str, datetime, str]]:
    for record in records:
        for text in record["statements"]:
            yield record["owner"], _SAID, text


def _turns(records: Iterable[dict[str, Any]]) -> Iterator[tuple[str, datetime, str]]:
    """Yield scope, time and text of what owners said; of a dialogue in one unit the lines of its user."""
    for record in records:
        time = datetime.fromisoformat(record["time"]) if record.get("time") else _SAID
        time = time if time.tzinfo else time.replace(tzinfo=UTC)
        if record["kind"] == "turn" and record["role"] not in _NOT_OWNERS:
            yield record["scope"], time, record["text"]
        elif record["kind"] == "event":
            for line in record["text"].split("\n"):
                if line.startswith(_DIALOGUE):
                    yield record["scope"], time, line.removeprefix(_DIALOGUE)


def show(result: Learned) -> None:
    """Print the figures and the samples."""
    for one in result.kept:
        about = f"{one.subject} {one.predicate}".strip() if one.predicate else f"[{one.topic}]"
        over = " is over" if one.over else ""
        print(f"+ {about}{over}: {one.value}  <- {' '.join(one.said.split())[:160]!r}")
    for text in result.missed:
        print(f"- {text!r}")
    print(
        f"{result.set}: {result.left} of {result.said} left something ({result.share:.3f}); "
        f"{result.lines} lines, {100 * result.lines / max(result.said, 1):.1f} for 100 turns"
    )
