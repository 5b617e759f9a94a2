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
    from mnemark.retrieval.presets import preset as named_preset
    from mnemark_bench import report
    from mnemark_bench import retrieval as bench

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


@app.command()
def ablate(
    folder: Folder,
    *,
    preset: Annotated[str, typer.Option(help="The ranking whose terms are switched off.")] = "default",
    embedder: Embedder = "bundled",
    keep: Keep = None,
    limit: Limit = None,
    json: Json = False,
) -> None:
    """What each term of the ranking gives, and what vectors without meaning would."""
    from mnemark_bench import ablate as bench
    from mnemark_bench import report

    result = bench.run(folder, name=preset, embedder=embedder, keep=keep, limit=limit, tell=say)
    if json:
        print_json(result)
    else:
        report.show_ablation(result)


@app.command()
def belief(
    folder: Folder,
    *,
    embedder: Embedder = "bundled",
    keep: Keep = None,
    limit: Limit = None,
    fit: Annotated[
        bool, typer.Option("--fit", help="Also fit the formula anew, tested across sets.")
    ] = False,
    json: Json = False,
) -> None:
    """How well it is known that there is no answer, beside the top BM25 score."""
    from mnemark_bench import belief as bench
    from mnemark_bench import report

    result = bench.run(folder, embedder=embedder, keep=keep, limit=limit, fitting=fit, tell=say)
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
    """Tokens of the recall block against loading everything, at the same hit rate."""
    from mnemark_bench import report
    from mnemark_bench import tokens as bench

    results = bench.run(folder, embedder=embedder, keep=keep, limit=limit, tell=say)
    if json:
        print_json(results)
    else:
        report.show_tokens(results)


@app.command()
def speed(
    *,
    sizes: Annotated[str, typer.Option(metavar="N,N…", help="Passages.")] = "1000,10000,100000",
    million: Annotated[bool, typer.Option("--million", help="Also 1,000,000; takes long.")] = False,
    embedder: Embedder = "bundled",
    json: Json = False,
) -> None:
    """Sync and search on a made-up corpus in both languages, as ratios to FTS5 and a numpy scan."""
    from mnemark_bench import report
    from mnemark_bench import speed as bench

    wanted = [*_numbers(sizes), *([bench.MILLION] if million else [])]
    results = bench.run(wanted, embedder=embedder, tell=say)
    if json:
        print_json(results)
    else:
        report.show_speed(results)


@app.command()
def extract(
    path: Annotated[Path, typer.Argument(help="A file of labelled turns (.jsonl), or a folder of them.")],
    *,
    mistakes: Annotated[
        list[str] | None, typer.Option(metavar="SET", help="List that set's mistakes; not a sealed one's.")
    ] = None,
    json: Json = False,
) -> None:
    """Precision and recall of learning by rule, on labelled turns."""
    from mnemark_bench import extract as bench

    result = bench.run(path, mistakes=mistakes or ())
    if json:
        print_json(result)
    else:
        bench.show(result)


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
    import msgspec

    print(msgspec.json.encode(value).decode())


@app.command()
def year(
    folder: Annotated[
        Path | None, typer.Argument(help="Where the year is lived; a temporary folder by default.")
    ] = None,
    *,
    months: Annotated[int, typer.Option(min=1, max=12)] = 12,
    json: Json = False,
) -> None:
    """A year of use: is what is still true found, and does the core memory hold nothing else."""
    from mnemark_bench import simulated_year as bench

    found = list(bench.run(folder, months=months, say=say))
    if json:
        print_json(found)
    else:
        typer.echo(bench.table(found))


@app.command()
def duplicates(
    *,
    size: Annotated[
        list[int] | None, typer.Option(min=100, help="How many facts; may be given several times.")
    ] = None,
    json: Json = False,
) -> None:
    """How well and how fast facts that say the same are found, beside equal text and all pairs."""
    from mnemark_bench import duplicates as bench

    found = list(bench.run(size or bench.SIZES))
    if json:
        print_json(found)
    else:
        typer.echo(bench.table(found))


@app.command()
def poison(
    folder: Annotated[Path, typer.Argument(help="A folder with attacks.jsonl and benign.jsonl.")],
    *,
    embedder: Embedder = "bundled",
    marks: Annotated[bool, typer.Option("--marks", help="Also list what came through.")] = False,
    beside: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Only ask the questions of these retrieval sets, before and after the texts."
        ),
    ] = None,
    limit: Limit = None,
    json: Json = False,
) -> None:
    """What texts that nobody should trust can do, by each way in: leaks counted, and what revert leaves."""
    from mnemark_bench import poison as bench

    if beside is not None:
        from mnemark_bench import poison_beside
        from mnemark_bench.poison_ways import Attack

        attacks = bench.load(folder / "attacks.jsonl", Attack)
        rows = poison_beside.run(beside, attacks, embedder=embedder, limit=limit, say=say)
        if json:
            print_json(rows)
        else:
            typer.echo(poison_beside.table(rows))
        return
    result = bench.run(folder, say=say, embedder=embedder)
    if json:
        print_json(result)
    else:
        typer.echo(bench.table(result, marks=marks))


@app.command()
def record(
    folder: Annotated[
        Path | None,
        typer.Argument(help="On which disk: a folder there. Default: the system's temporary one."),
    ] = None,
    *,
    json: Json = False,
) -> None:
    """How long until a turn or a fact is on the disk, beside a bare write and fsync."""
    from mnemark_bench import record as bench

    found = bench.run(folder=folder)
    if json:
        print_json(found)
    else:
        typer.echo(bench.table(found))
