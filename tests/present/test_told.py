"""Sources, talks and changes are told in words: no path, no line, no mark of the files."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from mnemark.facts.model import Fact
from mnemark.files.new_workspace import init
from mnemark.memory.consolidation.report import amounts
from mnemark.memory.journal.changes import KINDS
from mnemark.memory.learning.learned import LearnedFact, Status
from mnemark.memory.memory import Memory
from mnemark.memory.review.review import ReviewItem
from mnemark.present import changes, explained, facts, proposals, receipts, sources, talks
from mnemark.present.words import Words

EN, ZH = Words("en"), Words("zh")
LOG = "sessions/"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    init(tmp_path / "memory")
    with Memory.open(tmp_path / "memory") as memory:
        session = memory.session("cli:lisbon")
        session.add("user", "I moved to Lisbon in March. Where do I register?")
        session.add("assistant", "At the parish council, with your lease.")
        session.add("user", "Thanks. My landlord is called Rui.")
        yield memory


def path_of(memory: Memory) -> str:
    return memory.browse.sessions().rows[0].path


def told(memory: Memory, words: Words = EN) -> list[str]:
    rows = memory.browse.changes(limit=50).rows
    return [changes.sentence(row, words, memory.workspace) for row in rows]


def test_a_talk_is_known_by_its_first_sentence_and_then_by_its_page(memory: Memory) -> None:
    path = path_of(memory)
    before = talks.talk(memory.workspace, path, EN)
    assert before.title == "I moved to Lisbon in March"
    assert (before.turns, before.agent, before.page) == (3, "cli", "")
    assert before.began is not None
    memory.session("cli:lisbon").end()
    after = talks.talk(memory.workspace, path, EN)
    assert after.page.startswith("memory/episodes/")
    page = memory.root / after.page
    page.write_text(page.read_text("utf-8").replace(f"# {after.title}", "# Registering in Lisbon"), "utf-8")
    assert talks.talk(memory.workspace, path, EN).title == "Registering in Lisbon"


def test_lines_say_what_the_title_does_not(memory: Memory) -> None:
    found = talks.talk(memory.workspace, path_of(memory), EN)
    assert found.lines == ("Where do I register?", "Thanks. My landlord is called Rui.")


def test_a_talk_is_not_called_as_what_its_tool_did(memory: Memory) -> None:
    log = memory.session("cli:tools")
    log.add("user", "move the last two pages")
    log.add("assistant", "", tool_calls=[{"name": "Edit", "arguments": {"file_path": "src/settings.py"}}])
    log.add("tool", "Applied 1 edit")
    log.end()
    before = talks.talk(memory.workspace, path_of(memory), EN)
    page = memory.root / before.page
    page.write_text(page.read_text("utf-8").replace(f"# {before.title}", "# Edit: src/settings.py"), "utf-8")
    assert talks.talk(memory.workspace, path_of(memory), EN).title == "Move the last two pages"


def test_a_night_without_work_is_no_change(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "quiet") as memory:
        memory.consolidate()
        (night,) = memory.browse.changes(kinds=["consolidate"]).rows
        assert not night.done
        assert not memory.browse.changes().rows
        assert not memory.browse.diary().rows


def test_a_forgotten_turn_is_in_no_talk(memory: Memory) -> None:
    path = path_of(memory)
    assert talks.talk(memory.workspace, path, EN).turns == 3
    memory.forget(f"{path}#L2")
    after = talks.talk(memory.workspace, path, EN)
    assert after.turns == 2
    assert "Lisbon" not in " ".join((after.title, *after.lines))


def test_fifty_talks_are_read_again_in_no_time(memory: Memory) -> None:
    for number in range(50):
        memory.session(f"cli:{number}").add("user", f"Question {number} about boats")
    paths = [row.path for row in memory.browse.sessions(limit=50).rows]
    assert len({talks.talk(memory.workspace, path, EN).title for path in paths}) == 50
    start = time.perf_counter()
    for path in paths:
        talks.talk(memory.workspace, path, EN)
    assert time.perf_counter() - start < 0.2


def test_a_source_is_told_in_words(memory: Memory) -> None:
    path = path_of(memory)
    memory.session("cli:lisbon").end()
    ws = memory.workspace
    where = sources.place(ws, f"{path}#L2", EN)
    assert where.startswith("your talk “")
    assert sources.place(ws, f"{path}#L2", ZH).endswith("”")
    expected = {
        "USER.md": "your file USER.md", "notes/plan b.md#L3": "the note “plan b”",
        "memory/2019-02-18.md#L1-L4": "your note of 18 February 2019",
        "memory/facts/user.md#L2": "the list of facts about you",
        "@team/notes/x.md": "the memory “team”", "https://example.org/a/b": "the page example.org",
        "sessions/gone.jsonl#L2": "a talk that is gone", "journal/pc.jsonl#L3": "the record of changes",
    }  # fmt: skip
    assert {ref: sources.place(ws, ref, Words("en")) for ref in expected} == expected


@pytest.mark.parametrize(
    ("path", "english", "chinese"),
    [
        ("memory/facts/user.md", "the list of facts about you", "关于你的事实列表"),
        ("memory/archive/facts/user.md", "the list of facts about you", "关于你的事实列表"),
        ("memory/archive/facts/bea.md", "the list of facts “bea”", "事实列表“bea”"),
        ("memory/review/facts.md", "the list of what waits for you", "等你决定的列表"),
        ("memory/episodes/2026-03-01-the-dinghy.md", "the page of a talk", "一段对话的记录页"),
    ],
)
def test_a_file_is_told_by_what_it_is(memory: Memory, path: str, english: str, chinese: str) -> None:
    assert sources.place(memory.workspace, path, EN) == english
    assert sources.place(memory.workspace, path, ZH) == chinese


def test_a_title_that_is_forgotten_is_not_read_in_the_name_of_its_file(memory: Memory) -> None:
    page = memory.root / "memory/episodes/2026-03-01-the-dinghy.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    talk = talks.talk(memory.workspace, path_of(memory), EN)
    page.write_text(f"---\nsession: {talk.session}\n---\n\nThe heading is hidden.\n", "utf-8")
    assert talks.page_title(memory.workspace, "memory/episodes/2026-03-01-the-dinghy.md") == ""
    assert "dinghy" not in talks.talk(memory.workspace, path_of(memory), EN).title


def test_a_receipt_names_no_path_and_no_words_that_were_erased(memory: Memory) -> None:
    memory.remember("landlord", "Rui")
    ws = memory.workspace
    would = memory.forget(query="landlord", erase=True, dry_run=True)
    said = [one.words for one in receipts.forgotten(ws, would, EN).items]
    assert "Your landlord is Rui." in said
    names = receipts.places(ws, would.places, EN)
    assert any(name.startswith("your talk “") for name in names)
    assert [name for name in names if "/" in name or (".md" in name and "USER" not in name)] == []
    assert len(set(names)) == len(names)
    done = memory.forget(query="landlord", erase=True)
    assert {one.words for one in receipts.forgotten(ws, done, EN).items} == {""}
    assert "Rui" not in " ".join(receipts.places(ws, done.places, EN))


def test_copies_that_remain_are_told_in_the_language_with_their_place(memory: Memory) -> None:
    ws = memory.workspace
    left = "notes/dinghy.md: its name; rename it by hand, then run `mnemark sync`"
    assert receipts.copy(ws, left, EN).text == left.replace("notes/dinghy.md", "the note “dinghy”")
    assert receipts.copy(ws, left, ZH) == ("笔记“dinghy”：名字里有；请手动改名，再运行 `mnemark sync`", "")
    assert receipts.copy(ws, "git remotes (origin): what was pushed is still there", ZH).lang == ""


def test_who_said_a_fact_is_told(memory: Memory) -> None:
    ws = memory.workspace
    plain = memory.remember("city", "Lisbon")
    assert sources.source(ws, plain, EN) == "you told it directly"
    heard = memory.remember("landlord", "Rui", source=f"{path_of(memory)}#L4")
    assert sources.source(ws, heard, EN).startswith(
        "you said so in your talk “I moved to Lisbon in March” of "
    )


def test_changes_are_sentences(memory: Memory) -> None:
    first = memory.remember("city", "Lisbon")
    memory.remember("editor", "Helix")
    memory.session("cli:lisbon").end()
    memory.pin(first.id)
    memory.undo(first.id)
    found = told(memory)
    assert "Learned: your editor is Helix." in found
    assert "Kept for good: you live in Lisbon." in found
    assert any(text.startswith("Wrote the page of your talk “") for text in found)
    for text in (*found, *told(memory, ZH)):
        assert not any(mark in text for mark in ("#L", "<!--", ".jsonl", "memory/", "consolidate:"))
    assert "学到了：你的编辑器是 Helix。" in told(memory, ZH)


def test_nothing_of_a_forgotten_fact_is_told(memory: Memory) -> None:
    secret = memory.remember("city", "Lisbon")
    memory.forget(secret.id)
    assert "Lisbon" not in " ".join(told(memory))


def test_a_consolidation_tells_how_much_it_did(memory: Memory) -> None:
    for day in ("2026-01-02", "2026-01-03"):
        (memory.root / f"memory/{day}.md").write_text(f"# {day}\n\n- 09:00 painted the boat\n", "utf-8")
    memory.consolidate(force=True)
    (run,) = [text for text in told(memory) if text.startswith("Tidied")]
    assert "2 days put into their month" in run
    (run,) = [text for text in told(memory, ZH) if "整理过" in text]
    assert "2 天" in run


def test_what_is_taken_back_is_told_by_what_it_was_about(memory: Memory) -> None:
    ws = memory.workspace
    fact = memory.remember("city", "Lisbon")

    def undone(words: Words = EN) -> str:
        (done,) = memory.undo()
        return receipts.undone(ws, done, words)

    memory.forget(fact.id)
    assert undone() == "Found by searches again: you live in Lisbon."
    memory.pin(fact.id)
    assert undone() == "No longer kept for good: you live in Lisbon."
    memory.correct(fact.id, "Porto")
    assert undone() == "The correction is taken back: you live in Lisbon."
    proposed = memory.remember("city", "Oslo", origin="web")
    memory.reject(proposed.id)
    assert undone() == "Waits for review again: you live in Oslo."
    memory.forget(session="cli:lisbon")
    assert undone(ZH) == "又能搜到：消息和笔记"
    (done,) = memory.undo(fact.id)
    assert receipts.undone(ws, done, ZH) == "不再知道：你住在 Lisbon。"
    (told,) = receipts.told(ws, [done])
    assert (told.text, [one.value for one in told.facts]) == (
        "No longer known: you live in Lisbon.",
        ["Lisbon"],
    )


def test_a_secret_of_a_fact_is_in_no_receipt(memory: Memory) -> None:
    (memory.root / "mnemark.toml").write_text('redact = ["walrus[0-9]+"]\n', "utf-8")
    fact = memory.remember("door code", "walrus77")
    with Memory.open(memory.root) as strict:
        receipt = receipts.forgotten(strict.workspace, strict.forget(fact.id, dry_run=True))
        assert "walrus77" not in receipt.text
        (done,) = receipts.told(strict.workspace, strict.undo(fact.id))
        assert "walrus77" not in f"{done.text} {done.facts}"


@pytest.mark.parametrize("words", [EN, ZH])
def test_what_waits_says_its_kind_once(memory: Memory, words: Words) -> None:
    dentist = memory.remember("dentist", "Dr Sousa")
    memory.correct(dentist.id, never=True, origin="agent")
    memory.remember("dentist", "Dr Wolf", origin="web")
    found = {one.fact.review: one for one in memory.review()}
    never = proposals.sentence(found["never"], words)
    assert never.startswith(words("This was never true: {fact}", fact=""))
    assert "Dr Sousa" in never
    assert proposals.kind(found["never"], words) == words("Conflict")
    other = proposals.sentence(next(one for one in found.values() if one.fact.value == "Dr Wolf"), words)
    assert other.endswith(words(" So far: {value}.", value="Dr Sousa"))


def test_programs_are_told_in_the_language_of_the_fact(memory: Memory) -> None:
    ws = memory.workspace
    memory.remember("city", "Lisbon")
    memory.remember("宽带", "69元")
    memory.remember("editor", "Helix", origin="web")
    rows = {row.text for row in changes.told_page(memory.browse.changes(), ws).rows}
    assert {"Learned: you live in Lisbon.", "学到了：你的宽带：69元。"} <= rows
    assert [proposals.told(one).text for one in memory.review()] == ["Your editor is Helix."]
    chinese = next(one for one in memory.facts() if one.value == "69元")
    assert explained.told(ws, memory.why(chinese.id)).text == "你的宽带：69元。"


def test_every_kind_of_change_has_words() -> None:
    assert set(KINDS) - changes._KINDS.keys() - changes._SPECIAL.keys() - changes._ALONE.keys() == {
        "consolidate"
    }


def test_headings_are_in_both_languages() -> None:
    assert all(ZH(name) != name for name in facts.TOPICS)


def test_what_is_taken_back_is_told_as_it_stood_and_in_sentences(memory: Memory) -> None:
    session = memory.session("cli:web")
    page = session.add("tool", "Harbour Lane 4: tenure freehold.", origin="web")
    others = memory.session("cli:other")
    other = others.add("tool", "Harbour Lane 9: tenure leasehold.", origin="web")
    for log, turn, place, value in (
        (session, page, "Harbour Lane 4", "freehold"), (others, other, "Harbour Lane 9", "leasehold")
    ):  # fmt: skip
        source = f"{log.path}#L2"
        memory.remember("tenure", value, subject=place, origin="web", source=source)
        assert turn.id
    found = memory.revert(session="cli:web")
    said = [one.words for one in (*found.hidden, *found.facts) if one.kind == "fact"]
    assert len(said) == 1
    assert "freehold" in said[0]
    shown = receipts.reverted_text(receipts.reverted(memory.workspace, found, ZH), ZH)
    assert "Harbour Lane 4" in shown
    assert "leasehold" not in shown
    assert "**" not in shown
    assert "已隐藏" in shown or "已撤销" in shown


def test_a_whole_talk_is_explained_by_its_name(memory: Memory) -> None:
    found = explained.told(memory.workspace, memory.why(path_of(memory)), EN)
    assert found.text.startswith("Your talk “I moved to Lisbon in March” of ")


def test_what_is_asked_to_be_over_is_what_holds() -> None:
    quote = "but I want to leave SQLite, it got slow"
    fact = Fact(
        id="1", subject="project", predicate="database", value=quote, until="2026-11-23", quote=quote,
        review="otherwise",
    )  # fmt: skip
    assert (facts.sentence(fact, EN), facts.sentence(fact, ZH)) == (
        f"You said: “{quote}”.", f"你说过：“{quote}”。"
    )  # fmt: skip
    one = ReviewItem(id="1", what="otherwise", fact=fact, against="SQLite")
    assert proposals.sentence(one, EN) == (
        f"Is this over? The project’s database is SQLite. You said: “{quote}”"
    )
    assert proposals.sentence(one, ZH) == f"这是否已经结束？项目的数据库是 SQLite。你说过：“{quote}”"


def test_what_waits_for_review_is_not_counted_as_learned() -> None:
    found = [
        LearnedFact(
            status=status, subject="user", predicate="city", value=status, type="fact", since="",
            ref="a.md#L1", quote="",
        )
        for status in get_args(Status)
    ]  # fmt: skip
    assert changes.tidied(amounts((), found), EN) == "Tidied up: 1 fact learned."
    assert amounts((), found[1:]) == {}
