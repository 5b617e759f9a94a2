"""Find texts in files in all their escaped forms, and remove them."""

import json
import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator
from typing import TYPE_CHECKING, Final

import msgspec

from mnemark.files import jsonl
from mnemark.text.dates.written import undated_bytes
from mnemark.text.words.normalize import in_form
from mnemark.types import Json

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ERASED: Final = "[erased]"
"""Placeholder for a quotation erased from a turn."""
MECHANICAL: Final = frozenset(
    {
        *("id", "ids", "fact", "uuid", "parentUuid", "sessionId", "time", "timestamp", "created", "since"),
        *("until", "recorded", "role", "origin", "kind", "scope", "session", "path", "to", "source", "type"),
        *("supersedes", "group", "turns", "lines", "ends", "asked", "at", "importance", "confidence"),
    }
)
"""Keys of JSON lines whose values are not text of people or models."""
_MANY: Final = 24
_WINDOW: Final = 8
_SMALL: Final = 256
_CUT: Final = "…".encode()
_TAIL: Final = 20  # characters before a "…" that identify the text that was cut there
_TELLING: Final = 16  # bytes of them at least


def forms(text: str) -> list[bytes]:
    r"""Return the byte forms that `text` may have in a file: as it is, and escaped in JSON up to twice.

    Letters with accents also in the other of their two spellings in Unicode, as macOS has them in file names.

    >>> forms('say "hi"')
    [b'say "hi"', b'say \\"hi\\"', b'say \\\\\\"hi\\\\\\"']
    """
    found = spellings(text)
    for _ in range(2):
        for one in list(found):
            plain = msgspec.json.encode(one.encode("utf-8", "replace").decode()).decode()[1:-1]
            escaped = json.dumps(one)[1:-1]
            upper = re.sub(r"\\u[0-9a-f]{4}", lambda match: "\\u" + match[0][2:].upper(), escaped)
            found += [plain, escaped, upper]
        found = list(dict.fromkeys(found))
    return [one.encode("utf-8", "replace") for one in found]


def spellings(text: str) -> list[str]:
    """Return a text as it is, and with its accents as parts of their letters (NFC) and apart (NFD)."""
    if text.isascii():
        return [text]
    return list(dict.fromkeys((text, in_form("NFC", text), in_form("NFD", text))))


class BytePatterns:
    """A matcher of many texts in bytes."""

    def __init__(self, texts: Iterable[str], *, cut: Iterable[str] = ()) -> None:
        """Search for `texts` in all their forms, and for a part of a text of `cut` before a "…"."""
        self._cut = tuple(dict.fromkeys(" ".join(text.split()) for text in cut))
        self.texts = tuple(sorted(dict.fromkeys(text for text in texts if text), key=len, reverse=True))
        """Longest first, so that a text is removed before a part of it."""
        self.forms = tuple(dict.fromkeys(form for text in self.texts for form in forms(text)))

        self._many = len(self.forms) > _MANY and min(map(len, self.forms)) >= _WINDOW
        self._by_head: dict[bytes, dict[int, set[bytes]]] = {}
        """By first bytes and length: the messages of a chat may all begin alike."""
        for form in self.forms if self._many else ():
            self._by_head.setdefault(form[:_WINDOW], {}).setdefault(len(form), set()).add(form)
        self._heads: NDArray[np.uint64] | None = None

    def __bool__(self) -> bool:
        return bool(self.forms)

    def found_in(self, data: bytes) -> bool:
        """Whether the bytes contain any of the texts."""
        if next(self._present(data), None) is not None or (self._cut and self._is_cut_in(data)):
            return True
        # Notes have dates beside words such as "tomorrow".
        plain = undated_bytes(data)
        return plain != data and next(self._present(plain), None) is not None

    def _is_cut_in(self, data: bytes) -> bool:
        """Whether the bytes contain a text cut off, as summaries cut long ones."""
        tails = set(_tails(data))
        if len(tails) <= _MANY:
            return any(tail in text for tail in tails for text in self._cut)
        sizes: defaultdict[int, set[str]] = defaultdict(set)
        for tail in tails:  # each text is walked through once for each size, and not for each of thousands
            sizes[len(tail)].add(tail)
        return any(
            text[at : at + size] in found
            for size, found in sizes.items()
            for text in self._cut
            for at in range(len(text) - size + 1)
        )

    def present(self, text: str) -> list[str]:
        """Return the forms in a text, longest first."""
        found = set(self._present(text.encode("utf-8", "replace")))
        return sorted((form.decode("utf-8", "replace") for form in found), key=len, reverse=True)

    def _present(self, data: bytes) -> Iterator[bytes]:
        """Yield the forms in the bytes; many are searched for by their first bytes."""
        if not self._many:
            yield from (form for form in self.forms if form in data)
            return
        for at in self._starts(data):
            for size, among in self._by_head.get(data[at : at + _WINDOW], {}).items():
                if (form := data[at : at + size]) in among:
                    yield form

    def _starts(self, data: bytes) -> Iterable[int]:
        """Return the offsets at which a form may begin."""
        if len(data) < _SMALL:
            return range(len(data) - _WINDOW + 1)
        import numpy as np

        if self._heads is None:
            heads = sorted(int.from_bytes(head, "little") for head in self._by_head)
            self._heads = np.array(heads, np.uint64)
        found: list[int] = []
        for shift in range(_WINDOW):
            windows = np.frombuffer(data, "<u8", (len(data) - shift) // _WINDOW, shift)
            at = np.minimum(np.searchsorted(self._heads, windows), len(self._heads) - 1)
            found += (np.flatnonzero(self._heads[at] == windows) * _WINDOW + shift).tolist()
        return found

    def said_in(self, value: Json, depth: int) -> bool:
        """Whether the strings of a JSON value contain any text; values of `MECHANICAL` keys are left out.

        They are left out in the outer `depth` objects only.
        """
        if isinstance(value, str):
            return self.found_in(value.encode("utf-8", "replace"))
        if isinstance(value, list):
            return any(self.said_in(one, depth) for one in value)
        if isinstance(value, dict):
            spoken = [one for key, one in value.items() if depth <= 0 or key not in MECHANICAL]
            return any(self.said_in(one, depth - 1) for one in spoken)
        return False

    def replaced(self, value: Json, depth: int) -> Json:
        """Return a JSON value with `ERASED` in the place of the texts; see `said_in`."""
        if isinstance(value, str):
            for words in self.present(value):
                value = value.replace(words, ERASED)
            return value
        if isinstance(value, list):
            return [self.replaced(one, depth) for one in value]
        if isinstance(value, dict):
            kept = MECHANICAL if depth > 0 else frozenset()
            return {key: one if key in kept else self.replaced(one, depth - 1) for key, one in value.items()}
        return value


def _tails(data: bytes) -> Iterator[str]:
    """Yield the characters before each "…" on its line, where they identify the text that was cut."""
    at = data.find(_CUT)
    while at >= 0:
        before = data[max(0, at - 4 * _TAIL) : at].rpartition(b"\n")[2].decode("utf-8", "ignore")
        tail = before.replace('\\"', '"').rstrip()[-_TAIL:].strip()
        if len(tail.encode()) >= _TELLING:
            yield tail
        at = data.find(_CUT, at + 1)


def without_quotes(line: bytes, needles: BytePatterns) -> bytes | None:
    """Erase texts from a line of a session; `{}` where it is no JSON, None where nothing is in it."""
    if not needles.found_in(line):
        return None
    record = jsonl.decode(line)
    if record is None:
        return b"{}"
    return jsonl.encode(needles.replaced(record, 1)) if needles.said_in(record, 1) else None


def tombstone(line: bytes, identifier: str, time: str) -> bytes:
    """Return what stays of an erased turn, its id and the time; `line` where it is erased already."""
    record = jsonl.decode(line)
    if record is not None and "erased" in record:
        return line
    return jsonl.encode({"id": identifier, "erased": time})


def without_lines(data: bytes, numbers: Container[int]) -> bytes:
    """Remove lines from a text file by their numbers (from 1)."""
    lines = enumerate(data.splitlines(keepends=True), 1)
    return b"".join(line for number, line in lines if number not in numbers)


def without_runs(data: bytes, needles: BytePatterns) -> bytes:
    """Remove texts that run over several lines from a text file."""
    for form in needles.forms:
        data = data.replace(form, b"").replace(form.replace(b"\n", b"\r\n"), b"")
    return data
