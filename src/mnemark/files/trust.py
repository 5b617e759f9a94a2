"""Tell which folders the user of this machine trusts, by what stands outside of them.

What lies in a folder can be copied, cloned or sent, so nothing in it says that its user trusts it. A
workspace that is made here gets an entry in the user's state folder, a file for each folder. The entry names
a random mark, which the folder's `.mnemark` holds as well: a copy at another place has no entry, and what
comes to lie at the same place has no mark. Beside these count the folders that the user lists as `trusted` in
the own configuration, with all below them.

A `.mnemark` that was not made here is neither read nor changed until the user trusts the folder: its index
would decide what is found, and its notes what is written. Until then ours lies in it, under a name that
nobody could know before.
"""

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from mnemark.errors import MnemarkError
from mnemark.files import layout, platform, user_config
from mnemark.files.disk_errors import translate_os_errors
from mnemark.hashes import blake2b
from mnemark.types import Origin

FOLDER: Final = "folders"
"""Folder of the entries in the user's state folder."""
_MADE: Final = "made-"
"""Begins the name of the empty file in a `.mnemark` that was made here; the mark of the entry ends it."""
_BESIDE: Final = "beside-"
"""Begins the name of the folder in a `.mnemark` of others that holds ours."""
_ATTRIBUTE: Final = "user.mnemark.made"
"""Extended attribute of the folder with the mark, where there are any: a person may delete `.mnemark`."""
_LOCK: Final = "lock"
_KEPT_SECONDS: Final = 365 * 86_400.0


class _Entry(msgspec.Struct, frozen=True):
    folder: str
    """The real path."""
    mark: str
    trusted: bool | None = None
    """None: nobody was asked."""
    machine: str = ""
    """Name of its journal, where it is not that of the machine."""


class Standing(NamedTuple):
    """What this machine knows of a folder."""

    trusted: bool
    ours: bool
    """Whether its `.mnemark` was made here, or there is none."""
    asked: bool = True
    """Whether the user has answered."""
    mark: str = ""
    """Of the entry; empty where there is none."""
    machine: str = ""
    """Name of its journal; empty where it is that of the machine."""
    settings: bool = True
    """Whether those of its settings hold that start, send, open or slow something."""


_known: dict[str, Standing] = {}
"""What was found, by folder: it holds for as long as a process has the folder open."""
_hosted: set[str] = set()
"""Folders of which this process says what is known."""


def standing(root: str | Path) -> Standing:
    """Return what is known of a folder, as this process first found it; see `look_again`."""
    key = os.fspath(root)
    return _known[key] if key in _known else look_again(root)


def is_trusted(root: str | Path) -> bool:
    """Tell whether the user trusts a folder: its settings, its `.mnemark`, and who spoke in it."""
    return standing(root).trusted


def heard_as(root: str | Path, origin: Origin) -> Origin:
    """Return the origin of what a file of a folder says: where nobody trusts it, no owner or agent speaks."""
    return "file" if origin in {"owner", "agent"} and not is_trusted(root) else origin


def look_again(root: str | Path) -> Standing:
    """Return what is known of a folder now."""
    for scope in [one for one in _known if one.startswith(f"{os.fspath(root)}{os.sep}")]:
        del _known[scope]
    found = _known[os.fspath(root)] = now(root)
    return found


def now(root: str | Path) -> Standing:
    """Return what is known of a folder now; what this process goes by stays as it is."""
    if os.fspath(root) in _hosted:
        return Standing(trusted=True, ours=True, settings=False)
    real = os.path.realpath(root)
    # Before the entry is read: another process may be making it, and notes the folder before it fills it.
    used = _is_used(real)
    entry = _read(real)
    ours = _is_ours(real, entry)
    if entry is not None and ours is not None and entry.trusted is not None:
        return Standing(entry.trusted, ours, mark=entry.mark, machine=entry.machine)
    if _is_listed(real) or _is_in_trusted(real):
        return Standing(trusted=True, ours=True)
    if entry is not None and ours is not None:
        return Standing(trusted=False, ours=ours, asked=False, mark=entry.mark, machine=entry.machine)
    return Standing(trusted=False, ours=not used, asked=False, machine=_machine_of_copy(real))


def machine_name(root: Path) -> str:
    """Return the name under which a folder's journal is written: of this machine, or of a copy on it.

    Two copies on one machine are told apart by it as if they lay on two.
    """
    return standing(root).machine or platform.machine_name()


def home(root: Path) -> Path:
    """Return the folder whose `.mnemark` is used for a workspace: the workspace, or one in its `.mnemark`."""
    if standing(root).ours:
        return root
    note(root)
    return root / layout.PRIVATE / _beside(standing(root).mark)


def trust(root: Path) -> None:
    """Note that the user trusts a folder, which was made here or for which a person said yes.

    Raises:
        MnemarkError: the user's state folder cannot be written.
    """
    _write(root, trusted=True)


def refuse(root: Path) -> None:
    """Note that the user does not trust a folder, so that nobody is asked again; raises as `trust`."""
    _write(root, trusted=False)


def trust_new(root: Path, *, made: bool = True) -> None:
    """Trust a folder; where nothing can be noted, this process alone does.

    `made`: this process makes it, so that it is no copy of another.
    """
    if made:
        _known[os.fspath(root)] = standing(root)._replace(machine="")
    try:
        trust(root)
    except MnemarkError:
        _known[os.fspath(root)] = Standing(trusted=True, ours=True, machine=standing(root).machine)


def host(root: Path) -> None:
    """Note, for this process alone, a folder that it makes from what it keeps elsewhere for somebody else.

    Who spoke in it is known, but nobody on this machine chose its settings.
    """
    _hosted.add(os.fspath(root))
    _known.pop(os.fspath(root), None)


def note(root: Path) -> None:
    """Note a folder in whose `.mnemark` this process is about to write; this alone trusts nothing."""
    found = standing(root)
    if found.mark or (found.trusted and found.ours):
        return
    try:
        _write(root)
    except MnemarkError:  # for this process alone; the next one takes what it makes for that of others
        _known[os.fspath(root)] = found._replace(mark=os.urandom(16).hex())


def mark_in(root: Path) -> str:
    """Return the name of the file that says that a new `.mnemark` was made here; empty without an entry."""
    mark = standing(root).mark
    return f"{_MADE}{mark}" if mark else ""


def entry_of(root: Path) -> Path:
    """Return the file in the user's state folder that says what is known of a folder; it need not exist."""
    return _place(os.path.realpath(root))


def _name(real: str) -> str:
    return blake2b(os.fsencode(os.path.normcase(real)), digest_size=16).hexdigest()


def _place(real: str) -> Path:
    return platform.state_folder() / FOLDER / f"{_name(real)}.json"


def _read(real: str) -> _Entry | None:
    entry = _decoded(_place(real))
    return entry if entry is not None and entry.folder == layout.shown(real) else None


def _decoded(path: Path) -> _Entry | None:
    try:
        with platform.opened(path) as file:
            if not platform.is_private(os.fstat(file.fileno())):  # anybody may have written it
                return None
            return msgspec.json.decode(file.read(), type=_Entry)
    except (OSError, ValueError):  # none, or none that this version wrote: as if nobody had said anything
        return None


def _is_ours(real: str, entry: _Entry | None) -> bool | None:
    """Tell whether the `.mnemark` of a folder was made here; None where the entry is of an earlier folder."""
    if entry is None:
        return None
    own = f"{real}/{layout.PRIVATE}"
    if os.path.lexists(f"{own}/{_MADE}{entry.mark}"):
        return True
    is_same = _is_marked(real, entry.mark)
    if is_same and not _is_used(real):
        return True
    is_beside = os.path.lexists(f"{own}/{_beside(entry.mark)}")
    return False if is_beside or (is_same and not entry.trusted) else None


def _machine_of_copy(real: str) -> str:
    """Return a name for a memory that was not made at this place; empty where there is none yet."""
    is_memory = layout.is_workspace(Path(real)) or os.path.lexists(f"{real}/journal") or _is_used(real)
    return f"{platform.machine_name()}-{_name(real)[:6]}" if is_memory else ""


def _beside(mark: str) -> str:
    """Return the name of our folder in a `.mnemark` of others, who see it and must not learn the mark."""
    return f"{_BESIDE}{blake2b(mark.encode(), digest_size=8).hexdigest()}"


def _is_used(real: str) -> bool:
    """Tell whether a folder has a `.mnemark` with anything in it but its `.gitignore`."""
    try:
        with os.scandir(f"{real}/{layout.PRIVATE}") as entries:
            return any(entry.name != ".gitignore" for entry in entries)
    except FileNotFoundError:
        return False
    except OSError:  # a link, a file, or closed to us
        return True


def _is_marked(real: str, mark: str) -> bool:
    """Tell whether a folder itself has the mark; another one at its place has not, even if its number is."""
    if not hasattr(os, "getxattr"):
        return False
    try:
        return os.getxattr(real, _ATTRIBUTE) == mark.encode()
    except OSError:  # none, or a file system without
        return False


def _put_mark(root: Path, mark: str) -> None:
    """Mark a folder itself, or where that is not possible, its `.mnemark`."""
    own = root / layout.PRIVATE
    try:
        os.setxattr(root, _ATTRIBUTE, mark.encode())
    except (AttributeError, OSError):
        with suppress(OSError):
            if _is_used(os.fspath(root)):
                platform.make_folder(own / _beside(mark))
            else:
                platform.make_folder(own)
                _touch(own / f"{_MADE}{mark}")


def _is_listed(real: str) -> bool:
    """Tell whether the user's own configuration trusts a folder or one around it."""
    listed = (os.path.realpath(Path(one).expanduser()) for one in user_config.load().trusted)
    return any(Path(real).is_relative_to(one) for one in listed)


def _is_in_trusted(real: str) -> bool:
    """Tell whether a folder is a scope (`users/ann`) of a workspace that is trusted, and none of its own."""
    kind, _ = os.path.split(real)
    root, name = os.path.split(kind)
    is_scope = name.casefold() in layout.SCOPES and not layout.is_workspace(real)
    is_scope = is_scope and not os.path.lexists(f"{real}/.git")  # which others may write to
    return is_scope and root != real and now(root).trusted


def _write(root: Path, *, trusted: bool | None = None) -> None:
    real = os.path.realpath(root)
    place = _place(real)
    with translate_os_errors(place):
        platform.private_folder(platform.state_folder())
        platform.private_folder(place.parent)
        with platform.locked(place.parent / _LOCK, os.O_RDWR | os.O_CREAT, timeout=5.0):
            entry = _read(real)
            if entry is None or _is_ours(real, entry) is None:
                # As this process found it: it may have written the first lines since.
                machine = standing(root).machine
                entry = _Entry(layout.shown(real), os.urandom(16).hex(), machine=machine)
            answer = entry.trusted if trusted is None else trusted
            platform.write_private(place, msgspec.json.encode(msgspec.structs.replace(entry, trusted=answer)))
            if trusted and _is_used(real):
                _take_over(root, entry)
            elif _is_ours(real, entry) is None:
                _put_mark(root, entry.mark)
            _prune(place.parent)
    look_again(root)


def _prune(folder: Path) -> None:
    """Remove the entries of folders that are gone, after a year: a drive may come back."""
    with os.scandir(folder) as entries:
        old = [entry for entry in entries if time.time() - entry.stat().st_mtime > _KEPT_SECONDS]
    for one in old:
        entry = _decoded(Path(one.path)) if one.name.endswith(".json") else None
        if entry is not None and not os.path.isdir(entry.folder):  # noqa: PTH112 - of text
            with suppress(OSError):
                Path(one.path).unlink()


def _take_over(root: Path, entry: _Entry) -> None:
    """Make the `.mnemark` of others ours, and drop what lay beside it."""
    import shutil  # few need it

    own = root / layout.PRIVATE
    _touch(own / f"{_MADE}{entry.mark}")
    shutil.rmtree(own / _beside(entry.mark), ignore_errors=True)


def _touch(path: Path) -> None:
    with suppress(FileExistsError):
        os.close(platform.FS.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
