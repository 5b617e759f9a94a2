"""Build the briefing for the start of a session, or its continuation after a compaction.

Curated memory, the scratchpad, today's notes and the last episodes are read from the files without an index,
which is fast even without a daemon. Like a recall it is one quoted block, so it is recognised in the agent's
transcript and never learned.
"""

import re
from datetime import datetime
from typing import Final

from mnemark.facts.visible import Visible
from mnemark.files import layout, listing
from mnemark.memory.curation.files import read_context
from mnemark.retrieval.past_facts import IsPast
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.markdown.frontmatter import front_matter
from mnemark.text.quoting.fence import fence, inert, inert_together, strip_fences
from mnemark.text.words.tokens import cut_to_tokens, estimate_tokens
from mnemark.types import Problem

BUDGET: Final = 1_500
"""Tokens of the whole block: below the 10,000 characters that Claude Code passes on unshortened."""
CHARACTERS: Final = 9_000
LABEL: Final = "briefing"
_JOIN: Final = "\n\n"
_EPISODES: Final = 3
_SHARES: Final = (0.5, 0.2, 0.3)
"""Shares of the budget for curated memory with today's notes, the scratchpad, and episodes."""
_FRAME: Final = 80
"""Tokens of the fence, the introduction and the headings."""
_MARKERS: Final = lazy_pattern(r"^[ \t]*<!-- mnemark:(?:begin|end) [^\n]*-->[ \t]*(?:\n|\Z)", re.MULTILINE)
"""Markers around generated parts (`text.markdown.generated`), useless to a model."""


def briefing(
    visible: Visible, now: datetime, *, scope: str = "", budget: int = BUDGET, is_past: IsPast | None = None
) -> str:
    """Build the block: at most `budget` estimated tokens and `CHARACTERS` characters, possibly empty.

    Args:
        visible: filter of the workspace's texts.
        now: the time in the owner's zone; its date selects today's notes.
        scope: scope to include beside the root's.
        budget: tokens.
        is_past: see `read_context`.
    """
    available = max(budget - _FRAME, 50)
    core, scratch, past = (int(available * share) for share in _SHARES)
    episodes = _episodes(visible, scope, past)
    pad = _scratchpad(visible, scope, scratch)
    rest = available - estimate_tokens(episodes) - estimate_tokens(pad)
    curated = read_context(visible, now.date(), scope=scope, budget=max(rest, core), is_past=is_past)
    said = [part for text in (curated, pad, episodes) if (part := _MARKERS.sub("", text).strip())]
    parts = [_JOIN.join(inert_together(part.split(_JOIN), _JOIN)) for part in said]
    while parts:
        block = fence(_JOIN.join(parts), label=LABEL)
        if len(block) <= CHARACTERS and estimate_tokens(block) <= budget + _FRAME:
            return block
        if len(parts) > 1:
            parts.pop()
        else:
            return fence(cut_to_tokens(parts[0], available // 2)[: CHARACTERS // 2], label=LABEL)
    return ""


def _folders(scope: str) -> tuple[str, ...]:
    return ("", f"{scope}/") if scope else ("",)


def _text(visible: Visible, path: str) -> str:
    found = visible.read(path)
    if isinstance(found, Problem):  # reported by `status`; the agent cannot fix it
        return ""
    return strip_fences(found.text).strip()


def _scratchpad(visible: Visible, scope: str, budget: int) -> str:
    texts = []
    for folder in _folders(scope):
        path = f"{folder}SCRATCHPAD.md"
        if (visible.root / path).is_file() and (text := _text(visible, path)):
            texts.append(f"## Scratchpad ({path})\n\n{text}")
    return cut_to_tokens(inert(_JOIN.join(texts)), budget)


def _episodes(visible: Visible, scope: str, budget: int) -> str:
    """Return the newest episodes by the dates in their names, newest first."""
    paths = []
    for folder in _folders(scope):
        inside = f"{folder}memory/episodes"
        paths += [f"{inside}/{name}" for name in listing.names(visible.root, inside, ".md")]
    shown = [path for path in paths if layout.place(path) is not None and layout.shown(path) == path]
    newest = sorted(shown, key=lambda path: path.rpartition("/")[2], reverse=True)[:_EPISODES]
    texts = []
    for path in newest:
        whole = _text(visible, path)
        plain = inert(whole[front_matter(whole).end :].strip())
        text = cut_to_tokens(plain, budget // max(len(newest), 1))
        if text:
            texts.append(f"### {path}\n\n{text}")
    return "## Last episodes\n\n" + _JOIN.join(texts) if texts else ""
