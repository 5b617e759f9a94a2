"""Build the briefing: what an agent should know of a person before it answers, from files and facts alone.

It has the layers of a prompt but those that an agent has anyway (the date) or can search for (the catalogue),
and the newest episodes. No index is opened, so that a hook without a daemon is in time.
"""

from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import datetime
from types import MappingProxyType
from typing import Final, NamedTuple

import msgspec

from mnemark.facts import states
from mnemark.facts.visible import PlainWorkspace
from mnemark.files import layout, listing, platform
from mnemark.files.layout import in_scope
from mnemark.files.private import load_compiled, save_compiled
from mnemark.hashes import blake2b
from mnemark.memory.curation.files import curated_files, without_own_comments
from mnemark.memory.prompt.builder import Prompt, PromptBuilder
from mnemark.memory.prompt.parts import JOIN, FactLine, Layer, PromptFacts, pieces_of
from mnemark.memory.prompt.quoted import PromptRequest, text_of
from mnemark.text.markdown.frontmatter import front_matter
from mnemark.text.quoting.fence import OWNER, check_fenced, fenced, inert, inert_together
from mnemark.text.words.tokens import cut_to_tokens

BUDGET: Final = 1_500
"""Tokens of a briefing: below the 10,000 characters that Claude Code passes on unshortened."""
CHARACTERS: Final = 9_000
EPISODES: Final = 3
LAYERS: Final = MappingProxyType({
    "identity": 300, "persona": 200, "runtime": 0, "rules": 300, "scratchpad": 300,
    "core": 400, "dynamic": 600, "profile": 300, "catalogs": 100,
})  # fmt: skip
"""Tokens by layer; a layer without any is left out."""
_FRAME: Final = 70
"""Tokens of the marks and the introduction of the owner's block."""
_SHARES: Final = (1.0, 0.7, 0.5, 0.3)
"""Shares of the budget, tried until the characters are few enough."""
_KEPT_AS: Final = "facts"
"""Name of the kept facts among the compiled texts."""
_KEPT_VERSION: Final = 3
_MOST_FACTS: Final = 60
"""Facts kept of a layer: more lines than a briefing has room for."""
_EPISODE_TOKENS: Final = 120
"""Most tokens of an episode."""


class Briefing(NamedTuple):
    """A briefing: one block of the owner's words and one of quoted text, or either, or neither."""

    text: str = ""
    facts: tuple[FactLine, ...] = ()
    """Those in the owner's block."""


def briefing(
    ws: PlainWorkspace,
    now: datetime,
    *,
    scope: str = "",
    budget: int = BUDGET,
    known: Collection[str] = (),
) -> Briefing:
    """Return the briefing; its text is empty where memory holds nothing for it.

    Args:
        ws: the workspace.
        now: the time in the owner's zone; its date selects today's notes.
        scope: scope to include beside the root's.
        budget: estimated tokens of the whole.
        known: names of files that the agent reads by itself, such as "AGENTS.md".
    """
    asked = PromptRequest(None, "", scope, None, now, frozenset(name.casefold() for name in known))
    episodes = _newest_episodes(ws, asked.folders, EPISODES)
    builder = PromptBuilder(ws, asked, leading_facts(ws, now, scope=scope), more=episodes)
    found = Briefing()
    for share in _SHARES:
        made = builder.build(LAYERS, max(int((budget - _FRAME) * share), 1))
        found = Briefing(_blocks(made), builder.shown_facts(made.parts))
        if len(found.text) <= CHARACTERS:
            break
    return found


def _blocks(made: Prompt) -> str:
    own = fenced(JOIN.join(inert_together(made.text.split(JOIN), JOIN)), OWNER) if made.text else ""
    return "\n".join(block for block in (own, made.recall) if block and check_fenced(block))


class _KeptFacts(msgspec.Struct):
    facts: PromptFacts
    until: float | None
    """When the next fact begins or ends, in seconds since 1970."""


def leading_facts(ws: PlainWorkspace, now: datetime, *, scope: str = "") -> PromptFacts:
    """Return the first facts of each layer that hold at `now`, of the root and of a scope beside it.

    They are kept, so that a briefing of an old memory reads none of its facts: with the other compiled texts
    (`files.private`), which an erasure clears. They serve as long as nothing was written about facts
    since, no fact began or ended, and nobody edited a curated file.
    """
    scopes = tuple(dict.fromkeys(("", scope)))
    if not states.stamp_of(ws.root, scopes):  # there is neither a fact file nor a journal
        return PromptFacts(subjects={})
    known = states.kept(ws.root, ws.root, ws.visible.redacted, now.tzinfo)
    if not all(map(known.settled, scopes)):
        return _chosen(ws, now, scope)
    sections = [states.load(ws.root, one) for one in scopes]
    key = _key(ws, now, scopes, sections)
    with suppress(msgspec.DecodeError):
        kept = msgspec.json.decode(load_compiled(ws.root, _KEPT_AS, key) or "", type=_KeptFacts)
        if kept.until is None or now.timestamp() < kept.until:
            return kept.facts
    facts = _chosen(ws, now, scope)
    every = (fact for section in sections if section for fact in section.facts)
    times = (time for fact in every for time in (fact.begin, fact.end))
    until = min((time for time in times if time is not None and time > now.timestamp()), default=None)
    if not ws.readonly:
        save_compiled(ws.root, _KEPT_AS, key, msgspec.json.encode(_KeptFacts(facts, until)).decode())
    return facts


def _chosen(ws: PlainWorkspace, now: datetime, scope: str) -> PromptFacts:
    from mnemark.memory.prompt.facts import facts_for

    return msgspec.structs.replace(facts_for(ws, now, scope=scope, most=_MOST_FACTS), subjects={})


def _key(ws: PlainWorkspace, now: datetime, scopes: Sequence[str], sections: Sequence[object]) -> str:
    """Return a hash of the day, the cached states, the settings, and the files with generated parts."""
    paths: list[str] = []
    for scope in scopes:
        names = (name for name in listing.names(ws.root, scope, ".md") if name.casefold() == "user.md")
        paths += (*curated_files(ws.root, f"{scope}/" if scope else ""), *(in_scope(scope, n) for n in names))
    files = [(path, platform.identity(ws.root / path)) for path in paths]
    parts = (
        _KEPT_VERSION, ws.visible.identity, str(now.date()), str(ws.now().tzinfo), files,
        msgspec.json.encode(sections),
    )  # fmt: skip
    return blake2b(repr(parts).encode(), digest_size=8).hexdigest()


def _newest_episodes(ws: PlainWorkspace, folders: Sequence[str], count: int) -> list[Layer]:
    """Return a layer for each of the newest episodes by the dates in their names, newest first."""
    names = [
        (name, f"{folder}memory/episodes/{name}")
        for folder in folders
        for name in listing.names(ws.root, f"{folder}memory/episodes", ".md")
    ]
    found: list[Layer] = []
    for _, path in sorted(names, reverse=True):
        if len(found) == count:
            break
        if layout.place(path) is None or layout.shown(path) != path:
            continue
        text = text_of(ws, path)
        said = without_own_comments(text[front_matter(text).end :])
        pieces = pieces_of(cut_to_tokens(inert(said.strip()), _EPISODE_TOKENS))
        if pieces and _says_something(said):
            found.append(
                Layer(name="episode", heading=f"[{path}]", pieces=pieces, sources=(path,), joint=JOIN)
            )
    return found


def _says_something(text: str) -> bool:
    """Return whether an episode has more than a title and a link to its turns."""
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
    return any("/sessions/" not in line for line in lines)
