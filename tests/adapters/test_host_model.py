"""The model of the agent around us reads sessions, where the settings say "host" and give it a budget."""

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mnemark import Memory
from mnemark_adapters.nanobot_bridge import NanobotBridge
from mnemark_adapters.openakita import OpenAkitaMemory

NOTED = json.dumps(
    {"title": "The trip to Oslo", "observations": [{"text": "The owner flies to Oslo in May.", "turns": [1]}]}
)
SAID = [
    ("user", "In May I fly to Oslo."),
    ("assistant", "Enjoy it."),
    ("user", "I will."),
    ("assistant", "OK"),
]
HOST = '[llm]\nmodel = "host"\ncalls_per_day = 9\ntokens_per_day = 90000\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "memory"
    folder.mkdir()
    (folder / "mnemark.toml").write_text('embedder = "none"\n' + HOST)
    return folder


def page(root: Path) -> str:
    return "".join(one.read_text("utf-8") for one in (root / "memory/episodes").glob("*.md"))


class Brain:
    def __init__(self) -> None:
        self.asked: list[str] = []

    async def think_lightweight(self, prompt: str, system: str | None = None, max_tokens: int = 2048) -> Any:
        assert system
        assert max_tokens
        self.asked.append(prompt)
        await asyncio.sleep(0.01)
        return SimpleNamespace(content=NOTED)


@pytest.mark.parametrize("given", ["object", "function"])
def test_openakitas_brain_reads_what_was_said(root: Path, given: str) -> None:
    brain = Brain()
    backend = OpenAkitaMemory(root, brain=brain if given == "object" else lambda: brain)

    async def session() -> None:
        await backend.start_session("s")
        for role, text in SAID:
            await backend.record_turn(role, text)
        await backend.end_session()
        for _ in range(200):
            if "Worth knowing" in page(root):
                return
            await asyncio.sleep(0.05)

    asyncio.run(session())
    backend.close()
    assert "- The owner flies to Oslo in May. — sessions/" in page(root)
    assert len(brain.asked) == 1
    assert "fly to Oslo" in brain.asked[0]


def test_without_the_setting_the_brain_is_not_asked(root: Path) -> None:
    (root / "mnemark.toml").write_text('embedder = "none"\n')
    brain = Brain()
    backend = OpenAkitaMemory(root, brain=brain)

    async def session() -> None:
        await backend.start_session("s")
        for role, text in SAID:
            await backend.record_turn(role, text)
        await backend.end_session()

    asyncio.run(session())
    backend.close()
    assert brain.asked == []


def test_nanobots_provider_reads_a_session_that_is_silent(root: Path, tmp_path: Path) -> None:
    asked: list[str] = []

    async def ask(system: str, prompt: str) -> Any:
        assert system
        asked.append(prompt)
        return SimpleNamespace(content=NOTED)

    async def run() -> None:
        bridge = NanobotBridge(root, tmp_path / "home", idle=0.2)
        assert await asyncio.to_thread(bridge.ready, 30.0)
        bridge.ask, bridge.loop = ask, asyncio.get_running_loop()
        bridge.record("cli:main", [{"role": role, "content": text} for role, text in SAID])
        for _ in range(300):
            if "Worth knowing" in page(root):
                break
            await asyncio.sleep(0.1)
        await asyncio.to_thread(bridge.close)

    asyncio.run(run())
    assert "flies to Oslo" in page(root)
    assert len(asked) == 1


def test_any_function_given_to_open(root: Path) -> None:
    with Memory.open(root, model=lambda messages: NOTED if messages else "") as memory:
        session = memory.session("s")
        for role, text in SAID:
            session.add(role, text)
        assert session.end().by == "llm"
