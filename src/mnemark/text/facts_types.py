"""What a bullet of a fact file is, as a value."""

import re
from collections.abc import Mapping
from typing import Final

import msgspec

from mnemark.text.facts_keys import predicate_key, value_key

_ESCAPED: Final = re.compile(r"%(25|7C|3E|0A|0D)")
_MARKED: Final = re.compile(r"%(?=25|7C|3E|0A|0D)|[|>\r\n]")
_CODES: Final = {sign: f"%{ord(sign):02X}" for sign in "%|>\r\n"}
_SHARE_SCALE: Final = 10.0


class Bullet(msgspec.Struct, frozen=True):
    """Where a bullet stands. Offsets count characters of the decoded file and are half-open."""

    start: int
    """First character of its first line."""
    end: int
    """Behind its own lines, line end included; bullets nested in it begin there."""
    line: int
    """Its first line, 1-based."""
    end_line: int
    indent: str
    marker: str
    """`-`, `*` or `+`."""
    comment: tuple[int, int] | None = None
    """Span of the comment that mnemark wrote (the one with an id); None where there is none."""
    words: tuple[int, int] = (0, 0)
    """Span from the first word to the last, strike-through marks included, comments left out."""


class ParsedFact(msgspec.Struct, frozen=True):
    """A bullet read as a fact."""

    predicate: str
    """As written; empty where the bullet is a statement."""
    value: str
    struck: bool
    meta: Mapping[str, str]
    """Keys of its comments in the order written, lower case; what mnemark wrote wins over other comments."""
    bullet: Bullet

    @property
    def id(self) -> str:
        """The id in its comment; empty where a person wrote it and nothing changed it since."""
        return self.meta.get("id", "") if self.bullet.comment else ""

    @property
    def key(self) -> str:
        """The key its predicate compares by."""
        return predicate_key(self.predicate)

    @property
    def words(self) -> str:
        """What its words compare by."""
        return f"{self.key}\0{value_key(self.value)}"

    def share(self, name: str) -> float | None:
        """`importance` or `confidence` from 0 to 1; a number from 1 to 10 is read as tenths."""
        try:
            number = float(self.meta.get(name, ""))
        except ValueError:
            return None
        if not 0 <= number <= _SHARE_SCALE:
            return None
        return number if number <= 1 else number / _SHARE_SCALE


def encode_field(text: str) -> str:
    r"""A value for a comment: on one line, without `|` and `>`, read back by `decode_field`.

    >>> encode_field("a|b --> 50%7C")
    'a%7Cb --%3E 50%257C'
    """
    return _MARKED.sub(lambda found: _CODES[found[0]], text.strip())


def decode_field(text: str) -> str:
    """The value that `encode_field` wrote."""
    text = text.strip()
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "%" in text else text
