"""List the remaining copies of erased words that are out of reach: git, other machines, archives, sources."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from mnemark.errors import MnemarkError
from mnemark.facts.model import refs_in
from mnemark.files import git, layout, listing, platform
from mnemark.files.episodes import FOLDER as EPISODES
from mnemark.files.episodes import slug_of
from mnemark.files.journal import FOLDER, Journal, changes_of
from mnemark.files.layout import in_scope
from mnemark.files.names import split_ref
from mnemark.index.check import knows_below
from mnemark.index.store import NAME
from mnemark.memory.forgetting.select import Item
from mnemark.memory.forgetting.sweep import Targets
from mnemark.memory.open_workspace import OpenWorkspace

_REWRITE: Final = (
    "mnemark does not change git history. To rewrite it, write the erased words to words.txt, one per line, "
    "outside of the repository, run `git -C {root} filter-repo --replace-text words.txt`, force-push, and "
    "have all clones made anew"
)
_ARCHIVES: Final = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst", ".7z", ".bak")
_LARGEST: Final = 1 << 29
"""Bytes of an index that is looked through."""
_SHOWN: Final = 5
_DATE: Final = len("2026-02-13-")
_SHORT: Final = 4


def remaining_copies(
    ws: OpenWorkspace, items: Sequence[Item], targets: Targets, *, explain_git: bool
) -> list[str]:
    """Return, for people, what may still hold the words after they are erased here."""
    return [
        *_git(ws, targets, explain_git=explain_git), *_around(ws, targets), *_other_machines(ws),
        *_archives(ws), *_imports(ws, items), *_sources(ws, items), *_names(ws, targets),
    ]  # fmt: skip


def _around(ws: OpenWorkspace, targets: Targets) -> Iterator[str]:
    """Name the indexes of workspaces around this one, and of folders those mount.

    An index made before such a folder was left out, or was a workspace, holds what stood here.
    """
    root = ws.root.resolve()
    for outer in filter(layout.is_workspace, root.parents):
        mounts = f"{layout.PRIVATE}/mounts"
        homes = ["", *(f"{mounts}/{name}/" for name in listing.names(outer, mounts))]
        for index in (f"{home}{layout.PRIVATE}/{NAME}" for home in homes):
            name = layout.shown(str(outer / index))
            if index == f"{layout.PRIVATE}/{NAME}" and knows_below(outer, root.relative_to(outer).as_posix()):
                yield f"{name}: the index of the outer workspace; run `mnemark sync -w {outer}`"
            elif _holds(outer / index, targets):
                yield f"{name}: an index of this folder; delete it, and it is rebuilt"


def _holds(index: Path, targets: Targets) -> bool:
    """Return whether an index may hold the words; one that cannot be read may."""
    for path in (index, index.with_name(f"{index.name}-wal")):
        try:
            if path.lstat().st_size > _LARGEST or targets.words.notes.found_in(platform.content(path)):
                return True
        except FileNotFoundError:
            continue
        except OSError:
            return True
    return False


def _git(ws: OpenWorkspace, targets: Targets, *, explain_git: bool) -> Iterator[str]:
    try:
        found = git.history(ws.root, targets.words.notes)
    except MnemarkError as error:
        yield f"git: its history could not be searched ({error})"
        return
    if found is None:
        return
    if found.objects is None:
        yield f"git: the history of {found.root.name}/ was not searched (too large, or git is missing)"
    elif found.objects:
        fix = _REWRITE.format(root=found.root) if explain_git else "--git shows how to remove them"
        yield f"git: {found.objects} versions in the history contain it; {fix}"
    if found.remotes and found.objects != 0:
        yield f"git remotes ({', '.join(found.remotes)}): what was pushed is still there"


def _other_machines(ws: OpenWorkspace) -> Iterator[str]:
    own = Journal(ws.root).file
    names = listing.names(ws.root, FOLDER, ".jsonl")
    others = [name.removesuffix(".jsonl") for name in names if name != own]
    if others:
        yield f"other machines ({', '.join(others)}): their copies, until they sync"
    if any((folder / ".stfolder").exists() for folder in (ws.root, *ws.root.parents)):
        yield "Syncthing: the other devices that share this folder, until they sync"


def _archives(ws: OpenWorkspace) -> Iterator[str]:
    found = [path for path in listing.walk(ws.root).files if path.lower().endswith(_ARCHIVES)]
    if found:
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        yield f"archives that were not opened: {', '.join(map(layout.shown, found[:_SHOWN]))}{more}"


def _names(ws: OpenWorkspace, targets: Targets) -> Iterator[str]:
    """Name episodes called by erased words: a name is not changed, as links lead to it."""
    slugs = {slug_of(text) for text in targets.words.notes.texts}
    for scope in ws.scopes():
        folder = in_scope(scope, EPISODES)
        for file in listing.names(ws.root, folder, ".md"):
            name = file.removesuffix(".md")[_DATE:]
            if len(name) > _SHORT and any(slug.startswith(name) for slug in slugs):
                yield f"{layout.shown(f'{folder}/{file}')}: its name; rename it by hand"


def _imports(ws: OpenWorkspace, items: Sequence[Item]) -> Iterator[str]:
    paths = {item.path for item in items}
    names = set()
    for change in changes_of(ws.root, ("import",)):
        payload = change.payload if isinstance(change.payload, dict) else {}
        if paths & set(payload.get("files") or ()):
            names.add(str(payload.get("source", "")))
    for name in sorted(filter(None, names)):
        yield f"the source it was imported from: {layout.shown(name)}"


def _sources(ws: OpenWorkspace, items: Sequence[Item]) -> Iterator[str]:
    gone = {(item.path, item.start_line) for item in items if item.kind == "turn"}
    facts = ws.fact_store
    with facts.lock:
        facts.log.refresh()
        records = [facts.log.records[item.id] for item in items if item.id in facts.log.records]
    for ref in sorted({ref for fact in records for ref in refs_in(fact.source)}):
        path, first, _ = split_ref(ref)
        if (path, first) not in gone and platform.is_readable(ws.root / path):
            yield f"{layout.shown(ref)}: a fact was learned from it; forget that too if you want"
