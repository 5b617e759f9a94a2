"""Detect text that looks like instructions to a model; it is labelled and ranked lower, never deleted.

It is no defence: other words always get through. It helps a person to see what a page wants. A sentence is
written with a letter for what each word has to do with models and instructions ("ignore" and 忽略 are O), and
some orders of letters are marked: text addressed *to* a model *about* its instructions, roles or secrets. A
diary that says "you are now a father" or asks to ignore a previous e-mail does not match. Words and orders
are in `data/instructions.txt`. Most text has no word that an order needs, and costs a look at its words.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import repeat
from pathlib import Path
from typing import Final

import msgspec

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.redaction.spans import positions
from mnemark.text.words.normalize import HAN, HAN_RANGES, normalize

TABLE: Final = Path(__file__).resolve().parents[2] / "data" / "instructions.txt"
"""The words of each letter and the orders; its first lines say how it is written."""

_MARKERS: Final = lazy_pattern(
    r"<\|(?:im_start|im_end|system|user|assistant|endoftext|begin_of_text|start_header_id|eot_id)\|>|<<sys>>|"
    r"</?(?:system|system-reminder|system_prompt|developer)>|<start_of_turn>|\[/?inst\]"
)
_WORDS_OF: Final = lazy_pattern(r"^(\S) \([^)]*\) (.*(?:\n  .*)*)", re.MULTILINE)
_ELEMENT: Final = lazy_pattern(r"(\[[^\[\]]*\]|\S)(\??)")
_WORDS: Final = lazy_pattern(r"""[a-z0-9'_]+|[,:"#\u201c\u201d\[<{\]>}]""")
_SENTENCE_END: Final = lazy_pattern(r"[.!?;\u3002\n]+(?=[^a-z0-9]|$)|\n")
_SEPARATORS: Final = bytes(code if chr(code).isalnum() or chr(code) == "'" else 32 for code in range(256))
_LATIN: Final = frozenset("abcdefghijklmnopqrstuvwxyz")
_SIGNS: Final = dict(zip(',:"#\u201c\u201d[<{]>}', ',:""""<<<>>>', strict=True))
_OPENING: Final = '["<>:,]{0,3}'
_MEANINGS: Final = {"@": "[Isp]", "-": r"\.", "$": "$", "!": f"^{_OPENING}", "^": f"(?:^|[,:]){_OPENING}"}


class Table(msgspec.Struct, frozen=True):
    """All words and orders."""

    letters: dict[str, str]  # of words and signs; "_" joins words
    orders: dict[str, tuple[re.Pattern[str], ...]]  # by the letters that ordinary text has least
    phrases: dict[str, list[str]]  # several words, by the longest
    rare: frozenset[str]  # English words of a letter in `orders`; of a phrase, the longest
    rare_chinese: re.Pattern[str]
    chinese: re.Pattern[str]  # finds words, Chinese characters and signs


@cache
def table() -> Table:
    """Read the words and orders."""
    words, orders = TABLE.read_text("utf-8").split("\n\n", 2)[1:]
    listed = {found[1]: found[2].split() for found in _WORDS_OF.finditer(words)}
    letters = {word: letter.replace("*", "") for letter in listed for word in listed[letter]}
    by_rarest: dict[str, list[str]] = {}
    for line in orders.splitlines():
        for order in () if line.startswith("#") else line.split():
            by_rarest.setdefault(_rarest(order, [*listed]), []).append(_pattern(order))
    by_letter: dict[str, tuple[re.Pattern[str], ...]] = {}
    for of, patterns in by_rarest.items():
        pattern = lazy_pattern("|".join(patterns))
        for letter in of:
            by_letter[letter] = (*by_letter.get(letter, ()), pattern)
    phrases: dict[str, list[str]] = {}
    for word in sorted(letters, key=len, reverse=True):
        if "_" in word:
            phrases.setdefault(max(reversed(word.split("_")), key=len), []).append(word.replace("_", " "))
    rare = {word for word in letters if letters[word] in by_letter}
    chinese = sorted((word for word in letters if not word.isascii()), key=len, reverse=True)
    return Table(
        letters=letters | _SIGNS,
        orders=by_letter,
        phrases=phrases,
        rare=frozenset(word for word in rare if word.isalpha()) | phrases.keys(),
        rare_chinese=lazy_pattern(_any_of([word for word in chinese if word in rare])),
        chinese=lazy_pattern(f"{_WORDS.pattern}|{_any_of(chinese)}|[{HAN_RANGES}]"),
    )


def _any_of(words: list[str]) -> str:
    """Return a pattern of Chinese words; their first two characters are looked at first, which saves time."""
    one = [word for word in words if len(word) == 1]
    several = [word for word in words if len(word) > 1]
    starts = "".join(f"[{''.join({word[place] for word in several})}]" for place in (0, 1))
    return "|".join((f"(?={starts})(?:{'|'.join(several)})", *one))


def _rarest(order: str, letters: list[str]) -> str:
    """Return the letters one of which is in `order`, and that ordinary text has least."""
    needs: list[str] = [
        one.strip("[]").replace("@", "Isp") for one, optional in _ELEMENT.findall(order) if not optional
    ]
    return min(filter(str.isalpha, needs), key=lambda need: max(map(letters.index, need)))


def _pattern(order: str) -> str:
    """Return an order as a regular expression over letters."""
    pattern = ""
    for one, optional in _ELEMENT.findall(order):
        meaning = _MEANINGS.get(one) or one.replace("@", "Isp").replace("-", ".")
        pattern += f".{{0,{one}}}" if one.isdigit() else f"{meaning}{optional}"
    return pattern


def looks_like_instructions(text: str) -> bool:
    """Return whether `text` addresses a model about its instructions, role or secrets (English or Chinese).

    Width, case, traditional and invisible characters are normalised first.
    """
    return instructs(normalize(text))


def instructs(plain: str) -> bool:
    """Return whether a normalised text does (see `looks_like_instructions`)."""
    if ("<" in plain or "inst]" in plain) and _MARKERS.search(plain):
        return True
    known = table()
    if not plain.isascii():
        plain = plain.replace("\u2019", "'")
    words = plain.encode("ascii", "replace").translate(_SEPARATORS).decode("latin-1").split()
    rare = known.rare.intersection(words)
    if HAN.search(plain):
        rare = rare.union(known.rare_chinese.findall(plain))
    if not rare:
        return False
    plain = plain.replace("_", " ")
    listed = (phrase for word in rare for phrase in known.phrases.get(word, ()))
    phrases = sorted(listed, key=lambda phrase: (-len(phrase), phrase))  # the longest of phrases in others
    places = sorted(
        at
        for word in rare
        for at in positions(plain, word)
        if not word.isascii() or _stands_alone(word, at, plain)
    )
    return any(_is_marked(sentence, phrases) for sentence in _sentences_at(places, plain))


def _stands_alone(word: str, at: int, plain: str) -> bool:
    """Return whether no Latin letter stands beside a word; Chinese may."""
    return (
        plain[max(0, at - 1) : at] not in _LATIN and plain[at + len(word) : at + len(word) + 1] not in _LATIN
    )


def _sentences_at(places: list[int], plain: str) -> Iterator[str]:
    """Yield the sentences with one of `places`, which are sorted, in linear time."""
    end = 0
    for at in places:
        if at >= end:
            begin = max(end, plain.rfind("\n", end, at))
            for before in _SENTENCE_END.finditer(plain, begin, at):
                begin = before.end()
            after = _SENTENCE_END.search(plain, at)
            end = after.start() if after else len(plain)
            yield plain[begin:end]


def _is_marked(sentence: str, phrases: list[str]) -> bool:
    orders = table().orders
    letters = letters_of(sentence, phrases)
    return any(order.search(letters) for letter in orders.keys() & letters for order in orders[letter])


def letters_of(sentence: str, phrases: list[str]) -> str:
    """Return the letters of the words of a sentence; words of `phrases` are joined, longer phrases first."""
    known = table()
    for phrase in phrases:
        if phrase in sentence:
            sentence = sentence.replace(phrase, phrase.replace(" ", "_"))
    words = (known.chinese if HAN.search(sentence) else _WORDS).findall(sentence)
    return "".join(map(known.letters.get, words, repeat(".")))
