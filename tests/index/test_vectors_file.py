import errno
import os
import threading
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mnemark.errors import IntegrityError, NewerFormatError, ReadOnlyError
from mnemark.files.platform import FS
from mnemark.index.vectors.keys import KeyIndex, Packed, as_words
from mnemark.index.vectors.mapped_file import VectorFile
from sampled import examples

DIMENSION = 24


def key(number: int) -> bytes:
    return blake2b(number.to_bytes(8, "little"), digest_size=16).digest()


def keys(*numbers: int) -> list[bytes]:
    return [key(number) for number in numbers]


def vectors(count: int, seed: int = 0, dimension: int = DIMENSION) -> NDArray[np.float32]:
    matrix = np.random.default_rng(seed).standard_normal((count, dimension))
    unit: NDArray[np.float32] = (matrix / np.linalg.norm(matrix, axis=1, keepdims=True)).astype(np.float32)
    return unit


def opened(folder: Path, *, readonly: bool = False) -> VectorFile:
    return VectorFile.open(folder, "model-1", DIMENSION, readonly=readonly)


def test_what_was_added_is_found_and_scored_after_reopening(tmp_path: Path) -> None:
    matrix = vectors(50)
    with opened(tmp_path) as store:
        assert store.add(keys(*range(50)), matrix).tolist() == list(range(50))
    with opened(tmp_path, readonly=True) as store:
        assert store.lookup(keys(7, 99, 0)).tolist() == [7, -1, 0]
        assert store.missing(keys(3, 77, 99, 77)) == keys(77, 99)
        np.testing.assert_allclose(store.scores(matrix[3]), matrix @ matrix[3], atol=0.01)
        assert store.scores(matrix[3])[3] == pytest.approx(1, abs=1e-5)


def test_rows_are_scored_in_the_order_asked_and_minus_one_is_zero(tmp_path: Path) -> None:
    matrix = vectors(50)
    with opened(tmp_path) as store:
        store.add(keys(*range(50)), matrix)
        everything = store.scores(matrix[0])
        few = np.array([9, -1, 3, 9])
        many = np.tile(few, 10)
        expected = [everything[9], 0, everything[3], everything[9]]
        np.testing.assert_array_equal(store.scores(matrix[0], few), np.array(expected, dtype=np.float32))
        np.testing.assert_array_equal(
            store.scores(matrix[0], many), np.array(expected * 10, dtype=np.float32)
        )
        assert store.scores(matrix[0], np.empty(0, dtype=np.int64)).shape == (0,)


@pytest.mark.parametrize("wrong", [-2, 50])
@pytest.mark.parametrize("times", [1, 40])
def test_a_row_that_is_not_there_is_an_error(tmp_path: Path, wrong: int, times: int) -> None:
    with opened(tmp_path) as store:
        store.add(keys(*range(50)), vectors(50))
        with pytest.raises(IndexError):
            store.scores(vectors(1)[0], np.full(times, wrong))


def test_rows_that_are_checked_once_are_checked_again_when_the_store_shrinks(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        there = store.add(keys(*range(50)), vectors(50))
        there.setflags(write=False)
        before = store.scores(vectors(1)[0], there)
        np.testing.assert_array_equal(store.scores(vectors(1)[0], there), before)
        store.compact(keys(*range(49)))
        with pytest.raises(IndexError):
            store.scores(vectors(1)[0], there)
        wrong = np.array([-2])
        wrong.setflags(write=False)
        for _ in range(2):  # known as wrong, however many there are by then
            with pytest.raises(IndexError):
                store.scores(vectors(1)[0], wrong)
            store.add(keys(*range(100, 200)), vectors(100))


def test_rows_that_can_change_are_checked_each_time(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        rows = store.add(keys(*range(5)), vectors(5))
        store.scores(vectors(1)[0], rows)
        rows[2] = 5
        with pytest.raises(IndexError):
            store.scores(vectors(1)[0], rows)


def test_an_empty_store_scores_nothing_and_a_missing_vector_zero(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        assert store.scores(vectors(1)[0]).shape == (0,)
        assert store.scores(vectors(1)[0], np.array([-1, -1])).tolist() == [0, 0]
        assert store.lookup([]).tolist() == []
        assert store.add([], np.empty((0, DIMENSION), dtype=np.float32)).tolist() == []
        assert store.compact([]) == 0


def test_a_zero_vector_scores_zero_on_both_sides(tmp_path: Path) -> None:
    matrix = np.vstack([np.zeros((1, DIMENSION)), vectors(1), np.full((1, DIMENSION), 1e-38)]).astype(
        np.float32
    )
    with opened(tmp_path) as store:
        store.add(keys(0, 1, 2), matrix)
        assert store.scores(matrix[1])[[0, 2]].tolist() == [0, 0]
        assert store.scores(matrix[0]).tolist() == [0, 0, 0]
        assert not store.missing(keys(0, 1, 2))


def test_a_known_key_keeps_its_vector_and_of_two_the_first_counts(tmp_path: Path) -> None:
    first, second, third = vectors(3)
    with opened(tmp_path) as store:
        store.add([key(1)], first[None])
        rows = store.add(keys(2, 1, 2), np.stack([second, second, third]))
        assert rows.tolist() == [1, 0, 1]
        assert store.count == 2
        assert store.scores(first)[0] == pytest.approx(1, abs=1e-5)
        assert store.scores(second)[1] == pytest.approx(1, abs=1e-5)


def test_a_reader_sees_what_is_added_when_it_refreshes(tmp_path: Path) -> None:
    reader = opened(tmp_path, readonly=True)
    assert reader.count == 0
    assert not reader.refresh()
    writer = opened(tmp_path)
    assert reader.refresh()
    for batch in range(3):
        writer.add(keys(batch), vectors(1, batch))
        assert reader.lookup(keys(batch)).tolist() == [-1]
        assert reader.refresh()
        assert reader.lookup(keys(0, batch)).tolist() == [0, batch]
    assert not reader.refresh()


def test_a_torn_tail_is_not_seen_and_is_written_over(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.add(keys(0, 1), vectors(2))
    path = tmp_path / "model-1.vec"
    with path.open("ab") as file:
        file.write(os.urandom(500))
    with opened(tmp_path) as store:
        assert store.count == 2
        store.add(keys(2), vectors(1, 5))
        assert store.lookup(keys(0, 1, 2)).tolist() == [0, 1, 2]
        assert store.scores(vectors(1, 5)[0])[2] == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("cut", [1, 43, 44, 45, 100])
def test_a_file_that_was_cut_short_keeps_its_whole_rows(tmp_path: Path, cut: int) -> None:
    with opened(tmp_path) as store:
        store.add(keys(*range(5)), vectors(5))
    path = tmp_path / "model-1.vec"
    os.truncate(path, path.stat().st_size - cut)
    with opened(tmp_path) as store:
        whole = 5 - -(-cut // 44)
        assert store.count == whole
        assert not store.refresh()
        assert store.missing(keys(*range(5))) == keys(*range(whole, 5))
        store.add(keys(*range(5)), vectors(5))
        assert store.lookup(keys(*range(5))).tolist() == list(range(5))
        np.testing.assert_allclose(store.scores(vectors(5)[4]), vectors(5) @ vectors(5)[4], atol=0.02)


@pytest.mark.parametrize("fails_at", [1, 2])
def test_a_disk_that_fails_while_adding_leaves_a_good_prefix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails_at: int
) -> None:
    store = opened(tmp_path)
    store.add(keys(0, 1), vectors(2))
    calls = []

    def sync(fd: int) -> None:
        calls.append(fd)
        if len(calls) == fails_at:
            raise OSError(errno.ENOSPC, "no space left")

    with monkeypatch.context() as patched:
        patched.setattr(FS, "sync", sync)
        with pytest.raises(OSError, match="no space"):
            store.add(keys(2, 3), vectors(2, 5))
    for again in (store, opened(tmp_path)):
        again.refresh()
        assert again.count in {2, 4}
        assert again.add(keys(0, 2, 3, 1), vectors(4, 9)[[0, 1, 2, 3]]).tolist() == [0, 2, 3, 1]
    np.testing.assert_allclose(store.scores(vectors(2)[1])[:2], vectors(2) @ vectors(2)[1], atol=0.02)


def damage_magic(path: Path) -> None:
    path.write_bytes(b"x" + path.read_bytes()[1:])


def damage_header(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[40] ^= 1
    path.write_bytes(data)


def cut_header(path: Path) -> None:
    os.truncate(path, 100)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def damage_scale(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[256 + 16 : 256 + 20] = np.float32("nan").tobytes()
    path.write_bytes(data)


def other_dimension(path: Path) -> None:
    path.unlink()
    VectorFile.open(path.parent, "model-1", DIMENSION + 1).close()


def other_model(path: Path) -> None:
    VectorFile.open(path.parent, "model-2", DIMENSION).close()
    path.with_name("model-2.vec").replace(path)


@pytest.mark.parametrize(
    "damage",
    [damage_magic, damage_header, cut_header, empty, damage_scale, other_dimension, other_model],
    ids=lambda damage: damage.__name__,
)
def test_an_unusable_file_is_set_aside_by_writers_and_refused_by_readers(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    with opened(tmp_path) as store:
        store.add(keys(0), vectors(1))
    path = tmp_path / "model-1.vec"
    damage(path)
    before = path.read_bytes()
    with pytest.raises(IntegrityError, match="mnemark sync"):
        opened(tmp_path, readonly=True)
    with opened(tmp_path) as store:
        assert store.count == 0
        assert store.set_aside is not None
        assert store.set_aside.read_bytes() == before
        store.add(keys(0), vectors(1))
        assert store.compact(keys(0)) == 0
        assert not store.set_aside.exists()
        assert store.lookup(keys(0)).tolist() == [0]


def test_a_file_of_a_newer_format_is_left_alone(tmp_path: Path) -> None:
    import zlib

    opened(tmp_path).close()
    path = tmp_path / "model-1.vec"
    data = bytearray(path.read_bytes())
    data[8] = 2
    data[240:244] = zlib.crc32(data[:240]).to_bytes(4, "little")
    path.write_bytes(data)
    for readonly in (True, False):
        with pytest.raises(NewerFormatError, match="upgrade"):
            opened(tmp_path, readonly=readonly)
    assert path.read_bytes() == data


def test_compacting_takes_the_bytes_of_forgotten_vectors_off_the_disk(tmp_path: Path) -> None:
    matrix = vectors(6)
    store, reader = opened(tmp_path), opened(tmp_path, readonly=True)
    store.add(keys(*range(6)), matrix)
    reader.refresh()
    path = tmp_path / "model-1.vec"
    row = path.read_bytes()[256 + 2 * 44 : 256 + 3 * 44]
    generation, old = store.generation, store.scores(matrix[4])
    assert store.compact(keys(4, 0, 5, 99)) == 3
    assert row[:16] == key(2)
    assert all(row[:16] not in file.read_bytes() for file in tmp_path.iterdir())
    assert all(row[20:] not in file.read_bytes() for file in tmp_path.iterdir())
    assert store.generation != generation
    assert store.lookup(keys(0, 2, 4, 5)).tolist() == [0, -1, 1, 2]
    np.testing.assert_array_equal(store.scores(matrix[4]), old[[0, 4, 5]])
    assert reader.count == 6
    assert reader.refresh()
    assert reader.lookup(keys(0, 2, 4, 5)).tolist() == [0, -1, 1, 2]


def test_compacting_also_takes_off_what_a_crash_left_behind_the_rows(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.add(keys(0), vectors(1))
        with (tmp_path / "model-1.vec").open("ab") as file:
            file.write(b"forgotten vector")
        assert store.compact(keys(0)) == 0
        assert b"forgotten vector" not in (tmp_path / "model-1.vec").read_bytes()


def test_compacting_when_all_is_kept_changes_nothing(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.add(keys(0, 1), vectors(2))
        generation = store.generation
        assert store.compact(keys(0, 1)) == 0
        assert store.generation == generation


def test_a_deleted_file_is_an_empty_one_to_readers(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.add(keys(0), vectors(1))
        reader = opened(tmp_path, readonly=True)
        (tmp_path / "model-1.vec").unlink()
        assert reader.refresh()
        assert reader.lookup(keys(0)).tolist() == [-1]


def test_readers_do_not_write(tmp_path: Path) -> None:
    store = opened(tmp_path / "not" / "there", readonly=True)
    with pytest.raises(ReadOnlyError):
        store.add(keys(0), vectors(1))
    with pytest.raises(ReadOnlyError):
        store.compact([])
    assert not (tmp_path / "not").exists()


@pytest.mark.parametrize("name", ["", "a/b", "..", ".hidden", "a b", "a" * 130, "ü"])
def test_names_that_are_no_file_names_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="file name"):
        VectorFile.open(tmp_path, name, DIMENSION)


def test_wrong_shapes_and_values_are_refused_and_leave_nothing(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        with pytest.raises(ValueError, match="expected"):
            store.add(keys(0), vectors(2))
        with pytest.raises(ValueError, match="finite"):
            store.add(keys(0), np.full((1, DIMENSION), np.nan, dtype=np.float32))
        with pytest.raises(ValueError, match="16 bytes"):
            store.add([b"short"], vectors(1))
        with pytest.raises(ValueError, match="expected"):
            store.scores(np.zeros(3, dtype=np.float32))
        assert store.count == 0


def test_readers_in_threads_always_see_a_consistent_prefix(tmp_path: Path) -> None:
    writer, reader = opened(tmp_path), opened(tmp_path, readonly=True)
    matrix = vectors(300)
    query = matrix[0]
    expected = matrix @ query
    done, wrong = threading.Event(), []

    def read() -> None:
        while not done.is_set():
            reader.refresh()
            got = reader.scores(query)
            if len(got) and float(np.abs(got - expected[: len(got)]).max()) > 0.02:
                wrong.append(len(got))

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for start in range(0, 300, 30):
            writer.add(keys(*range(start, start + 30)), matrix[start : start + 30])
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert not wrong
    reader.refresh()
    assert reader.count == 300


def test_keys_that_share_their_first_half_are_found_as_fast() -> None:
    words = as_words([number.to_bytes(16, "big") for number in range(20_000)])
    index = KeyIndex(words[:10_000]).extended(words[10_000:])
    assert index.find(words).tolist() == list(range(20_000))
    assert index.find(words + np.array([1, 0], dtype=np.uint64)).max() == -1


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.lists(st.binary(min_size=2, max_size=2), max_size=8), max_size=6),
    st.lists(st.binary(min_size=2, max_size=2)),
)
def test_the_key_index_agrees_with_a_dictionary(batches: list[list[bytes]], asked: list[bytes]) -> None:
    # Few first words and few second words: runs of equal first words, duplicates, extremes.
    def spread(pair: bytes) -> bytes:
        return bytes([pair[0] % 3 * 127]) * 8 + bytes([pair[1] % 3]) * 8

    plain: dict[bytes, int] = {}
    index, row = KeyIndex(), 0
    for batch in batches:
        index = index.extended(as_words([spread(pair) for pair in batch]))
        for pair in batch:
            plain.setdefault(spread(pair), row)
            row += 1
    found = index.find(as_words([spread(pair) for pair in asked])).tolist()
    assert found == [plain.get(spread(pair), -1) for pair in asked]


def test_several_that_open_a_new_file_at_once_all_have_it(tmp_path: Path) -> None:
    failed: list[BaseException] = []

    def begin(folder: Path, gate: threading.Barrier) -> None:
        gate.wait()
        try:
            opened(folder).close()
        except BaseException as error:  # noqa: BLE001 - told below
            failed.append(error)

    for number in range(40):
        gate = threading.Barrier(4)
        threads = [threading.Thread(target=begin, args=(tmp_path / str(number), gate)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failed == []


def test_keys_as_columns_have_them_are_as_keys_one_by_one(tmp_path: Path) -> None:
    one_by_one = keys(7, 99, 0, 7)
    columns = np.zeros(4, [("other", "u1"), ("key", "u1", (16,))])  # not one after the other in memory
    columns["key"] = np.frombuffer(b"".join(one_by_one), np.uint8).reshape(-1, 16)
    packed = Packed(columns["key"])
    assert list(packed) == [packed[at] for at in range(4)] == one_by_one
    assert list(packed[1:3]) == one_by_one[1:3]
    with opened(tmp_path) as store:
        store.add(keys(*range(10)), vectors(10))
        assert store.lookup(packed).tolist() == store.lookup(one_by_one).tolist() == [7, -1, 0, 7]
    assert as_words(Packed(np.zeros((0, 16), np.uint8))).shape == (0, 2)
