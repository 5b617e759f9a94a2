"""Taking words out of files, byte by byte: how they may stand in them, and what is left without them."""

import json
import re
from collections.abc import Collection, Iterable
from typing import Final

import msgspec

from mnemark.files import jsonl
from mnemark.files.hidden import line_mark
from mnemark.types import Json

ERASED: Final = "[erased]"
"""Stands where a quoted piece was taken out of a turn."""
_LINE: Final = re.compile(rb"[^\r\n]*(?:\r\n?|\n|\Z)")
_MANY: Final = 24
_WINDOW: Final = 8


def forms(text: str) -> list[bytes]:
    r"""The bytes in which `text` may stand in a file: as it is, and escaped in JSON up to twice.

    >>> forms('say "hi"')
    [b'say "hi"', b'say \\"hi\\"', b'say \\\\\\"hi\\\\\\"']
    """
    found = [text]
    for _ in range(2):
        for one in list(found):
            plain = msgspec.json.encode(one.encode("utf-8", "replace").decode()).decode()[1:-1]
            escaped = json.dumps(one)[1:-1]
            upper = re.sub(r"\\u[0-9a-f]{4}", lambda match: "\\u" + match[0][2:].upper(), escaped)
            found += [plain, escaped, upper]
        found = list(dict.fromkeys(found))
    return [one.encode("utf-8", "replace") for one in found]


class Needles:
    """Byte strings to look for, all at once."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = tuple(sorted(dict.fromkeys(text for text in texts if text), key=len, reverse=True))
        """Longest first, so that a text is taken out before a part of it."""
        self.forms = tuple(dict.fromkeys(form for text in self.texts for form in forms(text)))

    def __bool__(self) -> bool:
        return bool(self.forms)

    def found_in(self, data: bytes) -> bool:
        """Whether any of them stands in the bytes."""
        if len(self.forms) <= _MANY or len(data) < 1 << 16 or min(map(len, self.forms)) < _WINDOW:
            return any(form in data for form in self.forms)
        return self._found_in_much(data)

    def _found_in_much(self, data: bytes) -> bool:
        """The same for many needles and much data: first by the numbers that their first bytes make."""
        import numpy as np

        heads = np.unique(
            np.array([int.from_bytes(form[:_WINDOW], "little") for form in self.forms], np.uint64)
        )
        for shift in range(_WINDOW):
            count = (len(data) - shift) // _WINDOW
            windows = np.frombuffer(data, "<u8", count, shift)
            at = np.minimum(np.searchsorted(heads, windows), len(heads) - 1)
            for place in np.flatnonzero(heads[at] == windows).tolist():
                if data.startswith(self.forms, place * _WINDOW + shift):
                    return True
        return False

    def replaced(self, value: Json) -> Json:
        """A JSON value with `ERASED` in the place of what its texts quote."""
        if isinstance(value, str):
            return self._replaced_text(value)
        if isinstance(value, list):
            return [self.replaced(one) for one in value]
        if isinstance(value, dict):
            return {self._replaced_text(key): self.replaced(one) for key, one in value.items()}
        return value

    def _replaced_text(self, text: str) -> str:
        for form in self.forms:
            words = form.decode("utf-8", "replace")
            if words in text:
                text = text.replace(words, ERASED)
        return text


def without_quotes(line: bytes, needles: Needles) -> bytes | None:
    """A line of JSON without what it quotes; an empty object where it holds no JSON; None: nothing to do."""
    if not needles.found_in(line):
        return None
    record = jsonl.decode(line)
    if record is None:
        return b"{}"
    left = jsonl.encode(needles.replaced(record))
    return b"{}" if needles.found_in(left) else left


def tombstone(line: bytes, identifier: str, time: str) -> bytes:
    """What stays of an erased turn: its id, and when it went. `line` unchanged where it is one already."""
    record = jsonl.decode(line)
    if record is not None and "erased" in record:
        return line
    return jsonl.encode({"id": identifier, "erased": time})


def without_lines(data: bytes, marks: Collection[str]) -> bytes:
    """A note without the lines of these marks (`hidden.line_mark`); blank ones beside them stay."""
    lines = _LINE.findall(data)
    return b"".join(line for line in lines if not line.strip() or line_mark(_text(line)) not in marks)


def without_needles(data: bytes, needles: Needles) -> bytes:
    """A note without the lines that hold any of the needles; what runs over several lines goes whole."""
    lines = _LINE.findall(data)
    left = [line for line in lines if not needles.found_in(line)]
    data = b"".join(left)
    for form in needles.forms:
        for found in {form, form.replace(b"\n", b"\r\n")}:
            if found in data:
                data = data.replace(found, b"")
    return data


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace")
