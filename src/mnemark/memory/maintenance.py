"""Complete pending work before and after a sync: edits, facts, erasures, observations.

Each step stands for itself: one that cannot be done now, because a file is closed or damaged, is told, and
keeps neither the others nor the sync from being done.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from mnemark.errors import BusyError, MnemarkError
from mnemark.facts import remember
from mnemark.memory import file_edits
from mnemark.memory.open_workspace import OpenWorkspace

_PATIENCE: Final = 2.0


def before_sync(ws: OpenWorkspace) -> list[str]:
    """Complete pending work before files are indexed; return why some could not be done."""
    failed: list[str] = []
    if (ws.root / "journal").is_dir():
        steps: tuple[tuple[str, Callable[[OpenWorkspace], object]], ...] = (
            ("facts that wait for their file", lambda ws: remember.catch_up(ws.fact_store)),
            ("edits that were cut off", file_edits.finish),
            ("forgetting", finish_forgetting),
        )
        for name, step in steps:
            with _told(name, failed):
                step(ws)
        failed += [
            f"new facts are not yet written to their file: {reason}"
            for reason in ws.fact_store.blocked.values()
        ]
    with _told("observations and attachments", failed):
        write_pending(ws)
    return failed


def finish_forgetting(ws: OpenWorkspace) -> None:
    """Complete erasures and undos that were cut off or met a file that was busy or closed."""
    if ws.index.hidden.unfinished():
        from mnemark.memory.forgetting import erase

        erase.finish(ws)
    if ws.fact_store.log.withdrawn:
        from mnemark.memory.undo import undo

        undo.take_out(ws)


def after_sync(ws: OpenWorkspace, *, touched: bool) -> list[str]:
    """Note what people changed in the fact files."""
    failed: list[str] = []
    if touched and ws.searcher.fact_index.changed():
        for scope in ws.searcher.fact_index.scopes():
            # While somebody saves, the next time.
            with _told("changes in fact files", failed), suppress(BusyError):
                remember.follow(ws.fact_store, scope)
    return failed


@contextmanager
def _told(name: str, failed: list[str]) -> Iterator[None]:
    """Add a failure of a step to `failed`; a held lock is for the caller to tell."""
    try:
        yield
    except BusyError:
        raise
    except (MnemarkError, OSError) as error:
        failed.append(f"{name}: {error}")


def write_pending(ws: OpenWorkspace) -> None:
    """Write down observations, attachments and descriptions that wait; what is busy waits on."""
    journal = ws.session_journal
    with journal.lock:
        journal.refresh()
        waits = journal.waiting or journal.unnoted() or journal.undescribed()
        if ws.readonly or not waits:
            return
        waiting, journal.waiting = journal.waiting, []
    from mnemark.memory.sessions import attachments, observations

    observations.note_down(ws)
    for one in waiting:
        _, busy = attachments.bring_in(ws, one.scope, one.path, [one.placed], given=one.given)
        if busy:
            with journal.lock:
                journal.waiting.append(one)
    attachments.fill_in_rest(ws)
