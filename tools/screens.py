"""Make the pictures of the pages in README and docs, from the sample workspace, with Chromium.

    python tools/screens.py [FOLDER]        # docs/images by default; `make browser` installs what it needs

Starts a daemon of its own, with a state folder of its own.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from mnemark import Memory, demo
from mnemark_agents import daemon

ROOT = Path(__file__).parent.parent
SCREENS = (
    ("web-search", "search?q=what+did+we+decide+on+vectors", {"color_scheme": "light", "locale": "en-US"}),
    ("web-review", "review", {"color_scheme": "light", "locale": "en-US"}),
    ("web-timeline-zh", "timeline?kind=turn", {"color_scheme": "dark", "locale": "zh-CN"}),
)
"""Name of the picture, its page, and the settings of the browser."""
SIZE = {"width": 1100, "height": 720}
_START_SECONDS = 30.0


def fill(root: Path) -> None:
    """Copy the sample workspace, with some conversations of the last days and facts that wait for review."""
    demo.copy(root)
    with Memory.open(root, trusted=True) as memory:
        now = memory.workspace.now()
        for days, user, answer in (
            (
                9,
                "I moved to Lisbon in March, so plan with that time zone.",
                "Noted: Lisbon time from now on.",
            ),
            (4, "数据库迁移完成了吗？", "完成了：周三晚上迁到 PostgreSQL 17，备份在三点照常跑完。"),
            (1, "Which editor did I settle on?", "Helix; you replaced Vim in the autumn."),
        ):
            log = memory.session(f"cli:{days}")
            at = (now - timedelta(days=days)).replace(hour=10, minute=12)
            later = at + timedelta(minutes=1)
            log.add_many([log.turn("user", user, time=at), log.turn("assistant", answer, time=later)])
            log.end()
        memory.remember("city", "Lisbon", since=(now - timedelta(days=9)).isoformat())
        memory.remember("editor", "Helix")
        path = memory.session("cli:9").path
        memory.remember("city", "Porto", origin="web", source=f"{path}#L2")
        memory.remember("deploy window", "Friday 17:00", subject="project harbour", origin="tool")
        memory.accept("edits")
        memory.sync()


@contextmanager
def daemon_in(state: Path) -> Iterator[daemon.Daemon]:
    """Run a daemon with this state folder."""
    os.environ["XDG_STATE_HOME"] = str(state)
    process = subprocess.Popen([sys.executable, "-m", "mnemark", "serve", "--no-nightly"])
    try:
        deadline = time.monotonic() + _START_SECONDS
        while (found := daemon.find()) is None:
            if time.monotonic() > deadline:
                raise SystemExit("the daemon did not start")
            time.sleep(0.05)
        yield found
    finally:
        process.terminate()
        process.wait()


def main() -> None:
    """Take the pictures."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images"
    target.mkdir(parents=True, exist_ok=True)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    sandbox = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        root = Path(folder) / "agent"
        fill(root)
        browser = play.chromium.launch(executable_path=chromium, args=sandbox)
        with daemon_in(Path(folder) / "state") as at:
            for name, page, settings in SCREENS:
                given: dict[str, Any] = {**settings, "viewport": SIZE}
                window = browser.new_context(**given).new_page()
                made = daemon.post("/v1/ui/ticket", {"workspace": str(root)}, daemon=at)
                window.goto(at.url + made["path"])
                window.locator("#ticket").fill(made["ticket"])
                window.get_by_role("button").click()
                window.wait_for_url("**/w/*")
                window.goto(f"{window.url}/{page}")
                window.screenshot(path=target / f"{name}.png")
                print(target / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
