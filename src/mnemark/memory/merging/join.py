"""Join two versions of one file of a workspace, by what the file is."""

from collections.abc import Collection, Mapping
from datetime import tzinfo
from typing import Final, Literal

import msgspec

from mnemark.facts.join import join_facts
from mnemark.files import layout
from mnemark.files.join import JoinedText, join_logs, join_texts
from mnemark.text.lazy_pattern import lazy_pattern
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
    if place is None:
        return "other"
    if path.lower().endswith(".jsonl"):
        return "log"
    if place.kind == "fact" or place.role == "review":
        return "facts"
    if place.role in _PAGES or path.lower().endswith(".json"):
        return "page"
    return "text"


def join_file(
    path: str, base: bytes | None, ours: bytes, theirs: bytes, *, zone: tzinfo, removed: Collection[str] = ()
) -> JoinedFile:
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
    """
    if ours == theirs or base in (ours, theirs):
        return JoinedFile(theirs if base == ours else ours)
    match kind_of(path):
        case "log":
            log = join_logs(ours, theirs)
            return JoinedFile(log.data, ours=log.ours, theirs=log.theirs, added=log.added)
        case "facts":
            return _of(join_facts(base, ours, theirs, path, zone=zone, removed=removed))
        case "page":
            return JoinedFile(max(ours, theirs, key=_reach))
        case "text":
            return _of(_join_notes(base, ours, theirs))
        case "other":
            first, second = sorted((ours, theirs))
            return JoinedFile(second, beside=first)


def _of(joined: JoinedText) -> JoinedFile:
    return JoinedFile(joined.data, joined.doubled)


def _reach(page: bytes) -> tuple[str, int, bytes]:
    until = _UNTIL.search(page.decode("utf-8", "replace"))
    return until[1] if until else "", len(page), page


def _join_notes(base: bytes | None, ours: bytes, theirs: bytes) -> JoinedText:
    """Join what people wrote; generated parts get the lines of both, and are made anew from truth later."""
    texts = [
        None if data is None else data.decode("utf-8", "surrogateescape") for data in (base, ours, theirs)
    ]
    names = set.intersection(*(set(_PART.findall(text)) for text in texts[1:] if text is not None))
    for name in sorted(names):
        parts = [text and generated.find(text, name) for text in texts]
        old, one, other = ("\n".join(part.lines).encode("utf-8", "surrogateescape") if part else None
                           for part in parts)  # fmt: skip
        if one is None or other is None or one == other:
            continue
        lines = _union(old, one, other)
        removed = frozenset().union(*(part.removed for part in parts[1:] if part))
        wanted = [line for line in lines if generated.mark(line) not in removed]
        texts = [text if text is None else generated.replace(text, name, wanted, removed) for text in texts]
    before, mine, yours = (
        None if text is None else text.encode("utf-8", "surrogateescape") for text in texts
    )
    return join_texts(before, mine or b"", yours or b"")


def _union(base: bytes | None, one: bytes, other: bytes) -> list[str]:
    """Return generated lines of both sides, but those that one side has dropped since."""
    joined = join_texts(base, *sorted((one, other))).data.decode("utf-8", "surrogateescape")
    known = {*one.split(b"\n"), *other.split(b"\n")}
    return [line for line in joined.split("\n") if line.encode("utf-8", "surrogateescape") in known]
