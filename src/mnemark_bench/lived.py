"""What use does to recall: the same questions to bare turns, and to a memory that was lived in.

Lived in means: every session was ended and the memory consolidated, so that it holds episodes, notes and
facts beside its turns. With recorded notes of a model these are given as a model's answer would be.
"""

import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from mnemark.embed import Embedder
from mnemark.errors import UsageError
from mnemark.files.sessions import FOLDER, SessionLog, log_files
from mnemark.llm.base import Message
from mnemark.llm.budget import Budget, Ledger, Meter
from mnemark.llm.function import FunctionLLM
from mnemark.memory.memory import Memory
from mnemark.retrieval.render import NOTED
from mnemark.text.words.tokens import estimate_tokens
from mnemark.types import Hit
from mnemark_bench.blocks import is_whole, shown
from mnemark_bench.data import DataSet, SetQuestion, SetUnit, find_sets, load_set, read_lines
from mnemark_bench.fixture import embedder_for, kept_or_temporary, opened
from mnemark_bench.measures import Difference, Measures, difference, mean, measure
from mnemark_bench.store import StoredScope

BUDGET: Final = 800
"""Tokens of a block."""
BARE, LIVED, WITH_NOTES = "bare", "lived", "lived, with notes"
MEASURES: Final = (
    "turn_any@10", "turn_fractional@10", "turn_ndcg@10", "block_some", "block_all", "block_whole",
    "block_tokens", "block_repeated", "block_derived",
)  # fmt: skip
COMPARED: Final = MEASURES[:6]
_FEW: Final = 4
"""Turns that a derived passage may come from to count as evidence of them; an episode counts as none."""
_DEADLINE: Final = 30.0
"""Seconds: evidence is measured here, not time."""
_ROLES: Final = frozenset({"user", "assistant", "system", "tool"})
_SHOWN_TURN: Final = re.compile(r"^T(\d+) \[[^\]]*\] \w+: (.*)$", re.MULTILINE)
_PREFIX: Final = 60
"""Characters by which a turn is known in a request."""
_WORDS: Final = 6
"""Words in a row that count as repeated."""


class ModelNote(msgspec.Struct, frozen=True):
    """A recorded note of a model on turns of one scope."""

    scope: str
    text: str
    session_id: str = ""
    kind: str = "observation"
    source_ids: list[str] = []


class LivedSet(msgspec.Struct, kw_only=True):
    """One set: the measures of each state of its memories, and their differences to the bare one."""

    set: str
    scored: int
    states: dict[str, Measures]
    differences: dict[str, dict[str, Difference]]
    """By state and measure."""
    notes: int = 0
    """Recorded notes given."""
    kept: int = 0
    """Of these, the notes that the turns support."""


def run(
    folder: Path,
    *,
    derived: Path | None,
    named: bool = False,
    embedder: str,
    keep: Path | None,
    limit: int | None,
    tell: Callable[[str], None],
) -> list[LivedSet]:
    """Compare the states of the memories of every set below `folder` that holds turns.

    All states of a set have the same roles: with `named`, those of the set; else speakers with a name are a
    user and assistants.

    Raises:
        UsageError: the folder holds no set with turns and questions, or `derived` is not of the form.
    """
    model = embedder_for(embedder)
    notes = (
        [] if derived is None else [note for note in read_lines(derived, ModelNote) if note.kind != "summary"]
    )
    results = []
    with kept_or_temporary(keep) as workspaces:
        for found in find_sets(folder):
            data = load_set(found, limit=limit)
            if not _has_turns(data):
                tell(f"{found.name}: no turns, left out")
                continue
            if not data.questions:
                tell(f"{data.name}: no questions with evidence, left out")
                continue
            tell(f"{data.name}: {len(data.questions):,} questions")
            data = data if named else _as_chats(data)
            place = workspaces / f"{data.name}{'-named' if named else ''}"
            results.append(_set(data, place, model, notes, tell))
    if not results:
        raise UsageError(f"no set of {folder} has turns, and questions whose evidence is known")
    return results


def _has_turns(data: DataSet) -> bool:
    notes = {"note", "passage", "memory"}
    return any(unit.kind not in notes for units in data.units.values() for unit in units)


def _as_chats(data: DataSet) -> DataSet:
    """Return a set with its speakers as a user and an assistant, by name."""
    return replace(data, units={scope: _as_chat(units) for scope, units in data.units.items()})


def _as_chat(units: Sequence[SetUnit]) -> list[SetUnit]:
    """Give named speakers a role: the first of a memory is its user, others are assistants."""
    owner = next((unit.role for unit in units if unit.kind == "turn" and unit.role not in _ROLES), None)
    return [
        replace(
            unit,
            role="user" if unit.role == owner else "assistant",
            meta={**unit.meta, "name": unit.role or ""},
        )
        if unit.kind == "turn" and unit.role not in _ROLES
        else unit
        for unit in units
    ]


class _SetState(NamedTuple):
    """One state of a set's memories."""

    memories: dict[str, Memory]
    units: dict[str, dict[str, str]]
    """The unit of each turn's ref, by scope."""


def _set(
    data: DataSet,
    folder: Path,
    model: Embedder | None,
    notes: Sequence[ModelNote],
    tell: Callable[[str], None],
) -> LivedSet:
    rows: dict[str, list[Measures]] = {}
    asked = [note for note in notes if note.scope in data.units]
    kept = 0
    for state in (BARE, LIVED, *([WITH_NOTES] if asked else [])):
        memories = {}
        try:
            for number, (scope, units) in enumerate(data.units.items()):
                root = folder / state.replace(", ", "-").replace(" ", "-") / str(number)
                given = [note for note in asked if note.scope == scope] if state == WITH_NOTES else []
                kept += _grown(root, units, model, state, given)
                memories[scope] = opened(root, model)
                memories[scope].sync()
            tell(f"  {state}")
            rows[state] = _rows(
                data.questions, _SetState(memories, {s: _refs(m) for s, m in memories.items()})
            )
        finally:
            for memory in memories.values():
                memory.close()
    return LivedSet(
        set=data.name,
        scored=len(data.questions),
        states={state: mean(found) for state, found in rows.items()},
        differences={
            state: _differences(found, rows[BARE]) for state, found in rows.items() if state != BARE
        },
        notes=len(asked),
        kept=kept,
    )


def _differences(lived: Sequence[Measures], bare: Sequence[Measures]) -> dict[str, Difference]:
    return {
        name: difference([[now[name] - before[name] for now, before in zip(lived, bare, strict=True)]])
        for name in COMPARED
    }


def _grown(
    root: Path, units: list[SetUnit], model: Embedder | None, state: str, notes: Sequence[ModelNote]
) -> int:
    """Store the units at `root`, and live in it unless the state is bare; return how many notes were kept."""
    done = root.with_name(f"{root.name}.done")
    if done.is_file():
        return int(done.read_text("utf-8"))
    if root.exists():
        shutil.rmtree(root)
        root.with_name(f"{root.name}.json").unlink(missing_ok=True)
    StoredScope.make(root, units)
    kept = 0 if state == BARE else _live(root, units, model, notes)
    done.write_text(str(kept), "utf-8")
    return kept


def _live(root: Path, units: Sequence[SetUnit], model: Embedder | None, notes: Sequence[ModelNote]) -> int:
    """End every session, a model noting down `notes`, and consolidate."""
    reader = _Replay(units, notes)
    config: dict[str, Any] = {} if model is not None else {"embedder": "none"}
    with Memory.open(root, config=config, embedder=model, trusted=True) as memory:
        for session in dict.fromkeys(unit.session_id for unit in units):
            memory.session(session).end(reader.llm() if notes else None)
        memory.consolidate(commit=False)
        memory.sync()
    return reader.kept(root)


class _Replay:
    """Answers a request on a sitting with the recorded notes on its turns."""

    def __init__(self, units: Sequence[SetUnit], notes: Sequence[ModelNote]) -> None:
        self._by_text = {_begin(unit.text): unit.id for unit in units}
        self._notes = notes

    def llm(self) -> FunctionLLM:
        """Return the model."""
        budget = Budget(calls_per_day=1 << 30, tokens_per_day=1 << 40)
        return FunctionLLM(self.answer, meter=Meter(budget, Ledger.in_memory()))

    def answer(self, messages: Sequence[Message]) -> str:
        """Return the answer to a request."""
        turns: dict[str, int] = {}
        for number, text in _SHOWN_TURN.findall(messages[-1].content):
            unit = self._by_text.get(_begin(text))
            if unit is not None:
                turns[unit] = int(number)
        found = [
            {"text": note.text, "turns": [turns[source] for source in note.source_ids]}
            for note in self._notes
            if note.source_ids and all(source in turns for source in note.source_ids)
        ]
        return msgspec.json.encode({"observations": found[:30]}).decode()

    def kept(self, root: Path) -> int:
        """Return how many notes stand on the pages of a workspace."""
        pages = "\n".join(page.read_text("utf-8") for page in (root / "memory").rglob("*.md"))
        return sum(note.text in pages for note in self._notes)


def _begin(text: str) -> str:
    return text.split("\n", 1)[0][:_PREFIX].strip()


def _refs(memory: Memory) -> dict[str, str]:
    """Return the unit of every turn of a memory by its ref."""
    found = {}
    for file in log_files(memory.root):
        name = f"{FOLDER}/{file.path.name}"
        for placed in SessionLog.at(memory.root, name).turns():
            unit = placed.turn.meta.get("unit")
            if isinstance(unit, str):
                found[f"{name}#L{placed.line}"] = unit
    return found


def _rows(questions: Sequence[SetQuestion], state: _SetState) -> list[Measures]:
    return [_row(question, state) for question in questions]


def _row(question: SetQuestion, state: _SetState) -> Measures:
    scope = question.scopes[0]
    memory, units = state.memories[scope], state.units[scope]
    gold = set(question.gold_ids)
    found = memory.search(question.query, k=10, now=question.asked_at)
    row = measure(_evidence(found.hits, units), gold, "turn")
    block = memory.recall(question.query, budget=BUDGET, deadline=_DEADLINE, now=question.asked_at)
    visible = shown(block.text, block.hits)
    there = set(_evidence([hit for hit, _ in visible], units))
    own = {unit for hit, _ in visible if (unit := units.get(hit.ref)) is not None}
    whole = {units.get(hit.ref) for hit, words in visible if is_whole(hit, words)}
    row["block_some"] = float(bool(gold & there))
    row["block_all"] = float(gold <= there)
    row["block_whole"] = float(bool(gold & whole))
    row["block_tokens"] = float(estimate_tokens(block.text))
    row["block_repeated"] = _repeated(block.text)
    noted = {units.get(hit.ref) for hit, words in visible if NOTED in hit.meta and "[noted: " in words}
    row["block_derived"] = float(bool((gold & there) - own) or bool(gold & noted))
    return row


def _evidence(hits: Sequence[Hit], units: Mapping[str, str]) -> list[str]:
    """Return the units that hits are, or come from; a hit that is none keeps its place."""
    ranked: list[str] = []
    for hit in hits:
        sources = [hit.ref] if hit.ref in units else [str(ref) for ref in hit.meta.get("sources", ())]
        named = [units[ref] for ref in sources if ref in units]
        ranked += named if 0 < len(named) <= _FEW else [hit.ref]
    return list(dict.fromkeys(ranked))


def _repeated(text: str) -> float:
    """Return the share of a block's runs of words that stood in it before."""
    words = re.findall(r"[\u4e00-\u9fff]|[\w']+", text.casefold())
    runs = [tuple(words[at : at + _WORDS]) for at in range(len(words) - _WORDS + 1)]
    return 1 - len(set(runs)) / len(runs) if runs else 0.0
