"""Read the table of predicates, and tell of which kinds one has many: rules, preferences, projects, 项目.

A predicate that names a kind holds several values at once, in the singular and in Chinese as well: a second
`rule` does not end the first. `mnemark.facts.keys` gives all its names one key, the plural.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final, NamedTuple

from mnemark.text import rows
from mnemark.text.lazy_pattern import lazy_pattern

VERBS: Final = frozenset(
    ["knows", "wants", "needs", "has", "watches", "plays", "visited", "attends", "follows"]
)
"""Verbs of what one has many of."""
_OTHERS: Final = frozenset(["brothers", "sisters", "servers"])
"""Plurals of what the table names otherwise, or by one of it."""
MANY_ZH: Final = (
    "们", "列表", "清单", "成员", "喜欢", "爱好", "规则", "偏好", "项目", "技能", "错误", "备注", "笔记",
    "教训", "提醒", "原则", "准则", "约束", "需求", "任务", "待办", "想法", "过敏", "习惯",
)  # fmt: skip
"""Ends of Chinese keys that hold several values."""

_IRREGULAR: Final = {"children": "child", "policies": "policy", "movies": "movie", "aliases": "alias"}
_ONE: Final = lazy_pattern(
    r"^(?:(?:my|our|your|his|her|their|the|this|is) )*(?P<which>(?:current|present|main|primary|chief|best|"
    r"favou?rite|preferred|default|active|latest|last|next|previous|first|second|third|top|only|"
    r"oldest|eldest|youngest|biggest)\b.*) (?P<kind>\w+)$"
)
_ONE_ZH: Final = lazy_pattern(
    "^(?:我们|用户|我|本人)?的?(?P<one>(?:当前|目前|现在|现阶段|主要|首要|默认|首选|最\\w{1,3}?|第[一二三]个?|"
    "上一?个?|下一?个?|唯一)的?(?P<kind>[\u3400-\u9fff]+))$"
)
_PREFERENCE: Final = lazy_pattern(
    r"^(?P<of>(?:code |text )?editor|ide|shell|terminal|os|operating system|browser|database|theme|font|"
    r"indent(?:ation)?|quotes?|line length|package manager|linter|formatter|type checker|test framework|"
    r"build tool|time ?zone) preference$|"
    "^(?P<zh>编辑器|终端|操作系统|浏览器|数据库|主题|字体|缩进|引号|包管理器|时区|语言)的?偏好$"
)
"""What one has one of: the preference of an editor is the editor."""


def singular_of(word: str) -> str:
    """Return the singular of the name of a kind.

    >>> [singular_of(word) for word in ("rules", "children", "hobbies", "wishes")]
    ['rule', 'child', 'hobby', 'wish']
    """
    if word in _IRREGULAR or not word.endswith("s"):
        return _IRREGULAR.get(word, word)
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("shes", "ches")) else word[:-1]


class Predicate(NamedTuple):
    """A row of `data/predicates.tsv`, which says what its cells mean."""

    key: str
    holds: str
    topic: str = ""
    chinese: str = ""
    others: str = ""

    @property
    def names(self) -> list[str]:
        """Its names beside the key."""
        return self.others.split(", ") if self.others else []


@cache
def predicates() -> Mapping[str, Predicate]:
    """Return the predicates of the table by their keys."""
    return MappingProxyType({row[0]: Predicate(*row) for row in rows("predicates")})


def _keys(*holds: str) -> Iterator[str]:
    return (key for key, row in predicates().items() if row.holds in holds)


@cache
def many() -> frozenset[str]:
    """Return the last words of the keys that hold several values."""
    return VERBS.union(_OTHERS, _keys("many", "kind", "wide"))


@cache
def _singulars(*holds: str) -> Mapping[str, str]:
    """Return the keys of the rows that hold so much by the singular of their names."""
    return MappingProxyType({singular_of(key): key for key in _keys(*holds)})


def widened(words: str) -> str:
    """Return the plural of what names a kind more closely: "coding rule" is one of the coding rules."""
    before, _, last = words.rpartition(" ")
    plural = _singulars("wide").get(last)
    return f"{before} {plural}" if before and plural else words


def one_of_many(words: str) -> str:
    """Return the words of a predicate that singles out one of a kind, such as "current project"; else "".

    >>> one_of_many("my current project"), one_of_many("current projects"), one_of_many("我的主要项目")
    ('current project', '', '主要项目')
    """
    if (match := _ONE.match(words)) is not None:
        return f"{match['which']} {match['kind']}" if match["kind"] in _singulars("kind", "wide") else ""
    match = _ONE_ZH.match(words)
    return match["one"] if match is not None and match["kind"].endswith(MANY_ZH) else ""


def chosen(words: str) -> str:
    """Return the one thing that a predicate names the preference of, such as an editor; else ""."""
    match = _PREFERENCE.match(words)
    return "" if match is None else match["of"] or match["zh"]
