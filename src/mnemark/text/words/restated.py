"""Find sentences that repeat others: in another frame, with words left out, with another ending.

A sentence repeats one that has all its words in its order, nearly side by side. Numbers, names, negation,
doubt, questions and speakers have to agree: "I like tea" is not said by "I do not like tea", nor by "do you
like tea?". Chinese is compared by pairs of characters, so no dictionary is loaded.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from mnemark.text import word_lists
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import chinese_runs, fold

MIN_WORDS: Final = 3
"""Words of a sentence that another may hold; a shorter one is repeated by its equal only."""
_MAX_WORDS: Final = 60
"""Words of a sentence that is looked into; a longer one is repeated by its equal only."""
_MAX_GAP: Final = 4
"""One word in so many, and one more, may stand between those of the other sentence."""

_SENTENCE: Final = lazy_pattern(r"(?:[^.!?。;\n]|\.(?=\w))+[!?]?")
_JOINTS: Final = r"(?:[.:/@'-]|\u2019|,(?=[0-9]{3}))"
_ASCII_WORD: Final = lazy_pattern(rf"[0-9a-z]+(?:{_JOINTS}[0-9a-z]+)*")
_WORD: Final = lazy_pattern(rf"[^\W_]+(?:{_JOINTS}[^\W_]+)*")
_FRAMES: Final = (
    "asked:", "said:", "目标:", "提到:", "please note:", "please note that ", "please remember:",
    "please remember that ", "note:", "note that ", "remember:", "remember that ", "keep in mind that ",
    "don't forget that ", "by the way", "btw", "fyi", "for the record", "just so you know",
    "请记住", "请记得", "请注意", "请帮我记住", "帮我记住", "帮我记一下", "记住", "记一下", "记下", "注意",
    "备注", "顺便说一下", "另外", "对了",
)  # fmt: skip
"""What a digest puts before what was said, and people before what they want to be remembered."""
_OPEN: Final = ("by the way", "btw", "fyi", "for the record", "just so you know")
"""Those of them that need no sign behind them."""
_SHORT_FORMS: Final = ("'s", "\u2019s", "'m", "\u2019m", "'re", "\u2019re", "'ve", "\u2019ve")
_FILLER: Final = word_lists("stop_words")["sentence"]
_FILLER_ZH: Final = lazy_pattern("用户|[我的是很请呢吧啊呀嘛]")
_CHANGING: Final = word_lists("stop_words")["changing"]
"""Words by which a sentence no longer says what its others do."""
_CHANGING_ZH: Final = lazy_pattern(
    "[不没无别未想吗]|如果|要是|可能|也许|或许|大概|打算|计划|差点|希望|觉得|认为|以为"
)


class BareSentence(NamedTuple):
    """What a sentence says, in a form to be compared."""

    words: tuple[str, ...]
    """Bare words, and pairs of Chinese characters, in order, without filler words."""
    sense: tuple[str, ...]
    """What changes the meaning: negations, doubts, a question."""
    speaker: str = ""
    """Who spoke, where that is known."""


def sentences(text: str, speaker: str = "") -> list[BareSentence]:
    """Return what the sentences of a text say, without its headings and those of filler words only."""
    lines = (line for line in fold(text).split("\n") if not line.lstrip().startswith("#"))
    whole = "\n".join(lines).casefold()
    found = (_read(match[0], speaker) for match in _SENTENCE.finditer(whole))
    return [one for one in found if one.words]


def _unframed(sentence: str) -> str:
    """Return a sentence without the frames at its start."""
    bare = sentence.lstrip(" \t-*+")
    while bare.startswith(_FRAMES):
        frame = next(one for one in _FRAMES if bare.startswith(one))
        rest = bare[len(frame) :]
        if not frame.endswith((":", " ")) and rest[:1] not in {",", ":"} and frame not in _OPEN:
            break
        bare = rest.lstrip(" ,:")
    return bare


def _read(sentence: str, speaker: str) -> BareSentence:
    words: list[str] = []
    sense = ["?"] if sentence.endswith("?") else []
    for word in _words(_unframed(sentence)):
        if word >= "\u3005":
            bare = _FILLER_ZH.sub("", word)
            words += [bare[at : at + 2] for at in range(max(len(bare) - 1, 1))] if bare else []
            sense += _CHANGING_ZH.findall(bare)
            continue
        term = "not" if word.endswith(("n't", "n\u2019t", "cannot")) else _bare(word)
        if term not in _FILLER:
            words.append(term)
            sense += [term] if term in _CHANGING else []
    return BareSentence(tuple(words), tuple(sense), speaker)


def _words(sentence: str) -> list[str]:
    """Return words and runs of Chinese in order."""
    if sentence.isascii():
        return _ASCII_WORD.findall(sentence)
    words: list[str] = []
    for chinese, run in chinese_runs(sentence):
        words += [run] if chinese else _WORD.findall(run)
    return words


def _bare(word: str) -> str:
    """Return a word without the ending of a plural or of a third person; tenses differ in what they say."""
    if word.endswith(_SHORT_FORMS):
        word = word.replace("\u2019", "'").rpartition("'")[0]
    return word[:-1] if len(word) > 3 and word[-1] == "s" and word[-2] != "s" and word.isalpha() else word


class SaidSentences:
    """Sentences that were said, to find those that repeat them."""

    def __init__(self, said: Iterable[BareSentence] = ()) -> None:
        self._by_word: defaultdict[str, list[BareSentence]] = defaultdict(list)
        self.add(said)

    def add(self, said: Iterable[BareSentence]) -> None:
        """Add sentences."""
        for one in said:
            for word in set(one.words):
                self._by_word[word].append(one)

    def says(self, sentence: BareSentence) -> bool:
        """Return whether one of the sentences says all that this one does."""
        holders = (self._by_word.get(word, ()) for word in sentence.words)
        fewest = min(holders, key=len, default=())
        return any(_says(one, sentence) for one in fewest)

    def repeats(self, found: Iterable[BareSentence], least: int = MIN_WORDS) -> bool:
        """Return whether all of these were said and one has `least` words; "Thanks!" may be new by then."""
        told = [one for one in found if len(one.words) >= min(least, 2) or not one.words[0].isalpha()]
        return any(len(one.words) >= least for one in told) and all(map(self.says, told))


def _says(one: BareSentence, other: BareSentence) -> bool:
    """Return whether `one` says what `other` does, and maybe more."""
    if one.sense != other.sense or (one.speaker and other.speaker and one.speaker != other.speaker):
        return False
    if len(other.words) < MIN_WORDS or max(len(one.words), len(other.words)) > _MAX_WORDS:
        return one.words == other.words
    return any(_follow(one.words[at:], other.words) for at in _places(one.words, other.words[0]))


def _places(words: tuple[str, ...], word: str) -> Iterator[int]:
    return (at for at, one in enumerate(words) if one == word)


def _follow(words: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    """Return whether the wanted words follow each other at the start of `words`, with few between."""
    left = 1 + len(wanted) // _MAX_GAP
    rest = iter(words)
    for want in wanted:
        for word in rest:
            if word == want:
                break
            left -= 1
            if left < 0:
                return False
        else:
            return False
    return True
