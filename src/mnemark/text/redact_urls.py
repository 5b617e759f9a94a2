"""Secrets in URLs and on command lines: credentials, signed queries, options of well-known tools."""

import re
from collections.abc import Iterator

from mnemark.text.redact_base import MARK, Span, positions
from mnemark.text.redact_values import looks_chosen, looks_random, stands_in

_LOGIN = re.compile(
    r"://(?P<user>[^\s/?#\"'`<>@:]{0,256})(?::(?P<word>[^\s/?#\"'`<>]{1,256}))?@(?=[\w\[{$.-])"
)
_QUERY = re.compile(
    r"[?&#;](?:amp;)?(?P<name>key|sig|sign|signature|auth|code|ticket|session|sid|x-amz-signature|"
    r"x-amz-credential|x-goog-signature|x-oss-signature|pass|pwd)=(?P<value>[^\s&#\"'`<>;()]{3,2048})",
    re.IGNORECASE,
)
_CHOSEN_NAMES = frozenset({"pass", "pwd", "auth"})

_WORD = r"(?P<quote>[\"']?)(?P<value>[^\s\"'`<>|;]{3,128})(?P=quote)"
_GAP = r"[^\n|;&]{0,100}?[ ]"


# (what must occur, where the pattern begins, pattern)
_COMMANDS: tuple[tuple[str, str, re.Pattern[str]], ...] = tuple(
    (needed, first, re.compile(first.strip() + pattern))
    for needed, first, pattern in (
        (" -u", "curl ", rf"{_GAP}-u[ ]?[\"']?[\w.@-]{{1,64}}:{_WORD}"),
        ("--user", "curl ", rf"{_GAP}--user[ =][\"']?[\w.@-]{{1,64}}:{_WORD}"),
        (" -a", "http ", rf"{_GAP}-a[ ][\"']?[\w.@-]{{1,64}}:{_WORD}"),
        (" -p", "mysql", rf"\w{{0,24}}+{_GAP}-p{_WORD}"),
        (" -p", "mariadb", rf"[\w-]{{0,24}}+{_GAP}-p{_WORD}"),
        (" -p", "sshpass", rf"[ ]+-p[ ]*{_WORD}"),
        (" -a", "redis-cli", rf"{_GAP}-a[ ]+{_WORD}"),
        (" -p", "login ", rf"{_GAP}-p[ ]+{_WORD}"),
        ("openssl", "pass:", _WORD),
        (" -k", "openssl enc", rf"{_GAP}-k[ ]+{_WORD}"),
        (" -P", "zip ", rf"{_GAP}-P[ ]+{_WORD}"),
        (" -p", "7z ", rf"{_GAP}-p{_WORD}"),
        ("sudo -S", "echo ", rf"[ ]+{_WORD}[ ]*\|[ ]*sudo[ ]+-S\b"),
        ("--password-stdin", "echo ", rf"[ ]+{_WORD}[ ]*\|[^\n|]{{0,160}}--password-stdin"),
    )
)  # fmt: skip
_BASIC = re.compile(rf"auth=\([ ]?[\"'][^\s\"']{{1,64}}[\"'],[ ]?{_WORD}")


def urls(text: str) -> Iterator[Span]:
    """Passwords and tokens in the addresses of `text`."""
    if "://" not in text:
        return
    for found in _LOGIN.finditer(text):
        word, user = found["word"], found["user"]
        if word is not None and not stands_in(word) and not MARK.match(word):
            yield "url-login", *found.span("word")
        elif word is None and len(user) >= 20 and looks_random(user):
            yield "url-login", *found.span("user")
    for found in _QUERY.finditer(text):
        value = found["value"]
        chosen = found["name"].lower() in _CHOSEN_NAMES and looks_chosen(value)
        if (chosen or (len(value) >= 16 and looks_random(value))) and not stands_in(value):
            yield "url-token", *found.span("value")


def commands(text: str) -> Iterator[Span]:
    """Passwords given to well-known command line tools and calls."""
    for needed, first, pattern in (*_COMMANDS, ("auth=(", "auth=(", _BASIC)):
        if needed not in text:
            continue
        done = 0
        for at in positions(text, first):
            found = pattern.match(text, at) if at >= done else None
            done = found.end() if found else done
            if found and not stands_in(found["value"]) and not MARK.match(found["value"]):
                yield "password", *found.span("value")
