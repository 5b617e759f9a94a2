"""Settings for all tests."""

import gc
import os
import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings

# A shared machine is slow at times: speed is measured by tests that say so, not by a limit on each example.
settings.register_profile("default", deadline=None)
# The gate tries the same examples every time, so that a red run is about the change.
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


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
