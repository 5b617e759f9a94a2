"""Merge another memory into this one: everything of both, once, and nothing that either side erased.

The result depends on neither the machine nor the order: when all machines have merged all others, their files
are equal. What a merge notes for itself lies in `.mnemark/`.

1. Copy what differs of the other side beside the workspace, with the journals of both.
2. Carry out there what either side erased, while the text can still be found by its ids.
3. Take the joined journals, and carry out here what the other side erased.
4. Join the files, and put them in place; see `steps`.
5. Put facts that both sides changed up for review.
"""

import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from mnemark.errors import MnemarkError, UsageError
from mnemark.facts.join import newer_value
from mnemark.files import jsonl, layout, listing, off_record, platform
from mnemark.files.disk_errors import unread
from mnemark.files.join import join_logs
from mnemark.files.journal import FOLDER as JOURNAL
from mnemark.files.journal import Change, decode_change
from mnemark.files.private import private, private_folder
from mnemark.files.reading import digest
from mnemark.memory.curation.generated import withdraw_all
from mnemark.memory.forgetting import erase
from mnemark.memory.forgetting.sweep import Targets
from mnemark.memory.journal import erasures
from mnemark.memory.merging import steps
from mnemark.memory.merging.bases import Bases
from mnemark.memory.merging.contradictions import note_contradictions
from mnemark.memory.merging.join import JoinedFile, join_file, kind_of
from mnemark.memory.merging.pages import write_anew
from mnemark.memory.merging.refs import Moves, ids_in, join_journals, moved
from mnemark.memory.merging.renamed import kept_names
from mnemark.memory.merging.source import SKIPPED, fetched
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.types import Problem

STAGE: Final = "merging"
"""Folder in `.mnemark` of the copy of the other side, and its machine: no erasure is done there."""
AGAIN: Final = (
    "holds words that were erased on one side: written again or copied since; forget them if not meant"
)
"""Is told of a file that stays as it is: a person may have said it anew."""
_FACT_ID: Final = re.compile(rb"\bid: ([0-9A-Z]{26})\b")
_TEXTS: Final = frozenset({"facts", "page", "text"})
_FEW: Final = 3
"""Files that may have been deleted by a person, however few there are."""


class MergedFile(msgspec.Struct, frozen=True, kw_only=True):
    """What a merge did, or would do, to a file."""

    path: str
    what: str
    """new, joined, doubled, beside, removed."""
    records: int = 0
    """Turns, or lines of a journal, that came."""


class Merged(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a merge."""

    id: str = ""
    """For `undo`; empty where nothing changed."""
    source: str
    dry_run: bool = False
    files: tuple[MergedFile, ...] = ()
    turns: int = 0
    facts: int = 0
    """Facts that came."""
    erased: int = 0
    """Erasures of the other side that were carried out here."""
    review: tuple[str, ...] = ()
    """Facts with another value on each side: the later holds, the earlier waits for review."""
    waiting: tuple[str, ...] = ()
    """Files that were busy: the next sync goes on."""
    problems: tuple[Problem, ...] = ()
    off_record: bool = False
    """Whether this memory is off the record: what the other one recorded comes all the same."""


def merge(ws: OpenWorkspace, other: str | Path, *, dry_run: bool = False) -> Merged:
    """Bring everything of another memory into this one, which keeps everything of its own.

    Sync before, so that nothing waits, and after. The other memory is only read: run the merge there, too, to
    have everything on both sides. What one side erased is erased on the other, in bytes. Settings
    (`mnemark.toml`) stay as they are.

    A memory that is off the record is merged, too, and stays so: a person asks for it, and what comes was
    recorded elsewhere. It is learned from once recording goes on.

    Args:
        ws: the workspace.
        other: a folder, `ssh:HOST:PATH`, or a git repository or remote; see `source.fetched`.
        dry_run: only say what would come.

    Raises:
        NotFoundError, UsageError: there is no other memory there.
        BusyError, ReadOnlyError: this one cannot be written (now).
    """
    if not dry_run:
        ws.check_writable("merge")
    with fetched(ws.root, str(other)) as folder:
        return merge_folder(ws, folder, str(other), dry_run=dry_run)


def merge_folder(ws: OpenWorkspace, folder: Path, name: str, *, dry_run: bool = False) -> Merged:
    """Merge a folder that holds a memory, which the result calls `name`; else as `merge`."""
    off = off_record.load(ws.root).current() is not None
    if dry_run:
        return replace(_Merge(ws, folder, name).foreseen(), off_record=off)
    with ws.truth.change():
        merged = _Merge(ws, folder, name).carry_out()
    withdraw_all(ws)  # facts that the other side ended leave core memory
    return replace(merged, off_record=off)


class _Merge:
    """A merge under way."""

    def __init__(self, ws: OpenWorkspace, folder: Path, name: str) -> None:
        self.ws = ws
        self.folder = folder
        self.name = name
        self.problems: list[Problem] = []
        self.files: list[MergedFile] = []
        self.ours_bases = Bases(private(ws.root))
        self.their_bases = Bases(folder / layout.PRIVATE)
        self.source = name if folder.is_relative_to(private(ws.root)) else os.path.realpath(folder)
        self.deletes = self._has_most(folder)
        self.came: dict[str, set[str]] = {}
        """Ids of the turns that came, by logs that were here."""
        self.unknown: set[str] = set()
        """Files that are there, and cannot be read."""
        self.same: set[str] = set()
        """Files that were the same on both sides, before anything was erased."""
        self.kept: set[str] = set()
        """Files that stay though one side has deleted them, as the other name of the same is deleted, too."""
        self.gone: set[str] = set()
        """Facts that were in a file here, and are in none after the merge."""
        self.sought: list[Targets] = []
        """Texts that were erased here, or in the copy of the other side."""
        self.holding: set[str] = set()
        """Files of the other side that may hold them."""
        self.removed: set[str] = set()
        """Facts that a person removed, or took back, on either side."""
        self.alone: set[str] = set()
        """Lines of journals that one side alone had."""
        self.restored: set[str] = set()
        """Fact files in which one side alone took a correction back: they are as they once were."""

    # --- what is there

    def _paths(self, root: Path, *, tell: bool = False) -> list[str]:
        """Return the files of a side that are memory, or lie beside it."""
        found = listing.walk(root, skip=SKIPPED)
        if tell:
            self.problems += [*found.odd, *found.closed]
            self.problems += [
                Problem(one, "is a separate workspace: merge it by itself") for one in found.inner
            ]
        return [path for path in found.files if self._is_merged(path, tell=tell)]

    def _has_most(self, folder: Path) -> bool:
        """Whether the other side has most of what it once had: else it is half a copy."""
        known = self.their_bases.paths()
        missing = [path for path in known if not os.path.lexists(folder / path)]
        if len(missing) < _FEW or 2 * len(missing) < len(known):
            return True
        reason = f"lacks {len(missing)} of {len(known)} files that it once had: none is deleted here"
        self.problems.append(Problem(self.name, reason, skipped=False))
        return False

    def _is_merged(self, path: str, *, tell: bool) -> bool:
        if path.startswith(".") or "/." in path or path.casefold() == layout.CONFIG:
            return False
        if layout.shown(path) == path and layout.is_inside(path) and layout.is_name(path):
            return True
        if tell:
            self.problems.append(Problem(layout.shown(path), "cannot have that name here: rename it"))
        return False

    def _read(self, root: Path, path: str) -> bytes | None:
        """Return the bytes of a file; None if there is none, or, of the other side, none that can be read."""
        try:
            return platform.content(root / path)
        except FileNotFoundError:
            return None
        except (IsADirectoryError, NotADirectoryError):
            reason = "is a file on one side and a folder on the other: rename one of them"
        except OSError as error:
            if root == self.ws.root:
                raise MnemarkError(f"{path} {unread(error)}; nothing was merged") from error
            reason = unread(error)
        if path not in self.unknown:
            self.unknown.add(path)
            self.problems.append(Problem(layout.shown(path), reason))
        return None

    def _is_deleted(self, root: Path, path: str) -> bool:
        """Whether a file is gone from a side, not out of sight: behind a link, or in a workspace."""
        if path in self.unknown or os.path.lexists(root / path):
            return False
        above = path
        while above := above.rpartition("/")[0]:
            if (root / above).is_symlink() or layout.is_workspace(root / above):
                return False
        return True

    # --- the run

    def foreseen(self) -> Merged:
        """Return what would come, from the files as they are."""
        journals = self._joined_journals(self._paths(self.folder, tell=True), {}, {})
        came = self._new_changes(journals)
        erased = sum(one.kind == "forget" and bool(one.fields.get("erase")) for one in came)
        self._find_removed(journals)
        paths = self._all_paths(self.folder)
        self._find_kept(paths, self.folder)
        for path in paths:
            joined = self._joined(path, self.folder, {}, {})
            if joined is not None:
                self._tell(path, self._read(self.ws.root, path), joined)
        return self._result(erased=erased, facts=_count_facts(came), dry_run=True)

    def carry_out(self) -> Merged:
        """Merge; the workspace's lock is held."""
        ws = self.ws
        theirs = self._paths(self.folder, tell=True)
        steps.drop_begun(ws.truth)
        moves, their_moves = self._moves(theirs)
        plan = steps.Steps(ws.truth, self.name)
        plan.keep_bases()
        stage = private_folder(ws.root) / STAGE
        shutil.rmtree(stage, ignore_errors=True)
        try:
            self._copy(theirs, stage)
            journals = self._erased_there(stage, self._joined_journals(theirs, moves, their_moves))
            came = self._new_changes(journals)
            for path, data in journals.items():
                plan.change(path, self._read(ws.root, path), data)
            plan.carry_out(begun=True)
            # A copied file may have brought here, before, what the other side had still to erase in it.
            erase.sweep_copies(ws, self.sought, self.holding)
            receipts = erase.finish(ws, at_once=True, merging=plan.id, sought=self.sought)
            self._find_removed(journals)
            self._prepare(plan, stage, moves, their_moves)
        finally:
            shutil.rmtree(stage, ignore_errors=True)
        done = plan.carry_out()
        self.ours_bases.save()
        erase.sweep_copies(ws, self.sought, ())  # of the versions that this merge keeps
        self._note_gone()
        self.problems += [
            Problem(path, AGAIN, skipped=False) for path in erase.holding_again(ws, self.sought)
        ]
        review = note_contradictions(ws, ws.scopes())
        for path, turns in self.came.items():
            if problem := write_anew(ws, path, turns):
                self.problems.append(Problem(path, problem, skipped=False))
        erased = sum(bool(one.places) for one in receipts)
        self.problems += [
            Problem("erased text", f"may remain in {text}", skipped=False)
            for one in receipts
            for text in one.still
        ]
        return self._result(
            id=done.id, erased=erased, facts=_count_facts(came), review=review, waiting=done.waiting
        )

    def _result(self, **found: Any) -> Merged:
        turns = sum(one.records for one in self.files)
        return Merged(
            source=self.name, turns=turns, files=tuple(self.files), problems=tuple(self.problems), **found
        )

    def _note_gone(self) -> None:
        """Note that facts left their files with the merge: no person removed them here."""
        store = self.ws.fact_store
        with store.lock:
            store.log.refresh()
            left = (one for one in self.gone if not store.log.of(one).corrected_by)
            gone = sorted(one for one in left if store.log.of(one).known is not None)
            changes = [Change(kind="tombstone", payload={"fact": one}) for one in gone]
            if changes:
                store.log.append(*changes)

    # --- journals

    def _joined_journals(self, theirs: Iterable[str], moves: Moves, their_moves: Moves) -> dict[str, bytes]:
        """Return the journals of the other side with the lines of ours, and refs to lines as they will be."""
        joined: dict[str, bytes] = {}
        for path in filter(_is_journal, theirs):
            data = self._read(self.folder, path)
            if data is not None:
                ours = self._read(self.ws.root, path) or b""
                self.alone |= ids_in(ours) ^ ids_in(data)
                own = path == f"{JOURNAL}/{self.ws.journal.file}"
                joined[path] = join_journals(path, ours, data, moves, their_moves, own=own)
        return joined

    def _new_changes(self, journals: Mapping[str, bytes]) -> list[Change]:
        """Return the changes in these journals that are in none of the same names here."""
        known = set[str]().union(*(ids_in(self._read(self.ws.root, path) or b"") for path in journals))
        return [change for change in _changes(journals.values()) if change.id not in known]

    def _find_removed(self, journals: Mapping[str, bytes]) -> None:
        corrected: dict[str, Change] = {}
        restored: list[str] = []
        for change in _changes(journals.values()):
            if change.kind == "correct":
                corrected[change.id] = change
            if change.kind == "tombstone":
                self.removed.add(str(change.fields.get("fact")))
            elif change.kind == "undo":
                self.removed.update(change.ids)
                restored += change.ids if change.id in self.alone else ()
        for line in restored:
            fields = corrected[line].fields if line in corrected else {}
            before = fields.get("before")
            sides = (fields, before if isinstance(before, Mapping) else {})
            self.restored.update(str(side["path"]) for side in sides if "path" in side)
        # What was corrected stays away, and what that was made of where the correction was undone.
        standing = (one for line, one in corrected.items() if line not in self.removed)
        self.removed.update(str(one.fields.get("fact")) for one in standing)

    # --- files

    def _moves(self, theirs: Iterable[str]) -> tuple[Moves, Moves]:
        """Return which lines of logs will have other numbers, of ours and of theirs."""
        ours_moves: dict[str, Mapping[int, int]] = {}
        their_moves: dict[str, Mapping[int, int]] = {}
        for path in theirs:
            if kind_of(path) == "log" and not _is_journal(path):
                mine, yours = self._read(self.ws.root, path), self._read(self.folder, path)
                if mine is not None and yours is not None and mine != yours:
                    joined = join_logs(mine, yours)
                    ours_moves |= {path: joined.ours} if joined.ours else {}
                    their_moves |= {path: joined.theirs} if joined.theirs else {}
        return ours_moves, their_moves

    def _copy(self, theirs: Iterable[str], stage: Path) -> None:
        """Copy the files that differ beside the workspace."""
        for path in theirs:
            data = self._read(self.folder, path)
            if data is not None and data == self._read(self.ws.root, path):
                self.same.add(path)
            elif data is not None:
                platform.make_folder((stage / path).parent)
                jsonl.write_new(stage / path, data, durable=False)

    def _erased_there(self, stage: Path, journals: dict[str, bytes]) -> dict[str, bytes]:
        """Carry out in the copy of the other side what either side erased; return the journals after that.

        Where the text of an item is still there, it is found by its id, and with it what quotes it.
        """
        if not journals:
            return {}
        ours = (path for path in self._paths(self.ws.root) if _is_journal(path))
        all_journals = {path: self._read(self.ws.root, path) or b"" for path in ours} | journals
        for path, data in all_journals.items():
            platform.make_folder((stage / path).parent)
            jsonl.replace_file(stage / path, data, durable=False)
        there = OpenWorkspace(stage, self.ws.config, readonly=False, embedder=None, machine=STAGE)
        try:
            receipts = erase.finish(there, at_once=True, sought=self.sought)
            self.holding = self._holding({place.path for one in receipts for place in one.places}, stage)
            waits = erasures.load(stage)
            reasons = (one.text for some in waits.values() for one in some if not _is_private(one.path))
            self.problems += [Problem(self.name, reason, skipped=False) for reason in dict.fromkeys(reasons)]
        finally:
            there.close()
        return {path: self._read(stage, path) or b"" for path in journals}

    def _holding(self, erased: set[str], stage: Path) -> set[str]:
        """Return the files here that may hold what was erased in these of the other side.

        A file may have been copied from there, and renamed since: it has the same path, or a line of it.
        """
        gone: set[bytes] = set()
        for path in erased:
            if kind_of(path) in _TEXTS and not _is_private(path):
                before, after = self._read(self.folder, path), self._read(stage, path)
                gone |= set((before or b"").split(b"\n")) - set((after or b"").split(b"\n"))
        texts = (path for path in self._paths(self.ws.root) if gone and kind_of(path) in _TEXTS)
        lines = ((path, (self._read(self.ws.root, path) or b"").split(b"\n")) for path in texts)
        return erased | self.same | {path for path, there in lines if not gone.isdisjoint(there)}

    def _all_paths(self, theirs: Path) -> list[str]:
        known = self._paths(self.ws.root) if self.their_bases.paths() else []
        return sorted({*known, *self._paths(theirs)})

    def _prepare(self, plan: steps.Steps, stage: Path, moves: Moves, their_moves: Moves) -> None:
        root = self.ws.root
        staged = {path for path in self._paths(stage) if not _is_journal(path)}
        texts = set(self._paths(root))
        for path in sorted(self.ours_bases.paths() - texts):
            if self._is_deleted(root, path):
                self.ours_bases.note_deleted(path)
        self._find_kept(staged | texts, stage)
        for path in sorted(staged | texts):
            if _is_journal(path):
                continue
            joined = self._joined(path, stage, moves, their_moves)
            if joined is None:
                continue
            try:
                layout.safe_path(root, path)
            except UsageError as error:
                self.problems.append(Problem(path, str(error)))
                continue
            before = self._read(root, path)
            self._tell(path, before, joined)
            if kind_of(path) == "facts":
                self.gone |= _ids(before or b"") - _ids(joined.data)
            plan.change(path, before, joined.data if joined is not _REMOVED else None)
            if joined.beside is not None:
                stem, dot, suffix = path.rpartition(".")
                # A digit first: so it counts as a copy that is for a person, and no note.
                name = f"{stem}.conflict-0{digest(joined.beside)[:7]}{dot}{suffix}"
                if self._read(root, name) is None:
                    plan.change(name, None, joined.beside)

    def _find_kept(self, paths: Iterable[str], theirs: Path) -> None:
        """Find the names that stay where each side deleted the other's; see `renamed`."""
        here: dict[str, bytes] = {}
        there: dict[str, bytes] = {}
        for path in paths:
            if os.path.lexists(self.ws.root / path) and self._is_there(path, theirs):
                continue
            ours, other = self._read(self.ws.root, path), self._other(path, theirs)
            if ours is not None and other is None and self._is_deleted_there(path, ours):
                here[path] = ours
            elif other is not None and ours is None and self._is_deleted_here(path, other):
                there[path] = other
        self.kept = kept_names(here, there)

    def _is_there(self, path: str, theirs: Path) -> bool:
        return path in self.same or os.path.lexists(theirs / path)

    def _joined(self, path: str, theirs: Path, moves: Moves, their_moves: Moves) -> JoinedFile | None:
        """Return what a file becomes; None where it stays, `_REMOVED` where the other side deleted it."""
        ours, other = self._read(self.ws.root, path), self._other(path, theirs)
        if path in self.unknown or _is_journal(path):
            return None
        mine, kind = ours, kind_of(path)
        if kind in _TEXTS:
            ours = None if ours is None else moved(ours, path, moves)
            other = None if other is None else moved(other, path, their_moves)
        if ours is not None and other is not None:
            joined = self._of_both(path, ours, other)
            if joined.added and kind == "log":
                self.came[path] = ids_in(other) - ids_in(ours)
        elif other is not None:
            if self._is_deleted_here(path, other):
                return None
            joined = JoinedFile(other, added=_count(other) if kind == "log" else 0)
        elif ours is None:
            return None
        elif self._is_deleted_there(path, ours):
            self.ours_bases.note_deleted(path)
            return _REMOVED
        else:
            joined = JoinedFile(ours)
        if kind != "log":
            self.ours_bases.note(
                path, joined.data, (ours, other), self.their_bases, self.source, keep=kind in _TEXTS
            )
        return None if joined.data == mine and joined.beside is None else joined

    def _is_deleted_here(self, path: str, theirs: bytes) -> bool:
        if kind_of(path) == "log" or path in self.kept or self.their_bases.came_back(path, theirs):
            return False
        return self.ours_bases.knows(path, theirs) and self._is_deleted(self.ws.root, path)

    def _is_deleted_there(self, path: str, ours: bytes) -> bool:
        if kind_of(path) == "log" or path in self.kept or not self.deletes:
            return False
        if self.ours_bases.came_back(path, ours):
            return False
        return self.their_bases.knows(path, ours) and self._is_deleted(self.folder, path)

    def _other(self, path: str, theirs: Path) -> bytes | None:
        """Return a file of the other side: of its copy, which lacks what is the same, and what was erased."""
        copied = self._read(theirs, path)
        if copied is not None or theirs == self.folder:
            return copied
        return self._read(self.ws.root, path) if path in self.same else None

    def _of_both(self, path: str, ours: bytes, other: bytes) -> JoinedFile:
        base = None
        if ours != other and kind_of(path) != "log" and path not in self.restored:
            base = self.ours_bases.common(path, ours, self.their_bases, other, self.source)
        return join_file(
            path, base, ours, other, zone=self.ws.fact_store.zone, removed=self.removed,
            newer=partial(newer_value, self.ws.fact_store.log),
        )  # fmt: skip

    def _tell(self, path: str, before: bytes | None, joined: JoinedFile) -> None:
        what = "removed" if joined is _REMOVED else "new" if before is None else "joined"
        what = "doubled" if joined.doubled else "beside" if joined.beside is not None else what
        self.files.append(MergedFile(path=layout.shown(path), what=what, records=joined.added))


_REMOVED: Final = JoinedFile(b"")


def _ids(fact_file: bytes) -> set[str]:
    return {one.decode() for one in _FACT_ID.findall(fact_file)}


def _is_private(path: str) -> bool:
    return not path or path.startswith(f"{layout.PRIVATE}/")


def _is_journal(path: str) -> bool:
    return path.startswith(f"{JOURNAL}/") and path.endswith(".jsonl")


def _changes(journals: Iterable[bytes]) -> Iterator[Change]:
    for line in (line for data in journals for line in data.split(b"\n") if line):
        record = jsonl.decode(line)
        if record is not None and (change := decode_change(record)) is not None:
            yield change


def _count_facts(changes: Iterable[Change]) -> int:
    return sum(change.kind == "remember" for change in changes)


def _count(log: bytes) -> int:
    return sum(b'"role"' in line for line in log.split(b"\n"))
