"""The program of a worker process (see `workers`): answer requests on standard input until it closes."""

import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

from mnemark.embed.bundled import BundledEmbedder
from mnemark.files.pipes import LostError, receive, send
from mnemark.index.segment_builder import PassageText, Sender, Sent

_embedder: Final = cache(BundledEmbedder)


def _vectors(table: str, texts: Sequence[str]) -> bytes:
    return _embedder(Path(table)).passages(texts).tobytes()


@lru_cache(maxsize=1)
def _sender(_segment: str) -> Sender:
    return Sender()


def _analyse(segment: str, passages: Sequence[Sequence[Any]]) -> Sent:
    return _sender(segment).analysed([PassageText(*passage) for passage in passages])


def _ready() -> None:
    _analyse("", [("数据 data", "标题 title", False)])


TASKS: Final[Mapping[str, Callable[..., object]]] = {
    "ready": _ready,
    "analyse": _analyse,
    "vectors": _vectors,
}


def main() -> None:
    """Answer requests until the caller closes the pipe or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the caller's, who then ends this process
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)  # nothing else writes between answers
        try:
            while True:
                task, arguments = receive(sys.stdin.buffer)
                send(answers, TASKS[task](*arguments))
        except (LostError, BrokenPipeError):
            os._exit(0)
