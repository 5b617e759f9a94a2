"""Find what is coming up and what is open: dated facts, notes and steps ahead, and the scratchpad's lists."""

from collections.abc import Iterable, Iterator
from datetime import date, datetime, time, timedelta
from typing import Final

import msgspec
import numpy as np

from mnemark.facts.model import Fact
from mnemark.facts.timeline import when
from mnemark.files.layout import in_scope
from mnemark.index.rows import KIND_CODE, NO_TIME, seconds, wall_time
from mnemark.memory.browse.entries import first_chunks, reading
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.sessions.scratchpad import ASIDE
from mnemark.memory.sessions.scratchpad import FILE as SCRATCHPAD
from mnemark.text.dates.written import last_day
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.markdown.generated import find
from mnemark.types import Problem

_DAYS: Final = 60
_MOST: Final = 8
_WRITTEN: Final = lazy_pattern(r"\b(\d{4}-\d{2}-\d{2})\b")
"""A day as facts have it, whatever was said."""


class Coming(msgspec.Struct, frozen=True, kw_only=True):
    """Something on a day ahead."""

    day: str
    fact: Fact | None = None
    text: str = ""
    """Of a note or a step."""
    ref: str = ""


class OpenPoint(msgspec.Struct, frozen=True, kw_only=True):
    """A question or a step that is open, as the scratchpad has it."""

    text: str
    path: str
    is_question: bool = False


def coming(ws: OpenWorkspace, points: Iterable[OpenPoint] = ()) -> list[Coming]:
    """Return what is dated today or ahead, the next first: facts, notes, and those of the open points."""
    today = ws.now().date()
    last = (today + timedelta(days=_DAYS)).isoformat()
    found = [*_facts(ws, today.isoformat()), *_notes(ws, today), *_steps(points, today)]
    chosen: dict[tuple[str, str], Coming] = {}
    for one in sorted(found, key=lambda one: one.day):
        if one.day <= last:
            chosen.setdefault((one.day, one.text or str(one.fact)), one)
    return list(chosen.values())[:_MOST]


def _facts(ws: OpenWorkspace, today: str) -> Iterator[Coming]:
    store = ws.fact_store
    with store.lock:
        store.log.refresh()
        held = [one.fact for scope in ws.scopes() for one in store.held(scope) if one.end is None]
    for fact in held:
        if fact.review or fact.until:
            continue
        days = [day for day in _WRITTEN.findall(fact.value) if day >= today] if "-" in fact.value else []
        since = when(fact.since, store.zone) if fact.since[:10] > today else None
        if days or since is not None:
            yield Coming(day=min(days) if days else fact.since[:10], fact=fact)


def _notes(ws: OpenWorkspace, today: date) -> Iterator[Coming]:
    """Yield how notes begin that are dated ahead."""
    start = seconds(datetime.combine(today + timedelta(days=1), time.min))
    with reading(ws) as view:
        rows = view.snapshot.rows
        mask = (rows["kind"] == KIND_CODE["note"]) & (rows["time"] != NO_TIME) & (rows["time"] >= start)
        found = np.flatnonzero(mask & first_chunks(rows))[:_MOST]
        for at, record in zip(found.tolist(), view.fetch(found), strict=True):
            day = wall_time(int(rows["time"][at])).date().isoformat()
            yield Coming(day=day, text=record.title or record.text, ref=record.ref)


def _steps(points: Iterable[OpenPoint], today: date) -> Iterator[Coming]:
    for one in points:
        day = None if one.is_question else last_day(ASIDE.sub("", one.text))  # without when it was said
        if day is not None and day >= today:
            yield Coming(day=day.isoformat(), text=one.text, ref=one.path)


def open_points(ws: OpenWorkspace) -> list[OpenPoint]:
    """Return the open questions and steps of all scratchpads, as people left them; redacted."""
    found: list[OpenPoint] = []
    for scope in ws.scopes():
        path = in_scope(scope, SCRATCHPAD)
        page = ws.visible.read(path) if (ws.root / path).is_file() else None
        if page is None or isinstance(page, Problem):
            continue
        for name, is_question in (("questions", True), ("steps", False)):
            part = find(page.text, name)
            found += [
                OpenPoint(text=line.strip()[2:], path=path, is_question=is_question)
                for line in (part.lines if part is not None else ())
                if line.lstrip().startswith("- ")
            ]
    return found[: 2 * _MOST]
