"""`mnemark correct`, `memory_correct` and `POST /v1/correct`: "no, that's wrong"."""

import json
import os
import time
from pathlib import Path

from interfaces.conftest import Shell
from mnemark import Memory
from mnemark_interfaces.tools_run import call


def test_a_fact_is_corrected_by_its_words_and_taken_back(shell: Shell) -> None:
    shell("init", ".")
    shell("remember", "dentist", "Dr Sousa")
    ran = shell("correct", "who is my dentist?", "Dr Costa")
    assert (ran.code, ran.out.splitlines()[:2]) == (
        0, ["Corrected: your dentist is Dr Costa.", "Not: your dentist is Dr Sousa."]
    )  # fmt: skip
    assert "Sousa" not in shell("facts", "--history").out
    done = json.loads(shell("correct", "dentist", "--since", "2024-05-01", "--json").out)
    assert done["after"]["since"].startswith("2024-05-01")
    ran = shell("correct", "dentist", "--since", "2024-05-02")
    assert ran.out.splitlines()[0] == "Corrected: your dentist is Dr Costa (since 2 May 2024)."
    shell("undo")
    shell("undo")
    shell("undo")
    assert "Dr Sousa" in shell("facts").out
    ran = shell("correct", "牙医", "--never", "--lang", "zh")
    assert ran.out.startswith("从来不是事实：")
    assert "Sousa" not in shell("facts", "--history").out


def test_mistakes_are_told(shell: Shell) -> None:
    shell("init", ".")
    shell("remember", "likes", "tea")
    shell("remember", "likes", "coffee")
    ran = shell("correct", "likes", "juice")
    assert (ran.code, ran.err.count("mnemark correct 0")) == (2, 2)
    assert shell("correct", "tea").code == 2
    assert shell("correct", "penguins", "x").code != 0
    assert shell("correct", "", "x").code == 2
    assert shell("correct", "tea", "juice", "--never").code == 2
    same = shell("facts", "--json").data["facts"][0]
    ran = shell("correct", same["id"], same["value"])
    assert (ran.code, ran.err) == (2, "mnemark: nothing to correct: it says so already\n")
    assert "tea" in shell("facts").out


def test_why_search_and_log_tell_of_it(shell: Shell) -> None:
    shell("init", ".")
    shell("add", "--session", "chat", "My dentist is Dr Sousa.")
    shell("learn")
    shell("correct", "dentist", "Dr Costa")
    told = "the dentist is Dr Costa, not Dr Sousa"
    assert told in shell("search", "who is my dentist?").out
    assert told in shell("recall", "who is my dentist?").out
    assert (
        "Corrected: your dentist is Dr Costa. Not: Dr Sousa." in shell("why", "memory/facts/user.md#L3").out
    )
    assert "Corrected: your dentist is Dr Costa." in shell("log").out
    shell("correct", "dentist", "--never")
    assert "never true" in shell("search", "who is my dentist?").out
    assert "It was never true: your dentist is Dr Costa." in shell("log").out


def test_a_model_corrects_its_own_and_what_the_user_has_just_said_otherwise(shell: Shell) -> None:
    with Memory.open(shell.folder, config={"embedder": "none"}) as memory:
        memory.remember("doctor", "Dr Wolf", origin="agent")
        memory.remember("dentist", "Dr Sousa")

        def corrected(**given: object) -> dict[str, object]:
            result: dict[str, object] = call(memory, "memory_correct", given)["structuredContent"]
            return result

        assert corrected(fact="doctor", value="Dr Fuchs")["status"] == "corrected"
        waits = corrected(ref="dentist", to="Dr Costa")
        assert (waits["status"], str(waits["id"]) in str(waits["warning"])) == ("waits for review", True)
        memory.session("chat").add("user", "I never said that!")
        assert corrected(fact="dentist", never="true")["status"] == "never true"
        assert [fact.value for fact in memory.facts(history=True)] == ["Dr Fuchs"]
        assert call(memory, "memory_correct", {"fact": "penguins", "value": "x"})["isError"]


def _save(path: Path, lines: list[str]) -> None:
    """Write a file as a program does that has ended: nobody waits until it is quiet."""
    path.write_text("\n".join(lines), "utf-8")
    os.utime(path, (time.time() - 60,) * 2)


def test_a_line_that_was_changed_since_it_was_read_corrects_no_other_fact(shell: Shell) -> None:
    with Memory.open(shell.folder, config={"embedder": "none"}) as memory:
        for predicate, value in (("dentist", "Dr Sousa"), ("city", "Porto")):
            memory.remember(predicate, value)
        memory.sync()
        memory.session("chat").add("user", "No, that's wrong: my dentist is Dr Costa.")
        (row, *_) = call(memory, "memory_search", {"query": "who is my dentist"})["structuredContent"][
            "results"
        ]
        path = memory.root / row["path"]
        head, between, one, two, *rest = path.read_text("utf-8").split("\n")
        _save(path, [head, between, two, one, *rest])  # another program sorted it
        given = {"fact": f"{row['path']}#L{row['startLine']}", "value": "Dr Costa"}
        told = call(memory, "memory_correct", given)
        assert told["isError"]
        text = told["content"][0]["text"]
        assert "was changed since a search read it; give the id of one" in text
        ids = {fact.predicate: fact.id for fact in memory.facts()}
        assert all(identifier in text for identifier in ids.values())
        call(memory, "memory_correct", {"fact": ids["dentist"], "value": "Dr Costa"})
        assert {fact.predicate: fact.value for fact in memory.facts()} == {
            "dentist": "Dr Costa",
            "city": "Porto",
        }
        _save(path, [head, between, two, *rest])
        told = call(memory, "memory_correct", {**given, "value": "Dr Silva"})
        assert "is gone: search again" in told["content"][0]["text"]
        assert "Porto" in {fact.value for fact in memory.facts()}


def test_a_scope_that_has_the_words_is_named(shell: Shell) -> None:
    with Memory.open(shell.folder, config={"embedder": "none"}) as memory:
        memory.remember("package manager", "pnpm", scope="projects/shop")
        memory.remember("editor", "Helix")
        memory.remember("editor", "Zed", scope="projects/shop")
        told = call(memory, "memory_correct", {"fact": "package manager", "value": "npm"})
        assert "give the scope of one: projects/shop" in told["content"][0]["text"]
        told = call(memory, "memory_correct", {"fact": "editor", "value": "Vim", "scope": "projects/shop"})
        assert "Your editor is Zed. (projects/shop)" in told["content"][0]["text"]


def test_who_has_not_seen_a_correction_does_not_end_what_is_right(shell: Shell) -> None:
    with Memory.open(shell.folder, config={"embedder": "none"}) as memory:
        fact = memory.remember("dentist", "Dr Sousa")
        memory.session("chat").add("user", "That's wrong. Dr Sousa was never my dentist, it is Dr Costa.")
        call(memory, "memory_correct", {"fact": fact.id, "value": "Dr Costa"})
        told = call(memory, "memory_correct", {"fact": fact.id, "never": True})  # by another agent
        assert "was corrected already and is gone" in told["content"][0]["text"]
        told = call(memory, "memory_correct", {"fact": fact.id, "value": "Dr Costa"})
        assert "it says so already" in told["content"][0]["text"]
        assert [one.value for one in memory.facts(history=True)] == ["Dr Costa"]
