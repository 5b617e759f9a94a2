"""Implement `serve --database`: run a node."""

from pathlib import Path

from mnemark._version import __version__
from mnemark_interfaces import output
from mnemark_server import check_installed

check_installed()
from mnemark_server import logs, server  # noqa: E402 - needs what was checked


def serve(database: str, *, host: str, port: int, folder: Path | None, json: bool) -> None:
    """Run until it is stopped; say where it listens."""
    logs.start()

    def ready(url: str) -> None:
        if json:
            output.out_json({"url": url, "version": __version__}, line=True)
        else:
            output.tell("{url}  version {version}, listening", url=url, version=__version__)
        output.flush()

    known = server.Settings(database=database, host=host, port=port or server.PORT, folder=folder)
    server.serve(known, on_ready=ready)
