"""Arrange facts by topic, under headings in the language of the person, the newest first."""

from collections.abc import Iterable, Mapping
from datetime import datetime, tzinfo
from types import MappingProxyType
from typing import Final

from mnemark.extraction.candidate import TOPICS
from mnemark.facts.keys import subject_key
from mnemark.facts.labels import topic
from mnemark.facts.model import Fact
from mnemark.facts.timeline import order
from mnemark.facts.write import core_entry

_HEADINGS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "rule": ("Rules", "规则"),
        "self": ("Person", "个人"),
        "people": ("People", "家人和朋友"),
        "pets": ("Pets", "宠物"),
        "home": ("Home", "住处"),
        "work": ("Work", "工作"),
        "study": ("Study", "学习"),
        "health": ("Health", "健康"),
        "food": ("Food", "饮食"),
        "tastes": ("Tastes", "喜好"),
        "leisure": ("Leisure", "休闲"),
        "habits": ("Habits", "习惯"),
        "skills": ("Skills", "技能"),
        "possessions": ("Possessions", "物品"),
        "travel": ("Travel", "旅行"),
        "plans": ("Plans", "计划"),
        "events": ("Events", "经历"),
        "beliefs": ("Beliefs", "观念"),
        "tools": ("Tools", "工具"),
        "project": ("Projects", "项目"),
        "": ("Other", "其他"),
        "skill": ("How to do things", "做法"),
        "error": ("Lessons", "教训"),
    }
)
"""English and Chinese headings by topic, in the order they are shown."""
_ALONE: Final = frozenset({"rule", "skill", "error"})
"""Types of facts that stand by themselves."""
_ORDER: Final = tuple(_HEADINGS)
HEADING_CHARACTERS: Final = 4 + max(len(english) for english, _ in _HEADINGS.values())
"""Maximum characters of a heading's line."""


def topic_of(type: str, subject: str, predicate: str, tags: Iterable[str]) -> str:  # noqa: A002 - as in facts
    """Return what a fact with these fields is about, a key of the headings; empty if unknown.

    A statement has its topic as a tag. What is known of others than the user is about people, unless it is
    about tools, which projects have.
    """
    if type in _ALONE:
        return type
    about = subject_key(subject)
    if about == "project":
        return "project"
    tagged = next((tag for tag in tags if tag in TOPICS), "")
    found = tagged or topic(predicate) or ("tastes" if type == "preference" else "")
    if about == "user" or not found:
        return found
    return "project" if found in {"tools", "project"} else "people"


def arranged(facts: Iterable[Fact], zone: tzinfo, *, chinese: bool) -> list[str]:
    """Return the lines of facts by topic, under headings; what holds since the latest time is first."""
    sections: dict[str, list[Fact]] = {}
    for fact in facts:
        sections.setdefault(topic_of(fact.type, fact.subject, fact.predicate, fact.tags), []).append(fact)
    lines: list[str] = []
    for name in sorted(sections, key=_ORDER.index):
        lines.append(f"## {_HEADINGS[name][chinese]}")
        newest = sorted(sections[name], key=lambda fact: (_start(fact, zone), fact.id), reverse=True)
        lines += [core_entry(fact, chinese=chinese) for fact in newest]
    return lines


def written_in_chinese(lines: Iterable[str]) -> bool | None:
    """Return whether the headings among generated lines are in Chinese; None where there are none."""
    found = {line.removeprefix("## ") for line in lines if line.startswith("## ")}
    if not found:
        return None
    return not found.isdisjoint(chinese for _, chinese in _HEADINGS.values())


def _start(fact: Fact, zone: tzinfo) -> datetime:
    return order(fact, zone)[0]
