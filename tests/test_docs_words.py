"""The pages can be read: paragraphs are short, and commands, messages and terms that they name exist."""

import ast
import itertools
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from mnemark_interfaces.app import COMMANDS, loaded

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [*sorted(DOCS.rglob("*.md")), ROOT / "README.md", ROOT / "README.zh-CN.md"]
LONG = {"README.md": 3, "docs/cli.md": 3}
"""Pages that still have longer paragraphs: at most how many."""

MOST_WORDS = 90
MOST_CHARACTERS = 180
_HAN = re.compile(r"[\u4e00-\u9fff]")
_BLOCK = re.compile(r"^ *```\w*\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
_NAME = re.compile(r"[a-z][a-z-]+")
_OPTION = re.compile(r"--?[a-z][\w-]*(?:=.*)?", re.DOTALL)
_ENDS = re.compile(r"\|\|?|&&?|[<>]{1,2}|;")
_SPAN = re.compile(r"(?<!`)`(mnemark [^`\n]+)`(?!`)")


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def paragraphs(page: Path) -> Iterator[str]:
    """Yield the paragraphs of a page and of its lists, without code and tables."""
    tokens = MarkdownIt("commonmark").enable("table").parse(page.read_text("utf-8"))
    for opening, inline in itertools.pairwise(tokens):
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


def lines_shown(page: Path) -> set[str]:
    """Return the commands that a page shows, in blocks and in sentences."""
    text = page.read_text("utf-8").replace("\\\n", " ")
    lines = [line.strip().removeprefix("$ ") for block in _BLOCK.findall(text) for line in block.splitlines()]
    return {line for line in lines if line.startswith("mnemark ")} | set(_SPAN.findall(text))


def wrong_with(line: str) -> str:
    """Return what of a command does not exist: the command, or options of it."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError:  # the line goes on below
        words = line.split()
    words = [*itertools.takewhile(lambda word: not _ENDS.fullmatch(word), words[1:])]
    if not words or not _NAME.fullmatch(words[0]):
        return ""  # an option of `mnemark` itself, or words that stand for a command
    if words[0] not in COMMANDS:
        return words[0]
    given = {word.partition("=")[0] for word in words[1:] if _OPTION.fullmatch(word)}
    return " ".join(sorted(given - _options(loaded(words[0])) - {"--lang", "--help", "-h"}))


def _options(found: Any) -> set[str]:
    own = {option for param in found.params for option in (*param.opts, *param.secondary_opts)}
    return own.union(*(_options(one) for one in getattr(found, "commands", {}).values()))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_commands_that_are_shown_exist(page: Path) -> None:
    assert {line: wrong for line in lines_shown(page) if (wrong := wrong_with(line))} == {}


def test_a_command_that_does_not_exist_is_found() -> None:
    assert wrong_with("mnemark remmeber city") == "remmeber"
    assert wrong_with("mnemark search city --soon") == "--soon"
    assert wrong_with("mnemark search city --since=2024 -k 3 | head -n 1") == ""


def told(messages: list[str]) -> list[str]:
    """Return the texts of the modules that may hold these messages, with `…` where something is put in."""
    begins = [max(message.split("…"), key=len).strip()[:12] for message in messages]
    texts = []
    for path in sorted((ROOT / "src").rglob("*.py")):
        source = path.read_text("utf-8")
        if not any(begin in source for begin in begins):
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.append(node.value)
            elif isinstance(node, ast.JoinedStr):
                parts = (part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
                texts.append("".join(map(str, parts)))
    catalogue = json.loads((ROOT / "src/mnemark/present/zh/messages.json").read_text("utf-8"))
    return [*texts, *(re.sub(r"\{\w+\}", "…", text) for text in catalogue)]


def quoted_messages() -> list[str]:
    """Return the messages of the page, which stand in the first column of its tables."""
    text = (DOCS / "troubleshooting.md").read_text("utf-8")
    return re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)


def test_the_messages_that_are_explained_exist() -> None:
    """What stands between two `…` is in one text of the source, in this order."""
    quoted = quoted_messages()
    texts = "\n".join(dict.fromkeys(text.replace("\n", " ") for text in told(quoted)))
    assert len(quoted) > 40
    parts = {message: [re.escape(part.strip()) for part in message.split("…")] for message in quoted}
    assert [one for one in quoted if not re.search(".*".join(parts[one]), texts)] == []


def test_the_exit_codes_are_those_of_the_reference() -> None:
    def codes(page: str) -> list[str]:
        return re.findall(r"^\| (\d+) \|", (DOCS / page).read_text("utf-8"), re.MULTILINE)

    assert codes("troubleshooting.md") == codes("cli.md")


def test_the_glossary_has_a_sentence_for_each_term() -> None:
    entries = re.findall(r"^### (.+)\n(.*)\n", (DOCS / "glossary.md").read_text("utf-8"), re.MULTILINE)
    assert len(entries) > 40
    assert [term for term, said in entries if not re.fullmatch(r"[^.]+(?:\.\w[^.]*)*\.", said)] == []
    names = [term for term, _ in entries]
    assert names == list(dict.fromkeys(names))
