"""A mixed Chinese and English corpus of any size, the same on every machine.

Words come from the table of the bundled embedder; how often each is used follows Zipf's law, and each text
has a topic of its own. Half of the passages are turns of sessions, half sections of notes.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnemark.embed.bundled import DATA
from mnemark.embed.sections import read_sections, unpack_words
from mnemark_bench.data import SetUnit
from mnemark_bench.store import write_sessions

SEED: Final = 20_260_213
Language = Literal["en", "zh"]
_TOPICS: Final = 400
_TOPIC_WORDS: Final = 60
_FUNCTION_WORDS: Final = """
the to of and a in that is it was for on with you this have we at be i not are but they from
的 了 是 在 我 有 和 就 不 人 都 一 也 很 到 说 要 去 你 会 着 没有 看 好 自己 这
"""
_COMMON: Final[dict[Language, list[str]]] = dict(
    zip(("en", "zh"), map(str.split, _FUNCTION_WORDS.strip().splitlines()), strict=True)
)
_SHARES: Final = (0.38, 0.27)
"""Of function words and of the topic's words; the rest is the language at large."""
_SESSION: Final = 30
_SECTIONS: Final = 5
_TURN_WORDS: Final = 22
_SECTION_WORDS: Final = 95


class Text(NamedTuple):
    """One passage to be."""

    language: Language
    topic: int
    words: list[str]

    @property
    def text(self) -> str:
        """As a person would write it."""
        return _written(self.words, self.language)


class Corpus:
    """Generates texts and questions on them. Everything follows from the seed."""

    def __init__(self, seed: int = SEED) -> None:
        self._random = np.random.default_rng(seed)

    @cached_property
    def _words(self) -> dict[Language, list[str]]:
        words = unpack_words(read_sections(DATA).arrays["words"])
        english = [w for w in words if w.isascii() and w.isalpha() and 3 <= len(w) <= 12]
        chinese = [w for w in words if not w.isascii() and 2 <= len(w) <= 4 and "\u4e00" <= w[0] <= "\u9fff"]
        order = np.random.default_rng(SEED)
        # The table lists English words by letters: how often each is used is drawn anew, and stays so.
        return {"en": [english[i] for i in order.permutation(len(english))], "zh": chinese}

    @cached_property
    def _weights(self) -> dict[Language, NDArray[np.float64]]:
        made: dict[Language, NDArray[np.float64]] = {}
        for language, words in self._words.items():
            made[language] = np.cumsum(1 / np.arange(10, len(words) + 10))
        return made

    @cached_property
    def _topics(self) -> dict[Language, NDArray[np.int64]]:
        order = np.random.default_rng(SEED + 1)
        return {
            language: order.integers(100, len(words), (_TOPICS, _TOPIC_WORDS))
            for language, words in self._words.items()
        }

    def text(self, mean_words: int) -> Text:
        """One text of about so many words, now shorter, now longer."""
        random = self._random
        language: Language = "zh" if random.random() < 0.5 else "en"
        topic = int(random.integers(_TOPICS))
        count = int(np.clip(random.lognormal(np.log(mean_words), 0.5), 3, 4 * mean_words))
        return Text(language, topic, self._drawn(language, topic, count))

    def question(self, text: Text) -> str:
        """A question of three to seven words on a text; one in five in the other language."""
        random = self._random
        count = int(random.integers(3, 8))
        language = text.language
        if random.random() < 0.2:
            language = "en" if language == "zh" else "zh"
            return _written(self._drawn(language, text.topic, count), language)
        words = [word for word in text.words if word not in _COMMON[language]] or text.words
        picked = [words[int(i)] for i in random.integers(0, len(words), count)]
        return _written([*picked, _COMMON[language][int(random.integers(8))]], language)

    def _drawn(self, language: Language, topic: int, count: int) -> list[str]:
        random, words, common = self._random, self._words[language], _COMMON[language]
        kind = random.random(count)
        ranks = np.searchsorted(
            self._weights[language], random.random(count) * self._weights[language][-1]
        ).clip(0, len(words) - 1)
        own = self._topics[language][topic]
        # Squared, so that a topic has words it uses often and words it uses seldom.
        of_topic = own[(random.random(count) ** 2 * len(own)).astype(np.int64)]
        of_common = (random.random(count) ** 2 * len(common)).astype(np.int64)
        return [
            common[of_common[i]]
            if kind[i] < _SHARES[0]
            else words[of_topic[i]]
            if kind[i] < sum(_SHARES)
            else words[ranks[i]]
            for i in range(count)
        ]

    def session(self) -> list[Text]:
        """The turns of one session."""
        return [self.text(_TURN_WORDS) for _ in range(_SESSION)]

    def note(self) -> list[Text]:
        """The sections of one note."""
        return [self.text(_SECTION_WORDS) for _ in range(_SECTIONS)]


def _written(words: Sequence[str], language: Language) -> str:
    gap, comma, stop = ("", "，", "。") if language == "zh" else (" ", ",", ".")
    clauses = [gap.join(words[i : i + 8]) for i in range(0, len(words), 8)]
    marks = [comma if number % 2 == 0 else stop for number in range(len(clauses) - 1)] + [stop]
    space = "" if language == "zh" else " "
    return space.join(clause + mark for clause, mark in zip(clauses, marks, strict=True))


class Grown(NamedTuple):
    """What was written."""

    texts: list[Text]
    files: int
    bytes: int


def grow(root: Path, size: int, corpus: Corpus) -> Grown:
    """Write about `size` passages below `root`: sessions as JSONL, notes as Markdown."""
    texts: list[Text] = []
    units: list[SetUnit] = []
    for number in range(max(1, round(size / 2 / _SESSION))):
        turns = corpus.session()
        texts += turns
        day = f"{2023 + number // 336 % 3}-{number // 28 % 12 + 1:02}-{number % 28 + 1:02}"
        units += [
            SetUnit(
                id=f"{number}/{place}",
                scope="",
                session_id=f"chat:{number}",
                time=f"{day}T09:{place:02}:00",
                role="assistant" if place % 2 else "user",
                text=turn.text,
            )
            for place, turn in enumerate(turns)
        ]
    write_sessions(root, units)
    for number in range(max(1, round(size / 2 / _SECTIONS))):
        sections = corpus.note()
        texts += sections
        _write_note(root / "notes" / f"{number % 100:02}" / f"note-{number}.md", sections)
    files = [path for path in _files(root) if path.is_file()]
    return Grown(texts, len(files), sum(path.stat().st_size for path in files))


def _write_note(path: Path, sections: Sequence[Text]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    parts = [f"## {section.words[0]} {number}\n\n{section.text}\n" for number, section in enumerate(sections)]
    path.write_text("\n".join(parts), encoding="utf-8")


def _files(root: Path) -> Iterator[Path]:
    for folder in ("sessions", "notes"):
        yield from (root / folder).rglob("*")
