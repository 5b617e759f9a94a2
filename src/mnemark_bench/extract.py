"""Precision and recall of what is learned without a model, on labelled turns.

A file has a JSON object a line: `text`, `role`, `origin`, `time`, `language`, and `facts`, each with the
`subject`, `predicate` and `value` that are right (lists: any of them). A fact found is right where subject
and predicate have the same key, and the value holds all words of the expected one without being more than
twice as long.
"""

import random
import re
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec

from mnemark.errors import NotFoundError, UsageError
from mnemark.extraction.extract import Candidate, extract
from mnemark.facts.keys import predicate_key, subject_key, value_words
from mnemark.memory.memory import Memory
from mnemark.types import Origin

_ROUNDS: Final = 5
_TURNS: Final = 50
Learn = Callable[..., list[Candidate]]
_PIECE: Final = re.compile(r"[\u4e00-\u9fff]|[^\s\u4e00-\u9fff]+")


class Expected(msgspec.Struct, frozen=True):
    """A fact that should be found; each part lists what is right."""

    subject: tuple[str, ...]
    predicate: tuple[str, ...]
    value: tuple[str, ...]
    over: bool = False
    """Whether the turn says that it no longer holds."""


class Labelled(msgspec.Struct, frozen=True):
    """A turn and what it states."""

    text: str
    time: datetime
    role: str = "user"
    origin: Origin = "owner"
    language: str = "en"
    facts: tuple[Expected, ...] = ()


class Score(msgspec.Struct, kw_only=True):
    """How well one part of a set was learned from."""

    set: str
    language: str
    turns: int
    expected: int
    found: int
    right: int
    precision: float
    recall: float
    interval: tuple[float, float]
    """Wilson's 95 % interval of the precision (Wilson 1927)."""


class ExtractResult(msgspec.Struct, kw_only=True):
    """The whole result."""

    scores: list[Score]
    milliseconds: float
    """For 50 turns drawn from the sets, best of five rounds: reading alone."""
    written: float = 0.0
    """The same turns read from a session's log, and what was found written to facts on the disk."""
    learned: int = 0
    """How many facts that were."""
    mistakes: list[dict[str, str]] = []


def run(path: Path, *, mistakes: Sequence[str] = (), learn: Learn = extract) -> ExtractResult:
    """Measure on a file, or on every `*.jsonl` of a folder.

    Args:
        path: the file or folder.
        mistakes: names of the sets whose mistakes are listed one by one; none of a sealed set should be.
        learn: what learns, with the arguments of `extract`; the rules alone are `by_rules`.

    Raises:
        NotFoundError, UsageError: there is no such file, or it is no labelled set.
    """
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    if not files or not files[0].exists():
        raise NotFoundError(f"{path} holds no labelled turns; name a file of them (.jsonl) or a folder")
    sets = {file.stem: _load(file) for file in files}
    scores, wrong = [], []
    for name, turns in sets.items():
        for language in ("all", *sorted({turn.language for turn in turns})):
            part = [turn for turn in turns if language in ("all", turn.language)]
            scores.append(_score(name, language, part, learn))
        if name in mistakes:
            wrong += [mistake for turn in turns for mistake in _mistakes(name, turn, learn)]
    chosen = random.Random(1).choices([t for turns in sets.values() for t in turns], k=_TURNS)  # noqa: S311 - a sample
    written, learned = _written(chosen)
    return ExtractResult(
        scores=scores, milliseconds=_timed(chosen, learn), written=written, learned=learned, mistakes=wrong
    )


def show(result: ExtractResult) -> None:
    """Print the figures as a table."""
    heads = f"{'set':<10}{'language':<10}{'turns':>6}{'facts':>7}{'found':>7}"
    print(f"{heads}{'precision':>11}{'95 %':>16}{'recall':>8}")
    for one in result.scores:
        low, high = one.interval
        print(
            f"{one.set:<10}{one.language:<10}{one.turns:>6}{one.expected:>7}{one.found:>7}{one.precision:>11.3f}"
            f"{f'{low:.3f}-{high:.3f}':>16}{one.recall:>8.3f}"
        )
    print(f"{_TURNS} turns: {result.milliseconds:.1f} ms of processor time to read")
    print(
        f"  and {result.written:.1f} ms as `session.compact` does it, {result.learned} facts written to disk"
    )
    for mistake in result.mistakes:
        print(f"{mistake['kind']}: {mistake['fact']}  <- {mistake['text']!r}")


def _load(file: Path) -> list[Labelled]:
    try:
        return [
            msgspec.json.decode(line, type=Labelled)
            for line in file.read_bytes().splitlines()
            if line.strip()
        ]
    except msgspec.DecodeError as error:
        raise UsageError(f"{file.name} is no labelled set: {error}") from error


def _learned(turn: Labelled, learn: Learn) -> list[Candidate]:
    """Return the facts found; statements are not labelled, and what is over or unsure only sometimes."""
    found = learn(turn.text, time=turn.time, role=turn.role, origin=turn.origin)
    sure = (one for one in found if one.predicate and not one.against)
    return [one for one in sure if not one.over or any(_fits(one, fact) for fact in turn.facts)]


def _score(name: str, language: str, turns: Sequence[Labelled], learn: Learn) -> Score:
    expected = found = right = met = 0
    for turn in turns:
        learned = _learned(turn, learn)
        expected += len(turn.facts)
        found += len(learned)
        right += sum(any(_fits(one, fact) for fact in turn.facts) for one in learned)
        met += sum(any(_fits(one, fact) for one in learned) for fact in turn.facts)
    return Score(
        set=name,
        language=language,
        turns=len(turns),
        expected=expected,
        found=found,
        right=right,
        precision=right / found if found else 1.0,
        recall=met / expected if expected else 1.0,
        interval=_wilson(right, found),
    )


def _fits(one: Candidate, fact: Expected) -> bool:
    subjects = {subject_key(name) for name in fact.subject}
    predicates = {predicate_key(name) for name in fact.predicate}
    if subject_key(one.subject) not in subjects or predicate_key(one.predicate) not in predicates:
        return False
    if one.over != fact.over:
        return False
    said = _PIECE.findall(value_words(one.value))
    for value in fact.value:
        wanted = _PIECE.findall(value_words(value))
        if set(wanted) <= set(said) and len(said) <= max(2 * len(wanted), 2):
            return True
    return False


def _mistakes(name: str, turn: Labelled, learn: Learn) -> list[dict[str, str]]:
    learned = _learned(turn, learn)
    extra = [one for one in learned if not any(_fits(one, fact) for fact in turn.facts)]
    missed = [fact for fact in turn.facts if not any(_fits(one, fact) for one in learned)]
    return [
        {
            "set": name,
            "kind": "wrong",
            "text": turn.text,
            "fact": f"{one.subject} | {one.predicate} | {one.value}",
        }
        for one in extra
    ] + [
        {
            "set": name,
            "kind": "missed",
            "text": turn.text,
            "fact": f"{fact.subject[0]} | {fact.predicate[0]} | {fact.value[0]}",
        }
        for fact in missed
    ]


def _wilson(right: int, found: int) -> tuple[float, float]:
    if not found:
        return 0.0, 1.0
    z, share = 1.96, right / found
    middle = (share + z * z / (2 * found)) / (1 + z * z / found)
    half = z / (1 + z * z / found) * (share * (1 - share) / found + z * z / (4 * found * found)) ** 0.5
    return middle - half, min(1.0, middle + half)


def _timed(chosen: Sequence[Labelled], learn: Learn) -> float:
    """Return the milliseconds of processor time that reading takes, best of all."""
    best = float("inf")
    for _ in range(_ROUNDS):
        started = time.process_time()
        for turn in chosen:
            _learned(turn, learn)
        best = min(best, time.process_time() - started)
    return best * 1000


def _written(chosen: Sequence[Labelled]) -> tuple[float, int]:
    """Milliseconds of learning from a session that holds the turns, best of all, and how many facts."""
    best, learned = float("inf"), 0
    for _ in range(_ROUNDS):
        with (
            tempfile.TemporaryDirectory() as folder,
            Memory.open(folder, config={"embedder": "none"}, trusted=True) as memory,
        ):
            memory.session("before").add("user", "Hello.")
            memory.learn()
            session = memory.session("bench")
            for turn in chosen:
                session.add(turn.role, turn.text, origin=turn.origin)
            started = time.perf_counter()
            report = memory.learn("bench")
            best = min(best, time.perf_counter() - started)
            learned = sum(one.status == "learned" for one in report.facts)
    return best * 1000, learned
