"""Check that the version, the changelog and the tag of a release agree."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

VERSION = "src/mnemark/_version.py"
CHANGES = "CHANGELOG.md"


def version_of(root: Path) -> str:
    """Return the version that the source has; empty where it has none."""
    found = re.search(r'^__version__ = "(\d+\.\d+\.\d+)"$', (root / VERSION).read_text("utf-8"), re.MULTILINE)
    return found[1] if found else ""


def disagreements(root: Path) -> Iterator[str]:
    """Yield what does not agree, with what to do; nothing if all does."""
    version = version_of(root)
    if not version:
        yield f'{VERSION} has no version of three numbers: write __version__ = "1.2.3"'
        return
    heads = re.findall(r"^## (\S+)$", (root / CHANGES).read_text("utf-8"), re.MULTILINE)
    if heads[:1] != [version]:
        newest = f"is about {heads[0]}" if heads else "has no version"
        fix = f"begin it with ## {version}, or set {VERSION}"
        yield f"{CHANGES} {newest} first, the version is {version}: {fix}"
    if heads.count(version) > 1:
        yield f"{CHANGES} has two parts ## {version}: join them"
    yield from _tags(root, f"v{version}")


def _tags(root: Path, wanted: str) -> Iterator[str]:
    here = _git(root, "tag", "--points-at", "HEAD")
    if here is None:  # a source distribution, or no git
        return
    wrong = [tag for tag in here if re.fullmatch(r"v?\d+\.\d+.*", tag) and tag != wanted]
    if wrong:
        what = f"this commit has the tag {wrong[0]}, and its version wants {wanted}"
        yield f"{what}: git tag --delete {wrong[0]}, or set {VERSION}"
    if wanted not in here and _git(root, "tag", "--list", wanted):
        fix = f"raise {VERSION} and begin {CHANGES} with it"
        yield f"{wanted} is the tag of another commit, which is released: {fix}"


def _git(root: Path, *words: str) -> list[str] | None:
    """Return the lines that git says; None where the folder is no repository of its own."""
    command = ["git", "-C", str(root), *words]
    if not (root / ".git").exists():
        return None
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout.split() if done.returncode == 0 else None


def main() -> int:
    """Print what does not agree; return 1 if anything."""
    wrong = list(disagreements(Path(__file__).resolve().parent.parent))
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
