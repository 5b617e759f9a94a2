"""A person at an editor, as far as a file can tell."""

import os
import random
import time
from pathlib import Path

from mnemark.files.edit import PATIENCE, QUIET, EditResult, edit
from mnemark.files.truth import Folder


def save(path: Path, line: str, *, in_place: bool, chance: random.Random, pause: float) -> None:
    """Load a note, add a line somewhere, and save: by a new file renamed over it, or in place.

    In place is what most programs do: truncate, then two writes, with `pause` seconds at most in between.
    """
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    time.sleep(chance.uniform(0, pause))
    lines.insert(chance.randint(max(0, len(lines) - 5), len(lines)), line)
    text = "\n".join(lines) + "\n"
    if not in_place:
        draft = path.with_name(f".{path.name}.draft")
        draft.write_text(text, encoding="utf-8")
        time.sleep(chance.uniform(0, pause))
        draft.replace(path)
        return
    fd = os.open(path, os.O_WRONLY | os.O_CREAT)
    time.sleep(chance.uniform(0, pause))
    os.ftruncate(fd, 0)
    data = text.encode()
    os.write(fd, data[: len(data) // 2])
    time.sleep(chance.uniform(0, pause))
    os.write(fd, data[len(data) // 2 :])
    os.close(fd)


def work(path: Path, count: int, *, pause: float, rest: float, seed: int) -> None:
    """Save `count` lines, resting up to `rest` seconds after each."""
    chance = random.Random(seed)
    for number in range(count):
        save(path, f"- person {number}.", in_place=number % 2 == 0, chance=chance, pause=pause)
        time.sleep(chance.uniform(0, rest))


def append_text(
    root: Path, path: str | Path, text: str, *, quiet: float = QUIET, timeout: float = PATIENCE
) -> EditResult:
    """Append lines to a note, on a line of their own, as mnemark edits files."""
    added = text.encode("utf-8", "replace")

    def change(content: bytes) -> bytes:
        between = b"\n" if content and not content.endswith(b"\n") else b""
        return content + between + added + (b"" if added.endswith(b"\n") else b"\n")

    return edit(Folder(root), path, change, quiet=quiet, timeout=timeout)
