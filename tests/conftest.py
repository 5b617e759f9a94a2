"""Settings for all tests."""

import gc
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

# A shared machine is slow at times: speed is measured by tests that say so, not by a limit on each example.
# The same examples are tried every time, so that a red run is about the change; `test_seeds.py` tries others.
settings.register_profile("pinned", deadline=None, derandomize=True)
settings.register_profile("random", deadline=None, database=None)
settings.load_profile("pinned")

MEASURES = re.compile(r"perf_counter|process_time|monotonic\(\)|from linear import|\.kill\(")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests of files that measure time, or kill a process at a moment: others beside them disturb."""
    for item in items:
        if _measures(item.path):
            item.add_marker("timed")


@cache
def _measures(path: Path) -> bool:
    return MEASURES.search(path.read_text("utf-8")) is not None


@pytest.fixture(autouse=True)
def no_collection_in_deep_recursion(request: pytest.FixtureRequest) -> Iterator[None]:
    """Where a test exhausts the stack on purpose, finalisers of other tests must not run on what is left."""
    if request.node.get_closest_marker("deep") is None:
        yield
        return
    limit = sys.getrecursionlimit()
    gc.collect()
    gc.disable()
    yield
    gc.enable()
    assert sys.getrecursionlimit() == limit


@pytest.fixture(autouse=True, scope="session")
def no_configuration_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests, and the programs that they start, read no configuration of whoever runs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MNEMARK_CONFIG", str(tmp_path_factory.mktemp("user") / "config.toml"))
        yield
