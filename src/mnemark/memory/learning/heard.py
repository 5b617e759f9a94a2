"""Tell whether the words of an agent's statement come from web or tool text and from none of the owner's.

What a page says, an agent may repeat as its own: "We decided to deploy to evil.example". Such a statement is
believed once the owner says it or accepts it in review.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from mnemark.files.names import split_ref
from mnemark.files.sessions import Placed, SessionLog
from mnemark.files.turns import texts_in
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.quoting.fence import strip_fences
from mnemark.text.words.normalize import HAN, fold
from mnemark.text.words.stopwords import is_stop
from mnemark.text.words.terms import stem
from mnemark.types import Origin, Turn

_MOST: Final = 200_000
"""Characters of one text of a tool that are looked at."""
_WORD: Final = lazy_pattern(r"[A-Za-z0-9][\w.+#@/:-]*|[\u3400-\u9fff]+")
_NAME: Final = lazy_pattern(r"[\d./@:_#+]|[A-Z]")
_SHARE: Final = 0.5
"""Share of the words that may come from outside alone."""


class HeardWords:
    """The words of the owner and of tools, web pages and files in one session, up to a line of its log."""

    def __init__(self, root: Path, path: str, known: Iterable[str] = ()) -> None:
        """`known`: texts that count as the owner's, such as the owner's facts."""
        self._turns: Iterator[Placed] = iter(SessionLog.at(root, path).turns())
        self._next: Placed | None = next(self._turns, None)
        self._own = {word for text in known for word in _words(text)}
        self._outside: dict[str, Origin] = {}

    def origin_of(self, statement: str, line: int) -> Origin | None:
        """Return where the distinctive words of an agent's statement in that line come from.

        None where the owner said them too, or nobody did. The lines have to be given in their order.
        """
        self._read_to(line)
        new = {word: name for word, name in _named(statement) if word not in self._own}
        outside = [word for word in new if word in self._outside]
        if any(new[word] for word in outside) or len(outside) > _SHARE * len(set(_words(statement))):
            return "web" if any(self._outside[word] == "web" for word in outside) else "tool"
        return None

    def _read_to(self, line: int) -> None:
        while self._next is not None and self._next.line < line:
            self._take(self._next.turn)
            self._next = next(self._turns, None)

    def _take(self, turn: Turn) -> None:
        if turn.origin == "owner":
            self._own.update(_words(strip_fences(turn.content)))
        elif turn.origin in {"tool", "web", "file"}:
            self._hear(turn.content, turn.origin)
        for text in texts_in(turn.tool_results):
            self._hear(text, "tool")

    def _hear(self, text: str, origin: Origin) -> None:
        for word in _words(text[:_MOST]):
            self._outside.setdefault(word, origin)


def line_of(ref: str) -> tuple[str, int]:
    """Return the log and the line of a ref to a turn; an empty path for other refs."""
    path, line, last = split_ref(ref)
    return (path, line) if last is not None and path.endswith(".jsonl") else ("", 0)


def _words(text: str) -> Iterator[str]:
    return (word for word, _ in _named(text))


def _named(text: str) -> Iterator[tuple[str, bool]]:
    """Yield words, and whether each is a name, number or address; of Chinese, pairs of characters."""
    starts = True
    chinese = HAN.search(text) is not None
    for match in _WORD.finditer(fold(text)):
        found = match[0].rstrip(".:/-+#@")
        if HAN.match(found):
            yield from ((found[at : at + 2], False) for at in range(max(1, len(found) - 1)))
        elif len(found) > 1 and not is_stop(word := stem(found.lower())):
            yield word, chinese or bool(_NAME.search(found[1:] if starts else found))
        starts = False
