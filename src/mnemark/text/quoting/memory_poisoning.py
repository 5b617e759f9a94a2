"""Detect text of tools and web pages that addresses the memory or claims facts about its owner.

A search finds such text, but it is not recalled automatically, as it may be memory poisoning. So recall comes
before precision here, unlike in `injection`: statements of a page about "the user" match, a manual's "if the
user is not signed in" does not. Code, logs, diffs and manuals have the same words: so no word or form marks a
text by itself, but who is addressed or spoken of, and what is to be believed or done.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from mnemark.text import rows, spelled_out
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.quoting.fence import is_fenced, strip_fences
from mnemark.text.quoting.injection import looks_like_instructions
from mnemark.text.quoting.notices import without_notices
from mnemark.text.words.normalize import HAN, normalize

_CONDITIONS: Final = ("if", "when", "once", "whether", "until", "unless", "where", "what")
_WHO: Final = (
    r"\b(?=user|owner|customer|human)"
    + "".join(rf"(?<!\b{word} {article})" for word in _CONDITIONS for article in ("", "the ", "a "))
    + "(?:user|owner|customer|human)"
)
"""Who a text makes a claim about; "if the user always …" is a condition of a manual, no claim."""
_REACH: Final = 200  # characters after a label
_LONGEST: Final = 80  # characters of a bid; so much of what an earlier label reaches is read again
LEFT_OUT: Final = "[recalled text was left out here]"
"""Notice in the output of a tool from which recalled blocks were removed."""
# Tags, direction controls, invisible operators and soft hyphens, which nobody types; not emoji joiners.
_HIDDEN: Final = lazy_pattern(
    "[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\U000e0000-\U000e007f]"
    "|(?<!^)\ufeff|\ufeff[\u2060a-zA-Z]|\x1b\\[[0-9;]*8m"
)
# A word of two alphabets whose letters look alike; those of units ("μs", "kΩ") look like no Latin letter.
_ALIKE: Final = (
    "\u0400-\u04ff\u0391\u0392\u0395-\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7"
    "\u03b1\u03b5\u03b7\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u03c9"
)
_MIXED: Final = lazy_pattern(f"[a-zA-Z]{{2}}[{_ALIKE}]|[{_ALIKE}][a-zA-Z]{{2}}|[a-zA-Z][{_ALIKE}][a-zA-Z]")


def _lists() -> Mapping[str, list[str]]:
    """Return the patterns of each list, with names in <> written out."""
    lists: defaultdict[str, list[str]] = defaultdict(list)
    names = {"<who>": _WHO}
    for name, pattern in rows("memory_poisoning"):
        if name[0] == "<":
            names[name] = pattern
        else:
            lists[name].append(spelled_out(pattern, names))
    return lists


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return lazy_pattern("|".join(patterns), re.MULTILINE)


_LISTS: Final = _lists()
_SHAPES: Final = tuple(_any_of(_LISTS[name]) for name in ("english", "forged", "first-person"))
_SHAPES_CHINESE: Final = _any_of(_LISTS["chinese"])
_LABELS: Final = tuple(_any_of([label]) for label in _LISTS["label"])
_LABELS_CHINESE: Final = _any_of(_LISTS["label-zh"])
_BID: Final = _any_of(_LISTS["bid"])


def speaks_for_owner(text: str) -> bool:
    """Return whether untrusted text addresses a memory or a model, speaks for the owner, or hides text.

    Only for text of tools and web pages: most of this is legitimate in the words of a person.
    """
    text = without_notices(text)
    if LEFT_OUT in text or _HIDDEN.search(text) or _MIXED.search(text) or looks_like_instructions(text):
        return True
    plain = normalize(text)
    chinese = HAN.search(plain) is not None  # all shapes of the other language have such a character
    shapes = (*_SHAPES, _SHAPES_CHINESE) if chinese else _SHAPES
    labels = (*_LABELS, _LABELS_CHINESE) if chinese else _LABELS
    return any(shape.search(plain) for shape in shapes) or any(_is_bid(label, plain) for label in labels)


def _is_bid(label: re.Pattern[str], plain: str) -> bool:
    """Return whether something is to be done, believed or passed over because of such a label."""
    reached = 0
    for one in label.finditer(plain):
        start, end = max(one.end(), reached - _LONGEST), one.end() + _REACH
        if _BID.search(plain, start, end):
            return True
        reached = end
    return False


def without_recalled(text: str) -> str:
    """Remove recalled blocks from the output of a tool; append `LEFT_OUT` if there were any."""
    return f"{strip_fences(text).strip()}\n{LEFT_OUT}".strip() if is_fenced(text) else text
