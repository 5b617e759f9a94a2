"""Print search results and reports as text for people."""

import itertools
import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemark.files.unread import told
from mnemark.text.dates import local
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import normalize
from mnemark.text.words.segment import index_terms, query_terms
from mnemark.types import Problem
from mnemark_interfaces import speech
from mnemark_interfaces.output import BOLD, CYAN, DIM, YELLOW, out, safe, safe_line, say, style

if TYPE_CHECKING:
    from mnemark.index.sync import SyncReport
    from mnemark.types import Hit, Recall

_SHOWN_INNER: Final = 5
_SHOWN_PROBLEMS: Final = 10
_PIECES: Final = lazy_pattern(r"[\u3005\u3007\u3400-\u9fff\uf900-\ufaff]+|[^\W_]+(?:[-_.'][^\W_]+)*")


def hits(found: "Recall", query: str, *, explain: bool = False) -> None:
    """Print hits: source, date, title and score on one line, the words around the match below it."""
    wanted = terms_of(query)
    words = speech.words()
    for number, hit in enumerate(found.hits, 1):
        if number > 1:
            out()
        date = words("undated") if hit.date is None else minute(hit.date)
        parts = [style(safe_line(hit.ref), CYAN), date, safe_line(hit.title)]
        mark = style(words("looks like instructions"), YELLOW) if hit.meta.get("suspect") else ""
        parts += [safe_line(hit.scope), mark, style(f"{hit.score:.2f}", DIM)]
        out("  ".join(part for part in parts if part))
        out(f"    {emphasised(safe(hit.snippet), wanted)}")
        for told_ in hit.meta.get("corrected", ()):
            out(f"    {style(safe_line(told_), YELLOW)}")
        if explain:
            _explain(hit)


def minute(time: str) -> str:
    """Return an ISO time cut to the minute, or a date unchanged."""
    return time[:16].replace("T", " ")


def on_clock(time: str, zone: tzinfo | None) -> str:
    """Return an ISO time as a zone's clock shows it; a date, and what is no time, as it is."""
    try:
        return local(datetime.fromisoformat(time), zone).isoformat() if "T" in time else time
    except ValueError:
        return time


def shortened(text: str, most: int) -> str:
    """Return `text` cut to `most` characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def terms_of(query: str) -> frozenset[str]:
    """Return the search terms of a query."""
    return frozenset(query_terms(query))


def emphasised(text: str, wanted: frozenset[str]) -> str:
    """Return `text` with words that share a term with the query in bold, if there is colour."""
    if style("x", BOLD) == "x":
        return text

    def mark(match: re.Match[str]) -> str:
        word = match[0]
        if word[0] < "\u3005":
            words, parts = index_terms(word)
            return style(word, BOLD) if wanted.intersection([*words, *parts]) else word
        return _mark_chinese(word, wanted)

    return _PIECES.sub(mark, text)


def _mark_chinese(run: str, wanted: frozenset[str]) -> str:
    plain = normalize(run)
    if len(plain) != len(run):
        plain = run
    marked = [False] * len(run)
    for term in wanted:
        start = plain.find(term)
        while start >= 0:
            marked[start : start + len(term)] = [True] * len(term)
            start = plain.find(term, start + 1)
    pieces = []
    for bold, group in itertools.groupby(zip(run, marked, strict=True), lambda pair: pair[1]):
        piece = "".join(char for char, _ in group)
        pieces.append(style(piece, BOLD) if bold else piece)
    return "".join(pieces)


def _explain(hit: "Hit") -> None:
    routes = hit.why.get("routes", {}).items()
    rows = [
        ("route", "rank", "score"),
        *((name, str(route.get("rank") or "-"), f"{route['score']:.3f}") for name, route in routes),
        ("fused", "", f"{hit.why.get('fused', 0.0):.3f}"),
        *((f"× {name}", "", f"{value:+.3f}") for name, value in hit.why.get("boosts", {}).items()),
    ]
    for line in table(rows, indent=6):
        out(style(line, DIM))
    terms = hit.why.get("terms", {})
    here = [f"{term} {entry['idf']:.1f}" for term, entry in terms.items() if entry["here"]]
    absent = [term for term, entry in terms.items() if not entry["here"]]
    if here:
        out(style(f"      matching words (rarity): {safe(', '.join(here))}", DIM))
    if absent:
        out(style(f"      missing words: {safe(', '.join(absent))}", DIM))


def width(text: str) -> int:
    """Return the number of terminal columns of `text`: Chinese characters take two."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def table(rows: Sequence[Sequence[str]], *, indent: int = 0) -> list[str]:
    """Return rows as aligned lines; columns are two spaces apart, the last is not padded."""
    widths = [max(map(width, column)) for column in itertools.zip_longest(*rows, fillvalue="")]
    lines = []
    for row in rows:
        cells = [cell + " " * (columns - width(cell)) for cell, columns in zip(row, widths, strict=False)]
        lines.append((" " * indent + "  ".join(cells)).rstrip())
    return lines


def from_home(folder: str) -> str:
    """Return a path with `~` for the home folder."""
    path, home = Path(folder), Path.home()
    return "/".join(("~", *path.relative_to(home).parts)) if path.is_relative_to(home) else folder


def counted(count: int, name: str) -> str:
    """Return a count with its noun in the reader's language: "1 file", "2 files"."""
    return speech.words().count(count, f"{{n}} {name}", f"{{n}} {name}s")


def size(count: int) -> str:
    """Return a number of bytes: "512 bytes", "3 kB", "1.4 MB"."""
    if count < 1_000:
        return counted(count, "byte")
    return f"{count / 1e3:,.0f} kB" if count < 999_500 else f"{count / 1e6:,.1f} MB"


def report(found: "SyncReport") -> None:
    """Print the report of a sync in one line, and the files it could not use."""
    counts = changes(found)
    done = f"{', '.join(counts)}; {counted(found.passages, 'passage')}" if counts else "nothing changed"
    out(f"{counted(found.files, 'file')}: {done} ({found.seconds:.1f} s)")
    if found.inner:
        say(f"Not indexed: {inner(found.inner)}")
    if found.unread:
        say(f"Not read: {safe_line(told(found.unread))}")
    problems(found.problems)


def changes(found: "SyncReport") -> list[str]:
    """Return the nonzero counts of files added, changed, moved and removed."""
    names = ("added", "changed", "moved", "removed")
    return [f"{count:,} {name}" for name in names if (count := getattr(found, name))]


def problems(found: Iterable[Problem]) -> None:
    """Print problems with files on stderr, at most `_SHOWN_PROBLEMS`."""
    listed = list(found)
    for problem in listed[:_SHOWN_PROBLEMS]:
        what = "skipped" if problem.skipped else "note"
        say(f"{what}: {safe_line(problem.path)}: {safe_line(problem.reason)}")
    if len(listed) > _SHOWN_PROBLEMS:
        say(f"… and {len(listed) - _SHOWN_PROBLEMS:,} more; `mnemark status --json` lists all of them")


def inner(folders: Sequence[str]) -> str:
    """Describe the folders that are separate workspaces."""
    names = ", ".join(f"{safe_line(name)}/" for name in folders[:_SHOWN_INNER])
    more = f" and {len(folders) - _SHOWN_INNER:,} more" if len(folders) > _SHOWN_INNER else ""
    what = "a separate workspace" if len(folders) == 1 else "separate workspaces"
    return f"{names}{more} ({what}; search with -w)"
