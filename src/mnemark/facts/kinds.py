"""Name the kinds of which one has many: rules, preferences, projects, 项目.

A predicate that names a kind holds several values at once, in the singular and in Chinese as well: a second
`rule` does not end the first. `mnemark.facts.keys` gives all its names one key, the plural.
"""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from mnemark.text.lazy_pattern import lazy_pattern

NAMES: Final = {
    "rules": "规则, 规矩, 守则",
    "preferences": "prefers, prefer, 偏好, 偏爱, 喜好",
    "projects": "works on, working on, is working on, 项目, 项目列表, 参与项目, 参与的项目",
    "skills": "技能, 擅长",
    "errors": "错误, 报错",
    "notes": "remark, 备注, 注意, 笔记, 备忘",
    "lessons": "lesson learned, lessons learned, 教训, 经验教训",
    "reminders": "提醒",
    "instructions": "指令, 指示",
    "guidelines": "准则, 指南",
    "principles": "原则",
    "policies": "政策",
    "constraints": "约束, 限制",
    "requirements": "需求, 要求",
    "conventions": "约定, 规范",
    "workflows": "工作流, 工作流程",
    "tasks": "todo, todos, to do, to dos, 任务, 待办, 待办事项",
    "goals": "aim, objective, 目标",
    "decisions": "decided, 决定, 决策",
    "ideas": "想法, 点子",
    "wishes": "愿望, 心愿",
    "events": "事件",
    "facts": "事实",
    "memories": "记忆, 回忆",
    "tips": "技巧, 小技巧",
    "insights": "洞察, 见解",
    "observations": "观察",
    "opinions": "看法, 观点",
    "achievements": "成就",
    "issues": "",
    "bugs": "缺陷",
    "questions": "疑问",
    "concerns": "顾虑, 担忧",
    "tools": "uses, 工具, 工具列表",
    "languages": "spoken languages, speaks, 会说的语言, 语种",
    "contacts": "联系人",
    "colleagues": "coworker, coworkers, co worker, co workers, 同事",
    "relatives": "亲戚, 亲属",
    "books": "书, 书籍",
    "films": "",
    "movies": "电影",
    "songs": "歌曲",
    "trips": "旅行",
    "devices": "设备",
    "accounts": "账号, 账户",
    "medications": "medicine, medicines, 药物, 用药",
    "links": "链接",
    "features": "功能",
    "dependencies": "依赖, 依赖项",
}
"""Names of kinds beside the plural, which is the key, and its singular."""

_OTHERS: Final = frozenset(
    (  # noqa: SIM905 - a list of this length reads as words
        "likes dislikes hobbies allergies members children pets friends aliases tags appointments "
        "siblings brothers sisters possessions instruments habits plans purchases parents "
        "beliefs health sports servers"
    ).split()
)
"""Other kinds, whose names stand in `keys`."""
VERBS: Final = frozenset(
    ["knows", "wants", "needs", "has", "watches", "plays", "visited", "attends", "follows"]
)
"""Verbs of what one has many of."""
MANY: Final = frozenset({*NAMES, *_OTHERS, *VERBS})
"""Last words of the keys that hold several values."""
MANY_ZH: Final = (
    "们", "列表", "清单", "成员", "喜欢", "爱好", "规则", "偏好", "项目", "技能", "错误", "备注", "笔记",
    "教训", "提醒", "原则", "准则", "约束", "需求", "任务", "待办", "想法", "过敏", "习惯",
)  # fmt: skip
"""Ends of Chinese keys that hold several values."""

_WIDE: Final = frozenset(
    (  # noqa: SIM905 - a list of this length reads as words
        "rules preferences projects skills errors notes lessons reminders instructions guidelines principles "
        "policies constraints tasks decisions ideas wishes events facts memories tips insights observations "
        "opinions achievements issues bugs questions concerns colleagues relatives medications hobbies "
        "allergies members children pets friends aliases tags appointments habits beliefs"
    ).split()
)
"""Kinds of which one has many whatever word stands before: a "coding rule", a "food allergy". Of a thing it
names one: a "bank account", a "docs link"."""
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


@cache
def of_singulars() -> Mapping[str, str]:
    """Return the keys of kinds by the singular of their names."""
    return MappingProxyType({singular_of(name): name for name in NAMES if name != "languages"})


@cache
def _wide_singulars() -> Mapping[str, str]:
    return MappingProxyType({singular_of(name): name for name in _WIDE})


def widened(words: str) -> str:
    """Return the plural of what names a kind more closely: "coding rule" is one of the coding rules."""
    before, _, last = words.rpartition(" ")
    many = _wide_singulars().get(last)
    return f"{before} {many}" if before and many else words


def one_of_many(words: str) -> str:
    """Return the words of a predicate that singles out one of a kind, such as "current project"; else "".

    >>> one_of_many("my current project"), one_of_many("current projects"), one_of_many("我的主要项目")
    ('current project', '', '主要项目')
    """
    if (match := _ONE.match(words)) is not None:
        one = match["kind"] in of_singulars() or match["kind"] in _wide_singulars()
        return f"{match['which']} {match['kind']}" if one else ""
    match = _ONE_ZH.match(words)
    return match["one"] if match is not None and match["kind"].endswith(MANY_ZH) else ""


def chosen(words: str) -> str:
    """Return the one thing that a predicate names the preference of, such as an editor; else ""."""
    match = _PREFERENCE.match(words)
    return "" if match is None else match["of"] or match["zh"]
