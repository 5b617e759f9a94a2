"""LiteLLM's proxy, as its users start it, with the callback of the page, in front of a scripted model."""

import asyncio
import json
import os
import re
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from adapters.chat_model import Call, Model, serving
from frameworks.models import ASKED, ASKED_ZH, TOLD, TOLD_ZH, host, turns
from mnemark import Memory
from mnemark.text.quoting.fence import is_fenced

KEY = f"sk-{secrets.token_hex(32)}"
PAGE = Path(__file__).parents[2] / "docs/agents/frameworks.md"
_STARTS = 120.0

pytestmark = [pytest.mark.filterwarnings("default")]


class Proxy:
    def __init__(self, folder: Path, model: Model, memory: Path) -> None:
        self.log = folder / "proxy.log"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        (callback,) = re.findall(r"```python\n(# memory\.py\n.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
        (folder / "memory.py").write_text(callback.replace('"~/mnemark"', repr(str(memory))), "utf-8")
        ((settings),) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
        named = {"model": "hosted_vllm/scripted", "api_base": model.url, "api_key": "none"}
        answers = {"model": "openai/scripted", "api_base": model.url, "api_key": "none"}
        models = [{"model_name": "scripted", "litellm_params": named},
                  {"model_name": "answers", "litellm_params": answers}]  # fmt: skip
        (folder / "config.yaml").write_text(f"{settings}\nmodel_list: {json.dumps(models)}\n", "utf-8")
        environment = {**os.environ, "HOME": str(folder), "LITELLM_LOCAL_MODEL_COST_MAP": "True",
                       "LITELLM_MASTER_KEY": KEY}  # fmt: skip
        words = ["--config", str(folder / "config.yaml"), "--host", "127.0.0.1", "--port", str(self.port)]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [str(Path(sys.executable).with_name("litellm")), *words],
                env=environment, cwd=folder, stdout=log, stderr=subprocess.STDOUT,
            )  # fmt: skip

    def wait(self) -> None:
        until = time.monotonic() + _STARTS
        while time.monotonic() < until:
            assert self.process.poll() is None, self.log.read_text("utf-8")[-2_000:]
            try:
                httpx.get(f"http://127.0.0.1:{self.port}/health/liveliness").raise_for_status()
            except httpx.HTTPError:
                time.sleep(0.2)
            else:
                return
        pytest.fail(self.log.read_text("utf-8")[-2_000:])

    def ask(self, said: Any, path: str = "chat/completions", **more: Any) -> str:
        body = {"model": "scripted", "messages": [{"role": "user", "content": said}], **more}
        if path == "responses":
            body = {"model": "answers", "input": said}
        found = httpx.post(
            f"http://127.0.0.1:{self.port}/v1/{path}", json=body, timeout=60,
            headers={"Authorization": f"Bearer {KEY}"},
        )  # fmt: skip
        assert found.status_code == 200, found.text
        return found.text


@contextmanager
def proxies(folder: Path, model: Model, *memories: Path) -> Iterator[list[Proxy]]:
    """Proxies, one for each memory, started at once."""
    with ExitStack() as stack:
        started = []
        for number, memory in enumerate(memories):
            (folder / str(number)).mkdir(parents=True)
            started.append(Proxy(folder / str(number), model, memory))
            stack.callback(started[-1].process.wait, 60)
            stack.callback(started[-1].process.terminate)
        for one in started:
            one.wait()
        yield started


def turns_after(folder: Path, number: int) -> list[tuple[str, str]]:
    """What was recorded, once there are so many turns: it is recorded after the answer was sent."""
    until = time.monotonic() + 20
    while len(found := turns(folder)) < number and time.monotonic() < until:
        time.sleep(0.05)
    return found


def test_what_was_told_through_one_proxy_is_known_through_the_next(tmp_path: Path) -> None:
    host("litellm", ".litellm")
    memory = tmp_path / "w"
    (tmp_path / "file").write_text("no folder")
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
    with serving(Model("Noted.")) as model:
        with proxies(tmp_path / "one", model, memory) as (proxy,):
            proxy.ask(TOLD)
            proxy.ask(TOLD_ZH)
            assert [role for role, _ in turns_after(memory, 4)] == ["user", "assistant"] * 2
        with proxies(tmp_path / "two", model, memory, tmp_path / "file") as (proxy, broken):
            proxy.ask(ASKED)
            assert "pelican" in model.last()
            assert is_fenced(model.last())
            proxy.ask([{"type": "text", "text": ASKED_ZH}], stream=True)
            assert "鹈鹕" in model.last()
            assert model.last().endswith(ASKED_ZH)
            assert turns_after(memory, 8)[-2:] == [("user", ASKED_ZH), ("assistant", "Noted.")]

            proxy.ask(ASKED, "messages", max_tokens=99)
            assert "pelican" in model.last()
            proxy.ask(ASKED, "messages", max_tokens=99, stream=True)
            assert "pelican" in model.last()
            proxy.ask(ASKED, "responses")
            assert "pelican" in str(model.requests[-1]["input"])
            assert turns_after(memory, 14)[-2:] == [("user", ASKED), ("assistant", "Noted.")]

            model.answers = [Call("look", {}), "It is pelican."]
            asked = [{"role": "user", "content": ASKED}]
            proxy.ask(ASKED, tools=[tool])
            first = model.last()
            call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
            answered = [{"role": "assistant", "content": None, "tool_calls": [call]},
                        {"role": "tool", "tool_call_id": "c1", "content": "a gate"}]  # fmt: skip
            proxy.ask("", messages=[*asked, *answered], tools=[tool])
            assert model.said(-1, "user") == first, "a turn has the same recall in each request"
            assert turns_after(memory, 16)[-2:] == [("user", ASKED), ("assistant", "It is pelican.")]

            assert "It is pelican." in broken.ask(ASKED)
            assert model.last() == ASKED
        assert "mnemark: open:" in broken.log.read_text("utf-8")
    with Memory.open(memory) as opened:
        assert not [one for one in opened.attention() if "unfinished" in str(one)]


def test_users_have_memories_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    host("litellm", ".litellm")
    (tmp_path / "w").mkdir()
    (tmp_path / "w/mnemark.toml").write_text("recall_deadline_ms = 5000\n", "utf-8")
    from mnemark_adapters.frameworks.litellm import callback

    handler = callback(tmp_path / "w", per_user=True)

    async def ask(said: str, user: str | None, call: str, call_type: str = "acompletion") -> str:
        data = {"messages": [{"role": "user", "content": said}], "user": user, "litellm_call_id": call}
        told = await handler.async_pre_call_hook(None, None, data, call_type)
        choice = {"message": {"role": "assistant", "content": "Noted."}}
        await handler.async_log_success_event({"litellm_call_id": call}, {"choices": [choice]}, None, None)
        return str(told["messages"][-1]["content"])

    async def talk() -> list[str]:
        await ask(TOLD, "ann", "1")
        await ask(TOLD, None, "2")
        await ask(TOLD, "../..", "3")
        await asyncio.to_thread(turns_after, tmp_path / "w/users/ann", 2)  # it is recorded in the background
        return [await ask(ASKED, user, f"4{user}") for user in ("ann", "bob", None, "../..")]

    said = asyncio.run(talk())
    assert ["pelican" in one for one in said] == [True, False, False, False]
    assert turns_after(tmp_path / "w/users/ann", 4)[:2] == [("user", TOLD), ("assistant", "Noted.")]
    assert turns(tmp_path / "w") == []
    assert asyncio.run(ask(ASKED, "ann", "5", "aembedding")) == ASKED, "only conversations get a recall"

    part = {"type": "input_text", "text": ASKED_ZH}
    data = {"input": [{"role": "user", "content": [part]}], "user": "ann", "litellm_call_id": "6"}
    found = asyncio.run(handler.async_pre_call_hook(None, None, data, "aresponses"))
    block, asked = found["input"][0]["content"]
    assert block["type"] == "input_text", "as the API wants it"
    assert "pelican" in block["text"]
    assert asked == part
