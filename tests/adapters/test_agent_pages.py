"""The blocks of the pages on nanobot and OpenAkita, in the hosts themselves."""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from adapters.chat_model import Model, serving

PAGES = Path(__file__).parents[2] / "docs" / "agents"
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(page: str) -> list[tuple[str, str]]:
    return _BLOCK.findall((PAGES / page).read_text(encoding="utf-8"))


@pytest.mark.skipif(shutil.which("sh") is None, reason="needs a POSIX shell")
def test_nanobot(tmp_path: Path) -> None:
    pytest.importorskip("nanobot", reason="needs nanobot-ai; run `make adapters`")
    (tmp_path / ".nanobot").mkdir()
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MNEMARK_")}
    environment |= {"HOME": str(tmp_path), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}

    def run(script: str) -> str:
        ran = subprocess.run(
            ["sh", "-euc", script], cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8",
            timeout=180, check=False,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    (_, init), (_, talk), *_ = blocks("nanobot.md")
    run(init)
    # Deadlines have tests of their own; here a busy machine must not decide.
    (tmp_path / ".nanobot/mnemark/mnemark.toml").write_text("recall_deadline_ms = 20_000\n", encoding="utf-8")
    with serving(Model("Noted.", "Kestrel.")) as model:
        config = {
            "agents": {"defaults": {"model": "scripted", "provider": "custom"}},
            "providers": {"custom": {"apiKey": "none", "apiBase": model.url}},
        }
        (tmp_path / ".nanobot/config.json").write_text(json.dumps(config), encoding="utf-8")
        said = run(talk)
    assert "called Kestrel" in model.last().partition("<mnemark-recall ")[2]
    assert "sessions/cli-monday" in said
    assert "sessions/cli-tuesday" in said


@pytest.mark.filterwarnings("default")
def test_openakita(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    pytest.importorskip("openakita", reason="needs openakita; pip install openakita==1.27.42")
    from openakita.plugins.manager import PluginManager

    folder = tmp_path / "plugins" / "mnemark"
    folder.mkdir(parents=True)
    (_, manifest), (_, code) = blocks("openakita.md")
    (folder / "plugin.json").write_text(manifest, encoding="utf-8")
    (folder / "plugin.py").write_text(code, encoding="utf-8")
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "mnemark.toml").write_text("recall_deadline_ms = 20_000\n", encoding="utf-8")
    backends: dict[str, Any] = {}

    async def load() -> str:
        asking = PluginManager(tmp_path / "plugins", host_refs={"memory_backends": {}})
        await asking.load_all()
        asking.approve_permissions("mnemark", ["memory.write", "memory.replace"])  # in the settings
        manager = PluginManager(tmp_path / "plugins", host_refs={"memory_backends": backends})
        await manager.load_all()
        (entry,) = backends.values()
        assert entry["replace"] is True
        await entry["backend"].store({"content": "Helix", "predicate": "editor"})
        found = str(await entry["backend"].get_injection_context("Which editor?", 700))
        await manager.unload_plugin("mnemark")
        return found

    assert "Helix" in asyncio.run(load())
    assert (tmp_path / "memory" / "memory" / "facts" / "user.md").is_file()
