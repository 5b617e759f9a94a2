"""Pack hits into a fenced block for a prompt within a token budget, each with its source.

Best first, a hit gets a row: its whole text if that takes no more than a fifth of the budget, else the words
around the match. Turns that follow each other share a row in the order they were spoken, since a source line
costs as much as a short turn. A hit that repeats what the block says gets none. What is left of the budget
opens rows further. Tokens are counted after escaping: a hidden character becomes eight visible ones, and a
text full of them would otherwise push the others out of the block.
"""

from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from typing import Final, NamedTuple

from mnemark.retrieval import repeats
from mnemark.retrieval.render import BRIEF_TOKENS, brief, noted_of, source_line, speaker_of, without_comments
from mnemark.summary.filler import is_bare, is_courtesy
from mnemark.text.quoting.fence import fence, inert, inert_together, visible
from mnemark.text.words.tokens import estimate_tokens
from mnemark.types import Hit, ref_to

_SHARE: Final = 0.2
"""Maximum share of the budget for the whole text of a hit, as long as others wait."""
_MAX_SHARE: Final = 0.5
"""Maximum share of the budget for one row that is opened further."""
_MIN_PASSAGE_SHARE: Final = 0.2
"""Share of the best passage's score below which passages are dropped: on seven sets of questions, none of
about 600 such passages among the first eight was the answer."""
_MIN_ASKING_SHARE: Final = 0.5
"""The same for turns that only ask; on six sets, none of 15 such turns below 0.6 was the answer."""
_ENDS: Final = (". ", "! ", "。", "！", "\n")
"""Ends of sentences that are no questions."""
_MIN_SHARE_OF_ALL: Final = 0.02
"""Share of the best score of all hits, facts included, below which passages are dropped."""
_MIN_FACT_SHARE: Final = 0.1
"""Share of the best score below which facts are dropped."""


class PackedBlock(NamedTuple):
    """A rendered block and the hits that stand in it, in its order."""

    text: str
    hits: tuple[Hit, ...]


NOTHING: Final = PackedBlock("", ())


def block(hits: Sequence[Hit], *, budget: int, brief_tokens: int = BRIEF_TOKENS) -> PackedBlock:
    """Pack hits, best first, into at most `budget` estimated tokens; empty where nothing fits.

    Hits without content ("Noted.", a bare heading, front matter) and hits far behind the best get no row.
    """
    rows = _packed(_worth_showing(hits), budget, brief_tokens)
    texts = inert_together([row.text for row in rows])
    while texts:
        found = fence("\n".join(texts))
        if estimate_tokens(found) <= budget:
            return PackedBlock(found, tuple(part.hit for row in rows[: len(texts)] for part in row.parts))
        texts.pop()
    return NOTHING


class _RowHit(NamedTuple):
    """A hit in a row, with the form of its text."""

    hit: Hit
    words: str
    short: bool
    """Whether there is more of it."""


class _Row:
    """A hit, or turns of one session that follow each other; not changed once made, as its cost is kept."""

    def __init__(self, parts: tuple[_RowHit, ...], line: str = "") -> None:
        self.parts = parts
        self._line = line
        """The brief line, where there was no room for more."""

    def with_part(self, part: _RowHit) -> "_Row":
        """Return the row with one part more."""
        return _Row((*self.parts, part))

    def joins(self, hit: Hit) -> bool:
        """Tell whether a turn may share this row: it stands beside one of its turns, or is part of it."""
        if self.is_brief or self.parts[0].hit.path != hit.path:
            return False
        near = range(hit.start_line - 1, hit.start_line + 2)
        return (
            any(part.hit.start_line in near for part in self.parts)
            and _is_plain_turn(hit)
            and _is_plain_turn(self.parts[0].hit)
        )

    @property
    def is_brief(self) -> bool:
        """Whether it is only one line."""
        return bool(self._line)

    @cached_property
    def text(self) -> str:
        """The escaped row."""
        if self._line:
            return inert(self._line)
        if len(self.parts) == 1:
            hit = self.parts[0].hit
            return inert(f"- {source_line(hit)}\n{_indented(self.parts[0].words)}")
        parts = sorted(self.parts, key=lambda part: part.hit.start_line)
        first, last = parts[0].hit, parts[-1].hit
        ref = ref_to(first.path, first.start_line, last.start_line)
        when = first.date[:16].replace("T", " ") if first.date else "undated"
        head = visible(" · ".join(filter(None, (ref, when, first.scope))))
        said = (f"L{part.hit.start_line} {visible(speaker_of(part.hit))}: {part.words}" for part in parts)
        return inert("\n".join([f"- {head}", *map(_indented, said)]))

    @cached_property
    def cost(self) -> int:
        """Its estimated tokens, with the line break after it."""
        return estimate_tokens(self.text) + 1


def _indented(words: str) -> str:
    return "  " + words.replace("\n", "\n  ")


def _is_plain_turn(hit: Hit) -> bool:
    """Tell whether a turn needs no more said of it than who spoke: it is no tool's or page's, nor suspect."""
    return bool(speaker_of(hit)) and hit.origin in {"owner", "agent", "file"} and not hit.meta.get("suspect")


def _packed(hits: Sequence[Hit], budget: int, brief_tokens: int) -> list[_Row]:
    room = budget - _fence_tokens()
    rows: list[_Row] = []
    shown = repeats.ShownSoFar()
    waiting = repeats.in_best_form(hits)
    for _ in range(2):  # rows that grew together leave room for more
        unplaced = []
        for told in waiting:
            if shown.say(told):
                continue
            part = _add(rows, told.hit, room, budget, brief_tokens)
            if part is None:
                unplaced.append(told)
            else:
                shown.add(told.cut_to(part.words) if part.short else told)
        rows, waiting = _grown_together(rows), unplaced
    for at, row in enumerate(rows):
        rows[at] = _opened(row, room - _cost(rows) + row.cost, budget)
    return rows


@cache
def _fence_tokens() -> int:
    return estimate_tokens(fence("-"))


def _cost(rows: Sequence[_Row]) -> int:
    return sum(row.cost for row in rows)


def _grown_together(rows: Sequence[_Row]) -> list[_Row]:
    """Return the rows, with those joined at the place of the first whose turns now follow each other."""
    joined: list[_Row] = []
    for row in rows:
        places = (at for at, one in enumerate(joined) if any(one.joins(part.hit) for part in row.parts))
        beside = next(places, None)
        if beside is None or row.is_brief:
            joined.append(row)
        else:
            joined[beside] = _Row((*joined[beside].parts, *row.parts))
    return joined


def _add(rows: list[_Row], hit: Hit, room: int, budget: int, brief_tokens: int) -> _RowHit | None:
    """Add a hit to the rows in the longest form that fits into `room`; return that, None where none does."""
    at = next((at for at, row in enumerate(rows) if row.joins(hit)), None)
    others = rows if at is None else [*rows[:at], *rows[at + 1 :]]
    left = room - _cost(others)
    parts = (_RowHit(hit, words, short) for words, short in _forms(hit, budget))
    longer = (_Row((part,)) if at is None else rows[at].with_part(part) for part in parts)
    found = next((row for row in longer if row.cost <= left), None)
    if found is None and at is None:
        least = _Row((_RowHit(hit, "", short=True),), brief(hit, source_line(hit), brief_tokens))
        found = least if least.cost <= left else None
    if found is not None:
        rows[len(rows) if at is None else at : len(rows) if at is None else at + 1] = [found]
    return None if found is None else found.parts[-1]


def _forms(hit: Hit, budget: int) -> Iterator[tuple[str, bool]]:
    """Yield the forms of a hit's text, longest first, and whether each is short of the whole.

    What was noted of a turn stands behind it where it says more of the question, and for one that is long.
    """
    most = budget * _SHARE
    for words, short in ((_whole(hit), False), (noted_of(hit), True), (hit.snippet, True)):
        if words and estimate_tokens(inert(words)) <= most:
            yield words, short


def _whole(hit: Hit) -> str:
    return "\n".join(filter(None, (without_comments(hit.text).strip(), noted_of(hit))))


def _opened(row: _Row, left: int, budget: int) -> _Row:
    """Return a row with the whole text of its parts, as far as it costs no more than `left`."""
    for at, part in enumerate(row.parts):
        if part.short and part.words:
            whole = _RowHit(part.hit, _whole(part.hit), short=True)
            longer = _Row((*row.parts[:at], whole, *row.parts[at + 1 :]))
            if longer.cost <= min(left, budget * _MAX_SHARE):
                row = longer
    return row


def _worth_showing(hits: Sequence[Hit]) -> list[Hit]:
    return [
        hit
        for hit in _relevant(hits)
        if not (is_courtesy(hit.text) if hit.kind == "turn" else is_bare(hit.text, hit.path))
    ]


def _relevant(hits: Sequence[Hit]) -> list[Hit]:
    """Drop hits far behind the best; keep all versions of a fact if one is kept."""
    best = max((hit.score for hit in hits), default=0.0)
    best_passage = max((hit.score for hit in hits if hit.kind != "fact"), default=0.0)
    near = {_fact_key(hit) for hit in hits if hit.kind == "fact" and hit.score >= _MIN_FACT_SHARE * best}

    def is_near(hit: Hit) -> bool:
        if hit.kind == "fact":
            return _fact_key(hit) in near
        share = _MIN_ASKING_SHARE if _only_asks(hit) else _MIN_PASSAGE_SHARE
        return hit.score >= max(share * best_passage, _MIN_SHARE_OF_ALL * best)

    return [hit for hit in hits if is_near(hit)]


def _only_asks(hit: Hit) -> bool:
    text = hit.text.strip()
    return hit.kind == "turn" and text.endswith(("?", "？")) and not any(end in text for end in _ENDS)


def _fact_key(hit: Hit) -> tuple[object, ...]:
    return hit.scope, hit.meta.get("subject"), hit.meta.get("predicate") or hit.ref
