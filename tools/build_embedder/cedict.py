"""CC-CEDICT: Chinese words with their English senses, cleaned for use as short texts.

Format: `traditional simplified [pin1 yin1] /sense/sense; sense/`. CC-CEDICT is published by MDBG under
CC BY-SA 4.0; what is derived from it here carries that licence.
"""

import gzip
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

ENTRY = re.compile(r"^(\S+) (\S+) \[([^\]]*)\] /(.*)/\s*$")
PARENTHESES = re.compile(r"\([^()]*\)")
PINYIN = re.compile(r"\[[^\]]*\]")
HAN = re.compile(r"[\u3400-\u9fff]+(?:\|[\u3400-\u9fff]+)?")
REFERENCE = re.compile(
    r"\b(variant of|see also|see |used in|abbr\. (for|of|to)|also written|also pr\.|Taiwan pr\.|pr\. \[|"
    r"erhua|old variant|same as|equivalent to|also called|also known as|CL:|classifier for|surname |"
    r"Kangxi radical|radical in)",
)
LEADING = re.compile(r"^(to be|to|a|an|the|be|sth|sb|one's|of) ", re.IGNORECASE)
MAX_SENSE = 80


@dataclass(frozen=True)
class Entry:
    """One line of the dictionary."""

    traditional: str
    simplified: str
    pinyin: str
    senses: tuple[str, ...]
    """Cleaned English senses in the dictionary's order; empty when only references are left."""
    proper: bool
    """The reading is a proper noun (capital pinyin)."""


def read_entries(path: Path) -> Iterator[Entry]:
    """All entries of a CC-CEDICT file (.gz or plain), in file order."""
    for line in read_lines(path):
        match = ENTRY.match(line)
        if match:
            traditional, simplified, pinyin, body = match.groups()
            yield Entry(traditional, simplified, pinyin, clean_senses(body), pinyin[:1].isupper())


def read_lines(path: Path) -> Iterator[str]:
    """Lines of a CC-CEDICT file (.gz or plain), comments included."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        yield from lines


def clean_senses(body: str) -> tuple[str, ...]:
    """Senses of an entry's body without references, parentheses, pinyin and Chinese."""
    found: list[str] = []
    for part in body.split("/"):
        for piece in part.split(";"):
            sense = clean_sense(piece)
            if sense and sense not in found:
                found.append(sense)
    return tuple(found)


def clean_sense(text: str) -> str:
    """One sense as a short English text, or "" if it only refers to another entry."""
    if REFERENCE.search(PARENTHESES.sub("", text)):
        return ""
    bare = HAN.sub("", PINYIN.sub("", PARENTHESES.sub(" ", PARENTHESES.sub(" ", text))))
    bare = " ".join(bare.replace("(", " ").replace(")", " ").split()).strip(" ,.:~")
    return bare if any(char.isalpha() for char in bare) and len(bare) <= MAX_SENSE else ""


def headword(sense: str) -> str:
    """A sense without its leading article or "to"."""
    return LEADING.sub("", sense, count=1)


def by_word(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    """Entries by simplified word. Proper-noun readings are kept only where there is no other."""
    words: dict[str, list[Entry]] = {}
    for entry in entries:
        words.setdefault(entry.simplified, []).append(entry)
    for word, found in words.items():
        common = [entry for entry in found if not entry.proper and entry.senses]
        if common:
            words[word] = common
    return words


def interleaved(entries: Sequence[Entry]) -> list[str]:
    """Senses of all readings: the first of each, then the second of each, and so on; each once."""
    columns = zip_longest(*(entry.senses for entry in entries))
    return list(dict.fromkeys(sense for column in columns for sense in column if sense))
