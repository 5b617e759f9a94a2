"""Short texts about everyday things, of which documentation has few: senses of common words in a row."""

from collections.abc import Mapping, Sequence

import numpy as np
from cedict import Entry, headword
from stopwords import CHINESE
from vocabulary import HAN, word_senses

TEXTS = 60_000
FLATTEN = 0.4
"""Exponent on the words' frequencies: common words come more often, but not only they."""


def synthetic(entries: Mapping[str, Sequence[Entry]], frequency: Mapping[str, int]) -> list[tuple[str, str]]:
    """(Chinese, English) texts of two to five words: "手机，开心，银行" and "cell phone, feel happy, bank".

    The teacher's vector of the English one shows how the words add up, in both languages.
    """
    words = sorted(
        word
        for word in entries
        if frequency.get(word, 0) > 0
        and HAN.fullmatch(word)
        and word not in CHINESE
        and word_senses(entries[word])
    )
    chance = np.array([frequency[word] for word in words], float) ** FLATTEN
    chance /= chance.sum()
    generator = np.random.default_rng(7)
    found: dict[str, str] = {}
    for _ in range(TEXTS):
        count = int(generator.integers(2, 6))
        parts = []
        chosen = generator.choice(len(words), count, p=chance)
        for place in chosen:
            senses = word_senses(entries[words[place]])
            parts.append(headword(senses[min(int(generator.geometric(0.5)), len(senses)) - 1]))
        found[", ".join(parts)] = "，".join(words[place] for place in chosen)
    return [(found[english], english) for english in sorted(found)]
