"""Implement `backup`, `restore`, `export` and `import`."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from mnemark.errors import IncompleteError, MnemarkError, UsageError
from mnemark.memory.transfer.backup import Saved
from mnemark.memory.transfer.backup import backup as save
from mnemark.memory.transfer.export.export import FOLDER_FORMATS, export_folder
from mnemark.memory.transfer.export.model import FolderFormat
from mnemark.memory.transfer.importer import Summary
from mnemark.memory.transfer.imports import format_titles, import_from
from mnemark.memory.transfer.restore import Restored
from mnemark.memory.transfer.restore import restore as bring_back
from mnemark.memory.transfer.transfer import ExportFormat, export_workspace
from mnemark.types import Problem
from mnemark_interfaces import options, output, render, speech, workspace
from mnemark_interfaces.remote import remote_memory, subject
from mnemark_interfaces.status import people

_SHOWN_PATHS = 20
_SHOWN_NAMES = 12
_SHOWN_PEOPLE = 6


def export(
    form: Annotated[
        str,
        typer.Argument(
            metavar="[FORM]",
            help="obsidian, markdown or html: a folder for people; zip (the default) or jsonl: one file.",
            show_default=False,
        ),
    ] = "",
    target: Annotated[
        Path | None,
        typer.Argument(
            metavar="TARGET",
            help="The file to write, which is replaced, or the folder: new, empty, or of an earlier export.",
            show_default=False,
        ),
    ] = None,
    *,
    workspace_: options.Workspace = None,
    format_: Annotated[
        str, typer.Option("--format", metavar="FORM", help="The same as FORM.", show_default=False)
    ] = "",
    scope: Annotated[
        str | None,
        typer.Option(
            metavar="SCOPE",
            help='Only users/NAME, agents/NAME or projects/NAME, or "" for the shared memory; of a folder.',
        ),
    ] = None,
    server: options.Server = "",
    json: options.Json = False,
) -> None:
    """Write a memory as pages for people, or its text to one file.

    obsidian is a vault and markdown is for any editor or forge: notes, facts by subject, days and
    conversations, linked both ways. html is an archive of the conversations for a browser. Secrets, private
    passages and what was forgotten are left out. An earlier export is brought up to date; files that you
    changed in it are kept and named. zip has the files unchanged, jsonl one line for each passage: notes,
    sessions and journals of all users, agents and projects; `mnemark backup` saves pictures and hidden files
    too. With --server, FILE.zip is a backup of the memory there, and any other name a new folder, which is
    that memory from then on. Exits with 8 if something could not be read.
    """
    chosen, path = _form_and_target(form, target, format_)
    if chosen in FOLDER_FORMATS:
        _export_folder(chosen, path, scope, workspace_, server, json=json)
        return
    if chosen not in get_args(ExportFormat):
        known = ", ".join((*get_args(ExportFormat), *FOLDER_FORMATS))
        raise UsageError(f"{chosen!r} is no form of an export; use one of {known}")
    if scope is not None:
        raise UsageError(f"--scope is for {', '.join(FOLDER_FORMATS)}; a {chosen} holds all scopes")
    _check_target(path)
    if server and chosen == "zip":
        _export_from(server, path, workspace_, json=json)
        return
    with subject(workspace_, server, readonly=True) as ws:
        done = export_workspace(ws, path, format=chosen)  # type: ignore[arg-type] # checked
    counts = [
        render.counted(done.files, "file"),
        render.counted(done.records, "line") if done.records else "",
    ]
    _out_done(done, done.target, *counts, render.size(done.bytes), json=json)
    _report_missing(done.problems, "the export is not complete", json=json)


def _export_from(server: str, path: Path, folder: Path | None, *, json: bool) -> None:
    """Write the memory on a server into a file, as `backup` does, or into a new folder, as `restore`."""
    with remote_memory(server, folder) as remote:
        if path.suffix.lower() != ".zip":
            _out_restored(remote.export(path), json=json)
            return
        written = remote.export_file(path)
    size = written.stat().st_size
    found = {"target": str(written), "bytes": size}
    told = speech.words()("{name}: {value}", name=output.safe_line(str(written)), value=render.size(size))
    output.out_result(found, told, json=json)


def _form_and_target(form: str, target: Path | None, option: str) -> tuple[str, Path]:
    """Return what `[FORM] TARGET` and `--format` say together.

    Raises:
        UsageError: they say two things, or the target is missing.
    """
    if not form:
        raise UsageError("say where to: `mnemark export FILE`, or `mnemark export obsidian FOLDER`")
    if target is not None:
        if option and option != form:
            raise UsageError(f"{form} and --format {option} are two forms; give one")
        return form, target
    if form in FOLDER_FORMATS or (form in get_args(ExportFormat) and not option):
        kind = "FOLDER" if form in FOLDER_FORMATS else "FILE"
        raise UsageError(f"say where to: `mnemark export {form} {kind}`; ./{form} is a file of that name")
    return option or "zip", Path(form)


def _export_folder(
    form: FolderFormat, target: Path, scope: str | None, folder: Path | None, server: str, *, json: bool
) -> None:
    with subject(folder, server, readonly=True) as ws, output.Progress() as progress:
        done = export_folder(ws, target, format=form, scope=scope, progress=progress.tell)
    counts = {"conversation": done.talks, "note": done.notes, "fact": done.facts}
    told = [
        render.counted(count, name)
        for name, count in counts.items()
        if count and (form != "html" or name == "conversation")
    ]
    words = speech.words()
    news = [words("{n} new or changed", n=done.changed)] if done.changed < done.files else []
    news += [words("{n} removed", n=done.removed)] if done.removed else []
    files = render.counted(done.files, "file")
    files = words("{value} ({more})", value=files, more=words.listed(news)) if news else files
    _out_done(done, done.target, *told, files, render.size(done.bytes), json=json)
    _report_missing(done.problems, "the export is not complete", json=json)


def backup(
    target: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]", help="Default: NAME-DATE.zip beside the workspace.", show_default=False
        ),
    ] = None,
    *,
    workspace_: options.Workspace = None,
    json: options.Json = False,
) -> None:
    """Save the whole folder in one zip file, and verify it.

    Includes pictures, hidden files, empty folders, links, permissions and times; the index is left out, since
    it can be rebuilt. Files that cannot be read are listed, and the command then exits with 8.
    """
    _check_target(target)
    done = save(workspace.locate(workspace_), target)
    verified = speech.words()("verified")
    _out_done(done, done.target, *_tally(done), render.size(done.bytes), verified, json=json)
    _report_missing(done.problems, "the backup is not complete", json=json)


def restore(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="A file written by `mnemark backup`.")],
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new or empty folder to restore to.")],
    *,
    json: options.Json = False,
) -> None:
    """Restore a backup to a new folder.

    All files are restored byte for byte, with permissions and times. Links that lead out of the folder and
    files that cannot be written are listed, and the command then exits with 8. The folder counts as made
    here: restore only what is yours.
    """
    _out_restored(bring_back(source, folder), json=json)


def _out_restored(done: Restored, *, json: bool) -> None:
    _out_done(done, done.workspace, *_tally(done), render.size(done.bytes), json=json)
    _report_missing(done.problems, "the restored folder is not complete", json=json)


def _check_target(target: Path | None) -> None:
    """Raise UsageError for "-", which other programs write to stdout."""
    if target is not None and str(target) == "-":
        raise UsageError(
            "the archive is written to a file, not to stdout; give its name, such as ../notes.zip"
        )


def _tally(done: Saved | Restored) -> list[str]:
    counts = {"file": done.files, "folder": done.folders, "link": done.links}
    return [render.counted(n, name) for name, n in counts.items() if n or name == "file"]


def _out_done(done: Any, target: str, *counts: str, json: bool) -> None:
    """Print what was written, and how much."""
    words = speech.words()
    told = words("{name}: {value}", name=target, value=words.listed(filter(None, counts)))
    output.out_result(done, told, json=json)


def _report_missing(problems: Sequence[Problem], without: str, *, json: bool) -> None:
    """List every problem, as no "and 20 more" may hide what a copy lacks.

    Raises:
        IncompleteError: something is missing.
    """
    for problem in () if json else problems:
        render.problem(problem, skipped="left out: {path}: {reason}")
    missing = sum(problem.skipped for problem in problems)
    if missing:
        raise IncompleteError(
            f"{without}: {missing:,} item{'' if missing == 1 else 's'} left out (see the list); all else is "
            "included"
        )


def import_(
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="[FORMAT] PATH...",
            help="The files or folders to import; they are never changed. The format is recognised; it may "
            "be named before them: chatgpt, claude, whatsapp, csv, … (docs/import.md).",
            show_default=False,
        ),
    ],
    *,
    workspace_: options.Workspace = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be imported, without changing anything.")
    ] = False,
    columns: Annotated[
        str,
        typer.Option(
            "--columns",
            metavar="NAMES",
            help="Of a table (CSV, JSON Lines): text=NAME, and role=, time= and session= if there are such.",
        ),
    ] = "",
    me: Annotated[
        list[str] | None,
        typer.Option(
            "--me",
            metavar="NAME",
            help="Of a chat of several people: what you are called in it; may be given more than once.",
        ),
    ] = None,
    server: options.Server = "",
    json: options.Json = False,
) -> None:
    """Import notes and conversations of other programs.

    The archive that ChatGPT or Claude sends, chats of messengers, sessions of coding agents, other memories,
    a folder of notes, a table: docs/import.md lists them all. Importing twice adds nothing, nothing is
    overwritten, and an import that was cut off goes on when it is run again. What was left out is counted,
    with the reason. With --server they are read here, and what is new comes into the memory there. Exits
    with 1 if nothing could be imported.
    """
    format_, paths = _split(sources)
    named = _columns(columns)
    done: list[Summary] = []
    refused: list[MnemarkError] = []
    with subject(workspace_, server, readonly=dry_run) as ws:
        for path in paths:
            try:
                with output.Progress() as progress:
                    summary = import_from(
                        ws, format_, path, dry_run=dry_run, columns=named, me=me or (),
                        progress=partial(_tell, progress),
                    )  # fmt: skip
            except MnemarkError as error:
                if len(paths) == 1 or isinstance(error, UsageError):
                    raise
                refused.append(error)
                output.error(str(error))  # of this source: the others are imported
                continue
            done.append(summary)
            if not json:
                _show(summary)  # at once: the next file may take long
    if not done:
        raise typer.Exit(refused[0].exit_code)
    if json:
        output.out_json(done[0] if len(done) == 1 else done)
    else:
        _suggest_next(done, at=server)
    if refused:
        raise typer.Exit(refused[0].exit_code)


def _tell(progress: output.Progress, counts: Mapping[str, int]) -> None:
    came = counts["turns"] + counts["notes"] + counts["same"]
    progress.tell("Importing", came, 0, speech.words()(" messages and notes"))


def _split(words: Sequence[Path]) -> tuple[str, Sequence[Path]]:
    """Return the format that stands before the paths, if any, and the paths."""
    first, *rest = words
    is_path = first.exists() or len(first.parts) > 1 or bool(first.suffix)
    if is_path or (not rest and str(first) not in format_titles()):
        return "", words
    if not rest:
        raise UsageError(f"name the file or folder to import: mnemark import {first} PATH")
    return str(first), rest  # the import says so where there is no such format


def _columns(text: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    if any(not name.strip() or not value.strip() for name, _, value in pairs):
        raise UsageError("write --columns as text=NAME,role=NAME,time=NAME,session=NAME")
    return {name.strip(): value.strip() for name, _, value in pairs}


def _suggest_next(done: Sequence[Summary], *, at: str) -> None:
    brought = any(one.notes or one.turns or one.facts or one.proposals for one in done)
    if brought and done[0].dry_run:
        output.say("Nothing was changed. Run it again without --dry-run to apply this.")
    elif brought and at:
        output.say("It is in the memory on the server.")
    elif brought:
        output.say('Search it with `mnemark search "…"`; see the new totals with `mnemark status`.')
        if any(one.proposals for one in done):
            output.say("Look at what the other program had noted about you with `mnemark review`.")
        if any(one.turns for one in done):
            output.say("Learn facts from the conversations with `mnemark learn`: by rule, at no cost.")
            output.say("Then look over what it learned with `mnemark review learned`.")
            output.say(
                "Hide a conversation with `mnemark forget --session ID`; `mnemark sessions` lists the ids."
            )


def _show(summary: Summary) -> None:
    words = speech.words()
    text = "Would import from {title}: {words}" if summary.dry_run else "Imported from {title}: {words}"
    title = format_titles().get(summary.format, summary.format)
    output.tell(text, title=title, words=words.listed(_counts(summary)) or words("nothing"))
    if summary.began:
        text = "  from {began} to {ended}, with {people}" if summary.people else "  from {began} to {ended}"
        names = people(list(summary.people)[:_SHOWN_PEOPLE])
        output.tell(text, began=summary.began, ended=summary.ended, people=names)
    for path in summary.paths[:_SHOWN_PATHS]:
        output.out(f"  {output.safe_line(path)}")
    if len(summary.paths) > _SHOWN_PATHS:
        output.tell("  … and {n} more", n=len(summary.paths) - _SHOWN_PATHS)
    if summary.left:
        output.tell("Left out:")
    for one in summary.left:
        what = output.safe_line(words.amount(one.count, one.what, one.counted))
        output.out("  " + words("{name}: {value}", name=what, value=output.spoken(one.reason)))
    if summary.speakers:
        output.say(
            "None of those who speak is known to be you: {names}. If you are one of them, import it again "
            "with --me NAME; without it nothing is learned from these words.",
            names=people(summary.speakers, _SHOWN_NAMES),
        )
    render.problems(summary.problems)


def _counts(summary: Summary) -> list[str]:
    """Return how much of each kind came."""
    counts = {
        "note": summary.notes, "session": summary.sessions, "message": summary.turns, "fact": summary.facts,
        "proposal": summary.proposals,
    }  # fmt: skip
    others = {
        "{n} already there": summary.same, "{n} redacted": summary.redacted,
        "{n} now yours": summary.corrected,
    }  # fmt: skip
    words = speech.words()
    found = [render.counted(count, name) for name, count in counts.items() if count]
    return found + [words(text, n=count) for text, count in others.items() if count]
