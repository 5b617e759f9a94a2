"""Keep the first facts of each layer, so that a briefing of an old memory reads none of its facts.

The lines lie with the other compiled texts (`files.private`), which an erasure clears. They are used
as long as nothing was written about facts since, no fact began or ended, and nobody edited a curated file.
"""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final

import msgspec

from mnemark.facts import states
from mnemark.facts.plain_workspace import PlainWorkspace
from mnemark.files import listing, platform
from mnemark.files.layout import in_scope
from mnemark.files.private import load_compiled, save_compiled
from mnemark.hashes import blake2b
from mnemark.memory.curation.files import curated_files
from mnemark.memory.prompt.fact_lines import Facts

VERSION: Final = 3
MOST: Final = 60
"""Facts kept of a layer: more lines than a briefing has room for."""
_NAME: Final = "facts"


class _Kept(msgspec.Struct):
    facts: Facts
    until: float | None
    """When the next fact begins or ends, in seconds since 1970."""


def leading_facts(ws: PlainWorkspace, now: datetime, *, scope: str = "") -> Facts:
    """Return the first facts of each layer that hold at `now`, of the root and of a scope beside it."""
    scopes = tuple(dict.fromkeys(("", scope)))
    if not states.stamp_of(ws.root, scopes):  # there is neither a fact file nor a journal
        return Facts(subjects={})
    known = states.kept(ws.root, ws.root, ws.visible.redacted)
    if not all(map(known.settled, scopes)):
        return _chosen(ws, now, scope)
    sections = [states.load(ws.root, one) for one in scopes]
    key = _key(ws, now, scopes, sections)
    with suppress(msgspec.DecodeError):
        kept = msgspec.json.decode(load_compiled(ws.root, _NAME, key) or "", type=_Kept)
        if kept.until is None or now.timestamp() < kept.until:
            return kept.facts
    facts = _chosen(ws, now, scope)
    every = (fact for section in sections if section for fact in section.facts)
    times = (time for fact in every for time in (fact.begin, fact.end))
    until = min((time for time in times if time is not None and time > now.timestamp()), default=None)
    if not ws.readonly:
        save_compiled(ws.root, _NAME, key, msgspec.json.encode(_Kept(facts, until)).decode())
    return facts


def _chosen(ws: PlainWorkspace, now: datetime, scope: str) -> Facts:
    from mnemark.memory.prompt.facts import facts_for

    return msgspec.structs.replace(facts_for(ws, now, scope=scope, most=MOST), subjects={})


def _key(ws: PlainWorkspace, now: datetime, scopes: Sequence[str], sections: Sequence[object]) -> str:
    """Return a hash of the day, the cached states, the settings, and the files with generated parts."""
    paths: list[str] = []
    for scope in scopes:
        names = (name for name in listing.names(ws.root, scope, ".md") if name.casefold() == "user.md")
        paths += (*curated_files(ws.root, f"{scope}/" if scope else ""), *(in_scope(scope, n) for n in names))
    files = [(path, platform.identity(ws.root / path)) for path in paths]
    parts = (
        VERSION,
        ws.visible.identity,
        str(now.date()),
        str(ws.now().tzinfo),
        files,
        msgspec.json.encode(sections),
    )
    return blake2b(repr(parts).encode(), digest_size=8).hexdigest()
