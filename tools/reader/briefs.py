"""Print briefs of messages to write and label: who writes, how, of what, and how long.

    python tools/reader/briefs.py LANGUAGE HAND BATCH [COUNT]

Whoever writes labels gets another hundred for each batch, the same at each call. Left to themselves, writers
repeat the same few people, places and facts.
"""

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

TABLES: Final = Path(__file__).with_name("briefs.tsv")
AGES: Final = (14, 17, 19, 22, 25, 28, 31, 34, 38, 42, 47, 52, 58, 64, 71, 80)
SIZES: Final = {"3-8 words": 16, "8-20 words": 42, "20-45 words": 30, "45-110 words": 12}
FACTS: Final = {1: 34, 2: 32, 3: 20, 4: 9, 5: 5}
"""How many facts a message states, by weight."""


def tables() -> dict[str, dict[str, int]]:
    """Read the tables of what a brief is drawn from: texts with their weights."""
    found: dict[str, dict[str, int]] = {}
    for line in TABLES.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            name, weight, text = line.split("\t")
            found.setdefault(name, {})[text] = int(weight)
    return found


class Briefs:
    """Draws briefs of one batch of one hand."""

    def __init__(self, language: str, hand: str, batch: str) -> None:
        self._tables = tables()
        self._language = language
        self._chance = random.Random(f"{language}/{hand}/{batch}")

    def draw(self, count: int) -> Iterator[str]:
        """Yield numbered lines."""
        for number in range(1, count + 1):
            register, job = self._one("register"), self._one("job")
            place, age = self._one(f"place {self._language}"), self._chance.choice(AGES)
            what, size = self._content(), self._weighted(SIZES)
            yield f"{number:02d} | {register} | {job}, {age}, {place} | {what} | {size}"

    def _one(self, table: str) -> str:
        return self._weighted(self._tables[table])

    def _weighted(self, table: dict[str, int]) -> str:
        return self._chance.choices(list(table), list(table.values()))[0]

    def _content(self) -> str:
        roll = self._chance.random()
        if roll < 0.42:
            wanted = self._chance.choices(list(FACTS), list(FACTS.values()))[0]
            keys: dict[str, None] = {}
            while len(keys) < wanted:
                keys[self._one("key")] = None
            return "states: " + ", ".join(keys) + self._perhaps(0.28)
        if roll < 0.60:
            also = f"; also states: {self._one('key')}" if self._chance.random() < 0.3 else ""
            return f"change: {self._one('act')} of {self._one('change')}{also}{self._perhaps(0.12)}"
        if roll < 0.68:
            return f"rule: {self._one('rule')}"
        return f"nothing to mark: {self._one('trap')}"

    def _perhaps(self, share: float) -> str:
        return f"; and a trap beside it: {self._one('trap')}" if self._chance.random() < share else ""


def main() -> None:
    """Print a batch."""
    language, hand, batch, *count = sys.argv[1:]
    for line in Briefs(language, hand, batch).draw(int(count[0]) if count else 100):
        print(line)


if __name__ == "__main__":
    main()
