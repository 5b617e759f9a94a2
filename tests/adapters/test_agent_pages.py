"""The blocks of the page on nanobot, in the host itself."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

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
