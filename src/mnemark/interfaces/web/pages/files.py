"""The files of the memory that people read and edit: core memory, scratchpad, episodes, notes."""

from typing import Final

from mnemark.errors import NotFoundError, UsageError
from mnemark.files import layout
from mnemark.files.edit import edit as edit_file
from mnemark.files.reading import digest
from mnemark.interfaces.web.at import At, Go, Shown
from mnemark.text.diff import common
from mnemark.text.lazy_pattern import lazy_pattern

CORE: Final = ("MEMORY.md", "USER.md", "SOUL.md", "SCRATCHPAD.md")
_MOST: Final = 60_000
"""Maximum number of bytes of a file that can be edited here."""
_LINES: Final = lazy_pattern(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_MARK: Final = "\ufeff"
_NOT_NOTES: Final = frozenset({"session", "journal", "copy", "review"})
_EDITABLE: Final = (".md", ".markdown", ".txt")


def files(at: At) -> Shown:
    """Show a file, or the list of all."""
    path = at.asked("path")
    if path:
        text = at.memory.read(path)
        values = {"path": path, "text": text, "can_edit": _can_edit(at, path)}
        return Shown("file.html", values, {"path": path, "text": text})
    groups: dict[str, list[str]] = {"core": [], "episodes": [], "daily": [], "facts": [], "other": []}
    for name in sorted(at.memory.searcher.paths()):
        place = layout.place(name)
        role = place.role if place is not None else ""
        if role in _NOT_NOTES:
            continue
        core = name in CORE or role in {"longterm", "identity", "scratchpad", "persona"}
        group = "core" if core else {"episode": "episodes", "daily": "daily"}.get(role, "")
        groups[group or ("facts" if place is not None and place.kind == "fact" else "other")].append(name)
    for name in ("episodes", "daily"):
        groups[name].reverse()
    shown = {name: (paths[:100], len(paths)) for name, paths in groups.items() if paths}
    missing = [name for name in CORE if not (at.root / name).exists()]
    return Shown("files.html", {"groups": shown, "missing": missing}, groups)


def edit(at: At) -> Shown:
    """Show a file as it is on the disk, to edit it."""
    path = at.asked("path")
    data = _content(at, path)
    return _form(path, _in_form(data), digest(data))


def save(at: At) -> Go | Shown:
    """Save an edited file, if it is still as it was loaded; else show both."""
    path, text, known = at.sent("path"), at.sent("text"), at.sent("digest")
    loaded = _content(at, path)
    new = _as_in(loaded, text)
    clash: list[bytes] = []

    def change(now: bytes) -> bytes:
        clash.clear()
        if digest(now) != known:
            clash.append(now)
            return now
        return new

    at.memory.check_writable("edit files")
    if new == loaded and digest(loaded) == known:
        at.tell("Nothing was changed.")
        return Go(at.link("files", path=path))
    result = edit_file(at.root, path, change)
    if clash:
        made = _form(path, text, digest(clash[0]))
        return Shown(made.template, {**made.values, "theirs": _in_form(clash[0]), "status": 409})
    if result.status == "deferred":
        raise UsageError(f"{path} is being saved by another program; go back and save again")
    at.memory.changed()
    at.memory.sync(wait=2.0, embed=False)
    at.tell("Saved {path}.", path=path)
    return Go(at.link("files", path=path))


def _in_form(data: bytes) -> str:
    """Return a file as a form shows it: browsers have one kind of line end."""
    return data.decode().removeprefix(_MARK).replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")


def _as_in(data: bytes, text: str) -> bytes:
    """Return an edited text as bytes of the file: lines that were not changed stay byte for byte."""
    whole = data.decode()
    old = _LINES.findall(whole.removeprefix(_MARK))
    new = _LINES.findall(text)
    end = "\r\n" if "\r\n" in whole else "\n"
    made = [line.replace("\n", end) for line in new]
    for run in common([_in_form(line.encode()) for line in old], new):
        made[run.other : run.other + run.size] = old[run.one : run.one + run.size]
    return ((_MARK if whole.startswith(_MARK) else "") + "".join(made)).encode()


def _form(path: str, text: str, known: str) -> Shown:
    return Shown("edit.html", {"path": path, "text": text, "digest": known, "theirs": None})


def _can_edit(at: At, path: str) -> bool:
    try:
        _content(at, path)
    except (NotFoundError, UsageError):
        return False
    return not at.memory.readonly


def _content(at: At, path: str) -> bytes:
    """Return the bytes of a file that may be edited here; a core file that is missing is empty.

    Raises:
        NotFoundError: there is no such file.
        UsageError: it is no text of the memory, or too long to edit in a page.
    """
    place = layout.place(path)
    target = layout.safe_path(at.root, path)
    if place is None or place.role in _NOT_NOTES or not path.endswith(_EDITABLE):
        raise UsageError(f"{layout.shown(path)} cannot be edited here")
    if not target.is_file():
        if path in CORE:
            return b""
        raise NotFoundError(f"the file {layout.shown(path)} does not exist")
    data = target.read_bytes()
    if len(data) > _MOST:
        raise UsageError(f"{path} is too long to edit in a page; open it in an editor")
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text; open it in an editor") from error
    return data
