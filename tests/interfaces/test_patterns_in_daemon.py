"""A pattern of one workspace holds up neither the others that a daemon serves nor its end."""

import contextlib
import threading
import time
from pathlib import Path

import pytest

from interfaces.daemons import Running, running

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")


def test_a_hostile_pattern_holds_up_no_other_workspace_and_no_end(tmp_path: Path) -> None:
    for name, settings in (("theirs", 'redact = ["(a|aa)+$"]\n'), ("ours", "")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mnemark.toml").write_text(f'embedder = "none"\n{settings}', "utf-8")
    (tmp_path / "ours" / "MEMORY.md").write_text("The kingfisher nests here.\n", "utf-8")
    with running(tmp_path / "state") as served:
        hostile = [{"role": "user", "content": "a" * 400_000 + "!"}]
        theirs = str(tmp_path / "theirs")
        asked = threading.Thread(
            target=lambda: served.post("/v1/turns", 120, workspace=theirs, session="cli:a", turns=hostile),
        )
        asked.start()
        time.sleep(0.5)
        found = served.post("/v1/search", 60, workspace=str(tmp_path / "ours"), query="kingfisher")
        assert [hit["path"] for hit in found["hits"]] == ["MEMORY.md"]
        asked.join(120)
        written = list((tmp_path / "theirs" / "sessions").glob("*.jsonl"))
        assert len(written) == 1
        again = threading.Thread(
            target=lambda: _quietly(served, theirs, hostile),
            daemon=True,
        )
        again.start()
        time.sleep(0.2)
        assert served.end() == 0


def _quietly(served: Running, workspace: str, turns: list[dict[str, str]]) -> None:
    with contextlib.suppress(Exception):  # the daemon ends meanwhile
        served.post("/v1/turns", 60, workspace=workspace, session="cli:b", turns=turns)
