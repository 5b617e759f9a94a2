"""The Python on the pages of the documentation runs as it stands."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import running_pages
from llm.scripted_chat import says, serve
from mnemark import Memory

DOCS = Path(__file__).parents[1] / "docs"
ELSEWHERE = {
    "agents/frameworks.md": "adapters/test_frameworks_page.py",
    "howto/langgraph.md": "adapters/test_frameworks_page.py",
    "agents/openakita.md": "adapters/test_openakita_agent.py",
    "server.md": "server/test_remote.py",
}
FOLLOWED = {"howto/chinese.md", "howto/models.md", "howto/users.md"}
"""Pages that `test_docs_run.py` follows, with all their blocks."""

PAGES = ("daemon", "embedders", "identity", "llm", "prompt", "python", "sessions")


def blocks(page: str) -> list[str]:
    return running_pages.python(DOCS / page)


def test_every_page_with_python_is_tried() -> None:
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md") if running_pages.python(path)}
    assert pages == {f"{name}.md" for name in PAGES} | ELSEWHERE.keys() | FOLLOWED


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    """Run the blocks of a page one after the other, with what it takes as given."""
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    for name in ("OPENAI_API_KEY", "DASHSCOPE_API_KEY"):
        monkeypatch.setenv(name, "none")

    def run(page: str, **given: Any) -> dict[str, Any]:
        for code in blocks(page):
            exec(code, given)
        return given

    return run


def test_sessions(run: Callable[..., dict[str, Any]]) -> None:
    assert run("sessions.md")["ended"].summary


def test_python(run: Callable[..., dict[str, Any]]) -> None:
    assert "peanuts" in run("python.md")["prompt"]


def test_prompt(run: Callable[..., dict[str, Any]], capsys: pytest.CaptureFixture[str]) -> None:
    first, second = blocks("prompt.md")
    given: dict[str, Any] = {}
    exec(first, given)
    assert "core" in capsys.readouterr().out
    with Memory.open("~/agent") as memory:
        given["session"] = memory.session("cli:main")
        exec(second, given)
    assert given["messages"]


def test_identity(run: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    (tmp_path / "agents/kai").mkdir(parents=True)
    (tmp_path / "agents/kai/SOUL.md").write_text("# Soul\n\n- Answers briefly.\n", "utf-8")
    with Memory.open(tmp_path) as memory:
        assert run("identity.md", memory=memory)["found"].parts


def test_embedders(run: Callable[..., dict[str, Any]]) -> None:
    made = run("embedders.md")
    assert [made[name].dimension for name in ("openai", "dashscope")] == [512, 512]


def test_daemon_without_one(run: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(Path.home() / "state"))
    assert run("daemon.md")["running"] is None


def test_llm() -> None:
    given: dict[str, Any] = {"my_model": lambda text: text}
    with serve() as server:
        server.steps = [says('{"facts": [{"predicate": "lives in", "value": "杭州"}]}')]
        for code in blocks("llm.md"):
            assert "localhost:11434" in code or "from_callable" in code
            exec(code.replace("http://localhost:11434/v1", server.url), given)
    assert [fact.value for fact in given["answer"].value.facts] == ["杭州"]
    assert given["llm"]
