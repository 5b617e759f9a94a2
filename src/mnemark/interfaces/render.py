"""Render answers, reports and states as text for people."""

import itertools
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from mnemark.interfaces.ledger import words_of
from mnemark.interfaces.output import BOLD, CYAN, DIM, RED, YELLOW, out, safe, safe_line, say, style
from mnemark.types import Problem

if TYPE_CHECKING:
    from mnemark.index.sync import SyncReport
    from mnemark.interfaces.ledger import Entry
    from mnemark.memory.health.doctor import Finding
    from mnemark.memory.memory import Memory
    from mnemark.memory.review.attention import Attention
    from mnemark.types import Hit, Recall

DOUBTFUL: Final = 0.3
"""Below this the answer is more likely not among the hits."""
_SHOWN_INNER: Final = 5
_SHOWN_PROBLEMS: Final = 10
_SHOWN_WORDS: Final = 100
"""Characters of an entry of the log."""
_SHOWN_ALIKE: Final = 5
"""Findings of one kind."""
_PIECES: Final = re.compile(r"[\u3005\u3007\u3400-\u9fff\uf900-\ufaff]+|[^\W_]+(?:[-_.'][^\W_]+)*")


def hits(found: "Recall", query: str, *, explain: bool = False) -> None:
    """All hits: source, date, title and score on one line, the words around the match below it."""
    wanted = terms_of(query)
    for number, hit in enumerate(found.hits, 1):
        if number > 1:
            out()
        parts = [style(safe_line(hit.ref), CYAN), _date(hit.date), safe_line(hit.title)]
        mark = style("looks like instructions", YELLOW) if hit.meta.get("suspect") else ""
        parts += [safe_line(hit.scope), mark, style(f"{hit.score:.2f}", DIM)]
        out("  ".join(part for part in parts if part))
        out(f"    {emphasised(safe(hit.snippet), wanted)}")
        if explain:
            _why(hit)


def _date(date: str | None) -> str:
    """A day, or a day with hour and minute."""
    return "undated" if date is None else date[:16].replace("T", " ")


def terms_of(query: str) -> frozenset[str]:
    """The terms that a query asks for."""
    from mnemark.text.words.segment import query_terms

    return frozenset(query_terms(query))


def emphasised(text: str, wanted: frozenset[str]) -> str:
    """`text` with the words in bold that share a term with the query; unchanged without colour."""
    from mnemark.text.words.segment import index_terms

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
    from mnemark.text.words.normalize import normalize

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
    begin = 0
    for end in range(1, len(run) + 1):
        if end == len(run) or marked[end] != marked[begin]:
            pieces.append(style(run[begin:end], BOLD) if marked[begin] else run[begin:end])
            begin = end
    return "".join(pieces)


def _why(hit: "Hit") -> None:
    """Routes, boosts and terms of one hit as a small table."""
    rows = [("route", "rank", "score")]
    for name, route in hit.why.get("routes", {}).items():
        rows.append((name, str(route.get("rank") or "-"), f"{route['score']:.3f}"))
    rows.append(("fused", "", f"{hit.why.get('fused', 0.0):.3f}"))
    rows += [(f"× {name}", "", f"{value:+.3f}") for name, value in hit.why.get("boosts", {}).items()]
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
    """Columns of `text` in a terminal: Chinese characters take two."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def table(rows: Sequence[Sequence[str]], *, indent: int = 0) -> list[str]:
    """Rows as aligned lines; columns are two spaces apart, the last is not padded."""
    columns = range(max((len(row) for row in rows), default=0))
    widths = [max((width(row[i]) for row in rows if i < len(row)), default=0) for i in columns]
    lines = []
    for row in rows:
        cells = [cell + " " * (widths[i] - width(cell)) for i, cell in enumerate(row)]
        lines.append((" " * indent + "  ".join(cells)).rstrip())
    return lines


def counted(count: int, name: str) -> str:
    """So many of them, in words: "1 file", "2 files"."""
    return f"{count:,} {name}{'' if count == 1 else 's'}"


def size(count: int) -> str:
    """So many bytes, as people say it: "512 bytes", "3 kB", "1.4 MB"."""
    if count < 1_000:
        return counted(count, "byte")
    return f"{count / 1e3:,.0f} kB" if count < 999_500 else f"{count / 1e6:,.1f} MB"


def report(found: "SyncReport") -> None:
    """What a sync did, in one line, and the files it could not use."""
    counts = changes(found)
    done = f"{', '.join(counts)}; {counted(found.passages, 'passage')}" if counts else "nothing changed"
    out(f"{counted(found.files, 'file')}: {done} ({found.seconds:.1f} s)")
    if found.inner:
        say(f"Not indexed: {inner(found.inner)}")
    problems(found.problems)


def changes(found: "SyncReport") -> list[str]:
    """How many files were added, changed, moved and removed, as words; what did not happen is left out."""
    counted = {
        "added": found.added,
        "changed": found.changed,
        "moved": found.moved,
        "removed": found.removed,
    }
    return [f"{count:,} {name}" for name, count in counted.items() if count]


def problems(found: Iterable[Problem]) -> None:
    """Files with something wrong, on stderr; a long list is cut."""
    listed = list(found)
    for problem in listed[:_SHOWN_PROBLEMS]:
        what = "skipped" if problem.skipped else "note"
        say(f"{what}: {safe_line(problem.path)}: {safe_line(problem.reason)}")
    if len(listed) > _SHOWN_PROBLEMS:
        say(f"… and {len(listed) - _SHOWN_PROBLEMS:,} more; `mnemark status --json` lists all of them")


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """A workspace's state: the counts of its index, and what is not in it yet."""

    workspace: str
    files: int
    passages: int
    kinds: dict[str, int]
    scopes: dict[str, int]
    bytes: int
    outdated: int
    """Files that the next sync will look at."""
    stale: str | None
    """Why the next sync builds the index anew."""
    embedder: str
    inner: tuple[str, ...]
    """Folders inside that are workspaces of their own, and left out."""
    problems: tuple[Problem, ...]
    attention: "tuple[Attention, ...]"
    """What needs a person."""

    @classmethod
    def of(cls, memory: "Memory") -> "Status":
        """Collect it; nothing is written."""
        from mnemark.files.config import load_reported
        from mnemark.files.layout import sync_warning
        from mnemark.interfaces.workspace import look

        stats = memory.stats()
        warning = sync_warning(memory.root)
        seen = look(memory)
        return cls(
            workspace=stats.root,
            files=stats.files,
            passages=stats.passages,
            kinds=stats.kinds,
            scopes=stats.scopes,
            bytes=stats.bytes,
            outdated=seen.outdated,
            stale=stats.stale,
            embedder=memory.config.embedder,
            inner=seen.inner,
            problems=(
                *load_reported(memory.root).problems,
                *((warning,) if warning else ()),
                *seen.problems,
                *stats.problems,
            ),
            attention=tuple(one for one in memory.attention() if one.what != "skipped"),
        )


def status(found: Status) -> None:
    """A workspace's state as a short table."""
    kinds = ", ".join(counted(count, kind) for kind, count in found.kinds.items())
    rows = [
        ("workspace", safe(found.workspace)),
        ("files", f"{found.files:,}"),
        ("passages", f"{found.passages:,}" + (f" ({kinds})" if kinds else "")),
    ]
    scopes = [f"{safe_line(name)} {count:,}" for name, count in found.scopes.items() if name]
    rows += [("scopes", ", ".join(scopes))] if scopes else []
    room = f"{size(found.bytes)}, " if found.bytes else ""
    rows += [("index", room + _freshness(found)), ("embedder", found.embedder)]
    rows += [("not indexed", inner(found.inner))] if found.inner else []
    for line in table(rows):
        out(line)
    problems(found.problems)
    for one in found.attention:
        say(f"Needs your attention: {safe_line(one.text)}")


def inner(folders: Sequence[str]) -> str:
    """Folders that are workspaces of their own, in words."""
    names = ", ".join(f"{safe_line(name)}/" for name in folders[:_SHOWN_INNER])
    more = f" and {len(folders) - _SHOWN_INNER:,} more" if len(folders) > _SHOWN_INNER else ""
    what = "a separate workspace" if len(folders) == 1 else "separate workspaces"
    return f"{names}{more} ({what}; search with -w)"


def _freshness(found: Status) -> str:
    if not found.bytes:
        return f"not created yet; run `mnemark sync` to index {counted(found.outdated, 'file')}"
    if found.stale:
        return f"must be rebuilt: {found.stale}; run `mnemark sync`"
    return (
        f"{counted(found.outdated, 'file')} changed since the last sync; run `mnemark sync`"
        if found.outdated
        else "up to date"
    )


def entries(found: Sequence["Entry"]) -> None:
    """What was written, one line each: when, where (of a change its id, for `undo`), who, first words."""
    for entry in found:
        text = words_of(entry.text) if entry.kind == "change" else entry.text
        if entry.takes_back:
            count = f"{len(entry.takes_back)} changes: " if len(entry.takes_back) > 1 else ""
            text = count + "; ".join(entry.takes_back)
        words = " ".join(text.split())
        cut = words if len(words) <= _SHOWN_WORDS else f"{words[: _SHOWN_WORDS - 1]}…"
        when = f"{entry.time:%Y-%m-%d %H:%M}"
        parts = [
            style(when, DIM),
            style(safe_line(entry.id or entry.ref), CYAN),
            safe_line(entry.who),
            safe(cut),
        ]
        out("  ".join(part for part in parts if part))


def findings(found: Sequence["Finding"]) -> None:
    """What was looked at, one line each, with what to do about it; of many alike the first few."""
    styles = {"ok": DIM, "warn": YELLOW, "error": RED}
    for (_, kind, _), alike in itertools.groupby(
        enumerate(found), lambda pair: (pair[1].level, pair[1].kind, pair[1].kind or pair[0])
    ):
        group = [finding for _, finding in alike]
        first = group[0]
        mark = style(f"{first.level:<5}", styles[first.level])
        shown = group[: _SHOWN_ALIKE if kind else None]
        for finding in shown:
            fix = f": {finding.fix}" if finding.fix not in finding.what else ""
            out(f"{mark}  {safe_line(finding.what + fix)}")
        if len(group) > len(shown):
            fix = f": {first.fix}" if first.fix else ""
            out(f"{mark}  … and {len(group) - len(shown):,} more (--json lists all of them){safe_line(fix)}")
