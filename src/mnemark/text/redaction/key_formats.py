"""Find secrets by their format: keys with a prefix, private key blocks, tokens, e-mail addresses.

The pattern of a rule is tried only where its literal prefix occurs, and only prefixes that a long word of the
text can begin with are searched. Adjacent repetitions share no characters: linear time.
"""

import operator
import re
import string
from collections.abc import Iterator
from itertools import zip_longest

from mnemark.hashes import blake2s
from mnemark.text import rows, spelled_out, word_lists
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.redaction import BEGIN, Span, positions
from mnemark.text.redaction.values import looks_random

_WORD = r"[A-Za-z0-9_-]"
_PLACEHOLDERS = {
    "<word>": _WORD, "<alnum>": r"[A-Za-z0-9]", "<base64>": r"[A-Za-z0-9+/]", "<end>": r"(?![A-Za-z0-9])",
    "<uuid>": r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
    "<at>": r"(?:(?<![\w-])|(?<=\\[nrt]))", "<at-signs>": r"(?:(?<![\w.~+/-])|(?<=\\[nrt]))",
    "<azure>": r"(?:AzFu|AzSe|AzCa|AIoT|ACDb|APIM|\+ARm|\+AEh|\+ASb|\+ASt|\+ABa|\+ACR|/AM7)",
}  # fmt: skip
"""What stands for patterns in `data/key_formats.tsv` and `data/key_infixes.tsv`."""

_LONG_WORD = lazy_pattern(r"[!-~]{16,}")  # no format is shorter
_WORD_HEAD = lazy_pattern(r"(?=([A-Za-z0-9]{2}[!-~]))[A-Za-z0-9]+")
_ESCAPED_WORD_HEAD = lazy_pattern(r"(?:\\[nrt]|%[0-9A-Fa-f]{2})([A-Za-z0-9]{2}[!-~])")

_Rule = tuple[str, re.Pattern[str]]
_NO_HEAD = ""


def _pattern(written: str) -> re.Pattern[str]:
    return lazy_pattern(spelled_out(written, _PLACEHOLDERS), re.ASCII)


def _rules_by_head() -> dict[str, tuple[_Rule, ...]]:
    """Return the rules (prefix, pattern) by the first three characters of the prefix, as of `_WORD_HEAD`."""
    rules: dict[str, tuple[_Rule, ...]] = {}
    for tail, prefixes in rows("key_formats"):
        for prefix in prefixes.split():
            rule = prefix, _pattern(BEGIN + re.escape(prefix) + tail)
            head = prefix[:3] if len(prefix) > 2 and prefix[:2].isalnum() else _NO_HEAD
            rules[head] = (*rules.get(head, ()), rule)
    return rules


_RULES_BY_HEAD = _rules_by_head()
_INFIX_RULES = [(sign, _pattern(before), _pattern(after)) for sign, before, after in rows("key_infixes")]
_BEGINS = lazy_pattern(BEGIN)
_JWT = lazy_pattern(rf"eyJ{_WORD}{{8,}}+\.{_WORD}{{8,}}+(?:\.{_WORD}*+)*+")
_JWT_HEAD = lazy_pattern(rf"{_WORD}+")
# What an unknown issuer may call its keys: `acme_live_…`, `acme_sk_…`, or any prefix before much randomness.
_RANDOM_TAIL = lazy_pattern(rf"_(?<=[A-Za-z0-9].)(?P<tail>[A-Za-z0-9]{{20,}})(?!{_WORD})")
_NAME_BEFORE_TAIL = lazy_pattern(r"(?<![A-Za-z0-9_-])[A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+){0,2}\Z")
_DIGITS_APART = lazy_pattern(r"[0-9][^0-9]+[0-9]")
_KEY_WORDS = word_lists("secret_words")["of-keys"]
_ID_WORDS = word_lists("secret_words")["of-ids"]
# A word of any issuer, or of none: not in a URL or path, nor a part of encoded data.
_MIXED_WORD = lazy_pattern(
    r"(?<![A-Za-z0-9_/+=.%&?#@-])(?=[A-Za-z_-]{0,40}[0-9])[A-Za-z0-9_-]{20,128}(?![A-Za-z0-9_/+=@-]|\.[A-Za-z0-9])"
)
_LONG_RUN = lazy_pattern(r"[A-Za-z0-9]{16,}")
_JOINT = lazy_pattern(r"[_-]")
_PUBLIC_DATA = lazy_pattern(
    r"AAAA|[13][1-9A-HJ-NP-Za-km-z]{25,34}\Z|Qm[1-9A-HJ-NP-Za-km-z]{44}\Z|0x[0-9A-Fa-f]+\Z|"
    r"12D3KooW[1-9A-HJ-NP-Za-km-z]{44}\Z|bafy[a-z2-7]{55}\Z|(?:bc|tb)1[02-9ac-hj-np-z]{39,59}\Z|iVBORw0KGgo"
)
"""Public keys, addresses of coins, files and peers, and images."""
_KIND_OF = {ord(one): kind for kind, many in (("a", string.ascii_lowercase), ("A", string.ascii_uppercase),
          ("0", string.digits)) for one in many}  # fmt: skip
_LEAST_CHANGES = 0.45  # by chance two neighbours of 62 characters differ in kind in 62 of 100 cases
_LOWER_CASE = lazy_pattern(r"[a-z]{3,}")
_MOST_LOWER_CASE = 0.35  # most of a run that may be in such parts: names in code have more
_NAME_OF_NO_SECRET = lazy_pattern(
    r"(?:[Pp]ub(?:lic)?[ _-]?[Kk]ey|(?<![A-Za-z])[Ii][Dd]|I[Dd]|"
    r"(?i:hash|sha-?[0-9]{1,3}|digest|checksum|etag|fingerprint|address|integrity|site[ _-]?key))"
    r"[\"'`]?\s?[:=]?>?\s?[\"'`]?\Z"
)
"""A name, right before a word, of what is no secret."""
_NAME_WINDOW = 24
_LONGEST_OWN_MARK = 4_000  # most characters of a mark of generated text, which holds hashes of its lines
_LEAST_LOWER_RUN, _LEAST_LOWER_CHANGES = 28, 0.28  # of 36 characters, in 40 of 100
_LEAST_BLOCK_LINE = 48  # least characters of a line of encoded data
_DATA_ABOVE = lazy_pattern(r"[A-Za-z0-9+/]{30}=*\r?\n[ \t>]*\Z")
_DATA_BELOW = lazy_pattern(r"\r?\n[ \t>]*[A-Za-z0-9+/]{30}")
_LEAST_MIXED_TAIL, _LEAST_LOWER_TAIL = 24, 32  # least characters, with and without upper case
_FEWEST_DIGITS, _MANY_DIGITS = 2, 6
_LONGEST_ISSUER = 8
_HEX = frozenset("0123456789abcdef")
_HASH_LENGTHS = frozenset({32, 40, 48, 56, 64, 96, 128})  # hexadecimal digits of common hashes
_INFIX_WINDOW = 80  # maximum characters before the literal of a format without a prefix

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


def keys_and_tokens(text: str) -> Iterator[Span]:
    """Yield keys and tokens recognised by prefix or structure."""
    long_words = " ".join(_LONG_WORD.findall(text))
    if not long_words:
        return
    yield from _of_known_issuers(text, long_words)
    yield from _by_infix(text, long_words)
    if _RANDOM_TAIL.search(long_words):
        yield from _of_unknown_issuers(text)
    if _MIXED_WORD.search(long_words):
        yield from _mixed_tokens(text)


def without_published_keys(text: str) -> str:
    """Return a text that is one name, such as an id, with a hash in place of each key of a known issuer.

    What is only random stays: most ids are. The hash is the same on every machine, so that the id is, too; of
    a key it tells nothing.
    """
    long_words = " ".join(_LONG_WORD.findall(text))
    parts, at = [], 0
    keys = _of_known_issuers(text, long_words) if long_words else ()
    for _, start, end in sorted(keys, key=lambda span: span[1]):
        if start >= at:
            digest = blake2s(text[start:end].encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
            parts += [text[at:start], f"key-{digest}"]
            at = end
    return "".join([*parts, text[at:]])


def _of_known_issuers(text: str, long_words: str) -> Iterator[Span]:
    """Yield keys of formats that their issuers publish, by their prefixes."""
    heads = {_NO_HEAD, *_WORD_HEAD.findall(long_words), *_ESCAPED_WORD_HEAD.findall(long_words)}
    for head in sorted(heads & _RULES_BY_HEAD.keys()):
        for prefix, pattern in _RULES_BY_HEAD[head]:
            if prefix in long_words:
                yield from _matches_at_prefix(text, prefix, pattern)
    if "eyJ" in long_words:
        yield from _web_tokens(text)


def _by_infix(text: str, long_words: str) -> Iterator[Span]:
    for sign, before, after in _INFIX_RULES:
        for found in after.finditer(text) if sign in long_words and after.search(long_words) else ():
            left = before.search(text, max(0, found.start() - _INFIX_WINDOW), found.start())
            if left and any(map(str.isdigit, found[0] + left[0])):
                yield "key", left.start(), found.end()


def _of_unknown_issuers(text: str) -> Iterator[Span]:
    for found in _RANDOM_TAIL.finditer(text):
        name = _NAME_BEFORE_TAIL.search(text, max(0, found.start() - 40), found.start())
        if name and _is_key(name[0].replace("-", "_").split("_"), found["tail"]):
            yield "key", name.start(), found.end()


def _is_key(names: list[str], tail: str) -> bool:
    """Return whether a random tail behind the words of a prefix is probably a key of an unknown issuer."""
    digits = sum(map(str.isdigit, tail))
    if digits < _FEWEST_DIGITS or not _DIGITS_APART.search(tail) or not looks_random(tail):
        return False
    name = names[-1]
    if name.lower() in _KEY_WORDS:
        return True
    if not name.islower() or len(name) > _LONGEST_ISSUER or not _ID_WORDS.isdisjoint(names):
        return False
    if any(map(str.isupper, tail)):
        return len(tail) >= _LEAST_MIXED_TAIL and any(map(str.islower, tail))
    hashed = _HEX.issuperset(tail) and len(tail) in _HASH_LENGTHS
    return len(tail) >= _LEAST_LOWER_TAIL and digits >= _MANY_DIGITS and not hashed


def _mixed_tokens(text: str) -> Iterator[Span]:
    """Yield long words in which small letters, capitals and digits alternate as only machines write them."""
    for found in _MIXED_WORD.finditer(text):
        word = found[0]
        runs = _LONG_RUN.findall(word)
        if (
            not any(map(_alternates, runs))
            or _PUBLIC_DATA.match(word)
            or not _ID_WORDS.isdisjoint(_JOINT.split(word))
        ):
            continue
        if _NAME_OF_NO_SECRET.search(text, max(0, found.start() - _NAME_WINDOW), found.start()):
            continue
        own = text.rfind("<!-- mnemark:", max(0, found.start() - _LONGEST_OWN_MARK), found.start())
        if own >= 0 and "-->" not in text[own : found.start()]:
            continue
        if len(word) < _LEAST_BLOCK_LINE or not _in_a_block(text, found.start(), found.end()):
            yield "key", found.start(), found.end()


def _alternates(run: str) -> bool:
    """Return whether the kinds of characters in a run change as often as by chance."""
    if _HEX.issuperset(run.lower()):
        return False
    kinds = run.translate(_KIND_OF)
    if "A" in kinds and min(map(kinds.count, "aA0")) < _FEWEST_DIGITS:
        return False
    changes = sum(map(operator.ne, kinds, kinds[1:]))
    if "A" not in kinds:  # ids of databases have up to 25 characters
        return len(run) >= _LEAST_LOWER_RUN and changes >= _LEAST_LOWER_CHANGES * len(kinds)
    written = sum(map(len, _LOWER_CASE.findall(run)))
    return changes >= _LEAST_CHANGES * len(run) and written <= _MOST_LOWER_CASE * len(run)


def _in_a_block(text: str, start: int, end: int) -> bool:
    """Return whether a word is a line of encoded data, such as a certificate."""
    above = text[max(0, start - _LEAST_BLOCK_LINE) : start]
    below = text[end : end + _LEAST_BLOCK_LINE]
    return bool(_DATA_ABOVE.search(above) or _DATA_BELOW.match(below))


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
            end = _end_of_unclosed_block(text, edge.end(), after.start() if after else len(text))
        # A block without a key in it is documentation.
        if _PEM_BODY.search(text, edge.end(), end):
            yield "private-key", edge.start(), end


def _end_of_unclosed_block(text: str, at: int, limit: int) -> int:
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
