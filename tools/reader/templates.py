"""Draw plain sentences from `templates.tsv`, with names of the lexicon: each is learned with any of them.

They are less than a tenth of the messages: what people type is written by hand, see LABELS.md.
"""

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from labels import Message, parse

from mnemark.text import rows

MESSAGES: Final = 3_600
_SEED: Final = 11
_LOWER: Final = 0.2
"""Share of English messages in lower case and without a stop."""
_WHOLE_NAME: Final = 0.5
"""Share of Chinese names with a surname."""
_NAMES: Final = frozenset(
    {"given", "city", "country", "region", "school", "language", "nationality", "vehicle", "employer"}
)
"""Classes of which English names begin with a capital; those of the table are in lower case."""
_HAN: Final = re.compile("[\u3400-\u9fff]")
_ARTICLE: Final = re.compile(r"\b([Aa]) (?=(?:⟦[\w/!@]+:)?[aeiouAEIOU])")
_SLOT: Final = re.compile(r"\{(\w+?)(1?)\}")


def templates() -> list[str]:
    """Return the lines of the table."""
    lines = Path(__file__).with_name("templates.tsv").read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def drawn(count: int = MESSAGES) -> Iterator[Message]:
    """Yield messages, each once: the same ones at each call."""
    rng = random.Random(_SEED)
    names = _names()
    lines, seen = templates(), set[str]()
    while len(seen) < count:
        line = rng.choice(lines)
        chinese = _HAN.search(line.split("\t")[1]) is not None
        same: dict[str, str] = {}

        def name(slot: re.Match[str], *, chinese: bool = chinese, same: dict[str, str] = same) -> str:
            if slot[1] == "age":
                return str(rng.randrange(18, 80))
            found = rng.choice(names[slot[1], chinese])
            if chinese and slot[1] == "given" and rng.random() < _WHOLE_NAME:
                found = rng.choice(names["surname", chinese]) + found
            return same.setdefault(slot[1], found) if slot[2] else found

        text = _SLOT.sub(name, line)
        if not chinese:
            text = _ARTICLE.sub(r"\1n ", text)
        if not chinese and rng.random() < _LOWER:
            kind, _, message = text.partition("\t")
            text = f"{kind}\t{message.lower().rstrip('.')}"
        if text not in seen:
            seen.add(text)
            yield parse(text, f"template:{len(seen)}")


def _names() -> dict[tuple[str, bool], list[str]]:
    names: dict[tuple[str, bool], list[str]] = {}
    for name, kinds in rows("lexicon"):
        chinese = _HAN.search(name) is not None
        for kind in kinds.split(" "):
            form = name if chinese or kind not in _NAMES else name.title()
            names.setdefault((kind, chinese), []).append(form.removeprefix("A "))
    for kind in {kind for kind, _ in names}:
        for chinese in (True, False):
            names.setdefault((kind, chinese), names.get((kind, not chinese), []))
    return names


if __name__ == "__main__":
    for message in drawn(40):
        print(
            message.kinds,
            message.text,
            [(mark.key, message.text[mark.start : mark.end]) for mark in message.marks],
        )
