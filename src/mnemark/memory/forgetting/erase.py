"""Erase the bytes of items from every file, the index, vectors and bookkeeping.

The items are first recorded in the journal by ids, refs and hashes, without their text, and hidden from then
on. Quotations elsewhere are erased first, then the items, then the index is rewritten. After a crash the next
sync or opening continues from that entry: items are erased last, so that their text can still be read to
search for quotations.
"""

import shutil
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from datetime import UTC
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, get_args

import msgspec

from mnemark.errors import IntegrityError, MnemarkError, UsageError
from mnemark.facts import states
from mnemark.facts.fold import said_mark
from mnemark.facts.fold import words_of as words_of_fact
from mnemark.facts.model import Fact, refs_in
from mnemark.facts.pending import catch_up
from mnemark.facts.store import FactStore
from mnemark.facts.timeline import when
from mnemark.files import edit as editing
from mnemark.files import jsonl, layout, platform
from mnemark.files.disk_errors import shortage
from mnemark.files.documents import forget_views
from mnemark.files.ids import is_id, time_of
from mnemark.files.journal import Change, changes_of
from mnemark.files.names import split_ref
from mnemark.files.needles import BytePatterns
from mnemark.files.private import private
from mnemark.files.sessions import session_id
from mnemark.files.tombstones import Tombstones, by_path, runs_by_path, strings
from mnemark.files.truth import LOCK_SECONDS, sync_lock
from mnemark.memory import file_edits
from mnemark.memory.forgetting import names
from mnemark.memory.forgetting.needles import anchor, query_at
from mnemark.memory.forgetting.receipt import ErasedPlace, Receipt, forgotten
from mnemark.memory.forgetting.remaining import named_by, remaining_copies
from mnemark.memory.forgetting.select import Criteria, ForgetItem, Selector, append_forget
from mnemark.memory.forgetting.sweep import (
    RENAMING,
    Step,
    Sweep,
    Swept,
    Targets,
    holding,
    in_document,
    targets_of,
)
from mnemark.memory.journal import erasures
from mnemark.memory.journal.erasures import Wait
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.text.documents import format_of
from mnemark.text.words.segment import forget_words
from mnemark.types import Json

_SAME_TIME: Final = 5.0
"""Seconds between a turn and what is said to have been learned from it then."""


def erase(ws: OpenWorkspace, items: list[ForgetItem], *, query: str, dry_run: bool, git: bool) -> Receipt:
    """Erase items and their quotations; see `forgetting.forget.forget`."""
    items = [_by_line(item) for item in items]
    kept = [item for item in items if item.kind != "file" and format_of(item.path) is not None]
    if not kept:
        return _erased(ws, items, query=query, dry_run=dry_run, git=git)
    items = [item for item in items if item not in kept]
    names = sorted({layout.shown(item.path) for item in kept})
    if not items:
        raise UsageError(
            f"no part of {', '.join(names)} can be erased, as it is no text; nothing was changed. "
            "Delete the file itself, or hide the part with `mnemark forget` without --erase"
        )
    if not dry_run:
        append_forget(ws, kept, {})
    receipt = _erased(ws, items, query=query, dry_run=dry_run, git=git)
    still = dict.fromkeys([*map(in_document, sorted({item.path for item in kept})), *receipt.still])
    return msgspec.structs.replace(receipt, still=tuple(still))


def _erased(ws: OpenWorkspace, items: list[ForgetItem], *, query: str, dry_run: bool, git: bool) -> Receipt:
    if dry_run:
        return _dry_run(ws, items, query, git=git)
    editing.sweep(ws.truth)  # temporary files of crashes may hold the text
    catch_up(ws.fact_store)
    file_edits.finish(ws)
    note = _append_entry(ws, items, query)
    return _complete(ws, note, items, query, git=git)


def _by_line(item: ForgetItem) -> ForgetItem:
    """Treat a fact without an id of its own like any other line of a note."""
    return msgspec.structs.replace(item, kind="note") if item.kind == "fact" and not item.own else item


def _dry_run(ws: OpenWorkspace, items: list[ForgetItem], query: str, *, git: bool) -> Receipt:
    targets = targets_of(ws.root, items, query, ws.now())
    done = Swept([], [], [])
    for step in get_args(Step):
        Sweep(ws, targets, done, step=step, dry_run=True).run()
    named = named_by(ws.root, targets)
    renames = names.plan(ws, targets, named, done.waiting)
    names.report(renames, done)
    still = [*done.still, *remaining_copies(ws, items, targets, named, renames, explain_git=git)]
    return Receipt(
        action="erased", dry_run=True, items=forgotten(items, ws.visible), places=tuple(done.places),
        still=tuple(dict.fromkeys(still)), waiting=tuple(dict.fromkeys(one.text for one in done.waiting)),
    )  # fmt: skip


def _append_entry(ws: OpenWorkspace, items: list[ForgetItem], query: str) -> Change:
    """Append to the journal what is to be erased, without its text."""
    parts = [item for item in items if item.kind != "file"]
    return append_forget(ws, items, {
        "erase": True,
        "files": [item.path for item in items if item.kind == "file"],
        "at": anchor(parts or items, query) if query else {},
        "passing": [item.id for item in items if item.kind == "note" and item.id],
        "said": _fact_marks(ws.fact_store, items),
    })  # fmt: skip


def _fact_marks(facts: FactStore, items: list[ForgetItem]) -> list[Json]:
    """Return the marks by which learning recognises erased facts."""
    scopes = {layout.scope_of(item.path) for item in items if item.kind in {"fact", "note"}}
    ids = {item.id for item in items if item.id}
    with facts.lock:
        held = [one.fact for scope in sorted(scopes) for one in facts.held(scope)]
        wrong = facts.log.wrong_facts().values()
        known = {fact.id: fact for fact in (*held, *facts.log.records(), *wrong) if fact.id in ids}
    return [*sorted({said_mark(fact.scope, words_of_fact(fact)) for fact in known.values()})]


def _complete(
    ws: OpenWorkspace, note: Change, items: list[ForgetItem], query: str, *, git: bool = False,
    sought: list[Targets] | None = None,
) -> Receipt:  # fmt: skip
    """Erase the items of a journal entry, or continue to; what stops it is a wait, as they are hidden now.

    What was searched for is added to `sought`.
    """
    try:
        targets = targets_of(ws.root, items, query, note.time or ws.now())
        if sought is not None and items:
            sought.append(targets)
        return _carry_out(ws, note, items, targets, git=git)
    except (MnemarkError, OSError) as error:
        wait = Wait("", shortage(error) or str(error))
        erasures.keep(ws.root, note.id, [wait])
        return Receipt(id=note.id, action="erased", items=forgotten(items), waiting=(wait.text,))


def _carry_out(
    ws: OpenWorkspace, note: Change, items: list[ForgetItem], targets: Targets, *, git: bool
) -> Receipt:
    done = Swept([], [], [])
    named = named_by(ws.root, targets)
    renames = names.keep(ws, note.id, targets, named, done.waiting)
    still = remaining_copies(ws, items, targets, named, renames, explain_git=git)
    if not done.waiting:  # what is not swept yet tells the next try what to rename
        Sweep(ws, targets, done, step="copies").run()
    for part in filter(None, _with_anchor_last(note, items)):
        if not done.waiting:
            Sweep(ws, targets.only(part), done, step="items").run()
    if not done.waiting:
        names.rename(ws, renames, done)
    waiting = list(done.waiting)
    _drop_hashes(ws.root, waiting)
    ws.visible.forget_texts()
    places = [*done.places, *_rewrite_index(ws, waiting)]
    left = [Wait(path, "still holds it") for path in _files_left(ws, targets, done)]
    erasures.keep(ws.root, note.id, waiting or left)
    waiting += left
    if not waiting:
        names.drop(ws, note.id)  # all are renamed, and a crash after this finds none to rename
        _note_erased(ws, [note.id])
        if places and ws.index.exists():  # what was left of the files is hidden until they are indexed anew
            with suppress(MnemarkError, OSError):  # busy: the next search does it
                ws.searcher.sync()
    ws.searcher.fact_index.keep()
    forget_words()  # last: what is synced and read above is kept by what it is called
    layout.forget_paths()
    forget_views()
    return Receipt(
        id=note.id, action="erased", items=forgotten(items), places=_merge_places(places),
        still=tuple(dict.fromkeys([*still, *done.still])),
        waiting=tuple(dict.fromkeys(one.text for one in waiting)),
    )  # fmt: skip


def _note_erased(ws: OpenWorkspace, lines: list[Json]) -> None:
    """Note that the text which these lines hide is erased from the files here."""
    facts = ws.fact_store
    with facts.lock:
        facts.log.append(Change(kind="erased", payload={"ids": lines}, origin="owner"))


def _query_of(note: Change, items: list[ForgetItem]) -> str:
    """Return the words that an erasure was asked by, where an item still holds them."""
    at = note.fields.get("at")
    return query_at(items, at) if isinstance(at, Mapping) else ""


def _with_anchor_last(note: Change, items: list[ForgetItem]) -> tuple[list[ForgetItem], list[ForgetItem]]:
    """Separate the items that hold the query, which are erased last, from the others."""
    at = note.fields.get("at")
    if not isinstance(at, Mapping):
        return items, []
    last = [item for item in items if query_at([item], at)]
    return [item for item in items if item not in last], last


def _merge_places(places: list[ErasedPlace]) -> tuple[ErasedPlace, ...]:
    found: dict[tuple[str, str], ErasedPlace] = {}
    for place in places:
        old = found.get((place.path, place.what))
        if old is not None:
            lines = tuple(sorted({*old.lines, *place.lines}))
            place = msgspec.structs.replace(place, lines=lines, bytes=old.bytes + place.bytes)  # noqa: PLW2901
        found[place.path, place.what] = place
    return tuple(found.values())


def _drop_hashes(root: Path, waiting: list[Wait]) -> None:
    """Delete hashes of what models were shown, which a list of words reads, and what was said just now."""
    try:
        for ending in (layout.SHOWN, layout.SAID):
            for path in (private(root) / layout.HOOKS).glob(f"*{ending}"):
                platform.FS.unlink(path)
    except OSError as error:
        waiting.append(Wait(layout.HOOKS, str(error)))


def _drop_versions(ws: OpenWorkspace, merging: str) -> None:
    """Delete earlier versions of files in `.mnemark`, but of this merge: what they hold cannot be told."""
    own = private(ws.root)
    editing.drop_displaced(ws.truth)
    for folder in (own / "merges").glob("*"):
        if folder.name != merging:
            shutil.rmtree(folder, ignore_errors=True)
    for file in (own / "bases").glob("*.txt"):
        platform.FS.unlink(file)


def _rewrite_index(ws: OpenWorkspace, waiting: list[Wait]) -> list[ErasedPlace]:
    """Update index and vectors to the state of the files, and rewrite them without erased bytes."""
    if ws.index.readonly or not ws.index.exists():
        return []
    try:
        try:
            size, embedded = _scrubbed(ws)
        except IntegrityError:  # it was discarded, and a sync makes it anew
            size, embedded = _scrubbed(ws)
    except (MnemarkError, OSError) as error:  # in use or locked: left to the next try
        waiting.append(Wait(f"{layout.PRIVATE}/index.db", str(error)))
        return []
    places = [ErasedPlace(path=f"{layout.PRIVATE}/index.db", what="index", bytes=size)]
    vectors = [ErasedPlace(path=f"{layout.PRIVATE}/vectors", what="vectors")] if embedded else []
    return [*places, *vectors]


def _scrubbed(ws: OpenWorkspace) -> tuple[int, bool]:
    ws.searcher.sync()
    ws.searcher.reader.drop_cache()
    with sync_lock(ws.index.home, timeout=LOCK_SECONDS):
        for cut_off in private(ws.index.home).glob("index.db.new*"):
            platform.FS.unlink(cut_off)
    states.drop(ws.index.home)
    return ws.searcher.embeddings.scrub(ws.index, wait=LOCK_SECONDS)


def _files_left(ws: OpenWorkspace, targets: Targets, done: Swept) -> list[str]:
    """Return the files that still hold the text, but in the name of a file, and are not reported yet."""
    words = targets.words.turns
    if not words:
        return []
    known = {text.partition(":")[0] for text in (*done.still, *(one.text for one in done.waiting))}
    mounts = tuple(
        f"{layout.PRIVATE}/mounts/{name}/" for name in ws.searcher.mounts.folders
    )  # `still` has them
    found = (path for path in holding(ws.root, words) if not path.startswith(mounts))
    renaming = f"{layout.PRIVATE}/{RENAMING}"  # goes with the last file that is renamed
    left = [path for path in found if layout.shown(path) not in known and path != renaming]
    # Short texts can occur by chance in ids and times, and in other programs' files.
    short = min(map(len, words.forms)) < 8
    left = [path for path in left if not (short and path.endswith((".jsonl", ".db", ".md")))]
    if not left:
        return []
    named = named_by(ws.root, targets)
    ids = [id_ for path in named.files if path.endswith(".jsonl") if (id_ := session_id(ws.root / path))]
    titles = [Path(name).stem for name in (*named.files, *ids)]  # of notes without one
    held = [*named.files, *ids, *titles, *named.folders]
    return [path for path in left if not _holds_names_only(ws.root / path, held, words)]


def _holds_names_only(path: Path, names: list[str], words: BytePatterns) -> bool:
    try:
        data = platform.content(path)
    except OSError:
        return False
    for name in sorted(names, key=len, reverse=True):
        data = data.replace(name.encode("utf-8", "surrogateescape"), b"")
    return bool(names) and not words.found_in(data)


def sweep_copies(ws: OpenWorkspace, sought: Iterable[Targets], paths: Collection[str]) -> None:
    """Delete quotations of texts that were erased elsewhere from these files, and from `.mnemark`.

    In other files the same words may have been written again since.
    """
    done = Swept([], [], [])
    for targets in sought:
        Sweep(ws, targets, done, step="copies", among=frozenset(paths)).run()
    if any(not place.path.startswith(f"{layout.PRIVATE}/") for place in done.places):
        ws.visible.forget_texts()
        _rewrite_index(ws, done.waiting)


def holding_again(ws: OpenWorkspace, sought: Iterable[Targets]) -> list[str]:
    """Return the files of a workspace, but for its `.mnemark`, that quote texts which were erased."""
    done = Swept([], [], [])
    for targets in sought:
        Sweep(ws, targets, done, step="copies", dry_run=True).run()
    paths = (place.path for place in done.places if not place.path.startswith(f"{layout.PRIVATE}/"))
    return sorted(set(paths))


def finish(
    ws: OpenWorkspace, *, at_once: bool = False, merging: str = "", sought: list[Targets] | None = None
) -> list[Receipt]:
    """Complete erasures that were interrupted, or that met a busy or inaccessible file.

    Those that wait for inaccessible files in an unchanged state are skipped, unless `at_once`. Failures are
    stored for `still_waiting`, and not raised. `merging` is the id of a merge under way. What was searched
    for is added to `sought`.
    """
    if ws.readonly:
        return []
    receipts = []
    known = erasures.load(ws.root)
    absent: list[Json] = []
    for note in ws.visible.hidden.unfinished():
        if not at_once and erasures.is_blocked(ws.root, known.get(note.id, ())):
            continue
        try:
            items = _items_of(ws, note.fields)
            if not items and ws.visible.hidden.is_done_elsewhere(note.id):
                absent.append(note.id)
                continue
            editing.sweep(ws.truth)
        except (MnemarkError, OSError) as error:  # for the next time
            erasures.keep(ws.root, note.id, [Wait("", str(error))])
            continue
        receipts.append(_complete(ws, note, items, _query_of(note, items), sought=sought))
    if absent:  # another machine erased it, and what was here of it is gone with the files that came
        _drop_versions(ws, merging)
        _note_erased(ws, absent)
    return receipts


def _items_of(ws: OpenWorkspace, payload: Mapping[str, Any]) -> list[ForgetItem]:
    finder = Selector(ws, Criteria())
    found = []
    for path, ids in by_path(payload.get("turns")):
        with suppress(OSError, UsageError):  # deleted, a link out, or unreadable: then the sweep waits for it
            found += [item for item in finder.log(path) if item.id in ids]
    facts = frozenset([*strings(payload.get("ids")), *strings(payload.get("passing"))])
    found += finder.facts_of(facts) if facts else []
    for path, runs in runs_by_path(payload.get("lines")):
        with suppress(UsageError, OSError):
            if layout.safe_path(ws.root, path).is_file():
                found += finder.marked(path, runs, whole=path in strings(payload.get("files")))
    return [_by_line(item) for item in found]


def again(ws: OpenWorkspace, originals: Mapping[str, str]) -> list[Receipt]:
    """Erase once more what came back in files, as by a program for syncing, or a copy that it left.

    Args:
        ws: the workspace.
        originals: the paths of the files, each with the path that it is a version of.
    """
    hidden = ws.visible.hidden.current()
    if not (hidden.turns or hidden.facts):
        return []
    finder = Selector(ws, Criteria())
    back, causes = _came_back(ws, finder, originals, hidden)
    if not back and all(path == original for path, original in originals.items()):
        return []
    receipts = []
    unfinished = {note.id for note in ws.visible.hidden.unfinished()}  # `finish` has their words
    for note in changes_of(ws.root, ("forget",)):
        if not note.fields.get("erase") or note.id in unfinished:
            continue
        named = {*strings(note.fields.get("ids")), *strings(note.fields.get("passing"))}
        named.update(one for _, ids in by_path(note.fields.get("turns")) for one in ids)
        items = [item for item in back.values() if item.id in named or causes.get(item.id) in named]
        if items := [*items, *_lines_in(finder, note, originals)]:
            receipts.append(_complete(ws, note, list(map(_by_line, items)), _query_of(note, items)))
    return receipts


def _came_back(
    ws: OpenWorkspace, finder: Selector, originals: Mapping[str, str], hidden: Tombstones
) -> tuple[dict[str, ForgetItem], dict[str, str]]:
    """Return the hidden turns and facts in files, and facts of erased turns with the turns' ids."""
    back: dict[str, ForgetItem] = {}
    causes: dict[str, str] = {}
    erased_turns = cache(partial(_erased_turns, ws.root))
    for path, original in originals.items():
        back |= {item.id: item for item in _turns_in(finder, path, original) if item.id in hidden.turns}
        for item, fact in _facts_in(finder, path, original):
            if fact.id in hidden.facts:
                back[item.id] = item
            elif turn := _erased_source(fact, erased_turns):
                back[item.id], causes[item.id] = item, turn
    return back, causes


def _erased_turns(root: Path, log: str) -> Mapping[int, str]:
    """Return the ids of the erased turns of a log by their lines."""
    if not layout.is_inside(log) or not (root / log).is_file():
        return {}
    found = ((line.number, jsonl.decode(line.data)) for line in jsonl.read(root / log))
    return {number: str(record["id"]) for number, record in found if record and "erased" in record}


def _erased_source(fact: Fact, erased_turns: Callable[[str], Mapping[int, str]]) -> str:
    """Return the erased turn that a fact was learned from; empty if that is not sure.

    Another machine may have learned it before it heard of the erasure. Lines of a log move where two machines
    wrote it, so that the time has to fit, too.
    """
    turns = [
        erased_turns(path).get(first, "") if first == last else ""
        for path, first, last in map(split_ref, refs_in(fact.source))
    ]
    said = when(fact.since, UTC)
    if said is None or not turns or not all(map(is_id, turns)):
        return ""
    return turns[0] if abs((time_of(turns[0]) - said).total_seconds()) < _SAME_TIME else ""


def _turns_in(finder: Selector, path: str, original: str) -> list[ForgetItem]:
    place = layout.place(original)
    with suppress(OSError, UsageError):
        if place is not None and place.kind == "turn":
            return finder.log(path)
    return []


def _facts_in(finder: Selector, path: str, original: str) -> list[tuple[ForgetItem, Fact]]:
    place = layout.place(original)
    with suppress(OSError, UsageError):
        if place is not None and (place.kind == "fact" or place.role == "review"):
            return finder.facts_in(path)
    return []


def _lines_in(finder: Selector, note: Change, originals: Mapping[str, str]) -> list[ForgetItem]:
    """Return the lines that a note hides, in copies: elsewhere the same words may have been written again."""
    runs = dict(runs_by_path(note.fields.get("lines")))
    return [
        item
        for path, original in originals.items()
        if path != original and original in runs
        for item in finder.marked(path, runs[original], whole=False)
    ]
