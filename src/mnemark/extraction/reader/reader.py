"""The reader as the package ships it: what a message of its owner says that is worth keeping."""

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Final, NamedTuple

from mnemark.extraction.candidate import BLOT, Candidate
from mnemark.extraction.reader.features import Encoder
from mnemark.extraction.reader.kept import candidates
from mnemark.extraction.reader.network import network
from mnemark.extraction.reader.reading import Clause, Read, Reading, read_message

_encoder: Final = cache(Encoder)


def read(text: str) -> Read:
    """Return all readings of a message, the doubtful ones, too, and its clauses."""
    return read_message(text, _encoder(), network())


class Stretch(NamedTuple):
    """A part of a message in which its owner says what is so."""

    start: int
    text: str
    """Quotations in it are masked by `BLOT`."""

    def has(self, one: Reading | Clause) -> bool:
        """Return whether a reading or clause is of this part, and of no quotation."""
        words = self.text[one.start - self.start : one.end - self.start] if one.start >= self.start else ""
        return len(words) == one.end - one.start and BLOT not in words


def learned(text: str, said: Sequence[Stretch], time: datetime, confidence: float) -> list[Candidate]:
    """Return what is kept of a message of the owner: of what they say in the stretches `said`."""
    if not said:
        return []
    found = read(text)
    own = [one for one in found.readings if any(part.has(one) for part in said)]
    lasting = [one for one in found.clauses if any(part.has(one) for part in said)]
    return candidates(text, Read(own, lasting), time, confidence)
