"""The words of mnemark as values: what passes between the layers.

All records are frozen `msgspec` structs: cheap to make, typed, and JSON in one call. Times are
`datetime` with or without zone exactly as written; lines are 1-based and inclusive; offsets count
characters (code points) of the decoded text and are half-open.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypedDict

import msgspec

Origin = Literal["owner", "agent", "tool", "web", "file", "import"]
"""Who said it. Trust falls: owner > agent = file > import > tool = web."""

Kind = Literal["note", "fact", "episode", "turn", "observation", "attachment"]
"""What a passage is."""

KINDS: tuple[Kind, ...] = ("note", "fact", "episode", "turn", "observation", "attachment")
ORIGINS: tuple[Origin, ...] = ("owner", "agent", "tool", "web", "file", "import")

Json = Any
"""A JSON value."""

Columns = tuple[int, int]
"""First character in the first line and last one in the last line, from 1, inclusive; 0 for a whole line."""
WHOLE: Columns = (0, 0)


def ref_to(path: str, first: int, last: int, columns: Sequence[int] = WHOLE) -> str:
    """Return the ref of lines: `path#L12`, `path#L12-L30`, or with characters, `path#L12C341-L12C900`."""
    start, end = columns
    until = f"-L{last}" if last != first or start or end else ""
    return f"{path}#L{first}{f'C{start}' if start else ''}{until}{f'C{end}' if end else ''}"


class Problem(msgspec.Struct, frozen=True):
    """Something wrong with a file: told to a person, never raised.

    `path` is relative to the workspace; `skipped` says whether the file is missing from the index.
    """

    path: str
    reason: str
    skipped: bool = True


class Passage(msgspec.Struct, frozen=True):
    """A chunk of one document. Joined in order, `text[start:end]` of all passages is the document's text."""

    ordinal: int
    start_line: int
    end_line: int
    start: int
    end: int
    text: str
    title: str = ""
    """The heading path, outermost first, joined with " › "; empty above the first heading."""


class Turn(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One turn of a session as it stands in `sessions/<id>.jsonl`."""

    id: str
    time: datetime
    role: str
    content: str
    origin: Origin = "agent"
    tool_calls: Sequence[Json] = ()
    tool_results: Sequence[Json] = ()
    attachments: Sequence[Json] = ()
    duration_ms: int | None = None
    meta: Mapping[str, Json] = {}


class DateRange(msgspec.Struct, frozen=True):
    """A half-open span of local time, `start <= t < end`, read from `text` (the words that named it)."""

    start: datetime
    end: datetime
    text: str = ""


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """One passage found, with its source. `ref` reads back the passage: `path#L12-L30`."""

    ref: str
    path: str
    start_line: int
    end_line: int
    kind: Kind
    title: str
    date: str | None
    """ISO date or date-time of the turn or dated note; None where the text is undated."""
    origin: Origin
    scope: str
    """Folder of whose memory it is (`users/ann`); empty for the root."""
    score: float
    """Fused score; comparable within one answer only."""
    text: str
    snippet: str
    meta: Mapping[str, Json] = {}
    why: Mapping[str, Json] = {}
    """Per-route rank and score, weights and boosts; filled when asked for with `explain`."""


class SearchOptions(TypedDict, total=False):
    """Which text a search finds, and how it is ranked."""

    kinds: Iterable[Kind] | None
    """Only passages of these kinds."""
    origins: Iterable[Origin] | None
    """Only passages of these origins."""
    since: datetime | str | None
    """Only passages dated then or later: a datetime, ISO text, or words such as "last week"."""
    until: datetime | str | None
    """Only passages dated before the end of that time."""
    as_of: datetime | str | None
    """What was known at that time; undated text is included."""
    archived: bool
    """Whether the archive is searched, too."""
    explain: bool
    """Whether `why` of each hit is filled."""
    now: datetime | None
    """The time that relative time words refer to."""
    preset: str | None
    """A ranking other than the configured one."""
    context: Sequence[str]
    """Preceding turns, oldest first, with a small weight."""


class Recall(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a search or recall."""

    hits: tuple[Hit, ...]
    text: str = ""
    """The block for the prompt: quoted, sourced, within the budget. Empty for `search`."""
    mode: str
    """The routes that ran, for example "lexical" or "lexical+dense"."""
    degraded: tuple[str, ...] = ()
    """Optional parts that did not answer, each with the reason and the fix."""
    complete: bool
    """The index was fresh and all routes answered."""
    on_topic: float = 0.0
    """0 to 1: how likely it is that memory holds something on what was asked."""
    believable: float = 0.0
    """0 to 1: how likely it is that the answer is among the hits, if memory holds something on it. A coarse
    estimate: it is hardly lower where only the answer is missing."""
    used: tuple[str, ...] = ()
    """Refs of the hits that stand in `text`, in its order."""
    unread: Mapping[str, int] = {}
    """Of an answer that is empty, or on the command line doubtful: how many files hold text and were not
    read, by suffix."""
