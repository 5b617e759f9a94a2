"""The reader as the package ships it: what a message of its owner says that is worth keeping."""

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Final, NamedTuple

from mnemark.extraction.candidate import BLOT, Candidate, is_program
from mnemark.extraction.reader.features import Encoder
from mnemark.extraction.reader.kept import candidates
from mnemark.extraction.reader.network import network
from mnemark.extraction.reader.reading import Clause, Read, Reading, read_message
from mnemark.extraction.validity import time_to_come
from mnemark.text.dates.written import undated

_MAY_LAST: Final = 0.25
"""Probability of a clause to say something that lasts, or of a decision, from which the rules' word is taken."""

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


def is_lasting(found: Read, text: str, decision: Candidate, time: datetime) -> bool:
    """Return whether what the rules call a decision of a message, said at `time`, is one that lasts.

    "We decided to keep going" is one of the moment. One that is announced as such, names a program, or is for
    a later day, until which it stands like any plan, needs no reading.
    """
    if decision.over or decision.announced or any(map(is_program, decision.value.split())):
        return True
    when = time_to_come(decision.value, time)
    if when is not None and when[0].date() > time.date():
        return True
    words = undated(decision.value)
    start = max(text.find(words), text.find(decision.quote), 0)
    end = start + len(words)
    read: list[Clause | Reading] = [*found.clauses]
    read += (one for one in found.readings if one.key == "decisions")
    here = (one.probability for one in read if one.start < end and one.end > start)
    return max(here, default=0.0) >= _MAY_LAST


def learned(
    found: Read, text: str, said: Sequence[Stretch], time: datetime, confidence: float
) -> list[Candidate]:
    """Return what is kept of what was read of the owner's message `text`: of what they say in `said`."""
    own = [one for one in found.readings if any(part.has(one) for part in said)]
    lasting = [one for one in found.clauses if any(part.has(one) for part in said)]
    return candidates(text, Read(own, lasting), time, confidence)
