"""Files that came and went: described, found again in both languages, never followed out of the workspace."""

import os
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from mnemark import Memory, NotFoundError, UsageError

START = datetime.fromisoformat("2026-02-13T09:30:00+08:00")
CONFIG = {"embedder": "none", "timezone": "Asia/Shanghai"}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory", config=CONFIG) as found:
        yield found


def pages(memory: Memory, scope: str = "") -> dict[str, str]:
    folder = memory.root / scope / "memory/attachments"
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.md"))}


def fill(memory: Memory) -> None:
    """A life of pictures, documents and talk about them, in both languages."""
    session = memory.session("tg:1")
    rows: list[tuple[str, str, str | None]] = [
        ("user", "This is my cat Miso on the sofa", "IMG_0042.jpg"),
        ("assistant", "What a lovely cat!", None),
        ("user", "The invoice of the dentist", "invoice-2026.pdf"),
        ("user", "our dog at the lake", "dog.png"),
        ("user", "Can cats eat cheese?", None),
        ("assistant", "A little cheese does no harm to cats.", None),
        ("user", "Please send me a picture of the new logo", None),
        ("user", "这是我家猫，在窗台上晒太阳", "photo_1.jpg"),
        ("assistant", "好可爱的猫！", None),
        ("user", "这是上海出差的发票", "fapiao.pdf"),
        ("user", "猫粮快没了，提醒我明天买", None),
        ("user", "会议的录音", "meeting.m4a"),
        ("user", "我上次去杭州拍的西湖", "west-lake.jpg"),
        ("user", "What did I send you last time about the budget?", None),
    ]
    for number, (role, text, file) in enumerate(rows):
        files = [{"path": f"/media/{file}", "name": file}] if file else []
        session.add(role, text, attachments=files, time=START + timedelta(minutes=number))
    call = {
        "id": "c1",
        "function": {
            "name": "send_message",
            "arguments": {"media": ["out/chart.png"], "text": "Sales by month"},
        },
    }
    session.add("assistant", "Here is the chart.", tool_calls=[call], time=START + timedelta(hours=1))
    memory.sync()


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("the cat picture I sent you", "IMG_0042.jpg"),
        ("我上次发你的猫图", "photo_1.jpg"),
        ("the photo of the dog that I sent", "dog.png"),
        ("我发给你的西湖照片", "west-lake.jpg"),
        ("the chart you sent me", "chart.png"),
        ("你发我的图表 chart", "chart.png"),
        ("我发你的会议录音", "meeting.m4a"),
        ("that dentist invoice PDF I sent you", "invoice-2026.pdf"),
    ],
)
def test_found_again_by_what_it_shows(memory: Memory, question: str, name: str) -> None:
    fill(memory)
    hits = memory.search(question).hits[:3]
    assert any(hit.kind == "attachment" and name in hit.text for hit in hits), [hit.ref for hit in hits]


def test_a_description_given_later_is_found(memory: Memory) -> None:
    fill(memory)
    identifier = next(name for name in pages(memory) if "dog" in name)
    memory.describe(identifier, "A brown corgi with a red frisbee, 一只柯基")
    memory.sync()
    for question in ("corgi with frisbee", "柯基的照片"):
        assert identifier in memory.search(question).hits[0].ref
    page = pages(memory)[identifier]
    assert page.count("**description**") == 1
    memory.describe(identifier, transcription="woof")
    assert "corgi" in pages(memory)[identifier]
    assert "**transcription**: woof" in pages(memory)[identifier]


def test_what_a_person_wrote_on_a_page_stays(memory: Memory) -> None:
    fill(memory)
    identifier = next(name for name in pages(memory) if "dog" in name)
    path = memory.root / f"memory/attachments/{identifier}.md"
    words = pages(memory)[identifier]
    path.write_text(words.replace("our dog at the lake", "Rex at the lake, summer 2025"), encoding="utf-8")
    os.utime(path, (1e9, 1e9))
    memory.describe(identifier, "a dog")
    found = pages(memory)[identifier]
    assert "Rex at the lake, summer 2025" in found
    assert "**description**: a dog" in found


def test_errors_name_the_fix(memory: Memory) -> None:
    fill(memory)
    with pytest.raises(NotFoundError, match="memory/attachments"):
        memory.describe("nothing", "x")
    with pytest.raises(UsageError):
        memory.describe("../../etc/passwd", "x")
    with pytest.raises(UsageError, match="description"):
        memory.describe(next(iter(pages(memory))), " ")


def test_written_once_and_not_again_where_a_person_removed_it(memory: Memory) -> None:
    fill(memory)
    names = set(pages(memory))
    assert len(names) == 8
    memory.sync()
    memory.session("tg:1").end()
    assert set(pages(memory)) == names
    gone = min(names)
    (memory.root / f"memory/attachments/{gone}.md").unlink()
    memory.session("tg:1").add("user", "more")
    memory.session("tg:1").end()
    assert set(pages(memory)) == names - {gone}


def test_only_what_the_caller_gave_is_read_from_outside(memory: Memory, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("words from outside\nkey: sk-" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY", encoding="utf-8")
    session = memory.session("s")
    session.add("user", "my notes", attachments=[{"path": str(outside)}], time=START)
    call = {"name": "send_file", "arguments": {"path": str(outside)}}
    session.add("assistant", "sent", tool_calls=[call], time=START + timedelta(days=1))
    memory.sync()
    given, sent = pages(memory).values()
    assert "words from outside" in given
    assert "aB3dE5fG7h" not in given
    assert "words from outside" not in sent
    # Read later, by another process, from the log alone: nothing outside is opened.
    other = memory.session("t")
    other.add("user", "again", attachments=[{"path": str(outside)}], time=START + timedelta(days=2))
    with Memory.open(memory.root, config=CONFIG) as later:
        later.session("t").end()
    assert "words from outside" not in list(pages(memory).values())[-1]


def test_a_link_out_of_the_workspace_is_not_followed(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("words from outside", encoding="utf-8")
    try:
        (memory.root / "link.txt").symlink_to(tmp_path / "secret.txt")
    except OSError:
        pytest.skip("no links here")
    call = {"name": "send_file", "arguments": {"path": "link.txt", "files": ["link.txt", "../secret.txt"]}}
    memory.session("s").add("assistant", "sent", tool_calls=[call], time=START)
    memory.sync()
    assert "words from outside" not in "".join(pages(memory).values())


@pytest.mark.parametrize(
    "shape",
    [
        "photos/cat.jpg",
        {"url": "https://example.org/cat.jpg?sig=1", "mimeType": "image/jpeg"},
        {"type": "image_url", "image_url": {"url": "https://example.org/cat.jpg"}},
        {"name": "cat.jpg", "media_type": "image/jpeg"},
        {"type": "image", "url": "data:image/jpeg;base64,AAAA", "name": "cat.jpg"},
    ],
)
def test_every_shape_of_host(memory: Memory, shape: object) -> None:
    memory.session("s").add("user", "my cat", attachments=[shape], time=START)
    memory.sync()
    ((name, page),) = pages(memory).items()
    assert name.startswith("2026-02-13-cat-jpg-")
    assert "picture" in page
    assert "AAAA" not in page


def test_what_is_no_file_is_passed_over(memory: Memory) -> None:
    session = memory.session("s")
    session.add("user", "odd", attachments=[{}, 3, None, {"path": 5}, {"url": ""}], time=START)
    calls = [{"name": "write_file", "arguments": {"path": "src/app.py", "content": "x"}}, {"name": "send"}, 7]
    session.add("assistant", "done", tool_calls=calls, time=START)
    memory.sync()
    assert pages(memory) == {}


def test_recording_does_not_wait_for_pages(memory: Memory) -> None:
    session = memory.session("s")
    session.add("user", "my cat", attachments=["cat.jpg"], time=START)
    assert pages(memory) == {}
    assert any("cat.jpg" in str(hit.meta) or hit.kind == "turn" for hit in memory.search("cat.jpg").hits)


def test_a_hit_carries_the_name_that_describe_wants(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory", config=CONFIG) as memory:
        session = memory.session("tg:1", user="ann")
        session.add("user", "our dog at the lake", attachments=[{"path": "/media/dog.png"}], time=START)
        memory.sync()
        hit = memory.search("dog at the lake", scope="users/ann", kinds=["attachment"]).hits[0]
        memory.describe(hit.meta["attachment"], "a corgi with a frisbee", scope=hit.scope)
        assert "corgi" in memory.search("frisbee", scope="users/ann", kinds=["attachment"]).hits[0].text
