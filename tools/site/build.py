"""Build the documentation as a site: `make site`, which writes it into site/.

Pages stand in docs/ as forges read them. This prepares copies of them in `.site/build`, has Zensical make
pages of HTML of these, and looks through what it made: `check.py`.
"""

import ast
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from tools.site import check, pages

ROOT: Final = Path(__file__).parents[2]
HERE: Final = Path(__file__).parent
BUILD: Final = ROOT / ".site/build"
SITE: Final = ROOT / "site"
API_MARK: Final = "<!-- site: the names of mnemark -->"
"""Stands in docs/python.md where the site has the reference that is made of docstrings."""

OPTIONS: Final = ("mnemark.types.SearchOptions", "mnemark.facts.model.FactOptions")
"""What `Memory.search` and `Memory.remember` take beside their named arguments."""


def main() -> int:
    """Build the site and check it; return 1 if something is wrong with it."""
    prepare()
    made = subprocess.run(
        [Path(sys.executable).with_name("zensical"), "build", "--strict", "--clean"],
        cwd=BUILD, check=False, capture_output=True, encoding="utf-8",
    )  # fmt: skip
    if made.returncode:
        sys.stderr.write(made.stdout.partition("Traceback")[0] + made.stderr.partition("Traceback")[0])
        return 1
    problems = check.problems(BUILD / "site", BUILD / "pages")
    for problem in problems:
        sys.stderr.write(f"{problem}\n")
    shutil.rmtree(SITE, ignore_errors=True)
    shutil.move(BUILD / "site", SITE)
    count = len(list(SITE.rglob("*.html")))
    sys.stdout.write(f"{count} pages, {len(problems)} problems: open {SITE.relative_to(ROOT)}/index.html\n")
    return min(len(problems), 1)


def prepare() -> None:
    """Write the pages as Zensical takes them into `BUILD`, with its settings and our part of the theme."""
    shutil.rmtree(BUILD, ignore_errors=True)
    shutil.copytree(ROOT / "docs", BUILD / "pages")
    shutil.copytree(HERE / "theme", BUILD / "theme")
    shutil.copytree(HERE / "assets", BUILD / "pages/assets")
    shutil.copy(HERE / "zensical.toml", BUILD)
    (BUILD / "src").symlink_to(ROOT / "src")
    for path, uri in pages.BROUGHT.items():
        shutil.copy(ROOT / path, BUILD / "pages" / uri)
    found = {path.relative_to(BUILD / "pages").as_posix(): path for path in (BUILD / "pages").rglob("*.md")}
    of = {uri: path for path, uri in pages.BROUGHT.items()}
    for uri, file in found.items():
        text = pages.prepared(file.read_text("utf-8"), of.get(uri, f"docs/{uri}"))
        other = pages.counterpart(uri, frozenset(found))
        head = f"---\nlang: {pages.language(uri)}\nother: {pages.address(other)}\n---\n\n"
        file.write_text(head + text.replace(API_MARK, api()), "utf-8")


def api() -> str:
    """Return the directives for all public names: `Memory` first, errors at the end, and then options."""
    tree = ast.parse((ROOT / "src/mnemark/__init__.py").read_text("utf-8"))
    names: list[str] = next(
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )
    shown = sorted(names, key=lambda name: (name != "Memory", name.endswith("Error"), name))
    public = [f"mnemark.{name}" for name in shown if name != "__version__"]
    return "\n\n".join(f"::: {name}" for name in [*public, *OPTIONS])


if __name__ == "__main__":
    sys.exit(main())
