"""Every block of the page on frameworks runs as it stands, where its framework is."""

from pathlib import Path

import pytest

import running_pages
from frameworks import models

PAGE = Path(__file__).parents[2] / "docs/agents/frameworks.md"
RECIPE = Path(__file__).parents[2] / "docs/howto/langgraph.md"
PACKAGES = ["anthropic", "langgraph", "agents", "claude_agent_sdk", "google.adk", "llama_index.core"]
"""Of `make adapters`."""
FRAMEWORKS = {
    "pydantic_ai": models.pydantic_ai, "langchain": models.langchain, "crewai": models.crewai,
    "agno.agent": models.agno, "strands": models.strands, "agent_framework": models.agent_framework,
    "smolagents": models.smolagents, "haystack": models.haystack,
}  # fmt: skip
"""Of `make frameworks`."""
NAMES = [*PACKAGES, *FRAMEWORKS]
BLOCKS = [block for block in running_pages.python(PAGE) if not block.startswith("# ")]
"""Others are files, which test_hermes.py and test_litellm.py write where they belong."""


@pytest.mark.filterwarnings("default")  # the framework's own
def test_the_recipe_runs(tmp_path: Path) -> None:
    pytest.importorskip("langgraph", reason="run `make adapters`")
    for block in running_pages.python(RECIPE):
        exec(compile(block, str(RECIPE), "exec"), {"folder": tmp_path / "w"})
    assert list((tmp_path / "w/users/ann").iterdir())


def test_a_block_for_each_framework() -> None:
    assert len(BLOCKS) == len(NAMES)


@pytest.mark.parametrize(("package", "block"), list(zip(NAMES, BLOCKS, strict=True)), ids=NAMES)
@pytest.mark.filterwarnings("default")  # the frameworks' own
@pytest.mark.usefixtures("left")
def test_the_block_runs(package: str, block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(package, reason="run `make adapters` or `make frameworks`")
    monkeypatch.setenv("HOME", str(tmp_path))
    given = {"folder": tmp_path / "mnemark"}
    if package in FRAMEWORKS:
        given["model"] = FRAMEWORKS[package](models.Script("Kestrel."))
    exec(compile(block, str(PAGE), "exec"), given)
    assert (tmp_path / "mnemark").is_dir()
    if package in FRAMEWORKS:
        (log,) = tmp_path.glob("mnemark/sessions/*.jsonl")
        assert "Kestrel." in log.read_text("utf-8")
