"""OpenAkita's whole agent with the plug-in of our page: told in one process, asked in the next.

Run where it is installed: `pip install openakita==1.27.42`, then `pytest` with this file.
Its model is scripted; what counts is what reaches it. One start of the agent takes about ten seconds.
"""

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from agent.scripted import Model, serving, strings
from mnemark.text.quoting.fence import all_fenced

PAGE = Path(__file__).parents[2] / "docs/agents/openakita.md"
COMMAND = Path(sys.executable).with_name("openakita")
PAIRS = [
    ("Please note: the code word of the harbour gate is pelican.",
     "What is the code word of the harbour gate?", "pelican"),
    ("请记住：山顶小屋的房东是欧阳娜。", "山顶小屋的房东是谁？", "欧阳娜"),
]  # fmt: skip
STARTS = 180
"""Seconds that a start, an answer or an end may take on a busy machine."""
ADDED = "[External Memory Context]\n"
"""OpenAkita's words before what a hook adds to a message."""
TALK = """
import asyncio, sys
from openakita.agent.core import Agent
from openakita.sessions.session import Session

async def talk():
    agent = Agent()
    await agent.initialize(start_scheduler=False)
    agent._cli_session = Session.create(channel="cli", chat_id=sys.argv[1], user_id="cli_user")
    print(await agent.chat(sys.argv[2]))
    await agent.shutdown()

asyncio.run(talk())
"""
"""What OpenAkita's command line does with a line that is typed, without the terminal that it asks for."""

pytestmark = pytest.mark.skipif(
    not COMMAND.exists(), reason="needs openakita; pip install openakita==1.27.42"
)


class Place:
    """A folder in which OpenAkita runs, and the home of its user, with the plug-in of our page."""

    def __init__(self, folder: Path, model: Model) -> None:
        self.home, self.folder, self.model = folder / "home", folder / "agent", model
        self.home.mkdir()
        plugin = self.folder / "data/plugins/mnemark"
        plugin.mkdir(parents=True)
        manifest, program = re.findall(r"```(?:json|python)\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)[
            :2
        ]
        (plugin / "plugin.json").write_text(manifest, "utf-8")
        (plugin / "plugin.py").write_text(program, "utf-8")
        self.wanted: list[str] = json.loads(manifest)["permissions"]
        endpoint = {
            "name": "scripted", "provider": "openai", "api_type": "openai", "base_url": f"{model.url}/v1",
            "api_key": "none", "model": "scripted", "capabilities": ["text", "tools"],
        }  # fmt: skip
        (self.folder / "data/llm_endpoints.json").write_text(json.dumps({"endpoints": [endpoint]}), "utf-8")

    def environment(self, **more: str) -> dict[str, str]:
        own = {k: v for k, v in os.environ.items() if not k.startswith("OPENAKITA")}
        root = str(self.home / ".openakita")
        return own | {"HOME": str(self.home), "OPENAKITA_ROOT": root, "NO_COLOR": "1", **more}

    @contextlib.contextmanager
    def serving(self) -> Iterator[httpx.Client]:
        """Run `openakita serve`, as its desktop does, until it is asked to end."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = str(probe.getsockname()[1])
        log = (self.folder / "serve.log").open("ab")
        program = subprocess.Popen(
            [COMMAND, "serve"], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            env=self.environment(API_PORT=port, API_HOST="127.0.0.1"),
        )  # fmt: skip
        client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=STARTS, trust_env=False)
        with log, client:
            try:
                for _ in range(STARTS):
                    time.sleep(1)
                    with contextlib.suppress(httpx.TransportError):
                        if client.get("/api/health").json().get("agent_initialized"):
                            break
                else:
                    raise AssertionError((self.folder / "serve.log").read_text("utf-8"))
                yield client
                client.post("/api/shutdown")
                assert program.wait(STARTS) == 0
            finally:
                program.terminate()
                program.wait(STARTS)

    def grant(self, client: httpx.Client) -> None:
        asked = {"permissions": self.wanted}
        answer = client.post("/api/plugins/mnemark/_admin/permissions/grant", json=asked)
        assert answer.json()["ok"], answer.text

    def run(self, *words: str) -> str:
        ran = subprocess.run(
            words, cwd=self.folder, env=self.environment(), capture_output=True, encoding="utf-8",
            timeout=STARTS, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    def turns(self) -> list[tuple[str, str]]:
        files = sorted(
            (self.home / "mnemark/sessions").glob("*.jsonl"), key=lambda file: file.stat().st_mtime
        )
        rows = [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]
        return [(row["role"], row["content"]) for row in rows if "role" in row]

    def received(self, asked: str, after: int) -> str:
        """What the request that answers `asked` held; OpenAkita's own analyses offer no tools."""
        bodies = [body["messages"] for _, body in self.model.requests[after:] if body.get("tools")]
        (one,) = [body for body in bodies if "\n".join(strings(body[-1]["content"])).startswith(asked)]
        return "\n".join(strings(one))


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with serving(Model("Noted.")) as model:
        yield Place(tmp_path, model)


def say(client: httpx.Client, conversation: str, words: str) -> str:
    answer = client.post("/api/chat/sync", json={"message": words, "conversation_id": conversation})
    return str(answer.json()["message"])


def test_its_service_knows_in_the_next_process_what_it_was_told(place: Place) -> None:
    with place.serving() as client:
        say(client, "before", "This is said before anything is granted.")
        assert place.turns() == []
        place.grant(client)
        for number, (told, _, _) in enumerate(PAIRS):
            assert say(client, f"told-{number}", told) == "Noted."
    assert place.turns() == [one for told, _, _ in PAIRS for one in (("user", told), ("assistant", "Noted."))]
    before = len(place.model.requests)
    with place.serving() as client:
        for number, (_, asked, _) in enumerate(PAIRS):
            say(client, f"asked-{number}", asked)
    given = [place.received(asked, before).partition(ADDED)[2] for _, asked, _ in PAIRS]
    if folder := os.environ.get("MNEMARK_TRANSCRIPTS"):
        Path(folder, "openakita-agent.txt").write_text("\n\n".join(given), "utf-8")
    for block, (_, _, wanted) in zip(given, PAIRS, strict=True):
        assert wanted in block
        assert all_fenced(block)


def test_a_memory_that_cannot_be_opened_does_not_stop_its_service(place: Place) -> None:
    (place.home / "mnemark").touch()
    with place.serving() as client:
        place.grant(client)
        answers = [say(client, f"talk-{number}", told) for number, (told, _, _) in enumerate(PAIRS * 3)]
        state: dict[str, Any] = json.loads((place.folder / "data/plugin_state.json").read_text("utf-8"))
    assert answers == ["Noted."] * 6
    assert state["plugins"]["mnemark"]["enabled"] is True
    assert place.model.received.count(ADDED) == 0


def test_the_agent_of_its_command_line_is_told_once(place: Place) -> None:
    with place.serving() as client:
        place.grant(client)
    for number, (told, asked, wanted) in enumerate(PAIRS):
        place.run(sys.executable, "-c", TALK, f"told-{number}", told)
        before = len(place.model.requests)
        place.run(sys.executable, "-c", TALK, f"asked-{number}", asked)
        given = place.received(asked, before)
        assert wanted in given.partition(ADDED)[2]
        assert wanted not in given.partition(ADDED)[0], "the prompt says nothing twice"
    spoken = [text for _, text in place.turns()]
    assert [spoken.count(text) for pair in PAIRS for text in pair[:2]] == [1, 1, 1, 1]
