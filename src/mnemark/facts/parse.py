"""Parse fact files: bullets as facts, whatever else the file holds. The format is in docs/format.md.

A file is decoded with `decode` so that any bytes come back unchanged with `encode`; reading never fails. What
stands in front matter, fenced code or a comment over several lines is no fact.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final, NamedTuple
from weakref import WeakValueDictionary

import msgspec

from mnemark.facts.keys import predicate_key, value_key
from mnemark.text.markdown.frontmatter import front_matter

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
    return _FIELD_ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "%" in text else text


_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n?|\n|\Z)")
_BULLET: Final = re.compile(r"(?P<indent>[ \t]*)(?P<marker>[-*+])(?P<gap>[ \t]+)(?=[^\s])")
_FENCE: Final = re.compile(r"[ \t]*(?P<fence>`{3,}|~{3,})")
_ENDS: Final = re.compile(
    r"[ \t]*(?:[-*+](?:[ \t]|$)|\d{1,9}[.)][ \t]|#{1,6}(?:[ \t]|$)|>|"
    r"`{3,}|~{3,}|\||(?:[-*_][ \t]*){3,}$)"
)
_COMMENT: Final = re.compile(r"<!--(?P<body>(?:(?!<!--).)*?)-->", re.DOTALL)
_RULE: Final = re.compile(r"(?:[-*][ \t]*){3,}$")
_FIELD: Final = re.compile(r"\s*(?P<key>[A-Za-z][\w-]{0,39})\s*[:：](?P<value>.*)", re.DOTALL)

_BOLD: Final = re.compile(
    r"(?:\*\*|__)(?P<key>[^\n]+?)(?:(?:\*\*|__)\s*(?<!\\)[:：]|(?<!\\)[:：]\s*(?:\*\*|__))\s*(?P<value>.*)",
    re.DOTALL,
)
_PLAIN: Final = re.compile(
    r"(?P<key>[^\s:：\\,，;；.。!！?？<>\[\]{}|\"“”(（][^:：\\,，;；。!！?？<>\[\]{}|\"“”\r\n]{0,59}?)\s*"
    r"(?P<colon>:(?=\s|$)|：)\s*(?P<value>.*)",
    re.DOTALL,
)
_TIGHT: Final = re.compile(
    r"(?P<key>[\u3400-\u9fff][^:：\\,，;；。!！?？<>|\s]{0,19}):(?P<value>[^/\s].*)", re.DOTALL
)
_MOST_KEY_WORDS: Final = 6
_NO_KEY: Final = re.compile(r"[\d\s./:-]*$")
_STRUCK: Final = re.compile(r"~~(?P<inside>.+)~~", re.DOTALL)
_SHORT: Final = 1 << 14  # characters
_COMMON: Final = 12
_ESCAPED: Final = re.compile(r"(?<!\\)\\(\\*(?:~~|[:：]))|(?<=<)\\(\\*!--)")
_UNESCAPE_START: Final = re.compile(r"^\\(?=\\*[-+*#>|`_])")


def decode(data: bytes) -> str:
    """The text of a fact file; bytes that are no UTF-8 become lone surrogates and survive."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """The bytes of a text from `decode`."""
    return text.encode("utf-8", "surrogateescape")


def clean(text: str) -> str:
    """A text for people and JSON: what was no UTF-8 becomes a visible mark, blanks become one."""
    try:
        data = encode(text)
    except UnicodeEncodeError:  # halves of characters, as JSON can spell them
        data = text.encode("utf-8", "replace")
    return " ".join(data.decode("utf-8", "replace").split())


class _Line(NamedTuple):
    number: int
    start: int
    end: int
    text: str
    """Without its line end."""


def parse(text: str) -> list[ParsedFact]:
    r"""The facts of a file in the order they stand.

    A bullet `- **languages**:` without a value names the predicate of the bullets nested in it.

    >>> [(fact.predicate, fact.value) for fact in parse("- **city**: Berlin\n- 城市：杭州\n* likes tea\n")]
    [('city', 'Berlin'), ('城市', '杭州'), ('', 'likes tea')]
    """
    return list((_parsed_short(text) if len(text) <= _SHORT else _parsed_long(text))[0])


def _parsed(text: str) -> "tuple[tuple[ParsedFact, ...], tuple[_Shape, ...]]":
    """The facts, and what their bullets were read as: that is known as long as some text is that has them."""
    found: list[ParsedFact] = []
    shapes: list[_Shape] = []
    above: list[tuple[int, str]] = []
    for bullet, shape in _bullets(text):
        shapes.append(shape)
        fact = ParsedFact(shape.predicate, shape.value, shape.struck, shape.meta, bullet)
        width = len(bullet.indent.expandtabs(4))
        while above and above[-1][0] >= width:
            above.pop()
        outer = above[-1][1] if above else ""
        named = " ".join(filter(None, (outer, fact.predicate)))
        if not fact.value:
            above.append((width, named))
            continue
        above.append((width, outer))
        found.append(_with_predicate(fact, named))
    return tuple(found), tuple(shapes)


# A change reads the same text several times: to decide, to write, to look again. What was read takes ten
# bytes a character, so of long texts fewer are kept: or a file that grows would be there eight times.
_parsed_short = lru_cache(maxsize=8)(_parsed)
_parsed_long = lru_cache(maxsize=2)(_parsed)


def _with_predicate(fact: ParsedFact, predicate: str) -> ParsedFact:
    return ParsedFact(predicate, fact.value, fact.struck, fact.meta, fact.bullet)


def fact_of(text: str) -> list[ParsedFact]:
    """The facts in the text of a passage, for ordering those that supersede each other; see `parse`."""
    return parse(text)


def _lines(text: str) -> Iterator[_Line]:
    start, number = 0, 0
    while start < len(text):
        match = _LINE.match(text, start)
        end = match.end() if match else len(text)
        number += 1
        yield _Line(number, start, end, text[start:end].rstrip("\r\n"))
        start = end


def _bullets(text: str) -> "Iterator[tuple[Bullet, _Shape]]":
    lines = list(_lines(text))
    skip_to = front_matter(text).end
    at, fence, hidden = 0, "", False
    while at < len(lines):
        line = lines[at]
        at += 1
        bare = line.text.removeprefix("\ufeff") if line.number == 1 else line.text
        mark = _FENCE.match(bare)
        if line.start < skip_to:
            continue
        if hidden:
            hidden = "-->" not in bare
        elif fence:
            closes = mark and mark["fence"].startswith(fence) and not bare[mark.end() :].strip()
            fence = "" if closes else fence
        elif mark:
            fence = mark["fence"]
        elif (match := _BULLET.match(bare)) and not _RULE.match(bare.strip()):
            last = _last_line(lines, at - 1)
            yield _located(text, line, lines[last], match, len(line.text) - len(bare))
            at = last + 1
        elif bare.lstrip(" \t").startswith("<!--"):
            hidden = "-->" not in bare


def _last_line(lines: list[_Line], first: int) -> int:
    """The last line of a bullet: up to a blank line or the next block, or while a comment is open."""
    at = first
    open_ = _is_open(lines[at].text, was=False)
    closes = _closing(lines, at) if open_ else at
    if open_ and closes is not None:
        at = closes
    while at + 1 < len(lines):
        text = lines[at + 1].text
        if not text.strip() or _ENDS.match(text):
            return at
        if _is_open(text, was=False):
            closes = _closing(lines, at + 1)
            if closes is None:
                return at
            at = closes
        else:
            at += 1
    return at


def _closing(lines: list[_Line], first: int) -> int | None:
    """The line where the comment that `first` leaves open ends; a blank line or a bullet ends the search."""
    for at in range(first + 1, len(lines)):
        text = lines[at].text
        if not text.strip() or _BULLET.match(text):
            return None
        if not _is_open(text, was=True):
            return at
    return None


def _is_open(text: str, *, was: bool) -> bool:
    at = 0
    while True:
        found = text.find("-->" if was else "<!--", at)
        if found < 0:
            return was
        at, was = found + 3, not was


class _Shape(msgspec.Struct, frozen=True, weakref=True):
    """What a bullet's own characters say, wherever it stands; spans count from its first character."""

    comment: tuple[int, int] | None
    words: tuple[int, int]
    predicate: str
    value: str
    struck: bool
    meta: dict[str, str]
    """Nobody may change it: the same bullet has the same one wherever it is read again."""


def _located(text: str, first: _Line, last: _Line, match: re.Match[str], shift: int) -> tuple[Bullet, _Shape]:
    start = first.start + shift
    key = text[start : last.end], match.end(), last.start + len(last.text) - start
    shape = _shapes.get(key)
    if shape is None:
        shape = _shapes[key] = _shape(*key)
    bullet = Bullet(
        start=start,
        end=last.end,
        line=first.number,
        end_line=last.number,
        indent=match["indent"],
        marker=match["marker"],
        comment=shape.comment and (start + shape.comment[0], start + shape.comment[1]),
        words=(start + shape.words[0], start + shape.words[1]),
    )
    return bullet, shape


# Of a file that gains a fact all others are known.
_shapes: "WeakValueDictionary[tuple[str, int, int], _Shape]" = WeakValueDictionary()


def _shape(raw: str, start: int, end: int) -> _Shape:
    """Read a bullet: its words begin at `start`, its last line's end begins at `end`."""
    own: tuple[int, int] | None = None
    words_end = end
    for comment in _COMMENT.finditer(raw, start, end):
        if "id" in comment["body"].lower() and "id" in _fields(comment["body"]):
            own = comment.span()
    while (tail := _trailing_comment(raw, start, words_end)) is not None:
        words_end = tail
    words = start, start + len(raw[start:words_end].rstrip())
    bare = _COMMENT.sub("", raw[slice(*words)]).strip()
    struck = _STRUCK.fullmatch(bare)
    predicate, value = split_words(struck["inside"].strip() if struck else bare)
    return _Shape(own, words, predicate, value, struck is not None, _meta(raw, start, own))


def _meta(raw: str, start: int, own_comment: tuple[int, int] | None) -> dict[str, str]:
    meta: dict[str, str] = {}
    own: dict[str, str] = {}
    for comment in _COMMENT.finditer(raw, start):
        if comment.span() == own_comment:
            own = _fields(comment["body"])
        else:
            meta |= _fields(comment["body"])
    return {key: value for key, value in meta.items() if key != "id"} | own


def _trailing_comment(text: str, start: int, end: int) -> int | None:
    """Where the comment begins that `text[start:end]` ends with."""
    stripped = end
    while stripped > start and text[stripped - 1].isspace():  # no slice: there may be thousands of comments
        stripped -= 1
    if not text.endswith("-->", start, stripped):
        return None
    begin = text.rfind("<!--", start, stripped)
    return begin if begin >= start and text.find("-->", begin, stripped) == stripped - 3 else None


def _fields(body: str) -> dict[str, str]:
    """`key: value` pairs between `|`; empty where a part is none."""
    found: dict[str, str] = {}
    for part in body.split("|"):
        match = _FIELD.fullmatch(part.strip())
        if match is None:
            if part.strip():
                return {}
            continue
        value = decode_field(" ".join(match["value"].split()))
        # A file has the same keys, and many of the same values, in each of its comments.
        found[sys.intern(match["key"].lower())] = sys.intern(value) if len(value) <= _COMMON else value
    return found


def split_words(words: str) -> tuple[str, str]:
    """Predicate and value of a bullet's words; no predicate where it is a statement.

    >>> split_words("**python version**: 3.12"), split_words("see https://example.org: good")
    (('python version', '3.12'), ('', 'see https://example.org: good'))
    """
    words = clean(words)
    match = _BOLD.fullmatch(words)
    if match is None and not words.startswith(("**", "__")):
        match = _plain(words)
    if match is None:
        return "", _UNESCAPE_START.sub("", _unescape(words))
    return _unescape(match["key"].strip(" *_`")), _unescape(match["value"].strip())


def _unescape(words: str) -> str:
    return _ESCAPED.sub(lambda found: found[1] or found[2], words)


def _plain(words: str) -> re.Match[str] | None:
    match = _PLAIN.fullmatch(words) or _TIGHT.fullmatch(words)
    if match is None or _NO_KEY.match(match["key"]) or len(match["key"].split()) > _MOST_KEY_WORDS:
        return None
    return match


_FIELD_ESCAPED: Final = re.compile(r"%(25|7C|3E|0A|0D)")
