"""Merge the hits of a mount with those of the workspace."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from mnemark.files import layout
from mnemark.types import Hit


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
                # Without the id of a fact, which is one of theirs and may be another fact's here.
                meta={key: one for key, one in hit.meta.items() if key != "fact"},
            )
        )
    hits = tuple(sorted((*own, *named), key=lambda hit: -hit.score)[:k])
    return hits, any(hit.scope == mark for hit in hits)
