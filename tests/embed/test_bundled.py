"""The bundled embedder, at the edges its users touch."""

import threading
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemark.embed.bundled import DATA, BundledEmbedder
from mnemark.embed.rows import _SCANS, WordRows
from mnemark.embed.sections import read_sections, unpack_words
from mnemark.errors import IntegrityError
from sampled import examples

EMBEDDER = BundledEmbedder()


def closest(question: str, texts: list[str]) -> int:
    return int(np.argmax(EMBEDDER.passages(texts) @ EMBEDDER.query(question)))


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("how do I fix my car", ["automobile repair", "boil the rice slowly", "the violin concert"]),
        ("她为什么难过", ["她感到悲伤", "服务器重启", "汽车加油"]),
        ("昨天晚上吃了什么", ["we had noodles for dinner", "the server crashed", "a new bicycle"]),
        ("who is afraid of dogs", ["他害怕狗", "他喜欢咖啡", "会议改到周五"]),
    ],
)
def test_finds_meaning_across_wording_and_language(question: str, texts: list[str]) -> None:
    assert closest(question, texts) == 0


def test_shape_type_and_length() -> None:
    vectors = EMBEDDER.passages(["hello world", "你好，世界", ""])
    assert vectors.shape == (3, EMBEDDER.dimension)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 0], abs=1e-5)
    assert EMBEDDER.passages([]).shape == (0, EMBEDDER.dimension)
    assert EMBEDDER.query("hello").shape == (EMBEDDER.dimension,)


@pytest.mark.parametrize("text", ["", " \n", "3.12.4", "v2 2026-02-13", "the of and", "的了是", "!?…", "😀"])
def test_what_has_no_meaning_has_no_vector(text: str) -> None:
    assert not EMBEDDER.query(text).any()


def test_numbers_and_function_words_change_nothing() -> None:
    bare = EMBEDDER.query("python release")
    np.testing.assert_array_equal(EMBEDDER.query("the 3.12.4 python release of 2026"), bare)


def test_traditional_chinese_case_width_and_accents_are_one() -> None:
    np.testing.assert_array_equal(EMBEDDER.query("開發軟體"), EMBEDDER.query("开发软体"))
    np.testing.assert_array_equal(EMBEDDER.query("CAFÉ Naïve"), EMBEDDER.query("cafe naive"))
    np.testing.assert_array_equal(EMBEDDER.query("ｈｅｌｌｏ"), EMBEDDER.query("hello"))


def test_unknown_words_fall_back_to_their_pieces() -> None:
    assert EMBEDDER.query("photoblogging").any()
    assert EMBEDDER.query("咖啡馆长").any()
    assert not EMBEDDER.query("q" * 40).any()


def test_same_bytes_whatever_stands_beside() -> None:
    texts = [f"note {word} 关于{word}" for word in ("coffee", "python", "旅行", "rain")] * 100
    together = EMBEDDER.passages(texts)
    alone = np.array([BundledEmbedder().query(text) for text in texts[:4]] * 100)
    assert together.tobytes() == alone.tobytes()


def test_rarity_in_the_corpus_weighs_the_words_of_a_question() -> None:
    question = "Caroline 的咖啡"
    np.testing.assert_allclose(
        EMBEDDER.query_weighted(question, lambda word: 2.5), EMBEDDER.query(question), atol=1e-5
    )
    without_name = EMBEDDER.query_weighted(question, lambda word: 0.0 if word == "caroline" else 1.0)
    np.testing.assert_array_equal(without_name, EMBEDDER.query("咖啡"))
    assert not EMBEDDER.query_weighted(question, lambda word: -1.0).any()
    assert not EMBEDDER.query_weighted("3.12", lambda word: 1.0).any()


def test_two_threads_may_load_and_encode() -> None:
    embedder = BundledEmbedder()
    found: list[bytes] = []

    def work() -> None:
        found.append(embedder.passages(["雨天 rain"]).tobytes())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert len(found) == 4


def test_name_tells_tables_apart_and_is_a_file_name() -> None:
    assert EMBEDDER.name.startswith("bundled-")
    assert EMBEDDER.name.endswith(f"-{EMBEDDER.dimension}")
    assert EMBEDDER.name.replace("-", "").isalnum()


def test_damaged_data_is_an_error_that_says_so(tmp_path: Path) -> None:
    broken = tmp_path / "embedder.bin"
    with pytest.raises(IntegrityError, match="reinstall"):
        BundledEmbedder(broken).query("hello")
    broken.write_bytes(b"something else")
    with pytest.raises(IntegrityError, match="reinstall"):
        BundledEmbedder(broken).query("hello")
    broken.write_bytes(DATA.read_bytes()[:-100_000])
    with pytest.raises(IntegrityError, match="cut off"):
        BundledEmbedder(broken).query("hello")


@settings(max_examples=examples(60), deadline=None)
@given(st.text(max_size=80))
def test_any_text_gives_a_unit_vector_or_nothing(text: str) -> None:
    length = float(np.linalg.norm(EMBEDDER.query(text)))
    assert length == pytest.approx(1, abs=1e-4) or length == 0


def test_a_second_workspace_takes_no_second_table() -> None:
    BundledEmbedder().query("database")  # loaded
    tracemalloc.start()
    second = BundledEmbedder()
    second.query("database 数据库")
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 1_000_000


def test_a_word_has_the_same_row_before_and_after_all_words_are_read() -> None:
    section = read_sections(DATA).arrays["words"]
    words = unpack_words(section)
    asked = [words[0], words[-1], *words[:: len(words) // 10], "", "the", "zzqx", "a\nb", *words[5:10]]
    rows = WordRows(section.tobytes(), ["the"], 1.0)
    assert len(asked) > _SCANS
    places = {word: place for place, word in enumerate(words)} | {"the": -1}
    assert [rows._row(word) for word in asked] == [places.get(word) for word in asked]


def test_numbers_and_codes_are_not_kept() -> None:
    rows = WordRows(b"cache\nindex", ["the"], 1.0)
    texts = [f"cache {n:08x}a1 index" for n in range(5_000)]
    rows.bags(texts[:100])
    tracemalloc.start()
    try:
        found = rows.bags(texts)
        assert set(found.sizes.tolist()) == {2}
        del found
        assert tracemalloc.get_traced_memory()[0] < 100_000
    finally:
        tracemalloc.stop()
