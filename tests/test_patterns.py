"""Every regular expression takes time in proportion to its text, used as the code uses it.

A new pattern is found by itself: by its name in a module, in a table, or written where it is used. What keeps
a run from being searched again from each of its places is a look behind, or a possessive `*+`. Where that is
not to be had, the text it sees is bounded, and `BOUNDED` says by what.
"""

import ast
import importlib
import pkgutil
import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from types import ModuleType
from typing import Final, NamedTuple

import pytest

import mnemark
import mnemark_adapters
import mnemark_agents
import mnemark_faces
import mnemark_interfaces
from hostile import near_misses, nodes_of, pattern_in, patterns_of
from linear import seconds, slow
from sampled import sampled

pytestmark = pytest.mark.timed

SKIPPED: Final = ("mnemark_bench", "mnemark.__main__")
USES: Final[dict[str, Callable[[re.Pattern[str], str], object]]] = {
    "match": lambda pattern, text: pattern.match(text),
    "fullmatch": lambda pattern, text: pattern.fullmatch(text),
    "search": lambda pattern, text: pattern.search(text),
    "findall": lambda pattern, text: pattern.findall(text),
    "finditer": lambda pattern, text: sum(1 for _ in pattern.finditer(text)),
    "sub": lambda pattern, text: pattern.sub("", text),
    "split": lambda pattern, text: pattern.split(text),
}
TABLES: Final[dict[str, str]] = {
    "mnemark.extraction.english": "match",
    "mnemark.extraction.chinese": "match",
    "mnemark.extraction.chinese_ends": "fullmatch",
    "mnemark.extraction.chinese_owner": "fullmatch",
    "mnemark.extraction.chinese_statements": "match",
    "mnemark.extraction.chinese_practice": "fullmatch",
    "mnemark.extraction.english_orders": "fullmatch",
    "mnemark.extraction.english_practice": "fullmatch",
    "mnemark.text.redaction.extents": "match",
    "mnemark.text.redaction.named_values": "match",
    "mnemark.text.redaction.urls": "match",
    "mnemark.text.redaction.values": "match",
    "mnemark.files.copies": "fullmatch",
}
"""How the patterns in the tables of a module are used, where they are not looked for everywhere."""
BOUNDED: Final[dict[str, tuple[int, str]]] = {
    "mnemark.extraction.extract": (1_500, "a turn that is learned from: `rules_text.LONGEST`"),
    "mnemark.extraction.validity": (1_500, "a sentence of such a turn"),
    "mnemark.extraction.sentences": (1_500, "a turn that is learned from, cut"),
    "mnemark.extraction.english": (1_500, "a sentence of such a turn"),
    "mnemark.extraction.chinese": (1_500, "a sentence of such a turn"),
    "mnemark.extraction.chinese_clauses": (60, "a clause: `LONGEST`"),
    "mnemark.extraction.chinese_ends": (60, "a clause: `chinese_clauses.LONGEST`"),
    "mnemark.extraction.chinese_owner": (60, "a clause: `chinese_clauses.LONGEST`"),
    "mnemark.extraction.chinese_statements": (60, "a sentence: `_LONGEST`"),
    "mnemark.extraction.chinese_practice": (90, "a sentence: half of `practice.LONGEST`"),
    "mnemark.extraction.english_orders": (180, "a sentence: `practice.LONGEST`"),
    "mnemark.extraction.english_practice": (180, "a sentence: `practice.LONGEST`"),
    "mnemark.extraction.practice": (180, "a sentence: `LONGEST`"),
    "mnemark.retrieval.routes.fact_questions": (2_000, "a question: `_LONGEST`"),
    "mnemark.text.dates.ranges": (2_000, "a question: `order_hint`"),
    "mnemark.text.triggers": (400, "an instruction: `_LONGEST`"),
    "mnemark.text.markdown.blocks": (600, "a heading: three times `_MAX_TITLE`"),
    "mnemark.text.redaction.values": (2_048, "a value: `redact_extent._LONGEST`"),
    "mnemark.files.copies": (255, "the name of a file"),
    "mnemark_adapters.importers.transcripts": (255, "the name of a file"),
    "mnemark.text.markdown": (600, "a text that ends a comment: it is cut off behind the last end"),
}
"""Modules with patterns that are not linear, the characters these see at most, and why."""
_QUICK: Final = 0.05
"""Seconds for a text of that size."""


class Used(NamedTuple):
    """A pattern and how it is used."""

    where: str
    pattern: re.Pattern[str]
    use: str


def modules() -> Iterator[ModuleType]:
    rooms = (mnemark, mnemark_adapters, mnemark_agents, mnemark_faces, mnemark_interfaces)
    for found in (one for room in rooms for one in pkgutil.walk_packages(room.__path__, f"{room.__name__}.")):
        if not found.name.startswith(SKIPPED):
            try:
                yield importlib.import_module(found.name)
            except ImportError:  # of an optional host
                continue


@cache
def used() -> dict[str, list[Used]]:
    """All patterns by module: those with a name as they are used, those in tables as `finditer`."""
    uses: defaultdict[int, set[str]] = defaultdict(set)
    found: defaultdict[str, dict[tuple[str, str], Used]] = defaultdict(dict)
    loaded = list(modules())
    for module in loaded:
        for line, owner, use, first in _calls(module):
            pattern = pattern_in(vars(module).get(owner))
            if pattern is not None:
                uses[id(pattern)].add(use)
            elif owner == "re" and first:
                found[module.__name__][first, use] = Used(f"line {line}", re.compile(first), use)
    for module in loaded:
        named = {id(pattern_in(value)): name for name, value in vars(module).items()}
        table = TABLES.get(module.__name__, "finditer")
        for pattern in patterns_of(module):
            name = named.get(id(pattern), "a table")
            for use in uses.get(id(pattern)) or {table}:
                found[module.__name__][pattern.pattern, use] = Used(name, pattern, use)
    return {name: list(patterns.values()) for name, patterns in found.items()}


def _calls(module: ModuleType) -> Iterator[tuple[int, str, str, str]]:
    """Calls of a pattern's methods: line, its name or `re`, the method, and a pattern written there."""
    for node in nodes_of(module):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in USES:
            first = node.args[0] if node.args else None
            written = first.value if isinstance(first, ast.Constant) else ""
            if isinstance(node.func.value, ast.Name):
                said = written if isinstance(written, str) else ""
                yield node.lineno, node.func.value.id, node.func.attr, said


def _slow(module: str, one: Used, size: int, every: int) -> list[str]:
    use = USES[one.use]
    bound, _ = BOUNDED.get(module, (0, ""))
    found: list[str] = []
    shapes = near_misses(one.pattern)
    for shape in shapes[
        zlib.crc32(repr(one.pattern.pattern).encode()) % min(every, len(shapes) or 1) :: every
    ]:

        def call(text: str) -> object:
            return use(one.pattern, text)

        if bound and _is_quick(call, shape.text, bound):
            continue
        if (grown := slow(call, shape.text, size=size)) is not None:
            found.append(f"{one.where}, {one.use}, on {shape}: {grown}")
    return found


def _is_quick(call: Callable[[str], object], make: Callable[[int], str], bound: int) -> bool:
    """Whether it takes no time at its bound; tried on a part first, in case it takes forever."""
    return all(
        min(seconds(call, make(bound // part)[:bound]) for _ in range(2)) <= _QUICK for part in (50, 8, 1)
    )


@pytest.mark.parametrize("every", sampled((4, 1), 2), ids=("some", "all"))
@pytest.mark.parametrize("name", sorted(used()))
def test_patterns_take_linear_time_on_what_they_nearly_match(name: str, every: int) -> None:
    assert [line for one in used()[name] for line in _slow(name, one, 2_000, every)] == []


def test_bounds_are_of_modules_that_need_them() -> None:
    assert set(BOUNDED) | set(TABLES) <= set(used())
