"""`mnemark doctor --fetch`: asked for, told about, and clear where it cannot be done."""

import importlib
import importlib.metadata
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from interfaces.conftest import Shell

# What mnemark uses of fastembed, with a hub that is a folder: a model is "here" once its file is there.
FASTEMBED = """
import os
from pathlib import Path
import numpy as np

class TextEmbedding:
    def __init__(self, model_name, cache_dir=None, local_files_only=False, **_):
        file = Path(cache_dir or "/nowhere") / model_name.replace("/", "--")
        if not file.exists():
            if local_files_only:
                raise ValueError("Could not load model from any source")
            if os.environ.get("FAKE_HUB") == "broken":
                raise ConnectionError("the hub hung up\\nand more")
            file.write_text("model")
    @classmethod
    def list_supported_models(cls):
        return [
            {"model": "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2", "dim": 384,
             "size_in_GB": 0.22, "license": "apache-2.0"},
            {"model": "small/one", "dim": 384, "size_in_GB": 0.05, "license": "mit"},
        ]
    @classmethod
    def get_embedding_size(cls, name):
        found = [m["dim"] for m in cls.list_supported_models() if m["model"] == name]
        if not found:
            raise ValueError(name)
        return found[0]
    def passage_embed(self, texts, batch_size=256):
        return [np.ones(384, np.float32) for _ in texts]
    query_embed = passage_embed
"""
CHOICE = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    packages = tmp_path / "packages"
    (packages / "fastembed-0.9.1.dist-info").mkdir(parents=True)
    (packages / "fastembed-0.9.1.dist-info" / "METADATA").write_text("Name: fastembed\nVersion: 0.9.1\n")
    (packages / "fastembed.py").write_text(FASTEMBED)
    monkeypatch.syspath_prepend(str(packages))
    for name in [name for name in sys.modules if name.split(".")[0] == "fastembed"]:
        monkeypatch.delitem(sys.modules, name)
    importlib.invalidate_caches()
    monkeypatch.setattr("mnemark.embed.fetch._check_hub", lambda: None)
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path / "cache"))
    yield tmp_path / "cache"
    sys.modules.pop("fastembed", None)


def test_it_tells_what_comes_and_how_to_use_it(shell: Shell, cache: Path) -> None:
    shell.write("a.md", "# A\n\nalpha\n")
    shell("sync")
    done = shell("doctor", "--fetch", "--yes")
    assert done.code == 0
    for part in (
        CHOICE,
        "220 MB",
        "apache-2.0",
        str(cache),
        f'embedder = "fastembed:{CHOICE}"',
        "texts per second",
    ):
        assert part in done.err, part
    assert len(list(cache.iterdir())) == 1
    again = shell("doctor", "--fetch")
    assert "is already downloaded" in again.err
    assert "will be downloaded" not in again.err


def test_the_configured_model_is_the_one_that_is_fetched(shell: Shell, cache: Path) -> None:
    shell.write("mnemark.toml", 'embedder = "fastembed:small/one"\n')
    missing = shell("doctor")
    assert "mnemark doctor --fetch" in missing.out + missing.err
    done = shell("doctor", "--fetch", "--yes")
    assert "small/one" in done.err
    assert "To use it" not in done.err
    assert [path.name for path in cache.iterdir()] == ["small--one"]


def test_nothing_is_downloaded_unasked(shell: Shell, cache: Path) -> None:
    refused = shell("doctor", "--fetch")
    assert (refused.code, "--yes" in refused.err) == (2, True)
    assert not cache.exists()


def test_an_unknown_model_and_a_broken_hub(
    shell: Shell, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unknown = shell("doctor", "--fetch", "--model", "no/such", "--yes")
    assert unknown.code == 1
    assert "no/such" in unknown.err
    monkeypatch.setenv("FAKE_HUB", "broken")
    broken = shell("doctor", "--fetch", "--model", "small/one", "--yes")
    assert broken.code == 1
    assert "the hub hung up" in broken.err
    assert "HF_ENDPOINT" in broken.err
    assert "and more" not in broken.err


def test_no_network_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from mnemark.embed import EmbedderUnavailable, fetch

    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: refused
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{taken.getsockname()[1]}")
        with pytest.raises(EmbedderUnavailable, match=r"127\.0\.0\.1 cannot be reached .*network"):
            fetch._check_hub()
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(EmbedderUnavailable, match="HF_HUB_OFFLINE"):
        fetch._check_hub()


@pytest.mark.skipif(importlib.util.find_spec("fastembed") is not None, reason="fastembed is installed")
def test_without_the_package_it_says_what_to_install(shell: Shell) -> None:
    told = shell("doctor", "--fetch", "--yes")
    assert told.code == 1
    assert 'pip install "mnemark[fastembed]"' in told.err


def test_options_of_fetch_alone_are_a_mistake(shell: Shell) -> None:
    assert shell("doctor", "--model", "small/one").code == 2
