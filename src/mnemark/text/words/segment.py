"""Tokenize text into terms for the index and for queries, in Chinese and English.

Tested invariants:

* A term of the query is a term (word or part) of every text that contains the query at word boundaries.
  Chinese is segmented with the dictionary alone: the statistical model for unknown words depends on context,
  so that a name would be segmented differently in query and text. In the text every dictionary word inside
  a run of Chinese and every single character is a part, however the query is segmented.
* An identifier, path, version or date is one word, and its parts are terms as well (see `terms`).
* Any string is safe, in linear time; a term has at most `MAX_TERM` characters.
"""

import math
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from itertools import chain
from typing import Any, NamedTuple

from mnemark.hashes import sha256
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import CHINESE_RUNS, VARIANTS, chinese_runs, fold
from mnemark.text.words.terms import MAX_TERM, WordCache, cached_stem

VERSION = 1
"""Version of the tokenizer; raise it whenever a change here, in `terms` or in `normalize` changes terms."""


class Terms(NamedTuple):
    """The words of a text in order with repeats, and the parts of its compounds.

    Parts (words inside longer Chinese words, parts of identifiers) do not count towards document length.
    """

    words: list[str]
    parts: list[str]


# Scripts without spaces, or with agglutinative endings: tokenized as character bigrams.
_BIGRAM_SCRIPTS = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3041-\u3096\u3099-\u309f"
    "\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31f0-\u31ff\ua960-\ua97f\uac00-\ud7ff"
)
_EMOJI = "\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
# Combining marks, which are not letters in `re`: Hebrew, Arabic, Indic.
_MARKS = "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
_INDIC = "\u0900-\u0963\u0966-\u0dff"
_JOINS = r"(?:['._/\\:@-]|\u2019|::|://|__|(?<=[0-9]),(?=[0-9]{3}(?![0-9])))"


def _word(letters: str) -> str:
    return rf"{letters}+(?:{_JOINS}{letters}+)*(?:\+\+|\#)?"


_ASCII_TOKENS = lazy_pattern(_word("[0-9A-Za-z]"))
_TOKENS = lazy_pattern(
    f"[{_BIGRAM_SCRIPTS}]+|[{_EMOJI}]|"
    + _word(rf"(?:[^\W_{_BIGRAM_SCRIPTS}{_INDIC}{_EMOJI}]|[{_MARKS}{_INDIC}])")
)
"""Tokens of what stands between Chinese."""
_PUNCTUATION = " \n。、·…—“”‘’《》「」『』【】〈〉"
"""What often stands there alone; the pattern above takes 3 ms to compile."""

_BIGRAM_SCRIPT = lazy_pattern(f"[{_BIGRAM_SCRIPTS}]")

_SURROGATE = lazy_pattern(r"[\ud800-\udfff]")
_FIRST_HAN = "\u3005"
_FIRST_BIGRAM = "\u0e00"
_PLACEHOLDER = "\n"
_LONGEST_CUT = 6
"""Characters of a word that is looked for in an index; nearly all of the dictionary's have four at most."""
_UNKNOWN = 0.5
"""Frequency of a character that is in no passage."""
_cache = WordCache()
_words_of_one = {_PLACEHOLDER, " "}
"""Characters that were met and are dictionary words, as most are; and separators."""


@cache
def _jieba() -> Any:
    # Its dictionary takes 0.1 s to load: only when there is Chinese text.
    import rjieba

    return rjieba


def waits_for_dictionary(text: str) -> bool:
    """Return whether cutting a text loads the Chinese dictionary: 0.1 s in which no other thread goes on."""
    return _jieba.cache_info().currsize == 0 and any(chinese for chinese, _ in chinese_runs(text))


def index_terms(text: str) -> Terms:
    """Return the terms to index `text` by; omit Chinese parts that are also words of it."""
    return folded_terms(fold(text))


def folded_terms(folded: str) -> Terms:
    """Return `index_terms` of a text that `fold` returned."""
    return _terms(_split(folded))


def other_terms(text: str) -> frozenset[str]:
    """Return those terms of a text, to index it by and as a query, that are not Chinese.

    The dictionary, which takes 0.1 s to load, is not needed for them.
    """
    words: list[str] = []
    _, others = _separate_chinese(fold(text))
    _index_others(others, words, words)
    return frozenset((*words, *chain.from_iterable(map(_query_other, others))))


def heading_terms(text: str) -> Terms:
    """Return `index_terms` of a title, path or date; a cache holds its pieces, which recur in other texts."""
    whole = _Pieces([], [], [])
    for piece in text.split():  # a token holds no white space
        found = _cached_split(piece) if len(piece) <= MAX_TERM else _split(fold(piece))
        for terms, more in zip(whole, found, strict=True):
            terms.extend(more)
    return _terms(whole)


class _Pieces(NamedTuple):
    """Words and parts of a text; `inside` are Chinese parts, and may be words or separators as well."""

    words: list[str]
    parts: list[str]
    inside: list[str]


def _terms(pieces: _Pieces) -> Terms:
    words, parts, inside = pieces
    if inside:
        known = {*words, _PLACEHOLDER, " "}
        parts = parts + [word for word in inside if word not in known]
    return Terms(words, parts)


def _split(folded: str) -> _Pieces:
    found = _Pieces([], [], [])
    words, parts, inside = found
    line, others = _separate_chinese(folded)
    if not line:
        _index_others(others, words, parts)
        return found
    place = iter(others)
    for word in _jieba().cut(line, hmm=False):
        if word >= _FIRST_HAN:
            words.append(word)
        elif word == _PLACEHOLDER:
            _index_others((next(place),), words, parts)
    inside += _jieba().cut_all(line)
    # A character that is not a dictionary word (the first of 蓇葖) must be a term as well.
    alone = {character for character in set(line).difference(_words_of_one) if not _is_word(character)}
    if alone:
        inside += [character for character in line if character in alone]
    return found


def forget_words() -> None:
    """Forget the words that were met, after an erasure."""
    for cached in (_cached_split, cached_stem):
        cached.cache_clear()
    _cache.clear()


def _is_word(character: str) -> bool:
    """Return whether a character is a dictionary word."""
    if character in _jieba().cut_all(character):
        _words_of_one.add(character)
    return character in _words_of_one


@lru_cache(maxsize=4096)
def _cached_split(piece: str) -> _Pieces:
    return _split(fold(piece))


def _separate_chinese(text: str) -> tuple[str, list[str]]:
    """Return the Chinese of a folded text on one line, and its other tokens, each a `_PLACEHOLDER` there.

    On one line, so that one call of jieba segments it all. The line is empty without Chinese.
    """
    if text.isascii():
        return "", _ASCII_TOKENS.findall(text)
    runs: list[str] = []
    others: list[str] = []
    for at, part in enumerate(CHINESE_RUNS.split(text)):
        if at % 2:
            runs.append(part)
        elif bare := part.strip(_PUNCTUATION):
            tokens = (_ASCII_TOKENS if bare.isascii() else _TOKENS).findall(bare)
            runs += [_PLACEHOLDER] * len(tokens)
            others += tokens
    return (" ".join(runs), others) if len(others) < len(runs) else ("", others)


def _index_others(tokens: Iterable[str], words: list[str], parts: list[str]) -> None:
    for token in tokens:
        if token >= _FIRST_BIGRAM and _BIGRAM_SCRIPT.match(token):
            words += _bigrams(token)
            if len(token) > 1:
                parts += token
                parts.append(token[:MAX_TERM])
            continue
        terms = _cache[token]
        if isinstance(terms, str):
            words.append(terms)
        else:
            words.append(terms.word)
            parts += terms.parts


def _bigrams(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def tagged(text: str) -> list[tuple[str, str]]:
    """Return the words of a Chinese text as they are written, each with its part of speech ("n", "v")."""
    return list(_jieba().tag(_SURROGATE.sub("\ufffd", text), hmm=False))


Cut = Callable[[str], Iterable[str]]
"""Segments runs of Chinese, and returns other characters one by one."""


def query_terms(text: str, cut: Cut | None = None) -> list[str]:
    """Return the terms of a query in order with repeats, including stop words.

    A compound gives its windows of up to four atoms and, if separators or camel case show words, its atoms.
    `cut` segments Chinese instead of the dictionary (see `cut_by_frequency`).
    """
    found: list[str] = []
    line, others = _separate_chinese(fold(text))
    place = iter(others)
    words = (cut or _cut_by_dictionary)(line) if line else [_PLACEHOLDER] * len(others)
    for word in words:
        if word >= _FIRST_HAN:
            found.append(word)
        elif word == _PLACEHOLDER:
            found += _query_other(next(place))
    return found


def _cut_by_dictionary(line: str) -> Iterable[str]:
    cut: Iterable[str] = _jieba().cut(line, hmm=False)
    return cut


def cut_by_frequency(line: str, frequencies: Callable[[Iterable[str]], Mapping[str, int]]) -> Iterable[str]:
    """Segment Chinese by the words of an index, without the dictionary, which takes 0.1 s to load.

    Of all ways to cut a run the one with the most probable words, as the dictionary does it: a unigram model.

    Args:
        line: runs of Chinese, and other characters, which are returned one by one.
        frequencies: returns how many passages hold each of some words; a word that none holds may be missing.
    """
    known = frequencies(
        {
            line[start:end]
            for start in range(len(line))
            if line[start] >= _FIRST_HAN
            for end in range(start + 1, min(start + _LONGEST_CUT, len(line)) + 1)
            if line[end - 1] >= _FIRST_HAN
        }
    )
    total = math.log(max(sum(known.values()), 2))
    best = [(0.0, len(line))] * (len(line) + 1)
    for start in range(len(line) - 1, -1, -1):
        ends = range(start + 1, min(start + _LONGEST_CUT, len(line)) + 1)
        best[start] = max(
            (math.log(known.get(line[start:end], 0) or _UNKNOWN) - total + best[end][0], end)
            for end in ends
            if end == start + 1 or known.get(line[start:end])
        )
    start = 0
    while start < len(line):
        end = best[start][1]
        yield line[start:end]
        start = end


def _query_other(token: str) -> Iterable[str]:
    if token >= _FIRST_BIGRAM and _BIGRAM_SCRIPT.match(token):
        return _bigrams(token)
    terms = _cache[token]
    return (terms,) if isinstance(terms, str) else terms.query


@cache
def fingerprint() -> str:
    """Return an identifier of everything that terms depend on: our version, the libraries' and the tables."""
    import Stemmer

    table = sha256(VARIANTS.read_bytes()).hexdigest()[:12]
    return (
        f"{VERSION};rjieba={version_of('rjieba')};stemmer={Stemmer.version()}"
        f";unicode={unicodedata.unidata_version};variants={table}"
    )


def version_of(package: str) -> str:
    """Return the version of an installed package, without loading it.

    It is in the name of the folder beside it. `importlib.metadata` would take 10 ms to load.
    """
    from importlib.util import find_spec
    from pathlib import Path

    spec = find_spec(package)
    beside = Path(spec.origin).parent.parent if spec is not None and spec.origin else Path()
    found = [path.name for path in beside.glob(f"{package}-*.dist-info")]
    if len(found) == 1:
        return found[0].removeprefix(f"{package}-").removesuffix(".dist-info")
    from importlib.metadata import version

    return version(package)
