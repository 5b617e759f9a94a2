"""Find secrets by their format: keys with a prefix, private key blocks, tokens, e-mail addresses.

The pattern of a rule is tried only where its literal prefix occurs, and prefixes are searched only in the
long words of a text, which are few. Adjacent repetitions share no characters: linear time.
"""

import re
import string
from collections.abc import Iterator
from itertools import zip_longest

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.redaction.spans import BEGIN, Span, positions

_WORD = r"[A-Za-z0-9_-]"
_ALNUM = r"[A-Za-z0-9]"

# (pattern after the prefix, prefixes); all have the kind "key".
_TAILS: tuple[tuple[str, str], ...] = (
    (r"[A-Z0-9]{16}(?![A-Za-z0-9])", "AKIA ASIA ABIA ACCA"),
    (rf"{_WORD}{{16,}}", "tskey- glpat- gldt- glrt- glptt- glft- glsoat-"),
    (rf"{_WORD}{{20,}}", "GOCSPX- hvs. hvb. dckr_pat_ dckr_oat_ sq0atp- sq0csp- sq0idp- tvly-"),
    (rf"{_WORD}{{30,}}", "AIza 1//0 figd_"),
    (rf"{_WORD}{{40,}}", "pypi- nvapi-"),
    (rf"{_ALNUM}{{10,}}", "sk_live_ sk_test_ rk_live_ rk_test_"),
    (rf"{_ALNUM}{{12,}}", "LTAI"),
    (rf"{_ALNUM}{{24,}}", "ATBB"),
    (rf"{_ALNUM}{{28,}}", "AKID"),
    (rf"{_ALNUM}{{30,}}", "npm_ hf_"),
    (rf"{_ALNUM}{{32,}}", "pplx- lin_api_"),
    (rf"{_ALNUM}{{36,}}", "r8_"),
    (rf"{_ALNUM}{{40,}}", "gsk_ xai- ntn_ secret_"),
    (r"[0-9A-Za-z]{20,}", "AGE-SECRET-KEY-1"),
    (r"\w{20,}", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_"),
    (r"\w{32,}", "glsa_"),
    (r"[0-9a-f]{32}", "dapi"),
    (r"[0-9a-f]{32,}", "dop_v1_ doo_v1_ dor_v1_"),
    (r"[0-9a-fA-F]{32,}", "shpat_ shpss_ shpca_ shppa_"),
    (r"[0-9a-f]{40,}", "rubygems_"),
    (r"[0-9a-f]{24}-[0-9a-f]{34}", "PMAK-"),
    (r"[A-Z0-9]{27}", "NRAK-"),
    (r"[A-Za-z0-9_.-]{20,}", "ya29."),
    (r"[A-Za-z0-9/-]{20,}", "ALTAK"),
    (r"[A-Za-z0-9_=-]{40,}", "ATATT3 ATCTT3"),
    (r"[A-Za-z0-9_=+/-]{30,}", "sntrys_ sntryu_"),
    (r"[A-Za-z0-9+/=]{20,}", "whsec_"),
    (r"[A-Za-z0-9%+/_=.-]{10,}", "xoxa- xoxb- xoxe- xoxe. xoxo- xoxp- xoxr- xoxs- xoxc- xoxd-"),
    (rf"\d-{_WORD}{{20,}}", "xapp-"),
    (rf"{_WORD}{{16,64}}\.{_WORD}{{16,}}", "SG."),
    (rf"(?:(?:proj|svcacct|admin|ant|or|cp|kimi|lf|None)-{_WORD}{{20,}}|{_ALNUM}{{20,}}{_WORD}*)", "sk-"),
    (r"services/[A-Za-z0-9/]{20,}", "hooks.slack.com/"),
    (rf"api/(?:v\d+/)?webhooks/\d{{10,}}/{_WORD}{{20,}}", "discord.com/ discordapp.com/"),
    (r"open-apis/bot/v2/hook/[A-Za-z0-9-]{16,}", "feishu.cn/ larksuite.com/"),
)
_RUN_SIGNS = frozenset(string.ascii_letters + string.digits + "_-")
# (prefix, whether all its characters are in `_RUN_SIGNS`, pattern)
_KEY_RULES = tuple(
    (prefix, _RUN_SIGNS.issuperset(prefix), lazy_pattern(BEGIN + re.escape(prefix) + tail, re.ASCII))
    for tail, prefixes in _TAILS
    for prefix in prefixes.split()
)
_SHORTEST = 16  # minimum length of all formats
_LONG_WORD = lazy_pattern(rf"[!-~]{{{_SHORTEST},}}")
_RUN = lazy_pattern(rf"{_WORD}{{{_SHORTEST},}}")

_BEGINS = lazy_pattern(BEGIN)
_JWT = lazy_pattern(rf"eyJ{_WORD}{{8,}}+\.{_WORD}{{8,}}+(?:\.{_WORD}*+)*+")
_JWT_HEAD = lazy_pattern(rf"{_WORD}+")
# Formats without a prefix: (literal in the middle, pattern before it, pattern from it on).
_INFIX_RULES = (
    (":AA", lazy_pattern(r"(?<![\w-])\d{8,10}\Z", re.ASCII), lazy_pattern(rf":AA{_WORD}{{30,}}")),
    (
        ".",
        lazy_pattern(r"(?<![\w.-])[MNO][\w-]{23,27}\Z", re.ASCII),
        lazy_pattern(rf"\.{_WORD}{{6}}\.{_WORD}{{27,}}"),
    ),
)

_PEM_EDGE = lazy_pattern(r"-{4,5} ?(?P<edge>BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_PEM_LONGEST = 32_768
_PEM_BODY = lazy_pattern(r"[A-Za-z0-9+/=]{16}")
_PEM_LINE = lazy_pattern(r"[ \t>|#*]*(?:[A-Za-z][A-Za-z-]{1,30}: .*|(?P<run>(?:[A-Za-z0-9+/=]|\\[nr])*))")
_PEM_MOST_LINES = 400

_MAILBOX = lazy_pattern(r"(?<![\w.%+-])[\w.%+-]{1,64}\Z", re.ASCII)
_MAIL_HOST = lazy_pattern(
    r"@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,8}[A-Za-z]{2,24}(?![\w-])", re.ASCII
)
_LOGIN = lazy_pattern(r"://[^\s/?#@]{0,256}:[^\s/?#@:]{0,64}\Z")
_MACHINE_USERS = frozenset({"git", "hg", "svn"})  # repository URLs, not e-mail addresses


def key_shapes(text: str) -> Iterator[Span]:
    """Yield keys and tokens recognised by prefix or structure."""
    long = " ".join(_LONG_WORD.findall(text))
    if not long:
        return
    runs = " ".join(_RUN.findall(long))
    for literal, in_run, pattern in _KEY_RULES:
        if literal in (runs if in_run else long):
            yield from _matches_at_prefix(text, literal, pattern)
    if "eyJ" in long:
        yield from _web_tokens(text)
    for sign, before, after in _INFIX_RULES:
        for found in after.finditer(text) if sign in long and after.search(long) else ():
            left = before.search(text, max(0, found.start() - 28), found.start())
            if left and any(map(str.isdigit, found[0])):
                yield "key", left.start(), found.end()


def _matches_at_prefix(text: str, literal: str, pattern: re.Pattern[str]) -> Iterator[Span]:
    at = text.find(literal)
    while at >= 0:
        found = pattern.match(text, at)
        if found:
            yield "key", at, found.end()
        at = text.find(literal, found.end() if found else at + 1)


def _web_tokens(text: str) -> Iterator[Span]:
    at = text.find("eyJ")
    while at >= 0:
        end = at + 1
        if _BEGINS.match(text, at):
            found = _JWT.match(text, at)
            if found:
                yield "jwt", at, found.end()
            # If this is not a token, no other start within the same run of characters is.
            head = found or _JWT_HEAD.match(text, at)
            end = head.end() if head else end
        at = text.find("eyJ", end)


def key_blocks(text: str) -> Iterator[Span]:
    """Yield PEM private key blocks; one without an END extends as far as its lines look like a key."""
    if "PRIVATE KEY" not in text:
        return
    edges = list(_PEM_EDGE.finditer(text))
    for edge, after in zip_longest(edges, edges[1:]):
        if edge["edge"] != "BEGIN":
            continue
        closed = after is not None and after["edge"] == "END"
        if after is not None and closed and after.end() - edge.start() <= _PEM_LONGEST:
            end = after.end()
        else:
            end = _unclosed(text, edge.end(), after.start() if after else len(text))
        # A block without a key in it is documentation.
        if _PEM_BODY.search(text, edge.end(), end):
            yield "private-key", edge.start(), end


def _unclosed(text: str, at: int, limit: int) -> int:
    end = at
    for _ in range(_PEM_MOST_LINES):
        stop = text.find("\n", at, limit)
        stop = limit if stop < 0 else stop
        line = _PEM_LINE.match(text, at, stop)
        if line is None or (line.end() < stop and len(line["run"] or "") < 16):
            break
        end = line.end()
        if end < stop or stop == limit:
            break
        at = stop + 1
    return end


def emails(text: str) -> Iterator[Span]:
    """Yield e-mail addresses."""
    for at in positions(text, "@"):
        host = _MAIL_HOST.match(text, at)
        name = _MAILBOX.search(text, max(0, at - 65), at) if host else None
        # The end of a password in a URL is not a mailbox.
        if host and name and name[0] not in _MACHINE_USERS and not _LOGIN.search(text, max(0, at - 320), at):
            yield "email", name.start(), host.end()
