"""Settings of other programs have any shape: added to, or left as they are with a clear message."""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from agent.settings_of import none_named
from mnemark.errors import MnemarkError, UsageError
from mnemark_agents.connect import connect, connections
from mnemark_agents.connect.hosts import HOSTS
from sampled import sampled

VALUES: Sequence[Any] = (
    "text", "", 3, -0.5, True, [], ["text"], [3, [4]], [{}], [{"command": "other"}], {}, {"other": 1},
    {"mnemark": []}, {"mnemark": "text"}, {"mnemark": [{"command": "other"}]}, {"mnemark": {"command": 3}},
    {"command": [], "args": ["mcp"]}, {"command": "mnemark", "args": [1, {}]}, {"hooks": [{"hooks": [[]]}]},
    {"hooks": "text"}, [{"hooks": [3]}], [{"hooks": []}, "text"], {"mnemark": {"args": {"mcp": 1}}},
)  # fmt: skip
TOPS = (
    "[]",
    '"text"',
    "3",
    "null",
    "true",
    "[[{}]]",
    '[{"hooks": {}}]',
    "{",
    "\x00",
    "[" * 5_000,
    '{"a":' * 5_000,
)
LINES = ("[[{keys}]]\n", "[[{keys}]]\nname = 1\n[[{keys}]]\n", "[{keys}]\n", "{keys}.other.command = 'x'\n")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    none_named(monkeypatch)
    return tmp_path


def as_toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {as_toml(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    return json.dumps(value)


def shapes(form: str, keys: Sequence[str]) -> Iterator[str]:
    """Yield settings with each value at each place on the way to ours, and texts that are no settings."""
    yield from TOPS
    if form == "json":
        yield "null"
    for depth in range(1, len(keys) + 1):
        for value in VALUES if form == "toml" else (*VALUES, None):
            whole = value
            for key in reversed(keys[:depth]):
                whole = {key: whole}
            if form == "json":
                yield json.dumps(whole)
            else:
                yield f"{'.'.join(keys[:depth])} = {as_toml(value)}\n"
        if form == "toml":
            yield from (line.format(keys=".".join(keys[:depth])) for line in LINES)


def use(name: str, root: Path) -> None:
    """Do all that reads or writes an agent's settings."""
    host = connect.host_of(name)
    for remove in (False, False, True, True):
        with suppress(MnemarkError):
            connect.apply(connect.plan(host, root, remove=remove))
    connections.connections()


def cases() -> Iterator[Any]:
    for host in HOSTS:
        for target in {one.path: one for one in host.targets(Path("/memory"), None)}.values():
            if target.form in {"json", "toml"}:
                yield pytest.param(host.name, target.what, id=f"{host.name}-{target.what}")


@pytest.mark.parametrize("every", sampled((4, 1), 2), ids=("some", "all"))
@pytest.mark.parametrize(("name", "what"), sampled(cases(), 9))
def test_any_shape_is_added_to_or_left_as_it_is(name: str, what: str, every: int, tmp_path: Path) -> None:
    root = tmp_path / "memory"
    targets = connect.host_of(name).targets(root, None)
    (first, *_) = [one for one in targets if one.what == what]
    file = first.path
    keys = {entry.keys for one in targets if one.path == file for entry in one.entries}
    texts = list(dict.fromkeys(text for one in sorted(keys) for text in shapes(first.form, one)))
    for text in texts[::every]:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        host = connect.host_of(name)
        try:
            changes = connect.plan(host, root)
        except UsageError as error:
            told = str(error)
            assert (file.read_text(), f"{file} was not changed: " in told) == (text, True)
        else:
            connect.apply(changes)
            assert connect.plan(host, root) == []
        use(name, root)
        if "mnemark" not in text:
            assert file.read_text() == text or json.loads(file.read_text() or "{}") in (
                {},
                json.loads(text),
            ), text
        for left in file.parent.glob(f"{file.name}{connect.BACKUP}"):
            left.unlink()
