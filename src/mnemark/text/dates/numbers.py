"""Parse number words of English and Chinese, as far as times need them."""

import re
from typing import Final

from mnemark.text.dates.grammar import FEW

_NUMBERS: Final = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "  # noqa: SIM905 - a sentence
        "sixteen seventeen eighteen nineteen twenty".split()
    )
} | {"a": 1, "an": 1, "couple": 2, "couple of": 2, "a couple": 2, "a couple of": 2, "thirty": 30}
_FEW_WORDS: Final = r"(?:a\s+)?few|several|some"
ENGLISH: Final = (
    rf"(?P<number>\d{{1,4}}|(?:a\s+)?couple(?:\s+of)?|{_FEW_WORDS}|half\s+an?|an?|"
    rf"{'|'.join(word for word in _NUMBERS if len(word) > 2 and 'couple' not in word)})"
)

_DIGITS: Final = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_N: Final = "一二三四五六七八九"
CHINESE: Final = rf"(?P<number>\d{{1,4}}|好?几|数|半|两三|三四|十几|[{_N}两]?百?[{_N}]?十[{_N}]?|[{_N}两])"


def spelled_number(text: str) -> int:
    """The value of characters read digit by digit: 二〇二五 is 2025."""
    return int("".join(str(_DIGITS[digit]) for digit in text))


def english_amount(text: str) -> tuple[int, int]:
    """The least and most that the words matched by `ENGLISH` may mean."""
    words = " ".join(text.lower().split())
    if re.fullmatch(_FEW_WORDS, words):
        return FEW
    number = int(words) if words.isdecimal() else _NUMBERS[words]
    return number, number


def chinese_number(text: str) -> int:
    """The value of a numeral up to 9999 in digits, or up to 999 in characters."""
    if text.isdecimal():
        return int(text)
    total = 0
    hundreds, _, rest = text.rpartition("百")
    if hundreds:
        total += _DIGITS[hundreds] * 100
    tens, ten, ones = rest.rpartition("十")
    if ten:
        total += (_DIGITS[tens] if tens else 1) * 10
    return total + (_DIGITS[ones] if ones else 0)


def chinese_amount(text: str) -> tuple[int, int]:
    """The least and most that the words matched by `CHINESE` may mean."""
    vague = {"几": FEW, "好几": FEW, "数": FEW, "两三": (2, 3), "三四": (3, 4), "十几": (11, 19)}
    return vague[text] if text in vague else (chinese_number(text), chinese_number(text))
