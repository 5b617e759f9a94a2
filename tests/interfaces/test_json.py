"""`--json` works with every command but those that the documentation names."""

import json
from collections.abc import Iterator
from typing import Any

import click
import pytest

from interfaces.conftest import Shell
from mnemark_interfaces.app import COMMANDS, loaded

WITHOUT = {"git-merge", "hook", "mcp", "tui"}
"""Commands that speak JSON anyway or write a file, and a panel for people."""

RUN = [
    "init .",
    "add|Dentist on 5 March at 15:30",
    "add|Please answer in English.|--session|chat:1|--role|user",
    "sync",
    "remember city Hamburg",
    "facts --history",
    "search dentist --explain",
    "recall dentist",
    "read notes.md#L1",
    "log",
    "status",
    "doctor",
    "verify",
    "learn --dry-run",
    "sessions",
    "sessions end chat:1",
    "prompt dentist",
    "consolidate --dry-run",
    "review",
    "pin memory/facts/user.md#L3",
    "correct|memory/facts/user.md#L3|Bremen",
    "why memory/facts/user.md#L3",
    "undo",
    "forget --query Dentist --dry-run",
    "revert --session chat:1 --dry-run",
    "connect",
    "mount",
    "import markdown ../other --dry-run",
    "export ../all.jsonl",
    "backup ../all.zip",
    "restore ../all.zip ../again",
    "demo ../demo",
    "self-check",
    "trust",
    "pause --end",
]
"""Each command as it is typed, in this order, in one folder; words with blanks are between bars."""

ELSEWHERE = {
    "watch": "test_process.py: it runs until it is stopped, and prints a line for each change",
    "merge": "test_merge.py: it needs another memory",
    "db": "server/test_commands.py: it needs a database",
    "serve": "test_http_daemon.py: it runs until it is stopped",
    "web": "test_web_door.py: it starts the daemon",
}


def _commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if not hasattr(command, "list_commands"):
        yield path, command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        yield from _commands(command.get_command(context, name), (*path, name))


ALL = dict(pair for name in COMMANDS for pair in _commands(loaded(name), (name,)))


def test_every_command_has_the_option_but_those_named() -> None:
    options = {path: {name for one in command.params for name in one.opts} for path, command in ALL.items()}
    assert {path[0] for path, names in options.items() if "--json" not in names} == WITHOUT


def test_every_command_is_tried() -> None:
    tried = {line.replace("|", " ").split()[0] for line in RUN}
    assert {path[0] for path in ALL} - WITHOUT - {"bench"} == tried | ELSEWHERE.keys()


def test_each_prints_json_and_nothing_else(shell: Shell) -> None:
    shell.write("notes.md", "We water the tomatoes every second evening.\n")
    shell.write("../other/MEMORY.md", "# Memory\n\n- Ann keeps bees.\n")
    for line in RUN:
        words = line.split("|") if "|" in line else line.split()
        ran = shell(*words, "--json")
        assert (line, ran.code, ran.err) == (line, 0, "")
        assert isinstance(json.loads(ran.out), dict), line


@pytest.mark.parametrize("name", sorted(WITHOUT - {"git-merge", "mcp"}))
def test_the_others_say_that_they_have_none(name: str, shell: Shell) -> None:
    ran = shell(name, *(["x"] if name == "hook" else []), "--json")
    assert ran.code == 2
    assert ran.out == ""
    assert "--json" in ran.err
