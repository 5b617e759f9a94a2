"""Print search results and reports as text for people."""

import itertools
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemark.files.unread import grouped
from mnemark.text.dates import local
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import normalize
from mnemark.text.words.segment import index_terms, query_terms
from mnemark.types import Problem
from mnemark_interfaces import speech
from mnemark_interfaces.output import (
    BOLD,
    CYAN,
    DIM,
    YELLOW,
    out,
    safe,
    safe_line,
    say,
    spoken,
    style,
    tell,
)

if TYPE_CHECKING:
    from mnemark.index.sync import SyncReport
    from mnemark.types import Hit, Recall

_SHOWN_INNER: Final = 5
_SHOWN_PROBLEMS: Final = 10
_CLOSING: Final = "，。；：、！？）”」』》…%"
_OPENING: Final = "（“「『《"
_WIDE: Final = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uff60"
_BREAKABLE: Final = lazy_pattern(
    rf"\s+|\[[^\[\]\n]{{1,40}}\]|[{_OPENING}]*(?:(?![{_OPENING}{_CLOSING}])[{_WIDE}]|[^\s{_OPENING}{_CLOSING}{_WIDE}]+|)[{_CLOSING}]*"
)
"""Spaces, or what stays on one line: a note in brackets, a word or a wide character, with signs around."""
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
    words = speech.words()
    routes = hit.why.get("routes", {}).items()
    rows = [
        (words("route"), words("rank"), words("score")),
        *((name, str(route.get("rank") or "-"), f"{route['score']:.3f}") for name, route in routes),
        (words("fused"), "", f"{hit.why.get('fused', 0.0):.3f}"),
        *((f"× {name}", "", f"{value:+.3f}") for name, value in hit.why.get("boosts", {}).items()),
    ]
    terms = hit.why.get("terms", {})
    here = [f"{term} {entry['idf']:.1f}" for term, entry in terms.items() if entry["here"]]
    absent = [term for term, entry in terms.items() if not entry["here"]]
    shown = table(rows)
    shown += [words("matching words (rarity): {words}", words=safe(words.listed(here)))] if here else []
    shown += [words("missing words: {words}", words=safe(words.listed(absent)))] if absent else []
    for text in shown:
        out(f"      {style(text, DIM)}")


def width(text: str) -> int:
    """Return the number of terminal columns of `text`: Chinese characters take two."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def wrapped(text: str, columns: int) -> list[str]:
    """Return text as lines of at most so many columns, broken at spaces and between Chinese characters.

    No line begins with a sign that closes, or ends with one that opens; a word that is longer has a line of
    its own.
    """
    lines: list[str] = []
    line = gap = ""
    for piece in _BREAKABLE.findall(text):
        if not piece.strip():
            gap = piece
        elif line and width(line) + width(gap) + width(piece) > columns:
            lines.append(line)
            line, gap = piece, ""
        else:
            line, gap = line + (gap if line else "") + piece, ""
    return [*lines, line] if line else lines


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as aligned lines; columns are two spaces apart, the last is not padded."""
    widths = [max(map(width, column)) for column in itertools.zip_longest(*rows, fillvalue="")]
    lines = []
    for row in rows:
        cells = [cell + " " * (columns - width(cell)) for cell, columns in zip(row, widths, strict=False)]
        lines.append("  ".join(cells).rstrip())
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
    words = speech.words()
    if counts := changes(found):
        done = words("{changes}; {passages}", changes=counts, passages=counted(found.passages, "passage"))
    else:
        done = words("nothing changed")
    files = counted(found.files, "file")
    tell("{files}: {done} ({seconds} s)", files=files, done=done, seconds=f"{found.seconds:.1f}")
    if found.inner:
        say("Not indexed: {what}", what=inner(found.inner))
    if found.unread:
        say("Not read: {what}", what=not_read(found.unread))
    problems(found.problems)


def changes(found: "SyncReport") -> str:
    """Return the nonzero counts of files added, changed, moved and removed, as a list."""
    words = speech.words()
    names = {"added": "{n} added", "changed": "{n} changed", "moved": "{n} moved", "removed": "{n} removed"}
    return words.listed(words(text, n=n) for name, text in names.items() if (n := getattr(found, name)))


def not_read(counts: Mapping[str, int]) -> str:
    """Return which files hold text that is not read, with the reason: "12 .pdf, 3 .docx (pip install …)"."""
    words = speech.words()
    return words.listed(
        words("{value} ({more})", value=safe_line(files), more=spoken(why)) if why else safe_line(files)
        for files, why in grouped(counts)
    )


def problems(found: Iterable[Problem]) -> None:
    """Print problems with files on stderr, at most `_SHOWN_PROBLEMS`."""
    listed = list(found)
    for one in listed[:_SHOWN_PROBLEMS]:
        problem(one, skipped="skipped: {path}: {reason}")
    if len(listed) > _SHOWN_PROBLEMS:
        more = len(listed) - _SHOWN_PROBLEMS
        say("… and {n} more; `mnemark status --json` lists all of them", n=more)


def problem(found: Problem, *, skipped: str) -> None:
    """Print a problem with a file on stderr; `skipped` is the sentence of one that is left out for it."""
    text = skipped if found.skipped else "note: {path}: {reason}"
    say(text, path=safe_line(found.path), reason=spoken(found.reason))


def inner(folders: Sequence[str]) -> str:
    """Describe the folders that are separate workspaces."""
    words = speech.words()
    names = words.listed(f"{safe_line(name)}/" for name in folders[:_SHOWN_INNER])
    if (more := len(folders) - _SHOWN_INNER) > 0:
        names = words("{names} and {n} more", names=names, n=more)
    one, many = (
        "{names} (a separate workspace; search with -w)",
        "{names} (separate workspaces; search with -w)",
    )
    return words(one if len(folders) == 1 else many, names=names)
