"""Implement `pause`: keep the memory off the record for a while."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

import typer

from mnemark.errors import UsageError
from mnemark.files import off_record
from mnemark.present.phrases import capital
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark_interfaces import options, output, speech, workspace

_LENGTH: Final = lazy_pattern(r"(\d{1,4})\s*(m|min|h|d|)")
_MINUTES: Final = {"": 1, "m": 1, "min": 1, "h": 60, "d": 1_440}


def pause(
    *,
    workspace_: options.Workspace = None,
    for_: Annotated[
        str | None,
        typer.Option(
            "--for", metavar="LENGTH", help="How long, such as 30m, 2h or 1d. Default: until --end."
        ),
    ] = None,
    end: Annotated[bool, typer.Option("--end", help="Go on recording.")] = False,
    json: options.Json = False,
) -> None:
    """Go off the record: nothing is recorded or learned, until you end it.

    What is said meanwhile is never recorded, by none of your agents; memory is still searched. `mnemark
    status` says that it is so.
    """
    if end and for_ is not None:
        raise UsageError("give --for to pause, or --end to go on, not both")
    root = workspace.locate(workspace_).resolve()
    with workspace.opened(root) as memory:
        memory.workspace.check_writable("pause")
        if end:
            ended = off_record.end(root)
            text = "What is said is recorded again." if ended else "It was not off the record."
            output.out_result({"off_record": False}, speech.words()(text), json=json)
            return
        span = off_record.begin(root, None if for_ is None else datetime.now(UTC) + _length(for_))
    data = {"off_record": True, "until": span.end}
    text = "{state}. `mnemark pause --end` ends that."
    state = speech.words().line(off_record.told(span))
    output.out_result(data, speech.words()(text, state=capital(state)), json=json)


def _length(given: str) -> timedelta:
    found = _LENGTH.fullmatch(given.strip().lower())
    if found is None or not int(found[1]):
        raise UsageError(f"--for takes a length such as 30m, 2h or 1d, not {given!r}")
    return timedelta(minutes=int(found[1]) * _MINUTES[found[2]])
