"""Processes that sync: `python -m faults.syncing ROOT TIMES`."""

import sys
from pathlib import Path

from mnemark.errors import BusyError
from mnemark.index.store import Index
from mnemark.index.sync import sync


def main(root: Path, times: int) -> None:
    for _ in range(times):
        index = Index(root)
        try:
            sync(index, wait=0.01)
        except BusyError:
            pass
        finally:
            index.close()
        sys.stdout.write("synced\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
