"""Name the optional parts of an installation: what each brings, whether it is here, how it is added."""

import importlib.util
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple


class Extra(NamedTuple):
    """An optional part, as `pyproject.toml` names it."""

    name: str
    modules: tuple[str, ...]
    """Modules of the packages that it adds."""
    brings: str

    def missing(self) -> list[str]:
        """Return its modules that are not installed; none is imported."""
        return [name for name in self.modules if importlib.util.find_spec(name) is None]


EXTRAS: Final = (
    Extra(
        "serve", ("jinja2", "python_multipart", "starlette", "uvicorn"),
        "the daemon, the HTTP API and the pages of `mnemark web`",
    ),
    Extra("tui", ("textual",), "the panel of `mnemark tui`"),
    Extra(
        "documents", ("html_to_markdown", "mammoth", "pypdfium2"),
        "search in HTML, Word, EPUB and PDF files",
    ),
    Extra("mcp", ("mcp",), "MCP over HTTP by the official SDK; `mnemark mcp` needs none"),
    Extra(
        "server", ("psycopg", "psycopg_pool", "prometheus_client", "jwt"),
        "a server for many people, whose memories are in PostgreSQL",
    ),
    Extra("fastembed", ("fastembed", "onnxruntime", "tokenizers"), "larger embedding models and rerankers"),
    Extra("sqlite-vec", ("sqlite_vec",), "vectors in SQLite"),
    Extra("chroma", ("chromadb",), "vectors in Chroma"),
)  # fmt: skip


def extra_named(name: str) -> Extra:
    """Return the extra of that name."""
    return next(extra for extra in EXTRAS if extra.name == name)


def how_to_add(names: Sequence[str], prefix: str = sys.prefix) -> str:
    """Return the command that adds extras to this environment, as pipx, uv or pip made it.

    No version of mnemark is fetched by it: the one that is here fits.
    """
    wanted = f'"mnemark[{",".join(names)}]"'
    place = Path(prefix)
    if (place / "pipx_metadata.json").is_file():
        return f"pipx runpip {place.name} install {wanted}"
    if (place / "uv-receipt.toml").is_file():
        return f"uv pip install --python {shlex.quote(prefix)} {wanted}"
    return f"{shlex.quote(sys.executable)} -m pip install {wanted}"
