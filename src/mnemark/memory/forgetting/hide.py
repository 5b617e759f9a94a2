"""Hide items from every answer, by a line of the journal."""

from collections import defaultdict
from contextlib import suppress

from mnemark.errors import BusyError
from mnemark.files.journal import Change
from mnemark.files.locks import LOCK_SECONDS, workspace_lock
from mnemark.files.tombstones import run_of
from mnemark.memory.forgetting.select import Item, Wanted, ends_of
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.types import Json


def asked(wanted: Wanted) -> dict[str, Json]:
    """How it was asked for, for the journal: never the words that were looked for."""
    said = {
        "ref": wanted.ref, "id": wanted.id, "query": bool(wanted.query), "session": wanted.session,
        "origin": wanted.origin, "since": wanted.since.isoformat() if wanted.since else "",
    }  # fmt: skip
    return {name: value for name, value in said.items() if value}


def hide(ws: OpenWorkspace, items: list[Item], more: dict[str, Json]) -> str:
    """Write down that these are forgotten, and take them out of the index; returns the line's id."""
    facts = ws.fact_store
    with facts.lock, workspace_lock(ws.root):
        facts.log.refresh()
        payload = payload_of(items) | {"ends": ends_of(facts, items)} | more
        payload = {name: value for name, value in payload.items() if value}
        made = facts.log.append(Change(kind="forget", payload=payload, origin="owner"))[0]
    follow(ws)
    return made.id


def follow(ws: OpenWorkspace) -> None:
    """Bring the index up to date; while another process is at it, answers leave out all that is hidden."""
    with suppress(BusyError):
        ws.searcher.refresher.sync(progress=None, wait=LOCK_SECONDS, embed=False)


def payload_of(items: list[Item]) -> dict[str, Json]:
    """Items as a line of the journal names them, without a word of theirs."""
    turns: defaultdict[str, list[str]] = defaultdict(list)
    lines: defaultdict[str, list[list[str]]] = defaultdict(list)
    for item in items:
        if item.kind == "turn":
            turns[item.path].append(item.id)
        elif item.kind != "fact":
            lines[item.path].append(list(run_of(item.text.splitlines())))
    ids = [item.id for item in items if item.kind == "fact"]
    return {"ids": ids, "turns": dict(turns), "lines": dict(lines)}
