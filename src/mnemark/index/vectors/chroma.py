"""Vectors in a ChromaDB collection, for those whose other tools read one.

Chroma keeps the vectors; they are compared here. Its own index (HNSW) names the nearest few, approximately,
where a search needs a score for each passage. So all vectors are held in memory as float32 (100 MB for
100,000 × 256), which `exact` does without.

On the disk, `<model>.chroma/` holds `current.json` and one folder, named by the generation, that belongs to
Chroma. Chroma leaves deleted vectors in its log and its index files, so `compact` writes what stays into the
folder of a new generation, points `current.json` to it and deletes the old folder. Texts are never given to
Chroma: an entry is a content key (the id, in hex), a vector and the row number.
"""

import errno
import itertools
import json
import os
import secrets
import shutil
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from mnemark.errors import IntegrityError, MnemarkError, NewerFormatError, ReadOnlyError
from mnemark.files.platform import make_folder, open_new
from mnemark.index.vectors.base import EngineUnavailable
from mnemark.index.vectors.keys import as_words

_FORMAT: Final = 1
_CURRENT: Final = "current.json"
_COLLECTION: Final = "mnemark"
_NUMBERS: Final = itertools.count(1)
_PAGE: Final = 2_000
"""Vectors given to or taken from Chroma at once; it refuses more than about 5,000."""


class ChromaStore:
    """The Chroma engine: see `VectorStore` for the contract. Made by `open`."""

    engine = "chroma"

    def __init__(self, path: Path, model: str, dimension: int, *, readonly: bool) -> None:
        self.path = path
        self.model = model
        self.dimension = dimension
        self.readonly = readonly
        self.generation = 0
        self.set_aside: Path | None = None
        """Where `open` put an unusable folder that was in the way; None where there was none."""
        self._chroma = _package()
        self._lock = threading.RLock()
        self._client: Any = None
        self._collection: Any = None
        self._forget()

    @property
    def count(self) -> int:
        """Row numbers are 0 … count-1."""
        return len(self._matrix)

    @classmethod
    def open(cls, folder: Path, model: str, dimension: int, *, readonly: bool = False) -> Self:
        """Open `folder/<model>.chroma`; a writer makes it where it is missing.

        Raises:
            EngineUnavailable: chromadb is not installed or does not load.
            IntegrityError: readonly, and the folder is not one of this model.
            NewerFormatError: a newer mnemark wrote it; it is left alone.
            ReadOnlyError: the folder cannot be written to.
        """
        self = cls(folder / f"{model}.chroma", model, dimension, readonly=readonly)
        try:
            if not readonly:
                self._prepare()
            self.refresh()
        except MnemarkError:
            self.close()
            raise
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
                self._take_in(self._current())
            except (self._chroma.errors.ChromaError, ValueError, IntegrityError) as error:
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
        with self._lock:
            return np.array([self._rows.get(bytes(key), -1) for key in keys], dtype=np.int64)

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
        self._writable()
        if matrix.shape != (len(keys), self.dimension):
            raise ValueError(f"expected {(len(keys), self.dimension)} values, got {matrix.shape}")
        if not np.isfinite(matrix).all():
            raise ValueError("a vector has values that are not finite")
        with self._lock:
            self.refresh()
            places: dict[bytes, int] = {}
            for place in np.flatnonzero(self.lookup(keys) < 0).tolist():
                places.setdefault(bytes(keys[place]), place)
            new = np.asarray(matrix, dtype=np.float32)[list(places.values())]
            _put(self._collection, list(places), new, self.count)
            self._load(self._collection.count())
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
        with self._lock:
            matrix, norms = self._matrix, self._norms
        if rows is not None and len(rows) and not (rows.min() >= -1 and rows.max() < len(matrix)):
            raise IndexError(f"row numbers must be -1 to {len(matrix) - 1}")
        length = norms * np.float32(np.linalg.norm(query))
        # The last place stays 0 and is what row -1 reads.
        scores = np.zeros(len(matrix) + 1, dtype=np.float32)
        np.divide(matrix @ np.asarray(query, np.float32), length, out=scores[:-1], where=length > 0)
        return scores[:-1] if rows is None else scores[rows]

    def compact(self, keep: Iterable[bytes]) -> int:
        """Erase every vector whose key is not in `keep` from the disk; how many there were.

        Raises:
            ReadOnlyError: opened readonly.
        """
        self._writable()
        kept = set(keep)
        with self._lock:
            self.refresh()
            stay = [key for key in self._rows if key in kept]
            gone = len(self._rows) - len(stay)
            if gone:
                self._begin(stay, self._matrix[[self._rows[key] for key in stay]])
            self._sweep()
            shutil.rmtree(_beside(self.path), ignore_errors=True)
            return gone

    def close(self) -> None:
        """Let go of the files."""
        with self._lock:
            client, self._client, self._collection = self._client, None, None
            self._forget()
            if client is not None:
                client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _forget(self) -> None:
        self.generation = 0
        self._rows: dict[bytes, int] = {}
        self._matrix = np.zeros((0, self.dimension), dtype=np.float32)
        self._norms = np.zeros(0, dtype=np.float32)

    def _writable(self) -> None:
        if self.readonly:
            raise ReadOnlyError(
                f"{self.path.name} is open for reading only; reopen it under the workspace lock"
            )

    def _current(self) -> int:
        """The generation on the disk; 0 where there is none yet.

        Raises:
            IntegrityError: it is another model's, or no such folder.
            NewerFormatError: a newer mnemark wrote it.
        """
        try:
            about = json.loads((self.path / _CURRENT).read_bytes())
        except FileNotFoundError:
            if self.path.exists():
                raise IntegrityError(f"{_CURRENT} is missing") from None
            return 0
        except (ValueError, NotADirectoryError) as error:
            raise IntegrityError(f"{_CURRENT} cannot be read") from error
        if not isinstance(about, dict) or not isinstance(about.get("format"), int):
            raise IntegrityError(f"{_CURRENT} is not about vectors")
        if about["format"] > _FORMAT:
            raise NewerFormatError(f"{self.path.name} is newer than this mnemark; upgrade mnemark")
        if (about.get("model"), about.get("dimension")) != (self.model, self.dimension):
            raise IntegrityError(f"it holds {about.get('model')} with {about.get('dimension')} dimensions")
        generation = about.get("generation")
        if not isinstance(generation, int) or not (self.path / _name(generation)).is_dir():
            raise IntegrityError("the folder of its generation is missing")
        return generation

    def _take_in(self, generation: int) -> None:
        if generation != self.generation:
            self.close()
        if not generation:
            return
        if self._collection is None:
            self._reach(generation)
        elif self._collection.count() > self.count:
            # Another process wrote. Chroma sees its entries, but not their vectors before it starts anew.
            self._client.close()
            self._reach(generation)
        self._load(self._collection.count())

    def _reach(self, generation: int) -> None:
        self._client = self._connect(self.path / _name(generation))
        self._collection = self._client.get_collection(_COLLECTION, embedding_function=None)
        self.generation = generation

    def _load(self, total: int) -> None:
        """Take in the rows from `count` to `total`."""
        parts, keys = [self._matrix], list[bytes]()
        while (first := self.count + len(keys)) < total:
            last = min(first + _PAGE, total)
            wanted = {"$and": [{"row": {"$gte": first}}, {"row": {"$lt": last}}]}
            got = self._collection.get(where=wanted, include=["embeddings", "metadatas"])
            order = np.argsort([about["row"] for about in got["metadatas"]])
            vectors = np.asarray(got["embeddings"], dtype=np.float32)
            if len(order) != last - first or vectors.shape != (last - first, self.dimension):
                raise IntegrityError("rows are missing")
            keys += [bytes.fromhex(got["ids"][at]) for at in order]
            parts.append(vectors[order])
        if keys:
            self._rows |= {key: self.count + at for at, key in enumerate(keys)}
            self._matrix = np.concatenate(parts)
            self._norms = np.linalg.norm(self._matrix, axis=1).astype(np.float32)

    def _connect(self, folder: Path) -> Any:
        settings = self._chroma.config.Settings(anonymized_telemetry=False)
        # Chroma shares what it has in memory among all clients of one process that spell the path alike, and
        # that can be behind what another process wrote. Each spelling here is another one of the same folder.
        spelling = f"{next(_NUMBERS):b}".replace("0", "/").replace("1", "./")
        return self._chroma.PersistentClient(path=f"{folder}/{spelling}", settings=settings)

    def _prepare(self) -> None:
        """As the writer: make the folder, put an unusable one out of the way, clear up after a kill."""
        try:
            self.refresh()
        except NewerFormatError:
            raise
        except IntegrityError:
            self.set_aside = _beside(self.path)
            shutil.rmtree(self.set_aside, ignore_errors=True)
            self.path.replace(self.set_aside)
        if not self.generation:
            self._begin([], np.zeros((0, self.dimension), dtype=np.float32))
        self._sweep()

    def _begin(self, keys: list[bytes], matrix: NDArray[np.float32]) -> None:
        """Write a new generation with these vectors, and make it the current one."""
        generation = secrets.randbits(62) + 1  # never 0, which stands for "nothing yet"
        folder = self.path / _name(generation)
        make_folder(folder)
        client = self._connect(folder)
        try:
            collection = client.create_collection(
                _COLLECTION, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
            )
            _put(collection, keys, matrix, 0)
        finally:
            client.close()
        about = {
            "format": _FORMAT,
            "model": self.model,
            "dimension": self.dimension,
            "generation": generation,
        }
        beside = self.path / f"{_CURRENT}.new"
        with open_new(beside) as file:
            file.write(json.dumps(about).encode())
            file.flush()
            os.fsync(file.fileno())
        # Until here the old generation is the current one; a kill leaves a folder that `_sweep` deletes.
        beside.replace(self.path / _CURRENT)
        self.refresh()

    def _sweep(self) -> None:
        """Delete the folders of other generations."""
        for folder in self.path.iterdir():
            if folder.is_dir() and folder.name != _name(self.generation):
                shutil.rmtree(folder)


def _package() -> Any:
    try:
        import chromadb
        import chromadb.config
        import chromadb.errors
    except ImportError as error:
        raise EngineUnavailable(
            f'chromadb is not installed or does not load ({error}); run: pip install "mnemark[chroma]", '
            'or set the vector engine to "exact"'
        ) from None
    return chromadb


def _put(collection: Any, keys: list[bytes], matrix: NDArray[np.float32], first: int) -> None:
    for start in range(0, len(keys), _PAGE):
        part = keys[start : start + _PAGE]
        collection.add(
            ids=[key.hex() for key in part],
            embeddings=matrix[start : start + _PAGE],
            metadatas=[{"row": first + start + at} for at in range(len(part))],
        )


def _name(generation: int) -> str:
    return f"{generation:016x}"


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.set-aside")
