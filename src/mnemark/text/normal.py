"""One spelling for what reads the same: width, case, traditional Chinese, invisible characters."""

import re
import unicodedata
from functools import cache
from pathlib import Path

VARIANTS = Path(__file__).resolve().parent.parent / "data" / "variants.txt"
"""Two lines: traditional characters, and below each its simplified form (tools/build_variants.py)."""

INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff"
)
"""Body of a character class: soft hyphen, zero-width, bidi controls, fillers, selectors, tags."""

_INVISIBLE = re.compile(f"[{INVISIBLE}]+")
_HAN = re.compile("[\u3400-\u9fff\U00020000-\U000323af]")
_MOST_ROUNDS = 4  # Unicode folds settle in two; the bound is for safety only


@cache
def _simplified() -> dict[int, str]:
    traditional, simple = VARIANTS.read_text(encoding="utf-8").splitlines()
    return dict(zip(map(ord, traditional), simple, strict=True))


def fold(text: str) -> str:
    """`text` with one width (NFKC), simplified Chinese and no invisible characters; case is kept."""
    if text.isascii():
        return text
    text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    if _HAN.search(text):
        text = text.translate(_simplified())
    # Removing what stood between two characters may let them compose.
    return text if unicodedata.is_normalized("NFKC", text) else unicodedata.normalize("NFKC", text)


def normalize(text: str) -> str:
    """`text` for matching: folded (see `fold`) and without case. Applying it twice changes nothing.

    The length may differ from the length of `text`.
    """
    if text.isascii():
        return text.lower()
    for _ in range(_MOST_ROUNDS):
        # Case folding can undo the composition, and the other way round: go on until nothing moves.
        folded = fold(fold(text).casefold())
        if folded == text:
            break
        text = folded
    return text
