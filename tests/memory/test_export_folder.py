"""A memory exported as a folder for people: nothing broken, nothing hidden, the same bytes each time."""

import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exported import (
    broken_html_links,
    broken_markdown_links,
    broken_wiki_links,
    files,
    pages,
    parsed,
)
from faults.logical import LEXICAL
from mnemark.errors import IntegrityError, UsageError
from mnemark.memory.memory import Memory
from mnemark.memory.transfer.export.export import FOLDER_FORMATS, ExportedFolder, export_folder
from mnemark.memory.transfer.export.names import FileNames
from mnemark.memory.transfer.export.output import MANIFEST
from mnemark.memory.transfer.export.safe_html import rendered
from mnemark.memory.transfer.imports import import_from
from sampled import examples

DAY = datetime(2026, 2, 13, 9, 5, tzinfo=UTC)
SECRET = "sk-proj-" + "Ab3dE6gH9jK2mN5pQ8sT1vW4yZ7b" + "Ab3dE6gH9jK2mN5pQ8s"
BROKEN = {"obsidian": broken_wiki_links, "markdown": broken_markdown_links, "html": broken_html_links}
NOTES = {
    "MEMORY.md": "# Memory\n\nVectors are in one file, see [the garden](notes/garden.md) and [[garden]].\n",
    "USER.md": "# User\n\nHe rows.\n",
    "notes/garden.md": (
        "---\ntags: [plants]\n---\n\n# Garden\n\n![red](../pictures/tomato.png) and ![[pear.png|200]]\n\n"
        "[[MEMORY|core]], [[2026-02-13]], [[Garden#Beds]],\n[a talk](../sessions/{log}#L2), {log_ref}\n\n"
        "`[[not a link]]` and\n\n```\n[[neither]]\n```\n\n## Beds\n\n"
        "<private>the gate code is 4711</private>\n"
    ),
    "notes/水果 (秋天).md": "# 水果\n\n苹果和梨 [菜园](garden.md)。\n",
    "memory/2026-02-13.md": "# 2026-02-13\n\nWe planted [[水果 (秋天)|fruit]].\n",
    "memory/facts/boat.md": (
        "# Boat\n\nOur boat in [the garden](../../notes/garden.md).\n\n- **colour**: red\n- it leaks\n"
    ),
    "memory/review/facts.md": "# Review\n\n- **city**: Nowhere\n",
    "users/ann/notes/diary.md": "# Diary\n\nSee [my garden](../../../notes/garden.md).\n",
}


def say(memory: Memory, session: str, *said: tuple[str, str], at: datetime = DAY, **more: Any) -> Any:
    talk = memory.session(session, **more)
    for number, (role, text) in enumerate(said):
        talk.add(role, text, time=at + timedelta(minutes=number))
    return talk


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("export") / "memory"
    with Memory.open(root, config=LEXICAL) as memory:
        say(
            memory, "cli:main",
            ("user", f"I live in Hamburg. Plan a budget tracker. The key is {SECRET} for it."),
            ("assistant", "Here:\n\n```python\nprint('<b>')\n```\n\n[a](https://x.org) [[x]] <img src=y>"),
            ("user", "I moved to Lisbon. We decided to use SQLite for it."),
            ("tool", "line\n" * 400),
        ).end()  # fmt: skip
        say(
            memory,
            "chat:运维",
            ("user", "我住在杭州，喜欢爬山。"),
            ("assistant", "好的。"),
            ("user", "我们决定周六开始。"),
            at=DAY + timedelta(days=1),
        ).end()
        say(memory, "chat:secret", ("user", "The heron flies at midnight"))
        say(memory, "chat:half", ("user", "Keep the kettle."), ("user", "Drop the pelican."), at=DAY)
        say(memory, "chat:ann", ("user", "I work at the harbour office."), ("assistant", "Nice."),
            user="ann", at=DAY).end()  # fmt: skip
        memory.remember("hobby", "pelican watching")
        memory.forget(query="heron flies at midnight")
        memory.forget(query="Drop the pelican")
        memory.forget(query="pelican watching")
        log = next(path.name for path in (root / "sessions").iterdir() if "main" in path.name)
    for name, text in NOTES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(
            text.replace("{log_ref}", f"sessions/{log}#L4").replace("{log}", log), "utf-8"
        )
    for name in ("tomato.png", "pear.png", "unused.png"):
        (root / "pictures").mkdir(exist_ok=True)
        (root / "pictures" / name).write_bytes(b"\x89PNG" + name.encode())
    return root


def exported(root: Path, target: Path, form: Any, **more: Any) -> ExportedFolder:
    with Memory.open(root, config=LEXICAL, readonly=True) as memory:
        return export_folder(memory.workspace, target, format=form, **more)


@pytest.fixture(scope="module")
def done(lived: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("done")
    made = {form: exported(lived, folder / form, form) for form in FOLDER_FORMATS}
    assert {form: one.problems for form, one in made.items()} == dict.fromkeys(made, ())
    return {form: folder / form for form in made}


def whole(folder: Path) -> str:
    return "\n".join(f"{name}\n{data.decode('utf-8', 'replace')}" for name, data in files(folder).items())


@pytest.mark.parametrize("form", FOLDER_FORMATS)
def test_no_link_is_broken(done: dict[str, Path], form: str) -> None:
    assert BROKEN[form](done[form]) == []


@pytest.mark.parametrize("form", FOLDER_FORMATS)
def test_what_was_hidden_stays_inside(done: dict[str, Path], form: str) -> None:
    text = whole(done[form])
    for word in (SECRET, "4711", "heron flies", "pelican", "Nowhere"):
        assert word not in text, word
    assert "Keep the kettle" in text
    assert "I moved to Lisbon" in text


@pytest.mark.parametrize("form", FOLDER_FORMATS)
def test_the_same_memory_gives_the_same_bytes(
    done: dict[str, Path], lived: Path, tmp_path: Path, form: Any
) -> None:
    exported(lived, tmp_path / "again", form)
    assert files(tmp_path / "again") == files(done[form])
    again = exported(lived, tmp_path / "again", form)
    assert (again.changed, again.removed) == (0, 0)


@pytest.mark.parametrize("form", ["obsidian", "markdown"])
def test_talk_day_episode_and_fact_lead_to_each_other(done: dict[str, Path], form: str) -> None:
    found = pages(done[form], ".md")
    (talk,) = [
        name for name in found if name.startswith("talks/2026-02/2026-02-13") and "Lisbon" in found[name]
    ]
    (episode,) = [name for name in found if name.startswith("memory/episodes/2026-02-13")]
    places = {talk, episode, "memory/2026-02-13.md", "memory/facts/user.md"}

    def leads(name: str) -> set[str]:
        from urllib.parse import unquote

        return {to for to in places - {name} if Path(to).stem in unquote(found[name])}

    for name in places:
        assert leads(name) >= places - {name} - ({episode} if "facts" in name else set()), name
    assert "Hamburg" in found["memory/facts/user.md"]  # the history


def test_names_are_legal_everywhere(done: dict[str, Path]) -> None:
    for folder in done.values():
        names = list(files(folder))
        assert len({name.casefold() for name in names}) == len(names)
        assert not [name for name in names if set(name) & set('<>:"|?*\\') or any(
            part.endswith((".", " ")) for part in name.split("/"))]  # fmt: skip


def test_a_vault_has_properties_and_embeds(done: dict[str, Path]) -> None:
    vault = done["obsidian"]
    garden = (vault / "notes/garden.md").read_text("utf-8")
    assert "![[pictures/tomato.png]]" in garden
    assert (vault / "pictures/pear.png").read_bytes() == b"\x89PNGpear.png"
    assert not (vault / "pictures/unused.png").exists()
    assert "`[[not a link]]`" in garden
    talk = next(
        text for name, text in pages(vault, ".md").items() if "Lisbon" in text and name.startswith("talks")
    )
    assert 'tags: ["mnemark/talk"]' in talk
    assert "date: 2026-02-13T09:05" in talk
    assert "> [!quote] You · 09:05" in talk
    assert "&lt;img src=y>" in talk
    assert "mnemark:begin" not in whole(vault)


def test_what_stands_between_facts_is_kept(done: dict[str, Path]) -> None:
    boat = (done["markdown"] / "memory/facts/boat.md").read_text("utf-8")
    assert "Our boat in [the garden](../../notes/garden.md)." in boat
    assert "**red**" in boat
    assert boat.count("it leaks") == 1


def test_long_results_are_folded_and_shortened(done: dict[str, Path]) -> None:
    talk = next(text for text in pages(done["markdown"], ".md").values() if "<details>" in text)
    assert talk.count("> line") < 40
    page = next(text for text in pages(done["html"], ".html").values() if "<details>" in text)
    assert "left out" in page


def test_one_scope_alone(lived: Path, tmp_path: Path) -> None:
    exported(lived, tmp_path / "ann", "markdown", scope="users/ann")
    assert broken_markdown_links(tmp_path / "ann") == []
    text = whole(tmp_path / "ann")
    assert "harbour office" in text
    assert "Lisbon" not in text
    assert not [
        name for name in files(tmp_path / "ann") if not name.startswith(("users/ann/", "Contents", "."))
    ]
    exported(lived, tmp_path / "shared", "html", scope="")
    assert "harbour office" not in whole(tmp_path / "shared")
    with pytest.raises(UsageError, match="no scope users/bob"):
        exported(lived, tmp_path / "bob", "html", scope="users/bob")
    assert not (tmp_path / "bob").exists()


@pytest.mark.parametrize("form", ["obsidian", "markdown"])
def test_an_export_can_be_imported_elsewhere(done: dict[str, Path], tmp_path: Path, form: str) -> None:
    with Memory.open(tmp_path / "new", config=LEXICAL) as memory:
        assert import_from(memory.workspace, "", done[form], dry_run=True).format == "markdown"
        import_from(memory.workspace, "markdown", done[form])
        memory.sync()
        hit = next(hit for hit in memory.search("budget tracker").hits if "/talks/2026-02/" in hit.path)
        assert any("/talks/" in hit.path for hit in memory.search("爬山 杭州").hits)
        assert hit.date is not None
        assert hit.date.startswith("2026-02-13")


# Brought up to date


def test_an_export_is_brought_up_to_date_and_a_persons_words_stay(tmp_path: Path) -> None:
    root, target = tmp_path / "memory", tmp_path / "vault"
    with Memory.open(root, config=LEXICAL) as memory:
        say(memory, "a", ("user", "The first talk is about tides."))
        say(memory, "b", ("user", "The second talk is about kites."))
    (root / "note.md").write_text("# Note\n\nold words\n", "utf-8")
    (root / "other.md").write_text("# Other\n\nold words\n", "utf-8")
    exported(root, target, "obsidian")
    (target / "note.md").write_text("# Note\n\nmy own words\n", "utf-8")
    (target / "mine.md").write_text("mine\n", "utf-8")
    assert exported(root, target, "obsidian").problems == ()  # nothing new that would be lost

    (root / "note.md").write_text("# Note\n\nnew words\n", "utf-8")
    (root / "other.md").write_text("# Other\n\nnew words\n", "utf-8")
    with Memory.open(root, config=LEXICAL) as memory:
        memory.forget(session="b")
    again = exported(root, target, "obsidian")
    assert [(one.path, one.skipped) for one in again.problems] == [("note.md", False)]
    assert again.complete
    assert "is kept" in again.problems[0].reason
    assert (target / "note.md").read_text("utf-8") == "# Note\n\nmy own words\n"
    assert (target / "other.md").read_text("utf-8") == "# Other\n\nnew words\n"
    assert (target / "mine.md").read_text("utf-8") == "mine\n"
    assert "kites" not in whole(target)
    assert again.removed == 1

    (target / "note.md").unlink()
    exported(root, target, "obsidian")
    assert (target / "note.md").read_text("utf-8") == "# Note\n\nnew words\n"


def test_a_persons_file_with_the_name_of_a_page_stays(tmp_path: Path) -> None:
    root, target = tmp_path / "memory", tmp_path / "vault"
    with Memory.open(root, config=LEXICAL) as memory:
        say(memory, "a", ("user", "The first talk."))
    exported(root, target, "markdown")
    (target / "new.md").write_text("mine\n", "utf-8")
    (root / "new.md").write_text("# New\n", "utf-8")
    for _ in range(2):
        again = exported(root, target, "markdown")
        assert [one.path for one in again.problems] == ["new.md"]
        assert (target / "new.md").read_text("utf-8") == "mine\n"


@pytest.mark.parametrize(
    ("prepare", "words"),
    [
        (lambda target: target.write_text("x"), "is no folder"),
        (lambda target: (target.mkdir(), (target / "x.txt").write_text("x")), "is not empty"),
        (lambda target: (target.mkdir(), (target / MANIFEST).write_text("{")), "is damaged"),
        (
            lambda target: (
                target.mkdir(),
                (target / MANIFEST).write_text('{"format":"html","files":{"../x":[]}}'),
            ),
            "is damaged",
        ),
        (
            lambda target: (target.mkdir(), (target / MANIFEST).write_text('{"format":"html","files":{}}')),
            "holds an export as html",
        ),
    ],
)
def test_other_folders_are_refused(lived: Path, tmp_path: Path, prepare: Any, words: str) -> None:
    prepare(tmp_path / "out")
    before = files(tmp_path)
    with pytest.raises(UsageError, match=words):
        exported(lived, tmp_path / "out", "obsidian")
    assert files(tmp_path) == before


def test_a_folder_in_the_memory_is_refused(lived: Path) -> None:
    with pytest.raises(UsageError, match="would become part of the memory"):
        exported(lived, lived / "out", "obsidian")
    assert not (lived / "out").exists()


@pytest.mark.parametrize("at", [0, 1, 5, 12])
def test_an_interrupted_export_leaves_the_folder_as_it_was(lived: Path, tmp_path: Path, at: int) -> None:
    count = iter(range(1_000))

    def stop(what: str, done: int, total: int) -> None:
        if next(count) == at:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        exported(lived, tmp_path / "out", "obsidian", progress=stop)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "out").mkdir()
    count = iter(range(1_000))
    with pytest.raises(KeyboardInterrupt):
        exported(lived, tmp_path / "out", "obsidian", progress=stop)
    assert [path.name for path in tmp_path.rglob("*")] == ["out"]


def test_an_update_that_ended_while_files_moved_is_continued(
    lived: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mnemark.files import platform

    target = tmp_path / "out"
    target.mkdir()
    replace, left = platform.FS.replace, iter([True] * 5)

    def dying(source: Path, to: Path) -> None:
        if not next(left, False):
            raise KeyboardInterrupt
        replace(source, to)

    with monkeypatch.context() as patched:
        patched.setattr(platform.FS, "replace", dying)
        with pytest.raises(KeyboardInterrupt):
            exported(lived, target, "markdown")
    assert 1 < len(files(target)) < 10
    assert exported(lived, target, "markdown").problems == ()
    exported(lived, tmp_path / "whole", "markdown")
    assert files(target) == files(tmp_path / "whole")


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root reads everything")
def test_what_cannot_be_read_is_told(lived: Path, tmp_path: Path) -> None:
    note = lived / "notes/garden.md"
    note.chmod(0)
    try:
        done = exported(lived, tmp_path / "out", "markdown")
    finally:
        note.chmod(0o600)
    assert not done.complete


def test_a_note_too_large_is_told(tmp_path: Path) -> None:
    root = tmp_path / "memory"
    with Memory.open(root, config=LEXICAL) as memory:
        say(memory, "a", ("user", "The first talk."))
    (root / "huge.md").write_bytes(b"x" * (16 * 1024 * 1024 + 1))
    done = exported(root, tmp_path / "out", "obsidian")
    assert [(one.path, one.skipped) for one in done.problems] == [("huge.md", True)]
    assert not done.complete
    assert (tmp_path / "out/Contents.md").exists()


def test_nothing_is_exported_where_nobody_knows_what_was_forgotten(
    lived: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mnemark.files.tombstones import TombstoneLog

    monkeypatch.setattr(TombstoneLog, "problems", property(lambda _: ("journal/x.jsonl: cannot be read",)))
    with pytest.raises(IntegrityError, match="nothing is exported"):
        exported(lived, tmp_path / "out", "html")
    assert list(tmp_path.iterdir()) == []


def test_long_talks_take_several_pages(tmp_path: Path) -> None:
    root = tmp_path / "memory"
    with Memory.open(root, config=LEXICAL) as memory:
        say(memory, "long", *[("user" if at % 2 else "assistant", f"Message {at}.") for at in range(450)])
    exported(root, tmp_path / "out", "html")
    assert broken_html_links(tmp_path / "out") == []
    talks = [text for name, text in pages(tmp_path / "out", ".html").items() if "talks/" in name]
    assert sorted(text.count("<article") for text in talks) == [50, 200, 200]


@pytest.mark.parametrize("form", FOLDER_FORMATS)
def test_an_empty_memory_has_a_page_of_contents(tmp_path: Path, form: Any) -> None:
    with Memory.open(tmp_path / "memory", config=LEXICAL):
        pass
    done = exported(tmp_path / "memory", tmp_path / "out", form)
    assert (done.talks, done.complete) == (0, True)
    assert BROKEN[form](tmp_path / "out") == []


# Text of anybody

HOSTILE = (
    "</article><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[a](javascript:alert(1))",
    "![t](https://evil.example/t.png)",
    "[x]: https://evil.example\n\n[x]",
    "```\nopen fence <b>",
    "<!-- open",
    "> quote\n# heading ^t2\n%% comment",
    "[[Contents]] ![[Contents]] [[#^t2]]",
    "#tag and <https://example.org>",
    "- a\n  ```\n<img src=x>\n```",
    "`a\n` <img src=x> ` b",
    "| ` | <img src=x> ` |\n|---|---|",
    "[up](../../../etc/passwd)",
    "<details><summary>x",
    "text\n      ```\n      <img src=x>",
    "\\`<img src=x>`",
    "[a<img src=x>](https://example.org)",
    "R&amp;D &lt;b&gt; 100% ~a~ 'q' {x}",
    "\u2028```\n<img src=x>",
    "$$\nopen",
    "[![a](b)](c)",
    "]]|[[",
    "[n](sessions/nowhere.jsonl#L3) sessions/no.jsonl#L1",
    "\r# a\r\n<img src=x>",
    "\ud800 lone",
    "~~~ <img src=x>\n~~~",
    "[^1]: note\n\n[^1]",
    "<javascript:alert(1)>",
)


@pytest.mark.parametrize("form", FOLDER_FORMATS)
def test_messages_break_out_of_nothing(tmp_path: Path, form: Any) -> None:
    root = tmp_path / "memory"
    with Memory.open(root, config=LEXICAL) as memory:
        say(
            memory,
            "<script>x</script>",
            *[("user", text.encode("utf-8", "replace").decode()) for text in HOSTILE],
        )
        for number, text in enumerate(HOSTILE):
            say(memory, f"s{number}", ("user", text), (f"<b>{number}", "x"))
        memory.remember(
            "motto <img src=x>", "[[x]] **bold** ~~y~~ ![t](https://evil.example/t.png) <img src=x>"
        )
    exported(root, tmp_path / "out", form)
    assert BROKEN[form](tmp_path / "out") == []
    if form != "html":
        assert unsafe(tmp_path / "out") == []
        talks = [text for name, text in pages(tmp_path / "out", ".md").items() if "talks/" in name]
        anchors = [
            [line for line in text.splitlines() if line.startswith(("^t", '<a id="t'))] for text in talks
        ]
        assert max(map(len, anchors)) == len(HOSTILE)


def unsafe(folder: Path) -> list[tuple[str, str]]:
    """HTML in pages of Markdown, other than our anchors and folded parts, as CommonMark reads it."""
    from markdown_it import MarkdownIt

    ours = ("<a id=", "</a>", "<details>", "</details>", "<summary>", "<code>", "</code>")
    return [
        (name, token.content)
        for name, text in pages(folder, ".md").items()
        for parser in (MarkdownIt("commonmark"), MarkdownIt("commonmark").enable("table"))
        for block in parser.parse(text.partition("\n---\n")[2] or text)
        for token in (block, *(block.children or ()))
        if token.type in {"html_block", "html_inline"} and not token.content.startswith(ours)
    ]


@settings(max_examples=examples(150), deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [*HOSTILE, "`", "``", "```", "\n", " ", "<b>", "> ", "- ", "    ", "](", "[[", "|", "\\"]
        ),
        max_size=9,
    )
)
def test_any_message_is_safe_in_html_and_markdown(parts: list[str]) -> None:
    from markdown_it import MarkdownIt

    from mnemark.memory.transfer.export.links import quoted

    text = "".join(parts).encode("utf-8", "replace").decode()
    page = parsed(rendered(text))
    assert not page.tags & {"script", "img", "iframe", "b"}
    assert all(link.startswith(("https://", "mailto:")) for link in page.links)
    inside = quoted(text.replace("\r\n", "\n").replace("\r", "\n"), lambda _: "", obsidian=True)
    for parser in (MarkdownIt("commonmark"), MarkdownIt("commonmark").enable("table")):
        for block in parser.parse("\n".join(f"> {line}" for line in inside.split("\n"))):
            for token in (block, *(block.children or ())):
                assert token.type != "html_block", inside
                assert token.type != "html_inline" or token.content in {"<code>", "</code>"}, inside


@given(st.lists(st.text(min_size=1, max_size=40), max_size=8))
def test_names_of_any_titles_are_legal_and_differ(titles: list[str]) -> None:
    names = FileNames(" ", linked=True)
    made = [names.made("talks", title, ".md") for title in titles]
    assert len({name.casefold() for name in made}) == len(made)
    for name in made:
        assert name.count("/") == 1
        assert not set(name) & set('<>:"|?*\\[]#^')
        assert len(name.encode()) <= 120
