"""Write plug-ins for agents that have those instead of hooks: JavaScript that runs `mnemark hook`."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from mnemark._version import __version__
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark_agents.connect.commands import WRITTEN

_EVENT: Final = "EVENT"
"""Stands in a plug-in's command line for the event."""
_COMMAND: Final = lazy_pattern(r"^const COMMAND = (\[.*\])$", re.MULTILINE)


def script(name: str, words: Sequence[str], mark: str = WRITTEN) -> str:
    """Return a plug-in's program.

    Args:
        name: of the agent.
        words: the command line of its hooks, without the event.
        mark: says whose file it is.
    """
    here = Path(__file__).parent
    at = words.index("hook") + 1
    line = json.dumps([*words[:at], _EVENT, *words[at:]])
    ask = (here / "ask.js").read_text("utf-8").replace("const COMMAND = []", f"const COMMAND = {line}")
    return f"// {mark}\n{ask}\n{(here / f'{name}.js').read_text('utf-8')}"


def commands_in(text: str, events: Sequence[str]) -> list[list[str]]:
    """Return the command line of each event in a plug-in's program."""
    found = _COMMAND.search(text)
    try:
        words = [str(word) for word in json.loads(found[1])] if found else []
    except ValueError:  # someone has changed it
        words = []
    return [[event if word == _EVENT else word for word in words] for event in events] if words else []


def openclaw_files(folder: Path, words: Sequence[str], mark: str = WRITTEN, **more: Any) -> dict[Path, str]:
    """Return the files of the plug-in for OpenClaw, which loads what lies in its folder of extensions.

    Args:
        folder: where they lie.
        words: the command line of its hooks, without the event.
        mark: says whose files they are.
        more: further fields of its manifest.
    """
    manifest = {
        "id": "mnemark", "name": "mnemark", "description": f"Memory in a folder of plain text; {mark}",
        "activation": {"onStartup": True}, "configSchema": {"type": "object", "additionalProperties": False},
        **more,
    }  # fmt: skip
    package = {
        "name": "mnemark", "version": __version__, "type": "module", "description": mark,
        "openclaw": {"extensions": ["./index.js"]},
    }  # fmt: skip
    return {
        folder / "index.js": script("openclaw", words, mark),
        folder / "openclaw.plugin.json": json.dumps(manifest, indent=2) + "\n",
        folder / "package.json": json.dumps(package, indent=2) + "\n",
    }
