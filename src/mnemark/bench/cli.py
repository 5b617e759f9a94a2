"""`mnemark bench`: every figure of the documentation, each beside its baseline. Imports stay in commands."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(
    name="bench",
    help="Measure retrieval, speed and tokens, each beside a baseline in the same run.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def bench() -> None:
    """Measure retrieval, speed and tokens, each beside a baseline in the same run."""


Folder = Annotated[
    Path, typer.Argument(help="A folder with corpus.jsonl and queries.jsonl, or a folder of such folders.")
]
Keep = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Keep the workspaces there and use them again next time.")
]
Embedder = Annotated[str, typer.Option(help='"none", "bundled", "hashing" or another as configured.')]
Limit = Annotated[int | None, typer.Option(min=1, help="Questions of each set at most, spread evenly.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def retrieval(
    folder: Folder,
    *,
    preset: Annotated[list[str] | None, typer.Option(help="A ranking; may be given several times.")] = None,
    embedder: Embedder = "bundled",
    keep: Keep = None,
    limit: Limit = None,
    queries_from: Annotated[
        Path | None, typer.Option(metavar="SET", help="Ask that set's questions; both name units alike.")
    ] = None,
    no_now: Annotated[bool, typer.Option(help="Also ask without telling when it is.")] = False,
    numbered: Annotated[bool, typer.Option(help="Name notes by numbers, not by what they say.")] = False,
    per_category: Annotated[bool, typer.Option(help="Also by kind of question.")] = False,
    json: Json = False,
) -> None:
    """How well the right passages are found, beside FTS5 and BM25."""
    from mnemark.bench import report
    from mnemark.bench import retrieval as bench
    from mnemark.retrieval.presets import preset as named_preset

    names = tuple(named_preset(name).name for name in preset or ("lexical", "default"))
    options = bench.Options(
        presets=names,
        embedder=embedder,
        keep=keep,
        limit=limit,
        questions_from=queries_from,
        undated=no_now,
        names=not numbered,
    )
    results = bench.run(folder, options, say)
    if json:
        print_json(bench.as_json(results, options))
    else:
        report.show(results, categories=per_category)


def say(text: str) -> None:
    """A line of talk."""
    print(text, file=sys.stderr, flush=True)


def print_json(value: Any) -> None:
    """A JSON document on one line."""
    import msgspec

    print(msgspec.json.encode(value).decode())
