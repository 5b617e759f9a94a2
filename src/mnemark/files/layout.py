"""Map paths of a workspace to scope, role, kind and date, and find the workspace around a folder.

`place` looks at the relative path alone, so that a workspace opens without being initialised. Names are
compared without case: `Memory.md` on a Mac is the same file as `MEMORY.md`, and `Users/ann` must never be
taken for everyone's memory. Only `border`, `safe_path` and
`find_root` look at the disk.
"""

import os
import re
import sys
import unicodedata
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from contextlib import suppress
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Literal

import msgspec

from mnemark.errors import NotFoundError, UsageError
from mnemark.files import platform
from mnemark.files.copies import copy_of
from mnemark.text.documents import MARKDOWN, RULES
from mnemark.text.documents import SUFFIXES as DOCUMENTS
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.types import Kind, Origin, Problem

Role = Literal[
    "identity", "longterm", "scratchpad", "daily", "fact", "episode", "attachment", "archive", "review",
    "report", "persona", "session", "journal", "note", "copy",
]  # fmt: skip
"""The purpose of a file. `copy`: left by a syncing tool, never memory."""

NOTES = (*MARKDOWN, ".txt")
"""Endings of the files that mnemark also writes, whose names have a meaning."""
TEXT_SUFFIXES = (
    *NOTES, ".org", ".adoc", ".asciidoc", ".rst", ".tex", ".csv", ".tsv", ".yaml", ".yml",
)  # fmt: skip
"""Endings of texts, of which lines can be erased."""
SUFFIXES = (*TEXT_SUFFIXES, *DOCUMENTS)
"""Endings of all files that are read: texts, and documents that are converted."""
_HISTORY = "history.jsonl"
"""nanobot's condensed history, in `memory/`: read like a session, where it lies."""
_SUMMARIES = "daily_summaries"
"""Folder of OpenAkita's summaries, a `.json` a day: read as text, where they lie."""
PRIVATE = ".mnemark"
HOOKS = "hooks"
"""Folder in `.mnemark` of what hooks note of sessions."""
SHOWN = ".shown"
"""Ending of the notes there with hashes of what a model was shown."""
SAID = ".said"
"""Ending of the notes there with what a person has just said, until it is recorded."""
OLD_SESSIONS = "sessions/archive"
"""Folder of session logs past their retention."""
CONFIG = "mnemark.toml"
LOGS = ("sessions", "journal")
"""Folders of what agents said and did."""
SCOPES = ("users", "agents", "projects")
"""Folders whose folders are scopes."""
MOUNT = "@"
"""Begins the refs and the scope of a mount's hits."""
EPISODES = "memory/episodes"
FACTS = "memory/facts"
"""Folder of the fact files in each scope."""

_LOCKS = ("-lock.yaml", "-lock.yml")
"""Endings of what programs note of packages: `pnpm-lock.yaml`."""
_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__"})
_IDENTITY = frozenset({"user", "soul", "agent", "agents", "identity", "claude"})
_UNDER_MEMORY: dict[str, tuple[Role, Kind, bool]] = {
    "facts": ("fact", "fact", True),
    "episodes": ("episode", "episode", True),
    "attachments": ("attachment", "attachment", True),
    "archive": ("archive", "note", True),
    "review": ("review", "note", False),
    "reports": ("report", "note", False),
}
UNDER_MEMORY = tuple(f"memory/{name}" for name in _UNDER_MEMORY)
"""Folders that mnemark writes by itself."""
_DATED = lazy_pattern(
    r"([0-9]{4})(?:[-_.]([0-9]{1,2})[-_.]([0-9]{1,2})(?![0-9])|-([0-9]{2})(?!-?[0-9])|"
    r"年([0-9]{1,2})月(?:([0-9]{1,2})日)?|"
    r"(?<=(?:19|20)[0-9]{2})([0-9]{2})([0-9]{2})(?:[0-9]{4}(?:[0-9]{2})?)?(?![0-9]))"
)
"""2024-03-09, 2024_03_09, 2024.3.9, 2024年3月9日, 20240309 or 202403091530; a month: 2024-03, 2024年3月."""
_DAILY = lazy_pattern(r"[0-9]{4}-[0-9]{2}(?![0-9])")
"""How the names of daily notes begin."""
_DRIVE = lazy_pattern(r"[A-Za-z]:")


class Place(msgspec.Struct, frozen=True):
    """The meaning of a path in a workspace."""

    kind: Kind
    scope: str
    """`users/ann`, in Unicode NFC; empty for the root."""
    origin: Origin
    """Assumed author where the text itself does not say."""
    dated: str | None
    """ISO date from the file's name; of a monthly note (`2026-02.md`) the last day of the month, so that no
    answer "as of" an earlier day sees it."""
    role: Role
    searchable: bool
    """Whether it is indexed. Quarantine, reports, journals and copies are not."""
    archived: bool = False
    """Whether it is in the archive, which searches exclude by default."""


@lru_cache(maxsize=256)
def place(path: str) -> Place | None:
    """Return the meaning of a relative, `/`-separated path; None if it is no memory.

    >>> found = place("users/ann/memory/2026-02-13-call.md")
    >>> found.scope, found.dated, found.role
    ('users/ann', '2026-02-13', 'daily')
    >>> place("node_modules/x/README.md") is None
    True
    """
    *folders, name = path.split("/")
    lowered = name.casefold()
    hidden = name.startswith(".") and lowered not in RULES
    if not name or hidden or any(skipped_folder(folder) for folder in folders):
        return None
    scope, folders = _split_scope(folders)
    inside = [folder.casefold() for folder in folders]
    if lowered.endswith(".jsonl"):
        return _place_log(scope, inside, name)
    is_summary = lowered.endswith(".json") and inside[-1:] == [_SUMMARIES]
    if not (is_summary or lowered.endswith(SUFFIXES)) or lowered.endswith(_LOCKS):
        return None
    stem = lowered.rsplit(".", 1)[0]
    dated = _date_in(stem)
    if copy_of(name) is not None:
        return Place("note", scope, "file", dated, "copy", searchable=False)
    role, kind, searchable = _role(inside, stem, dated)
    if not (is_summary or lowered.endswith(NOTES)) and searchable:
        role, kind = ("archive" if role == "archive" else "note"), "note"
    origin: Origin = "agent" if role == "report" else "file"
    if role == "review" or kind == "observation":
        origin = "tool"
    return Place(kind, scope, origin, dated, role, searchable, archived=role == "archive")


@lru_cache(maxsize=256)
def skipped_folder(name: str) -> bool:
    """Whether a folder holds no memory: hidden ones (`.git`, `.obsidian`, `.trash`), dependencies."""
    return name.startswith(".") or name in _SKIPPED_FOLDERS


def is_own(path: str, *, folder: bool = False) -> bool:
    """Whether mnemark makes a file or folder by itself, such as a session or an episode, but not a picture.

    >>> is_own("users/ann/sessions", folder=True), is_own("memory/facts/user.md")
    (True, True)
    >>> is_own("memory/2026-02-13.md"), is_own("memory/attachments/photo.jpg")
    (False, False)
    """
    parts = path.split("/")
    if PRIVATE in parts:
        return True
    if not (folder or path.lower().endswith((*TEXT_SUFFIXES, ".jsonl"))):
        return False
    inside = [part.casefold() for part in _split_scope(parts)[1]]
    return inside[:1] in (["sessions"], ["journal"]) or "/".join(inside[:2]) in UNDER_MEMORY


@lru_cache(maxsize=256)
def scope_of(path: str) -> str:
    """Return the scope a relative path lies in; empty for the root."""
    return _split_scope(path.split("/")[:-1])[0]


def in_scope(scope: str, path: str) -> str:
    """Join a scope, empty for the root, and a path in it."""
    return f"{scope}/{path}" if scope else path


@lru_cache(maxsize=256)
def suffixes(folder: str) -> tuple[str, ...]:
    """Return the ends, one of which `/NAME` has where a file NAME in a relative folder may be memory."""
    inside = [part.casefold() for part in _split_scope(folder.split("/"))[1]]
    more = (".jsonl",) if log_folder(folder) else (f"/{_HISTORY}",) if inside == ["memory"] else ()
    return (*SUFFIXES, *more, *((".json",) if inside[-1:] == [_SUMMARIES] else ()))


@lru_cache(maxsize=256)
def log_folder(folder: str) -> Literal["session", "journal"] | None:
    """Whether `.jsonl` files directly in a relative folder are sessions or journals.

    Sessions may lie in folders below `sessions/`; a journal is only ever `journal/<machine>.jsonl`.
    """
    inside = [part.casefold() for part in _split_scope(folder.split("/"))[1]]
    if inside[:1] == ["sessions"]:
        return "session"
    return "journal" if inside == ["journal"] else None


def is_uniform(folder: str) -> bool:
    """Whether all files of a relative folder with the same ending have one role, whatever their names are."""
    inside = [part.casefold() for part in _split_scope(folder.split("/"))[1] if part]
    return bool(inside) and (inside[0] != "memory" or (inside[1:2] != [] and inside[1] in _UNDER_MEMORY))


def _split_scope(folders: list[str]) -> tuple[str, list[str]]:
    """Split off the scope. Only the outermost pair is one: what a user's folder nests stays that user's."""
    if len(folders) > 1 and folders[0].casefold() in SCOPES:
        return f"{folders[0].casefold()}/{unicodedata.normalize('NFC', folders[1])}", folders[2:]
    return "", folders


def _place_log(scope: str, inside: list[str], name: str) -> Place | None:
    kind = log_folder("/".join(inside))
    if inside == ["memory"] and name.casefold() == _HISTORY:
        kind = "session"
    if kind is None:
        return None
    if copy_of(name) is not None:
        return Place("turn", scope, "file", None, "copy", searchable=False)
    if kind == "journal":
        # Of the workspace's own journals the observations are searchable; the index passes over all else.
        return Place("note", scope, "agent", None, "journal", searchable=not scope)
    archived = inside[:2] == OLD_SESSIONS.split("/")
    return Place("turn", scope, "agent", None, "session", searchable=True, archived=archived)


def _role(inside: list[str], stem: str, dated: str | None) -> tuple[Role, Kind, bool]:
    if not inside:
        root_roles: dict[str, Role] = {"memory": "longterm", "scratchpad": "scratchpad"}
        return root_roles.get(stem, "identity" if stem in _IDENTITY else "note"), "note", True
    if inside[0] != "memory":
        return ("persona" if inside[0] == "personas" else "note"), "note", True
    if len(inside) > 1 and inside[1] in _UNDER_MEMORY:
        role, kind, searchable = _UNDER_MEMORY[inside[1]]
        if role == "archive" and len(inside) > 2:
            # What was archived keeps what it was: an archived fact file still holds facts.
            kind = _UNDER_MEMORY.get(inside[2], (role, kind, searchable))[1]
            kind = "observation" if inside[2] == "observations" else kind
        return role, kind, searchable
    if len(inside) == 1 and stem == "memory":
        return "longterm", "note", True
    return ("daily" if dated and _DAILY.match(stem) else "note"), "note", True


def _date_in(stem: str) -> str | None:
    match = _DATED.match(stem)
    if match is None:
        return None
    year, month, *day = (int(part) for part in match.groups() if part)
    for last in day or (31, 30, 29, 28):  # a month without day counts from its last one
        with suppress(ValueError):
            return date(year, month, last).isoformat()
    return None


def is_workspace(folder: str | Path) -> bool:
    """Whether a folder was made a memory: by `init`, or by an agent that keeps logs there.

    An index alone is none: a search makes one in any folder.
    """
    base = f"{os.fspath(folder)}{os.sep}"
    if os.path.lexists(f"{base}{CONFIG}"):
        return True
    return os.path.lexists(f"{base}{PRIVATE}") and any(os.path.lexists(f"{base}{name}") for name in LOGS)


def has_marks(names: AbstractSet[str]) -> bool:
    """Whether a folder with these names in it is a workspace; see `is_workspace`."""
    return CONFIG in names or (PRIVATE in names and not names.isdisjoint(LOGS))


def border(root: str | Path, rel: str) -> str:
    """Return the outermost nested workspace on the path `rel`; empty if there is none.

    There the workspace `root` ends; the folder itself belongs to that other workspace, too. What lies in the
    own `.mnemark` of `root` never does.
    """
    at = os.fspath(root)
    parts = rel.split("/")
    for number, part in enumerate(parts, 1):
        at = f"{at}{os.sep}{part}"
        if part and is_workspace(at):
            return "" if parts[0] == PRIVATE else "/".join(parts[:number])
    return ""


def check_border(root: str | Path, rel: str) -> None:
    """Raise UsageError for a relative path that lies in another workspace."""
    if inner := border(root, rel):
        raise UsageError(
            f"{shown(inner)} is a separate workspace (it contains {CONFIG}, or logs of agents): "
            "choose it with -w"
        )


def safe_path(root: Path, rel: str) -> Path:
    """Return the absolute path of `rel` inside `root`, which need not exist.

    Raises:
        UsageError: `rel` is empty, absolute, has `..`, a NUL or a drive letter, leads out of the workspace
            through a link, or lies in a workspace inside this one.
    """
    check_name(rel)
    path = root / rel
    try:
        real, base = path.resolve(), root.resolve()
    except (OSError, RuntimeError) as error:  # a loop of links
        raise UsageError(f"{shown(rel)!r} cannot be followed: {error}. Remove the link.") from error
    if not real.is_relative_to(base):
        raise UsageError(f"{shown(rel)!r} is a link that leads out of the workspace. Copy the file instead.")
    check_border(base, real.relative_to(base).as_posix())
    return path


def check_name(rel: str) -> None:
    """Raise UsageError (see `safe_path`) for a path that could lead out, without touching the disk.

    Backslashes count as separators on every system, because a workspace moves between them.
    """
    wanted = "Name a file inside the workspace, such as memory/2026-02-13.md."
    if not rel or "\0" in rel:
        raise UsageError(f"{shown(rel)!r} is not a file name. {wanted}")
    parts = re.split(r"[/\\]", rel)
    if not parts[0] or _DRIVE.match(rel):
        raise UsageError(f"{shown(rel)!r} is an absolute path. {wanted}")
    if ".." in parts:
        raise UsageError(f"{shown(rel)!r} leads out of its folder with '..'. {wanted}")


def is_scope(name: str) -> bool:
    """Whether a text is the name of a scope, such as `users/ann`, or empty for the root."""
    kind, _, rest = name.partition("/")
    return not name or (kind.casefold() in SCOPES and "/" not in rest and rest != "" and is_inside(name))


def is_inside(rel: str, *, private: bool = False) -> bool:
    """Whether a path that stands in a file of the workspace may be followed: it stays inside, by its name.

    Nor does it lead into git's folder, where a file can be a program, or, but with `private`, into mnemark's
    own. Whoever wrote the file may be anybody.
    """
    parts = re.split(r"[/\\]", rel)
    if not parts[0] or "\0" in rel or ".." in parts or (os.name == "nt" and _DRIVE.match(rel)):
        return False
    closed = {".git", "git~1"} if private else {".git", "git~1", PRIVATE}
    return not any(part[:1] in ".gG" and part.casefold().rstrip(" .") in closed for part in parts)


def is_name(rel: str) -> bool:
    """Whether `check_name` allows a path; files may have other names, such as `C:notes.md`."""
    try:
        check_name(rel)
    except UsageError:
        return False
    return True


def shown(path: str) -> str:
    """Return a path that can be printed and stored: bytes that are not UTF-8 are escaped."""
    return path.encode("utf-8", "backslashreplace").decode("utf-8")


def find_root(start: Path | None = None) -> Path:
    """Return the workspace `start` lies in: the nearest folder upwards that `is_workspace`.

    Nothing is looked for above the home folder or the top of a git repository, nor in folders of another user
    above. `start` defaults to the folder in the environment variable MNEMARK_WORKSPACE, else to the current
    one. Raises NotFoundError.
    """
    start = (start or Path(os.environ.get("MNEMARK_WORKSPACE") or ".")).expanduser().absolute()
    for folder in _upwards(start):
        if is_workspace(folder) and PRIVATE not in folder.parts:  # mounts have an index in one
            return folder
    raise NotFoundError(f"No workspace at {start} or above. Make one with `mnemark init`, or name a folder.")


def _upwards(start: Path, *, through_repositories: bool = False) -> Iterator[Path]:
    """Yield a folder and those above it that its user may have meant; see `find_root`."""
    home = os.path.realpath(Path.home())
    for folder in (start, *start.parents):
        if folder != start and not is_own_folder(folder):
            return
        yield folder
        if os.path.realpath(folder) == home:
            return
        if os.path.lexists(folder / ".git") and not through_repositories:
            return


def is_own_folder(folder: Path) -> bool:
    """Whether a folder belongs to the user who runs this process; on Windows each may be."""
    if sys.platform == "win32":
        return True
    try:
        return folder.stat().st_uid == os.geteuid()
    except OSError:
        return False


def workspace_around(root: Path) -> Path | None:
    """Return the nearest workspace that the folder `root` lies in, other than itself, or None.

    As for `find_root`, nothing is looked for above the home folder, nor in folders of other users.
    """
    _, *above = _upwards(root.absolute(), through_repositories=True)
    return next(filter(is_workspace, above), None)


def sync_warning(root: Path) -> Problem | None:
    """Return the problem that Syncthing would carry the index to other machines, or None.

    Syncthing reads ignore patterns only from `.stignore` at the top of its shared folder; that file is a
    person's: mnemark creates it but never edits it.
    """
    for folder in (root, *root.parents):
        if not (folder / ".stfolder").exists():
            continue
        listed = folder / ".stignore"
        try:
            lines = platform.content(listed).decode("utf-8", "replace").splitlines()
        except OSError:  # there is none, or none that Syncthing could read either
            lines = []
        if any(line.strip().removeprefix("(?d)").strip("/*") == PRIVATE for line in lines):
            return None
        return Problem(PRIVATE, f"Syncthing shares it: add the line (?d){PRIVATE} to {listed}", skipped=False)
    return None


def forget_paths() -> None:
    """Forget the paths that were looked at: names may hold what was erased."""
    for kept in (place, skipped_folder, scope_of, suffixes, log_folder):
        kept.cache_clear()
