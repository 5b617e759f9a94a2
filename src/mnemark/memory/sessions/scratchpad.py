"""Rewrite the scratchpad from the last days' episodes when a session ends.

It is derived from the episodes alone, so that rewriting is idempotent and corrections of an episode show up.
A generated line that a person deletes stays deleted; lines that a person writes are kept.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from typing import Final

from mnemark.facts.labels import in_chinese
from mnemark.files.episodes import EpisodeFile, since
from mnemark.files.layout import in_scope
from mnemark.memory import file_edits
from mnemark.memory.file_edits import Written
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.summary.summary import overlap
from mnemark.text.dates.written import dated, last_day, undated
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.markdown.generated import put

FILE: Final = "SCRATCHPAD.md"
DAYS: Final = 14
_FOCUS_DAYS: Final = 7
_MOST: Final = {"projects": 6, "focus": 5, "questions": 6, "steps": 8}
_TITLES: Final = ("# Scratchpad\n", "# 工作便笺\n")
_HEADINGS: Final = {
    "projects": ("## Projects", "## 项目"),
    "focus": ("## Last week", "## 近一周"),
    "questions": ("## Open questions", "## 待定"),
    "steps": ("## Next steps", "## 接下来"),
}
_FAILED: Final = ("failed", "没成")
ASIDE: Final = lazy_pattern(r"(?: \([^()]*\)|（[^（）]*）)$")
"""The date in brackets at the end of a line."""
_WHEN: Final = lazy_pattern(
    r"\b(?:tomorrow|next|to-?do|needs? to|ha(?:ve|s) to|must|should|going to|will)\b|"
    r"明天|后天|下周|下一步|接下来|需要|打算|准备|计划|必须|[要得会]",
    re.IGNORECASE,
)
"""Words of a step that say when or that it is to be done; they do not count in comparisons."""
_EMPTY: Final = lazy_pattern(r"\n?<!-- mnemark:begin (\w+) \| -->\r?\n<!-- mnemark:end \1 -->\r?\n")
"""A part without lines, of which nobody removed one."""
_SETTLED: Final = 0.6
"""Share of a step's words in a later finished episode from which the step counts as done."""


def parts(found: Sequence[EpisodeFile], today: date, *, zh: bool) -> dict[str, list[str]]:
    """Return the lines of each part, newest first, from episodes given oldest first.

    Steps whose day is past, and what later episodes finished, are left out.
    """
    rows: dict[str, dict[str, str]] = {name: {} for name in _HEADINGS}

    def wanted(name: str) -> bool:
        return len(rows[name]) < _MOST[name]

    def add(name: str, line: str) -> None:
        if wanted(name):
            rows[name].setdefault(ASIDE.sub("", line).casefold(), line)

    week = (today - timedelta(days=_FOCUS_DAYS)).isoformat()
    for at, one in reversed(list(enumerate(found))):
        day, later = one.date[:10], found[at + 1 :]
        when = _aside(day, chinese=zh)
        for name in one.projects:
            add("projects", f"- {name}{_aside(f'上次 {day}' if zh else f'last on {day}', chinese=zh)}")
        if day > week:
            state = _aside(_FAILED[zh] if one.status == "failed" else "", chinese=zh)
            add("focus", f"- {one.title}{state} · {day}")
        for name, labels in (("questions", ("Open", "待定")), ("steps", ("Next", "接下来"))):
            for text in one.of(*labels):
                words = _dated(text, one.date) if name == "steps" else text
                past = (last_day(words) or today) < today
                if (
                    wanted(name) and not past and not _settled(text, later)
                ):  # compares with all later episodes
                    add(name, f"- {words}{when}")
    return {name: list(lines.values()) for name, lines in rows.items()}


def _dated(step: str, said: str) -> str:
    """Return a step with the dates of its time words, which pages of earlier versions do not have."""
    try:
        return dated(step, datetime.fromisoformat(said), ahead=True)
    except ValueError:  # a person wrote another date
        return step


def _in_chinese(text: str, found: Sequence[EpisodeFile]) -> bool:
    """Return whether a scratchpad is in Chinese: as it was, else as the first of its conversations."""
    lines = text.splitlines()
    was = [zh for zh in (False, True) for names in _HEADINGS.values() if names[zh] in lines]
    said = (one.items[0][0] if one.items else one.title for one in found)  # a title may be names alone
    return in_chinese(said, before=was[0] if was else None)


def _aside(words: str, *, chinese: bool) -> str:
    return (f"（{words}）" if chinese else f" ({words})") if words else ""


def _settled(text: str, later: Sequence[EpisodeFile]) -> bool:
    wanted = _WHEN.sub(" ", undated(text))
    fields = ("Goal", "Asked", "目标", "Outcome", "Done", "结果", "完成", "Decided", "决定")
    done = (" ".join([one.title, *one.of(*fields)]) for one in later if one.status == "done")
    return any(overlap(wanted, words) >= _SETTLED for words in done)


def first_day(now: datetime) -> str:
    """Return the day from which episodes are in the scratchpad."""
    return (now - timedelta(days=DAYS)).date().isoformat()


def refresh(
    ws: OpenWorkspace,
    now: datetime,
    found: Sequence[EpisodeFile],
    *,
    scope: str = "",
    session: str = "",
    group: str = "",
    step: str = "session end: scratchpad",
) -> Written:
    """Rewrite the generated parts of a scope's scratchpad from the last two weeks of its episodes `found`."""
    recent = since(found, first_day(now))

    def change(text: str) -> str:
        zh = _in_chinese(text, recent)
        rows = parts(recent, now.date(), zh=zh)
        new = text or _TITLES[zh]
        for name, headings in _HEADINGS.items():
            new = put(new, name, [headings[zh], "", *rows[name], ""] if rows[name] else [])
        new = _EMPTY.sub("", new)
        return "" if new in _TITLES and new != text else new

    path = in_scope(scope, FILE)
    return file_edits.write(ws, path, change, step=step, session=session, group=group)


def follow(ws: OpenWorkspace, now: datetime, scopes: Iterable[str]) -> None:
    """Let scratchpads follow the calendar without a session's end: past steps and weeks leave them."""
    for scope in scopes:
        if (ws.root / in_scope(scope, FILE)).exists():
            refresh(ws, now, ws.episodes.since(scope, first_day(now)), scope=scope, step="scratchpad")
