"""Commands that take changes back, or keep them: undo, revert, pin."""

from typing import Annotated

import typer

from mnemark.interfaces import output, workspace


def undo(
    id_: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]", help="Of the change or of a group of edits. Default: the last change."
        ),
    ] = None,
    *,
    workspace_: output.Workspace = None,
    json: output.Json = False,
) -> None:
    """Take back a change: something remembered, forgotten, pinned, or edited automatically.

    A fact goes out of its file and the one before it holds again; what was hidden is shown again.
    """
    with workspace.opened(workspace.locate(workspace_)) as memory:
        done = memory.undo(id_)
    if json:
        output.out_json({"undone": done})
        return
    names = {
        "remember": "not remembered any more",
        "forget": "not forgotten any more",
        "edit": "edit taken back",
    }
    for one in done:
        about = ", ".join((*one.paths, *one.waiting)) + f"\n{one.text}" if one.what == "edit" else one.text
        output.out(output.safe(f"{names.get(one.what, 'not pinned any more')}: {about}"))
        for path in one.waiting:
            output.say(f"note: {output.safe(path)} is being saved by somebody; the next sync changes it")


def revert(
    *,
    workspace_: output.Workspace = None,
    session: Annotated[str | None, typer.Option(metavar="ID", help="What came from this session.")] = None,
    origin: Annotated[
        str | None,
        typer.Option(metavar="ORIGIN", help="What came from owner, agent, tool, web, file or import."),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(metavar="TIME", help='What was recorded from then on: 2026-02-13, "yesterday".'),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    json: output.Json = False,
) -> None:
    """Take back all that one source brought in.

    Its facts and proposals go, the facts they had replaced hold again, edits made for it are taken out, and
    its turns are hidden. With several options, what fits all of them.
    """
    with workspace.opened(workspace.locate(workspace_), readonly=dry_run) as memory:
        done = memory.revert(session=session, origin=origin, since=since, dry_run=dry_run)
    output.out_result(done, done.text, json=json)
    if done.id and not json:
        output.say(f"The turns can be shown again with `mnemark undo {done.id}`.")


def pin(
    ref: Annotated[str, typer.Argument(metavar="REF", help="PATH#L12, or the id of a fact or turn.")],
    *,
    workspace_: output.Workspace = None,
    json: output.Json = False,
) -> None:
    """Keep a fact, a turn or a piece of a note from fading."""
    with workspace.opened(workspace.locate(workspace_)) as memory:
        done = memory.pin(ref)
    text = f"pinned: {done.ref or done.fact} (undo with `mnemark undo {done.id}`)"
    output.out_result(done, text, json=json)
