"""Embed texts with a local model run by fastembed: a name from its list, or a folder with an ONNX model.

Nothing is downloaded here: an unreachable hub would delay every search (by 40 seconds, as measured). A
missing model is an error that names the command to download it.
"""

import importlib.metadata
import importlib.util
import json
import os
import re
import threading
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnemark.embed import EmbedderUnavailable, first_line
from mnemark.hashes import blake2b

_MODEL_FILES = ("onnx/model.onnx", "model.onnx", "model_optimized.onnx", "onnx/model_quantized.onnx")
_REQUIRED_FILES = ("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")
_SAMPLES, _SAMPLE_BYTES = 16, 1 << 16
"""Hash only samples and the size of a model file, which can have gigabytes."""


_BATCH = 16
"""Texts that a model reads at once; all are filled up to the longest of them."""
_END_SECONDS = 10.0
"""Maximum seconds for which the end of the process waits for a batch."""


class _Runs:
    """Keeps the process from ending while a thread is inside of the model, which would abort it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._count = 0
        self._ended = False
        # Daemon threads are stopped before what `atexit` calls; there is no public name for this.
        threading._register_atexit(self._end)  # type: ignore[attr-defined]  # noqa: SLF001

    def __enter__(self) -> None:
        with self._changed:
            self.go_on()
            self._count += 1

    def go_on(self) -> None:
        """Raise `EmbedderUnavailable` where the process ends."""
        if self._ended:
            raise EmbedderUnavailable("the process ends")

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._count -= 1
            self._changed.notify_all()

    def _end(self) -> None:
        with self._changed:
            self._ended = True
            self._changed.wait_for(lambda: not self._count, _END_SECONDS)


class LocalEmbedder:
    """Embedder that runs a fastembed model, loaded at first use.

    Args:
        model: a name that fastembed knows (`BAAI/bge-small-en-v1.5`), or the path of a folder that has
            `config.json`, `tokenizer.json`, `tokenizer_config.json`, `special_tokens_map.json` and an ONNX
            model. An existing folder, an absolute path, or anything that starts with `.` or `~` is a path.

    Raises:
        EmbedderUnavailable: fastembed is not installed, or the folder lacks a file.
    """

    semantic = True

    def __init__(self, model: str) -> None:
        if importlib.util.find_spec("fastembed") is None:
            raise EmbedderUnavailable('fastembed is not installed; run: pip install "mnemark[fastembed]"')
        path = Path(model).expanduser()
        self._folder = _Folder(path) if path.is_dir() or path.is_absolute() or model[0] in ".~" else None
        self.model = model
        self._lock = threading.Lock()
        self._runs = _Runs()
        self._loaded: Any = None

    @property
    def dimension(self) -> int:
        """Length of the vectors, from the folder's configuration or fastembed's list."""
        if self._folder is not None:
            return self._folder.dimension
        from fastembed import TextEmbedding

        try:
            return int(TextEmbedding.get_embedding_size(self.model))
        except ValueError:
            raise EmbedderUnavailable(
                f'fastembed does not know the model {self.model}; `python -c "from fastembed import '
                "TextEmbedding as T; print(*[m['model'] for m in T.list_supported_models()], sep='\\n')\"` "
                "lists those it knows, and a folder with an ONNX model works too"
            ) from None

    @property
    def name(self) -> str:
        """The name `fastembed-VERSION-MODEL-DIMENSION-HASH`; minor versions may pool differently."""
        version = ".".join(importlib.metadata.version("fastembed").split(".")[:2])
        if self._folder is None:
            label, identity = self.model, self.model.encode()
        else:
            label, identity = self._folder.path.resolve().name, self._folder.identity
        digest = blake2b(identity, digest_size=5).hexdigest()
        slug = re.sub(r"[^a-z0-9.]+", "-", label.lower()).strip("-.")
        return f"fastembed-{version}-{slug[:70]}-{self.dimension}-{digest}"

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed `texts`: float32 (len(texts), dimension), unit rows, zero rows for blank texts.

        Raises:
            EmbedderUnavailable: the model is not downloaded or cannot be run.
        """
        return self._rows(texts, "passage")

    def query(self, text: str) -> NDArray[np.float32]:
        """Embed one question, with the model's prefix for queries: float32 (dimension,).

        Raises:
            EmbedderUnavailable: the model is not downloaded or cannot be run.
        """
        vector: NDArray[np.float32] = self._rows([text], "query")[0]
        return vector

    def _rows(self, texts: Sequence[str], role: str) -> NDArray[np.float32]:
        matrix = np.zeros((len(texts), self.dimension), dtype=np.float32)
        # Tokenizers refuse lone surrogates, which come from undecodable file names.
        clean = [text.encode("utf-8", "replace").decode() for text in texts]
        filled = [place for place, text in enumerate(clean) if text.strip()]
        if not filled:
            return matrix
        prefix = "" if self._folder is None else self._folder.prompts.get(role, "")
        with self._runs:
            model = self._model()
            run = model.query_embed if role == "query" else model.passage_embed
            matrix[filled] = self._run(run, [prefix + clean[place] for place in filled])
        return matrix

    def _run(self, run: Any, texts: list[str]) -> NDArray[np.float32]:
        by_length = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        rows: list[Any] = [None] * len(texts)
        try:
            for place, row in zip(
                by_length, run([texts[p] for p in by_length], batch_size=_BATCH), strict=True
            ):
                rows[place] = row
                self._runs.go_on()
            found = np.array(rows, dtype=np.float32)
        except EmbedderUnavailable:
            raise
        except Exception as error:  # onnxruntime and tokenizers raise bare Exceptions
            raise EmbedderUnavailable(
                f"{self.model} failed: {first_line(error)}; check the model's files"
            ) from error
        if found.shape != (len(texts), self.dimension) or not np.isfinite(found).all():
            raise EmbedderUnavailable(
                f"{self.model} gave vectors of shape {found.shape} or not finite, expected "
                f"{(len(texts), self.dimension)}; check the model's files"
            )
        norms = np.linalg.norm(found, axis=1, keepdims=True)
        unit: NDArray[np.float32] = (found / np.where(norms > 0, norms, 1)).astype(np.float32)
        return unit

    def _model(self) -> Any:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load_folder(self._folder) if self._folder else self._load_named()
            return self._loaded

    def _load_named(self) -> Any:
        from fastembed import TextEmbedding

        _ = self.dimension  # an unknown name has its own message
        with suppress(ImportError):  # silence fastembed's log: the error below says the same, with the fix
            import_module("loguru").logger.disable("fastembed")
        # None is fastembed's default, in the folder for temporary files: used if it still exists.
        reason: Exception | None = None
        for cache in (str(cache_folder()), None):
            try:
                return TextEmbedding(self.model, cache_dir=cache, local_files_only=True, threads=_threads())
            except Exception as error:  # noqa: BLE001 - see _run
                reason = reason or error
        raise EmbedderUnavailable(
            f"the embedding model {self.model} is not on this machine; download it with "
            f"`mnemark doctor --fetch --model {self.model}`"
        ) from reason

    def _load_folder(self, folder: "_Folder") -> Any:
        from fastembed import TextEmbedding
        from fastembed.common.model_description import ModelSource, PoolingType

        # fastembed loads registered models only; the digest distinguishes two folders.
        known_as = f"mnemark/{blake2b(folder.identity, digest_size=10).hexdigest()}"
        if known_as not in {model["model"] for model in TextEmbedding.list_supported_models()}:
            TextEmbedding.add_custom_model(
                model=known_as,
                pooling=PoolingType.CLS if folder.pools_first_token else PoolingType.MEAN,
                normalization=True,
                sources=ModelSource(hf=known_as),
                dim=folder.dimension,
                model_file=folder.model_file,
            )
        try:
            return TextEmbedding(
                known_as, specific_model_path=str(folder.path), local_files_only=True, threads=_threads()
            )
        except Exception as error:  # bare ones here too
            raise EmbedderUnavailable(
                f"the model in {folder.path} cannot be loaded: {first_line(error)}; download its files again"
            ) from error


class _Folder:
    """A model folder in the layout of sentence-transformers."""

    def __init__(self, path: Path) -> None:
        self.path = path
        absent = [name for name in _REQUIRED_FILES if not (path / name).is_file()]
        found = [name for name in _MODEL_FILES if (path / name).is_file()]
        if absent or not found:
            wanted = ", ".join([*absent, *([] if found else [f"one of {', '.join(_MODEL_FILES)}"])])
            raise EmbedderUnavailable(f"the folder {path} has no usable model: it lacks {wanted}")
        self.model_file = found[0]
        size = self._json("config.json").get("hidden_size")
        if not isinstance(size, int) or size < 1:
            raise EmbedderUnavailable(
                f"{path / 'config.json'} does not give the length of the vectors as hidden_size"
            )
        self.dimension = size
        self.pools_first_token = self._json("1_Pooling/config.json").get("pooling_mode_cls_token") is True
        prompts = self._json("config_sentence_transformers.json").get("prompts")
        prompts = prompts if isinstance(prompts, dict) else {}
        self.prompts = {
            "query": str(prompts.get("query") or ""),
            "passage": str(prompts.get("passage") or prompts.get("document") or ""),
        }
        self.identity = self._identity()

    def _json(self, name: str) -> dict[str, Any]:
        """Read a JSON object from the folder; empty if the file is missing."""
        try:
            value = json.loads((self.path / name).read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise EmbedderUnavailable(f"{self.path / name} cannot be read: {error}") from error
        return value if isinstance(value, dict) else {}

    def _identity(self) -> bytes:
        """Return a digest of the model, the tokenizer, the pooling and the prompts."""
        digest = blake2b(digest_size=16)
        settings = [self.model_file, self.dimension, self.pools_first_token, self.prompts]
        digest.update(json.dumps(settings, sort_keys=True).encode())
        digest.update((self.path / "tokenizer.json").read_bytes())
        model = self.path / self.model_file
        # Large models keep their weights in a separate `_data` file.
        for path in (model, model.with_name(f"{model.name}_data")):
            if path.is_file():
                _hash_samples(path, digest)
        return digest.digest()


def _threads() -> int:
    """Return the number of threads of a model: half the processors, as searches go on beside it."""
    return max(1, (os.cpu_count() or 1) // 2)


def _hash_samples(path: Path, digest: Any) -> None:
    size = path.stat().st_size
    digest.update(size.to_bytes(8, "little"))
    with path.open("rb") as file:
        for step in range(_SAMPLES):
            file.seek(max(0, (size - _SAMPLE_BYTES) * step // (_SAMPLES - 1)))
            digest.update(file.read(_SAMPLE_BYTES))


def cache_folder() -> Path:
    """Return the model cache: FASTEMBED_CACHE_PATH, else `~/.cache/fastembed`, which survives a reboot."""
    given = os.environ.get("FASTEMBED_CACHE_PATH")
    return Path(given) if given else Path.home() / ".cache" / "fastembed"
