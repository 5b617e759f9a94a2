"""Sets of questions with known evidence: one folder each, `corpus.jsonl` and `queries.jsonl`.

A unit of the corpus has `id`, `scope`, `session_id`, `time`, `role`, `kind`, `text`; a question has `qid`,
`query`, `scopes`, `gold_ids`, `gold_sessions`, `category`, `query_date`, `answerable`.
"""

import calendar
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from mnemark.errors import NotFoundError, UsageError


class SetUnit(msgspec.Struct, frozen=True, kw_only=True):
    """One retrievable thing."""

    id: str
    scope: str
    session_id: str
    time: str | None = None
    role: str | None = None
    kind: str = "turn"
    text: str = ""
    lang: str = ""
    seq: int = 0
    meta: dict[str, Any] = {}


class SetQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """One question and where its answer stands."""

    qid: str
    query: str
    scopes: list[str]
    gold_ids: list[str]
    gold_sessions: list[str]
    lang: str = ""
    category: str | None = None
    query_date: str | None = None
    answerable: bool = True
    meta: dict[str, Any] = {}

    @property
    def asked_at(self) -> datetime | None:
        """When it was asked; a month or a day means its last minute."""
        text = self.query_date
        if not text:
            return None
        if len(text) == 7:
            year, month = int(text[:4]), int(text[5:])
            return datetime(year, month, calendar.monthrange(year, month)[1], 23, 59)  # noqa: DTZ001 - wall time
        moment = datetime.fromisoformat(text)
        return moment.replace(hour=23, minute=59) if len(text) == 10 else moment


class DataSet(msgspec.Struct, frozen=True):
    """Units by scope, the questions that count, and how many do not, by reason."""

    name: str
    units: dict[str, list[SetUnit]]
    questions: list[SetQuestion]
    skipped: dict[str, int] = {}
    unanswerable: list[SetQuestion] = []
    """Questions of one known scope that ask for what is not there."""

    @property
    def size(self) -> int:
        """Number of units."""
        return sum(len(units) for units in self.units.values())

    def limited(self, limit: int | None) -> "DataSet":
        """The same with at most `limit` questions, spread evenly, and the same share of the unanswerable."""
        count = len(self.questions)
        if limit is None or count <= limit:
            return self
        chosen = _spread(self.questions, limit)
        absent = _spread(self.unanswerable, round(len(self.unanswerable) * limit / count))
        skipped = {**self.skipped, "over the limit": count - limit}
        return replace(self, questions=chosen, unanswerable=absent, skipped=skipped)


def _spread(questions: Sequence[SetQuestion], most: int) -> list[SetQuestion]:
    """Return so many questions, spread evenly."""
    return [questions[index * len(questions) // most] for index in range(most)]


def is_set(folder: Path) -> bool:
    """Whether a folder holds a set."""
    return (folder / "corpus.jsonl").is_file() and (folder / "queries.jsonl").is_file()


def find_sets(folder: Path) -> list[Path]:
    """The folder itself where it is a set, or those directly below it that are.

    Raises:
        NotFoundError: there is no such folder.
        UsageError: it holds none.
    """
    if not folder.is_dir():
        raise NotFoundError(f"there is no folder {folder}")
    found = [folder] if is_set(folder) else sorted(f for f in folder.iterdir() if f.is_dir() and is_set(f))
    if not found:
        raise UsageError(f"{folder} holds no corpus.jsonl and queries.jsonl, and no folder with them")
    return found


def load_set(folder: Path, *, questions_from: Path | None = None, limit: int | None = None) -> DataSet:
    """Read one set.

    Args:
        folder: with `corpus.jsonl` and `queries.jsonl`.
        questions_from: another set whose questions are asked instead; both name units by the same ids.
        limit: questions at most.

    Raises:
        UsageError: a file is missing or a line is not of the form.
    """
    units: dict[str, list[SetUnit]] = {}
    for unit in read_lines(folder / "corpus.jsonl", SetUnit):
        units.setdefault(unit.scope, []).append(unit)
    asked = questions_from or folder
    name = folder.name if questions_from is None else f"{asked.name} on {folder.name}"
    read = list(read_lines(asked / "queries.jsonl", SetQuestion))
    questions, skipped = _usable(read, units)
    absent = [one for one in read if not one.answerable and len(one.scopes) == 1 and one.scopes[0] in units]
    return DataSet(name, units, questions, skipped, absent).limited(limit)


def _usable(
    questions: list[SetQuestion], units: dict[str, list[SetUnit]]
) -> tuple[list[SetQuestion], dict[str, int]]:
    """The questions that can be scored, with their evidence that is in the corpus; and why others cannot."""
    sessions = {scope: {unit.id: unit.session_id for unit in members} for scope, members in units.items()}
    skipped: Counter[str] = Counter()
    kept = []
    for question in questions:
        known = sessions.get(question.scopes[0], {}) if len(question.scopes) == 1 else {}
        gold = [identifier for identifier in question.gold_ids if identifier in known]
        if not question.answerable:
            skipped["not answerable"] += 1
        elif not question.gold_ids:
            skipped["no evidence named"] += 1
        elif question.meta.get("evidence_kind", "planted") != "planted":
            skipped["evidence linked, not planted"] += 1
        elif not known:
            skipped["not one known scope"] += 1
        elif not gold:
            skipped["evidence not in the corpus"] += 1
        else:
            there = set(known.values())
            gold_sessions = [session for session in question.gold_sessions if session in there]
            kept.append(
                replace(
                    question,
                    gold_ids=gold,
                    gold_sessions=gold_sessions or list(dict.fromkeys(known[found] for found in gold)),
                )
            )
    return kept, dict(skipped)


def read_lines(path: Path, kind: type[Any]) -> Iterator[Any]:
    """The values of a JSONL file.

    Raises:
        UsageError: it cannot be read, or a line is not of the form; the message names it.
    """
    decoder = msgspec.json.Decoder(kind)
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    try:
                        yield decoder.decode(line)
                    except msgspec.DecodeError as error:
                        raise UsageError(f"{path}, line {number}: {error}") from error
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
