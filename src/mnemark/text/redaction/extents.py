"""Find the start and end of the value of a named secret.

A quoted value ends at its quotation mark. An unquoted value extends to the next white space: a possible
separator (`;`, `&`, `,`, a quotation mark, a bracket) ends it only before white space, the end of the text, a
tag, or in lists (`a=1;password=…;b=2`, the query of a URL) another name with its `=`. Otherwise it is part of
the value, as in passwords. Trailing punctuation that may close the sentence or expression is excluded.

Patterns read a bounded number of characters and share no character with what follows them: linear in time.
"""

import re
from typing import Final, NamedTuple

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.redaction import MARK

Extent = tuple[int, int]

MOST_CHECKED: Final = 128
"""Maximum characters of an unquoted value that patterns check; see `with_its_rest`."""
_LONGEST_QUOTED: Final = 2048  # of a quoted value

QUOTES: Final = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "「": "」", "『": "』"}
# Possessive quantifiers: no backtracking.
_QUOTED = {
    mark: lazy_pattern(rf"[^{close}\\\n]*+(?:\\[^\n][^{close}\\\n]*+)*+(?={close})")
    for mark, close in QUOTES.items()
}
# A quotation mark between letters or digits does not end the value if another one follows soon.
_QUOTED_WITH_MARKS_INSIDE = {
    mark: lazy_pattern(
        rf"(?:[^{close}\\\n]++|\\[^\n]|(?<=[A-Za-z0-9]){close}(?=[A-Za-z0-9][^{close}\\\n]*{close}))*+(?={close})"
    )
    for mark, close in QUOTES.items()
    if mark in "\"'`"
}
_IN_ESCAPED_MARKS = lazy_pattern(
    rf"\\+(?P<mark>[\"'])(?P<value>(?:(?!(?P=mark))[^\\\n]|\\+(?![\\\"'nrt])){{1,{_LONGEST_QUOTED}}}+)(?=\\+(?P=mark))"
)

_SEPARATORS = r"\s\"'`<>\\;&,，。；、！？（）“”「」『』"
_UP_TO_SEPARATOR = lazy_pattern(rf"[^{_SEPARATORS}]+")
_GOES_ON = r"(?=[!-~]{0,16}?(?:[A-Za-z][0-9]|[0-9][A-Za-z]))"  # a letter beside a digit: more of a password
_NEXT_NAME = r"[ ]?[A-Za-z_$][\w$.-]{0,40}[\"']?[ ]?"
_NOT_LAST = r"(?=[!-~])"  # followed by another character
_INSIDE_VALUE = rf"""
    [^{_SEPARATORS}]++
    |(?<=[!-~])(?<![:=(\[{{,+])["'`](?=[A-Za-z0-9!@#$%^&*?~_(\[{{</\\"'`-])(?!s\b|["'`][\s,:;.)\]}}>+]|["'`]\Z)
    |<(?![/!]|[A-Za-z][^<>\n]{{0,200}}>){_NOT_LAST}
    |>(?!<){_NOT_LAST}
    |\\++(?![\s\\\"'`nrt]|u00(?:2[27]|3[ceCE])|u[2-9a-fA-F]|\Z)
    |[！？](?=[A-Za-z0-9])
    |[，。；、（）“”「」『』]{_GOES_ON}
"""
_ENTITY = r"&(?:quot|apos|lt|gt|nbsp|\#[0-9]{1,5}|\#x[0-9a-fA-F]{1,4});"
_NO_ENTITY = rf"(?!{_ENTITY}(?![A-Za-z0-9!@#$%^*]))"
_VALUE = lazy_pattern(rf"(?:{_INSIDE_VALUE}|[;,]++(?!//|[\"'`]){_NOT_LAST}|{_NO_ENTITY}&)++", re.VERBOSE)
_VALUE_IN_LIST = {
    tight: lazy_pattern(
        rf"(?:{_INSIDE_VALUE}|[;,]++(?!//|[\"'`]|{_NEXT_NAME}(?:=|:{after})){_NOT_LAST}|{_NO_ENTITY}&(?!(?:amp;)?{_NEXT_NAME}=))++",
        re.VERBOSE,
    )
    for tight, after in ((True, ""), (False, r"\s"))
}
# Full-width signs of a password, as input methods write them; the last ones may also end a sentence.
_VALUE_IN_CHINESE = lazy_pattern(
    rf"(?:[!-~]++|[＠＃＄￥％＆＊＋＝＿－｜](?=[A-Za-z0-9\s，。；、：！？）]|\Z)|[！？～·](?=[A-Za-z0-9])|[，。；、：（）【】《》“”‘’「」『』…—]{_GOES_ON})++"
)
_PUNCTUATION_AHEAD = lazy_pattern(r"[，。；、！？：…—～·（《【]{0,3}(?=[!-~])")

CLOSING: Final = ".,;:)]}\"'`\\，。；、：）】》”’」』…—"
"""Characters that may close the sentence or expression around a value."""
_CLOSING_IN_LINE = ",;)\\"  # if the value is the rest of a line
_CLOSING_OF = {"(": ")", "[": "]", "{": "}", "<": ">", "（": "）", "【": "】", "《": "》"}
_OPENING_OF = {closing: opening for opening, closing in _CLOSING_OF.items()}
_EMPHASIS = lazy_pattern(r"\*{1,3}(?=[^\s*])")
_MAX_PHRASE = 120  # maximum characters of a phrase in brackets
_LINE_END = lazy_pattern(r"[ \t]*(?:(?:#|//|--)[^\n]*)?(?:\r?\n|\Z|\\[nr])")
_REST = lazy_pattern(r"[^\s\"'`，。；、！？（）“”「」『』<>\\]*")


class BareValue(NamedTuple):
    """An unquoted value."""

    text: str
    start: int
    end: int
    value: str  # the text without redaction marks, never empty
    core: str  # its start, up to the first possible separator; may be empty
    wrapped: bool = False  # whether brackets around it were excluded
    opened: bool = False  # whether it follows an unclosed quotation mark, as in a truncated text

    @property
    def extent(self) -> Extent:
        """Start and end of the value."""
        return self.start, self.end

    def ends_line(self) -> bool:
        """Return whether only white space or a comment follows on the line."""
        return _LINE_END.match(self.text, self.end) is not None


def quoted_value(text: str, at: int) -> Extent | None:
    """Find the value between (possibly escaped) quotation marks at `at`."""
    if text.startswith("\\", at):
        escaped = _IN_ESCAPED_MARKS.match(text, at)
        return escaped.span("value") if escaped else None
    mark = text[at : at + 1]
    if mark not in QUOTES:
        return None
    if text.startswith(mark * 3, at):
        at += 2
    elif text.startswith("``", at):
        at += 1
    limit = at + 1 + _LONGEST_QUOTED
    if text.find(QUOTES[mark], at + 1, limit) < 0:
        return None
    on = _QUOTED_WITH_MARKS_INSIDE.get(mark)
    found = (on and on.match(text, at + 1, at + 1 + MOST_CHECKED)) or _QUOTED[mark].match(text, at + 1, limit)
    return found.span() if found and found[0] else None


def bare_value(text: str, at: int) -> BareValue | None:
    """Find the unquoted value at `at`, up to the next white space."""
    return _bare_value(text, at, _VALUE, CLOSING)


def bare_value_in_list(text: str, at: int) -> BareValue | None:
    """Find the unquoted value at `at` in a possible list: another name with its `=` or `:` ends it.

    If white space precedes it, white space must also follow the `:` of the next name.
    """
    return _bare_value(text, at, _VALUE_IN_LIST[not text[at - 1 : at].isspace()], CLOSING)


def bare_value_of_line(text: str, at: int) -> BareValue | None:
    """Find the unquoted value at `at` in `.env` and shell syntax."""
    return _bare_value(text, at, _VALUE, _CLOSING_IN_LINE)


def bare_value_in_chinese(text: str, at: int) -> BareValue | None:
    """Find the unquoted value at `at` in a Chinese sentence: Chinese characters end it."""
    lead = _PUNCTUATION_AHEAD.match(text, at)
    return _bare_value(text, lead.end() if lead else at, _VALUE_IN_CHINESE, CLOSING)


def with_its_rest(text: str, value: Extent) -> Extent:
    """Extend a value that was cut at `MOST_CHECKED` characters to the next white space or quotation mark."""
    start, end = value
    if end - start < MOST_CHECKED - 8:
        return value
    rest = _REST.match(text, end)
    return start, rest.end() if rest else end


def _bare_value(text: str, at: int, value: re.Pattern[str], closing_signs: str) -> BareValue | None:
    opened = text[at : at + 1] in QUOTES  # it is not closed, or else the caller has handled the quoted value
    if opened:
        at += 2 if text[at + 1 : at + 2] in QUOTES and text[at] != text[at + 1] else 1
    marked = text.startswith("[", at) and MARK.match(text, at)
    found = None if marked else value.match(text, at, at + MOST_CHECKED)
    if found is None:
        return None
    start, end = found.span()
    end = _without_closing(text, start, end, closing_signs)
    emphasis = _EMPHASIS.match(text, start, end) if text.startswith("*", start) else None
    if emphasis and text.endswith(emphasis[0], emphasis.end(), end):
        start, end = emphasis.end(), end - len(emphasis[0])
        end = _without_closing(text, start, end, closing_signs)
    closing = _CLOSING_OF.get(text[start : start + 1])
    closed = text.find(closing, start, end) if closing else -1
    wrapped = closed >= 0 and closed == end - 1
    if wrapped:
        start, end = start + 1, end - 1
    elif closing and closed < 0 and _closed_later(text, end, closing):
        return None  # a remark: "(8 characters or more)"
    core = _UP_TO_SEPARATOR.match(text, start, end)
    unmarked = MARK.sub("", text[start:end])
    head = core[0].rstrip(CLOSING) if core else ""
    return BareValue(text, start, end, unmarked, head, wrapped, opened) if unmarked else None


def _without_closing(text: str, start: int, end: int, closing_signs: str) -> int:
    """Return the end of the value without trailing characters that close the expression around it."""
    while end > start and (closing := text[end - 1]) in closing_signs:
        opening = _OPENING_OF.get(closing)
        if opening is not None and text.count(opening, start, end) >= text.count(closing, start, end):
            break  # opened inside
        end -= 1
    return end


def _closed_later(text: str, at: int, closing: str) -> bool:
    limit = at + _MAX_PHRASE
    line = text.find("\n", at, limit)
    close = text.find(closing, at, limit if line < 0 else line)
    return close >= 0 and any(map(str.isspace, text[at:close]))
