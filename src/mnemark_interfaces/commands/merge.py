"""Implement `merge` and `git-merge`: bring the memories of two machines together."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Final

import typer

from mnemark.errors import UsageError
from mnemark.memory.memory import Memory
from mnemark.memory.merging.copies import join_copies
from mnemark.memory.merging.copies import repair as repair_marks
from mnemark.memory.merging.git import join_for_git
from mnemark.memory.merging.merge import Merged
from mnemark_interfaces import options, output, render, speech, workspace
from mnemark_interfaces.remote import remote_memory

_SHOWN: Final = 20
_WORDS: Final = {
    "new": "new",
    "joined": "joined",
    "doubled": "both versions of some lines stand in it, marked: keep one",
    "beside": "kept beside the other version of it",
    "removed": "deleted there, and unchanged here: deleted",
}


def merge(
    other: Annotated[
        str,
        typer.Argument(
            metavar="OTHER", help="A folder, ssh:HOST:PATH, or a git repository or remote such as origin."
        ),
    ] = "",
    *,
    workspace_: options.Workspace = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would come, without changing anything.")
    ] = False,
    repair: Annotated[
        bool,
        typer.Option("--repair", help="Join what git marked in files (<<<<<<<), and copies left by syncing."),
    ] = False,
    server: options.Server = "",
    json: options.Json = False,
) -> None:
    """Bring everything of another memory of yours into this one.

    For a laptop and a desktop, a copy on a stick, a folder in git. Messages, facts and notes of both are
    there once; what either side erased is erased here, too; two values of one fact: the later holds, the
    earlier waits in `mnemark review`. The other memory is only read: merge there as well. `mnemark undo ID`
    takes a merge back. Merge only what is yours; for others' notes there is `mnemark import`.
    """
    if repair == bool(other):
        raise UsageError("name the other memory, such as ../desktop/mnemark, or use --repair alone")
    if server:
        if repair:
            raise UsageError("--repair is for a folder of this machine: run it there, then merge the folder")
        with remote_memory(server, workspace_) as remote:
            merged = remote.merge(other, dry_run=dry_run)
    else:
        with workspace.opened(workspace.locate(workspace_), readonly=dry_run) as memory:
            if repair:
                _repair(memory, dry_run=dry_run, json=json)
                return
            merged = memory.merge(other, dry_run=dry_run)
    if json:
        output.out_json(merged)
        return
    _show(merged)


def _repair(memory: Memory, *, dry_run: bool, json: bool) -> None:
    ws = memory.workspace
    joined = [*repair_marks(ws, dry_run=dry_run), *join_copies(ws, dry_run=dry_run)]
    if joined and not dry_run:
        memory.sync()
    if json:
        output.out_json({"joined": joined, "dry_run": dry_run})
        return
    for text in joined:
        output.out(output.spoken(text))
    if not joined:
        output.tell("No marks of git and no conflict copies were found.")
    elif dry_run:
        output.say("Nothing was changed. Run it again without --dry-run to apply this.")
    else:
        output.say("Undo a change with `mnemark undo`. In a git repository, `git add` the files to go on.")


def git_merge(
    base: Annotated[Path, typer.Argument(metavar="BASE")],
    ours: Annotated[Path, typer.Argument(metavar="OURS")],
    theirs: Annotated[Path, typer.Argument(metavar="THEIRS")],
    path: Annotated[str, typer.Argument(metavar="PATH")],
) -> None:
    """Join two versions of a file; git calls this, not people.

    It is the merge driver that `mnemark connect git` sets up. Git gives the files of the version before and
    of both versions, and the path; the joined version replaces the second file.
    """
    if not join_for_git(Path.cwd(), path, base, ours, theirs):
        raise typer.Exit(1)  # git leaves the file as a conflict


def _show(merged: Merged) -> None:
    words = speech.words()
    what = Counter(one.what for one in merged.files)
    counts = [
        (merged.turns, "message"), (merged.facts, "fact"), (what["new"], "new file"),
        (what["joined"] + what["doubled"], "joined file"), (what["removed"], "deleted file"),
    ]  # fmt: skip
    tally = words.listed(render.counted(count, name) for count, name in counts if count)
    if tally:
        output.tell("Would bring: {counted}" if merged.dry_run else "Merged: {counted}", counted=tally)
    elif not merged.erased:
        output.tell("Nothing is new there.")
    for one in merged.files[:_SHOWN]:
        done = words(_WORDS[one.what])
        came = words.listed([done, render.counted(one.records, "message")]) if one.records else done
        output.out("  " + words("{name}: {value}", name=output.safe_line(one.path), value=came))
    if len(merged.files) > _SHOWN:
        output.tell("  … and {n} more", n=len(merged.files) - _SHOWN)
    if merged.erased:
        _show_erased(merged, words)
    for text in merged.review:
        output.tell("  {fact}: see `mnemark review`", fact=output.safe_line(text))
    for path in merged.waiting:
        output.say(
            "note: another program is saving {path}; the next sync goes on", path=output.safe_line(path)
        )
    render.problems(merged.problems)
    _show_what_next(merged, brings=bool(tally or merged.erased))


def _show_what_next(merged: Merged, *, brings: bool) -> None:
    if merged.off_record:
        output.say(
            "This memory is off the record, and stays so: a merge brings what the other one recorded all the "
            "same."
        )
    if merged.dry_run and brings:
        output.say("Nothing was changed. Run it again without --dry-run to apply this.")
    elif merged.id:
        text = "Take it back with `mnemark undo {id}`; merge there as well to have all on both."
        output.say(text, id=merged.id)


def _show_erased(merged: Merged, words: speech.CommandWords) -> None:
    one, many = "1 erasure of the other side was carried out here", (
        "{n} erasures of the other side were carried out here"
    )  # fmt: skip
    if merged.dry_run:
        one, many = "1 erasure of the other side would be carried out here", (
            "{n} erasures of the other side would be carried out here"
        )  # fmt: skip
    output.out(words.count(merged.erased, one, many))
