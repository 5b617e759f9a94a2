"""Agents of each framework: told in one session, used in the next, by recall and by tools; failing memories.

The model is scripted; everything else is theirs. What counts is what reaches the model, and the files.
"""

from pathlib import Path

import pytest

from adapters.chat_model import Call
from frameworks import models
from frameworks.hosts import HOSTS, Form, Host
from frameworks.models import ASKED, ASKED_ZH, TOLD, TOLD_ZH, Script, turns
from mnemark.text.quoting.fence import is_fenced
from mnemark_adapters.frameworks import AgentMemory
from mnemark_interfaces.tools import BOUND, BY_NAME

RULE = "Always answer in British English."
pytestmark = [
    pytest.mark.filterwarnings("default", "ignore::DeprecationWarning"),  # the frameworks' own
    pytest.mark.usefixtures("left"),
]
FORMS = [
    pytest.param(host, form, id=f"{host.__name__}-{form}") for host, forms in HOSTS.items() for form in forms
]
EACH = [pytest.param(host, forms[0], id=host.__name__) for host, forms in HOSTS.items()]


@pytest.mark.parametrize("words", [(TOLD, ASKED, "pelican"), (TOLD_ZH, ASKED_ZH, "鹈鹕")], ids=["en", "zh"])
@pytest.mark.parametrize(("host", "form"), FORMS)
def test_what_was_told_in_one_session_is_known_in_the_next(
    host: Host, form: Form, words: tuple[str, str, str], tmp_path: Path
) -> None:
    told, asked, wanted = words
    script = Script("Noted.")
    with AgentMemory(tmp_path / "w") as memory:
        assert host(memory, script, told, form) == "Noted."
    (tmp_path / "w/USER.md").write_text(f"{RULE}\n", "utf-8")
    with AgentMemory(tmp_path / "w") as memory:
        assert host(memory, script, asked, form) == "Noted."
    first, second = script.requests
    assert wanted in second.said("user")
    assert second.said("user").count(RULE) == 1, "the person is known, too"
    assert not is_fenced(first.said("user"))
    assert wanted not in second.said("system"), "recalled text is no instruction"
    assert "memory_search" in second.said("system")
    assert set(second.tools) >= set(BY_NAME)
    noted = ("assistant", "Noted.")
    assert turns(tmp_path / "w") == [("user", told), noted, ("user", asked), noted]


@pytest.mark.parametrize(("host", "form"), EACH)
def test_the_model_calls_the_tools(host: Host, form: Form, tmp_path: Path) -> None:
    fact = {"predicate": "code word", "subject": "harbour gate", "value": "pelican"}
    script = Script(
        Call("memory_remember", fact), Call("memory_search", {"query": "harbour gate"}),
        Call("memory_get", {"path": "notes.md"}), "Done.",
    )  # fmt: skip
    with AgentMemory(tmp_path / "w") as memory:
        assert host(memory, script, "Look after the harbour gate.", form) == "Done."
    results = [request.said("tool") for request in script.requests]
    assert "remembered" in results[1]
    assert "pelican" in results[2]
    assert "Look for the right path" in results[3], "the model is told what is wrong"
    assert "pelican" in next((tmp_path / "w").rglob("facts/*.md")).read_text("utf-8")
    said = {request.said("user") for request in script.requests}
    assert len(said) == 1, "each request of a turn has the same recall"
    assert turns(tmp_path / "w") == [("user", "Look after the harbour gate."), ("assistant", "Done.")]


@pytest.mark.parametrize(("host", "form"), EACH)
def test_a_memory_that_cannot_be_opened_leaves_the_agent_alone(
    host: Host, form: Form, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("no folder")
    script = Script(Call("memory_search", {"query": "harbour gate"}), "I do not know.")
    with AgentMemory(tmp_path / "file") as memory:
        assert host(memory, script, ASKED, form) == "I do not know."
        assert memory.counts["failed"] >= 1
    assert "memory is off" in script.requests[-1].said("tool")
    assert not is_fenced(script.requests[-1].said("user"))
    told = [one.getMessage() for one in caplog.records if one.name == "mnemark.agent"]
    assert any("is a file" in one for one in told)


@pytest.mark.parametrize(("host", "form"), EACH)
def test_two_users_at_once_do_not_see_each_other(host: Host, form: Form, tmp_path: Path) -> None:
    script = Script("Noted.")
    with (  # who they are is no question of time
        AgentMemory(tmp_path / "w", user="ann", deadline=5.0) as ann,
        AgentMemory(tmp_path / "w", user="bob", deadline=5.0) as bob,
    ):
        host(ann, script, TOLD, form)
        host(bob, script, "The gate of the yard is green.", form)
        assert ann.flush()
        host(bob, script, ASKED, form)
        host(ann, script, ASKED, form)
    assert ["pelican" in one.said("user") for one in script.requests] == [True, False, False, True]
    said = [words for role, words in turns(tmp_path / "w/users/bob") if role == "user"]
    assert said == ["The gate of the yard is green.", ASKED]


def test_copies_of_an_agent_have_its_memory(tmp_path: Path) -> None:
    models.host("crewai")
    from crewai import Agent, Crew, Task

    from mnemark_adapters.frameworks.crewai import connect

    script = Script("Noted.")
    agent = Agent(role="helper", goal="help", backstory="You help.", llm=models.crewai(script))
    task = Task(description="{said}", expected_output="an answer", agent=agent)
    with AgentMemory(tmp_path / "w") as memory:
        connect(memory, agent)
        Crew(agents=[agent], tasks=[task]).kickoff_for_each(inputs=[{"said": TOLD}, {"said": ASKED}])
    assert "pelican" in script.requests[1].said("user")
    noted = ("assistant", "Noted.")
    assert turns(tmp_path / "w") == [("user", TOLD), noted, ("user", ASKED), noted]


@pytest.mark.parametrize(("host", "form"), EACH)
def test_one_of_several_users_has_a_memory_of_their_own(host: Host, form: Form, tmp_path: Path) -> None:
    script = Script("Noted.")
    for user, said in (("ann", TOLD), ("bob", ASKED), ("ann", ASKED)):
        with AgentMemory(tmp_path / "w", user=user, deadline=5.0) as memory:
            host(memory, script, said, form)
    assert ["pelican" in request.said("user") for request in script.requests] == [True, False, True]
    assert set(BOUND) <= set(script.requests[-1].tools)
    assert "memory_forget" not in script.requests[-1].tools
    assert len(turns(tmp_path / "w/users/ann")) == 4
