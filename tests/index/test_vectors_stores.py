"""What every vector engine promises, tried on each."""

import builtins
import subprocess
import sys
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mnemark.errors import ConfigError, IntegrityError, ReadOnlyError
from mnemark.index.vectors import discard_other_models, open_store
from mnemark.index.vectors.base import EngineUnavailable, VectorStore
from sampled import examples

DIMENSION = 12
TOLERANCE = {"exact": 0.02, "sqlite-vec": 1e-6, "chroma": 1e-6}
SUFFIX = {"exact": "vec", "sqlite-vec": "vectors.db", "chroma": "chroma"}


@pytest.fixture(params=["exact", "sqlite-vec", "chroma"])
def engine(request: pytest.FixtureRequest) -> str:
    if request.param == "chroma":
        pytest.importorskip("chromadb", reason='pip install "mnemark[chroma]" runs these')
    return str(request.param)


@pytest.fixture
def store(tmp_path: Path, engine: str) -> Iterator[VectorStore]:
    store = open_store(tmp_path, "model", DIMENSION, engine=engine)
    yield store
    store.close()


def keys(*numbers: int) -> list[bytes]:
    return [blake2b(bytes([number]), digest_size=16).digest() for number in numbers]


def vectors(count: int, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).standard_normal((count, DIMENSION)).astype(np.float32)


def contents(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in folder.rglob("*") if path.is_file()]


def spelled(engine: str, key: bytes) -> bytes:
    """A key as the engine writes it."""
    return key.hex().encode() if engine == "chroma" else key


def cosines(matrix: NDArray[np.float32], query: NDArray[np.float32]) -> Any:
    return matrix @ query / np.linalg.norm(matrix, axis=1) / np.linalg.norm(query)


def test_scores_are_cosines_in_the_order_of_the_rows(store: VectorStore, engine: str) -> None:
    matrix = vectors(40)
    rows = store.add(keys(*range(40)), matrix)
    expected = cosines(matrix, matrix[7])
    assert store.engine == engine
    np.testing.assert_allclose(store.scores(matrix[7], rows), expected, atol=TOLERANCE[engine])
    some = np.array([rows[3], -1, rows[3], rows[0]])
    got = store.scores(matrix[7], some)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, [expected[3], 0, expected[3], expected[0]], atol=TOLERANCE[engine])
    many = np.tile(some, 5)
    np.testing.assert_array_equal(store.scores(matrix[7], many), np.tile(got, 5))
    with pytest.raises(IndexError):
        store.scores(matrix[7], np.array([store.count]))


def test_what_is_not_there_is_missing_and_what_is_there_stays(store: VectorStore) -> None:
    first, second = vectors(2)
    store.add(keys(1), first[None])
    rows = store.add(keys(2, 1, 2), np.stack([second, second, first]))
    assert rows.tolist() == [1, 0, 1]
    assert store.missing(keys(9, 1, 2, 9, 8)) == keys(9, 8)
    assert store.scores(first, rows)[1] == pytest.approx(1, abs=1e-5)
    assert store.scores(second, rows)[0] == pytest.approx(1, abs=1e-5)


def test_zero_vectors_and_zero_queries_score_zero(store: VectorStore) -> None:
    matrix = np.vstack([np.zeros((1, DIMENSION), dtype=np.float32), vectors(1)])
    rows = store.add(keys(0, 1), matrix)
    assert store.scores(matrix[1], rows)[0] == 0
    assert store.scores(matrix[0], rows).tolist() == [0, 0]
    assert store.missing(keys(0, 1)) == []


def test_a_reader_follows_the_writer_through_adding_and_compacting(
    tmp_path: Path, store: VectorStore, engine: str
) -> None:
    reader = open_store(tmp_path, "model", DIMENSION, engine=engine, readonly=True)
    matrix = vectors(6)
    store.add(keys(*range(6)), matrix)
    assert reader.lookup(keys(5)).tolist() == [-1]
    assert reader.refresh()
    assert not reader.refresh()
    generation, before = reader.generation, reader.scores(matrix[4], reader.lookup(keys(0, 4)))
    assert store.compact(keys(0, 4, 200)) == 4
    assert reader.refresh()
    assert reader.generation != generation
    # Chroma normalizes vectors again where they are written anew.
    noise = 1e-6 if engine == "chroma" else 0
    np.testing.assert_allclose(
        reader.scores(matrix[4], reader.lookup(keys(0, 4))), before, rtol=0, atol=noise
    )
    assert reader.missing(keys(*range(6))) == keys(1, 2, 3, 5)
    with pytest.raises(ReadOnlyError):
        reader.add(keys(1), matrix[:1])
    with pytest.raises(ReadOnlyError):
        reader.compact([])
    reader.close()


def test_forgotten_vectors_are_gone_from_every_file(tmp_path: Path, store: VectorStore, engine: str) -> None:
    store.add(keys(*range(20)), vectors(20))
    assert any(spelled(engine, keys(3)[0]) in held for held in contents(tmp_path))
    store.compact(keys(*range(3)))
    store.close()
    for held in contents(tmp_path):
        assert not any(spelled(engine, key) in held for key in keys(*range(3, 20)))
        assert not any(vector.tobytes() in held for vector in vectors(20)[3:])


def test_a_reader_before_the_first_writer_sees_nothing_and_makes_nothing(tmp_path: Path, engine: str) -> None:
    reader = open_store(tmp_path / "new", "model", DIMENSION, engine=engine, readonly=True)
    assert reader.count == 0
    assert reader.scores(vectors(1)[0], np.array([-1])).tolist() == [0]
    assert reader.missing(keys(1)) == keys(1)
    assert not (tmp_path / "new").exists()
    open_store(tmp_path / "new", "model", DIMENSION, engine=engine).close()
    assert reader.refresh()
    reader.close()


@pytest.mark.parametrize("content", [b"", b"no such file", b"SQLite format 3\0" + bytes(100)])
def test_a_broken_file_is_refused_by_readers_and_replaced_by_writers(
    tmp_path: Path, engine: str, content: bytes
) -> None:
    open_store(tmp_path, "model", DIMENSION, engine=engine).close()
    (path,) = tmp_path.iterdir()
    (path / "current.json" if engine == "chroma" else path).write_bytes(content)
    with pytest.raises(IntegrityError, match="mnemark sync"):
        open_store(tmp_path, "model", DIMENSION, engine=engine, readonly=True)
    store = open_store(tmp_path, "model", DIMENSION, engine=engine)
    assert store.add(keys(1), vectors(1)).tolist() == [0]
    store.close()


def test_another_dimension_is_never_mixed_in(tmp_path: Path, engine: str) -> None:
    open_store(tmp_path, "model", DIMENSION + 1, engine=engine).close()
    with pytest.raises(IntegrityError, match="dimensions"):
        open_store(tmp_path, "model", DIMENSION, engine=engine, readonly=True)
    store = open_store(tmp_path, "model", DIMENSION, engine=engine)
    store.add(keys(1), vectors(1))
    store.close()


def test_an_unknown_engine_names_the_known(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="exact, sqlite-vec, chroma"):
        open_store(tmp_path, "model", DIMENSION, engine="faiss")


def test_a_missing_extension_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "sqlite_vec":
            raise ModuleNotFoundError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(EngineUnavailable, match=r"mnemark\[sqlite-vec\]"):
        open_store(tmp_path, "model", DIMENSION, engine="sqlite-vec")


def test_a_missing_chroma_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "chromadb", None)
    with pytest.raises(EngineUnavailable, match=r"mnemark\[chroma\]"):
        open_store(tmp_path, "model", DIMENSION, engine="chroma")


def test_a_chroma_whose_files_are_broken_is_set_aside(tmp_path: Path) -> None:
    pytest.importorskip("chromadb", reason='pip install "mnemark[chroma]" runs this')
    open_store(tmp_path, "model", DIMENSION, engine="chroma").close()
    (database,) = tmp_path.rglob("chroma.sqlite3")
    database.write_bytes(b"no such file" * 1000)
    with pytest.raises(IntegrityError, match="mnemark sync"):
        open_store(tmp_path, "model", DIMENSION, engine="chroma", readonly=True)
    store = open_store(tmp_path, "model", DIMENSION, engine="chroma")
    assert store.add(keys(1), vectors(1)).tolist() == [0]
    store.compact(keys(1))
    assert not list(tmp_path.glob("*.set-aside"))
    store.close()


def test_another_process_reads_what_chroma_was_given(tmp_path: Path) -> None:
    pytest.importorskip("chromadb", reason='pip install "mnemark[chroma]" runs this')
    store = open_store(tmp_path, "model", DIMENSION, engine="chroma")
    store.add(keys(1), vectors(1))
    code = (
        "import sys; from pathlib import Path; from mnemark.index.vectors import open_store\n"
        f"store = open_store(Path({str(tmp_path)!r}), 'model', {DIMENSION}, engine='chroma', readonly=True)\n"
        "for _ in sys.stdin: print(store.refresh(), store.count, flush=True)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as reader:
        assert reader.stdin is not None
        assert reader.stdout is not None
        said = []
        for change in (list, lambda: store.add(keys(2), vectors(2)[1:]), lambda: store.compact(keys(2))):
            change()
            reader.stdin.write("\n")
            reader.stdin.flush()
            said.append(reader.stdout.readline().split()[:2])
        reader.stdin.close()
    assert said == [["False", "1"], ["True", "2"], ["True", "1"]]
    store.close()


def test_an_extension_that_does_not_load_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sqlite_vec

    monkeypatch.setattr(sqlite_vec, "loadable_path", lambda: str(tmp_path / "nothing"))
    with pytest.raises(EngineUnavailable, match="exact"):
        open_store(tmp_path, "model", DIMENSION, engine="sqlite-vec")


def test_vectors_of_models_no_longer_used_can_be_discarded(tmp_path: Path, engine: str) -> None:
    for model in ("old", "model", "model-2"):
        open_store(tmp_path, model, DIMENSION, engine=engine).close()
    (tmp_path / "notes.txt").write_text("not ours")
    suffix = SUFFIX[engine]
    assert discard_other_models(tmp_path, "model") == [f"model-2.{suffix}", f"old.{suffix}"]
    assert {path.name for path in tmp_path.iterdir()} == {f"model.{suffix}", "notes.txt"}


step: st.SearchStrategy[tuple[str, list[int]]] = st.one_of(
    st.tuples(st.just("add"), st.lists(st.integers(0, 9), max_size=6)),
    st.tuples(st.just("compact"), st.lists(st.integers(0, 9), max_size=6)),
    st.tuples(st.just("reopen"), st.just([])),
)


@settings(
    max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(step, max_size=8))
def test_any_history_keeps_exactly_what_was_added_and_not_forgotten(
    tmp_path_factory: pytest.TempPathFactory, engine: str, steps: list[tuple[str, list[int]]]
) -> None:
    folder = tmp_path_factory.mktemp("history")
    matrix = vectors(10)
    kept: set[int] = set()
    store = open_store(folder, "model", DIMENSION, engine=engine)
    for what, numbers in steps:
        if what == "add":
            store.add(keys(*numbers), matrix[numbers])
            kept |= set(numbers)
        elif what == "compact":
            assert store.compact(keys(*numbers)) == len(kept - set(numbers))
            kept &= set(numbers)
        else:
            store.close()
            store = open_store(folder, "model", DIMENSION, engine=engine)
        rows = store.lookup(keys(*range(10)))
        assert {number for number in range(10) if rows[number] >= 0} == kept
        expected = np.where(rows >= 0, cosines(matrix, matrix[0]), 0)
        np.testing.assert_allclose(store.scores(matrix[0], rows), expected, atol=TOLERANCE[engine])
    store.close()
