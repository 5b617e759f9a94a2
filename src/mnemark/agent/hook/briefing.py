"""Brief an agent at the start of a session, or after a compaction, and note what it was shown."""

from pathlib import Path
from typing import Final

from mnemark.agent.hook import shown
from mnemark.agent.hook.event import HookCall
from mnemark.agent.upkeep import take_news
from mnemark.facts.plain_workspace import PlainWorkspace
from mnemark.files import trust
from mnemark.files.sessions import SessionLog
from mnemark.memory.prompt.briefing import briefing
from mnemark.text.quoting.fence import fenced

_UNTRUSTED: Final = (
    "The memory in {0} was copied, moved or made elsewhere, so nothing of it briefs you. If it is "
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
    return "\n".join(filter(None, (found.text, news and fenced(news, label="upkeep"))))
