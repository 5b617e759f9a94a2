"""Store vectors in a ChromaDB collection, for interoperability with other tools.

Chroma stores the vectors; they are compared here. Its HNSW index returns only the approximate nearest few,
but a search needs a score for each passage. So all vectors are held in memory as float32 (100 MB for
100,000 × 256), which `exact` does not need.

On the disk, `<model>.chroma/` holds `current.json` and one folder, named by the generation, that belongs to
Chroma. Chroma leaves deleted vectors in its log and its index files, so `compact` writes what stays into the
folder of a new generation, points `current.json` to it and deletes the old folder. Texts are never given to
Chroma: an entry is a content key (the id, in hex), a vector and the row number.
"""

import itertools
import json
import os
import secrets
import shutil
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mnemark.errors import IntegrityError, NewerFormatError
from mnemark.files.platform import make_folder, open_new
from mnemark.index.vectors.base import EngineUnavailable, VectorStore
from mnemark.index.vectors.keys import Packed

_FORMAT: Final = 1
_CURRENT: Final = "current.json"
_COLLECTION: Final = "mnemark"
_CLIENT_NUMBERS: Final = itertools.count(1)
_PAGE: Final = 2_000
"""Vectors per request to Chroma, which refuses more than about 5,000."""


class ChromaStore(VectorStore):
    """The Chroma engine."""

    engine = "chroma"
    suffix = ".chroma"

    def __init__(self, folder: Path, model: str, dimension: int, *, readonly: bool) -> None:
        super().__init__(folder, model, dimension, readonly=readonly)
        self._chroma = _import_chromadb()
        self._client: Any = None
        self._collection: Any = None
        self._clear()

    @property
    def count(self) -> int:
        """The number of rows; row numbers are 0 … count-1."""
        return len(self._matrix)

    @property
    def generation(self) -> int:
        """A number that changes when row numbers become invalid; 0 if there is no folder."""
        return self._generation

    def close(self) -> None:
        """Close the files."""
        with self._lock:
            client, self._client, self._collection = self._client, None, None
            self._clear()
            if client is not None:
                client.close()

    def _clear(self) -> None:
        self._generation = 0
        self._rows: dict[bytes, int] = {}
        self._matrix = np.zeros((0, self.dimension), dtype=np.float32)
        self._norms = np.zeros(0, dtype=np.float32)

    def _refresh(self) -> None:
        try:
            self._open_generation(self._current())
        except IntegrityError:
            self.close()
            raise
        except (self._chroma.errors.ChromaError, ValueError) as error:
            self.close()
            raise IntegrityError(str(error)) from error

    def _find(self, keys: Packed) -> NDArray[np.int64]:
        return np.array([self._rows.get(key, -1) for key in keys], dtype=np.int64)

    def _append(self, keys: Packed, matrix: NDArray[np.float32]) -> None:
        _add(self._collection, list(keys), matrix, self.count)
        self._load(self._collection.count())

    def _scores(self, query: NDArray[np.float32], rows: NDArray[np.int64] | None) -> NDArray[np.float32]:
        with self._lock:
            matrix, norms = self._matrix, self._norms
        self._check_rows(rows, len(matrix))
        length = norms * np.float32(np.linalg.norm(query))
        # The last element stays 0: row -1 reads it.
        scores = np.zeros(len(matrix) + 1, dtype=np.float32)
        np.divide(matrix @ query, length, out=scores[:-1], where=length > 0)
        return scores[:-1] if rows is None else scores[rows]

    def _compact(self, keep: Packed) -> int:
        kept = set(keep)
        stay = [key for key in self._rows if key in kept]
        gone = len(self._rows) - len(stay)
        if gone:
            self._create_with(stay, self._matrix[[self._rows[key] for key in stay]])
        self._remove_old()
        return gone

    def _current(self) -> int:
        """Return the generation on disk; 0 if there is none yet.

        Raises:
            IntegrityError: it is damaged or of another model.
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
        if not isinstance(generation, int) or not (self.path / _folder_name(generation)).is_dir():
            raise IntegrityError("the folder of its generation is missing")
        return generation

    def _open_generation(self, generation: int) -> None:
        if generation != self.generation:
            self.close()
        if not generation:
            return
        # Chroma sees entries of other processes, but their vectors only after the client is reopened.
        if self._collection is None or self._collection.count() > self.count:
            if self._client is not None:
                self._client.close()
            self._client = self._connect(self.path / _folder_name(generation))
            self._collection = self._client.get_collection(_COLLECTION, embedding_function=None)
            self._generation = generation
        self._load(self._collection.count())

    def _load(self, total: int) -> None:
        """Read the rows from `count` to `total`."""
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
        # Chroma caches data per path for all clients of a process, and the cache can miss writes of other
        # processes. Each client therefore spells the path of the folder differently.
        spelling = f"{next(_CLIENT_NUMBERS):b}".replace("0", "/").replace("1", "./")
        return self._chroma.PersistentClient(path=f"{folder}/{spelling}", settings=settings)

    def _prepare(self) -> None:
        super()._prepare()
        self._remove_old()  # folders that a killed process left

    def _create(self) -> None:
        self._create_with([], np.zeros((0, self.dimension), dtype=np.float32))

    def _create_with(self, keys: list[bytes], matrix: NDArray[np.float32]) -> None:
        """Write a new generation with these vectors, and make it current."""
        generation = secrets.randbits(62) + 1  # never 0, which stands for "nothing yet"
        folder = self.path / _folder_name(generation)
        make_folder(folder)
        client = self._connect(folder)
        try:
            collection = client.create_collection(
                _COLLECTION, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
            )
            _add(collection, keys, matrix, 0)
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
        # A process killed before this leaves the old generation current; `_remove_old` deletes the new one.
        beside.replace(self.path / _CURRENT)
        self.refresh()

    def _remove_old(self) -> None:
        for folder in self.path.iterdir():
            if folder.is_dir() and folder.name != _folder_name(self.generation):
                shutil.rmtree(folder)


def _import_chromadb() -> Any:
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


def _add(collection: Any, keys: list[bytes], matrix: NDArray[np.float32], first: int) -> None:
    for start in range(0, len(keys), _PAGE):
        part = keys[start : start + _PAGE]
        collection.add(
            ids=[key.hex() for key in part],
            embeddings=matrix[start : start + _PAGE],
            metadatas=[{"row": first + start + at} for at in range(len(part))],
        )


def _folder_name(generation: int) -> str:
    return f"{generation:016x}"
