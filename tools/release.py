"""Make a release in `dist/`: wheel, sdist, bundles for agents, a .deb; and try each way of installing it.

    python -m tools.release [--out dist] [--namespace io.github.NAME]

First version, changelog and tag have to agree (`tools/release_agreement.py`). Wheel and sdist are installed
into a clean environment of each Python from 3.11 to 3.14 that is here and used there, without the folder of
the project: a workspace, a search, a hook, `mnemark self-check`. Then come pipx, uv and uvx from an index of
these files on loopback, an installation without a network, the extras, and the recipes in `packaging/`. What
could not be tried is said.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path

from tools import release_bundles, release_recipes, release_ways
from tools.release_agreement import disagreements, version_of
from tools.release_ways import Tried, attempt, environment_of, run

ROOT = Path(__file__).resolve().parent.parent
PYTHONS = ("3.11", "3.12", "3.13", "3.14")


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
    """Build wheel and sdist into an empty folder and return their paths."""
    shutil.rmtree(out, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        commands = environment_of(sys.executable, Path(folder, "venv"), "build")
        run(commands / "python", "-m", "build", "--outdir", out, ROOT)
    return sorted(out.iterdir())


def ways(packages: list[Path], out: Path) -> Iterator[Tried]:
    """Try each way of installing."""
    wheel = next(package for package in packages if package.suffix == ".whl")
    for version in PYTHONS:
        python = python_of(version)
        if python is None:
            yield Tried(f"Python {version}", "not here", was_tried=False)
            continue
        for package in packages:
            what = f"Python {version}: pip install {package.name}"
            yield attempt(what, partial(release_ways.by_pip, python, package))
    yield attempt(
        "pip without a network, from a folder of wheels", partial(release_ways.offline, sys.executable, wheel)
    )
    what = "extras serve, tui and documents: the daemon, the pages, the panel, a search in HTML"
    yield attempt(what, partial(release_ways.extras, sys.executable, wheel))
    yield from _tools(packages)
    what = "container: its steps in a clean environment"
    yield attempt(what, partial(release_recipes.container, sys.executable, wheel))
    with tempfile.TemporaryDirectory() as folder:
        if why := release_recipes.image(Path(folder)):
            yield Tried("container: the image", why, was_tried=False)
    if why := release_recipes.missing_for_debian():
        yield Tried("Debian package", why, was_tried=False)
    else:
        yield attempt("Debian package: built, unpacked and run", partial(release_recipes.debian, wheel, out))


def _tools(packages: list[Path]) -> Iterator[Tried]:
    """Try pipx and uv, which are fetched for it, from an index of the packages."""
    version = version_of(ROOT)
    with release_ways.home_of_tools() as folder, release_ways.index_of(packages) as index:
        try:
            tools = environment_of(sys.executable, folder / "venv", "pipx", "uv>=0.9")
        except subprocess.CalledProcessError as error:
            for name in ("pipx", "uv tool", "uvx"):
                yield Tried(name, f"could not be fetched: {error.stderr[-300:]}", was_tried=False)
            return
        yield attempt(
            "pipx install, an extra, uninstall", partial(release_ways.by_pipx, tools, version, index)
        )
        yield attempt(
            "uv tool install, an extra, uninstall", partial(release_ways.by_uv_tool, tools, version, index)
        )
        yield attempt("uvx", partial(release_ways.by_uvx, tools, version, index))


def lints(out: Path) -> Iterator[Tried]:
    """Have linters, fetched for it, look at bundles and recipes."""
    linters = release_recipes.LINTERS
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            commands = environment_of(
                sys.executable, Path(folder, "venv"), *{package for package, _, _ in linters}
            )
        except subprocess.CalledProcessError as error:
            yield Tried("linters", f"could not be fetched: {error.stderr[-300:]}", was_tried=False)
            return
        for _, command, words in linters:
            what = f"{command} {' '.join(Path(word).name for word in words if not word.startswith('-'))}"
            yield attempt(what, partial(release_recipes.lint, commands, command, words, out))


def main() -> int:
    """Check, build and try; return 1 where something does not agree or work."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("--namespace", default="", help="your own in the MCP registry, for its entry")
    given = parser.parse_args()
    wrong = list(disagreements(ROOT))
    for line in wrong:
        print(line)
    if wrong:
        return 1
    packages = built(given.out)
    for bundle in release_bundles.written(given.out / "bundles", given.namespace):
        print(f"made: {bundle.relative_to(given.out)}", flush=True)
    failed = 0
    for tried in chain(lints(given.out), ways(packages, given.out)):
        state = "works" if not tried.problem else "does not work" if tried.was_tried else "NOT TRIED"
        print(f"{tried.what}: {state}{f': {tried.problem}' if tried.problem else ''}", flush=True)
        failed += bool(tried.problem and tried.was_tried)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
