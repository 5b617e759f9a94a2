"""Implement `review` and `why`: decide on proposals, and explain where a fact comes from."""

from contextlib import suppress
from datetime import tzinfo
from typing import Annotated, Any

import typer

from mnemark.errors import BusyError, NotFoundError, UsageError
from mnemark.files.private import private
from mnemark.files.scopes import check_known, scopes_of
from mnemark.memory.memory import Memory
from mnemark.memory.review.explain import QueryRank, Why
from mnemark.memory.review.review import ReviewItem
from mnemark_interfaces import options, output, render, workspace
from mnemark_interfaces.commands.facts import row
from mnemark_interfaces.commands.learned import learned

_SOURCES = {
    "owner": "you",
    "agent": "the agent",
    "tool": "a tool",
    "web": "the web",
    "file": "a file in this folder (written by hand or with `mnemark add`)",
    "import": "an import, or another memory that is searched beside this one",
}
"""Origins in words."""
_WORDS = {
    "proposal": "proposed",
    "conflict": "conflict",
    "removed": "removed before",
    "otherwise": "said otherwise",
    "edit": "changed in a file",
}


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
    _show(found, json=json, whole=action == "show")


def _waiting(memory: Memory, scope: str) -> list[ReviewItem]:
    check_known(memory.workspace.scopes(), scope)
    scopes = memory.workspace.scopes() if scopes_of(scope) is None else [scope]
    return [one for name in scopes for one in memory.review(scope=name)]


def _decide(memory: Memory, action: str, id_: str, scope: str, *, suspect: bool, json: bool) -> None:
    diffs = [one.diff for one in _waiting(memory, scope) if one.id == id_] if action == "accept" else []
    diff = next(iter(diffs), "")
    fact = memory.accept(id_, suspect=suspect) if action == "accept" else memory.reject(id_)
    done = {"id": id_, "action": action, "fact": row(fact), "diff": diff}
    words = f"{action}ed" + (f": {fact}" if fact is not None else "")
    if id_ != "edits":
        words += f" (undo with `mnemark undo {id_}`)"
    if diff:
        words += f"\nyour line was changed:\n{output.safe(diff)}"
    output.out_result(done, words, json=json)


def _show(found: list[ReviewItem], *, json: bool, whole: bool) -> None:
    if json:
        from msgspec.structs import asdict

        output.out_json({"waiting": [{**asdict(one), "fact": row(one.fact)} for one in found]})
        return
    scopes = any(one.fact.scope for one in found)
    rows = [
        (one.id, _WORDS[one.what], one.time[:10], *([output.safe_line(one.fact.scope)] * scopes),
         _headline(one))
        for one in found
    ]  # fmt: skip
    for line in render.table(rows):
        output.out(line)
    for one in found if whole else ():
        if one.suspect:
            _show_suspect(one)
        source = one.fact.source or one.fact.path or "unknown"
        output.out(f"  source: {output.safe_line(source)}; details: `mnemark why {one.id}`")
        if one.diff:
            output.out(f"  accepting it changes your line:\n{output.safe(one.diff.rstrip())}")
    if not found:
        output.say("Nothing to review.")


def _headline(one: ReviewItem) -> str:
    """Return the text of a row; what looks like instructions is no headline."""
    if not one.suspect:
        return output.safe_line(one.text)
    return f"looks like instructions to a model, from {_SOURCES[one.fact.origin]}; `review show {one.id}`"


def _show_suspect(one: ReviewItem) -> None:
    """Print what looks like instructions as a quotation, and what can be done: to reject it first."""
    for line in output.safe(one.text).splitlines():
        output.out(f"  > {line}")
    output.out(f"  drop it: `mnemark review reject {one.id}`")
    output.out(
        f"  `mnemark review accept {one.id} --suspect` makes it your own word: it is recalled as yours, and "
        "agents act on it"
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
        found, zone = memory.why(ref, query), memory.workspace.now().tzinfo
    for reason in late:
        output.say(reason)
    if json:
        from msgspec.structs import asdict

        output.out_json({**asdict(found), "history": [row(fact) for fact in found.history]})
        return
    for line in _lines(found, zone):
        output.out(output.safe(line))


def _lines(found: Why, zone: tzinfo | None) -> list[str]:
    lines = [
        found.text,
        f"  {found.kind} {found.ref}",
        f"  comes from: {_SOURCES.get(found.origin, found.origin)}",
    ]
    lines += (
        [f"  in the core memory ({found.entry}): {found.earned or 'no longer needed there'}"]
        if found.entry
        else []
    )
    lines += [f"  learned: {render.minute(render.on_clock(found.time, zone))}"] if found.time else []
    lines += [f"  session: {found.session}"] if found.session else []
    lines += [f"  waiting for review: {found.waits}"] if found.waits else []
    lines += ["  forgotten or undone: searches do not return it"] if found.hidden else []
    for one in found.sources:
        who = f"{one.role} ({one.origin}), {render.minute(one.time)}: " if one.role else ""
        lines += [f"  source: {one.ref}", f"    {one.problem or who + _one_line(one.text)}"]
    if len(found.history) > 1:
        lines.append("  history:")
        for fact in found.history:
            span = f"{fact.since[:10] or '…'} to {fact.until[:10] or 'now'}"
            lines.append(f"    {span}  {_one_line(fact.value)}  (from {_SOURCES[fact.origin]})")
    if found.confirmations:
        times = len(found.confirmations)
        lines.append(f"  confirmed: {'once' if times == 1 else f'{times} times'}")
    for line in found.journal:
        source = _SOURCES.get(line.origin, line.origin)
        lines.append(f"  {line.ref}: {line.kind}, from {source}, {render.minute(line.time)}")
    return lines + (_query_lines(found.found) if found.found is not None else [])


def _query_lines(found: QueryRank) -> list[str]:
    lines = [f'  search for "{_one_line(found.query)}": {found.reason}']
    for name, route in found.routes.items():
        place = route.get("rank")
        shown: Any = f"rank {place}" if place else "not found"
        lines.append(f"    {name}: {shown}, score {route['score']:.3f}")
    lines += [f"    {name}: {value:+.3f}" for name, value in found.boosts.items()]
    lines += [f"    matching words: {', '.join(found.here)}"] if found.here else []
    lines += [f"    missing words: {', '.join(found.absent)}"] if found.absent else []
    return lines


def _one_line(text: str) -> str:
    return render.shortened(" ".join(text.split()), 200)
