"""A small bilingual workspace to try things on, and questions that it answers. All of it is invented."""

from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Final

from mnemark.errors import ReadOnlyError, UsageError
from mnemark.files import platform

WORKSPACE: Final = Path(__file__).parent / "workspace"
NOW: Final = datetime(2026, 2, 21, 10, 0, tzinfo=timezone(timedelta(hours=8)))
"""The Saturday on which the questions are asked: "last Friday" is 13 February."""

QUESTIONS: Final = (
    ("what did we decide on vectors?", "memory/2026-02-13.md"),
    ("数据库什么时候迁移？", "memory/2026-01-28.md"),
    ("上周五为什么部署失败？", "memory/2026-02-13.md"),
    ("what am I allergic to?", "USER.md"),
    ("who restarts the service and how?", "notes/运维手册.md"),
    ("what is the wifi password?", ""),
)
"""Questions, each with the file that answers it; the last one has no answer."""


def copy(target: Path) -> None:
    """Copy the sample workspace to `target`, which is made; an empty folder is fine, too.

    Raises:
        UsageError: there is something already.
        ReadOnlyError: it cannot be written.
    """
    try:
        if target.is_file() or (target.is_dir() and any(target.iterdir())):
            raise UsageError(f"{target} is not empty; name a new folder for the demo")
        for source in sorted(WORKSPACE.rglob("*")):
            if source.is_file():
                there = target / source.relative_to(WORKSPACE)
                platform.make_folder(there.parent)
                platform.write_private(there, source.read_bytes())
    except OSError as error:
        raise ReadOnlyError(f"cannot write {target}: {error.strerror}; name another folder") from error
