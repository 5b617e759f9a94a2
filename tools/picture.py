"""Make the picture of the README: what a second session is given, and what is on the disk for it.

    python tools/picture.py      # docs/images/second-session.png and second-session-zh.png

Claude Code's hooks are called as it calls them, with a transcript in its format; the answers of its model are
made up, what mnemark gives and keeps is real. `make browser` installs what it needs.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from base64 import b64encode
from html import escape
from pathlib import Path
from typing import Any, Final, NamedTuple

from playwright.sync_api import Browser, sync_playwright
from screens import LOCALES, ROOT, daemon_in, enter, launched

from mnemark_agents import daemon

SIZE: Final[Any] = {"width": 1360, "height": 486}


class Scene(NamedTuple):
    """What is said in two sessions, and how the picture names its parts."""

    first: str
    reply: str
    second: str
    names: tuple[str, str, str, str, str]


SCENES: Final = {
    "en": Scene(
        "We moved the database to PostgreSQL last night, so drop the MySQL settings. "
        "And write commit messages in the imperative from now on.",
        "Done: config/mysql.toml is gone.",
        "Which database do we use now?",
        (
            "Thursday, in Claude Code",
            "Friday, a new session",
            "mnemark adds, before the model answers",
            "A file that you can read and edit",
            "The same on your page",
        ),
    ),
    "zh": Scene(
        "昨晚我们把数据库换成了 PostgreSQL，MySQL 的配置都删掉吧。以后提交说明一律用中文写。",
        "好了，config/mysql.toml 已删除。",
        "我们现在用的是哪个数据库？",
        (
            "星期四，在 Claude Code 里",
            "星期五，新的会话",
            "模型回答之前，mnemark 补上这些",
            "一个你能读、能改的文件",
            "在你的页面上",
        ),
    ),
}
COMMENT: Final = re.compile(r"&lt;!--.*?--&gt;", re.DOTALL)
STYLE: Final = """
body { margin: 0; padding: 28px; box-sizing: border-box; width: 1360px; height: 486px; background: #f6f4ef;
  font: 16px/1.5 Inter, "Noto Sans", "Noto Sans CJK SC", sans-serif; color: #23211d;
  display: grid; grid-template-columns: 1fr 1fr; gap: 28px; }
h2 { font-size: 14px; font-weight: 600; margin: 0 0 8px; color: #6b6558; }
.side { display: flex; flex-direction: column; gap: 22px; min-width: 0; }
.card { border-radius: 10px; padding: 16px 20px; background: #23211d; color: #f2efe8;
  font: 15px/1.55 "JetBrains Mono", "DejaVu Sans Mono", "Noto Sans Mono CJK SC", monospace; }
.card p { margin: 0; } .card p + p { margin-top: 8px; } .you::before { content: "> "; color: #d9a441; }
.model::before { content: "● "; color: #8fbf7f; }
.given { border-left: 3px solid #d9a441; padding: 6px 0 6px 14px; margin-top: 12px; white-space: pre-wrap;
  overflow-wrap: anywhere; font-size: 13.5px; color: #cfc9bb; }
.given b { display: block; color: #d9a441; font-weight: 600; }
.file { background: #fff; color: #23211d; border: 1px solid #ddd7ca; white-space: pre-wrap;
  overflow-wrap: anywhere; font-size: 13.5px; }
.file i { font-style: normal; color: #9a927f; }
img { width: 100%; border: 1px solid #ddd7ca; border-radius: 10px; display: block; }
"""


class Machine:
    """A home folder with a memory and a repository, and Claude Code's hooks in it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.memory = home / "mnemark"
        self.repository = home / "shop"
        subprocess.run(["git", "init", "-q", str(self.repository)], check=True)
        self._run("connect", "claude-code")

    def _run(self, *words: str, given: str = "") -> str:
        done = subprocess.run(
            [sys.executable, "-m", "mnemark", *words],
            input=given,
            capture_output=True,
            text=True,
            check=True,
            cwd=self.repository,
        )
        return done.stdout

    def hook(self, event: str, session: str, **more: str) -> str:
        """Call a hook and return the text that it gives to the model."""
        data = {
            "session_id": session,
            "cwd": str(self.repository),
            "transcript_path": str(self.home / f"{session}.jsonl"),
            **more,
        }
        said = self._run("hook", event, "-a", "claude-code", "-w", str(self.memory), given=json.dumps(data))
        answer: dict[str, dict[str, str]] = json.loads(said)
        return answer.get("hookSpecificOutput", {}).get("additionalContext", "")

    def session(self, name: str, said: str, reply: str) -> None:
        """Hold a session of one message and its answer."""
        self.hook("session-start", name, source="startup")
        self.hook("prompt", name, prompt=said)
        lines = [
            {
                "type": role,
                "uuid": f"{name}-{role}",
                "timestamp": f"2026-11-26T09:12:{seconds}Z",
                "sessionId": name,
                "cwd": str(self.repository),
                "message": {"role": role, "content": text},
            }
            for role, text, seconds in (("user", said, "04"), ("assistant", reply, "31"))
        ]
        (self.home / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
        self.hook("response", name)
        self.hook("session-end", name, reason="exit")

    def settled(self) -> Path:
        """Wait until what follows a session is written, and return the file of the rule it said."""
        self._run("sync")
        (path,) = self.memory.glob("projects/*/memory/facts/user.md")
        return path


def quoted(block: str) -> str:
    """Return the lines of a recall block without its frame."""
    return "\n".join(line for line in block.splitlines()[2:-1])


def facts_page(browser: Browser, at: daemon.Daemon, machine: Machine, language: str) -> bytes:
    """Return a picture of the list of facts."""
    page = browser.new_context(
        color_scheme="light", locale=LOCALES[language], viewport={"width": 900, "height": 700},
        device_scale_factor=2,
    ).new_page()  # fmt: skip
    page.goto(f"{enter(page, at, machine.memory)}/facts?scope=projects/shop", wait_until="networkidle")
    box = page.locator("main").bounding_box()
    first, last = (
        rows.bounding_box() for rows in (page.locator("main h2").first, page.locator("[data-row]").last)
    )
    assert box is not None
    assert first is not None
    assert last is not None
    top = first["y"] - 9
    shown: bytes = page.screenshot(clip={**box, "y": top, "height": last["y"] + last["height"] + 18 - top})
    page.context.close()
    return shown


def picture(browser: Browser, at: daemon.Daemon, home: Path, language: str) -> None:
    """Write the picture of a language."""
    scene = SCENES[language]
    machine = Machine(home)
    machine.session("first", scene.first, scene.reply)
    file = machine.settled()
    machine.hook("session-start", "second", source="startup")
    given = machine.hook("prompt", "second", prompt=scene.second)
    if not given:
        raise SystemExit(f"{language}: the second session was given nothing")
    thursday, friday, adds, on_disk, on_page = map(escape, scene.names)
    line = COMMENT.sub(r"<i>\g<0></i>", escape(file.read_text("utf-8").strip()))
    shown = b64encode(facts_page(browser, at, machine, language)).decode()
    html = f"""<meta charset="utf-8"><style>{STYLE}</style>
<div class="side"><div><h2>{thursday}</h2><div class="card"><p class="you">{escape(scene.first)}</p>
<p class="model">{escape(scene.reply)}</p></div></div>
<div><h2>{friday}</h2><div class="card"><p class="you">{escape(scene.second)}</p>
<div class="given"><b>{adds}</b>{escape(quoted(given))}</div></div></div></div>
<div class="side"><div><h2>{on_disk}</h2><div class="card file"><b>~/mnemark/{
        file.relative_to(machine.memory)
    }</b>\n{line}</div></div>
<div><h2>{on_page}</h2><img src="data:image/png;base64,{shown}"></div></div>"""
    page = browser.new_context(viewport=SIZE).new_page()
    page.set_content(html)
    page.wait_for_timeout(300)
    target = ROOT / "docs" / "images" / f"second-session{'' if language == 'en' else '-' + language}.png"
    page.screenshot(path=target)
    page.context.close()
    print(target)


def main() -> None:
    """Make the pictures."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        browser = launched(play)
        for language in SCENES:
            home = Path(folder) / language
            home.mkdir()
            os.environ |= {"HOME": str(home), "XDG_CONFIG_HOME": str(home / "config")}
            with daemon_in(home / "state") as at:
                picture(browser, at, home, language)
        browser.close()


if __name__ == "__main__":
    main()
