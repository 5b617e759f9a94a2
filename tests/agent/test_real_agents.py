"""The real agents that npm has, connected as a user would, with a scripted model on loopback.

They are not ours to ship: tests are skipped where an agent's command is not on the PATH; `tools/agents.py`
fetches them and runs these tests.
With MNEMARK_TRANSCRIPTS=FOLDER what the model received in each second session is written there.
"""

import contextlib
import html
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

import apsw
import pytest

from agent.scripted import Call, Model, serving, strings
from mnemark import Memory
from mnemark.files.sessions import SessionLog, list_sessions
from mnemark.llm.programs import PROGRAMS as PROGRAMS_READY
from mnemark_agents.connect import json_edit
from mnemark_agents.connect.connect import host_of

pytestmark = [
    pytest.mark.timed,
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="a home folder of its own is made"),
]
FIRST = "Please note: the code word of the harbour gate is pelican, and Ann keeps the spare key."
SECOND = "What is the code word of the harbour gate?"
SECONDS = 240
"""For a session: OpenClaw takes a minute where the machine is busy."""
RULE = "Always answer in British English."
REPLIES = ("Noted: pelican.", "It is the word I was told.")
AGENTS = ("claude-code", "codex", "gemini-cli", "qwen-code", "opencode", "copilot", "openclaw")
WITH_TOOLS = (*AGENTS, "cline")
AS_MODELS = ("claude-code", "codex", "gemini-cli")
"""Those with a ready setting of `[llm] command`."""
CODEX = (
    '# mine\nmodel = "gpt-5"\nmodel_provider = "scripted"\n\n[model_providers.scripted]\nname = "scripted"\n'
    'base_url = "{url}/v1"\nwire_api = "responses"\nenv_key = "SCRIPTED_KEY"\n'
)
OPENCODE = """{
  // mine
  "model": "scripted/m",
  "provider": {
    "scripted": {
      "npm": "@ai-sdk/openai-compatible",
      "options": {"baseURL": "{url}/v1", "apiKey": "x"},
      "models": {"m": {"name": "m"}},
    },
  },
}
"""
OPENCLAW = """{
  // mine
  models: {
    providers: {
      scripted: {
        baseUrl: '{url}/v1', apiKey: 'x', api: 'openai-completions',
        models: [{ id: 'm', name: 'm' }],
      },
    },
  },
  agents: { defaults: { model: { primary: 'scripted/m' } } },
}
"""
QWEN = '{\n  "memory": {"enableManagedAutoMemory": false} // else it asks the model of its own accord\n}\n'
GEMINI = '{\n  "security": {"auth": {"selectedType": "gemini-api-key"}}\n}\n'


Words = Callable[[str, int], list[str]]
SAID: dict[str, Words] = {
    "claude-code": lambda said, _: [
        "-p", said, "--model", "claude-sonnet-4-5", "--allowedTools", "mcp__mnemark",
    ],
    "codex": lambda said, _: ["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", said],
    "gemini-cli": lambda said, _: ["-m", "gemini-2.5-flash", "--yolo", "-p", said],
    "qwen-code": lambda said, _: ["--auth-type", "openai", "--yolo", "-p", said],
    "opencode": lambda _, number: ["run", "--title", f"session {number}"],  # what is said comes on stdin
    "copilot": lambda said, _: ["-p", said, "--allow-all-tools"],
    "cline": lambda said, _: [said, "--json"],
    "openclaw": lambda said, number: [
        "agent", "--local", "--agent", "main", "--session-id", f"session-{number}", "-m", said,
    ],
}  # fmt: skip
"""The words behind an agent's command for a session of one prompt: what is said, the session's number."""


def program(agent: str) -> str:
    (name,) = host_of(agent).programs
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed; `python tools/agents.py` fetches it")
    return found


class Machine:
    """A home, a project and a workspace of their own, and a model that agents there talk to."""

    def __init__(self, folder: Path, model: Model) -> None:
        self.model = model
        self.memory = folder / "memory"
        self.project = folder / "project"
        self.home = folder / "home"
        self.sessions = 0
        for made in (self.memory, self.project, self.home):
            made.mkdir()
        dropped = ("CLAUDE", "ANTHROPIC", "OPENAI", "CODEX", "GEMINI", "GOOGLE", "MNEMARK", "XDG", "COPILOT",
                   "OPENC", "QWEN", "CLINE")  # fmt: skip
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(dropped)} | {
            "HOME": str(self.home), "SCRIPTED_KEY": "x",
            "ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "x", "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "GOOGLE_GEMINI_BASE_URL": model.url, "GEMINI_API_KEY": "x", "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "OPENAI_API_KEY": "x", "OPENAI_BASE_URL": f"{model.url}/v1", "OPENAI_MODEL": "scripted",
            "COPILOT_OFFLINE": "true", "COPILOT_PROVIDER_BASE_URL": f"{model.url}/v1",
            "COPILOT_MODEL": "gpt-4", "COPILOT_PROVIDER_API_KEY": "x", "COPILOT_AUTO_UPDATE": "false",
            "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "CLINE_NO_AUTO_UPDATE": "1",
        }  # fmt: skip
        settings = {
            ".codex/config.toml": CODEX, ".gemini/settings.json": GEMINI, ".openclaw/openclaw.json": OPENCLAW,
            ".config/opencode/opencode.jsonc": OPENCODE, ".qwen/settings.json": QWEN,
        }  # fmt: skip
        for name, text in settings.items():
            (self.home / name).parent.mkdir(parents=True)
            (self.home / name).write_text(text.replace("{url}", model.url), "utf-8")

    def mnemark(self, *words: str) -> str:
        command = [sys.executable, "-m", "mnemark", *words]
        done = subprocess.run(command, env=self.env, check=True, capture_output=True, text=True, timeout=60)
        return done.stdout

    def connect(self, agent: str, *more: str) -> None:
        self.mnemark("connect", agent, "--workspace", str(self.memory), *more)

    def run(self, *words: str, given: str = "") -> str:
        done = subprocess.run(
            words, env=self.env | {"PWD": str(self.project)}, cwd=self.project, input=given,
            capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def say(self, agent: str, words: str) -> str:
        """A session of one prompt."""
        self.sessions += 1
        if agent == "cline" and self.sessions == 1:
            url = f"{self.model.url}/v1"
            self.run(program(agent), "auth", "-p", "openai-compatible", "-k", "x", "-m", "m", "-b", url)
        more = SAID[agent](words, self.sessions)
        if agent == "opencode" and words.startswith("/"):
            more += ["--command", words[1:].partition(" ")[0]]
            words = words.partition(" ")[2]
        return self.run(program(agent), *more, given=words if agent == "opencode" else "")

    def settle(self) -> None:
        """Wait until what was left to the background is done."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with (
                Memory.open(self.memory, config={"embedder": "none"}, readonly=True) as memory,
                contextlib.suppress(apsw.SQLError),  # it is being made: no table is there yet
            ):
                if memory.workspace.index.exists() and memory.search("pelican").hits:
                    known = memory.workspace.index.known()
                    if any(path.startswith("sessions/") for path in known):
                        return
            time.sleep(0.3)
        raise AssertionError(self.log())

    def log(self) -> str:
        path = self.memory / ".mnemark/hook.log"
        return path.read_text("utf-8") if path.exists() else ""

    def turns_after(self, count: int) -> list[tuple[str, str]]:
        """Return the turns; those that a hook still records, after its agent has ended, are waited for."""
        deadline = time.monotonic() + 20
        while len(self.turns()) < count and time.monotonic() < deadline:
            time.sleep(0.2)
        return self.turns()

    def turns(self) -> list[tuple[str, str]]:
        logs = [SessionLog(self.memory, info.id) for info in list_sessions(self.memory)]
        turns = sorted((placed.turn for log in logs for placed in log.turns()), key=lambda turn: turn.time)
        return [(turn.role, turn.content) for turn in turns]

    def received(self, said: str) -> list[str]:
        """All texts of the last request that held these words; Gemini CLI escapes what hooks say."""
        bodies = [[html.unescape(text) for text in strings(body)] for _, body in self.model.requests]
        return next(texts for texts in reversed(bodies) if any(said in text for text in texts))

    def files(self) -> dict[str, bytes]:
        """All that is in its home."""
        found = (path for path in self.home.rglob("*") if path.is_file())
        return {str(path.relative_to(self.home)): path.read_bytes() for path in found}

    def stop(self) -> None:
        """End the daemons that were started here."""
        for path in self.home.rglob("daemon.json"):
            pid = json.loads(path.read_bytes())["pid"]
            os.kill(pid, signal.SIGTERM)
            deadline = time.monotonic() + 30
            while path.exists() and time.monotonic() < deadline:
                time.sleep(0.05)
        for path in Path("/proc").glob("[0-9]*/cmdline"):  # Cline leaves one of its own behind
            with contextlib.suppress(OSError):
                line = path.read_bytes().split(b"\0")
                if b"--cline-hub-daemon" in line and str(self.project).encode() in line:
                    os.kill(int(path.parent.name), signal.SIGTERM)


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    with serving(Model(*REPLIES)) as model:
        machine = Machine(tmp_path, model)
        try:
            yield machine
        finally:
            machine.stop()


@pytest.fixture(params=["alone", "daemon"])
def way(request: pytest.FixtureRequest, machine: Machine) -> Iterator[str]:
    """Whether a daemon runs."""
    if request.param == "alone":
        yield "alone"
        return
    serve = subprocess.Popen(
        [sys.executable, "-m", "mnemark", "serve", "--no-nightly"], env=machine.env,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + 30
    while not list(machine.home.rglob("daemon.json")) and time.monotonic() < deadline:
        time.sleep(0.1)
    yield "daemon"
    serve.terminate()
    serve.wait(30)


def without_tools(machine: Machine, agent: str, before: dict[str, bytes]) -> None:
    """Take the tools out: this is about hooks, and `mnemark mcp` would start a daemon of its own."""
    with mock.patch.dict(os.environ, HOME=str(machine.home)):
        (target,) = (one for one in host_of(agent).targets(machine.memory, None) if one.what == "tools")
    if target.form == "toml":
        target.path.write_bytes(before[str(target.path.relative_to(machine.home))])
        return
    text = target.path.read_text("utf-8")
    *above, name = target.entries[0].keys
    node = json_edit.at(text, above)
    assert node is not None
    target.path.write_text(json_edit.cut(text, node, node.keys.index(name)), "utf-8")


def note_down(agent: str, what: str, texts: list[str]) -> None:
    """Write down what the model received of memory, and the question it came with."""
    folder = os.environ.get("MNEMARK_TRANSCRIPTS")
    if folder:
        ours = [text for text in texts if "mnemark-recall" in text or SECOND in text or "unquote" in text]
        Path(folder).mkdir(parents=True, exist_ok=True)
        (Path(folder) / f"{agent}-{what}.txt").write_text("\n---\n".join(ours) + "\n", "utf-8")


@pytest.mark.parametrize("agent", AGENTS)
def test_it_remembers_from_one_session_to_the_next(machine: Machine, way: str, agent: str) -> None:
    program(agent)
    before = machine.files()
    (machine.memory / "USER.md").write_text(f"# Me\n\n{RULE}\n", "utf-8")
    machine.connect(agent)
    without_tools(machine, agent, before)
    machine.say(agent, FIRST)
    machine.settle()
    first = len(machine.model.requests)
    machine.say(agent, SECOND)
    said = [("user", FIRST), ("assistant", REPLIES[0]), ("user", SECOND), ("assistant", REPLIES[1])]
    assert machine.turns_after(len(said)) == said
    assert not any("pelican" in text for _, body in machine.model.requests[first:] for text in strings(body)
                   if "mnemark-recall" not in text)  # fmt: skip
    texts = machine.received(SECOND)
    note_down(agent, way, texts)
    assert any("<mnemark-recall" in text and "Ann keeps the spare key" in text for text in texts)
    assert sum(text.count(RULE) for text in texts) == 1
    pages = [path.name for path in (machine.memory / "memory/episodes").glob("*.md")]
    assert not any("hook" in name or "mnemark" in name for name in pages)
    assert machine.log() == ""


@pytest.mark.parametrize("agent", WITH_TOOLS)
def test_its_model_uses_the_tools(machine: Machine, agent: str) -> None:
    program(agent)
    fact = {"subject": "harbour gate", "predicate": "code word", "value": "pelican"}
    machine.model.calls += [
        Call(FIRST, "memory_remember", fact),
        Call(FIRST, "memory_remember", {"value": "Ann keeps the spare key of the harbour gate."}),
        Call(SECOND, "memory_search", {"query": "harbour gate code word spare key"}),
    ]
    machine.connect(agent)
    machine.say(agent, FIRST)
    machine.say(agent, SECOND)
    assert machine.model.calls == []
    with Memory.open(machine.memory, config={"embedder": "none"}) as memory:
        assert [fact.value for fact in memory.facts(subject="harbour gate")] == ["pelican"]
        assert any("Ann keeps the spare key" in fact.value for fact in memory.facts())
    texts = machine.received(SECOND)
    note_down(agent, "tools", texts)
    rows = next(text for text in texts if '"startLine"' in text)
    assert "pelican" in rows
    assert machine.log() == ""


@pytest.mark.parametrize(
    "agent", [name for name in AGENTS if name != "openclaw"]
)  # it has a folder of its own
def test_each_repository_has_a_memory_of_its_own(machine: Machine, tmp_path: Path, agent: str) -> None:
    program(agent)
    machine.connect(agent)
    told = {
        "shop": "Our package manager is pnpm. I live in Leeds.",
        "blog": "Our package manager is yarn.",
    }
    for name, said in told.items():
        machine.project = tmp_path / name
        subprocess.run(["git", "init", "-q", str(machine.project)], check=True)
        machine.say(agent, said)
    for word in ("learn", "sync"):
        machine.mnemark(word, "--workspace", str(machine.memory))
    for name, own, other in (("shop", "pnpm", "yarn"), ("blog", "yarn", "pnpm")):
        machine.project = tmp_path / name
        question = f"Which package manager do we use in {name}?"
        machine.say(agent, question)
        texts = [text for text in machine.received(question) if "<mnemark-recall" in text]
        note_down(agent, f"project-{name}", texts)
        assert own in "".join(texts)
        assert other not in "".join(texts)
        assert "Leeds" in "".join(texts)
    assert sorted(path.name for path in (machine.memory / "projects").iterdir()) == ["blog", "shop"]
    assert machine.log() == ""


@pytest.mark.parametrize("agent", WITH_TOOLS)
def test_removing_leaves_every_byte_as_it_was(machine: Machine, agent: str) -> None:
    before = machine.files()
    machine.connect(agent)
    assert machine.files() != before
    machine.mnemark("connect", agent, "--remove")
    left = {path: data for path, data in machine.files().items() if not path.startswith(".local/state/")}
    assert left == before  # beside what mnemark knows of its own memory


TEA = "the tea of the harbour office is green"
ASKED = {
    "claude-code": f"/mnemark-remember {TEA}",
    "codex": f"$mnemark-remember {TEA}",
    "gemini-cli": f"/mnemark:remember {TEA}",
    "qwen-code": f"/mnemark:remember {TEA}",
    "opencode": f"/mnemark-remember {TEA}",
    "openclaw": f"/mnemark_remember {TEA}",
}


@pytest.mark.parametrize("agent", ASKED)  # Copilot CLI knows commands at a terminal only
def test_a_command_tells_the_model_what_to_do(machine: Machine, agent: str) -> None:
    program(agent)
    machine.connect(agent)
    machine.say(agent, ASKED[agent])
    texts = [text for _, body in machine.model.requests for text in strings(body)]
    told = "Call the tool memory_remember of the MCP server"
    if agent == "openclaw":  # its model is told which file to read
        told = str(machine.home / ".openclaw/skills/mnemark-remember/SKILL.md")
        assert Path(told).is_file()
    assert any(told in text for text in texts)
    assert any(TEA in text for text in texts)


def test_the_plug_in_passes_claudes_own_check(machine: Machine, tmp_path: Path) -> None:
    claude = program("claude-code")
    folder = tmp_path / "plugin"
    machine.connect("claude-code", "--plugin", str(folder))
    assert "Validation passed" in machine.run(claude, "plugin", "validate", str(folder))
    machine.run(claude, "-p", FIRST, "--plugin-dir", str(folder), "--model", "claude-sonnet-4-5",
                "--strict-mcp-config", "--mcp-config", '{"mcpServers": {}}')  # fmt: skip
    assert ("user", FIRST) in machine.turns()


NOTED = json.dumps(
    {
        "title": "The harbour gate",
        "observations": [{"text": "Ann keeps the spare key of the harbour gate.", "turns": [1]}],
    }
)


@pytest.mark.parametrize("agent", AS_MODELS)
def test_its_program_is_the_model_that_reads_a_session_and_is_not_remembered(
    tmp_path: Path, agent: str
) -> None:
    program(agent)
    ready = {"gemini-cli": "gemini"}.get(agent, agent)
    with serving(Model(NOTED)) as model:
        machine = Machine(tmp_path, model)
        machine.connect(agent)  # its hooks must not run
        command = json.dumps(ready)
        if agent == "codex":  # the ready setting asks OpenAI itself
            own = f'model_providers.own={{name="own",base_url="{model.url}/v1",wire_api="responses"}}'
            words = PROGRAMS_READY["codex"].command
            command = json.dumps([*words, "-c", 'model_provider="own"', "-c", own, "-"])
        config = machine.home / ".config/mnemark/config.toml"
        config.parent.mkdir(parents=True)
        trusted = f"trusted = [{json.dumps(str(machine.memory))}]\n"  # it is filled from here
        config.write_text(
            f"{trusted}[llm]\ncommand = {command}\ncalls_per_day = 5\ntokens_per_day = 100000\n"
        )
        with Memory.open(machine.memory, config={"embedder": "none"}) as memory:
            session = memory.session("gate")
            for role, text in (("user", FIRST), ("assistant", "Noted."), ("user", "Thanks.")):
                session.add(role, text)
        try:
            shown = machine.mnemark("sessions", "end", "gate", "--workspace", str(machine.memory), "--json")
        finally:
            machine.stop()
        (ended,) = json.loads(shown)["ended"]
        assert (ended["by"], ended["problems"]) == ("llm", [])
        page = (machine.memory / ended["episodes"][0]).read_text("utf-8")
        assert "- Ann keeps the spare key of the harbour gate. — sessions/gate" in page
        assert FIRST in model.received
        assert [info.id for info in list_sessions(machine.memory)] == ["gate"]
        assert machine.log() == ""
        assert not list(tmp_path.glob("home/.claude/projects/**/*.jsonl"))
        assert not list(tmp_path.glob("home/.codex/sessions/**/*.jsonl"))
        assert not list(tmp_path.glob("home/.gemini/tmp/**/*.json*"))
