"""The package as a whole."""

import re
from pathlib import Path

import pytest

import mnemark

ROOT = Path(__file__).parent.parent
_FROM_INDEX = re.compile(
    r"(?:pip install|pipx inject \S+|--with|uvx|uv tool install) +(?:-\S+ +)*[\"']?mnemark"
)


def test_version_is_a_release_number() -> None:
    assert mnemark.__version__.count(".") == 2


def test_no_page_installs_from_an_index_what_is_not_released_there() -> None:
    if f"## {mnemark.__version__}, not released yet" not in (ROOT / "CHANGELOG.md").read_text("utf-8"):
        pytest.skip("it is released")
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "README.zh-CN.md"]
    told = [path.name for path in pages if _FROM_INDEX.search(path.read_text("utf-8"))]
    assert told == []
