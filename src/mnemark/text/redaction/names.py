"""Judge whether a name is that of a secret, in snake, camel and kebab case, English and Chinese."""

import re
from functools import lru_cache
from typing import Literal

from mnemark.text.redaction.placeholders import ABOUT, KEYS_OF, PIN, PLAIN, PUBLIC, STRONG

Strength = Literal["strong", "plain", "pin"]
"""Strong: whatever stands there is the secret. Plain: only what looks random is. Pin: a few digits."""

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_STRONG_ENDS = ("password", "passwd", "passphrase", "passcode")
_PLAIN_ENDS = ("token", "secret", "apikey", "secretkey", "accesskey", "privatekey")


@lru_cache(maxsize=4096)
def strength(name: str) -> Strength | None:
    """How much a key's name says that its value is a secret; None if it does not."""
    words = [word.lower() for word in _WORDS.findall(name)] or [name]
    last = words[-1]
    if last.isdigit() and len(words) > 1:
        words.pop()
        last = words[-1]
    if not name.isascii():
        return _strength_zh(name)
    joined = "".join(words)
    public = last in ("token", "key") and not PUBLIC.isdisjoint(words[:-1])
    if (last in ABOUT and joined != "secretid") or public:
        return None
    if last in STRONG or joined.endswith(_STRONG_ENDS):
        return "strong"
    secret_key = last == "key" and len(words) > 1 and words[-2] in KEYS_OF
    if last in PLAIN or joined.endswith(_PLAIN_ENDS) or secret_key:
        return "plain"
    return "pin" if last in PIN else None


def _strength_zh(name: str) -> Strength | None:
    for words, found in ((STRONG, "strong"), (PLAIN, "plain"), (PIN, "pin")):
        if any(name.endswith(word) for word in words if not word.isascii()):
            return found  # type: ignore[return-value]  # the literals above are the three strengths
    return None
