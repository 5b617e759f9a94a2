"""Get the other memory of a merge: a folder, a folder on a machine reached by ssh, or a git repository."""

import os
import shlex
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

from mnemark.errors import MnemarkError, NotFoundError, UsageError
from mnemark.files import layout, listing, platform, repository
from mnemark.files.private import private, private_folder
from mnemark.files.reading import digest
from mnemark.memory.merging import bases
from mnemark.memory.merging.bases import Bases
from mnemark.text.lazy_pattern import lazy_pattern

_SECONDS: Final = 600
_CHANGED: Final = 1
"""What tar ends with where a file changed while it was read."""
_SSH: Final = lazy_pattern(r"ssh:(?!//)(?P<host>[^:/]+):(?P<path>.+)|ssh://(?P<host2>[^/]+)(?P<path2>/.+)")
_URL: Final = lazy_pattern(r"(?:https?|git|file)://.+|[\w.-]+@[\w.-]+:.+")
_BARE: Final = ("HEAD", "objects", "refs")
_LEFT: Final = (".git", ".mnemark/index*", ".mnemark/vectors", ".mnemark/state*", ".mnemark/mounts",
                ".mnemark/displaced", ".mnemark/merg*")  # fmt: skip
"""What does not come along by ssh: the other machine's index, and what it notes for itself."""

SKIPPED: Final = frozenset({".git", layout.PRIVATE, "node_modules", "__pycache__"})
"""Folders in which nothing is memory."""
_BASES: Final = f"{layout.PRIVATE}/{bases.FOLDER}"


def comes_along(path: str) -> bool:
    """Whether a path of a folder is sent where the folder is merged elsewhere, or taken in there.

    Beside all that is memory, the versions that its machine had: by them a merge knows what was changed.

    >>> [comes_along(path) for path in ("a/b.jpg", ".git/config", ".mnemark", ".mnemark/bases/list.msgpack")]
    [True, False, True, True]
    """
    if path in {layout.PRIVATE, _BASES} or path.startswith(f"{_BASES}/"):
        return True
    return SKIPPED.isdisjoint(path.split("/"))


def note_sent(folder: Path) -> None:
    """Note which files a folder has now, so that a merge knows what is changed in it from now on.

    Where nothing can be noted, the next merge keeps the lines of both sides.
    """
    if not private(folder).is_dir():
        return
    known = Bases(private(folder))
    with suppress(OSError):
        files = (path for path in listing.walk(folder, skip=SKIPPED).files if not path.endswith(".jsonl"))
        if known.note_seen({path: digest(platform.content(folder / path)) for path in files}):
            known.save()


@contextmanager
def fetched(root: Path, other: str) -> Iterator[Path]:
    """Yield the folder of another memory; what was fetched is deleted again at the end.

    Args:
        root: the workspace that it is merged into.
        other: a folder; `ssh:HOST:PATH` or `ssh://HOST/PATH`; the URL of a git repository, a bare one's
            folder, or the name of one of the workspace's remotes.

    Raises:
        NotFoundError: there is no such folder, or it is no memory.
        UsageError: it is this memory, or lies in it, or around it.
        MnemarkError: it could not be fetched.
    """
    if not other.strip():
        raise UsageError("name the other memory: a folder, ssh:HOST:PATH, or a git remote")
    place = Path(other).expanduser().absolute()
    if found := _SSH.fullmatch(other):
        host, path = found["host"] or found["host2"], found["path"] or found["path2"]
        with _temporary(root) as folder:
            _copy_by_ssh(host, path, folder)
            yield checked(folder, other)
    elif (url := _git_url(root, other, place)) is not None:
        with _temporary(root) as folder:
            _clone(url, folder)
            yield checked(folder, other)
    else:
        if not place.is_dir():
            raise NotFoundError(f"there is no folder {place}; give a folder, ssh:HOST:PATH, or a git remote")
        here, there = Path(os.path.realpath(root)), Path(os.path.realpath(place))
        if here == there:
            raise UsageError(f"{place} is this memory itself")
        if here in there.parents or there in here.parents:
            raise UsageError(f"{place} lies in this memory, or around it; merge a folder beside it")
        yield checked(place, other)


def checked(folder: Path, name: str) -> Path:
    """Return a folder that holds a memory. Raises NotFoundError, which calls another one `name`."""
    has_core = any((folder / one).is_file() for one in ("MEMORY.md", "memory/MEMORY.md"))
    if not (layout.is_workspace(folder) or has_core or any((folder / one).is_dir() for one in layout.LOGS)):
        raise NotFoundError(f"{name} holds no memory: it has neither {layout.CONFIG} nor MEMORY.md")
    return folder


@contextmanager
def _temporary(root: Path) -> Iterator[Path]:
    """Yield an empty folder in `.mnemark` whose name says that it may be swept away."""
    folder = platform.temporary_beside(private_folder(root) / "merged")
    platform.make_folder(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _copy_by_ssh(host: str, path: str, folder: Path) -> None:
    if host.startswith("-"):
        raise UsageError(f"{host!r} is no host")
    if not (ssh := shutil.which("ssh")):
        raise MnemarkError("ssh is not installed")
    left = " ".join(f"--exclude={shlex.quote(f'./{one}')}" for one in _LEFT)
    home, _, rest = path.partition("/")
    place = f'"$HOME"/{shlex.quote(rest)}' if home == "~" else shlex.quote(path)
    command = [ssh, "-o", "BatchMode=yes", "--", host, f"cd {place} && tar -cf - {left} ."]
    with tempfile.TemporaryFile() as errors:  # a pipe that nobody reads would stop the other side
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors) as running:
            try:
                with tarfile.open(fileobj=running.stdout, mode="r|") as archive:
                    for member in archive:
                        if member.isfile() or member.isdir():  # links are followed nowhere
                            archive.extract(member, folder, filter="data")
            except (tarfile.TarError, OSError) as error:
                running.kill()
                raise MnemarkError(f"{host}:{path} could not be copied: {_said(errors) or error}") from error
        if running.returncode not in {0, _CHANGED}:
            raise MnemarkError(f"{host}:{path} could not be copied: {_said(errors)}")


def _said(errors: IO[bytes]) -> str:
    errors.seek(0)
    return _told(errors.read(1 << 16))


def _git_url(root: Path, other: str, place: Path) -> str | None:
    if _URL.fullmatch(other):
        return other
    if all((place / name).exists() for name in _BARE):
        return str(place)
    if place.exists() or "/" in other or not (root / ".git").exists():
        return None
    done = repository.run_plain(("-C", str(root), "remote", "get-url", other), seconds=_SECONDS)
    url = done.stdout.decode("utf-8", "replace").strip()
    return None if done.returncode or not url else str(root / url) if url.startswith(".") else url


def _clone(url: str, folder: Path) -> None:
    words = ("clone", "--quiet", "--depth=1", "--no-tags", "--", url, str(folder))
    done = repository.run_plain(words, seconds=_SECONDS)
    if done.returncode:
        raise MnemarkError(f"{url} could not be fetched: {_told(done.stderr)}")


def _told(stderr: bytes) -> str:
    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:300] if lines else ""
