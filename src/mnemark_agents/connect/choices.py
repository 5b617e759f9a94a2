"""Keep what a person chose while connecting an agent: to learn with its model, or one memory for everything.

Whether to learn is kept as the table `[llm]` of the user's own configuration: a no as one without a budget,
so that there is nothing more to ask and one place to change it.
"""

import re
import shutil
from pathlib import Path
from typing import Final, NamedTuple

from mnemark.errors import BusyError, UsageError
from mnemark.files import platform, user_config
from mnemark.files.config import load
from mnemark.files.disk_errors import translate_os_errors
from mnemark.files.edit import edit
from mnemark.files.layout import CONFIG
from mnemark.files.truth import Folder
from mnemark.llm.programs import PROGRAMS
from mnemark_agents.connect.hosts import Host

CALLS: Final = 20
TOKENS: Final = 200_000
"""Requests and tokens a day that a yes allows."""
_LARGEST: Final = 10_000
"""About the tokens of the largest request: 24,000 characters of turns, known facts and the prompt."""
_READY: Final = {"claude-code": "claude-code", "codex": "codex", "gemini-cli": "gemini"}
"""Ready settings of `[llm] command`, by agent."""
LINE: Final = "projects = false"
"""One memory for everything, instead of one for each project beside the person's."""


class Offer(NamedTuple):
    """An agent whose model can be used."""

    title: str
    command: str
    """The ready setting."""
    program: str
    """What is started."""
    most: int
    """About the tokens of its largest request."""


def offer_for(host: Host) -> Offer | None:
    """Return the offer for an agent; None where it has none, is not installed, or was answered before.

    Raises:
        ConfigError: the user's configuration is wrong.
    """
    command = _READY.get(host.name)
    if command is None or user_config.load().llm is not None:
        return None
    program = PROGRAMS[command]
    if shutil.which(program.command[0]) is None:
        return None
    return Offer(host.title, command, program.command[0], _LARGEST + program.overhead)


def keep_answer(offer: Offer, *, wanted: bool) -> None:
    """Write the answer to the user's configuration; the rest of the file is kept.

    Raises:
        MnemarkError: the file cannot be written; see `translate_os_errors`.
    """
    place = user_config.path()
    about = "" if wanted else (
        f"# You were asked whether to learn with {offer.title} and said no. To do so after all, set for "
        f"example\n# calls_per_day = {CALLS} and tokens_per_day = {TOKENS}.\n"
    )  # fmt: skip
    table = (
        f'{about}[llm]\ncommand = "{offer.command}"\ncalls_per_day = {CALLS if wanted else 0}\n'
        f"tokens_per_day = {TOKENS if wanted else 0}\n"
    )
    with translate_os_errors(place):
        before = place.read_text("utf-8") if place.exists() else ""
        platform.make_folder(place.parent)
        platform.write_private(place, f"{before.rstrip()}\n\n{table}".lstrip().encode())


def keep_one_memory(root: Path) -> None:
    """Write the setting into `mnemark.toml`; the rest of the file is kept.

    Raises:
        BusyError: another program is saving the file.
        ConfigError: the file is wrong.
        UsageError: another line says otherwise.
    """
    if not load(root).projects:
        return
    if edit(Folder(root), CONFIG, _changed).status == "deferred":
        raise BusyError(f"another program is saving {root / CONFIG}; try again in a moment")
    if load(root).projects:
        raise UsageError(f"{root / CONFIG} sets projects in another place, too; write there: {LINE}")


def _changed(content: bytes) -> bytes:
    """Return the settings with the line among the keys that stand before the tables."""
    lines = content.decode("utf-8", "surrogateescape").splitlines(keepends=True)
    tables = next((at for at, line in enumerate(lines) if line.lstrip().startswith("[")), len(lines))
    said = next((at for at, line in enumerate(lines[:tables]) if re.match(r"\s*projects\s*=", line)), None)
    if said is not None:
        lines[said] = f"{LINE}\n"
    else:
        if tables and not lines[tables - 1].endswith("\n"):
            lines[tables - 1] += "\n"
        lines.insert(tables, f"{LINE}\n")
    return "".join(lines).encode("utf-8", "surrogateescape")
