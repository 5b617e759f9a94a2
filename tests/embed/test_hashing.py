import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemark.embed import make
from mnemark.embed.hashing import HashingEmbedder
from mnemark.errors import ConfigError


def test_texts_that_share_words_are_nearer_than_texts_that_do_not() -> None:
    embedder = HashingEmbedder()
    cat, cats, tax = embedder.passages(["a picture of the cat", "pictures of cats", "quarterly tax return"])
    assert cat @ cats > 0.2
    assert abs(cat @ tax) < 0.2


def test_chinese_without_spaces_shares_characters_and_pairs() -> None:
    embedder = HashingEmbedder()
    query = embedder.query("会议记录")
    near, far = embedder.passages(["今天的会议记录写好了", "周末去爬山"])
    assert query @ near > 0.3 > abs(query @ far)


def test_width_and_case_do_not_matter() -> None:
    embedder = HashingEmbedder()
    assert np.array_equal(embedder.query("PYTHON 3"), embedder.query("python ３"))


def test_text_without_a_word_is_a_zero_row() -> None:
    matrix = HashingEmbedder().passages(["", " \n", "…！?", "\udc80"])
    assert matrix.shape == (4, 256)
    assert matrix.dtype == np.float32
    assert not matrix.any()


def test_no_texts_is_no_rows() -> None:
    assert HashingEmbedder(64).passages([]).shape == (0, 64)


@given(st.text(), st.integers(1, 300))
def test_every_vector_is_unit_or_zero(text: str, dimension: int) -> None:
    vector = HashingEmbedder(dimension).query(text)
    assert vector.shape == (dimension,)
    norm = float(np.linalg.norm(vector))
    assert norm == pytest.approx(1, abs=1e-5) or norm == 0


def test_another_process_gets_the_same_vector() -> None:
    program = (
        "from mnemark.embed.hashing import HashingEmbedder;"
        "print(HashingEmbedder(32).query('stable 稳定').tobytes().hex())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == HashingEmbedder(32).query("stable 稳定").tobytes().hex()


def test_names_tell_dimensions_apart_and_nobody_takes_it_for_meaning() -> None:
    assert HashingEmbedder(64).name != HashingEmbedder(128).name
    assert not HashingEmbedder().semantic
    assert make("hashing", dimension=32).dimension == 32


@pytest.mark.parametrize("spec", ["", "openai", "api", "api:", "hashing:x", "bundled:", "none", "fastembed"])
def test_an_unknown_spec_names_right_ones(spec: str) -> None:
    with pytest.raises(ConfigError, match="api:text-embedding-3-small"):
        make(spec)


def test_the_package_imports_without_numpy() -> None:
    program = (
        "import sys, mnemark.embed, mnemark.index.vectors;"
        "print('numpy' in sys.modules, 'httpx' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
