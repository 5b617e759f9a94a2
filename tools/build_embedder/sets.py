"""Evaluation sets: folders with `corpus.jsonl` and `queries.jsonl`, and pairings across languages.

A set is cut into scopes (one person's memory); a search never crosses them. Of a set whose questions name
the kind of their evidence, only those with planted evidence count. `NAME_x` pairs the Chinese questions
of `NAME_zh` with the English texts of `NAME_en`; `NAME_y` the other way round.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Scope:
    """One memory and the questions asked of it."""

    texts: list[str] = field(default_factory=list)
    sessions: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    gold: list[frozenset[int]] = field(default_factory=list)
    """Rows of `texts`, one set a question."""
    gold_sessions: list[frozenset[str]] = field(default_factory=list)


def _lines(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def read_set(corpus: Path, questions: Path) -> list[Scope]:
    """The scopes of a set, from the texts of one folder and the questions of the same or another."""
    scopes: dict[str, Scope] = {}
    rows: dict[str, tuple[str, int]] = {}
    for unit in _lines(corpus / "corpus.jsonl"):
        scope = scopes.setdefault(unit["scope"], Scope())
        rows[unit["id"]] = (unit["scope"], len(scope.texts))
        speaker = f"{unit['role']}: " if unit["kind"] == "turn" else ""
        scope.texts.append(speaker + unit["text"])
        scope.sessions.append(unit["session_id"])
    for question in _lines(questions / "queries.jsonl"):
        found = [rows[name] for name in question["gold_ids"] if name in rows]
        kind = question["meta"].get("evidence_kind")
        if not question["answerable"] or not found or kind not in {None, "planted"}:
            continue
        scope = scopes[found[0][0]]
        gold = frozenset(row for name, row in found if name == found[0][0])
        scope.questions.append(question["query"])
        scope.gold.append(gold)
        scope.gold_sessions.append(frozenset(scope.sessions[row] for row in gold))
    return [scope for scope in scopes.values() if scope.questions]


def read_sets(folder: Path, names: list[str] | None = None) -> dict[str, list[Scope]]:
    """All sets of `folder` by name, pairings across languages last; `names` chooses some of them."""
    plain = sorted(path.parent.name for path in folder.glob("*/queries.jsonl"))
    sources = {name: (name, name) for name in plain}
    for name in plain:
        if name.endswith("_en") and name[:-3] + "_zh" in plain:
            sources[name[:-3] + "_x"] = (name, name[:-3] + "_zh")
            sources[name[:-3] + "_y"] = (name[:-3] + "_zh", name)
    return {
        name: read_set(folder / corpus, folder / questions)
        for name, (corpus, questions) in sources.items()
        if names is None or name in names
    }
