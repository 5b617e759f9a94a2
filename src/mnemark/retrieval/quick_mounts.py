"""Search mounts by words alone, without numpy, as `quick_search` does the workspace."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from mnemark.errors import MnemarkError
from mnemark.files import layout
from mnemark.files.config import load
from mnemark.files.mounts import Mounted, home_of, mounts_of
from mnemark.index import schema
from mnemark.index.read_only import QuickIndex
from mnemark.retrieval.quick_search import quick_search
from mnemark.types import Hit, Recall


def with_mounts(
    root: Path,
    own: Recall,
    text: str,
    *,
    k: int,
    home: Path | None = None,
    mounts: Mapping[str, Mounted] | None = None,
) -> Recall:
    """Add the hits of a workspace's mounts, as far as these are indexed, to what `quick_search` found in it.

    Args:
        root: the workspace.
        own: its own answer.
        text: the query.
        k: hits at most.
        home: the folder that its index lies in, where that is not the workspace.
        mounts: its mounts; None to read the settings.
    """
    found = own
    with suppress(MnemarkError, *schema.UNREADABLE), QuickIndex(root, home) as outside:
        folders = mounts_of(root, load(root).mounts) if mounts is None else mounts
        for name, mounted in folders.items():
            if mounted.why_not(name):
                continue
            scopes = None if mounted.files else frozenset({""})
            with suppress(MnemarkError, *schema.UNREADABLE):  # not indexed yet, or damaged
                answer = quick_search(
                    mounted.folder, text, k=k, scopes=scopes, home=home_of(root, name), outside=outside
                )
                hits, theirs = merged(found.hits, name, answer.hits, k=k, suspected=False)
                believable = max(found.believable, answer.believable) if theirs else found.believable
                found = replace(found, hits=hits, believable=believable)
    return found


def merged(
    own: Sequence[Hit], name: str, other: Iterable[Hit], *, k: int, suspected: bool
) -> tuple[tuple[Hit, ...], bool]:
    """Merge hits with those of a mount, best first; on a tie the own ones come first.

    What the own hits say already is left out.

    Args:
        own: the hits so far.
        name: of the mount.
        other: the hits that it found.
        k: hits at most.
        suspected: whether the best hit that looks like instructions is kept; else none is.

    Returns:
        The hits, and whether any of them is the mount's.
    """
    said = {hit.text.strip() for hit in own}
    mark = f"{layout.MOUNT}{name}"
    named = []
    for hit in other:
        if hit.text.strip() in said or (hit.meta.get("suspect") and not suspected):
            continue
        suspected = suspected and not hit.meta.get("suspect")
        named.append(
            replace(
                hit,
                ref=f"{mark}/{hit.ref}",
                path=f"{mark}/{hit.path}",
                scope=mark,
                origin=hit.origin if hit.origin in {"tool", "web"} else "import",
                meta={
                    key: one for key, one in hit.meta.items() if key != "fact"
                },  # an id of theirs, not ours
            )
        )
    hits = tuple(sorted((*own, *named), key=lambda hit: -hit.score)[:k])
    return hits, any(hit.scope == mark for hit in hits)
