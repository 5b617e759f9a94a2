"""Talks, the diary, the timeline and search as people read them, and where belief ends."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

pytest.importorskip("jinja2")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from interfaces.browsers import Browser
from interfaces.daemons import Running, running
from mnemark import Memory

PATHS = re.compile(r"sessions/[\w-]+\.jsonl(?![^<>]*>)|#L\d(?![^<>]*>)|<!--")


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("state")) as found:
        yield found


def talk(memory: Memory, name: str, at: datetime, *said: str, end: bool = True) -> str:
    log = memory.session(name)
    roles = ("user", "assistant")
    log.add_many([
        log.turn(roles[n % 2], text, time=at + timedelta(minutes=n)) for n, text in enumerate(said)
    ])  # fmt: skip
    if end:
        log.end(wait=True)
    return log.path


def at_noon(memory: Memory, days: int = 0) -> datetime:
    """Today at noon, or before it where noon is still to come."""
    now = memory.workspace.now().replace(microsecond=0)
    return min(now.replace(hour=12, minute=0), now - timedelta(minutes=30)) - timedelta(days=days)


@pytest.fixture
def lived(tmp_path: Path) -> Path:
    """A memory of some talks."""
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        talk(memory, "chat:tiles", at_noon(memory, 9), "Which tiles suit a damp bathroom?", "Glazed ones.")
        talk(
            memory, "claude-code:move", at_noon(memory, 2), "I live in Porto now, near the river.", "Noted.",
            "My dentist is Dr Almeida.", "I will remember that.",
        )  # fmt: skip
        day = (memory.workspace.now() + timedelta(days=4)).date()
        talk(
            memory,
            "chat:today",
            at_noon(memory),
            f"I have an appointment with the surveyor on {day}.",
            "Good.",
        )
        memory.sync()
    return tmp_path


def text_of(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def test_talks_stand_under_their_days_with_a_title_and_how_much_was_said(here: Running, lived: Path) -> None:
    page = Browser(here, lived).page("sessions").text
    shown = text_of(page)
    assert shown.index("Today") < shown.index("surveyor") < shown.index("Porto") < shown.index("tiles")
    assert "4 messages" in shown
    assert "Claude Code" in shown
    assert not PATHS.search(text_of(page))
    found = text_of(Browser(here, lived).page("sessions", text="bathroom").text)
    assert "tiles" in found
    assert "Porto" not in found


def test_talks_up_to_a_day(here: Running, lived: Path) -> None:
    day = (datetime.now() - timedelta(days=5)).date().isoformat()  # noqa: DTZ005 - as the page has it
    shown = text_of(Browser(here, lived).page("sessions", until=day).text)
    assert "tiles" in shown
    assert "Porto" not in shown
    shown = text_of(Browser(here, lived).page("timeline", until=day).text)
    assert "tiles" in shown
    assert "Porto" not in shown


def test_a_talk_is_read_in_order_with_what_was_learned_from_it(here: Running, lived: Path) -> None:
    browser = Browser(here, lived)
    with Memory.open(lived, readonly=True) as memory:
        path = next(row.path for row in memory.browse.talks().rows if "claude" in row.path)
    page = browser.page("session", path=path).text
    shown = text_of(page)
    assert "Learned from it" in shown
    assert "Your dentist is Dr Almeida." in shown
    body = page[page.index('<ol class="read">') :]
    assert body.index("Porto") < body.index("Noted.") < body.index("Almeida") < body.index("remember that")
    assert "<strong>You</strong>" in body
    assert browser.page("session", path=path, revert=1).forms("revert")


def test_tool_calls_of_a_talk_are_one_line(here: Running, tmp_path: Path) -> None:
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        log = memory.session("chat:1")
        log.add("user", "Is the tree clean?")
        call = {"id": "1", "name": "Bash", "arguments": {"command": "git status"}}
        result = {"tool_call_id": "1", "content": "nothing to commit"}
        log.add("assistant", "Yes.", tool_calls=[call], tool_results=[result])
        path = log.path
    page = Browser(here, tmp_path).page("session", path=path).text
    summary = re.search(r'<details class="calls"><summary>([^<]*)</summary>(.*?)</details>', page, re.DOTALL)
    assert summary is not None
    assert "git status" in summary[1]
    assert "nothing to commit" in summary[2]


def test_the_timeline_tells_talks_and_changes_in_sentences(here: Running, lived: Path) -> None:
    page = Browser(here, lived).page("timeline").text
    shown = text_of(page)
    assert "Learned: you live in Porto." in shown
    assert "Wrote the page of" not in shown, "the talk itself stands there"
    begins = re.search(r'<ol class="begins">(.*?)</ol>', page, re.DOTALL)
    assert begins is not None
    assert "surveyor" in begins[1]
    assert not PATHS.search(shown)
    only = text_of(Browser(here, lived).page("timeline", part="talk").text)
    assert "Learned:" not in only
    assert "Porto" in only


def test_a_search_is_grouped_and_marked_and_answers_first(here: Running, lived: Path) -> None:
    page = Browser(here, lived).page("search", q="who is my dentist").text
    answer = page[page.index('class="answer"') : page.index('class="group"')]
    assert "<mark>dentist</mark> is Dr Almeida." in answer
    group = page[page.index('class="group"') :]
    assert "My <mark>dentist</mark> is Dr Almeida." in group
    assert not PATHS.search(text_of(page))


def test_a_search_marks_chinese(here: Running, tmp_path: Path) -> None:
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        talk(memory, "chat:1", at_noon(memory), "我的牙医是苏萨医生，下周三有预约。", "好的。")
    page = Browser(here, tmp_path, "zh").page("search", q="牙医").text
    assert "<mark>牙医</mark>" in page


def test_what_is_marked_is_still_escaped(here: Running, tmp_path: Path) -> None:
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        talk(
            memory, "chat:1", at_noon(memory), "The zebra <b>&amp;</b> <script>zebra()</script> zebra", "Yes."
        )
    page = Browser(here, tmp_path).page("search", q="zebra").text
    assert "<mark>zebra</mark>" in page
    assert "&lt;<mark>" not in page.replace("&lt;script&gt;<mark>", "")
    assert "<script>" not in page.split("<main", 1)[1]


def test_a_search_for_what_is_not_there_says_so(here: Running, lived: Path) -> None:
    page = Browser(here, lived).page("search", q="zzzzqqq").text
    shown = text_of(page)
    assert "Nothing is known of this." in shown
    assert "200" not in shown
    before = page.split('<details class="less"', 1)[0]
    assert 'class="group"' not in before


def test_today_tells_talks_and_what_is_coming(here: Running, lived: Path) -> None:
    shown = text_of(Browser(here, lived).page().text)
    assert "surveyor" in shown
    assert "Coming up" in shown
    assert "Nothing is remembered yet." not in shown
    assert not PATHS.search(shown)


def test_an_empty_memory_says_what_to_do_first(here: Running, tmp_path: Path) -> None:
    assert "Nothing is remembered yet." in Browser(here, tmp_path).page().text
    (tmp_path / "note.md").write_text("A zebra.\n", "utf-8")
    browser = Browser(here, tmp_path)
    browser.page("search", q="zebra")
    assert "Nothing is remembered yet." not in browser.page().text


def test_last_night_is_told_once_and_taken_back(here: Running, lived: Path) -> None:
    with Memory.open(lived) as memory:
        memory.consolidate()
        written = (lived / "USER.md").exists() or (lived / "MEMORY.md").exists()
    assert written
    browser = Browser(here, lived)
    page = browser.page()
    assert "Last night" in page.text
    night = page.text[page.text.index('id="night"') :].split("</section>", 1)[0]
    assert "Tidied" in night
    (fields, *_) = page.forms("undo")
    assert "Undone" in browser.follow(browser.send("undo", fields)).text
    assert "Last night" not in browser.page().text


def test_changes_of_a_talk_are_undone_together(here: Running, lived: Path) -> None:
    browser = Browser(here, lived)
    page = browser.page("changes")
    made = next(one for one in page.text.split('<section class="made">')[1:] if "dentist" in one)
    (ids, *_) = re.findall(r'name="id" value="([^"]+)"', made)
    assert len(ids.split()) > 1
    key = page.forms("undo")[0]["form_key"]
    told = browser.follow(browser.send("undo", {"form_key": key, "id": ids}))
    assert "Undone" in told.text
    assert "Almeida" not in browser.page("facts").text


def test_what_was_used_is_shown(here: Running, lived: Path) -> None:
    with Memory.open(lived) as memory:
        log = memory.session("chat:later")
        log.add("user", "Who is my dentist?")
        assert log.recall("Who is my dentist?", deadline=5.0).used
        path = log.path
    browser = Browser(here, lived)
    assert re.search(r"memor(y|ies) used", text_of(browser.page("session", path=path).text))
    assert "tokens given" in text_of(browser.page().text)
    assert "tokens saved" in text_of(browser.page("health").text)
