"""Pictures as SVG made here: geometry in attributes and colours by class, as the policy of pages wants it."""

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup


class Bar(NamedTuple):
    """A bar: its label, and the values stacked in it."""

    label: str
    values: tuple[float, ...]


class Span(NamedTuple):
    """A part of a line, from 0 to 1."""

    start: float
    end: float
    label: str
    current: bool = False


def bars(name: str, given: Sequence[Bar], *, limit: float = 0.0, height: int = 88) -> Markup:
    """Return a bar for each day, with a dashed line at `limit`; `name` says what it shows."""
    width, gap = 640, 3
    tallest = max([sum(bar.values) for bar in given] + [limit, 1])
    step = width / max(len(given), 1)
    parts = [Markup('<line class="axis" x1="0" x2="{}" y1="{}" y2="{}"/>').format(width, height, height)]
    for at, bar in enumerate(given):
        base = float(height)
        title = Markup("<title>{}</title>").format(bar.label)
        drawn = []
        for number, value in enumerate(bar.values):
            tall = value / tallest * (height - 6)
            base -= tall
            if tall > 0:
                drawn.append(_rect(at * step + gap / 2, base, step - gap, tall, f"s{number}"))
        hit = _rect(at * step, 0, step, height, "hit")
        parts.append(Markup("<g>{}{}{}</g>").format(title, hit, Markup("").join(drawn)))
    if limit:
        y = height - limit / tallest * (height - 6)
        parts.append(
            Markup('<line class="limit" x1="0" x2="{}" y1="{:.1f}" y2="{:.1f}"/>').format(width, y, y)
        )
    return _svg(name, width, height + 1, parts, "bars")


def share(name: str, value: float, whole: float, *, kind: str = "s0") -> Markup:
    """Return one horizontal bar: `value` of `whole`."""
    part = min(max(value / whole, 0.0), 1.0) if whole else 0.0
    parts = [
        _rect(0, 0, 200, 8, "track"),
        _rect(0, 0, max(200 * part, 3 if value else 0), 8, kind),
    ]
    return _svg(name, 200, 8, parts, "share")


def stack(name: str, values: Sequence[tuple[str, float]], whole: float) -> Markup:
    """Return parts of a whole side by side, each with its label."""
    width, at = 640, 0.0
    parts = [_rect(0, 0, width, 18, "track")]
    for number, (label, value) in enumerate(values):
        wide = width * value / whole if whole else 0
        if wide <= 0:
            continue
        title = Markup("<title>{}</title>").format(label)
        drawn = _rect(at, 0, max(wide - 1, 1), 18, f"p{number % 8}")
        parts.append(Markup("<g>{}{}</g>").format(title, drawn))
        at += wide
    return _svg(name, width, 18, parts, "stack")


def life(name: str, spans: Sequence[Span]) -> Markup:
    """Return the values of a fact as spans of a line, the present one filled."""
    width = 640
    parts = [Markup('<line class="axis" x1="0" x2="{}" y1="12" y2="12"/>').format(width)]
    for span in spans:
        x, wide = span.start * width, max((span.end - span.start) * width - 3, 4)
        title = Markup("<title>{}</title>").format(span.label)
        drawn = _rect(x, 5, wide, 14, "s0" if span.current else "past", round_=7)
        parts.append(Markup("<g>{}{}</g>").format(title, drawn))
    return _svg(name, width, 24, parts, "life")


def _rect(x: float, y: float, width: float, height: float, kind: str, *, round_: float = 1) -> Markup:
    return Markup(
        '<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="{}"/>'
    ).format(kind, x, y, width, height, round_)  # fmt: skip


def _svg(name: str, width: int, height: int, parts: Sequence[Markup], kind: str) -> Markup:
    return Markup(
        '<svg class="chart {}" role="img" aria-label="{}" viewBox="0 0 {} {}" preserveAspectRatio="none">'
        "{}</svg>"
    ).format(kind, name, width, height, Markup("").join(parts))
