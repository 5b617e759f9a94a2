"""Detect text that looks like instructions to a model; it is labelled and ranked lower, never deleted.

It is no defence: other words always get through. It helps a person to see what a page wants. A sentence is
written with a letter for what each word has to do with models and instructions ("ignore", 忽略 and "ignora"
are O), and some orders of letters are marked: text addressed *to* a model *about* its instructions, roles or
secrets. A diary that says "you are now a father" or asks to ignore a previous e-mail does not match. Words
and orders are in `data/instructions.txt`: all forms of a word, but how Russian and Korean words begin. Longer
tricks without such a sentence, and orders planted for agents, are known by weak signs that add up (`signs`).
Most text lacks a word that an order needs, and costs a look at its words.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from itertools import repeat
from typing import Final

import msgspec

from mnemark.text import DATA
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.quoting.signs import (
    CHINESE_KEYS,
    LATIN,
    add_up,
    any_of,
    is_phrase,
    phrases_by_word,
    places_of,
    telling_words,
    written_out,
)
from mnemark.text.words.normalize import HAN_RANGES, normalize

TABLE: Final = DATA / "instructions.txt"
"""The words of each letter and the orders; its first lines say how it is written."""

_WORDS: Final = lazy_pattern(r"""[a-z0-9_]+(?:'[a-z0-9_]+)*|[,:"'#\u201c\u201d\[<{\]>}]""")
"""A word in Latin letters, or a sign that orders name."""

_INFLECTED: Final = "\u0400-\u04ff\u0620-\u065f\u0670-\u06d3\u0900-\u0963\u0966-\u097f\uac00-\ud7a3"
_KANA: Final = "\u3041-\u30ff"
_OTHER: Final = lazy_pattern(f"[{HAN_RANGES}{_INFLECTED}{_KANA}]")
"""A letter of the languages of the table that are not written in Latin letters."""

_NOT_CHINESE: Final = lazy_pattern(f"[{_INFLECTED}{_KANA}]")
_STEM: Final = lazy_pattern(f"[{_INFLECTED}]")
_WORDS_OF: Final = lazy_pattern(r"^([^\s#]) (?:\([^)]*\) )?(.*(?:\n  .*)*)", re.MULTILINE)
_ELEMENT: Final = lazy_pattern(r"(\[[^\[\]]*\]|\S)(\??)")
_SIGNS: Final = dict(zip(",:\"'#\u201c\u201d[<{]>}", ',:"""""<<<>>>', strict=True))
_MIXED: Final = lazy_pattern("[a-z][\u0430-\u051b]|[\u0430-\u051b][a-z]")
"""A word of Latin and Cyrillic letters, which look alike; nobody types one."""

_LOOKS_LATIN: Final = (
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0455\u0458\u0501\u04bb\u051b\u0475\u04cf"
)
_LOOKALIKES: Final = str.maketrans(_LOOKS_LATIN, "aeopcyxisjdhqvl")
_TURKISH: Final = str.maketrans("\u0131\u015f\u011f", "isg")
_QUOTES: Final = dict(zip("\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb", '\'\'"""""', strict=True))
_MARKS: Final = '.,:"<>'
_OPENING: Final = '["<>:,]{0,3}'
_MEANINGS: Final = {"@": "[Isp]", "-": r"\.", "$": "$", "!": f"^{_OPENING}", "^": f"(?:^|[,:]){_OPENING}"}
_Needs = tuple[tuple[int, tuple[tuple[int, ...], ...]], ...]
_MARKERS: Final = lazy_pattern(
    r"<\|(?:im_start|im_end|system|user|assistant|endoftext|begin_of_text|start_header_id|eot_id)\|>|<<sys>>|"
    r"</?(?:system|system-reminder|system_prompt|developer)>|<start_of_turn>|\[/?inst\]"
)
_ENCODED: Final = lazy_pattern(r"&#(\d{2,3});|&#x([0-9a-f]{2});|%([2-7][0-9a-f])|\\u00([2-7][0-9a-f])")
"""A character as it is written in HTML, in an address, or in JSON."""

_SENTENCE_END: Final = lazy_pattern(r"[.!?;\u3002\n]+(?=[^a-z0-9]|$)|\n")
_SEPARATORS: Final = bytes(code if chr(code).isalnum() else 32 for code in range(256))


class Finders(msgspec.Struct, frozen=True):
    """Patterns of words in other than Latin letters, quicker where a text has Chinese alone."""

    chinese: re.Pattern[str]
    others: re.Pattern[str]

    def words_in(self, text: str) -> list[str]:
        """Return the words of a text, in order."""
        return (self.others if _NOT_CHINESE.search(text) else self.chinese).findall(text)


class OrderTable(msgspec.Struct, frozen=True):
    """All words and orders."""

    letters: dict[str, str]  # of words and signs; "_" joins words in Latin letters
    bits: dict[str, int]  # of letters
    orders: dict[str, tuple[re.Pattern[str], ...]]  # by the letters that ordinary text has least
    leads: frozenset[str]  # these letters
    needs: dict[str, _Needs]  # the other letters of these orders, of which a text must have one each
    phrases: dict[str, list[str]]  # several words, by the one that ordinary text has least
    words: frozenset[str]  # in Latin letters; of a phrase, that one; telling signs, too
    rare: Finders  # of words in other letters that have a letter in `orders`, or are telling signs
    within: dict[str, list[str]]  # of these words, those in longer ones
    other: Finders  # of all words, characters and signs of a text with other letters
    unaccented: bytes  # the characters of Windows-1252 in ASCII


@cache
def table() -> OrderTable:
    """Read the words and orders."""
    _, *words, orders = TABLE.read_text("utf-8").split("\n\n")
    listed = [
        (found[1], written_out(found[2].split())) for part in words for found in _WORDS_OF.finditer(part)
    ]
    letters = {_key(word): letter.replace("*", "") for letter, several in listed for word in several}
    kinds = list(dict.fromkeys(letter for letter, _ in listed))
    bits = dict.fromkeys((*_MARKS, ""), 0) | {letter: 1 << number for number, letter in enumerate(kinds)}
    lines = (line.split() for line in orders.splitlines() if not line.startswith("#"))
    needed = {order: _needed(order, kinds) for line in lines for order in line}
    leads = {letter for lead, *_ in needed.values() for letter in lead}
    phrases = phrases_by_word(letters, letters)
    single = {word for word in letters if word.isascii() and letters[word] and not is_phrase(word)}
    other = sorted((word for word in letters if not word.isascii()), key=len, reverse=True)
    rare = sorted(
        CHINESE_KEYS.union(word for word in other if letters[word] in leads),
        key=lambda word: (-len(word), word),
    )
    return OrderTable(
        letters=letters | _SIGNS,
        bits=bits,
        orders={lead: _orders(lead, needed) for lead in leads},
        leads=frozenset(leads),
        needs={lead: _needs(lead, needed, bits) for lead in leads},
        phrases=phrases,
        words=frozenset(filter(str.isascii, single | phrases.keys() | telling_words())),
        rare=_finders(rare, ""),
        within={
            word: inner for word in rare if (inner := [one for one in rare if one in word and one != word])
        },
        other=_finders(
            [word for word in other if len(word) > 1 or _STEM.match(word)],
            f"|[{HAN_RANGES}]|[\u30a1-\u30ff]+|{_WORDS.pattern}",
        ),
        unaccented=bytes(map(_unaccented, range(256))),
    )


def _joined(phrase: str) -> str:
    """Return a phrase in Latin letters as one word."""
    return phrase.replace(" ", "_")


def _key(word: str) -> str:
    """Return a word of the table as it is looked for."""
    return word if word.isascii() else word.replace("_", " ")


def _needed(order: str, kinds: list[str]) -> list[str]:
    """Return the letters of which an order has one each, first those that ordinary text has least."""
    needs: list[str] = [
        one.strip("[]").replace("@", "Isp") for one, optional in _ELEMENT.findall(order) if not optional
    ]
    return sorted(filter(str.isalpha, needs), key=lambda need: max(map(kinds.index, need)))


def _orders(lead: str, needed: dict[str, list[str]]) -> tuple[re.Pattern[str], ...]:
    """Return the orders that need `lead` most; those that need one of the same letters are one pattern."""
    of_lead: dict[str, list[str]] = {}
    for order, (first, *_) in needed.items():
        if lead in first:
            of_lead.setdefault(first, []).append(pattern_of(order))
    return tuple(lazy_pattern("|".join(patterns)) for patterns in of_lead.values())


def _needs(lead: str, needed: dict[str, list[str]], bits: dict[str, int]) -> _Needs:
    """Return what the same orders need beside it as bits, by the letters that text has least."""
    of_lead: dict[int, list[tuple[int, ...]]] = {}
    for first, *others in needed.values():
        if lead in first:
            second, *rest = (sum(map(bits.__getitem__, need)) for need in (*others, lead))
            of_lead.setdefault(second, []).append(tuple(rest))
    return tuple((second, tuple(dict.fromkeys(rests))) for second, rests in of_lead.items())


def pattern_of(order: str) -> str:
    """Return an order as a regular expression over letters."""
    pattern = ""
    for one, optional in _ELEMENT.findall(order):
        meaning = _MEANINGS.get(one) or one.replace("@", "Isp").replace("-", ".")
        pattern += f".{{0,{one}}}" if one.isdigit() else f"{meaning}{optional}"
    return pattern


def _finders(words: list[str], unknown: str) -> Finders:
    """Return what finds `words` and, between them, `unknown`."""
    chinese = [word for word in words if not _NOT_CHINESE.search(word)]
    japanese = [word for word in words if not _STEM.match(word)]
    stems = "|".join(_stem(word) for word in words if _STEM.match(word))
    ending = f"|[{_INFLECTED}]+" if unknown else ""
    return Finders(
        lazy_pattern(f"{any_of(chinese)}{unknown}"),
        lazy_pattern(f"(?<![{_INFLECTED}])(?:{stems}{ending})|{any_of(japanese)}{unknown}"),
    )


def _stem(word: str) -> str:
    """Return a pattern of a word with any ending; Russian of up to three letters has none."""
    return f"{word}(?![{_INFLECTED}])" if len(word) <= 3 and word < "\uac00" else word


def _unaccented(code: int) -> int:
    """Return the ASCII code for one of Windows-1252: of a letter or a quotation mark, otherwise a space."""
    character = bytes([code]).decode("cp1252", "replace")
    base = unicodedata.normalize("NFD", _QUOTES.get(character, character))[0]
    return ord(base) if base.isascii() else ord(" ")


def looks_like_instructions(text: str) -> bool:
    """Return whether `text` addresses a model about its instructions, role or secrets.

    It knows English and Chinese, and the plainest orders in Spanish, Portuguese, Italian, French, German,
    Russian, Japanese, Korean, Arabic, Persian, Hindi and Turkish. Width, case, accents, traditional and
    invisible characters are alike, so are Cyrillic letters in Latin words and characters as HTML,
    addresses and JSON encode them.
    """
    return instructs(normalize(text))


def instructs(plain: str) -> bool:
    """Return whether a normalised text does (see `looks_like_instructions`)."""
    if ("<" in plain or "inst]" in plain) and _MARKERS.search(plain):
        return True
    if "%20" in plain or "\\u00" in plain or "&#" in plain:
        plain = _ENCODED.sub(_character, plain)
    plain = _in_known_letters(plain.replace("_", " "))
    known = table()
    words = plain.encode("ascii", "replace").translate(_SEPARATORS).decode("ascii").split()
    present = known.words.intersection(words)
    if not plain.isascii() and (rare := known.rare.words_in(plain)):
        present = present.union(rare, *(known.within[word] for word in known.within.keys() & rare))
    return _has_order(plain, present) or add_up(plain, present, words)


def _character(encoded: re.Match[str]) -> str:
    """Return the character that a match of `_ENCODED` stands for."""
    number, *digits = encoded.groups()
    return chr(int(number) if number else int("".join(filter(None, digits)), 16)).lower()


def _has_order(plain: str, words: frozenset[str]) -> bool:
    """Return whether a sentence of a text has an order; `words` are its words that can be in one."""
    known = table()
    letters = _letters(words, plain)
    different = set(letters.values())
    leads: Collection[str] = known.leads & different
    if leads and plain.isascii():  # with other letters, it takes longer to find all words
        leads = _possible(leads, different)
    if not leads:
        return False
    places = sorted(
        at for word, letter in letters.items() if letter in leads for at in places_of(word, plain)
    )
    phrases = [word for word in letters if word.isascii() and not word.isalnum()]
    phrases.sort(key=lambda phrase: (-len(phrase), phrase))  # the longest of phrases in others
    return any(_is_marked(sentence, phrases, leads) for sentence in _sentences_at(places, plain))


def _in_known_letters(plain: str) -> str:
    """Return a text in Latin letters in ASCII, without accents; any other as it is."""
    if plain.isascii():
        return plain
    if other := _OTHER.search(plain):
        if other[0] in _LOOKS_LATIN and _MIXED.search(plain):
            plain = plain.translate(_LOOKALIKES)
        return plain.replace("\u2019", "'")
    if "\u0131" in plain:
        plain = plain.translate(_TURKISH)
    western = plain.encode("cp1252", "backslashreplace")
    return western.translate(table().unaccented).decode("ascii")


def _letters(words: Iterable[str], plain: str) -> dict[str, str]:
    """Return the letters of words of a text, and of the phrases in it that have one of them."""
    known = table()
    letters: dict[str, str] = {}
    for word in words:
        if letter := known.letters.get(word):
            letters[word] = letter
        for phrase in known.phrases.get(word, ()):
            if phrase in plain:
                letters[phrase] = known.letters[_joined(phrase)]
    return letters


def _possible(leads: Collection[str], letters: Iterable[str]) -> Collection[str]:
    """Return those of `leads` that have an order for which all letters, which are different, are there."""
    known = table()
    has = sum(map(known.bits.__getitem__, letters))
    return [
        lead
        for lead in leads
        if any(
            has & second and any(all(map(has.__and__, rest)) for rest in rests)
            for second, rests in known.needs[lead]
        )
    ]


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


def _is_marked(sentence: str, phrases: list[str], leads: Collection[str]) -> bool:
    orders = table().orders
    letters = letters_of(sentence, phrases)
    possible = _possible([lead for lead in leads if lead in letters], set(letters))
    return any(order.search(letters) for lead in possible for order in orders[lead])


def letters_of(sentence: str, phrases: list[str]) -> str:
    """Return the letters of the words of a sentence; words of `phrases` are joined, longer phrases first."""
    known = table()
    for phrase in phrases:
        if phrase in sentence:
            sentence = _with_joined(phrase, sentence)
    words = known.other.words_in(sentence) if _OTHER.search(sentence) else _WORDS.findall(sentence)
    return "".join(map(known.letters.get, words, repeat(".")))


def _with_joined(phrase: str, sentence: str) -> str:
    """Return a sentence with a phrase joined where it stands alone: "god mode", not "god model"."""
    first, *others = sentence.split(phrase)
    parts = [first]
    for before, after in zip((first, *others), others, strict=False):
        alone = before[-1:] not in LATIN and after[:1] not in LATIN
        parts += (_joined(phrase) if alone else phrase, after)
    return "".join(parts)
