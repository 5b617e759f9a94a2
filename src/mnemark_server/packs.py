"""Keep what a node derived of a memory, index and vectors, so that another need not derive it again.

A pack is never the truth: an index that is older than the files is brought up to date when it is opened.
"""

import gzip
import io
import tarfile
from pathlib import Path
from typing import Final

from mnemark._version import __version__
from mnemark.files.private import private, private_folder
from mnemark_server.database import Database, Statement

_KEPT: Final = ("index.db", "state.db", "vectors")
_MOST_BYTES: Final = 256_000_000
"""Maximum size of a pack; what is larger is derived anew."""


def pack(root: Path) -> bytes:
    """Return what is derived in a closed folder; empty where it is too large, or there is nothing."""
    folder, packed = private(root), io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=1) as archive:
        for name in _KEPT:
            if (folder / name).exists():
                archive.add(folder / name, arcname=name)
    data = packed.getvalue()
    return data if 0 < len(data) <= _MOST_BYTES else b""


def unpack(root: Path, data: bytes) -> None:
    """Put what a pack has into a folder that is not open yet."""
    # At once: to unpack it piece by piece takes three times as long.
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(data))) as archive:
        archive.extractall(private_folder(root), filter="data")


def save(database: Database, tenant: int, seq: int, clean: int, data: bytes) -> None:
    """Keep a pack made at `seq`, unless something was erased since `clean`. Raises UnavailableError."""
    database.write(
        tenant,
        Statement(
            "INSERT INTO mnemark.packs (tenant, fingerprint, seq, data)"
            " SELECT tenant, %s, %s, %s FROM mnemark.heads WHERE tenant = %s AND erased <= %s"
            " ON CONFLICT (tenant, fingerprint) DO UPDATE SET seq = excluded.seq, data = excluded.data"
            " WHERE packs.seq < excluded.seq",
            [__version__, seq, data, tenant, clean],
        ),
    )


def load(database: Database, tenant: int) -> tuple[bytes, frozenset[str]]:
    """Return the pack of this version, and the files that changed since; nothing where there is none.

    Raises UnavailableError.
    """
    which = "FROM mnemark.packs WHERE tenant = %s AND fingerprint = %s"
    changed = f"SELECT DISTINCT path FROM mnemark.parts WHERE tenant = %s AND seq > (SELECT seq {which})"  # noqa: S608 - ours
    found, paths = database.read(
        tenant,
        Statement(f"SELECT data {which}", [tenant, __version__]),
        Statement(changed, [tenant, tenant, __version__]),
    )
    data = bytes(found[0][0]) if found else b""
    return data, frozenset(path for (path,) in paths)
