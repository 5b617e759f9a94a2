"""Find secrets in URLs and on command lines: credentials, signed queries, options of known tools."""

import re
from collections.abc import Iterator

from mnemark.text import rows, spelled_out
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.redaction import MARK, Span, positions
from mnemark.text.redaction.values import (
    looks_chosen,
    looks_random,
    stands_in,
    stands_in_quoted,
    stands_in_said,
)

_LOGIN = lazy_pattern(
    r"://(?P<user>[^\s/?#\"'`<>@:]{0,256})(?::(?P<word>[^\s/?#\"'`<>]{1,256}))?@(?=[\w\[{$.-])"
)
# A password with characters that are invalid in a URL; a host's colon is followed by digits only (the port).
_GLUED = r"[\"'`<>](?=[!-~])"
_RAW_LOGIN = lazy_pattern(
    r"://[^\s/?#\"'`<>@:]{0,256}:(?P<word>(?![0-9]{1,5}(?:[^\w@]|$)|/)"
    rf"(?:(?:[^\s\"'`<>/]|{_GLUED}){{1,256}}|(?:[^\s\"'`<>@]|{_GLUED}){{1,256}}))@(?=[\w\[{{$.-])"
)
_QUERY = lazy_pattern(
    r"[?&#;](?:amp;)?(?P<name>key|sig|sign|signature|auth|code|ticket|session|sid|x-amz-signature|"
    r"x-amz-credential|x-goog-signature|x-oss-signature|pass|pwd)=(?P<value>[^\s&#\"'`<>;()]{3,2048})",
    re.IGNORECASE,
)
_CHOSEN_NAMES = frozenset({"pass", "pwd", "auth"})

# A shell ends an unquoted word at `;`, `|`, `<` and `>`; before other characters they are part of a password.
_BARE = r"(?P<bare>[^\s\"'`<>|;](?:[^\s\"'`<>|;]|[\"'`<>|;](?=[A-Za-z0-9!@#$%^*?~_])){2,127})"
_WORD = rf"(?:\"(?P<double>[^\"\n]{{3,128}})\"|'(?P<single>[^'\n]{{3,128}})'|{_BARE})"
_USER = r"[\w.@-]{1,64}:"
_LOGIN_WORD = (
    rf"(?:\"{_USER}(?P<in_double>[^\"\n]{{3,128}})\"|'{_USER}(?P<in_single>[^'\n]{{3,128}})'|"
    rf"[\"']?{_USER}{_WORD})"
)
_NAMES = {
    "<login>": _LOGIN_WORD, "<word>": _WORD, "<gap>": r"[^\n|;&]{0,100}?[ ]",
    "<lines>": r"(?:[^\n|;&\\]|\\\n?){0,200}?[ ]",
}  # fmt: skip


def _commands() -> Iterator[tuple[str, str, re.Pattern[str]]]:
    """Yield a text that must occur, one at the start of the pattern, and the pattern."""
    for needed, begin, pattern in rows("secret_commands"):
        first = begin.replace("_", " ")
        yield needed.replace("_", " "), first, lazy_pattern(first.strip() + spelled_out(pattern, _NAMES))


_BASIC = lazy_pattern(rf"auth=\([ ]?[\"'][^\s\"']{{1,64}}[\"'],[ ]?{_WORD}")
_ALL = (*_commands(), ("auth=(", "auth=(", _BASIC))
_STATEMENTS = tuple(command for command in _ALL if not command[0].strip().startswith("-"))
"""Those that need no option, and so no `-` after a space."""


def urls(text: str) -> Iterator[Span]:
    """Yield passwords and tokens in URLs."""
    if "://" not in text:
        return
    for found in _LOGIN.finditer(text):
        word, user = found["word"], found["user"]
        if word is not None and not stands_in_said(word) and not MARK.match(word):
            yield "url-login", *found.span("word")
        elif word is None and len(user) >= 20 and looks_random(user):
            yield "url-login", *found.span("user")
    for found in _RAW_LOGIN.finditer(text) if "@" in text else ():
        if looks_chosen(found["word"]) and not stands_in_said(found["word"]):
            yield "url-login", *found.span("word")
    for found in _QUERY.finditer(text):
        value = found["value"]
        chosen = found["name"].lower() in _CHOSEN_NAMES and looks_chosen(value)
        if (chosen or (len(value) >= 16 and looks_random(value))) and not stands_in(value):
            yield "url-token", *found.span("value")


def commands(text: str) -> Iterator[Span]:
    """Yield passwords in the arguments of well-known command line tools and of `auth=(…)`."""
    for needed, first, pattern in _ALL if " -" in text else _STATEMENTS:
        if first not in text or needed not in text:
            continue
        done = 0
        for at in positions(text, first):
            found = pattern.match(text, at) if at >= done else None
            done = found.end() if found else done
            if found is None or (how := found.lastgroup) is None or MARK.match(found[how]):
                continue
            bare = how == "bare"
            if not (
                stands_in(found[how].rstrip("([{"), alone=True) if bare else stands_in_quoted(found[how])
            ):
                yield "password", *found.span(how)
