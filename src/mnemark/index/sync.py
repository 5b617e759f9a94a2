"""Sync the index with the files.

`sync_run` carries out the steps of `plan`, and is loaded where there are any. A killed sync leaves a
consistent index, and the next sync does the rest.

Changed redaction rules (`Visible.identity`) rebuild the whole index. For new exact secrets of the environment
the files that hold them are indexed again, as are files with more redaction marks than before: in both cases
the sync asks for a scrub, which erases the old bytes (`erase.scrub_index`).
"""

import functools
import re
import time
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from typing import Final

import msgspec

from mnemark.errors import NewerFormatError
from mnemark.files import layout, secrets
from mnemark.files.copies import plan_copies
from mnemark.files.scan import FileEntry, scan
from mnemark.files.tombstones import Tombstones
from mnemark.files.truth import sync_lock
from mnemark.hashes import blake2b
from mnemark.index import schema
from mnemark.index.plan import KnownFile, SyncStep, plan
from mnemark.index.store import NEW, Index
from mnemark.index.workers import workers_for
from mnemark.text.documents import PACKAGES, VERSION, format_of, is_installed
from mnemark.text.words.segment import version_of
from mnemark.types import Problem

Progress = Callable[[int, int, int], None]
"""Called with the number of files done, files in total, and passages written so far."""

_PROBLEMS: Final = msgspec.json.Decoder(list[Problem])
_SECRETS: Final = "values"
"""Key in `meta` of the hashes of exact secrets that the index was searched for."""
_CONVERTERS: Final = "converters"
"""Key in `meta` of what the views of documents were made by."""
_LARGE: Final = 3_000_000
"""Bytes of new text that are worth the start of workers: about 5,000 passages."""


class SyncReport(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a sync."""

    files: int
    """Searchable files in the workspace."""
    added: int = 0
    changed: int = 0
    moved: int = 0
    removed: int = 0
    passages: int = 0
    """Passages written."""
    problems: tuple[Problem, ...] = ()
    """All files skipped or read with problems, including those of earlier syncs."""
    inner: tuple[str, ...] = ()
    """Nested workspaces, which are not in this index."""
    journals: int = 0
    """Journals that had grown; only their observations are indexed."""
    seconds: float = 0.0
    temporary: tuple[str, ...] = ()
    """Temporary files, most of them left by killed processes."""
    replaced: tuple[str, ...] = ()
    """Files that are new here, or hold something else than before; not logs that only grew. Where something
    is forgotten, those of earlier syncs, too, until `Index.looked_through`."""
    rebuilt: str = ""
    """Why the index was discarded and made anew; empty where it was not."""
    unread: Mapping[str, int] = {}
    """Files that hold text and are not read, counted by suffix; see `unread.told`."""

    @property
    def touched(self) -> int:
        """The number of files whose index entries changed."""
        return self.added + self.changed + self.moved + self.removed


def sync(
    index: Index,
    *,
    ignore: Sequence[str] = (),
    limit: int = 256,
    wait: float = 0.0,
    progress: Progress | None = None,
) -> SyncReport:
    """Sync the index with the files.

    Args:
        index: opened for writing.
        ignore: shell patterns of relative paths to leave out.
        limit: maximum number of tokens in a passage.
        wait: seconds to wait for another process that is syncing.
        progress: called after each file.

    Raises:
        BusyError: another process is syncing.
    """
    run = functools.partial(_sync_locked, index, ignore, limit, progress, time.monotonic())
    with sync_lock(index.home, timeout=wait), schema.translated(index.path):
        if index.path.name != NEW:
            schema.remove(index.path.with_name(NEW))  # left by a killed rebuild
        index.follow()
        rebuilt = index.damage
        if not rebuilt:
            try:
                return run()
            except NewerFormatError:
                raise
            except schema.UNFIT as error:
                rebuilt = schema.damage_of(error)
        index.discard(rebuilt)
        return msgspec.structs.replace(run(), rebuilt=rebuilt)


def _sync_locked(
    index: Index, ignore: Sequence[str], limit: int, progress: Progress | None, started: float
) -> SyncReport:
    with schema.translated(index.path), schema.large_cache(index.connection):
        return _sync_files(index, ignore, limit, progress, started)


def _sync_files(
    index: Index, ignore: Sequence[str], limit: int, progress: Progress | None, started: float
) -> SyncReport:
    if index.stale_reason():  # another version has written to it since it was opened
        index.reset()
    found = scan(index.root, ignore=ignore)
    known = _known(index, limit)
    # Known files were searchable when they were added: do not parse their paths again.
    files = [entry for entry in found.entries if entry.path in known or searchable(entry)]
    entries = files + [entry for entry in found.journals if entry.path in known or searchable(entry)]
    hidden = index.hidden.current()
    secret = _paths_with_new_secrets(index)
    reindex = index.outdated(hidden) | secret | _converted_otherwise(index, known)
    withheld = _withheld(index, hidden)
    steps = _steps(entries, known, reindex, withheld.keys())
    inner = tuple(f"{folder}/" for folder in found.inner)
    if secret or any(step.action == "remove" and step.path.startswith(inner) for step in steps):
        schema.ask_for_scrub(index.connection)
    index.written.begin(index.generation())
    done = SyncReport(files=len(files))
    if steps:
        from mnemark.index.sync_run import SyncRun

        with workers_for(_new_bytes(steps, known), least=_LARGE) as workers:
            run = SyncRun(index, known, limit, hidden, reindex, workers=workers)
            done = msgspec.structs.replace(done, **run.carry_out(steps, progress))
    _note_secrets(index)
    if any(format_of(entry.path) for entry in files):
        _note_converters(index)
    marks = {entry.path: mark for entry in entries if (mark := hidden.mark(entry.path))}
    _store_marks(index, marks | withheld)
    if hidden:
        done = msgspec.structs.replace(done, replaced=index.to_look_through(done.replaced))
    index.filled()
    index.written.end(index.generation())
    copies = copy_problems((*found.entries, *found.journals))
    problems = [*found.problems, *copies, *stored_problems(index), *done.problems]
    return msgspec.structs.replace(
        done,
        problems=tuple(dict.fromkeys(problems)),
        inner=tuple(found.inner),
        unread=found.unread,
        temporary=tuple(found.temporary),
        seconds=time.monotonic() - started,
    )


def _known(index: Index, limit: int) -> dict[str, KnownFile]:
    """Return the indexed state of all files: none where their passages were cut to another size."""
    known = index.known(journals=True)
    if schema.read_meta(index.connection).get("passage_tokens") != limit:
        if known:
            index.reset()
            known = {}
        index.connection.execute("INSERT OR REPLACE INTO meta VALUES ('passage_tokens', ?)", (limit,))
    return known


def _steps(
    entries: Sequence[FileEntry],
    known: Mapping[str, KnownFile],
    reindex: AbstractSet[str],
    withheld: AbstractSet[str],
) -> list[SyncStep]:
    """Return the steps to the files, with those to index again although they are as they were."""
    unchecked = {path: msgspec.structs.replace(known[path], checked_ns=0) for path in reindex & known.keys()}
    return [SyncStep("remove", path) for path in withheld if path in known] + [
        step for step in plan(entries, {**known, **unchecked}) if step.path not in withheld
    ]


def _new_bytes(steps: Sequence[SyncStep], known: Mapping[str, KnownFile]) -> int:
    """Return the size of what is read anew: whole files, and the ends of logs that grew."""
    return sum(
        max(0, step.entry.size - (known[step.path].tail if step.action == "append" else 0))
        for step in steps
        if step.entry is not None
    )


def _withheld(index: Index, hidden: Tombstones) -> dict[str, str]:
    """Return the files, with marks, whose hidden lines changed while a journal is unreadable.

    They are left out of the index until it is readable, so that no forgotten text is shown again.
    """
    if not index.hidden.problems:
        return {}
    return {path: mark for path, mark in index.marks().items() if mark != hidden.mark(path)}


def _store_marks(index: Index, marks: Mapping[str, str]) -> None:
    """Store the marks of hidden lines; last, so that an interrupted sync repeats the work."""
    if marks != index.marks():
        with schema.immediate(index.connection):
            value = msgspec.json.encode(marks).decode()
            index.connection.execute("INSERT OR REPLACE INTO meta VALUES ('hidden', ?)", (value,))
            index.connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'")


def _paths_with_new_secrets(index: Index) -> frozenset[str]:
    """Return the files whose indexed text contains an exact secret that is new since the last sync."""
    known = _secret_hashes(index)
    new = known.keys() - _recorded_secrets(index)
    if not new:
        return frozenset()
    wanted = re.compile("|".join(re.escape(known[digest]) for digest in sorted(new)))
    rows = index.connection.execute("SELECT document, title, text, meta FROM passages")
    numbers = {number for number, *texts in rows if any(map(wanted.search, texts))}
    packed = index.connection.execute("SELECT id, facts FROM documents WHERE facts <> x''")
    in_bytes = re.compile(wanted.pattern.encode("utf-8", "surrogatepass"))
    numbers |= {number for number, facts in packed if in_bytes.search(facts)}
    listed = index.rows("SELECT id, path FROM documents")
    return frozenset(path for number, path in listed if number in numbers)


@cache
def _converters() -> str:
    """Return an identifier of all that views depend on: our version, and those of the libraries."""
    versions = (f"{name}={version_of(name) if is_installed(name) else ''}" for name in PACKAGES)
    return ";".join((str(VERSION), *versions))


def _converted_otherwise(index: Index, known: Mapping[str, KnownFile]) -> frozenset[str]:
    """Return the documents whose views were made by other versions of the libraries, or of mnemark."""
    paths = frozenset(path for path in known if format_of(path) is not None)
    if not paths or schema.read_meta(index.connection).get(_CONVERTERS) == _converters():
        return frozenset()
    return paths


def _note_converters(index: Index) -> None:
    if schema.read_meta(index.connection).get(_CONVERTERS) != _converters():
        index.connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_CONVERTERS, _converters()))


def _note_secrets(index: Index) -> None:
    """Record the hashes of all exact secrets known now, of which the index contains none."""
    hashes = _secret_hashes(index).keys()
    recorded = _recorded_secrets(index)
    if hashes - recorded:
        value = msgspec.json.encode(sorted(hashes | recorded)).decode()
        index.connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_SECRETS, value))


def _recorded_secrets(index: Index) -> frozenset[str]:
    found = index.scalar("SELECT value FROM meta WHERE key = ?", (_SECRETS,))
    return frozenset(msgspec.json.decode(found, type=list[str]) if isinstance(found, str) else ())


def _secret_hashes(index: Index) -> dict[str, str]:
    """Return the exact secrets by keyed hash: guesses cannot be tested without the workspace's salt."""
    values = index.visible.rules.values
    key = secrets.salt(index.root) if values else b""
    return {
        blake2b(value.encode("utf-8", "surrogatepass"), digest_size=10, key=key).hexdigest(): value
        for value in values
    }


def copy_problems(entries: Sequence[FileEntry]) -> list[Problem]:
    """Report copies left by syncing tools, which are not indexed."""
    reason = "is a copy left by a syncing tool or a conflict: `mnemark merge --repair` joins it"
    return [Problem(copy.path, reason) for copy in plan_copies(entry.path for entry in entries)]


def searchable(entry: FileEntry) -> bool:
    """Whether a file is to be indexed."""
    place = layout.place(entry.path)
    return place is not None and place.searchable


def stored_problems(index: Index) -> list[Problem]:
    """Return the problems stored with indexed files, ordered by path."""
    sql = "SELECT problems FROM documents WHERE problems <> '[]' ORDER BY path"
    return [problem for (text,) in index.rows(sql) for problem in _PROBLEMS.decode(text)]
