"""What tools did: kept once, without secrets, found at once, named in the day's note, archived whole."""

import json
import multiprocessing
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemark import Memory, UsageError
from mnemark.memory.sessions import observations, observing
from mnemark.summary.tool_titles import is_significant, outcome_of, title_of

WHEN = datetime.fromisoformat("2026-02-13T14:02:00+08:00")
CONFIG = {"embedder": "none", "timezone": "Asia/Shanghai"}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path, config=CONFIG) as found:
        yield found


def note(memory: Memory, path: str = "memory/2026-02-13.md") -> str:
    return (memory.root / path).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("tool", "arguments", "kept"),
    [
        ("exec", {"command": "make test"}, True),
        ("Bash", {"command": "ls -la | head -5"}, False),
        ("Bash", {"command": "ls > files.txt"}, True),
        ("shell", {"command": ["git", "status"]}, False),
        ("run_command", {"cmd": "git commit -m x"}, True),
        ("find", {"command": "find . -delete"}, False),
        ("functions.exec_command", {"cmd": "find . -name '*.pyc' -delete"}, True),
        ("mcp__git__commit", {"message": "fix"}, True),
        ("WebFetch", {"url": "https://example.org/a"}, True),
        ("NotebookEdit", {"notebook_path": "a.ipynb"}, True),
        ("read_file", {"path": "a"}, False),
        ("list_dir", {"path": "."}, False),
        ("Grep", {"pattern": "x"}, False),
        ("memory_search", {"query": "x"}, False),
        ("发送消息", {"text": "你好"}, False),
        ("", {}, False),
        ("🛠", None, False),
    ],
)
def test_what_matters(tool: str, arguments: object, *, kept: bool) -> None:
    assert is_significant(tool, arguments) is kept


def test_the_list_can_be_one_s_own(memory: Memory) -> None:
    session = memory.session("s")
    assert session.observe("发送消息", {"text": "你好"}, "ok", tools=["发送*"]) is not None
    assert session.observe("exec", {"command": "make"}, "ok", tools=["发送*"]) is None
    assert session.observe("exec", {"command": "make"}, "ok", tools=["exec", "!ex*"]) is None


@pytest.mark.parametrize(
    ("result", "error", "title"),
    [
        ("1 failed\nexit code: 2", None, "exec: make test failed (exit 2)"),
        ({"stdout": "", "exit_code": 0}, None, "exec: make test"),
        ({"stdout": "", "returncode": 1}, None, "exec: make test failed (exit 1)"),
        ({"content": "no", "is_error": True}, None, "exec: make test failed"),
        ("", "TimeoutError: 30 s", "exec: make test failed (TimeoutError)"),
        ("Traceback (most recent call last):\nValueError: x", None, "exec: make test failed (ValueError)"),
        ("error handling was improved in 3 places", None, "exec: make test"),
        ("error: no rule", None, "exec: make test failed"),
        ("All good: 0 errors", None, "exec: make test"),
        ("错误：找不到文件", None, "exec: make test failed"),
    ],
)
def test_titles_say_how_it_went(result: object, error: str | None, title: str) -> None:
    arguments = {"command": "make test"}
    assert title_of("exec", arguments, outcome_of(result, error)) == title


def test_found_at_once_and_after_a_sync_with_session_date_and_origin(memory: Memory) -> None:
    made = memory.session("cli:main").observe("exec", {"command": "make test"}, "exit code: 2", time=WHEN)
    assert made is not None
    assert made.failed
    for _ in range(2):
        found = memory.search("make test failed", kinds=["observation"])
        hit = found.hits[0]
        assert (hit.kind, hit.origin, hit.title, hit.date) == (
            "observation", "tool", "cli:main", "2026-02-13T14:02:00+08:00"
        )  # fmt: skip
        assert found.complete
        assert "make test" in memory.read(hit.ref)
        memory.sync()


def test_found_after_a_sync_in_a_journal_of_years(memory: Memory) -> None:
    session = memory.session("cli:main")
    session.observe("Bash", {"command": "make quarry"}, result="the quarry is built")
    (journal,) = (memory.root / "journal").glob("*.jsonl")
    line = json.dumps({"id": "01KHB2R4T8W5Q7M9X1Z3C6V8N0", "kind": "older", "payload": "x" * 1000}) + "\n"
    with journal.open("a") as file:
        file.write(line * 18_000)
    session.observe("Bash", {"command": "make harbour"}, result="the harbour is built")
    memory.sync()
    for words in ("quarry", "harbour"):
        found = memory.search(words)
        assert found.complete
        assert words in found.hits[0].text


def test_another_scope_does_not_see_it(memory: Memory) -> None:
    memory.session("s", user="ann").observe("commit", {"message": "修复解析器"}, "ok", time=WHEN)
    for _ in range(2):
        assert not memory.search("解析器").hits
        (hit,) = memory.search("解析器", scope="users/ann", kinds=["observation"]).hits[:1]
        assert hit.scope == "users/ann"
        memory.sync()
    assert "修复解析器" in note(memory, "users/ann/memory/2026-02-13.md")
    assert not (memory.root / "memory").exists()
    # The scope lives on in the index when its last file is gone.
    (memory.root / "users/ann/memory/2026-02-13.md").unlink()
    memory.sync()
    assert memory.search("解析器", scope="users/ann", kinds=["observation"]).hits


def test_once_for_each_execution(memory: Memory) -> None:
    session = memory.session("s")
    assert session.observe("exec", {"command": "make"}, "ok", call="c1")
    assert session.observe("exec", {"command": "make"}, "ok again", call="c1") is None
    assert session.observe("exec", {"command": "make"}, "ok", call="c2")
    assert session.observe("exec", {"command": "make b"}, "ok")
    assert session.observe("exec", {"command": "make b"}, "ok") is None
    assert session.observe("exec", {"command": "make b"}, "failed")
    assert memory.session("other").observe("exec", {"command": "make"}, "ok", call="c1")
    with Memory.open(memory.root, config=CONFIG) as later:
        assert later.session("s").observe("exec", {"command": "make"}, "ok", call="c1") is None


def test_secrets_are_gone_before_anything_is_cut(memory: Memory) -> None:
    secret = "sk-" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY"
    # The cut falls into the middle of the secret: half of it would match no rule any more.
    at = observing.RESULT_CHARACTERS * 2 // 3 - 12
    result = "x " * (at // 2) + f"token {secret} " + "y " * 4_000
    memory.session("s").observe(
        "exec", {"command": f"curl -H 'Authorization: Bearer {secret}' x", "env": {"API_KEY": secret}}, result
    )
    memory.session("s").observe("exec", {"command": "make"}, "", error=f"denied: {secret}")
    memory.sync()
    for path in memory.root.rglob("*"):
        if path.is_file():
            assert secret[3:15].encode() not in path.read_bytes(), path


def test_a_huge_result_keeps_head_and_tail(memory: Memory) -> None:
    lines = [f"line {number}" for number in range(100_000)]
    memory.session("s").observe("exec", {"command": "make", "stdin": "z" * 50_000}, "\n".join(lines))
    (line,) = [one for one in journal(memory) if one["kind"] == "observe"]
    payload = line["payload"]
    assert len(json.dumps(payload)) < 8_000
    assert payload["result"].startswith("line 0\nline 1\n")
    assert payload["result"].endswith("\nline 99999")
    assert "characters left out" in payload["result"]


def test_what_is_no_json_is_refused(memory: Memory) -> None:
    with pytest.raises(UsageError):
        memory.session("s").observe("exec", {"command": object()}, "ok")
    assert not (memory.root / "journal").exists()


def test_recalled_text_is_not_kept(memory: Memory) -> None:
    block = "<mnemark-recall 0123456789abcdef memory>\nrecalled words\n</mnemark-recall 0123456789abcdef>"
    memory.session("s").observe("exec", {"command": "make"}, f"before\n{block}\nafter")
    assert "recalled words" not in str(list(journal(memory)))


def test_a_line_a_person_took_out_stays_out(memory: Memory) -> None:
    session = memory.session("s")
    session.observe("exec", {"command": "make one"}, "ok", time=WHEN)
    session.observe("exec", {"command": "make two"}, "ok", time=WHEN)
    memory.sync()
    path = memory.root / "memory/2026-02-13.md"
    kept = [line for line in note(memory).splitlines() if "make one" not in line]
    path.write_text("\n".join([*kept, "", "## Evening", "by hand", ""]), encoding="utf-8")
    session.observe("exec", {"command": "make three"}, "ok", time=WHEN)
    observations.note_down(memory.workspace, timeout=3)
    text = note(memory)
    assert "make one" not in text
    assert text.index("make two") < text.index("make three") < text.index("## Evening")
    assert observations.note_down(memory.workspace) == 0


def test_after_a_month_they_are_in_the_archive_and_nothing_is_lost(memory: Memory) -> None:
    session = memory.session("s")
    session.observe("exec", {"command": "make old"}, "a ``` fence\nand more", time=WHEN, duration_ms=12)
    session.observe("exec", {"command": "make new"}, "ok", time=WHEN + timedelta(days=20))
    memory.remember("editor", "vim")
    memory.sync()
    moved = observations.age_out(memory.workspace, WHEN + timedelta(days=31))
    assert moved.paths == ("memory/archive/observations/2026-02.md",)
    assert len(moved.ids) == 1
    archive = note(memory, moved.paths[0])
    assert "make old" in archive
    assert "a ``` fence\nand more" in archive
    assert "make new" not in archive
    assert observations.age_out(memory.workspace, WHEN + timedelta(days=31)).ids == ()
    assert note(memory, moved.paths[0]) == archive
    memory.sync()
    found = memory.search("make old", kinds=["observation"], archived=True).hits
    assert moved.paths[0] in {hit.path for hit in found}
    assert not any(hit.path.startswith("journal/") and "make old" in hit.text for hit in found)
    assert [fact.value for fact in memory.facts()] == ["vim"]


def journal(memory: Memory) -> Iterator[dict[str, Any]]:
    for path in (memory.root / "journal").glob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            if record:
                yield record


def record_side_by_side(root: str, who: int) -> None:
    with Memory.open(root, config=CONFIG) as memory:
        session = memory.session("shared")
        for number in range(25):
            session.add("user", f"turn {who} {number}")
            session.observe("exec", {"command": f"make {number}"}, "ok", call=f"call-{number}")


def test_two_processes_in_one_session(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    children = [context.Process(target=record_side_by_side, args=(str(tmp_path), who)) for who in (1, 2)]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
        assert child.exitcode == 0
    with Memory.open(tmp_path, config=CONFIG) as memory:
        said = [one.turn.content for one in memory.turns(session="shared", limit=None)]
        assert sorted(said) == sorted(f"turn {who} {number}" for who in (1, 2) for number in range(25))
        kept = [one["payload"] for one in journal(memory) if one["kind"] == "observe"]
        assert len(kept) == 25


def test_arguments_without_end_are_cut(memory: Memory) -> None:
    many = {f"key {n}": "v" * 1_900 for n in range(2_000)}
    assert memory.session("s").observe("write_file", {"path": "a.txt", "more": many}, "ok") is not None
    journal = next((memory.root / "journal").glob("*.jsonl"))
    assert journal.stat().st_size < 20_000
    assert "a.txt" in journal.read_text(encoding="utf-8")


def test_half_a_surrogate_pair_loses_no_observation(memory: Memory) -> None:
    assert memory.session("s").observe("write_file", {"path": "a\ud800"}, {"out": "\udc00"}) is not None
    assert memory.session("s").observe("exec", {"command": "make"}, "\ud83d cut", call="1") is not None
