"""Workspaces that the panel is tried on."""

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from mnemark import Memory

from .seat import SETTINGS

pytest.importorskip("textual")
AT = datetime(2026, 3, 2, 9, 30, tzinfo=timezone(timedelta(hours=8)))


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    (tmp_path / "mnemark.toml").write_text(SETTINGS, "utf-8")
    return Memory.open(tmp_path)


def say(memory: Memory, session: str, *texts: str, role: str = "user", days: int = 0) -> str:
    """Record turns, a minute between them; return the path of the log."""
    log = memory.session(session)
    log.add_many(
        [
            log.turn(role, text, time=AT + timedelta(days=days, minutes=number))
            for number, text in enumerate(texts)
        ]
    )
    return log.path
