"""Search mounts by words alone, without numpy, as `quick_search` does the workspace."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from mnemark.errors import MnemarkError
from mnemark.files.config import load
from mnemark.files.mounts import Mounted, home_of, mounts_of
from mnemark.index import schema
from mnemark.index.read_only import QuickIndex
from mnemark.retrieval.merge import merged
from mnemark.retrieval.quick_search import quick_search
from mnemark.types import Recall


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
