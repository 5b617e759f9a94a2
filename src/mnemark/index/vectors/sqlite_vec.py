"""Vectors in a SQLite file of their own, compared by the sqlite-vec extension.

For those who want their vectors where SQL and other tools reach them: float32, one plain table. Every vector
is compared, as in `VectorFile`, which takes a hundred times longer here (0.2 s for 100,000 × 256). A `vec0`
table was tried: no faster, and it answers with 4,096 rows at most, where a score is needed for each passage.
"""

import errno
import json
import secrets
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import apsw
import numpy as np
from numpy.typing import NDArray

from mnemark.errors import IntegrityError, NewerFormatError, ReadOnlyError
from mnemark.files.platform import make_file, make_folder
from mnemark.index.vectors.base import EngineUnavailable
from mnemark.index.vectors.keys import as_words

_FORMAT = 1
_BUSY_MS = 5_000
"""A reader's scan holds up the writer's commit; far longer than any scan."""
_FEW_SHARE = 8
"""Up to one in so many rows it is faster to ask for them by number."""
_SCORE = "ifnull(1 - vec_distance_cosine(vector, ?), 0)"  # NULL where a vector is zero
_SCHEMA = """
CREATE TABLE about(name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE vectors(row INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, vector BLOB NOT NULL);
"""


class SqliteVecStore:
    """The sqlite-vec engine: see `VectorStore` for the contract. Made by `open`.

    Row numbers begin at 0 and have gaps after `compact`; a gap scores 0.
    """

    engine = "sqlite-vec"

    def __init__(self, path: Path, model: str, dimension: int, *, readonly: bool) -> None:
        self.path = path
        self.model = model
        self.dimension = dimension
        self.readonly = readonly
        self.count = 0
        self.generation = 0
        self.set_aside: Path | None = None
        """Where `open` put an unusable file that was in the way; None where there was none."""
        self._extension = _extension()
        self._lock = threading.RLock()
        self._connection: apsw.Connection | None = None

    @classmethod
    def open(cls, folder: Path, model: str, dimension: int, *, readonly: bool = False) -> Self:
        """Open `folder/<model>.vectors.db`; a writer makes it where it is missing.

        Raises:
            EngineUnavailable: sqlite-vec is not installed or does not load.
            IntegrityError: readonly, and the file is not one of this model.
            NewerFormatError: a newer mnemark wrote it; it is left alone.
            ReadOnlyError: the folder cannot be written to.
        """
        self = cls(folder / f"{model}.vectors.db", model, dimension, readonly=readonly)
        try:
            if not readonly:
                make_folder(folder)
                self._prepare()
            self.refresh()
        except apsw.CantOpenError as error:
            self.close()
            raise ReadOnlyError(f"{self.path} cannot be opened: {error}") from error
        except OSError as error:
            self.close()
            if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
                raise ReadOnlyError(f"{folder} cannot be written to: {error.strerror}") from error
            raise
        return self

    def refresh(self) -> bool:
        """Take in what another process wrote; whether rows were added or the generation changed."""
        with self._lock:
            before = self.count, self.generation
            try:
                connection = self._connected()
                self.generation = 0 if connection is None else self._checked(connection)
                self.count = 0 if connection is None else _rows(connection)
            except (apsw.NotADBError, apsw.CorruptError, IntegrityError) as error:
                self.close()
                if isinstance(error, NewerFormatError):
                    raise
                raise IntegrityError(
                    f"{self.path.name}: {error}; `mnemark sync` sets it aside and rebuilds"
                ) from error
            return before != (self.count, self.generation)

    def lookup(self, keys: Sequence[bytes]) -> NDArray[np.int64]:
        """Row numbers of content keys of 16 bytes, (len(keys),); -1 where there is no vector."""
        as_words(keys)
        found = np.full(len(keys), -1, dtype=np.int64)
        with self._lock:
            connection = self._connected()
            if connection is not None:
                for place, key in enumerate(keys):
                    row = connection.execute("SELECT row FROM vectors WHERE key = ?", (key,)).get
                    # Beyond what `refresh` has taken in, `scores` would not know the row.
                    found[place] = row if row is not None and row < self.count else -1
        return found

    def missing(self, keys: Sequence[bytes]) -> list[bytes]:
        """The keys without a vector, in order, each once."""
        absent = np.flatnonzero(self.lookup(keys) < 0).tolist()
        return list(dict.fromkeys(keys[at] for at in absent))

    def add(self, keys: Sequence[bytes], matrix: NDArray[np.float32]) -> NDArray[np.int64]:
        """Keep vectors (len(keys), dimension) durably; the row of each key. Keys already there stay.

        Raises:
            ReadOnlyError: opened readonly.
            ValueError: the shape does not fit, or a value is not finite.
        """
        connection = self._writable()
        if matrix.shape != (len(keys), self.dimension):
            raise ValueError(f"expected {(len(keys), self.dimension)} values, got {matrix.shape}")
        if not np.isfinite(matrix).all():
            raise ValueError("a vector has values that are not finite")
        as_words(keys)
        rows = np.asarray(matrix, dtype="<f4")
        with self._lock:
            self.refresh()
            with connection:
                connection.executemany(
                    "INSERT INTO vectors(row, key, vector) "
                    "VALUES((SELECT ifnull(max(row), -1) + 1 FROM vectors), ?, ?) "
                    "ON CONFLICT(key) DO NOTHING",
                    ((key, row.tobytes()) for key, row in zip(keys, rows, strict=True)),
                )
            self.refresh()
            return self.lookup(keys)

    def scores(
        self, query: NDArray[np.float32], rows: NDArray[np.int64] | None = None
    ) -> NDArray[np.float32]:
        """Cosines of `query` (dimension,) with `rows`, in their order; row -1 scores 0. None: all rows.

        Raises:
            IndexError: a row number outside -1 … count-1.
            ValueError: the query has another dimension or is not finite.
        """
        if query.shape != (self.dimension,) or not np.isfinite(query).all():
            raise ValueError(f"expected {self.dimension} finite values, got shape {query.shape}")
        if rows is not None and len(rows) and not (rows.min() >= -1 and rows.max() < self.count):
            raise IndexError(f"row numbers must be -1 to {self.count - 1}")
        asked: list[bytes | str] = [np.asarray(query, dtype="<f4").tobytes()]
        sql = f"SELECT row, {_SCORE} FROM vectors"  # noqa: S608 - only a constant of this module goes in
        if rows is not None and len(rows) * _FEW_SHARE < self.count:
            sql += " WHERE row IN (SELECT value FROM json_each(?))"
            asked.append(json.dumps(rows.tolist()))
        with self._lock:
            # The last place stays 0 and is what row -1 reads.
            scores = np.zeros(self.count + 1, dtype=np.float32)
            connection = self._connected()
            found = [] if connection is None else connection.execute(sql, asked).fetchall()
        if found:
            numbers, values = zip(*found, strict=True)
            known = np.array(numbers) < len(scores) - 1
            scores[np.array(numbers)[known]] = np.array(values, dtype=np.float32)[known]
        return scores[:-1] if rows is None else scores[rows]

    def compact(self, keep: Iterable[bytes]) -> int:
        """Erase every vector whose key is not in `keep` from the disk; how many there were.

        Raises:
            ReadOnlyError: opened readonly.
        """
        connection = self._writable()
        kept = set(keep)
        with self._lock:
            gone = [key for (key,) in connection.execute("SELECT key FROM vectors") if key not in kept]
            if gone:
                with connection:
                    connection.executemany("DELETE FROM vectors WHERE key = ?", ((key,) for key in gone))
                    connection.execute("UPDATE about SET value = ? WHERE name = 'generation'", (_drawn(),))
                # Deleted rows are overwritten with zeros (secure_delete); this also gives the space back.
                connection.execute("VACUUM")
            _beside(self.path).unlink(missing_ok=True)
            self.refresh()
            return len(gone)

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
            self.count = self.generation = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _connected(self) -> apsw.Connection | None:
        """The connection; None where a reader finds no file yet."""
        if self._connection is None and self.path.exists():
            flags = apsw.SQLITE_OPEN_READONLY if self.readonly else apsw.SQLITE_OPEN_READWRITE
            self._connection = self._connect(flags)
        return self._connection

    def _connect(self, flags: int) -> apsw.Connection:
        connection = apsw.Connection(str(self.path), flags=flags)
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

    def _writable(self) -> apsw.Connection:
        connection = None if self.readonly else self._connected()
        if connection is None:
            raise ReadOnlyError(
                f"{self.path.name} is open for reading only; reopen it under the workspace lock"
            )
        return connection

    def _checked(self, connection: apsw.Connection) -> int:
        """The generation of a file of this model.

        Raises:
            IntegrityError: it is another model's, or no such file.
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

    def _prepare(self) -> None:
        """As the writer: make the file, and put an unusable one out of the way."""
        if self.path.exists():
            try:
                self.refresh()
            except NewerFormatError:
                raise
            except IntegrityError:
                self.set_aside = _beside(self.path)
                self.path.replace(self.set_aside)
            else:
                return
        make_file(self.path)
        connection = self._connect(apsw.SQLITE_OPEN_READWRITE)
        with connection:
            connection.execute(_SCHEMA)
            about = {
                "format": _FORMAT,
                "model": self.model,
                "dimension": self.dimension,
                "generation": _drawn(),
            }
            connection.executemany("INSERT INTO about VALUES(?, ?)", about.items())
        self._connection = connection


def _extension() -> str:
    try:
        import sqlite_vec
    except ImportError:
        raise EngineUnavailable(
            'sqlite-vec is not installed; run: pip install "mnemark[sqlite-vec]", '
            'or set the vector engine to "exact"'
        ) from None
    return str(sqlite_vec.loadable_path())


def _rows(connection: apsw.Connection) -> int:
    return int(connection.execute("SELECT ifnull(max(row), -1) + 1 FROM vectors").get)


def _drawn() -> int:
    """A new generation; never 0, which stands for "no file"."""
    return secrets.randbits(62) + 1


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.set-aside")
