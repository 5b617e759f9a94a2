"""Recall for a prompt by words alone, where no daemon runs."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from mnemark.errors import NotFoundError
from mnemark.files import layout
from mnemark.files.sessions import SessionLog
from mnemark.retrieval.words import by_words_of
from mnemark.types import Recall
from mnemark_agents.hook import shown
from mnemark_agents.hook.event import HookCall
from mnemark_agents.hook.log import log
from mnemark_agents.hook.project import folder_of

_HITS: Final = 8
"""Maximum number of passages of a recall."""
_BUDGET: Final = 800
"""Tokens of a recall."""
_SLOW_SECONDS: Final = 1.5
"""Seconds of a recall without an index."""


def recall(root: Path, call: HookCall, said: str, scope: str, *, make_index: Callable[[], None]) -> str:
    """Return the block for what was asked, often empty; have the index made where there is none to read."""
    session = SessionLog(root, call.session).name
    path = layout.in_scope(scope, session)
    window = path, shown.first_visible_line(root, path)
    try:
        found = by_words_of(root, said, k=_HITS, exclude=[window], scopes=frozenset({"", scope}))
    except NotFoundError:  # a new workspace
        make_index()
        return ""
    except Exception as error:  # noqa: BLE001 - whatever changed bytes cause; what is no damage fails again
        found = _recall_from_files(root, said, scope, window, error)
        make_index()
    marks = shown.load(root, session)
    text, new = shown.new_block(found, marks, _BUDGET, agent=call.agent.name, folder=folder_of(call.data))
    if text:
        shown.save(root, session, marks | new)
    return text


def _recall_from_files(root: Path, said: str, scope: str, window: tuple[str, int], why: Exception) -> Recall:
    """Recall with an index that cannot be read: from the files, while it is made anew in the background."""
    from mnemark.memory.memory import Memory

    log(root, f"prompt: {type(why).__name__}: {why}; answered from the files, and the index is made anew")
    with Memory.open(root) as memory:
        return memory.recall(said, k=_HITS, scope=scope, exclude=(window,), deadline=_SLOW_SECONDS)
