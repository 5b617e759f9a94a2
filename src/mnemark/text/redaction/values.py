"""Classify names as names of secrets, and values by their form: random, chosen, a reference or a placeholder.

Values that refer to a secret (`$API_KEY`, `getpass()`, `self.token`), describe one (`str`, `required`) or
are placeholders (`<your-key>`, `xxxx`, `changeme`) are not secrets.
"""

import math
import re
from collections import Counter
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal

from mnemark.text import word_lists
from mnemark.text.lazy_pattern import lazy_pattern

Strength = Literal["strong", "plain", "pin"]
"""Strong: any value is secret. Plain: only values that look random. Pin: a few digits."""
KINDS: dict[Strength, str] = {"strong": "password", "plain": "secret", "pin": "pin"}
"""Kind of secret in the redaction mark, by strength."""

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


_PARTS = lazy_pattern(r"[^\W\d_]+|\d+")
_PERCENT = r"%(?:[({][\w.: -]*[)}]|-?\d*[sdrv](?![A-Za-z0-9])|\w+%)"
_COMMON = rf"{_PERCENT}|\.\.\.|…|#\{{|://|->|&(?:lt|\#60|\#x3[cC]);"
# In code, the sign is followed by a name, whose digits are at its end.
_REFERENCE = lazy_pattern(
    rf"{_COMMON}|\$|\{{|<|\(|\)(?![A-Za-z0-9])|\[|\*{{2,}}|`|\\?u?\{{|\|(?![A-Za-z0-9])|!!|"
    r"&[A-Za-z_]+\d{0,2}$|@[A-Za-z_]+\d{0,2}$|![A-Za-z_.:]+(?:\d{0,2}$|[(\[])"
)
_PLACEHOLDER = lazy_pattern(
    rf"{_COMMON}|\$[({{]|\{{\{{?[\w.: \"'\[\]-]*\}}|<[^<>]*>|\*{{3,}}|\\[A-Za-z][*+?)]"
)
_OPEN_CALL = lazy_pattern(r"[A-Za-z_][\w.:>-]*[(\[{]|.*[(\[]\)?$")
_CALLED = r"[A-Za-z_][\w.:>-]*(?:\(.*\)|\[.*\]|\{.*\})(?![A-Za-z0-9@#!$~])"
_CLOSED_CALL = lazy_pattern(_CALLED)
_METHOD = lazy_pattern(r"[A-Za-z_]\w*(?:(?:\.|::|->)\w+)+[(\[{]+$")
_LINE_CALL = lazy_pattern(rf"{_CALLED}|[A-Za-z_][\w.:>-]*[(\[{{](?:.*[,(\[{{=])?$")
_TEMPLATED = lazy_pattern(
    r".*\{[A-Za-z_]*\}|.*\$\{|.*<[A-Za-z_][A-Za-z_ -]*>|.*%\(\w+\)s|(?>.*?\{[A-Za-z_][\w.]*[(\[]).*\}"
)
_EMPTY_BRACES = lazy_pattern(r"\{\w?\}")
_ALL_CLASSES = 4
_TEMPLATE = lazy_pattern(
    r"\$\{\w+\}$|\$\(|[^{}]{0,64}\{\{?[\w.: \"'\[\]-]*\}|<[^<>]*>$|"
    r"[^%]{0,64}%(?:[sdr]$|\(\w+\)s)|#\{|\[redacted:|\[private"
)
_VARIABLE = lazy_pattern(r"\$(?P<name>\w+)(?P<more>[./:\[(>-]|$)?", re.ASCII)
_PATH = lazy_pattern(r"(?:[A-Za-z_]\w*(?:\.|->|::))+[A-Za-z_]\w*$")
_FILE = lazy_pattern(
    r"~?\.{0,2}/(?:[\w.-]+/)*[\w.-]+$|[\w-]+\.(?:py|js|ts|json|ya?ml|toml|txt|md|pem|key|crt|html?)$"
)
_MADE_UP = lazy_pattern(r"/[0-9_]*[A-Za-z][A-Za-z_]*[0-9]\w*$", re.ASCII)  # a password rather than a folder
_BASE64 = lazy_pattern(r"(?=\S*[a-z])(?=\S*[A-Z])(?=\S*[0-9])(?:/|[A-Za-z0-9]{12,}+)++$")
_COMPOUND = lazy_pattern(r"(?:[A-Za-z]+(?:[_.-][A-Za-z]+)++|[A-Za-z]+[A-Z][a-z]+)$")
_SHORT_NAME = 4  # letters of a name before its number: $row1
_OPENERS = "([{<"
_MASKS = frozenset("xX*.-_•●?#…·=0 ")
_CHOSEN_SIGNS = frozenset("!@#$%^&*+=?~")
_CLOSERS = ")]}>"


def stands_in(value: str, *, alone: bool = False) -> bool:
    """Return whether a value that may be code is a reference, a type or a placeholder.

    `alone`: the value ends its line, so that an unclosed bracket at its start is ignored.
    """
    opened = _OPENERS.find(value[:1])
    if alone and opened >= 0 and value and _CLOSERS[opened] not in value:
        value = value[1:]
    call = _LINE_CALL if alone else _OPEN_CALL
    return bool(_REFERENCE.match(value) or call.match(value)) or _is_templated(value) or is_blank(value)


def stands_in_said(value: str) -> bool:
    """Like `stands_in`, for a value in a sentence or on its own line, where signs are rarely code."""
    matched = _PLACEHOLDER.match(value) or _CLOSED_CALL.match(value) or _METHOD.match(value)
    return bool(matched) or _is_templated(value) or is_variable(value) or is_blank(value)


def stands_in_quoted(value: str) -> bool:
    """Like `stands_in`, for a quoted value, where brackets are not calls."""
    return _TEMPLATE.match(value) is not None or is_variable(value) or is_blank(value)


def _is_templated(value: str) -> bool:
    """Return whether a value has a field `{name}`, or `{}` unless the rest has all character classes."""
    if _TEMPLATED.match(value) is None:
        return False
    rest = _EMPTY_BRACES.sub("", value)
    return classes(rest) < _ALL_CLASSES or _TEMPLATED.match(rest) is not None


def is_variable(value: str) -> bool:
    """Return whether a value is a variable (`$PASS`, `$db_pass1`, `$row.id`), not a password (`$ecret12`)."""
    found = _VARIABLE.match(value)
    if found is None or found["more"] is None:
        return False
    name = found["name"]
    stem = name.rstrip("0123456789")
    if name.isupper() or not stem or (stem.isalpha() and (stem == name or len(stem) <= _SHORT_NAME)):
        return True
    return strength(name) is not None or not STAND_INS.isdisjoint(_PARTS.findall(name.lower()))


def is_blank(value: str) -> bool:
    """Return whether a value is a file name, a mask (`xxxx`) or made of placeholder words only."""
    if _FILE.match(value) and not _MADE_UP.match(value) and not _BASE64.match(value):
        return True
    if _MASKS.issuperset(value):
        return True
    parts = _PARTS.findall(value.lower())
    return all(part in STAND_INS or part in ("1", "123", "0") or set(part) <= {"x"} for part in parts)


def is_path(value: str) -> bool:
    """Return whether a value is a qualified name in code: `self.password`, `settings::token`."""
    return _PATH.match(value) is not None and not any(map(str.isdigit, value))


def refers(value: str) -> bool:
    """Return whether a value is itself the name of a secret: `db_password`, `userToken`."""
    return _COMPOUND.match(value) is not None and strength(value) is not None


def classes(value: str) -> int:
    """Return how many of the classes lower case, upper case, digits and signs occur."""
    return (
        any(map(str.islower, value))
        + any(map(str.isupper, value))
        + any(map(str.isdigit, value))
        + any(not char.isalnum() for char in value)
    )


def entropy(value: str) -> float:
    """Return the Shannon entropy of the characters, in bits per character."""
    total = len(value)
    return -sum(n / total * math.log2(n / total) for n in Counter(value).values())


def looks_random(value: str) -> bool:
    """Return whether a value is long and mixed enough to be generated by a machine."""
    if len(value) < 12 or " " in value:
        return False
    head = value[:512]
    digits = sum(map(str.isdigit, head))
    letters = sum(map(str.isalpha, head))
    if not letters:
        return len(value) >= 20 and digits >= 16
    case_changes = sum(one.isupper() != two.isupper() for one, two in pairwise(head))
    if not digits and case_changes < len(head) * (0.25 if len(head) >= 20 else 0.45):
        return False
    return entropy(head) >= (2.8 if len(head) < 20 else 3.0)


def looks_chosen(value: str) -> bool:
    """Return whether a value looks like a password chosen by a person: letters with digits or signs."""
    if not 4 <= len(value) <= 128 or value.isalpha():
        return False
    digits = any(map(str.isdigit, value))
    letters = any(map(str.isalpha, value))
    signs = not _CHOSEN_SIGNS.isdisjoint(value[1:])
    return (digits and (letters or len(value) >= 4)) or (letters and signs)
