"""Turn words of facts into parts of sentences: "I" into "you", verbs, articles, blanks beside Chinese."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Final, NamedTuple

from mnemark.extraction.english_words import word_set
from mnemark.facts.labels import is_chinese
from mnemark.text import rows
from mnemark.text.lazy_pattern import lazy_pattern

_TEMPLATE: Final = lazy_pattern(r"\{(?P<place>\w+)\}|<(?P<verb>[^<>]+)>")
_PLURAL: Final = lazy_pattern(r"(?:ss|us|is)\Z")
_HEAD_ENDS: Final = lazy_pattern(
    r"[,(]| (?:named|called|with|who|that|of|in|for|from|at|and|to|on|since|by) "
)
_NO_ARTICLE: Final = word_set(
    "a an the my your his her our their some no all only not also very never been being"
)
_NUMBERS: Final = word_set("two three four five six seven eight nine ten twelve several many both few")
_COUNTED_ZH: Final = lazy_pattern(
    "^(?:[0-9]{1,4}|[一两二三四五六七八九十几多]{1,3}) ?[只个条头位名匹辆台套名对双]"
)
_LONGEST_NOUN: Final = 4
_LONGEST: Final = 160
"""Characters from which a value is read as sentences."""
_SHORTEST: Final = 3
"""Characters that are no sentence yet."""
_NO_NOUN: Final = ("ing", "ed", "ly", "ive", "ful", "ics")
_FINAL: Final = ".。!！?？…"
_CLOSERS: Final = "”\"'）)」』"
_PERSONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "i": "you", "me": "you", "my": "your", "mine": "yours", "myself": "yourself", "i'm": "you're",
        "im": "you're", "i've": "you've", "ive": "you've", "i'd": "you'd", "i'll": "you'll", "we": "you",
        "us": "you", "our": "your", "ours": "yours", "ourselves": "yourselves", "we're": "you're",
        "we've": "you've", "we'd": "you'd", "we'll": "you'll",
    }
)  # fmt: skip
_PERSON: Final = lazy_pattern(
    r"(?i)(?<![\w'’])(?:(?P<i>I|we) (?P<be>am|was)|(?P<word>I['’]m|I['’]ve|I['’]d|I['’]ll|"
    r"we['’]re|we['’]ve|we['’]d|we['’]ll|myself|mine|my|me|ourselves|ours|our|us|we|im|ive|I))(?![\w'’])"
)
_SECOND: Final = lazy_pattern(r"(?i)\byou(?:r|rs|rself|['’]\w+)?\b|[“”\"]|[你您「」]")
_FIRST: Final = lazy_pattern(r"(?i)^(?:I|I['’]\w+|we|we['’]\w+|im|ive)\b|^(?:我们|我|咱们|咱|本人)(?![们的])")
_THIRD: Final = lazy_pattern(r"(?i)^(?:the )?(?:user|owner)(?P<own>['’]s)? |^(?:该?用户)(?P<zh>的?)")
_FIRST_ZH: Final = lazy_pattern("(?<![自忘大小超本])(?:我们|咱们|咱|我)|本人")
_SEAM: Final = lazy_pattern(r"(?<=[\u3400-\u9fff])(?=[A-Za-z0-9@#$/~])|(?<=[A-Za-z0-9%)])(?=[\u3400-\u9fff])")
_MANY_SENTENCES: Final = lazy_pattern(r"[.!?][”\"')]? +[A-Z“\"]|[。！？；].")
_WORD: Final = lazy_pattern(r"[A-Za-z]+(?:['’][a-z]+)?")


class Verb(NamedTuple):
    """The forms of a verb."""

    many: str
    """Of you, and of many."""
    one: str
    past: str
    past_one: str
    is_noun: bool = False
    """Whether its first form names things as well: a plan, a watch."""

    def form(self, *, many: bool, past: bool) -> str:
        """Return the form for a subject."""
        if past:
            return self.past if many else self.past_one
        return self.many if many else self.one


def verb_of(forms: str) -> Verb:
    """Return the verb whose forms a row or a template has."""
    many, one, past, *past_one = forms.split("|")
    return Verb(many, one, past, past_one[0] if past_one else past)


class Row(NamedTuple):
    """The sentences of a predicate: those of English and of Chinese, the first that fits is taken."""

    english: Sequence[str]
    chinese: Sequence[str]


@cache
def _table() -> tuple[Mapping[str, Row], Mapping[str, Verb]]:
    """Return the rows of `data/sentences.tsv` by key, and its verbs by each present form."""
    sentences, verbs = {}, {}
    for cells in rows("sentences"):
        if len(cells) < len(Row._fields) + 1:
            verb = verb_of(cells[0])._replace(is_noun=len(cells) > 1)
            verbs.update({verb.many: verb, verb.one: verb})
        else:
            key, english, chinese = cells
            sentences[key] = Row(english.split(" || "), chinese.split(" || "))
    return MappingProxyType(sentences), MappingProxyType(verbs)


def row_of(key: str) -> Row | None:
    """Return the sentences of a predicate; None if it has only the general form."""
    return _table()[0].get(key)


def verb_in(word: str) -> Verb | None:
    """Return the verb that a word is a present form of; None for other words."""
    return _table()[1].get(word.casefold().replace("’", "'"))


def with_article(value: str) -> str:
    """Return a value with "a" or "an"; empty if it takes none: a name, a plural, more than a noun.

    >>> [with_article(value) for value in ("vet tech", "old cat named Pixel", "Ana", "dogs")]
    ['a vet tech', 'an old cat named Pixel', '', '']
    """
    words = _noun(value)
    if not words or words[0] in _NO_ARTICLE or words[0] in _NUMBERS or _is_plural(words[-1]):
        return ""
    return f"{'an' if words[0][0] in 'aeio' else 'a'} {value}"


def counted(value: str) -> str:
    """Return what somebody can have: a value with its article, or several; empty for names and the like.

    >>> counted("cat"), counted("two dogs"), counted("dogs"), counted("2 dogs"), counted("Ana")
    ('a cat', 'two dogs', 'dogs', '2 dogs', '')
    """
    if is_chinese(value):
        return value if _COUNTED_ZH.match(value) else ""
    first, blank, rest = value.partition(" ")
    if (first in _NUMBERS or first.isdecimal()) and blank and _noun(rest):
        return value
    words = _noun(value)
    if words and words[0] not in _NO_ARTICLE and _is_plural(words[-1]):
        return value
    return value if words[:1] in (["a"], ["an"]) else with_article(value)


def _noun(value: str) -> list[str]:
    """Return the words of a noun before what tells more of it; empty if a value is none."""
    head = _HEAD_ENDS.split(f"{value} ", maxsplit=1)[0]
    words = _WORD.findall(head)
    is_noun = head[:1].islower() and head.strip() == " ".join(words) and len(words) <= _LONGEST_NOUN
    return words if words and is_noun and not words[-1].endswith(_NO_NOUN) else []


def _is_plural(word: str) -> bool:
    return word.endswith("s") and not _PLURAL.search(word)


def filled(template: str, values: Mapping[str, str], *, many: bool, past: bool) -> str:
    """Return a template with values in its places, the verbs in their form, and blanks beside Chinese."""
    parts: list[str] = []
    at = 0
    for match in _TEMPLATE.finditer(template):
        parts.append(template[at : match.start()])
        at = match.end()
        if match["verb"]:
            parts.append(verb_of(match["verb"]).form(many=many, past=past))
        else:
            parts.append(values[match["place"]])
    return joined([*parts, template[at:]])


def joined(parts: Sequence[str]) -> str:
    """Join parts of a sentence, with a blank between Chinese and Latin letters that meet."""
    text = ""
    for part in parts:
        meet = text[-1:] + part[:1]
        text += " " + part if len(meet) == 2 and _SEAM.search(meet) else part
    return text


def bare(value: str) -> str:
    """Return a value on one line without the stop at its end; "etc." and "U.S." keep theirs."""
    text = " ".join(value.split()).rstrip("。；;，, ")
    if text.endswith(".") and not text.endswith(("..", "etc.")) and "." not in text[-3:-1]:
        text = text[:-1]
    return text


def closed(text: str, *, chinese: bool) -> str:
    """Return a text with a full stop at its end, unless it ends with a sign of its own."""
    end = text.rstrip(_CLOSERS if not chinese else "")[-1:]
    return text if end and end in _FINAL else text + ("。" if chinese else ".")


def capital(text: str) -> str:
    """Return a sentence with a capital at its beginning; a name such as iPhone, or an address, is kept."""
    first = text.partition(" ")[0].rstrip(",:")
    plain = first.replace("'", "").replace("’", "").islower() and "://" not in first
    return text[:1].upper() + text[1:] if plain else text


def is_sentence(value: str) -> bool:
    """Return whether a value says somebody's sentence, or several, rather than names a thing."""
    first = _FIRST.search(value) is not None and len(value) > _SHORTEST
    return first or _MANY_SENTENCES.search(value) is not None or len(value) > _LONGEST


def to_you(text: str, *, whole: bool = True) -> str:
    """Return a sentence of a person's about themselves as one to them; empty if it speaks to somebody else.

    What is not `whole` is a part of a sentence, which has no subject to begin with.

    >>> to_you("I'm pregnant, and my mother knows"), to_you("prefers tea"), to_you("我不会开车")
    ("you're pregnant, and your mother knows", 'you prefer tea', '你不会开车')
    """
    if _SECOND.search(text):
        return ""
    if is_chinese(text):
        text = _THIRD.sub(lambda match: f"你{match['zh']}", text)
        return _FIRST_ZH.sub(lambda match: "你们" if match[0].endswith("们") else "你", text)
    if not whole:
        return _to_second(text)
    third = _THIRD.match(text)
    if third is not None and third["own"]:
        text = f"your {text[third.end() :]}"
    else:
        rest = text[third.end() :] if third is not None else text
        first, blank, more = rest.partition(" ")
        verb = verb_in(first)
        if verb is not None and verb.one == first.casefold() and (third or verb.one != verb.many):
            return f"you {verb.many}{blank}{_to_second(more)}"
        text = f"you {rest}" if third is not None else text
    return _to_second(text)


def _to_second(text: str) -> str:
    return _PERSON.sub(_second, text)


def _second(match: re.Match[str]) -> str:
    if match["be"]:
        return f"you {'are' if match['be'].casefold() == 'am' else 'were'}"
    return _PERSONS[match["word"].casefold().replace("’", "'")]
