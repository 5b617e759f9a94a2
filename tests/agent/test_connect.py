"""Connecting changes only what it must, shows it first, and is undone to the byte."""

import json
import os
import stat
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.settings_of import none_named
from mnemark.errors import BusyError, UsageError
from mnemark_agents.connect import connect, connections, json_edit
from mnemark_agents.connect.hosts import HOSTS, Setting, Target, is_ours
from sampled import examples

NAMES = [host.name for host in HOSTS]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    none_named(monkeypatch)
    return tmp_path


def put_in(name: str, root: Path, **more: bool) -> list[connect.SettingsChange]:
    changes = connect.plan(connect.host_of(name), root, **more)  # type: ignore[arg-type] # only `remove`
    connect.apply(changes)
    return changes


def everything(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("name", NAMES)
def test_connecting_twice_is_connecting_once_and_removing_leaves_nothing(home: Path, name: str) -> None:
    assert put_in(name, home / "memory")
    assert not put_in(name, home / "memory")
    state = {one.agent: one for one in connections.connections()}[name]
    assert (state.state, state.workspace) == ("connected", str(home / "memory"))
    assert put_in(name, home / "memory", remove=True)
    assert everything(home) == {}
    assert not put_in(name, home / "memory", remove=True)


def test_codex_tools_look_for_the_daemon_where_its_hooks_do(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    put_in("codex", home / "memory")
    config = tomllib.loads((home / ".codex/config.toml").read_text("utf-8"))
    assert config["mcp_servers"]["mnemark"]["env_vars"] == ["XDG_STATE_HOME"]
    assert put_in("codex", home / "memory", remove=True)
    assert everything(home) == {}


@pytest.mark.parametrize("name", NAMES)
def test_another_workspace_replaces_the_first(home: Path, name: str) -> None:
    put_in(name, home / "one")
    put_in(name, home / "two words")
    text = "".join(data.decode() for data in everything(home).values())
    assert str(home / "one") not in text
    assert {one.agent: one for one in connections.connections()}[name].workspace == str(home / "two words")


SETTINGS = """{
    // mine, the "model"
}"""
JSON5 = """// the whole file is mine
{
  model: 'opus', // dear
  "list": [1, .5, 0x1F, +2,], /* of
  numbers */
  other: {
    // nothing, yet
  },
  // done
}
"""
JSON_FILES = [
    ("gemini-cli", ".gemini/settings.json"),
    ("qwen-code", ".qwen/settings.json"),
    ("openclaw", ".openclaw/openclaw.json"),
    ("opencode", ".config/opencode/opencode.jsonc"),
    ("zed", ".config/zed/settings.json"),
]
ODD = (
    '{"model":"opus", "hooks" : {"Stop":[ {"hooks":[{"type":"command","command":"beep"}]} ],\r\n'
    ' "Own": []},\n\n\t"x":1e5}  \n'
)


def test_what_is_there_stays_byte_for_byte_and_comes_back(home: Path) -> None:
    path = home / ".claude/settings.json"
    path.parent.mkdir()
    path.write_bytes(ODD.encode())
    path.chmod(0o640)
    put_in("claude-code", home / "memory")
    text = path.read_bytes().decode()
    assert text.startswith(
        '{"model":"opus", "hooks" : {"Stop":[ {"hooks":[{"type":"command","command":"beep"}]}'
    )
    assert text.endswith('\n\n\t"x":1e5}  \n')
    assert json.loads(text)["hooks"]["Stop"][0] == {"hooks": [{"type": "command", "command": "beep"}]}
    assert len(json.loads(text)["hooks"]["Stop"]) == 2
    assert path.with_name("settings.json.before-mnemark").read_bytes() == ODD.encode()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    put_in("claude-code", home / "memory", remove=True)
    assert path.read_bytes() == ODD.encode()
    assert everything(home) == {".claude/settings.json": ODD.encode()}


def test_what_a_person_adds_meanwhile_survives_the_removal(home: Path) -> None:
    path = home / ".claude/settings.json"
    path.parent.mkdir()
    path.write_text('{\n  "model": "opus"\n}\n', encoding="utf-8")
    put_in("claude-code", home / "memory")
    path.write_text(path.read_text(encoding="utf-8").replace('"opus"', '"sonnet"'), encoding="utf-8")
    put_in("claude-code", home / "memory", remove=True)
    assert path.read_text(encoding="utf-8") == '{\n  "model": "sonnet"\n}\n'


@pytest.mark.parametrize("text", ['{"a": 1,, }', "{'a': 1, 'a': 2}", "[1", "{a: 1} {b: 2}", '{"hooks": 1}'])
def test_what_is_no_json_is_refused_with_what_to_paste_and_nothing_is_written(home: Path, text: str) -> None:
    path = home / ".gemini/settings.json"
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"was not changed(?s:.*)BeforeAgent") as caught:
        put_in("gemini-cli", home / "memory")
    assert "hook prompt" in str(caught.value)
    assert everything(home) == {".gemini/settings.json": text.encode()}


@pytest.mark.parametrize("text", [SETTINGS, JSON5, JSON5.replace("\n", "\r\n"), "\ufeff" + JSON5])
@pytest.mark.parametrize(("name", "file"), JSON_FILES)
def test_comments_and_json5_are_kept_to_the_byte(home: Path, name: str, file: str, text: str) -> None:
    path = home / file
    path.parent.mkdir(parents=True)
    path.write_bytes(text.encode())
    put_in(name, home / "memory")
    with_ours = path.read_bytes().decode()
    rest = iter(with_ours)
    assert all(letter in rest for letter in text), "each letter is there, in its order"
    found = json_edit.parse(with_ours).value
    assert {key: found[key] for key in json_edit.parse(text).value} == json_edit.parse(text).value
    assert {one.agent: one for one in connections.connections()}[name].state == "connected"
    changed = with_ours.replace("opus", "sonnet")  # the backup is not the same any more
    path.write_bytes(changed.encode())
    put_in(name, home / "memory", remove=True)
    assert path.read_bytes() == text.replace("opus", "sonnet").encode()
    assert set(everything(home)) == {file}


@pytest.mark.parametrize(
    ("name", "file", "before", "after"),
    [
        ("gemini-cli", ".gemini/settings.json", '{\n  "a": 1\n}\n', '{\n  "a": /* don\'t "touch" */ 1\n}\n'),
        ("codex", ".codex/config.toml", "a = 1\n", "a = 1 # do not touch\n"),
    ],
)
def test_a_comment_that_a_person_adds_meanwhile_survives_the_removal(
    home: Path, name: str, file: str, before: str, after: str
) -> None:
    path = home / file
    path.parent.mkdir()
    path.write_text(before, encoding="utf-8")
    put_in(name, home / "memory")
    line, changed = before.strip("{}\n"), after.strip("{}\n")
    path.write_text(path.read_text(encoding="utf-8").replace(line, changed), encoding="utf-8")
    put_in(name, home / "memory", remove=True)
    assert path.read_text(encoding="utf-8") == after


def test_a_file_with_a_comment_is_not_removed_as_empty(home: Path) -> None:
    path = home / ".gemini/settings.json"
    path.parent.mkdir()
    path.write_text("{\n  // mine\n}\n", encoding="utf-8")
    put_in("gemini-cli", home / "memory")
    path.with_name("settings.json.before-mnemark").unlink()
    put_in("gemini-cli", home / "memory", remove=True)
    assert path.read_text(encoding="utf-8") == "{\n  // mine\n}\n"


@pytest.mark.parametrize(
    ("text", "index", "after"),
    [
        ("[1, // one\n 2]", 1, "[1 // one\n ]"),
        ("[ // many\n1, 2]", 0, "[ // many\n2]"),
        ("[ // one\n1]", 0, "[ // one\n]"),
        ("[1, // one\n 2, 3]", 1, "[1, // one\n  3]"),
        ("[1, // one\n 2, // two\n 3]", 1, "[1, // one\n  // two\n 3]"),
        ('{"a": "//", "b": 2}', 1, '{"a": "//"}'),
        ("[1\n, // one\n 2\n]", 1, "[1\n // one\n]"),
        ("[1, // one\u2028 2]", 1, "[1 // one\u2028 ]"),
    ],
)
def test_what_is_cut_leaves_a_comment_on_a_line_of_its_own(text: str, index: int, after: str) -> None:
    found = json_edit.cut(text, json_edit.parse(text), index)
    assert found == after
    left = list(json_edit.parse(text).parts)
    del left[index]
    assert [one.value for one in json_edit.parse(found).parts] == [one.value for one in left]


def test_a_comment_ends_where_json5_says(home: Path) -> None:
    text = "{a: [1 // one\u2028]}"
    assert json_edit.parse(json_edit.append(text, ["a"], 2)).value == {"a": [1, 2]}


def test_toml_keeps_its_comments_and_says_the_same(home: Path) -> None:
    path = home / ".codex/config.toml"
    path.parent.mkdir()
    before = '# mine\nmodel = "gpt-5" # dear\r\n\n[mcp_servers.other]\ncommand = "x"\n[profiles.a]\nmodel="b"'
    path.write_bytes(before.encode())
    put_in("codex", home / "memory")
    text = path.read_bytes().decode()
    assert text.startswith(before)
    found = tomllib.loads(text)
    assert found["mcp_servers"]["mnemark"]["args"][-1] == str(home / "memory")
    assert found["profiles"] == {"a": {"model": "b"}}
    put_in("codex", home / "memory", remove=True)
    assert path.read_bytes().decode() == before


@pytest.mark.parametrize(
    "text",
    ["mcp_servers = { other = { command = 'x' } }\n", "[mcp_servers.mnemark]\ncommand = 'mine'\n", "a = \n"],
)
def test_toml_that_cannot_be_added_to_is_refused(home: Path, text: str) -> None:
    path = home / ".codex/config.toml"
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"mcp_servers\.mnemark"):
        put_in("codex", home / "memory")
    assert path.read_text(encoding="utf-8") == text


def test_a_file_that_changes_between_plan_and_change_is_left_alone(home: Path) -> None:
    path = home / ".cursor/mcp.json"
    changes = connect.plan(connect.host_of("cursor"), home / "memory")
    path.parent.mkdir()
    path.write_text('{"mcpServers": {}}', encoding="utf-8")
    with pytest.raises(BusyError, match="try again"):
        connect.apply(changes)
    assert path.read_text(encoding="utf-8") == '{"mcpServers": {}}'


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
def test_a_linked_file_stays_a_link(home: Path) -> None:
    (home / "dotfiles").mkdir()
    (home / "dotfiles/settings.json").write_text("{}", encoding="utf-8")
    (home / ".claude").mkdir()
    (home / ".claude/settings.json").symlink_to(home / "dotfiles/settings.json")
    put_in("claude-code", home / "memory")
    assert (home / ".claude/settings.json").is_symlink()
    assert "hooks" in (home / "dotfiles/settings.json").read_text(encoding="utf-8")
    put_in("claude-code", home / "memory", remove=True)
    assert (home / "dotfiles/settings.json").read_text(encoding="utf-8") == "{}"


def test_a_project_is_connected_without_what_is_shared_with_others(home: Path) -> None:
    project = home / "project"
    project.mkdir()
    changes = connect.plan(connect.host_of("claude-code"), home / "memory", project=project)
    names = {str(change.path.relative_to(project)) for change in changes}
    assert names == {str(Path(".claude/settings.local.json")), ".mcp.json"}


def test_the_diff_shows_what_is_added(home: Path) -> None:
    (change,) = connect.plan(connect.host_of("vscode"), home / "memory")
    assert '+    "mnemark": {' in change.diff
    assert not everything(home)


def test_an_unknown_agent_is_answered_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="claude-code, codex"):
        connect.host_of("emacs")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=examples(150))
@given(
    st.dictionaries(st.sampled_from(["a", "b", "hooks", "名"]), JSON, max_size=4),
    JSON,
    st.sampled_from([None, 0, 2, "\t"]),
)
def test_putting_a_value_in_changes_it_and_nothing_else(
    whole: dict[str, object], value: object, indent: object
) -> None:
    text = json.dumps(whole, indent=indent, ensure_ascii=False)  # type: ignore[arg-type] # as sampled
    found = json_edit.put(text, ("new", "inner"), value)
    assert json.loads(found) == {**whole, "new": {"inner": value}}
    node = json_edit.parse(found)
    assert json_edit.cut(found, node, node.keys.index("new")).split() == text.split() or not whole


@settings(max_examples=examples(150))
@given(st.text(alphabet='{}[]",:ab1 \\n', max_size=40))
def test_the_scanner_takes_what_json_takes_with_the_same_value(text: str) -> None:
    pairs: list[bool] = []

    def once(found: list[tuple[str, object]]) -> dict[str, object]:
        pairs.append(len({key for key, _ in found}) == len(found))
        return dict(found)

    try:
        value = json.loads(text, object_pairs_hook=once)
    except ValueError:
        return
    if all(pairs):
        assert json_edit.parse(text).value == value


@given(JSON, st.sampled_from([None, 0, 2]), st.booleans())
def test_the_scanner_reads_all_of_json(value: object, indent: object, ascii_: bool) -> None:  # noqa: FBT001
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_)  # type: ignore[arg-type] # as sampled
    assert json_edit.parse(text).value == value


TRIVIA = st.sampled_from(["", " ", "\n", "\n  ", " // c\n", "/* , */", "\n// }\n\t", "/**/ "])


@st.composite
def json5(draw: st.DrawFn) -> tuple[str, dict[str, object]]:
    """An object with comments, trailing commas and keys without quotes; and its value."""
    pieces, value = ["{"], {}
    keys = draw(st.lists(st.sampled_from(["a", "b", "$c", "名"]), unique=True, max_size=3))
    for number, key in enumerate(keys):
        name = draw(st.sampled_from([key, f"'{key}'", f'"{key}"']))
        text, part = draw(
            st.sampled_from([("1", 1), ("'x\\'y'", "x'y"), ("[ // }\n]", []), ('{"z": .5,}', {"z": 0.5})])
        )
        last = number == len(keys) - 1
        comma = "" if last and draw(st.booleans()) else ","
        pieces += [draw(TRIVIA), name, draw(TRIVIA), ":", draw(TRIVIA), text, draw(TRIVIA), comma]
        value[key] = part
    return "".join([draw(TRIVIA), *pieces, draw(TRIVIA), "}", draw(TRIVIA)]), value


@settings(max_examples=examples(400))
@given(json5())
def test_an_edit_of_json5_keeps_all_else(given: tuple[str, dict[str, object]]) -> None:
    text, value = given
    assert json_edit.parse(text).value == value
    found = json_edit.put(text, ("mnemark",), {"deep": [1]})
    assert json_edit.parse(found).value == {**value, "mnemark": {"deep": [1]}}
    rest = iter(found)
    assert all(letter in rest for letter in text if not letter.isspace())
    node = json_edit.parse(found)
    again = json_edit.cut(found, node, node.keys.index("mnemark"))
    assert json_edit.parse(again).value == value
    assert "".join(again.split()) == "".join(text.split())


def test_deep_nesting_is_refused_and_not_a_crash() -> None:
    with pytest.raises(json_edit.NotJsonError):
        json_edit.parse("[" * 100_000)


def test_a_target_can_be_pasted(home: Path) -> None:
    target = Target("tools", home / "x.json", (Setting(("mcpServers", "mnemark"), {"command": "m"}),))
    assert json.loads(connect.snippet(target)) == {"mcpServers": {"mnemark": {"command": "m"}}}


@pytest.mark.parametrize(
    ("line", "ours"),
    [
        ("mnemark hook stop --agent codex", True),
        ("'/home/a b/bin/mnemark' hook stop", True),
        ('"C:/a b/mnemark.exe" hook stop', True),
        ("/usr/bin/python3 -P -m mnemark hook stop", True),
        ("echo 'mnemark: a hook ran' >> log", False),
        ("grep hook mnemark.txt", False),
        ("/opt/not-mnemark-at-all hook x", False),
    ],
)
def test_a_hook_that_only_speaks_of_mnemark_is_a_person_s_own(line: str, *, ours: bool) -> None:
    assert is_ours({"hooks": [{"type": "command", "command": line}]}) is ours


OWN = [
    {"type": "http", "url": "http://127.0.0.1:9/mcp"},
    {"command": "mnemark", "args": ["mcp"]},
    {"command": "mnemark", "args": ["mcp", "-w", "/mine"], "env": {"A": "b"}},
]


@pytest.mark.parametrize("own", OWN, ids=["http", "short", "with a folder"])
@pytest.mark.parametrize("meanwhile", [False, True])
def test_a_server_of_ones_own_comes_back(home: Path, own: dict[str, object], *, meanwhile: bool) -> None:
    path = home / ".cursor/mcp.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"mcpServers": {"mnemark": own, "other": {"command": "x"}}}), encoding="utf-8")
    before = everything(home)
    state = {one.agent: one for one in connections.connections()}["cursor"]
    assert state.state == "not connected"
    put_in("cursor", home / "one")
    put_in("cursor", home / "two")
    text = path.read_text(encoding="utf-8")
    assert str(home / "two") in text
    assert json.loads(text)["mcpServers"]["mnemark"] != own
    if meanwhile:
        path.write_text(text.replace('"x"', '"y"'), encoding="utf-8")
    put_in("cursor", home / "two", remove=True)
    if meanwhile:
        now = json.loads(path.read_text(encoding="utf-8"))["mcpServers"]
        assert now == {"mnemark": own, "other": {"command": "y"}}
        assert list(everything(home)) == list(before)
    else:
        assert everything(home) == before


@pytest.mark.parametrize("own", OWN, ids=["http", "short", "with a folder"])
def test_a_server_set_up_beside_our_hooks_comes_back(home: Path, own: dict[str, object]) -> None:
    path = home / ".gemini/settings.json"  # one file for hooks and servers
    path.parent.mkdir()
    path.write_text('{"theme": "dark"}', encoding="utf-8")
    put_in("gemini-cli", home / "one")
    now = json.loads(path.read_text(encoding="utf-8"))
    now["mcpServers"]["mnemark"] = own
    path.write_text(json.dumps(now), encoding="utf-8")
    put_in("gemini-cli", home / "two")
    assert str(home / "two") in str(json.loads(path.read_text(encoding="utf-8"))["mcpServers"]["mnemark"])
    put_in("gemini-cli", home / "two", remove=True)
    assert json.loads(path.read_text(encoding="utf-8")) == {"theme": "dark", "mcpServers": {"mnemark": own}}
    assert [one.name for one in path.parent.iterdir()] == ["settings.json"]


@pytest.mark.parametrize("own", OWN, ids=["http", "short", "with a folder"])
def test_what_never_was_ours_is_not_removed(home: Path, own: dict[str, object]) -> None:
    path = home / ".claude.json"
    path.write_text(json.dumps({"mcpServers": {"mnemark": own}}), encoding="utf-8")
    before = everything(home)
    assert not put_in("claude-code", home / "memory", remove=True)
    assert everything(home) == before


def test_a_number_longer_than_python_reads_is_a_number_of_settings() -> None:
    digits = "1" * 5_000
    assert json_edit.parse(f'{{"a": {digits}, "b": -{digits}, "c": 12}}').value == {
        "a": float("inf"), "b": float("-inf"), "c": 12,
    }  # fmt: skip
