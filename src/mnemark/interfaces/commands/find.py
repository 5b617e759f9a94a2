"""Implement `search`, `recall` and `read`."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from mnemark.errors import DegradedError, UsageError
from mnemark.interfaces import output, render, workspace
from mnemark.text.lazy_pattern import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable

    from mnemark.memory.memory import Memory
    from mnemark.types import Recall

_ESCAPED: Final = lazy_pattern("[\udc80-\udcff]")
COLD_DEADLINE: Final = 2.0
"""Default deadline of `recall` in seconds: a new process loads dictionaries and index first; the configured
150 ms are for a warm one."""


def search(
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help='Words or a question; "-" reads it from stdin.')
    ],
    *,
    workspace_: output.Workspace = None,
    count: output.Count = None,
    since: output.Since = None,
    until: output.Until = None,
    as_of: output.AsOf = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND", help="Only this kind: note, fact, episode, turn, observation or attachment."
        ),
    ] = None,
    origin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ORIGIN",
            help="Only from this source: owner (the user), agent, tool, web, file (notes) or import.",
        ),
    ] = None,
    scope: output.Scope = None,
    archived: Annotated[bool, typer.Option("--archived", help="Also search the archive.")] = False,
    preset: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Ranking method: default, lexical, bm25, nanobot, nanobot-weighted, nanocrab or openakita.",
        ),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show how each score was computed.")] = False,
    strict: output.Strict = False,
    json: output.Json = False,
) -> None:
    """Search notes, facts and conversations.

    Works in any folder with Markdown files; a missing index is created first.
    """
    text = read_text(query)
    root = workspace.locate(workspace_, any_folder=True)
    found, skipped = _ask(
        root,
        lambda memory: memory.search(
            text,
            k=count,
            kinds=kind or None,  # type: ignore[arg-type] # checked by Memory, with a message
            origins=origin or None,  # type: ignore[arg-type]
            since=since,
            until=until,
            as_of=as_of,
            scope=scope,
            archived=archived,
            explain=explain,
            preset=preset,
        ),
    )
    if json:
        output.out_json(found)
    else:
        render.hits(found, text, explain=explain)
    _comment(found, skipped, quiet=json or strict, strict=strict)


def recall(
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help='The message or question; "-" reads it from stdin.')
    ],
    *,
    workspace_: output.Workspace = None,
    budget: Annotated[
        int | None,
        typer.Option(metavar="TOKENS", help="Maximum size of the text, in tokens.", show_default="800"),
    ] = None,
    deadline: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", help="Answer within this time, even if some search methods have not finished."
        ),
    ] = COLD_DEADLINE,
    count: output.Count = None,
    scope: output.Scope = None,
    strict: output.Strict = False,
    json: output.Json = False,
) -> None:
    """Print what memory knows about a message, for a prompt.

    The text is marked as a quotation, names its sources, and stays within the token budget.
    """
    text = read_text(query)
    root = workspace.locate(workspace_, any_folder=True)
    found, skipped = _ask(
        root, lambda memory: memory.recall(text, budget=budget, deadline=deadline, k=count, scope=scope)
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


def read(
    ref: Annotated[str, typer.Argument(metavar="REF", help="PATH, PATH#L12 or PATH#L12-L30.")],
    *,
    workspace_: output.Workspace = None,
    raw: Annotated[
        bool, typer.Option("--raw", help="Print the file unchanged, including secrets and private passages.")
    ] = False,
    json: output.Json = False,
) -> None:
    """Print a file, or some lines of it.

    Secrets, passages marked private and forgotten text are left out; --raw shows them.
    """
    from mnemark.facts.visible import Visible
    from mnemark.files.config import load
    from mnemark.retrieval.read import read_ref

    root = workspace.locate(workspace_, any_folder=True)
    text = read_ref(Visible(root, load(root)), ref, raw=raw)
    if json:
        output.out_json({"ref": ref, "text": text})
    elif output.is_terminal(sys.stdout):
        output.out(output.safe(text), end="" if text.endswith("\n") else "\n")
    else:
        output.out(text, end="")


def read_text(argument: str) -> str:
    """Return the argument, or all of stdin where it is "-"."""
    if argument == "-" and sys.stdin is None:
        raise UsageError('cannot read the text ("-"): stdin is closed; give the text as an argument')
    if argument != "-":
        # Where the locale is not UTF-8, arguments contain surrogate escapes.
        text = os.fsencode(argument).decode("utf-8", "replace") if _ESCAPED.search(argument) else argument
    else:
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
    if not text.strip():
        raise UsageError("the text is empty; give at least one word")
    return text


def _ask(root: Path, question: "Callable[[Memory], Recall]") -> "tuple[Recall, int]":
    """Query a workspace; return the answer and, where it is empty, the number of unreadable files.

    No index is made in a folder without any text.
    """
    import msgspec

    from mnemark.types import Recall

    if workspace.is_empty(root):
        where = output.safe(str(root))
        output.say(f"No Markdown, text or session files in {where}; choose another folder with -w.")
        return Recall(hits=(), mode="none", complete=True, believable=0.0), 0
    with workspace.followed(root) as (memory, late):
        found = question(memory)
        if late:
            found = msgspec.structs.replace(found, degraded=(*found.degraded, *late), complete=False)
        return found, 0 if found.hits else sum(problem.skipped for problem in memory.stats().problems)


def _comment(found: "Recall", skipped: int, *, quiet: bool, strict: bool) -> None:
    """Report what was missing and whether an empty answer can be trusted; with `strict`, fail."""
    _say_limits(found, skipped, quiet=quiet)
    if strict and not found.complete:
        raise DegradedError("; ".join(found.degraded) or "the index was not up to date")


def _say_limits(found: "Recall", skipped: int, *, quiet: bool) -> None:
    for reason in () if quiet else found.degraded:
        output.say(f"Note: {output.safe(reason)}")
    if found.hits and found.complete and found.believable < render.DOUBTFUL and not quiet:
        output.say(f"These may not answer the question (confidence {found.believable:.2f} of 1).")
    if found.hits or found.mode == "none":
        return
    if found.complete and skipped:
        files = render.counted(skipped, "file")
        output.say(f"Nothing found, but {files} could not be read; `mnemark status` shows why.")
    elif found.complete:
        output.say("Nothing found. The search was complete; try other words.")
    else:
        output.say("Nothing found, but the search was not complete (see the notes above).")
