"""The old name of `mnemark.adapters.openakita`, as folders and programs of users have it."""

import sys
from importlib import import_module

sys.modules[__name__] = import_module("mnemark.adapters.openakita")
