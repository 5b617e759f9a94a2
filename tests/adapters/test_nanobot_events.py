"""nanobot's own bus, session store and tool loader with our plug-in, in one process: which turns are kept.

Runs where nanobot is installed: `make adapters`.
"""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mnemark import Memory

pytest.importorskip("nanobot", reason="needs nanobot-ai; run `make adapters`")
pytestmark = pytest.mark.filterwarnings("default")


class Host:
    """The parts of nanobot that a tool meets."""

    def __init__(self, folder: Path) -> None:
        from nanobot.agent.tools.loader import ToolLoader
        from nanobot.agent.tools.registry import ToolRegistry
        from nanobot.bus.queue import MessageBus
        from nanobot.bus.runtime_events import RuntimeEventPublisher
        from nanobot.session.manager import SessionManager

        self.home = folder / "workspace"
        (self.home / "memory").mkdir(parents=True)
        self.bus = MessageBus()
        self.publisher = RuntimeEventPublisher(self.bus)
        self.sessions = SessionManager(self.home, sessions_root=folder / "sessions")
        self.registry = ToolRegistry()
        self.context = SimpleNamespace(workspace=str(self.home), bus=self.bus, sessions=self.sessions)
        loader = ToolLoader(test_classes=[])
        for _ in range(2):  # nanobot may load its tools again
            self.loaded = loader.load(self.context, self.registry)

    @property
    def bridge(self) -> Any:
        return self.registry.get("memory_search")._bridge

    async def turn(self, key: str, *said: dict[str, Any], **metadata: Any) -> None:
        from nanobot.bus.events import InboundMessage

        channel, _, chat = key.partition(":")
        message = InboundMessage(channel=channel, sender_id="u", chat_id=chat, content="", metadata=metadata)
        await self.publisher.session_turn_started(message, key)
        session = self.sessions.get_or_create(key)
        for one in said:
            session.add_message(**one)
        self.sessions.save(session)
        await self.publisher.session_turn_persisted(message, key, turn_id="t")

    def kept(self, root: Path, key: str) -> list[tuple[str, str]]:
        assert self.bridge.flush()
        with Memory.open(root, readonly=True) as memory:
            session = memory.session(key)
            return [(t.role, t.content) for t in session.last(50)] if session.log.path.exists() else []


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "mnemark"
    made.mkdir()
    (made / "mnemark.toml").write_text("", encoding="utf-8")
    return made


@pytest.fixture
def host(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("MNEMARK_WORKSPACE", raising=False)
    made = Host(tmp_path)
    assert made.bridge.ready(30)
    yield made
    made.bridge.close()


def user(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, **more}


def reply(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def test_a_turn_is_kept_once_and_without_the_context_put_into_it(host: Host, root: Path) -> None:
    from nanobot.runtime_context import RuntimeContextBlock, append_runtime_context

    text, mark = append_runtime_context("Tea, please.", [RuntimeContextBlock("goal", "Be brief.")])
    asyncio.run(host.turn("cli:a", user(text, _runtime_context=mark), reply("Green or black?")))
    asyncio.run(host.turn("cli:a", user("Green."), reply("Done.")))
    assert host.kept(root, "cli:a") == [
        ("user", "Tea, please."), ("assistant", "Green or black?"),
        ("user", "Green."), ("assistant", "Done."),
    ]  # fmt: skip


@pytest.mark.parametrize("key", ["cron:7", "dream:20260301-030000", "heartbeat"])
def test_what_nobody_said_is_not_kept(host: Host, root: Path, key: str) -> None:
    asyncio.run(host.turn(key, user("Look at the mail."), reply("Nothing new.")))
    assert host.kept(root, key) == []


def test_a_cron_job_in_a_persons_session_is_not_kept(host: Host, root: Path) -> None:
    trigger = {"job_id": "j1", "job_name": "mail", "run_id": "r", "prompt_ref": "p"}
    asyncio.run(host.turn("cli:a", user("Look at the mail."), reply("Nothing."), _cron_trigger=trigger))
    asyncio.run(host.turn("cli:a", user("Hello."), reply("Hi.")))
    assert host.kept(root, "cli:a") == [("user", "Hello."), ("assistant", "Hi.")]


def test_what_was_said_before_the_turn_is_not_taken_for_it(host: Host, root: Path) -> None:
    session = host.sessions.get_or_create("cli:a")
    session.add_message("user", "From before memory was there.")
    asyncio.run(host.turn("cli:a", user("Hello."), reply("Hi.")))
    assert host.kept(root, "cli:a") == [("user", "Hello."), ("assistant", "Hi.")]


def test_the_provider_gives_one_quoted_block(host: Host) -> None:
    from nanobot.agent.tools.context import RequestContext
    from nanobot.runtime_context import resolve_runtime_context

    asyncio.run(host.turn("cli:a", user("我们的测试服务器叫做红隼。"), reply("好的。")))
    assert host.bridge.flush()

    def ask(text: str, **metadata: Any) -> list[Any]:
        request = RequestContext(
            channel="cli", chat_id="b", session_key="cli:b", original_user_text=text, metadata=metadata
        )
        providers = host.registry.get_runtime_context_providers()
        return asyncio.run(resolve_runtime_context(providers, request))

    (block,) = ask("测试服务器叫什么？")
    assert block.source == "mnemark"
    assert "红隼" in block.content
    assert ask("") == []
    assert ask("测试服务器叫什么？", _cron_trigger={"job_id": "j1"}) == []


def test_all_tools_are_nanobots_and_work(host: Host) -> None:
    assert host.loaded == [
        "memory_forget", "memory_get", "memory_remember", "memory_search", "memory_timeline", "memory_write",
    ]  # fmt: skip

    async def call(name: str, **given: Any) -> Any:
        tool = host.registry.get(name)
        cast = tool.cast_params(given)
        assert tool.validate_params(cast) == []
        return await tool.execute(**cast)

    async def all_of_them() -> list[Any]:
        return [
            await call("memory_remember", key="editor", content="Helix"),
            await call("memory_write", text="Bought a kettle."),
            await call("memory_search", q="kettle", limit="3"),
            await call("memory_get", file="memory/facts/user.md"),
            await call("memory_timeline"),
            await call("memory_forget", query="kettle", dryRun="true"),
        ]

    results = asyncio.run(all_of_them())
    assert [getattr(one, "is_error", False) for one in results] == [False] * 6
    assert "kettle" in results[2]
    assert "Helix" in results[3]


def test_a_tool_that_fails_says_so_to_the_model(host: Host) -> None:
    result = asyncio.run(host.registry.get("memory_get").execute(path="../secret.md"))
    assert result.is_error
    assert result.startswith("Error:")
