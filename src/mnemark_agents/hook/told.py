"""Tell an agent what memory has: at the start of a session, and for one request."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemark.facts.visible import PlainWorkspace
from mnemark.files import off_record, trust
from mnemark.files.config import load
from mnemark.files.off_record import told as told_off
from mnemark.files.sessions import SessionLog
from mnemark.memory.prompt.briefing import BUDGET, Briefing, briefing
from mnemark.text.quoting.fence import fenced
from mnemark.types import Recall
from mnemark_agents.hook import shown
from mnemark_agents.hook.event import FLOOR, HookCall
from mnemark_agents.upkeep import take_news

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory

_START: Final = 10.0
"""Seconds that a first recall may take while nobody waits for its answer."""

_UNTRUSTED: Final = (
    "The memory in {0} was not made by mnemark on this machine, so nothing of it briefs you. If it is "
    "theirs, the person you work for can run: mnemark trust {0}"
)


def brief(ws: PlainWorkspace, call: HookCall, scope: str) -> str:
    """Return the briefing of a session in that scope; empty where memory holds nothing for it."""
    if not trust.is_trusted(ws.root):
        return fenced(_UNTRUSTED.format(ws.root), label="upkeep")
    cwd = call.data.get("cwd")
    inside = isinstance(cwd, str) and cwd and Path(cwd).resolve().is_relative_to(ws.root.resolve())
    found = briefing(ws, ws.now(), scope=scope, known=(call.agent.reads,) if inside else ())
    if call.session:
        marks = shown.marks_of_briefing(found)
        shown.save(ws.root, SessionLog(ws.root, call.session).name, marks)
    news = take_news(ws.root) if not ws.readonly else ""
    span = off_record.load(ws.root).current()
    off = "" if span is None else f"{told_off(span).capitalize()}."
    more = "\n".join(filter(None, (off, news)))
    return "\n".join(filter(None, (found.text, more and fenced(more, label="upkeep"))))


def brief_alone(root: Path, call: HookCall, scope: str) -> str:
    """Return the briefing of a session, as `brief` does, where no workspace is open."""
    return brief(PlainWorkspace(root, load(root)), call, scope)


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
    least: float = FLOOR,
) -> str:
    """Return the blocks for one request, quoted; empty where memory has nothing to say.

    Args:
        ws: the workspace.
        found: what was recalled for the request; None where nothing was asked.
        scope: scope to include beside the root's.
        budget: tokens of the recall; as configured by default.
        brief: tokens of the briefing; 0 for none.
        least: the minimum of `Recall.on_topic`.
    """
    before = briefing(ws, ws.now(), scope=scope, budget=brief) if brief else Briefing()
    if found is None:
        return before.text
    marks = shown.marks_of_briefing(before)
    tokens = ws.config.recall_budget if budget is None else budget
    block, _ = shown.new_block(found, marks, tokens, least=least)
    return "\n".join(filter(None, (before.text, block)))
