"""Text to terms: one cut for the index and for the query, Chinese and English and what lies between.

Three laws hold, and are tested:

* A term of the query is a term (word or part) of every text that contains the query at word bounds.
  Chinese is cut with the dictionary alone, without the statistical model for unknown words: that one looks
  at the neighbours, so that a name would be cut one way in the query and another way in the text. In the
  text every dictionary word inside a run of Chinese and every single character is a part, so that whichever
  way the query is cut, its terms are there.
* An identifier, path, version or date is one word, and its parts are found as well (see `words`).
* Any string is safe, in linear time; a term has at most `MAX_TERM` characters.
"""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from typing import Any, NamedTuple

from mnemark.text.normal import VARIANTS, fold
from mnemark.text.words import MAX_TERM, WordCache

VERSION = 1
"""Raise it whenever a change here, in `words` or in `normal` changes terms."""


class Terms(NamedTuple):
    """The terms of a text: `words` in order with repeats, and `parts` that stand at the same places.

    Parts (words inside longer Chinese words, parts of identifiers) do not count towards the length.
    """

    words: list[str]
    parts: list[str]


_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
# Written without spaces, or with endings that grow on words: found by pairs of characters.
_PAIRED = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3041-\u3096\u3099-\u309f"
    "\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31f0-\u31ff\ua960-\ua97f\uac00-\ud7ff"
)
_EMOJI = "\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
# Signs that belong to the letter before them, but are no letters: Hebrew, Arabic, Indic.
_MARKS = "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
_INDIC = "\u0900-\u0963\u0966-\u0dff"
_JOINS = r"(?:['\u2019._/\\:@-]|::|://|__|(?<=[0-9]),(?=[0-9]{3}(?![0-9])))"


def _word(letters: str) -> str:
    return rf"{letters}+(?:{_JOINS}{letters}+)*(?:\+\+|\#)?"


_ASCII_TOKENS = re.compile(_word("[0-9A-Za-z]"))
_TOKENS = re.compile(
    f"[{_HAN}]+|[{_PAIRED}]+|[{_EMOJI}]|"
    + _word(rf"(?:[^\W_{_HAN}{_PAIRED}{_INDIC}{_EMOJI}]|[{_MARKS}{_INDIC}])")
)
_is_han = re.compile(f"[{_HAN}]").match
_is_paired = re.compile(f"[{_PAIRED}]").match

_cache = WordCache()


@cache
def _jieba() -> Any:
    # Its dictionary takes a tenth of a second to load: only for those who have Chinese text.
    import rjieba

    return rjieba


def index_terms(text: str) -> Terms:
    """The terms under which `text` is found."""
    words: list[str] = []
    parts: list[str] = []
    if text.isascii():
        tokens = _ASCII_TOKENS.findall(text)
    else:
        tokens = _TOKENS.findall(fold(text))
        parts, runs = _inside_han(tokens)
    for token in tokens:
        if token[0] < "\u0e00":
            terms = _cache[token]
            if isinstance(terms, str):
                words.append(terms)
            else:
                words.append(terms.word)
                parts += terms.parts
        elif _is_han(token):
            words += next(runs)
        elif len(token) > 1 and _is_paired(token):
            words += _pairs(token)
            parts += token
            if 2 < len(token) <= MAX_TERM:
                parts.append(token)
        else:
            words.append(token.casefold()[:MAX_TERM])
    return Terms(words, parts)


def _inside_han(tokens: list[str]) -> tuple[list[str], Iterator[list[str]]]:
    """The parts of all Chinese runs together, and the words of each run in order.

    One call for all runs: the line break between them is cut as a word of its own.
    """
    joined = "\n".join([token for token in tokens if _is_han(token)])
    if not joined:
        return [], iter(())
    cut = _jieba().cut(joined, False)
    inside = Counter(_jieba().cut_all(joined))
    inside.subtract(cut)
    del inside["\n"]
    return list(inside.elements()), _lines(cut)


def _lines(cut: list[str]) -> Iterator[list[str]]:
    start = 0
    for _ in range(cut.count("\n")):
        end = cut.index("\n", start)
        yield cut[start:end]
        start = end + 1
    yield cut[start:]


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)]


def query_terms(text: str) -> list[str]:
    """The plain cut of a query in order with repeats, stop words included.

    A compound asks for itself and, where separators or humps show that they are words, for its parts.
    """
    found: list[str] = []
    for token in _TOKENS.findall(fold(text)):
        if token[0] < "\u0e00":
            terms = _cache[token]
            if isinstance(terms, str):
                found.append(terms)
            else:
                found += terms.query
        elif _is_han(token):
            found += _jieba().cut(token, False) if len(token) > 1 else token
        elif len(token) > 1 and _is_paired(token):
            found += _pairs(token)
        else:
            found.append(token.casefold()[:MAX_TERM])
    return found


@cache
def fingerprint() -> str:
    """Changes whenever terms could: with our own version, the libraries' and the character table."""
    table = hashlib.sha256(VARIANTS.read_bytes()).hexdigest()[:12]
    return (
        f"{VERSION};rjieba={version('rjieba')};stemmer={version('PyStemmer')}"
        f";unicode={unicodedata.unidata_version};variants={table}"
    )
