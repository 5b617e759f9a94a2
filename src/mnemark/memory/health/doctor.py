"""Check a workspace, repair it, and rebuild its index beside the old one."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Final, Literal

import msgspec

from mnemark.embed import EmbedderUnavailable
from mnemark.errors import (
    BusyError,
    IntegrityError,
    MnemarkError,
    NewerFormatError,
    UsageError,
)
from mnemark.files import layout, links, old_layouts, projects
from mnemark.files.config import load_reported
from mnemark.files.disk_errors import unread
from mnemark.files.documents import converting
from mnemark.files.edit import sweep
from mnemark.files.journal import Journal
from mnemark.files.listing import close_to_others, open_to_others
from mnemark.files.private import private
from mnemark.files.reading import read
from mnemark.files.scan import Scan, scan
from mnemark.files.sessions import SessionLog
from mnemark.files.truth import Folder
from mnemark.files.unread import told
from mnemark.index import check, schema
from mnemark.index.store import Index
from mnemark.index.sync import stored_problems
from mnemark.memory.forgetting.erase import finish
from mnemark.memory.health import upgrades
from mnemark.memory.health.stats import mount_states, problems
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.types import Problem

Level = Literal["ok", "warn", "error"]
_REBUILD: Final = "run `mnemark doctor --fix`"
_NAMED_FILES: Final = 3
_SYNC: Final = "run `mnemark sync`"
UNFINISHED: Final = "unfinished"
"""Kind of findings about what every sync tries to finish."""
_MAX_WAITING: Final = 1_000
"""Maximum number of files named that an erasure waits for."""


class Finding(msgspec.Struct, frozen=True):
    """The result of one check."""

    level: Level
    what: str
    fix: str = ""
    """What to do; empty if nothing is to be done."""
    kind: str = ""
    """Group of findings that can be many; of each kind only a few are shown to people."""


class HealthReport(msgspec.Struct, frozen=True, kw_only=True):
    """All findings, in the order of the checks."""

    findings: tuple[Finding, ...]
    fixed: bool = False

    @property
    def level(self) -> Level:
        """The worst level."""
        levels = {finding.level for finding in self.findings}
        return "error" if "error" in levels else "warn" if "warn" in levels else "ok"


def verify(memory: OpenWorkspace | Path, *, deep: bool = False) -> HealthReport:
    """Check the index against itself and the files, and whether all files can be read.

    Args:
        memory: an open workspace, or the folder of one that cannot be opened.
        deep: check every posting list and every file, instead of a sample.

    Nothing is changed, and problems are returned as findings, not raised.
    """
    return HealthReport(findings=tuple(_verified(memory, deep=deep)))


def _verified(
    memory: OpenWorkspace | Path, *, deep: bool = False, embedder_told: bool = False
) -> Iterator[Finding]:
    """Yield what `verify` finds; of the embedder, if it was told of, only what its vectors are."""
    root = _root(memory)
    found = scan(root, ignore=() if isinstance(memory, Path) else memory.config.ignore)
    yield from _index(root, found, deep=deep)
    with converting():
        logs = list(_logs(root, found, deep=deep))
    yield from logs
    yield from _problems(found)
    if found.unread:
        yield Finding("ok", f"not read: {told(found.unread)}", kind="unread")
    if not isinstance(memory, Path):
        named = {problem.path for problem in found.problems}
        skipped = [one for one in problems(memory) if one.skipped and one.path not in named]
        yield from [] if deep else [_finding(one, "file") for one in skipped if not _is_log(one.path)]
        yield from _coverage(memory, embedder_told=embedder_told)
        rest = _unfinished(memory)
        yield from (Finding("warn", text, _SYNC, kind=UNFINISHED) for text in rest)
        others = (text for text in memory.unfinished(_MAX_WAITING) if text not in rest)
        yield from (Finding("warn", text, kind="journal") for text in others)
    for inner in found.inner:
        what = f"{inner}/ is not indexed here: it is a separate workspace"
        yield Finding("ok", what, f"search it with -w {inner}", "inner")


def _unfinished(memory: OpenWorkspace) -> list[str]:
    """Return what the next sync goes on with: erasures, facts, edits and undos that files could not take."""
    found = memory.to_finish(_MAX_WAITING)
    facts, edits = memory.fact_store, memory.edits
    with facts.lock:
        facts.log.refresh()
        log = facts.log
        own = [one for one in log.pending() if log.is_own(one)]
    begun = sorted({edit.path for edit in edits.open()})
    if own:
        found.append(f"{len(own)} changes of facts are in the journal, and not yet in their files")
    if begun:
        found.append(f"an automatic edit was interrupted: {', '.join(map(layout.shown, begun))}")
    return found


def examine(memory: OpenWorkspace | Path) -> Iterator[Finding]:
    """Yield the findings of `doctor` without a repair, as each check ends."""
    yield from _environment(memory, fix=False)
    yield from _verified(memory, embedder_told=True)


def _environment(memory: OpenWorkspace | Path, *, fix: bool) -> Iterator[Finding]:
    root = _root(memory)
    python = ".".join(map(str, sys.version_info[:3]))
    yield Finding("ok", f"Python {python}, SQLite {check.sqlite_version()}")
    yield from _folder(root)
    yield from _privacy(root, fix=fix)
    yield from _projects(root)
    if not isinstance(memory, Path):
        yield from _embedder(memory)
        yield from _upgrades(memory)
        yield from _freshness(memory)
        yield from _mounts(memory)


def doctor(memory: OpenWorkspace | Path, *, fix: bool = False) -> HealthReport:
    """Check the environment and the workspace; with `fix`, repair it.

    Repair deletes temporary files of crashes, makes mnemark's own files private, and rebuilds the index
    beside the old one, which is replaced when the new one passes its checks. People's files are not
    changed.

    Raises:
        BusyError: `fix`, and another process is syncing or has the index open.
        NewerFormatError, ReadOnlyError: `fix`, and the index must not or cannot be written.
    """
    if not fix:
        return HealthReport(findings=tuple(examine(memory)))
    root = _root(memory)
    findings = list(_environment(memory, fix=True))
    if not isinstance(memory, Path):
        memory.check_writable("repair it")
    findings += [
        _finding(problem) for problem in sweep(Folder(root) if isinstance(memory, Path) else memory.truth)
    ]
    if isinstance(memory, Path):
        rebuilt = check.rebuild(root, ignore=(), limit=256, visible=None)
    else:
        finish(memory, at_once=True)
        config = memory.config
        rebuilt = check.rebuild(
            root, ignore=config.ignore, limit=config.passage_tokens, visible=memory.visible
        )
        memory.index.follow()
    before = "the old one could not be read" if rebuilt.before is None else f"before: {rebuilt.before}"
    done = Finding("ok", f"the index was rebuilt: {rebuilt.after} passages ({before})")
    return HealthReport(findings=(*findings, done, *_verified(memory, embedder_told=True)), fixed=True)


def _root(memory: OpenWorkspace | Path) -> Path:
    if not isinstance(memory, Path):
        return memory.root
    links.check(memory)  # as `Memory.open` does
    return memory


def _folder(root: Path) -> Iterator[Finding]:
    if not os.access(root, os.W_OK):
        yield Finding("warn", f"{root} cannot be written: nothing can be saved", "make the folder writable")
    for problem in filter(None, (layout.sync_warning(root), old_layouts.unread(root))):
        yield _finding(problem)


def _projects(root: Path) -> Iterator[Finding]:
    """Name the projects whose repository is gone: if it has moved, its memory is not found from there."""
    for name in projects.folders(root):
        paths = list(projects.paths_in(root, name))
        if paths and not any(map(os.path.isdir, paths)):
            page = f"{projects.FOLDER}/{name}/{projects.FILE}"
            what = layout.shown(f"the repository of the project {name} is not at {paths[0]} any more")
            yield Finding("ok", what, f"if it has moved, correct the path in {page}", "project")


def _privacy(root: Path, *, fix: bool) -> Iterator[Finding]:
    found = open_to_others(root)
    left = list(close_to_others(root, found.own) if fix else found.own)
    if fix and len(left) < len(found.own):
        yield Finding(
            "ok",
            f"closed {_files(len(found.own) - len(left))} of mnemark to other users of this machine",
        )
    if left:
        what = f"other users of this machine can read {_files(len(left))} of mnemark: {_listed(left)}"
        other = "they belong to another user, who can run `mnemark doctor --fix`"
        yield Finding("warn", what, other if fix else "close them with --fix")
    if found.others:
        count = _files(len(found.others))
        what = f"other users of this machine can read {count} in this folder: {_listed(found.others)}"
        yield Finding("ok", f"{what} (to prevent it, run `chmod go= {root}`)")


def _files(count: int) -> str:
    return f"{count:,} file{'' if count == 1 else 's'}"


def _listed(paths: Sequence[str]) -> str:
    named = ", ".join(layout.shown(path) for path in paths[:_NAMED_FILES])
    return f"{named}, …" if len(paths) > _NAMED_FILES else named


def _embedder(ws: OpenWorkspace) -> Iterator[Finding]:
    if not ws.searcher.embeddings.wanted:
        yield Finding("ok", "no embedder is configured: search matches words only, not meaning")
        return
    try:
        embedder = ws.searcher.embeddings.embedder()
        name = f"embedder {embedder.name}, {embedder.dimension} dimensions"
        if not getattr(embedder, "remote", False):  # a test query would send text to the API
            embedder.query("ready?")
    except MnemarkError as error:
        yield Finding("warn", f"the embedder {ws.config.embedder!r} is not available: {error}")
        return
    if embedder.semantic:
        yield Finding("ok", f"{name}: search matches words and meaning")
    else:
        yield Finding("warn", f"{name}: search matches spelling, not meaning", 'set embedder = "bundled"')


def _upgrades(ws: OpenWorkspace) -> Iterator[Finding]:
    sample = upgrades.sample(ws)
    yield Finding("ok", upgrades.packages())
    what, fix = upgrades.reranker(ws, sample)
    yield Finding("warn" if fix else "ok", what, fix)
    if sample.texts:
        yield Finding("ok", upgrades.switching(ws, sample))


def _freshness(ws: OpenWorkspace) -> Iterator[Finding]:
    try:
        # That there is no index is reported by `_index`.
        if ws.index.exists() and (reason := ws.index.stale_reason()):
            yield Finding("warn", f"the index must be rebuilt: {reason}", _SYNC)
    except MnemarkError as error:
        yield Finding("error", str(error), _REBUILD)


def _mounts(ws: OpenWorkspace) -> Iterator[Finding]:
    for one in mount_states(ws):
        if one.problem:
            yield Finding("warn", f"@{one.name}: {one.problem}", kind="mount")
        else:
            words, files, folder = ", by words only" if one.words_only else "", _files(one.files), one.folder
            yield Finding("ok", f"@{one.name}: searches read {files} in {folder}{words}")
    yield from (
        _finding(one, "mount") for one in load_reported(ws.root).problems if one.path == layout.CONFIG
    )


def _index(root: Path, found: Scan, *, deep: bool) -> Iterator[Finding]:
    if not (private(root) / "index.db").exists():
        if found.entries:
            yield Finding("warn", "there is no index yet", _SYNC)
        else:  # a sync would find nothing to do
            yield Finding("ok", "no notes or sessions yet, so there is no index")
        return
    try:
        index = Index(root, readonly=True)
        index.check()
    except NewerFormatError as error:
        yield Finding("error", str(error))
        return
    except BusyError as error:
        yield Finding("warn", str(error), "try again")
        return
    except MnemarkError as error:
        yield Finding("error", str(error).partition("; ")[0], _REBUILD)
        return
    with closing(index):
        yield from _checked(lambda: check.damages(index, deep=deep), "the index is not damaged", _REBUILD)
        yield from _checked(
            lambda: check.differences(index, found.entries),
            "the index is up to date with all files",
            _SYNC,
        )
        with suppress(*schema.UNREADABLE):  # the check of the index has reported it
            yield from [_finding(problem, "note") for problem in stored_problems(index)]


def _checked(find: Callable[[], list[str]], passed: str, fix: str) -> Iterator[Finding]:
    try:
        wrong = find()
    except (BusyError, IntegrityError) as error:
        yield Finding("error", str(error), fix)
        return
    except schema.UNFIT as error:
        yield Finding("error", schema.damage_of(error), _REBUILD)
        return
    level: Level = "error" if fix == _REBUILD else "warn"
    yield from (Finding(level, text, fix, "index") for text in wrong)
    if not wrong:
        yield Finding("ok", passed)


def _logs(root: Path, found: Scan, *, deep: bool) -> Iterator[Finding]:
    problems: list[Problem] = []
    turns = 0
    for entry in found.entries:
        if _is_log(entry.path):
            turns += _turns(root, entry.path, problems)
        elif deep and isinstance(note := read(root, entry.path, entry), Problem):
            problems.append(note)
    changes = len(Journal(Folder(root)).read(problems=problems))
    yield from (_finding(problem, "log") for problem in problems)
    yield Finding("ok", f"sessions and journals: {turns:,} messages and {changes:,} changes can be read")


def _is_log(path: str) -> bool:
    return path.lower().endswith(".jsonl")


def _turns(root: Path, path: str, problems: list[Problem]) -> int:
    try:
        return sum(1 for _ in SessionLog.at(root, path).turns(problems=problems))
    except OSError as error:
        problems.append(Problem(path, unread(error)))
    except UsageError as error:
        problems.append(Problem(path, f"cannot be read: {error}"))
    return 0


def _problems(found: Scan) -> Iterator[Finding]:
    yield from (_finding(problem, "file") for problem in found.problems)
    for entry in found.entries:
        place = layout.place(entry.path)
        if place is not None and place.role == "copy":
            what = f"{entry.path} is a conflict copy left by a sync program"
            yield Finding("warn", what, "merge it, then delete it", "copy")


def _coverage(ws: OpenWorkspace, *, embedder_told: bool) -> Iterator[Finding]:
    if not ws.searcher.embeddings.wanted:
        if not embedder_told:
            yield Finding("ok", "no embedder is configured: no vectors to check")
        return
    try:
        if not ws.index.exists():
            yield Finding("ok", "no passages to embed yet")
            return
        missing, total = check.coverage(ws.index, ws.searcher.embeddings.store())
    except EmbedderUnavailable as error:
        if not embedder_told:
            yield Finding("warn", f"vectors were not checked: {error}")
    except MnemarkError as error:
        yield Finding("warn", f"vectors cannot be read: {error}")
    else:
        if missing:
            yield Finding("warn", f"{missing:,} of {total:,} texts have no vector yet", _SYNC)
        else:
            yield Finding("ok", f"all {total:,} texts have a vector")


def _finding(problem: Problem, kind: str = "") -> Finding:
    return Finding("warn", f"{problem.path}: {problem.reason}", kind=kind)
