"""Shorten long instructions by rule: whole items, and what must be kept first.

Nothing is rephrased. Where not all fits a budget, rules ("never", "必须") go first, then lists, then the
first sentence of each paragraph, then the rest; an item is shown below all that leads to it, with its own
number. What was left out is named.
"""

import re
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Final, NamedTuple

from mnemark.text.markdown.outline import Item, ancestors, outline
from mnemark.text.summary.outline_drop import kept
from mnemark.text.words.tokens import cut_to_tokens, estimate_tokens

_STRICT: Final = re.compile(
    r"\b(?:never|must|always|do not|don'?t|cannot|can'?t|shall|should|only|forbidden|required?|avoid|prefer|"
    r"important|ensure|make sure|under no circumstances|no exceptions?|refuse|ask (?:first|before))\b|"
    r"必须|不要|不得|不可|不许|不准|不能|禁止|严禁|务必|绝不|决不|切勿|请勿|永远|始终|一律|总是|只能|应当|应该|避免|"
    r"优先|原则|(?:^|[，。；])别",
    re.IGNORECASE,
)
_SENTENCE: Final = re.compile(r"(?<=[。！？；])(?=\S)|(?<=[.!?])\s+(?=[\"'“‘(\[A-Z0-9\u2e80-\u9fff])")
_TITLE: Final = re.compile(
    r"(?:soul|agents?|user|memory|identity|persona|claude|about|profile|who you are|scratchpad|"
    r"灵魂|身份|用户|记忆|人格|关于|档案|智能体|说明)|^\d{4}-\d{2}(?:-\d{2})?",
    re.IGNORECASE,
)
_LEADS: Final = 8
"""Headings and leads are looked at for strict words that far up."""


class Compiled(NamedTuple):
    """A text made short."""

    text: str
    tokens: int
    """Estimated."""
    left_out: tuple[str, ...] = ()
    """The first words of each item for which there was no room."""


def principle(text: str) -> bool:
    """Whether it says how something must, or must not, be done."""
    return _STRICT.search(text) is not None


def compiled(text: str, budget: int, *, level: int = 3, first: Callable[[str], bool] = principle) -> Compiled:
    """The text within `budget` estimated tokens, without comments, placeholders and examples.

    Args:
        text: Markdown as a person wrote it.
        budget: tokens at most.
        level: of the outermost headings in the result.
        first: what is to be kept before all else; by default rules.
    """
    items = outline(text)
    places = _without_title(items, kept(items))
    choice = _Choice(items, places, level, first)
    for rank in range(4):
        for at in places:
            choice.take(at, rank, budget)
    shown = choice.text()
    while shown and estimate_tokens(shown) > budget:  # sums of rounded estimates may be short of a token
        choice.give_back()
        shown = choice.text()
    if not shown and places:
        only = next((at for at in places if items[at].kind != "heading"), places[0])
        shown = cut_to_tokens(items[only].text, budget)
    return Compiled(shown, estimate_tokens(shown), choice.left_out())


def _without_title(items: list[Item], places: list[int]) -> list[int]:
    """A first heading that only says which file this is goes."""
    if not places:
        return places
    first = items[places[0]]
    alone = sum(items[at].mark == "#" for at in places) == 1
    return places[1:] if first.mark == "#" and alone and _TITLE.search(first.text) else places


def sentences(text: str) -> list[str]:
    """A paragraph's sentences, English or Chinese."""
    return [part.strip() for part in _SENTENCE.split(text) if part.strip()]


class _Choice:
    """The items shown so far, and what they cost."""

    def __init__(
        self, items: list[Item], places: list[int], level: int, first: Callable[[str], bool]
    ) -> None:
        self._items = items
        self._places = places
        self._level = level
        self._is_first = first
        self._shown: dict[int, str] = {}
        self._order: list[int] = []
        self._cost = 0.0
        self._rules: dict[int, bool] = {}
        self._prices: dict[int, float] = {}
        self._parents = {items[at].parent for at in places}
        self._first = next((at for at in places if items[at].kind != "heading"), -1)
        self._ranks: Mapping[int, int] = {at: self._rank(at) for at in places}

    def _rank(self, at: int) -> int:
        item = self._items[at]
        leads_on = at in self._parents and item.text.rstrip("*_ ").endswith((":", "："))
        if item.kind == "heading" or leads_on:
            return 9
        leads = islice(ancestors(self._items, at), _LEADS)
        if at == self._first or any(map(self._says_rule, [at, *leads])):
            return 0
        return {"item": 1, "paragraph": 2}.get(item.kind, 3)

    def _says_rule(self, at: int) -> bool:
        """Whether an item is to be kept first; looked at once, as thousands may stand below it."""
        if at not in self._rules:
            self._rules[at] = self._is_first(self._items[at].text)
        return self._rules[at]

    def take(self, at: int, rank: int, budget: int) -> None:
        """Show an item, or more of it, if it is its turn and there is room."""
        item = self._items[at]
        own = self._ranks[at]
        brief = _brief(item, self._is_first)
        if own == rank and at not in self._shown:
            self._put(at, item.text if own < 2 else brief, budget)
            if own < 2 and at not in self._shown and brief != item.text:
                self._put(at, brief, budget)
        elif rank == 3 and self._shown.get(at, item.text) != item.text:
            self._put(at, item.text, budget)

    def _put(self, at: int, text: str, budget: int) -> None:
        above = [one for one in ancestors(self._items, at) if one in self._ranks and one not in self._shown]
        cost = self._price(at, text) - (self._price(at, self._shown[at]) if at in self._shown else 0)
        cost += sum(map(self._whole_price, above))
        if self._cost + cost > budget:
            return
        for one in reversed(above):
            self._shown[one] = self._items[one].text
        if at not in self._order:
            self._order.append(at)
        self._shown[at] = text
        self._cost += cost

    def _price(self, at: int, text: str) -> float:
        return estimate_tokens(self._line(at, text)) + 0.5

    def _whole_price(self, at: int) -> float:
        if at not in self._prices:
            self._prices[at] = self._price(at, self._items[at].text)
        return self._prices[at]

    def give_back(self) -> None:
        """Take the last item out again, and what only led to it."""
        last = self._order.pop()
        del self._shown[last]
        for at in sorted(self._shown, reverse=True):
            if at not in self._order and not any(self._items[one].parent == at for one in self._shown):
                del self._shown[at]

    def left_out(self) -> tuple[str, ...]:
        """The first words of what is not shown, or not all."""
        texts = {at: self._items[at].text for at in self._places if self._items[at].kind != "heading"}
        missing = [at for at, text in texts.items() if self._shown.get(at) != text]
        return tuple(cut_to_tokens(" ".join(self._items[at].text.split()), 12) for at in missing)

    def text(self) -> str:
        """All that is shown, in the order it was written."""
        return "\n".join(self._line(at, self._shown[at]) for at in sorted(self._shown)).strip("\n")

    def _line(self, at: int, text: str) -> str:
        item = self._items[at]
        if item.kind == "heading":
            above = [one for one in ancestors(self._items, at) if one in self._ranks]
            depth = sum(self._items[one].kind == "heading" for one in above)
            return f"\n{'#' * min(self._level + depth, 6)} {text}"
        lists = [
            self._items[one].mark for one in ancestors(self._items, at) if self._items[one].kind == "item"
        ]
        indent = " " * sum(len(mark) + 1 for mark in lists)
        if item.kind in {"code", "table"}:
            return "\n".join(indent + line for line in text.split("\n"))
        gap = "\n" if item.kind == "paragraph" and not lists else ""
        space = " " if item.mark and item.mark.isascii() else ""
        return f"{gap}{indent}{item.mark}{space}{text}"


def _brief(item: Item, first: Callable[[str], bool]) -> str:
    """The first sentence and those that are rules; code and tables have no short form."""
    if item.kind not in {"paragraph", "item", "quote"}:
        return item.text
    parts = sentences(item.text)
    chosen = [part for number, part in enumerate(parts) if not number or first(part)]
    if len(chosen) == len(parts):
        return item.text
    return ("" if re.search(r"[\u2e80-\u9fff]", item.text) else " ").join(chosen)
