"""Find the texts that commands print in the reader's language."""

import ast
from collections.abc import Iterator
from pathlib import Path

from interfaces.web_words import both
from mnemark_interfaces.app import COMMANDS, GROUPS
from mnemark_interfaces.commands import learn

SOURCE = Path(__file__).parents[2] / "src" / "mnemark_interfaces"
_ASKS = {"words", "named", "tell"}


def texts() -> set[str]:
    """The texts that are looked up: those asked for, those in tables, and counts."""
    found = {text for path in sorted(SOURCE.rglob("*.py")) for text in _in(path)}
    tables = {*learn.STATUSES.values(), *GROUPS}
    return {*found, *tables, *(sentence for _, sentence in COMMANDS.values())}


def _in(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        constants = [text for one in node.args for text in both(one)]
        if name in _ASKS:
            yield from constants[:1] if name in {"named", "tell"} else constants
        elif name == "count" and len(node.args) == 3:
            yield from both(node.args[2])
        elif name == "counted" and len(constants) == 1:
            yield f"{{n}} {constants[0]}s"
