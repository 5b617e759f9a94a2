"""Sessions: our lines, and the lines of others."""

import json
import shutil
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mnemark.errors import IntegrityError, UsageError
from mnemark.files.ids import is_id
from mnemark.files.sessions import FOLDER, SessionLog, list_sessions
from mnemark.files.truth import Folder
from mnemark.types import Problem, Turn

SHANGHAI = timezone(timedelta(hours=8))
NOW = datetime(2026, 2, 13, 9, 30, 0, 123000, tzinfo=SHANGHAI)


def said(content: str, **more: Any) -> Turn:
    return Turn(id="", time=NOW, role="user", content=content, **more)


def foreign(root: Path, *lines: object, name: str = "other.jsonl") -> SessionLog:
    folder = root / FOLDER
    folder.mkdir(exist_ok=True)
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    (folder / name).write_text(text, encoding="utf-8")
    return SessionLog.at(root, f"{FOLDER}/{name}")


def only(log: SessionLog) -> Turn:
    (placed,) = log.turns()
    return placed.turn


# Our own lines


def test_a_turn_comes_back_as_it_was(tmp_path: Path) -> None:
    full = Turn(
        id="",
        time=NOW,
        role="assistant",
        content="好的\n\u2028 done \U0001f600",
        origin="agent",
        tool_calls=({"name": "exec", "arguments": {"command": "make"}},),
        tool_results=({"output": ""},),
        attachments=({"path": "a.png"},),
        duration_ms=12,
        meta={"channel": "cli", "nested": {"a": [1, None]}},
    )
    log = SessionLog(tmp_path, "cli:main")
    kept = log.append(Folder(log.root), [full])[0].turn
    assert is_id(kept.id)
    assert only(log) == kept
    assert only(log).time.utcoffset() == timedelta(hours=8)


def test_a_time_without_zone_stays_without(tmp_path: Path) -> None:
    log = SessionLog(tmp_path, "s")
    log.append(Folder(log.root), [Turn(id="x", time=NOW.replace(tzinfo=None), role="user", content="")])
    assert only(log).time == NOW.replace(tzinfo=None)


def test_trust_does_not_change_on_the_way(tmp_path: Path) -> None:
    log = SessionLog(tmp_path, "s")
    log.append(Folder(log.root), [said("quoted from a page", origin="web")])
    log.append(Folder(log.root), [said("typed by the agent")])
    assert [placed.turn.origin for placed in log.turns()] == ["web", "agent"]


@example("", {"uuid": None})
@given(
    content=st.text(), meta=st.dictionaries(st.text(), st.none() | st.text() | st.integers(-(2**53), 2**53))
)
def test_any_text_and_meta_survive(
    tmp_path_factory: pytest.TempPathFactory, content: str, meta: dict[str, Any]
) -> None:
    log = SessionLog(tmp_path_factory.mktemp("s"), "s")
    log.append(Folder(log.root), [said(content, meta=meta)])
    assert only(log).content == content
    assert only(log).meta == meta


def test_places_lead_back_to_the_turns(tmp_path: Path) -> None:
    log = SessionLog(tmp_path, "s")
    truth = Folder(tmp_path)
    placed = log.append(truth, [said("one"), said("two")]) + log.append(truth, [said("three")])
    assert [p.line for p in placed] == [2, 3, 4]
    assert list(log.turns()) == placed
    assert list(log.turns(placed[0].end)) == placed[1:]
    assert [p.line for p in SessionLog(tmp_path, "s").append(truth, [said("four")])] == [5]


def test_unknown_keys_come_back_in_meta(tmp_path: Path) -> None:
    log = foreign(
        tmp_path, {"id": "1", "time": NOW.isoformat(), "role": "user", "content": "x", "later": {"v": 2}}
    )
    assert only(log).meta == {"later": {"v": 2}}


def test_the_last_turns_are_read_from_the_end(tmp_path: Path) -> None:
    log = SessionLog(tmp_path, "s")
    turns = [said(f"{number} " + "x" * 3000) for number in range(100)]
    kept = [placed.turn for placed in log.append(Folder(tmp_path), turns)]
    assert log.last(3) == kept[-3:]
    assert log.last(1000) == kept
    assert log.last(0) == []
    assert SessionLog(tmp_path, "none").last(3) == []


def test_a_repeated_append_is_one_turn(tmp_path: Path) -> None:
    log = SessionLog(tmp_path, "s")
    kept = log.append(Folder(log.root), [said("once")])[0].turn
    log.append(Folder(log.root), [kept])
    assert only(log) == kept
    assert log.last(5) == [kept]


def test_broken_lines_are_told_and_the_rest_is_read(tmp_path: Path) -> None:
    log = SessionLog(tmp_path, "s")
    log.append(Folder(log.root), [said("one")])
    with log.path.open("ab") as file:
        file.write(b'{"id": "torn')
    log.append(Folder(log.root), [said("two")])
    problems: list[Problem] = []
    assert [placed.turn.content for placed in log.turns(problems=problems)] == ["one", "two"]
    assert [(problem.path, problem.skipped) for problem in problems] == [(log.name, False)]


def test_what_is_no_json_is_refused(tmp_path: Path) -> None:
    log = SessionLog(tmp_path, "s")
    with pytest.raises(UsageError, match="JSON"):
        log.append(Folder(log.root), [said("x", meta={"a": object()})])
    assert list(log.turns()) == []


def test_a_link_out_of_the_workspace_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    (root / FOLDER).symlink_to(tmp_path)
    with pytest.raises(UsageError, match="is outside the workspace"):
        SessionLog(root, "s").append(Folder(root), [said("x")])


# Listing


def test_sessions_are_listed_by_their_own_ids(tmp_path: Path) -> None:
    assert list_sessions(tmp_path) == []
    ids = ["cli:main", "微信:小明", "a/b", "A/b"]
    for identifier in ids:
        SessionLog(tmp_path, identifier).append(Folder(tmp_path), [said("x")])
    foreign(tmp_path, {"role": "user", "content": "x"}, name="by-hand.jsonl")
    path = SessionLog(tmp_path, "a/b").path
    shutil.copy(path, path.with_name(f"{path.stem}.sync-conflict-20260213-101500-ABC.jsonl"))
    found = {info.id: info for info in list_sessions(tmp_path)}
    assert set(found) == {*ids, "by-hand"}
    assert found["cli:main"].created is not None
    for identifier in ids:
        assert SessionLog.at(tmp_path, f"{FOLDER}/{found[identifier].path.name}").id == identifier


def test_the_id_survives_a_torn_header(tmp_path: Path) -> None:
    log = SessionLog(tmp_path, "cli:main")
    log.path.parent.mkdir()
    log.path.write_bytes(b'{"session":"cli')
    log.append(Folder(log.root), [said("x")])
    assert [info.id for info in list_sessions(tmp_path)] == ["cli:main"]


def test_a_file_of_another_session_is_told(tmp_path: Path) -> None:
    log = SessionLog(tmp_path, "one")
    log.append(Folder(log.root), [said("x")])
    log.check()
    other = SessionLog(tmp_path, "two")
    shutil.move(log.path, other.path)
    with pytest.raises(IntegrityError, match="belongs to session 'one'"):
        other.check()


# Lines of others


def test_openai_messages(tmp_path: Path) -> None:
    log = foreign(
        tmp_path,
        {"role": "system", "content": "be kind"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "看图"},
                {"type": "image_url", "image_url": {"url": "a.png"}},
            ],
        },
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "function": {"name": "exec"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "ok"},
        {"role": "tool", "tool_call_id": "c1", "content": "ok"},
    )
    turns = [placed.turn for placed in log.turns()]
    assert [turn.origin for turn in turns] == ["agent", "owner", "agent", "tool", "tool"]
    assert (turns[1].content, turns[1].attachments) == (
        "看图",
        ({"type": "image_url", "image_url": {"url": "a.png"}},),
    )
    assert turns[2].tool_calls == ({"id": "c1", "function": {"name": "exec"}},)
    assert turns[3].meta == {"tool_call_id": "c1", "undated": True}
    assert len({turn.id for turn in turns}) == 5
    assert [placed.turn for placed in log.turns()] == turns
    assert log.last(2) == turns[-2:]
    assert [placed.turn for placed in log.turns(list(log.turns())[2].offset)] == turns[2:]


def test_ids_of_others_stay_when_lines_are_added(tmp_path: Path) -> None:
    before = [p.turn.id for p in foreign(tmp_path, {"role": "user", "content": "a"}).turns()]
    log = foreign(tmp_path, {"role": "user", "content": "a"}, {"role": "user", "content": "b"})
    assert [p.turn.id for p in log.turns()][:1] == before


def test_nanobot_sessions(tmp_path: Path) -> None:
    log = foreign(
        tmp_path,
        {"_type": "metadata", "key": "telegram:42", "created_at": "2026-02-01T10:00:00", "metadata": {}},
        {"role": "user", "content": "hi", "timestamp": "2026-02-01T10:00:01.5"},
        {"role": "assistant", "content": "hello", "timestamp": "2026-02-01T10:00:02", "tools_used": ["exec"]},
        name="telegram_42.jsonl",
    )
    assert log.id == "telegram:42"
    turns = [placed.turn for placed in log.turns()]
    assert [turn.content for turn in turns] == ["hi", "hello"]
    assert turns[0].time == datetime(2026, 2, 1, 10, 0, 1, 500000)  # noqa: DTZ001 - as written
    assert turns[1].meta == {"tools_used": ["exec"]}
    assert [info.id for info in list_sessions(tmp_path)] == ["telegram:42"]


def test_messages_nested_in_events(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": "let me look"}, {"type": "tool_use", "name": "Read", "input": {}}]
    log = foreign(
        tmp_path,
        {"type": "summary", "summary": "no message"},
        {
            "type": "assistant",
            "uuid": "u-1",
            "timestamp": "2026-02-13T01:30:00Z",
            "message": {"role": "assistant", "content": parts},
        },
    )
    turn = only(log)
    assert (turn.id, turn.content, turn.time) == (
        "u-1",
        "let me look",
        datetime(2026, 2, 13, 1, 30, tzinfo=UTC),
    )
    assert turn.tool_calls == (parts[1],)


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        (1770946200, datetime(2026, 2, 13, 1, 30, tzinfo=UTC)),
        (1770946200000, datetime(2026, 2, 13, 1, 30, tzinfo=UTC)),
        ("2026-02-13T09:30:00+08:00", datetime(2026, 2, 13, 1, 30, tzinfo=UTC)),
        ("2026-02-13T01:30:00Z", datetime(2026, 2, 13, 1, 30, tzinfo=UTC)),
    ],
)
def test_times_of_others(tmp_path: Path, written: object, moment: datetime) -> None:
    assert only(foreign(tmp_path, {"role": "user", "content": "x", "timestamp": written})).time == moment


@pytest.mark.parametrize("written", ["yesterday", 1e300, float("nan"), {}, None, True])
def test_times_that_are_none_mark_the_turn_undated(tmp_path: Path, written: object) -> None:
    turn = only(foreign(tmp_path, {"role": "user", "content": "x", "timestamp": written}))
    assert turn.meta["undated"] is True


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(
    ["id", "time", "role", "content", "origin", "tool_calls", "meta", "duration_ms", "message", "x"]
)


@given(st.dictionaries(KEYS, JSON))
def test_any_object_is_read_without_an_error(
    tmp_path_factory: pytest.TempPathFactory, record: dict[str, Any]
) -> None:
    log = foreign(tmp_path_factory.mktemp("s"), record | {"role": record.get("role") or "user"})
    turns = [placed.turn for placed in log.turns()]
    assert turns == [placed.turn for placed in log.turns()]
    assert log.last(1) == turns[-1:]


def test_an_unknown_origin_is_trusted_least(tmp_path: Path) -> None:
    assert only(foreign(tmp_path, {"role": "user", "content": "x", "origin": "root"})).origin == "tool"
    assert only(foreign(tmp_path, {"role": "wizard", "content": "x"})).origin == "tool"
