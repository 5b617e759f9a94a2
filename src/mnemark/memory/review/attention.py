"""List what needs a person: reviews, failures, and work that exceeds the model budget."""

from collections import Counter
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from mnemark.files.copies import plan_copies
from mnemark.files.scan import scan
from mnemark.index.state import State
from mnemark.memory.health.stats import problems
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.review.review import waiting

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mnemark.types import Problem

What = Literal[
    "proposals", "conflicts", "doubts", "edits", "copies", "skipped", "extraction", "budget", "unfinished",
    "erasing",
]  # fmt: skip
_MAX_REASON: Final = 200
"""Maximum length in characters of an error message shown."""


class Attention(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of thing that needs a person."""

    what: What
    count: int
    text: str


def attention(ws: OpenWorkspace) -> list[Attention]:
    """Return all that needs a person, by kind; nothing is written.

    Changes that a person made in fact files are listed too; they are in effect already.
    """
    return [*_reviews(ws), *_files(ws), *_extraction(ws), *_embedding(ws), *_unfinished(ws)]


def _reviews(ws: OpenWorkspace) -> "Iterator[Attention]":
    counts = Counter(one.what for one in waiting(ws, scope=None))
    conflicts, proposed, edits = counts["conflict"], counts["proposal"] + counts["removed"], counts["edit"]
    doubts = counts["otherwise"]
    look = "accept or reject with `mnemark review`"
    if conflicts:
        against = "a more trusted source, a line you wrote or another machine"
        text = f"{_count(conflicts, 'fact')} in conflict with {against}: {look}"
        yield Attention(what="conflicts", count=conflicts, text=text)
    if proposed:
        text = f"{_count(proposed, 'proposed fact')} from tools, the web or imports: {look}"
        yield Attention(what="proposals", count=proposed, text=text)
    if doubts:
        text = f"{_count(doubts, 'fact')} that you may have said otherwise about since: {look}"
        yield Attention(what="doubts", count=doubts, text=text)
    if edits:
        text = (
            f"{_count(edits, 'edit')} in fact files, already in effect: check with `mnemark review`, "
            "then confirm all with `mnemark review accept edits`"
        )
        yield Attention(what="edits", count=edits, text=text)


def _files(ws: OpenWorkspace) -> "Iterator[Attention]":
    copies, problems = _seen(ws)
    if copies:
        text = f"{_count(len(copies), 'conflict copy')} left by a sync program ({_named(copies)})"
        fix = "`mnemark merge --repair` joins them; delete those that stay once you have compared them"
        yield Attention(what="copies", count=len(copies), text=f"{text}: {fix}")
    found = {one.path: one for one in problems if one.skipped}
    skipped = [one for path, one in sorted(found.items()) if path not in copies]
    if skipped:
        text = f"{_count(len(skipped), 'file')} not indexed: {skipped[0].path}: {skipped[0].reason}"
        yield Attention(what="skipped", count=len(skipped), text=text)


def _seen(ws: OpenWorkspace) -> "tuple[list[str], Sequence[Problem]]":
    """Return conflict copies and problems: of the last sync in a large folder, else of the folder now."""
    known = ws.searcher.refresher.seen
    if known is not None:
        return [copy.path for copy in plan_copies(one.path for one in known.problems)], known.problems
    seen = scan(ws.root, ignore=ws.config.ignore)
    copies = [copy.path for copy in plan_copies(entry.path for entry in seen.entries)]
    return copies, (*seen.problems, *problems(ws))


def _extraction(ws: OpenWorkspace) -> "Iterator[Attention]":
    state = ws.state
    now = ws.now()
    waiting = state.waiting(now)
    if waiting.failed:
        (last, *_) = state.failed(1)
        reason = " ".join(last.reason.split())[:_MAX_REASON]
        text = (
            f"the language model could not read {_count(waiting.failed, 'part')} of conversations "
            f"({last.ref}: {reason})"
        )
        fix = "retry with `mnemark learn --retry`"
        yield Attention(what="extraction", count=waiting.failed, text=f"{text}; {fix}")
    yield from _budget(ws, state, waiting.due)


def _budget(ws: OpenWorkspace, state: "State", due: int) -> "Iterator[Attention]":
    settings = ws.config.llm
    if not settings.active:
        return
    calls, tokens = state.spent(ws.now().date())
    if calls < settings.calls_per_day and tokens < settings.tokens_per_day:
        return
    text = (
        f"today's budget for the language model is used up ({calls:,} of {settings.calls_per_day:,} calls, "
        f"{tokens:,} of {settings.tokens_per_day:,} tokens); {_count(due, 'part')} of conversations will be "
        "read tomorrow; to go on today, raise calls_per_day or tokens_per_day under [llm] in mnemark.toml"
    )
    yield Attention(what="budget", count=due, text=text)


def _embedding(ws: OpenWorkspace) -> "Iterator[Attention]":
    state, budget = ws.searcher.embeddings.state, ws.config.embedder_tokens_per_day
    if not (state.waiting and state.over) or state.day != ws.now().date().isoformat():
        return
    text = (
        f"today's budget for the embedder is used up ({budget:,} tokens); "
        f"{_count(state.waiting, 'text')} can be found by their words only; to embed them now, run "
        "`mnemark sync`, or raise embedder_tokens_per_day in mnemark.toml"
    )
    yield Attention(what="budget", count=state.waiting, text=text)


def _unfinished(ws: OpenWorkspace) -> "Iterator[Attention]":
    paths = sorted({edit.path for edit in ws.edits.open()})
    if paths:
        count = _count(len(paths), "automatic edit")
        text = f"{count} interrupted ({_named(paths)}): finish with `mnemark consolidate`"
        yield Attention(what="unfinished", count=len(paths), text=text)
    waits = ws.unfinished()
    if waits:
        yield Attention(what="erasing", count=len(waits), text="; ".join(waits))


def _count(count: int, one: str) -> str:
    many = f"{one[:-1]}ies" if one.endswith("y") else f"{one}s"
    return f"1 {one}" if count == 1 else f"{count:,} {many}"


def _named(paths: list[str]) -> str:
    return ", ".join(paths[:3]) + (" …" if len(paths) > 3 else "")
