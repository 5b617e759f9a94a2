"""Search mounts: other workspaces named in the configuration, which are never written.

A mount's index and vectors are stored in this workspace's `.mnemark/mounts/<name>/`. Its hits have the ref
`@name/path#L3` and the scope `@name`, to tell them from the workspace's own.
"""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

from msgspec.structs import replace

from mnemark.errors import MnemarkError, NotFoundError
from mnemark.files import layout
from mnemark.files.config import Config, RoutesConfig, load, mounted
from mnemark.files.workspace import Workspace
from mnemark.retrieval.refresh import IndexRefresher
from mnemark.retrieval.search import Found, Request

MARK: Final = "@"


class Mount(Protocol):
    """Interface of a searchable mounted folder, as `Searcher` implements it."""

    @property
    def refresher(self) -> IndexRefresher: ...  # noqa: D102 - as in `Searcher`

    def find(self, request: Request) -> Found: ...  # noqa: D102

    def read(self, ref: str, *, raw: bool = False) -> str: ...  # noqa: D102

    def close(self) -> None: ...  # noqa: D102


class Mounts:
    """Mounts of a workspace, opened on first use. Thread-safe.

    `make(folder, config, home)` opens a folder whose index is stored in `home`.
    """

    def __init__(self, workspace: Workspace, make: Callable[[Path, Config, Path], Mount]) -> None:
        self._workspace = workspace
        self._make = make
        self._folders = mounted(workspace.root, workspace.config)
        self._open: dict[str, Mount] = {}
        self._lock = threading.Lock()

    def __bool__(self) -> bool:
        return bool(self._folders)

    def close(self) -> None:
        """Close all open mounts."""
        with self._lock:
            for mount in self._open.values():
                mount.close()
            self._open.clear()

    def join(self, own: Found, request: Request, *, wait: bool) -> Found:
        """Merge the workspace's own hits with those of the mounts, best first.

        Args:
            own: the workspace's answer.
            request: the request; in a mount only the root's scope is searched.
            wait: whether to sync a changed mount before the search; else it is synced in the background.
        """
        request = replace(request, where=replace(request.where, scopes=frozenset({""})))
        found = own
        for name in self._folders:
            try:
                answer = self._ask(name, request, wait=wait)
            except MnemarkError as error:
                problem = f"mount {name}: {error}"
                found = found._replace(degraded=(*found.degraded, problem), complete=False)
            else:
                found = _joined(found, name, answer, request.k)
        return found

    def read(self, ref: str, *, raw: bool = False) -> str:
        """Read the text of a ref of a mount; see `Memory.read`."""
        name, _, rest = ref.removeprefix(MARK).partition("/")
        if name not in self._folders:
            known = ", ".join(self._folders) or "none"
            raise NotFoundError(f"there is no mount {name!r}; configured mounts: {known}")
        return self._opened(name).read(rest, raw=raw)

    def _ask(self, name: str, request: Request, *, wait: bool) -> Found:
        mount = self._opened(name)
        if wait:
            mount.refresher.freshen_quickly()
        else:
            mount.refresher.freshen_behind()
        found = mount.find(request)
        return found._replace(complete=found.complete and mount.refresher.fresh)

    def _opened(self, name: str) -> Mount:
        with self._lock:
            if name not in self._open:
                folder, parent = self._folders[name], self._workspace
                if not folder.is_dir():
                    raise NotFoundError(
                        f"the folder {folder} does not exist; correct `mounts` in {layout.CONFIG}"
                    )
                config = replace(parent.config, mounts={}, routes=RoutesConfig(), ignore=load(folder).ignore)
                home = parent.root / layout.PRIVATE / "mounts" / name
                self._open[name] = self._make(folder, config, home)
            return self._open[name]


def _joined(own: Found, name: str, other: Found, k: int) -> Found:
    mark = f"{MARK}{name}"
    named = [
        replace(hit, ref=f"{mark}/{hit.ref}", path=f"{mark}/{hit.path}", scope=mark) for hit in other.hits
    ]
    hits = sorted((*own.hits, *named), key=lambda hit: -hit.score)
    return own._replace(
        hits=tuple(hits[:k]),
        degraded=(*own.degraded, *(f"mount {name}: {reason}" for reason in other.degraded)),
        complete=own.complete and other.complete,
        believable=max(own.believable, other.believable),
    )
