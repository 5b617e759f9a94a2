"""Implement `undo`, `revert` and `pin`: undo changes, or keep items from being archived."""

from typing import Annotated

import typer

from mnemark.memory.undo.undo import undo as undo_change
from mnemark.present import receipts
from mnemark_interfaces import options, output, speech, workspace

_Id = Annotated[
    str | None,
    typer.Argument(
        metavar="[ID]",
        help="The id of a change or group of changes (see `mnemark log`), or of what was reviewed. "
        "Default: the last thing done in this memory, by you or by a consolidation.",
    ),
]


def undo(
    id_: _Id = None,
    *,
    workspace_: options.Workspace = None,
    json: options.Json = False,
) -> None:
    """Undo a change.

    That is a fact remembered, a decision in review, something forgotten or pinned, or an automatic edit.
    Undoing a fact removes it from its file and restores the value before it; forgotten text is found again,
    and what was reviewed waits again. Without an id, it first says what it is about to undo.
    """
    at, words = workspace.place(workspace_), speech.words()
    with workspace.opened(at.root) as memory:
        ws, words = memory.workspace, speech.words()
        done = undo_change(
            ws, id_, scopes=("", *(at.scopes(None) or ())),
            announce=lambda id: None if json else output.hint(output.safe(receipts.undoing(ws, id, words))),  # noqa: A006
        )  # fmt: skip
        told = receipts.told(ws, done)
        said = [receipts.undone(ws, one, words) for one in done]
    if json:
        output.out_json({"undone": told})
        return
    for one, text in zip(done, said, strict=True):
        output.out(output.safe(text))
        for path in map(output.safe_line, one.waiting):
            if one.what == "merge":
                output.say("note: {path}", path=path)
            else:
                output.say("note: {path} could not be changed now; the next sync changes it", path=path)


def revert(
    *,
    workspace_: options.Workspace = None,
    session: Annotated[str | None, typer.Option(metavar="ID", help="Changes from this session.")] = None,
    origin: Annotated[
        str | None,
        typer.Option(
            metavar="ORIGIN", help="Changes from this source: owner (you), agent, tool, web, file or import."
        ),
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help='Changes recorded since then: 2026-02-13, "yesterday".')
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be undone, without changing anything.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Undo everything that came from one session or source.

    Removes its facts and proposals, restores the facts they replaced, undoes its edits and hides its
    messages. With several options, only changes that match all of them.
    """
    with workspace.opened(workspace.locate(workspace_), readonly=dry_run) as memory:
        done = memory.revert(session=session, origin=origin, since=since, dry_run=dry_run)
        done = receipts.reverted(memory.workspace, done, None if json else speech.words())
    output.out_result(done, receipts.reverted_text(done, speech.words()), json=json)
    if done.id and not json:
        output.say("Show the hidden messages again with `mnemark undo {id}`.", id=done.id)


def pin(
    ref: Annotated[str, typer.Argument(metavar="REF", help="PATH#L12, or the id of a fact or message.")],
    *,
    workspace_: options.Workspace = None,
    json: options.Json = False,
) -> None:
    """Keep a fact, message or part of a note from being archived."""
    with workspace.opened(workspace.locate(workspace_)) as memory:
        done = memory.pin(ref)
    told = speech.words()(
        "Kept for good: {what} (undo with `mnemark undo {id}`)", what=done.ref or done.fact, id=done.id
    )
    output.out_result(done, told, json=json)
