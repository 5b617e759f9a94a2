"""A year of use, month by month: is what is still true found, and does the core memory hold nothing else.

Beside it, in the same run, stands a memory that only keeps the turns: nothing learned, nothing consolidated.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import msgspec

from mnemark.memory.memory import Memory
from mnemark.text.markdown.generated import find
from mnemark.text.words.tokens import estimate_tokens
from mnemark_bench.simulated_life import Truth, true_on, truths, turns

MONTHS: Final = 12
_DAYS: Final = 30
_TOP: Final = 5
_PARTS: Final = (("MEMORY.md", "core"), ("USER.md", "profile"))
_CONFIG: Final = {"recall_hits": _TOP}


class Month(msgspec.Struct, frozen=True, kw_only=True):
    """The state at the end of a month."""

    month: int
    turns: int
    asked: int
    found: float
    """Share of what is true that is among the five best hits of its question."""
    plain: float
    """The same for a memory of turns alone."""
    first: float
    """Share where the current value comes before every value it replaced, of those that replaced one."""
    plain_first: float
    facts: int
    core: int
    """Entries of the generated parts."""
    wrong: tuple[str, ...]
    """Entries that are not true (any more), or that nobody was told."""
    prompt: int
    """Tokens of `context()`."""
    kilobytes: int
    """Of all text files."""
    by_hand: bool
    """Whether what a person wrote is still there, byte for byte."""


def run(folder: Path | None, *, months: int = MONTHS, say: Callable[[str], None]) -> Iterator[Month]:
    """Live the year in `folder` (a temporary one where None) and look at the end of each month."""
    with TemporaryDirectory(prefix="mnemark-year-") as temporary:
        root = folder or Path(temporary) / "kept"
        start = (datetime.now().astimezone() + timedelta(days=1)).replace(
            hour=0, minute=0, second=0, microsecond=0
        )
        with (
            Memory.open(root, config=_CONFIG, trusted=True) as memory,
            Memory.open(Path(temporary) / "plain", config=_CONFIG) as plain,
        ):
            year = _Year(memory, plain, start)
            for month in range(months):
                yield year.live(month)
                say(f"month {month + 1} of {months}")


class _Year:
    """Two memories that hear the same."""

    def __init__(self, memory: Memory, plain: Memory, start: datetime) -> None:
        self.memory = memory
        self.plain = plain
        self.start = start
        self.count = 0
        self.written: list[str] = []

    def live(self, month: int) -> Month:
        said = list(turns(month, self.start))
        self.count += len(said)
        sessions = dict.fromkeys(turn.session for turn in said)
        for session in sessions:
            mine = [turn for turn in said if turn.session == session]
            for memory in (self.memory, self.plain):
                talk = memory.session(session)
                talk.add_many([talk.turn(turn.role, turn.text, time=turn.time) for turn in mine])
            self.memory.session(session).end()
            self.memory.consolidate(now=mine[-1].time.replace(hour=23))
        self._write_by_hand(month)
        last = self.start + timedelta(days=month * _DAYS + _DAYS)
        self.memory.consolidate(now=last)
        for memory in (self.memory, self.plain):
            memory.sync()
        return self._look(month, last)

    def _write_by_hand(self, month: int) -> None:
        """What a person does: notes above and below what is generated."""
        line = f"By hand in month {month + 1}: keep this. 手写的第 {month + 1} 行。\n"
        self.written.append(line)
        path = self.memory.root / "MEMORY.md"
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        text = line + old if month % 2 else old + line
        path.write_text(text, encoding="utf-8", newline="")

    def _look(self, month: int, now: datetime) -> Month:
        true = true_on(month * _DAYS + _DAYS - 1)
        ours = [_answer(self.memory, truth, now) for truth in true]
        plain = [_answer(self.plain, truth, now) for truth in true]
        lines = [line for name, part in _PARTS for line in _entries(self.memory.root / name, part)]
        curated = (self.memory.root / "MEMORY.md").read_text(encoding="utf-8")
        return Month(
            month=month + 1,
            turns=self.count,
            asked=len(true),
            found=_share([found for found, _ in ours]),
            plain=_share([found for found, _ in plain]),
            first=_share([first for _, first in ours if first is not None]),
            plain_first=_share([first for _, first in plain if first is not None]),
            facts=sum(1 for _ in self.memory.facts(as_of=now)),
            core=len(lines),
            wrong=tuple(line for line in lines if not _is_true(line, true)),
            prompt=estimate_tokens(self.memory.context(now=now)),
            kilobytes=sum(f.stat().st_size for f in _texts(self.memory.root)) // 1024,
            by_hand=all(line in curated for line in self.written),
        )


def _answer(memory: Memory, truth: Truth, now: datetime) -> tuple[bool, bool | None]:
    """Whether the value is among the best hits, and before all it replaced (None: it replaced none)."""
    hits = memory.search(truth.asked, k=_TOP, now=now).hits
    texts = [hit.text.casefold() for hit in hits]
    found = _place(texts, truth.value)
    old = [
        _place(texts, one.value)
        for one in truths()
        if one.last <= truth.first and (one.subject, one.predicate) == (truth.subject, truth.predicate)
    ]
    return found < _TOP, (found < _TOP and found <= min(old)) if old else None


def _place(texts: Sequence[str], value: str) -> int:
    """Where the value stands first; a passage that tells of a change holds both, and counts for both."""
    return next((at for at, text in enumerate(texts) if value.casefold() in text), _TOP)


def _entries(path: Path, part: str) -> list[str]:
    found = find(path.read_text(encoding="utf-8"), part) if path.exists() else None
    return [line for line in found.lines if line.startswith("- ")] if found else []


def _is_true(line: str, true: Sequence[Truth]) -> bool:
    words = line.casefold()
    return any(
        truth.value.casefold() in words and (truth.subject == "user" or truth.subject in words)
        for truth in true
    )


def _share(found: Sequence[bool]) -> float:
    return round(sum(found) / len(found), 3) if found else 1.0


def _texts(root: Path) -> Iterator[Path]:
    for pattern in ("**/*.md", "sessions/*.jsonl", "journal/*.jsonl"):
        yield from (path for path in root.glob(pattern) if ".mnemark" not in path.parts)


def table(months: Sequence[Month]) -> str:
    """The year as a table, and what was wrong in it."""
    head = "month  turns  true  found  plain  first  plain  facts  core  wrong  prompt     kB  by hand"
    lines = [
        f"{one.month:5}  {one.turns:5}  {one.asked:4}  {one.found:5.2f}  {one.plain:5.2f}  "
        f"{one.first:5.2f}  {one.plain_first:5.2f}  {one.facts:5}  {one.core:4}  {len(one.wrong):5}  "
        f"{one.prompt:6}  {one.kilobytes:5}  {'kept' if one.by_hand else 'LOST'}"
        for one in months
    ]
    wrong = dict.fromkeys(line for one in months for line in one.wrong)
    return "\n".join([head, *lines, *(f"wrong: {line}" for line in wrong)])
