"""The pages of the documentation can be read: short paragraphs, known words, commands and messages that exist."""

import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest
import typer
from markdown_it import MarkdownIt

from mnemark_interfaces.app import COMMANDS, app

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [*sorted(DOCS.rglob("*.md")), ROOT / "README.md", ROOT / "README.zh-CN.md"]
LONG = {"README.md": 3, "docs/cli.md": 3, "docs/http.md": 2}
"""Pages that still have longer paragraphs: at most how many."""

MOST_WORDS = 90
MOST_CHARACTERS = 180
_HAN = re.compile(r"[\u4e00-\u9fff]")
_BLOCK = re.compile(r"^ *```\w*\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
_SPAN = re.compile(r"(?<!`)`(mnemark [^`\n]+)`(?!`)")


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def paragraphs(page: Path) -> Iterator[str]:
    """Yield the paragraphs of a page and of its lists, without code and tables."""
    tokens = MarkdownIt("commonmark").enable("table").parse(page.read_text("utf-8"))
    for opening, inline in zip(tokens, tokens[1:], strict=False):
        if opening.type == "paragraph_open":
            parts = inline.children or []
            yield "".join(part.content if part.type in {"text", "code_inline"} else " " for part in parts)


def is_long(paragraph: str) -> bool:
    characters, words = len(_HAN.findall(paragraph)), len(paragraph.split())
    return characters > MOST_CHARACTERS or (characters <= words and words > MOST_WORDS)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_paragraph_is_long(page: Path) -> None:
    found = [paragraph for paragraph in paragraphs(page) if is_long(paragraph)]
    assert len(found) <= LONG.get(name(page), 0), "\n\n".join(found)


@cache
def command() -> click.Group:
    made = typer.main.get_command(app)
    assert isinstance(made, click.Group)
    return made


def lines_shown(page: Path) -> set[str]:
    """Return the commands that a page shows, in blocks and in sentences."""
    text = page.read_text("utf-8").replace("\\\n", " ")
    lines = [line.strip().removeprefix("$ ") for block in _BLOCK.findall(text) for line in block.splitlines()]
    return {line for line in lines if line.startswith("mnemark ")} | set(_SPAN.findall(text))


def wrong_with(line: str) -> str:
    """Return what of a command does not exist."""
    try:
        words = shlex.split(line, comments=True)[1:]
    except ValueError:  # a part of a line that goes on
        words = line.split()[1:]
    ends = [at for at, word in enumerate(words) if word in {"|", "||", "&&", "&", ">", ">>", "<"}]
    words = [word for word in words[: ends[0] if ends else None] if word not in {"…", "..."}]
    given = {word.partition("=")[0] for word in words if re.fullmatch(r"--?[a-z][\w-]*(?:=.*)?", word)}
    names = [word for word in words if re.fullmatch(r"[a-z][a-z-]+", word)]
    if not names or words[0] not in {*names, *given}:
        return ""
    if words[0] in given:
        return ""
    if names[0] not in COMMANDS:
        return names[0]
    found = command().get_command(click.Context(command()), names[0])
    known = _options(found) | {"--lang", "--help", "-h"}
    return " ".join(sorted(given - known))


def _options(found: click.Command | None) -> set[str]:
    assert found is not None
    own = {option for param in found.params for option in (*param.opts, *param.secondary_opts)}
    inner = found.commands.values() if isinstance(found, click.Group) else ()
    return own.union(*(_options(one) for one in inner))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_commands_that_are_shown_exist(page: Path) -> None:
    assert {line: wrong for line in lines_shown(page) if (wrong := wrong_with(line))} == {}


def test_a_command_that_does_not_exist_is_found() -> None:
    assert wrong_with("mnemark remmeber city") == "remmeber"
    assert wrong_with("mnemark search city --soon") == "--soon"
    assert wrong_with("mnemark search city --since=2024 -k 3 | head -n 1") == ""
