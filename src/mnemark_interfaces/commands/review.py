"""Implement `review` and `why`: decide on proposals, and explain where a fact comes from."""

from contextlib import suppress
from typing import Annotated

import typer

from mnemark.errors import BusyError, NotFoundError, UsageError
from mnemark.files.private import private
from mnemark.files.scopes import check_known, scopes_of
from mnemark.memory.memory import Memory
from mnemark.memory.review.explain import QueryRank, Why
from mnemark.memory.review.review import ReviewItem
from mnemark.present import explained, facts, proposals
from mnemark.present.changes import NAMES
from mnemark.present.sources import place, source, who
from mnemark.text.speaker import READ_AS
from mnemark_interfaces import options, output, render, speech, workspace
from mnemark_interfaces.commands.facts import row
from mnemark_interfaces.commands.learned import learned

_Id = Annotated[
    str | None,
    typer.Argument(
        metavar="[ID]", help='The id from the list; "edits" accepts all changes you made in fact files.'
    ),
]
_Scope = Annotated[
    str,
    typer.Option(
        metavar="SCOPE", help="Only what waits in users/NAME, agents/NAME or projects/NAME. Default: all."
    ),
]
_Keep = Annotated[bool, typer.Option("--keep", help="With learned: all of it is right. It is confirmed.")]
_Strike = Annotated[
    str,
    typer.Option(
        "--strike",
        metavar="MARKS",
        help="With learned: these are wrong and forgotten, all others are confirmed. Marks as in the list.",
    ),
]
_Suspect = Annotated[
    bool, typer.Option("--suspect", help="Accept what looks like instructions to a model, too.")
]


def review(
    action: Annotated[str, typer.Argument(metavar="[list|show|accept|reject|learned]")] = "list",
    id_: _Id = None,
    *,
    workspace_: options.Workspace = None,
    scope: _Scope = "*",
    suspect: _Suspect = False,
    keep: _Keep = False,
    strike: _Strike = "",
    json: options.Json = False,
) -> None:
    """Accept or reject proposed facts, conflicts and edits; look over what was learned.

    Facts from tools or the web wait here, facts that contradict a more trusted source, what you may have said
    otherwise since, and edits in fact files. Accepting a proposal makes it a fact, and writes it into the
    line of yours that it contradicts, as `review show` prints it; rejecting an edit in a file restores the
    previous value. What looks like instructions to a model is quoted by `review show ID`, and accepted only
    with --suspect.

    `review learned` lists what was learned from conversations and nobody has confirmed; `--keep` confirms all
    of it, `--strike MARKS` forgets these and confirms the others.
    """
    root = workspace.locate(workspace_)
    if action == "learned":
        learned(root, keep=keep, strike=strike, scope="" if scope == "*" else scope, json=json)
        return
    if keep or strike:
        raise UsageError("--keep and --strike go with `mnemark review learned`")
    decides = action in {"accept", "reject"}
    with workspace.opened(root, readonly=not decides and not private(root).is_dir()) as memory:
        if not memory.readonly:
            with suppress(BusyError):  # another process notes what was edited
                memory.sync(embed=False)
        if decides:
            if id_ is None:
                raise UsageError(f"give the id to {action}: `mnemark review` lists them")
            _decide(memory, action, id_, scope, suspect=suspect, json=json)
            return
        if action not in {"list", "show"}:
            raise UsageError(f"the action must be list, show, accept, reject or learned, not {action!r}")
        if id_ is not None and action == "list":
            raise UsageError(
                f"`list` takes no id; use `mnemark review show {id_}`, or accept or reject instead of show"
            )
        found = _waiting(memory, scope)
        if action == "show" and id_ is not None:
            found = [one for one in found if one.id == id_]
            if not found:
                raise NotFoundError(f"nothing to review has the id {id_!r}; `mnemark review` lists the ids")
        _show(memory, found, json=json, whole=action == "show")


def _waiting(memory: Memory, scope: str) -> list[ReviewItem]:
    check_known(memory.workspace.scopes(), scope)
    scopes = memory.workspace.scopes() if scopes_of(scope) is None else [scope]
    return [one for name in scopes for one in memory.review(scope=name)]


def _decide(memory: Memory, action: str, id_: str, scope: str, *, suspect: bool, json: bool) -> None:
    diffs = [one.diff for one in _waiting(memory, scope) if one.id == id_] if action == "accept" else []
    diff = next(iter(diffs), "")
    fact = memory.accept(id_, suspect=suspect) if action == "accept" else memory.reject(id_)
    done = {"id": id_, "action": action, "fact": row(fact), "diff": diff}
    words = speech.words()
    name = "accepted" if action == "accept" else "rejected"
    told = words(name) if fact is None else words.named(name, facts.clause(fact, words))
    if id_ != "edits":
        told += words(" (undo with `mnemark undo {id}`)", id=id_)
    if diff:
        told += f"\n{words('your line was changed:')}\n{output.safe(diff)}"
    output.out_result(done, told, json=json)


def _show(memory: Memory, found: list[ReviewItem], *, json: bool, whole: bool) -> None:
    words = speech.words()
    if json:
        from msgspec.structs import asdict

        told = (proposals.told(one) for one in found)
        output.out_json({"waiting": [{**asdict(one), "fact": row(one.fact)} for one in told]})
        return
    scopes = any(one.fact.scope for one in found)
    rows = [
        (one.id, proposals.kind(one, words), one.time[:10], *([output.safe_line(one.fact.scope)] * scopes),
         _headline(one))
        for one in found
    ]  # fmt: skip
    for line in render.table(rows):
        output.out(line)
    for one in found if whole else ():
        if one.suspect:
            _show_suspect(one)
        output.out(f"  {words.named('source', _source(memory, one, words))}")
        output.out("  " + words("details: `mnemark why {id}`", id=one.id))
        if one.diff:
            output.out(f"  {words('accepting it changes your line:')}\n{output.safe(one.diff.rstrip())}")
    if not found:
        output.say("Nothing to review.")


def _source(memory: Memory, one: ReviewItem, words: speech.CommandWords) -> str:
    """Return who said a thing and where, in words, with the ref to read it."""
    told = source(memory.workspace, one.fact, words)
    ref = one.fact.source or one.fact.path
    return output.safe_line(words("{value} ({more})", value=told, more=ref) if ref else told)


def _headline(one: ReviewItem) -> str:
    """Return the text of a row; what looks like instructions is no headline."""
    words = speech.words()
    if not one.suspect:
        return output.safe_line(proposals.sentence(one, words, alone=False))
    return words(
        "looks like instructions to a model, from {who}; `review show {id}`",
        who=who(one.fact.origin, words), id=one.id,
    )  # fmt: skip


def _show_suspect(one: ReviewItem) -> None:
    """Print what looks like instructions as a quotation, and what can be done: to reject it first."""
    words = speech.words()
    for line in output.safe(proposals.sentence(one, words)).splitlines():
        output.out(f"  > {line}")
    output.out("  " + words("drop it: `mnemark review reject {id}`", id=one.id))
    output.out(
        "  "
        + words(
            "`mnemark review accept {id} --suspect` makes it your own word: it is recalled as yours, and "
            "agents act on it",
            id=one.id,
        )
    )


def why(
    ref: Annotated[
        str, typer.Argument(metavar="REF", help="PATH#L12 as shown by search, or the id of a fact.")
    ],
    query: Annotated[
        str | None,
        typer.Argument(metavar="[QUERY]", help="Also explain why a search for this finds it, or not."),
    ] = None,
    *,
    workspace_: options.Workspace = None,
    json: options.Json = False,
) -> None:
    """Show where a fact or passage comes from.

    Shows source, date, session, earlier values and changes.
    """
    root = workspace.locate(workspace_)
    opener = workspace.as_it_is if workspace.is_empty(root) else workspace.followed
    with opener(root) as (memory, late):
        found = explained.told(memory.workspace, memory.why(ref, query), None if json else speech.words())
        lines = [] if json else _lines(memory, found, speech.words())
    for reason in late:
        output.hint(output.spoken(reason))
    if json:
        from msgspec.structs import asdict

        output.out_json({**asdict(found), "history": [row(fact) for fact in found.history]})
        return
    for line in lines:
        output.out(output.safe(line))


def _lines(memory: Memory, found: Why, words: speech.CommandWords) -> list[str]:
    """Return what is told of a fact or a passage: the sentence, who said it and where, and its life."""
    ws = memory.workspace
    fact = next((one for one in found.history if one.id == found.id), None)
    lines = [
        found.text,
        f"  {words(READ_AS.get(found.kind, found.kind))} {found.ref}",
    ]

    def tell(name: str, value: str) -> None:
        lines.append(f"  {words.named(name, value)}")

    if fact is not None or found.kind != "turn" or found.id:  # in a talk, many speak
        tell("comes from", source(ws, fact, words) if fact is not None else who(found.origin, words))
    if found.entry:
        earned = words.line(found.earned) if found.earned else words("no longer needed there")
        tell("in the core memory", words("{entry}, {reason}", entry=found.entry, reason=earned))
    if found.time:
        tell("learned", render.minute(render.on_clock(found.time, ws.now().tzinfo)))
    if found.session:
        talk = place(ws, found.session, words)
        tell("talk", words("{value} ({more})", value=talk, more=found.session))
    if found.waits:
        tell("waits for review", words(found.waits))
    if found.hidden:
        lines.append(f"  {words('forgotten or undone: searches do not return it')}")
    for one in found.sources:
        tell("source", one.ref)
        said = words.line(one.problem) if one.problem else _one_line(one.text)
        lines.append(f"    {words.named(one.role, said)}" if one.role else f"    {said}")
    return [*lines, *_life(found, words), *(_query_lines(found.found, words) if found.found else [])]


def _life(found: Why, words: speech.CommandWords) -> list[str]:
    """Return the values that a fact had, and the lines of the journal about it."""
    lines = []
    if len(found.history) > 1:
        lines.append(f"  {words.named('history', '').rstrip()}")
        for fact in found.history:
            told, by = facts.sentence(fact, words), who(fact.origin, words)
            lines.append("    " + words("{value} ({more})", value=told, more=by))
    for one in found.corrected:
        more = words.listed([who(one.origin, words), one.id])
        lines.append(f"  {one.time[:10]}  " + words("{value} ({more})", value=one.text, more=more))
    if found.confirmations:
        times = words.count(len(found.confirmations), "confirmed once", "confirmed {n} times")
        lines.append(f"  {times}")
    for line in found.journal:
        what, by = words(NAMES.get(line.kind, line.kind)), who(line.origin, words)
        done = words("{value} ({more})", value=what, more=by)
        lines.append(f"  {render.minute(line.time)}  {done}  {line.ref}")
    return lines


def _query_lines(found: QueryRank, words: speech.CommandWords) -> list[str]:
    reason = words.line(found.reason)
    lines = ["  " + words("search for “{query}”: {reason}", query=_one_line(found.query), reason=reason)]
    for name, route in found.routes.items():
        rank = route.get("rank")
        shown = words("rank {n}", n=rank) if rank else words("not found")
        lines.append("    " + words("{route}: {shown}, score {score}", route=name, shown=shown,
                                    score=f"{route['score']:.3f}"))  # fmt: skip
    lines += [f"    {name}: {value:+.3f}" for name, value in found.boosts.items()]
    lines += ["    " + words("matching words: {words}", words=words.listed(found.here))] if found.here else []
    lines += (
        ["    " + words("missing words: {words}", words=words.listed(found.absent))] if found.absent else []
    )
    return lines


def _one_line(text: str) -> str:
    return render.shortened(" ".join(text.split()), 200)
