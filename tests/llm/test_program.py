import json
import os
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from mnemark.errors import ConfigError
from mnemark.llm import Breaker, Budget, Ledger, LLMUnavailable, Message, Meter
from mnemark.llm.program import ProgramLLM
from mnemark.llm.programs import PROGRAMS, command_of

SCRIPT = str(Path(__file__).with_name("scripted_program.py"))
QUESTION = [Message("system", "Answer."), Message("user", "What do I drink? 茶")]
PLENTY = Budget(calls_per_day=50, tokens_per_day=1_000_000)
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
posix = pytest.mark.skipif(sys.platform == "win32", reason="process groups of POSIX")


class Drink(msgspec.Struct):
    drink: str


def meter(budget: Budget = PLENTY) -> Meter:
    return Meter(budget, Ledger.in_memory())


def model(*how: str, **more: object) -> ProgramLLM:
    return ProgramLLM([sys.executable, SCRIPT, *how], **({"meter": meter()} | more))  # type: ignore[arg-type]


def is_gone(noted: Path) -> bool:
    """Whether the process with the noted id ends soon; one that waits to be reaped has ended."""
    state = Path(f"/proc/{noted.read_text()}/stat")
    for _ in range(100):
        if not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.05)
    return False


def test_the_prompt_comes_on_stdin_and_the_answer_from_stdout() -> None:
    counted = meter()
    answer = model("right", meter=counted).complete(QUESTION, schema=Drink)
    assert (answer.value, answer.estimated, answer.requests) == (Drink("tea"), True, 1)
    assert counted.spent().calls == 1
    assert counted.spent().tokens == answer.tokens_in + answer.tokens_out
    prompt = model("repeat").complete(QUESTION, schema=Drink).value.drink
    assert prompt.startswith("Answer.")
    assert prompt.endswith("What do I drink? 茶\n")


def test_a_program_that_reads_nothing_answers_too() -> None:
    long = [Message("user", "tea " * 200_000)]
    assert model("ignore").complete(long, schema=Drink).value == Drink("tea")


def test_it_runs_in_an_empty_folder_without_the_rest_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MADE_UP_SECRET", "1")
    monkeypatch.setenv("MADE_UP_KEY", "2")
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.environ['PATH']}")
    said = model("surroundings", passes=("MADE_UP_KEY",)).complete(QUESTION, schema=Drink).value.drink
    seen = json.loads(said)
    assert seen["files"] == []
    assert not Path(seen["cwd"]).exists()
    assert seen["env"]["MNEMARK_HOOKS"] == "off"
    assert seen["env"]["MADE_UP_KEY"] == "2"
    assert "MADE_UP_SECRET" not in seen["env"]
    assert "PYTHONPATH" not in seen["env"]
    assert "CLAUDECODE" not in seen["env"]
    assert "." not in seen["env"]["PATH"].split(os.pathsep)
    assert "drink" not in " ".join(seen["argv"])


def test_what_is_no_answer_is_given_back_once() -> None:
    counted = meter()
    with pytest.raises(LLMUnavailable) as failed:
        model("garbage", meter=counted).complete(QUESTION, schema=Drink)
    assert failed.value.kind == "invalid"
    assert counted.spent().calls == 2


@pytest.mark.timed
def test_one_that_is_late_is_killed() -> None:
    start = time.monotonic()
    with pytest.raises(LLMUnavailable, match="gave no answer within") as failed:
        model("slow", "30").complete(QUESTION, timeout=0.5)
    assert failed.value.kind == "unreachable"
    assert time.monotonic() - start < 5


@linux
def test_what_it_started_is_killed_with_it(tmp_path: Path) -> None:
    noted = tmp_path / "pid"
    answer = model("children", str(noted)).complete(QUESTION, schema=Drink, timeout=20.0)
    assert answer.value == Drink("tea")
    assert is_gone(noted)
    with pytest.raises(LLMUnavailable, match="gave no answer"):
        model("children", str(noted), "hang").complete(QUESTION, timeout=3.0)
    assert is_gone(noted)


@linux
@pytest.mark.parametrize("how", ["setsid", "orphan", "daemon", "clears"])
def test_what_leaves_its_group_is_killed_with_it(tmp_path: Path, how: str) -> None:
    noted = tmp_path / "pid"
    with pytest.raises(LLMUnavailable, match="gave no answer"):
        model("escapes", str(noted), how, "hang").complete(QUESTION, timeout=4.0)
    assert is_gone(noted)
    if how != "clears":  # and no parent is left
        noted.unlink()
        assert model("escapes", str(noted), how).complete(QUESTION, schema=Drink).value == Drink("tea")
        assert is_gone(noted)


@pytest.mark.timed
def test_one_that_prints_without_end_is_killed() -> None:
    start = time.monotonic()
    with pytest.raises(LLMUnavailable, match="more than") as failed:
        model("huge").complete(QUESTION, timeout=30)
    assert failed.value.kind == "invalid"
    assert time.monotonic() - start < 15


@pytest.mark.parametrize(
    ("how", "kind", "words"),
    [
        (("fails", "3", "not logged in"), "refused", "ended with 3: not logged in"),
        (("fails", "1", "usage limit reached"), "unreachable", "usage limit"),
        (("says", "Invalid API key"), "refused", "Invalid API key"),
    ],
)
def test_a_failure_says_what_the_program_said(how: tuple[str, ...], kind: str, words: str) -> None:
    with pytest.raises(LLMUnavailable, match=words) as failed:
        model(*how).complete(QUESTION)
    assert failed.value.kind == kind


@posix
def test_one_that_is_killed_is_a_failure() -> None:
    with pytest.raises(LLMUnavailable, match="ended with -9"):
        model("killed").complete(QUESTION)


def test_secrets_in_messages_are_redacted() -> None:
    with pytest.raises(LLMUnavailable) as failed:
        model("fails", "1", "key sk-ant-api03-" + "a1B2c3D4" * 12).complete(QUESTION)
    assert "a1B2c3D4" not in str(failed.value)


def test_the_breaker_and_the_budget_hold() -> None:
    asked = model("fails", "1", "no", breaker=Breaker(failures=2))
    for _ in range(2):
        with pytest.raises(LLMUnavailable, match="ended with"):
            asked.complete(QUESTION)
    with pytest.raises(LLMUnavailable) as failed:
        asked.complete(QUESTION)
    assert failed.value.kind == "breaker"
    with pytest.raises(LLMUnavailable) as failed:
        model("right", meter=meter(Budget())).complete(QUESTION)
    assert failed.value.kind == "budget"


def test_a_program_that_is_not_there_is_no_try() -> None:
    with pytest.raises(LLMUnavailable, match="not found in PATH") as failed:
        ProgramLLM(["mnemark-made-up"], meter=meter()).complete(QUESTION)
    assert not failed.value.asked
    with pytest.raises(LLMUnavailable, match="absolute path"):
        ProgramLLM(["./right"], meter=meter()).complete(QUESTION)


@posix
def test_the_current_folder_is_never_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "claude").write_text("#!/bin/sh\necho cloned\n")
    (tmp_path / "claude").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    for path in (".", "", f"{os.pathsep}."):
        monkeypatch.setenv("PATH", path)
        with pytest.raises(LLMUnavailable, match="not found"):
            ProgramLLM("claude-code", meter=meter()).complete(QUESTION)


@linux
def test_closing_kills_what_runs(tmp_path: Path) -> None:
    code = (
        "import threading, sys, time\nfrom mnemark.llm import Budget, Ledger, Message, Meter\n"
        "from mnemark.llm.program import ProgramLLM\n"
        "llm = ProgramLLM(sys.argv[1:], meter=Meter(Budget(9, 99999), Ledger.in_memory()))\n"
        "threading.Thread(target=llm.complete, args=([Message('user', 'x')],), daemon=True).start()\n"
        "time.sleep(1.5)\n"
    )
    noted = tmp_path / "pid"
    subprocess.run(
        [sys.executable, "-c", code, sys.executable, SCRIPT, "children", str(noted), "hang"], check=False
    )
    assert is_gone(noted)


def test_the_ready_settings_are_these() -> None:
    """Seen with the programs themselves; see docs/llm.md."""
    shown = {name: " ".join(command_of(one, "MODEL")) for name, one in PROGRAMS.items()}
    system = "Answer what the text asks for, from the text alone. You have no tools."
    assert shown["claude-code"] == (
        "claude -p --output-format text --safe-mode --tools  --no-session-persistence --strict-mcp-config "
        f"--disable-slash-commands --system-prompt {system} --model MODEL"
    )
    assert shown["codex"].startswith(
        "codex exec --ephemeral --ignore-user-config --ignore-rules --skip-git-repo-check --sandbox "
        "read-only --color never -c features.apps=false"
    )
    assert shown["codex"].endswith(
        f'-c web_search="disabled" -c project_doc_max_bytes=0 -c instructions="{system}" --model MODEL -'
    )
    assert {"-c features.hooks=false", "-c features.shell_tool=false"} <= {
        f"-c {part}" for part in PROGRAMS["codex"].command
    }
    assert shown["gemini"] == (
        "gemini --skip-trust --approval-mode default --extensions none --allowed-mcp-server-names none "
        "--output-format text --model MODEL"
    )
    assert json.loads(PROGRAMS["gemini"].files[".gemini/settings.json"])["hooksConfig"] == {"enabled": False}
    assert shown["ollama"] == "ollama run --nowordwrap --hidethinking MODEL"


def test_wrong_settings_are_told() -> None:
    with pytest.raises(ConfigError, match="claude-code, codex, gemini, ollama"):
        ProgramLLM("claude", meter=meter())
    with pytest.raises(ConfigError, match="needs the name of a model"):
        ProgramLLM("ollama", meter=meter())
    with pytest.raises(ConfigError, match="must name a program"):
        ProgramLLM([], meter=meter())
