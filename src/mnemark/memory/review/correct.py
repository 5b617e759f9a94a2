"""Correct a fact, and bring what restates it up to date; find the fact that words mean."""

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import Final, NamedTuple

import msgspec

from mnemark.errors import MnemarkError, NotFoundError, UsageError, text_given
from mnemark.facts.correct import Corrected, Right
from mnemark.facts.correct import correct as correct_fact
from mnemark.facts.correct import found as version_of
from mnemark.facts.known import FACT
from mnemark.facts.labels import labels
from mnemark.facts.model import Fact
from mnemark.facts.remember import facts, holds_value
from mnemark.facts.store import FactStore
from mnemark.facts.write import without_end
from mnemark.files import layout, said
from mnemark.files.ids import is_id
from mnemark.files.names import split_ref
from mnemark.files.sessions import SessionLog, log_files
from mnemark.memory import file_edits
from mnemark.memory.curation.generated import behind, withdraw
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.review.review import amend
from mnemark.retrieval.turns import in_turn
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.stopwords import content_terms

_EDIT_TIMEOUT: Final = 0.3
"""Seconds to wait for a file of the core memory."""
_LOGS: Final = 3
"""Logs, those written last, in which the owner's last turns are looked at."""
_TURNS: Final = 6
_DENIES: Final = lazy_pattern(
    r"\b(?:wrong|incorrect|not (?:true|right|correct|so)|never|mistaken?|untrue|false|isn['’]?t|wasn['’]?t|"
    r"don['’]?t|didn['’]?t|doesn['’]?t|correct(?:ion)?|actually)\b|不对|不是|错|没说过|从没|从来没|并非|并不|更正|搞混|弄混|其实",
    re.IGNORECASE,
)
"""Words by which somebody says that something is not so."""
_SENTENCES: Final = lazy_pattern(r"(?<=[.!?。！？\n])")
_ASKS: Final = lazy_pattern(r"[?？]\s*\Z|[吗么][。\s]*\Z")
"""How a sentence ends that asks."""


def correct(ws: OpenWorkspace, ref: str, right: Right) -> Corrected:
    """Say that a fact is wrong, and what is right; see `facts.correct`.

    A line of the core memory stands for its fact. The core memory says at once what is right, and so does the
    line of a person's that a corrected proposal contradicts.

    Raises:
        NotFoundError, UsageError, BusyError, ReadOnlyError: as `facts.correct.correct`.
    """
    text_given(ref, "the ref")
    core = behind(ws, ref) if split_ref(ref)[2] is not None else None
    with in_turn():
        done = correct_fact(ws.fact_store, ref if core is None else core[0].id, right)
    if not done.review:
        if done.after is not None and done.before.against:
            amend(ws, msgspec.structs.replace(done.before, value=done.after.value), group=done.id)
        for fact, until in done.revived:
            _hold_again(ws, fact, until)
        withdraw(ws, {done.before.scope}, step="undo", timeout=_EDIT_TIMEOUT)
    return done


def _hold_again(ws: OpenWorkspace, fact: Fact, until: str) -> None:
    """Let a fact hold again that the wrong one had ended; a file that is busy waits for the next sync."""
    with suppress(MnemarkError, OSError):
        change = partial(without_end, identifier=fact.id, until=until)
        file_edits.write(ws, fact.path, change, step="undo", timeout=_EDIT_TIMEOUT)


def correct_for_owner(ws: OpenWorkspace, ref: str, right: Right) -> Corrected:
    """Correct a fact as an agent does it for its owner.

    What the owner has just said themselves is their own correction, whether it is recorded yet or not. Where
    they did not, it is the agent's, and one of what the owner said waits for their review. Raises as
    `correct`.
    """
    own = msgspec.structs.replace(
        right, origin="owner" if any(_says(one, right) for one in _last_said(ws)) else "agent"
    )
    return correct(ws, ref, own)


class _Words(NamedTuple):
    """What the owner said a moment ago."""

    text: str
    last: bool
    """Whether nothing came after it in its session."""


def _last_said(ws: OpenWorkspace) -> Iterator[_Words]:
    """Yield what the owner said a moment ago, recorded or not yet."""
    since = ws.now() - said.FRESH
    yield from (_Words(text, last=True) for text in said.just_now(ws.root, since))
    for scope in ws.scopes():
        root = ws.root / scope
        for log in sorted(log_files(root), key=lambda log: -log.mtime_ns)[:_LOGS]:
            name = f"sessions/{log.path.name}"
            turns = SessionLog.at(ws.root, layout.in_scope(scope, name)).last(_TURNS)
            own = [turn for turn in turns if turn.origin == "owner" and turn.time >= since]
            newest = None if not own or said.waits(ws.root, name) else own[-1].id
            yield from (_Words(turn.content, turn.id == newest) for turn in own)


def _says(words: _Words, right: Right) -> bool:
    """Whether somebody says what is right, or in their last words that something is not so; not by asking."""
    denies = _DENIES.search(words.text) is not None
    if right.value is None and denies and words.last:
        return True
    told = words.text if denies else "".join(filter(_tells, _SENTENCES.split(words.text)))
    given = [right.value] if right.value is not None else [right.subject, right.predicate]
    return any(holds_value(one, told) for one in given if one)


def _tells(sentence: str) -> bool:
    return _ASKS.search(sentence) is None


def meant(ws: OpenWorkspace, text: str, *, scope: str = "") -> str:
    """Return the id or ref of the one fact that is meant: it is given itself, or in words that only it has.

    Args:
        ws: the workspace.
        text: an id, a ref, a question or words.
        scope: where else than in the shared memory.

    Raises:
        NotFoundError: no fact has these words.
        ManyMeantError: several have.
    """
    if not text_given(text, "what to correct").strip():
        raise UsageError("say what to correct: the id or ref of a fact, or words that only it has")
    if is_id(text):
        return text
    if split_ref(text)[2] is not None:
        return _at_line(ws, text)
    found = candidates(ws, text, scope=scope)
    if not found:
        others = [name for name in ws.scopes() if name != scope and candidates(ws, text, scope=name)]
        where = f"give the scope of one: {', '.join(others)}" if others else "`mnemark facts` lists all"
        raise NotFoundError(f"no fact has the words {text!r}; {where}")
    if len(found) > 1:
        raise ManyMeantError(f"{len(found)} facts have the words {text!r}; give the id of one", found)
    return found[0].id


def _at_line(ws: OpenWorkspace, ref: str) -> str:
    """Return the ref of a line, if the fact that a search shows there is the one that stands there now.

    Raises:
        NotFoundError: the line was changed, and what stood there is gone.
        UsageError: another fact stands there now; the message lists both.
    """
    store, shown = ws.fact_store, _shown_at(ws, ref)
    with store.lock:
        store.log.refresh()
        now = _found(store, ref)
        then = _found(store, shown) if shown else now
    if now is None or (then is not None and then.id == now.id):
        return ref
    if then is None:
        raise NotFoundError(f"what stood at {ref} is gone: search again")
    raise ManyMeantError(f"{ref} was changed since a search read it; give the id of one", [then, now])


def _shown_at(ws: OpenWorkspace, ref: str) -> str:
    """Return the id of the fact that the index has at a line; empty if it has none."""
    path, first, last = split_ref(ref)
    if not ws.index.exists():
        return ""
    with ws.searcher.reader.reading() as view:
        rows = view.fetch(view.positions(path, first)[:1])
    found = [str(row.meta.get(FACT, "")) for row in rows if row.start_line <= (last or first)]
    return found[0] if found else ""


def _found(store: FactStore, ref: str) -> Fact | None:
    """Return a fact by its id or ref, as it was corrected to; None where it is gone. Hold the lock."""
    try:
        return version_of(store, ref, store.workspace.scopes()).fact
    except NotFoundError:
        return None


class ManyMeantError(UsageError):
    """What may mean several facts."""

    def __init__(self, told: str, found: list[Fact]) -> None:
        super().__init__(told)
        self.found = found


def candidates(ws: OpenWorkspace, text: str, *, scope: str = "", most: int = 10) -> list[Fact]:
    """Return the facts that hold now with all words of a text that tell anything, in either language."""
    wanted = set(content_terms(text))
    if not wanted:
        return []
    with ws.fact_store.lock:
        held = list(facts(ws.fact_store, scope=scope))
    found = [
        fact
        for fact in held
        if wanted <= set(content_terms(" ".join((fact.subject, *labels(fact.predicate), fact.value))))
    ]
    return found[:most]
