"""Implement `serve --database`: run a node."""

from pathlib import Path

from mnemark._version import __version__
from mnemark.errors import UsageError
from mnemark_interfaces import output
from mnemark_server import check_installed

check_installed()
from mnemark_server import server  # noqa: E402 - needs what was checked


def serve(
    database: str, *, host: str, port: int, folder: Path | None, url: str, issuer: str, json: bool
) -> None:  # fmt: skip
    """Run until it is stopped; say where it listens."""

    def ready(at: str) -> None:
        if json:
            output.out_json({"url": at, "version": __version__}, line=True)
        else:
            output.tell("{url}  version {version}, listening", url=at, version=__version__)
        output.flush()

    if issuer and not url:
        raise UsageError("tokens are meant for one server: give its public address with --url https://HOST")
    known = server.Settings(
        database=database, host=host, port=port or server.PORT, folder=folder, url=url, issuer=issuer
    )
    server.serve(known, on_ready=ready)
