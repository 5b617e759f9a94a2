"""Serve many people: rows in PostgreSQL are the truth, and each node follows them with folders."""

from mnemark.errors import UsageError
from mnemark.extras import extra_named


def check_installed() -> None:
    """Raise UsageError, which says what to run, where the packages of a server are missing."""
    if any(extra_named(name).missing() for name in ("serve", "server")):
        raise UsageError('a server needs more packages; run: pip install "mnemark[server]"')
