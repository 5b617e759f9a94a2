"""Exports of other programs: recognised without a name, read once, and told what cannot be read."""

import json
import random
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from faults.logical import LEXICAL
from memory import import_samples as samples
from mnemark import Memory
from mnemark.errors import MnemarkError
from mnemark.files.sessions import SessionLog
from mnemark.memory.transfer.importer import Summary
from mnemark.types import Turn
from mnemark_adapters.importers.formats import FORMATS, Format

ASKED, ANSWERED = "How does the lighthouse blink?", "Once a minute."
BEN, ANN = "I live in Oslo near the lighthouse.", "I live in Bergen."


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory.open(tmp_path / "w", config=LEXICAL)


def single(folder: Path, name: str) -> tuple[str, Path]:
    """Write a sample as a file; return its format and path."""
    format_, file, text = samples.SINGLE[name]
    folder.mkdir(exist_ok=True)
    (folder / file).write_bytes(text.encode())
    return format_, folder / file


def said(memory: Memory) -> list[Turn]:
    logs = sorted((memory.root / "sessions").glob("*.jsonl"))
    return [
        placed.turn for log in logs for placed in SessionLog.at(memory.root, f"sessions/{log.name}").turns()
    ]


def told(summary: Summary) -> dict[str, int]:
    return {one.what: one.count for one in summary.left}


def check(memory: Memory, path: Path, format_: str) -> None:
    """Import without a name: the format is recognised, a dry run says the same, and again adds nothing."""
    planned = memory.import_("", path, dry_run=True)
    done = memory.import_("", path)
    assert (done.format, done.problems) == (format_, ())
    counts = done.turns, done.notes, done.facts, done.proposals
    assert any(counts)
    assert counts == (planned.turns, planned.notes, planned.facts, planned.proposals)
    again = memory.import_("", path)
    assert not again.turns + again.notes + again.facts + again.proposals + again.corrected


@pytest.mark.parametrize("name", samples.SINGLE)
def test_a_file_is_recognised_and_read_once(memory: Memory, tmp_path: Path, name: str) -> None:
    format_, path = single(tmp_path, name)
    before = path.read_bytes()
    check(memory, path, format_)
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", samples.PACKED)
@pytest.mark.parametrize("packed", ["folder", "archive"])
def test_a_folder_and_an_archive_are_recognised(
    memory: Memory, tmp_path: Path, name: str, packed: str
) -> None:
    format_, files = samples.PACKED[name]
    pack: Callable[[Path, samples.Files], Path] = (
        samples.as_folder if packed == "folder" else samples.as_archive
    )
    check(memory, pack(tmp_path / "in.zip", files), format_)


@pytest.mark.parametrize("format_", samples.DATABASES)
def test_a_database_is_recognised_and_not_changed(memory: Memory, tmp_path: Path, format_: str) -> None:
    file, make = samples.DATABASES[format_]
    (tmp_path / "in").mkdir()
    path = make(tmp_path / "in" / file)
    before = path.read_bytes()
    check(memory, path, format_)
    assert not memory.import_("", path.parent).turns
    assert [one.name for one in path.parent.iterdir()] == [file]
    assert path.read_bytes() == before
    packed = samples.as_archive(tmp_path / "db.zip", {})
    with pytest.raises(MnemarkError):
        memory.import_("", packed)


def test_the_folder_of_basic_memory_is_recognised(memory: Memory, tmp_path: Path) -> None:
    check(memory, samples.as_folder(tmp_path / "basic", samples.BASIC_MEMORY), "basic-memory")
    assert memory.search("Oslo lighthouse").hits[0].path == "imported/basic/people/ben.md"


UNRELATED = {
    "data.json": '{"a": 1, "messages": "none", "items": [{"title": "x", "time": "now"}]}',
    "list.json": '[{"id": 1, "title": "x", "user_id": 2, "content": "hello"}]',
    "package.json": '{"name": "x", "version": "1.0.0", "type": "module", "history": {}}',
    "table.csv": "name,amount\nlamp,3\n",
    "server.log": "2026-03-04 10:00:00 INFO: started\n2026-03-04 10:00:01 ERROR: failed\n",
    "app.log": "[2026-03-04 10:00:00] production.ERROR: failed\n[2026-03-04 10:00:01] local.INFO: again\n",
    "access.log": "2026-03-04 10:00:00 started\n2026-03-04 10:00:01 stopped\n2026-03-04 10:00:02 started\n",
    "diary.txt": "On Monday at 10:00 we met.\nIt rained: all day.\n",
    "events.jsonl": '{"type": "entity", "name": "x"}\n',
}  # fmt: skip


@pytest.mark.parametrize("name", UNRELATED)
def test_what_is_of_no_format_is_refused(memory: Memory, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(UNRELATED[name], encoding="utf-8")
    with pytest.raises(MnemarkError, match="of no kind that is recognised"):
        memory.import_("", tmp_path / name)
    assert not list(memory.root.rglob("*.jsonl"))


DOCUMENTS = {
    "paper.pdf": "%PDF-1.7\n1 0 obj\n<<>>\nendobj\n",
    "page.html": "<html><body><p>Gemini is a sign of the zodiac.</p></body></html>",
    "茶.md": "茶罐在左上柜。\n",
}  # fmt: skip


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_alone_is_refused_with_the_place_where_it_is_searched(
    memory: Memory, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_text(DOCUMENTS[name], encoding="utf-8")
    with pytest.raises(MnemarkError, match="is a document: copy it into the folder of your memory"):
        memory.import_("", tmp_path / name)


def test_a_folder_of_documents_is_one_of_notes(memory: Memory, tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    for name, text in (
        ("tax.org", "* Fee\n420 euros\n"),
        *DOCUMENTS.items(),
        ("letter.rtf", "{\\rtf1 hello}"),
    ):
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "茶.md").unlink()
    done: Any = memory.import_("", folder)
    assert (done.format, done.notes) == ("markdown", 3)
    assert [str(one) for one in done.left] == ["1 .rtf file: this format is not read"]


def test_web_pages_alone_may_be_a_messengers(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "chat").mkdir()
    (tmp_path / "chat/messages.html").write_text(DOCUMENTS["page.html"], encoding="utf-8")
    with pytest.raises(MnemarkError, match="of no kind that is recognised"):
        memory.import_("", tmp_path / "chat")


def test_other_exports_in_a_folder_are_told(memory: Memory, tmp_path: Path) -> None:
    folder = tmp_path / "downloads"
    single(folder, "telegram")
    (folder / "notes").mkdir()
    (folder / "notes/tea.md").write_text("Tea.\n", encoding="utf-8")
    shutil.make_archive(str(folder / "chatgpt"), "zip", _archived(tmp_path / "a"))
    done: Any = memory.import_("", folder)
    assert done.format == "telegram"
    assert {one.path: one.reason for one in done.problems} == {
        "chatgpt.zip": "holds ChatGPT: not imported; give its own path",
        "notes": "holds a folder of notes: not imported; give its own path",
    }


def test_a_folder_of_archives_names_them(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "zips").mkdir()
    shutil.make_archive(str(tmp_path / "zips/chatgpt"), "zip", _archived(tmp_path / "a"))
    with pytest.raises(
        MnemarkError, match=r"zips holds chatgpt\.zip \(ChatGPT\); import each of them by its own path"
    ):
        memory.import_("", tmp_path / "zips")


def _archived(folder: Path) -> Path:
    """Write a talk of ChatGPT as its archive has it."""
    said = {"id": "m", "author": {"role": "user"}, "content": {"content_type": "text", "parts": [BEN]}}
    node: dict[str, Any] = {"id": "m", "message": said, "parent": None, "children": []}
    folder.mkdir()
    (folder / "conversations.json").write_text(
        json.dumps([{"id": "c", "title": "Home", "mapping": {"m": node}, "current_node": "m"}])
    )
    return folder


ASSISTANTS = ["grok", "open-webui", "open-webui, one chat", "librechat", "gemini-cli", "gemini-cli log",
              "gemini-cli shared", "opencode", "letta"]  # fmt: skip


@pytest.mark.parametrize("name", ASSISTANTS)
def test_only_what_was_shown_of_a_talk_comes(memory: Memory, tmp_path: Path, name: str) -> None:
    memory.import_("", single(tmp_path, name)[1])
    assert [(turn.role, turn.origin, turn.content) for turn in said(memory)] == [
        ("user", "owner", ASKED),
        ("assistant", "agent", ANSWERED),
    ]


@pytest.mark.parametrize(
    ("name", "left"),
    [
        ("grok", {"message": 1}),
        ("open-webui", {"message": 1, "part of a message": 1}),
        ("github-copilot", {"part of an answer": 1}),
        ("gemini", {"attachment": 1, "activity": 1}),
        ("letta", {"message": 1, "part of a message": 1}),
        ("telegram", {"service message": 1, "reaction": 2, "sticker": 1, "picture": 1}),
        ("whatsapp, Android", {"line of WhatsApp's own": 1, "file": 2, "message": 1}),
        ("whatsapp, iOS", {"line of WhatsApp's own": 1, "file": 2, "poll": 1}),
        ("wechat", {"picture, file or call": 1}),
        ("wechat, table", {"picture": 1}),
    ],
)
def test_what_is_left_out_is_counted(memory: Memory, tmp_path: Path, name: str, left: dict[str, int]) -> None:
    assert told(memory.import_("", single(tmp_path, name)[1])) == left


def test_gemini_has_talks_by_their_page_else_by_day(memory: Memory, tmp_path: Path) -> None:
    memory.import_("", single(tmp_path, "gemini")[1])
    talk = memory.session("gemini:aa11bb22cc33").last()
    assert [turn.content for turn in talk] == [
        ASKED, "Once a minute & slowly.", "and in the dark?", "Then it flashes **twice**.\n\n- red\n- white",
    ]  # fmt: skip
    assert memory.search("polish lens").hits[0].path.startswith("imported/gemini/canvas/")
    memory.import_("", single(tmp_path, "gemini page")[1])
    assert [turn.content for turn in memory.session("gemini:2026-03-04").last()] == [
        ASKED, "Once a minute.\n\n```\non()\noff()\n```",
    ]  # fmt: skip
    assert memory.session("gemini:2026-03-05").last()[1].content == "三十米。"
    assert f"{memory.session('gemini:2026-03-04').last()[0].time:%H:%M}" == "22:00"


def test_a_log_of_copilot_is_replayed(memory: Memory, tmp_path: Path) -> None:
    memory.import_("", single(tmp_path, "github-copilot log")[1])
    assert [turn.content for turn in memory.session("github-copilot:vs-1").last()] == [ASKED, ANSWERED]


def test_cursor_of_today_and_of_old(memory: Memory, tmp_path: Path) -> None:
    memory.import_("", samples.cursor_database(tmp_path / "state.vscdb"))
    assert [turn.content for turn in memory.session("cursor:c-1").last()] == [ASKED, ANSWERED]
    assert [turn.content for turn in memory.session("cursor:t-1").last()] == ["Is it tall?", "Thirty metres."]


def test_only_a_file_in_brackets_is_a_file_in_a_chat(memory: Memory, tmp_path: Path) -> None:
    kept = ("see <https://a.example/b.html>", "<!-- id: 1 --> hi", "<a: b> works", "type <key: value>")
    path = tmp_path / "WhatsApp Chat with Ben Oak.txt"
    lines = (*kept, "tower <attached: 1-PHOTO.jpg>", "塔 <附件：1-PHOTO.jpg>")
    path.write_text(
        "".join(f"13/12/2024, 10:0{n} - Ben Oak: {one}\n" for n, one in enumerate(lines)), "utf-8"
    )
    summary = memory.import_("", path)
    assert [turn.content for turn in said(memory)] == [*kept, "tower", "塔"]
    assert told(summary) == {"file": 2}


def test_a_text_that_was_attached_is_a_note(memory: Memory, tmp_path: Path) -> None:
    memory.import_("", single(tmp_path, "open-webui")[1])
    (hit, *_) = memory.search("clockwork").hits
    assert hit.path.startswith("imported/open-webui/attachments/")
    assert said(memory)[0].attachments[0]["note"] == hit.path


def test_an_administrators_export_keeps_users_apart(memory: Memory, tmp_path: Path) -> None:
    (chat,) = json.loads(samples.OPEN_WEBUI)
    other = {**chat, "id": "w-2", "user_id": "owner-2"}
    path = tmp_path / "all.json"
    path.write_text(json.dumps([chat, other]), encoding="utf-8")
    memory.import_("", path)
    assert not (memory.root / "sessions").exists()
    assert {one.parent.parent.name for one in memory.root.glob("users/*/sessions/*.jsonl")} == {
        "owner-1",
        "owner-2",
    }


@pytest.mark.parametrize("name", ["telegram", "telegram, all", "whatsapp, Android", "whatsapp, iOS"])
def test_of_two_who_speak_one_is_known_to_be_the_owner(memory: Memory, tmp_path: Path, name: str) -> None:
    done = memory.import_("", single(tmp_path, name)[1])
    found = {
        turn.content.partition("\n")[0]: (turn.role, turn.origin, turn.meta["speaker"])
        for turn in said(memory)
    }
    assert found[BEN] == ("Ben Oak", "import", "Ben Oak")
    assert found[ANN] == ("user", "owner", "Ann Lee")
    assert done.speakers == ()


def test_whom_a_chat_of_two_is_named_after_is_not_the_owner(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text(
        samples.TELEGRAM.replace('"id": 22', '"id": 4411'), encoding="utf-8"
    )
    memory.import_("", tmp_path / "result.json")
    assert {(turn.content, turn.role) for turn in said(memory)} >= {(BEN, "Ben Oak"), (ANN, "user")}


def test_words_that_were_forwarded_are_not_the_owners(memory: Memory, tmp_path: Path) -> None:
    memory.import_("", single(tmp_path, "telegram")[1])
    (turn,) = [turn for turn in said(memory) if "Madrid" in turn.content]
    assert (turn.role, turn.origin) == ("Cy Reed", "import")


@pytest.mark.parametrize("name", ["wechat", "wechat, copied", "wechat, table", "whatsapp, Chinese"])
def test_chinese_chats(memory: Memory, tmp_path: Path, name: str) -> None:
    memory.import_("", single(tmp_path, name)[1])
    first, second = said(memory)[:2]
    assert (first.role, first.content) == ("本", "我住在奥斯陆，灯塔旁边。")
    assert second.role == "user"
    assert f"{first.time:%Y-%m-%d}" == "2026-03-04"


def test_wechats_own_text_has_days_between_its_messages(memory: Memory, tmp_path: Path) -> None:
    done = memory.import_("", single(tmp_path, "wechat, mailed")[1])
    assert [(turn.role, f"{turn.time:%m-%d %H:%M}", turn.content) for turn in said(memory)] == [
        ("本", "03-04 10:01", "灯塔旁边见"), ("安", "03-04 10:02", "好"), ("本", "03-05 09:00", "到了"),
    ]  # fmt: skip
    assert done.speakers == ("安", "本")


@pytest.mark.parametrize(
    ("lines", "dates"),
    [
        (["4/3/26, 10:00 - A: x", "14/3/26, 10:00 - B: y"], ["03-04", "03-14"]),
        (["3/4/26, 10:00 - A: x", "3/14/26, 10:00 - B: y"], ["03-04", "03-14"]),
        (["2026-03-04, 10:00 - A: x", "2026-03-14, 10:00 - B: y"], ["03-04", "03-14"]),
        (["[04.03.26, 10:00:00] A: x", "[05.03.26, 10:00:00] B: y", "[01.04.26, 10:00:00] B: y"],
         ["03-04", "03-05", "04-01"]),
        (["11/1/26, 10:00 - A: x", "12/1/26, 10:00 - A: y", "1/2/26, 10:00 - B: y"],
         ["01-11", "01-12", "02-01"]),
    ],
)  # fmt: skip
def test_day_and_month_are_told_apart_by_the_whole_chat(
    memory: Memory, tmp_path: Path, lines: list[str], dates: list[str]
) -> None:
    path = tmp_path / "WhatsApp Chat with Keepers.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    done = memory.import_("", path)
    assert not done.problems
    assert [f"{turn.time:%m-%d}" for turn in said(memory)] == dates


def test_dates_that_can_be_read_both_ways_are_told(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "WhatsApp Chat with Keepers.txt"
    path.write_text("4/3/26, 10:00 - A: x\n5/3/26, 10:00 - B: y\n", encoding="utf-8")
    (problem,) = memory.import_("", path).problems
    assert (problem.skipped, "day first" in problem.reason) == (False, True)


def test_a_longer_export_adds_only_what_is_new(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "WhatsApp Chat with Ben Oak.txt"
    lines = samples.WHATSAPP_ANDROID.splitlines(keepends=True)
    path.write_text("".join(lines[:5]), encoding="utf-8")
    first = memory.import_("", path)
    path.write_text("".join(lines), encoding="utf-8")
    assert first.turns + memory.import_("", path).turns == 5
    path.write_text("".join(lines[1:]), encoding="utf-8")  # one that begins later
    assert memory.import_("", path).turns == 0
    assert [turn.content for turn in said(memory)].count("ok") == 2


def test_other_memories_become_facts(memory: Memory, tmp_path: Path) -> None:
    memory.import_("", single(tmp_path, "mcp-memory")[1])
    memory.import_("", single(tmp_path, "zep")[1])
    facts = {(fact.subject, fact.value): fact for fact in memory.facts(history=True)}
    assert {
        ("user", "Keeps the lighthouse"),
        ("user", "喝绿茶"),
        ("Ben Oak", "Lives in Oslo"),
    } <= facts.keys()
    assert facts["Ben Oak", "user"].predicate == "brother of"
    assert facts["Ben Oak", "Ben Oak lives in Oslo"].since.startswith("2026-03-01")
    (ended,) = [fact for fact in facts.values() if "Tromsø" in fact.value]
    assert ended.until.startswith("2026-03-01")
    assert {fact.origin for fact in facts.values()} == {"import"}


def test_what_letta_holds_of_its_human_is_proposed(memory: Memory, tmp_path: Path) -> None:
    assert memory.import_("", single(tmp_path, "letta")[1]).proposals == 2
    assert {one.fact.value for one in memory.review()} == {"Likes gulls", "Lives in Bergen"}


def damaged(draw: st.DataObject, data: bytes) -> bytes:
    """Cut a file off, or change some of its bytes."""
    cut = draw.draw(st.integers(0, len(data)))
    dice = random.Random(draw.draw(st.integers(0, 1_000)))
    found = bytearray(data[:cut] if draw.draw(st.booleans()) else data)
    for _ in range(draw.draw(st.integers(0, 8)) if found else 0):
        found[dice.randrange(len(found))] = dice.randrange(256)
    return bytes(found)


@pytest.mark.parametrize("name", [*samples.SINGLE, *samples.DATABASES])
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(draw=st.data())
def test_damage_is_told_and_nothing_comes_twice(
    tmp_path_factory: pytest.TempPathFactory, name: str, draw: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    if name in samples.DATABASES:
        path = samples.DATABASES[name][1](folder / samples.DATABASES[name][0])
        format_ = name
    else:
        format_, path = single(folder, name)
    path.write_bytes(damaged(draw, path.read_bytes()))
    with Memory.open(folder / "w", config=LEXICAL) as memory:
        chosen = draw.draw(st.sampled_from(["", format_]))
        try:
            memory.import_(chosen, path)
        except MnemarkError as error:
            assert str(error)  # noqa: PT017 - either a message, or an import
        else:
            again: Any = memory.import_(chosen, path)
            assert not again.turns + again.notes + again.facts + again.proposals


PAGE = Path(__file__).parent.parent.parent / "docs" / "import.md"


@pytest.mark.parametrize("one", FORMATS, ids=lambda one: one.name)
def test_the_page_names_each_format_and_its_known_form(one: Format) -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    assert [row for row in rows if f"`{one.name}`" in row.split("|")[1] and one.known in row.split("|")[-2]]


def test_an_archive_of_notes_is_read_as_their_folder(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "Export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "Home 0123456789abcdef0123456789abcdef.md", "# Home\n\nThe loom is oiled with walnut.\n"
        )
        archive.writestr("Home/旅行.md", "# 旅行\n\n五月去喀什。\n")
        archive.writestr("Home/loom.png", b"\x89PNG")
        archive.writestr("../out.md", "planted")
        archive.writestr("Part-2.zip", b"PK")
    summary = memory.import_("", path)
    assert (summary.format, summary.notes) == ("markdown", 2)
    assert {str(one) for one in summary.left} == {
        "1 .png file: it is no note",
        "1 .md file: it is no note",
        "1 archive in the archive: unpack it, and import it by itself",
    }
    assert not list(tmp_path.rglob("out.md"))
    memory.sync()
    assert "walnut" in memory.search("what is the loom oiled with").hits[0].text
    assert memory.import_("", path).same == 2
