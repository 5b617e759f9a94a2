"""Join two versions of one file of a workspace, by what the file is."""

from collections.abc import Collection, Mapping
from datetime import tzinfo
from typing import Final, Literal

import msgspec

from mnemark.facts.join import Newer, join_facts
from mnemark.files import layout
from mnemark.files.join import PART_LINE, JoinedText, join_logs, join_texts
from mnemark.text.documents import format_of
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.lines import decode, encode
from mnemark.text.markdown import generated

Kind = Literal["log", "facts", "page", "text", "other"]
_PAGES: Final = frozenset({"episode", "report", "attachment"})
"""Roles of files that are generated as a whole: one of two versions is taken."""
_PART: Final = lazy_pattern(r"^[ \t]*<!-- mnemark:begin ([\w-]+)", 8)
_UNTIL: Final = lazy_pattern(r"^until:\s*(\S+)", 8)


class JoinedFile(msgspec.Struct, frozen=True):
    """A file with what both sides have."""

    data: bytes
    doubled: bool = False
    """Whether two versions of some lines stand in it, marked."""
    beside: bytes | None = None
    """The other version, of a file that cannot be joined: it is kept beside the first."""
    ours: Mapping[int, int] = {}
    theirs: Mapping[int, int] = {}
    """New numbers of the lines of a log that moved."""
    added: int = 0
    """Records of a log that came."""


def kind_of(path: str) -> Kind:
    """Return how a file is joined; see `join_file`."""
    place = layout.place(path)
    if place is None or format_of(path) is not None:
        return "other"
    if path.lower().endswith(".jsonl"):
        return "log"
    if place.kind == "fact" or place.role == "review":
        return "facts"
    if place.role in _PAGES or path.lower().endswith(".json"):
        return "page"
    return "text"


def join_file(
    path: str, base: bytes | None, ours: bytes, theirs: bytes, *, zone: tzinfo, removed: Collection[str] = (),
    newer: Newer | None = None,
) -> JoinedFile:  # fmt: skip
    """Return a file with what both have, the same whichever side is `ours`.

    Logs get the records of both, fact files the facts, other texts the lines. Of a page that is generated as
    a whole the one that reaches further is taken, and the next end of a session writes it anew. Of other
    files, such as pictures, both versions are kept.

    Args:
        path: relative to the workspace.
        base: the last version that both had; None if there is none.
        ours: one version.
        theirs: the other; which is which makes no difference.
        zone: of the days in fact files.
        removed: ids of facts that were removed or taken back.
        newer: tells which of two values of a fact is the newer, where there is no base.
    """
    if ours == theirs or base in (ours, theirs):
        return JoinedFile(theirs if base == ours else ours)
    match kind_of(path):
        case "log":
            log = join_logs(ours, theirs)
            return JoinedFile(log.data, ours=log.ours, theirs=log.theirs, added=log.added)
        case "facts":
            facts = join_facts(base, ours, theirs, path, zone=zone, removed=removed, newer=newer)
            return JoinedFile(facts.data, facts.doubled)
        case "page":
            return JoinedFile(max(ours, theirs, key=_reach))
        case "text":
            text = _join_notes(base, ours, theirs)
            return JoinedFile(text.data, text.doubled, min(ours, theirs) if text.left_out else None)
        case "other":
            first, second = sorted((ours, theirs))
            return JoinedFile(second, beside=first)


def _reach(page: bytes) -> tuple[str, int, bytes]:
    until = _UNTIL.search(page.decode("utf-8", "replace"))
    return until[1] if until else "", len(page), page


def _join_notes(base: bytes | None, ours: bytes, theirs: bytes) -> JoinedText:
    """Join what people wrote; generated parts get the lines of both, and are made anew from truth later.

    A part is one line while the rest is joined by lines: no mark of two versions may stand in it.
    """
    texts = [None if data is None else decode(data) for data in (base, ours, theirs)]
    names = {name for text in texts[1:] if text is not None for name in _PART.findall(text)}
    blocks: dict[str, str] = {}
    for name in sorted(names):
        texts = _with_one_version(texts, name)
        found = [part for text in texts[1:] if text is not None and (part := generated.find(text, name))]
        line = f"{PART_LINE}{next(iter(found[0].lines), '') if found else ''} {name}"
        for at, text in enumerate(texts):
            if text is not None and (part := generated.find(text, name)) is not None:
                lines = text.split("\n")
                block = "\n".join(lines[part.start : part.stop])
                blocks[line] = block if at else blocks.get(line, block)
                texts[at] = "\n".join([*lines[: part.start], line, *lines[part.stop :]])
    before, mine, yours = (None if text is None else encode(text) for text in texts)
    joined = join_texts(before, mine or b"", yours or b"")
    lines = [blocks.get(line, line) for line in decode(joined.data).split("\n")]
    return JoinedText(encode("\n".join(lines)), joined.doubled, joined.left_out)


def _with_one_version(texts: list[str | None], name: str) -> list[str | None]:
    """Return the texts with the same lines in a generated part that both sides have."""
    parts = [None if text is None else generated.find(text, name) for text in texts]
    old, one, other = (None if part is None else encode("\n".join(part.lines)) for part in parts)
    if one is None or other is None or one == other:
        return texts
    removed = frozenset[str]().union(*(part.removed for part in parts[1:] if part))
    lines = [line for line in _union(old, one, other) if generated.mark(line) not in removed]
    return [text if text is None else generated.replace(text, name, lines, removed) for text in texts]


def _union(base: bytes | None, one: bytes, other: bytes) -> list[str]:
    """Return generated lines of both sides, but those that one side has dropped since."""
    joined = join_texts(base, *sorted((one, other))).data
    known = {*one.split(b"\n"), *other.split(b"\n")}
    return [decode(line) for line in joined.split(b"\n") if line in known]
