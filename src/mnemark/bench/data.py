"""Sets of questions with known evidence: one folder each, `corpus.jsonl` and `queries.jsonl`.

A unit of the corpus has `id`, `scope`, `session_id`, `time`, `role`, `kind`, `text`; a question has `qid`,
`query`, `scopes`, `gold_ids`, `gold_sessions`, `category`, `query_date`, `answerable`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from mnemark.errors import UsageError


class Unit(msgspec.Struct, frozen=True, kw_only=True):
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


class Question(msgspec.Struct, frozen=True, kw_only=True):
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
    def scored(self) -> bool:
        """Whether it counts: answerable, with evidence, and planted where the set says so."""
        planted = self.meta.get("evidence_kind", "planted") == "planted"
        return self.answerable and bool(self.gold_ids) and planted


class DataSet(msgspec.Struct, frozen=True):
    """Units by scope, and the questions."""

    name: str
    units: dict[str, list[Unit]]
    questions: list[Question]


def is_set(folder: Path) -> bool:
    """Whether a folder holds a set."""
    return (folder / "corpus.jsonl").is_file() and (folder / "queries.jsonl").is_file()


def load_sets(folder: Path) -> list[DataSet]:
    """The set in a folder, or all sets in the folders directly below it.

    Raises:
        UsageError: there is none.
    """
    folders = [folder] if is_set(folder) else sorted(f for f in folder.iterdir() if f.is_dir() and is_set(f))
    if not folders:
        raise UsageError(f"{folder} holds no corpus.jsonl and queries.jsonl, and no folder with them")
    return [load_set(found) for found in folders]


def load_set(folder: Path) -> DataSet:
    """Read one set."""
    units: dict[str, list[Unit]] = {}
    for unit in _lines(folder / "corpus.jsonl", Unit):
        units.setdefault(unit.scope, []).append(unit)
    return DataSet(folder.name, units, list(_lines(folder / "queries.jsonl", Question)))


def _lines(path: Path, kind: type[Any]) -> Iterator[Any]:
    decoder = msgspec.json.Decoder(kind)
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                try:
                    yield decoder.decode(line)
                except msgspec.DecodeError as error:
                    raise UsageError(f"{path}, line {number}: {error}") from error
