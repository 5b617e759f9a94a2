"""Put up for review what two machines said differently about one thing since they last met.

The later value holds, as everywhere. That the earlier one was said without knowing of it is for a person to
see. It follows from the journals alone, so that every machine writes the same line, however the files came to
it, and it waits once.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from mnemark.facts.fold import payload_of, words_of
from mnemark.facts.journal import FactJournal
from mnemark.facts.model import Fact
from mnemark.facts.store import FactStore
from mnemark.facts.timeline import FactVersion
from mnemark.files import listing
from mnemark.files.ids import derived_id, time_of
from mnemark.files.journal import FOLDER, Change, encode_change
from mnemark.memory.open_workspace import OpenWorkspace

_NAME: Final = "merges.jsonl"
FILE: Final = f"{FOLDER}/{_NAME}"
"""Journal of what merges put up for review: of no machine, so that it is the same on all."""


def note_contradictions(ws: OpenWorkspace, scopes: Iterable[str]) -> tuple[str, ...]:
    """Put up for review the values that nobody replaced knowingly; return them for people.

    Args:
        ws: the workspace.
        scopes: those whose facts have changed.
    """
    store = ws.fact_store
    if len(listing.names(ws.root, FOLDER, ".jsonl")) < 2:
        return ()
    with store.lock:
        log = store.log
        log.refresh()
        new: dict[str, tuple[Change, Fact, Fact]] = {}
        for scope in scopes:
            for earlier, later in contradictions(store, scope):
                change = _change(earlier)
                if log.of(change.id).fact is None:
                    new.setdefault(change.id, (change, earlier, later))
        if new:
            ws.truth.append(FILE, [encode_change(change) for change, *_ in new.values()])
            log.refresh()
    return tuple(
        f"{later.predicate}: {later.value} holds, {earlier.value} waits" for _, earlier, later in new.values()
    )


def contradictions(store: FactStore, scope: str) -> list[tuple[Fact, Fact]]:
    """Return the values of a scope that nobody replaced knowingly, each with the one that holds."""
    found = [
        pair
        for groups in store.groups(scope)
        for group in groups.by_key.values()
        if len(group) > 1
        for pair in _contradicting(store.log, group)
    ]
    return sorted(found, key=lambda pair: pair[0].id)


def is_of_merge(store: FactStore, proposal: Fact) -> bool:
    """Whether `note_contradictions` put a value up for review."""
    return store.log.of(proposal.id).file == _NAME


def _contradicting(log: FactJournal, group: Sequence[FactVersion]) -> Iterator[tuple[Fact, Fact]]:
    """Yield the values of one thing that another machine's ended unknowingly, each with that."""
    last = group[-1]
    current = log.of(last.fact.id)
    if last.end is not None or current.record is None or current.hidden:
        return
    replaced = {record.supersedes for one in group if (record := log.of(one.fact.id).record) is not None}
    known = {words_of(one.fact) for one in group if one.fact.id in replaced} | {words_of(last.fact)}
    for one, following in pairwise(group):
        state = log.of(one.fact.id)
        if (
            state.record is not None
            and not state.hidden
            and state.file != current.file
            and one.end == following.begin  # else it was over before
            and words_of(one.fact) not in known
        ):
            yield one.fact, last.fact


def _change(earlier: Fact) -> Change:
    """Return the line that puts an earlier value up for review, the same on each machine.

    It names the value, not the fact, nor what holds: two machines may have noted it, each for itself, and a
    third may bring a later one.
    """
    content = "\0".join(("merge", earlier.scope, *words_of(earlier)))
    fact = Fact(
        id="", subject=earlier.subject, predicate=earlier.predicate, value=earlier.value, type=earlier.type,
        review="conflict",
    )  # fmt: skip
    return Change(
        kind="conflict", id=derived_id(content.encode("utf-8", "replace")), time=time_of(earlier.id),
        origin=earlier.origin, scope=earlier.scope, payload=payload_of(fact),
    )  # fmt: skip
