"""Settings for all tests."""

import gc
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# A shared machine is slow at times: speed is measured by tests that say so, not by a limit on each example.
# The same examples are tried every time, so that a red run is about the change; `test_seeds.py` tries others.
settings.register_profile("pinned", deadline=None, derandomize=True, max_examples=20)
settings.register_profile("random", deadline=None, database=None)
settings.load_profile("pinned")

# Garbage is looked for among ten thousand tests and, where code is read, its trees, and none is there:
# with Python's own limits that takes a tenth of the processor time of a run.
gc.set_threshold(10_000, 20, 50)


@pytest.hookimpl(optionalhook=True)  # where the adapters are tested, xdist is not installed
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Run twice as many tests at once as there are processors: half of the time they wait.

    Those that measure time are run with `-n logical`.
    """
    return 2 * (os.cpu_count() or 1) if config.option.numprocesses == "auto" else None


@pytest.fixture(autouse=True)
def no_collection_in_deep_recursion(request: pytest.FixtureRequest) -> Iterator[None]:
    """Where a test exhausts the stack on purpose, finalisers of other tests must not run on what is left."""
    if request.node.get_closest_marker("deep") is None:
        yield
        return
    limit = sys.getrecursionlimit()
    gc.disable()  # what is left of them by now is collected later: to do so here takes half a second
    yield
    gc.enable()
    assert sys.getrecursionlimit() == limit


@pytest.fixture(autouse=True, scope="session")
def no_configuration_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests, and the programs that they start, read no configuration of whoever runs them.

    It trusts the folders that they make, as if each had been made by `init`; see `tests/files/test_trust.py`.
    """
    with pytest.MonkeyPatch.context() as patch:
        path = tmp_path_factory.mktemp("user") / "config.toml"
        made = [str(tmp_path_factory.getbasetemp()), tempfile.gettempdir()]
        path.write_text(f"trusted = {json.dumps(made)}\n", "utf-8")
        patch.setenv("MNEMARK_CONFIG", str(path))
        yield


@pytest.fixture(autouse=True, scope="session")
def no_folders_above(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests, and the programs that they start, live below a home folder of their own.

    It is the ceiling of what looks upwards: the search for a workspace ends there, and git's for a
    repository. So a memory, or a repository, above the temporary folder is none of theirs, and nothing is
    written to the home of whoever runs them.
    """
    home = tmp_path_factory.getbasetemp()
    browsers = Path.home() / ".cache/ms-playwright"
    with pytest.MonkeyPatch.context() as patch:
        if browsers.is_dir() and "PLAYWRIGHT_BROWSERS_PATH" not in os.environ:
            patch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(browsers))
        for name in ("HOME", "USERPROFILE"):
            patch.setenv(name, str(home))
        patch.setenv("GIT_CEILING_DIRECTORIES", str(home))
        for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What is left to a process in the background, which is not started."""
    from mnemark_agents import daemon

    found: list[list[str]] = []
    monkeypatch.setattr(daemon, "spawn", lambda words, **_: found.append(list(words)))
    return found
