"""Hermes Agent, as its users run it, with the plug-in of the page, in front of a scripted model."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import running_pages
from adapters.chat_model import Call, Model, serving
from frameworks.models import ASKED, ASKED_ZH, TOLD, TOLD_ZH, turns

PAGE = Path(__file__).parents[2] / "docs/agents/frameworks.md"
FILE = "# ~/.hermes/plugins/mnemark/__init__.py\n"

pytestmark = pytest.mark.skipif(Path(sys.prefix).name != ".hermes", reason="run `make frameworks`")


def run(home: Path, *words: str) -> str:
    done = subprocess.run(
        [str(Path(sys.executable).with_name("hermes")), *words],
        env={**os.environ, "HOME": str(home), "HERMES_HOME": str(home / ".hermes")},
        capture_output=True, text=True, timeout=120, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_was_told_in_one_run_is_known_in_the_next(tmp_path: Path) -> None:
    (block,) = [one for one in running_pages.python(PAGE) if one.startswith(FILE)]
    plugin = tmp_path / ".hermes/plugins/mnemark/__init__.py"
    plugin.parent.mkdir(parents=True)
    plugin.write_text(block, "utf-8")
    with serving(Model("Noted.")) as model:
        own = {"default": "scripted", "provider": "custom", "base_url": model.url, "api_key": "x"}
        settings = {"model": {**own, "context_length": 200_000}}  # YAML holds JSON
        (tmp_path / ".hermes/config.yaml").write_text(json.dumps(settings), "utf-8")
        run(tmp_path, "config", "set", "memory.provider", "mnemark")

        assert run(tmp_path, "-z", f"{TOLD}\n{TOLD_ZH}").strip() == "Noted."
        assert "memory_search" in model.said(-1, "system")
        assert "mnemark-recall" not in model.last()

        fact = {"subject": "harbour gate", "predicate": "colour", "value": "green"}
        model.answers = [Call("memory_remember", fact), "It is pelican."]
        assert run(tmp_path, "-z", ASKED).strip() == "It is pelican."
        assert "remembered" in model.last()
        asked = model.said(-1, "user")
        assert "pelican" in asked
        assert "<mnemark-recall" in asked
        assert "pelican" not in model.said(-1, "system"), "recalled text is no instruction"
        assert "green" in next((tmp_path / "mnemark").rglob("facts/*.md")).read_text("utf-8")

        run(tmp_path, "-z", ASKED_ZH)
        assert "鹈鹕" in model.last()
        said = [TOLD + "\n" + TOLD_ZH, "Noted.", ASKED, "It is pelican.", ASKED_ZH, "It is pelican."]
        assert [content for _, content in turns(tmp_path / "mnemark")] == said
        assert not list(tmp_path.rglob("daemon.json"))

        plugin.write_text(block.replace("~/mnemark", "~/file"), "utf-8")
        (tmp_path / "file").write_text("no folder", "utf-8")
        model.answers = ["I do not know."]
        assert run(tmp_path, "-z", ASKED).strip() == "I do not know."
