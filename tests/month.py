"""A month of somebody with an assistant, in each language: fifty talks, notes, claims of pages, an import.

The files in `fixtures/month` are read in order; the builder does through the public API what each row says,
at the row's time of the row's day, and consolidates in each night. The last day is today, and what happens on
it has happened by now. Nobody of these is real. What a row does is one of:

    talk     turns of a session, which ends; `recall` asks memory, `claims` are remembered of its page or tool
    file     a note that somebody writes; `edit`: a fact file that somebody edits
    remember, remember_as_agent, forget, import
    undo_of  a change that is undone again
"""

import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch
from zoneinfo import ZoneInfo

import pytest
import time_machine

from mnemark import Memory
from mnemark.files import platform
from mnemark.files.edit import QUIET

FOLDER: Final = Path(__file__).parent / "fixtures/month"
ZONES: Final = {"en": "Europe/London", "zh": "Asia/Shanghai"}
LANGUAGES: Final = tuple(ZONES)
NIGHT: Final = timedelta(hours=3)
_ROLES: Final = {"u": "user", "a": "assistant"}
_AHEAD: Final = re.compile(r"\{\+(\d+)\}")
_DAY: Final = {"en": "{0:%A} {0.day} {0:%B}", "zh": "{0.month}月{0.day}号"}
"""How somebody writes a day to come."""


def rows(language: str) -> list[dict[str, Any]]:
    """What happens in the month, in order."""
    return [json.loads(line) for line in (FOLDER / f"{language}.jsonl").read_text("utf-8").splitlines()]


def build(language: str, root: Path, last: int | None = None) -> None:
    """Live the month in a folder, or its days up to the last."""
    root.mkdir(parents=True, exist_ok=True)
    Memory.open(root).close()  # a folder with settings that nobody opened before is somebody else's
    (root / "mnemark.toml").write_text(f'embedder = "none"\ntimezone = "{ZONES[language]}"\n', "utf-8")
    _Month(language, root, last).live()


def copy_of(language: str, root: Path, factory: pytest.TempPathFactory, last: int | None = None) -> Path:
    """Copy the month to `root`, or its days up to the last.

    It is made once in a run of the tests, for all its processes.
    """
    base = factory.getbasetemp()
    kept = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    made = kept / (f"month-{language}" if last is None else f"month-{language}-{last}")
    if not made.is_dir():
        with tempfile.TemporaryDirectory(dir=kept) as temporary:
            build(language, Path(temporary) / "month", last)
            try:
                (Path(temporary) / "month").rename(made)
            except OSError:  # another process was first: its month is the same
                assert made.is_dir()
    return shutil.copytree(made, root, dirs_exist_ok=True)


class _Dated(platform.FileSystem):
    """Files carry the times of the clock, of which the disk knows nothing, and none waits for quiet."""

    def write(self, fd: int, data: memoryview) -> int:
        """Write, as it was a moment ago."""
        count = super().write(fd, data)
        _date(fd)
        return count

    def sync(self, fd: int) -> None:
        """Do without: the month is made anew where it is lost."""

    def sync_folder(self, folder: Path) -> None:
        """Do without."""


def _date(file: int | Path) -> None:
    saved = datetime.now(UTC).timestamp() - 2 * QUIET
    os.utime(file, (saved, saved))


class _Month:
    def __init__(self, language: str, root: Path, last: int | None) -> None:
        self.language = language
        self.root = root
        self.rows = [row for row in rows(language) if last is None or row["day"] <= last]
        self.now = datetime.now(ZoneInfo(ZONES[language]))
        self.last = self.rows[-1]["day"]

    def live(self) -> None:
        """Do what the rows say, and consolidate in the nights between."""
        begin = self._midnight(0)
        with (
            patch.object(platform, "FS", _Dated()),
            time_machine.travel(begin) as clock,
            Memory.open(self.root, trusted=True) as memory,
        ):
            day = 0
            for row in self.rows:
                for night in range(day + 1, row["day"] + 1):
                    clock.move_to(self._midnight(night) + NIGHT)
                    memory.consolidate()
                day = row["day"]
                clock.move_to(self._time(row))
                self._do(memory, row)
            memory.sync()

    def _midnight(self, day: int) -> datetime:
        today = self.now.replace(hour=0, minute=0, second=0, microsecond=0)
        return today - timedelta(days=self.last - day)

    def _time(self, row: Mapping[str, Any]) -> datetime:
        hour, minute = map(int, row["at"].split(":"))
        gone = timedelta(hours=hour, minutes=minute)
        if row["day"] == self.last:  # the share of the day that is over
            gone = (self.now - self._midnight(self.last)) * (gone / timedelta(days=1))
        return self._midnight(row["day"]) + gone

    def _do(self, memory: Memory, row: Mapping[str, Any]) -> None:
        (kind,) = [name for name in row if hasattr(self, f"_{name}") and name not in {"day", "at"}]
        getattr(self, f"_{kind}")(memory, row)

    def _talk(self, memory: Memory, row: Mapping[str, Any]) -> None:
        if "recall" in row:
            memory.recall(row["recall"], deadline=5.0)
        talk = memory.session(row["talk"])
        at = self._time(row)
        turns = []
        for number, (role, said) in enumerate(row["turns"]):
            time = at + timedelta(seconds=40 * number)
            if role == "tool":
                call = {"name": said["name"], "arguments": said["arguments"]}
                turns.append(talk.turn("assistant", "", time=time, tool_calls=[call]))
                turns.append(talk.turn("tool", said["result"], time=time + timedelta(seconds=5)))
                talk.observe(said["name"], said["arguments"], said["result"], time=time)
            else:
                turns.append(talk.turn(_ROLES[role], self._said(said, row["day"]), time=time))
        talk.add_many(turns)
        talk.end()
        said_by_tool = next((n for n, (role, _) in enumerate(row["turns"]) if role == "tool"), 0)
        for subject, predicate, value, origin in row.get("claims", ()):
            source = f"{talk.path}#L{said_by_tool + 3}"
            memory.remember(predicate, value, subject=subject, origin=origin, source=source)

    def _said(self, text: str, day: int) -> str:
        def written(found: re.Match[str]) -> str:
            return _DAY[self.language].format(self._midnight(day + int(found[1])))

        return _AHEAD.sub(written, text)

    def _file(self, _: Memory, row: Mapping[str, Any]) -> None:
        path = self.root / row["file"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(row["text"], "utf-8")
        _date(path)

    def _edit(self, memory: Memory, row: Mapping[str, Any]) -> None:
        edit = row["edit"]
        path = self.root / edit["path"]
        text = path.read_text("utf-8")
        assert edit["old"] in text, (edit, text)
        path.write_text(text.replace(edit["old"], edit["new"]), "utf-8")
        _date(path)
        memory.sync()

    def _remember(self, memory: Memory, row: Mapping[str, Any]) -> None:
        memory.remember(**row["remember"])

    def _remember_as_agent(self, memory: Memory, row: Mapping[str, Any]) -> None:
        memory.remember(**row["remember_as_agent"])

    def _forget(self, memory: Memory, row: Mapping[str, Any]) -> None:
        assert memory.forget(**row["forget"]).items, row

    def _undo_of(self, memory: Memory, row: Mapping[str, Any]) -> None:
        self._do(memory, row["undo_of"])
        assert memory.undo(), row

    def _import(self, memory: Memory, row: Mapping[str, Any]) -> None:
        with tempfile.TemporaryDirectory() as temporary:
            export = Path(temporary) / "conversations.json"
            export.write_text(json.dumps(list(self._exported(row)), ensure_ascii=False), "utf-8")
            assert memory.import_(row["import"], export).turns

    def _exported(self, row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """The export of ChatGPT with the talks of `chatgpt-LANGUAGE.json`, from the months before."""
        given = json.loads((FOLDER / f"chatgpt-{self.language}.json").read_text("utf-8"))
        for number, talk in enumerate(given["talks"]):
            at = self._midnight(row["day"] - talk["days_before"]).timestamp() + 36_000
            yield _of_chatgpt(number, talk, at, given["remembers"] if number == 0 else "")


def _of_chatgpt(number: int, talk: Mapping[str, Any], at: float, remembers: str) -> dict[str, Any]:
    nodes: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None}}
    known = {"content_type": "model_editable_context", "model_set_context": remembers}
    said: list[tuple[str, dict[str, Any]]] = [("system", known)] if remembers else []
    said += [(_ROLES[role], {"content_type": "text", "parts": [text]}) for role, text in talk["turns"]]
    last = "root"
    for place, (role, content) in enumerate(said):
        key = f"{number}-{place}"
        message = {"id": key, "author": {"role": role}, "content": content, "create_time": at + 60 * place}
        nodes[key] = {"id": key, "message": message, "parent": last}
        last = key
    name = f"gpt-{number}"
    return {"id": name, "conversation_id": name, "title": talk["title"], "create_time": at,
            "mapping": nodes, "current_node": last}  # fmt: skip


if __name__ == "__main__":
    build(sys.argv[1], Path(sys.argv[2]))
