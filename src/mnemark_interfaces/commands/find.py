"""Implement `search`, `recall` and `read`."""

from typing import Annotated, Any

import typer

from mnemark_interfaces import options, queries, workspace

_Query = Annotated[str, typer.Argument(metavar="QUERY", help='Words or a question; "-" reads it from stdin.')]
_Kind = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KIND",
        help="Only this kind: note, fact, episode, turn (a message), observation or attachment.",
    ),
]
_Origin = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ORIGIN",
        help="Only from this source: owner (the user), agent, tool, web, file (notes) or import.",
    ),
]
_Preset = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Ranking method: default, lexical, bm25, nanobot, nanobot-weighted, nanocrab or openakita.",
    ),
]


def search(
    query: _Query,
    *,
    workspace_: options.Workspace = None,
    count: options.Count = None,
    since: options.Since = None,
    until: options.Until = None,
    as_of: options.AsOf = None,
    kind: _Kind = None,
    origin: _Origin = None,
    scope: options.Scope = None,
    archived: Annotated[bool, typer.Option("--archived", help="Also search the archive.")] = False,
    preset: _Preset = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show how each score was computed.")] = False,
    strict: options.Strict = False,
    json: options.Json = False,
) -> None:
    """Search notes, facts and conversations.

    Works in any folder with Markdown files; a missing index is created first.
    """
    _run(queries.search, locals())


def recall(
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help='The message or question; "-" reads it from stdin.')
    ],
    *,
    workspace_: options.Workspace = None,
    budget: Annotated[
        int | None,
        typer.Option(metavar="TOKENS", help="Maximum size of the text, in tokens.", show_default="800"),
    ] = None,
    deadline: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", help="Answer within this time, even if some search methods have not finished."
        ),
    ] = queries.COLD_DEADLINE,
    count: options.Count = None,
    scope: options.Scope = None,
    strict: options.Strict = False,
    json: options.Json = False,
) -> None:
    """Print what memory knows about a message, for a prompt.

    The text is marked as a quotation, names its sources, and stays within the token budget.
    """
    _run(queries.recall, locals())


def read(
    ref: Annotated[
        str, typer.Argument(metavar="REF", help="PATH, PATH#L12, PATH#L12-L30 or PATH#L12C341-L12C900.")
    ],
    *,
    workspace_: options.Workspace = None,
    raw: Annotated[
        bool, typer.Option("--raw", help="Print the file unchanged, including secrets and private passages.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Print a file, or some lines of it.

    Secrets, passages marked private and forgotten text are left out; --raw shows them.
    """
    queries.read(workspace.place(workspace_, any_folder=True), ref, raw=raw, json=json)


def _run(query: Any, given: dict[str, Any]) -> None:
    text = queries.read_text(given.pop("query"))
    query(workspace.place(given.pop("workspace_"), any_folder=True), text, **given)
