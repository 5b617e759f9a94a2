"""The files of the memory that people read and edit: core memory, scratchpad, episodes, notes."""

from typing import Final, NamedTuple

from mnemark.errors import NotFoundError, UsageError
from mnemark.files import layout
from mnemark.files.reading import digest
from mnemark.present.plain import for_people
from mnemark.present.talks import page_title
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.lines import common
from mnemark_faces.editing import CORE, NOT_NOTES, content
from mnemark_faces.editing import save as store
from mnemark_faces.web.at import At, Go, PageContent

_LINES: Final = lazy_pattern(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_MARK: Final = "\ufeff"
_MARKDOWN: Final = (".md", ".markdown")


class ListedFile(NamedTuple):
    """A file in the list."""

    path: str
    title: str = ""
    day: str = ""


def files(at: At) -> PageContent:
    """Show a file, or the list of all."""
    path = at.asked("path")
    if path:
        text = at.memory.read(path)
        values = {
            "path": path,
            "text": for_people(text) if path.endswith(_MARKDOWN) else text,
            "is_markdown": path.endswith(_MARKDOWN),
            "can_edit": _can_edit(at, path),
        }
        return PageContent("file.html", values, {"path": path, "text": text})
    groups: dict[str, list[str]] = {"core": [], "episodes": [], "daily": [], "facts": [], "other": []}
    for name in sorted(at.memory.workspace.searcher.paths()):
        place = layout.place(name)
        role = place.role if place is not None else ""
        if role in NOT_NOTES:
            continue
        core = name in CORE or role in {"longterm", "identity", "scratchpad", "persona"}
        group = "core" if core else {"episode": "episodes", "daily": "daily"}.get(role, "")
        groups[group or ("facts" if place is not None and place.kind == "fact" else "other")].append(name)
    for name in ("episodes", "daily"):
        groups[name].reverse()
    shown = {
        name: ([_listed(at, one) for one in paths[:100]], len(paths))
        for name, paths in groups.items()
        if paths
    }
    missing = [name for name in CORE if not (at.root / name).exists()]
    return PageContent("files.html", {"groups": shown, "missing": missing}, groups)


def _listed(at: At, path: str) -> ListedFile:
    """Return how a file is listed: pages of talks by their titles, days by their names, others by path."""
    found = layout.place(path)
    role = found.role if found is not None else ""
    day = (found.dated or "") if found is not None else ""
    if role == "episode":
        return ListedFile(path, page_title(at.memory.workspace, path), day)
    if role == "daily" and day:
        return ListedFile(path, at.words.date(path.rpartition("/")[2][: len(day)], at.now.date()))
    return ListedFile(path)


def edit(at: At) -> PageContent:
    """Show a file as it is on the disk, to edit it."""
    path = at.asked("path")
    data = content(at.memory, path)
    return _form(path, _in_form(data), digest(data))


def save(at: At) -> Go | PageContent:
    """Save an edited file, if it is still as it was loaded; else show both."""
    path, text, known = at.sent("path"), at.sent("text"), at.sent("digest")
    loaded = content(at.memory, path)
    new = _as_in(loaded, text)
    at.memory.workspace.check_writable("edit files")
    if new == loaded and digest(loaded) == known:
        at.tell("Nothing was changed.")
        return Go(at.link("files", path=path))
    theirs = store(at.memory, path, new, known)
    if theirs is not None:
        made = _form(path, text, digest(theirs))
        return PageContent(made.template, {**made.values, "theirs": _in_form(theirs), "status": 409})
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


def _form(path: str, text: str, known: str) -> PageContent:
    return PageContent("edit.html", {"path": path, "text": text, "digest": known, "theirs": None})


def _can_edit(at: At, path: str) -> bool:
    try:
        content(at.memory, path)
    except (NotFoundError, UsageError):
        return False
    return not at.readonly
