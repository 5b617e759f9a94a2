"""What the adapters of all frameworks share, without a framework."""

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemark import Memory
from mnemark.errors import MnemarkError, UsageError
from mnemark.text.quoting.fence import fence, is_fenced
from mnemark_adapters.bridge import LIMIT
from mnemark_adapters.frameworks import AgentMemory, hermes
from mnemark_adapters.needs import needs
from mnemark_agents.hook import background
from mnemark_agents.hook.event import with_block
from mnemark_interfaces.tools import BOUND, BY_NAME
from mnemark_interfaces.tools_run import call

TOLD = "Our staging server is called Kestrel."
ASKED = "What is our staging server called?"

pytestmark = pytest.mark.usefixtures("left")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[AgentMemory]:
    with AgentMemory(tmp_path / "w", "chat:1", deadline=5.0) as made:
        yield made


def turns(memory: AgentMemory, folder: Path) -> list[str]:
    assert memory.flush()
    with Memory.open(folder, readonly=True) as opened:
        return [one.turn.content for one in opened.turns(scope="*", limit=None)]


def test_a_turn_is_asked_about_and_recorded_once(memory: AgentMemory, tmp_path: Path) -> None:
    memory.before(TOLD)
    memory.after("Noted.")
    memory.flush()
    first = memory.before(ASKED, session="")
    assert "Kestrel" in first
    assert [memory.before(ASKED), asyncio.run(memory.abefore(ASKED))] == [first, first]
    assert memory.before(f"{fence('an old block')}\n{ASKED}") == first, "as the framework hands it back"
    memory.after(f"{fence('The door code is 1234.')}\nKestrel.")
    assert turns(memory, tmp_path / "w") == [TOLD, "Noted.", ASKED, "Kestrel."]
    memory.before(ASKED)
    assert turns(memory, tmp_path / "w")[4:] == [ASKED], "asked again after the answer, it is said again"


def test_what_the_model_has_before_it_is_not_recalled(memory: AgentMemory) -> None:
    memory.before(TOLD)
    memory.after("Noted.")
    memory.flush()
    assert memory.before(ASKED, earlier=1) == ""
    memory.after("I do not know.")
    assert "Kestrel" in memory.before(ASKED)


def test_nothing_is_said_to_nothing(memory: AgentMemory, tmp_path: Path) -> None:
    assert memory.before("") == ""
    assert memory.before(fence("a block alone")) == ""
    memory.after(" ")
    assert turns(memory, tmp_path / "w") == []


def test_a_conversation_of_the_framework_is_a_session_unless_one_is_named(tmp_path: Path) -> None:
    for name, wanted in (("", ["one", "two"]), ("chat:1", ["chat:1"])):
        folder = tmp_path / (name.strip(":1") or "w")
        with AgentMemory(folder, name) as memory:
            for session in ("one", "two"):
                memory.before(TOLD, session=session)
                memory.after("Noted.", session=session)
        with Memory.open(folder) as opened:
            assert sorted({one.session for one in opened.turns(limit=None)}) == wanted


def test_memories_of_a_process_share_a_workspace_and_close_it_together(tmp_path: Path) -> None:
    one = AgentMemory(tmp_path / "w", deadline=5.0)
    two = AgentMemory(tmp_path / "w", user="ann", deadline=5.0)
    one.close()
    one.close()
    two.before(TOLD)
    two.after("Noted.")
    two.close()
    assert two.counts == {"silent": 1, "kept": 2}
    with AgentMemory(tmp_path / "w", deadline=5.0) as again:
        assert again.before(ASKED) == "", "what ann said is hers"
    with AgentMemory(tmp_path / "w", user="ann", deadline=5.0) as hers:
        assert "Kestrel" in hers.before(ASKED)


def test_sessions_are_summarized_at_the_end_those_of_users_too(tmp_path: Path, left: list[list[str]]) -> None:
    for user, city in ((None, "Porto"), ("ann", "Leeds")):
        with AgentMemory(tmp_path / "w", "chat:1", user=user) as memory:
            for one in (f"My name is Ann and I live in {city}.", "Please always answer in British English."):
                memory.before(one)
                memory.after("Noted.")
    assert [words[4:] for words in left] == [["chat:1"], ["users/ann\tchat:1"]]
    background.run(tmp_path / "w", left[1][4])
    with Memory.open(tmp_path / "w") as opened:
        assert "Leeds" in {fact.value for fact in opened.facts(scope="users/ann")}
        assert "Leeds" not in {fact.value for fact in opened.facts()}


def test_a_session_whose_id_looks_like_another_users_is_summarized_where_it_is(
    tmp_path: Path, left: list[list[str]]
) -> None:
    with AgentMemory(tmp_path / "w", "users/bob\tchat:1") as memory:
        memory.before("My name is Ann and I live in Porto.")
        memory.before("Please always answer in British English.")
    background.run(tmp_path / "w", *left[0][4:])
    with Memory.open(tmp_path / "w") as opened:
        assert "Porto" in {fact.value for fact in opened.facts()}
    assert not (tmp_path / "w/users").exists()


def test_a_silent_conversation_is_summarized_and_let_go(
    memory: AgentMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    bridge = memory._bridge
    monkeypatch.setattr(bridge, "_idle", 0.0)
    memory.before("My name is Ann and I live in Porto.")
    until = time.monotonic() + 20
    while bridge._sessions and time.monotonic() < until:
        time.sleep(0.05)
    assert not bridge._sessions
    with Memory.open(bridge.root, readonly=True) as opened:
        assert "Porto" in {fact.value for fact in opened.facts()}
    monkeypatch.setattr(bridge, "_idle", 900.0)
    assert memory.before("Where do I live?"), "it goes on"


def test_a_user_whose_name_is_no_folder_is_refused(tmp_path: Path) -> None:
    for name in ("", "..", "a/b", "con"):
        with pytest.raises(UsageError):
            AgentMemory(tmp_path / "w", user=name)


def test_hermes_turns_are_recorded_once_and_its_jobs_not_at_all(tmp_path: Path) -> None:
    for platform in ("cli", "cron"):
        provider = hermes._Provider(tmp_path / platform)
        assert {one["name"] for one in provider.get_tool_schemas()} == set(BY_NAME)
        provider.initialize("one", platform=platform)
        assert provider.prefetch(TOLD) == ""
        provider.sync_turn(TOLD, "Noted.")
        provider.sync_turn("A picture, which it does not ask for.", "Seen.", session_id="one")
        provider.on_session_switch("two")
        provider.sync_turn("Hello.", "Hello.")
        provider.shutdown()
    with Memory.open(tmp_path / "cli") as opened:
        found: dict[str, list[str]] = {}
        for one in opened.turns(limit=None):
            found.setdefault(one.session, []).append(one.turn.content)
    said = [TOLD, "Noted.", "A picture, which it does not ask for.", "Seen."]
    assert found == {"hermes:one": said, "hermes:two": ["Hello.", "Hello."]}
    assert not list((tmp_path / "cron").rglob("*.jsonl"))


@pytest.mark.timed
def test_a_slow_memory_delays_no_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = AgentMemory(tmp_path / "w")

    def sleeps(*_: Any, **__: Any) -> Any:
        time.sleep(1.0)

    monkeypatch.setattr(Memory, "recall", sleeps)
    started = time.monotonic()
    found = [memory.before("What is it called?")]
    found.append(asyncio.run(memory.abefore("Where does it stand?")))
    assert time.monotonic() - started < 4 * LIMIT
    assert found == ["", ""]
    assert memory.counts["late"] == 2
    memory.close()


def test_only_so_many_recalls_run_at_once(memory: AgentMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    free = threading.Event()

    def waits(*_: Any, **__: Any) -> Any:
        free.wait(20)
        raise MnemarkError("too late for anybody")

    monkeypatch.setattr(Memory, "recall", waits)

    async def ask() -> list[str]:
        return list(await asyncio.gather(*(memory.abefore(ASKED, session=str(n)) for n in range(20))))

    memory._named = False
    assert asyncio.run(ask()) == [""] * 20
    free.set()
    assert memory.counts["busy"] == 12


def test_a_tool_that_fails_tells_the_model(memory: AgentMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: Any, **__: Any) -> Any:
        raise RuntimeError("the disk is gone")

    tools = {tool.name: tool for tool in memory.tools}
    assert set(tools) == set(BY_NAME)
    assert "memory_search needs 'query'" in tools["memory_search"].run()
    monkeypatch.setattr(Memory, "search", breaks)
    assert tools["memory_search"].run(query="x") == "the disk is gone"
    assert asyncio.run(tools["memory_search"].arun(query="x")) == "the disk is gone"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    root = tmp_path_factory.mktemp("shared")
    for folder, words in (
        ("users/bob", "Bob hides walnuts."),
        ("users/ann", "Ann likes tea."),
        ("", "Rain."),
    ):
        (root / folder).mkdir(parents=True, exist_ok=True)
        (root / folder / "USER.md").write_text(f"{words}\n", "utf-8")
    with Memory.open(root, config={"embedder": "none"}, trusted=True) as opened:
        opened.session("bobs", user="bob").add("user", "The walnuts are in the attic.")
        opened.sync()
        yield opened


PATHS = st.lists(
    st.sampled_from(
        ["users", "Users", "bob", "ann", "..", ".", "", "USER.md", "agents", "users/bob/USER.md", "@"]
    ),
    max_size=6,
)


@given(
    PATHS,
    st.sampled_from(["/", "\\", "//"]),
    st.sampled_from(["", "#L1", "#L1-L9"]),
    st.sampled_from(["*", "users/bob"]),
)
def test_the_tools_of_one_user_reach_no_other(
    shared: Memory, parts: list[str], by: str, lines: str, scope: str
) -> None:
    path = by.join(parts) + lines
    for name, given_ in (
        ("memory_get", {"path": path}), ("memory_get", {"file": path}), ("memory_timeline", {"around": path}),
        ("memory_timeline", {"session": path}), ("memory_search", {"query": "walnuts", "scope": scope}),
    ):  # fmt: skip
        assert "walnuts" not in str(call(shared, name, {**given_, "scope": scope}, bound="users/ann"))


def test_the_tools_of_one_user_reach_no_session_of_another(shared: Memory) -> None:
    log = next((shared.root / "users/bob/sessions").glob("*.jsonl"))
    path = str(log.relative_to(shared.root))
    calls: list[tuple[str, dict[str, Any]]] = [
        ("memory_timeline", {}), ("memory_timeline", {"session": "bobs"}),
        ("memory_timeline", {"around": f"{path}#L2"}), ("memory_get", {"path": path}),
        ("memory_search", {"query": "walnuts attic", "corpus": "sessions"}),
    ]  # fmt: skip
    for name, given_ in calls:
        assert "attic" not in str(call(shared, name, given_, bound="users/ann"))
        assert "attic" in str(call(shared, name, given_, bound="users/bob")), "it is there"


def test_the_tools_of_one_user_reach_theirs_and_the_shared(shared: Memory) -> None:
    assert "Ann likes tea" in str(
        call(shared, "memory_get", {"path": "users/ann/USER.md"}, bound="users/ann")
    )
    assert "Rain" in str(call(shared, "memory_get", {"path": "USER.md"}, bound="users/ann"))
    assert "Ann likes" in str(call(shared, "memory_search", {"query": "tea"}, bound="users/ann"))
    assert not call(shared, "memory_search", {"query": "tea"}, bound="users/new")["isError"]
    with pytest.raises(UsageError, match="there is no tool"):
        call(shared, "memory_forget", {"query": "tea"}, bound="users/ann")
    for name in BOUND:
        assert "scope" not in BOUND[name].properties


def test_what_is_written_for_a_user_is_theirs(tmp_path: Path) -> None:
    with AgentMemory(tmp_path / "w", user="ann") as memory:
        tools = {tool.name: tool for tool in memory.tools}
        tools["memory_remember"].run(predicate="city", value="Leeds", scope="users/bob")
        tools["memory_write"].run(text="Met Zoe.", scope="")
    with Memory.open(tmp_path / "w") as opened:
        assert [fact.value for fact in opened.facts(scope="users/ann")] == ["Leeds"]
        assert not [*opened.facts(), *opened.facts(scope="users/bob")]
    assert "Zoe" in next((tmp_path / "w/users/ann/memory").glob("2*.md")).read_text("utf-8")


def test_a_block_goes_before_words_and_parts() -> None:
    block = fence("Known.")
    assert with_block(block, "Hello") == f"{block}\n\nHello"
    assert is_fenced(with_block(block, "Hello"))
    assert with_block(block, ["x"]) == [{"type": "text", "text": block}, "x"]
    assert with_block(block, ("x",), part=str) == [block, "x"]
    assert with_block("", ["x"]) == ["x"]


def test_a_framework_that_is_not_there_is_told() -> None:
    with (
        pytest.raises(MnemarkError, match=r"needs Nothing .*pip install -U nothing"),
        needs("Nothing", "nothing"),
    ):
        raise ImportError("No module named 'nothing'")


def test_nothing_of_a_framework_is_imported() -> None:
    names = ["pydantic_ai", "langchain", "crewai", "agno", "strands", "agent_framework", "smolagents",
             "haystack", "litellm", "hermes"]  # fmt: skip
    code = (
        "import sys, importlib\n"
        f"for name in {names}: importlib.import_module(f'mnemark_adapters.frameworks.{{name}}')\n"
        f"found = {{*{names}, 'agent', 'openai', 'numpy', 'apsw'}} & set(sys.modules)\n"
        "assert not found, found"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
