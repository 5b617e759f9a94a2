"""Search mounts: folders of others, read beside the workspace and never written.

A mount's index and vectors are stored in this workspace's `.mnemark/mounts/<name>/`. Its hits have the ref
`@name/path#L3`, the scope `@name` and the origin "import", to tell them from the workspace's own. What is
read there leaves this machine by no embedder, reranker or language model of ours, and counts for nothing
that mnemark derives.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec.structs import replace

from mnemark.errors import MnemarkError, NotFoundError
from mnemark.files import layout
from mnemark.files.config import Config, RoutesConfig
from mnemark.files.mounts import Mounted, home_of
from mnemark.files.user_config import LLMConfig
from mnemark.files.workspace import Workspace
from mnemark.retrieval.stages import Found, Request
from mnemark.retrieval.turns import OutOfTimeError
from mnemark.types import Hit, Origin

if TYPE_CHECKING:
    from mnemark.retrieval.refresh import IndexRefresher


class Mount(Protocol):
    """Interface of a searchable mounted folder, as `Searcher` implements it."""

    @property
    def refresher(self) -> "IndexRefresher": ...  # noqa: D102 - as in `Searcher`

    def find(self, request: Request) -> Found: ...  # noqa: D102

    def close(self) -> None: ...  # noqa: D102


class Mounts:
    """Mounts of a workspace, opened on first use. Thread-safe.

    `make(folder, config, home)` opens a folder whose index is stored in `home`.
    """

    def __init__(
        self,
        workspace: Workspace,
        folders: Mapping[str, Mounted],
        make: Callable[[Path, Config, Path], Mount],
    ) -> None:
        self._workspace = workspace
        self._make = make
        self.folders = folders
        self._open: dict[str, Mount] = {}
        self._lock = threading.Lock()

    def __bool__(self) -> bool:
        return bool(self.folders)

    def close(self) -> None:
        """Close all open mounts."""
        with self._lock:
            for mount in self._open.values():
                mount.close()
            self._open.clear()

    def freshen(self, until: float | None = None) -> None:
        """Sync the mounts that changed: at once, or in the background, waited for until a monotonic time."""
        for name in self.folders:
            with suppress(MnemarkError, OSError):  # the search tells
                refresher = self._opened(name).refresher
                if until is None:
                    refresher.freshen_quickly()
                else:
                    refresher.freshen_behind()
                    refresher.wait(until)

    def sync(self) -> None:
        """Sync and embed all mounts; a search tells which could not be."""
        for name in self.folders:
            with suppress(MnemarkError, OSError):
                self._opened(name).refresher.sync(progress=None, wait=0.0, embed=True)

    def join(self, own: Found, request: Request) -> Found:
        """Merge the workspace's own hits with those of the mounts, best first; on a tie its own come first.

        A mount whose turn comes after the request's deadline is left out, and named in `degraded`.
        """
        found = own
        for name, mounted in self.folders.items():
            there = asked(request, mounted)
            if there is None:
                continue
            try:
                _check_time(request)
                mount = self._opened(name)
                answer = mount.find(there)
                complete = answer.complete and mount.refresher.fresh
            except (MnemarkError, OSError) as error:
                problem = f"mount {name}: {error}"
                found = found._replace(degraded=(*found.degraded, problem), complete=False)
            else:
                found = joined(found, name, answer._replace(complete=complete), request)
        return found

    def _opened(self, name: str) -> Mount:
        if why := self.folders[name].why_not(name):
            raise NotFoundError(why)
        with self._lock:
            if name not in self._open:
                mounted, parent = self.folders[name], self._workspace
                config = replace(
                    parent.config,
                    mounts={},
                    routes=RoutesConfig(),
                    llm=LLMConfig(),
                    reranker="",
                    ignore=mounted.ignored(),
                )
                self._open[name] = self._make(mounted.folder, config, home_of(parent.root, name))
            return self._open[name]


def _check_time(request: Request) -> None:
    if request.deadline is not None and time.monotonic() > request.deadline:
        raise OutOfTimeError


def asked(request: Request, mounted: Mounted) -> Request | None:
    """Return the request as a mount is asked; None where it wants text of other origins only.

    What an owner said there is no word of this workspace's owner, so it is asked for as "import".
    """
    origins = request.where.origins
    if origins is not None:
        others: set[Origin] = {"owner", "agent", "file", "import"} if "import" in origins else set()
        origins = frozenset(others | (origins & {"tool", "web"}))
        if not origins:
            return None
    scopes = None if mounted.files else frozenset({""})
    where = replace(request.where, scopes=scopes, origins=origins)
    return replace(request, where=where, exclude=(), rules=False)


def joined(own: Found, name: str, other: Found, request: Request) -> Found:
    """Return the workspace's own hits with those of a mount, which are named after it."""
    suspected = request.where.suspected != "none"
    hits, theirs = _merged(own.hits, name, other.hits, k=request.k, suspected=suspected)
    found = own._replace(
        hits=hits,
        degraded=(*own.degraded, *(f"mount {name}: {reason}" for reason in other.degraded)),
        complete=own.complete and other.complete,
    )
    return found.at_least(other.on_topic, other.believable) if theirs else found


def _merged(
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
