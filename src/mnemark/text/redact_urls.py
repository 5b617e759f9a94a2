"""Secrets in URLs and on command lines: credentials, signed queries, options of well-known tools."""

import re
from collections.abc import Iterator

from mnemark.text.redact_base import MARK, Span
from mnemark.text.redact_values import looks_chosen, looks_random, stands_in

_LOGIN = re.compile(r"://(?P<user>[^\s/?#\"'`<>@:]{0,256})(?::(?P<word>[^\s/?#\"'`<>]{1,256}))?@(?=[\w\[{$.-])")
_QUERY = re.compile(
    r"[?&#;](?:amp;)?(?P<name>key|sig|sign|signature|auth|code|ticket|session|sid|x-amz-signature|"
    r"x-amz-credential|x-goog-signature|x-oss-signature|pass|pwd)=(?P<value>[^\s&#\"'`<>;()]{3,2048})",
    re.IGNORECASE,
)
_CHOSEN_NAMES = frozenset({"pass", "pwd", "auth"})

_QUOTED_WORD = r"(?P<q{n}>[\"']?)(?P<value{n}>[^\s\"'`<>|;]{{3,128}})(?P=q{n})"
_GAP = r"[^\n|;&]{0,160}?[ ]"


def _word(number: int) -> str:
    return _QUOTED_WORD.format(n=number)


_COMMANDS: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = tuple(
    (literals, re.compile(pattern))
    for literals, pattern in (
        (("curl", "wget", "http"), rf"\b(?:curl|wget|https?)\b{_GAP}(?:-u|--user|-a|--auth)[ =]?[\"']?[\w.@-]{{1,64}}:{_word(0)}"),
        (("mysql", "mariadb"), rf"\b(?:mysql|mariadb)\w*\b{_GAP}-p{_word(0)}"),
        (("sshpass",), rf"\bsshpass[ ]+-p[ ]*{_word(0)}"),
        (("redis-cli",), rf"\bredis-cli\b{_GAP}-a[ ]+{_word(0)}"),
        (("login",), rf"\blogin\b{_GAP}-p[ ]+{_word(0)}"),
        (("openssl", "pass:"), rf"\bpass:{_word(0)}"),
        (("openssl",), rf"\bopenssl[ ]+enc\b{_GAP}-k[ ]+{_word(0)}"),
        (("zip", "7z"), rf"\bzip\b{_GAP}-P[ ]+{_word(0)}|\b7z\b{_GAP}-p{_word(1)}"),
        (("sudo -S",), rf"\becho[ ]+{_word(0)}[ ]*\|[ ]*sudo[ ]+-S\b"),
        (("--password-stdin",), rf"\becho[ ]+{_word(0)}[ ]*\|[^\n|]{{0,160}}--password-stdin"),
        (("auth=(",), rf"\bauth=\([ ]?[\"'][^\s\"']{{1,64}}[\"'],[ ]?{_word(0)}"),
    )
)  # fmt: skip


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
    """Passwords given to well-known command line tools."""
    for literals, pattern in _COMMANDS:
        if not any(literal in text for literal in literals):
            continue
        for found in pattern.finditer(text):
            for group in ("value0", "value1"):
                value = found[group] if group in pattern.groupindex else None
                if value is not None and not stands_in(value) and not MARK.match(value):
                    yield "password", *found.span(group)
