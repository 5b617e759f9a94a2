"""Split a note into statements in the first person, for the extraction rules of turns.

A note says "User prefers tabs" or "决定用 SQLite" where a turn says "I prefer tabs" and "我们决定用 SQLite".
To-dos, headings, quotations, tables and code are skipped.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.markdown import drop_comments

_FENCE: Final = lazy_pattern(r"^\s*(```+|~~~+)")
_SKIPPED: Final = lazy_pattern(r"^\s*(?:#{1,6}\s|>|\||<!--|[-*_]{3,}\s*$|[-*+]\s+\[[ xX]\])")
_BULLET: Final = lazy_pattern(r"^\s*(?:[-*+]|\d{1,3}[.)、])\s+")
_CLOCK: Final = lazy_pattern(r"^(?:\*\*)?\[?\d{1,2}:\d{2}(?::\d{2})?\]?(?:\*\*)?\s*[-–—:：]?\s*")
_MARKS: Final = lazy_pattern(r"\*\*|__|`")
_HAN: Final = lazy_pattern("[\u4e00-\u9fff]")
_MAX_STATEMENT: Final = 600  # characters; longer text is prose and skipped
_VERBS: Final = {
    "prefers": "prefer", "likes": "like", "loves": "love", "hates": "hate", "dislikes": "dislike", "lives": "live",
    "works": "work", "uses": "use", "speaks": "speak", "is": "am", "has": "have", "wants": "want", "needs": "need",
    "moved": "moved", "switched": "switched", "always": "always", "never": "never",
}  # fmt: skip
_OWNER: Final = r"(?:[Tt]he )?(?:[Uu]ser|[Oo]wner)"
_OWNERS: Final = lazy_pattern(rf"^{_OWNER}(?:'s|’s)\s+")
_DOES: Final = lazy_pattern(rf"^{_OWNER}\s+((?:now |currently |also )?)({'|'.join(_VERBS)})\b")
_DOES_NOT: Final = lazy_pattern(rf"^{_OWNER}\s+does\s?n[o']t\b")
_DECIDED: Final = lazy_pattern(
    r"^(?:[Dd]ecided(?= (?:not )?(?:to|on|that|against|for|in)\b)|[Aa]greed(?= (?:not )?(?:to|on|that)\b)|"
    r"(?:[Cc]hose|[Ss]witched|[Mm]oved)(?= ))"
)
_RULE: Final = lazy_pattern(r"^(?:[Rr]ule|[Rr]emember|[Nn]ote|规则|记住|注意)\s*[:：]\s*")
_OWNER_ZH: Final = lazy_pattern(r"^(?:用户|主人)(?=[^:：]{2})")
_DECIDED_ZH: Final = lazy_pattern(r"^(?=(?:最终|最后)?(?:决定|选定|约定)(?![:：]|权|因素|性|论|于|俗成))")


def statements(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the statements of a note in the first person, each with its line (from 1).

    Wrapped lines of a paragraph are joined. Linear in the text.
    """
    open_fence, first, parts = "", 0, list[str]()
    for number, line in enumerate([*lines, ""], 1):
        fence = _FENCE.match(line)
        if fence and (not open_fence or line.strip() == open_fence):
            open_fence = "" if open_fence else fence[1]
            line = ""  # noqa: PLW2901 - the fence marker is no statement
        starts = open_fence or not line.strip() or _SKIPPED.match(line) or _BULLET.match(line)
        if starts and parts:
            if statement := _joined(parts):
                yield first, statement
            parts = []
        if open_fence or not line.strip() or _SKIPPED.match(line):
            continue
        first = number if not parts else first
        parts.append(_BULLET.sub("", line, count=1).strip())


def _joined(parts: Sequence[str]) -> str:
    text = parts[0]
    for part in parts[1:]:
        text += part if _HAN.match(text[-1:]) and _HAN.match(part[:1]) else f" {part}"
    text = _MARKS.sub("", drop_comments(text)).strip()
    text = _RULE.sub("", _CLOCK.sub("", text, count=1), count=1).strip()
    return "" if len(text) > _MAX_STATEMENT else as_said(text)


def as_said(text: str) -> str:
    """Rewrite a statement about the owner in the first person.

    >>> as_said("The user's name is Robin")
    'my name is Robin'
    >>> as_said("User prefers tabs.")
    'I prefer tabs.'
    >>> as_said("用户喜欢简短的回答")
    '我喜欢简短的回答'
    """
    if _DOES_NOT.match(text):
        return _DOES_NOT.sub("I don't", text, count=1)
    if found := _DOES.match(text):
        return f"I {found[1]}{_VERBS[found[2]]}{text[found.end() :]}"
    if _OWNERS.match(text):
        return _OWNERS.sub("my ", text, count=1)
    if _DECIDED.match(text):
        return f"We {text[0].lower()}{text[1:]}"
    if _DECIDED_ZH.match(text):
        return f"我们{text}"
    return _OWNER_ZH.sub("我", text, count=1)
