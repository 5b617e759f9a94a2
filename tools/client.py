"""Make, check and try the TypeScript client in clients/typescript.

    python tools/client.py openapi   print the OpenAPI document of the HTTP API
    python tools/client.py write     write what the client has of it: src/table.ts and, with npm, src/api.ts
    python tools/client.py smoke     build the client, and use it against a daemon
    python tools/client.py all       also in the AI SDK and Mastra, and packed, in a folder of its own

npm fetches what is needed into clients/typescript/node_modules, and Node 22, which the two frameworks want,
into `--cache` (default: .conformance); where it cannot, the exit code is 75.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from conformance import HURRY, NODE, QUIET, fetched, installed

from mnemark._version import __version__
from mnemark_agents.hook.event import FLOOR
from mnemark_interfaces.http.document import openapi
from mnemark_interfaces.tools import INSTRUCTIONS, TOOLS

CLIENT: Final = Path(__file__).resolve().parent.parent / "clients/typescript"
TABLE: Final = CLIENT / "src/table.ts"
SMOKE: Final = ("client", "node")
REST: Final = ("restart", "ai", "mastra", "package")
_TABLE: Final = """\
// Written by `python tools/client.py write` from the tables of the HTTP API: do not edit.

/** Of mnemark and of this package. */
export const VERSION = {version};

/** `on_topic` of a recall below which agents are given nothing. */
export const FLOOR = {floor};

/** Requests that must not be sent again where their answer was lost. */
export const ONCE: ReadonlySet<string> = new Set({once});

/** What the system prompt of an agent with the memory tools should say. */
export const INSTRUCTIONS = {instructions};

/** The memory tools for models. */
export const TOOLS = {tools} as const;
"""


def table(document: Mapping[str, Any]) -> str:
    """Return `src/table.ts`: what the client needs of the API at run time."""
    posts = {path: methods["post"] for path, methods in document["paths"].items() if "post" in methods}
    once = [path.removeprefix("/v1/") for path, post in posts.items() if post.get("x-idempotent") is False]
    tools = [
        {"name": tool.name, "title": tool.title, "description": tool.description,
         "parameters": tool.listed()["inputSchema"]}
        for tool in TOOLS
    ]  # fmt: skip
    return _TABLE.format(
        version=_code(__version__), floor=_code(FLOOR), once=_code(once), instructions=_code(INSTRUCTIONS),
        tools=_code(tools),
    )  # fmt: skip


def _code(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def written(*more: str) -> None:
    """Have openapi-typescript write `src/api.ts`, or with `--check` compare it."""
    with tempfile.TemporaryDirectory() as folder:
        document = Path(folder, "openapi.json")
        document.write_text(_code(openapi()), "utf-8")
        shape = ["--root-types", "--root-types-no-schema-prefix", "--default-non-nullable=false"]
        npm("exec", "--", "openapi-typescript", str(document), "-o", "src/api.ts", *shape, *more)


def npm(*arguments: str) -> None:
    """Run npm in the client's folder."""
    subprocess.run(["npm", *arguments], cwd=CLIENT, check=True)


def locked() -> None:
    """Fetch what the client is made and tried with, where that is missing or another version is locked."""
    lock, stamp = CLIENT / "package-lock.json", CLIENT / "node_modules/.locked"
    if stamp.exists() and stamp.read_bytes() == lock.read_bytes():
        return
    fetched(["npm", "ci", "--prefix", str(CLIENT), *QUIET, *HURRY])
    shutil.copyfile(lock, stamp)


def failing(environment: Mapping[str, str], tests: Sequence[str]) -> list[str]:
    """Run tests, which start daemons with this Python; return those that fail twice: one may be disturbed."""

    def fails(name: str) -> bool:
        command = ["node", "--test", "--test-reporter=spec", f"test/{name}.test.js"]
        surroundings = {**environment, "PYTHON": sys.executable}
        return subprocess.run(command, cwd=CLIENT, env=surroundings, check=False).returncode != 0

    return [name for name in [name for name in tests if fails(name)] if fails(name)]


def main() -> int:
    """Do what is named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["openapi", "write", "smoke", "all"])
    parser.add_argument("--cache", type=Path, default=Path(".conformance"))
    parsed = parser.parse_args()
    if parsed.what == "openapi":
        print(_code(openapi()))
        return 0
    locked()
    if parsed.what == "write":
        TABLE.write_text(table(openapi()), "utf-8")
        written()
        return 0
    written("--check")
    npm("run", "--silent", "build")
    failed = failing(os.environ, SMOKE)
    if parsed.what == "all":
        failed += failing(installed(parsed.cache, NODE), REST)
    print("failed:", ", ".join(failed) if failed else "nothing")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
