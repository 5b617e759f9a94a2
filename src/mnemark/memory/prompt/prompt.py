"""Assemble the memory part of an agent's prompt, with a recall for what was asked; see `builder`.

Its last layer lists what is in memory by kind, so that a model knows what to search for.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import partial
from typing import Final

from mnemark.errors import UsageError
from mnemark.files import layout
from mnemark.memory.curation.personas import FOLDER as PERSONAS
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.prompt.builder import LAYERS, Prompt, PromptBuilder
from mnemark.memory.prompt.facts import facts_for
from mnemark.memory.prompt.quoted import PromptRequest
from mnemark.memory.sessions.session import Session
from mnemark.text.quoting.fence import visible

BUDGET: Final = 3_000
"""Tokens of all layers together."""
_MOST: Final = 40
"""Names in a line of the catalogue."""
_COUNTED: Final = (
    ("episode", "Episodes", "情景"),
    ("attachment", "Attachments", "附件"),
    ("session", "Sessions", "会话"),
)


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
    talk, where = _talk(ws, session, scope)
    now = now or ws.now()
    plain = partial(ws.searcher.recall, scope=where or None, now=now, counted=counted)
    query = _last_said(talk) if query is None else query
    found = (talk.recall if talk else plain)(query, deadline=deadline) if query.strip() else None
    asked = PromptRequest(found, talk.id if talk else "", where, persona, now)
    facts, catalogue = facts_for(ws, now, scope=where), partial(_catalogue, ws, scope=where)
    builder = PromptBuilder(ws, asked, facts, catalogue=catalogue)
    return builder.build(caps, budget, given=frozenset(layers or ()))


def _talk(ws: OpenWorkspace, session: "Session | str | None", scope: str) -> tuple[Session | None, str]:
    """Return the session, and the scope that is used beside the root: the given one, else the session's."""
    talk = Session(ws, session, scope="") if isinstance(session, str) else session
    where = scope or (talk.scope if talk else "")
    if where:
        layout.check_name(where)
    return talk, where


def _last_said(talk: Session | None) -> str:
    """Return the last message of the owner; empty without one."""
    said = [turn.content for turn in talk.last() if turn.origin == "owner"] if talk else []
    return said[-1] if said else ""


def _caps(budget: int, layers: Mapping[str, int] | None) -> dict[str, int]:
    if budget < 1:
        raise UsageError(f"the budget must be at least 1 token, not {budget}")
    for name, tokens in (layers or {}).items():
        if name not in LAYERS:
            raise UsageError(f"there is no layer {name!r}; layers: {', '.join(LAYERS)}")
        if tokens < 0:
            raise UsageError(f"layer {name!r}: {tokens} tokens are too few; use more, or 0 to leave it out")
    return {**LAYERS, **(layers or {})}


def _catalogue(ws: OpenWorkspace, facts: Mapping[str, int], *, scope: str, chinese: bool) -> list[str]:
    """Return a line for each kind of thing in memory.

    Args:
        ws: the workspace.
        facts: how many current facts there are about whom or what.
        scope: whose memory beside the root's; other scopes are not told of.
        chinese: the language of the words around the names.
    """
    names, dates = _named(ws.searcher.paths(), scope)
    lines: list[str] = []
    if facts:
        ordered = sorted(facts.items(), key=lambda pair: (-pair[1], pair[0]))
        told = [f"{name} ({count})" for name, count in ordered]
        lines.append(_line("关于这些有事实" if chinese else "Facts about", told, chinese=chinese))
    if dates:
        first, last = min(dates), max(dates)
        span = first if first == last else f"{first} – {last} ({len(set(dates))})"
        lines.append(f"- {'每日笔记：' if chinese else 'Notes by day: '}{span}")
    if names["note"]:
        lines.append(_line("其他笔记" if chinese else "Other notes", sorted(names["note"]), chinese=chinese))
    if names["persona"]:
        told = [path.rpartition("/")[2].rpartition(".")[0] for path in sorted(names["persona"])]
        lines.append(_line("角色" if chinese else PERSONAS.capitalize(), told, chinese=chinese))
    for role, english, zh in _COUNTED:
        if names[role]:
            lines.append(f"- {zh}：{len(names[role])}" if chinese else f"- {english}: {len(names[role])}")
    return lines


def _named(paths: Iterable[str], scope: str) -> tuple[Mapping[str, list[str]], list[str]]:
    """Return the paths of a scope and of the root by role, and the days of daily notes.

    Where a folder tells what its files are, that is looked up for one of them.
    """
    by_folder: dict[tuple[str, str], list[str]] = defaultdict(list)
    for path in paths:
        folder, _, name = path.rpartition("/")
        by_folder[folder, name[name.rfind(".") :]].append(path)
    names: dict[str, list[str]] = defaultdict(list)
    dates: list[str] = []
    for (folder, _), found in by_folder.items():
        if layout.scope_of(f"{folder}/") not in {"", scope}:
            continue
        if layout.is_uniform(folder):
            if (place := layout.place(found[0])) is not None and place.searchable:
                names[place.role] += found
            continue
        for path in found:
            place = layout.place(path)
            if place is not None and place.searchable:
                names[place.role].append(path)
                dates += [place.dated] if place.role == "daily" and place.dated else []
    return names, dates


def _line(label: str, names: list[str], *, chinese: bool) -> str:
    more = len(names) - _MOST
    told = ("、" if chinese else ", ").join(map(visible, names[:_MOST]))
    if more > 0:
        told += f" … 另有 {more} 项" if chinese else f" … and {more} more"
    return f"- {label}：{told}" if chinese else f"- {label}: {told}"
