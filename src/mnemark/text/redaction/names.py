"""Classify names as names of secrets, in snake, camel and kebab case, English and Chinese."""

from functools import lru_cache
from typing import Final, Literal

from mnemark.text import word_lists
from mnemark.text.lazy_pattern import lazy_pattern

Strength = Literal["strong", "plain", "pin"]
"""Strong: any value is secret. Plain: only values that look random. Pin: a few digits."""

_WORDS = lazy_pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_STRONG_ENDS = ("password", "passwd", "passphrase", "passcode")
_PLAIN_ENDS = ("token", "secret", "apikey", "secretkey", "accesskey", "privatekey", "contribsyscom")


@lru_cache(maxsize=4096)
def strength(name: str) -> Strength | None:
    """Return how strongly a name indicates a secret value; None if it does not."""
    parts = [word.lower() for word in _WORDS.findall(name)] or [name]
    last = parts[-1]
    if last.isdigit() and len(parts) > 1:
        parts.pop()
        last = parts[-1]
    if not name.isascii():
        return _strength_zh(name)
    joined = "".join(parts)
    public = last in ("token", "key") and not PUBLIC.isdisjoint(parts[:-1])
    if (last in ABOUT and joined != "secretid") or public:
        return None
    if last in STRONG or joined.endswith(_STRONG_ENDS):
        return "strong"
    of = parts[-2] if len(parts) > 1 else ""
    constant = name.isupper() and NO_SECRET_KEYS.isdisjoint(parts)
    secret_key = last == "key" and (of in KEYS_OF or constant)
    if last in PLAIN or joined.endswith(_PLAIN_ENDS) or secret_key:
        return "plain"
    return "pin" if last in PIN else None


def _strength_zh(name: str) -> Strength | None:
    tables: tuple[tuple[frozenset[str], Strength], ...] = ((STRONG, "strong"), (PLAIN, "plain"), (PIN, "pin"))
    return next(
        (found for words, found in tables for word in words if not word.isascii() and name.endswith(word)),
        None,
    )


_LISTS: Final = word_lists("secret_words")
STRONG: Final = _LISTS["strong"]
PLAIN: Final = _LISTS["plain"]
PIN: Final = _LISTS["pin"]
KEYS_OF: Final = _LISTS["keys-of"]
NO_SECRET_KEYS: Final = _LISTS["no-secret-keys"]
ABOUT: Final = _LISTS["about"]
PUBLIC: Final = _LISTS["public"]
STAND_INS: Final = _LISTS["stand-ins"]
TELLS: Final = _LISTS["tells"]
