"""The old name of `mnemark.adapters.claude_sdk`, as folders and programs of users have it."""

import sys
from importlib import import_module

sys.modules[__name__] = import_module("mnemark.adapters.claude_sdk")
