"""Name what still holds erased words and is out of reach: git, other machines, archives, sources."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from mnemark.errors import MnemarkError
from mnemark.files import git, layout, listing, platform
from mnemark.files.episodes import FOLDER as EPISODES
from mnemark.files.episodes import slug_of
from mnemark.files.journal import FOLDER, Journal, changes_of
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
    """What may still hold the words after they are erased here, as far as can be known; for people."""
    found = [*_around(ws, targets), *_other_machines(ws), *_archives(ws)]
    found += [*_imports(ws, items), *_sources(ws, items)]
    return [*_git(ws, targets, explain_git=explain_git), *found, *_names(ws, targets)]


def _around(ws: OpenWorkspace, targets: Targets) -> Iterator[str]:
    """Indexes of workspaces that this one lies in, and of folders that those read along as mounts.

    One that was made before such a folder was left out, or was a workspace, holds what stood here.
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
    """Whether the words stand in an index, as far as can be seen: one that cannot be read may hold them."""
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
        held = f"git: {found.objects} versions in the history contain it"
        yield (
            f"{held}; {_REWRITE.format(root=found.root)}"
            if explain_git
            else f"{held}; --git shows how to remove them"
        )
    if found.remotes and found.objects != 0:
        yield f"git remotes ({', '.join(found.remotes)}): what was pushed is still there"


def _other_machines(ws: OpenWorkspace) -> Iterator[str]:
    own = Journal(ws.root).file
    names = listing.names(ws.root, FOLDER, ".jsonl")
    others = [name.removesuffix(".jsonl") for name in names if name != own]
    if others:
        yield f"other machines ({', '.join(others)}): their copies, until they sync"
    for parent in (ws.root, *ws.root.parents):
        if (parent / ".stfolder").exists():
            yield "Syncthing: the other devices that share this folder, until they sync"
            return


def _archives(ws: OpenWorkspace) -> Iterator[str]:
    found = [path for path in listing.walk(ws.root).files if path.lower().endswith(_ARCHIVES)]
    if found:
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        yield f"archives that were not opened: {', '.join(map(layout.shown, found[:_SHOWN]))}{more}"


def _names(ws: OpenWorkspace, targets: Targets) -> Iterator[str]:
    """Episodes that are called by what goes: a name is not changed, as links lead to it."""
    slugs = {slug_of(text) for text in targets.words.notes.texts}
    for scope in ws.scopes():
        folder = f"{scope}/{EPISODES}" if scope else EPISODES
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
    """Turns that facts were learned from and that stay."""
    gone = {(item.path, item.start_line) for item in items if item.kind == "turn"}
    facts = ws.fact_store
    with facts.lock:
        facts.log.refresh()
        records = [facts.log.records[item.id] for item in items if item.id in facts.log.records]
    refs: Counter[str] = Counter()
    for fact in records:
        for ref in filter(None, map(str.strip, fact.source.split(","))):
            path, first, _ = split_ref(ref)
            if (path, first) not in gone and platform.is_readable(ws.root / path):
                refs[ref] += 1
    for ref in sorted(refs):
        yield f"{layout.shown(ref)}: a fact was learned from it; forget that too if you want"
