"""Tables for people: numbers aligned, one line each, wide enough that nothing is cut off."""

from collections.abc import Sequence

from mnemark_bench.measures import Difference

WIDTH = 400
"""Columns where the output is no terminal."""


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> None:
    """Print a table; the first `left` columns are words, the rest numbers."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=WIDTH)
    console.print(Text(title, style="bold"))
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for number, column in enumerate(columns):
        shown.add_column(Text(column), justify="left" if number < left else "right", no_wrap=True)
    for row in rows:
        shown.add_row(*(Text(cell) for cell in row))
    console.print(shown)


def short(measure: str) -> str:
    """A measure's name as a heading."""
    return measure.replace("fractional", "frac").replace("_", " ")


def number(value: float | None, digits: int = 3) -> str:
    """A number with so many digits; a dash where there is none."""
    return "–" if value is None else f"{value:.{digits}f}"


def points(change: Difference | None) -> str:
    """A difference in points with its interval; a star where the interval leaves 0 out."""
    if change is None:
        return "–"
    star = "*" if change.certain else " "
    return f"{100 * change.mean:+.1f} [{100 * change.low:+.1f},{100 * change.high:+.1f}]{star}"
