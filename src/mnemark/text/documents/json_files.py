"""Convert Jupyter notebooks and canvases of Obsidian, which are JSON, to Markdown."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from mnemark.text.documents import UnreadableDocumentError
from mnemark.text.lazy_pattern import lazy_pattern

_TICKS: Final = lazy_pattern("`++")
_LINES: Final = 20
"""Lines of each output that are shown: logs of a training are no notes."""


def notebook(data: bytes) -> str:
    """Return the cells of a notebook: Markdown as it is, code and the text that it printed in fences."""
    found = _object(data, "notebook")
    cells = found.get("cells")
    if not isinstance(cells, list):  # before version 4
        cells = [cell for sheet in _objects(found.get("worksheets")) for cell in _objects(sheet.get("cells"))]
    settings = found.get("metadata")
    language = settings.get("language_info") if isinstance(settings, Mapping) else None
    name = language.get("name", "") if isinstance(language, Mapping) else ""
    return "\n\n".join(part for cell in _objects(cells) for part in _cell(cell, str(name)))


def _cell(cell: Mapping[str, Any], language: str) -> Iterator[str]:
    source = _joined(cell.get("source", cell.get("input"))).strip("\n")
    kind = cell.get("cell_type")
    if kind == "heading":
        level = cell.get("level")
        yield f"{'#' * (level if isinstance(level, int) and 1 <= level <= 6 else 1)} {source}"
    elif kind == "code":
        if source:
            yield _fenced(source, language)
        for output in _objects(cell.get("outputs")):
            if text := _printed(output).strip("\n"):
                yield _fenced(_shortened(text), "")
    elif source:
        yield source


def _printed(output: Mapping[str, Any]) -> str:
    """Return the text of an output; pictures, HTML and errors with colours have none."""
    shown = output.get("data")
    bundle = shown if isinstance(shown, Mapping) else output
    return _joined(output.get("text")) or _joined(bundle.get("text/markdown") or bundle.get("text/plain"))


def _shortened(text: str) -> str:
    lines = text.split("\n")
    return "\n".join((*lines[:_LINES], "…")) if len(lines) > _LINES else text


def _fenced(text: str, language: str) -> str:
    fence = "`" * max(3, *(len(run[0]) + 1 for run in _TICKS.finditer(text)), 3)
    return f"{fence}{language if language.isalnum() else ''}\n{text}\n{fence}"


def canvas(data: bytes) -> str:
    """Return the texts of a canvas from top to bottom: cards, groups, files and links, then the arrows."""
    found = _object(data, "canvas")
    nodes = sorted(_objects(found.get("nodes")), key=_place)
    names = {str(node.get("id")): _named(node) for node in nodes}
    parts = [text for node in nodes if (text := _node(node))]
    arrows = [line for edge in _objects(found.get("edges")) if (line := _arrow(edge, names))]
    return "\n\n".join([*parts, "\n".join(arrows)])


def _place(node: Mapping[str, Any]) -> tuple[float, float]:
    y, x = (node.get(axis) for axis in "yx")
    return (y if isinstance(y, int | float) else 0.0, x if isinstance(x, int | float) else 0.0)


def _node(node: Mapping[str, Any]) -> str:
    if node.get("type") == "group":
        return f"## {label}" if (label := _joined(node.get("label")).strip()) else ""
    if file := _joined(node.get("file")):
        return f"[[{file}]]"
    return _joined(node.get("text")).strip("\n") or _joined(node.get("url"))


def _named(node: Mapping[str, Any]) -> str:
    """Return the first line of a card, to name it."""
    text = _joined(node.get("label")) or _node(node)
    return next((line.strip("# ") for line in text.split("\n") if line.strip("# ")), "")[:80]


def _arrow(edge: Mapping[str, Any], names: Mapping[str, str]) -> str:
    start, end = (names.get(str(edge.get(side)), "") for side in ("fromNode", "toNode"))
    label = _joined(edge.get("label")).strip()
    return f"- {start} → {end}{f': {label}' if label else ''}" if start and end else ""


def _object(data: bytes, what: str) -> Mapping[str, Any]:
    if not data.strip():
        return {}
    try:
        found = msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise UnreadableDocumentError(f"is no {what}: {error}") from error
    if not isinstance(found, dict):
        raise UnreadableDocumentError(f"is no {what}: it has no fields")
    return found


def _objects(value: object) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _joined(value: object) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return "".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""
