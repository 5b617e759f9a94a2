"""What each side changed since they last met: deletions, corrections, undone merges, three machines."""

import shutil
from pathlib import Path

import pytest

from memory.test_merge import Opened, files, merge_until_nothing_comes, opened, pair  # noqa: F401 - fixtures
from mnemark.files import platform


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, "utf-8")


def read(root: Path, path: str) -> str:
    return (root / path).read_text("utf-8")


@pytest.fixture
def met(opened: Opened, pair: Path) -> Path:  # noqa: F811
    """Two machines that have merged each other; both have notes/a.md."""
    write(pair / "laptop", "notes/a.md", "# A\n\n- one\n- two\n\nport: 80\n")
    merge_until_nothing_comes(opened, pair, "laptop", "desktop")
    return pair


def test_an_undone_merge_deletes_nothing_on_the_other_side(opened: Opened, met: Path) -> None:  # noqa: F811
    write(met / "desktop", "new.md", "# New\n")
    opened("desktop").remember("river", "Aare")
    memory = opened("laptop")
    memory.undo(memory.merge(met / "desktop").id)
    assert not (met / "laptop/new.md").exists()
    opened("desktop").merge(met / "laptop")
    assert (met / "desktop/new.md").exists()
    again = opened("laptop").merge(met / "desktop")
    assert "new.md" in {one.path for one in again.files}
    assert "Aare" in {fact.value for fact in opened("laptop").facts()}


def test_what_is_out_of_sight_is_not_deleted(
    opened: Opened, met: Path, monkeypatch: pytest.MonkeyPatch  # noqa: F811
) -> None:  # fmt: skip
    desktop = met / "desktop"
    (desktop / "notes").rename(met / "elsewhere")
    (desktop / "notes").symlink_to(met / "elsewhere")
    opened("laptop").merge(desktop)
    assert (met / "laptop/notes/a.md").exists()
    content = platform.content

    def broken(path: Path) -> bytes:
        if path == desktop / "plan.md":
            raise PermissionError(13, "Permission denied", str(path))
        return content(path)

    monkeypatch.setattr(platform, "content", broken)
    merged = opened("laptop").merge(desktop)
    assert (met / "laptop/plan.md").exists()
    assert any(one.path == "plan.md" for one in merged.problems)


def test_half_a_copy_deletes_nothing_and_a_restored_note_stays(opened: Opened, met: Path) -> None:  # noqa: F811
    text = read(met / "laptop", "notes/a.md")
    (met / "laptop/notes/a.md").unlink()
    merge_until_nothing_comes(opened, met, "laptop", "desktop")
    assert not (met / "desktop/notes/a.md").exists()
    write(met / "laptop", "notes/a.md", text)
    merge_until_nothing_comes(opened, met, "laptop", "desktop")
    assert read(met / "desktop", "notes/a.md") == text
    for number in range(5):
        write(met / "laptop", f"notes/{number}.md", f"# {number}\n")
    merge_until_nothing_comes(opened, met, "laptop", "desktop")
    for path in ("notes", "memory/facts"):
        shutil.rmtree(met / "desktop" / path)
    merged = opened("laptop").merge(met / "desktop")
    assert (met / "laptop/notes/a.md").exists()
    assert any("none is deleted here" in one.reason for one in merged.problems)


def test_merges_in_one_direction_mark_nothing_that_one_side_changed(
    opened: Opened, met: Path  # noqa: F811
) -> None:  # fmt: skip
    for port in ("81", "82", "83"):
        write(met / "desktop", "notes/a.md", f"# A\n\n- one\n- {port}\n\nport: {port}\n")
        opened("laptop").merge(met / "desktop")
        assert read(met / "laptop", "notes/a.md") == read(met / "desktop", "notes/a.md")
    write(met / "laptop", "notes/a.md", "# A\n\n- one\n- 83\n\nport: 90\n")
    write(met / "desktop", "notes/a.md", "# A\n\n- one\n- more\n- 83\n\nport: 83\n")
    opened("laptop").merge(met / "desktop")
    assert read(met / "laptop", "notes/a.md") == "# A\n\n- one\n- more\n- 83\n\nport: 90\n"


def test_a_choice_between_two_versions_holds(opened: Opened, met: Path) -> None:  # noqa: F811
    base = read(met / "laptop", "notes/a.md")
    for name, port in (("laptop", "81"), ("desktop", "82")):
        write(met / name, "notes/a.md", base.replace("80", port))
    opened("laptop").merge(met / "desktop")
    assert "keep one version" in read(met / "laptop", "notes/a.md")
    write(met / "laptop", "notes/a.md", base.replace("80", "81"))
    opened("laptop").merge(met / "desktop")
    write(met / "desktop", "notes/a.md", base.replace("80", "82").replace("- one", "- one\n- new"))
    merge_until_nothing_comes(opened, met, "laptop", "desktop")
    assert read(met / "desktop", "notes/a.md") == base.replace("80", "81").replace("- one", "- one\n- new")


def test_front_matter_that_both_changed_is_kept_beside_the_note(opened: Opened, met: Path) -> None:  # noqa: F811
    for name, title in (("laptop", "my title"), ("desktop", "your title")):
        write(met / name, "fm.md", f"---\ntitle: {title}\n---\n# Note\n")
    merge_until_nothing_comes(opened, met, "laptop", "desktop")
    texts = {path.read_text("utf-8") for path in (met / "laptop").glob("fm*.md")}
    assert texts == {f"---\ntitle: {title}\n---\n# Note\n" for title in ("my title", "your title")}
    assert files(met / "laptop") == files(met / "desktop")


def test_a_table_that_one_side_changed_is_its(opened: Opened, met: Path) -> None:  # noqa: F811
    write(met / "laptop", "d.csv", "a,b\n9,9\n")
    merge_until_nothing_comes(opened, met, "laptop", "desktop")
    write(met / "laptop", "d.csv", "a,b\n1,1\n")
    opened("desktop").merge(met / "laptop")
    assert read(met / "desktop", "d.csv") == "a,b\n1,1\n"
    assert not list((met / "desktop").glob("d.conflict*"))


def test_a_value_corrected_by_hand_is_the_newer_without_a_base(opened: Opened, tmp_path: Path) -> None:  # noqa: F811
    memory = opened("laptop")
    memory.remember("city", "Bern")
    memory.sync()
    shutil.copytree(tmp_path / "laptop", tmp_path / "desktop", ignore=shutil.ignore_patterns(".mnemark"))
    user = tmp_path / "laptop/memory/facts/user.md"
    user.write_text(user.read_text("utf-8").replace("Bern", "Basel"), "utf-8")
    merge_until_nothing_comes(opened, tmp_path, "desktop", "laptop")
    for name in ("laptop", "desktop"):
        assert {fact.value for fact in opened(name).facts()} == {"Basel"}
        assert "Bern" not in read(tmp_path / name, "memory/facts/user.md")


def test_a_bullet_that_was_copied_with_its_comment_ends_nothing(opened: Opened, met: Path) -> None:  # noqa: F811
    user = met / "laptop/memory/facts/user.md"
    line = next(line for line in user.read_text("utf-8").splitlines() if "a dog" in line)
    user.write_text(f"{user.read_text('utf-8')}{line.replace('a dog', 'a cat')}\n", "utf-8")
    opened("desktop").remember("river", "Aare")
    merge_until_nothing_comes(opened, met, "laptop", "desktop")
    assert "~~**pet**" not in user.read_text("utf-8")


def test_what_three_machines_say_waits_once_each(opened: Opened, pair: Path) -> None:  # noqa: F811
    shutil.copytree(pair / "desktop", pair / "stick", ignore=shutil.ignore_patterns(".mnemark"))
    opened("stick").remember("city", "Chur")
    merge_until_nothing_comes(opened, pair, "laptop", "desktop", "stick")
    assert files(pair / "laptop") == files(pair / "desktop") == files(pair / "stick")
    for name in ("laptop", "desktop", "stick"):
        memory = opened(name)
        assert [one.fact.value for one in memory.review()] == ["Basel"]
    opened("laptop").remember("city", "Biel")
    assert not opened("laptop").review()


def test_a_fact_that_both_learned_from_one_turn_is_one(opened: Opened, tmp_path: Path) -> None:  # noqa: F811
    memory = opened("laptop")
    memory.session("chat").add("user", "My brother Tom lives in Oslo and I work at Acme as a designer.")
    memory.session("chat").add("assistant", "Noted.")
    shutil.copytree(tmp_path / "laptop", tmp_path / "desktop", ignore=shutil.ignore_patterns(".mnemark"))
    for name in ("laptop", "desktop"):
        opened(name).consolidate(force=True)
    merge_until_nothing_comes(opened, tmp_path, "laptop", "desktop")
    facts = "".join(path.read_text("utf-8") for path in (tmp_path / "laptop/memory/facts").iterdir())
    assert facts.count("Acme") == 1
    assert files(tmp_path / "laptop") == files(tmp_path / "desktop")


def test_a_note_deleted_on_one_of_three_machines_is_gone_from_all(opened: Opened, met: Path) -> None:  # noqa: F811
    shutil.copytree(met / "desktop", met / "stick", ignore=shutil.ignore_patterns(".mnemark"))
    names = ("laptop", "desktop", "stick")
    merge_until_nothing_comes(opened, met, *names)
    (met / "laptop/notes/a.md").rename(met / "laptop/notes/b.md")
    merge_until_nothing_comes(opened, met, *names)
    for name in names:
        assert not (met / name / "notes/a.md").exists()
        assert (met / name / "notes/b.md").exists()
