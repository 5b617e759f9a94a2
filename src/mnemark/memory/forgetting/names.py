"""Rename the files that mnemark itself named after erased words, and what leads to them.

Only mnemark's own pages are renamed: episodes and attachments get a name without words under their day, a
fact file that is left without facts goes. A person's file, and a session's, whose id the agent gave, are
named in the receipt. What is to be renamed is stored before anything is erased, as the words are gone
afterwards.
"""

import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Final
from urllib.parse import quote

import msgspec

from mnemark.errors import BusyError, MnemarkError, ReadOnlyError, UsageError
from mnemark.facts.parse import parse
from mnemark.files import attachments, jsonl, layout, listing, platform
from mnemark.files import edit as editing
from mnemark.files.disk_errors import unread
from mnemark.files.needles import BytePatterns, spellings
from mnemark.files.private import private, private_folder
from mnemark.files.truth import LOCK_SECONDS, Folder, rewrite
from mnemark.memory.forgetting.needles import SearchPatterns
from mnemark.memory.forgetting.receipt import ErasedPlace
from mnemark.memory.forgetting.remaining import Named
from mnemark.memory.forgetting.sweep import RENAMING, Sweep, Swept, Targets, is_about_erased
from mnemark.memory.journal import erasures
from mnemark.memory.journal.erasures import Wait
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.text.decoding import decode
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.markdown.frontmatter import front_matter
from mnemark.text.markdown.generated import find

_DAY: Final = len("2026-02-13")
_GONE: Final = "erased"
"""Stem that the journal has for a fact file that is gone."""
_NUMBERED: Final = lazy_pattern(r"-[0-9]{9}\.md$")
_NEW: Final = lazy_pattern(rf"[^/]*-(?:session|file)(?:-[0-9]+)?\.md|{_GONE}\.md")


def plan(ws: OpenWorkspace, targets: Targets, named: Named, waiting: list[Wait]) -> dict[str, str]:
    """Return the new paths of mnemark's own files among those `named` by erased words, by their paths now.

    Files that cannot be read are added to `waiting`.
    """
    found: dict[str, str] = {}
    stems: dict[str, str] = {}
    for path in named.files:
        place = layout.place(path)
        folder, _, file = path.rpartition("/")
        stem = file.removesuffix(".md")
        try:
            if place is None or not _is_own(ws.root, path, folder):
                continue
        except OSError as error:
            waiting.append(erasures.closed(ws.root, path, unread(error)))
            continue
        if folder.endswith(layout.FACTS):
            found[path] = f"{folder}/{_GONE}.md"
        else:
            stems.setdefault(stem, _free(ws.root, path, stems))
            found[path] = f"{folder}/{stems[stem]}.md"
    return found | {path: _number(path) for path in _removed(ws.root, targets, waiting)}


def _removed(root: Path, targets: Targets, waiting: list[Wait]) -> Iterator[str]:
    """Yield the pages that the sweep removes: what the journal calls them says what was in them."""
    for path in listing.walk(root).files if targets.turn_lines else ():
        try:
            if path.endswith(".md") and is_about_erased(targets, path, platform.content(root / path)):
                yield path
        except OSError as error:
            waiting.append(erasures.closed(root, path, unread(error)))


def _number(path: str) -> str:
    """Return the path that the journal has for a page that is removed; no other page gets its number."""
    folder, _, file = path.rpartition("/")
    return f"{folder}/{file[:_DAY]}-{_kind(folder)}-{secrets.randbelow(10**9):09}.md"


def _kind(folder: str) -> str:
    return "session" if folder.endswith(layout.EPISODES) else "file"


def _goes(new: str) -> bool:
    """Whether a new path says that the file is removed: a fact file without facts."""
    return new.endswith(f"/{_GONE}.md")


def _is_own(root: Path, path: str, folder: str) -> bool:
    text = _text(root, path)
    if folder.endswith(layout.EPISODES):
        return "first" in front_matter(text).fields
    if folder.endswith(attachments.FOLDER):
        return find(text, attachments.PART) is not None
    return folder.endswith(layout.FACTS) and any(fact.id for fact in parse(text))


def _text(root: Path, path: str) -> str:
    try:
        return platform.content(root / path).decode("utf-8", "replace")
    except FileNotFoundError:  # an earlier try has removed it
        return ""


def _free(root: Path, path: str, taken: Mapping[str, str]) -> str:
    folder, _, file = path.rpartition("/")
    names = (f"{file[:_DAY]}-{_kind(folder)}{'' if number == 1 else f'-{number}'}" for number in count(1))
    used = set(taken.values())
    return next(name for name in names if name not in used and not (root / folder / f"{name}.md").exists())


def keep(
    ws: OpenWorkspace, identifier: str, targets: Targets, named: Named, waiting: list[Wait]
) -> dict[str, str]:
    """Return what an erasure renames; stored, so that a later try does the same and adds what was closed.

    Where a file could not be read that is not closed, nothing is renamed now; it is added to `waiting`.
    """
    known = _load(ws.root)
    unreadable: list[Wait] = []
    found = plan(ws, targets, named, unreadable) | known.get(identifier, {})
    waiting += [one for one in unreadable if not one.state]  # the sweep waits for what is closed
    if waiting:
        return {}
    if found != known.get(identifier, {}):
        known[identifier] = found
        _store(ws.root, known)
    return found


def drop(ws: OpenWorkspace, identifier: str) -> None:
    """Delete what `keep` stored."""
    known = _load(ws.root)
    if known.pop(identifier, None) is not None:
        _store(ws.root, known)


def _load(root: Path) -> dict[str, dict[str, str]]:
    try:
        data = platform.content(private(root) / RENAMING)
        known = msgspec.json.decode(data, type=dict[str, dict[str, str]])
    except (FileNotFoundError, msgspec.DecodeError):  # never there, or lost: what cannot be read waits
        return {}
    return {id_: {old: new for old, new in some.items() if _is_ours(old, new)} for id_, some in known.items()}


def _is_ours(old: str, new: str) -> bool:
    """Whether `plan` may have made this pair: a folder's author may have put in others (git hooks)."""
    (folder, _, _), (target, _, file) = old.rpartition("/"), new.rpartition("/")
    if layout.place(old) is None or folder != target or not _NEW.fullmatch(file):
        return False
    if folder.endswith(layout.FACTS):
        return file == f"{_GONE}.md"
    return folder.endswith((layout.EPISODES, attachments.FOLDER)) and file != f"{_GONE}.md"


def _store(root: Path, known: Mapping[str, Mapping[str, str]]) -> None:
    if known:
        jsonl.replace_file(private_folder(root) / RENAMING, msgspec.json.encode(known))
    else:
        platform.FS.unlink(private(root) / RENAMING)


def report(renames: Mapping[str, str], done: Swept) -> None:
    """Add what is renamed to the places of a receipt."""
    for old, new in renames.items():
        gone = _goes(new) or _NUMBERED.search(new)
        done.places.append(ErasedPlace(path=layout.shown(old), what="name" if gone else f"renamed to {new}"))


def rename(ws: OpenWorkspace, renames: Mapping[str, str], done: Swept) -> None:
    """Rename files, what leads to them first: after a crash the names are still known."""
    going = {old: new for old, new in renames.items() if _may_go(ws.root, old, new, done)}
    if not going:
        return
    rules = _rules(going)
    with ws.truth.change():
        for path in listing.walk(ws.root).files:
            try:
                _relink(ws.truth, path, rules)
            except (ReadOnlyError, UsageError) as error:
                if layout.is_own(path):
                    done.waiting.append(erasures.closed(ws.root, path, str(error)))
                    continue
                done.still.append(f"{layout.shown(path)}: it leads to a file that was renamed; {error}")
            except (MnemarkError, OSError) as error:
                done.waiting.append(Wait(path, str(error)))
        if not done.waiting:
            for old, new in going.items():
                _move(ws.truth, old, new, done)
    report(going, done)
    _forget_names(ws, going, done)


def _may_go(root: Path, old: str, new: str, done: Swept) -> bool:
    """Whether a file is renamed; a fact file with facts or a person's words in it keeps its name."""
    if not _goes(new):
        return True  # the journal names also what is there no more
    text = _text(root, old)
    left = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if left:
        done.still.append(
            f"{layout.shown(old)}: its name; what is left in it is about that: forget it as well"
        )
    return not left


Rule = tuple[re.Pattern[str], str]


def _rules(renames: Mapping[str, str]) -> list[Rule]:
    """Return what replaces old names: these have a day in them, or stand in the folder of facts."""
    found = []
    for old, new in renames.items():
        before, after = Path(old).stem, Path(new).stem
        facts = _goes(new)
        for form in dict.fromkeys(one for name in spellings(before) for one in (name, quote(name))):
            ahead, behind = (r"(?<=facts/)", r"(?=\.md\b)") if facts else (r"(?<![\w-])", r"(?![\w-])")
            found.append((re.compile(ahead + re.escape(form) + behind), after))
    return found


def _replaced(data: bytes, rules: Sequence[Rule]) -> bytes:
    text = data.decode("utf-8", "surrogateescape")
    for pattern, name in rules:
        text = pattern.sub(name, text)
    return text.encode("utf-8", "surrogateescape")


def _relink(truth: Folder, path: str, rules: Sequence[Rule]) -> None:
    """Replace the old names in one file of the memory."""
    if path.startswith(f"{layout.PRIVATE}/") or not path.lower().endswith((*layout.TEXT_SUFFIXES, ".jsonl")):
        return
    full = truth.root / path
    with suppress(FileNotFoundError):
        data = platform.read_file(full)[0]
        if _replaced(data, rules) == data:
            return
        if path.lower().endswith(".jsonl"):
            rewrite(truth, path, lambda line: _replaced(line.data, rules))
        elif decode(data) is not None:
            result = editing.edit(
                truth, path, lambda now: _replaced(now, rules), keep=0, timeout=LOCK_SECONDS
            )
            if result.status == "deferred":
                raise BusyError("another program is saving it")


def _move(truth: Folder, old: str, new: str, done: Swept) -> None:
    try:
        with suppress(FileNotFoundError):
            data = platform.read_file(truth.root / old)[0]
            gone = _goes(new)
            moved = (
                editing.remove(truth, old, expected=data)
                if gone
                else editing.move(truth, old, new, expected=data)
            )
            if moved not in {"moved", "missing"}:
                done.waiting.append(Wait(old, "another program is saving it"))
    except (MnemarkError, OSError) as error:
        done.waiting.append(Wait(old, str(error)))


def _forget_names(ws: OpenWorkspace, renames: Mapping[str, str], done: Swept) -> None:
    """Remove the old names from bookkeeping."""
    words = BytePatterns(list(_names(renames)))
    quiet = Swept([], done.waiting, done.still)
    Sweep(ws, Targets(SearchPatterns(words, words)), quiet, step="copies", among=frozenset()).run()


def _names(renames: Mapping[str, str]) -> Iterator[str]:
    for old, new in renames.items():
        yield f"facts/{Path(old).name}" if _goes(new) else Path(old).stem
