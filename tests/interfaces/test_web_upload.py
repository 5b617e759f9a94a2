"""A file that a page sends: taken in within limits, looked at, imported, and deleted."""

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("jinja2")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("python_multipart")

from interfaces.browsers import Answer, Browser
from interfaces.daemons import Running, running
from mnemark import Memory
from mnemark.errors import MnemarkError, UsageError
from mnemark.files import off_record
from mnemark_faces.web import upload

CHAT = [
    {
        "role": "user",
        "content": "I moved to Lisbon in May.",
        "timestamp": "2026-05-02T10:00:00Z",
        "session": "a",
    },
    {"role": "assistant", "content": "Noted.", "timestamp": "2026-05-02T10:01:00Z", "session": "a"},
]
LINES = "".join(json.dumps(one) + "\n" for one in CHAT).encode()
BOUNDARY = "----boundary"
KIND = f"multipart/form-data; boundary={BOUNDARY}"


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path / "state") as found:
        yield found


def form(key: str, data: bytes = LINES, name: str = "chat.jsonl", *, key_first: bool = True) -> bytes:
    """The body of a form with a file."""
    said = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="form_key"\r\n\r\n{key}\r\n'.encode()
    head = (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n"
    )
    file = head.encode() + data + b"\r\n"
    return (said + file if key_first else file + said) + f"--{BOUNDARY}--\r\n".encode()


def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "harbour"
    root.mkdir(exist_ok=True)
    (root / "mnemark.toml").write_text('embedder = "none"\n', "utf-8")
    return root


def key_of(browser: Browser) -> str:
    (key,) = set(re.findall(r'name="form_key" value="([^"]*)"', browser.page("import").text))
    return str(key)


def send(browser: Browser, body: bytes, **headers: str) -> Answer:
    name = browser.base.rpartition("/")[2]
    return browser.open(f"{browser.home}/upload/{name}", body, **{"Content-Type": KIND} | headers)


def kept(tmp_path: Path) -> list[Path]:
    folder = tmp_path / "state" / "mnemark" / "uploads"
    return [path for path in folder.rglob("*") if path.is_file()] if folder.exists() else []


def settled(browser: Browser) -> str:
    for _ in range(100):
        text = browser.page("import").text
        if 'aria-busy="true"' not in text:
            return text
        time.sleep(0.05)
    raise AssertionError("still busy")


def test_a_file_is_looked_at_imported_and_deleted(tmp_path: Path, here: Running) -> None:
    root = workspace(tmp_path)
    browser = Browser(here, root)
    answer = send(browser, form(key_of(browser)))
    assert answer.status == 303, answer.text
    text = settled(browser)
    assert "It would add" in text
    assert "chat.jsonl" in text
    assert str(tmp_path / "state") not in re.sub(r'value="[^"]*"', "", text)  # no path of ours is shown
    (file,) = kept(tmp_path)
    assert file.read_bytes() == LINES
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    (fields,) = [one for one in browser.page("import").forms("import") if one.get("path") == [str(file)]]
    assert browser.send("import", {**fields, "do": ["import"]}).status == 303
    assert "Imported" in settled(browser)
    assert kept(tmp_path) == []
    with Memory.open(root) as memory:
        assert [one.turn.content for one in memory.turns()] == [str(one["content"]) for one in CHAT]


def test_it_needs_session_origin_key_and_a_form(tmp_path: Path, here: Running) -> None:
    root = workspace(tmp_path)
    browser = Browser(here, root)
    key = key_of(browser)
    assert send(browser, form("guess")).status == 400
    assert send(browser, form("")).status == 400
    assert send(browser, form(key, key_first=False)).status == 400  # the key stands before the file
    for headers, status in (
        ({"Origin": "http://evil.example"}, 403), ({"Origin": "null"}, 403), ({"Cookie": ""}, 401),
        ({"Sec-Fetch-Site": "cross-site"}, 403), ({"Content-Type": "multipart/form-data"}, 415),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415), ({"Content-Encoding": "gzip"}, 415),
    ):  # fmt: skip
        assert send(browser, form(key), **headers).status == status, headers
    assert browser.open(f"{browser.base}/import", form(key), **{"Content-Type": KIND}).status == 415
    assert send(browser, form(key, b"")).status == 400
    assert send(browser, b"nothing of a form").status == 400
    assert kept(tmp_path) == []


def test_what_is_no_export_is_said_and_the_next_file_is_taken(tmp_path: Path, here: Running) -> None:
    browser = Browser(here, workspace(tmp_path))
    assert send(browser, form(key_of(browser), b"\x00\x01 no export", "图.bin")).status == 303
    assert 'role="alert"' in settled(browser)
    assert send(browser, form(key_of(browser))).status == 303
    assert "It would add" in settled(browser)


def test_off_the_record_nothing_is_imported(tmp_path: Path, here: Running) -> None:
    root = workspace(tmp_path)
    browser = Browser(here, root)
    off_record.begin(root)
    send(browser, form(key_of(browser)))
    assert "It would add" in settled(browser)
    fields = next(
        one for one in browser.page("import").forms("import") if "/uploads/" in one.get("path", [""])[0]
    )
    browser.send("import", {**fields, "do": ["import"]})
    assert "off the record" in settled(browser)
    with Memory.open(root) as memory:
        assert memory.turns() == []


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("chat.zip", "chat.zip"), ("C:\\Users\\ann\\chat.zip", "chat.zip"), ("../../etc/passwd", "passwd"),
        ("聊天 记录.txt", "聊天 记录.txt"), ("", "file"), ("...", "_"), (".bashrc", "_bashrc"),
        ("a\x00\nb.json", "a__b.json"),
    ],
)  # fmt: skip
def test_the_name_of_a_file_is_safe(given: str, expected: str) -> None:
    assert upload.file_name(given) == expected


@given(st.text(max_size=400))
def test_any_name_stays_in_its_folder(given: str) -> None:
    name = upload.file_name(given)
    assert Path("/a", name).name == name
    assert name not in {"", ".", ".."}
    assert len(name.encode()) <= 200


def taken(body: bytes, pieces: int = 7, length: str = "") -> upload.Upload:
    async def stream() -> AsyncIterator[bytes]:
        step = max(1, len(body) // pieces)
        for at in range(0, len(body), step):
            yield body[at : at + step]

    async def run() -> upload.Upload:
        return await upload.receive(aiter(stream()), KIND, length, lambda key: key == "key")

    return asyncio.run(run())


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("pieces", [1, 3, 50, 10_000])
def test_however_it_is_cut_a_file_arrives_whole(own: Path, pieces: int) -> None:
    data = bytes(range(256)) * 9 + f"\r\n--{BOUNDARY[:-1]}\r\n".encode()
    found = taken(form("key", data), pieces)
    assert found.path is not None
    assert found.path.read_bytes() == data
    upload.discard(found.path)
    assert not found.path.parent.exists()


def test_limits_and_damage_leave_nothing(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = form("key", b"x" * 5_000)
    for cut in range(0, len(whole) - 4, 97):
        with pytest.raises(UsageError):
            taken(whole[:cut])
    with pytest.raises(MnemarkError, match="can have"):
        taken(whole, length=str(upload.MOST_BYTES + 1))
    monkeypatch.setattr(upload, "MOST_BYTES", 4_000)
    with pytest.raises(MnemarkError):
        taken(whole)
    long = whole.replace(b'name="form_key"', b'name="form_key"; x="' + b"y" * 9_000 + b'"')
    with pytest.raises(UsageError):
        taken(long)
    assert [path for path in own.rglob("*") if path.is_file()] == []


def test_only_files_that_were_sent_are_deleted(own: Path) -> None:
    other: Any = own / "other.txt"
    other.write_text("mine")
    for path in (other, upload.folder(), upload.folder() / "x" / ".." / ".." / "other.txt"):
        upload.discard(path)
    assert other.read_text() == "mine"
