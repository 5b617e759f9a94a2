"""Shorten Markdown instructions to a token budget by selecting whole items, and check shortened texts.

Nothing is rephrased. If not all fits the budget, rules ("never", "必须") are selected first, then list items,
then the first sentence of each paragraph, then the rest; an item is shown below its ancestors, with its own
number. Omitted items are listed.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.markdown.outline import OutlineItem, ancestors, outline
from mnemark.text.words.segment import query_terms
from mnemark.text.words.stopwords import is_stop
from mnemark.text.words.tokens import cut_to_tokens, estimate_tokens

_EXAMPLE_HEADING: Final = lazy_pattern(
    r"^[\W_\d]*(?:(?:(?:few[- ]shot|usage|sample|code|some|an?) )?examples?\b|templates?\b|samples?\b|e\.g\.|"
    r"示例|例子|举例|范例|样例|案例|模板)(?!\w* (?:of what|for who))",
    re.IGNORECASE,
)
_EXAMPLE: Final = lazy_pattern(
    r"^[\W_]*(?:(?:good |bad )?examples?(?: \d+)?\s*(?:[:：]|\*\*)|e\.g\.?[,:\s]|for example\b|"
    r"for instance\b|such as:|(?:例如|比如|譬如|举例|示例|例子|例)\d*\s*[:：,，])",
    re.IGNORECASE,
)
_HOLLOW: Final = (
    r"(?:your|the user'?s?|user|agent|add|insert|fill|enter|describe|write|pick|choose|put|list|e\.g|"
    r"optional|something|placeholder|name here|todo|tbd|"
    r"在此|在这里|请|此处|这里|填|输入|你的|您的|待|可选|例如|如[:：])"
)
_PLACEHOLDER: Final = lazy_pattern(
    rf"(?<![(（\[【<_*])[(（\[【<_*]++\s*+{_HOLLOW}[^()（）\[\]【】<>]{{0,120}}[)）\]】>_*]+", re.IGNORECASE
)
_TODO: Final = lazy_pattern(
    r"^[\W_]*(?:TODO|TBD|FIXME|XXX|N/?A|none yet|nothing yet|coming soon|lorem ipsum|待定|待填写?|待补充?|"
    r"待办|暂无|无|略|空)(?:\b|(?=[:：。\W])|$)",
    re.IGNORECASE,
)
_BLANKS: Final = lazy_pattern(r"^[\W_]*$")
_CHECKBOX: Final = lazy_pattern(r"^\[[ xX]\]\s*")
_KEY: Final = lazy_pattern(r"^[*_]*+[^:：\n]{1,60}[*_]*+\s*+[:：][*_]*\s*(?P<value>.*)$", re.DOTALL)


def kept(items: list[OutlineItem]) -> list[int]:
    """Return the indexes of the items with content: no examples, placeholders or empty headings."""
    gone: set[int] = set()
    for at, item in enumerate(items):
        if any(above in gone for above in ancestors(items, at)) or _is_example(items, at):
            gone.add(at)
        elif item.kind == "code" and at and at - 1 in gone and _EXAMPLE.match(items[at - 1].text):
            gone.add(at)  # the code block of an "Example:"
    filled: set[int] = set()  # indexes with a child that is kept
    for at in range(len(items) - 1, -1, -1):
        if at not in gone and at not in filled and _is_empty(items, at, gone):
            gone.add(at)
        elif at not in gone:
            filled.add(items[at].parent)
    return [at for at in range(len(items)) if at not in gone]


def _is_example(items: list[OutlineItem], at: int) -> bool:
    item = items[at]
    if item.kind == "heading":
        return bool(_EXAMPLE_HEADING.match(item.text) or _PLACEHOLDER.fullmatch(item.text))
    if item.kind == "code":
        return False
    text = _CHECKBOX.sub("", item.text)
    if _EXAMPLE.match(text):
        return True
    key = _KEY.match(text)
    return _is_placeholder(text) or bool(key and key["value"] and _is_placeholder(key["value"]))


def _is_placeholder(text: str) -> bool:
    left = _PLACEHOLDER.sub("", text)
    if left != text and _BLANKS.match(left):
        return True
    return bool(_TODO.match(text)) and (
        len(text) < 24 or text.lstrip("*_-[ ").upper().startswith(("TODO", "TBD", "FIXME"))
    )


def _is_empty(items: list[OutlineItem], at: int, gone: set[int]) -> bool:
    """Return whether an item without children has no content: a heading, or a key without a value."""
    item = items[at]
    if item.kind == "heading":
        return True
    follows = items[at + 1].kind if at + 1 < len(items) and at + 1 not in gone else ""
    if follows in {"code", "table", "quote"}:  # code without its "Do not run:" means the opposite
        return False
    text = _CHECKBOX.sub("", item.text)
    key = _KEY.match(text)
    return bool(_BLANKS.match(text)) or bool(key and _BLANKS.match(key["value"]))


GROUNDED: Final = 0.6
"""Minimum share of a line's words that must be in the source."""
COVERED: Final = 0.5
"""Minimum share of a rule's words that a line must have to match the rule."""
MOST_LINES: Final = 400
MOST_CHARACTERS: Final = 50_000
"""Maximum size of a shortened text that is checked, as each line is searched in the whole source."""
_EXACT: Final = lazy_pattern(
    r"`[^`\n]+`|https?://\S+|\d[\d.,:/-]*\d|\d|(?<!\w)[~./][\w./-]{2,}|(?<![\w-])[\w-]+/[\w./-]+"
)
_NEGATION: Final = lazy_pattern(
    r"\b(?:not|never|no|don'?t|doesn'?t|cannot|can'?t|won'?t|without|avoid|forbidden|refuse|except|unless|neither|nor)\b|"
    r"不|没|别|勿|禁|严禁|绝不|避免|除非|无需|拒绝",
    re.IGNORECASE,
)
_MARKS: Final = lazy_pattern(r"^[\s>#*+-]*+(?:\d{1,3}[.)、])?\s*")


def complaints(lines: Iterable[str], source: str, *, must: Sequence[str] = ()) -> list[str]:
    """Check `lines` as a shortened form of `source` and return the errors.

    Args:
        lines: the shortened form.
        source: the original text.
        must: items of the source that must be present in some wording.
    """
    shown = [line for line in lines if _MARKS.sub("", line).strip()]
    if len(shown) > MOST_LINES or sum(map(len, shown)) > MOST_CHARACTERS:
        return [f"more than {MOST_LINES} lines or {MOST_CHARACTERS:,} characters: too long to be checked"]
    known = _Source(source)
    found = [wrong for line in shown if (wrong := _error_in(line, known))]
    kept = [words_of(line) for line in shown]
    for rule in must:
        words = words_of(rule)
        if words and max((len(words & one) / len(words) for one in kept), default=0.0) < COVERED:
            found.append(f"a rule is missing: {rule[:80]}")
    return found


class _Source:
    """Inverted index of the items of a text by their words."""

    def __init__(self, text: str) -> None:
        self.words = words_of(text)
        self._flat = _flat(text)
        self._exact = {_bare(exact) for exact in _EXACT.findall(text)}
        pieces: dict[frozenset[str], str] = {}  # of items with the same words the first counts
        for item in outline(text):
            pieces.setdefault(words_of(item.text), item.text)
        self._pieces = list(pieces.values())
        self._sizes = [len(words) for words in pieces]
        self._negations: dict[int, int] = {}
        self._holders: defaultdict[str, list[int]] = defaultdict(list)
        for place, words in enumerate(pieces):
            for word in words:
                self._holders[word].append(place)

    def has(self, exact: str) -> bool:
        """Return whether a number, path or code is in the text verbatim."""
        bare = _bare(exact)
        return bare in self._exact or bare in self._flat

    def negations(self, words: frozenset[str]) -> int | None:
        """Count the negations of the most similar item; None if no item is similar enough."""
        nearest = self._nearest(words)
        if nearest is not None and nearest not in self._negations:
            self._negations[nearest] = len(_NEGATION.findall(self._pieces[nearest]))
        return None if nearest is None else self._negations[nearest]

    def _nearest(self, words: frozenset[str]) -> int | None:
        shared = Counter(place for word in words for place in self._holders.get(word, ()))
        best, share = -1, COVERED
        for place in sorted(shared):
            alike = shared[place] / (len(words) + self._sizes[place] - shared[place])
            if alike > share or (best < 0 and alike == share):
                best, share = place, alike
        return best if best >= 0 else None


def words_of(text: str) -> frozenset[str]:
    """Return the terms of a text, as the index tokenizes it, without stop words."""
    return frozenset(term for term in query_terms(text) if not is_stop(term))


def _error_in(line: str, source: _Source) -> str:
    said = _MARKS.sub("", line)
    words = words_of(said)
    for exact in _EXACT.findall(said):
        if not source.has(exact):
            return f"not in the source: {exact} in {line[:80]!r}"
    if words and len(words & source.words) / len(words) < GROUNDED:
        return f"not in the source: {line[:80]!r}"
    negations = source.negations(words)
    if negations is not None and len(_NEGATION.findall(line)) != negations:
        return f"turned round: {line[:80]!r}"
    return ""


def _bare(exact: str) -> str:
    return _flat(exact.strip("`.,:-"))


def _flat(text: str) -> str:
    return " ".join(text.casefold().split())


_STRICT: Final = lazy_pattern(
    r"\b(?:never|must|always|do not|don'?t|cannot|can'?t|shall|should|only|forbidden|required?|avoid|prefer|"
    r"important|ensure|make sure|under no circumstances|no exceptions?|refuse|ask (?:first|before))\b|"
    r"必须|不要|不得|不可|不许|不准|不能|禁止|严禁|务必|绝不|决不|切勿|请勿|永远|始终|一律|总是|只能|应当|应该|避免|"
    r"优先|原则|(?:^|[，。；])别",
    re.IGNORECASE,
)
_SENTENCE: Final = lazy_pattern(r"(?<=[。！？；])(?=\S)|(?<=[.!?])\s+(?=[\"'“‘(\[A-Z0-9\u2e80-\u9fff])")
_TITLE: Final = lazy_pattern(
    r"(?:soul|agents?|user|memory|identity|persona|claude|about|profile|who you are|scratchpad|"
    r"灵魂|身份|用户|记忆|人格|关于|档案|智能体|说明)|^\d{4}-\d{2}(?:-\d{2})?",
    re.IGNORECASE,
)
_MAX_ANCESTORS: Final = 8  # maximum number of ancestors searched for rules


class Compiled(NamedTuple):
    """A shortened text."""

    text: str
    tokens: int  # estimated
    left_out: tuple[str, ...] = ()  # first words of each omitted item


def principle(text: str) -> bool:
    """Return whether a text is a rule: how something must, or must not, be done."""
    return _STRICT.search(text) is not None


def compiled(text: str, budget: int, *, level: int = 3, first: Callable[[str], bool] = principle) -> Compiled:
    """Shorten Markdown to `budget` estimated tokens, without comments, placeholders and examples.

    Args:
        text: Markdown as a person wrote it.
        budget: maximum number of tokens.
        level: level of the outermost headings in the result.
        first: predicate of texts to select before all others; by default rules.
    """
    items = outline(text)
    places = _without_title(items, kept(items))
    selection = _Selection(items, places, level, first)
    for rank in range(4):
        for at in places:
            selection.take(at, rank, budget)
    shown = selection.text()
    while shown and estimate_tokens(shown) > budget:  # the sum of rounded estimates may be too small
        selection.remove_last()
        shown = selection.text()
    if not shown and places:
        only = next((at for at in places if items[at].kind != "heading"), places[0])
        shown = cut_to_tokens(items[only].text, budget)
    return Compiled(shown, estimate_tokens(shown), selection.left_out())


def _without_title(items: list[OutlineItem], places: list[int]) -> list[int]:
    """Remove a first heading that only names the file."""
    if not places:
        return places
    first = items[places[0]]
    alone = sum(items[at].mark == "#" for at in places) == 1
    return places[1:] if first.mark == "#" and alone and _TITLE.search(first.text) else places


def sentences(text: str) -> list[str]:
    """Split a paragraph into sentences, English or Chinese."""
    return [part.strip() for part in _SENTENCE.split(text) if part.strip()]


class _Selection:
    """The items selected so far, and their cost in tokens."""

    def __init__(
        self, items: list[OutlineItem], places: list[int], level: int, first: Callable[[str], bool]
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
        leads = islice(ancestors(self._items, at), _MAX_ANCESTORS)
        if at == self._first or any(map(self._says_rule, [at, *leads])):
            return 0
        return {"item": 1, "paragraph": 2}.get(item.kind, 3)

    def _says_rule(self, at: int) -> bool:
        """Return whether an item is selected first; cached, as it may have thousands of descendants."""
        if at not in self._rules:
            self._rules[at] = self._is_first(self._items[at].text)
        return self._rules[at]

    def take(self, at: int, rank: int, budget: int) -> None:
        """Select an item, or more of it, if it has this rank and fits the budget."""
        item = self._items[at]
        own = self._ranks[at]
        brief = _brief(item, self._is_first)
        if own == rank and at not in self._shown:
            self._add(at, item.text if own < 2 else brief, budget)
            if own < 2 and at not in self._shown and brief != item.text:
                self._add(at, brief, budget)
        elif rank == 3 and self._shown.get(at, item.text) != item.text:
            self._add(at, item.text, budget)

    def _add(self, at: int, text: str, budget: int) -> None:
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

    def remove_last(self) -> None:
        """Remove the item selected last, and ancestors that were only needed for it."""
        last = self._order.pop()
        del self._shown[last]
        for at in sorted(self._shown, reverse=True):
            if at not in self._order and not any(self._items[one].parent == at for one in self._shown):
                del self._shown[at]

    def left_out(self) -> tuple[str, ...]:
        """Return the first words of each item that is not shown in full."""
        texts = {at: self._items[at].text for at in self._places if self._items[at].kind != "heading"}
        missing = [at for at, text in texts.items() if self._shown.get(at) != text]
        return tuple(cut_to_tokens(" ".join(self._items[at].text.split()), 12) for at in missing)

    def text(self) -> str:
        """Return the text of the selected items, in document order."""
        return "\n".join(self._line(at, self._shown[at]) for at in sorted(self._shown)).strip("\n")

    def _line(self, at: int, text: str) -> str:
        item = self._items[at]
        if item.kind == "heading":
            above = [one for one in ancestors(self._items, at) if one in self._ranks]
            depth = sum(self._items[one].kind == "heading" for one in above)
            return f"\n{'#' * min(self._level + depth, 6)} {text}"
        parents = [self._items[one] for one in ancestors(self._items, at)]
        lists = [parent.mark for parent in parents if parent.kind == "item"]
        indent = " " * sum(len(mark) + 1 for mark in lists)
        if item.kind in {"code", "table"}:
            return "\n".join(indent + line for line in text.split("\n"))
        gap = "\n" if item.kind == "paragraph" and not lists else ""
        space = " " if item.mark and item.mark.isascii() else ""
        return f"{gap}{indent}{item.mark}{space}{text}"


def _brief(item: OutlineItem, first: Callable[[str], bool]) -> str:
    """Return the first sentence and those that are rules; code and tables are returned whole."""
    if item.kind not in {"paragraph", "item", "quote"}:
        return item.text
    parts = sentences(item.text)
    chosen = [part for number, part in enumerate(parts) if not number or first(part)]
    if len(chosen) == len(parts):
        return item.text
    return ("" if re.search(r"[\u2e80-\u9fff]", item.text) else " ").join(chosen)
