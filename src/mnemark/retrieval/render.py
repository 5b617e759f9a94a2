"""Render hits as a fenced block for a prompt within a token budget, each with its source.

Three layers: brief (one line of at most `brief_tokens`), excerpt (the words around the match), full. All
hits that fit are rendered in brief first; then, best first, they are expanded to an excerpt and to the full
text while the budget lasts. Tokens are counted after escaping: a hidden character becomes eight visible ones,
and a text full of them would otherwise push the others out of the block.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.markdown.comments import drop_comments
from mnemark.text.quoting.fence import fence, inert, inert_together, visible
from mnemark.text.summary.filler import is_bare, is_courtesy
from mnemark.text.words.tokens import cut_to_tokens, estimate_tokens
from mnemark.types import Hit

BRIEF_TOKENS: Final = 60
_MAX_HIT_SHARE: Final = 0.5
"""Maximum share of the budget for one expanded hit."""

_MIN_PASSAGE_SHARE: Final = 0.2
"""Share of the best passage's score below which passages are dropped: on seven sets of questions, none of
about 600 such passages among the first eight was the answer."""
_MIN_SHARE_OF_ALL: Final = 0.02
"""Share of the best score of all hits, facts included, below which passages are dropped."""
_MIN_FACT_SHARE: Final = 0.1
"""Share of the best score below which facts are dropped."""


def block(hits: Sequence[Hit], *, budget: int, brief_tokens: int = BRIEF_TOKENS) -> str:
    """Render the fenced block, at most `budget` estimated tokens; empty where nothing fits.

    Hits without content ("Noted.", a bare heading, front matter) and hits far behind the best get no row.
    """
    hits = [
        hit
        for hit in _relevant(hits)
        if not (is_courtesy(hit.text) if hit.kind == "turn" else is_bare(hit.text, hit.path))
    ]
    rows = inert_together(_rows(hits, budget, brief_tokens))
    while rows:
        found = fence("\n".join(rows))
        if estimate_tokens(found) <= budget:
            return found
        rows.pop()
    return ""


def _rows(hits: Sequence[Hit], budget: int, brief_tokens: int) -> list[str]:
    """Return escaped rows of the hits that fit the budget, each expanded as far as it allows."""
    left = budget - _fence_tokens()
    chosen: list[tuple[Hit, str]] = []
    sources = {id(hit): source_line(hit) for hit in hits}
    for hit in hits:
        line = inert(brief(hit, sources[id(hit)], brief_tokens))
        cost = estimate_tokens(line) + 1
        if cost <= left:
            chosen.append((hit, line))
            left -= cost
    for layer in (excerpt, full):
        for number, (hit, before) in enumerate(chosen):
            opened = inert(layer(hit, sources[id(hit)]))
            cost = estimate_tokens(opened) - estimate_tokens(before)
            if cost <= left and estimate_tokens(opened) <= max(budget * _MAX_HIT_SHARE, brief_tokens):
                chosen[number] = hit, opened
                left -= cost
    return [row for _, row in chosen]


def _relevant(hits: Sequence[Hit]) -> list[Hit]:
    """Drop hits far behind the best; keep all versions of a fact if one is kept."""
    best = max((hit.score for hit in hits), default=0.0)
    best_passage = max((hit.score for hit in hits if hit.kind != "fact"), default=0.0)
    least = max(_MIN_PASSAGE_SHARE * best_passage, _MIN_SHARE_OF_ALL * best)
    near = {_fact_key(hit) for hit in hits if hit.kind == "fact" and hit.score >= _MIN_FACT_SHARE * best}
    return [hit for hit in hits if (_fact_key(hit) in near if hit.kind == "fact" else hit.score >= least)]


def _fact_key(hit: Hit) -> tuple[object, ...]:
    return hit.scope, hit.meta.get("subject"), hit.meta.get("predicate") or hit.ref


@cache
def _fence_tokens() -> int:
    return estimate_tokens(fence("-"))


def source_line(hit: Hit) -> str:
    """Render a hit's source: ref, date, speaker or title, foreign origin, scope, suspicion."""
    parts = [hit.ref, hit.date[:16].replace("T", " ") if hit.date else "undated"]
    speaker = hit.meta.get("role")
    if hit.kind == "turn" and isinstance(speaker, str):
        parts.append(speaker)
    elif hit.title:
        parts.append(hit.title)
    if hit.origin not in {"owner", "agent", "file"}:
        parts.append(f"from {hit.origin}")
    if hit.scope:
        parts.append(hit.scope)
    if hit.meta.get("suspect"):
        parts.append("looks like instructions")
    return visible(" · ".join(parts))


def brief(hit: Hit, source: str, tokens: int) -> str:
    """Render one line: source, score and first words of the snippet."""
    source = cut_to_tokens(f"- {source} · {hit.score:.2f}", max(tokens - 8, 8))
    least = f"- {visible(hit.ref)}"  # a ref that is cut short cannot be read
    source = source if source.startswith(least) else least
    left = tokens - estimate_tokens(source) - 2
    words = cut_to_tokens(inert(" ".join(hit.snippet.split())), left) if left > 0 else ""
    return f"{source} | {words}" if words else source


def excerpt(hit: Hit, source: str) -> str:
    """Render the source and the words around the match."""
    return f"- {source}\n  {hit.snippet}"


def full(hit: Hit, source: str) -> str:
    """Render the source and the whole passage."""
    shown = without_comments(hit.text).strip()
    return f"- {source}\n  " + shown.replace("\n", "\n  ")


_PIECE: Final = lazy_pattern(r"[^\n。！？!?；;]*(?:[。！？!?；;]+|\n|$)|\n")
_MARKS: Final = lazy_pattern(r"^[ \t]*(?:#{1,6}[ \t]+|[-*+][ \t]+|>[ \t]?|\d{1,3}[.)][ \t]+)+", re.MULTILINE)
"""Markers of headings, lists and quotes at the start of a line, useless once lines are joined."""
_SPACE: Final = lazy_pattern(r"\s+")
_MAX_SCANNED: Final = 20_000
"""Maximum number of characters of a passage searched; only one with an unsplittable line is longer."""


def without_comments(text: str) -> str:
    """Remove Markdown comments, such as the metadata of a fact."""
    return drop_comments(text, blanks=" \t")


def snippet(text: str, idf: Mapping[str, float], *, length: int = 160) -> str:
    """Return up to `length` characters of `text` around the sentence with the rarest terms of the query.

    White space is folded to single spaces; "…" marks omissions.
    """
    text = _MARKS.sub("", without_comments(text[:_MAX_SCANNED]))
    if len(text) <= length:
        return _SPACE.sub(" ", text).strip()
    pieces = [match.group() for match in _PIECE.finditer(text) if match.group().strip()]
    if not pieces:
        return ""
    # Substrings are compared, not terms: a stem is nearly always a prefix of its word, and a snippet is
    # computed for every hit.
    values = [sum(idf[term] for term in idf if term in folded) for folded in map(str.casefold, pieces)]
    best = values.index(max(values))
    first = last = best
    size = len(pieces[best])
    while first or last + 1 < len(pieces):
        after = len(pieces[last + 1]) if last + 1 < len(pieces) else length
        before = len(pieces[first - 1]) if first else length
        if size + after <= length:
            last, size = last + 1, size + after
        elif size + before <= length:
            first, size = first - 1, size + before
        else:
            break
    shown = _SPACE.sub(" ", "".join(pieces[first : last + 1])).strip()
    if len(shown) > length:
        shown = _window(shown, idf, length)
        last = len(pieces) if not shown.endswith("…") else last
    if first and not shown.startswith("…"):
        shown = f"…{shown}"
    if last + 1 < len(pieces) and not shown.endswith("…"):
        shown = f"{shown}…"
    return shown


def _window(shown: str, idf: Mapping[str, float], length: int) -> str:
    """Cut a window from a long sentence, starting a little before its rarest query term."""
    lowered = shown.casefold()
    places = [(weight, lowered.find(term)) for term, weight in idf.items()]
    found = [(weight, place) for weight, place in places if place >= 0]
    start = max(0, max(found)[1] - length // 3) if found else 0
    start = min(start, max(0, len(shown) - length))
    if start:
        space = shown.find(" ", start, start + 20)
        start = space + 1 if space >= 0 else start
    cut = shown[start : start + length]
    return f"{'…' if start else ''}{cut}{'…' if start + length < len(shown) else ''}"
