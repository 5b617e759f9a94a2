"""The identity compiler: short sections, compiled once for each content, by a model if it keeps to it."""

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from mnemark import Memory
from mnemark.llm import Budget, Entry, Ledger, Message, Meter, spent_on
from mnemark.llm.function import FunctionLLM, from_callable
from mnemark.memory.curation.identity import BUDGETS, compiled
from mnemark.text.words.tokens import estimate_tokens

RULES = "".join(
    f"- Never deploy service number {n} on a Friday without asking the owner first.\n" for n in range(60)
)
SOUL = f"# SOUL\n\nYou are Mo, a calm assistant.\n\n## Rules\n\n{RULES}"
SHORT = "You are Mo, a calm assistant.\n\n- Never delete files unasked.\n"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    (tmp_path / "SOUL.md").write_text(SOUL)
    (tmp_path / "AGENTS.md").write_text(
        "# AGENTS.md\n\n- Search memory before answering about earlier work.\n"
    )
    (tmp_path / "USER.md").write_text("# USER\n\n- **Name:** Ann\n- **Pronouns:** (optional)\n")
    (tmp_path / "MEMORY.md").write_text("# Memory\n\nAtlas is the data catalogue.\n")
    with Memory.open(tmp_path, config={"embedder": "none"}) as found:
        yield found


def model(answer: Callable[[Sequence[Message]], str], asked: list[int]) -> FunctionLLM:
    def say(messages: Sequence[Message]) -> str:
        asked.append(1)
        return answer(messages)

    entries: list[Entry] = []
    meter = Meter(Budget(100, 10**6), Ledger(entries.append, lambda day: spent_on(day, entries)))
    return from_callable(say, meter=meter)


def kept(memory: Memory) -> dict[str, str]:
    return {path.name: path.read_text() for path in (memory.root / ".mnemark/compiled").glob("*.md")}


def test_each_section_is_short_has_sources_and_says_what_is_left_out(memory: Memory) -> None:
    found = compiled(memory.workspace)
    assert [part.name for part in found.parts] == list(BUDGETS)
    for part in found.parts:
        assert part.tokens == estimate_tokens(part.text) <= part.budget == BUDGETS[part.name]
    identity = found.part("identity")
    assert identity.sources == ("SOUL.md", "AGENTS.md")
    assert "You are Mo" in identity.text
    assert "Search memory before" in identity.text  # a long file does not push out a short one
    assert any("(SOUL.md)" in words for words in identity.left_out)
    assert found.part("profile").text == "- **Name:** Ann"
    assert found.part("core").text == "Atlas is the data catalogue."
    assert found.tokens == sum(part.tokens for part in found.parts)


def test_what_is_kept_is_used_until_a_source_changes_and_can_be_deleted(memory: Memory) -> None:
    first = compiled(memory.workspace)
    before = kept(memory)
    assert set(before) == {path for path in before if path.split("-")[0] in BUDGETS}
    for name in before:
        path = memory.root / ".mnemark/compiled" / name
        path.write_text(path.read_text().replace("calm", "CALM"))
    assert "CALM" in compiled(memory.workspace).part("identity").text
    (memory.root / "SOUL.md").write_text(SOUL + "\n- Always be kind.\n")
    assert "CALM" not in compiled(memory.workspace).part("identity").text
    (memory.root / "SOUL.md").write_text(SOUL)
    shutil.rmtree(memory.root / ".mnemark/compiled")
    assert compiled(memory.workspace) == first


def test_a_broken_copy_is_made_anew(memory: Memory) -> None:
    first = compiled(memory.workspace)
    for name in kept(memory):
        (memory.root / ".mnemark/compiled" / name).write_bytes(b"\xff\xfe broken")
    assert compiled(memory.workspace) == first


def test_a_model_is_asked_once_and_its_words_serve_without_it(memory: Memory) -> None:
    asked: list[int] = []
    rules = compiled(memory.workspace, budgets={"identity": 315}).part("identity")
    lines = [line for line in rules.text.splitlines() if line.strip() and not line.startswith("#")]
    assert len(lines) > 3
    short = [line.replace("the owner first", "the owner") for line in lines]
    answer = json.dumps({"lines": short})
    llm = model(lambda _: answer, asked)
    found = compiled(memory.workspace, llm=llm)
    assert found.notes == ()
    assert found.part("identity").by == "llm"
    assert found.part("identity").text == "\n".join(short)
    assert found.part("profile").by == "rules"  # it fits as it is
    assert compiled(memory.workspace, llm=llm) == found
    assert len(asked) == 1
    assert compiled(memory.workspace).part("identity").by == "llm"
    parts = {part.name: part for part in memory.prompt().parts}
    assert parts["identity"].by == "llm"
    assert "\n".join(short) in parts["identity"].text


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ('{"lines": []}', "empty"),
        ('{"lines": ["You are Bob, a pirate who sails the seven seas"]}', "not in the source"),
        ('{"lines": ["You are Mo, a calm assistant."]}', "a rule is missing"),
        (
            json.dumps(
                {"lines": [line.replace("Never deploy", "Deploy") for line in RULES.splitlines()[:9]]}
            ),
            "turned round",
        ),
        (json.dumps({"lines": RULES.splitlines()}), "tokens are more than"),
        ("I cannot do that", ""),
    ],
)
def test_an_answer_that_does_not_keep_to_it_is_not_taken(memory: Memory, answer: str, why: str) -> None:
    rules = compiled(memory.workspace).part("identity")
    found = compiled(memory.workspace, llm=model(lambda _: answer, []))
    assert found.part("identity") == rules
    assert why in " ".join(found.notes)
    assert found.notes
    assert (memory.root / "SOUL.md").read_text() == SOUL


def test_a_refused_answer_is_not_asked_for_again(memory: Memory) -> None:
    asked: list[int] = []
    llm = model(lambda _: '{"lines": ["pirates sail the seven seas"]}', asked)
    compiled(memory.workspace, llm=llm)
    compiled(memory.workspace, llm=llm)
    assert len(asked) == 1


def test_a_model_that_is_gone_is_asked_again_next_time(memory: Memory) -> None:
    def gone(_: Sequence[Message]) -> str:
        raise OSError("no route")

    asked: list[int] = []
    first = compiled(memory.workspace, llm=model(gone, asked))
    assert first.part("identity").by == "rules"
    assert "no route" in first.notes[0]
    before = len(asked)
    compiled(memory.workspace, llm=model(gone, asked))
    assert len(asked) > before


def test_files_of_a_scope_come_after_the_roots(memory: Memory) -> None:
    (memory.root / "SOUL.md").write_text(SHORT)
    (memory.root / "agents/kai").mkdir(parents=True)
    (memory.root / "agents/kai/SOUL.md").write_text("You are Kai.\n")
    found = compiled(memory.workspace, scope="agents/kai").part("identity")
    assert found.sources == ("SOUL.md", "AGENTS.md", "agents/kai/SOUL.md")
    assert "Kai" in found.text
    assert "Kai" not in compiled(memory.workspace).part("identity").text


def test_learned_traits_go_along_with_every_persona(memory: Memory) -> None:
    folder = memory.root / "personas"
    folder.mkdir()
    (folder / "user_custom.md").write_text("- likes short answers\n")
    (folder / "butler.md").write_text("---\nactive: true\n---\nSpeaks like a butler.\n")
    (folder / "coach.md").write_text("Encourages.\n")
    assert compiled(memory.workspace).part("persona").text == "Speaks like a butler.\n\n- likes short answers"
    assert (
        compiled(memory.workspace, persona="Coach").part("persona").text
        == "Encourages.\n\n- likes short answers"
    )
    assert compiled(memory.workspace, persona="").part("persona").text == "- likes short answers"
