"""Collect the state of a workspace, and print it for people."""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from mnemark.files import off_record
from mnemark.files.config import load_reported
from mnemark.files.layout import sync_warning
from mnemark.files.old_layouts import unread
from mnemark.files.projects import folders
from mnemark.index.check import ahead
from mnemark.memory.health.stats import MountState, mount_states
from mnemark.memory.memory import Memory
from mnemark.memory.review.attention import Attention
from mnemark.memory.transfer.brought import Brought
from mnemark.memory.transfer.imports import format_titles
from mnemark.text.speaker import READ_AS
from mnemark.types import Problem
from mnemark_interfaces import speech
from mnemark_interfaces.output import out, safe, safe_line, say, spoken
from mnemark_interfaces.render import counted, inner, not_read, problems, size, table

_PEOPLE: Final = 4
"""People that are named."""


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a workspace: the counts of its index, and what is not in it yet."""

    workspace: str
    files: int
    passages: int
    kinds: dict[str, int]
    scopes: dict[str, int]
    projects: int
    """Number of projects with a memory of their own."""
    bytes: int
    outdated: int
    """Number of files that the next sync will read."""
    stale: str | None
    """Why the next sync rebuilds the index; None where it does not."""
    embedder: str
    unembedded: int
    """Texts that the embedder has not read yet; 0 for those that take no time."""
    embedder_problem: str
    """Why there is no embedder, so that searches find words only; empty where there is one."""
    inner: tuple[str, ...]
    """Folders inside that are separate workspaces, which are not indexed."""
    unread: Mapping[str, int]
    """Files that hold text and are not read, counted by suffix."""
    problems: tuple[Problem, ...]
    attention: tuple[Attention, ...]
    """Items that need a person's decision."""
    mounts: tuple[MountState, ...] = ()
    """Other memories that searches read beside this one."""
    off_record: str = ""
    """That nothing is recorded for now, and until when; empty where all is."""
    brought: tuple[Brought, ...] = ()
    """What was imported, by format."""

    @classmethod
    def of(cls, memory: Memory) -> "Status":
        """Collect the state, without writing."""
        stats = memory.stats()
        warnings = filter(None, (sync_warning(memory.root), unread(memory.root)))
        left = ahead(memory.workspace.index, memory.config.ignore)
        settings = load_reported(memory.root).problems
        span = off_record.load(memory.root).current()
        embeddings = memory.workspace.searcher.embeddings
        return cls(
            off_record="" if span is None else off_record.told(span),
            workspace=memory.workspace.truth.name, files=stats.files, passages=stats.passages,
            kinds=stats.kinds, scopes=stats.scopes, projects=len(folders(memory.root)), bytes=stats.bytes,
            outdated=left.outdated, stale=stats.stale, embedder=memory.config.embedder,
            unembedded=embeddings.state.waiting, embedder_problem=embeddings.unavailable(),
            inner=left.inner, unread=left.unread,
            problems=(*settings, *warnings, *left.problems, *stats.problems),
            attention=tuple(one for one in memory.attention() if one.what != "skipped"),
            mounts=tuple(mount_states(memory.workspace)), brought=tuple(memory.browse.brought()),
        )  # fmt: skip


def show(found: Status) -> None:
    """Print the state of a workspace as a short table."""
    words = speech.words()
    titles = format_titles() if found.brought else {}
    rows = [
        (words("workspace"), safe(found.workspace)),
        (words("files"), f"{found.files:,}"),
        (words("passages"), _passages(found, words)),
        (
            words("scopes"),
            words.listed(f"{safe_line(name)} {n:,}" for name, n in found.scopes.items() if name),
        ),
        (
            words("projects"),
            words("{n} with a memory of their own", n=found.projects) if found.projects else "",
        ),
        (words("index"), _index(found, words)),
        (words("embedder"), _embedder(found, words)),
        (words("recording"), words.line(found.off_record)),
        *((words("imported"), brought_words(one, titles)) for one in found.brought),
        (words("not indexed"), inner(found.inner) if found.inner else ""),
        (words("not read"), not_read(found.unread)),
    ]
    shown = [row for row in rows if row[1]]
    shown += [(f"@{safe_line(one.name)}", _mount(one, words)) for one in found.mounts]
    for line in table(shown):
        out(line)
    problems(found.problems)
    for one in found.attention:
        say("Needs your attention: {what}", what=spoken(one.text))


def _passages(found: Status, words: speech.CommandWords) -> str:
    kinds = words.listed(counted(count, READ_AS.get(kind, kind)) for kind, count in found.kinds.items())
    number = f"{found.passages:,}"
    return words("{value} ({more})", value=number, more=kinds) if kinds else number


def _index(found: Status, words: speech.CommandWords) -> str:
    """Return the size of the index, and whether it is up to date."""
    files = counted(found.outdated, "file")
    if not found.bytes:
        if not found.outdated:
            return words("not created yet: there is nothing to index")
        return words("not created yet; run `mnemark sync` to index {files}", files=files)
    if found.stale:
        fresh = words("must be rebuilt: {reason}; run `mnemark sync`", reason=spoken(found.stale))
    elif found.outdated:
        fresh = words("{files} changed since the last sync; run `mnemark sync`", files=files)
    else:
        fresh = words("up to date")
    return words("{size}, {what}", size=size(found.bytes), what=fresh)


def _embedder(found: Status, words: speech.CommandWords) -> str:
    if found.embedder_problem:
        reason = spoken(found.embedder_problem)
        return words(
            "{embedder}: {reason}; until then searches find words only",
            embedder=found.embedder, reason=reason,
        )  # fmt: skip
    if not found.unembedded:
        return words("none") if found.embedder == "none" else found.embedder
    texts = counted(found.unembedded, "text")
    return words("{embedder}, {texts} not embedded yet", embedder=found.embedder, texts=texts)


def brought_words(one: Brought, titles: Mapping[str, str]) -> str:
    """Return what was imported in words: how much, from where, of when, with whom."""
    words = speech.words()
    counts = [(one.sessions, "talk"), (one.turns, "message"), (one.notes, "note")]
    much = words.listed(counted(count, name) for count, name in counts if count)
    told = words("{much} from {title}", much=much, title=safe_line(titles.get(one.format, one.format)))
    if one.began:
        told = words("{told}, {began} – {ended}", told=told, began=one.began, ended=one.ended)
    return words("{told}; with {names}", told=told, names=people(one.people)) if one.people else told


def people(names: Iterable[str], most: int = _PEOPLE) -> str:
    """Return the names of people as a list, at most so many of them."""
    words = speech.words()
    known = [safe_line(name) for name in names]
    listed, more = words.listed(known[:most]), len(known) - most
    return words("{names} and {n} more", names=listed, n=more) if more > 0 else listed


def _mount(found: MountState, words: speech.CommandWords) -> str:
    if found.problem:
        return spoken(found.problem)
    outdated = counted(found.outdated, "file")
    state = words("{files} to read first", files=outdated) if found.outdated else words("up to date")
    told = words(
        "{files} in {folder}, {state}",
        files=counted(found.files, "file"), folder=safe_line(found.folder), state=state,
    )  # fmt: skip
    by_words = words("by words only, as nothing of it is sent to the embedder")
    return words("{told}; {more}", told=told, more=by_words) if found.words_only else told
