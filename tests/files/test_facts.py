import os
import re
import time
from datetime import UTC
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemark.facts.file_changes import applied, project, review_bullet
from mnemark.facts.files import Confirmation, FactFiles, facts_in
from mnemark.facts.model import Fact
from mnemark.facts.parse import parse
from mnemark.files.truth import Folder
from mnemark.text.lines import decode, encode
from sampled import examples

PATH = "memory/facts/user.md"
_LINES = st.sampled_from(
    ["# U", "- city: Bonn", "  - since school", "- **name**: Ann <!-- trigger: a -->", "", "```",
     "* likes tea", "text", "- ~~city: Trier~~", "- **languages**:", "  - Python", "---", "<!--", "-->",
     "\udcff\udcfe", "| a |"]
)  # fmt: skip
_ENDS = st.sampled_from(["\n", "\r\n"])


def fact(identifier: str = "01AAA", value: str = "Berlin", **fields: str) -> Fact:
    given = {"predicate": "city", "since": "2026-02-01", "origin": "owner", "path": PATH} | fields
    return Fact(id=identifier, value=value, **given)  # type: ignore[arg-type]


@given(
    st.lists(_LINES, max_size=10),
    _ENDS,
    st.sampled_from(["", "\n"]),
    st.sampled_from(["city", "languages", "job", ""]),
)
@settings(max_examples=examples(150))
def test_adding_changes_the_bullets_it_ends_and_no_other_byte(
    lines: list[str], end: str, last: str, predicate: str
) -> None:
    text = end.join(lines) + (last and end)
    new, stands = applied(text, PATH, fact(predicate=predicate), UTC)
    again = applied(new, PATH, fact(predicate=predicate), UTC)
    assert again == (new, stands) or not stands
    if not stands or not text.strip():
        return
    added = {one.bullet.line for one in parse(new) if one.id == "01AAA"}
    kept = [line for at, line in enumerate(re.split(r"\r\n|\n", new), 1) if at not in added]
    before = re.split(r"\r\n|\n", text)
    changed = [line for line in kept if line not in before and line]
    assert all("until: 2026-02-01" in line for line in changed)
    assert len(changed) <= sum("city" in line or "job" in line for line in lines)
    rest = [one for one in kept if one and one not in changed]
    assert rest == [one for one in before if one and one in kept]
    assert encode(decode(encode(new))) == encode(new)


def test_the_older_value_is_struck_through_and_the_newer_stands_below() -> None:
    text = "# U\n\n- city: Bonn\n- name: Ann\n"
    new, _ = applied(text, PATH, fact(supersedes=facts_in(text, PATH, "2026-03-01")[0].id), UTC)
    lines = new.splitlines()
    assert lines[2].startswith("- ~~city: Bonn~~ <!-- id: ")
    assert "until: 2026-02-01" in lines[2]
    assert lines[3].startswith("- **city**: Berlin <!-- id: 01AAA | since: 2026-02-01 |")
    assert lines[4] == "- name: Ann"


def test_a_new_value_of_a_nested_list_reads_back() -> None:
    text = "- **languages**:\n  - Python\n  - Rust\n"
    new, stands = applied(text, PATH, fact(predicate="languages", value="Go"), UTC)
    assert stands
    assert [(one.predicate, one.value) for one in parse(new)] == [
        ("languages", "Python"),
        ("languages", "Rust"),
        ("languages", "Go"),
    ]


@pytest.mark.parametrize("text", ["```\ncode", "<!-- open\n", "---\na: b\n---\ntext", "\ufeff", "- [ ] "])
def test_a_bullet_never_disappears_in_what_is_open(text: str) -> None:
    new, stands = applied(text, PATH, fact(), UTC)
    assert stands
    assert [one.value for one in parse(new) if one.id] == ["Berlin"]


def test_confirming_changes_the_comment_alone() -> None:
    text, _ = applied("", PATH, fact(source="a.jsonl#L1", confidence=0.7), UTC)  # type: ignore[arg-type]
    said = Confirmation("01BBB", "01AAA", {"confidence": "0.8", "source": "b.jsonl#L2"})
    new, _ = applied(text, PATH, said, UTC)
    (one,) = facts_in(new, PATH, "")
    assert (one.value, one.confidence, one.source) == ("Berlin", 0.8, "a.jsonl#L1, b.jsonl#L2")
    assert applied(new, PATH, said, UTC)[0] == new


def test_files_are_found_by_subject_and_read_once(tmp_path: Path) -> None:
    folder = tmp_path / "memory/facts"
    folder.mkdir(parents=True)
    (folder / "Project.md").write_text("- db: SQLite\n")
    (folder / "imported.md").write_text("- city: Bonn <!-- subject: Ann -->\n- city: Trier\n")
    (folder / "user.sync-conflict-20260101-000000-ABCDEFG.md").write_text("- city: Nowhere\n")
    files = FactFiles(tmp_path)
    assert files.paths() == ["memory/facts/Project.md", "memory/facts/imported.md"]
    assert files.path_for("项目") == "memory/facts/Project.md"
    assert files.path_for("Ann Lee") == "memory/facts/ann-lee.md"
    assert files.path_for("me", "users/ann") == "users/ann/memory/facts/user.md"
    assert [one.subject for one in files.facts("memory/facts/imported.md")] == ["Ann", "user"]
    assert files.facts("memory/facts/none.md") == ()
    first = files.facts("memory/facts/Project.md")
    assert files.facts("memory/facts/Project.md") is first
    (folder / "Project.md").write_text("- db: PostgreSQL\n")
    assert [one.value for one in files.facts("memory/facts/Project.md")] == ["PostgreSQL"]


def test_names_that_are_no_file_names(tmp_path: Path) -> None:
    files = FactFiles(tmp_path)
    for subject in ("../../etc/passwd", "con", "a" * 500, "a/b", ".hidden", "x\0y", "2026-01-01", "🙂"):
        path = files.path_for(subject)
        assert path.startswith("memory/facts/")
        assert "/" not in path.removeprefix("memory/facts/")
        assert len(path.encode()) < 140
        _, done = project(Folder(tmp_path), path, [fact(subject=subject, path=path)], UTC)
        assert done == ["01AAA"]
        (one,) = files.facts(path)
        assert one.value == "Berlin"
        assert files.path_for(subject) == path


def test_a_link_that_leads_out_is_not_read(tmp_path: Path) -> None:
    folder = tmp_path / "w/memory/facts"
    folder.mkdir(parents=True)
    (tmp_path / "secret.md").write_text("- key: value\n")
    try:
        (folder / "secret.md").symlink_to(tmp_path / "secret.md")
    except OSError:
        pytest.skip("no links here")
    assert FactFiles(tmp_path / "w").paths() == []


def test_a_busy_file_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / PATH
    file.parent.mkdir(parents=True)
    file.write_text("- city: Bonn\n")
    result, done = project(Folder(tmp_path), PATH, [fact()], UTC)
    assert (result.status, done, file.read_text()) == ("deferred", [], "- city: Bonn\n")
    os.utime(file, (time.time() - 5,) * 2)
    assert project(Folder(tmp_path), PATH, [fact()], UTC)[1] == ["01AAA"]
    assert project(Folder(tmp_path), PATH, [fact()], UTC)[0].status == "unchanged"


def test_invalid_text_survives(tmp_path: Path) -> None:
    file = tmp_path / PATH
    file.parent.mkdir(parents=True)
    file.write_bytes(b"\xef\xbb\xbf# U\r\n- note \xff\xfe\r\n")
    os.utime(file, (time.time() - 5,) * 2)
    project(Folder(tmp_path), PATH, [fact()], UTC)
    data = file.read_bytes()
    assert data.startswith(b"\xef\xbb\xbf# U\r\n- note \xff\xfe\r\n- **city**: Berlin <!-- ")
    assert data.endswith(b"-->\r\n")


def test_a_proposal_is_listed_once() -> None:
    once = review_bullet(b"", fact(review="conflict"))
    assert once.startswith(b"# To review\n\n- **city**: Berlin <!-- id: 01AAA")
    assert review_bullet(once, fact(review="conflict")) == once


def test_the_example_of_the_contract_is_read_as_it_says() -> None:
    contract = (Path(__file__).parents[2] / "docs/format.md").read_text(encoding="utf-8")
    example = contract.split("```markdown\n")[1].split("```")[0]
    assert [(one.predicate, one.value, one.until) for one in facts_in(example, PATH, "2026-03-01")] == [
        ("name", "Ann", ""),
        ("city", "Berlin", ""),
        ("时区", "Asia/Shanghai", ""),
        ("", "always run the tests before a commit", ""),
        ("python version", "3.11", "2026-02-18"),
        ("python version", "3.12", ""),
        ("languages", "Python", ""),
        ("languages", "Rust", ""),
    ]
