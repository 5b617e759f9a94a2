"""Parse fact files: bullets are facts, except in front matter, fenced code and multi-line comments.

The format is in docs/format.md. `encode` restores the exact bytes that `decode` read; parsing never fails.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final, NamedTuple
from weakref import WeakValueDictionary

import msgspec

from mnemark.facts.keys import predicate_key, value_words
from mnemark.facts.labels import labels
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.lines import clean, lines
from mnemark.text.markdown.frontmatter import front_matter

_SHARE_SCALE: Final = 10.0


class Bullet(msgspec.Struct, frozen=True):
    """The position of a bullet. Offsets count characters of the decoded file and are half-open."""

    start: int
    """First character of its first line."""
    end: int
    """End of its own lines, line end included; nested bullets begin there."""
    line: int
    """Number of its first line, from 1."""
    end_line: int
    indent: str
    marker: str
    """`-`, `*` or `+`."""
    comment: tuple[int, int] | None = None
    """Span of mnemark's own comment (the one with an id)."""
    words: tuple[int, int] = (0, 0)
    """Span of the text, with strike-through marks and without comments."""


class ParsedFact(msgspec.Struct, frozen=True):
    """A bullet parsed as a fact."""

    predicate: str
    """As stored: the `key` of its comment if the bullet shows a name of that, else as written.

    Empty if the bullet is a statement.
    """
    value: str
    struck: bool
    meta: Mapping[str, str]
    """Fields of its comments, keys in lower case; mnemark's own comment takes precedence."""
    bullet: Bullet
    id: str = ""
    """The id in its own comment; empty if there is none."""
    importance: float | None = None
    confidence: float | None = None

    @property
    def words(self) -> str:
        """The keys of predicate and value."""
        return f"{predicate_key(self.predicate)}\0{value_words(self.value)}"


def decode_field(text: str) -> str:
    """Return the value that `write.encode_field` wrote."""
    text = text.strip()
    return _FIELD_ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "%" in text else text


_BULLET: Final = lazy_pattern(r"(?P<indent>[ \t]*)(?P<marker>[-*+])(?P<gap>[ \t]+)(?=[^\s])")
_FENCE: Final = lazy_pattern(r"[ \t]*(?P<fence>`{3,}|~{3,})")
_ENDS: Final = lazy_pattern(
    r"[ \t]*(?:[-*+](?:[ \t]|$)|\d{1,9}[.)][ \t]|#{1,6}(?:[ \t]|$)|>|"
    r"`{3,}|~{3,}|\||(?:[-*_][ \t]*){3,}$)"
)
_COMMENT: Final = lazy_pattern(r"<!--(?P<body>(?:(?!<!--).)*?)-->", re.DOTALL)
_RULE: Final = lazy_pattern(r"(?:[-*][ \t]*){3,}$")
_FIELD: Final = lazy_pattern(r"\s*(?P<key>[A-Za-z][\w-]{0,39})\s*[:：](?P<value>.*)", re.DOTALL)

_BOLD: Final = lazy_pattern(
    r"(?:\*\*|__)(?P<key>[^\n]+?)(?:(?:\*\*|__)\s*(?<!\\)[:：]|(?<!\\)[:：]\s*(?:\*\*|__))\s*(?P<value>.*)",
    re.DOTALL,
)
_PLAIN: Final = lazy_pattern(
    r"(?P<key>[^\s:：\\,，;；.。!！?？<>\[\]{}|\"“”(（][^:：\\,，;；。!！?？<>\[\]{}|\"“”\r\n]{0,59}?)\s*"
    r"(?P<colon>:(?=\s|$)|：)\s*(?P<value>.*)",
    re.DOTALL,
)
_TIGHT: Final = lazy_pattern(
    r"(?P<key>[\u3400-\u9fff][^:：\\,，;；。!！?？<>|\s]{0,19}):(?P<value>[^/\s].*)", re.DOTALL
)
_MAX_KEY_WORDS: Final = 6
_NO_KEY: Final = lazy_pattern(r"[\d\s./:-]*$")
_STRUCK: Final = lazy_pattern(r"~~(?P<inside>.+)~~", re.DOTALL)
_SHORT_TEXT: Final = 1 << 14  # characters
_INTERN_MAX: Final = 12
_ESCAPED: Final = lazy_pattern(r"(?<!\\)\\(\\*(?:~~|[:：]))|(?<=<)\\(\\*!--)")
_UNESCAPE_START: Final = lazy_pattern(r"^\\(?=\\*[-+*#>|`_])")


class _Line(NamedTuple):
    number: int
    start: int
    end: int
    text: str
    """Text without its line end."""


def parse(text: str) -> list[ParsedFact]:
    r"""Return the facts of a file in their order.

    A bullet `- **languages**:` without a value is the predicate of the bullets nested in it.

    >>> [(fact.predicate, fact.value) for fact in parse("- **city**: Berlin\n- 城市：杭州\n* likes tea\n")]
    [('city', 'Berlin'), ('城市', '杭州'), ('', 'likes tea')]
    """
    return list((_parsed_short(text) if len(text) <= _SHORT_TEXT else _parsed_long(text))[0])


def _parsed(text: str) -> "tuple[tuple[ParsedFact, ...], tuple[_Content, ...]]":
    """Return the facts and their bullets' content, which is cached while a cached text refers to it."""
    found: list[ParsedFact] = []
    contents: list[_Content] = []
    above: list[tuple[int, str]] = []
    for bullet, content in _bullets(text):
        contents.append(content)
        width = len(bullet.indent.expandtabs(4))
        while above and above[-1][0] >= width:
            above.pop()
        outer = above[-1][1] if above else ""
        predicate = " ".join(filter(None, (outer, content.predicate)))
        above.append((width, outer if content.value else predicate))
        if content.value:
            found.append(
                ParsedFact(
                    predicate, content.value, content.struck, content.meta, bullet, content.id,
                    content.importance, content.confidence,
                )
            )  # fmt: skip
    return tuple(found), tuple(contents)


# A change parses the same text several times. A cached result takes ten bytes a character, so fewer long
# texts are cached.
_parsed_short = lru_cache(maxsize=8)(_parsed)
_parsed_long = lru_cache(maxsize=2)(_parsed)


def _lines(text: str) -> Iterator[_Line]:
    start = 0
    for number, line in enumerate(lines(text), 1):
        yield _Line(number, start, start + len(line), line.rstrip("\r\n"))
        start += len(line)


def _bullets(text: str) -> "Iterator[tuple[Bullet, _Content]]":
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
            yield _bullet(text, line, lines[last], match, len(line.text) - len(bare))
            at = last + 1
        elif bare.lstrip(" \t").startswith("<!--"):
            hidden = "-->" not in bare


def _last_line(lines: list[_Line], first: int) -> int:
    """Return the last line of a bullet: before a blank line or the next block outside a comment."""
    closes = _closing(lines, first)
    at = first if closes is None else closes
    while at + 1 < len(lines):
        text = lines[at + 1].text
        if not text.strip() or _ENDS.match(text) or (closes := _closing(lines, at + 1)) is None:
            return at
        at = closes
    return at


def _closing(lines: list[_Line], first: int) -> int | None:
    """Return the line where a comment opened on `first` is closed; `first` if none is open.

    Return None if a blank line, a bullet or the end of the text comes first.
    """
    if not _is_open(lines[first].text, was=False):
        return first
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


class _Content(msgspec.Struct, frozen=True, weakref=True):
    """The content of a bullet without its position; spans count from its first character."""

    comment: tuple[int, int] | None
    words: tuple[int, int]
    predicate: str
    value: str
    struck: bool
    meta: dict[str, str]
    """Shared by all parses of the same bullet: do not modify."""
    id: str
    importance: float | None
    confidence: float | None


def _bullet(
    text: str, first: _Line, last: _Line, match: re.Match[str], shift: int
) -> tuple[Bullet, _Content]:
    start = first.start + shift
    key = text[start : last.end], match.end(), last.start + len(last.text) - start
    if (content := _contents.get(key)) is None:
        content = _contents[key] = _parse_content(*key)
    bullet = Bullet(
        start=start,
        end=last.end,
        line=first.number,
        end_line=last.number,
        indent=match["indent"],
        marker=match["marker"],
        comment=content.comment and (start + content.comment[0], start + content.comment[1]),
        words=(start + content.words[0], start + content.words[1]),
    )
    return bullet, content


# When a fact is added to a file, all other bullets are found here.
_contents: "WeakValueDictionary[tuple[str, int, int], _Content]" = WeakValueDictionary()


def _parse_content(raw: str, start: int, end: int) -> _Content:
    """Parse a bullet whose text is `raw[start:end]`."""
    comments = [(comment.span(), _fields(comment["body"])) for comment in _COMMENT.finditer(raw, start)]
    own = next((span for span, fields in reversed(comments) if "id" in fields), None)
    words_end = end
    while (tail := _trailing_comment(raw, start, words_end)) is not None:
        words_end = tail
    words = start, start + len(raw[start:words_end].rstrip())
    bare = _COMMENT.sub("", raw[slice(*words)]).strip()
    struck = _STRUCK.fullmatch(bare)
    predicate, value = split_words(struck["inside"].strip() if struck else bare)
    meta = _meta(comments, own)
    if own is not None and (key := meta.get("key", "")) and predicate in labels(key):
        predicate = key
    identifier = "" if own is None else meta.get("id", "")
    shares = _share(meta, "importance"), _share(meta, "confidence")
    return _Content(own, words, predicate, value, struck is not None, meta, identifier, *shares)


def _meta(
    comments: list[tuple[tuple[int, int], dict[str, str]]], own_comment: tuple[int, int] | None
) -> dict[str, str]:
    meta: dict[str, str] = {}
    own: dict[str, str] = {}
    for span, fields in comments:
        if span == own_comment:
            own = fields
        else:
            meta |= fields
    return {key: value for key, value in meta.items() if key != "id"} | own


def _share(meta: Mapping[str, str], name: str) -> float | None:
    """Return `importance` or `confidence` from 0 to 1, or None; 1 to 10 are divided by 10."""
    if name not in meta:
        return None
    try:
        number = float(meta[name])
    except ValueError:
        return None
    if not 0 <= number <= _SHARE_SCALE:
        return None
    return number if number <= 1 else number / _SHARE_SCALE


def _trailing_comment(text: str, start: int, end: int) -> int | None:
    """Return the begin of the comment that `text[start:end]` ends with, or None."""
    stripped = end
    while stripped > start and text[stripped - 1].isspace():  # a slice per comment would be quadratic
        stripped -= 1
    if not text.endswith("-->", start, stripped):
        return None
    begin = text.rfind("<!--", start, stripped)
    return begin if begin >= start and text.find("-->", begin, stripped) == stripped - 3 else None


def _fields(body: str) -> dict[str, str]:
    """Return `key: value` pairs between `|`; none if a part is no pair."""
    found: dict[str, str] = {}
    for part in filter(None, map(str.strip, body.split("|"))):
        match = _FIELD.fullmatch(part)
        if match is None:
            return {}
        value = decode_field(" ".join(match["value"].split()))
        # Comments repeat the same keys and many values: intern them.
        found[sys.intern(match["key"].lower())] = sys.intern(value) if len(value) <= _INTERN_MAX else value
    return found


def split_words(words: str) -> tuple[str, str]:
    """Split a bullet's words into predicate and value; a statement has no predicate.

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
    if match is None or _NO_KEY.match(match["key"]) or len(match["key"].split()) > _MAX_KEY_WORDS:
        return None
    return match


_FIELD_ESCAPED: Final = lazy_pattern(r"%(25|7C|3E|0A|0D)")
