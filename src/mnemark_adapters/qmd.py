"""QMD route: query QMD's daemon over HTTP and map its results to passages.

QMD (`qmd mcp --http`, from its version 2 on) answers `POST /query` with `{"searches": [{"type", "query"}],
"collections", "limit", "rerank"}` by `{"results": [{"file": "qmd://COLLECTION/PATH", "line", "score"}]}`;
paths are percent-encoded and relative to the collection's folder, scores are 0 to 1. A process is never
started: where no daemon answers in time, the search goes on without it and says so in `degraded`.
"""

import time
from typing import Final, NamedTuple
from urllib.parse import unquote

import msgspec
import numpy as np

from mnemark.errors import ConfigError
from mnemark.files.config import RoutesConfig
from mnemark.files.hosts import check_host
from mnemark.index.reader import View
from mnemark.index.snapshot import Floats
from mnemark.net import Channel, RefusedError, TransientError, base_url, json_bytes
from mnemark.retrieval.deadline import TimedOut, by_deadline
from mnemark.threads import background

_PATIENCE: Final = 2.0
"""Seconds that a search without a deadline waits."""
_LIMIT: Final = 20
_MAX_BYTES: Final = 1_000_000
_MAX_CHARACTERS: Final = 500
"""Maximum length of a query."""


class _Result(msgspec.Struct):
    file: str
    score: float
    line: int = 1


class _QmdReply(msgspec.Struct):
    results: list[_Result]


class QmdResult(NamedTuple):
    """A result of QMD: a line of a file in the workspace."""

    path: str
    line: int
    score: float


class PendingQuery:
    """A query sent to the daemon."""

    def __init__(self, client: "QmdClient", text: str, deadline: float) -> None:
        self._deadline = deadline
        self._places = background(lambda: client.query(text, deadline), "mnemark-qmd")

    def scores(self, view: View) -> tuple[Floats | None, str]:
        """Return the scores by passage, shape (n,), by the deadline; or None and the reason.

        Lines that are not in the index are left out.
        """
        places, problem = self._get()
        if problem:
            return None, f"qmd: {problem}"
        scores = np.zeros(len(view.snapshot), np.float32)
        for place in places:
            positions = view.positions(place.path)
            for position, record in zip(positions.tolist(), view.fetch(positions), strict=True):
                if record.start_line <= place.line <= record.end_line:
                    scores[position] = max(scores[position], place.score)
        return scores, ""

    def _get(self) -> tuple[tuple[QmdResult, ...], str]:
        """Return the results, best first, and the reason where there are none."""
        try:
            places = by_deadline(self._places, max(self._deadline - time.monotonic(), 0.0))
        except TransientError as error:
            return (), f"{error}; start it with: qmd mcp --http --daemon"
        except RefusedError as error:
            return (), f"{error}; QMD needs version 2 or newer"
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return (), "the answer is not from QMD; correct routes.qmd"
        if isinstance(places, TimedOut):
            return (), "the daemon did not answer in time"
        return places, ""


class QmdClient:
    """Client of QMD's daemon for the workspace's collection. The constructor does not connect.

    Raises:
        ConfigError: the URL is not one, or the user did not allow its host.
    """

    def __init__(self, routes: RoutesConfig) -> None:
        try:
            base = base_url(routes.qmd, "routes.qmd")
        except ValueError as error:
            raise ConfigError(str(error)) from error
        check_host(base, "routes.qmd")
        self._collection = routes.qmd_collection
        self._channel = Channel(f"{base}/query", silence=_PATIENCE, most_bytes=_MAX_BYTES)

    def ask(self, text: str, deadline: float | None) -> PendingQuery:
        """Send a query in the background; `deadline` is monotonic, None for `_PATIENCE` seconds from now."""
        return PendingQuery(self, text, time.monotonic() + _PATIENCE if deadline is None else deadline)

    def query(self, text: str, deadline: float) -> tuple[QmdResult, ...]:
        """Send a query and wait for its results.

        Raises:
            TransientError, RefusedError: see `Channel.post`.
            msgspec.MsgspecError: the answer is not as documented.
        """
        # Quotes and minus signs are operators in QMD's lexical queries.
        words = " ".join(text.replace('"', " ").replace(" -", " ").lstrip("- ").split())[:_MAX_CHARACTERS]
        if not words:
            return ()
        body = {
            "searches": [{"type": "lex", "query": words}, {"type": "vec", "query": words}],
            "collections": [self._collection],
            "limit": _LIMIT,
            "rerank": False,
        }
        answer = self._channel.post(json_bytes(body), None, deadline)
        results = msgspec.json.decode(answer, type=_QmdReply).results
        prefix = f"qmd://{self._collection}/"
        return tuple(
            QmdResult(name.removeprefix(prefix), result.line, result.score)
            for result in results[:_LIMIT]
            if (name := unquote(result.file)).startswith(prefix) and 0 < result.score <= 1
        )
