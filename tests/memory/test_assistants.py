"""The archives that ChatGPT and Claude send: what comes, what is proposed, what stays out."""

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mnemark import Memory
from mnemark.errors import MnemarkError
from mnemark.memory.transfer.importer import Summary
from mnemark.memory.transfer.imports import import_from
from sampled import examples

DAY = 1767225600.0
CITED = " \ue200cite\ue202turn0search1\ue201"


def said(role: str, content: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"author": {"role": role}, "content": content, "create_time": DAY, **more}


def text(words: str) -> dict[str, Any]:
    return {"content_type": "text", "parts": [words]}


def talk(name: str, *messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a talk of ChatGPT whose messages follow each other."""
    nodes: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None}}
    last = "root"
    for number, message in enumerate(messages):
        key = f"{name}-{number}"
        nodes[key] = {"id": key, "message": {"id": key, **message}, "parent": last}
        last = key
    about = {"id": name, "conversation_id": name, "title": f"Talk {name}", "create_time": DAY}
    return {**about, "mapping": nodes, "current_node": last, **more}


def chatgpt() -> dict[str, Any]:
    profile = {
        "content_type": "user_editable_context",
        "user_profile": "The user gave this profile:\n```I keep bees near Lund\nI am a carpenter```",
        "user_instructions": "The user asks:\n```Answer in metric units```",
    }
    memory = {
        "content_type": "model_editable_context",
        "model_set_context": "1. [2025-03-02]. Has a daughter named Ylva.\n\n2. [2025-04-05]. 喜欢喝龙井茶。",
    }
    first = talk(
        "a",
        said("system", profile, metadata={"is_visually_hidden_from_conversation": True}),
        said("system", memory),
        said("user", {"content_type": "multimodal_text", "parts": [
            {"content_type": "image_asset_pointer", "asset_pointer": "sediment://x"}, "What hive is this?"]}),
        said("assistant", {"content_type": "thoughts", "thoughts": [{"content": "hm"}]}),
        said("assistant", {"content_type": "code", "text": "search('hives')"}, recipient="web"),
        said("tool", {"content_type": "tether_browsing_display", "result": "pages"}),
        said("assistant", text(f"A hive{CITED} with frames【3†source】."), recipient="all"),
    )  # fmt: skip
    second = talk(
        "b",
        said("user", text("Please remember that I take the night train to Hamburg in June.")),
        said("assistant", text("Takes the night train to Hamburg in June."), recipient="bio"),
        said("tool", text("Model set context updated."), author={"role": "tool", "name": "bio"}),
        said("assistant", text("Noted.")),
    )
    third = talk("c", said("user", text("my PIN is 9911")), is_do_not_remember=True)
    return {
        "conversations-000.json": [first, second],
        "conversations-001.json": [third],
        "export_manifest.json": {"files": ["conversations-000.json"]},
        "user.json": {"id": "user-x"},
    }


def claude() -> dict[str, Any]:
    made = {"id": "plan", "type": "text/markdown", "title": "Trip plan", "command": "create",
            "content": "# Trip\n\nFerry to Gotland on Friday."}  # fmt: skip
    changed = {"id": "plan", "command": "update", "old_str": "Friday", "new_str": "Saturday"}
    messages = [
        {"uuid": "m1", "sender": "human", "text": "Plan a trip", "created_at": "2026-01-02T03:04:05Z",
         "content": [{"type": "text", "text": "Plan a trip"}], "files": [{"file_name": "photo.jpg"}],
         "attachments": [{"file_name": "tides.csv", "extracted_content": "day,tide\nmon,high"}]},
        {"uuid": "m2", "sender": "assistant", "text": "", "created_at": "2026-01-02T03:05:05Z",
         "content": [{"type": "thinking", "thinking": "hm"},
                     {"type": "tool_use", "name": "web_search", "input": {"query": "ferries"}},
                     {"type": "tool_result", "content": [{"type": "text", "text": '{"a": 1}'}]},
                     {"type": "tool_use", "name": "artifacts", "input": made},
                     {"type": "tool_use", "name": "artifacts", "input": changed},
                     {"type": "text", "text": "Here is the plan."}]},
    ]  # fmt: skip
    return {
        "conversations.json": [
            {"uuid": "k1", "name": "Gotland", "created_at": "2026-01-02T03:04:00Z", "chat_messages": messages}
        ],
        "memories.json": [
            {"conversations_memory": "**Work**\n\nBuilds spinets.", "project_memories": {"p1": "Uses oak."}}
        ],
        "projects.json": [
            {"uuid": "p1", "name": "Harpsichord", "prompt_template": "Answer as a luthier.",
             "docs": [{"uuid": "d1", "filename": "strings.py", "content": "GAUGE = 0.22"}]}
        ],
        "users.json": [{"uuid": "u"}],
    }  # fmt: skip


def packed(folder: Path, files: Mapping[str, Any], *, into: str = "") -> Path:
    path = folder / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, value in files.items():
            archive.writestr(into + name, json.dumps(value))
    return path


def brought(memory: Memory, path: Path, name: str = "") -> Summary:
    return import_from(memory.workspace, name, path)


def left_of(summary: Summary) -> dict[str, int]:
    return {one.reason: one.count for one in summary.left}


@pytest.fixture
def memory(tmp_path: Path) -> Any:
    with Memory.open(tmp_path / "w", config={"embedder": "none"}) as opened:
        yield opened


def test_the_archive_of_chatgpt_needs_no_name(memory: Memory, tmp_path: Path) -> None:
    summary = brought(memory, packed(tmp_path, chatgpt()))
    assert (summary.format, summary.sessions, summary.turns, summary.proposals) == ("chatgpt", 2, 4, 6)
    turns = [turn.turn.content for turn in memory.turns()]
    assert turns[1] == "A hive with frames."
    assert not [one for one in turns if "\ue200" in one or "†" in one or "9911" in one or "Model set" in one]
    assert left_of(summary) == {
        "pictures of a talk are not imported": 1, "what the model thought": 1, "calls of tools": 1,
        "output of tools": 1, "ChatGPT was told not to remember it": 1,
    }  # fmt: skip
    again = brought(memory, tmp_path / "export.zip")
    assert (again.turns, again.proposals, again.same) == (0, 0, 10)


def test_what_chatgpt_noted_waits_for_a_person(memory: Memory, tmp_path: Path) -> None:
    brought(memory, packed(tmp_path, chatgpt()))
    waiting = {(one.fact.value, one.fact.type, one.fact.since[:10]) for one in memory.review()}
    assert waiting == {
        ("I keep bees near Lund", "fact", "2026-01-01"),
        ("I am a carpenter", "fact", "2026-01-01"),
        ("Answer in metric units", "rule", "2026-01-01"),
        ("Has a daughter named Ylva.", "fact", "2025-03-02"),
        ("喜欢喝龙井茶。", "fact", "2025-04-05"),
        ("Takes the night train to Hamburg in June.", "fact", "2026-01-01"),
    }
    assert not list(memory.facts())
    chosen = next(one for one in memory.review() if "Ylva" in one.fact.value)
    memory.accept(chosen.id)
    assert [fact.value for fact in memory.facts()] == ["Has a daughter named Ylva."]
    assert brought(memory, tmp_path / "export.zip").proposals == 0


def test_what_lies_beside_the_talks_of_claude_is_found(memory: Memory, tmp_path: Path) -> None:
    summary = brought(memory, packed(tmp_path, claude(), into="data/"))
    assert (summary.format, summary.turns, summary.notes) == ("claude", 2, 6)
    assert [turn.turn.content for turn in memory.turns()] == ["Plan a trip", "Here is the plan."]
    memory.sync()
    for query, words in {
        "ferry to Gotland": "on Saturday",
        "spinets": "Builds spinets",
        "oak": "Uses oak",
        "luthier": "Answer as a luthier",
        "gauge": "GAUGE = 0.22",
        "tide high": "mon,high",
    }.items():
        assert any(words in hit.text for hit in memory.search(query).hits[:2]), query
    assert left_of(summary) == {
        "what the model thought": 1,
        "calls of tools": 1,
        "output of tools": 1,
        "the export has no text of it": 1,
    }
    again = brought(memory, tmp_path / "export.zip")
    assert (again.turns, again.notes, again.same) == (0, 0, 8)


def test_an_archive_with_nothing_says_what_was_expected(memory: Memory, tmp_path: Path) -> None:
    forgotten = talk("c", said("user", text("x")), is_do_not_remember=True)
    path = packed(tmp_path, {"conversations.json": [forgotten]})
    with pytest.raises(
        MnemarkError, match=r"nothing was imported.*told not to remember.*expected is the archive"
    ):
        brought(memory, path)


@pytest.mark.parametrize("files", [chatgpt(), claude()], ids=["chatgpt", "claude"])
@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(cut=st.integers(0, 4_000), byte=st.integers(0, 255), zipped=st.booleans())
def test_a_damaged_archive_is_told(
    files: Mapping[str, Any],
    tmp_path_factory: pytest.TempPathFactory,
    cut: int,
    byte: int,
    zipped: bool,  # noqa: FBT001
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    if zipped:
        path = packed(folder, files)
    else:
        path = folder / "conversations.json"
        path.write_text(json.dumps(next(iter(files.values()))), "utf-8")
    data = bytearray(path.read_bytes())
    data[cut % len(data)] = byte
    path.write_bytes(data if cut % 2 else data[: cut % len(data)])
    with Memory.open(folder / "w", config={"embedder": "none"}) as opened:
        try:
            summary = brought(opened, path)
        except MnemarkError:
            return
        assert summary.turns + summary.notes + summary.proposals


NAMES = (
    "id mapping message author role content parts uuid sender chat_messages text attachments files name type"
)
KEYS = [*NAMES.split(), "current_node", "create_time", "created_at", "input", "content_type", "metadata"]


@st.composite
def values(draw: st.DrawFn) -> Any:
    """Draw JSON in which anything may stand where an export has something else."""
    keys = st.sampled_from(KEYS)
    leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("user")
    nested = st.recursive(
        leaves, lambda one: st.lists(one, max_size=3) | st.dictionaries(keys, one, max_size=5)
    )
    return draw(st.lists(st.dictionaries(keys, nested, max_size=6), min_size=1, max_size=4))


@pytest.mark.parametrize("name", ["chatgpt", "claude"])
@settings(max_examples=examples(150), deadline=None, suppress_health_check=list(HealthCheck))
@given(value=values())
def test_other_shapes_are_no_crash(name: str, tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    folder = tmp_path_factory.mktemp("shapes")
    (folder / "x.json").write_text(json.dumps(value), "utf-8")
    with Memory.open(folder / "w", config={"embedder": "none"}) as opened:
        try:
            import_from(opened.workspace, name, folder / "x.json", dry_run=True)
        except MnemarkError:
            return
