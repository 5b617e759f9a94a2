"""Assemble the memory part of an agent's prompt, with a recall for what was asked; see `builder`."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from mnemark.errors import UsageError
from mnemark.files import layout
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.prompt.builder import LAYERS, Prompt, PromptBuilder
from mnemark.memory.prompt.catalogue import catalogue
from mnemark.memory.prompt.facts import facts_for
from mnemark.memory.prompt.quoted import PromptRequest
from mnemark.memory.sessions.session import Session
from mnemark.types import Recall

BUDGET: Final = 3_000
"""Tokens of all layers together."""


def prompt(
    ws: OpenWorkspace,
    query: str | None = None,
    *,
    session: "Session | str | None" = None,
    scope: str = "",
    budget: int = BUDGET,
    layers: Mapping[str, int] | None = None,
    deadline: float | None = None,
    persona: str | None = None,
    now: datetime | None = None,
    counted: bool = True,
) -> Prompt:
    """Return all layers of an agent's memory within a budget, without a request to a model.

    Args:
        ws: the workspace.
        query: the message; by default the owner's last one in `session`. Without either, no recall.
        session: the session, or its id; its own last turns are left out of the recall.
        scope: the scope to use beside the root; by default the session's.
        budget: tokens of everything together.
        layers: tokens by layer, in place of those in `LAYERS`; 0 leaves a layer out.
        deadline: seconds that recall may take; by default the configured 0.15.
        persona: name of a persona; by default the active one, "" for none.
        now: the time that today is taken from.
        counted: whether what is recalled counts as used; without `session` only.

    Raises:
        UsageError: an argument is wrong; the message names valid values.
    """
    caps = _caps(budget, layers)
    talk = Session(ws, session, scope="") if isinstance(session, str) else session
    where = scope or (talk.scope if talk else "")
    if where:
        layout.check_name(where)
    now = now or ws.now()
    asked = PromptRequest(None, talk.id if talk else "", where, persona, now)
    asked = asked._replace(recall=_recalled(ws, query, talk, asked, deadline, counted=counted))

    def things(facts: Mapping[str, int], chinese: bool) -> list[str]:  # noqa: FBT001 - as `Catalogue` is called
        return catalogue(ws, facts, scope=where, chinese=chinese)

    builder = PromptBuilder(ws, asked, facts_for(ws, now, scope=where), catalogue=things)
    return builder.build(caps, budget, given=frozenset(layers or ()))


def _recalled(
    ws: OpenWorkspace,
    query: str | None,
    talk: Session | None,
    asked: PromptRequest,
    deadline: float | None,
    *,
    counted: bool,
) -> Recall | None:
    """Return what is found for the message; None where there is no question."""
    if query is None and talk is not None:
        said = [turn.content for turn in talk.last() if turn.origin == "owner"]
        query = said[-1] if said else None
    if not query or not query.strip():
        return None
    if talk is not None:
        return talk.recall(query, deadline=deadline)
    return ws.searcher.recall(
        query, deadline=deadline, scope=asked.scope or None, now=asked.now, counted=counted
    )


def _caps(budget: int, layers: Mapping[str, int] | None) -> dict[str, int]:
    if budget < 1:
        raise UsageError(f"the budget must be at least 1 token, not {budget}")
    for name, tokens in (layers or {}).items():
        if name not in LAYERS:
            raise UsageError(f"there is no layer {name!r}; layers: {', '.join(LAYERS)}")
        if tokens < 0:
            raise UsageError(f"layer {name!r}: {tokens} tokens are too few; use more, or 0 to leave it out")
    return {**LAYERS, **(layers or {})}
