"""Serve many people: rows in PostgreSQL are the truth, and each node follows them with folders."""

from importlib.util import find_spec

from mnemark.errors import UsageError


def check_installed() -> None:
    """Raise UsageError, which says what to run, where the packages of a server are missing."""
    if any(find_spec(name) is None for name in ("psycopg", "psycopg_pool", "prometheus_client", "uvicorn")):
        raise UsageError('a server needs more packages; run: pip install "mnemark[server]"')
