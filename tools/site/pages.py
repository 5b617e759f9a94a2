"""Prepare the Markdown of the repository for the site: forges read it as CommonMark, Zensical does not.

Nothing here needs Zensical, so that the tests of the repository try it.
"""

import posixpath
import re
from collections.abc import Iterator
from typing import Final

BROUGHT: Final = {
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "tests/text/secret_formats.tsv": "secret_formats.tsv",
}
"""Files outside of docs/ that pages link to, and where they are on the site."""

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_ITEM: Final = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]")
_LINK: Final = re.compile(r"(\]\()([^()\s#]+)(#[^()\s]*)?\)")
_CODE: Final = re.compile(r"`[^`]*`")
_HEADING: Final = re.compile(r"#{1,6} (.*)")
_NO_SLUG: Final = re.compile(r"[^\w\- ]")


def language(uri: str) -> str:
    """Return the language of the page at `uri`."""
    return "zh" if uri.startswith("zh/") else "en"


def counterpart(uri: str, uris: frozenset[str]) -> str:
    """Return the page in the other language: the same one, else where that language begins."""
    if language(uri) == "zh":
        name = uri.removeprefix("zh/")
        wanted, first = [name, name.removesuffix(".md") + "/README.md"], "index.md"
    else:
        wanted, first = [f"zh/{uri.removesuffix('/README.md').removesuffix('.md')}.md"], "zh/index.md"
    return next((one for one in wanted if one in uris), first)


def address(uri: str) -> str:
    """Return the address of a page on the site."""
    folder, name = posixpath.split(uri)
    return posixpath.join(folder, {"README.md": "index.md"}.get(name, name)).removesuffix(".md") + ".html"


def prepared(text: str, path: str) -> str:
    """Return the file `path` of the repository as a page of the site."""
    return anchored(separated(relinked(text, path)))


def lines_of(text: str) -> Iterator[tuple[bool, str]]:
    """Yield each line of a page, with whether it is code or a fence around it."""
    fence = ""
    for line in text.splitlines():
        found = _FENCE.match(line)
        if fence:
            yield True, line
            if found and found[1].startswith(fence) and not line.strip(" `~"):
                fence = ""
        else:
            fence = found[1] if found else ""
            yield bool(found), line


def separated(text: str) -> str:
    """Put the blank line before lists, tables and code that CommonMark does not ask for."""
    lines: list[str] = []
    was = ""
    for code, line in lines_of(text):
        kind = "code" if code else _kind(line)
        if kind == "text" and was == "item" and line[:1] in {" ", "\t"}:
            kind = "item"
        if was and kind and kind != was:
            lines.append("")
        lines.append(_cells(line) if kind == "row" else line)
        was = kind
    return "\n".join(lines) + "\n"


def _kind(line: str) -> str:
    if not line.strip():
        return ""
    if line.startswith("|"):
        return "row"
    return "item" if _ITEM.match(line.lstrip()) else "text"


def _cells(row: str) -> str:
    r"""A bar in code is written `\|` in a row for CommonMark, and bare for Zensical."""
    return _CODE.sub(lambda code: code[0].replace(r"\|", "|"), row)


def relinked(text: str, path: str) -> str:
    """Make the links of the file `path` of the repository, such as `docs/web.md`, those of the site."""
    here = posixpath.dirname(on_site(path)) or "."

    def moved(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), link[2]))
        there = on_site(target)
        if ":" in link[2] or not there or (path.startswith("docs/") and target.startswith("docs/")):
            return link[0]
        return f"{link[1]}{posixpath.relpath(there, here)}{link[3] or ''})"

    return "\n".join(line if code else _LINK.sub(moved, line) for code, line in lines_of(text)) + "\n"


def on_site(path: str) -> str:
    """Return where a file of the repository is on the site; empty where it is not."""
    return BROUGHT.get(path, path.removeprefix("docs/") if path.startswith("docs/") else "")


def anchored(text: str) -> str:
    """Give each heading the anchor that forges give it, by which pages link to it."""
    seen: dict[str, int] = {}
    lines: list[str] = []
    for code, line in lines_of(text):
        heading = None if code else _HEADING.fullmatch(line)
        if heading:
            anchor = slug(heading[1])
            again = seen[anchor] = seen.get(anchor, -1) + 1
            lines.append(f"{line} {{ #{anchor}{f'-{again}' if again else ''} }}")
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


def slug(heading: str) -> str:
    """Return the anchor of a heading as forges make it."""
    return _NO_SLUG.sub("", _LINK.sub("", heading).strip().lower()).replace(" ", "-")
