"""Look through the built site: nothing is fetched from elsewhere, links arrive, and no text was lost.

It reads HTML and knows nothing of what made it.
"""

import re
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urldefrag, urlsplit

from markdown_it import MarkdownIt

FETCHED: Final = {
    "audio": ("src",), "embed": ("src",), "iframe": ("src",), "img": ("src", "srcset"), "input": ("src",),
    "link": ("href",), "object": ("data",), "script": ("src",), "source": ("src", "srcset"),
    "track": ("src",), "use": ("href", "xlink:href"), "video": ("src", "poster"),
    "image": ("href", "xlink:href"), "form": ("action",), "base": ("href",),
}  # fmt: skip
"""What a browser asks for without being told to, by element."""

_CSS: Final = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")
_INLINE: Final = frozenset({"a", "code", "del", "em", "kbd", "s", "span", "strong", "sub", "sup"})
_WORD: Final = re.compile(r"\w+")
_HEAD: Final = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_NOT_SHOWN: Final = re.compile(r" \{ #\S+ \}$|^::: [\w.]+$", re.MULTILINE)
"""Anchors of headings, and where docstrings come in."""


class Read(HTMLParser):
    """A page as far as it matters here: what it fetches, links to and says, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self._said: list[str] = []
        self._silent = 0
        self._in_article = 0
        self._style = False
        self.feed(text)
        self.close()

    @property
    def words(self) -> list[str]:
        """The words of the article; parts of a word that are coloured apart are one."""
        return _WORD.findall("".join(self._said))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what an element fetches, links to, and is called."""
        given = {name: value or "" for name, value in attrs}
        if tag not in _INLINE:
            self._said.append(" ")
        self.fetched += [given[name] for name in FETCHED.get(tag, ()) if given.get(name)]
        self.fetched += _in_css(given.get("style", ""))
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        self._style = tag == "style"
        self._in_article += tag == "article"
        self._silent += tag in {"script", "style"} or "headerlink" in given.get("class", "")

    def handle_endtag(self, tag: str) -> None:
        """Leave an element; of a permanent link the end of its `a` ends the silence."""
        if tag not in _INLINE:
            self._said.append(" ")
        self._in_article -= tag == "article"
        self._style = False
        if self._silent and tag in {"script", "style", "a"}:
            self._silent -= 1

    def handle_data(self, data: str) -> None:
        """Take the words of the article, and what a style fetches."""
        if self._style:
            self.fetched += _in_css(data)
        if self._in_article and not self._silent:
            self._said.append(data)


def _in_css(text: str) -> list[str]:
    return [found[1] or found[2] for found in _CSS.finditer(text)]


def is_foreign(address: str) -> bool:
    """Whether an address is one of another machine; data in the page is none."""
    parts = urlsplit(address.strip())
    return bool(parts.netloc) or parts.scheme not in {"", "data"}


def problems(site: Path, sources: Path) -> list[str]:
    """Return what is wrong with the site, each with the page that it is on.

    Args:
        site: the folder with the pages in HTML.
        sources: the folder with the pages in Markdown that they were made of.
    """
    read = {page.relative_to(site).as_posix(): Read(page.read_text("utf-8")) for page in site.rglob("*.html")}
    found = [*_foreign(site, read), *_broken(site, read)]
    for source in sorted(sources.rglob("*.md")):
        name = source.relative_to(sources).with_suffix(".html")
        page = (name.with_name("index.html") if name.stem == "README" else name).as_posix()
        if page not in read:
            found.append(f"{page}: not made; is it in the navigation?")
            continue
        lost = _lost(source.read_text("utf-8"), read[page].words)
        if lost:
            found.append(f"{page}: shows other words than its source, such as {', '.join(lost[:5])}")
    return found


def _foreign(site: Path, read: dict[str, Read]) -> Iterator[str]:
    for page, one in read.items():
        yield from (f"{page}: fetches {each}" for each in one.fetched if is_foreign(each))
    for sheet in site.rglob("*.css"):
        for each in _in_css(sheet.read_text("utf-8")):
            if is_foreign(each):
                yield f"{sheet.relative_to(site).as_posix()}: fetches {each}"


def _broken(site: Path, read: dict[str, Read]) -> Iterator[str]:
    for page, one in read.items():
        for link in (*one.links, *one.fetched):
            if is_foreign(link) or link.startswith("data:") or page == "404.html":
                continue
            path, anchor = urldefrag(unquote(link))
            target = (site / page).parent / path if path else site / page
            if target.is_dir():
                target /= "index.html"
            if not target.is_file():
                yield f"{page}: links to {link}, which is not there"
                continue
            there = read.get(target.resolve().relative_to(site.resolve()).as_posix())
            if anchor and there is not None and anchor not in there.anchors:
                yield f"{page}: links to {link}, where there is no such anchor"


def _lost(source: str, shown: list[str]) -> list[str]:
    """Return words of a page that the site does not show as often as a forge does.

    The site has more: what was made of docstrings, and what buttons say.
    """
    text = _NOT_SHOWN.sub("", _HEAD.sub("", source))
    said = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text)
    wanted = Counter(Read(f"<article>{said}</article>").words)
    return sorted((wanted - Counter(shown)).elements())
