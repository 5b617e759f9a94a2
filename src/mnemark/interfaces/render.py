"""Print search results, reports and the state of a workspace as text for people."""

import itertools
import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from mnemark.interfaces.output import BOLD, CYAN, DIM, RED, YELLOW, out, safe, safe_line, say, style
from mnemark.text.dates import local
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.types import Problem

if TYPE_CHECKING:
    from mnemark.index.sync import SyncReport
    from mnemark.interfaces.ledger import Entry
    from mnemark.memory.health.doctor import Finding
    from mnemark.memory.health.stats import MountState
    from mnemark.memory.memory import Memory
    from mnemark.memory.review.attention import Attention
    from mnemark.types import Hit, Recall

_SHOWN_INNER: Final = 5
_SHOWN_PROBLEMS: Final = 10
_SHOWN_WORDS: Final = 100
"""Maximum number of characters of a log entry shown."""
_SHOWN_ALIKE: Final = 5
"""Maximum number of findings of one kind shown."""
_PIECES: Final = lazy_pattern(r"[\u3005\u3007\u3400-\u9fff\uf900-\ufaff]+|[^\W_]+(?:[-_.'][^\W_]+)*")


def hits(found: "Recall", query: str, *, explain: bool = False) -> None:
    """Print hits: source, date, title and score on one line, the words around the match below it."""
    wanted = terms_of(query)
    for number, hit in enumerate(found.hits, 1):
        if number > 1:
            out()
        date = "undated" if hit.date is None else minute(hit.date)
        parts = [style(safe_line(hit.ref), CYAN), date, safe_line(hit.title)]
        mark = style("looks like instructions", YELLOW) if hit.meta.get("suspect") else ""
        parts += [safe_line(hit.scope), mark, style(f"{hit.score:.2f}", DIM)]
        out("  ".join(part for part in parts if part))
        out(f"    {emphasised(safe(hit.snippet), wanted)}")
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
    from mnemark.text.words.segment import query_terms

    return frozenset(query_terms(query))


def emphasised(text: str, wanted: frozenset[str]) -> str:
    """Return `text` with words that share a term with the query in bold, if there is colour."""
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
    """Return a count with its noun: "1 file", "2 files"."""
    return f"{count:,} {name}{'' if count == 1 else 's'}"


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


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a workspace: the counts of its index, and what is not in it yet."""

    workspace: str
    files: int
    passages: int
    kinds: dict[str, int]
    scopes: dict[str, int]
    projects: int
    """Number of projects with a memory of their own."""
    bytes: int
    outdated: int
    """Number of files that the next sync will read."""
    stale: str | None
    """Why the next sync rebuilds the index; None where it does not."""
    embedder: str
    inner: tuple[str, ...]
    """Folders inside that are separate workspaces, which are not indexed."""
    problems: tuple[Problem, ...]
    attention: "tuple[Attention, ...]"
    """Items that need a person's decision."""
    mounts: "tuple[MountState, ...]" = ()
    """Other memories that searches read beside this one."""

    @classmethod
    def of(cls, memory: "Memory") -> "Status":
        """Collect the state, without writing."""
        from mnemark.files.config import load_reported
        from mnemark.files.layout import sync_warning
        from mnemark.files.old_layouts import unread
        from mnemark.files.projects import folders
        from mnemark.interfaces.workspace import pending
        from mnemark.memory.health.stats import mount_states

        stats = memory.stats()
        warnings = filter(None, (sync_warning(memory.root), unread(memory.root)))
        ahead = pending(memory)
        settings = load_reported(memory.root).problems
        return cls(
            workspace=stats.root, files=stats.files, passages=stats.passages, kinds=stats.kinds,
            scopes=stats.scopes, projects=len(folders(memory.root)), bytes=stats.bytes,
            outdated=ahead.outdated, stale=stats.stale, embedder=memory.config.embedder, inner=ahead.inner,
            problems=(*settings, *warnings, *ahead.problems, *stats.problems),
            attention=tuple(one for one in memory.attention() if one.what != "skipped"),
            mounts=tuple(mount_states(memory.workspace)),
        )  # fmt: skip


def status(found: Status) -> None:
    """Print the state of a workspace as a short table."""
    kinds = ", ".join(counted(count, kind) for kind, count in found.kinds.items())
    rows = [
        ("workspace", safe(found.workspace)),
        ("files", f"{found.files:,}"),
        ("passages", f"{found.passages:,}" + (f" ({kinds})" if kinds else "")),
    ]
    scopes = [f"{safe_line(name)} {count:,}" for name, count in found.scopes.items() if name]
    rows += [("scopes", ", ".join(scopes))] if scopes else []
    rows += [("projects", f"{found.projects} with a memory of their own")] if found.projects else []
    room = f"{size(found.bytes)}, " if found.bytes else ""
    rows += [("index", room + _freshness(found)), ("embedder", found.embedder)]
    rows += [("not indexed", inner(found.inner))] if found.inner else []
    rows += [(f"@{safe_line(one.name)}", safe_line(_mount(one))) for one in found.mounts]
    for line in table(rows):
        out(line)
    problems(found.problems)
    for one in found.attention:
        say(f"Needs your attention: {safe_line(one.text)}")


def _mount(found: "MountState") -> str:
    if found.problem:
        return found.problem
    state = f"{counted(found.outdated, 'file')} to read first" if found.outdated else "up to date"
    words = "; by words only, as nothing of it is sent to the embedder" if found.words_only else ""
    return f"{counted(found.files, 'file')} in {found.folder}, {state}{words}"


def inner(folders: Sequence[str]) -> str:
    """Describe the folders that are separate workspaces."""
    names = ", ".join(f"{safe_line(name)}/" for name in folders[:_SHOWN_INNER])
    more = f" and {len(folders) - _SHOWN_INNER:,} more" if len(folders) > _SHOWN_INNER else ""
    what = "a separate workspace" if len(folders) == 1 else "separate workspaces"
    return f"{names}{more} ({what}; search with -w)"


def _freshness(found: Status) -> str:
    if not (found.bytes or found.outdated):
        return "not created yet: there is nothing to index"
    if not found.bytes:
        return f"not created yet; run `mnemark sync` to index {counted(found.outdated, 'file')}"
    if found.stale:
        return f"must be rebuilt: {found.stale}; run `mnemark sync`"
    if found.outdated:
        return f"{counted(found.outdated, 'file')} changed since the last sync; run `mnemark sync`"
    return "up to date"


def entries(found: Sequence["Entry"]) -> None:
    """Print log entries, one line each: time, ref (of a change its id, for `undo`), author, first words."""
    from mnemark.memory.journal.changes import describe_payload

    for entry in found:
        text = describe_payload(entry.text) if entry.kind == "change" else entry.text
        if entry.takes_back:
            count = f"{len(entry.takes_back)} changes: " if len(entry.takes_back) > 1 else ""
            text = count + "; ".join(entry.takes_back)
        when, place = (
            style(f"{entry.time:%Y-%m-%d %H:%M}", DIM),
            style(safe_line(entry.id or entry.ref), CYAN),
        )
        words = shortened(" ".join(text.split()), _SHOWN_WORDS)
        out("  ".join(filter(None, (when, place, safe_line(entry.who), safe(words)))))


def findings(found: Sequence["Finding"]) -> None:
    """Print findings, one line each with its fix; of each kind at most `_SHOWN_ALIKE`."""
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
