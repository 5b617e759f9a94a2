"""The pages for newcomers can be followed: what they tell to type is run, and prints what they say."""

import re
import tomllib
from pathlib import Path

import pytest

import running_pages

TESTS = Path(__file__).parent
DOCS = TESTS.parent / "docs"
RECIPES = [path for path in DOCS.glob("howto/*.md") if path.stem != "langgraph"]  # `make adapters` has it
PAGES = [
    "start.md",
    "learning.md",
    "redaction.md",
    "format.md",
    *sorted(path.relative_to(DOCS).as_posix() for path in (*RECIPES, *DOCS.glob("zh/*.md"))),
]
PROJECT = tomllib.loads((TESTS.parent / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"].keys()

_VAULT = r"""
mkdir -p vault/.obsidian vault/Projects
cat > vault/Projects/Garden.md <<'END'
---
aliases: [kitchen garden]
---
# Garden
We water the tomatoes every second evening. See [[Tomatoes]].
END
printf '# Tomatoes\nThe seeds are from Bea.\n' > vault/Tomatoes.md
"""
_MOVED = """
mnemark init memory && cd memory
mnemark add "I moved to Hangzhou last month." --session cli:main --role user
"""
GIVEN = {
    "learning.md": _MOVED,
    "howto/obsidian.md": _VAULT,
    "howto/team.md": "mkdir shop && git -C shop init -q && echo 'Run pnpm lint.' > shop/AGENTS.md",
    "howto/chats.md": f"python '{TESTS}/fixtures/downloads.py'",
    "zh/import.md": f"python '{TESTS}/fixtures/downloads.py'",
}
"""What a page takes as there: a script in the home folder."""

SERVERS = {"howto/models.md"}
"""Pages that name a server on this machine, which is not there."""


@pytest.mark.parametrize("name", PAGES)
def test_the_page_can_be_followed(name: str, tmp_path: Path) -> None:
    language = "zh" if name.startswith("zh/") else "en"
    network = "refuses" if name in SERVERS else "ends"
    running_pages.run(DOCS / name, tmp_path, given=GIVEN.get(name, ""), network=network, language=language)
    installs = tmp_path / ".test-bin/installed"
    lines = installs.read_text("utf-8").splitlines() if installs.exists() else []
    named = {
        extra for line in lines for found in re.findall(r"\[(.*?)\]", line) for extra in found.split(",")
    }
    assert named <= EXTRAS


def test_a_page_that_says_otherwise_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```console\n$ mnemark init memory\n…: created nothing\n```\n", "utf-8")
    with pytest.raises(AssertionError, match=r"created mnemark\.toml"):
        running_pages.run(page, tmp_path)


def test_a_block_that_fails_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```sh\nmnemark add words -w nowhere\n```\n", "utf-8")
    with pytest.raises(AssertionError, match="nowhere"):
        running_pages.run(page, tmp_path)
