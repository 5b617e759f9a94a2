"""Show what recalls gave to models, and what that saved."""

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from mnemark.memory.browse.usage import UsedDay
from mnemark_faces.web import charts
from mnemark_faces.web.at import At


class InUse(NamedTuple):
    """The use of some days, in sums and as a picture."""

    recalls: int
    memories: int
    tokens: int
    saved: int
    today: UsedDay
    picture: Markup
    share: Markup
    """What was given, of what the files would have taken."""


def use_of(at: At, days: Sequence[UsedDay]) -> InUse | None:
    """Return the use of these days; None where nothing was recalled."""
    recalls = sum(day.recalls for day in days)
    if not recalls:
        return None
    words, now = at.words, at.now.date()
    bars = [
        charts.Bar(
            f"{words.date(day.day, now)}: {words.count(day.memories, '1 memory used', '{n} memories used')}, "
            f"{words('{n} tokens given', n=day.tokens)}, {words('{n} saved', n=day.saved)}",
            (day.memories,),
        )
        for day in days
    ]
    tokens, saved = sum(day.tokens for day in days), sum(day.saved for day in days)
    given = words("{n} tokens given", n=tokens)
    return InUse(
        recalls, sum(day.memories for day in days), tokens, saved, days[-1],
        charts.bars(words("Memories used of the last {n} days", n=len(days)), bars, height=44),
        charts.share(given, tokens, tokens + saved),
    )  # fmt: skip
