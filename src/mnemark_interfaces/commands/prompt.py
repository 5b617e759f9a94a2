"""Implement `prompt`: show the memory part of an agent's prompt, with its tokens."""

from typing import Annotated

import typer

from mnemark.errors import DegradedError, UsageError
from mnemark.memory.curation.identity import Part
from mnemark.memory.prompt.builder import Prompt
from mnemark_interfaces import options, output, speech, workspace
from mnemark_interfaces.queries import COLD_DEADLINE

_Query = Annotated[
    str | None, typer.Argument(metavar="[QUERY]", help="The user's message. Without it, nothing is recalled.")
]
_Session = Annotated[str | None, typer.Option(metavar="ID", help="The session the prompt belongs to.")]
_Persona = Annotated[str | None, typer.Option(metavar="NAME", help='Use this persona; "" for none.')]
_Budget = Annotated[int, typer.Option(metavar="TOKENS", help="Maximum tokens of the whole prompt.")]
_Layer = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=TOKENS", help="Maximum tokens of one layer; 0 leaves it out."),
]


def prompt(
    query: _Query = None,
    *,
    workspace_: options.Workspace = None,
    session: _Session = None,
    scope: options.OneScope = "",
    persona: _Persona = None,
    budget: _Budget = 3_000,
    layer: _Layer = None,
    layers: Annotated[bool, typer.Option("--layers", help="Only list the layers with their tokens.")] = False,
    strict: options.Strict = False,
    json: options.Json = False,
) -> None:
    """Show the memory part of an agent's prompt, with its tokens.

    The first text belongs in the system message, the quoted block below it in the user message.
    """
    at = workspace.place(workspace_, any_folder=True)
    empty = workspace.is_empty(at.root)
    with (workspace.as_it_is if empty else workspace.followed)(at.root) as (memory, late):
        found = memory.prompt(
            None if empty else query,  # to look for it would make an index
            session=session, scope=at.scope(scope), budget=budget, layers=_budgets(layer or []),
            deadline=COLD_DEADLINE, persona=persona,
        )  # fmt: skip
    degraded = (*late, *found.degraded)
    if json:
        output.out_json({
            "text": found.text, "recall": found.recall, "tokens": found.tokens, "budget": found.budget,
            "parts": found.parts, "messages": found.messages(), "degraded": degraded,
        })  # fmt: skip
    else:
        _show(found, only_layers=layers)
        for reason in degraded:
            output.hint(output.spoken(reason))
    if strict and degraded:
        raise DegradedError(f"the prompt is not complete: {degraded[0]}")


def _budgets(given: list[str]) -> dict[str, int]:
    found = {}
    for one in given:
        name, _, number = one.partition("=")
        if not number.isascii() or not number.isdigit():
            raise UsageError(f"--layer must be NAME=TOKENS, for example --layer dynamic=800, not {one!r}")
        found[name.strip()] = int(number)
    return found


def _show(found: Prompt, *, only_layers: bool) -> None:
    if not only_layers:
        for text in filter(None, (found.text, found.recall)):
            output.out(output.safe(text) + "\n")
    words = speech.words()
    total = words("{n} of {budget} tokens (estimated)", n=found.tokens, budget=found.budget)
    output.out(output.style(total, output.BOLD))
    width = max(len(part.name) for part in found.parts)
    for part in found.parts:
        share = words("{n} of {budget}", n=f"{part.tokens:>5}", budget=f"{part.budget:<5}")
        output.out(f"  {part.name:<{width}}  {share} {_remarks(part, words)}".rstrip())


def _remarks(part: Part, words: speech.CommandWords) -> str:
    shown = [words.listed(part.sources[:4]) + (" …" if len(part.sources) > 4 else "")]
    if part.role == "user":
        shown.append(words("quoted, in the user message"))
    if part.by == "llm":
        shown.append(words("by a model"))
    if part.left_out:
        some = words.clauses(output.safe_line(one).removeprefix("- ") for one in part.left_out[:3])
        some += " …" if len(part.left_out) > 3 else ""
        shown.append(words("left out {n}: {items}", n=len(part.left_out), items=some))
    return " · ".join(filter(None, shown))
