"""What a workspace costs and is used for: the model's tokens a day, disk by part, what was recalled last."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from mnemark.facts.model import Fact
from mnemark.files import layout
from mnemark.files.private import private
from mnemark.memory.browse.page import last_days
from mnemark.memory.open_workspace import OpenWorkspace

_JOURNAL = "journal/"


class SpentDay(msgspec.Struct, frozen=True, kw_only=True):
    """What the language model cost on a day."""

    day: str
    calls: int = 0
    tokens: int = 0
    """Prompts and answers."""
    purposes: Mapping[str, int] = {}
    """Tokens by what they were spent on."""


class Spend(msgspec.Struct, frozen=True, kw_only=True):
    """The last days, oldest first, and the budget of a day."""

    days: tuple[SpentDay, ...]
    model: str
    """Empty where none is configured."""
    calls_per_day: int
    tokens_per_day: int


class UsedDay(msgspec.Struct, frozen=True, kw_only=True):
    """What recalls gave to models on a day."""

    day: str
    recalls: int = 0
    memories: int = 0
    tokens: int = 0
    saved: int = 0
    """Tokens more that the files would have taken in which those memories stand."""


class DiskPart(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the workspace on the disk."""

    name: str
    files: int
    bytes: int
    derived: bool = False
    """Whether it is made of the other files, and made again if it is deleted."""


class Recalled(msgspec.Struct, frozen=True, kw_only=True):
    """A passage or fact that was recalled."""

    ref: str
    """Or the id of a fact."""
    fact: Fact | None = None
    """The fact; None if it was forgotten."""
    text: str = ""
    """The fact as a sentence, where a face tells it."""
    times: int
    last: str


def spend(ws: OpenWorkspace, *, days: int = 30) -> Spend:
    """Return what the language model cost on each of the last days.

    Raises:
        UsageError: `days` is out of range.
    """
    shown = last_days(days, ws.now().date())
    found = {day.isoformat(): SpentDay(day=day.isoformat()) for day in shown}
    for day, purpose, calls, tokens in ws.state.spent_since(shown[0]):
        known = found.get(day)
        if known is not None:
            purposes = {**known.purposes, purpose: known.purposes.get(purpose, 0) + tokens}
            found[day] = SpentDay(
                day=day, calls=known.calls + calls, tokens=known.tokens + tokens, purposes=purposes
            )
    settings = ws.config.llm
    return Spend(
        days=tuple(found.values()), model=settings.model or " ".join(settings.command or ()),
        calls_per_day=settings.calls_per_day, tokens_per_day=settings.tokens_per_day,
    )  # fmt: skip


def used(ws: OpenWorkspace, *, days: int = 30) -> list[UsedDay]:
    """Return what recalls gave on each of the last days, oldest first.

    Raises:
        UsageError: `days` is out of range.
    """
    shown = last_days(days, ws.now().date())
    ws.searcher.usage.write()
    found = {
        one.day: UsedDay(
            day=one.day, recalls=one.recalls, memories=one.memories, tokens=one.tokens,
            saved=one.whole - one.tokens,
        )
        for one in ws.state.given_since(shown[0])
    }  # fmt: skip
    return [found.get(day.isoformat()) or UsedDay(day=day.isoformat()) for day in shown]


def disk(ws: OpenWorkspace) -> list[DiskPart]:
    """Return the files and bytes of each part of the workspace, the largest first; of text as indexed."""
    ws.searcher.freshen()
    sizes = ws.index.sizes() if ws.index.exists() else []
    parts = [
        DiskPart(name=name or "*.md", files=count, bytes=size)
        for name, count, size in sizes
        if name != _JOURNAL
    ]
    parts.append(_folder(ws.root / _JOURNAL, _JOURNAL, derived=False))
    folder = private(ws.root)
    own = list(os.scandir(folder)) if folder.is_dir() else []
    files = [entry.stat().st_size for entry in own if entry.is_file()]
    parts.append(DiskPart(name=f"{layout.PRIVATE}/", files=len(files), bytes=sum(files), derived=True))
    parts += [
        _folder(Path(entry.path), f"{layout.PRIVATE}/{entry.name}/", derived=entry.name != "displaced")
        for entry in own
        if entry.is_dir()
    ]
    return sorted((part for part in parts if part.bytes), key=lambda part: -part.bytes)


def _folder(path: Path, name: str, *, derived: bool) -> DiskPart:
    files, size, waiting = 0, 0, [os.fspath(path)]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:  # removed meanwhile, or not readable
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    files, size = files + 1, size + entry.stat(follow_symlinks=False).st_size
    return DiskPart(name=name, files=files, bytes=size, derived=derived)


def recalled(ws: OpenWorkspace, *, limit: int = 20) -> list[Recalled]:
    """Return what was recalled last, the latest first."""
    zone = ws.now().tzinfo
    ws.searcher.usage.write()
    return [
        Recalled(
            ref=ref, fact=None if "/" in ref or ref.endswith(".md") else _fact(ws, ref), times=use.times,
            last=use.last.astimezone(zone).isoformat(timespec="seconds"),
        )
        for ref, use in ws.state.last_used(limit)
    ]  # fmt: skip


def _fact(ws: OpenWorkspace, identifier: str) -> Fact | None:
    """Return a fact as its file or the journal has it, redacted; None if it was forgotten or is unknown."""
    store = ws.fact_store
    with store.lock:
        store.log.refresh()
        state = store.log.of(identifier)
        if state.hidden or state.last is None:
            return None
        return msgspec.structs.replace(state.last, value=ws.visible.redacted(state.last.value))
