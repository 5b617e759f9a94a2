"""Implement `serve --database`: run a node."""

import logging
import sys
from pathlib import Path

from mnemark._version import __version__
from mnemark_interfaces import output
from mnemark_server import check_installed

check_installed()
from mnemark_server import server  # noqa: E402 - needs what was checked


def serve(database: str, *, host: str, port: int, folder: Path | None, url: str, json: bool) -> None:
    """Run until it is stopped; say where it listens."""
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s"
    )
    for noisy in ("mcp", "uvicorn", "httpx"):
        logging.getLogger(noisy).setLevel(logging.WARNING)

    def ready(address: str) -> None:
        if json:
            output.out_json({"url": address, "version": __version__}, line=True)
        else:
            output.tell("{url}  version {version}, listening", url=address, version=__version__)
        output.flush()

    known = server.Settings(database=database, host=host, port=port or server.PORT, folder=folder, url=url)
    server.serve(known, on_ready=ready)
