"""The version, changelog and tag of a release agree, or it is said what to do; bundles are written whole."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tools.release_agreement import CHANGES, VERSION, disagreements
from tools.release_bundles import written
from tools.release_ways import Tried, attempt, index_of, open_and_leave, run

ROOT = Path(__file__).parent.parent


def test_the_project_agrees_with_itself() -> None:
    assert [line for line in disagreements(ROOT) if "is the tag of another commit" not in line] == []


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / VERSION).parent.mkdir(parents=True)
    (tmp_path / VERSION).write_text('__version__ = "1.2.0"\n', "utf-8")
    (tmp_path / CHANGES).write_text("# Changes\n\n## 1.2.0\nNew.\n\n## 1.1.0\nOld.\n", "utf-8")
    return tmp_path


def git(project: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", "-C", str(project), *who, *words], check=True, capture_output=True)


def test_what_does_not_agree_is_told_with_its_fix(project: Path) -> None:
    assert list(disagreements(project)) == []
    (project / CHANGES).write_text("# Changes\n\n## 1.1.0\nOld.\n\n## 1.1.0\n", "utf-8")
    (line,) = disagreements(project)
    assert "is about 1.1.0 first, the version is 1.2.0: begin it with ## 1.2.0" in line
    (project / CHANGES).write_text("", "utf-8")
    assert "has no version" in next(disagreements(project))
    (project / VERSION).write_text('__version__ = "1.2"\n', "utf-8")
    assert 'write __version__ = "1.2.3"' in next(disagreements(project))


def test_the_tag_is_that_of_the_version(project: Path) -> None:
    git(project, "init", "-q")
    git(project, "add", ".")
    git(project, "commit", "-qm", "one")
    assert list(disagreements(project)) == []
    git(project, "tag", "v1.1.9")
    git(project, "tag", "unrelated")
    (line,) = disagreements(project)
    assert "has the tag v1.1.9, and its version wants v1.2.0: git tag --delete v1.1.9" in line
    git(project, "tag", "--delete", "v1.1.9")
    git(project, "tag", "v1.2.0")
    assert list(disagreements(project)) == []
    git(project, "commit", "--allow-empty", "-qm", "two")
    (line,) = disagreements(project)
    assert "v1.2.0 is the tag of another commit, which is released: raise" in line


def test_bundles_are_written_as_folders_and_as_files(tmp_path: Path) -> None:
    folders = written(tmp_path / "bundles", "io.github.ann")
    assert [folder.name for folder in folders] == [
        "claude-code", "codex", "gemini-cli", "openclaw", "mcp-registry",
    ]  # fmt: skip
    assert not written(tmp_path / "others", "")[-1].name.startswith("mcp"), "nobody vouches for the package"
    entry = json.loads((tmp_path / "bundles/mcp-registry/server.json").read_text("utf-8"))
    assert entry["name"] == "io.github.ann/mnemark"
    for folder in folders:
        files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
        with zipfile.ZipFile(folder.with_suffix(".zip")) as packed:
            assert {name for name in packed.namelist() if not name.endswith("/")} == files


def test_a_way_that_does_not_work_is_told(tmp_path: Path) -> None:
    def fails(folder: Path) -> None:
        run("sh", "-c", f"echo no room >&2; cd {folder} && exit 3")

    def surprises(_: Path) -> None:
        raise AssertionError("a search")

    assert attempt("one", lambda _: None) == Tried("one")
    assert attempt("two", fails).problem.endswith("exit code 3\nno room\n")
    assert attempt("three", surprises).problem == "AssertionError: a search"


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such terminals")
def test_a_panel_is_opened_and_left(tmp_path: Path) -> None:
    panel = "import sys, tty; tty.setraw(0); print('Search'); sys.exit(sys.stdin.read(1) != 'q')"
    open_and_leave([sys.executable, "-c", panel], b"Search", cwd=tmp_path)
    with pytest.raises(AssertionError, match="shows nothing"):
        open_and_leave([sys.executable, "-c", "print('Sear')"], b"Search")
    with pytest.raises(AssertionError, match="ends with 3"):
        open_and_leave([sys.executable, "-c", "print('Search'); raise SystemExit(3)"], b"Search")


def test_an_index_serves_the_files_with_their_marks(tmp_path: Path) -> None:
    import urllib.request

    (tmp_path / "mnemark-1.2.0-py3-none-any.whl").write_bytes(b"wheel")
    with index_of([tmp_path / "mnemark-1.2.0-py3-none-any.whl"]) as index:
        with urllib.request.urlopen(f"{index}mnemark/") as page:
            assert b"mnemark-1.2.0-py3-none-any.whl#sha256=" in page.read()
        with urllib.request.urlopen(f"{index}mnemark/mnemark-1.2.0-py3-none-any.whl") as file:
            assert file.read() == b"wheel"
