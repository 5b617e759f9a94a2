"""Change links of notes and messages to ones that work on the pages of an export."""

from typing import Final

from mnemark.memory.transfer.export.dialect import Dialect, wiki_target
from mnemark.memory.transfer.export.links import Link, label
from mnemark.memory.transfer.export.model import Place, Talk
from mnemark.memory.transfer.export.targets import EMBEDDED, Targets, is_outside, is_web
from mnemark.text.lazy_pattern import lazy_pattern

_SLUG: Final = lazy_pattern(r"[^\w\- ]")


class NoteLinks:
    """Says what a link becomes in one dialect; None: it stays as it is."""

    def __init__(self, targets: Targets, dialect: Dialect) -> None:
        self._targets = targets
        self._dialect = dialect

    def in_note(self, link: Link, source: str, at: str) -> str | None:
        """Return what a link in the note `source` becomes on its page `at`."""
        if link.kind == "wiki":
            return None if link.target.startswith("#") else self._wiki(link, source, at)
        if not link.target or link.target.startswith("#") or is_outside(link.target):
            return None
        found = self._targets.of_path(link.target, source)
        if link.kind == "nested":
            return self._nested(found, at)
        if found is None:
            is_dead = link.kind == "inline" and self._targets.is_ours(link.target, source)
            return label(link.label) if is_dead else None
        if link.embed and _is_file(found):
            return self._dialect.embed(at, found.path, link.label)
        words = self._words_of(link.target) if link.kind == "ref" else link.label or found.path
        return self._dialect.link(at, found, words)

    def _nested(self, found: Place | None, at: str) -> str | None:
        """Return the end of a link around a picture; Obsidian reads relative ones, too."""
        if found is None or self._dialect.is_obsidian:
            return None
        return f"]({self._dialect.link(at, found, 'x').rpartition('](')[2]}"

    def _wiki(self, link: Link, source: str, at: str) -> str | None:
        found = self._targets.of_name(link.target, source)
        if found is None:
            return None
        words = link.label or link.target
        if self._dialect.is_obsidian:
            mark = "!" if link.embed else ""
            return None if self._leads_there(link, found) else f"{mark}[[{wiki_target(found)}|{words}]]"
        if link.embed and _is_file(found):
            return self._dialect.embed(at, found.path, "" if words.isdecimal() else words)
        return self._dialect.link(at, Place(found.path, _slug(found.anchor)), words)

    def _leads_there(self, link: Link, to: Place) -> bool:
        """Whether Obsidian finds the page by the link as it is."""
        if wiki_target(to).casefold() == link.target.removesuffix(".md").casefold():
            return True
        name = to.path.rpartition("/")[2].removesuffix(".md").casefold()
        bare = link.target.partition("#")[0].removesuffix(".md").casefold()
        return name == bare and not self._targets.is_ambiguous(to.path)

    def _words_of(self, ref: str) -> str:
        path, _, lines = ref.partition("#")
        talk = self._targets.talk(path)
        return f"{talk.title} {lines}" if talk is not None else ref

    def in_message(self, link: Link, talk: Talk, at: str) -> str | None:
        """Return what a link in a message becomes; one that stays is to an address of the web."""
        if link.kind not in {"inline", "ref"} or (link.kind == "inline" and is_web(link.target)):
            return None
        found = self._targets.of_path(link.target, talk.source)
        if found is not None and not _is_file(found):
            return self._dialect.link(at, found, link.label or self._words_of(link.target))
        return label(link.text) if link.kind == "ref" else f"{label(link.label)} ({label(link.target)})"


def only_web(link: Link) -> str | None:
    """Return the words of a link instead of it, unless it is to an address of the web."""
    if link.kind == "inline" and is_web(link.target):
        return None
    return label(link.label or link.target)


def _is_file(to: Place) -> bool:
    return to.path.rpartition(".")[2].casefold() in EMBEDDED


def _slug(anchor: str) -> str:
    """Return the anchor that viewers of Markdown give a heading; of a block of Obsidian there is none."""
    if anchor.startswith("^"):
        return ""
    return _SLUG.sub("", anchor.rpartition("#")[2].strip().casefold()).replace(" ", "-")
