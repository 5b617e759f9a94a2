"""Write data to stdout and messages to stderr; use colour and progress on terminals only."""

import io
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, Self, TextIO

from mnemark.errors import MnemarkError, UsageError
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark_interfaces.speech import words

PROGRESS_AFTER: Final = 0.5
"""Seconds of work after which progress is shown."""
_PROGRESS_EVERY: Final = 0.1

BOLD: Final = "1"
DIM: Final = "2"
CYAN: Final = "36"
RED: Final = "31"
YELLOW: Final = "33"

_ANSWERS: Final = {"y": True, "yes": True, "是": True, "n": False, "no": False, "否": False}

# Control, invisible and bidirectional characters: a note may contain any, and is shown on terminals.
_UNSAFE: Final = lazy_pattern(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


class ClientStream(io.StringIO):
    """The stdout or stderr of a client whose command the daemon runs.

    Args:
        printed: list that each text is added to, with whether it is for stderr.
        to_stderr: whether this is stderr.
        terminal: whether the client's stream is a terminal.
        colour: whether it shows colour.
    """

    def __init__(
        self, printed: list[tuple[bool, str]], *, to_stderr: bool, terminal: bool, colour: bool = False
    ) -> None:
        super().__init__()
        self.colour = colour
        self._printed = printed
        self._to_stderr = to_stderr
        self._terminal = terminal

    def write(self, text: str) -> int:
        """Add a text to what was printed."""
        self._printed.append((self._to_stderr, text))
        return len(text)

    def isatty(self) -> bool:
        """Return whether the client's stream is a terminal."""
        return self._terminal


_client: ContextVar[tuple[TextIO, TextIO] | None] = ContextVar("client", default=None)


@contextmanager
def printing_to(stdout: TextIO, stderr: TextIO) -> Iterator[None]:
    """Print to these streams in the block, in this thread alone."""
    token = _client.set((stdout, stderr))
    try:
        yield
    finally:
        _client.reset(token)


def stdout() -> TextIO | None:
    """Return the stream for data; None where it was closed before this process began."""
    streams = _client.get()
    return sys.stdout if streams is None else streams[0]


def stderr() -> TextIO | None:
    """Return the stream for messages; None where it was closed before this process began."""
    streams = _client.get()
    return sys.stderr if streams is None else streams[1]


def out(text: str = "", *, end: str = "\n") -> None:
    """Print a line of data."""
    _write(stdout(), text + end)


def out_json(value: Any, *, line: bool = False) -> None:
    """Print a JSON document, indented on a terminal unless `line` is set."""
    import msgspec

    data = msgspec.json.encode(value)
    if not line and is_terminal(stdout()):
        data = msgspec.json.format(data, indent=2)
    _write(stdout(), data.decode() + "\n")


def out_result(value: Any, text: str, *, json: bool) -> None:
    """Print a result as JSON, or as text with unsafe characters escaped."""
    if json:
        out_json(value)
    else:
        out(safe(text))


def flush() -> None:
    """Flush stdout."""
    if (stream := stdout()) is not None:
        stream.flush()


def tell(text: str, /, **values: Any) -> None:
    """Print a sentence as a line of data, in the reader's language, with values in its places."""
    out(words()(text, **values))


def say(text: str, /, **values: Any) -> None:
    """Print a sentence as a message to stderr, in the reader's language, with values in its places."""
    hint(words()(text, **values))


def hint(text: str) -> None:
    """Print a message that is in the reader's language already."""
    _write(stderr(), text + "\n")


def spoken(text: str) -> str:
    """Return what a module below says in English, such as an error, in the reader's language; see `safe`."""
    return safe_line(words().line(text))


def error(text: str) -> None:
    """Print an error to stderr in one line."""
    hint(f"mnemark: {safe(words().line(' '.join(text.split())))}")


def report(bug: Exception) -> int:
    """Print what ended a command in one line, and return its exit code."""
    if isinstance(bug, MnemarkError):
        error(str(bug))
        return bug.exit_code
    from mnemark.files.disk_errors import shortage

    error(
        shortage(bug)
        or f"unexpected {type(bug).__name__}: {bug}. This is a bug: run the command again with "
        "MNEMARK_DEBUG=1 and report the trace."
    )
    return 1


def safe(text: str) -> str:
    """Return `text` with characters that could control a terminal escaped."""
    if text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return _UNSAFE.sub(lambda match: f"‹U+{ord(match[0]):04X}›", text)


def safe_line(text: str) -> str:
    """Return `text` as `safe` does, with line breaks and tabs escaped too."""
    return safe(text).replace("\n", "‹U+000A›").replace("\t", "‹U+0009›")


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether `stream` is open and a terminal."""
    return stream is not None and stream.isatty()


def can_ask() -> bool:
    """Return whether a person can be asked: questions go to stderr, answers come from stdin."""
    return is_terminal(sys.stdin) and is_terminal(sys.stderr)


def has_colour(stream: TextIO | None) -> bool:
    """Return whether to use colour on `stream` (https://no-color.org)."""
    if isinstance(stream, ClientStream):
        return stream.colour
    return is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def style(text: str, *codes: str) -> str:
    """Return `text` with ANSI styles for stdout, if it has colour."""
    return f"\x1b[{';'.join(codes)}m{text}\x1b[0m" if text and has_colour(stdout()) else text


def confirm(text: str, /, *, default: bool = False, refusal: str = "", **values: Any) -> bool:
    """Ask a yes-or-no question on the terminal, in the reader's language, with values in its places.

    Args:
        text: the question.
        default: the answer of whoever presses Enter.
        refusal: the error where there is no terminal; empty where the caller knows that there is one.
        values: see `say`.

    Raises:
        UsageError: there is no terminal; the message is `refusal`.
    """
    if refusal and not can_ask():
        raise UsageError(refusal)
    import typer

    question = f"{words()(text, **values)} [{'Y/n' if default else 'y/N'}]"
    while True:
        answer = typer.prompt(question, default="", show_default=False, err=True).strip().lower()
        if not answer or answer in _ANSWERS:
            return _ANSWERS.get(answer, default)
        say("Answer y or n.")


def _write(stream: TextIO | None, text: str) -> None:
    if stream is not None:
        stream.write(text)


class Progress:
    """A progress line on a terminal's stderr, removed at the end."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._shown = 0.0
        self._live = is_terminal(stderr())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            _write(stderr(), "\r\x1b[K")
            sys.stderr.flush()

    def tell(self, what: str, done: int, total: int, more: str = "") -> None:
        """Show the progress, at most every `_PROGRESS_EVERY` seconds.

        Args:
            what: what is going on, in English.
            done: how many are done.
            total: of how many; 0 where that is not known.
            more: what follows the numbers, in the reader's language.
        """
        now = time.monotonic()
        if not self._live or now - self._begun < PROGRESS_AFTER or now - self._shown < _PROGRESS_EVERY:
            return
        self._shown = now
        share = f"{done / total:4.0%}" if total else "    "
        text = "{what} {share}  {done} of {total}{more}" if total else "{what} {share}  {done}{more}"
        line = words()(text, what=words()(what), share=share, done=done, total=total, more=more)
        _write(stderr(), f"\r\x1b[K{line}")
        sys.stderr.flush()
