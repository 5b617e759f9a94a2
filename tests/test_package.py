"""The package as a whole."""

import re
from pathlib import Path

import mnemark

ROOT = Path(__file__).parent.parent
_FROM_INDEX = re.compile(
    r"(?:pip install|pipx inject \S+|--with|uvx|uv tool install) +(?:-\S+ +)*[\"']?mnemark"
)


def test_version_is_a_release_number() -> None:
    assert mnemark.__version__.count(".") == 2
    assert f"\n## {mnemark.__version__}\n" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_no_page_installs_from_an_index_what_is_not_released_there() -> None:
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "README.zh-CN.md"]
    told = [path.name for path in pages if _FROM_INDEX.search(path.read_text("utf-8"))]
    assert told == []
