"""Tell an agent what memory has for one request: a briefing, and a recall without what stands in it."""

from typing import TYPE_CHECKING, Final

from mnemark.agent.hook import shown
from mnemark.facts.plain_workspace import PlainWorkspace
from mnemark.memory.prompt.briefing import BUDGET, Briefing, briefing
from mnemark.types import Recall

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory

_START: Final = 10.0
"""Seconds that a first recall may take while nobody waits for its answer."""


def get_ready(memory: "Memory") -> None:
    """Load all that `told` and its recall need, so that a host's first turn is in time."""
    memory.workspace.searcher.load()
    told(memory.workspace, memory.recall("memory 记忆", deadline=_START))  # loads the code on its way, too


def told(
    ws: PlainWorkspace,
    found: Recall | None,
    *,
    scope: str = "",
    budget: int | None = None,
    brief: int = BUDGET,
    least: float | None = None,
) -> str:
    """Return the blocks for one request, quoted; empty where memory has nothing to say.

    Args:
        ws: the workspace.
        found: what was recalled for the request; None where nothing was asked.
        scope: scope to include beside the root's.
        budget: tokens of the recall; as configured by default.
        brief: tokens of the briefing; 0 for none.
        least: the minimum of `Recall.believable`; by default that of hooks.
    """
    before = briefing(ws, ws.now(), scope=scope, budget=brief) if brief else Briefing()
    if found is None:
        return before.text
    marks = shown.marks_of_briefing(before)
    tokens = ws.config.recall_budget if budget is None else budget
    block, _ = shown.new_block(found, ws.config.recall_hits, marks, tokens, least=least)
    return "\n".join(filter(None, (before.text, block)))
