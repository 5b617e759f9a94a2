"""What was learned from conversations: learn from those that were imported, then confirm or strike it."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from mnemark.memory.browse.check import settle, to_check
from mnemark.memory.learning.by_rule import price_ahead
from mnemark.memory.review.said import said
from mnemark.memory.sessions.reading import learn_all
from mnemark.present.facts import sentence
from mnemark_faces.web.at import At, Go, PageContent

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory

_AT_ONCE: Final = 100
"""Facts on a page: what is decided is what was shown."""
_SECONDS: Final = 3_600.0
_OF_A_REQUEST: Final = 15.0
"""Seconds of learning on a server, in the request: a node that worked on would be asked by nobody."""
_WAIT: Final = 1.0
_EVERY: Final = 0.3
"""Seconds between two looks at how far it is."""


def show(at: At) -> PageContent:
    """Show what waits to be looked over, or how far the learning is."""
    last = None if at.learning is None else at.learning.last(at.root)
    running = last is not None and last.running  # once: it may end while the page is made
    waiting = [] if running else to_check(at.memory.workspace)
    values = {
        "running": running, "problem": last.problem if last is not None and not running else "",
        "so_far": last.found[-1] if running and last is not None and last.found else None,
        "rows": [(fact, sentence(fact, at.words)) for fact in waiting[:_AT_ONCE]], "total": len(waiting),
        "edit": at.asked("edit"),
        "said": said(at.memory.workspace, waiting[:_AT_ONCE]), "llm": at.memory.config.llm.active,
        "price": price_ahead(at.memory.workspace) if not running else None,
    }  # fmt: skip
    return PageContent("learned.html", values, {"learned": waiting[:_AT_ONCE], "total": len(waiting)})


def decide(at: At) -> Go:
    """Begin to learn, or confirm what is marked and strike what was shown and is not."""
    if at.sent("do") == "learn":
        if at.hosted:
            learn_all(at.memory.workspace, budget_seconds=_OF_A_REQUEST)
        elif at.learning is not None:
            at.learning.start(at.root, _learn).wait(_WAIT)
        return Go(at.link("learned"))
    shown, right = at.all_sent("shown"), set(at.all_sent("right"))
    done = settle(at.memory.workspace, [one for one in shown if one in right],
                  [one for one in shown if one not in right])  # fmt: skip
    parts = [at.words.count(done.confirmed, "1 fact confirmed", "{n} facts confirmed")] * bool(done.confirmed)
    if gone := len(done.struck) + done.taken_back:
        parts.append(at.words.count(gone, "1 forgotten", "{n} forgotten"))
    at.tell("{text}", text=("，" if at.words.language == "zh" else ", ").join(parts), undo=done.struck)
    return Go(at.link("learned"))


def _learn(memory: "Memory", tell: Callable[[Any], None]) -> None:
    told = 0.0

    def so_far(done: int, total: int) -> None:
        nonlocal told
        if (now := time.monotonic()) > told + _EVERY:
            told = now
            tell((done, total))

    learn_all(memory.workspace, budget_seconds=_SECONDS, progress=so_far)
