"""Memory for LLM agents: a folder of plain text, found again in milliseconds.

>>> from mnemark import Memory
>>> with Memory.open(folder) as memory:  # a folder; made if missing
...     session = memory.session("cli:main")
...     _ = session.add("user", "We keep vectors in one memory-mapped file per model.")
...     _ = session.add("user", "我们决定把数据库迁移到新的机器上。")
...     found = memory.search("数据库")
...     block = memory.recall("where do we keep vectors?", budget=400, deadline=2.0).text
>>> found.hits[0].text
'我们决定把数据库迁移到新的机器上。'
>>> "one memory-mapped file per model" in block
True

`block` is quoted and sourced: put it into the user's role of a prompt. Errors name the fix and form one tree,
drawn at the top of `mnemark.errors`. All names below are loaded when first used.
"""

from typing import TYPE_CHECKING, Any

from mnemark._version import __version__

if TYPE_CHECKING:
    from mnemark.errors import (
        BusyError,
        ConfigError,
        DegradedError,
        IncompleteError,
        IntegrityError,
        MnemarkError,
        NewerFormatError,
        NotFoundError,
        OffRecordError,
        ReadOnlyError,
        UsageError,
    )
    from mnemark.memory.memory import Memory
    from mnemark.memory.sessions.session import Session
    from mnemark.types import Hit, Problem, Recall, Turn

__all__ = [
    "BusyError",
    "ConfigError",
    "DegradedError",
    "Hit",
    "IncompleteError",
    "IntegrityError",
    "Memory",
    "MnemarkError",
    "NewerFormatError",
    "NotFoundError",
    "OffRecordError",
    "Problem",
    "ReadOnlyError",
    "Recall",
    "Session",
    "Turn",
    "UsageError",
    "__version__",
]

_HOMES = {
    "Hit": "mnemark.types",
    "Memory": "mnemark.memory.memory",
    "Problem": "mnemark.types",
    "Recall": "mnemark.types",
    "Session": "mnemark.memory.sessions.session",
    "Turn": "mnemark.types",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used (PEP 562), so that `import mnemark` costs next to nothing."""
    if name not in __all__:
        raise AttributeError(f"module 'mnemark' has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(_HOMES.get(name, "mnemark.errors")), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
