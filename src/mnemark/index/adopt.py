"""Take over an index that another machine made of the same files."""

import time
from collections.abc import Collection
from pathlib import Path

from mnemark.files import platform
from mnemark.files.scan import FileEntry
from mnemark.index import schema
from mnemark.index.batch import UPDATE_STAT, stat_values
from mnemark.index.plan import RACY_NS
from mnemark.index.store import Index


def adopt(index: Index, root: Path, paths: Collection[str]) -> None:
    """Note that files hold what they held when they were indexed elsewhere, so that none is read again.

    Args:
        index: the index, which nobody syncs meanwhile.
        root: the folder; nothing but this process changes it.
        paths: files of which that is known. One of another size is left to the next sync.
    """
    known, checked = index.known(), time.time_ns() + RACY_NS
    values = []
    for path in paths:
        there, old = platform.identity(root / path), known.get(path)
        if there is None or old is None or there.size != old.size:
            continue
        status = (root / path).stat()
        entry = FileEntry(
            path=path, size=there.size, mtime_ns=status.st_mtime_ns, ctime_ns=status.st_ctime_ns,
            inode=status.st_ino, device=status.st_dev,
        )  # fmt: skip
        values.append((*stat_values(entry), checked, old.document))
    if values:
        with schema.immediate(index.connection):
            index.connection.executemany(UPDATE_STAT, values)
