"""Cut a message into tokens: words, numbers, single Chinese characters and signs, with their places."""

import unicodedata
from functools import lru_cache
from typing import Final, NamedTuple

from mnemark.text.lazy_pattern import lazy_pattern

LONGEST: Final = 400
"""Tokens of a message that are read; what is longer is pasted, as a rule."""

_TOKEN: Final = lazy_pattern(
    r"[A-Za-z\u00c0-\u024f\u0370-\u04ff]+(?:['’][A-Za-z]+)?|\d+(?:[.:/,\-]\d+)*|[\u3400-\u9fff]|\n|\S"
)
_HAN: Final = lazy_pattern(r"[\u3400-\u9fff]+")
_TYPED: Final = {
    "im": "i'm", "ive": "i've", "id": "i'd", "dont": "don't", "cant": "can't", "wont": "won't", "didnt": "didn't",
    "doesnt": "doesn't", "isnt": "isn't", "wasnt": "wasn't", "havent": "haven't", "hasnt": "hasn't",
    "arent": "aren't", "wouldnt": "wouldn't", "shouldnt": "shouldn't", "couldnt": "couldn't", "thats": "that's",
    "whats": "what's", "hes": "he's", "shes": "she's", "theyre": "they're", "youre": "you're", "weve": "we've",
    "theyve": "they've", "u": "you", "ur": "your", "pls": "please", "plz": "please", "n": "and", "w": "with",
    "bc": "because", "cuz": "because", "gonna": "going", "wanna": "want", "俺": "我", "偶": "我",
}  # fmt: skip
"""Short ways of typing that stand for one word each."""


class Token(NamedTuple):
    """A token of a message."""

    start: int
    end: int
    form: str
    """As compared: lower case, compatibility forms, short ways of typing written out."""
    shape: str
    """Its kind of letters: `x`, `Xx`, `X` (capitals), `d3` (three digits), `han`, `p` (a sign)."""

    @property
    def is_han(self) -> bool:
        """Whether it is a Chinese character."""
        return self.shape == "han"


def tokens(text: str) -> list[Token]:
    """Return the first `LONGEST` tokens of a message.

    >>> [token.form for token in tokens("Im in Porto, 住在这")]
    ["i'm", 'in', 'porto', ',', '住', '在', '这']
    """
    found = []
    for match in _TOKEN.finditer(text):
        found.append(Token(match.start(), match.end(), *_form(match[0])))
        if len(found) == LONGEST:
            break
    return found


@lru_cache(maxsize=1 << 14)
def _form(word: str) -> tuple[str, str]:
    low = unicodedata.normalize("NFKC", word).casefold().replace("’", "'")
    return _TYPED.get(low, low), _shape(word)


def _shape(word: str) -> str:
    if word.isdigit():
        return f"d{min(len(word), 5)}"
    if any(letter.isdigit() for letter in word):
        return "dx"
    if "\u3400" <= word[0] <= "\u9fff":
        return "han"
    return _letters(word) if word[0].isalpha() else "p"


def _letters(word: str) -> str:
    if word.isupper() and len(word) > 1:
        return "X"
    if word[0].islower() or not word[0].isupper():
        return "x"
    return "Xx" if len(word) == 1 or word[1:].islower() else "XxX"


class Word(NamedTuple):
    """The word that a token belongs to."""

    form: str
    place: int
    """Where in it: 0 alone, 1 first, 2 within, 3 last."""


def words(text: str, found: list[Token]) -> list[Word]:
    """Return the word of each token: of Chinese characters that of the dictionary, else the token itself."""
    import rjieba

    owners: dict[int, Word] = {}
    for run in _HAN.finditer(text, 0, found[-1].end if found else 0):
        at = run.start()
        for word in rjieba.cut(run[0]):
            last = len(word) - 1
            for place in range(last + 1):
                owners[at + place] = Word(
                    word, 0 if not last else 1 if not place else 3 if place == last else 2
                )
            at += len(word)
    return [owners.get(token.start) or Word(token.form, 0) for token in found]
