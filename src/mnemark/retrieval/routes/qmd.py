"""Ask QMD's daemon over HTTP beside one's own routes.

QMD (`qmd mcp --http`, from its version 2 on) answers `POST /query` with `{"searches": [{"type", "query"}],
"collections", "limit", "rerank"}` by `{"results": [{"file": "qmd://COLLECTION/PATH", "line", "score"}]}`;
paths are percent-encoded and relative to the collection's folder, scores are 0 to 1. A process is never
started: where no daemon answers in time, the answer is one's own and says so.
"""

import json
import threading
import time
from typing import Final, NamedTuple
from urllib.parse import unquote

import msgspec
import numpy as np

from mnemark.errors import ConfigError
from mnemark.files.config import RoutesConfig
from mnemark.index.reader import View
from mnemark.index.snapshot import Floats
from mnemark.net import Channel, RefusedError, TransientError, base_url, check_host

_PATIENCE: Final = 2.0
"""Seconds that a search without a deadline waits."""
_LIMIT: Final = 20
_MOST_BYTES: Final = 1_000_000
_MOST_CHARACTERS: Final = 500
"""Of a question; what is longer is a text, not a question."""
WEIGHT: Final = 0.15
"""Of QMD's score beside the share of the attainable BM25: as much as a passage gains that holds one more of
about seven words. Enough to bring in what nothing else found, and to decide between near ties."""


class _Result(msgspec.Struct):
    file: str
    score: float
    line: int = 1


class _Reply(msgspec.Struct):
    results: list[_Result]


class Place(NamedTuple):
    """A line of a file of the workspace that QMD found, best first."""

    path: str
    line: int
    score: float


class Asked:
    """A question on its way to the daemon."""

    def __init__(self, daemon: "Daemon", text: str, deadline: float) -> None:
        self._deadline = deadline
        self._done = threading.Event()
        self._places: tuple[Place, ...] = ()
        self._problem = ""
        self._bug: BaseException | None = None
        threading.Thread(target=self._run, args=(daemon, text), name="mnemark-qmd", daemon=True).start()

    def get(self) -> tuple[tuple[Place, ...], str]:
        """What was found by the deadline, and the reason where that is not the whole answer."""
        if not self._done.wait(max(self._deadline - time.monotonic(), 0.0)):
            return (), "the daemon did not answer in time"
        if self._bug is not None:
            raise self._bug
        return self._places, self._problem

    def _run(self, daemon: "Daemon", text: str) -> None:
        try:
            self._places = daemon.query(text, self._deadline)
        except TransientError as error:
            self._problem = f"{error}; start it with: qmd mcp --http --daemon"
        except RefusedError as error:
            self._problem = f"{error}; QMD needs version 2 or newer"
        except (msgspec.MsgspecError, UnicodeDecodeError):
            self._problem = "the answer is not from QMD; correct routes.qmd"
        except BaseException as error:  # noqa: BLE001 - a bug is raised where the answer is waited for
            self._bug = error
        finally:
            self._done.set()


class Daemon:
    """QMD's daemon, and which of its collections is the workspace. Making it does not connect.

    Raises:
        ConfigError: the URL is not one, or is another machine's and that was not allowed.
    """

    def __init__(self, routes: RoutesConfig) -> None:
        try:
            base = base_url(routes.qmd, "routes.qmd")
        except ValueError as error:
            raise ConfigError(str(error)) from error
        check_host(base, "routes.qmd")
        self._collection = routes.qmd_collection
        self._channel = Channel(f"{base}/query", silence=_PATIENCE, most_bytes=_MOST_BYTES)

    def ask(self, text: str, deadline: float | None) -> Asked:
        """Send a question; `deadline` is monotonic, None for a patience of its own."""
        return Asked(self, text, time.monotonic() + _PATIENCE if deadline is None else deadline)

    def query(self, text: str, deadline: float) -> tuple[Place, ...]:
        """Ask and wait.

        Raises:
            TransientError, RefusedError: see `Channel.post`.
            msgspec.MsgspecError: the answer is not as documented.
        """
        # Quotes and minus signs are operators in QMD's questions by words.
        words = " ".join(text.replace('"', " ").replace(" -", " ").lstrip("- ").split())[:_MOST_CHARACTERS]
        if not words:
            return ()
        body = {
            "searches": [{"type": "lex", "query": words}, {"type": "vec", "query": words}],
            "collections": [self._collection],
            "limit": _LIMIT,
            "rerank": False,
        }
        answer = self._channel.post(json.dumps(body, ensure_ascii=False).encode(), None, deadline)
        results = msgspec.json.decode(answer, type=_Reply).results
        places = [self._place(result) for result in results[:_LIMIT]]
        return tuple(place for place in places if place is not None)

    def _place(self, result: _Result) -> Place | None:
        prefix = f"qmd://{self._collection}/"
        name = unquote(result.file)
        if not name.startswith(prefix) or not 0 < result.score <= 1:
            return None
        return Place(name.removeprefix(prefix), result.line, result.score)


def configured(routes: RoutesConfig) -> Daemon | None:
    """The daemon that the configuration names; None where it names none."""
    return Daemon(routes) if routes.qmd else None


def scores(view: View, places: tuple[Place, ...]) -> Floats:
    """QMD's scores, shape (n,), at the passages that hold its lines; what is not in the index is left out."""
    found = np.zeros(len(view.snapshot), np.float32)
    for place in places:
        positions = view.positions(place.path)
        for position, record in zip(positions.tolist(), view.fetch(positions), strict=True):
            if record.start_line <= place.line <= record.end_line:
                found[position] = max(found[position], place.score)
    return found
