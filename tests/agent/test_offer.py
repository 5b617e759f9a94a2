"""The offer to learn with a connected agent's model: made once, off until yes, a no is kept."""

import os
import sys
from pathlib import Path

import pytest
import typer

from mnemark.files import user_config
from mnemark_agents.connect import choices
from mnemark_agents.connect.hosts import Host, host_named
from mnemark_interfaces.commands.connect import connect
from mnemark_interfaces.commands.connect_offers import offer_model


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "own" / "config.toml"
    monkeypatch.setenv("MNEMARK_CONFIG", str(place))
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("claude", "codex"):
        program = programs / (f"{name}.cmd" if os.name == "nt" else name)
        program.write_text("exit\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    return place


def host(name: str) -> Host:
    found = host_named(name)
    assert found is not None
    return found


def test_it_says_what_is_sent_and_what_it_costs(
    own: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert choices.offer_for(host("claude-code")) is not None
    assert not own.exists()
    monkeypatch.setattr(typer, "prompt", lambda question, **_: "")
    monkeypatch.setattr("mnemark_interfaces.output.is_terminal", lambda _: True)
    offer_model([host("claude-code")])
    said = capsys.readouterr().err
    assert "What is sent: when a session ends, what was said in it" in said
    assert "one request a session, of up to about 10,300 tokens; at most 20 requests and 200,000" in said
    assert str(own) in said


def test_only_agents_that_are_there_and_have_a_program_are_offered(own: Path) -> None:
    assert choices.offer_for(host("gemini-cli")) is None  # not installed
    assert choices.offer_for(host("cursor")) is None
    assert choices.offer_for(host("codex")) is not None


@pytest.mark.parametrize("wanted", [True, False])
def test_the_answer_is_kept_and_not_asked_for_again(
    own: Path, monkeypatch: pytest.MonkeyPatch, *, wanted: bool
) -> None:
    asked: list[str] = []

    def answer(question: str, **_: object) -> str:
        asked.append(question)
        return "y" if wanted else "n"

    monkeypatch.setattr(typer, "prompt", answer)
    monkeypatch.setattr("mnemark_interfaces.output.is_terminal", lambda _: True)
    own.parent.mkdir()
    own.write_text('# mine\nhosts = ["llm.example"]\n')
    for _ in range(2):
        offer_model([host("claude-code")])
        offer_model([host("codex")])
    assert len(asked) == 1
    assert own.read_text("utf-8").startswith('# mine\nhosts = ["llm.example"]\n')
    found = user_config.load()
    assert found.hosts == ("llm.example",)
    assert found.llm is not None
    assert (found.llm.command, found.llm.active) == ("claude-code", wanted)


def test_nobody_is_asked_without_a_terminal(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    offer_model([host("claude-code")])
    assert not own.exists()


@pytest.mark.usefixtures("own")
def test_connecting_all_offers_the_first_model_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def answer(question: str, **_: object) -> str:
        asked.append(question)
        return ""  # as it is offered

    home = tmp_path / "home"
    for folder in (".claude", ".codex"):
        (home / folder).mkdir(parents=True)
        (home / folder / "there").write_text("x")
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "MNEMARK_WORKSPACE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(typer, "prompt", answer)
    monkeypatch.setattr("mnemark_interfaces.output.can_ask", lambda: True)
    for _ in range(2):
        connect("", workspace_=None)
    assert asked == ["Go on? [Y/n]", "Learn with it? [y/N]"]
    assert user_config.load().llm is not None
