"""Answer by words alone and at once: for a hook without the daemon, and for recalls that run out of time.

The stages are those of `search`, over the index as it was last synced. What would have to be loaded is left
out: vectors, the Chinese dictionary, all facts.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from mnemark.errors import ConfigError, NotFoundError
from mnemark.facts import states
from mnemark.facts.visible import Visible
from mnemark.files.config import Config, load
from mnemark.files.mounts import Mounted, home_of, mounts_of
from mnemark.files.workspace import Workspace
from mnemark.index import schema
from mnemark.index.reader import Reader
from mnemark.index.store import Index
from mnemark.retrieval import mounts
from mnemark.retrieval.filters import Filter
from mnemark.retrieval.focus import focus
from mnemark.retrieval.presets import preset as named_preset
from mnemark.retrieval.search import search
from mnemark.retrieval.stages import Found, Request
from mnemark.types import Recall

_LONGEST: Final = 2_048
"""Characters of a question that are read."""
_ALONE: Final = "dense: without the daemon, hooks search by words only; start it with `mnemark serve`"


def by_words(
    reader: Reader, request: Request, known: states.FactStates, reason: str, folders: Mapping[str, Mounted]
) -> Found:
    """Return what words alone find in the index and in the mounts that have one.

    Args:
        reader: of the index.
        request: as for a full answer.
        known: which facts hold.
        reason: why it was searched by words only, for `degraded`.
        folders: the mounts.

    Raises:
        NotFoundError: there is no index.
        IntegrityError: it is damaged, or was made by another version.
    """
    preset = replace(request.preset, dense=0.0, bridge=False)
    text = request.text if len(request.text) <= _LONGEST else focus(request.text)[:_LONGEST]
    request = replace(request, text=text, preset=preset, hurried=True, deadline=None, rerank_deadline=None)
    found = search(reader, request, None, (reason,), states=known)
    if not folders:
        return found
    with reader.reading(logs=False) as view:
        asked = replace(request, outside=view.snapshot)
        for name, mounted in folders.items():
            found = _with_mount(found, name, mounted, home_of(reader.index.root, name), asked)
    return found


def by_words_of(
    root: Path,
    text: str,
    *,
    k: int = 8,
    scopes: frozenset[str] | None = frozenset({""}),
    exclude: Sequence[tuple[str, int]] = (),
) -> Recall:
    """Return what words alone find in a workspace that is not open, and in its mounts.

    Args:
        root: the workspace.
        text: the question, in any language.
        k: hits at most.
        scopes: the scopes to search; None for all.
        exclude: (path, line) of session logs, whose turns are left out from that line on.

    Raises:
        NotFoundError: there is no index, or one that was made by other rules; `mnemark sync` makes it anew.
        IntegrityError: it is damaged.
    """
    try:
        config = load(root)
        folders = mounts_of(root, config.mounts)
    except ConfigError:  # what is indexed can be found; the next command says what is wrong
        config, folders = Config(), {}
    workspace = Workspace(root, config, readonly=True)
    visible = Visible(root, config, workspace.journal)
    with closing(Index(root, readonly=True, visible=visible)) as index:
        if index.exists() and (reason := index.unreadable_reason()):
            raise NotFoundError(f"the index {reason}; run `mnemark sync`")
        request = Request(
            text=text, k=k, where=Filter(scopes=scopes, suspected="none"), preset=named_preset(config.preset),
            now=workspace.now(), exclude=tuple(exclude), echoes=False,
        )  # fmt: skip
        known = states.kept(root, root, visible.redacted, request.now.tzinfo)
        found = by_words(Reader(index), request, known, _ALONE, folders)
    return Recall(**found._asdict())


def _with_mount(own: Found, name: str, mounted: Mounted, home: Path, request: Request) -> Found:
    """Add the hits of a mount whose index lies in `home`, if it is indexed."""
    asked = None if mounted.why_not(name) else mounts.asked(request, mounted)
    if asked is None:
        return own
    with suppress(*schema.UNREADABLE):  # not indexed yet, or damaged
        visible = Visible(mounted.folder)
        with closing(Index(mounted.folder, home=home, readonly=True, visible=visible)) as index:
            known = states.kept(mounted.folder, home, visible.redacted, request.now.tzinfo)
            other = search(Reader(index), asked, None, states=known)
        return mounts.joined(own, name, other._replace(degraded=()), request)
    return own
