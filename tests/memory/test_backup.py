"""A backup is the folder, to the byte, or says by name what is not in it."""

import base64
import hashlib
import json
import os
import random
import shutil
import socket
import stat
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mnemark import Memory
from mnemark.errors import IntegrityError, MnemarkError, NewerFormatError, UsageError
from mnemark.files import listing, manifest, platform
from mnemark.files.edit import edit, settle
from mnemark.files.truth import Folder
from mnemark.memory.transfer import backup as module
from mnemark.memory.transfer.backup import backup
from mnemark.memory.transfer.imports import import_from
from mnemark.memory.transfer.restore import restore
from mnemark.memory.transfer.transfer import CutOffError, ExportFormat, blocks, export_workspace

LEXICAL: dict[str, Any] = {"embedder": "none"}
POSIX = pytest.mark.skipif(sys.platform in {"win32", "darwin"}, reason="names of any bytes: Linux")
_RIGHTS = "-dac_override,-dac_read_search,-fowner"

NAMES = (
    b"pictures/a.png", b"memory/attachments/photo.jpg", b"caf\xe9 \xff.md", b"folder-\xfe/in \xfd.bin",
    b"new\nline.md", b"tab\t.txt", b"back\\slash.md", b"a\\..\\b.md", b"C:drive.md", b" blanks .md",
    b"n" * 255, "长".encode() * 85, b"empty.md", b".env", b".git/config", b".obsidian/app.json",
    b"node_modules/x/index.js", "e\u0301.md".encode(), "\u00e9.md".encode(), b"-rf", b'*?"<>|.md',
    "\U0001f468\u200d\U0001f469.md".encode(), b"memory/migrated-from.json", b"con.md", b"\x01\x7f.bin",
    b".mnemark-backup/manifest.jsonl", b".mnemark-backup/files/0", b"inner/.mnemark/displaced/a.old",
    b"inner/MEMORY.md", b"sessions/picture.png",
)  # fmt: skip


def at(root: Path, name: bytes) -> Path:
    return root / os.fsdecode(name)


def put(root: Path, name: bytes, data: bytes) -> None:
    at(root, name).parent.mkdir(parents=True, exist_ok=True)
    at(root, name).write_bytes(data)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "memory"
    with Memory.open(folder, config=LEXICAL) as memory:
        memory.session("s").add("user", "the ferry leaves at nine")
        memory.remember("city", "Oslo")
        memory.sync()
    return folder


Told = tuple[int, int, int, bytes]


def tree(root: Path) -> dict[str, Told]:
    """Kind, mode, time and content of everything, but for what of `.mnemark` is made anew."""
    found: dict[str, Told] = {}
    for path in root.rglob("*"):
        name = path.relative_to(root).as_posix()
        if f"/{name}".rpartition("/.mnemark/")[1] and "/displaced" not in name:
            continue
        status = path.lstat()
        link, file = stat.S_ISLNK(status.st_mode), stat.S_ISREG(status.st_mode)
        data = path.read_bytes() if file else b""
        if link:
            data = os.fsencode(os.readlink(path))  # noqa: PTH115 - as it is written
        mode = 0 if link else stat.S_IMODE(status.st_mode)
        found[name] = (stat.S_IFMT(status.st_mode), mode, status.st_mtime_ns, data)
    return found


@POSIX
def test_any_folder_comes_back_to_the_byte(root: Path, tmp_path: Path) -> None:
    chance = random.Random(7)
    for number, name in enumerate(NAMES):
        put(root, name, b"" if name.startswith(b"empty") else chance.randbytes(10 ** (number % 6)))
    for named, mode in (("-rf", 0o755), ("con.md", 0o400), (" blanks .md", 0o664), ("tab\t.txt", 0o604)):
        (root / named).chmod(mode)
    (root / "none/at all").mkdir(parents=True)
    (root / "none/at all").chmod(0o750)
    for link, to in (("in", "MEMORY.md"), ("pictures/up", "../MEMORY.md"), ("nowhere", "no/such file"),
                     ("loop", "loop"), ("here", "."), ("odd//", "memory/./")):  # fmt: skip
        (root / link.rstrip("/")).symlink_to(to)
    at(root, b"link \xfe").symlink_to(os.fsdecode(b"caf\xe9 \xff.md"))
    for name, moment in (
        (b"empty.md", -86_400 * 10**9),
        (b"-rf", 5 * 10**18),
        (b"con.md", 1_234_567_890_123_456_789),
    ):
        os.utime(at(root, name), ns=(moment, moment))
    os.utime(root / "none/at all", ns=(10**18, 10**18))
    listing.close_to_others(root, listing.open_to_others(root).own)  # what mnemark writes comes back private
    before = tree(root)
    done = backup(root, tmp_path / "saved.zip")
    assert (done.complete, done.problems) == (True, ())
    back = restore(tmp_path / "saved.zip", tmp_path / "back")
    assert (back.complete, back.problems) == (True, ())
    assert tree(root) == before
    assert tree(tmp_path / "back") == before
    kinds = [kind for kind, *_ in before.values()]
    counts = [kinds.count(kind) for kind in (stat.S_IFREG, stat.S_IFLNK)]
    assert [done.files, done.links] == counts == [back.files, back.links]
    with Memory.open(tmp_path / "back", config=LEXICAL) as memory:
        assert memory.search("ferry").hits
        assert [fact.value for fact in memory.facts()] == ["Oslo"]


def test_files_whose_names_allow_it_can_be_unpacked_by_any_program(root: Path, tmp_path: Path) -> None:
    (root / "picture.png").write_bytes(b"\x89PNG")
    (root / "picture.png").chmod(0o640)
    backup(root, tmp_path / "saved.zip")
    with zipfile.ZipFile(tmp_path / "saved.zip") as archive:
        assert archive.read("picture.png") == b"\x89PNG"
        assert archive.read("MEMORY.md" if (root / "MEMORY.md").exists() else "memory/facts/user.md")
        assert archive.getinfo("picture.png").external_attr >> 16 & 0o777 == 0o640


@POSIX
def test_what_is_no_file_is_named_and_never_opened(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(root / "pipe.md")
    os.mkfifo(root / "sessions/pipe.jsonl")
    with socket.socket(socket.AF_UNIX) as bound:
        monkeypatch.chdir(root)  # a socket's path is limited to about a hundred bytes
        bound.bind("sock")
        done = backup(root, tmp_path / "saved.zip")
    assert not done.complete
    assert [(one.path, one.reason) for one in done.problems] == [
        ("pipe.md", "is a pipe, not a file"),
        ("sessions/pipe.jsonl", "is a pipe, not a file"),
        ("sock", "is a socket, not a file"),
    ]
    back = restore(tmp_path / "saved.zip", tmp_path / "back")
    assert not back.complete
    assert [one.path for one in back.problems] == ["pipe.md", "sessions/pipe.jsonl", "sock"]
    assert "is not in the backup: is a socket" in back.problems[2].reason


def as_its_owner(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """The command line, in a process that has no more rights than its owner."""
    without = ["setpriv", "--bounding-set", _RIGHTS, "--inh-caps", _RIGHTS] if os.geteuid() == 0 else []
    command = [*without, sys.executable, "-m", "mnemark", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.skipif(
    sys.platform == "win32" or (os.geteuid() == 0 and shutil.which("setpriv") is None),
    reason="needs a user who may not read everything (root without setpriv may)",
)
def test_what_cannot_be_read_is_named_with_its_own_exit_code(root: Path, tmp_path: Path) -> None:
    for name in (b"closed/inside.md", b"secret.png", b"notes/secret.md", b"notes/fine.md"):
        put(root, name, b"words\n")
    closed = [
        root / "closed",
        root / "secret.png",
        root / "notes/secret.md",
        next((root / "journal").iterdir()),
    ]
    for path in closed:
        path.chmod(0)
    names = sorted(path.relative_to(root).as_posix() for path in closed)
    try:
        ran = as_its_owner("backup", str(tmp_path / "saved.zip"), "-w", str(root), "--json")
        text = as_its_owner("backup", str(tmp_path / "saved.zip"), "-w", str(root))
        exported = as_its_owner("export", str(tmp_path / "all.zip"), "-w", str(root), "--json")
        lines = as_its_owner("export", "--format", "jsonl", str(tmp_path / "x"), "-w", str(root), "--json")
    finally:
        for path in closed:
            path.chmod(0o700)
    assert (ran.returncode, text.returncode) == (8, 8)
    said = json.loads(ran.stdout)
    assert said["complete"] is False
    assert sorted(one["path"] for one in said["problems"]) == names
    assert all("Permission denied" in one["reason"] and one["skipped"] for one in said["problems"])
    assert "4 items left out" in ran.stderr
    assert all(f"left out: {name}: " in text.stderr for name in names)
    memory = [name for name in names if not name.endswith(".png")]
    for one in (exported, lines):
        assert one.returncode == 8
        assert sorted(problem["path"] for problem in json.loads(one.stdout)["problems"]) == memory
    back = restore(tmp_path / "saved.zip", tmp_path / "back")
    assert sorted(problem.path for problem in back.problems) == names
    assert (tmp_path / "back/notes/fine.md").read_bytes() == b"words\n"


def test_an_older_backup_is_kept_where_it_holds_what_cannot_be_read_now(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The day a disk begins to fail, the backup of the day before is the only copy."""
    put(root, b"photo.jpg", b"only copy")
    target = tmp_path / "saved.zip"
    assert backup(root, target).complete
    real = platform.open_file

    def failing(path: Path) -> Any:
        if path.name == "photo.jpg":
            raise OSError(5, "Input/output error")
        return real(path)

    monkeypatch.setattr(platform, "open_file", failing)
    done = backup(root, target)
    assert [(one.path, one.skipped) for one in done.problems] == [
        ("photo.jpg", True),
        (str(tmp_path / "saved-older-1.zip"), False),
    ]
    again = backup(root, target)  # what it replaces now has it neither
    assert len(again.problems) == 1
    monkeypatch.undo()
    assert sorted(path.name for path in tmp_path.glob("*.zip")) == ["saved-older-1.zip", "saved.zip"]
    restore(tmp_path / "saved-older-1.zip", tmp_path / "back")
    assert (tmp_path / "back/photo.jpg").read_bytes() == b"only copy"


@POSIX
def test_links_come_back_only_where_they_stay_inside(root: Path, tmp_path: Path) -> None:
    (root / "a/b").mkdir(parents=True)
    for link, to in {
        "out": "/etc/passwd", "a/out": "../../x", "kept": "a/b", "absolute": str(root / "MEMORY.md"),
        "a/b/up": "../..", "a/b/by-way-of": "up/..", "later": "a/missing/../../../y",
    }.items():  # fmt: skip
        (root / link).symlink_to(to)
    (tmp_path / "x").write_text("not ours", encoding="utf-8")
    assert backup(root, tmp_path / "saved.zip").complete  # they are in it, as links
    back = restore(tmp_path / "saved.zip", tmp_path / "back")
    out = sorted(one.path for one in back.problems)
    assert out == ["a/b/by-way-of", "a/out", "absolute", "later", "out"]
    assert all("is a link out of the folder, to " in one.reason for one in back.problems)
    left = {
        path.relative_to(tmp_path / "back").as_posix()
        for path in (tmp_path / "back").rglob("*")
        if path.is_symlink()
    }
    assert left == {"kept", "a/b/up"}
    assert not back.complete
    shutil.rmtree(root)
    root.mkdir()
    same_place = restore(tmp_path / "saved.zip", root)
    assert "absolute" not in {one.path for one in same_place.problems}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_stays_flat_on_large_files(root: Path, tmp_path: Path) -> None:
    size = 128 << 20
    (root / "film.raw").touch()
    os.truncate(root / "film.raw", size)
    code = (
        "import sys\nfrom pathlib import Path\n"
        "from mnemark.memory.transfer.backup import backup\n"
        "from mnemark.memory.transfer.restore import restore\n"
        "root, saved, back = map(Path, sys.argv[1:])\nbackup(root, saved)\nrestore(saved, back)\n"
        "print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])\n"
    )
    command = [sys.executable, "-c", code, str(root), str(tmp_path / "saved.zip"), str(tmp_path / "back")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) << 10 < size * 0.7
    assert (tmp_path / "back/film.raw").stat().st_size == size


def test_what_is_private_comes_back_private_and_a_persons_modes_stay(root: Path, tmp_path: Path) -> None:
    put(root, b"notes/mine.md", b"mine\n")
    (root / "notes/mine.md").chmod(0o664)
    for path in (root / "sessions", *(root / "sessions").iterdir(), *(root / "memory/facts").iterdir()):
        path.chmod(path.stat().st_mode | 0o055)  # as an earlier version made it
    backup(root, tmp_path / "saved.zip")
    before = os.umask(0)
    try:
        restore(tmp_path / "saved.zip", tmp_path / "back")
        (tmp_path / "given").mkdir(0o755)
        restore(tmp_path / "saved.zip", tmp_path / "given")
    finally:
        os.umask(before)
    back = tmp_path / "back"
    assert stat.S_IMODE(back.stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "given").stat().st_mode) == 0o755
    assert stat.S_IMODE((back / "notes/mine.md").stat().st_mode) == 0o664
    own = [back / "sessions", *(back / "sessions").iterdir(), *(back / "memory/facts").iterdir()]
    assert [path.name for path in own if path.stat().st_mode & 0o077] == []
    assert (tmp_path / "saved.zip").stat().st_mode & 0o077 == 0


def test_backups_of_the_version_before_come_back(root: Path, tmp_path: Path) -> None:
    """Those were plain exports: no manifest, no modes."""
    with Memory.open(root, config=LEXICAL) as memory:
        export_workspace(memory.workspace, tmp_path / "old.zip")
    back = restore(tmp_path / "old.zip", tmp_path / "back")
    assert (back.complete, back.folders, back.links) == (True, 0, 0)
    found = {
        p.relative_to(tmp_path / "back").as_posix(): p.read_bytes()
        for p in (tmp_path / "back").rglob("*")
        if p.is_file()
    }
    assert found
    assert all((root / name).read_bytes() == data for name, data in found.items())
    assert not [p for p in (tmp_path / "back").rglob("*") if p.stat().st_mode & 0o077]


def test_a_backup_needs_no_index_and_no_sound_settings(root: Path, tmp_path: Path) -> None:
    (root / ".mnemark/index.db").write_bytes(b"damaged" * 5000)
    (root / "mnemark.toml").write_text("no = such = thing\n", encoding="utf-8")
    assert backup(root, tmp_path / "saved.zip").complete
    restore(tmp_path / "saved.zip", tmp_path / "back")
    assert (tmp_path / "back/mnemark.toml").read_text("utf-8") == "no = such = thing\n"
    assert not (tmp_path / "back/.mnemark/index.db").exists()


@POSIX
def test_a_save_that_stands_only_in_an_edits_record_is_kept(root: Path, tmp_path: Path) -> None:
    """A program that had the file open wrote into the displaced one: that save is in no other file yet."""
    note = root / "note.md"
    note.write_text("one\ntwo\n", encoding="utf-8")
    with note.open("r+b") as held:
        edit(Folder(root), "note.md", lambda text: text + b"three\n", quiet=0.0)
        held.write(b"ONE\ntwo\n")
    assert b"ONE" not in note.read_bytes()
    backup(root, tmp_path / "saved.zip")
    restore(tmp_path / "saved.zip", tmp_path / "back")
    back = tmp_path / "back/note.md"
    assert b"ONE" not in back.read_bytes()
    settle(Folder(tmp_path / "back"), quiet=0.0)
    assert back.read_bytes() == b"ONE\ntwo\nthree\n"
    assert not (tmp_path / "back/.mnemark/salt").exists()  # what keys marks does not travel with them


def test_a_backup_inside_of_the_folder_does_not_hold_itself(root: Path) -> None:
    target = root / "saved.zip"
    sizes = [backup(root, target).files for _ in range(3)]
    assert len(set(sizes)) == 1
    with zipfile.ZipFile(target) as archive:
        assert "saved.zip" not in archive.namelist()


def test_logs_may_grow_and_notes_be_saved_while_they_are_read(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note, log = root / "note.md", next((root / "sessions").iterdir())
    note.write_text("before\n", encoding="utf-8")
    before = log.read_bytes()
    real = module._compared

    def meanwhile(*arguments: Any) -> Any:
        note.write_text("after\n", encoding="utf-8")
        with log.open("ab") as file:
            file.write(b'{"role": "user", "content": "more"}\n')
        return real(*arguments)

    monkeypatch.setattr(module, "_compared", meanwhile)
    done = backup(root, tmp_path / "saved.zip")
    assert done.complete
    (told,) = done.problems
    assert (told.path, told.skipped) == ("note.md", False)
    restore(tmp_path / "saved.zip", tmp_path / "back")
    assert (tmp_path / "back/note.md").read_text("utf-8") == "before\n"
    assert (tmp_path / "back" / log.relative_to(root)).read_bytes() == before


def test_what_is_written_to_all_the_time_is_whole_or_named(root: Path, tmp_path: Path) -> None:
    """Each file is as it was at one moment; a large one that is written over while it is read is named."""
    small, stop = root / "small.bin", threading.Event()

    def writing() -> None:
        letter = 0
        while not stop.is_set():
            letter = (letter + 1) % 26
            small.write_bytes(bytes([97 + letter]) * 200_000)
            time.sleep(0.002)

    thread = threading.Thread(target=writing)
    thread.start()
    try:
        time.sleep(0.05)
        for number in range(5):
            done = backup(root, tmp_path / f"{number}.zip")
            with zipfile.ZipFile(tmp_path / f"{number}.zip") as archive:
                kept = archive.read("small.bin")
            torn = [one.path for one in done.problems if one.skipped]
            assert torn == ["small.bin"] or len(set(kept)) <= 1
            assert done.complete == (not torn)
    finally:
        stop.set()
        thread.join()


def test_a_large_file_that_is_written_over_while_it_is_read_is_named(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = root / "large.bin"
    large.write_bytes(b"a" * (8 << 20))

    def meanwhile(source: Any, size: int | None = None) -> Iterator[bytes]:
        for number, block in enumerate(blocks(source, size)):
            yield block
            if not number and size == 8 << 20 and large.read_bytes()[:1] == b"a":
                large.write_bytes(b"c" * (8 << 20))

    monkeypatch.setattr(module, "blocks", meanwhile)
    done = backup(root, tmp_path / "saved.zip")
    assert [(one.path, one.skipped) for one in done.problems] == [("large.bin", True)]
    assert "may be inconsistent" in done.problems[0].reason


def test_a_backup_that_is_not_what_was_read_is_refused_and_the_older_one_stays(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "saved.zip"
    backup(root, target)
    before = target.read_bytes()
    real = module._compared

    def bad_disk(folder: Path, written: Path, kept: Any) -> Any:
        data = bytearray(written.read_bytes())
        at = data.index(b"memory/facts/user.md") + 60
        data[at] ^= 1
        written.write_bytes(data)
        return real(folder, written, kept)

    monkeypatch.setattr(module, "_compared", bad_disk)
    with pytest.raises(IntegrityError, match="cannot be trusted"):
        backup(root, target)
    assert target.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["saved.zip"]


def test_a_full_disk_leaves_the_older_backup(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "saved.zip"
    backup(root, target)
    before = target.read_bytes()

    class Full(platform.FileSystem):
        def sync(self, fd: int) -> None:
            del fd
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(platform, "FS", Full())
    with pytest.raises(MnemarkError, match="the disk is full"):
        backup(root, target)
    assert target.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["saved.zip"]


def made(path: Path, entries: list[dict[str, Any]], files: dict[str, bytes], version: int = 2) -> Path:
    """An archive by hand."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
        lines = [{"mnemark": "backup", "version": version}, *entries]
        archive.writestr(manifest.NAME, "".join(json.dumps(line) + "\n" for line in lines))
    return path


def file_entry(path: str, data: bytes = b"x", **more: Any) -> dict[str, Any]:
    digest = hashlib.sha256(data).hexdigest()
    return {
        "path": path,
        "kind": "file",
        "mode": "0600",
        "size": len(data),
        "sha256": digest,
        "member": "f",
    } | more


RAW = base64.b64encode(b"../out").decode()


@pytest.mark.parametrize(
    ("entries", "error"),
    [
        ([file_entry("../out")], UsageError),
        ([file_entry("/abs/out")], UsageError),
        ([file_entry("a//b")], UsageError),
        ([file_entry("a/./b")], UsageError),
        ([file_entry("")], UsageError),
        ([file_entry("a\0b")], UsageError),
        ([file_entry("fine", raw=RAW)], UsageError),
        ([file_entry("a"), file_entry("a")], IntegrityError),
        ([file_entry("a"), file_entry("a/b")], IntegrityError),
        ([{"path": "a", "kind": "link", "target": "/tmp"}, file_entry("a/b")], IntegrityError),
        ([file_entry("a", sha256="0" * 64)], IntegrityError),
        ([file_entry("a", size=2)], IntegrityError),
        ([file_entry("a", member="missing")], IntegrityError),
        ([file_entry("a", mode="rwx")], IntegrityError),
        ([file_entry("a", raw="!")], IntegrityError),
        ([{"path": "a", "kind": "socket"}], IntegrityError),
        ([{"kind": "file"}], IntegrityError),
    ],
)
def test_an_archive_that_was_made_to_harm_writes_nothing(
    tmp_path: Path, entries: list[dict[str, Any]], error: type[MnemarkError]
) -> None:
    archive = made(tmp_path / "trap.zip", entries, {"f": b"x"})
    with pytest.raises(error):
        restore(archive, tmp_path / "in/back")
    assert [path.name for path in tmp_path.iterdir()] == ["trap.zip"]


def test_an_archive_cannot_make_programs_that_run_as_others(tmp_path: Path) -> None:
    restore(made(tmp_path / "x.zip", [file_entry("run", mode="6755")], {"f": b"x"}), tmp_path / "back")
    assert stat.S_IMODE((tmp_path / "back/run").stat().st_mode) == 0o755


def test_an_archive_of_a_newer_version_and_one_that_is_too_large_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = made(tmp_path / "newer.zip", [file_entry("a")], {"f": b"x"}, version=3)
    with pytest.raises(NewerFormatError, match="upgrade mnemark"):
        restore(newer, tmp_path / "back")
    fine = made(tmp_path / "fine.zip", [file_entry("a")], {"f": b"x"})
    full = shutil.disk_usage(tmp_path)._replace(free=0)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: full)
    with pytest.raises(MnemarkError, match="nothing was written"):
        restore(fine, tmp_path / "back")
    assert not (tmp_path / "back").exists()


def test_names_that_a_file_system_refuses_are_named_and_the_rest_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Picky(platform.FileSystem):
        """As APFS refuses bytes that are no UTF-8, and a FAT stick a colon."""

        def rename_new(self, source: Path, target: Path) -> None:
            if ":" in target.name:
                raise OSError(22, "Invalid argument", str(target))
            super().rename_new(source, target)

    monkeypatch.setattr(platform, "FS", Picky())
    entries = [file_entry("a:b.md"), file_entry("fine.md")]
    back = restore(made(tmp_path / "x.zip", entries, {"f": b"x"}), tmp_path / "back")
    assert [(one.path, one.skipped) for one in back.problems] == [("a:b.md", True)]
    assert (back.files, back.complete) == (1, False)
    assert [path.name for path in (tmp_path / "back").iterdir()] == ["fine.md"]


@pytest.fixture
def killed_at(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    return lambda number: monkeypatch.setattr(platform, "FS", _Dying(number))


class _Dying(platform.FileSystem):
    def __init__(self, left: int) -> None:
        self._left = left

    def sync(self, fd: int) -> None:
        self._left -= 1
        if self._left < 0:
            raise KeyboardInterrupt
        super().sync(fd)


def test_a_restore_that_is_cut_off_leaves_no_half_of_a_file(
    root: Path, tmp_path: Path, killed_at: Callable[[int], None]
) -> None:
    backup(root, tmp_path / "saved.zip")
    killed_at(2)
    with pytest.raises(KeyboardInterrupt):
        restore(tmp_path / "saved.zip", tmp_path / "back")
    found = [path for path in (tmp_path / "back").rglob("*") if path.is_file()]
    assert found
    assert all(
        path.read_bytes() == (root / path.relative_to(tmp_path / "back")).read_bytes() for path in found
    )


def test_a_backup_can_be_brought_into_another_workspace(root: Path, tmp_path: Path) -> None:
    put(root, b"picture.png", b"\x89PNG")
    if sys.platform == "linux":
        put(root, b"new\nline.md", b"the tide turns\n")
        put(root, b"caf\xe9.md", b"lost name\n")
    backup(root, tmp_path / "saved.zip")
    with Memory.open(tmp_path / "other", config=LEXICAL) as memory:
        summary = import_from(memory.workspace, "zip", tmp_path / "saved.zip")
        assert memory.search("ferry").hits
        left = {one.path for one in summary.problems}
        assert "picture.png" in left
        assert not [path for path in left if "manifest" in path]
        if sys.platform == "linux":
            assert "new\nline.md" in summary.paths
            assert "caf\\udce9.md" in left


@POSIX
def test_a_file_that_the_disk_gives_only_in_part_is_left_out_and_not_brought_back(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(root, b"part.md", b"the first half and the second half\n")
    put(root, b"odd\n1.bin", b"fails")
    put(root, b"odd\n2.bin", b"whole")
    calls: list[int] = []

    def sometimes(source: Any, size: int | None = None) -> Iterator[bytes]:
        data = b"".join(blocks(source, size))
        calls.append(len(data))
        if data in {b"the first half and the second half\n", b"fails"} and calls.count(len(data)) == 3:
            yield data[:3]
            raise CutOffError("Input/output error")
        yield data

    monkeypatch.setattr(module, "blocks", sometimes)
    done = backup(root, tmp_path / "saved.zip")
    monkeypatch.setattr(module, "blocks", blocks)
    assert [one.path for one in done.problems] == ["odd\n1.bin", "part.md"]
    assert all("cannot be read to its end" in one.reason for one in done.problems)
    restore(tmp_path / "saved.zip", tmp_path / "back")
    assert at(tmp_path / "back", b"odd\n2.bin").read_bytes() == b"whole"
    assert not (tmp_path / "back/part.md").exists()
    with Memory.open(tmp_path / "other", config=LEXICAL) as memory:
        import_from(memory.workspace, "zip", tmp_path / "saved.zip")
    assert not (tmp_path / "other/part.md").exists()


@POSIX
def test_an_export_names_what_it_could_not_take(root: Path, tmp_path: Path) -> None:
    put(root, b"caf\xe9.md", b"lost name\n")
    os.mkfifo(root / "pipe.md")
    with Memory.open(root, config=LEXICAL) as memory:
        forms: tuple[ExportFormat, ...] = ("zip", "jsonl")
        for form in forms:
            done = export_workspace(memory.workspace, tmp_path / "out", format=form)
            assert not done.complete
            assert {one.path for one in done.problems} == {"caf\\udce9.md", "pipe.md"}


def test_an_import_goes_on_past_a_note_that_cannot_be_read(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (b"vault/a.md", b"vault/closed.md", b"vault/z.md"):
        put(tmp_path, name, name + b" words\n")
    real = platform.open_file

    def closed(path: Path) -> Any:
        if path.name == "closed.md":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(platform, "open_file", closed)
    with Memory.open(root, config=LEXICAL) as memory:
        summary = import_from(memory.workspace, "markdown", tmp_path / "vault")
    assert summary.notes == 2
    assert [one.path for one in summary.problems] == ["closed.md"]


def test_a_folder_that_changes_while_it_is_listed_is_listed_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    (tmp_path / "a.md").touch()

    def without(path: str) -> bool:
        if path == "gone":
            (tmp_path / "gone").rmdir()
        return False

    found = listing.inventory(tmp_path, without=without)
    assert [item.path for item in found.items] == ["a.md"]
    assert found.problems == []
