"""Let the configured model read what sessions left in the queue, and write its notes to their pages."""

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import msgspec

from mnemark.errors import BusyError, MnemarkError
from mnemark.files import off_record
from mnemark.files.layout import scope_of
from mnemark.files.sessions import SessionLog
from mnemark.memory.learning.by_model import Extracted, work
from mnemark.memory.learning.by_rule import LearningReport, learn
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.sessions.ending import Ended, end, rewrite
from mnemark.memory.sessions.recorder import Recorder

if TYPE_CHECKING:
    from mnemark.llm.base import LLM

BEHIND_SECONDS: Final = 600.0
"""Time limit of reading in the background."""

_log = logging.getLogger("mnemark.learning")


class ReadByModel(msgspec.Struct, frozen=True):
    """The result of reading: what was extracted, and the pages that were written again."""

    found: Extracted
    pages: tuple[Ended, ...] = ()


def read(ws: OpenWorkspace, *, seconds: float, model: "LLM | None" = None, path: str = "") -> ReadByModel:
    """Send the queued turns to the model, store facts and notes, and write the pages of ended sittings again.

    Args:
        ws: the workspace; it must be writable.
        seconds: time limit: no request begins after it; none begins while the memory is off the record.
        model: used instead of the configured one; without either, nothing happens.
        path: only turns of this session's log.
    """
    noted: defaultdict[str, set[str]] = defaultdict(set)
    seconds = 0.0 if off_record.load(ws.root).current() else seconds
    found = work(ws, seconds=seconds, model=model, path=path, noted=lambda log, turn: noted[log].add(turn))
    pages = []
    problem = found.problem
    for log, turns in noted.items():
        session = Recorder(ws, SessionLog.at(ws.root, log).id, scope=scope_of(log))
        try:
            pages.append(rewrite(ws, session, turns))
        except BusyError as error:  # the next end of the session writes them
            problem = problem or f"notes: {error}"
    return ReadByModel(msgspec.structs.replace(found, problem=problem), tuple(pages))


def learn_all(
    ws: OpenWorkspace,
    budget_seconds: float = 30.0,
    *,
    model: "LLM | None" = None,
    progress: Callable[[int, int], None] | None = None,
) -> LearningReport:
    """Learn by rule, then with the model if one is configured or given, within the time limit."""
    started = time.monotonic()
    report = learn(ws, budget_seconds=budget_seconds, queue=model is not None, progress=progress)
    left = budget_seconds - (time.monotonic() - started)
    if left <= 0:
        return report
    asked = read(ws, seconds=left, model=model).found
    notes = (*report.notes, *((asked.problem,) if asked.problem else ()))
    return msgspec.structs.replace(
        report, facts=(*report.facts, *asked.facts), asked=asked.asked, noted=asked.notes,
        rejected=asked.rejected, notes=notes,
    )  # fmt: skip


def end_and_read(
    ws: OpenWorkspace, session: Recorder, llm: "LLM | None" = None, *, summary: bool = True
) -> Ended:
    """End a session by rule, then let the configured model, or the one given, read it.

    Without an answer within `timeout` of `[llm]` the pages stay as the rules wrote them, `problems` says why,
    and the turns wait in the queue.
    """
    ended = end(ws, session, summary=summary, queue=llm is not None)
    if not summary or (llm is None and not ws.config.llm.active):
        return ended
    asked = read(ws, seconds=ws.config.llm.timeout, model=llm, path=session.path)
    problem = asked.found.problem
    problems = (*ended.problems, *((f"written without the language model: {problem}",) if problem else ()))
    return _joined(msgspec.structs.replace(ended, problems=problems), asked)


def _joined(ended: Ended, asked: ReadByModel) -> Ended:
    facts = (*ended.facts, *asked.found.facts)
    ended = msgspec.structs.replace(ended, facts=facts, rejected=asked.found.rejected)
    for page in asked.pages:
        if page.by == "llm":
            ended = msgspec.structs.replace(
                ended, by="llm", summary=page.summary or ended.summary,
                episodes=tuple(dict.fromkeys((*ended.episodes, *page.episodes))),
                problems=(*ended.problems, *page.problems),
            )  # fmt: skip
    return ended


def read_behind(ws: OpenWorkspace) -> None:
    """Let the model read on a thread of its own, unless one reads already; `OpenWorkspace.close` ends it."""
    if ws.readonly or not ws.config.llm.active or not ws.reading.acquire(blocking=False):
        return
    threading.Thread(target=_read_behind, args=(ws,), name="mnemark-reading", daemon=True).start()


def _read_behind(ws: OpenWorkspace) -> None:
    try:
        problem = read(ws, seconds=BEHIND_SECONDS).found.problem
        if problem:
            _log.warning("%s: %s", ws.root, problem)
    except (MnemarkError, OSError) as error:
        _log.warning("%s: %s", ws.root, error)
    finally:
        ws.reading.release()
