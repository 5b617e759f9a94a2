"""Add up weak signs that a text gives orders to a model.

Long tricks have no sentence that gives them away, but many words that ordinary text seldom has together:
about instructions, roles and limits ("pretend", "unfiltered", "policies"), or a label that addresses a
machine beside a deed ("[SYSTEM NOTICE]", "call", "do not mention"). The signs and their weights are in two
tables; each adds up apart.
"""

import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Final

import msgspec

from mnemark.text import DATA, word_lists
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.redaction import positions
from mnemark.text.words.normalize import HAN, HAN_RANGES

_PARTS: Final = lazy_pattern("[^a-z0-9]+")
_CHOICE: Final = lazy_pattern(r"\{([^{}\s]*)\}")
_GROUP: Final = 16  # first characters of words that are looked at together
_FREQUENT: Final = word_lists("stop_words")["frequent"]
"""Words that few texts lack, so a phrase is looked for by another."""

LATIN: Final = frozenset("abcdefghijklmnopqrstuvwxyz")


def written_out(words: Iterable[str]) -> list[str]:
    """Return the entries of a table with each choice made: of "do_{,not_}tell", two."""
    entries: list[str] = []
    for word in words:
        literal, *others = _CHOICE.split(word)
        made = [literal]
        for choices, after in zip(others[::2], others[1::2], strict=True):
            made = [f"{before}{one}{after}" for before in made for one in choices.split(",")]
        entries += made
    return entries


def is_phrase(word: str) -> bool:
    """Return whether an entry of a table in Latin letters has several words."""
    return _PARTS.search(word) is not None


def phrases_by_word(words: Iterable[str], known: Collection[str]) -> dict[str, list[str]]:
    """Return the phrases of `words` by the longest word of each, which ordinary text has least.

    It is no frequent word if there is another; of words as long, it is one that is not `known` by itself.
    The longest phrases come first.
    """
    phrases: dict[str, list[str]] = {}
    for word in sorted(words, key=len, reverse=True):
        if word.isascii() and is_phrase(word):
            parts = list(filter(None, _PARTS.split(word))) or [word]
            key = max(parts, key=lambda part: (part not in _FREQUENT, len(part), part not in known))
            phrases.setdefault(key, []).append(word.replace("_", " "))
    return phrases


def any_of(words: list[str]) -> str:
    """Return a pattern of words; their first two characters are looked at first, which saves time."""
    one = [word for word in words if len(word) == 1]
    several = [word for word in words if len(word) > 1]
    starts = "".join(f"[{''.join(sorted({re.escape(word[place]) for word in several}))}]" for place in (0, 1))
    by_first: dict[str, list[str]] = {}
    for word in several:
        by_first.setdefault(re.escape(word[0]), []).append(re.escape(word[1:]))
    begins = [f"{first}(?:{'|'.join(rests)})" for first, rests in by_first.items()]
    firsts = [*by_first]
    grouped = "|".join(
        f"(?=[{''.join(firsts[at : at + _GROUP])}])(?:{'|'.join(begins[at : at + _GROUP])})"
        for at in range(0, len(begins), _GROUP)
    )
    return "|".join((f"(?={starts})(?:{grouped})", *one))


def places_of(word: str, plain: str) -> Iterator[int]:
    """Yield where a word stands alone; beside Chinese no Latin letter matters."""
    for at in positions(plain, word):
        if not word.isascii() or _stands_alone(word, at, plain):
            yield at


def _stands_alone(word: str, at: int, plain: str) -> bool:
    """Return whether no Latin letter stands beside a word; Chinese may. "@ai" is not "@ai-sdk/provider"."""
    before, after = plain[max(0, at - 1) : at], plain[at + len(word) : at + len(word) + 1]
    return before not in LATIN and after not in LATIN and not (word[0] == "@" and after in {"-", "/"})


TABLES: Final = {DATA / "instruction_signs.txt": 13, DATA / "planted_signs.txt": 10}
"""The signs, and the sum of weights at which a text is marked; the first lines of the first table say how
they are written. Reports of tricks have many of the first table's words, so these must add up to more.
"""

_TOPICS: Final = 8  # at most this much comes from signs with "~", which other text has, too

_NEAR: Final = 300  # characters in which different signs are added up: about three sentences
_NEAR_CHINESE: Final = 150
_SIGN: Final = lazy_pattern(r"^(\d)(!?)(~?) \([^)]*\) (.*(?:\n  .*)*)", re.MULTILINE)
CHINESE_KEYS: Final = frozenset(
    ("智能体", "助手", "模型", "机器人", "管理员", "指令", "系统", "请求", "记忆", "授权", "任务", "回答")
)
"""Words of which most Chinese signs have one, by which they are looked for: to look for all takes longer."""

_LATIN: Final = lazy_pattern("[a-z]+")
_BESIDE_CHINESE: Final = lazy_pattern(f" (?:(?=[{HAN_RANGES}])|(?<=[{HAN_RANGES}] ))")
_BEFORE: Final = 2
_Near = dict[int, dict[str, list[tuple[str, int]]]]
"""Signs and where a word begins in them, by how many characters before it (at most `_BEFORE`), and which."""


class SignTable(msgspec.Struct, frozen=True):
    """All signs of a file, by number."""

    enough: int  # sum of weights at which a text is marked
    weights: list[int]
    topics: frozenset[int]  # signs with "~"
    signs: dict[str, int]  # of words and phrases
    telling: dict[str, _Near]  # words and phrases of signs with "!", by one word each
    keys: frozenset[str]  # these words
    words: frozenset[str]  # of all signs, in Latin letters; of a phrase, one
    phrases: dict[str, list[str]]  # by that one word
    chinese: re.Pattern[str]


@cache
def tables() -> tuple[SignTable, ...]:
    """Read the signs."""
    return tuple(_table(path, enough) for path, enough in TABLES.items())


@cache
def telling_words() -> frozenset[str]:
    """Return the words of which a text must have one, in Latin letters and Chinese."""
    return frozenset().union(*(known.keys for known in tables()))


def _table(path: Path, enough: int) -> SignTable:
    found = list(_SIGN.finditer(path.read_text("utf-8")))
    listed = enumerate(written_out(sign[4].split()) for sign in found)
    signs = {word.replace("_", " "): number for number, words in listed for word in words}
    phrases = phrases_by_word(signs, signs)
    keys = {phrase: key for key, several in phrases.items() for phrase in several}
    latin = {word: keys.get(word, word) for word in signs if word.isascii()}
    chinese = sorted((word for word in signs if not word.isascii()), key=len, reverse=True)
    telling: dict[str, _Near] = {}
    for word, number in signs.items():
        if found[number][2]:
            key = latin.get(word) or _chinese_key(word)
            at = word.index(key)
            before = word[max(0, at - _BEFORE) : at]
            near = telling.setdefault(key, {}).setdefault(len(before), {})
            near.setdefault(before, []).append((word, at))
    return SignTable(
        enough=enough,
        weights=[int(sign[1]) for sign in found],
        topics=frozenset(number for number, sign in enumerate(found) if sign[3]),
        signs=signs,
        telling=telling,
        keys=frozenset(telling),
        words=frozenset(latin.values()),
        phrases=phrases,
        chinese=lazy_pattern(any_of(chinese)),
    )


def _chinese_key(word: str) -> str:
    """Return the word by which a Chinese sign is looked for."""
    return next((key for key in (*_LATIN.findall(word), *CHINESE_KEYS) if key in word), word)


def add_up(plain: str, telling: frozenset[str], words: Collection[str]) -> bool:
    """Return whether different signs in a normalised text add up to enough within about three sentences.

    `telling` has those of the text in `telling_words`, which seldom is any, and `words` all in Latin letters.
    """
    if telling_words().isdisjoint(telling):
        return False
    if not plain.isascii():
        plain = _BESIDE_CHINESE.sub("", plain)
    for known in tables():
        for key in known.keys & telling:
            if _is_telling(key, known.telling[key], plain):
                if _sum(known, plain, words) >= known.enough:
                    return True
                break
    return False


def _sum(known: SignTable, plain: str, words: Collection[str]) -> int:
    """Return the greatest sum of weights of signs of a table that stand near each other in a text."""
    plain = " ".join(plain.split())  # a line may end in a phrase
    found = _found(known, known.words.intersection(words), plain)
    if not plain.isascii():
        found.update(known.chinese.findall(plain))
    numbers = {known.signs[word] for word in found}
    others, topics = (
        sum(map(known.weights.__getitem__, some)) for some in (numbers - known.topics, numbers & known.topics)
    )
    if others + min(topics, _TOPICS) < known.enough:
        return 0
    places = sorted((at, -len(word), known.signs[word]) for word in found for at in places_of(word, plain))
    return _most(known, places, _NEAR_CHINESE if HAN.search(plain) else _NEAR)


def _is_telling(key: str, signs: _Near, plain: str) -> bool:
    """Return whether one of `signs` is where a text has `key`; to look for each takes longer."""
    at = plain.find(key)
    while at >= 0:
        for length, by_before in signs.items():
            for sign, start in by_before.get(plain[max(0, at - length) : at], ()):
                if plain.startswith(sign, at - start):
                    return True
        at = plain.find(key, at + len(key))
    return False


def _found(known: SignTable, words: Iterable[str], plain: str) -> set[str]:
    """Return the words, and the phrases of them that stand in a text."""
    single = {word for word in words if word in known.signs}
    phrases = chain.from_iterable(known.phrases.get(word, ()) for word in words)
    return single | {phrase for phrase in phrases if phrase in plain}


def _most(known: SignTable, places: list[tuple[int, int, int]], near: int) -> int:
    """Return the greatest sum of the weights of different signs that stand `near` each other.

    `places` says where signs begin, their negative length and number, in order. Signs in longer ones do not
    count.
    """
    counts = [0] * len(known.weights)
    totals = [0, 0]  # of other signs, of topics
    counted: deque[tuple[int, int]] = deque()
    most = end = 0
    for at, length, sign in places:
        if at - length <= end:
            continue
        end = at - length
        if not counts[sign]:
            totals[sign in known.topics] += known.weights[sign]
        counts[sign] += 1
        counted.append((at, sign))
        while at - counted[0][0] > near:
            _, old = counted.popleft()
            counts[old] -= 1
            if not counts[old]:
                totals[old in known.topics] -= known.weights[old]
        most = max(most, totals[0] + min(totals[1], _TOPICS))
    return most
