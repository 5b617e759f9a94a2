"""Quote recalled text and unvouched facts for the user's role of a prompt."""

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple

import msgspec

from mnemark.facts.visible import PlainWorkspace
from mnemark.files import layout, listing
from mnemark.files.names import OBSERVED
from mnemark.memory.curation.files import day_files, without_own_comments
from mnemark.memory.curation.identity import Part
from mnemark.memory.curation.personas import chosen, weighted
from mnemark.memory.prompt.parts import (
    JOIN,
    FactLine,
    Layer,
    cut,
    fact_layer,
    first_words,
    pieces_of,
    without_bare_headings,
)
from mnemark.retrieval.block import Quotable, pack
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.markdown.generated import find
from mnemark.text.quoting.fence import check_fenced, fenced, inert, inert_together, strip_fences
from mnemark.text.words.restated import BareSentence, SaidSentences, sentences
from mnemark.text.words.tokens import estimate_tokens
from mnemark.types import Problem, Recall

_FIRST: Final = 400
"""Pieces of a layer whose tokens are counted as they will be shown."""
_FRAME: Final = 70
"""Tokens of the quotation's frame."""
_DATED: Final = lazy_pattern(r" · [0-9]{4}-[0-9]{2}-[0-9]{2}$")
"""The date behind a line of the scratchpad."""
_MARKER: Final = lazy_pattern(r"^[ \t]*<!-- mnemark:end ([\w-]+) -->", re.MULTILINE)


class PromptRequest(NamedTuple):
    """What a prompt is made for."""

    recall: Recall | None
    """What was found for the message; None where there is no question."""
    session: str
    """Its id; may be empty."""
    scope: str
    persona: str | None
    now: datetime
    known: frozenset[str] = frozenset()
    """Names, in lower case, of files of identity that the agent reads by itself."""

    @property
    def folders(self) -> tuple[str, ...]:
        """The root's and the scope's folder, each empty or ending in a slash."""
        return ("", f"{self.scope}/") if self.scope else ("",)


def text_of(ws: PlainWorkspace, path: str) -> str:
    """Return a file's text without secrets and recalled blocks; empty where it cannot be read."""
    found = ws.visible.read(path)
    return "" if isinstance(found, Problem) else strip_fences(found.text)


def scratchpads(ws: PlainWorkspace, asked: PromptRequest) -> list[tuple[str, str]]:
    """Return paths and texts of the scratchpads, the root's first."""
    found = []
    for folder in asked.folders:
        names = listing.names(ws.root, folder.rstrip("/"), ".md")
        paths = [folder + name for name in names if name.casefold() == "scratchpad.md"]
        found += [(path, text) for path in paths if (text := text_of(ws, path)).strip()]
    return found


def _inert(layer: Layer) -> tuple[str, ...]:
    """Make the first pieces inert; the many behind them are, if one is shown, with the whole block."""
    return (*inert_together(layer.pieces[:_FIRST], layer.joint), *layer.pieces[_FIRST:])


class QuotedBlock:
    """The quoted block, for one budget after the other."""

    def __init__(
        self,
        ws: PlainWorkspace,
        asked: PromptRequest,
        doubtful: Sequence[FactLine],
        more: Sequence[Layer] = (),
    ) -> None:
        self._ws = ws
        self._more = more
        self._asked = asked
        self._read: dict[str, list[BareSentence]] = {}
        """What pieces say, read once."""
        self._listed: dict[str, list[BareSentence]] = {}
        """What lines say that list an observation, which has the time itself."""
        self._shown: list[BareSentence] = []
        """What the prompt says elsewhere."""
        self.recall = asked.recall
        day = asked.now.date()
        self._days = [path for folder in asked.folders for path in day_files(ws.root, folder, day)]
        # Inert first, so that what pieces cost is known before they are chosen.
        self._layers = [
            msgspec.structs.replace(one, pieces=_inert(self._corrected(one)))
            for one in self._make(doubtful)
            if one.pieces
        ]
        hits = self.recall.hits if self.recall else ()
        shown = {path for path in {hit.path for hit in hits} if self._is_shown(path)}
        personas = chosen(ws, asked.persona, scope=asked.scope)
        self.problems = [problem for one in personas for problem in one.problems]
        """Wrong values in persona files."""
        left = weighted([hit for hit in hits if hit.path not in shown], personas)
        self._hits = [Quotable(hit) for hit in left]
        """What is read of a hit is read once, for all budgets."""

    def _corrected(self, layer: Layer) -> Layer:
        """Return a layer of pages that were made of turns with what was corrected in it since."""
        corrections = self._ws.visible.corrections.current()
        if not corrections or layer.name == "facts":
            return layer
        told = ((piece, corrections.of_text(piece)) for piece in layer.pieces)
        pieces = tuple("\n".join((piece, *(f"  [{one}]" for one in found))) for piece, found in told)
        return msgspec.structs.replace(layer, pieces=pieces)

    def _is_shown(self, path: str) -> bool:
        """Return whether a file has a layer of its own."""
        place = layout.place(path)
        own = place is not None and place.role in {"identity", "longterm", "scratchpad", "persona"}
        return own or path in self._days

    def _make(self, doubtful: Sequence[FactLine]) -> list[Layer]:
        layers = []
        for path, text in scratchpads(self._ws, self._asked):
            parts = [part for name in _MARKER.findall(text) if (part := find(text, name)) is not None]
            lines = tuple(line for part in parts for line in part.lines)
            layers.append(Layer(name="scratchpad", heading=f"[{path}]", pieces=lines, sources=(path,)))
        layers += [self._day(path) for path in self._days]
        layers += self._more
        if doubtful and self.recall is None:  # else recall finds those that matter
            layers.append(fact_layer("facts", "[facts, not confirmed]", doubtful))
        return layers

    def _day(self, path: str) -> Layer:
        text = text_of(self._ws, path)
        self._listed |= {one["line"]: sentences(one["title"]) for one in OBSERVED.finditer(text)}
        pieces = pieces_of(without_own_comments(text))
        return Layer(name="day", heading=f"[{path}]", pieces=pieces, sources=(path,), joint=JOIN, newest=True)

    def leave_out(self, refs: Collection[str], lines: Iterable[str]) -> bool:
        """Leave out facts that the prompt shows elsewhere, and what repeats its lines; tell if any does."""
        self._shown = sentences("\n".join(line.lstrip("# ") for line in lines))
        said, before = SaidSentences(self._shown), len(self._hits)
        self._hits = [one for one in self._hits if one.hit.ref not in refs and not one.is_in(said)]
        return len(self._hits) < before or any(self._new(layer, said) != layer for layer in self._layers)

    def _says(self, piece: str) -> list[BareSentence]:
        if piece not in self._read:
            self._read[piece] = sentences(_DATED.sub("", piece))
        return self._read[piece]

    def _new(self, layer: Layer, said: SaidSentences) -> Layer:
        """Return a layer without the pieces that only repeat what was said; the first many are looked at."""
        few, rest = layer.pieces[:_FIRST], layer.pieces[_FIRST:]
        listed = (self._without_listed(piece, said) for piece in few)
        kept = tuple(piece for piece in listed if piece and not said.repeats(self._says(piece), 1))
        if kept != few:  # a heading goes with all that stood below it
            return msgspec.structs.replace(layer, pieces=without_bare_headings((*kept, *rest)))
        return layer

    def _without_listed(self, piece: str, said: SaidSentences) -> str:
        """Return a piece without the lines that list observations which were said; empty if none is left."""
        lines = piece.split("\n")
        left = [one for one in lines if not said.repeats(self._listed.get(one, ()), 1)]
        return piece if left == lines else "\n".join(left if any(one[:1] != "#" for one in left) else [])

    def part(self, budget: int) -> Part:
        """Return the block within its budget: hits, scratchpad, today's notes, episodes, doubtful facts."""
        room = budget - _FRAME
        found: list[str] = []
        sources: list[str] = []
        left: list[str] = []
        said = SaidSentences(self._shown)
        rows, hits = self._recalled(room)
        if rows:
            found.append(rows)
            said.add([one for hit in hits for one in hit.sentences])
        for layer in self._layers:
            part = cut(self._new(layer, said), room - estimate_tokens(JOIN.join([*found, ""])))
            left += part.left_out
            if part.text:
                found.append(inert(part.text))
                sources += layer.sources
                said.add(self._says(part.text))
        text = fenced(JOIN.join(found)) if found else ""
        while found and estimate_tokens(text) > budget:
            left.append(first_words(found.pop()))
            text = fenced(JOIN.join(found)) if found else ""
        shown = {one.hit.ref for one in hits} if text and found else set()
        refs = [one.hit.ref for one in self._hits]
        sources = [*(ref for ref in refs if ref in shown), *sources]
        left = [*(ref for ref in refs if ref not in shown), *left]
        return Part(
            name="dynamic", text=text, role="user", sources=tuple(sources), tokens=estimate_tokens(text),
            budget=budget, left_out=tuple(left),
        )  # fmt: skip

    def _recalled(self, room: int) -> tuple[str, tuple[Quotable, ...]]:
        """Return the rows of the hits that fit, without the fence, and these hits."""
        if room <= 0 or not self._hits:
            return "", ()
        text, hits = pack(self._hits, budget=room + _FRAME, brief_tokens=self._ws.config.brief_tokens)
        return ("\n".join(text.split("\n")[2:-1]), hits) if check_fenced(text) else ("", ())
