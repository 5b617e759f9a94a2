"""Draw what is known in time: the values of a fact as a line, and how old its last confirmation is."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from markupsafe import Markup

from mnemark.facts.model import Fact
from mnemark_faces.web import charts
from mnemark_faces.web.at import At
from mnemark_faces.web.render import moment, one_line

_DAYS_OF_MONTH: Final = 30.4


def months_since(time: str, at: At) -> int:
    """Return the whole months that have passed since a time; 0 where it is unknown."""
    then = moment(time, at) if time else None
    return int((at.now - then).days / _DAYS_OF_MONTH) if then is not None else 0


def life(at: At, history: Sequence[Fact]) -> Markup | str:
    """Return the values of a fact as a line from the first to now; empty if no time is known."""
    spans: list[tuple[datetime, datetime, Fact]] = []
    for fact in history:
        begin = moment(fact.since or fact.recorded, at)
        if begin is not None:
            spans.append((begin, moment(fact.until, at) or at.now if fact.until else at.now, fact))
    if not spans:
        return ""
    first = min(begin for begin, _, _ in spans)
    whole = max((at.now - first).total_seconds(), 1.0)
    drawn = [
        charts.Span(
            (begin - first).total_seconds() / whole, min((end - first).total_seconds() / whole, 1.0),
            _held(at, fact),
            not fact.until,
        )
        for begin, end, fact in sorted(spans, key=lambda span: span[0])
    ]  # fmt: skip
    return charts.life(at.words("The values of this fact over time"), drawn)


def _held(at: At, fact: Fact) -> str:
    """Return a value with the days between which it held."""
    words, today = at.words, at.now.date()
    begin, end = words.date(fact.since[:10], today), words.date(fact.until[:10], today) or words("now")
    return f"{one_line(fact.value)}{'：' if words.language == 'zh' else ': '}{begin} – {end}"
