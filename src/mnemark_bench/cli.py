"""`mnemark bench`: every figure of the documentation, each beside its baseline."""

import sys
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from mnemark.retrieval.presets import preset as named_preset
from mnemark_bench import ablate as ablate_bench
from mnemark_bench import belief as belief_bench
from mnemark_bench import changes as changes_bench
from mnemark_bench import duplicates as duplicates_bench
from mnemark_bench import extract as extract_bench
from mnemark_bench import learned, poison_beside, report
from mnemark_bench import lived as lived_bench
from mnemark_bench import marks as marks_bench
from mnemark_bench import poison as poison_bench
from mnemark_bench import record as record_bench
from mnemark_bench import retrieval as retrieval_bench
from mnemark_bench import simulated_year as simulated_year_bench
from mnemark_bench import speed as speed_bench
from mnemark_bench import tokens as tokens_bench
from mnemark_bench.poison_ways import Attack

app = typer.Typer(
    name="bench",
    help="Benchmark search, speed and tokens against baselines.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def bench() -> None:
    """Benchmark search, speed and tokens against baselines."""


Folder = Annotated[
    Path,
    typer.Argument(
        metavar="FOLDER", help="A folder with corpus.jsonl and queries.jsonl, or a folder of such folders."
    ),
]
Keep = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Keep the workspaces there, to reuse them next time.")
]
Embedder = Annotated[
    str, typer.Option(help='The embedder: "none", "bundled", "hashing" or another, as in mnemark.toml.')
]
Limit = Annotated[int | None, typer.Option(min=1, help="Maximum number of questions per set, spread evenly.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def retrieval(
    folder: Folder,
    *,
    preset: Annotated[
        list[str] | None, typer.Option(help="A ranking method; can be given several times.")
    ] = None,
    embedder: Embedder = "bundled",
    keep: Keep = None,
    limit: Limit = None,
    queries_from: Annotated[
        Path | None,
        typer.Option(
            metavar="SET", help="Ask the questions of that set; both sets must use the same unit names."
        ),
    ] = None,
    no_now: Annotated[bool, typer.Option(help="Also ask without giving the current time.")] = False,
    numbered: Annotated[bool, typer.Option(help="Name notes by numbers instead of their content.")] = False,
    per_category: Annotated[bool, typer.Option(help="Also show results by kind of question.")] = False,
    json: Json = False,
) -> None:
    """Measure search quality, compared with FTS5 and BM25."""
    names = tuple(named_preset(name).name for name in preset or ("lexical", "default"))
    options = retrieval_bench.Options(
        presets=names,
        embedder=embedder,
        keep=keep,
        limit=limit,
        questions_from=queries_from,
        undated=no_now,
        names=not numbered,
    )
    results = retrieval_bench.run(folder, options, say)
    if json:
        print_json(retrieval_bench.as_json(results, options))
    else:
        report.show(results, categories=per_category)


@app.command()
def ablate(
    folder: Folder,
    *,
    preset: Annotated[str, typer.Option(help="The ranking method whose parts are switched off.")] = "default",
    embedder: Embedder = "bundled",
    keep: Keep = None,
    limit: Limit = None,
    json: Json = False,
) -> None:
    """Measure what each part of the ranking contributes."""
    result = ablate_bench.run(folder, name=preset, embedder=embedder, keep=keep, limit=limit, tell=say)
    if json:
        print_json(result)
    else:
        report.show_ablation(result)


@app.command()
def lived(
    folder: Folder,
    *,
    derived: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Recorded notes of a model on the messages, as JSON lines."),
    ] = None,
    named: Annotated[
        bool, typer.Option("--named", help="Keep named speakers; else they are a user and assistants.")
    ] = False,
    embedder: Embedder = "bundled",
    keep: Keep = None,
    limit: Limit = None,
    json: Json = False,
) -> None:
    """Measure what use does to recall: bare messages, and sessions ended and consolidated."""
    results = lived_bench.run(
        folder, derived=derived, named=named, embedder=embedder, keep=keep, limit=limit, tell=say
    )
    if json:
        print_json(results)
    else:
        report.show_lived(results)


@app.command()
def belief(
    folder: Folder,
    *,
    embedder: Embedder = "bundled",
    keep: Keep = None,
    limit: Limit = None,
    fit: Annotated[
        bool, typer.Option("--fit", help="Also fit the formula again, tested across sets.")
    ] = False,
    json: Json = False,
) -> None:
    """Measure whether the confidence shows that there is no answer."""
    result = belief_bench.run(folder, embedder=embedder, keep=keep, limit=limit, fitting=fit, tell=say)
    if json:
        print_json(result)
    else:
        report.show_belief(result)


@app.command()
def tokens(
    folder: Folder,
    *,
    embedder: Embedder = "bundled",
    keep: Keep = None,
    limit: Limit = None,
    json: Json = False,
) -> None:
    """Compare tokens of recalled text with loading everything."""
    results = tokens_bench.run(folder, embedder=embedder, keep=keep, limit=limit, tell=say)
    if json:
        print_json(results)
    else:
        report.show_tokens(results)


@app.command()
def speed(
    *,
    sizes: Annotated[str, typer.Option(metavar="N,N…", help="Numbers of passages.")] = "1000,10000,100000",
    million: Annotated[bool, typer.Option("--million", help="Also 1,000,000 passages; takes long.")] = False,
    embedder: Embedder = "bundled",
    json: Json = False,
) -> None:
    """Measure sync and search speed as the corpus grows.

    Uses a generated corpus in both languages; compares with FTS5 and a numpy scan.
    """
    wanted = [*_numbers(sizes), *([speed_bench.MILLION] if million else [])]
    results = speed_bench.run(wanted, embedder=embedder, tell=say)
    if json:
        print_json(results)
    else:
        report.show_speed(results)


@app.command()
def extract(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="PATH", help="A file of labelled messages (.jsonl), or a folder of such files."
        ),
    ],
    *,
    mistakes: Annotated[
        list[str] | None,
        typer.Option(metavar="SET", help="List the mistakes in that set; not for sealed sets."),
    ] = None,
    sample: Annotated[
        int, typer.Option(metavar="N", help="Show N lines that are kept, and N statements that are missed.")
    ] = 0,
    seed: Annotated[int, typer.Option(help="Of the sample.")] = 1,
    json: Json = False,
) -> None:
    """Measure what is learned by rule.

    On labelled messages: precision and recall. On a folder with owners.jsonl (plain statements of people
    about themselves): how many are kept. On one with corpus.jsonl (conversations): how many lines are kept.
    """
    if any((path / name).exists() for name in ("owners.jsonl", "corpus.jsonl")):
        kept = learned.run(path, sample=sample, seed=seed)
        print_json(kept) if json else learned.show(kept)
        return
    result = extract_bench.run(path, mistakes=mistakes or ())
    if json:
        print_json(result)
    else:
        extract_bench.show(result)


@app.command()
def changes(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER", help="A folder with messages.jsonl, changes.jsonl or asked_later.jsonl."
        ),
    ],
    *,
    items: Annotated[bool, typer.Option("--items", help="Also list what went wrong, one by one.")] = False,
    json: Json = False,
) -> None:
    """Measure what is learned of messages as people type them.

    Also what becomes of it when they say otherwise later, and what is told then.
    """
    result = changes_bench.run(folder)
    if json:
        print_json(result)
    else:
        typer.echo(changes_bench.table(result, items=items))


def _numbers(text: str) -> list[int]:
    parts = [part.strip().replace("_", "") for part in text.split(",")]
    if not all(part.isdecimal() and int(part) >= 100 for part in parts):
        raise typer.BadParameter(f"{text!r}: write numbers of at least 100 with commas, like 1000,10000")
    return [int(part) for part in parts]


def say(text: str) -> None:
    """A line of talk."""
    print(text, file=sys.stderr, flush=True)


def print_json(value: Any) -> None:
    """A JSON document on one line."""
    print(msgspec.json.encode(value).decode())


@app.command()
def year(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="FOLDER", help="The workspace to create. Default: a temporary folder."),
    ] = None,
    *,
    months: Annotated[int, typer.Option(min=1, max=12)] = 12,
    json: Json = False,
) -> None:
    """Simulate a year of use: are current facts found?

    Also checks that the core memory contains nothing else.
    """
    found = list(simulated_year_bench.run(folder, months=months, say=say))
    if json:
        print_json(found)
    else:
        typer.echo(simulated_year_bench.table(found))


@app.command()
def duplicates(
    *,
    size: Annotated[
        list[int] | None, typer.Option(min=100, help="Number of facts; can be given several times.")
    ] = None,
    json: Json = False,
) -> None:
    """Measure how well and how fast duplicate facts are found.

    Compares with equal text and with all pairs.
    """
    found = list(duplicates_bench.run(size or duplicates_bench.SIZES))
    if json:
        print_json(found)
    else:
        typer.echo(duplicates_bench.table(found))


@app.command()
def poison(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="A folder with attacks.jsonl and benign.jsonl.")
    ],
    *,
    embedder: Embedder = "bundled",
    marks: Annotated[bool, typer.Option("--marks", help="Also list the attacks that got through.")] = False,
    beside: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Only ask the questions of these retrieval sets, before and after the texts."
        ),
    ] = None,
    limit: Limit = None,
    json: Json = False,
) -> None:
    """Measure memory poisoning: what attacks get through?

    Counts leaks for each way in, and what remains after revert.
    """
    if beside is not None:
        attacks = poison_bench.load(folder / "attacks.jsonl", Attack)
        rows = poison_beside.run(beside, attacks, embedder=embedder, limit=limit, say=say)
        if json:
            print_json(rows)
        else:
            typer.echo(poison_beside.table(rows))
        return
    result = poison_bench.run(folder, say=say, embedder=embedder)
    if json:
        print_json(result)
    else:
        typer.echo(poison_bench.table(result, marks=marks))


@app.command()
def marks(
    folder: Annotated[
        Path,
        typer.Argument(metavar="FOLDER", help="A folder with corpus.jsonl, or a folder of such folders."),
    ],
    *,
    ids: Annotated[bool, typer.Option("--ids", help="Also list the answers that are marked.")] = False,
    json: Json = False,
) -> None:
    """Measure how many real answers of tools are marked as orders.

    Real sessions hold almost none, so what is marked is a false alarm.
    """
    found = list(marks_bench.run(folder))
    if json:
        print_json(found)
    else:
        typer.echo(marks_bench.table(found, ids=ids))


@app.command()
def record(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="FOLDER",
            help="A folder on the disk to measure. Default: the temporary folder of the system.",
        ),
    ] = None,
    *,
    json: Json = False,
) -> None:
    """Measure how long saving a message or fact takes.

    Compares with a plain write and fsync.
    """
    found = record_bench.run(folder=folder)
    if json:
        print_json(found)
    else:
        typer.echo(record_bench.table(found))
