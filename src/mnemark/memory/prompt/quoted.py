"""Quote recalled text and unvouched facts for the user's role of a prompt."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from mnemark.files import layout, listing
from mnemark.memory.curation.files import day_files
from mnemark.memory.curation.identity import Part
from mnemark.memory.curation.personas import chosen, weighted
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.prompt.facts import FactLine
from mnemark.memory.prompt.parts import JOIN, Layer, cut, fact_layer, first_words, pieces_of
from mnemark.retrieval.block import NOTHING, Block, block
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.markdown.generated import find
from mnemark.text.quoting.fence import check_fenced, fenced, inert, inert_together, strip_fences
from mnemark.text.words.tokens import estimate_tokens
from mnemark.types import Hit, Problem, Recall

if TYPE_CHECKING:
    from mnemark.memory.sessions.session import Session

_FIRST: Final = 400
"""Pieces of a layer whose tokens are counted as they will be shown."""
_FRAME: Final = 70
"""Tokens of the quotation's frame."""
_MARKER: Final = lazy_pattern(r"^[ \t]*<!-- mnemark:end ([\w-]+) -->", re.MULTILINE)


class PromptRequest(NamedTuple):
    """What a prompt is made for."""

    query: str | None
    session: "Session | None"
    scope: str
    deadline: float | None
    persona: str | None
    now: datetime
    counted: bool = True
    """Whether what is recalled counts as used."""

    @property
    def folders(self) -> tuple[str, ...]:
        """The root's and the scope's folder, each empty or ending in a slash."""
        return ("", f"{self.scope}/") if self.scope else ("",)


def text_of(ws: OpenWorkspace, path: str) -> str:
    """Return a file's text without secrets and recalled blocks; empty where it cannot be read."""
    found = ws.visible.read(path)
    return "" if isinstance(found, Problem) else strip_fences(found.text)


def scratchpads(ws: OpenWorkspace, asked: PromptRequest) -> list[tuple[str, str]]:
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


class Quoted:
    """The quoted block, for one budget after the other; recall runs once."""

    def __init__(self, ws: OpenWorkspace, asked: PromptRequest, doubtful: Sequence[FactLine]) -> None:
        self._ws = ws
        self._asked = asked
        self.recall = self._found()
        """None where there is no question."""
        day = asked.now.date()
        self._days = [path for folder in asked.folders for path in day_files(ws.root, folder, day)]
        # Inert first, so that what pieces cost is known before they are chosen.
        self._layers = [
            msgspec.structs.replace(one, pieces=_inert(one)) for one in self._make(doubtful) if one.pieces
        ]
        hits = [hit for hit in self.recall.hits if not self._is_shown(hit)] if self.recall else []
        personas = chosen(ws, asked.persona, scope=asked.scope)
        self.problems = [problem for one in personas for problem in one.problems]
        """Wrong values in persona files."""
        self._hits = weighted(hits, personas)

    def _found(self) -> Recall | None:
        asked = self._asked
        query = asked.query
        if query is None and asked.session is not None:
            said = [turn.content for turn in asked.session.last() if turn.origin == "owner"]
            query = said[-1] if said else None
        if not query or not query.strip():
            return None
        if asked.session is not None:
            return asked.session.recall(query, deadline=asked.deadline)
        return self._ws.searcher.recall(
            query, deadline=asked.deadline, scope=asked.scope or None, now=asked.now, counted=asked.counted
        )

    def _is_shown(self, hit: Hit) -> bool:
        place = layout.place(hit.path)
        shown = place is not None and place.role in {"identity", "longterm", "scratchpad", "persona"}
        return shown or hit.path in self._days

    def _make(self, doubtful: Sequence[FactLine]) -> list[Layer]:
        layers = []
        for path, text in scratchpads(self._ws, self._asked):
            parts = [part for name in _MARKER.findall(text) if (part := find(text, name)) is not None]
            lines = tuple(line for part in parts for line in part.lines)
            layers.append(Layer(name="scratchpad", heading=f"[{path}]", pieces=lines, sources=(path,)))
        if doubtful and self.recall is None:  # else recall finds those that matter
            layers.append(fact_layer("facts", "[facts, not confirmed]", doubtful))
        layers += [self._day(path) for path in self._days]
        return layers

    def _day(self, path: str) -> Layer:
        pieces = pieces_of(text_of(self._ws, path))
        return Layer(name="day", heading=f"[{path}]", pieces=pieces, sources=(path,), joint=JOIN, newest=True)

    def part(self, budget: int) -> Part:
        """Return the block within its budget: hits, the scratchpad, doubtful facts, today's notes."""
        room = budget - _FRAME
        found: list[str] = []
        sources: list[str] = []
        left: list[str] = []
        recalled = self._recalled(room)
        if recalled.text:
            found.append(recalled.text)
        for layer in self._layers:
            part = cut(layer, room - estimate_tokens(JOIN.join([*found, ""])))
            left += part.left_out
            if part.text:
                found.append(inert(part.text))
                sources += layer.sources
        text = fenced(JOIN.join(found)) if found else ""
        while found and estimate_tokens(text) > budget:
            left.append(first_words(found.pop()))
            text = fenced(JOIN.join(found)) if found else ""
        shown = {hit.ref for hit in recalled.hits} if text and found else set()
        sources = [*(hit.ref for hit in self._hits if hit.ref in shown), *sources]
        left = [*(hit.ref for hit in self._hits if hit.ref not in shown), *left]
        return Part(
            name="dynamic", text=text, role="user", sources=tuple(sources), tokens=estimate_tokens(text),
            budget=budget, left_out=tuple(left),
        )  # fmt: skip

    def _recalled(self, room: int) -> Block:
        """Return the rows of the hits that fit, without the fence."""
        if room <= 0:
            return NOTHING
        packed = block(self._hits, budget=room + _FRAME, brief_tokens=self._ws.config.brief_tokens)
        inside = packed.text.split("\n")[2:-1]
        return packed._replace(text="\n".join(inside)) if check_fenced(packed.text) else NOTHING
