"""Promote facts to core memory when they have earned it, and say how.

Said by the owner, or said in two sessions or notes that know nothing of each other, or recalled again and
again.
One-off tasks, questions, quoted text, tool output and what a timer's session said never qualify.
"""

import re
from typing import Final

from mnemark.facts.model import Fact
from mnemark.files import layout
from mnemark.memory.curation.plan import ScopeView
from mnemark.text.quoting.injection import looks_like_instructions

SESSIONS: Final = 2
"""Independent sessions, or notes of different days, that make a fact the memory's own."""
USES: Final = 3
"""Recalls that do."""
SURE: Final = 0.5
"""Least confidence."""
_TIMERS: Final = re.compile(r"(^|/)(cron|heartbeat|dream|scheduler|timer)\b", re.IGNORECASE)
_QUESTION: Final = re.compile(r"[?？]\s*$|(吗|呢)\s*$")


def earned(look: ScopeView, fact: Fact) -> str:
    """How a fact has earned its place, for people; empty where it has not."""
    if _is_out(fact):
        return ""
    if fact.origin == "owner":
        return "said by the owner"
    sessions = {part.strip().partition("#")[0] for part in fact.source.split(",")}
    days = {place.dated for path in sessions if (place := layout.place(path)) and place.role == "daily"}
    sessions = {path for path in sessions if path.endswith(".jsonl") and not _TIMERS.search(path)}
    if len(sessions) >= SESSIONS:
        return f"said in {len(sessions)} sessions"
    if len(days) >= SESSIONS:
        return f"noted on {len(days)} days"
    use = look.uses.get(fact.id)
    if use is not None and use.times >= USES:
        return f"recalled {use.times} times"
    return ""


def _is_out(fact: Fact) -> bool:
    """Whether nothing can earn it a place."""
    doubtful = fact.confidence is not None and fact.confidence < SURE
    passing = fact.review or fact.priority == "transient" or fact.origin in {"tool", "web"}
    words = f"{fact.predicate}: {fact.value}"
    return bool(passing or doubtful or _QUESTION.search(fact.value) or looks_like_instructions(words))
