"""Detect text without content: greetings, thanks, "I don't know", a heading alone."""

import re
from typing import Final

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.markdown.outline import without_comments

_COURTESY: Final = lazy_pattern(
    r"(?:(?:hi|hello|hey)(?: there| again)?|ok(?:ay)?|noted|got it|understood|will do|sure|alright|all right|"
    r"great|perfect|cool|"
    r"thanks?(?: you)?(?: (?:so|very) much| a lot)?|thx|you(?:'|’)re welcome|no problem|bye|goodbye|"
    r"(?:i(?:'|’)m )?(?:so )?sorry(?: about that)?|but|"
    r"i (?:do not|don(?:'|’)t) (?:know|remember)(?: (?:that|this|it))?(?: yet)?|"
    r"i have no (?:idea|information)(?: (?:about|on) (?:that|this|it))?(?: yet)?|"
    r"你好|您好|好的?|好呀|收到|明白了?|知道了|了解了?|记下了|记住了|谢谢你?|多谢|没问题|不客气|嗯+|再见|"
    r"(?:很|非常)?抱歉|对不起|不好意思|但是?|(?:这个|那个)?我?(?:也|还|暂时)?不(?:知道|清楚|记得)了?(?:这个|那个)?)",
    re.IGNORECASE,
)
_SEPARATORS: Final = " \t\r\n.,!…。，！、~～"
_GENERATED_NAME: Final = lazy_pattern(r"[A-Z][A-Z_]*|\d{4}-\d{2}(?:-\d{2})?")
"""Names of files with a generated first heading: MEMORY, USER, SCRATCHPAD, a day, a month."""


def is_courtesy(text: str) -> bool:
    """Return whether a turn is only greeting, thanks, acknowledgement or "I don't know".

    "Yes" and "no" are answers.
    """
    at, found = 0, False
    while True:
        while at < len(text) and text[at] in _SEPARATORS:
            at += 1
        if at == len(text):
            return found
        match = _COURTESY.match(text, at)
        end = match.end() if match else at
        # A Latin word must end there: "okra" does not contain "ok".
        if match is None or (text[end - 1].isascii() and text[end : end + 1].isalnum()):
            return False
        at, found = end, True


def is_bare(text: str, path: str) -> bool:
    """Return whether a passage is only comments, or a heading that repeats its file name."""
    stem = path.rpartition("/")[2].rpartition(".")[0]
    plain = without_comments(text).strip()
    heading = plain.lstrip("#").strip()
    return not plain or bool(
        plain[:1] == "#" and _GENERATED_NAME.fullmatch(stem) and heading.casefold() == stem.casefold()
    )
