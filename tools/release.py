"""Build wheel and sdist, and try both in a clean environment of each Python from 3.11 to 3.14 that is here.

    python tools/release.py [--out dist]

In each environment, without the folder of the project: the command prints its version, makes a workspace,
finds what was written into it, answers a hook, and ends the session. Where a Python is missing, it says so.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
QUIET = ["--quiet", "--disable-pip-version-check"]


def python_of(version: str) -> str | None:
    """Return a Python of that version: from the PATH, or pyenv's."""
    kept = sorted(Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions").glob(f"{version}.*"))
    for name in (shutil.which(f"python{version}"), *(str(folder / "bin/python") for folder in kept)):
        if name is None:
            continue
        asked = [name, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        if done.stdout.strip() == version:
            return name
    return None


def built(out: Path) -> list[Path]:
    """Build both files into an empty folder and return their paths."""
    shutil.rmtree(out, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = Path(folder, "bin/python")
        subprocess.run([python, "-m", "pip", "install", *QUIET, "build"], check=True)
        subprocess.run([python, "-m", "build", "--outdir", out, ROOT], check=True, stdout=subprocess.DEVNULL)
    return sorted(out.iterdir())


def tried(python: str, package: Path) -> None:
    """Install a file into a clean environment and use it.

    Raises:
        subprocess.CalledProcessError, AssertionError: it does not work.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home = Path(folder, "home")
        home.mkdir()
        subprocess.run([python, "-m", "venv", Path(folder, "venv")], check=True)
        subprocess.run(
            [Path(folder, "venv/bin/python"), "-m", "pip", "install", *QUIET, str(package)], check=True
        )
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(home)}

        def mnemark(*words: str, given: str = "") -> str:
            command = [str(Path(folder, "venv/bin/mnemark")), *words]
            done = subprocess.run(
                command, env=environment, cwd=home, input=given, text=True, capture_output=True, check=True
            )
            return done.stdout

        root = str(home / "memory")
        assert mnemark("--version").startswith("mnemark "), "the version"
        mnemark("init", root)
        mnemark("remember", "city", "Leeds", "-w", root)
        assert "Leeds" in mnemark("search", "city", "-w", root), "a search"
        assert "Leeds" in mnemark("prompt", "-w", root), "a prompt"
        event = json.dumps({"session_id": "s", "source": "startup"})
        hook = mnemark("hook", "session-start", "--agent", "codex", "-w", root, given=event)
        assert "Leeds" in hook, "a briefing"


def main() -> int:
    """Build and try; return 1 where something does not work."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    packages = built(parser.parse_args().out)
    failed = 0
    for version in PYTHONS:
        python = python_of(version)
        if python is None:
            print(f"Python {version}: not here, not tried", flush=True)
            continue
        for package in packages:
            try:
                tried(python, package)
            except (subprocess.CalledProcessError, AssertionError) as error:
                failed += 1
                said = getattr(error, "stderr", "") or ""
                print(f"Python {version}: {package.name}: {error}\n{said}", flush=True)
            else:
                print(f"Python {version}: {package.name} works", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
