r"""Find a person's regular expressions in a text in linear time, whatever the pattern and the text.

Python's own matcher tries one way after the other, and their number can double with every character:
`(a|aa)+$` never ends on a line of a's. Here a text is read twice. Backwards, all ways are followed at once:
that tells at which places of the pattern a match can still end well. Forwards, the first such way is taken,
as Python prefers it, and none is ever taken back.

Syntax is read, and single characters are compared, by `re`: classes, flags and Unicode mean the same. What
needs memory of the text before (back references) or a second text (look-around) cannot be had this way.
"""

import importlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

_parser: Any = importlib.import_module("re._parser")
_compiler: Any = importlib.import_module("re._compiler")

_MAX_STEPS: Final = 400
"""Of a program. A character costs at most an eighth of as many look-ups."""
_MAX_KNOWN: Final = 5_000
"""States and characters that are remembered; a hostile text would have a new one at each character."""
_REFUSED: Final = {
    "ASSERT": "looks ahead or behind with (?=…) or (?<=…): match the text around it as well",
    "ASSERT_NOT": "looks ahead or behind with (?!…) or (?<!…): say what may stand there, as in [^0-9]",
    "GROUPREF": "refers back to a group: write the repeated part out",
    "GROUPREF_EXISTS": "depends on a group with (?(…)…): write two patterns",
    "ATOMIC_GROUP": "has an atomic group (?>…): write (?:…)",
    "POSSESSIVE_REPEAT": "has a possessive repetition such as a++: write a+",
}


class UnsupportedPatternError(ValueError):
    """A pattern cannot be searched for in linear time; the message continues "the pattern …"."""


class _Beside(NamedTuple):
    """What stands on both sides of a place between two characters, as far as an anchor asks."""

    before: str
    """One of "" (the edge), "word", "line" (a line feed), "last" (one that ends the text), "other"."""
    behind: str


_ANCHORS: Final[dict[str, Callable[[_Beside], bool]]] = {
    "AT_BEGINNING": lambda at: not at.before,
    "AT_BEGINNING_STRING": lambda at: not at.before,
    "AT_BEGINNING_LINE": lambda at: at.before in {"", "line", "last"},
    "AT_END": lambda at: at.behind in {"", "last"},
    "AT_END_STRING": lambda at: not at.behind,
    "AT_END_LINE": lambda at: at.behind in {"", "line", "last"},
    "AT_BOUNDARY": lambda at: (at.before == "word") != (at.behind == "word"),
    "AT_NON_BOUNDARY": lambda at: (at.before == "word") == (at.behind == "word") and at != ("", ""),
}


class _Step(NamedTuple):
    """A step of a program: it reads a character, holds at an anchor, or goes on at others, in this order."""

    reads: re.Pattern[str] | None = None
    holds: Callable[[_Beside], bool] | None = None
    to: tuple[int, ...] = ()


class _Program:
    """The steps of a pattern; one that reads or holds leads to the next one, the last is a match."""

    def __init__(self, pattern: str) -> None:
        tree = _parser.parse(pattern)
        self.flags: int = tree.state.flags
        self.shortest: int = tree.getwidth()[0]
        self.steps: list[_Step] = []
        self._add_all(tree, self.flags)
        self._add(_Step())

    def _add(self, step: _Step) -> int:
        if len(self.steps) >= _MAX_STEPS:
            raise UnsupportedPatternError("counts too far or is too long: lower the numbers in {…}")
        self.steps.append(step)
        return len(self.steps) - 1

    def _add_all(self, nodes: Any, flags: int) -> None:
        for op, value in nodes:
            self._add_node(str(op), value, (op, value), flags)

    def _add_node(self, op: str, value: Any, node: Any, flags: int) -> None:
        if op in _REFUSED:
            raise UnsupportedPatternError(_REFUSED[op])
        if op == "SUBPATTERN":
            _, added, taken, inner = value
            self._add_all(inner, (flags | added) & ~taken)
        elif op == "BRANCH":
            self._add_branches(value[1], flags)
        elif op in {"MAX_REPEAT", "MIN_REPEAT"}:
            least, most, inner = value
            self._add_repetition((least, most), inner, flags, greedy=op == "MAX_REPEAT")
        elif op == "AT":
            lines = {"AT_BEGINNING": "AT_BEGINNING_LINE", "AT_END": "AT_END_LINE"}
            name = lines.get(str(value), str(value)) if flags & re.MULTILINE else str(value)
            self._add(_Step(holds=_ANCHORS[name]))
        else:  # a character, a class, a dot
            state = _parser.State()
            state.flags = flags
            self._add(_Step(reads=_compiler.compile(_parser.SubPattern(state, [node]), flags)))

    def _add_branches(self, branches: Sequence[Any], flags: int) -> None:
        ends = []
        for branch in branches[:-1]:
            choice = self._add(_Step())
            self._add_all(branch, flags)
            ends.append(self._add(_Step()))
            self.steps[choice] = _Step(to=(choice + 1, len(self.steps)))
        self._add_all(branches[-1], flags)
        for end in ends:
            self.steps[end] = _Step(to=(len(self.steps),))

    def _add_repetition(self, times: tuple[int, Any], inner: Any, flags: int, *, greedy: bool) -> None:
        least, most = times
        for _ in range(least):
            if not inner.data:
                break
            self._add_all(inner, flags)
        endless = most is _parser.MAXREPEAT
        choices = []
        for _ in range(1 if endless else most - least):
            choices.append(self._add(_Step()))
            self._add_all(inner, flags)
        if endless:
            self._add(_Step(to=(choices[0],)))
        for choice in choices:
            ways = (choice + 1, len(self.steps))
            self.steps[choice] = _Step(to=ways if greedy else ways[::-1])


class _Alive:
    """The steps from which a match can be reached at a place, as bits; and the states before it."""

    __slots__ = ("before", "steps")

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.before: dict[tuple[int, str, str], _Alive] = {}


class OwnPattern:
    """A pattern of a person. Raises re.error or UnsupportedPatternError."""

    def __init__(self, pattern: str) -> None:
        self._program = _Program(pattern)
        self.shortest: Final = self._program.shortest
        """The characters that a match has at least."""
        self._steps = self._program.steps
        self._word = re.compile(r"\w", self._program.flags & re.ASCII)
        self._sources: list[list[int]] = [[] for _ in self._steps]
        for number, step in enumerate(self._steps[:-1]):
            for to in step.to or ([] if step.reads else [number + 1]):
                self._sources[to].append(number)
        self._led_to = sum(1 << number for number, sources in enumerate(self._sources) if sources)
        self._anchored = any(step.holds for step in self._steps)
        self._readers: dict[str, tuple[int, str]] = {}
        self._states: dict[int, _Alive] = {}
        self._unions: defaultdict[_Beside, dict[int, int]] = defaultdict(dict)
        """What leads to a byte of steps, by where the byte stands and what it is."""

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the spans that `re.finditer` finds, without empty ones."""
        states = self._backwards(text)
        at = 0
        for start, state in enumerate(states):
            if state.steps & 1 and start >= at:
                at = self._forwards(states, start)
                if start < at:
                    yield start, at

    def _backwards(self, text: str) -> list[_Alive]:
        """Return the state at each place of the text, its end included."""
        read = [self._reader(char) for char in text]
        if text.endswith("\n"):
            read[-1] = (read[-1][0], "last")
        kinds = ["", *(kind for _, kind in read), ""] if self._anchored else [""] * (len(text) + 2)
        match = 1 << len(self._steps) - 1
        state = self._state(self._closed(match, _Beside(kinds[-2], "")))
        states = [state]
        for number in range(len(text) - 1, -1, -1):
            key = (read[number][0], kinds[number], kinds[number + 1])
            known = state.before.get(key)
            if known is None:
                steps = self._closed(key[0] & (state.steps >> 1) | match, _Beside(key[1], key[2]))
                known = state.before[key] = self._state(steps)
            state = known
            states.append(state)
        states.reverse()
        return states

    def _forwards(self, states: Sequence[_Alive], at: int) -> int:
        """Return where the match that begins at a place ends: the one that Python prefers."""
        step = 0
        while step < len(self._steps) - 1:
            step = self._next(states[at].steps, step)
            at += step < len(self._steps) - 1
            step += step < len(self._steps) - 1
        return at

    def _next(self, alive: int, step: int) -> int:
        """Return the step that reads next, or the match: the first on a way that ends well."""
        ways, seen = [step], 0
        while ways:
            step = ways.pop()
            if seen >> step & 1 or not alive >> step & 1:
                continue
            seen |= 1 << step
            if self._steps[step].reads or step == len(self._steps) - 1:
                return step
            ways += self._steps[step].to[::-1] or (step + 1,)
        raise AssertionError("a state names a step that leads nowhere")

    def _reader(self, char: str) -> tuple[int, str]:
        """Return the steps that read a character, as bits, and its kind."""
        known = self._readers.get(char)
        if known is None:
            reads = sum(
                1 << at for at, step in enumerate(self._steps) if step.reads and step.reads.match(char)
            )
            kind = "line" if char == "\n" else "word" if self._word.match(char) else "other"
            if len(self._readers) >= _MAX_KNOWN:
                self._readers = {}
            known = self._readers[char] = (reads, kind)
        return known

    def _state(self, steps: int) -> _Alive:
        if len(self._states) >= _MAX_KNOWN:
            self._states = {}
        return self._states.setdefault(steps, _Alive(steps))

    def _closed(self, steps: int, around: _Beside) -> int:
        """Return steps together with all that lead to them without reading."""
        closed = steps
        led_to = (steps & self._led_to).to_bytes(len(self._steps) // 8 + 1, "little")
        for place, byte in enumerate(led_to):
            if byte:
                known = self._unions[around].get(place << 8 | byte)
                closed |= self._union(around, place, byte) if known is None else known
        return closed

    def _union(self, around: _Beside, place: int, byte: int) -> int:
        left = [place * 8 + bit for bit in range(8) if byte >> bit & 1]
        found = 0
        while left:
            step = left.pop()
            if not found >> step & 1:
                found |= 1 << step
                left += [one for one in self._sources[step] if self._lets(one, around)]
        self._unions[around][place << 8 | byte] = found
        return found

    def _lets(self, number: int, around: _Beside) -> bool:
        holds = self._steps[number].holds
        return holds is None or holds(around)


@lru_cache(maxsize=64)
def own_pattern(pattern: str) -> OwnPattern:
    """Return a pattern of a person, ready to be searched for. Raises re.error or UnsupportedPatternError."""
    return OwnPattern(pattern)
