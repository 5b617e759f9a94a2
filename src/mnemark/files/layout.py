"""Map paths of a workspace to their meaning: whose memory, of what kind, from when.

Everything follows from the relative path alone (`place`), so that a workspace needs no registry and opens
without being initialised. Folder and file names are compared without case: `Memory.md` on a Mac is the
same file as `MEMORY.md`, and `Users/ann` must never be taken for everyone's memory. Only `border`,
`safe_path`, `find_root`, `init` and what they need look at the disk.
"""

import os
import re
import unicodedata
from datetime import date
from pathlib import Path
from typing import Literal

import msgspec

from mnemark.errors import NotFoundError, ReadOnlyError, UsageError
from mnemark.files import platform
from mnemark.files.copies import copy_of
from mnemark.types import Kind, Origin, Problem

Role = Literal[
    "identity",
    "longterm",
    "scratchpad",
    "daily",
    "fact",
    "episode",
    "attachment",
    "archive",
    "review",
    "report",
    "persona",
    "session",
    "journal",
    "note",
    "copy",
]
"""What a file is for. `copy` is a copy left by a syncing tool: never memory."""

TEXT_SUFFIXES = (".md", ".markdown", ".txt")
PRIVATE = ".mnemark"
OLD_SESSIONS = "sessions/archive"
"""Where session logs go that are past their retention."""
CONFIG = "mnemark.toml"
MARKS = (CONFIG, PRIVATE)
"""A folder that holds one of them is a workspace of its own, wherever it lies."""
SCOPES = ("users", "agents", "projects")
"""Folders whose folders are scopes."""
FACTS = "memory/facts"
"""Folder of the fact files, in each scope."""

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
"""Folders for what mnemark writes by itself."""
_DATED = re.compile(r"([0-9]{4})-([0-9]{2})(?:-([0-9]{2})(?![0-9])|(?!-?[0-9]))")
_DRIVE = re.compile(r"[A-Za-z]:")

_CONFIG_TEXT = """\
# mnemark keeps its defaults in the program; write here only what differs. All keys: docs/configuration.md
# recall_budget = 800        # tokens of recalled text in a prompt
# ignore = ["drafts/*"]      # files that are not memory
"""
MEMORY_TEXT = "# Memory\n"
_STIGNORE_TEXT = f"// mnemark's index is rebuilt on each machine.\n(?d){PRIVATE}\n"


class Place(msgspec.Struct, frozen=True):
    """What one path of a workspace means."""

    kind: Kind
    scope: str
    """Folder of whose memory it is (`users/ann`, in Unicode NFC); empty for the root."""
    origin: Origin
    """Who is taken to have written it where the text itself does not say."""
    dated: str | None
    """ISO date from the file's name; a monthly note (`2026-02.md`) counts from the last day of its month,
    so that no answer "as of" an earlier day sees it."""
    role: Role
    searchable: bool
    """Belongs in the index. Quarantine, reports, journals and copies do not."""
    archived: bool = False
    """Only shows when the archive is asked for."""


def place(path: str) -> Place | None:
    """What the file at `path` (relative, `/`-separated) is; None if it is no memory at all.

    >>> found = place("users/ann/memory/2026-02-13-call.md")
    >>> found.scope, found.dated, found.role
    ('users/ann', '2026-02-13', 'daily')
    >>> place("node_modules/x/README.md") is None
    True
    """
    *folders, name = path.split("/")
    if not name or name.startswith(".") or any(skipped_folder(folder) for folder in folders):
        return None
    scope, folders = _split_scope(folders)
    inside = [folder.casefold() for folder in folders]
    lowered = name.casefold()
    if lowered.endswith(".jsonl"):
        return _place_log(scope, inside, name)
    if not lowered.endswith(TEXT_SUFFIXES):
        return None
    stem = lowered.rsplit(".", 1)[0]
    dated = _date_in(stem)
    if copy_of(name) is not None:
        return Place("note", scope, "file", dated, "copy", searchable=False)
    role, kind, searchable = _role(inside, stem, dated)
    origin: Origin = "agent" if role == "report" else "file"
    if role == "review" or kind == "observation":
        origin = "tool"
    return Place(kind, scope, origin, dated, role, searchable, archived=role == "archive")


def skipped_folder(name: str) -> bool:
    """Whether a folder is never looked into: hidden ones (`.git`, `.obsidian`, `.trash`), dependencies."""
    return name.startswith(".") or name in _SKIPPED_FOLDERS


def is_own(path: str, *, folder: bool = False) -> bool:
    """Whether a file or folder is one that mnemark makes by itself, such as a session or an episode.

    Pictures and the like that stand there are others'.

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


def scope_of(path: str) -> str:
    """The scope a relative path lies in; empty for the root."""
    return _split_scope(path.split("/")[:-1])[0]


def log_folder(folder: str) -> Literal["session", "journal"] | None:
    """Whether `.jsonl` files directly in `folder` (relative, no trailing slash) are sessions or journals.

    Sessions may lie in folders below `sessions/`; a journal is only ever `journal/<machine>.jsonl`.
    """
    _, rest = _split_scope(folder.split("/"))
    inside = [part.casefold() for part in rest]
    if inside[:1] == ["sessions"]:
        return "session"
    return "journal" if inside == ["journal"] else None


def _split_scope(folders: list[str]) -> tuple[str, list[str]]:
    """Only the outermost pair makes a scope: what one user's folder nests stays that user's."""
    if len(folders) > 1 and folders[0].casefold() in SCOPES:
        return f"{folders[0].casefold()}/{unicodedata.normalize('NFC', folders[1])}", folders[2:]
    return "", folders


def _place_log(scope: str, inside: list[str], name: str) -> Place | None:
    kind = log_folder("/".join(inside))
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
        return _root_role(stem), "note", True
    if inside[0] == "personas":
        return "persona", "note", True
    if inside[0] != "memory":
        return "note", "note", True
    if len(inside) > 1 and inside[1] in _UNDER_MEMORY:
        role, kind, searchable = _UNDER_MEMORY[inside[1]]
        if role == "archive" and len(inside) > 2:
            # What was archived keeps what it was: an archived fact file still holds facts.
            kind = _UNDER_MEMORY.get(inside[2], (role, kind, searchable))[1]
            kind = "observation" if inside[2] == "observations" else kind
        return role, kind, searchable
    if len(inside) == 1 and stem == "memory":
        return "longterm", "note", True
    return ("daily" if dated else "note"), "note", True


def _root_role(stem: str) -> Role:
    if stem == "memory":
        return "longterm"
    if stem == "scratchpad":
        return "scratchpad"
    return "identity" if stem in _IDENTITY else "note"


def _date_in(stem: str) -> str | None:
    match = _DATED.match(stem)
    if match is None:
        return None
    year, month, day = (int(part) if part else None for part in match.groups())
    # A month without day counts from its last one, whichever that is.
    for last in (31, 30, 29, 28) if day is None else (day,):
        try:
            return date(year or 0, month or 0, last).isoformat()
        except ValueError:
            continue
    return None


def is_workspace(folder: str | Path) -> bool:
    """Whether a folder is a workspace of its own: it has a `mnemark.toml` or a `.mnemark`."""
    return any(os.path.lexists(os.path.join(folder, mark)) for mark in MARKS)  # noqa: PTH118 - half the time


def border(root: str | Path, rel: str) -> str:
    """The outermost folder on the way to `rel` that is a workspace of its own; empty where there is none.

    There the workspace `root` ends: what lies in such a folder, and the folder itself, belongs to that
    workspace alone. What lies in the own `.mnemark` of `root` never does.
    """
    at = os.fspath(root)
    parts = rel.split("/")
    for number, part in enumerate(parts, 1):
        at = f"{at}{os.sep}{part}"
        if part and is_workspace(at):
            return "" if parts[0] == PRIVATE else "/".join(parts[:number])
    return ""


def check_border(root: str | Path, rel: str) -> None:
    """Refuse a relative path that lies in another workspace.

    Raises:
        UsageError: which, and how to get at it.
    """
    if inner := border(root, rel):
        raise UsageError(
            f"{shown(inner)} is a separate workspace (it contains {' or '.join(MARKS)}): choose it with -w; "
            "without these it would be part of this workspace"
        )


def safe_path(root: Path, rel: str, *, borders: bool = True) -> Path:
    """The absolute path of `rel` inside `root`; the file need not exist.

    Raises:
        UsageError: `rel` is empty, absolute, has `..`, a NUL or a drive letter, leads out of the workspace
            through a link, or (with `borders`) lies in a workspace inside this one.
    """
    check_name(rel)
    path = root / rel
    try:
        real, base = path.resolve(), root.resolve()
    except (OSError, RuntimeError) as error:  # a loop of links
        raise UsageError(f"{shown(rel)!r} cannot be followed: {error}. Remove the link.") from error
    if not real.is_relative_to(base):
        raise UsageError(f"{shown(rel)!r} is a link that leads out of the workspace. Copy the file instead.")
    if borders:
        check_border(base, real.relative_to(base).as_posix())
    return path


def check_name(rel: str) -> None:
    """Refuse a relative path that could name something outside the workspace, without touching the disk.

    Backslashes count as separators here on every system, because a workspace moves between them.

    Raises:
        UsageError: see `safe_path`.
    """
    wanted = "Name a file inside the workspace, such as memory/2026-02-13.md."
    if not rel or "\0" in rel:
        raise UsageError(f"{shown(rel)!r} is not a file name. {wanted}")
    parts = re.split(r"[/\\]", rel)
    if not parts[0] or _DRIVE.match(rel):
        raise UsageError(f"{shown(rel)!r} is an absolute path. {wanted}")
    if ".." in parts:
        raise UsageError(f"{shown(rel)!r} leads out of its folder with '..'. {wanted}")


def is_name(rel: str) -> bool:
    """Whether `check_name` allows it. Not all that a file system holds can be named: `C:notes.md`."""
    try:
        check_name(rel)
    except UsageError:
        return False
    return True


def shown(path: str) -> str:
    """A path as it can be printed and stored: bytes that are no UTF-8 are escaped."""
    return path.encode("utf-8", "backslashreplace").decode("utf-8")


def find_root(start: Path | None = None) -> Path:
    """The workspace `start` lies in: the nearest folder upwards with mnemark.toml or .mnemark.

    Where there is none up to the top, the nearest with MEMORY.md or memory/MEMORY.md. That a folder holds a
    MEMORY.md alone does not make it a workspace inside another: it is a note of that one, and so a scope's
    own MEMORY.md (`users/ann/MEMORY.md`) leads to the workspace it belongs to.

    Without `start`, the folder named in the environment variable MNEMARK_WORKSPACE, else the current one.

    Raises:
        NotFoundError: there is none up to the top.
    """
    start = (start or Path(os.environ.get("MNEMARK_WORKSPACE") or ".")).expanduser().absolute()
    folders = (start, *start.parents)
    for folder in folders:
        if is_workspace(folder) and PRIVATE not in folder.parts:  # mounts have an index in one
            return folder
    for folder in filter(_holds_memory, folders):
        outer = folder.parent.parent
        if folder.parent.name.casefold() in SCOPES and _holds_memory(outer):
            return outer
        return folder.parent if folder.name.casefold() == "memory" else folder
    raise NotFoundError(f"No workspace at {start} or above. Make one with `mnemark init`, or name a folder.")


def workspace_around(root: Path) -> Path | None:
    """The nearest workspace that the folder `root` lies in, other than itself; None where it lies in none."""
    root = root.absolute()
    return next((parent for parent in root.parents if is_workspace(parent)), None)


def _holds_memory(folder: Path) -> bool:
    return any(os.path.lexists(folder / name) for name in ("MEMORY.md", "memory/MEMORY.md"))


def init(root: Path) -> list[str]:
    """Make `root` a minimal workspace and return the relative paths that were created.

    What exists is left as it is. A folder shared by Syncthing (it has `.stfolder`) also gets a
    `.stignore`, unless it has one: see `sync_warning`.

    Raises:
        ReadOnlyError: the folder cannot be written.
    """
    made: list[str] = []
    has_memory = any((root / name).exists() for name in ("MEMORY.md", "memory/MEMORY.md"))
    wanted = {CONFIG: _CONFIG_TEXT} | ({} if has_memory else {"MEMORY.md": MEMORY_TEXT})
    if (root / ".stfolder").exists():
        wanted[".stignore"] = _STIGNORE_TEXT
    try:
        platform.make_folder(root / "memory")
        made.extend(name for name, text in wanted.items() if _create(root / name, text))
    except (PermissionError, NotADirectoryError, FileExistsError) as error:
        raise ReadOnlyError(f"Cannot write to {root}: {error.strerror}. Choose another folder.") from error
    private_folder(root)
    return made


def private_folder(root: Path) -> Path:
    """The workspace's `.mnemark/`, made if missing, with a `.gitignore` that keeps all of it out of git.

    Raises:
        ReadOnlyError: it cannot be made.
        UsageError: it is a link.
    """
    folder = root / PRIVATE
    check_private(root)
    try:
        platform.make_folder(folder)
        _create(folder / ".gitignore", "*\n")
    except OSError as error:
        raise ReadOnlyError(f"Cannot make {folder}: {error.strerror}.") from error
    return folder


def check_private(root: Path) -> None:
    """Refuse a `.mnemark` that is a link: it could have the index and the locks written anywhere.

    Raises:
        UsageError: it is one.
    """
    if platform.is_link(f"{os.fspath(root)}/{PRIVATE}"):
        raise own_link(root, PRIVATE)


def own_link(root: Path, path: str) -> UsageError:
    """What to say about a link where only mnemark writes, and never writes links."""
    to = shown(os.path.realpath(root / path))
    return UsageError(
        f"{shown(str(root / path))} is a link, to {to}: mnemark keeps its index and locks in a folder of the "
        "workspace itself and follows no link there. Remove the link; mnemark makes anew what it needs"
    )


def sync_warning(root: Path) -> Problem | None:
    """Why Syncthing would carry the index to other machines, or None.

    Syncthing reads ignore patterns only from `.stignore` at the top of its shared folder, and that file is
    a person's: mnemark creates it where it is missing but never edits it.
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


def _create(path: Path, text: str) -> bool:
    """Write a new file; False if there is one already, even a broken link."""
    try:
        fd = platform.FS.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    except FileExistsError:
        return False
    with os.fdopen(fd, "wb") as file:
        file.write(text.encode())
    return True
