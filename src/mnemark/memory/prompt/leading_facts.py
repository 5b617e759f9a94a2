"""Keep the first facts of each layer, so that a briefing of an old memory reads none of its facts.

The lines lie with the other compiled texts (`files.compiled_cache`), which an erasure clears. They are used
as long as nothing was written about facts since, no fact began or ended, and nobody edited a curated file.
"""

import hashlib
from contextlib import suppress
from datetime import datetime
from typing import Final

import msgspec

from mnemark.facts import states
from mnemark.facts.store import PlainWorkspace
from mnemark.files import compiled_cache, listing, platform
from mnemark.memory.curation.files import curated_files
from mnemark.memory.prompt.facts import Facts, facts_for

VERSION: Final = 1
MOST: Final = 60
"""Facts kept of a layer: more lines than a briefing has room for."""
_NAME: Final = "facts"


class _Kept(msgspec.Struct):
    facts: Facts
    until: float | None
    """When the next fact begins or ends, in seconds since 1970."""


def leading_facts(ws: PlainWorkspace, now: datetime, *, scope: str = "") -> Facts:
    """Return the first facts of each layer that hold at `now`; those of a scope are read anew."""
    if scope:
        return _first(facts_for(ws, now, scope=scope))
    known = states.kept(ws.root, ws.root, ws.visible.redacted)
    if not known.settled(scope):
        return _first(facts_for(ws, now))
    section = states.load(ws.root, scope)
    key = _key(ws, section)
    with suppress(msgspec.DecodeError):
        kept = msgspec.json.decode(compiled_cache.load(ws.root, _NAME, key) or "", type=_Kept)
        if kept.until is None or now.timestamp() < kept.until:
            return kept.facts
    facts = _first(facts_for(ws, now))
    times = (time for fact in (section.facts if section else ()) for time in (fact.begin, fact.end))
    until = min((time for time in times if time is not None and time > now.timestamp()), default=None)
    if not ws.readonly:
        compiled_cache.save(ws.root, _NAME, key, msgspec.json.encode(_Kept(facts, until)).decode())
    return facts


def _first(facts: Facts) -> Facts:
    few = {name: getattr(facts, name)[:MOST] for name in ("rules", "profile", "core", "skills", "other")}
    return Facts(**few, subjects={})


def _key(ws: PlainWorkspace, section: object) -> str:
    """Return a hash of the cached states, of the settings, and of the files with generated parts."""
    names = [name for name in listing.names(ws.root, "", ".md") if name.casefold() == "user.md"]
    files = [platform.identity(ws.root / path) for path in (*curated_files(ws.root, ""), *names)]
    parts = (VERSION, ws.visible.identity, str(ws.fact_store.zone), files, msgspec.json.encode(section))
    return hashlib.blake2b(repr(parts).encode(), digest_size=8).hexdigest()
