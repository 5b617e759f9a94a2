"""Commands that move memories: backup, restore, export, import."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mnemark.errors import IncompleteError
from mnemark.interfaces import output, render, workspace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mnemark.memory.transfer.backup import Saved
    from mnemark.memory.transfer.importer import Summary
    from mnemark.memory.transfer.restore import Restored
    from mnemark.memory.transfer.transfer import ExportFormat, ImportFormat
    from mnemark.types import Problem

_SHOWN_PATHS = 20


def export(
    target: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write, or to replace.")],
    *,
    workspace_: output.Workspace = None,
    format_: Annotated[
        str,
        typer.Option(
            "--format", metavar="FORMAT", help='"zip": the files as they are; "jsonl": a line a passage.'
        ),
    ] = "zip",
    json: output.Json = False,
) -> None:
    """Write the text of a memory into one file.

    Notes, sessions and journals of all scopes. Pictures, hidden files and other things of the folder are not
    in it: `mnemark backup` saves those, too. The same memory gives the same bytes. Ends with 8 where a note
    could not be read.
    """
    from mnemark.memory.transfer.transfer import export_workspace

    chosen: ExportFormat = format_  # type: ignore[assignment] # checked by the export, with a message
    with workspace.opened(workspace.locate(workspace_), readonly=True) as memory:
        done = export_workspace(memory, target, format=chosen)
    records = f", {done.records:,} lines" if done.records else ""
    tally = f"{render.counted(done.files, 'file')}{records}, {render.size(done.bytes)}"
    output.out_result(done, f"{done.target}: {tally}", json=json)
    _report_missing(done.problems, "the export is without", json=json)


def backup(
    target: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]", help="Default: NAME-DATE.zip beside the workspace.", show_default=False
        ),
    ] = None,
    *,
    workspace_: output.Workspace = None,
    json: output.Json = False,
) -> None:
    """Save the whole folder in one file, read it again and compare.

    With pictures, hidden files, empty folders, links, modes and times; of .mnemark only what cannot be made
    anew. What cannot be read is named, and then it ends with 8.
    """
    from mnemark.memory.transfer.backup import backup as save

    done = save(workspace.locate(workspace_), target)
    size = render.size(done.bytes)
    output.out_result(done, f"{done.target}: {_tally(done)}, {size}, read and compared", json=json)
    _report_missing(done.problems, "the backup is without", json=json)


def restore(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="A backup.")],
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new or empty folder.")],
    *,
    json: output.Json = False,
) -> None:
    """Bring a backup back as a workspace of its own, to the byte.

    With modes and times. A link that leads out of the folder, and what else cannot be written, is named, and
    then it ends with 8.
    """
    from mnemark.memory.transfer.restore import restore as bring_back

    done = bring_back(source, folder)
    output.out_result(done, f"{done.workspace}: {_tally(done)}, {render.size(done.bytes)}", json=json)
    _report_missing(done.problems, "the folder is without", json=json)


def _tally(done: "Saved | Restored") -> str:
    counts = {"file": done.files, "folder": done.folders, "link": done.links}
    return ", ".join(render.counted(n, name) for name, n in counts.items() if n or name == "file")


def _report_missing(problems: "Sequence[Problem]", without: str, *, json: bool) -> None:
    """List every problem, as no "and 20 more" may hide what a copy lacks.

    Raises:
        IncompleteError: something is missing.
    """
    for problem in () if json else problems:
        what = "left out" if problem.skipped else "note"
        output.say(f"{what}: {output.safe_line(problem.path)}: {output.safe_line(problem.reason)}")
    missing = sum(problem.skipped for problem in problems)
    if missing:
        raise IncompleteError(f"{without} what is named as left out ({missing:,}); all else is in it")


def import_(
    format_: Annotated[
        str,
        typer.Argument(
            metavar="FORMAT",
            help="markdown, jsonl, zip, openclaw, nanobot, openakita, chatgpt, claude, mem0, claude-mem, "
            "claude-code or codex.",
        ),
    ],
    source: Annotated[Path, typer.Argument(metavar="PATH", help="What to bring in; it is never changed.")],
    *,
    workspace_: output.Workspace = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
    json: output.Json = False,
) -> None:
    """Bring in notes and conversations.

    From a folder of Markdown, from our own exports, from another agent's folder, from the archive that
    ChatGPT or Claude give you, or from the transcripts of Claude Code (~/.claude/projects) and Codex
    (~/.codex/sessions). Doing it twice adds nothing, and nothing that is there is overwritten.
    """
    from mnemark.memory.transfer.transfer import import_from

    chosen: ImportFormat = format_  # type: ignore[assignment] # checked by the import, with a message
    root = workspace.locate(workspace_)
    with workspace.opened(root) as memory:
        summary = import_from(memory, chosen, source, dry_run=dry_run)
    if json:
        output.out_json(summary)
    else:
        _show(summary)
        _suggest_next(summary)


def _suggest_next(summary: "Summary") -> None:
    brought = summary.notes or summary.sessions or summary.turns or summary.facts
    if summary.dry_run and brought:
        output.say("Nothing was changed; run it without --dry-run to do it.")
    elif brought:
        output.say('Find it with `mnemark search "…"`; `mnemark status` shows what there is now.')
        if summary.turns:
            output.say("`mnemark learn --dry-run` shows which facts would be learned from the conversations.")
            output.say("Hide one again with `mnemark forget --session ID`; `mnemark sessions` lists them.")


def _show(summary: "Summary") -> None:
    counts = {
        "note": summary.notes,
        "session": summary.sessions,
        "turn": summary.turns,
        "fact": summary.facts,
    }
    found = [render.counted(count, name) for name, count in counts.items() if count]
    others = {"there already": summary.same, "redacted": summary.redacted}
    found += [f"{count:,} {name}" for name, count in others.items() if count]
    words = ", ".join(found) or "nothing to bring in"
    output.out(f"{'Would bring in' if summary.dry_run else 'Brought in'}: {words}")
    for path in summary.paths[:_SHOWN_PATHS]:
        output.out(f"  {output.safe_line(path)}")
    if len(summary.paths) > _SHOWN_PATHS:
        output.out(f"  … and {len(summary.paths) - _SHOWN_PATHS:,} more")
    render.problems(summary.problems)
