"""Keep a memory off the record: for as long as its person wants, nothing of what is said is kept.

The times are noted in the workspace's `.mnemark/`, not only whether it is off the record now: an agent's own
transcript is often read later, and what was said meanwhile must not come in then. So what was said in one of
these times is never recorded, and while one lasts nothing is, whatever its own time.
"""

from datetime import UTC, datetime
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


class Span(msgspec.Struct):
    """A time off the record; without an end until a person ends it."""

    begin: datetime
    end: datetime | None = None


class OffRecord(msgspec.Struct):
    """The times off the record of a workspace, in their order."""

    spans: list[Span] = []

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
    """Return the times of a workspace.

    Where they say nothing that makes sense, it is off the record: what a person may have wanted kept out
    stays out.

    Raises:
        MnemarkError: the file cannot be read, so that nobody knows whether anything may be recorded.
    """
    place = private(root) / NAME
    try:
        found = msgspec.json.decode(platform.content(place), type=OffRecord)
        return OffRecord([Span(_aware(one.begin), one.end and _aware(one.end)) for one in found.spans])
    except (FileNotFoundError, NotADirectoryError):
        return OffRecord()
    except OSError as error:
        raise MnemarkError(
            f"{layout.PRIVATE}/{NAME} {unread(error)}; it says whether the memory is off the record, so "
            "nothing is recorded until it can be read, or is deleted"
        ) from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, OverflowError):
        return OffRecord([Span(_changed(place))])


def _changed(place: Path) -> datetime:
    try:
        return datetime.fromtimestamp(place.stat().st_mtime, UTC)
    except OSError:
        return datetime.min.replace(tzinfo=UTC)


def begin(root: Path, until: datetime | None = None) -> Span:
    """Go off the record now, until a time or until `end`; another end than before may be given."""
    known, now = load(root), datetime.now(UTC)
    span = known.current(now)
    if span is None:
        known.spans.append(span := Span(now))
    span.end = None if until is None else _aware(until)
    _save(root, known)
    return span


def end(root: Path) -> bool:
    """Go on recording; return whether that had stopped."""
    known, now = load(root), datetime.now(UTC)
    span = known.current(now)
    if span is None:
        return False
    span.end = now
    _save(root, known)
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


def _save(root: Path, known: OffRecord) -> None:
    known.spans = known.spans[-_MOST:]
    platform.write_private(private_folder(root) / NAME, msgspec.json.encode(known))


def _aware(time: datetime) -> datetime:
    return time.astimezone(UTC)
