"""Texts made to be slow: runs and alternations of characters, nested marks, near misses of patterns.

A shape is a text of any size: `Shape.text(20_000)` has about so many characters. Near misses are made from
the patterns themselves: for each repetition in one, what stands before it and then the repetition drawn out,
and what stands before it again and again; for each pattern, its shortest match without its end, repeated.
"""

import ast
import re
import string
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from re import _constants as op  # type: ignore[attr-defined] # what `re` parses patterns into
from re import _parser as parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any, Final, NamedTuple

from mnemark.text.lazy_pattern import LazyPattern


class Shape(NamedTuple):
    """A text of any size: `before`, then `piece` again and again (`{n}` in it counts), then `after`."""

    name: str
    piece: str
    before: str = ""
    after: str = ""

    def text(self, size: int) -> str:
        """About `size` characters."""
        if "{n}" in self.piece:
            count = max(1, size // len(self.piece.replace("{n}", "12345")))
            middle = "".join(self.piece.replace("{n}", str(10_000 + n)) for n in range(count))
        else:
            middle = self.piece * max(1, size // len(self.piece))
        return f"{self.before}{middle}{self.after}"


_ASCII: Final = string.punctuation + "aZ1 \n\t\r\x0b\x00\x1b\x7f"
_WIDE: Final = "éßİΣяאعकกあア한你我一。，：、＜＞｜ａ１（“”「《…—–·😀❤ﷺ"
_UNSEEN: Final = "\x85\xa0\u2028\u3000\u0301\u200b\u200d\ufe0f\ufeff\u202e\ud800\ue000\U000e0041"
_CORE: Final = "a1 \n-_./:\\\"'`*<[(|=@你。"
"""Of which all pairs are alternated."""

MARKS: Final = (
    *("<<", "<private>", "</private>", "<private", "<!--", "-->", "<!-- a: b |"),
    *("<!-- mnemark:begin a | 1 -->\n", "<mnemark-recall 0123456789abcdef>"),
    *("</mnemark-recall 0123456789abcdef>", "<mnemark-recall ", "<|<s|>", "<system>", "<a ", "<a b='"),
    *("<script>", "<div>\n", "<![CDATA[", "<?", "&lt;", "&amp;", "&#0", "\\u003c", "%25", "[[", "]]"),
    *("[a](", "![", "[a]: <", "[redacted:value:00000000]", "[redacted:", "[INST]", "((", "){", "{{"),
    *("“「", "```\n", "```", "~~~\n", "`a", "``", "> ", ">\n", "- ", "-\n", "* * ", "**", "**a", "__"),
    *("~~", "==", "# ", "#\n", "1. a\n", "- [ ] a\n", "| a ", "|-|", "| a |\n|-|\n", "| a | b |\n"),
    *("---\n", "...\n", "a: b\n", "---\na: b\n", "===\n", "a:", ": ", "a: ", "a=", "=a", "a = ", '{"a":'),
    *('["a",', '"a":"', "'a',", "a\\", "\\\\", '\\"', "\\\n", "$(", "${", "http://", "://", "a://b:c@"),
    *("a@", "@a.", "a@b.c ", "a.b.", "a/b/", "/a", "../", "C:\\", "a-b-", "A1b2", "--a ", "-p"),
    *("-----BEGIN A PRIVATE KEY-----\n", "-----END", "eyJa.", "sk-", "Bearer ", "password", "password: "),
    *("password is ", "my password is not a word, ", "密码是", "密码：", "密码", "pin 1", "ignore all "),
    *("print the ", "忽略", "remember ", "the user ", "用户的", "my name is ", "I live in ", "I and I "),
    *("we decided to ", "我喜欢", "我们决定", "从", "以后", "把", "last ", "before ", "the end of "),
    *("January ", "1 ", "12:", "2026-", "2026-01-0", "10 days ", "去年", "三月", "上", "两个", "Bob: I "),
    *("Dear A\n", "Subject: a\n", "'a' ", '"a" ', "“a” ", "a'", "a. ", "A. ", "e.g. ", "。”", "a,b "),
    *("1,", "1.2", "diff --git ", "@@ -1 +1 @@\n", "+a\n", "*** Begin Patch\n"),
    *("Traceback (most recent call last):\n  ", "$ a\n", "A B ", "\u0301\u0327", "a\u0301\u0327", "嗯，"),
    *("刚刚", "a\n\n", " \n", "\t\n", "\r\n", "\n ", "  a\n", "    a\n", "a  \n", "  - a\n", "a a\n"),
    *("a,\n", "啊a", "a。", "你好 ", "AaAa"),
)  # fmt: skip
"""Nested and repeated marks, and beginnings of what patterns look for."""
COUNTED: Final = (
    *("w{n} ", "line {n}\n", "# head {n}\n", "- key{n}: {n}\n", "- **k{n}**: v <!-- id: {n} -->\n"),
    *("src/a{n}.py ", "Name{n} ", "Say no{n}. ", "第{n}行。", "k{n}: v\n", "“q{n}” ", "`c{n}` "),
    *("- a{n}\n  - b\n", "| {n} | a |\n", "```\n{n}\n```\n", "名{n}字"),
    *("<!-- mnemark:begin p{n} | 1 -->\n<!-- mnemark:end p{n} -->\n", "<t{n}>", '"k{n}": {n},', "{n}\n\n"),
    *("p{n}word=x{n}y ", "{n}", "on {n} May ", "I use T{n}. ", "project P{n} ", "{n}项目", "- x{n}\n\n"),
    *("> q{n}\n", "1{n}. a\n", "<a{n}>\n\n", "a{n}\n---\n"),
)  # fmt: skip
"""Many different words, lines, keys and names: for what keeps lists."""


def runs() -> Iterator[Shape]:
    """One character, alone and as lines."""
    for char in _ASCII + _WIDE + _UNSEEN:
        yield Shape(f"run of {char!r}", char)
    for char in "a-#>|*` \t你<[":
        yield Shape(f"lines of {char!r}", char * 79 + "\n")
        yield Shape(f"{char!r} and then another", char, after="\x01")


def alternations(chars: str = _CORE) -> Iterator[Shape]:
    """Two characters in turn, and runs of one between single others."""
    for one, other in product(chars, repeat=2):
        if one < other:
            yield Shape(f"{one!r} and {other!r}", one + other)
        if one != other:
            yield Shape(f"runs of {one!r} between {other!r}", one * 60 + other)


def marks() -> Iterator[Shape]:
    """Marks within marks, and many different things."""
    for mark in (*MARKS, *COUNTED):
        yield Shape(f"many {mark!r}", mark)
    for mark in MARKS:
        yield Shape(f"one {mark!r} and a long line", "a ", before=mark)
        yield Shape(f"many {mark!r} and words", f"{mark}a b ", after="\n")


def general() -> list[Shape]:
    """All shapes that need no pattern."""
    return [*runs(), *alternations(), *marks()]


ALWAYS: Final = (
    *(f"run of {char!r}" for char in " -a\\\n你`<["),
    *(f"many {mark!r}" for mark in ("\u0301\u0327", "line {n}\n", "Name{n} ")),
)
_SOME: Final = 120


def some(name: str) -> list[Shape]:
    """The shapes that are always tried, and one of 120 of the others, for each name others."""
    every = general()
    first = zlib.crc32(name.encode()) % _SOME
    return [shape for shape in every if shape.name in ALWAYS] + every[first::_SOME]


# --- near misses


_CHARS: Final[Mapping[Any, str]] = {
    op.CATEGORY_DIGIT: "1", op.CATEGORY_SPACE: " \n", op.CATEGORY_WORD: "a1_",
    op.CATEGORY_NOT_DIGIT: "a ", op.CATEGORY_NOT_SPACE: "a-", op.CATEGORY_NOT_WORD: "- ",
}  # fmt: skip
_OTHERS: Final = "a 1-.你\n\t:'<"
_LONG: Final = 20
"""A repetition up to so often is not drawn out."""


def _members(node: Sequence[Any]) -> list[str]:
    """Characters that a class matches, few of each part."""
    parts = [part for part in node if part[0] is not op.NEGATE]
    if len(parts) < len(node):
        inside = _class(parts)
        return [char for char in _OTHERS if not inside.match(char)][:4]
    found: list[str] = []
    for kind, value in parts:
        if kind is op.LITERAL:
            found.append(chr(value))
        elif kind is op.RANGE:
            found.append(chr(value[0]))
        else:
            found += _CHARS.get(value, "a")
    return list(dict.fromkeys(found))[:8]


def _class(parts: Sequence[Any]) -> re.Pattern[str]:
    names = {
        op.CATEGORY_DIGIT: r"\d", op.CATEGORY_SPACE: r"\s", op.CATEGORY_WORD: r"\w",
        op.CATEGORY_NOT_DIGIT: r"\D", op.CATEGORY_NOT_SPACE: r"\S", op.CATEGORY_NOT_WORD: r"\W",
    }  # fmt: skip
    body = ""
    for kind, value in parts:
        if kind is op.LITERAL:
            body += re.escape(chr(value))
        elif kind is op.RANGE:
            body += f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
        else:
            body += names[value]
    return re.compile(f"[{body}]")


_REPEATS: Final = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)


def _sample(tree: Any, groups: dict[int, str]) -> str:
    """A short text that a parsed pattern matches, but for its assertions."""
    found = ""
    for kind, value in tree:
        if kind is op.LITERAL:
            found += chr(value)
        elif kind is op.IN:
            found += (_members(value) or ["a"])[0]
        elif kind in (op.ANY, op.NOT_LITERAL):
            found += "a" if value is None or value != ord("a") else "b"
        elif kind is op.SUBPATTERN:
            groups[value[0]] = _sample(value[3], groups)
            found += groups[value[0]]
        elif kind is op.BRANCH:
            found += _sample(value[1][0], groups)
        elif kind in _REPEATS:
            found += _sample(value[2], groups) * max(value[0], 1 if value[1] else 0)
        elif kind is op.GROUPREF:
            found += groups.get(value, "")
        elif kind is op.ATOMIC_GROUP:
            found += _sample(value, groups)
    return found


def _drawn_out(tree: Any, before: str, groups: dict[int, str]) -> Iterator[tuple[str, str]]:
    """What stands before a repetition, and what is repeated, for each repetition without a small bound."""
    for kind, value in tree:
        if kind in _REPEATS:
            _, high, inner = value
            if high is op.MAXREPEAT or high > _LONG:
                for piece in _pieces(inner, groups):
                    yield before, piece
            yield from _drawn_out(inner, before, groups)
        elif kind is op.SUBPATTERN:
            yield from _drawn_out(value[3], before, groups)
        elif kind is op.ATOMIC_GROUP:
            yield from _drawn_out(value, before, groups)
        elif kind is op.BRANCH:
            for branch in value[1]:
                yield from _drawn_out(branch, before, groups)
        elif kind in (op.ASSERT, op.ASSERT_NOT):
            yield from _drawn_out(value[1], before, groups)
        before += _sample([(kind, value)], groups)


def _pieces(tree: Any, groups: dict[int, str]) -> list[str]:
    if len(tree) == 1:
        kind, value = tree[0]
        if kind is op.IN:
            return _members(value)
        if kind in (op.ANY, op.NOT_LITERAL):
            return ["a", " ", "-"]
        if kind is op.SUBPATTERN:
            return _pieces(value[3], groups)
        if kind is op.BRANCH:
            return [piece for branch in value[1] for piece in _pieces(branch, groups)]
    return [_sample(tree, groups)]


def near_misses(pattern: re.Pattern[str]) -> list[Shape]:
    """Texts that a pattern nearly matches, again and again."""
    tree = parser.parse(pattern.pattern, pattern.flags)
    groups: dict[int, str] = {}
    samples = [_sample(tree, groups)]
    if len(tree) == 1 and tree[0][0] is op.BRANCH:
        samples = [_sample(branch, groups) for branch in tree[0][1][1]]
    found: dict[tuple[str, str, str], None] = {}
    for sample in samples:
        for piece in (
            sample,
            sample[:-1],
            sample[: len(sample) // 2],
            f"{sample[:-1]}\x01",
            f"{sample[:-1]} ",
        ):
            if piece:
                found["", piece, ""] = None
    for before, piece in _drawn_out(tree, "", groups):
        if piece:
            found[before, piece, "\x01"] = None
            found["", before + piece * 3, ""] = None
            found["\n", f"{before}{piece * 40}\n", ""] = None
    return [Shape(f"near {before!r} {piece!r}", piece, before, after) for before, piece, after in found]


def patterns_of(module: ModuleType) -> list[re.Pattern[str]]:
    """The patterns a module made, in tables and behind functions that make them on first use, too."""
    found: dict[str, re.Pattern[str]] = {}
    taken = _imported(module)
    for name, value in list(vars(module).items()):
        if name in taken:
            continue
        made = value
        if getattr(value, "__module__", "") == module.__name__ and hasattr(value, "cache_info"):
            made = _made(value)
        for pattern in _patterns(made, 0):
            found.setdefault(pattern.pattern, pattern)
    return list(found.values())


def _imported(module: ModuleType) -> set[str]:
    froms = (node for node in nodes_of(module) if isinstance(node, ast.ImportFrom))
    return {name.asname or name.name for node in froms for name in node.names}


@cache
def nodes_of(module: ModuleType) -> list[ast.ImportFrom | ast.Call]:
    """What a module imports and calls, as it is written."""
    tree = ast.parse(Path(str(module.__file__)).read_text("utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom | ast.Call)]


def _made(function: Callable[[], object]) -> object:
    try:
        return function()
    except TypeError:  # it takes arguments, so it is no table
        return None


def pattern_in(value: object) -> re.Pattern[str] | None:
    """The pattern that a value is, also one that would be compiled later."""
    if isinstance(value, LazyPattern):
        return value.compiled
    return value if isinstance(value, re.Pattern) and isinstance(value.pattern, str) else None


def _patterns(value: object, depth: int) -> Iterator[re.Pattern[str]]:
    if (pattern := pattern_in(value)) is not None:
        yield pattern
    elif depth < 4:
        inside: Iterable[object] = ()
        if isinstance(value, (tuple, list, frozenset)):
            inside = value
        elif isinstance(value, Mapping):
            inside = value.values()
        for one in inside:
            yield from _patterns(one, depth + 1)
