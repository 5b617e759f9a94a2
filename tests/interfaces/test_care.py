import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

import pytest

from mnemark.errors import NotFoundError
from mnemark.types import Hit
from mnemark_interfaces import workspace

from .conftest import Shell

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="links and line breaks in names")


def test_init_makes_a_workspace_and_leaves_what_is_there(shell: Shell) -> None:
    shell.write("MEMORY.md", "mine\n")
    first = shell("init")
    assert (first.code, first.out) == (0, f"{shell.folder}: created mnemark.toml\n")
    assert (shell.folder / "MEMORY.md").read_text(encoding="utf-8") == "mine\n"
    assert shell("init", "--json").data == {"workspace": str(shell.folder), "created": []}
    assert shell("init", "new/one", "--json").data["created"] == ["mnemark.toml", "MEMORY.md"]


def test_init_tells_how_old_files_are_brought_in(shell: Shell) -> None:
    shell.write("memories.json", '[{"content": "likes tea"}]')
    assert "mnemark import openakita" in shell("init").err


def test_sync_tells_what_it_did(shell: Shell) -> None:
    shell.write("a.md", "# One\n")
    shell.write("b.md", "# Two\n")
    assert shell("sync").out.startswith("2 files: 2 added; 2 passages (")
    assert shell("sync").out.startswith("2 files: nothing changed (")
    shell.write("b.md", "# Two and more\n")
    (shell.folder / "a.md").unlink()
    report = shell("sync", "--json").data
    assert (report["files"], report["changed"], report["removed"]) == (1, 1, 1)
    assert report["degraded"] == []
    shell.write("mnemark.toml", 'embedder = "api:some-model"\nembedder_url = "http://127.0.0.1:9/v1"\n')
    (degraded,) = shell("sync", "--json").data["degraded"]
    assert degraded.startswith("dense: ")


def test_files_that_cannot_be_used_are_named_on_stderr(shell: Shell) -> None:
    shell.write("good.md", "# Good\n")
    (shell.folder / "bad.md").write_bytes(b"\x00\x01\x02\x00\xff" * 300)
    ran = shell("sync")
    assert ran.code == 0
    assert "bad.md: " in ran.err
    assert "bad.md" not in ran.out


def test_status_shows_the_state_and_changes_nothing(shell: Shell) -> None:
    assert "index      not created yet: there is nothing to index\n" in shell("status").out
    shell.write("a.md", "# One\n")
    before = shell.state()
    fresh = shell("status")
    assert "index      not created yet; run `mnemark sync` to index 1 file" in fresh.out
    assert shell.state() == before
    shell("sync")
    shell.write("b.md", "# Two\n")
    known = shell("status", "--json").data
    assert (known["files"], known["passages"], known["kinds"]) == (1, 1, {"note": 1})
    assert " 1 file changed since the last sync" in shell("status").out
    assert shell("search", "two", "--json").data["hits"][0]["path"] == "b.md"


def test_status_and_doctor_agree_on_what_has_changed(shell: Shell) -> None:
    """A file written just before a sync is read again by the next, but has not changed."""
    path = shell.write("a.md", "# One\n")
    shell("sync")
    current = "index is up to date with all files"
    assert shell("status").out.splitlines()[3].endswith(", up to date")
    assert current in shell("doctor").out
    path.write_text("# Two\n", encoding="utf-8")
    assert " 1 file changed since the last sync" in shell("status").out
    for command in ("doctor", "verify"):
        shown = shell(command).out
        assert "a.md has changed since it was indexed" in shown
        assert current not in shown


def test_the_demo_answers_its_questions(shell: Shell) -> None:
    from mnemark import demo
    from mnemark_interfaces.queries import DOUBTFUL

    found = shell("demo", "sample", "--json").data
    for (query, path), answer in zip(demo.QUESTIONS, found["answers"], strict=True):
        assert answer["query"] == query
        if path:
            assert answer["answer"]["hits"][0]["path"] == path, query
            assert answer["answer"]["on_topic"] >= DOUBTFUL, query
        else:
            assert answer["answer"]["on_topic"] < DOUBTFUL, query
    assert list(found["answers"][0]["answer"]["hits"][0]) == list(Hit.__struct_fields__)
    assert "memory/2026-02-13.md" in found["recall"]["text"]


def test_the_demo_shows_what_to_do_next(shell: Shell) -> None:
    shown = shell("demo", "sample").out
    assert "部署失败" in shown
    assert "<mnemark-recall " in shown
    assert "Probably not in this memory." in shown
    assert f"cd {shell.folder / 'sample'}" in shown
    for face, line in zip(("web", "tui"), shown.splitlines()[-2:], strict=True):
        assert f" {face} -w {shell.folder / 'sample'}" in line
    again = shell("demo", "sample")
    assert (again.code, "is not empty" in again.err) == (2, True)


@POSIX
def test_status_names_what_cannot_be_memory(shell: Shell) -> None:
    shell.write("a.md", "# One\n")
    (shell.folder / "loop.md").symlink_to("loop.md")
    shell("sync")
    assert "skipped: loop.md: link" in shell("status").err
    assert [problem["path"] for problem in shell("status", "--json").data["problems"]] == ["loop.md"]


@POSIX
def test_a_line_break_in_a_name_cannot_fake_output(shell: Shell) -> None:
    (shell.folder / "one\nfake.md").write_text("plover\n", encoding="utf-8")
    shown = shell("search", "plover").out
    assert shown.startswith("one‹U+000A›fake.md#L1  undated")


def test_outside_of_a_workspace_the_memory_of_agents_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    with pytest.raises(NotFoundError, match="choose one with -w, or create"):
        workspace.place(None, current=tmp_path)
    (tmp_path / "mnemark").mkdir()
    with pytest.raises(NotFoundError, match=r"-w .*mnemark, or create"):
        workspace.place(None, current=tmp_path)


@pytest.mark.parametrize("chosen", ["none", "fastembed:some/model"])
def test_doctor_tells_once_that_there_is_no_embedder(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, chosen: str
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", without("fastembed"))
    shell.write("a.md", "# One\n")
    shell.write("mnemark.toml", f'embedder = "{chosen}"\n')
    shell("sync")
    for command in (["doctor"], ["doctor", "--fix"], ["verify"]):
        lines = shell(*command).out.splitlines()
        told = [line for line in lines if "embedder" in line or "vectors" in line or "fastembed is" in line]
        assert len([line for line in told if "change of the setting" not in line]) == 1, told
    if chosen != "none":
        assert 'run: pip install "mnemark[fastembed]"' in told[0], "verify says what to type, too"


def without(package: str) -> Callable[..., ModuleSpec | None]:
    """Return `find_spec` of an environment that a package is missing in."""
    return lambda name, *more: None if name == package else find_spec(name, *more)


def test_an_embedder_whose_extra_is_missing_is_named_with_what_to_type(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a new user meets it: the setting is made, and nothing was installed for it."""
    monkeypatch.setattr("importlib.util.find_spec", without("fastembed"))
    shell("init")
    shell.write("mnemark.toml", 'embedder = "fastembed:some/model"\n')
    shell.write("a.md", "The tea is green.\n")
    fix = 'fastembed is not installed; run: pip install "mnemark[fastembed]"'
    found = shell("search", "tea")
    assert ("The tea is green." in found.out, found.code) == (True, 0)
    assert found.err.count(fix) == 1
    assert f"Note: search by meaning: {fix}" in found.err
    answer = shell("search", "tea", "--json").data
    assert (answer["mode"], answer["degraded"]) == ("lexical", [f"dense: {fix}"])
    assert shell("recall", "what colour is the tea?").err.count(fix) == 1
    assert shell("doctor").out.count(fix) == 1
    status = shell("status")
    assert f"{fix}; until then searches find words only" in status.out
    assert shell("status", "--json").data["embedder_problem"] == fix
    shell.write("mnemark.toml", "")
    assert "until then" not in shell("status").out
    assert shell("status", "--json").data["embedder_problem"] == ""
