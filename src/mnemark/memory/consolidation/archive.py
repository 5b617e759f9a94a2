"""Move facts to `memory/archive/facts/` and back; nothing is deleted."""

from collections.abc import Callable, Mapping
from itertools import chain, count
from pathlib import Path
from typing import Final

from mnemark.facts.files import facts_in
from mnemark.facts.labels import is_chinese
from mnemark.facts.model import Fact
from mnemark.facts.parse import ParsedFact, parse
from mnemark.facts.write import bullet_of
from mnemark.files.layout import FACTS
from mnemark.memory.curation.plan import Edit, ScopeView

ARCHIVE: Final = "memory/archive/facts"
_ADDED: Final = ("archived", "reason", "merged")


def archive(view: ScopeView, facts: Mapping[str, Mapping[str, str]]) -> tuple[list[Edit], set[str]]:
    """Return edits that move facts to the archive, and the ids of those that can be moved.

    Args:
        view: the scope.
        facts: additional fields of the comment in the archive, by id of the fact.
    """
    edits: list[Edit] = []
    moved: set[str] = set()
    for path in view.state.files.paths(view.scope):
        here = {fact.id: fact for fact in view.state.files.facts(path) if fact.id in facts}
        ids = [one for one in here if _without(view.text(path), path, {one}) is not None]
        if not ids:
            continue
        to = path.replace(f"{FACTS}/", f"{ARCHIVE}/", 1)
        bullets = _bullets(view.text(path), path, {one: facts[one] for one in ids})
        why = tuple(f"{here[one]}: {facts[one].get('reason', '')}".rstrip(": ") for one in ids)
        edits.append(Edit(to, _adding(to, bullets, f"# Archived: {_title(path)}\n\n"), why))
        edits.append(Edit(path, _removing(path, set(ids)), why))
        moved |= set(ids)
    return edits, moved


def restore(view: ScopeView, path: str, ids: set[str]) -> list[Edit]:
    """Return edits that bring facts back from the archive file at `path`."""
    to = path.replace(f"{ARCHIVE}/", f"{FACTS}/", 1)
    bullets = _bullets(view.text(path), path, {one: dict.fromkeys(_ADDED, "") for one in ids})
    facts = [fact for fact in facts_in(view.text(path), path, "") if fact.id in ids]
    why = tuple(f"{fact}: used again" for fact in facts)
    return [
        Edit(to, _adding(to, bullets, f"# {_title(path)}\n\n"), why),
        Edit(path, _removing(path, ids), why),
    ]


def archived(view: ScopeView) -> dict[str, list[tuple[Fact, Mapping[str, str]]]]:
    """Return the facts in the archive by file, each with the fields of its comment."""
    found: dict[str, list[tuple[Fact, Mapping[str, str]]]] = {}
    for name in view.names(ARCHIVE):
        path = f"{view.path(ARCHIVE)}/{name}"
        parsed = parse(view.text(path))
        facts = facts_in(view.text(path), path, "")
        found[path] = [(fact, one.meta) for fact, one in zip(facts, parsed, strict=True)]
    return found


def free_name(root: Path, path: str) -> str:
    """Return `path`, or the first numbered name beside it, that no file has yet."""
    stem, dot, suffix = path.rpartition(".")
    numbered = (f"{stem}-{number}{dot}{suffix}" for number in count(2))
    return next(name for name in chain([path], numbered) if not (root / name).exists())


def _title(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md").replace("-", " ").capitalize()


def _numbered(text: str, path: str) -> list[tuple[str, ParsedFact]]:
    ids = (fact.id for fact in facts_in(text, path, ""))
    return list(zip(ids, parse(text), strict=True))


def _bullets(text: str, path: str, extra: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    return {
        one: _bullet(parsed, {"id": one, **extra[one]})
        for one, parsed in _numbered(text, path)
        if one in extra
    }


def _bullet(parsed: ParsedFact, fields: Mapping[str, str]) -> str:
    shown = not is_chinese(parsed.predicate) if "key" in parsed.meta else None
    fields = {**parsed.meta, **fields}
    return bullet_of(parsed.predicate, parsed.value, fields, struck=parsed.struck, chinese=shown)


def _adding(path: str, bullets: Mapping[str, str], head: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        there = {identifier for identifier, _ in _numbered(text, path)}
        new = [line for identifier, line in bullets.items() if identifier not in there]
        if not new:
            return text
        start = text or head
        gap = "" if start.endswith("\n") else "\n"
        return start + gap + "".join(f"{line}\n" for line in new)

    return change


def _removing(path: str, ids: set[str]) -> Callable[[str], str]:
    def change(text: str) -> str:
        left = _without(text, path, ids)
        return text if left is None else left

    return change


def _without(text: str, path: str, ids: set[str]) -> str | None:
    """Return the text without those bullets; None where another bullet would change its meaning."""
    bullets = _numbered(text, path)
    kept = [(p.predicate, p.value, p.struck) for identifier, p in bullets if identifier not in ids]
    left: list[str] = []
    start = 0
    for identifier, parsed in bullets:
        if identifier in ids:
            left.append(text[start : parsed.bullet.start])
            start = parsed.bullet.end
    text = "".join((*left, text[start:]))
    return text if [(p.predicate, p.value, p.struck) for p in parse(text)] == kept else None
