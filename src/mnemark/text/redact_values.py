"""Is this a secret's name, and is that a secret? Judged by the words of the key and the look of the value.

Names are strong ("password": whatever stands there is the secret) or plain ("token", "key": only what looks
random is). Values that refer to a secret (`$API_KEY`, `getpass()`, `self.token`), describe one (`str`,
`required`) or stand in for one (`<your-key>`, `xxxx`, `changeme`) are left alone.
"""

import math
import re
from collections import Counter
from itertools import pairwise

from mnemark.text.redact_names import strength
from mnemark.text.redact_words import STAND_INS

_PARTS = re.compile(r"[^\W\d_]+|\d+")
_REFERENCE = re.compile(
    r"\$|%[({A-Z]?[\w-]*[)}%sdr]|\{|<|\(|\)|\[|\.\.\.|…|\*{2,}|&[A-Za-z_]\w*$|@\w+$|!\w|#\{|`|\\?u?\{|://|\||!!|->"
)
_CALL = re.compile(r"[A-Za-z_][\w.:>-]*[(\[{]|.*[(\[]\)?$|.*\{\w*\}|.*\$\{|.*<[\w -]+>|.*%\(\w+\)s")
_TEMPLATE = re.compile(
    r"\$\{?\w+\}?$|\$\(|[^{}]{0,64}\{\{?[\w.: \"'\[\]-]*\}|<[^<>]*>$|"
    r"[^%]{0,64}%(?:[sdr]$|\(\w+\)s)|#\{|\[redacted:|\[private"
)
_PATH = re.compile(r"(?:[A-Za-z_]\w*(?:\.|->|::))+[A-Za-z_]\w*$")
_FILE = re.compile(
    r"~?\.{0,2}/(?:[\w.-]+/)*[\w.-]+$|[\w-]+\.(?:py|js|ts|json|ya?ml|toml|txt|md|pem|key|crt|html?)$"
)


def stands_in(value: str) -> bool:
    """Whether the value is no secret but a reference to one, a type, or a placeholder."""
    return _REFERENCE.match(value) is not None or _CALL.match(value) is not None or is_blank(value)


def stands_in_quoted(value: str) -> bool:
    """As `stands_in`, for a value between quotation marks, where brackets are signs and not calls."""
    return _TEMPLATE.match(value) is not None or is_blank(value)


def is_blank(value: str) -> bool:
    """Whether the value is a file, a mask (`xxxx`) or made of the words of placeholders alone."""
    if _FILE.match(value):
        return True
    if set(value) <= set("xX*.-_•●?#…·=0 "):
        return True
    parts = _PARTS.findall(value.lower())
    return all(part in STAND_INS or part in ("1", "123", "0") or set(part) <= {"x"} for part in parts)


def is_path(value: str) -> bool:
    """Whether the value reads as a name in code: `self.password`, `settings::token`."""
    return _PATH.match(value) is not None and not any(map(str.isdigit, value))


_COMPOUND = re.compile(r"(?:[A-Za-z]+(?:[_.-][A-Za-z]+)++|[A-Za-z]+[A-Z][a-z]+)$")


def refers(value: str) -> bool:
    """Whether the value is itself the name of a secret: `db_password`, `userToken`."""
    return _COMPOUND.match(value) is not None and strength(value) is not None


def classes(value: str) -> int:
    """How many of lower case, upper case, digits and signs occur."""
    return (
        any(map(str.islower, value))
        + any(map(str.isupper, value))
        + any(map(str.isdigit, value))
        + any(not char.isalnum() for char in value)
    )


def entropy(value: str) -> float:
    """Shannon entropy of the characters, in bits per character."""
    total = len(value)
    return -sum(n / total * math.log2(n / total) for n in Counter(value).values())


def looks_random(value: str) -> bool:
    """Long and mixed enough to be made by a machine: letters with digits, or many kinds of signs."""
    if len(value) < 12 or " " in value:
        return False
    head = value[:512]
    digits = sum(map(str.isdigit, head))
    letters = sum(map(str.isalpha, head))
    if not letters:
        return len(value) >= 20 and digits >= 16
    if not digits and not (len(head) >= 20 and _case_changes(head) >= len(head) / 4):
        return False
    return entropy(head) >= (2.8 if len(head) < 20 else 3.0)


def _case_changes(value: str) -> int:
    return sum(one.isupper() != two.isupper() for one, two in pairwise(value))


def looks_chosen(value: str) -> bool:
    """As people choose passwords when told to: letters with digits or signs, four characters or more."""
    if not 4 <= len(value) <= 128:
        return False
    digits = any(map(str.isdigit, value))
    letters = any(map(str.isalpha, value))
    signs = any(char in "!@#$%^&*+=?~" for char in value[1:])
    return (digits and (letters or len(value) >= 4)) or (letters and signs)
