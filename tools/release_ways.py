"""Install a release in each way that the pages name, and try it: pip, pipx, uv, an index, offline."""

import functools
import json
import os
import select
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

QUIET = ("--quiet", "--disable-pip-version-check")
_SECONDS = 900
_UV = {
    "index-url": "UV_DEFAULT_INDEX", "extra-index-url": "UV_INDEX", "find-links": "UV_FIND_LINKS",
    "constraint": "UV_CONSTRAINT",
}  # fmt: skip
"""uv's variables of what pip is configured with."""


class Tried(NamedTuple):
    """What became of one way of installing."""

    what: str
    problem: str = ""
    """Why it does not work; empty if it does."""
    was_tried: bool = True


def run(*words: Any, given: str = "", **more: Any) -> str:
    """Run a command and return what it printed.

    Raises:
        subprocess.CalledProcessError: it failed.
        subprocess.TimeoutExpired: it takes longer than a quarter of an hour.
    """
    command = [str(word) for word in words]
    done = subprocess.run(
        command, input=given, text=True, capture_output=True, check=True, timeout=_SECONDS, **more
    )
    return str(done.stdout)


def environment_of(python: str | Path, folder: Path, *packages: Any, options: Sequence[str] = ()) -> Path:
    """Make a clean environment with packages; return its folder of commands."""
    run(python, "-m", "venv", folder)
    commands = folder / ("Scripts" if sys.platform == "win32" else "bin")
    if packages:
        run(commands / "python", "-m", "pip", "install", *QUIET, *options, *packages)
    return commands


def use(mnemark: Sequence[Any], home: Path, **variables: str) -> None:
    """Use an installation in a home of its own, without the folder of the project.

    Raises:
        subprocess.CalledProcessError, AssertionError: it does not work.
    """
    home.mkdir(parents=True, exist_ok=True)
    program = Path(mnemark[0])
    path = os.pathsep.join([*([str(program.parent)] if program.is_absolute() else []), "/usr/bin", "/bin"])
    environment = {"PATH": path, "HOME": str(home), **variables}
    call = functools.partial(run, *mnemark, env=environment, cwd=home)
    root = str(home / "memory")
    assert call("--version").startswith("mnemark "), "the version"
    call("init", root)
    call("remember", "city", "Leeds", "-w", root)
    assert "Leeds" in call("search", "city", "-w", root), "a search"
    assert "Leeds" in call("prompt", "-w", root), "a prompt"
    event = json.dumps({"session_id": "s", "source": "startup"})
    hook = call("hook", "session-start", "--agent", "codex", "-w", root, given=event)
    assert "Leeds" in hook, "a briefing"
    checked = json.loads(call("self-check", "--json"))
    assert checked["works"], checked


@contextmanager
def index_of(files: Sequence[Path]) -> Iterator[str]:
    """Serve a simple index (PEP 503) of the files of one project on loopback; yield its address."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder, "simple/mnemark")
        project.mkdir(parents=True)
        links = []
        for file in files:
            (project / file.name).write_bytes(file.read_bytes())
            mark = sha256(file.read_bytes()).hexdigest()
            links.append(
                f'<a href="{file.name}#sha256={mark}" data-requires-python="&gt;=3.11">{file.name}</a>'
            )
        (project / "index.html").write_text(f"<!DOCTYPE html><body>{'<br>'.join(links)}</body>\n", "utf-8")
        handler = functools.partial(_Silent, directory=folder)
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/simple/"
        finally:
            server.shutdown()
            server.server_close()


class _Silent(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


def settings_of_uv(python: str | Path) -> dict[str, str]:
    """Return uv's variables for what pip is configured with here, which uv does not read."""
    found: dict[str, str] = {}
    for line in run(python, "-m", "pip", "config", "list").splitlines():
        name, _, value = line.partition("=")
        variable = _UV.get(name.rpartition(".")[2])
        if variable and variable not in os.environ:
            found[variable] = " ".join(value.strip("'").replace("\\n", " ").split())
    return found


@contextmanager
def home_of_tools() -> Iterator[Path]:
    """Make a folder for what pipx and uv install."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def by_pip(python: str, package: Path, folder: Path) -> None:
    """Install a file with pip, and use the command and the module."""
    commands = environment_of(python, folder / "venv", package)
    use([commands / "mnemark"], folder / "home")
    assert run(commands / "python", "-m", "mnemark", "--version").startswith("mnemark "), "the module"


def offline(python: str, package: Path, folder: Path) -> None:
    """Download the wheels, then install them as where there is no network."""
    commands = environment_of(python, folder / "venv")
    wheels = folder / "wheels"
    run(commands / "python", "-m", "pip", "download", *QUIET, "--dest", wheels, package)
    bare = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    bare["PIP_CONFIG_FILE"] = os.devnull
    install = ("install", *QUIET, "--no-index", "--find-links", wheels, "mnemark")
    run(commands / "python", "-m", "pip", *install, env=bare)
    use([commands / "mnemark"], folder / "home")


def _refuse_others(python: Path, version: str) -> None:
    """Raise ValueError where an index that pip uses here has a mnemark, too: pip would choose either."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            run(python, "-m", "pip", "download", *QUIET, "--no-deps", "--dest", folder, f"mnemark=={version}")
        except subprocess.CalledProcessError:
            return
    raise ValueError(
        "an index that pip uses here has this version, too: not installed, as it may be another's"
    )


def by_pipx(tools: Path, version: str, index: str, folder: Path) -> None:
    """Install from an index with pipx, add an extra, and remove it again."""
    _refuse_others(tools / "python", version)
    place = {"PIPX_HOME": str(folder / "pipx"), "PIPX_BIN_DIR": str(folder / "bin")}
    pipx = functools.partial(run, tools / "pipx", env={**os.environ, **place})
    pipx("install", "--pip-args", f"--extra-index-url {index}", f"mnemark=={version}")
    use([folder / "bin/mnemark"], folder / "home")
    _add_extra(folder / "bin/mnemark", tools, place)
    pipx("uninstall", "mnemark")
    assert not (folder / "bin/mnemark").exists(), "removed"


def by_uv_tool(tools: Path, version: str, index: str, folder: Path) -> None:
    """Install from an index as a tool of uv, add an extra, and remove it again."""
    place = {
        "UV_TOOL_DIR": str(folder / "tools"),
        "UV_TOOL_BIN_DIR": str(folder / "bin"),
        **settings_of_uv(tools / "python"),
    }
    uv = functools.partial(run, tools / "uv", env={**os.environ, **place})
    uv("tool", "install", "--quiet", "--index", index, f"mnemark=={version}")
    use([folder / "bin/mnemark"], folder / "home")
    _add_extra(folder / "bin/mnemark", tools, place)
    uv("tool", "uninstall", "--quiet", "mnemark")
    assert not (folder / "bin/mnemark").exists(), "removed"


def by_uvx(tools: Path, version: str, index: str, folder: Path) -> None:
    """Run from an index without installing."""
    more = settings_of_uv(tools / "python")
    use(
        [tools / "uvx", "--quiet", "--index", index, f"mnemark@{version}"], folder / "home",
        UV_CACHE_DIR=str(folder / "cache"), UV_PYTHON=sys.executable, **more,
        **{name: os.environ[name] for name in ("SSL_CERT_FILE",) if name in os.environ},
    )  # fmt: skip


def _add_extra(mnemark: Path, tools: Path, place: Mapping[str, str]) -> None:
    """Type what self-check says for an extra, and see that it is here then."""
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    found = json.loads(run(mnemark, "self-check", "--json"))["findings"]
    (line,) = (one["fix"] for one in found if one["what"].startswith("extra sqlite-vec ("))
    run("sh", "-c", line, env={**os.environ, **place, "PATH": path})
    found = json.loads(run(mnemark, "self-check", "--json"))["findings"]
    assert any(one["what"].startswith("extra sqlite-vec is installed: ") for one in found), line


def extras(python: str, package: Path, folder: Path) -> None:
    """Use each of the extras that people see: the daemon, the panel, documents."""
    commands = environment_of(python, folder / "venv", f"{package}[serve,tui,documents]")
    home = folder / "home"
    use([commands / "mnemark"], home)
    environment = {"PATH": f"{commands}:/usr/bin:/bin", "HOME": str(home), "TERM": "xterm"}
    call = functools.partial(run, env=environment, cwd=home)
    root = home / "memory"
    (root / "gate.html").write_text("<h1>Gate</h1><p>The code word is pelican.</p>", "utf-8")
    assert "pelican" in call("mnemark", "search", "code word", "-w", root), "an HTML page"
    daemon = subprocess.Popen(
        [commands / "mnemark", "serve", "--no-nightly"], env=environment, cwd=home,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        assert daemon.stdout is not None
        assert "listening" in daemon.stdout.readline(), "the daemon"
        found = json.loads(call("mnemark", "self-check", "--json"))["findings"]
        assert any("running and answers" in one["what"] for one in found), "the daemon answers"
        assert "ticket" in json.loads(call("mnemark", "web", "-w", root, "--json")), "the pages"
        open_and_leave([commands / "mnemark", "tui", "-w", root], b"Search", env=environment, cwd=home)
    finally:
        daemon.terminate()
        daemon.wait(30)


def open_and_leave(panel: Sequence[Any], word: bytes, **more: Any) -> None:
    """Open a panel in a terminal of its own, type `q` once it shows a word, and see it end.

    Raises:
        AssertionError: it shows or does something else in two minutes.
    """
    master, terminal = os.openpty()
    shown, deadline = b"", time.monotonic() + 120
    with subprocess.Popen(
        [str(one) for one in panel], start_new_session=True, stdin=terminal, stdout=terminal, stderr=terminal,
        **more,
    ) as running:  # fmt: skip
        os.close(terminal)
        try:
            while running.poll() is None and time.monotonic() < deadline:
                if select.select([master], [], [], 0.5)[0]:
                    with suppress(OSError):  # it has ended
                        shown += os.read(master, 65536)
                elif word in shown:  # all is drawn: what is typed before that may be thrown away
                    os.write(master, b"q")
        finally:
            running.kill()
            os.close(master)
    assert word in shown, "the panel shows nothing"
    assert running.returncode == 0, f"the panel ends with {running.returncode}"


def attempt(what: str, work: Callable[[Path], None]) -> Tried:
    """Do something in a new folder, and tell what became of it."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            work(Path(folder))
        except subprocess.CalledProcessError as error:
            said = (error.stderr or error.stdout or "")[-2000:]
            return Tried(what, f"{' '.join(error.cmd)[:300]}: exit code {error.returncode}\n{said}")
        except (AssertionError, OSError, ValueError, subprocess.TimeoutExpired) as error:
            return Tried(what, f"{type(error).__name__}: {str(error)[:2000]}")
    return Tried(what)
