"""The surroundings in which agents keep settings, for tests."""

import pytest

from mnemark_interfaces.shortcut import SETTINGS


def none_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no variable say where agents, or mnemark, keep anything: all is below the home folder."""
    for name in (*SETTINGS, "MNEMARK_WORKSPACE", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
