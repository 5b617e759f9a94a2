"""Settings for all tests."""

import os

from hypothesis import settings

# A shared machine is slow at times: speed is measured by tests that say so, not by a limit on each example.
settings.register_profile("default", deadline=None)
# The gate tries the same examples every time, so that a red run is about the change.
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")
