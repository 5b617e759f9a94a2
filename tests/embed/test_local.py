import base64
import importlib.util
import json
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

from mnemark.embed import EmbedderUnavailable, make
from mnemark.embed.local import _Folder

INSTALLED = importlib.util.find_spec("fastembed") is not None
with_fastembed = pytest.mark.skipif(not INSTALLED, reason="needs mnemark[fastembed]")

# A model of one Gather: ten words, four dimensions. Made with the onnx package, deflated.
MODEL = zlib.decompress(
    base64.b85decode(
        "c-rIOv^vkkrOm~hnw!MMnVDBmS`wd`QY<8xlUQ65pOKl8lA0G^T#{Ils>J4=Sdx)iB*d7mwT_X4i-"
        "Sdg(Fvr@YXRe|nKSLqp7F5<(P?SR_NS$#*`Gag#*Tr3VgIa|l3+GSjsXJfjg5`>1J&<?$%6!e^80{"
        "d`$05}4>SuX*8tS7bHLd6GguGMERZ^oeL%a|9L}EU*$)x}YH<LW1vDFE9!P9IMBN$NC|P8`32^aou"
        "nTc<F$*y!fr#QLB`&_il9JTClFa<P_}s+eY)mytnp~J+A|%2k#K9=Uhfv1F#KGdk!o?sU2mq3|b0+"
    )
)
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "cat", "dog", "query", "tax", ":"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files: dict[str, object] = {
        "config.json": {"hidden_size": 4, "pad_token_id": 0},
        "tokenizer_config.json": {"model_max_length": 64, "pad_token": "[PAD]"},
        "special_tokens_map.json": {"pad_token": "[PAD]", "unk_token": "[UNK]"},
        "tokenizer.json": {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [],
            "normalizer": None,
            "pre_tokenizer": {"type": "Whitespace"},
            "post_processor": None,
            "decoder": None,
            "model": {
                "type": "WordLevel",
                "vocab": {word: number for number, word in enumerate(WORDS)},
                "unk_token": "[UNK]",
            },
        },
    }
    path = tmp_path / "tiny-model"
    path.mkdir()
    for name, value in files.items():
        (path / name).write_text(json.dumps(value))
    (path / "model.onnx").write_bytes(MODEL)
    return path


@pytest.mark.skipif(INSTALLED, reason="fastembed is installed")
def test_without_the_package_the_message_says_what_to_install() -> None:
    with pytest.raises(EmbedderUnavailable, match=r'pip install "mnemark\[fastembed\]"'):
        make("fastembed:BAAI/bge-small-en-v1.5")


@pytest.mark.parametrize("absent", ["config.json", "tokenizer.json", "special_tokens_map.json", "model.onnx"])
def test_a_folder_that_lacks_a_file_says_which(folder: Path, absent: str) -> None:
    (folder / absent).unlink()
    with pytest.raises(EmbedderUnavailable, match=absent):
        _Folder(folder)


@pytest.mark.parametrize("config", ["{", "[]", "{}", '{"hidden_size": "4"}', "\0"])
def test_a_folder_with_a_broken_configuration_says_so(folder: Path, config: str) -> None:
    (folder / "config.json").write_text(config)
    with pytest.raises(EmbedderUnavailable, match=r"config\.json"):
        _Folder(folder)


def test_a_folder_changes_its_identity_with_all_that_changes_its_vectors(folder: Path) -> None:
    def identity() -> bytes:
        return _Folder(folder).identity

    seen = {identity()}
    assert identity() in seen
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    assert _Folder(folder).pools_first_token
    seen.add(identity())
    (folder / "config_sentence_transformers.json").write_text('{"prompts": {"query": "query: "}}')
    seen.add(identity())
    (folder / "model.onnx").write_bytes(MODEL[:-1] + b"\0")
    seen.add(identity())
    (folder / "tokenizer.json").write_text("{}")
    seen.add(identity())
    (folder / "model.onnx_data").write_bytes(b"weights")
    seen.add(identity())
    assert len(seen) == 6


@with_fastembed
def test_a_folder_gives_unit_vectors_and_zero_for_blank_text(folder: Path) -> None:
    embedder = make(f"fastembed:{folder}")
    matrix = embedder.passages(["cat", "cat dog", " ", "tax\udcff"])
    assert matrix.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(matrix, axis=1), [1, 1, 0, 1], atol=1e-5)
    np.testing.assert_allclose(embedder.query("cat"), matrix[0], atol=1e-6)
    assert embedder.dimension == 4
    assert "tiny-model-4-" in embedder.name


@with_fastembed
def test_the_models_own_prefixes_are_used(folder: Path) -> None:
    plain = make(f"fastembed:{folder}")
    expected = plain.passages(["query: cat", "tax : cat"])
    prompts = {"prompts": {"query": "query: ", "document": "tax : "}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    prefixed = make(f"fastembed:{folder}")
    np.testing.assert_allclose(prefixed.query("cat"), expected[0], atol=1e-6)
    np.testing.assert_allclose(prefixed.passages(["cat"])[0], expected[1], atol=1e-6)
    assert prefixed.name != plain.name


@with_fastembed
def test_a_process_may_end_while_a_thread_embeds(folder: Path) -> None:
    code = (
        "import threading, time\n"
        "from mnemark.embed import make\n"
        f"embedder = make({f'fastembed:{folder}'!r})\n"
        "embedder.query('cat')\n"
        "def embed():\n"
        "    while True:\n"
        "        embedder.passages(['cat dog ' * 30] * 2000)\n"
        "threading.Thread(target=embed, daemon=True).start()\n"
        "time.sleep(0.3)\n"
    )
    for _ in range(3):
        ended = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=False)
        assert (ended.returncode, b"terminate" in ended.stderr) == (0, False)


@with_fastembed
def test_a_broken_model_is_an_error_and_never_vectors(folder: Path) -> None:
    (folder / "model.onnx").write_bytes(b"junk")
    with pytest.raises(EmbedderUnavailable, match="cannot be loaded"):
        make(f"fastembed:{folder}").query("cat")


@pytest.mark.timed
@with_fastembed
def test_a_model_that_is_not_here_names_the_command_and_does_not_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tempfile
    import time

    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    start = time.monotonic()
    with pytest.raises(EmbedderUnavailable, match="download it with `mnemark doctor --fetch"):
        make("fastembed:BAAI/bge-small-en-v1.5").query("cat")
    assert time.monotonic() - start < 5
    with pytest.raises(EmbedderUnavailable, match="does not know"):
        make("fastembed:no/such-model").query("cat")
