"""Complete pending work: edits, facts, erasures and undos that were cut off, observations, attachments.

The steps are independent: one that fails because a file is inaccessible or damaged is reported, and stops
neither the other steps nor the sync that they belong to.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from mnemark.errors import BusyError, MnemarkError
from mnemark.facts import pending
from mnemark.facts.remember import follow
from mnemark.files import edit as editing
from mnemark.files import listing, platform
from mnemark.files.copies import may_be_copy, plan_copies
from mnemark.files.journal import FOLDER
from mnemark.files.private import private
from mnemark.index.sync import SyncReport
from mnemark.memory import file_edits
from mnemark.memory.open_workspace import OpenWorkspace

_SWEEP_SECONDS: Final = 60.0
"""Seconds between looks for temporary files of processes that were killed."""


def finish(ws: OpenWorkspace) -> list[str]:
    """Complete pending work; return the failures. Before a sync, so that it indexes what is written."""
    failed: list[str] = []
    if ws.last_sweep.passed() > _SWEEP_SECONDS:
        ws.last_sweep.mark()
        inside = [Path(folder) for folder, _, _ in os.walk(private(ws.root))]
        for folder in (*inside, ws.root.parent):  # where backups are made
            platform.sweep_folder(folder)
        if (private(ws.root) / "displaced").is_dir():  # most syncs find nothing that was edited
            with _collect_failure("what edits replaced", failed):
                editing.drop_expired(ws.truth)
    if (ws.root / FOLDER).is_dir():
        for name, step in _STEPS.items():
            with _collect_failure(name, failed):
                step(ws)
        reasons = ws.fact_store.blocked.values()
        failed += [f"new facts are not yet written to their file: {reason}" for reason in reasons]
    return [*failed, *_write_notes(ws)]


def _write_facts(ws: OpenWorkspace) -> None:
    pending.catch_up(ws.fact_store)
    pending.drop_decided(ws.fact_store)


def _finish_edits(ws: OpenWorkspace) -> None:
    if lost := file_edits.finish(ws):
        raise MnemarkError("; ".join(f"{one.path}: {one.reason}" for one in lost))


def _finish_forgetting(ws: OpenWorkspace) -> None:
    """Complete erasures and undos that were interrupted or met a busy or inaccessible file."""
    if ws.index.hidden.unfinished():
        from mnemark.memory.forgetting import erase

        erase.finish(ws)
    if ws.fact_store.log.withdrawn() or ws.fact_store.log.ends(undone=True):
        from mnemark.memory.undo import undo

        if waiting := undo.take_out(ws)[1]:
            raise MnemarkError(f"what was undone still stands in {', '.join(waiting)}")


def _finish_merges(ws: OpenWorkspace) -> None:
    """Put in place what a merge that was killed had prepared."""
    if (private(ws.root) / "merges").is_dir():
        from mnemark.memory.merging import arrivals

        arrivals.finish(ws)


_STEPS: Final[dict[str, Callable[[OpenWorkspace], None]]] = {
    "facts that wait for their file": _write_facts,
    "edits that were cut off": _finish_edits,
    "a merge": _finish_merges,
    "forgetting": _finish_forgetting,
}


def after_sync(ws: OpenWorkspace, report: SyncReport) -> list[str]:
    """Remove what killed processes left, and note what people changed in fact files; return the failures."""
    failed: list[str] = []
    if _may_have_come(ws, report):
        from mnemark.memory.merging import arrivals

        with _collect_failure("what another machine sent", failed):
            report = arrivals.take_in(ws, report)
    if report.temporary:
        editing.sweep_temporary(ws.truth, report.temporary)
    if report.touched and ws.searcher.fact_index.changed():
        for scope in ws.searcher.fact_index.scopes():
            # Where another program is saving the file, leave it to the next sync.
            with _collect_failure("changes in fact files", failed), suppress(BusyError):
                follow(ws.fact_store, scope)
    return failed


def _may_have_come(ws: OpenWorkspace, report: SyncReport) -> bool:
    """Whether another machine may have sent something: most memories are of one, and have no copies."""
    return (
        len(listing.names(ws.root, FOLDER, ".jsonl")) > 1
        or bool(plan_copies(one.path for one in report.problems))
        or any(map(may_be_copy, report.replaced))
        or (bool(report.replaced) and bool(ws.visible.hidden.current()))
    )


@contextmanager
def _collect_failure(name: str, failed: list[str]) -> Iterator[None]:
    """Append a failure of a step to `failed`; a lock held by another process is raised."""
    try:
        yield
    except BusyError:
        raise
    except (MnemarkError, OSError) as error:
        failed.append(f"{name}: {error}")


def _write_notes(ws: OpenWorkspace) -> list[str]:
    """Write pending observations, attachments and descriptions to notes; return the failures.

    Those whose file is busy, or could not be written, are kept for the next time.
    """
    failed: list[str] = []
    journal = ws.session_journal
    with journal.lock, _collect_failure("observations and attachments", failed):
        journal.refresh()
    if failed or not (journal.waiting or journal.unnoted() or journal.undescribed()):
        return failed
    from mnemark.memory.sessions import attachments, observations

    with _collect_failure("observations", failed):
        observations.note_down(ws)
    with _collect_failure("attachments", failed):
        attachments.bring_in_waiting(ws)
    with _collect_failure("descriptions of attachments", failed):
        attachments.fill_in_rest(ws)
    return failed
