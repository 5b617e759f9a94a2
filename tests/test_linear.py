"""What the layers above `text` do with text from outside takes time in proportion to it, and so does erasing.

`tests/text/test_linear.py` tries all of `mnemark.text`; here are the functions above it that read what
people, agents, tools and models wrote.
"""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from hostile import Shape, general, near_misses, some
from linear import Call, slow
from mnemark import Memory
from mnemark.embed.dictionary import expand
from mnemark.embed.hashing import HashingEmbedder
from mnemark.errors import ConfigError, UsageError
from mnemark.facts import files as fact_files
from mnemark.facts.visible import Visible
from mnemark.files import (
    attachments,
    config,
    copies,
    episodes,
    join,
    jsonl,
    layout,
    marks,
    merge,
    names,
    needles,
    secrets,
    tombstones,
    turns,
)
from mnemark.files.sessions import Placed
from mnemark.index import segment_builder, units
from mnemark.llm import extract
from mnemark.memory.consolidation import archive, condense, tidy
from mnemark.memory.curation import files, personas
from mnemark.memory.forgetting import needles as search_patterns
from mnemark.memory.forgetting import select, sweep
from mnemark.memory.forgetting.receipt import forgotten
from mnemark.memory.forgetting.select import ForgetItem
from mnemark.memory.learning import model_checks, sitting_notes
from mnemark.memory.prompt import parts
from mnemark.memory.sessions import compaction, messages, observations
from mnemark.retrieval import query
from mnemark.retrieval.block import block
from mnemark.retrieval.ranking import people, states
from mnemark.retrieval.render import snippet
from mnemark.retrieval.routes import fact_questions, fact_times
from mnemark.text import lines as diff
from mnemark.text.decoding import decode
from mnemark.text.words.segment import query_terms
from mnemark.types import Hit, Turn
from mnemark_adapters.importers import old_layouts
from mnemark_agents.connect import json_edit, toml_edit
from mnemark_agents.hook import event
from mnemark_interfaces import output, render

pytestmark = pytest.mark.timed

NOW: Final = datetime(2036, 11, 21, 12, tzinfo=UTC)
FACTS: Final = "memory/facts/user.md"
STATES: Final = (
    "Where do I live?",
    "What is my address?",
    "What am I allergic to?",
    "我住在哪里？",
    "我的地址是哪里？",
)


class _Answer(msgspec.Struct):
    text: str = ""


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _turn(text: str) -> Turn:
    return Turn(id="01J00000000000000000000000", time=NOW, role="user", content=text, origin="owner")


def _hit(text: str) -> Hit:
    return Hit(
        ref="a.md#L1", path="a.md", start_line=1, end_line=1, kind="note", title=text[:200], date=None,
        origin="file", scope="", score=0.5, text=text, snippet=text[:160],
    )  # fmt: skip


def _message(text: str) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {"role": "tool", "tool_call_id": "1", "content": content, "tool_calls": [text]}


def _receipt(text: str) -> object:
    return forgotten([ForgetItem(kind="note", path="n", text=text)], Visible(Path()))


def _refused(call: Callable[[str], object], *errors: type[Exception]) -> Call:
    """What is no answer, no JSON, no TOML is told as such."""

    def tried(text: str) -> object:
        try:
            return call(text)
        except errors:
            return None

    return tried


def _toml(text: str) -> object:
    return toml_edit.without(toml_edit.added(text, ["mcp"], {"a": text}))


def _json(text: str) -> object:
    whole = json.dumps({text: text, **dict.fromkeys(text.split("\n"), 1)})
    return json_edit.put(whole, ["a", "b"], text)


def _expanded(text: str) -> object:
    terms = query_terms(text)
    return expand(terms, "en"), expand(terms, "zh")


def _described(text: str) -> object:
    return attachments.described(text, attachments.AttachmentContent(text, text, text))


def _memories(text: str) -> object:
    return old_layouts.fact_bullets(_bytes(json.dumps([{"id": "1", "content": text}])))


def _decoded(text: str) -> object:
    return decode(_bytes(text)), decode(text.encode("gb18030", "replace"))


def _record(text: str) -> object:
    line = jsonl.encode({"role": text, "content": [text, {"text": text}]})
    return turns.decode_turn(jsonl.decode(line) or {}, jsonl.Line(0, 1, line, len(line)))


def _hidden_lines(text: str) -> object:
    select = text.split("\n")
    return tombstones.matches(select, [tombstones.run_of(select[: len(select) // 2])])


def _matched(text: str) -> object:
    said = [_turn(line) for line in text.split("\n")]
    placed = [Placed(n, n, one, n + 1) for n, one in enumerate(said[::-1])]
    return compaction._match_turns(dict(enumerate(said)), placed)


def _units(path: str) -> Call:
    place = layout.place(path)
    assert place is not None

    def cut(text: str) -> object:
        found = fact_files.visible_facts(text, text, path, "") if place.kind == "fact" else []
        return units.note_units(path, text, place, limit=256, facts=found)

    return cut


def _supported(text: str) -> object:
    support = model_checks._support(text[: len(text) // 2], text)
    return model_checks.is_denied(text, support), model_checks._grounded(text, [text])


def _noted(text: str) -> object:
    return sitting_notes._holds(text[:300], text), sitting_notes._is_not_meant(text[:300], text, "done")


def _erased(text: str) -> object:
    items = [ForgetItem(kind="turn", path="s", text=text), ForgetItem(kind="note", path="n", text=text)]
    words = search_patterns.search_patterns(items, "", search_patterns.Left())
    data = _bytes(text)
    return words.notes.found_in(data), words.turns.present(text), needles.without_runs(data, words.notes)


CASES: Final[Mapping[str, Call]] = {
    "agent.toml_edit": _refused(_toml, UsageError),
    "agent.event": event.is_question,
    "agent.json_edit": _refused(_json, json_edit.NotJsonError),
    "agent.json_edit of anything": _refused(json_edit.parse, UsageError),
    "embed.dictionary": _expanded,
    "embed.hashing": HashingEmbedder().query,
    "files.attachments": _described,
    "files.needles": lambda text: needles.BytePatterns([], cut=[text]).found_in(_bytes(text)),
    "files.copies": lambda text: (copies.copy_of(text), copies.may_be_copy(text)),
    "files.join of logs": lambda text: join.join_logs(_bytes(text), _bytes(text[::-1])),
    "files.join of texts": lambda text: join.join_texts(None, _bytes(text), _bytes(text[::-1])),
    "files.marks": lambda text: (marks.without_marks(text), marks.versions_of(_bytes(text))),
    "files.episodes": lambda text: episodes._refreshed(text, {"session": text}),
    "files.episodes by name": episodes.slug_of,
    "files.facts": lambda text: fact_files.facts_in(text, FACTS, ""),
    "files.tombstones": _hidden_lines,
    "files.jsonl": lambda text: jsonl.decode(_bytes(text)),
    "files.layout": lambda text: (layout.place(text), layout.shown(text)),
    "files.merge": lambda text: merge.merge3(_bytes(text), _bytes(text[::-1]), _bytes(f"{text}\n{text}")),
    "files.merge of an edit": lambda text: merge.lacks(_bytes(text), _bytes(text[::-1]), _bytes(text)),
    "files.names": lambda text: names.file_name(text, ".jsonl"),
    "importers.old_layouts": _memories,
    "text.decoding": _decoded,
    "files.turns": _record,
    "index.analysed": lambda text: segment_builder.analysed(
        [segment_builder.PassageText(text, text[:200], untrusted=True)], segment_builder.TermNumbers()
    ),
    "index.units": _units("memory/2036-11-21.md"),
    "index.units of facts": _units(FACTS),
    "index.units of plain text": _units("notes.txt"),
    "index.units of turns": lambda text: list(units.turn_units([(1, _turn(text))], limit=256)),
    "interfaces.output": lambda text: (output.safe(text), output.safe_line(text)),
    "interfaces.render": lambda text: render._mark_chinese(text, frozenset(query_terms(text[:100]))),
    "interfaces.render of a width": render.width,
    "llm.extract": _refused(lambda text: extract.read(text, _Answer), extract.InvalidAnswer),
    "memory.compaction": _matched,
    "memory.messages": lambda text: messages.tokens_of(_message(text)),
    "memory.messages cut": lambda text: messages.shortened([_message(text)], 100, "a"),
    "memory.condense": lambda text: [condense.worth(line) for line in text.split("\n")],
    "memory.files": files.paragraphs,
    "memory.sweep": lambda text: sweep._log_refs(f"{text} {text}.jsonl#L1 {text}", "memory/a.md"),
    "memory.needles": _erased,
    "memory.model_checks": _supported,
    "memory.sitting_notes": _noted,
    "memory.lines": lambda text: select.blocks(text.split("\n")),
    "memory.lines of parts": lambda text: select.parts(text.split("\n")),
    "memory.lines of a source": lambda text: select.only_from(text, {"a.jsonl": {1, 2}}),
    "memory.forget_receipt": lambda text: forgotten(
        [ForgetItem(kind="note", path="n", text=text)], Visible(Path())
    ),
    "memory.observations": lambda text: observations.added_below(text, "## Observations", text.split("\n")),
    "memory.personas": lambda text: personas._persona("personas/a.md", text),
    "memory.parts": lambda text: (parts.pieces_of(text), parts.is_chinese([text])),
    "files.names of a ref": names.split_ref,
    "memory.consolidation.archive": lambda text: archive._without(text, FACTS, {"10003", "10005"}),
    "memory.consolidation.tidy": tidy._entries,
    "retrieval.block": lambda text: block([_hit(text)] * 2, budget=800),
    "retrieval.query": lambda text: query.understand(text, now=NOW, context=[text]),
    "retrieval.ranking.people": lambda text: (
        people.asked_about(text),
        people.short_names(text),
        people.tells_of("Amina", f"{text} Amina"),
        people.tells_of("小美", f"{text}小美"),
    ),
    "retrieval.ranking.states": lambda text: (
        states.asked_state(text),
        states.asked_state(f"我{text}"),
        [
            state and state.is_told(f"I live in {text}我住在{text}")
            for state in map(states.asked_state, STATES)
        ],
    ),
    "retrieval.routes.fact_questions": lambda text: fact_questions.speaks_of(
        fact_questions.parse_question(text), text
    ),
    "retrieval.routes.fact_times": lambda text: fact_times.asked_time(text, (), None, (), UTC),
    "retrieval.snippet": lambda text: snippet(text, {"a": 1.0, "line": 0.5, "你": 2.0}),
    "retrieval.snippet of a name": lambda text: snippet(text, {"a": 1.0}, question="Who was it?"),
    "retrieval.snippet of a number": lambda text: snippet(text, {"a": 1.0}, question=f"How many? {text}"),
    "retrieval.snippet without its title": lambda text: snippet(f"# a\n{text}", {"a": 1.0}, title=text),
}


def _assert_linear(call: Call, shapes: list[Shape]) -> None:
    call("warm up 你好\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(diff, "_MOST_WORK", 1_000)  # a fixed price is no part of how it grows
        grown = {shape: found for shape in shapes if (found := slow(call, shape.text))}
    assert [f"{shape}: {found}" for shape, found in grown.items()] == []


@pytest.mark.parametrize("name", sorted(CASES))
def test_time_is_linear_in_the_text(name: str) -> None:
    _assert_linear(CASES[name], some(name))


def test_an_env_file_takes_linear_time(tmp_path: Path) -> None:
    def call(text: str) -> object:
        (tmp_path / ".env").write_bytes(_bytes(f"A={text}\n{text}"))
        return secrets.secret_values(secrets.read_env_file(tmp_path / ".env"))

    near = near_misses(secrets._LINE) + near_misses(secrets._QUOTED) + near_misses(secrets._LOGIN)
    _assert_linear(call, [*some("env"), *near])


def test_settings_take_linear_time(tmp_path: Path) -> None:
    def call(text: str) -> object:
        (tmp_path / "mnemark.toml").write_bytes(_bytes(text))
        return config.load_reported(tmp_path)

    deep = [
        Shape("deep", "[", "a = "),
        Shape("dotted", "a.", after="b = 1\n"),
        Shape("inline", "{a=", "a = "),
    ]
    _assert_linear(_refused(call, ConfigError), [*some("config"), *deep])


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(CASES))
def test_time_is_linear_in_any_text(name: str) -> None:
    _assert_linear(CASES[name], general())


@pytest.mark.parametrize("piece", ["-", "src/a{n}.py ", "<!--", "嗯", "| a |\n|-|\n", "\\"])
def test_a_hostile_turn_lives_and_is_erased_in_linear_time(piece: str, tmp_path: Path) -> None:
    number = iter(range(100))

    def live(text: str) -> None:
        with Memory.open(tmp_path / str(next(number)), config={"embedder": "none"}) as memory:
            session = memory.session("cli:main")
            session.add("user", text)
            session.observe("exec", {"command": text[:500]}, text)
            memory.sync()
            session.recall(text[:500], deadline=60)
            session.end()
            assert memory.forget(session="cli:main", erase=True).action == "erased"

    short = Shape("", piece).text(200)
    live(short)  # what is loaded and made once
    assert slow(live, Shape("", piece).text, size=5_000, guard=False) is None
