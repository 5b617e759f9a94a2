"""`python -m mnemark.agent.hook.background ROOT [SESSION]`: do in the background what a hook has no time for.

Ends a session, where one is named, and brings the index up to date, so that the next prompt finds what was
said. Another process that is at it already does it for us.
"""

import sys
from pathlib import Path

from mnemark.agent.hook.log import log
from mnemark.errors import BusyError


def run(root: Path, session: str) -> None:
    """Do it; whatever fails is logged."""
    try:
        from mnemark.memory.memory import Memory

        with Memory.open(root) as memory:
            if session:
                memory.session(session).end()
            memory.sync(wait=0.0)
    except BusyError:
        return
    except Exception as error:  # noqa: BLE001 - nobody is there to be told; the log says it
        log(root, f"in the background: {type(error).__name__}: {error}")


if __name__ == "__main__":
    run(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "")
