"""Correct a fact, and bring what restates it up to date; find the fact that words mean."""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Final

import msgspec

from mnemark.errors import MnemarkError, NotFoundError, UsageError, text_given
from mnemark.facts.correct import Corrected, Right
from mnemark.facts.correct import correct as correct_fact
from mnemark.facts.labels import labels
from mnemark.facts.model import Fact
from mnemark.facts.remember import facts, holds_value
from mnemark.facts.write import without_end
from mnemark.files import layout
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
from mnemark.types import Turn

_EDIT_TIMEOUT: Final = 0.3
"""Seconds to wait for a file of the core memory."""
_JUST_NOW: Final = timedelta(minutes=30)
_LOGS: Final = 3
"""Logs, those written last, in which the owner's last turns are looked at."""
_TURNS: Final = 6
_DENIES: Final = lazy_pattern(
    r"\b(?:wrong|incorrect|not (?:true|right|correct|so)|never|mistaken?|untrue|false|isn['’]?t|wasn['’]?t|"
    r"don['’]?t|didn['’]?t|doesn['’]?t|correct(?:ion)?|actually)\b|不对|不是|错|没说过|从没|从来没|并非|并不|更正|搞混|弄混|其实",
    re.IGNORECASE,
)
"""Words by which somebody says that something is not so."""


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

    What the owner has just said themselves, in a turn that was recorded, is their own correction. Without
    such a turn it is the agent's, and one of what the owner said waits for their review. Raises as `correct`.
    """
    own = msgspec.structs.replace(
        right, origin="owner" if any(_says(turn, right) for turn in _last_said(ws)) else "agent"
    )
    return correct(ws, ref, own)


def _last_said(ws: OpenWorkspace) -> Iterator[Turn]:
    """Yield what the owner said a moment ago."""
    since = ws.now() - _JUST_NOW
    for scope in ws.scopes():
        root = ws.root / scope
        for log in sorted(log_files(root), key=lambda log: -log.mtime_ns)[:_LOGS]:
            name = layout.in_scope(scope, f"sessions/{log.path.name}")
            yield from (
                turn
                for turn in SessionLog.at(ws.root, name).last(_TURNS)
                if turn.origin == "owner" and turn.time >= since
            )


def _says(turn: Turn, right: Right) -> bool:
    """Whether a turn says what is right, or at least that something is not so."""
    given = [text for text in (right.value, right.subject, right.predicate) if text]
    if right.value is not None:
        return holds_value(right.value, turn.content)
    return any(holds_value(text, turn.content) for text in given) or _DENIES.search(turn.content) is not None


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
    if is_id(text) or split_ref(text)[2] is not None:
        return text
    found = candidates(ws, text, scope=scope)
    if not found:
        raise NotFoundError(f"no fact has the words {text!r}; `mnemark facts` lists all")
    if len(found) > 1:
        raise ManyMeantError(text, found)
    return found[0].id


class ManyMeantError(UsageError):
    """Words that several facts have."""

    def __init__(self, text: str, found: list[Fact]) -> None:
        super().__init__(f"{len(found)} facts have the words {text!r}; give the id of one")
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
