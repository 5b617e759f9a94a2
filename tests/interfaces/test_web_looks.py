"""What pages show first, and how: in words, in one line, and with a way on where there is nothing."""

import re
import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("jinja2")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from interfaces.browsers import Browser
from interfaces.daemons import Running, running
from mnemark import Memory
from mnemark.memory.journal.changes import KINDS
from mnemark.present.plain import changed_lines, for_people, plain
from mnemark_faces.web.plain import page
from mnemark_faces.web.render import coded, marked

MARKDOWN = st.text(alphabet="ab#*-+[]()<>!x \n`☐01.", max_size=200)


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("state")) as found:
        yield found


def test_markdown_is_shown_without_its_marks() -> None:
    assert plain("- **Decided**: times in [UTC](notes/utc.md) <!-- id: 01A -->") == "Decided: times in UTC"
    assert plain("see [this](https://example.org/a)") == "see this (https://example.org/a)", "where it leads"
    assert for_people("[All facts](memory/facts)") == "All facts"
    assert plain("- [ ] the keys") == "☐ the keys"
    assert plain("* [x] the van") == "☑ the van"
    assert str(page("## People\n- Bea <b>\n  - sister\nplain")) == (
        "<b>People</b>\n• Bea &lt;b&gt;\n  • sister\nplain"
    )
    assert (
        for_people("---\nsession: a\n---\n\n# Talk\n<!-- mnemark:begin x | 12 -->\nsaid\n")
        == "# Talk\n\nsaid"
    )


@given(MARKDOWN)
def test_no_markdown_becomes_an_element(text: str) -> None:
    assert re.sub(r"</?b>", "", str(page(text))).count("<") == 0
    assert len(plain(text)) <= len(text)
    assert len(for_people(text)) <= len(text)


def test_a_change_is_told_by_its_lines() -> None:
    diff = """--- MEMORY.md
+++ MEMORY.md
@@ -1,3 +1,3 @@
-<!-- mnemark:begin core | 1 -->
+<!-- mnemark:begin core | 2 -->
 ## Rules
+- write times in the 24 hour form
-- short answers
+---
+session: chat:1
+---
-moved
+moved"""
    told = [(one.text, one.added) for one in changed_lines(diff, 10)]
    assert told == [("write times in the 24 hour form", True), ("short answers", False)]


def test_beside_a_word_a_character_alone_is_no_mark() -> None:
    assert str(marked("今天复诊", {"天", "复诊"})) == "今天<mark>复诊</mark>"
    assert str(marked("我的猫", {"猫"})) == "我的<mark>猫</mark>"


@given(st.text(alphabet="a<>`& ", max_size=60))
def test_a_message_has_its_commands_as_code(text: str) -> None:
    made = str(coded(text))
    assert re.sub(r"</?code>", "", made).count("<") == 0
    assert made.count("<code>") == made.count("</code>")
    if text.count("`") % 2 == 0:
        assert "`" not in made


def test_a_memory_made_elsewhere_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEMARK_CONFIG", str(tmp_path / "config.toml"))  # which trusts no folder
    root, copy = tmp_path / "own", tmp_path / "copied"
    root.mkdir()
    with running(tmp_path / "state") as here:
        browser = Browser(here, root)
        (form, *_) = browser.page("facts").forms("remember")
        browser.send("remember", {**form, "sentence": "I live in Porto"})
        assert "mnemark trust" not in browser.page().text
        shutil.copytree(root, copy)
        copied = Browser(here, copy)
        assert f"mnemark trust {copy}" in copied.page().text
        assert "mnemark trust" in copied.page("learned").text


def test_what_went_wrong_has_a_title_and_ways_on(here: Running, tmp_path: Path) -> None:
    browser = Browser(here, tmp_path)
    missing = browser.page("nopage")
    assert missing.status == 404
    assert "<h1>Not found</h1>" in missing.text
    assert "There is no such page." in missing.text
    assert f'href="{browser.base}/search"' in missing.text
    gone = browser.page("item", ref="gone.md")
    assert "mnemark search" not in gone.text, "a page gives no advice on the command line"


def test_words_too_short_to_forget_can_be_mended(here: Running, tmp_path: Path) -> None:
    browser = Browser(here, tmp_path)
    (form, *_) = browser.page("forget").forms("forget")
    told = browser.send("forget", {**form, "q": "x", "do": "look"})
    assert told.status == 400
    assert 'value="x"' in told.text
    assert "two characters" in told.text


def test_nothing_found_to_forget_leaves_the_words(here: Running, tmp_path: Path) -> None:
    browser = Browser(here, tmp_path)
    (form, *_) = browser.page("forget").forms("forget")
    told = browser.send("forget", {**form, "q": "nowhere said", "do": "look"})
    assert "Nothing contains this." in told.text
    assert 'value="nowhere said"' in told.text


def test_a_day_of_many_changes_does_not_hide_the_talks_before(here: Running, tmp_path: Path) -> None:
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        at = memory.workspace.now() - timedelta(days=3)
        log = memory.session("chat:1")
        log.add_many([log.turn("user", "Where is the spare key?", time=at)])
        memory.remember_many(
            [{"predicate": f"claim {n}", "value": f"value {n}", "origin": "web"} for n in range(70)]
        )
    shown = Browser(here, tmp_path).page("timeline").text
    assert "Where is the spare key?" in shown
    assert "and 66 more" in shown


def test_a_search_says_a_message_once(here: Running, tmp_path: Path) -> None:
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        memory.session("chat:1").add("user", "Where is the spare key of the boathouse?")
    page = Browser(here, tmp_path).page("search", q="boathouse").text
    hits = page.split('<section class="group">', 1)[1].split("</section>", 1)[0]
    assert re.sub(r"<[^>]*>", "", hits).count("spare key") == 1
    assert "<time" in hits


def test_what_is_to_be_learned_waits_on_today(here: Running, tmp_path: Path) -> None:
    export = tmp_path / "messages.jsonl"
    export.write_text('{"role": "user", "content": "I am a baker", "session": "a"}\n', "utf-8")
    root = tmp_path / "memory"
    root.mkdir()
    with Memory.open(root, config={"embedder": "none"}) as memory:
        memory.import_("jsonl", export, columns={"text": "content", "role": "role", "session": "session"})
    assert "Learn from what was brought along" in Browser(here, root).page().text


def test_every_kind_of_change_can_be_listed(here: Running, tmp_path: Path) -> None:
    browser = Browser(here, tmp_path)
    for kind in KINDS:
        assert browser.page("changes", kind=kind).status == 200
