"""Bundles hold what `mnemark connect` writes, and a plug-in beside a connection does nothing twice."""

import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agent.settings_of import none_named
from mnemark import Memory
from mnemark.files.sessions import SessionLog, list_sessions
from mnemark_agents import homes
from mnemark_agents.connect import bundles
from mnemark_agents.connect.bundles import BUNDLES, PLUGIN, Bundle
from mnemark_agents.connect.commands import COMMANDS
from mnemark_agents.connect.connect import host_of
from mnemark_agents.connect.connections import connections, memories
from mnemark_agents.connect.hosts import HOSTS, words_of
from mnemark_interfaces.app import app

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="a shell runs what stands in the settings")
each = pytest.mark.parametrize("bundle", BUNDLES, ids=lambda bundle: bundle.agent)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    none_named(monkeypatch)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MNEMARK_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    return tmp_path


def connect(*words: str) -> Any:
    return CliRunner().invoke(app, ["connect", *words])


def values(text: str) -> Any:
    """The JSON of settings or a bundle, each command line of ours without the program and the memory."""
    return json.loads(
        re.sub(r"[^\s\"]*mnemark (hook \S+ --agent \S+) (?:--workspace \S+|--plugin)", r"\1", text)
    )


def memory_of(bundle: Bundle) -> list[str]:
    return ["--plugin"] if bundle.named else ["--workspace", "~/mnemark", "--plugin"]


@each
def test_hooks_servers_and_commands_are_those_of_connect(home: Path, bundle: Bundle) -> None:
    memory = home / "mnemark"
    connect(bundle.agent, "-w", str(memory))
    files, targets = bundle.files(PLUGIN), host_of(bundle.agent).targets(memory, None)
    if "hooks/hooks.json" in files:
        (settings,) = {target.path for target in targets if target.what == "hooks"}
        assert settings == homes.hook_settings(bundle.agent)
        assert values(files["hooks/hooks.json"])["hooks"] == values(settings.read_text("utf-8"))["hooks"]
    else:
        (script,) = (target.path for target in targets if target.path.name == "index.js")
        ours, theirs = (text.splitlines()[1:] for text in (files["index.js"], script.read_text("utf-8")))
        words = ["mnemark", "hook", "EVENT", "--agent", "openclaw", *memory_of(bundle)]
        assert [line for line in ours if line not in theirs] == [f"const COMMAND = {json.dumps(words)}"]
    (server,) = (json.loads(text)["mcpServers"] for text in files.values() if '"mcpServers": {' in text)
    assert words_of(server["mnemark"]) == ["mnemark", "mcp", *memory_of(bundle)]
    written = {
        re.sub(r"name: \S+|# .*|Run `.*", "", target.path.read_text("utf-8"))
        for target in targets if target.what == "commands"
    }  # fmt: skip
    own = {
        re.sub(r"name: \S+|# .*|Run `.*", "", text)
        for path, text in files.items() if path.startswith(("commands/", "skills/"))
    }  # fmt: skip
    assert (own, len(own)) == (written, len(COMMANDS))


@each
def test_a_bundle_is_portable_and_says_how_it_is_installed(bundle: Bundle) -> None:
    files = bundles.whole(bundle)
    assert [name for name, text in files.items() if str(Path.home()) in text or sys.prefix in text] == []
    for name, text in files.items():
        if name.endswith(".json"):
            json.loads(text)
        elif name.endswith(".toml"):
            tomllib.loads(text)
    assert f"{bundle.folder}/{bundle.manifest}" in files
    page = files["README.md"]
    assert all(line in page for line in (*bundle.install, *bundle.remove, f"mnemark connect {bundle.agent}"))
    for listed in bundle.catalogue or ():
        (entry,) = json.loads(files[listed])["plugins"]
        place = entry["source"] if isinstance(entry["source"], str) else entry["source"]["path"]
        assert f"{place.removeprefix('./')}/{bundle.manifest}" in files


def test_the_entry_of_the_registry_starts_the_server_of_a_plug_in() -> None:
    entry = json.loads(bundles.registry_entry("io.github.ann")["server.json"])
    (package,) = entry["packages"]
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    assert (entry["name"], len(entry["description"]) <= 100) == ("io.github.ann/mnemark", True)
    words = [one.get("value") or one["name"] for one in package["packageArguments"]]
    assert words == PLUGIN.line("mcp")[1:]
    assert package["version"] == entry["version"]


def test_settings_with_hooks_are_found_where_connect_writes_them(home: Path) -> None:
    for host in HOSTS:
        for project in (None, home / "shop"):
            found = [
                one.path for one in host.targets(home, project) if one.what == "hooks" and one.form == "json"
            ]
            try:
                assert homes.hook_settings(host.name, project) in found
            except KeyError:
                assert host.name not in {bundle.agent for bundle in BUNDLES if bundle.apart}


def hook(event: str, agent: str, data: dict[str, Any], *more: str) -> Any:
    command = [sys.executable, "-m", "mnemark", "hook", event, "--agent", agent, "--alone", *more]
    done = subprocess.run(
        command,
        input=json.dumps(data),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return json.loads(done.stdout)


@POSIX
def test_a_plug_in_makes_the_memory_and_leaves_the_hooks_to_a_connection(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, project = home / "mnemark", home / "code/shop/deep"
    project.mkdir(parents=True)
    said = {"session_id": "s", "cwd": str(project), "prompt": "The gate is blue. Ann keeps the spare key."}
    assert hook("prompt", "gemini-cli", said, "--plugin") == {}
    assert (memory / "mnemark.toml").is_file()
    assert turns(memory) == [said["prompt"]]
    with Memory.open(memory) as opened:
        opened.sync()
    asked = {"session_id": "t", "cwd": str(project), "prompt": "Where does Ann keep the spare key?"}
    assert "spare key" in str(hook("prompt", "gemini-cli", asked, "--plugin"))
    assert len(turns(memory)) == 2
    # A connection of the person, then one of a folder above alone.
    connect("gemini-cli", "-w", str(memory))
    assert hook("prompt", "gemini-cli", {**asked, "session_id": "u"}, "--plugin") == {}
    connect("gemini-cli", "--remove")
    monkeypatch.chdir(home / "code/shop")
    connect("gemini-cli", "-w", str(memory), "--project")
    assert hook("prompt", "gemini-cli", {**asked, "session_id": "v"}, "--plugin") == {}
    assert len(turns(memory)) == 2
    elsewhere = {**asked, "session_id": "w", "cwd": str(home)}
    assert "spare key" in str(hook("prompt", "gemini-cli", elsewhere, "--plugin"))
    assert len(turns(memory)) == 3


def turns(memory: Path) -> list[str]:
    logs = [SessionLog(memory, info.id) for info in list_sessions(memory)]
    return [placed.turn.content for log in logs for placed in log.turns()]


@POSIX
def test_another_folder_is_named_by_the_environment_and_what_cannot_be_made_is_logged(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {"session_id": "s", "prompt": "数据库迁移定在周六凌晨两点。"}
    monkeypatch.setenv("MNEMARK_WORKSPACE", str(home / "我的 记忆"))
    assert hook("prompt", "gemini-cli", said, "--plugin") == {}
    assert turns(home / "我的 记忆") == [said["prompt"]]
    (home / "file").touch()
    monkeypatch.setenv("MNEMARK_WORKSPACE", str(home / "file/inside"))
    assert hook("prompt", "gemini-cli", said, "--plugin") == {}
    assert "Cannot write to" in (home / ".local/state/mnemark/hook.log").read_text("utf-8")
    serve = [sys.executable, "-m", "mnemark", "mcp", "--plugin", "--alone"]
    done = subprocess.run(serve, input="", capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr.count("\n")) != (0, 0)
    assert "Traceback" not in done.stderr
    monkeypatch.delenv("MNEMARK_WORKSPACE")
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    call = {**asked, "params": {"name": "memory_remember", "arguments": {"value": "The tea is green."}}}
    done = subprocess.run(
        serve, input=json.dumps(call) + "\n", capture_output=True, text=True, timeout=60, check=True
    )
    assert "isError" not in done.stdout or '"isError":false' in done.stdout.replace(" ", "")
    with Memory.open(home / "mnemark", readonly=True) as memory:
        assert any("tea" in fact.value for fact in memory.facts())


@POSIX
@pytest.mark.parametrize("agent", ["claude-code", "codex", "gemini-cli", "qwen-code"])
def test_a_hook_whose_program_is_gone_succeeds_and_says_so_once(
    home: Path, monkeypatch: pytest.MonkeyPatch, agent: str
) -> None:
    monkeypatch.setattr(
        "mnemark_agents.connect.caller.command", lambda *words: [str(home / "gone mnemark"), *words]
    )
    targets = [one for one in host_of(agent).targets(home / "memory", None) if one.what == "hooks"]
    lines = [entry.value["hooks"][0]["command"] for target in targets for entry in target.entries]
    assert words_of({"command": lines[0]})[0] == str(home / "gone mnemark")
    shown = []
    for line in lines:
        done = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=60, check=True)
        shown.append(json.loads(done.stdout))
    assert [("systemMessage" in one, len(one)) for one in shown] == [(True, 1)] + [(False, 0)] * (
        len(lines) - 1
    )


SIGNS = {
    "claude-code": (".claude/plugins/installed_plugins.json", '{"plugins": {"mnemark@mnemark": []}}'),
    "codex": (".codex/config.toml", '[plugins."mnemark@mnemark"]\nenabled = true\n'),
    "gemini-cli": (".gemini/extensions/mnemark/gemini-extension.json", '{"name": "mnemark"}'),
    "openclaw": (".openclaw/extensions/mnemark/index.js", f"// {PLUGIN.mark}\n"),
}


@each
def test_a_plug_in_is_told_of(home: Path, bundle: Bundle) -> None:
    agent, (path, text) = bundle.agent, SIGNS[bundle.agent]
    assert memories(None) == []
    (home / path).parent.mkdir(parents=True)
    (home / path).write_text(text, "utf-8")
    listed = {one.agent: one for one in connections()}
    assert (listed[agent].state, listed[agent].plugin) == ("connected by plug-in", True)
    assert listed[agent].workspace == str(home / "mnemark")
    assert "connected by plug-in" in connect().output
    ran = connect(agent, "-w", str(home / "mnemark"))
    if not bundle.apart:
        assert ran.exit_code == 2
        assert shlex.quote(bundle.remove[0]).strip("'") in ran.output
        assert (home / path).read_text("utf-8") == text
        return
    assert f"take it out: {bundle.remove[0]}" in ran.output
    assert "and by plug-in" in connect().output
    assert memories(None) == [(home / "mnemark").resolve()]
    connect(agent, "--remove")
    assert memories(None) == [(home / "mnemark").resolve()], "commands find the memory of the plug-in"


def test_a_plug_in_of_this_installation_is_written_for_those_who_take_a_folder(home: Path) -> None:
    for bundle in BUNDLES:
        folder = home / bundle.agent
        ran = connect(bundle.agent, "--plugin", str(folder), "-w", str(home / "memory"))
        if not bundle.trial:
            assert ran.exit_code == 2
            assert "claude-code, gemini-cli, openclaw" in ran.output
            continue
        assert (ran.exit_code, bundle.trial in ran.output) == (0, True), ran.output
        text = "\n".join(path.read_text("utf-8") for path in folder.rglob("*") if path.is_file())
        assert str(home / "memory") in text
        assert "--plugin" in text
        assert connect(bundle.agent, "--plugin", str(folder)).exit_code == 0, "over its own"
        (home / "other").mkdir(exist_ok=True)
        (home / "other/mine.txt").touch()
        refused = connect(bundle.agent, "--plugin", str(home / "other"))
        assert (refused.exit_code, "contains other files" in refused.output) == (2, True)


def test_the_page_on_installing_says_what_is_typed() -> None:
    page = (Path(__file__).parents[2] / "docs/install.md").read_text("utf-8")
    for bundle in BUNDLES:
        assert [line for line in (*bundle.install, bundle.remove[0]) if f"`{line}`" not in page] == []
