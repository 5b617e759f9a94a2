"""Every block of the page on frameworks runs as it stands."""

from pathlib import Path

import pytest

import running_pages

PAGE = Path(__file__).parents[2] / "docs/agents/frameworks.md"
PACKAGES = ["anthropic", "langgraph", "agents", "claude_agent_sdk", "google.adk", "llama_index.core"]
BLOCKS = running_pages.python(PAGE)
RECIPE = Path(__file__).parents[2] / "docs/howto/langgraph.md"


@pytest.mark.filterwarnings("default")  # the framework's own
def test_the_recipe_runs(tmp_path: Path) -> None:
    pytest.importorskip("langgraph", reason="run `make adapters`")
    for block in running_pages.python(RECIPE):
        exec(compile(block, str(RECIPE), "exec"), {"folder": tmp_path / "w"})
    assert list((tmp_path / "w/users/ann").iterdir())


def test_a_block_for_each_framework() -> None:
    assert len(BLOCKS) == len(PACKAGES)


@pytest.mark.parametrize(("package", "block"), list(zip(PACKAGES, BLOCKS, strict=True)), ids=PACKAGES)
@pytest.mark.filterwarnings("default")  # the frameworks' own
def test_the_block_runs(package: str, block: str, tmp_path: Path) -> None:
    pytest.importorskip(package, reason="run `make adapters`")
    exec(compile(block, str(PAGE), "exec"), {"folder": tmp_path / "w"})
    assert (tmp_path / "w").is_dir()
