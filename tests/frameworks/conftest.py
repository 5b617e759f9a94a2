"""Settings for the tests of frameworks."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing is sent or written elsewhere by a framework."""
    for name in ("CREWAI_DISABLE_TELEMETRY", "CREWAI_DISABLE_TRACKING", "OTEL_SDK_DISABLED"):
        monkeypatch.setenv(name, "true")
    monkeypatch.setenv("CREWAI_TRACING_ENABLED", "false")
    monkeypatch.setenv("CREWAI_STORAGE_DIR", "crewai-of-tests")
    monkeypatch.setenv("HAYSTACK_TELEMETRY_ENABLED", "false")
    monkeypatch.setenv("AGNO_TELEMETRY", "false")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
