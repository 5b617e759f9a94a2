"""Every public function of `text`, `extraction`, `summary` and `facts` that takes a text takes linear time.

A new function is found by itself. One that needs more than a text has a row in `ARRANGED`; one whose texts
are no one's words is named in `NO_TEXT`, with the reason.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from types import ModuleType
from typing import Any, Final

import msgspec
import pytest

import mnemark.extraction
import mnemark.summary
import mnemark.text
from hostile import Shape, general, near_misses, patterns_of, some
from linear import Call, slow
from mnemark.errors import UsageError
from mnemark.extraction import candidate as rules_base
from mnemark.extraction import chinese_owner
from mnemark.extraction import english_facts as rules_english
from mnemark.extraction import extract as rules
from mnemark.extraction import notes as rules_notes
from mnemark.extraction import validity as rules_dates
from mnemark.extraction.before_question import before_question
from mnemark.extraction.candidate import Found
from mnemark.extraction.reader import reader
from mnemark.extraction.reader import tokens as reader_tokens
from mnemark.extraction.reader.features import Encoder
from mnemark.extraction.reader.network import network
from mnemark.extraction.reader.reading import with_shares
from mnemark.extraction.sentences import LONGEST, Sentence
from mnemark.extraction.since import valid_since
from mnemark.facts import keys as facts_keys
from mnemark.facts import model
from mnemark.facts import parse as facts
from mnemark.facts import timeline as facts_timeline
from mnemark.facts import write as facts_undo
from mnemark.facts import write as facts_write
from mnemark.summary import filler, outcomes, summary, topics
from mnemark.summary import outline_compile as compile_
from mnemark.summary import outline_compile as compile_check
from mnemark.summary import outline_compile as compile_drop
from mnemark.summary import sentences as summary_rules
from mnemark.summary import summary as summary_check
from mnemark.summary import tool_titles as summary_tools
from mnemark.text import documents, toml
from mnemark.text import lines as matching
from mnemark.text import redaction as redact_base
from mnemark.text.dates import chinese as times_zh
from mnemark.text.dates import english as times_en
from mnemark.text.dates import ranges as times
from mnemark.text.dates import written
from mnemark.text.markdown import blocks as markdown_blocks
from mnemark.text.markdown import (
    comments,
    drop_comments,
    frontmatter,
    generated,
    hunks,
    names_id,
    other_texts,
    outline,
    writing,
)
from mnemark.text.markdown import cut as markdown_cut
from mnemark.text.quoting import fence, first_line, injection, signs
from mnemark.text.redaction import json as redact_json
from mnemark.text.redaction import own_patterns, redact
from mnemark.text.words import normalize as normal
from mnemark.text.words import similarity as similar
from mnemark.text.words import tokens
from mnemark.text.words.segment import cut_by_frequency
from mnemark.text.words.tokens import estimate_tokens

pytestmark = pytest.mark.timed

NOW: Final = datetime(2036, 11, 21, 12, tzinfo=UTC)
HERE: Final = NOW.replace(tzinfo=None)
_LANGUAGE: Final = topics.Language(lambda words: [10.0] * len(words))


def _sentence(text: str) -> Sentence:
    return Sentence(text[:LONGEST], text[:LONGEST])


def _other(text: str) -> str:
    """The text with its second half before the first, and a line between them."""
    half = len(text) // 2
    return f"{text[half:]}\nnew\n{text[:half]}"


def _edited(text: str) -> str:
    return text.replace("a", "b").replace("\n", "\nnew\n", 40)


def _first_fact(text: str) -> list[str]:
    return [
        change(text, fact, {"until": "2036"})
        for fact in facts.parse(text)[:1]
        for change in (facts_write.change_comment, facts_write.strike)
    ]


def _first_bullet(text: str) -> list[str]:
    return [
        changed
        for fact in facts.parse(text)[:1]
        for changed in (facts_write.lasting(text, fact, "2036"), facts_write.without_bullet(text, fact))
    ]


def _moment(text: str) -> object:
    try:
        return times.moment(text, "since", NOW)
    except UsageError:
        return None


def _toml(text: str) -> object:
    try:
        return toml.loads(text)
    except ValueError:
        return None


def _notebook(text: str) -> dict[str, Any]:
    text = text.encode("utf-8", "replace").decode()
    cells = [{"cell_type": "markdown", "source": text}]
    cells += [{"cell_type": "code", "source": text, "outputs": [{"text": text}]}]  # type: ignore[dict-item]
    return {"cells": cells}


def _canvas(text: str) -> dict[str, Any]:
    text = text.encode("utf-8", "replace").decode()
    nodes = [{"id": str(n), "type": "text", "text": line} for n, line in enumerate(text.split("\n"))]
    return {"nodes": nodes, "edges": [{"fromNode": "0", "toNode": one["id"]} for one in nodes]}


ARRANGED: Final[dict[str, Call]] = {
    "markdown.comments": lambda text: list(comments(text)),
    "markdown.drop_comments": lambda text: (
        drop_comments(text, blanks=" \t"),
        drop_comments(text, names_id),
    ),
    "summary.outline_compile.compiled": lambda text: compile_.compiled(text, 300),
    "summary.outline_compile.complaints": lambda text: compile_check.complaints(
        text.splitlines()[:300], text, must=text.splitlines()[:20]
    ),
    "summary.outline_compile.kept": lambda text: compile_drop.kept(outline.outline(text)),
    "documents.is_too_much": lambda text: documents.is_too_much(text, 1 << 30),
    "documents.convert": lambda text: (
        documents.convert("a.ipynb", msgspec.json.encode(_notebook(text))),
        documents.convert("a.canvas", msgspec.json.encode(_canvas(text))),
        documents.convert("a.html", text.encode("utf-8", "replace")),
    ),
    "markdown.other_texts.own_title": lambda text: [
        other_texts.own_title(f"a{one}", text) for one in other_texts.FORMATS
    ],
    "markdown.other_texts.passages_of": lambda text: [
        other_texts.passages_of(f"a{one}", text, limit=32) for one in other_texts.FORMATS
    ],
    "markdown.other_texts.text_format": other_texts.text_format,
    "markdown.writing.added": lambda text: writing.added(text, text.split("\n")),
    "facts.timeline.when": lambda text: facts_timeline.when(text, UTC),
    "facts.timeline.timeline": lambda text: facts_timeline.timeline(
        [model.Fact(id=str(n), value=line) for n, line in enumerate(text.split("\n"))], UTC
    ),
    "facts.write.without_fact": lambda text: facts_undo.without_fact(text, "10005"),
    "facts.write.without_end": lambda text: facts_undo.without_end(text, "10005", "2026-03-02"),
    "facts.keys.content_key": lambda text: (
        facts_keys.content_key("", text),
        facts_keys.content_key("city", text),
    ),
    "facts.write.add_bullet": lambda text: facts_write.add_bullet(text, "- tea"),
    "facts.write.bullet_of": lambda text: facts_write.bullet_of(text, text, {"source": text}),
    "facts.write.change_comment": _first_fact,
    "facts.write.comment_of": lambda text: facts_write.comment_of({"source": text}),
    "facts.write.strike": _first_fact,
    "facts.write.lasting": _first_bullet,
    "facts.write.without_bullet": _first_bullet,
    "facts.write.words_of": lambda text: (facts_write.words_of("", text), facts_write.words_of(text, text)),
    "quoting.fence.revealed": fence.revealed,
    "quoting.injection.letters_of": lambda text: injection.letters_of(text, ["system prompt", "no longer"]),
    "quoting.signs.any_of": lambda text: signs.any_of(text.split()),
    "quoting.signs.phrases_by_word": lambda text: signs.phrases_by_word(text.split("\n"), {"a"}),
    "quoting.signs.written_out": lambda text: signs.written_out(text.split("\n")),
    "quoting.signs.places_of": lambda text: list(signs.places_of("aaaaaaaa", text)),
    "quoting.signs.add_up": lambda text: signs.add_up(text, frozenset(text.split()), text.split()),
    "quoting.fence.inert_together": lambda text: fence.inert_together(text.split("\n")),
    "summary.filler.is_bare": lambda text: filler.is_bare(text, "memory/MEMORY.md"),
    "markdown.frontmatter.document_title": lambda text: frontmatter.document_title(
        text, frontmatter.front_matter(text), text
    ),
    "markdown.frontmatter.telling_fields": lambda text: frontmatter.telling_fields(
        frontmatter.front_matter(text), text, None
    ),
    "markdown.generated.find": lambda text: generated.find(text, "p10001"),
    "markdown.generated.without": lambda text: generated.without(text, lambda line: "a" in line),
    "markdown.generated.replace": lambda text: generated.replace(text, "p10001", ["a"], frozenset()),
    "markdown.generated.with_marks_of": lambda text: generated.with_marks_of(text, text),
    "markdown.generated.put": lambda text: generated.put(text, "p10001", text.split("\n")),
    "markdown.hunks.apply": lambda text: hunks.apply(text, hunks.hunks(text, _edited(text))),
    "markdown.hunks.diff": lambda text: hunks.diff("a.md", text, _other(text)),
    "markdown.hunks.hunks": lambda text: hunks.hunks(text, _other(text)),
    "markdown.hunks.take_back": lambda text: hunks.take_back(_edited(text), hunks.hunks(text, _edited(text))),
    "markdown.blocks.scan": lambda text: markdown_blocks.scan(markdown_blocks.line_starts(text)[0]),
    "markdown.cut.cut": lambda text: [
        list(markdown_cut.cut(text, (0, len(text)), kind, (50, 100), _cost))
        for kind in ("list", "fence", "table", "quote", "paragraph", "html", "front", "heading")
    ],
    "dates.ranges.moment": _moment,
    "toml.loads": _toml,
    "words.normalize.in_form": lambda text: [
        normal.in_form(form, text) for form in ("NFC", "NFD", "NFKC", "NFKD")
    ],
    "quoting.first_line.first_line": lambda text: first_line.first_line(text, redact.DEFAULT),
    "redaction.redact.redact": lambda text: redact.redact(
        text, redact.DEFAULT.with_values(["aaaaaaaa", "--------"]).with_patterns(["emp-[0-9]+"])
    ),
    "redaction.own_patterns.own_pattern": lambda text: list(
        own_patterns.own_pattern("(e|em)+p?-[0-9]+$").spans(text)
    ),
    "redaction.positions": lambda text: redact_base.positions(text, "aaaaaaaa"),
    "redaction.json.redact_json": lambda text: redact_json.redact_json(
        {"a": [text, {"password": text}], text: text}
    ),
    "extraction.extract.extract": lambda text: (
        rules.extract(text, time=NOW),
        rules.extract(text[-LONGEST:], time=NOW, role="assistant", origin="agent"),
    ),
    "extraction.extract.by_rules": lambda text: rules.by_rules(text, time=NOW),
    "extraction.extract.is_doubtful": lambda text: rules.is_doubtful([text]),
    "extraction.extract.is_of_another": lambda text: rules.is_of_another(text, text[-5:]),
    "extraction.reader.reading.with_shares": lambda text: with_shares(text, Encoder(), network()),
    "extraction.reader.reader.learned": lambda text: reader.learned(
        reader.read(text), text, [reader.Stretch(0, text)], NOW, 0.8
    ),
    "extraction.reader.reader.is_lasting": lambda text: reader.is_lasting(
        reader.read(text),
        text,
        rules_base.Candidate(
            subject="project",
            predicate="decisions",
            value=text[-LONGEST:],
            quote=text,
            since=NOW,
            confidence=1.0,
            importance=1.0,
        ),
        NOW,
    ),
    "extraction.reader.tokens.words": lambda text: reader_tokens.words(text, reader_tokens.tokens(text)),
    "extraction.candidate.listed": lambda text: (
        rules_base.listed(text),
        rules_base.listed(text, chinese=True),
    ),
    "extraction.english_facts.english_facts": lambda text: list(
        rules_english.english_facts(text[:LONGEST], NOW)
    ),
    "extraction.chinese_owner.without_times": lambda text: chinese_owner.without_times(text, NOW),
    "extraction.english_facts.to_do": lambda text: rules_english.to_do(text, NOW),
    "extraction.before_question.before_question": lambda text: before_question(_sentence(text)),
    "extraction.since.valid_since": lambda text: valid_since(
        Found("user", "city", text[-3:]), text[:LONGEST], NOW
    ),
    "extraction.validity.date_of": lambda text: rules_dates.date_of(text[:LONGEST], NOW),
    "extraction.candidate.usable": lambda text: rules_base.usable(text, len(text)),
    "extraction.validity.time_to_come": lambda text: rules_dates.time_to_come(text[:LONGEST], NOW),
    "extraction.validity.dated": lambda text: rules_dates.dated(_sentence(text), NOW),
    "extraction.validity.dropped": lambda text: rules_dates.dropped(_sentence(text)),
    "extraction.validity.mended": lambda text: rules_dates.mended(_sentence(text)),
    "extraction.notes.statements": lambda text: list(rules_notes.statements(text.split("\n"))),
    "words.similarity.similar": lambda text: similar.similar(text.split("\n")),
    "summary.summary.digest": lambda text: summary.digest(
        [summary.Line("user", text), summary.Line("assistant", text)], known=["Falcon"]
    ),
    "summary.summary.short_title": summary.short_title,
    "summary.summary.items": lambda text: summary.items(summary.Digest(asked=text)),
    "summary.topics.phrases": lambda text: topics.phrases([("user", text), ("assistant", text)], _LANGUAGE),
    "summary.topics.is_name": lambda text: topics.is_name([text] if text else []),
    "markdown.writing.link": lambda text: writing.link(text, "memory/episodes/a.md", "memory/a.md"),
    "summary.topics.substance": lambda text: topics.substance(text, _LANGUAGE),
    "summary.topics.tells": lambda text: topics.tells(text, _LANGUAGE),
    "summary.topics.titled": lambda text: topics.titled(
        [topics.Phrase(text, (text,), 1.0, 2)] if text else []
    ),
    "summary.topics.is_common": lambda text: topics.is_common(text, _LANGUAGE),
    "dates.written.dated": lambda text: written.dated(text, NOW, ahead=True),
    "summary.outcomes.left_over": outcomes.left_over,
    "summary.outcomes.result_text": outcomes.result_text,
    "summary.outcomes.is_result": lambda text: outcomes.is_result(text, by_owner=True),
    "summary.summary.overlap": lambda text: summary.overlap(text, text),
    "summary.summary.unfounded": lambda text: summary_check.unfounded(text[:2_000], text),
    "summary.sentences.entities": lambda text: (
        summary_rules.entities([text]),
        summary_rules.entities(text.split("\n"), most=2_000),
    ),
    "summary.sentences.projects": lambda text: summary_rules.projects([text], [text], ["Falcon"]),
    "summary.tool_titles.execution_of": lambda text: summary_tools.execution_of(
        {"name": "run", "arguments": text}
    ),
    "summary.tool_titles.head_and_tail": lambda text: summary_tools.head_and_tail(text, len(text) // 2),
    "summary.tool_titles.is_significant": lambda text: (
        summary_tools.is_significant("exec", {"command": text}),
        summary_tools.is_significant(text, {}, ("mcp__*__a*", "exec")),
    ),
    "summary.tool_titles.outcome_of": lambda text: (
        summary_tools.outcome_of(text),
        summary_tools.outcome_of("", text),
    ),
    "summary.tool_titles.significant_tools": lambda text: summary_tools.significant_tools([text, text]),
    "summary.tool_titles.text_of": lambda text: summary_tools.text_of({"a": [text], text: text}),
    "summary.tool_titles.title_of": lambda text: (
        summary_tools.title_of(text, {"url": text}, summary_tools.Outcome(failed=True, reason=text)),
        summary_tools.title_of("exec", {"command": text}, summary_tools.Outcome(failed=False)),
    ),
    "dates.ranges.date_ranges": lambda text: times.date_ranges(text, NOW),
    "dates.ranges.spans": lambda text: times.spans(text, NOW),
    "dates.english.words": lambda text: list(times_en.words(text, HERE)),
    "dates.chinese.words": lambda text: list(times_zh.words(text, HERE)),
    "words.tokens.cut_to_tokens": lambda text: (
        tokens.cut_to_tokens(text, 100),
        tokens.cut_to_tokens(text, len(text)),
    ),
    "words.segment.cut_by_frequency": lambda text: list(
        cut_by_frequency(text, lambda words: dict.fromkeys(words, 1))
    ),
}
"""Functions that need more than a text, or take it in another form."""
_OF_A_CLAUSE: Final = {
    "belongings": "do drive habit have own play speak study use",
    "changes": "break buy get leave lose sell separate stop turn",
    "plans": "want",
}
_WORDS_OF_A_CLAUSE: Final = (
    "names.named objects.is_general objects.is_taste objects.joined objects.place objects.values "
    "objects.verb_phrase phrases.noun_phrase phrases.plain phrases.without_article"
)

NO_TEXT: Final[dict[str, str]] = {
    **{
        f"extraction.english_{module}.read_{verb}": "words of a clause, of which there are at most 40"
        for module, verbs in _OF_A_CLAUSE.items()
        for verb in verbs.split()
    },
    **{
        f"extraction.english_{name}": "words of a clause, of which there are at most 40"
        for name in _WORDS_OF_A_CLAUSE.split()
    },
    "extraction.validity.future_day": "words that one of our patterns matched",
    "extraction.reader.features.bucket": "a token or two",
    "extraction.reader.kept.candidates": "part of `reader.learned`",
    "extraction.reader.clauses.around": "part of `reader.learned`",
    "extraction.reader.clauses.clauses": "part of `reader.learned`",
    "extraction.reader.reading.read_message": "part of `reader.learned`",
    "extraction.sentences.goes_on": "part of `sentences.sentences`",
    "extraction.reader.whose.mentions": "part of `reader.learned`",
    "dates.calendar.festival": "a key of our table",
    "markdown.generated.mark": "a hash",
    "dates.local_now": "a key of the database of zones",
    "redaction.redact.mark": "a hash",
    "redaction.extents.bare_value": "part of `redact.redact`",
    "redaction.extents.bare_value_in_list": "part of `redact.redact`",
    "redaction.extents.bare_value_of_line": "part of `redact.redact`",
    "redaction.extents.bare_value_in_chinese": "part of `redact.redact`",
    "redaction.extents.quoted_value": "part of `redact.redact`",
    "redaction.extents.with_its_rest": "part of `redact.redact`",
    "redaction.named_values.assigned": "part of `redact.redact`",
    "redaction.named_values.cell_fits": "part of `redact.redact`",
    "redaction.named_values.fits_quoted": "part of `redact.redact`",
    "extraction.candidate.many": "names of ours; it makes a reader",
    "extraction.candidate.slot": "names of ours; it makes a reader",
    "extraction.candidate.tool": "words that one of our patterns matched",
    "extraction.english_people.person_of": "words that one of our patterns matched",
    "extraction.hosting.host": "words that one of our patterns matched",
    "extraction.hosting.platform": "words that one of our patterns matched",
    **{
        f"extraction.practice{name}": "words that one of our patterns matched"
        for name in (
            ".fact",
            ".form",
            ".line_length",
            ".order",
            ".programs",
            "_words.is_ci",
            "_words.role_named",
            "_words.role_of",
            "_words.role_of_either",
        )
    },
    "dates.grammar.hours": "a key of ours",
    "documents.is_installed": "the name of a package",
    "words.segment.version_of": "the name of a package",
    "dates.calendar.festival_name": "words that one of our patterns matched",
    "dates.grammar.chinese_amount": "words that one of our patterns matched",
    "dates.grammar.chinese_number": "words that one of our patterns matched",
    "dates.grammar.english_amount": "words that one of our patterns matched",
    "dates.grammar.read_words": "part of `dates.english.words` and `dates.chinese.words`",
    "dates.grammar.yearly_festival": "a key of our table",
    "dates.grammar.some_time_ago": "words that one of our patterns matched",
    "dates.grammar.spelled_number": "words that one of our patterns matched",
}


def _cost(text: str) -> float:
    return max(estimate_tokens(text) + 0.5, len(text) / 16)


@cache
def modules() -> dict[str, ModuleType]:
    packages = (mnemark.text, mnemark.extraction, mnemark.summary)
    found = (one for room in packages for one in pkgutil.walk_packages(room.__path__, f"{room.__name__}."))
    names = [one.name for one in found]
    names += [f"mnemark.facts.{name}" for name in ("keys", "model", "parse", "timeline", "write")]
    return {
        name.removeprefix("mnemark.").removeprefix("text."): importlib.import_module(name) for name in names
    }


@cache
def functions() -> dict[str, Callable[..., object]]:
    """The public functions that take a text, texts, or a text and more."""
    found: dict[str, Callable[..., object]] = {}
    for name, module in modules().items():
        for own, value in vars(module).items():
            plain = inspect.unwrap(value) if callable(value) else None
            if inspect.isfunction(plain) and plain.__module__ == module.__name__ and not own.startswith("_"):
                kinds = [str(one.annotation) for one in inspect.signature(plain).parameters.values()]
                if any("str" in kind for kind in kinds):
                    found[f"{name}.{own}"] = value
    return found


def _takes_a_text(function: Callable[..., object]) -> bool:
    first, *others = inspect.signature(function).parameters.values()
    return first.annotation is str and all(one.default is not one.empty for one in others)


@cache
def calls() -> dict[str, Call]:
    plain = {
        name: _whole(function)
        for name, function in functions().items()
        if name not in NO_TEXT and _takes_a_text(function)
    }
    return plain | ARRANGED


def _whole(function: Callable[..., object]) -> Call:
    def call(text: str) -> object:
        found = function(text)
        return list(found) if isinstance(found, Iterator) else found

    return call


@cache
def _caches() -> list[Callable[[], None]]:
    """What empties the caches that hold results by text; to look for them takes longer than most calls."""
    values = [value for module in modules().values() for value in vars(module).values() if callable(value)]
    held = {id(value): value for value in values if hasattr(value, "cache_parameters")}
    return [value.cache_clear for value in held.values() if value.cache_parameters()["maxsize"]]


def _forget() -> None:
    for clear in _caches():
        clear()


def _assert_linear(name: str, shapes: list[Shape]) -> None:
    call = calls()[name]
    call("warm up 你好, on 2036-11-21\n")  # tables and dictionaries are read once
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "_MOST_WORK", 1_000)  # a fixed price is no part of how it grows
        patch.setattr(similar, "MOST_PEERS", 8)  # reached by few texts, too
        grown = {shape: found for shape in shapes if (found := slow(call, shape.text, forget=_forget))}
    assert [f"{shape}: {found}" for shape, found in grown.items()] == []


def _of_files(name: str, shape: Shape) -> bool:
    """Whether a shape may come: no text of a file and no term holds these characters as they are decoded."""
    decoded = name.startswith("facts") or name in {"lines.encode", "words.terms.cached_stem"}
    return not (decoded and "\ud800" in shape.piece)


def test_every_function_that_takes_a_text_is_tried() -> None:
    assert sorted(set(functions()) - set(calls()) - set(NO_TEXT)) == [], "give it a row in ARRANGED"
    assert sorted(set(NO_TEXT) - set(functions())) == []
    assert [
        name for name in ARRANGED if not hasattr(modules()[name.rpartition(".")[0]], name.rpartition(".")[2])
    ] == []


@pytest.mark.parametrize("name", sorted(calls()))
def test_time_is_linear_in_the_text(name: str) -> None:
    _assert_linear(name, [shape for shape in some(name) if _of_files(name, shape)])


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(calls()))
def test_time_is_linear_in_any_text(name: str) -> None:
    near = [
        shape for pattern in patterns_of(modules()[name.rpartition(".")[0]]) for shape in near_misses(pattern)
    ]
    _assert_linear(name, [shape for shape in (*general(), *near) if _of_files(name, shape)])
