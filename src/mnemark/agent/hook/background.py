"""Sync the index for a hook, in a process: `python -m mnemark.agent.hook.background ROOT [SESSION]`.

Ends the session first, where one is named. Does nothing where another process is syncing.
"""

import sys
from pathlib import Path

from mnemark.agent.hook.log import log
from mnemark.errors import BusyError


def run(root: Path, session: str) -> None:
    """End the session, sync, and log any failure."""
    try:
        from mnemark.memory.memory import Memory

        with Memory.open(root) as memory:
            if session:
                memory.session(session).end()
            memory.sync(wait=0.0)
    except BusyError:
        return
    except Exception as error:  # noqa: BLE001 - nobody is there to be told; it is logged
        log(root, f"in the background: {type(error).__name__}: {error}")


if __name__ == "__main__":
    run(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "")
