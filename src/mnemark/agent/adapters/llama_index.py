"""The old name of `mnemark.adapters.llama_index`, as folders and programs of users have it."""

import sys
from importlib import import_module

sys.modules[__name__] = import_module("mnemark.adapters.llama_index")
