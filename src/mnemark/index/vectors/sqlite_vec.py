"""Store vectors in a separate SQLite file, compared by the sqlite-vec extension.

One plain table of float32, which other tools can read with SQL. Every vector is compared, as in `VectorFile`,
which takes a hundred times longer here (0.2 s for 100,000 × 256). A `vec0` table was tried: no faster, and it
returns 4,096 rows at most, but a search needs a score for each passage.
"""

import json
from pathlib import Path
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from mnemark.errors import IntegrityError, NewerFormatError, ReadOnlyError
from mnemark.files.platform import make_file
from mnemark.index.vectors.base import EngineUnavailable, VectorStore, new_generation
from mnemark.index.vectors.keys import Packed

_FORMAT = 1
_BUSY_MS = 5_000
"""Far longer than any reader's scan, which blocks the writer's commit."""
_FEW_SHARE = 8
"""For fewer than one in this many rows, selecting them by number is faster."""
_SCORE = "ifnull(1 - vec_distance_cosine(vector, ?), 0)"  # NULL where a vector is zero
_SCHEMA = """
CREATE TABLE about(name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE vectors(row INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, vector BLOB NOT NULL);
"""


class SqliteVecStore(VectorStore):
    """The sqlite-vec engine. Row numbers begin at 0 and have gaps after `compact`; a gap scores 0."""

    engine = "sqlite-vec"
    suffix = ".vectors.db"

    def __init__(self, folder: Path, model: str, dimension: int, *, readonly: bool) -> None:
        super().__init__(folder, model, dimension, readonly=readonly)
        self._count = self._generation = 0
        self._extension = _extension_path()
        self._connection: apsw.Connection | None = None

    @property
    def count(self) -> int:
        """The upper bound of row numbers, which are 0 … count-1 with gaps."""
        return self._count

    @property
    def generation(self) -> int:
        """A number that changes when row numbers become invalid; 0 if there is no file."""
        return self._generation

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
            self._count = self._generation = 0

    def _refresh(self) -> None:
        try:
            connection = self._connected()
            self._generation = 0 if connection is None else self._read_generation(connection)
            rows = "SELECT ifnull(max(row), -1) + 1 FROM vectors"
            self._count = 0 if connection is None else int(connection.execute(rows).get)
        except (apsw.NotADBError, apsw.CorruptError) as error:
            self.close()
            raise IntegrityError(str(error)) from error
        except IntegrityError:
            self.close()
            raise

    def _find(self, keys: Packed) -> NDArray[np.int64]:
        found = np.full(len(keys), -1, dtype=np.int64)
        connection = self._connected()
        if connection is not None:
            for place, key in enumerate(keys):
                row = connection.execute("SELECT row FROM vectors WHERE key = ?", (key,)).get
                # Rows added since `refresh` are unknown to `scores`.
                found[place] = row if row is not None and row < self.count else -1
        return found

    def _append(self, keys: Packed, matrix: NDArray[np.float32]) -> None:
        with self._writable_connection() as connection:
            connection.executemany(
                "INSERT INTO vectors(row, key, vector) "
                "VALUES((SELECT ifnull(max(row), -1) + 1 FROM vectors), ?, ?) "
                "ON CONFLICT(key) DO NOTHING",
                ((key, row.tobytes()) for key, row in zip(keys, matrix.astype("<f4"), strict=True)),
            )
        self.refresh()

    def _scores(self, query: NDArray[np.float32], rows: NDArray[np.int64] | None) -> NDArray[np.float32]:
        self._check_rows(rows, self.count)
        bindings: list[bytes | str] = [query.astype("<f4").tobytes()]
        sql = f"SELECT row, {_SCORE} FROM vectors"  # noqa: S608 - only a constant of this module goes in
        if rows is not None and len(rows) * _FEW_SHARE < self.count:
            sql += " WHERE row IN (SELECT value FROM json_each(?))"
            bindings.append(json.dumps(rows.tolist()))
        with self._lock:
            # The last element stays 0: row -1 reads it.
            scores = np.zeros(self.count + 1, dtype=np.float32)
            connection = self._connected()
            found = [] if connection is None else connection.execute(sql, bindings).fetchall()
        if found:
            numbers, values = zip(*found, strict=True)
            known = np.array(numbers) < len(scores) - 1
            scores[np.array(numbers)[known]] = np.array(values, dtype=np.float32)[known]
        return scores[:-1] if rows is None else scores[rows]

    def _compact(self, keep: Packed) -> int:
        kept = set(keep)
        connection = self._writable_connection()
        gone = [(key,) for (key,) in connection.execute("SELECT key FROM vectors") if key not in kept]
        if gone:
            with connection:
                connection.executemany("DELETE FROM vectors WHERE key = ?", gone)
                connection.execute(
                    "UPDATE about SET value = ? WHERE name = 'generation'", (new_generation(),)
                )
            # Deleted rows are overwritten with zeros (secure_delete); this also gives the space back.
            connection.execute("VACUUM")
        self.refresh()
        return len(gone)

    def _connected(self) -> apsw.Connection | None:
        """Return the connection; None if there is no file yet."""
        if self._connection is None and self.path.exists():
            self._connection = self._connect()
        return self._connection

    def _connect(self) -> apsw.Connection:
        flags = apsw.SQLITE_OPEN_READONLY if self.readonly else apsw.SQLITE_OPEN_READWRITE
        try:
            connection = apsw.Connection(str(self.path), flags=flags)
        except apsw.CantOpenError as error:
            raise ReadOnlyError(f"{self.path} cannot be opened: {error}") from error
        connection.set_busy_timeout(_BUSY_MS)
        try:
            connection.enable_load_extension(True)  # noqa: FBT003 - apsw takes it by position
            connection.load_extension(self._extension)
            connection.enable_load_extension(False)  # noqa: FBT003
        except (apsw.ExtensionLoadingError, AttributeError) as error:
            connection.close()
            raise EngineUnavailable(
                f'sqlite-vec does not load here ({error}); set the vector engine to "exact"'
            ) from error
        connection.execute("PRAGMA secure_delete = ON")
        return connection

    def _writable_connection(self) -> apsw.Connection:
        connection = self._connected()
        if connection is None:
            raise ReadOnlyError(f"{self.path.name} is gone; reopen it under the workspace lock")
        return connection

    def _read_generation(self, connection: apsw.Connection) -> int:
        """Return the generation of a file of this model.

        Raises:
            IntegrityError: it is damaged or of another model.
            NewerFormatError: a newer mnemark wrote it.
        """
        try:
            pairs: Any = connection.execute("SELECT name, value FROM about").fetchall()
        except apsw.SQLError as error:
            raise IntegrityError("it is no file of vectors") from error
        about: dict[str, Any] = dict(pairs)
        if int(about.get("format", 0)) > _FORMAT:
            raise NewerFormatError(f"{self.path.name} is newer than this mnemark; upgrade mnemark")
        if (about.get("model"), about.get("dimension")) != (self.model, self.dimension):
            raise IntegrityError(f"it holds {about.get('model')} with {about.get('dimension')} dimensions")
        return int(about["generation"])

    def _create(self) -> None:
        make_file(self.path)
        self._connection = self._connect()
        about = {
            "format": _FORMAT,
            "model": self.model,
            "dimension": self.dimension,
            "generation": new_generation(),
        }
        with self._connection:
            self._connection.execute(_SCHEMA)
            self._connection.executemany("INSERT INTO about VALUES(?, ?)", about.items())


def _extension_path() -> str:
    try:
        import sqlite_vec
    except ImportError:
        raise EngineUnavailable(
            'sqlite-vec is not installed; run: pip install "mnemark[sqlite-vec]", '
            'or set the vector engine to "exact"'
        ) from None
    return str(sqlite_vec.loadable_path())
