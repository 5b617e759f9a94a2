"""Check that a model that shortened a text invented nothing and turned nothing round.

Every line must rest on words of the source; its numbers, paths and code must stand there as they are, and
what the source forbids must not come back allowed. A rule cannot prove that a summary is right; it refuses
what is plainly not in the source.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from mnemark.text.markdown.outline import outline
from mnemark.text.words.segment import query_terms
from mnemark.text.words.stopwords import is_stop

GROUNDED: Final = 0.6
"""Share of a line's words that must stand in the source."""
COVERED: Final = 0.5
"""Share of a rule's words that a line must have to stand for it."""
MOST_LINES: Final = 400
MOST_CHARACTERS: Final = 50_000
"""Of a shorter form: each line is looked for in the whole source."""
_EXACT: Final = re.compile(
    r"`[^`\n]+`|https?://\S+|\d[\d.,:/-]*\d|\d|(?<!\w)[~./][\w./-]{2,}|(?<![\w-])[\w-]+/[\w./-]+"
)
_NOT: Final = re.compile(
    r"\b(?:not|never|no|don'?t|doesn'?t|cannot|can'?t|won'?t|without|avoid|forbidden|refuse|except|unless|neither|nor)\b|"
    r"不|没|别|勿|禁|严禁|绝不|避免|除非|无需|拒绝",
    re.IGNORECASE,
)
_MARKS: Final = re.compile(r"^[\s>#*+-]*+(?:\d{1,3}[.)、])?\s*")


def complaints(lines: Iterable[str], source: str, *, must: Sequence[str] = ()) -> list[str]:
    """What is wrong with `lines` as a shorter form of `source`; empty where nothing is found.

    Args:
        lines: the shorter form.
        source: the text it was made from.
        must: items of the source that must be there in some wording.
    """
    shown = [line for line in lines if _MARKS.sub("", line).strip()]
    if len(shown) > MOST_LINES or sum(map(len, shown)) > MOST_CHARACTERS:
        return [f"more than {MOST_LINES} lines or {MOST_CHARACTERS:,} characters: too long to be checked"]
    known = _Source(source)
    found = [wrong for line in shown if (wrong := _wrong(line, known))]
    kept = [words_of(line) for line in shown]
    for rule in must:
        words = words_of(rule)
        if words and max((len(words & one) / len(words) for one in kept), default=0.0) < COVERED:
            found.append(f"a rule is missing: {rule[:80]}")
    return found


class _Source:
    """What a text says, looked up by its words, so that a line costs no walk through all of it."""

    def __init__(self, text: str) -> None:
        self.words = words_of(text)
        self._flat = _flat(text)
        self._exact = {_bare(exact) for exact in _EXACT.findall(text)}
        pieces: dict[frozenset[str], str] = {}  # of those with the same words the first is the nearest
        for item in outline(text):
            pieces.setdefault(words_of(item.text), item.text)
        self._pieces = list(pieces.values())
        self._sizes = [len(words) for words in pieces]
        self._denials: dict[int, int] = {}
        self._holders: defaultdict[str, list[int]] = defaultdict(list)
        for place, words in enumerate(pieces):
            for word in words:
                self._holders[word].append(place)

    def has(self, exact: str) -> bool:
        """Whether a number, path or code stands there as it is."""
        bare = _bare(exact)
        return bare in self._exact or bare in self._flat

    def denials(self, words: frozenset[str]) -> int | None:
        """How often the piece that has most words in common says no; None where none has enough of them."""
        nearest = self._nearest(words)
        if nearest is not None and nearest not in self._denials:
            self._denials[nearest] = len(_NOT.findall(self._pieces[nearest]))
        return None if nearest is None else self._denials[nearest]

    def _nearest(self, words: frozenset[str]) -> int | None:
        shared = Counter(place for word in words for place in self._holders.get(word, ()))
        best, share = -1, COVERED
        for place in sorted(shared):
            alike = shared[place] / (len(words) + self._sizes[place] - shared[place])
            if alike > share or (best < 0 and alike == share):
                best, share = place, alike
        return best if best >= 0 else None


def words_of(text: str) -> frozenset[str]:
    """Words with weight, as the search cuts them."""
    return frozenset(term for term in query_terms(text) if not is_stop(term))


def _wrong(line: str, source: _Source) -> str:
    said = _MARKS.sub("", line)
    words = words_of(said)
    for exact in _EXACT.findall(said):
        if not source.has(exact):
            return f"not in the source: {exact} in {line[:80]!r}"
    if words and len(words & source.words) / len(words) < GROUNDED:
        return f"not in the source: {line[:80]!r}"
    denials = source.denials(words)
    if denials is not None and len(_NOT.findall(line)) != denials:
        return f"turned round: {line[:80]!r}"
    return ""


def _bare(exact: str) -> str:
    return _flat(exact.strip("`.,:-"))


def _flat(text: str) -> str:
    return " ".join(text.casefold().split())
