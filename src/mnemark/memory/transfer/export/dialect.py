"""Write links, anchors and folded parts as Obsidian or as any viewer of Markdown understands them."""

import json
import posixpath
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, Protocol

from mnemark.memory.transfer.export.links import entities, fenced, label
from mnemark.memory.transfer.export.model import Place
from mnemark.memory.transfer.export.targets import PICTURES
from mnemark.types import Json

_LINKED: Final = ("days", "episodes")
_OUT_OF_FRONT: Final = {ord(char): f"\\u{ord(char):04x}" for char in "![]<`*_"}
"""Characters that a viewer without front matter must not read as Markdown."""
_ENCODED: Final = {ord(char): f"%{ord(char):02X}" for char in " !\"#$%&'()*<>?[\\]^`{|}~"}
"""ASCII characters that an address cannot hold everywhere; letters of all languages stay legible."""


class Dialect(Protocol):
    """How pages are written."""

    gap: str
    """What stands between the words of a file's name."""
    is_obsidian: bool

    def link(self, at: str, to: Place, words: str) -> str:
        """Return a link from the page `at` with these plain words."""

    def embed(self, at: str, path: str, words: str) -> str:
        """Return the embedded copy of a file, or a link to it."""

    def turn(self, head: str, body: str, anchor: str, *, own: bool) -> str:
        """Return a message, one's own or another's: who and when, Markdown, and what links name it by."""

    def folded(self, title: str, text: str) -> str:
        """Return plain text that is shown on request."""

    def item(self, words: str, anchor: str) -> str:
        """Return the line of a list, without its bullet, that links can name."""

    def front(self, fields: Mapping[str, Json]) -> str:
        """Return the front matter of a page."""


class Obsidian:
    """Wiki links from the top of the vault, block ids, callouts and properties."""

    gap = " "
    is_obsidian = True

    def link(self, at: str, to: Place, words: str) -> str:  # noqa: ARG002 - they are the same on each page
        """Return a wiki link."""
        shown = " ".join(words.translate(_OUT_OF_WIKI).split()) or to.path
        return f"[[{wiki_target(to)}|{shown}]]"

    def embed(self, at: str, path: str, words: str) -> str:  # noqa: ARG002
        """Return an embedded file."""
        return f"![[{path}]]"

    def turn(self, head: str, body: str, anchor: str, *, own: bool) -> str:
        """Return a callout, which no text in it can end, and its block id."""
        return f"> [!{'quote' if own else 'note'}] {head}\n{_inside(body)}\n\n^{anchor}\n"

    def folded(self, title: str, text: str) -> str:
        """Return a closed callout."""
        return f"> [!example]- {label(title)}\n{_inside(fenced(text))}"

    def item(self, words: str, anchor: str) -> str:
        """Return a line with its block id."""
        return f"{words} ^{anchor}"

    def front(self, fields: Mapping[str, Json]) -> str:
        """Return the properties."""
        return front_matter_of(fields)


class PlainMarkdown:
    """Relative links, HTML anchors and `<details>`, as forges and editors show them."""

    gap = "-"
    is_obsidian = False

    def link(self, at: str, to: Place, words: str) -> str:
        """Return a relative link."""
        return f"[{label(words) or label(to.path)}]({href(at, to)})"

    def embed(self, at: str, path: str, words: str) -> str:
        """Return a picture, or a link to another file."""
        mark = "!" if path.rpartition(".")[2].casefold() in PICTURES else ""
        return f"{mark}{self.link(at, Place(path), words)}"

    def turn(self, head: str, body: str, anchor: str, *, own: bool) -> str:  # noqa: ARG002
        """Return a quotation, which no text in it can end, below its anchor."""
        return f'<a id="{anchor}"></a>**{head}**\n\n{_inside(body)}\n'

    def folded(self, title: str, text: str) -> str:
        """Return a closed `<details>`."""
        return f"<details><summary>{entities(title)}</summary>\n\n{fenced(text)}\n\n</details>"

    def item(self, words: str, anchor: str) -> str:
        """Return a line behind its anchor."""
        return f'<a id="{anchor}"></a>{words}'

    def front(self, fields: Mapping[str, Json]) -> str:
        """Return front matter without links, which only Obsidian follows there."""
        shown = {name: value for name, value in fields.items() if name not in _LINKED}
        return front_matter_of(shown, _OUT_OF_FRONT)


_OUT_OF_WIKI: Final = {
    ord("["): "(",
    ord("]"): ")",
    ord("|"): "¦",
    ord("\\"): "/",
    ord("<"): "‹",
    ord(">"): "›",
    ord("`"): "'",
    ord("%"): "％",
    ord("$"): "＄",
} | dict.fromkeys((*range(32), 127, 133, 8232, 8233), " ")


def wiki_target(to: Place) -> str:
    """Return what a wiki link names."""
    path = to.path.removesuffix(".md")
    if not to.anchor:
        return path
    is_block = to.anchor[:2] == "f-" or (to.anchor[:1] == "t" and to.anchor[1:].isdecimal())
    return f"{path}#{'^' if is_block else ''}{to.anchor}"


def href(at: str, to: Place) -> str:
    """Return the relative address of a place from a page."""
    path = posixpath.relpath(to.path, posixpath.dirname(at) or ".")
    address = path.translate(_ENCODED)
    return f"{address}#{to.anchor.translate(_ENCODED)}" if to.anchor else address


def front_matter_of(fields: Mapping[str, Json], escaped: Mapping[int, str] = MappingProxyType({})) -> str:
    """Return fields that are not empty as YAML; each text is quoted as JSON, which is YAML, too."""
    rows = [
        f"{name}: {_yaml(value, escaped)}\n" for name, value in fields.items() if value not in ("", None, [])
    ]
    return "".join(["---\n", *rows, "---\n\n"]) if rows else ""


def _yaml(value: Json, escaped: Mapping[int, str]) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(_yaml(one, escaped) for one in value) + "]"
    text = str(value)
    is_time = text[:4].isdigit() and text[4:5] == "-" and all(c.isdigit() or c in "-:+T" for c in text)
    return text if is_time and text.isascii() else json.dumps(text, ensure_ascii=False).translate(escaped)


def _inside(text: str) -> str:
    return "\n".join(f"> {line}" if line else ">" for line in text.split("\n"))


DIALECTS: Final[Mapping[str, Dialect]] = {"obsidian": Obsidian(), "markdown": PlainMarkdown()}
