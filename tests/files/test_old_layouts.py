"""That memories of other programs open or come over whole, once, and stay where they were."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemark import Memory
from mnemark.errors import NotFoundError
from mnemark.files import layout, new_workspace
from mnemark.files.old_layouts import FACTS, MARKER, OldFile, detect, unread
from mnemark.files.scan import scan
from mnemark.files.sessions import SessionLog, list_sessions
from mnemark.files.truth import Folder
from mnemark.memory.health.doctor import doctor
from mnemark_adapters.importers.old_layouts import fact_bullets, migrate, target_of

MEMORIES: list[dict[str, Any]] = [
    {
        "id": "m-1",
        "type": "FACT",
        "priority": "LONG_TERM",
        "subject": "用户",
        "predicate": "Python 版本",
        "content": "3.10",
        "source": "turn_ai",
        "tags": ["python", "a|b"],
        "importance_score": 0.8,
        "confidence": 0.9,
        "created_at": "2026-02-19T10:00:00",
        "updated_at": "2026-02-20T10:00:00",
        "superseded_by": "m-2",
    },
    {
        "id": "m-2",
        "type": "fact",
        "subject": "用户",
        "predicate": "Python 版本",
        "content": "3.12",
        "created_at": "2026-02-20T09:30:00",
    },
    {"id": "m-3", "type": "preference", "content": "喜欢简洁的回答\n--> 真的", "created_at": "not a date"},
    {"id": "m-4", "content": ""},
]
TURNS: list[dict[str, Any]] = [
    {"role": "user", "content": "升级到 3.12 了", "timestamp": "2026-02-20T09:30:00"},
    {
        "role": "assistant",
        "content": "好的",
        "timestamp": "2026-02-20T09:30:05",
        "tool_calls": [{"name": "exec"}],
    },
    {
        "role": "assistant",
        "content": "好的",
        "timestamp": "2026-02-20T09:30:05",
        "tool_calls": [{"name": "exec"}],
    },
]


def fill(root: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def snapshot(root: Path) -> dict[str, bytes]:
    """Return the files but those of `.mnemark`, such as the lock of a change."""
    files = {path.relative_to(root): path for path in root.rglob("*") if path.is_file()}
    return {
        name.as_posix(): path.read_bytes() for name, path in files.items() if ".mnemark" not in name.parts
    }


def lines(items: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items)


@pytest.fixture
def openakita(tmp_path: Path) -> Path:
    return fill(
        tmp_path / "akita",
        {
            "identity/SOUL.md": "# Soul\n",
            "identity/MEMORY.md": "# 核心记忆\n",
            "identity/compiled/soul.summary.md": "derived\n",
            "identity/personas/jarvis.md": "jarvis\n",
            "data/memory/memories.json": json.dumps(MEMORIES, ensure_ascii=False),
            "data/memory/conversation_history/s1.jsonl": lines(TURNS),
            "data/memory/daily_summaries/2026-02-20.md": "report\n",
            "data/memory/openakita.db": "",
            "src/README.md": "code\n",
        },
    )


NANOBOT = {
    "memory/MEMORY.md": "# Long-term\n",
    "memory/2026-02-11.md": "# 2026-02-11\n\n- 讨论了选型\n",
    "AGENTS.md": "# Agents\n",
    "sessions/cli_main.jsonl": lines([{"_type": "metadata", "key": "cli:main"}, *TURNS]),
}


def test_layouts_are_told_apart(tmp_path: Path, openakita: Path) -> None:
    def kind(root: Path) -> tuple[str, bool] | None:
        found = detect(root)
        return (found.kind, found.opens_as_is) if found else None

    (tmp_path / "empty").mkdir()
    assert kind(tmp_path / "nowhere") is None
    assert kind(tmp_path / "empty") is None
    assert kind(openakita) == ("openakita", False)
    assert kind(fill(tmp_path / "n", NANOBOT)) == ("nanobot", True)
    assert kind(fill(tmp_path / "home", {f"workspace/{path}": text for path, text in NANOBOT.items()})) == (
        "nanobot",
        True,
    )
    assert kind(fill(tmp_path / "d", {"MEMORY.md": "x", "notes/2026-02-11.md": "x"})) == (
        "nanobot-data",
        True,
    )
    claw = fill(tmp_path / "c", {"MEMORY.md": "x", "memory/2026-02-11.md": "x", "SOUL.md": "x"})
    assert kind(claw) == ("openclaw", True)
    new_workspace.init(claw)
    assert kind(claw) is None  # it is ours now


def test_an_openclaw_workspace_opens_as_it_is(tmp_path: Path) -> None:
    root = fill(
        tmp_path,
        {
            "MEMORY.md": "x",
            "SOUL.md": "x",
            "USER.md": "x",
            "memory/2026-02-11.md": "x",
            "skills/a/SKILL.md": "x",
        },
    )
    before = snapshot(root)
    assert migrate(root, Folder(root)) == []
    assert snapshot(root) == before
    assert {entry.path for entry in scan(root).entries} == set(before)


def test_openakita_comes_over_whole(tmp_path: Path, openakita: Path) -> None:
    target = tmp_path / "w"
    new_workspace.init(target)
    before = snapshot(openakita)
    steps = migrate(openakita, Folder(target))

    assert snapshot(openakita) == before
    assert (target / "SOUL.md").read_text() == "# Soul\n"
    assert (target / "MEMORY.md").read_text(encoding="utf-8") == "# 核心记忆\n"
    assert (target / "personas/jarvis.md").exists()
    assert (target / "memory/daily_summaries/2026-02-20.md").exists()
    assert not list(target.rglob("*summary*"))
    assert not list(target.rglob("README*"))
    assert (
        OldFile("facts", "data/memory/memories.json", FACTS, "1 entries without words left out", 3) in steps
    )
    left = {step.source: step for step in steps if step.action == "left"}
    assert set(left) == {"", "data/memory/openakita.db"}
    assert left[""].count == 2


def test_turns_keep_dates_roles_and_repeated_words(tmp_path: Path, openakita: Path) -> None:
    target = tmp_path / "w"
    migrate(openakita, Folder(target))
    (session,) = list_sessions(target)
    assert session.id != ""
    turns = [placed.turn for placed in SessionLog.at(target, f"sessions/{session.path.name}").turns()]
    assert [(turn.role, turn.content, turn.time.isoformat()) for turn in turns] == [
        (turn["role"], turn["content"], turn["timestamp"]) for turn in TURNS
    ]
    assert [len(turn.tool_calls) for turn in turns] == [0, 1, 1]


def test_memories_become_facts(tmp_path: Path) -> None:
    old, new, plain = fact_bullets(json.dumps(MEMORIES).encode()).bullets.items()
    assert old[1].startswith("- ~~**Python 版本**: 3.10~~ <!-- id: ")
    for part in (
        "type: fact",
        "priority: long",
        "subject: 用户",
        "since: 2026-02-19T10:00:00",
        "until: 2026-02-20T09:30:00",
        "origin: import",
        "importance: 0.8",
        "confidence: 0.9",
        "tags: python, a/b",
        "source: turn_ai",
    ):
        assert f" {part} " in old[1]
    assert new[1].startswith("- **Python 版本**: 3.12 <!-- id: ")
    assert f"supersedes: {old[0]} -->" in new[1]
    assert "until" not in new[1]
    assert plain[1].startswith("- 喜欢简洁的回答 -- > 真的 <!-- ")
    assert "since" not in plain[1]


@pytest.mark.parametrize(
    "wrapped", [lambda m: {"memories": m}, lambda m: {entry["id"]: entry for entry in m}, lambda m: m]
)
def test_all_shapes_of_memories_say_the_same(wrapped: Any) -> None:
    assert fact_bullets(json.dumps(wrapped(MEMORIES)).encode()) == fact_bullets(json.dumps(MEMORIES).encode())


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
entries = st.fixed_dictionaries(
    {"content": st.text(min_size=1, max_size=20) | st.sampled_from(["a --> b", "<!-- c", "x\n- y"])},
    optional={
        key: json_values
        | st.sampled_from(["a | id: x", "-->", "2026-02-19", "2026-02-19\n10:00", "2026-02-19|10:00"])
        for key in (*MEMORIES[0],)
        if key != "content"
    },
)


@given(st.lists(entries | json_values, max_size=4))
def test_any_memories_give_one_closed_line_each(memories: list[Any]) -> None:
    data = json.dumps(memories).encode()
    found = fact_bullets(data)
    assert found == fact_bullets(data)
    for key, bullet in found.bullets.items():
        assert bullet.count("<!--") == bullet.count("-->") == 1
        assert bullet.endswith(" -->")
        assert len(bullet.splitlines()) == 1
        assert bullet.split("<!-- ")[1].startswith(f"id: {key} | type: ")


def test_a_second_run_changes_nothing(tmp_path: Path, openakita: Path) -> None:
    target = tmp_path / "w"
    migrate(openakita, Folder(target))
    before = snapshot(target)
    assert {step.action for step in migrate(openakita, Folder(target))} == {"same", "left"}
    assert snapshot(target) == before
    (target / MARKER).unlink()  # without the note, contents are compared
    assert {step.action for step in migrate(openakita, Folder(target))} == {"same", "left"}
    assert snapshot(target).keys() == before.keys()


def test_a_dry_run_writes_nothing_and_tells_the_same(tmp_path: Path, openakita: Path) -> None:
    fill(openakita, {"memories.json": json.dumps(MEMORIES[:1])})
    target = tmp_path / "w"
    planned = migrate(openakita, Folder(target), dry_run=True)
    assert not target.exists()
    assert migrate(openakita, Folder(target)) == planned


def test_what_grew_since_comes_over_too(tmp_path: Path, openakita: Path) -> None:
    target = tmp_path / "w"
    migrate(openakita, Folder(target))
    more = [*MEMORIES, {"id": "m-5", "content": "新的一条"}]
    fill(
        openakita,
        {
            "data/memory/memories.json": json.dumps(more),
            "data/memory/conversation_history/s1.jsonl": lines([*TURNS, TURNS[1]]),
        },
    )
    counts = {step.action: step.count for step in migrate(openakita, Folder(target)) if step.action != "left"}
    assert counts["facts"] == 1
    assert counts["session"] == 1
    assert (target / FACTS).read_text(encoding="utf-8").count("\n- ") == 4
    assert len(next((target / "sessions").iterdir()).read_text(encoding="utf-8").splitlines()) == 4


def test_what_a_person_removed_or_changed_stays_so(tmp_path: Path) -> None:
    source, target = fill(tmp_path / "n", NANOBOT), tmp_path / "w"
    migrate(source, Folder(target))
    (target / "memory/2026-02-11.md").unlink()
    (target / "AGENTS.md").write_text("mine")
    migrate(source, Folder(target))
    assert not (target / "memory/2026-02-11.md").exists()
    assert (target / "AGENTS.md").read_text() == "mine"
    assert not (target / "AGENTS.imported.md").exists()


def test_a_taken_name_is_not_overwritten(tmp_path: Path) -> None:
    source = fill(tmp_path / "n", NANOBOT)
    target = fill(tmp_path / "w", {"AGENTS.md": "mine", "memory/MEMORY.md": "mine too"})
    steps = migrate(source, Folder(target))
    assert (target / "AGENTS.md").read_text() == "mine"
    assert (target / "memory/MEMORY.imported.md").read_text() == "# Long-term\n"
    assert OldFile("copy", "AGENTS.md", "AGENTS.imported.md", "AGENTS.md has other words") in steps


def test_notes_of_a_data_folder_become_daily_notes(tmp_path: Path) -> None:
    source = fill(
        tmp_path / "d", {"MEMORY.md": "long", "notes/2026-02-11.md": "day", "notes/idea.md": "idea"}
    )
    migrate(source, Folder(tmp_path / "w"))
    copied = snapshot(tmp_path / "w")
    assert copied.pop(MARKER)
    assert copied == {"MEMORY.md": b"long", "memory/2026-02-11.md": b"day", "memory/idea.md": b"idea"}


def test_a_session_keeps_its_id_under_a_name_that_appends_go_to(tmp_path: Path) -> None:
    migrate(fill(tmp_path / "n", NANOBOT), Folder(tmp_path / "w"))
    log = SessionLog(tmp_path / "w", "cli:main")
    assert [placed.turn.content for placed in log.turns()] == [turn["content"] for turn in TURNS]


def test_in_place_only_what_cannot_be_read_as_it_is_is_converted(openakita: Path) -> None:
    before = snapshot(openakita)
    steps = migrate(openakita, Folder(openakita))
    assert {step.action for step in steps} == {"facts", "session", "left"}
    after = snapshot(openakita)
    assert {path: after[path] for path in before} == before
    assert after.keys() - before.keys() == {
        FACTS,
        MARKER,
        next(path for path in after if path.startswith("sessions/")),
    }


def test_what_cannot_be_read_is_left_and_the_rest_comes_over(tmp_path: Path, openakita: Path) -> None:
    fill(openakita, {"data/memory/memories.json": "{broken"})
    steps = migrate(openakita, Folder(tmp_path / "w"))
    assert next(step for step in steps if step.source.endswith("memories.json")).action == "left"
    assert (tmp_path / "w/SOUL.md").exists()
    fill(openakita, {"data/memory/memories.json": json.dumps(MEMORIES)})
    assert "facts" in {step.action for step in migrate(openakita, Folder(tmp_path / "w"))}


def test_an_unknown_folder_says_what_is_known(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"memories\.json"):
        migrate(tmp_path, Folder(tmp_path / "w"))


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("identity/USER.md", "USER.md"),
        ("identity/personas/user_custom.md", "personas/user_custom.md"),
        ("identity/compiled/agent.core.md", None),
        ("identity/prompts/policies.md", None),
        ("data/memory/x.md", "memory/x.md"),
        ("data/memory/daily_summaries/2026-02-20.md", "memory/daily_summaries/2026-02-20.md"),
        ("USER.md", "USER.md"),
        ("README.md", None),
        ("docs/plan.md", None),
    ],
)
def test_where_openakitas_files_belong(path: str, target: str | None) -> None:
    assert target_of("openakita", path) == target


def test_what_waits_to_be_imported_is_told_until_it_is(openakita: Path, tmp_path: Path) -> None:
    new_workspace.init(openakita)
    told = unread(openakita)
    assert told is not None
    assert told.path == "data/memory/memories.json"
    assert "1 more" in told.reason
    assert f"mnemark import openakita {openakita}" in told.reason
    with Memory.open(openakita, config={"embedder": "none"}) as memory:
        memory.sync()
        assert any("import openakita" in one.what for one in doctor(memory.workspace).findings)
    migrate(openakita, Folder(openakita))
    assert unread(openakita) is None
    history = openakita / "data/memory/conversation_history/s1.jsonl"
    history.write_text(history.read_text() + lines([{"role": "user", "content": "and the parrot"}]))
    told = unread(openakita)
    assert told is not None  # it grew since
    assert told.path.endswith("s1.jsonl")
    (tmp_path / "plain").mkdir()
    assert unread(tmp_path / "plain") is None


def test_histories_and_summaries_are_found_where_they_lie(tmp_path: Path) -> None:
    condensed = {"cursor": 7, "timestamp": "2026-02-13 10:00", "content": "The owner keeps an okapi."}
    summary = {
        "date": "2026-02-20",
        "sessions": [{"task_description": "修复斑马支付接口", "outcome": "done"}],
    }
    root = fill(
        tmp_path / "w",
        {
            "memory/MEMORY.md": "# Long-term\n",
            "memory/history.jsonl": lines([condensed]),
            "memory/otherhistory.jsonl": lines([condensed | {"content": "a quagga"}]),
            "data/memory/daily_summaries/2026-02-20.json": json.dumps(summary, ensure_ascii=False, indent=2),
            "data/settings.json": '{"name": "quagga"}',
        },
    )
    with Memory.open(root, config={"embedder": "none"}) as memory:
        memory.sync()
        assert memory.sync().added == 0
        okapi = memory.search("okapi").hits[0]
        assert (okapi.ref, okapi.kind, okapi.origin) == ("memory/history.jsonl#L1", "turn", "agent")
        assert (okapi.date or "").startswith("2026-02-13")
        zebra = memory.search("斑马支付").hits[0]
        assert (zebra.path, zebra.date) == ("data/memory/daily_summaries/2026-02-20.json", "2026-02-20")
        assert "修复斑马支付接口" in memory.read(zebra.ref)
        assert memory.search("quagga").hits == ()
        with (root / "memory/history.jsonl").open("a") as log:
            log.write(lines([condensed | {"cursor": 8, "content": "The okapi is called Bo."}]))
        memory.sync()
        assert {hit.start_line for hit in memory.search("okapi").hits} == {1, 2}
        memory.forget(ref=okapi.ref)
        assert [hit.start_line for hit in memory.search("okapi").hits] == [2]


NOTE = "# Memory\n\n- The heron nests by the weir.\n"
OTHERS: dict[str, dict[str, str]] = {
    "openclaw": {"MEMORY.md": NOTE, "memory/2026-02-13.md": "Ordered a sofa.\n", "SOUL.md": "Calm.\n"},
    "nanobot": {"memory/MEMORY.md": NOTE, "memory/history.jsonl": lines(TURNS)},
    "nanobot data": {"notes/2026-02-13.md": NOTE, "MEMORY.md": NOTE},
    "openakita": {"memory/memories.json": json.dumps(MEMORIES), "identity/USER.md": NOTE},
    "openclaw workspace": {"workspace/memory/2026-02-13.md": NOTE, "workspace/MEMORY.md": NOTE},
    "markdown": {"a.md": NOTE, "sub/b.md": "# B\n\nA sofa.\n"},
}
"""Folders of other memories, by the first word of the format that they are imported as."""


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("searched", ["", "workspace"])
def test_a_folder_is_told_by_what_lies_in_it_not_by_an_index_beside(
    tmp_path: Path, kind: str, searched: str
) -> None:
    if searched and kind != "openclaw workspace":
        pytest.skip("this one has no such folder")
    source = fill(tmp_path / "other", OTHERS[kind])
    name: Any = kind.partition(" ")[0]
    target = tmp_path / "target"
    with Memory.open(target / "plain", config={"embedder": "none"}) as memory:
        plain = memory.import_(name, source)
    with Memory.open(source / searched, config={"embedder": "none"}) as memory:
        memory.sync()
        memory.search("sofa")
    assert (source / searched / layout.PRIVATE).is_dir()
    with Memory.open(target / "searched", config={"embedder": "none"}) as memory:
        assert memory.import_(name, source) == plain
        assert plain.notes or plain.facts
    places = (target / "plain", target / "searched")
    one, other = ({p: d for p, d in snapshot(place).items() if _is_text(p)} for place in places)
    assert one == other


def _is_text(path: str) -> bool:
    return not path.startswith((layout.PRIVATE, "journal")) and path != MARKER


def test_what_was_made_a_memory_of_mnemarks_is_none_of_others(tmp_path: Path) -> None:
    for mark, text in {"mnemark.toml": "", "journal/laptop.jsonl": "{}\n"}.items():
        folder = fill(tmp_path / mark.partition("/")[0], {**OTHERS["openclaw"], mark: text})
        assert detect(folder) is None


def test_a_workspace_inside_is_told_and_left(tmp_path: Path) -> None:
    source = fill(tmp_path / "other", {**OTHERS["openclaw"], "memory/mine/mnemark.toml": ""})
    left = [step for step in migrate(source, Folder(tmp_path / "target")) if step.action == "left"]
    assert [(step.source, "separate workspace" in step.reason) for step in left] == [("memory/mine", True)]
