"""Keep a memory off the record: for as long as its person wants, nothing of what is said is kept.

The times are noted in the workspace's `.mnemark/`, not only whether it is off the record now: an agent's own
transcript is often read later, and what was said meanwhile must not come in then. So what was said in one of
these times is never recorded, and while one lasts nothing is, whatever its own time.
"""

from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec

from mnemark.errors import MnemarkError, OffRecordError
from mnemark.files import layout, platform
from mnemark.files.disk_errors import unread
from mnemark.files.private import private, private_folder

NAME: Final = "off-record.json"
_MOST: Final = 1_000
"""Maximum number of times that are kept."""


class Span(msgspec.Struct, frozen=True):
    """A time off the record; without an end until a person ends it."""

    begin: datetime
    end: datetime | None = None


class OffRecord(msgspec.Struct, frozen=True):
    """The times off the record of a workspace, in their order."""

    spans: tuple[Span, ...] = ()

    def current(self, now: datetime | None = None) -> Span | None:
        """Return the time that lasts now; None where all is recorded."""
        now = _aware(now or datetime.now(UTC))
        last = self.spans[-1] if self.spans else None
        return last if last is not None and (last.end is None or now < last.end) else None

    def covers(self, time: datetime) -> bool:
        """Whether something was said off the record, then."""
        when = _aware(time)
        return any(one.begin <= when and (one.end is None or when < one.end) for one in self.spans)

    def keeps(self, time: datetime) -> bool:
        """Whether what was said at a time may be recorded now."""
        return not self.spans or (self.current() is None and not self.covers(time))


def load(root: Path) -> OffRecord:
    """Return the times of a workspace; their file is read again only if it changed.

    Where they say nothing that makes sense, it is off the record: what a person may have wanted kept out
    stays out.

    Raises:
        MnemarkError: the file cannot be read, so that nobody knows whether anything may be recorded.
    """
    place = private(root) / NAME
    try:
        return _read(place, platform.identity_of(place.stat()))
    except (FileNotFoundError, NotADirectoryError):
        return OffRecord()
    except OSError as error:
        raise MnemarkError(
            f"{layout.PRIVATE}/{NAME} {unread(error)}; it says whether the memory is off the record, so "
            "nothing is recorded until it can be read, or is deleted"
        ) from error


@lru_cache(maxsize=32)
def _read(place: Path, state: platform.Identity) -> OffRecord:
    """Return the times in a file of this state: each append asks, and a status is read faster than a file."""
    try:
        found = msgspec.json.decode(platform.content(place), type=OffRecord)
        return OffRecord(tuple(Span(_aware(one.begin), one.end and _aware(one.end)) for one in found.spans))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, OverflowError):
        return OffRecord((Span(datetime.fromtimestamp(state.mtime_ns / 1e9, UTC)),))


def begin(root: Path, until: datetime | None = None) -> Span:
    """Go off the record now, until a time or until `end`; another end than before may be given."""
    known, now = load(root), datetime.now(UTC)
    span = known.current(now)
    earlier = known.spans if span is None else known.spans[:-1]
    span = Span(now if span is None else span.begin, None if until is None else _aware(until))
    _save(root, (*earlier, span))
    return span


def end(root: Path) -> bool:
    """Go on recording; return whether that had stopped."""
    known, now = load(root), datetime.now(UTC)
    span = known.current(now)
    if span is None:
        return False
    _save(root, (*known.spans[:-1], Span(span.begin, now)))
    return True


def check(root: Path, action: str) -> None:
    """Refuse what would add to a memory that is off the record.

    Raises:
        OffRecordError: it is.
    """
    if (span := load(root).current()) is not None:
        raise OffRecordError(f"cannot {action}: {told(span)}; to go on recording, run `mnemark pause --end`")


def told(span: Span) -> str:
    """Return the state as a part of a sentence."""
    until = "" if span.end is None else f" until {span.end.astimezone():%Y-%m-%d %H:%M}"
    return f"this memory is off the record{until}, and nothing is recorded or learned"


def _save(root: Path, spans: tuple[Span, ...]) -> None:
    data = msgspec.json.encode(OffRecord(spans[-_MOST:]))
    platform.write_private(private_folder(root) / NAME, data)
    _read.cache_clear()


def _aware(time: datetime) -> datetime:
    return time.astimezone(UTC)
