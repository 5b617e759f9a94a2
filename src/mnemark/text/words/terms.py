"""Turn a token into terms: the stem of a plain word, or the parts of a compound (identifier, path, date).

A compound is split into atoms at separators, at camel case and between letters and digits. Its terms are the
atoms, and every window of two to four neighbouring atoms: so `path.join` is found in `os.path.join`, and
`text/normal.py` in a longer path. Inside terms, `-`, `_` and camel case are removed, so that `e-mail` is
`email` and `snake_case` is `snakeCase`; between digits they become `-`.
"""

import re
import threading
import unicodedata
from functools import lru_cache
from itertools import chain

import msgspec
import Stemmer

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import in_form

MAX_TERM = 64
"""Maximum length of a term in characters; longer ones are truncated, in the index and in the query."""

_MAX_WINDOW = 4  # atoms in the widest window; a query for a longer compound uses its windows of this width


class Compound(msgspec.Struct, frozen=True):
    """The terms of a compound in the index (`word`, `parts`) and in a query (`query`)."""

    word: str
    parts: tuple[str, ...]
    query: tuple[str, ...]


_SCHEME = lazy_pattern(r"^(?:https?://)?(?:www\.)?(?=.)", re.IGNORECASE)
_POSSESSIVE = lazy_pattern(r"'(?:s|ll|re|ve|d|m)$", re.IGNORECASE)
_NEGATION = lazy_pattern(r"^[a-z]+n't$", re.IGNORECASE)
_PIECES = lazy_pattern(r"[^'._/\\:@,+#-]+")
# Plural acronyms (LLMs), acronyms before a word (HTTP in HTTPServer), words, digits.
_ACRONYMS = lazy_pattern(r"[A-Z]{2,}s$")
_ATOMS = lazy_pattern(r"[A-Z]{2,}s(?![A-Za-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_LETTER_DIGIT = lazy_pattern(r"(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
_JOINTS = {"-": "-", "_": "-", "__": "-", "": "", "'": "", ",": "", "\\": "/", "::": "."}
_MAX_SHIFTS = 2  # `a3f9c2e1` is a hash, `v2beta` is not

_stemmer = Stemmer.Stemmer("english", 0)
_stemmer_lock = threading.Lock()  # a Stemmer object is not safe to share between threads


def stem(word: str) -> str:
    """Return the English stem of a lower-case word; words with other than ASCII letters are not stemmed."""
    word = word[:MAX_TERM]
    return cached_stem(word) if len(word) > 2 and word.isascii() and word.isalpha() else word


@lru_cache(maxsize=1 << 13)
def cached_stem(word: str) -> str:
    """Return the English stem of a lower-case word of ASCII letters."""
    with _stemmer_lock:
        return str(_stemmer.stemWord(word))


def analyse(token: str) -> str | Compound:
    """Return the term of a plain word, or the terms of a compound; `token` is folded but keeps its case."""
    if not token.isascii():
        token = _without_accents(token)
    elif token.isalpha() and (token.islower() or token[1:].islower()):
        return stem(token.lower())
    elif token.isdigit():
        return token[:MAX_TERM]
    if token[-1] in "+#":
        base = token.rstrip("+#")
        if len(base) == 1:
            name = token.lower()
            return Compound(name, (base.lower(),), (name,))
        token = base
    if "'" in token or "\u2019" in token:
        token = token.replace("\u2019", "'")
        if _NEGATION.match(token):
            return token.lower()[:MAX_TERM]
        token = _POSSESSIVE.sub("", token)
    return _compound(_SCHEME.sub("", token))


def _without_accents(token: str) -> str:
    """Remove accents if the result is ASCII (`café`), else return `token`."""
    bare = "".join(c for c in in_form("NFD", token) if not unicodedata.combining(c))
    return bare if bare.rstrip("+#") and bare.replace("\u2019", "'").isascii() else token


def _compound(token: str) -> str | Compound:
    if _ACRONYMS.match(token):
        one = stem(token[:-1].lower())
        return Compound(one, (stem(token.lower()),), (one,))
    atoms, joints, humps = _atoms(token)
    if len(atoms) < 2:
        return stem(atoms[0] if atoms else token.casefold())
    whole = _join(atoms, joints)
    stems = [stem(atom) for atom in atoms]
    windows = _windows(atoms, joints)
    literal = token.casefold()[:MAX_TERM]
    # A whole that is longer than the widest window is still found as it is written.
    parts = [part for part in dict.fromkeys([*stems, *chain(*windows), literal]) if part != whole]
    query = windows[-1]
    if not humps or _is_identifier(token, atoms):
        query += [s for s, atom in zip(stems, atoms, strict=True) if len(atom) > 1 and not atom.isdigit()]
    return Compound(whole, tuple(parts), tuple(query))


def _is_identifier(token: str, atoms: list[str]) -> bool:
    """Return whether camel case separates words (`getUser`), unlike in names (`GitHub`, `iPhone`)."""
    words = sum(not atom.isdigit() for atom in atoms)
    return words > 2 or (words == 2 and token[0].islower() and len(atoms[0]) > 1)


def _atoms(token: str) -> tuple[list[str], list[str], bool]:
    """Return case-folded atoms, the joint before each, and whether only camel case separates them."""
    atoms: list[str] = []
    joints: list[str] = []
    end = 0
    humps = True
    for piece in _PIECES.finditer(token):
        separator = token[end : piece.start()] if atoms else ""
        humps = humps and not separator
        end = piece.end()
        for i, atom in enumerate(_split(piece.group())):
            joints.append("" if i else _JOINTS.get(separator, separator[:1]))
            atoms.append(atom)
    return atoms, joints, humps


def _split(piece: str) -> list[str]:
    if len(piece) > MAX_TERM or not piece.isascii():
        return [piece[: MAX_TERM * 2].casefold()]
    if len(_LETTER_DIGIT.findall(piece)) > _MAX_SHIFTS:
        return [piece.lower()]
    return [atom.lower() for atom in _ATOMS.findall(piece)]


def _windows(atoms: list[str], joints: list[str]) -> list[list[str]]:
    """Return the terms of all windows of two atoms, of three and so on, up to `_MAX_WINDOW` atoms."""
    widest = min(_MAX_WINDOW, len(atoms))
    windows: list[list[str]] = [[] for _ in range(widest - 1)]
    for first in range(len(atoms) - 1):
        text = atoms[first]
        for last, window in zip(range(first + 1, len(atoms)), windows, strict=False):
            text = _longer(text, joints[last], atoms[last])
            window.append(stem(text))
    return windows


def _join(atoms: list[str], joints: list[str]) -> str:
    """Return the term of all atoms."""
    text = atoms[0]
    for joint, atom in zip(joints[1:], atoms[1:], strict=True):
        text = _longer(text, joint, atom)
        if len(text) >= MAX_TERM:
            break
    return stem(text)


def _longer(text: str, joint: str, atom: str) -> str:
    """Append an atom to a term that is not full; keep a hyphen only between digits."""
    if len(text) >= MAX_TERM:
        return text
    if joint == "-" and not (text[-1].isdigit() and atom[0].isdigit()):
        joint = ""
    return text + joint + atom


class WordCache(dict[str, str | Compound]):
    """Cache of `analyse` for tokens of at most `MAX_TERM` characters; cleared when full."""

    MOST = 1 << 16

    def __missing__(self, token: str) -> str | Compound:
        terms = analyse(token)
        if len(token) <= MAX_TERM:
            if len(self) >= self.MOST:
                self.clear()
            self[token] = terms
        return terms
