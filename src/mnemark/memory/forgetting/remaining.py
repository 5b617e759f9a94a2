"""List the remaining copies of erased words that are out of reach: git, other machines, archives, sources."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from shlex import quote
from typing import Final, NamedTuple

from mnemark.errors import MnemarkError
from mnemark.facts.model import refs_in
from mnemark.files import attachments, git, layout, listing, platform
from mnemark.files.episodes import FOLDER as EPISODES
from mnemark.files.episodes import slug_of
from mnemark.files.journal import FOLDER, changes_of
from mnemark.files.mounts import home_of
from mnemark.files.names import split_ref
from mnemark.files.private import private
from mnemark.index.check import knows_below
from mnemark.index.store import NAME
from mnemark.memory.forgetting.needles import weight
from mnemark.memory.forgetting.select import ForgetItem
from mnemark.memory.forgetting.sweep import Targets
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import in_form

_REWRITE: Final = (
    "mnemark does not change git history. To rewrite it, install git-filter-repo, write the erased words to "
    "~/words.txt, one per line, and run `git -C {root} add -A && git -C {root} commit -qm Erase; "
    "git -C {root} filter-repo --force --replace-text ~/words.txt --replace-message ~/words.txt`; "
    "have all clones made anew"
)
_PUSH: Final = (
    "; keep its address before (`URL=$(git -C {root} remote get-url {name})`), as that drops the remote, and "
    'afterwards run `git -C {root} remote add {name} "$URL"; git -C {root} push --force --all {name}; '
    "git -C {root} push --force --tags {name}`"
)
_SESSION: Final = (
    "it is the session's id, which the agent gave; delete the file once the session is over, if you want"
)
_ARCHIVES: Final = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst", ".7z", ".bak")
_LARGEST: Final = 1 << 29
"""Bytes of an index that is looked through."""
_SHOWN: Final = 5
_DATE: Final = len("2026-02-13-")
_SHORT: Final = 3
_LONGEST_NAME: Final = 80
"""Letters of words that are looked for in names; longer ones are sentences."""
_LETTERS: Final = lazy_pattern(r"[^\W_]+")


def remaining_copies(
    ws: OpenWorkspace,
    items: Sequence[ForgetItem],
    targets: Targets,
    named: "Named",
    renames: Mapping[str, str],
    *,
    explain_git: bool,
) -> list[str]:
    """Return, for people, what may still hold the words after they are erased and files are renamed here."""
    return [
        *_git(ws, targets, renames, explain_git=explain_git), *_around(ws, targets), *_mounts(ws, targets),
        *_other_machines(ws), *_archives(ws), *_backups(ws), *_imports(ws, items), *_sources(ws, items),
        *_names(named, renames), *ws.truth.still,
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


def _mounts(ws: OpenWorkspace, targets: Targets) -> Iterator[str]:
    """Name the mounts whose indexes hold the words: what lies there is another's, and not changed."""
    for name, mounted in ws.searcher.mounts.folders.items():
        if _holds(private(home_of(ws.root, name)) / NAME, targets):
            folder = layout.shown(str(mounted.folder))
            yield f"@{name}: files in {folder}; delete it there, and run `mnemark sync`"


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


def _git(
    ws: OpenWorkspace, targets: Targets, renames: Mapping[str, str], *, explain_git: bool
) -> Iterator[str]:
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
        fix = (
            _REWRITE.format(root=quote(str(found.root))) if explain_git else "--git shows how to remove them"
        )
        yield f"git: {found.objects} versions in the history contain it; {fix}"
    if renames:
        fix = _renaming(ws, found.root, renames) if explain_git else "--git shows how to remove them"
        yield f"git: the history knows {len(renames)} files by names that hold it; {fix}"
    if found.remotes and (found.objects != 0 or renames):
        root = quote(str(found.root))
        how = [_PUSH.format(root=root, name=quote(name)) for name in found.remotes if explain_git]
        yield f"git remotes ({', '.join(found.remotes)}): what was pushed is still there{''.join(how)}"


def _renaming(ws: OpenWorkspace, root: Path, renames: Mapping[str, str]) -> str:
    inner = ws.root.resolve().relative_to(root.resolve()).as_posix()
    pairs = (
        (f"{inner}/{old}", f"{inner}/{new}") if inner != "." else (old, new) for old, new in renames.items()
    )
    options = " ".join(f"--path-rename {quote(f'{old}:{new}')}" for old, new in pairs)
    return f"run `git -C {quote(str(root))} filter-repo --force {options}`"


def _other_machines(ws: OpenWorkspace) -> Iterator[str]:
    own = ws.journal.file
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


def _backups(ws: OpenWorkspace) -> Iterator[str]:
    """Name the archives that `mnemark backup` made beside the workspace, as it does by default."""
    root = ws.root.resolve()
    name = re.compile(re.escape(root.name) + r"-\d{4}-\d{2}-\d{2}(-older-\d+)?\.zip")
    try:
        found = sorted(path for path in root.parent.iterdir() if name.fullmatch(path.name))
    except OSError:
        return
    for path in found:
        yield f"{layout.shown(str(path))}: a backup; delete it, and make another with `mnemark backup`"


class Named(NamedTuple):
    """Relative paths of what is called by erased words."""

    files: list[str]
    folders: list[str]
    """Such as those of projects."""


def named_by(root: Path, targets: Targets) -> Named:
    """Return the files and folders whose names hold erased words, however these are written."""
    words = {_plain(text) for text in targets.words.notes.texts} - {""}
    # What a longer name holds by no chance: two Chinese characters may be a name.
    telling = [word for word in words if weight(word) > _SHORT and len(word) <= _LONGEST_NAME]
    slugs = {in_form("NFC", slug_of(text)) for text in targets.words.notes.texts}
    files = [path for path in listing.walk(root).files if not path.startswith(f"{layout.PRIVATE}/")]
    folders = {parent.as_posix() for path in files for parent in PurePosixPath(path).parents}

    def is_named(path: str) -> bool:
        folder, _, file = path.rpartition("/")
        stem = in_form("NFC", file.rpartition(".")[0])
        plain = _plain(stem)
        title = stem[_DATE:] if folder.endswith(EPISODES) else ""
        if len(title) > _SHORT and any(slug.startswith(title) for slug in slugs):
            return True
        if folder.endswith((EPISODES, attachments.FOLDER)):  # a word of our own names may be short, too
            about = any(f"-{word}-" in f"-{plain}-" for word in words)
        else:
            about = folder.endswith(layout.FACTS) and plain in words  # however short: "bob"
        return about or any(word in plain for word in telling)

    called = [one for one in folders if any(word in _plain(PurePosixPath(one).name) for word in telling)]
    return Named(list(filter(is_named, files)), sorted(called))


def _plain(text: str) -> str:
    return "-".join(_LETTERS.findall(in_form("NFC", text.casefold())))


def _names(named: Named, renames: Mapping[str, str]) -> Iterator[str]:
    """Name a person's files and folders, and sessions, that are called by erased words."""
    for path in named.folders:
        yield f"{layout.shown(path)}/: its name; rename it by hand, then run `mnemark sync`"
    for path in named.files:
        if path not in renames:
            place = layout.place(path)
            session = place is not None and place.role == "session"
            fix = _SESSION if session else "rename it by hand, then run `mnemark sync`"
            yield f"{layout.shown(path)}: its name; {fix}"


def _imports(ws: OpenWorkspace, items: Sequence[ForgetItem]) -> Iterator[str]:
    paths = {item.path for item in items}
    names = set()
    for change in changes_of(ws.root, ("import",)):
        files = change.fields.get("files")
        if isinstance(files, Mapping) and not paths.isdisjoint(files):
            names.add(str(change.fields.get("source", "")))
    for name in sorted(filter(None, names)):
        yield f"the source it was imported from: {layout.shown(name)}"


def _sources(ws: OpenWorkspace, items: Sequence[ForgetItem]) -> Iterator[str]:
    gone = {(item.path, number) for item in items if item.start_line for number in item.lines}
    facts = ws.fact_store
    with facts.lock:
        facts.log.refresh()
        records = [fact for item in items if (fact := facts.log.of(item.id).record) is not None]
    for ref in sorted({ref for fact in records for ref in refs_in(fact.source)}):
        path, first, _ = split_ref(ref)
        if (path, first) not in gone and platform.is_readable(ws.root / path):
            yield f"{layout.shown(ref)}: a fact was learned from it; forget that too if you want"
