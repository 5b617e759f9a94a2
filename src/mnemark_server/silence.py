"""Notice that a database does not answer: neither network nor server tells that a machine stands still."""

import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

import psycopg

SILENCE_SECONDS: Final = 10.0
"""Seconds without a byte from the database after which a request is answered without it."""
_Result = TypeVar("_Result")


class SilentError(psycopg.OperationalError):
    """A database says nothing, or did so a moment ago."""


class HeardConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection that is closed when nothing is heard from it while it should answer.

    The limit is ours: PostgreSQL's own do not run while it stands still, those of TCP not while the machine
    takes packets, and none of them while a commit waits for a standby.
    """

    silence = SILENCE_SECONDS
    """Seconds without a byte."""

    def wait(self, gen: Generator[Any, Any, _Result], *given: Any, **named: Any) -> _Result:
        """Wait as psycopg does. Raises SilentError, and then the connection is closed."""
        try:
            return super().wait(_heard(gen, self.silence), *given, **named)
        except SilentError:
            self.close()
            raise


def _heard(gen: Generator[Any, Any, _Result], seconds: float) -> Generator[Any, Any, _Result]:
    """Pass on what a generator of psycopg waits for; it hears several times a second that nothing came."""
    heard = time.monotonic()
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if ready:
                heard = time.monotonic()
            elif time.monotonic() - heard > seconds:
                raise SilentError(f"nothing heard for {seconds:g} s")
            wanted = gen.send(ready)
    except StopIteration as end:
        result: _Result = end.value
        return result


def answered(error: psycopg.Error) -> bool:
    """Whether it is the database that says so: not that it was not reached, ends, or begins."""
    return error.sqlstate is not None and not error.sqlstate.startswith(("08", "57P"))


class Outage:
    """Whether a database is away. While it is, one request at a time tries it, and the others do not wait.

    Else each would wait its seconds in turn, and those behind it for all of them. Thread-safe.
    """

    def __init__(self) -> None:
        self.away = False
        """Whether it did not answer when it was last asked."""
        self._trying = threading.Lock()

    def begin(self) -> None:
        """Take the database as away, until somebody reaches it."""
        self.away = True

    @contextmanager
    def trying(self) -> Iterator[None]:
        """Use the database in the block. Raises SilentError while it is away and another request tries it."""
        alone = self.away
        if alone and not self._trying.acquire(blocking=False):
            raise SilentError("it is away")
        try:
            yield
        except SilentError:
            self.away = True
            raise
        except psycopg.OperationalError as error:
            self.away = self.away and not answered(error)
            raise
        except BaseException:
            self.away = False  # it answered, with an error
            raise
        else:
            self.away = False
        finally:
            if alone:
                self._trying.release()
