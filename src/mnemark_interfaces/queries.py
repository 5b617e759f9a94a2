"""Run `search`, `recall` and `read`: ask a workspace, print the answer and what limits it.

The command line, its shortcut and the daemon call these functions. The daemon gives its open `memory`;
without one, the workspace is opened and synced.
"""

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mnemark.errors import DegradedError, UsageError
from mnemark.facts.visible import Visible
from mnemark.files.config import load
from mnemark.files.mounts import mounts_of
from mnemark.files.reading import READ_LIMIT
from mnemark.files.scan import scan
from mnemark.retrieval.read import located, read_ref
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.types import Hit, Recall
from mnemark_interfaces import output, render, workspace

if TYPE_CHECKING:
    from mnemark.memory.browse.browse import FoundPage
    from mnemark.memory.memory import Memory

_ESCAPED: Final = lazy_pattern("[\udc80-\udcff]")
COLD_DEADLINE: Final = 2.0
"""Default deadline of `recall` in seconds: a new process loads dictionaries and index first; the configured
150 ms are for a warm one."""
_DAEMON_WAIT: Final = 0.2
"""Seconds that a query in the daemon waits for another process to sync."""
DOUBTFUL: Final = 0.38
"""`Recall.on_topic` below which memory likely holds nothing on what was asked."""


def by_belief(found: "FoundPage") -> "tuple[list[Hit], list[Hit]]":
    """Return the hits of a search that are believed, and the others."""
    from mnemark.retrieval.block import believed

    sure = believed(found.rows) if found.on_topic >= DOUBTFUL else []
    refs = {hit.ref for hit in sure}
    return sure, [hit for hit in found.rows if hit.ref not in refs]


def search(
    at: workspace.Subject,
    text: str,
    memory: "Memory | None" = None,
    *,
    count: int | None = None,
    kind: Sequence[Any] | None = None,
    origin: Sequence[Any] | None = None,
    scope: Sequence[str] | None = None,
    explain: bool = False,
    strict: bool = False,
    json: bool = False,
    **options: Any,
) -> Recall:
    """Search notes, facts and conversations; print the hits. `options` are others of `Memory.search`."""
    found, skipped = _ask(
        at.root,
        memory,
        lambda memory: memory.search(
            text, k=count, kinds=kind or None, origins=origin or None, scope=at.scopes(scope),
            explain=explain, **options,
        ),
    )  # fmt: skip
    if json:
        output.out_json(found)
    else:
        render.hits(found, text, explain=explain)
    _comment(found, skipped, quiet=json or strict, strict=strict)
    return found


def recall(
    at: workspace.Subject,
    text: str,
    memory: "Memory | None" = None,
    *,
    budget: int | None = None,
    deadline: float = COLD_DEADLINE,
    count: int | None = None,
    scope: Sequence[str] | None = None,
    strict: bool = False,
    json: bool = False,
) -> Recall:
    """Print what memory knows about a message, for a prompt."""
    found, skipped = _ask(
        at.root,
        memory,
        lambda memory: memory.recall(text, budget=budget, deadline=deadline, k=count, scope=at.scopes(scope)),
    )
    if json:
        output.out_json(found)
    elif found.text:
        output.out(found.text)
    elif found.hits:
        output.say(
            "Found something, but none of it fits the token budget; raise --budget, or use `mnemark search`."
        )
    _comment(found, skipped, quiet=json or strict, strict=strict)
    return found


def read(
    at: workspace.Subject,
    ref: str,
    memory: "Memory | None" = None,
    *,
    raw: bool = False,
    json: bool = False,
) -> None:
    """Print a file, or some lines of it."""
    if memory is None:
        config = load(at.root)
        found = located(Visible(at.root, config), config, mounts_of(at.root, config.mounts), ref)
    else:
        found = memory.workspace.searcher.located(ref)
    text = read_ref(*found, raw=raw)
    if json:
        output.out_json({"ref": ref, "text": text})
    elif output.is_terminal(output.stdout()):
        output.out(output.safe(text), end="" if text.endswith("\n") else "\n")
    else:
        output.out(text, end="")


QUERIES: Final[dict[str, Callable[..., Any]]] = {"search": search, "recall": recall, "read": read}


def run(command: str, text: str, given: str | None, **options: Any) -> None:
    """Answer a query of this process: a name of `QUERIES`, its text or ref, and the folder given with -w."""
    text = text if command == "read" else read_text(text)
    at = workspace.place(Path(given) if given else None, any_folder=True)
    QUERIES[command](at, text, **options)


def read_text(argument: str) -> str:
    """Return the argument, or all of stdin where it is "-". Raises UsageError: it is empty, or too long."""
    if argument == "-" and sys.stdin is None:
        raise UsageError('cannot read the text ("-"): stdin is closed; give the text as an argument')
    if argument != "-":
        # Where the locale is not UTF-8, arguments contain surrogate escapes.
        text = os.fsencode(argument).decode("utf-8", "replace") if _ESCAPED.search(argument) else argument
    else:
        data = sys.stdin.buffer.read(READ_LIMIT + 1)
        if len(data) > READ_LIMIT:
            raise UsageError(
                f"the text has more than {READ_LIMIT >> 20} MB; split it, or save it as files here"
            )
        text = data.decode("utf-8", "replace")
    if not text.strip():
        raise UsageError("the text is empty; give at least one word")
    return text


def _ask(root: Path, memory: "Memory | None", question: "Callable[[Memory], Recall]") -> tuple[Recall, int]:
    """Query a workspace; return the answer and, where it is empty, the number of unreadable files.

    No index is made in a folder without any text.
    """
    import msgspec

    if memory is not None:
        if not memory.workspace.index.is_damaged():
            workspace.synced(memory.workspace.searcher.sync, memory, wait=_DAEMON_WAIT, reads=True)
        found = _with_unread(memory, question(memory))
        return found, _skipped(memory, found)
    if workspace.is_empty(root):
        workspace.say_nothing_in(root, unread=False)  # the answer has that
        return Recall(hits=(), mode="none", complete=True, unread=scan(root).unread), 0
    with workspace.followed(root) as (opened, late):
        found = _with_unread(opened, question(opened))
        if late:
            found = msgspec.structs.replace(found, degraded=(*found.degraded, *late), complete=False)
        return found, _skipped(opened, found)


def _with_unread(memory: "Memory", found: Recall) -> Recall:
    """Return an answer with what was not read, if it is empty or doubtful."""
    import msgspec

    if (found.hits and found.on_topic >= DOUBTFUL) or found.unread:
        return found
    return msgspec.structs.replace(found, unread=memory.workspace.searcher.unread())


def _skipped(memory: "Memory", found: Recall) -> int:
    return 0 if found.hits else sum(problem.skipped for problem in memory.stats().problems)


def _comment(found: Recall, skipped: int, *, quiet: bool, strict: bool) -> None:
    """Report what was missing and whether an empty answer can be trusted; with `strict`, fail."""
    _say_limits(found, skipped, quiet=quiet)
    if strict and not found.complete:
        raise DegradedError("; ".join(found.degraded) or "the index was not up to date")


def _say_limits(found: Recall, skipped: int, *, quiet: bool) -> None:
    unread = {} if quiet and found.hits else found.unread
    for reason in () if quiet else found.degraded:
        output.say("Note: {reason}", reason=output.spoken(reason))
    if found.hits and found.complete and found.on_topic < DOUBTFUL and not quiet:
        output.say("Memory may hold nothing on this (confidence {n} of 1).", n=f"{found.on_topic:.2f}")
    if unread:
        output.say("Not read: {what}", what=render.not_read(unread))
    if found.hits or found.mode == "none":
        return
    if found.complete and skipped:
        files = render.counted(skipped, "file")
        output.say("Nothing found, but {files} could not be read; `mnemark status` shows why.", files=files)
    elif found.complete and unread:
        output.say("Nothing found in what was read; try other words.")
    elif found.complete:
        output.say("Nothing found. The search was complete; try other words.")
    else:
        output.say("Nothing found, but the search was not complete (see the notes above).")
