"""A folder of many small files: index, search, look again, doctor; with the time and memory of each.

    python tools/many_files.py --files 100000

Each step is a process of its own, as a person's command is; what it took at most is what the system says of
it. Exits with 1 where a file is missing from the index, a search finds nothing, or doctor reports something.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_WORDS = ["cache", "index", "vector", "deploy", "backup", "editor", "budget", "部署", "备份", "索引", "会议"]
_IN_A_FOLDER = 500
_DOCTOR = """from mnemark.memory.health.doctor import doctor
    print([one.what for one in doctor(memory.workspace).findings if one.level != "ok"])"""


def make(root: Path, count: int) -> None:
    """Write notes of a few words, each with one that is nowhere else."""
    (root / "memory").mkdir(parents=True)
    for number in range(count):
        folder = root / "memory/notes" / f"{number // _IN_A_FOLDER:04}"
        if number % _IN_A_FOLDER == 0:
            folder.mkdir(parents=True)
        words = " ".join(_WORDS[(number + step * 5) % len(_WORDS)] for step in range(8))
        (folder / f"note-{number}.md").write_text(f"# Note {number}\n\nunique{number} {words}\n", "utf-8")


def step(name: str, code: str, root: Path) -> str:
    """Run code with an open memory in a process of its own; print what it took; return what it printed."""
    program = (
        f"from mnemark.memory.memory import Memory\nfrom pathlib import Path\nroot = Path({str(root)!r})\n"
        f"with Memory.open(root, config={{'embedder': 'none'}}, trusted=True) as memory:\n    {code}\n"
    )
    started = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert process.stdout is not None
    said = process.stdout.read().decode()
    _, status, took = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds, megabytes = time.perf_counter() - started, took.ru_maxrss / 1000
    cpu = took.ru_utime + took.ru_stime
    print(f"{name:22} {seconds:8.2f} s  {cpu:8.2f} s of processor time  {megabytes:7.0f} MB", flush=True)
    if process.returncode:
        raise SystemExit(f"{name} failed")
    return said.strip()


def wrong(root: Path, count: int) -> list[str]:
    """Index and use the folder; return what was wrong."""
    found = []
    report = step("index", "print(memory.sync().files)", root)
    if int(report) != count:
        found.append(f"{report} of {count} files are in the index")
    for number in (0, count // 2, count - 1):
        said = step(f"search for {number}", f"print(memory.search('unique{number}').hits[0].ref)", root)
        if f"note-{number}.md" not in said:
            found.append(f"a search for note {number} found {said}")
    step("sync, nothing changed", "memory.sync()", root)
    (root / "memory/notes/0000/note-0.md").write_text("# Note 0\n\nunique0 changed\n", "utf-8")
    said = step(
        "sync, one changed", "memory.sync(); print(memory.search('unique0 changed').hits[0].ref)", root
    )
    if "note-0.md" not in said:
        found.append(f"a search for the changed note found {said}")
    said = step("doctor", _DOCTOR, root)
    return found + ([f"doctor: {said}"] if said != "[]" else [])


def main() -> int:
    """Make the folder, use it, and print what was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--files", type=int, default=100_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mnemark-files-") as folder:
        root = Path(folder, "w")
        make(root, options.files)
        found = wrong(root, options.files)
    for one in found:
        print(f"wrong: {one}")
    print("failed" if found else "passed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
