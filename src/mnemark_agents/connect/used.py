"""Find the memory that agents use where a person or an agent works. Imports stay light."""

import os
from pathlib import Path

from mnemark.errors import NotFoundError
from mnemark.files.projects import top_of


def memory_used_in(folder: Path) -> Path | None:
    """Return the memory that agents use in a repository, or in the home folder; None where there is none.

    Raises:
        NotFoundError: they use several.
    """
    top = top_of(os.path.realpath(folder))
    if not top and folder != Path.home():
        return None
    from mnemark_agents.connect.connections import memories  # which reads the settings of all agents

    found = memories(Path(top) if top else None)
    if len(found) > 1:
        names = ", ".join(map(str, found))
        raise NotFoundError(f"your agents use several memories: {names}; choose one with -w")
    return found[0] if found else None
