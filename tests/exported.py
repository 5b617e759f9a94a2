"""Walk the links of exported folders, as a viewer of each form follows them."""

import posixpath
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

from markdown_it import MarkdownIt

_FENCED = re.compile(r"^[> ]*(`{3,})[^\n]*\n.*?^[> ]*\1[^\n]*$", re.MULTILINE | re.DOTALL)
_WIKI = re.compile(r"(?<!\\)\[\[([^\[\]|\n]+)(?:\|[^\[\]\n]*)?\]\]")


def pages(folder: Path, ending: str) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for path in sorted(folder.rglob(f"*{ending}"))
    }


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def broken_wiki_links(folder: Path) -> list[tuple[str, str]]:
    """Links of Obsidian, from the top of the vault, to nothing."""
    found = pages(folder, ".md")
    return [
        (name, target)
        for name, text in found.items()
        for target in _WIKI.findall(re.sub(r"`[^`\n]+`", "", _FENCED.sub("", text)))
        if not _leads(folder, found, target)
    ]


def _leads(folder: Path, found: dict[str, str], target: str) -> bool:
    """Whether Obsidian finds it: by its path, else by its name alone, where one file has it."""
    path, _, anchor = target.partition("#")
    wanted = path.casefold()
    names = [name for name in files(folder) if wanted in _names(name)] or [
        name for name in files(folder) if wanted in {one.rpartition("/")[2] for one in _names(name)}
    ]
    if len(names) != 1:
        return False
    text = found.get(names[0], "")
    if anchor.startswith("^"):
        return re.search(rf"(?:^| ){re.escape(anchor)}$", text, re.MULTILINE) is not None
    return not anchor or re.search(rf"^#+ {re.escape(anchor)}$", text, re.MULTILINE) is not None


def _names(path: str) -> set[str]:
    return {path.casefold(), path.casefold().removesuffix(".md")}


def broken_markdown_links(folder: Path) -> list[tuple[str, str]]:
    """Relative links of Markdown to nothing, and pictures that would be fetched."""
    found = pages(folder, ".md")
    broken = []
    for name, text in found.items():
        for token in MarkdownIt("commonmark").enable("table").parse(text):
            for child in token.children or ():
                target = str(child.attrGet("href") or child.attrGet("src") or "")
                if (child.type == "image" and "://" in target) or (
                    target
                    and not re.match(r"https?:|mailto:", target)
                    and not _resolves(folder, found, name, target)
                ):
                    broken.append((name, target))
    return broken


def _resolves(folder: Path, found: dict[str, str], name: str, target: str) -> bool:
    path, _, anchor = unquote(target).partition("#")
    where = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
    if not anchor:
        return (folder / where).is_file()
    text = found.get(where, "")
    headings = {
        re.sub(r"[^\w\- ]", "", h.casefold()).replace(" ", "-")
        for h in re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    }
    return f'<a id="{anchor}"></a>' in text or anchor in headings


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.add(tag)
        self.ids.add(given.get("id") or "")
        if tag == "a":
            self.links.append(given.get("href") or "")
        elif given.get("href") or given.get("src"):
            self.loaded.append(given.get("href") or given.get("src") or "")
        assert not any(name.startswith("on") or name == "style" for name in given)


def parsed(text: str) -> _Page:
    page = _Page()
    page.feed(text)
    return page


def broken_html_links(folder: Path) -> list[tuple[str, str]]:
    """Links to nothing, and anything that is loaded from elsewhere or runs."""
    found = {name: parsed(text) for name, text in pages(folder, ".html").items()}
    broken = []
    for name, page in found.items():
        if page.tags & {"script", "iframe", "object", "embed", "img", "form", "base", "video", "audio"}:
            broken.append((name, str(page.tags)))
        for target in (*page.links, *page.loaded):
            if re.match(r"https?:|mailto:", target) and target not in page.loaded:
                continue
            path, _, anchor = unquote(target).partition("#")
            where = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
            if not (folder / where).is_file() or (anchor and anchor not in found[where].ids):
                broken.append((name, target))
    return broken
