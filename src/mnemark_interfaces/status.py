"""Collect the state of a workspace, and print it for people."""

from collections.abc import Mapping
from typing import Final

import msgspec

from mnemark.files import off_record
from mnemark.files.config import load_reported
from mnemark.files.layout import sync_warning
from mnemark.files.old_layouts import unread
from mnemark.files.projects import folders
from mnemark.files.unread import told
from mnemark.index.check import ahead
from mnemark.memory.health.stats import MountState, mount_states
from mnemark.memory.memory import Memory
from mnemark.memory.review.attention import Attention
from mnemark.memory.transfer.brought import Brought, brought
from mnemark.memory.transfer.imports import format_titles
from mnemark.types import Problem
from mnemark_interfaces import speech
from mnemark_interfaces.output import out, safe, safe_line, say
from mnemark_interfaces.render import counted, inner, problems, size, table

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
        return cls(
            off_record="" if span is None else off_record.told(span),
            workspace=stats.root, files=stats.files, passages=stats.passages, kinds=stats.kinds,
            scopes=stats.scopes, projects=len(folders(memory.root)), bytes=stats.bytes,
            outdated=left.outdated, stale=stats.stale, embedder=memory.config.embedder,
            unembedded=memory.workspace.searcher.embeddings.state.waiting, inner=left.inner,
            unread=left.unread,
            problems=(*settings, *warnings, *left.problems, *stats.problems),
            attention=tuple(one for one in memory.attention() if one.what != "skipped"),
            mounts=tuple(mount_states(memory.workspace)), brought=tuple(brought(memory.workspace)),
        )  # fmt: skip


def show(found: Status) -> None:
    """Print the state of a workspace as a short table."""
    comma = "、" if speech.words().language == "zh" else ", "
    kinds = comma.join(counted(count, kind) for kind, count in found.kinds.items())
    rows = [
        ("workspace", safe(found.workspace)),
        ("files", f"{found.files:,}"),
        ("passages", f"{found.passages:,}" + (f" ({kinds})" if kinds else "")),
    ]
    scopes = [f"{safe_line(name)} {count:,}" for name, count in found.scopes.items() if name]
    rows += [("scopes", ", ".join(scopes))] if scopes else []
    rows += [("projects", f"{found.projects} with a memory of their own")] if found.projects else []
    room = f"{size(found.bytes)}, " if found.bytes else ""
    waits = f", {counted(found.unembedded, 'text')} not embedded yet" if found.unembedded else ""
    rows += [("index", room + _freshness(found)), ("embedder", found.embedder + waits)]
    rows += [("recording", found.off_record)] if found.off_record else []
    titles = format_titles() if found.brought else {}
    rows += [("imported", brought_words(one, titles)) for one in found.brought]
    rows += [("not indexed", inner(found.inner))] if found.inner else []
    rows += [("not read", safe_line(told(found.unread)))] if found.unread else []
    rows += [(f"@{safe_line(one.name)}", safe_line(_mount(one))) for one in found.mounts]
    words = speech.words()
    for line in table([(words(name), words.lines(value)) for name, value in rows]):
        out(line)
    problems(found.problems)
    for one in found.attention:
        say(words.named("Needs your attention", safe_line(words.told(one.text).text)))


def brought_words(one: Brought, titles: Mapping[str, str]) -> str:
    """Return what was imported in words: how much, from where, of when, with whom."""
    counts = [(one.sessions, "talk"), (one.turns, "turn"), (one.notes, "note")]
    much = ", ".join(counted(count, name) for count, name in counts if count)
    when = f", {one.began} – {one.ended}" if one.began else ""
    people = [safe_line(name) for name in one.people]
    more = f" and {len(people) - _PEOPLE} more" if len(people) > _PEOPLE else ""
    whom = f"; with {', '.join(people[:_PEOPLE])}{more}" if people else ""
    return f"{much} from {safe_line(titles.get(one.format, one.format))}{when}{whom}"


def _mount(found: MountState) -> str:
    if found.problem:
        return found.problem
    state = f"{counted(found.outdated, 'file')} to read first" if found.outdated else "up to date"
    words = "; by words only, as nothing of it is sent to the embedder" if found.words_only else ""
    return f"{counted(found.files, 'file')} in {found.folder}, {state}{words}"


def _freshness(found: Status) -> str:
    if not (found.bytes or found.outdated):
        return "not created yet: there is nothing to index"
    if not found.bytes:
        return f"not created yet; run `mnemark sync` to index {counted(found.outdated, 'file')}"
    if found.stale:
        return f"must be rebuilt: {found.stale}; run `mnemark sync`"
    if found.outdated:
        return f"{counted(found.outdated, 'file')} changed since the last sync; run `mnemark sync`"
    return "up to date"
