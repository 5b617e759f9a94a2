"""Redact secrets in a text, before it is truncated, stored, embedded, logged or shown.

`redact` is pure. A secret is replaced by `[redacted:kind:hash]`, a private span by `[private]`. The hash
distinguishes the secrets of a workspace and is keyed with its random salt: without the salt nobody can test
guesses against it, not even of a four-digit PIN. Without a salt every hash is 00000000, so losing the salt
loses the distinction but exposes no secret.

Redaction is idempotent: rules run until they find no more, and a text that needs more than `_MAX_ROUNDS`
rounds (adversarial input) is redacted as a whole.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from mnemark.errors import UsageError
from mnemark.hashes import blake2s
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.redaction import MARK, Span, positions
from mnemark.text.redaction.private import PLACEHOLDER, private_spans

_MAX_ROUNDS = 8
_MAX_PATTERN = 500
_MIN_VALUE = 8
_SHORTEST_KEY = 16
"""Characters of the shortest word that `key_formats` looks at."""
NO_HASH = "0" * 8
"""The hash in marks without a salt."""
_BREAK = lazy_pattern(r"\r\n?|\n")
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_NO_KEY = lazy_pattern(rf"[^\s]{{0,15}}|(?:[\w.-]{{1,15}}:)?{_UUID}")
"""Ids that are too short for a key of any issuer, and UUIDs, alone or behind the name of an agent."""


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """The rules of redaction. Create them with `DEFAULT.with_…`, which validate their arguments."""

    emails: bool = True
    values: tuple[str, ...] = ()  # exact secrets, longest first
    patterns: tuple[str, ...] = ()  # further regular expressions; kind "custom"
    salt: bytes = b""  # key of the hashes, 16 to 32 random bytes; empty: no hashes

    def with_values(self, values: Iterable[str]) -> "Rules":
        """Add exact secrets of 8 characters or more, such as those in the environment."""
        kept = {value for value in values if len(value) >= _MIN_VALUE and not MARK.search(value)}
        longest_first = sorted({*self.values, *kept}, key=lambda value: (-len(value), value))
        return msgspec.structs.replace(self, values=tuple(longest_first))

    def with_patterns(self, patterns: Iterable[str]) -> "Rules":
        """Add custom regular expressions.

        Raises:
            UsageError: a pattern is invalid, matches the empty text, is too long, or cannot be searched for
                in linear time.
        """
        added = tuple(patterns)
        for pattern in added:
            _check_pattern(pattern)
        return msgspec.structs.replace(self, patterns=(*self.patterns, *added))

    def with_salt(self, salt: bytes) -> "Rules":
        """Set the workspace's salt, the key of the hashes (16 to 32 random bytes).

        Raises:
            UsageError: the salt has another length.
        """
        if not 16 <= len(salt) <= 32:
            raise UsageError(f"the salt has {len(salt)} bytes; give 16 to 32 random bytes")
        return msgspec.structs.replace(self, salt=salt)


DEFAULT = Rules()
"""The built-in rules, with e-mail addresses, without hashes."""


class Redacted(NamedTuple):
    """A text without its secrets, and the findings: kinds and half-open spans in the original text."""

    text: str
    findings: tuple[Span, ...] = ()


class _Piece(NamedTuple):
    """Part of the original text (`kind` is None), or the mark that replaces it."""

    text: str
    start: int  # position in the original text
    end: int
    kind: str | None


def redact(text: str, rules: Rules = DEFAULT, *, keep_lines: bool = False) -> Redacted:
    """Redact the secrets of `text`, in linear time.

    With `keep_lines`, line breaks inside a secret are kept after its mark, so that line numbers are kept.
    """
    if len(text) < _MIN_VALUE and text.isascii() and text.isalpha() and not rules.patterns:
        return Redacted(text)  # a name or a short word: keys of JSON, roles
    pieces = [_Piece(text, 0, len(text), None)]
    current = text
    for _ in range(_MAX_ROUNDS):
        spans = _merged(_found(current, rules), current)
        if not spans:
            break
        pieces = _cut(pieces, spans, rules, keep_lines=keep_lines)
        current = "".join(piece.text for piece in pieces)
    else:
        put = mark("unsettled", text, rules) + (_breaks(text) if keep_lines else "")
        pieces = [_Piece(put, 0, len(text), "unsettled")]
        current = pieces[0].text
    if len(pieces) == 1 and pieces[0].kind is None:
        return Redacted(text)
    return Redacted(current, tuple((piece.kind, piece.start, piece.end) for piece in pieces if piece.kind))


def _found(text: str, rules: Rules) -> Iterator[Span]:
    """Yield all findings; if two overlap, the earlier one determines the kind."""
    from mnemark.text.redaction.pairs import pairs, seed_phrases
    from mnemark.text.redaction.urls import commands, urls

    yield from (("private", start, end) for start, end in private_spans(text))
    has_formats = may_hold_formats(text)
    if has_formats:
        from mnemark.text.redaction.key_formats import emails, key_blocks, keys_and_tokens

        yield from key_blocks(text)
    for value in rules.values:
        yield from (("value", at, at + len(value)) for at in positions(text, value))
    if has_formats:
        yield from keys_and_tokens(text)
    yield from urls(text)
    yield from commands(text)
    yield from pairs(text)
    yield from seed_phrases(text)
    for pattern in rules.patterns:
        yield from _custom(text, pattern)
    if rules.emails and has_formats:
        yield from emails(text)


def may_hold_formats(text: str) -> bool:
    """Tell whether one of `key_formats` may match: most that people type holds none, and a hook waits."""
    return "@" in text or "PRIVATE KEY" in text or any(len(word) >= _SHORTEST_KEY for word in text.split())


def _merged(found: Iterable[Span], text: str) -> list[Span]:
    """Merge overlapping findings; return disjoint spans in order, without the marks already in `text`."""
    ranked = sorted((start, rank, end, kind) for rank, (kind, start, end) in enumerate(found) if start < end)
    spans: list[tuple[int, int, int, str]] = []
    for start, rank, end, kind in ranked:
        joins = spans and start == spans[-1][2] and kind == spans[-1][3] == "custom"
        if spans and (start < spans[-1][2] or joins):
            first, best, last, named = spans[-1]
            spans[-1] = (first, min(best, rank), max(last, end), named if best < rank else kind)
        else:
            spans.append((start, rank, end, kind))
    return list(_around_marks(spans, text))


def _around_marks(spans: list[tuple[int, int, int, str]], text: str) -> Iterator[Span]:
    for start, _, end, kind in spans:
        at = start
        for kept in MARK.finditer(text, max(0, start - 64), min(len(text), end + 64)):
            if kept.end() <= at or kept.start() >= end:
                continue
            if at < kept.start():
                yield kind, at, kept.start()
            at = kept.end()
        if at < end:
            yield kind, at, end


def _cut(pieces: list[_Piece], spans: list[Span], rules: Rules, *, keep_lines: bool) -> list[_Piece]:
    """Replace `spans`, positions in the joined pieces that do not overlap marks, by marks."""
    result: list[_Piece] = []
    left = iter(spans)
    span = next(left, None)
    offset = 0  # of the piece, in the joined pieces
    for piece in pieces:
        at = 0
        while span is not None and span[1] < offset + len(piece.text):
            kind, start, end = span[0], span[1] - offset, span[2] - offset
            if at < start:
                result.append(_Piece(piece.text[at:start], piece.start + at, piece.start + start, None))
            put = mark(kind, piece.text[start:end], rules)
            if keep_lines:
                put += _breaks(piece.text[start:end])
            result.append(_Piece(put, piece.start + start, piece.start + end, kind))
            at = end
            span = next(left, None)
        if at == 0:
            result.append(piece)
        elif at < len(piece.text):
            result.append(_Piece(piece.text[at:], piece.start + at, piece.end, None))
        offset += len(piece.text)
    return result


def mark(kind: str, secret: str, rules: Rules) -> str:
    """Return the mark that replaces `secret`."""
    if kind == "private":
        return PLACEHOLDER
    if not rules.salt:
        return f"[redacted:{kind}:{NO_HASH}]"
    data = secret.encode("utf-8", "surrogatepass")
    return f"[redacted:{kind}:{blake2s(data, digest_size=4, key=rules.salt).hexdigest()}]"


def _breaks(text: str) -> str:
    return "".join(_BREAK.findall(text))


def _custom(text: str, pattern: str) -> Iterator[Span]:
    from mnemark.text.redaction.own_patterns import own_pattern

    return (("custom", start, end) for start, end in own_pattern(pattern).spans(text))


def _check_pattern(pattern: str) -> None:
    from mnemark.text.redaction.own_patterns import UnsupportedPatternError, own_pattern

    if len(pattern) > _MAX_PATTERN:
        raise UsageError(f"the pattern {pattern[:40]!r}… is longer than {_MAX_PATTERN} characters")
    try:
        compiled = own_pattern(pattern)
    except UnsupportedPatternError as error:
        raise UsageError(f"the pattern {pattern!r} {error}") from error
    except (re.error, OverflowError, RecursionError, ValueError) as error:
        raise UsageError(f"{pattern!r} is not a valid regular expression ({error})") from error
    if not compiled.shortest:
        raise UsageError(f"{pattern!r} matches the empty text; ask for at least one character")


def without_keys(session: str) -> str:
    """Return the id of a session with a hash in place of each key: an id is in names, logs and answers."""
    if _NO_KEY.fullmatch(session):
        return session
    from mnemark.text.redaction.key_formats import without_published_keys

    return without_published_keys(session)
