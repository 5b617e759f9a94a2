"""The MCP conformance suite, the Inspector and the official Python clients against this server.

    python tools/conformance.py suite       the npm suite, against tools/conformance_expected.yml
    python tools/conformance.py inspector   the Inspector's command line lists the tools, stdio and HTTP
    python tools/conformance.py clients     Python SDK 1.x and 2.x, each by itself, call every tool

npm and pip fetch what is needed into `--cache` (default: .conformance); where they cannot, the exit code is
75. The suite wants Node 22 and has no word for tokens: a proxy on loopback adds the daemon's, and passes
everything else on as it is.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from mnemark_interfaces.tools import TOOLS

HERE = Path(__file__).resolve().parent
NODE = "node@22"
SUITE = "@modelcontextprotocol/conformance@0.1.16"
INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
EXPECTED = HERE / "conformance_expected.yml"
QUIET = ["--no-audit", "--no-fund", "--loglevel=error"]
HURRY = ["--fetch-retries=2", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000"]
UNFETCHED = 75
"""Exit code where npm or pip could not fetch something: nothing was found out."""
CLIENTS = {"1": "mcp>=1.24,<2", "2": "mcp>=2,<3"}


class Server(NamedTuple):
    """A daemon for the tests, and its workspace."""

    url: str
    token: str
    workspace: Path
    state: Path


@contextmanager
def daemon() -> Iterator[Server]:
    """`mnemark serve` in a state folder of its own, with a few notes to find."""
    with tempfile.TemporaryDirectory() as folder:
        state, workspace = Path(folder, "state"), Path(folder, "workspace")
        (workspace / "memory").mkdir(parents=True)
        (workspace / "memory/2026-02-13.md").write_text("# 2026-02-13\n\n- 09:30 We chose sqlite-vec.\n")
        environment = {**os.environ, "XDG_STATE_HOME": str(state)}
        quiet = subprocess.DEVNULL
        command = [sys.executable, "-m", "mnemark", "serve", "-w", str(workspace), "--json"]
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=quiet)
        try:
            assert process.stdout is not None
            said = json.loads(process.stdout.readline())
            token = json.loads((state / "mnemark/daemon.json").read_text())["token"]
            yield Server(said["url"], token, workspace, state)
        finally:
            process.terminate()
            process.wait(20)


@contextmanager
def proxy(server: Server) -> Iterator[str]:
    """An address where the token is added to each request; its own name as host becomes the daemon's."""
    port = int(server.url.rpartition(":")[2])
    with socket.create_server(("127.0.0.1", 0)) as listener:
        own = listener.getsockname()[1]

        def one(client: socket.socket) -> None:
            with client, socket.create_connection(("127.0.0.1", port)) as target:
                head = b""
                while b"\r\n\r\n" not in head and (chunk := client.recv(65_536)):
                    head += chunk
                lines, _, body = head.partition(b"\r\n\r\n")
                kept = [line for line in lines.split(b"\r\n") if not line.lower().startswith(b"connection:")]
                kept = [line.replace(b":%d" % own, b":%d" % port) for line in kept]
                kept += [b"Authorization: Bearer " + server.token.encode(), b"Connection: close"]
                target.sendall(b"\r\n".join(kept) + b"\r\n\r\n" + body)
                threading.Thread(target=_pump, args=(client, target), daemon=True).start()
                _pump(target, client)

        def accept() -> None:
            while True:
                try:
                    client, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=one, args=(client,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield f"http://localhost:{own}/mcp"


def _pump(source: socket.socket, target: socket.socket) -> None:
    try:
        while chunk := source.recv(65_536):
            target.sendall(chunk)
    except OSError:
        pass


def fetched(command: list[str]) -> None:
    """Fetch a tool; where that cannot be done, end with `UNFETCHED`."""
    try:
        subprocess.run(command, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"not run, for want of what it needs: {error}")
        raise SystemExit(UNFETCHED) from None


def installed(cache: Path, package: str) -> dict[str, str]:
    """Environment with Node 22 and an npm tool, or Node alone, fetched where they are missing."""
    folder = cache / package.rpartition("/")[2].replace("@", "-")
    binaries = folder / "node_modules/.bin"
    if not binaries.exists():
        folder.mkdir(parents=True, exist_ok=True)
        packages = dict.fromkeys((NODE, package))
        fetched(["npm", "install", "--prefix", str(folder), *QUIET, *HURRY, *packages])
    return {**os.environ, "PATH": f"{binaries.resolve()}{os.pathsep}{os.environ['PATH']}"}


def suite(cache: Path, more: list[str]) -> int:
    """The conformance suite; unexpected failures, and expected ones that pass, make it fail."""
    environment = installed(cache, SUITE)
    with daemon() as server, proxy(server) as url, tempfile.TemporaryDirectory() as results:
        command = ["conformance", "server", "--url", url, "--expected-failures", str(EXPECTED), *more]
        return subprocess.run(command, env=environment, cwd=results, check=False).returncode


def inspector(cache: Path) -> int:
    """The Inspector's command line lists the tools."""
    environment = installed(cache, INSPECTOR)
    with daemon() as server:
        local = {**environment, "XDG_STATE_HOME": str(server.state)}
        front = [sys.executable, "-m", "mnemark", "mcp", "-w", str(server.workspace)]
        ask = ["--method", "tools/list"]
        runs = {
            "stdio": (["mcp-inspector", "--cli", *front, *ask], local),
            "http": (
                ["mcp-inspector", "--cli", f"{server.url}/mcp", "--transport", "http",
                 "--header", f"Authorization: Bearer {server.token}", *ask],
                environment,
            ),
        }  # fmt: skip
        failed = 0
        for name, (command, surroundings) in runs.items():
            ran = subprocess.run(
                command, env=surroundings, capture_output=True, text=True, timeout=120, check=False
            )
            count = ran.stdout.count('"inputSchema"')
            print(f"inspector over {name}: exit {ran.returncode}, {count} tools")
            if ran.returncode or count != len(TOOLS):
                print(ran.stdout[-1000:], ran.stderr[-1000:])
                failed = 1
    return failed


def clients(cache: Path) -> int:
    """The official Python clients call every tool, over stdio and HTTP."""
    failed = 0
    for major, requirement in CLIENTS.items():
        python = cache / f"python-{major}/bin/python"
        if not python.exists():
            making = python.parent.parent.with_suffix(".new")  # until it is whole
            subprocess.run([sys.executable, "-m", "venv", "--clear", str(making)], check=True)
            fetched([str(making / "bin/python"), "-m", "pip", "install", "-q", requirement])
            making.rename(python.parent.parent)
        with daemon() as server:
            environment = {
                **os.environ, "XDG_STATE_HOME": str(server.state), "SERVER": sys.executable,
                "URL": f"{server.url}/mcp", "TOKEN": server.token, "WORKSPACE": str(server.workspace),
            }  # fmt: skip
            started = time.monotonic()
            ran = subprocess.run([str(python), str(HERE / "mcp_client.py")], env=environment, check=False)
            print(f"clients of SDK {major}.x: exit {ran.returncode}, {time.monotonic() - started:.1f} s")
            failed |= ran.returncode
    return failed


def main() -> int:
    """Run what is named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["suite", "inspector", "clients", "all"])
    parser.add_argument("--cache", type=Path, default=Path(".conformance"))
    parsed, more = parser.parse_known_args()
    parts: dict[str, Callable[[], int]] = {
        "suite": lambda: suite(parsed.cache, more),
        "inspector": lambda: inspector(parsed.cache),
        "clients": lambda: clients(parsed.cache),
    }
    failed = [name for name, run in parts.items() if parsed.what in {name, "all"} and run()]
    print("failed:", ", ".join(failed) if failed else "nothing")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
