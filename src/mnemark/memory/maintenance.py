"""What a sync completes beside the index: what was acknowledged or noted, and could not be done at once.

Each step stands for itself: one that cannot be done now, because a file is closed or damaged, is told, and
keeps neither the others nor the sync from being done.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from mnemark.errors import BusyError, MnemarkError
from mnemark.facts import remember
from mnemark.facts.store import state_of
from mnemark.memory import file_edits, projections

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory

_PATIENCE: Final = 2.0


def before_sync(memory: "Memory") -> list[str]:
    """Complete what the files are to hold before they are indexed; why something could not be done."""
    failed: list[str] = []
    if (memory.root / "journal").is_dir():
        steps: tuple[tuple[str, Callable[[Memory], object]], ...] = (
            ("facts that wait for their file", remember.catch_up),
            ("edits that were cut off", file_edits.finish),
            ("forgetting", finish_forgetting),
        )
        for name, step in steps:
            with _told(name, failed):
                step(memory)
        failed += [f"facts wait for their file: {reason}" for reason in state_of(memory).blocked.values()]
    with _told("observations and attachments", failed):
        projections.bring_down(memory)
    return failed


def finish_forgetting(memory: "Memory") -> None:
    """What was to be erased or taken back, and was cut off or met a file that was busy or closed."""
    if memory.index.hidden.unfinished():
        from mnemark.memory.forgetting.erase import finish

        finish(memory)
    if state_of(memory).log.withdrawn:
        from mnemark.memory.undo.undo import take_out

        take_out(memory)


def after_sync(memory: "Memory", *, touched: bool) -> list[str]:
    """Note what people changed in the fact files."""
    failed: list[str] = []
    if touched and memory.book.changed():
        for scope in memory.book.scopes():
            # While somebody saves, the next time.
            with _told("changes in fact files", failed), suppress(BusyError):
                remember.follow(memory, scope)
    return failed


@contextmanager
def _told(name: str, failed: list[str]) -> Iterator[None]:
    """Turn what keeps a step from being done into words. Who holds a lock is for the caller to say."""
    try:
        yield
    except BusyError:
        raise
    except (MnemarkError, OSError) as error:
        failed.append(f"{name}: {error}")


def unfinished(memory: "Memory", *, most: int) -> list[str]:
    """What could not be completed, for people; of what an erase waits for, the first `most`."""
    erasing: list[str] = []
    if memory.index.hidden.unfinished():
        from mnemark.memory.forgetting.erase import still_waiting

        waits = still_waiting(memory)
        erasing = [f"forget: an erase is not finished: {one}" for one in waits[:most]]
        if len(waits) > most:
            erasing.append(f"forget: it waits for {len(waits) - most:,} more; `mnemark doctor` lists them")
    journals = [
        f"journal: {problem}; what was forgotten there may show" for problem in memory.index.hidden.problems
    ]
    return [*erasing, *journals, *(f"sync: {reason}" for reason in memory.failed)]
