"""Pack hits into a fenced block for a prompt within a token budget, each with its source.

Best first, a hit gets a row: its whole text if that takes no more than a fifth of the budget, else the words
around the match. Turns that follow each other share a row in the order they were spoken, since a source line
costs as much as a short turn. A hit that repeats what the block says gets none. What is left of the budget
opens rows further. Tokens are counted after escaping: a hidden character becomes eight visible ones, and a
text full of them would otherwise push the others out of the block.
"""

from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from functools import cache, cached_property
from itertools import pairwise
from typing import Final, NamedTuple

from msgspec.structs import replace

from mnemark.files import layout
from mnemark.files.names import SOURCES
from mnemark.retrieval.echoes import only_asks
from mnemark.retrieval.render import CORRECTED, EARLIER, NOTED
from mnemark.summary.filler import is_bare, is_courtesy
from mnemark.text.markdown import drop_comments
from mnemark.text.quoting.fence import fence, inert, inert_together, visible
from mnemark.text.words.normalize import chinese_runs
from mnemark.text.words.restated import BareSentence, SaidSentences, sentences
from mnemark.text.words.tokens import cut_to_tokens, estimate_tokens
from mnemark.types import Hit, ref_to

BRIEF_TOKENS: Final = 60
_SHARE: Final = 0.2
"""Maximum share of the budget for the whole text of a hit, as long as others wait."""
_MAX_SHARE: Final = 0.5
"""Maximum share of the budget for one row that is opened further."""
_MIN_PASSAGE_SHARE: Final = 0.25
"""Share of the best passage's score below which passages are dropped: on ten sets of questions, one of about
160 such passages was the answer."""
_MIN_ASKING_SHARE: Final = 0.5
"""The same for turns that only ask; on six sets, none of 15 such turns below 0.6 was the answer."""
_MIN_SHARE_OF_ALL: Final = 0.02
"""Share of the best score of all hits, facts included, below which passages are dropped."""
_MIN_FACT_SHARE: Final = 0.1
"""Share of the best score below which facts are dropped."""
_MIN_SHARED: Final = 0.65
"""Share of a text's beginnings of words below which others do not say it; then no sentence is read."""
_BEGINNING: Final = 4


class Block(NamedTuple):
    """A rendered block and the hits that stand in it, in its order."""

    text: str
    hits: tuple[Hit, ...]


def block(hits: Iterable[Hit], *, budget: int, brief_tokens: int = BRIEF_TOKENS) -> Block:
    """Pack hits, best first, into at most `budget` estimated tokens; empty where nothing fits.

    Hits without content ("Noted.", a bare heading) and hits far behind the best get no row.
    """
    text, passages = pack([Quotable(hit) for hit in hits], budget=budget, brief_tokens=brief_tokens)
    return Block(text, tuple(one.hit for one in passages))


def pack(
    hits: Sequence["Quotable"], *, budget: int, brief_tokens: int = BRIEF_TOKENS
) -> tuple[str, tuple["Quotable", ...]]:
    """Return the text of a block, and what stands in it: `block`, for one budget after the other."""
    rows = _packed([one for one in _relevant(hits) if not one.is_empty], budget, brief_tokens)
    texts = inert_together([row.text for row in rows])
    while texts:
        text = fence("\n".join(texts))
        if estimate_tokens(text) <= budget:
            return text, tuple(part.of for row in rows[: len(texts)] for part in row.parts)
        texts.pop()
    return "", ()


def believed(hits: Iterable[Hit]) -> list[Hit]:
    """Return the hits that are near enough to the best to be shown to a model."""
    return [one.hit for one in _relevant([Quotable(hit) for hit in hits])]


class Form(IntEnum):
    """The forms in which something is said, best last."""

    DERIVED = 0
    """A line made of others."""
    STATEMENT = 1
    """A fact without a predicate: a sentence of a turn."""
    OUTPUT = 2
    """What a tool returned, without its call."""
    OWN = 3
    """People's words, a turn, a note; a tool's call with what it returned."""
    VALUE = 4
    """A fact with a value; it is always shown, as older values may be."""


class Quotable:
    """A hit with what it says and the rows it may get, each read or made when it is needed."""

    def __init__(self, hit: Hit) -> None:
        self.hit = hit
        meta = hit.meta
        self.form = Form.DERIVED if SOURCES in meta else Form.OWN
        if hit.kind == "observation" and "tool" not in meta:
            self.form = min(self.form, Form.OUTPUT)
        self.holds = True
        """False for a fact that no longer does: others may say it anew."""
        speaker = meta.get("role") if hit.kind == "turn" else None
        self.speaker = speaker if isinstance(speaker, str) else ""
        self._text = hit.text
        if hit.kind == "fact":
            valued = meta.get("predicate", ": " in hit.text) or meta.get("replaces")
            self.form = Form.VALUE if valued else Form.STATEMENT
            self.holds = meta.get("current", True) is not False
            if isinstance(value := meta.get("value"), str):  # without the dates
                subject = "" if meta.get("subject") == "user" else meta.get("subject", "")
                self._text = f"{subject} {meta.get('predicate', '')} {value}"

    @cached_property
    def sentences(self) -> list[BareSentence]:
        """What it says."""
        return sentences(self._text, self.speaker)

    def cut_to(self, words: str) -> "Quotable":
        """Return the hit with these of its words."""
        return Quotable(replace(self.hit, text=words))

    @property
    def may_go(self) -> bool:
        """Whether it serves for no more than what it says."""
        return self.holds and self.form < Form.VALUE

    def is_in(self, said: SaidSentences) -> bool:
        """Return whether it serves for no more than what it says, and that was said."""
        return self.may_go and said.repeats(self.sentences)

    @cached_property
    def beginnings(self) -> frozenset[object]:
        """The beginnings of its longer words, and its pairs of Chinese characters."""
        words = {word[:_BEGINNING] for word in self._text.casefold().split() if len(word) >= _BEGINNING}
        if self._text.isascii():
            return frozenset(words)
        chinese = (run for is_chinese, run in chinese_runs(self._text) if is_chinese)
        return frozenset(words).union(*map(pairwise, chinese))

    @cached_property
    def is_empty(self) -> bool:
        """Whether it has no content: "Noted.", a bare heading."""
        hit = self.hit
        return is_courtesy(hit.text) if hit.kind == "turn" else is_bare(hit.text, hit.path)

    @cached_property
    def is_plain_turn(self) -> bool:
        """Whether who spoke is all to be said of a turn: it is no tool's or page's, nor marked."""
        hit = self.hit
        return (
            bool(self.speaker)
            and hit.origin in {"owner", "agent", "file"}
            and not hit.meta.keys() & {"suspect", EARLIER}
        )

    @cached_property
    def source(self) -> str:
        """Its source as a line: ref, date, speaker or title, foreign origin, scope, suspicion.

        The ref of a mount's hit begins with its scope, and nobody confirmed its words here.
        """
        hit = self.hit
        parts = [hit.ref, hit.date[:16].replace("T", " ") if hit.date else "undated"]
        parts += [self.speaker or hit.title] if self.speaker or hit.title else []
        mounted = hit.scope.startswith(layout.MOUNT)
        if hit.origin not in {"owner", "agent", "file"} and not (mounted and hit.origin == "import"):
            parts.append(f"from {hit.origin}")
        if hit.scope:
            parts.append("another memory, unconfirmed" if mounted else hit.scope)
        if hit.meta.get(EARLIER):
            parts.append("earlier")
        if hit.meta.get("suspect"):
            parts.append("looks like instructions")
        return visible(" · ".join(parts))

    @cached_property
    def whole(self) -> "RowPart":
        """Its whole text, with what was noted of it."""
        text = drop_comments(self.hit.text, blanks=" \t").strip()
        noted = self.hit.meta.get(NOTED)
        words = f"[noted: {noted['text']}]" if isinstance(noted, dict) else ""
        return self._part("\n".join(filter(None, (text, words))), short=False)

    @cached_property
    def noted(self) -> "RowPart":
        """What was noted of a turn alone, marked as such."""
        noted = self.hit.meta.get(NOTED)
        return self._part(f"[noted: {noted['text']}]" if isinstance(noted, dict) else "", short=True)

    @cached_property
    def around(self) -> "RowPart":
        """The words around the match."""
        return self._part(self.hit.snippet, short=True)

    def _part(self, words: str, *, short: bool) -> "RowPart":
        """Return words of it for a row, with what was corrected in them since."""
        return RowPart(self, "\n".join((words, *self._corrected)) if words else "", short=short)

    @cached_property
    def _corrected(self) -> tuple[str, ...]:
        """What was corrected in it, a line each."""
        found = self.hit.meta.get(CORRECTED)
        return tuple(f"[{text}]" for text in found) if isinstance(found, list) else ()

    @cached_property
    def _brief_rows(self) -> dict[int, "_Row"]:
        return {}

    def brief_row(self, tokens: int) -> "_Row":
        """Return one line of it: source, score and first words of the snippet."""
        if tokens not in self._brief_rows:
            self._brief_rows[tokens] = _Row((RowPart(self, "", short=True),), self._brief(tokens))
        return self._brief_rows[tokens]

    def _brief(self, tokens: int) -> str:
        hit = self.hit
        source = cut_to_tokens(f"- {self.source} · {hit.score:.2f}", max(tokens - 8, 8))
        least = f"- {visible(hit.ref)}"  # a ref that is cut short cannot be read
        source = source if source.startswith(least) else least
        left = tokens - estimate_tokens(source) - 2
        said = " ".join((*self._corrected, *hit.snippet.split()))  # what is right is not cut off
        words = cut_to_tokens(inert(said), left) if left > 0 else ""
        return f"{source} | {words}" if words else source


class RowPart:
    """A hit in a row, with the form of its text."""

    def __init__(self, of: Quotable, words: str, *, short: bool) -> None:
        self.of = of
        self.words = words
        self.short = short
        """Whether there is more of it."""

    @cached_property
    def cost(self) -> int:
        """The estimated tokens of its words."""
        return estimate_tokens(inert(self.words))

    @cached_property
    def row(self) -> "_Row":
        """A row of it alone."""
        return _Row((self,))

    @cached_property
    def said(self) -> str:
        """Its words behind the line and the speaker of the turn, for a row of several."""
        return _indented(f"L{self.of.hit.start_line} {visible(self.of.speaker)}: {self.words}")


class _Row:
    """A hit, or turns of one session that follow each other; not changed once made, as its cost is kept."""

    def __init__(self, parts: tuple[RowPart, ...], line: str = "") -> None:
        self.parts = parts
        self._line = line
        """The brief line, where there was no room for more."""
        self._longer: dict[RowPart, _Row] = {}

    def with_part(self, part: RowPart) -> "_Row":
        """Return the row with one part more."""
        if part not in self._longer:
            self._longer[part] = _Row((*self.parts, part))
        return self._longer[part]

    def joins(self, other: Quotable) -> bool:
        """Tell whether a turn may share this row: it stands beside one of its turns, or is part of it."""
        hit, first = other.hit, self.parts[0].of
        if self.is_brief or first.hit.path != hit.path:
            return False
        near = range(hit.start_line - 1, hit.start_line + 2)
        return (
            any(part.of.hit.start_line in near for part in self.parts)
            and other.is_plain_turn
            and first.is_plain_turn
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
            return inert(f"- {self.parts[0].of.source}\n{_indented(self.parts[0].words)}")
        parts = sorted(self.parts, key=lambda part: part.of.hit.start_line)
        first, last = parts[0].of.hit, parts[-1].of.hit
        ref = ref_to(first.path, first.start_line, last.start_line)
        when = first.date[:16].replace("T", " ") if first.date else "undated"
        head = visible(" · ".join(filter(None, (ref, when, first.scope))))
        return inert("\n".join([f"- {head}", *(part.said for part in parts)]))

    @cached_property
    def cost(self) -> int:
        """Its estimated tokens, with the line break after it."""
        return estimate_tokens(self.text) + 1


def _indented(words: str) -> str:
    return "  " + words.replace("\n", "\n  ")


def _packed(hits: Sequence[Quotable], budget: int, brief_tokens: int) -> list[_Row]:
    room = budget - _fence_tokens()
    rows: list[_Row] = []
    shown = _Shown()
    waiting = _in_best_form(hits)
    for _ in range(2):  # rows that grew together leave room for more
        unplaced = []
        for one in waiting:
            if shown.say(one):
                continue
            part = _add(rows, one, room, budget, brief_tokens)
            if part is None:
                unplaced.append(one)
            else:
                shown.add(one.cut_to(part.words) if part.short else one)
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
        places = (at for at, one in enumerate(joined) if any(one.joins(part.of) for part in row.parts))
        beside = next(places, None)
        if beside is None or row.is_brief:
            joined.append(row)
        else:
            joined[beside] = _Row((*joined[beside].parts, *row.parts))
    return joined


def _add(rows: list[_Row], hit: Quotable, room: int, budget: int, brief_tokens: int) -> RowPart | None:
    """Add a hit to the rows in the longest form that fits into `room`; return that, None where none does."""
    at = next((at for at, row in enumerate(rows) if row.joins(hit)), None)
    others = rows if at is None else [*rows[:at], *rows[at + 1 :]]
    left = room - _cost(others)
    longer = (part.row if at is None else rows[at].with_part(part) for part in _forms(hit, budget))
    row = next((row for row in longer if row.cost <= left), None)
    if row is None and at is None:
        least = hit.brief_row(brief_tokens)
        row = least if least.cost <= left else None
    if row is not None:
        rows[len(rows) if at is None else at : len(rows) if at is None else at + 1] = [row]
    return None if row is None else row.parts[-1]


def _forms(hit: Quotable, budget: int) -> Iterator[RowPart]:
    """Yield the forms of a hit's text, longest first.

    What was noted of a turn stands behind it where it says more of the question, and for one that is long.
    """
    return (
        part for part in (hit.whole, hit.noted, hit.around) if part.words and part.cost <= budget * _SHARE
    )


def _opened(row: _Row, left: int, budget: int) -> _Row:
    """Return a row with the whole text of its parts, as far as it costs no more than `left`."""
    for at, part in enumerate(row.parts):
        if part.short and part.words:
            longer = _Row((*row.parts[:at], part.of.whole, *row.parts[at + 1 :]))
            if longer.cost <= min(left, budget * _MAX_SHARE):
                row = longer
    return row


class _Shown:
    """What is shown so far."""

    def __init__(self) -> None:
        self._beginnings: set[object] = set()
        self._said = SaidSentences()
        self._unread: list[Quotable] = []

    def add(self, hit: Quotable) -> None:
        """Add what others need not say again."""
        if hit.holds:
            self._beginnings |= hit.beginnings
            self._unread.append(hit)

    def say(self, hit: Quotable) -> bool:
        """Return whether a hit only repeats what is shown."""
        own = hit.beginnings
        if not hit.may_go or len(own & self._beginnings) < _MIN_SHARED * len(own):
            return False
        if self._unread:
            self._said.add([sentence for one in self._unread for sentence in one.sentences])
            self._unread.clear()
        return hit.is_in(self._said)


def _says(hit: Quotable, other: Quotable) -> bool:
    """Return whether one hit says all that another does."""
    shared = len(other.beginnings & hit.beginnings)
    enough = shared >= _MIN_SHARED * len(other.beginnings)
    return hit.holds and enough and other.is_in(SaidSentences(hit.sentences))


def _in_best_form(hits: Sequence[Quotable]) -> list[Quotable]:
    """Return hits with each behind one that says the same, or more, in a better form."""
    order = list(range(len(hits)))
    for at, one in enumerate(hits):
        better = [place for place in order[order.index(at) + 1 :] if hits[place].form > one.form]
        for place in better if one.may_go else ():
            if _says(hits[place], one):
                order.remove(place)
                order.insert(order.index(at), place)
                break
    return [hits[place] for place in order]


def _relevant(hits: Sequence[Quotable]) -> list[Quotable]:
    """Drop hits far behind the best; keep all versions of a fact if one is kept."""
    passages = [one.hit for one in hits if not one.hit.meta.get("applies")]  # how well it fits is no score
    best = max((hit.score for hit in passages), default=0.0)
    best_passage = max((hit.score for hit in passages if hit.kind != "fact"), default=0.0)
    near = {_fact_key(hit) for hit in passages if hit.kind == "fact" and hit.score >= _MIN_FACT_SHARE * best}

    def is_near(hit: Hit) -> bool:
        if hit.kind == "fact":
            return _fact_key(hit) in near
        share = _MIN_ASKING_SHARE if hit.kind == "turn" and only_asks(hit.text) else _MIN_PASSAGE_SHARE
        return hit.score >= max(share * best_passage, _MIN_SHARE_OF_ALL * best)

    return [one for one in hits if one.hit.meta.get("applies") or is_near(one.hit)]


def _fact_key(hit: Hit) -> tuple[object, ...]:
    return hit.scope, hit.meta.get("subject"), hit.meta.get("predicate") or hit.ref
