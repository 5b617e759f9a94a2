"""Write data to stdout and messages to stderr; use colour and progress on terminals only."""

import os
import sys
import time
from pathlib import Path
from typing import Annotated, Any, Final, Self, TextIO

import typer

from mnemark.errors import UsageError
from mnemark.text.lazy_pattern import lazy_pattern

PROGRESS_AFTER: Final = 0.5
"""Seconds of work after which progress is shown."""
_PROGRESS_EVERY: Final = 0.1

BOLD: Final = "1"
DIM: Final = "2"
CYAN: Final = "36"
RED: Final = "31"
YELLOW: Final = "33"

# Control, invisible and bidirectional characters: a note may contain any, and is shown on terminals.
_UNSAFE: Final = lazy_pattern(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


def out(text: str = "", *, end: str = "\n") -> None:
    """Print a line of data."""
    _write(sys.stdout, text + end)


def out_json(value: Any, *, line: bool = False) -> None:
    """Print a JSON document, indented on a terminal unless `line` is set."""
    import msgspec

    data = msgspec.json.encode(value)
    if not line and is_terminal(sys.stdout):
        data = msgspec.json.format(data, indent=2)
    _write(sys.stdout, data.decode() + "\n")


def out_result(value: Any, text: str, *, json: bool) -> None:
    """Print a result as JSON, or as text with unsafe characters escaped."""
    if json:
        out_json(value)
    else:
        out(safe(text))


def flush() -> None:
    """Flush stdout."""
    if sys.stdout is not None:
        sys.stdout.flush()


def say(text: str) -> None:
    """Print a message to stderr."""
    _write(sys.stderr, text + "\n")


def error(text: str) -> None:
    """Print an error to stderr in one line."""
    say(f"mnemark: {safe(' '.join(text.split()))}")


def safe(text: str) -> str:
    """Return `text` with characters that could control a terminal escaped."""
    return _UNSAFE.sub(lambda match: f"‹U+{ord(match[0]):04X}›", text)


def safe_line(text: str) -> str:
    """Return `text` as `safe` does, with line breaks and tabs escaped too."""
    return safe(text).replace("\n", "‹U+000A›").replace("\t", "‹U+0009›")


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether `stream` is open and a terminal."""
    return stream is not None and stream.isatty()


def has_colour(stream: TextIO | None) -> bool:
    """Return whether to use colour on `stream` (https://no-color.org)."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def style(text: str, *codes: str) -> str:
    """Return `text` with ANSI styles for stdout, if it has colour."""
    return f"\x1b[{';'.join(codes)}m{text}\x1b[0m" if text and has_colour(sys.stdout) else text


def confirm(question: str, about: str, refusal: str) -> bool:
    """Ask a yes-or-no question on the terminal, after a message about it.

    Raises:
        UsageError: there is no terminal; the message is `refusal`.
    """
    if not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        raise UsageError(refusal)
    if about:
        say(about)
    return typer.confirm(question, err=True)


def _write(stream: TextIO | None, text: str) -> None:
    if stream is not None:  # it was closed before we started
        stream.write(text)


class Progress:
    """A progress line on a terminal's stderr, removed at the end."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._shown = 0.0
        self._live = is_terminal(sys.stderr)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            _write(sys.stderr, "\r\x1b[K")
            sys.stderr.flush()

    def tell(self, what: str, done: int, total: int, more: str = "") -> None:
        """Show the progress, at most every `_PROGRESS_EVERY` seconds."""
        now = time.monotonic()
        if not self._live or now - self._begun < PROGRESS_AFTER or now - self._shown < _PROGRESS_EVERY:
            return
        self._shown = now
        share = f"{done / total:4.0%}" if total else "    "
        _write(sys.stderr, f"\r\x1b[K{what} {share}  {done:,} of {total:,}{more}")
        sys.stderr.flush()


Workspace = Annotated[
    Path | None,
    typer.Option(
        "--workspace",
        "-w",
        metavar="FOLDER",
        envvar="MNEMARK_WORKSPACE",
        show_envvar=True,
        help="The workspace. Default: the one that contains the current folder.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Count = Annotated[
    int | None,
    typer.Option("-k", "--count", metavar="N", help="Maximum number of results.", show_default="8"),
]
Since = Annotated[
    str | None,
    typer.Option(
        metavar="TIME", help='Only text dated since then: 2026-02-13, 2026-02-13T09:30, "last week", 上周五.'
    ),
]
Until = Annotated[
    str | None, typer.Option(metavar="TIME", help="Only text dated up to then (a day is included).")
]
AsOf = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Search what was known at that time; text without a date is included."),
]
Scope = Annotated[
    list[str] | None,
    typer.Option(metavar="SCOPE", help='Also search users/NAME, agents/NAME, projects/NAME, or "*" for all.'),
]
OneScope = Annotated[
    str,
    typer.Option(
        metavar="SCOPE",
        help="Memory of users/NAME, agents/NAME or projects/NAME. Default: the shared memory.",
    ),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Exit with 4 if a part of the search failed or was too slow.")
]
