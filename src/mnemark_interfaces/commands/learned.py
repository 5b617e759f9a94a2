"""Show what was learned, and confirm or strike it in one go: `mnemark review learned`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from mnemark.errors import UsageError
from mnemark.facts.model import Fact
from mnemark.memory.browse.check import Checked, settle, to_check
from mnemark.memory.review.said import said
from mnemark.present.facts import sentence
from mnemark_interfaces import output, render, speech, workspace
from mnemark_interfaces.commands.facts import row

_MARK: Final = 5
"""Characters at the end of an id that stand for it in the list."""
_BELOW: Final = " " * (_MARK + 14)
"""Stands before the words that a fact comes from: they are below it."""
_MOST: Final = 160
"""Characters of them that are shown."""


def learned(root: Path, *, keep: bool, strike: str, scope: str, json: bool) -> None:
    """List what was learned, or settle it; see `review`."""
    if keep and strike:
        raise UsageError("use --keep, or --strike with the marks of what is wrong")
    settles = keep or bool(strike)
    with workspace.opened(root, readonly=not settles) as memory:
        found = to_check(memory.workspace, scope)
        if settles:
            wrong = _meant(found, strike)
            right = [fact.id for fact in found if fact.id not in wrong]
            done = settle(memory.workspace, right, wrong, scope=scope)
            output.out_result(done, _told(done), json=json)
            return
        words = said(memory.workspace, found)
    if json:
        output.out_json(
            {"learned": [{**(row(fact) or {}), "said": words.get(fact.id, "")} for fact in found]}
        )
        return
    _list(found, words)


def _list(found: Sequence[Fact], words: Mapping[str, str]) -> None:
    for fact in found:
        told = output.safe_line(sentence(fact, speech.words()))
        output.out(f"{_mark(fact)}  {fact.since[:10]:10}  {told}")
        if fact.id in words:  # whether it is right is seen by what was said
            output.out(f"{_BELOW}“{output.safe_line(render.shortened(words[fact.id], _MOST))}”")
    if not found:
        output.say("Nothing to look over: what was learned is confirmed, or nothing was learned yet.")
        return
    output.say(
        "{facts} learned. All right? `mnemark review learned --keep`. Some wrong? `mnemark review learned "
        "--strike {mark},…` forgets these, confirms the rest.",
        facts=render.counted(len(found), "fact"), mark=_mark(found[0]),
    )  # fmt: skip


def _mark(fact: Fact) -> str:
    return fact.id[-_MARK:].lower()


def _meant(found: Sequence[Fact], marks: str) -> list[str]:
    """Return the ids that marks stand for. Raises UsageError for one that stands for none, or for several."""
    ids = []
    for mark in filter(None, (one.strip() for one in marks.split(","))):
        named = [fact.id for fact in found if fact.id.lower().endswith(mark.lower())]
        if len(named) != 1:
            what = "nothing" if not named else "several facts"
            raise UsageError(f"{mark!r} stands for {what} in the list of `mnemark review learned`")
        ids.append(named[0])
    if marks and not ids:
        raise UsageError("--strike needs marks as they stand in the list, such as --strike 7kq2d,9fw3m")
    return list(dict.fromkeys(ids))


def _told(done: Checked) -> str:
    words = speech.words()
    told = words.count(done.confirmed, "1 fact confirmed", "{n} facts confirmed")
    if done.taken_back:
        told += words(", {n} taken back: what they had replaced holds again", n=done.taken_back)
    if done.struck:
        told += words(", {n} forgotten", n=len(done.struck))
    if len(done.struck) == 1:
        told += words(" (undo with `mnemark undo {id}`)", id=done.struck[0])
    return told
