"""What is learned of messages as people type them, of what changes in them, and what is told afterwards.

A folder has `messages.jsonl` (`turns`; `must` and `not`: patterns over "subject | predicate | value" of the
facts that hold afterwards; `nothing`: they leave none), `changes.jsonl` (a statement and what changes it;
`must`, `not`) and `asked_later.jsonl` (two sittings twenty days apart, then a `question`; `old` and `new`:
words of its answer).
"""

import re
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import msgspec

from mnemark.errors import UsageError
from mnemark.memory.memory import Memory

_SAID: Final = datetime(2026, 3, 2, 10, tzinfo=UTC)
_LATER: Final = timedelta(days=20)
_BESIDE: Final = 200
"""Characters of a recalled text within which the new words stand beside the old ones."""


class Part(msgspec.Struct, kw_only=True):
    """The result of one kind of item in one language."""

    kind: str
    language: str
    items: int = 0
    stated: int = 0
    """What should be known."""
    learned: int = 0
    """What of it is."""
    false: int = 0
    """Items that left a line they must not, or that still state the old."""
    lines: int = 0
    """Facts that hold."""


class Answer(msgspec.Struct, kw_only=True):
    """What is told long after something changed."""

    id: str
    new_first: bool
    """Whether recall has the new words, beside the old ones or before them."""
    bare_in_prompt: bool
    """Whether the standing prompt has the old value and nothing of the new words."""


class Item(msgspec.Struct, kw_only=True):
    """One item and what it left."""

    id: str
    turns: list[str]
    lines: list[str]
    missed: list[str]
    false: bool


class Typed(msgspec.Struct, kw_only=True):
    """The whole result."""

    parts: list[Part]
    answers: list[Answer]
    items: list[Item]


def run(folder: Path) -> Typed:
    """Measure on a folder; parts whose file is missing are left out.

    Raises:
        UsageError: it has none of the files.
    """
    parts: dict[tuple[str, str], Part] = {}
    items = []
    for name in ("messages", "changes"):
        for record in _records(folder / f"{name}.jsonl"):
            item = _learned(record, one_sitting=name == "messages")
            items.append(item)
            changed = name == "messages" and len(record["turns"]) > 1
            key = "messages with a change" if changed else name, record.get("lang", "en")
            part = parts.setdefault(key, Part(kind=key[0], language=key[1]))
            part.items += 1
            part.stated += len(_patterns(record["must"]))
            part.learned += len(_patterns(record["must"])) - len(item.missed)
            part.false += item.false
            part.lines += len(item.lines)
    answers = [_answer(record) for record in _records(folder / "asked_later.jsonl")]
    if not items and not answers:
        raise UsageError(f"{folder} has none of messages.jsonl, changes.jsonl, asked_later.jsonl")
    return Typed(parts=list(parts.values()), answers=answers, items=items)


def _records(file: Path) -> Iterator[dict[str, Any]]:
    if file.exists():
        yield from (msgspec.json.decode(line) for line in file.read_bytes().splitlines() if line.strip())


def _patterns(value: str | Sequence[str]) -> list[str]:
    return [one for one in ([value] if isinstance(value, str) else value) if one]


def _learned(record: dict[str, Any], *, one_sitting: bool) -> Item:
    """Return what the turns of an item leave, said in one sitting or each in one of its own, a day apart."""
    with (
        tempfile.TemporaryDirectory() as root,
        Memory.open(Path(root), config={"embedder": "none"}) as memory,
    ):
        turns = record["turns"]
        _say(memory, [turns] if one_sitting else [[turn] for turn in turns], timedelta(days=1))
        lines = [f"{one.subject} | {one.predicate} | {one.value}" for one in memory.facts()]
    missed = [one for one in _patterns(record["must"]) if not any(re.search(one, line) for line in lines)]
    false = any(re.search(one, line) for one in _patterns(record["not"]) for line in lines)
    return Item(
        id=record["id"], turns=record["turns"], lines=lines, missed=missed,
        false=false or (record.get("nothing", False) and bool(lines)),
    )  # fmt: skip


def _say(memory: Memory, sittings: Sequence[Sequence[str]], apart: timedelta) -> None:
    """Say the turns of each sitting, a minute apart, and end it."""
    for number, turns in enumerate(sittings):
        session = memory.session(f"chat:{number}")
        for minute, text in enumerate(turns):
            session.add("user", text, time=_SAID + number * apart + timedelta(minutes=minute))
        session.end()


def _answer(record: dict[str, Any]) -> Answer:
    with tempfile.TemporaryDirectory() as root, Memory.open(Path(root)) as memory:
        _say(memory, [[turn] for turn in record["turns"]], _LATER)
        memory.consolidate()
        told = memory.recall(record["question"])
        prompt = memory.prompt()
    text, standing = told.text.casefold(), prompt.text.casefold()
    new, old = record["new"].casefold(), record["old"].casefold()
    told_new, told_old = text.find(new), text.find(old)
    beside = told_old < 0 or told_new < told_old + _BESIDE
    return Answer(
        id=record["id"], new_first=told_new >= 0 and beside,
        bare_in_prompt=old in standing and new not in standing,
    )  # fmt: skip


def table(result: Typed, *, items: bool = False) -> str:
    """Return the figures as lines, with each item that went wrong if asked for."""
    rows = []
    for one in result.parts:
        share = f"{one.learned / one.stated:.2f}" if one.stated else "–"
        rows.append(
            f"{one.kind} {one.language}: {one.learned} of {one.stated} stated things learned ({share}); "
            f"{one.false} of {one.items} items false; {one.lines} lines"
        )
    if result.answers:
        n = len(result.answers)
        rows.append(
            f"asked later: new words told in {sum(one.new_first for one in result.answers)} of {n}; "
            f"bare old value in the prompt in {sum(one.bare_in_prompt for one in result.answers)} of {n}"
        )
    if items:
        for item in result.items:
            if item.missed or item.false:
                rows.append(f"{item.id} {' / '.join(item.turns)!r}\n    has {item.lines}")
                rows.append(f"    missed {item.missed}{' FALSE' if item.false else ''}")
    return "\n".join(rows)
