"""Find the texts that commands print in the reader's language."""

import ast
import inspect
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, get_args

import typer.main
from typer.core import TyperCommand

from interfaces.web_words import both
from mnemark.memory.forgetting import receipt
from mnemark.memory.undo import revert
from mnemark.present import changes
from mnemark.text.speaker import READ_AS
from mnemark.types import KINDS
from mnemark_agents.connect.connections import State
from mnemark_interfaces import help as helping
from mnemark_interfaces.app import COMMANDS, GROUPS, app, loaded
from mnemark_interfaces.commands import learn, merge, mount, self_check
from mnemark_interfaces.trusting import _SPOKEN

SOURCE = Path(__file__).parents[2] / "src"
_PLACES = (
    "mnemark_interfaces/*.py", "mnemark_interfaces/commands/*.py", "mnemark_faces/commands/*.py",
    "mnemark_server/commands/*.py",
)  # fmt: skip
"""Where the commands' own sentences are."""
_RECEIPTS = ("mnemark/memory/forgetting/receipt.py", "mnemark/memory/undo/revert.py")
"""Where those of receipts are, which pages say, too."""
_ASKS = {"words", "_words", "say", "confirm", "_title"}
_TEMPLATE = re.compile(r"\{[a-z_]+\}")


def texts() -> set[str]:
    """The texts that are looked up: those asked for, those in tables, and those of the help."""
    return (_asked(_files()) | receipt_texts() | set(_tables()) | help_texts()) - {""}


def receipt_texts() -> set[str]:
    """The texts of receipts: of what is forgotten, and of what is taken back."""
    singular = {one for one, _ in receipt._NAMES.values()}
    tables = {
        *receipt._ALSO.values(),
        *receipt._LATE,
        receipt._UNREAD,
        *(many for _, many in receipt._NAMES.values()),
        *revert._DONE,
        *revert._FORESEEN,
    }
    return (_asked(SOURCE / one for one in _RECEIPTS) - singular) | tables


def _asked(files: Iterable[Path]) -> set[str]:
    return {text for path in files for text in _Module(ast.parse(path.read_text("utf-8"))).found}


def _files() -> Iterator[Path]:
    for place in _PLACES:
        yield from (path for path in sorted(SOURCE.glob(place)) if not path.name.startswith("tools"))


def _tables() -> Iterator[str]:
    """Texts that are looked up by what they stand for."""
    yield from (*learn.STATUSES.values(), *_SPOKEN.values(), *self_check._ENDS.values())
    yield from (*merge._WORDS.values(), *mount._STATES.values())
    yield from (*changes._STEPS, *changes._DONE, *get_args(State))
    yield from (f"{{n}} {READ_AS.get(kind, kind)}s" for kind in (*KINDS, *_COUNTED))
    yield from (*_VALUES, *_PROGRESS)


_COUNTED: Final = (
    "talk",
    "proposal",
    "conversation",
    "folder",
    "link",
    "new file",
    "joined file",
    "deleted file",
)
"""What is counted by a name from a table."""
_VALUES: Final = (
    "user", "assistant", "system", "tool",  # who said a turn
    "ok", "warn", "error",  # how a finding is
    "hooks", "tools",  # what was tried
    "deferred", "planned",  # edits
    "listening", "running already", "ended",  # the daemon
)  # fmt: skip
_PROGRESS: Final = ("Reading", "Writing conversations", "Writing facts", "Writing notes")
_OF_PARSER: Final = (
    "Arguments",
    "Options",
    "Commands",
    "COMMAND",
    "ARGS",
    "OPTIONS",
    "env var",
    "default",
    "required",
)
"""What the parser of command lines adds to the help."""


def help_texts() -> set[str]:
    """The texts of the help: of all commands, their arguments and options, and what the parser adds."""
    root = typer.main.get_command(app)
    found = {*GROUPS, *(sentence for _, sentence in COMMANDS.values())}
    found |= {*_OF_PARSER, *(text.strip("()") for text in helping.SAID)}
    commands = [root, *(loaded(name) for name in COMMANDS)]
    for command in commands:
        found.update(_of_command(command))
    return found


def _of_command(command: Any) -> Iterator[str]:
    yield from (" ".join(part.split()) for part in inspect.cleandoc(command.help or "").split("\n\n") if part)
    context = command.context_class(command)
    for param in command.get_params(context):
        yield " ".join((param.help or "").split())
        names, _ = param.get_help_record(context)
        yield from helping.PLACEHOLDER.findall(names)
    for part in getattr(command, "commands", {}).values():
        if isinstance(part, TyperCommand) and part.params:
            yield from _of_command(part)


class _Module(ast.NodeVisitor):
    """Finds the texts of a module that are looked up."""

    def __init__(self, tree: ast.Module) -> None:
        self.found: set[str] = set()
        self._named: dict[str, set[str]] = {}
        """Texts that a name may stand for."""
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    self._name(target, node.value)
            if isinstance(node, ast.For) and isinstance(node.iter, ast.Tuple):
                for one in node.iter.elts:
                    self._name(node.target, one)
        self.visit(tree)

    def _name(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self._named.setdefault(target.id, set()).update(both(value))
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for one, its in zip(target.elts, value.elts, strict=False):
                self._name(one, its)

    def texts(self, node: ast.expr) -> set[str]:
        if isinstance(node, ast.Name):
            return self._named.get(node.id, set())
        if isinstance(node, ast.IfExp):
            return self.texts(node.body) | self.texts(node.orelse)
        return set(both(node))

    def visit_Call(self, node: ast.Call) -> None:
        called = node.func.func if isinstance(node.func, ast.Call) else node.func  # words()("…")
        name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
        if name in _ASKS and node.args:
            self.found |= self.texts(node.args[0])
        elif name in {"named", "tell"} and node.args:
            self.found |= {text for text in self.texts(node.args[0]) if any(map(str.isalpha, text))}
        elif name == "count" and len(node.args) == 3:
            self.found |= self.texts(node.args[2])
        elif name == "counted" and len(node.args) == 2:
            self.found |= {f"{{n}} {text}s" for text in self.texts(node.args[1])}
        self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self.visit(part.value)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and _TEMPLATE.search(node.value) and node.value[0] != "<":
            self.found.add(node.value)


_PRINTS = {"out", "hint", "style"}
_PARTS = {"  mnemark correct ", "  --only ", "mnemark ", "mnemark: ", "\n  cd ", " web -w ", " tui -w "}
"""Words in what is printed that are commands, options or units."""


def past_the_catalogue() -> set[str]:
    """The texts with words that commands print without looking them up."""
    found = set()
    for path in (*_files(), *(SOURCE / one for one in _RECEIPTS)):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            said = node.args[0]
            if name in {"say", "tell"} and isinstance(said, ast.JoinedStr | ast.BinOp | ast.Call):
                found.add(f"{path.name}: {ast.unparse(said)}")
            elif name in _PRINTS and isinstance(said, ast.JoinedStr | ast.Constant):
                parts = said.values if isinstance(said, ast.JoinedStr) else [said]
                texts = [one.value for one in parts if isinstance(one, ast.Constant)]
                found |= {f"{path.name}: {text!r}" for text in texts if _has_words(text)}
    return found


def _has_words(text: object) -> bool:
    return isinstance(text, str) and text not in _PARTS and re.search(r"[A-Za-z]{2,}", text) is not None
