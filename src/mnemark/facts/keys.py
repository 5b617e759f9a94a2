"""Normalize subjects and predicates to keys, independent of case, number, language and synonyms.

`name`, `Names`, `my name`, `名字` and `姓名` have one key; a word not in the table is its own key. Keys are
only compared: files keep the words as written.
"""

from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Final

from mnemark.facts.predicates import MANY_ZH, chosen, many, one_of_many, predicates, widened
from mnemark.text import rows, word_lists
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import HAN, fold, normalize

_LEADING: Final = lazy_pattern(
    r"^(?:(?:my|our|your|his|her|their|the|a|an|this|is|are|was|has|have|prefers?|preferred|current|user s|"
    r"users s|owner s)\s+)+(?=\S)"
)
_LEADING_ZH: Final = lazy_pattern(r"^(?:(?:我们|用户|我|本人|当前|目前|现在)的?)(?=[\u3400-\u9fff])")
_VERSION_OF: Final = lazy_pattern(r"^version of (?P<of>.+)$|^(?P<zh>.+?) ?(?:的 ?)?(?:版本|版本号)$")
_CAMEL: Final = lazy_pattern(r"(?<=[a-z0-9])(?=[A-Z])")
_SEPARATORS: Final = lazy_pattern(r"(?:[^\w+#.]|_)+")
_ES: Final = lazy_pattern(r"(?:s|x|z|ch|sh)es$")
_NOT_PLURAL: Final = lazy_pattern(r"(?:ss|us|is|[^a-z]s)$|^.{0,3}$")
_SINGULAR: Final = frozenset({
    "news", "series", "species", "status", "address", "business", "process", "access", "os", "ios", "lens",
    "bus", "dns",
})  # fmt: skip
_MAX_ROUNDS: Final = 8


def plain_words(text: str) -> str:
    """Return the words in lower case with single blanks, without Markdown and punctuation."""
    return _SEPARATORS.sub(" ", normalize(_CAMEL.sub(" ", fold(text)))).strip(" .")


def singular(word: str) -> str:
    """Return the singular of an English word by its ending; a word that only looks like a plural is kept.

    >>> [singular(word) for word in ("cities", "boxes", "editors", "status", "class")]
    ['city', 'box', 'editor', 'status', 'class']
    """
    if not word.endswith("s") or word in _SINGULAR or not word.isascii() or _NOT_PLURAL.search(word):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if _ES.search(word) else word[:-1]


def _by_name(names: Mapping[str, Iterable[str]]) -> Mapping[str, str]:
    """Return keys by themselves and by their names."""
    by_name = {plain_words(name): key for key, others in names.items() for name in others}
    return MappingProxyType({key: key for key in names} | by_name)


@cache
def predicate_names() -> Mapping[str, str]:
    """Return the keys of predicates by all their names, in both languages."""
    named = (row for row in predicates().values() if row.others and row.holds != "words")
    return _by_name({row.key: row.names for row in named})


@cache
def translated_names() -> Mapping[str, str]:
    """Return the keys of predicates that a question may name by some of their words, by Chinese names."""
    asked = (row for row in predicates().values() if row.holds == "words")
    return MappingProxyType({plain_words(name): row.key for row in asked for name in row.names})


@cache
def _all_names() -> Mapping[str, str]:
    return MappingProxyType({**translated_names(), **predicate_names()})


@cache
def subjects() -> Mapping[str, tuple[str, str]]:
    """Return the names of common subjects by their keys: the one in Chinese, and the others."""
    table = ((key, *names, "", "") for key, *names in rows("subjects"))
    return MappingProxyType({key: (chinese, others) for key, chinese, others, *_ in table})


@cache
def subject_names() -> Mapping[str, str]:
    """Return the keys of common subjects by all their names."""
    return _by_name({key: others.split(", ") for key, (_, others) in subjects().items() if others})


@lru_cache(maxsize=32_768)
def predicate_key(predicate: str) -> str:
    """Return the key of a predicate; empty if it has no words.

    >>> {predicate_key(word) for word in ("City", "lives_in", "居住地", "my city", "cities", "**住在**")}
    {'city'}
    >>> predicate_key("version of Python") == predicate_key("Python 版本") == predicate_key("pythonVersion")
    True
    """
    key, known = plain_words(predicate), _all_names()
    if key not in known and (one := one_of_many(key)):
        return one
    key = chosen(key) or key
    for _ in range(_MAX_ROUNDS):  # "the boxes' sizes" settles in a few; the bound is for safety only
        words, forms = key, _forms(key)
        unknown = words if _natural_plural(words) else widened(forms[-1])
        key = next((known[form] for form in forms if form in known), unknown)
        if key == words:
            break
    return key


def _forms(words: str) -> list[str]:
    """Return the spellings to look up, the most literal first."""
    short = _LEADING_ZH.sub("", _LEADING.sub("", words))
    found = [words, short, _singular_phrase(words)]
    if short != words:
        found.append(_singular_phrase(short))
    if match := _VERSION_OF.match(short):
        found.append(f"{(match['of'] or match['zh']).strip()} version")
    return found


def _singular_phrase(words: str) -> str:
    before, space, last = words.rpartition(" ")
    return words if _natural_plural(words) else f"{before}{space}{singular(last)}"


def _natural_plural(words: str) -> bool:
    return words.rpartition(" ")[2] in many()


@lru_cache(maxsize=32_768)
def subject_key(subject: str) -> str:
    """Return the key of a subject: `User`, `the user`, `me`, `我` and `用户` are one.

    >>> subject_key("用户") == subject_key("Me") == "user"
    True
    """
    words = plain_words(subject)
    bare = _LEADING.sub("", words)
    known = subject_names()
    return known.get(words) or known.get(bare) or bare or normalize(subject).strip()


@lru_cache(maxsize=32_768)
def holds_many(predicate: str) -> bool:
    """Whether a predicate holds several values at once: statements, and kinds of which one has many.

    >>> [holds_many(name) for name in ("喜欢", "rule", "coding rule", "team members", "")]
    [True, True, True, True, True]
    >>> [holds_many(name) for name in ("city", "current project", "editor preference")]
    [False, False, False]
    """
    key = predicate_key(predicate)
    return not key or _natural_plural(key) or (key.endswith(MANY_ZH) and not one_of_many(key))


def value_key(value: str) -> str:
    """Return the key by which values are compared: that of its words, and of its twin in the other language.

    >>> value_key("Peanuts.") == value_key("花生")
    True
    """
    words = value_words(value)
    return _twins().get(words, words)


@cache
def _twins() -> Mapping[str, str]:
    """Return the keys of values that have one name or more in each language, by all their names."""
    return MappingProxyType({name: names[0] for names in rows("twins") for name in names})


def value_words(text: str) -> str:
    """Return the words of a value or text: one width and case, single blanks, no full stop at the end.

    >>> value_words("Visual  Studio Code.") == value_words("visual studio code")
    True
    """
    return " ".join(normalize(text).split()).rstrip(".。! ")


_FILLERS: Final = word_lists("stop_words")["statement"]
"""Words without which a statement says the same: no negation, no number, nothing that turns it round."""
_FILLERS_ZH: Final = lazy_pattern(
    "[我的了也很还呢啊呀吧哦是啦]|现在|其实|一直|已经|目前|真的|非常|特别|个|只|名|位|在|，"
)
_WORD: Final = lazy_pattern(r"[\w+#]+(?:\.[\w+#]+)*")
_BY_ORDER: Final = lazy_pattern(
    r"\b(?:than|before|after|from|by|over|instead|rather|not|never|no|without|but|if|because)\b|n't\b"
)
"""Words with which the order of the others matters."""


@lru_cache(maxsize=32_768)
def statement_key(statement: str) -> str:
    """Return the key of a statement: its words without fillers, in any order unless it matters.

    >>> statement_key("I have two cats") == statement_key("Also, I really have two cats!")
    True
    >>> statement_key("Ann taught Bob") == statement_key("Bob taught Ann")
    False
    """
    text = value_words(statement)
    if HAN.search(text):
        return "".join(_WORD.findall(_FILLERS_ZH.sub("", text)))
    words = [singular(word) for word in _WORD.findall(text) if word not in _FILLERS]
    names = [
        word for word in _WORD.findall(statement) if word[:1].isupper() and word.casefold() not in _FILLERS
    ]
    ordered = len(names) > 1 or _BY_ORDER.search(text)
    return " ".join(words if ordered else sorted(words)) or text


def content_key(predicate: str, value: str) -> str:
    """Return the key of the value of a predicate, or of a statement if the predicate is empty."""
    return value_key(value) if predicate_key(predicate) else statement_key(value)
