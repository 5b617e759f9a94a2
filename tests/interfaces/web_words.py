"""Find the texts of the pages that need a translation: in the templates and in the code."""

import ast
from collections.abc import Iterator
from pathlib import Path

from jinja2 import Environment, nodes

from mnemark.present import changes, facts, proposals, receipts, sources
from mnemark_faces.web.pages.prompt import NAMES as LAYERS

SOURCE = Path(__file__).parent.parent.parent / "src"
WEB = SOURCE / "mnemark_faces" / "web"
PRESENT = SOURCE / "mnemark" / "present"
_ASKS = {"_", "count", "words", "tell", "self"}


def in_templates() -> set[str]:
    found: set[str] = set()
    for path in sorted((WEB / "templates").glob("*.html")):
        tree = Environment(autoescape=True).parse(path.read_text("utf-8"))
        for call in tree.find_all(nodes.Call):
            name = call.node.name if isinstance(call.node, nodes.Name) else getattr(call.node, "attr", "")
            if name in _ASKS:
                parts = call.args[2:] if name == "count" else call.args  # of a count, the many
                found |= {text for part in parts for text in _texts(part)}
        for given in tree.find_all(nodes.Assign):
            found |= set(_shown(given.node))
    return {text for text in found if text.strip(" {}n·/")}


def _texts(node: nodes.Node) -> Iterator[str]:
    if isinstance(node, nodes.Const) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, nodes.CondExpr):
        for part in (node.expr1, node.expr2):
            if part is not None:
                yield from _texts(part)


def _shown(node: nodes.Node) -> Iterator[str]:
    """The values of a table of names: of a pair the second part, of a row of the navigation the last."""
    if isinstance(node, nodes.Dict):
        for pair in node.items:
            yield from _texts(pair.value)
    elif isinstance(node, nodes.List):
        for row in node.items:
            if isinstance(row, nodes.Tuple):
                yield from _texts(row.items[-1])


def in_code() -> set[str]:
    found: set[str] = set()
    for path in (*sorted(WEB.rglob("*.py")), *sorted(PRESENT.rglob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
                if name in _ASKS or (path.name == "words.py" and name == "self"):
                    given = node.args[2:] if name == "count" else node.args
                    parts = [two for one in given for two in both(one)]
                    found |= {part for part in parts if " " in part or part[:1].isalpha()}
    return found


def in_tables() -> set[str]:
    """The sentences that the presentation layer has in tables."""
    parts = [
        *sources._WHO.values(), *changes._KINDS.values(),
        *((many, uncounted) for _, many, uncounted in changes._DONE.values()),
    ]  # fmt: skip
    alone = [
        *sources._PLACES.values(),
        *changes.NAMES.values(),
        *changes._STEPS.values(),
        *changes._OF_TALK.values(),
        *changes._ALONE.values(),
        *proposals._EDITS.values(),
        *proposals._KINDS.values(),
        *receipts._UNDONE.values(),
    ]
    return {*facts.TOPICS, *LAYERS.values(), *alone, *(text for part in parts for text in part)}


def both(node: ast.expr) -> list[str]:
    """The texts of a constant, or of both sides of a choice."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.IfExp):
        return [*both(node.body), *both(node.orelse)]
    return []
