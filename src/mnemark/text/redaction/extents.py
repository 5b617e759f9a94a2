"""Find where the value of a named secret begins and ends.

Quotation marks are clear. An unquoted value goes on to the next white space: a sign that may separate (`;`,
`&`, `,`, a quotation mark, a bracket) does so only before white space, the end of the text, a tag, or in
lists (`a=1;password=…;b=2`, the query of a URL) another name with its `=`. Glued to more, it is part of the
value, as passwords hold such signs. Signs at the end that may close the sentence or expression stay outside.

Patterns read a bounded number of characters and share no character with what follows them: linear in time.
"""

import re
from typing import Final, NamedTuple

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.redaction.spans import MARK

Extent = tuple[int, int]

HEAD: Final = 128
"""Characters of an unquoted value that are judged; the rest up to a gap belongs to it."""
_LONGEST: Final = 2048  # of a quoted value

QUOTES: Final = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "「": "」", "『": "』"}
# Possessive: what was read is not read again.
_QUOTED = {
    mark: lazy_pattern(rf"[^{close}\\\n]*+(?:\\[^\n][^{close}\\\n]*+)*+(?={close})")
    for mark, close in QUOTES.items()
}
# A quotation mark between letters or digits ends nothing, if another one follows soon.
_QUOTED_ON = {
    mark: lazy_pattern(
        rf"(?:[^{close}\\\n]++|\\[^\n]|(?<=[A-Za-z0-9]){close}(?=[A-Za-z0-9][^{close}\\\n]*{close}))*+(?={close})"
    )
    for mark, close in QUOTES.items()
    if mark in "\"'`"
}
_ESCAPED = lazy_pattern(
    rf"\\+(?P<mark>[\"'])(?P<value>(?:(?!(?P=mark))[^\\\n]|\\+(?![\\\"'nrt])){{1,{_LONGEST}}}+)(?=\\+(?P=mark))"
)

_STOPS = r"\s\"'`<>\\;&,，。；、！？（）“”「」『』"
_CORE = lazy_pattern(rf"[^{_STOPS}]+")
_PIECE = r"(?=[!-~]{0,16}?(?:[A-Za-z][0-9]|[0-9][A-Za-z]))"  # a letter beside a digit: more of a password
_NAME = r"[ ]?[A-Za-z_$][\w$.-]{0,40}[\"']?[ ]?"
_ON = r"(?=[!-~])"  # with more behind it
_GLUED = rf"""
    [^{_STOPS}]++
    |(?<=[!-~])(?<![:=(\[{{,+])["'`](?=[A-Za-z0-9!@#$%^&*?~_(\[{{</\\"'`-])(?!s\b|["'`][\s,:;.)\]}}>+]|["'`]\Z)
    |<(?![/!]|[A-Za-z][^<>\n]{{0,200}}>){_ON}
    |>(?!<){_ON}
    |\\++(?![\s\\\"'`nrt]|u00(?:2[27]|3[ceCE])|u[2-9a-fA-F]|\Z)
    |[！？](?=[A-Za-z0-9])
    |[，。；、（）“”「」『』]{_PIECE}
"""
_ENTITY = r"&(?:quot|apos|lt|gt|nbsp|\#[0-9]{1,5}|\#x[0-9a-fA-F]{1,4});"
_AND = rf"(?!{_ENTITY}(?![A-Za-z0-9!@#$%^*]))"
_ALONE = lazy_pattern(rf"(?:{_GLUED}|[;,]++(?!//|[\"'`]){_ON}|{_AND}&)++", re.VERBOSE)
_ENTRIES = {
    tight: lazy_pattern(
        rf"(?:{_GLUED}|[;,]++(?!//|[\"'`]|{_NAME}(?:=|:{after})){_ON}|{_AND}&(?!(?:amp;)?{_NAME}=))++",
        re.VERBOSE,
    )
    for tight, after in ((True, ""), (False, r"\s"))
}
# Signs of a password as an input method writes them; the last ones may as well end a sentence.
_ASCII = lazy_pattern(
    rf"(?:[!-~]++|[＠＃＄￥％＆＊＋＝＿－｜](?=[A-Za-z0-9\s，。；、：！？）]|\Z)|[！？～·](?=[A-Za-z0-9])|[，。；、：（）【】《》“”‘’「」『』…—]{_PIECE})++"
)
_LEADING_ZH = lazy_pattern(r"[，。；、！？：…—～·（《【]{0,3}(?=[!-~])")

TRAIL: Final = ".,;:)]}\"'`\\，。；、：）】》”’」』…—"
"""Signs that may close the sentence or expression around a value."""
_TRAIL_OF_LINE = ",;)\\"  # where the value is all of a line
_PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">", "（": "）", "【": "】", "《": "》"}
_OPENED = {closing: opening for opening, closing in _PAIRS.items()}
_EMPHASIS = lazy_pattern(r"\*{1,3}(?=[^\s*])")
_CLOSED_LATER = 120  # characters in which the bracket is closed that begins a phrase
_LINE_END = lazy_pattern(r"[ \t]*(?:(?:#|//|--)[^\n]*)?(?:\r?\n|\Z|\\[nr])")
_LONG = lazy_pattern(r"[^\s\"'`，。；、！？（）“”「」『』<>\\]*")


class Bare(NamedTuple):
    """An unquoted value."""

    text: str
    start: int
    end: int
    value: str  # the text without marks of redaction, never empty
    core: str  # its beginning, up to the first sign that may separate; may be empty
    wrapped: bool = False  # whether it is in brackets of its own, which are not part of it
    opened: bool = False  # whether it follows a quotation mark that nothing closes, as in a text that was cut

    @property
    def extent(self) -> Extent:
        """Its position."""
        return self.start, self.end

    def ends_line(self) -> bool:
        """Return whether nothing but a comment follows on its line."""
        return _LINE_END.match(self.text, self.end) is not None


def quoted(text: str, at: int) -> Extent | None:
    """Find the value between quotation marks, also escaped ones, at `at`."""
    if text.startswith("\\", at):
        escaped = _ESCAPED.match(text, at)
        return escaped.span("value") if escaped else None
    mark = text[at : at + 1]
    if mark not in QUOTES:
        return None
    if text.startswith(mark * 3, at):
        at += 2
    elif text.startswith("``", at):
        at += 1
    limit = at + 1 + _LONGEST
    if text.find(QUOTES[mark], at + 1, limit) < 0:
        return None
    on = _QUOTED_ON.get(mark)
    found = (on and on.match(text, at + 1, at + 1 + HEAD)) or _QUOTED[mark].match(text, at + 1, limit)
    return found.span() if found and found[0] else None


def bare(text: str, at: int) -> Bare | None:
    """Find the unquoted value at `at`, up to the next white space."""
    return _bare(text, at, _ALONE, TRAIL)


def bare_entry(text: str, at: int) -> Bare | None:
    """Find the unquoted value at `at` that may be in a list: another name with its `=` or `:` ends it.

    If white space precedes it, white space must also follow the `:` of the next name.
    """
    return _bare(text, at, _ENTRIES[not text[at - 1 : at].isspace()], TRAIL)


def bare_line(text: str, at: int) -> Bare | None:
    """Find the unquoted value at `at` in `.env` and shell syntax."""
    return _bare(text, at, _ALONE, _TRAIL_OF_LINE)


def bare_zh(text: str, at: int) -> Bare | None:
    """Find the unquoted value at `at` of a Chinese sentence: it ends where Chinese goes on."""
    lead = _LEADING_ZH.match(text, at)
    return _bare(text, lead.end() if lead else at, _ASCII, TRAIL)


def whole(text: str, value: Extent) -> Extent:
    """Extend a long value, of which only the beginning was judged, to the next gap."""
    start, end = value
    if end - start < HEAD - 8:
        return value
    rest = _LONG.match(text, end)
    return start, rest.end() if rest else end


def _bare(text: str, at: int, run: re.Pattern[str], trail: str) -> Bare | None:
    opened = text[at : at + 1] in QUOTES  # nothing closes it, or the caller had taken what is between
    if opened:
        at += 2 if text[at + 1 : at + 2] in QUOTES and text[at] != text[at + 1] else 1
    marked = text.startswith("[", at) and MARK.match(text, at)
    found = None if marked else run.match(text, at, at + HEAD)
    if found is None:
        return None
    start, end = found.span()
    end = _trimmed(text, start, end, trail)
    emphasis = _EMPHASIS.match(text, start, end) if text.startswith("*", start) else None
    if emphasis and text.endswith(emphasis[0], emphasis.end(), end):
        start, end = emphasis.end(), _trimmed(text, emphasis.end(), end - len(emphasis[0]), trail)
    closing = _PAIRS.get(text[start : start + 1])
    closed = text.find(closing, start, end) if closing else -1
    wrapped = closed >= 0 and closed == end - 1
    if wrapped:
        start, end = start + 1, end - 1
    elif closing and closed < 0 and _closed_later(text, end, closing):
        return None  # a remark: "(8 characters or more)"
    core = _CORE.match(text, start, end)
    value = MARK.sub("", text[start:end])
    head = core[0].rstrip(TRAIL) if core else ""
    return Bare(text, start, end, value, head, wrapped, opened) if value else None


def _trimmed(text: str, start: int, end: int, trail: str) -> int:
    """Return the end without signs that close the expression around the value."""
    while end > start and (closing := text[end - 1]) in trail:
        opening = _OPENED.get(closing)
        if opening is not None and text.count(opening, start, end) >= text.count(closing, start, end):
            break  # opened inside
        end -= 1
    return end


def _closed_later(text: str, at: int, closing: str) -> bool:
    limit = at + _CLOSED_LATER
    line = text.find("\n", at, limit)
    close = text.find(closing, at, limit if line < 0 else line)
    return close >= 0 and any(map(str.isspace, text[at:close]))
