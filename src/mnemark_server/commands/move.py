"""Implement `db tenants export` and `import`: a memory's rows into a folder, and a folder into rows."""

import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from mnemark.errors import IncompleteError, NotFoundError, UsageError
from mnemark.files import layout, platform, trust
from mnemark.memory.merging.source import checked
from mnemark.memory.transfer.restore import check_new
from mnemark.types import Problem
from mnemark_interfaces import output, render, speech
from mnemark_server import tenants
from mnemark_server.database import Database, connect
from mnemark_server.moves import merge_into
from mnemark_server.node import Tenants
from mnemark_server.rows import TenantRows
from mnemark_server.whole import NotEmptyError, take_in


def export_memory(url: str, name: str, folder: Path, *, json: bool) -> None:
    """Write the files of a memory into a folder that is empty or missing."""
    with connect(url) as connection:
        tenant = tenants.number_of(connection, name)
    target = check_new(folder)
    with closing(Database(url)) as database:
        _, paths = TenantRows(database, tenant, "").copy_to(target)
    platform.make_folder(target)  # there may be no file
    trust.trust_new(target, made=False)
    size = sum((target / path).stat().st_size for path in paths)
    found = {"name": name, "folder": layout.shown(str(target)), "files": len(paths), "bytes": size}
    _out(found, layout.shown(str(target)), len(paths), size, json=json)


def import_memory(url: str, name: str, folder: Path, *, merging: bool, json: bool) -> None:
    """Make a folder the whole of a memory, which is made if it is not there; or merge it into one.

    Raises:
        NotFoundError: there is no such folder, or no memory in it.
        UsageError: the memory has files, and nobody asked to merge.
        IncompleteError: it is done, but for files that a server cannot hold.
    """
    root = folder.expanduser().absolute()
    if not root.is_dir():
        raise NotFoundError(f"the folder {root} does not exist; give the folder of a memory")
    checked(root, str(folder))
    with closing(Database(url)) as database, _made(url, name) as tenant:
        try:
            taken = take_in(database, tenant, root)
        except NotEmptyError:
            if not merging:
                raise UsageError(
                    f"{name} has files already; add --merge to merge the folder into it"
                ) from None
            _merge(database, tenant, name, root, json=json)
            return
    found = {"name": name, "files": taken.files, "bytes": taken.bytes, "problems": taken.problems}
    _out(found, name, taken.files, taken.bytes, json=json)
    _tell_missing(taken.problems, json=json)


def _merge(database: Database, tenant: int, name: str, root: Path, *, json: bool) -> None:
    with (
        tempfile.TemporaryDirectory(prefix="mnemark-node-") as home,
        closing(Tenants(database, Path(home) / "node")) as here,
    ):
        merged = merge_into(here, tenant, root, str(root))
    found = {"name": name, "merged": merged}
    _out(found, name, len(merged.files), 0, json=json)
    _tell_missing(merged.problems, json=json)


@contextmanager
def _made(url: str, name: str) -> Iterator[int]:
    """Have the number of a memory; one that was made for this is deleted again where it failed."""
    with connect(url) as connection:
        try:
            tenant, made = tenants.number_of(connection, name), False
        except NotFoundError:
            tenants.create(connection, name)
            tenant, made = tenants.number_of(connection, name), True
    try:
        yield tenant
    except BaseException:
        if made:
            with connect(url) as connection:
                tenants.delete(connection, name)
        raise


def _out(found: object, name: str, files: int, size: int, *, json: bool) -> None:
    words = speech.words()
    counts = [render.counted(files, "file"), render.size(size) if size else ""]
    told = words("{name}: {value}", name=name, value=words.listed(filter(None, counts)))
    output.out_result(found, told, json=json)


def _tell_missing(problems: tuple[Problem, ...], *, json: bool) -> None:
    for one in () if json else problems:
        render.problem(one, skipped="left out: {path}: {reason}")
    if missing := sum(one.skipped for one in problems):
        raise IncompleteError(f"left out, as listed: {missing:,}; all else of the folder is in the memory")
