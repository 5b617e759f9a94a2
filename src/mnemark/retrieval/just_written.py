"""Find by words what this process wrote a moment ago: turns and facts that the index may not have yet.

For answers without time for a sync. Neither the dictionary nor the index is loaded: the Chinese of a question
is cut by the words of what was written.
"""

import threading
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from mnemark.facts.keys import subject_key
from mnemark.facts.model import fact_text
from mnemark.files.sessions import Placed
from mnemark.files.tombstones import Tombstones
from mnemark.retrieval.echoes import Echoes, wants_questions
from mnemark.retrieval.fact_index import OWN, FactIndex, describe, hit_of, meta_of
from mnemark.retrieval.presets import SUSPECT_FACTOR
from mnemark.retrieval.ranking.confidence import Confidence, Evidence, confidence, share
from mnemark.retrieval.render import recorded, snippet
from mnemark.retrieval.routes.lexical import idf
from mnemark.text.markdown.blobs import readable
from mnemark.text.quoting.injection import looks_like_instructions
from mnemark.text.words.segment import cut_by_frequency, other_terms
from mnemark.text.words.stopwords import content_terms, topic
from mnemark.types import Hit, Recall, ref_to

_TURNS: Final = 64
"""Maximum number of turns that are remembered."""
_LONGEST: Final = 4_000
"""Characters of a text, and of a question, that are read."""
_SMOOTHING: Final = 20
"""Number of texts added: among a few, every word would be rare."""
_WEIGHT: Final = 0.5
"""Score of a text that holds all of a question, as for a fact that is not indexed yet."""


class _Turn(NamedTuple):
    path: str
    scope: str
    placed: Placed


class Unscored(NamedTuple):
    """What may answer a question, unscored, and the text whose words count."""

    hit: Hit
    text: str


class JustWritten:
    """The last turns that this process recorded. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turns: deque[_Turn] = deque(maxlen=_TURNS)

    def add(self, path: str, scope: str, turns: Iterable[Placed]) -> None:
        """Remember turns of the log at `path`; output of tools and pages may be an attack, and waits."""
        said = (one for one in turns if one.turn.origin not in {"tool", "web"} and one.turn.content)
        with self._lock:
            self._turns.extend(_Turn(path, scope, one) for one in said)

    def candidates(
        self,
        question: str,
        scopes: frozenset[str] | None,
        exclude: Sequence[tuple[str, int]],
        hidden: Tombstones,
    ) -> list[Unscored]:
        """Return the turns that may answer a question: none excluded, forgotten, or the question itself."""
        first = dict(exclude)
        with self._lock:
            turns = list(self._turns)
        echoes = None if wants_questions(question) else Echoes(question)
        return [
            Unscored(_hit(one), one.placed.turn.content)
            for one in turns
            if (scopes is None or one.scope in scopes)
            and one.placed.turn.id not in hidden.turns
            and one.placed.line < first.get(one.path, one.placed.line + 1)
            and not (echoes and echoes.has(one.placed.turn.content))
        ]


def _hit(one: _Turn) -> Hit:
    turn, line = one.placed.turn, one.placed.line
    meta: dict[str, Any] = {**recorded(turn.meta), "role": turn.role}
    return Hit(
        ref=ref_to(one.path, line, line), path=one.path, start_line=line, end_line=line, kind="turn",
        title="",
        date=None if turn.meta.get("undated") else turn.time.isoformat(timespec="seconds"),
        origin=turn.origin, scope=one.scope, score=0.0, text=turn.content, snippet=turn.content, meta=meta,
    )  # fmt: skip


def fact_hits(index: FactIndex) -> list[Unscored]:
    """Return the facts that the passage index may lack and that hold now."""
    return [
        Unscored(
            hit_of(
                one.fact,
                describe(index, one, "current"),
                score=0.0,
                meta=meta_of(index, one, "current"),
                why={},
            ),
            # "user" occurs in many questions about something else.
            f"{'' if subject_key(one.fact.subject) in OWN else one.fact.subject} {fact_text(one.fact)}",
        )
        for one in index.new
        if one.at(index.made)
    ]


def with_just_written(answer: Recall, new: Sequence[Unscored], question: str, k: int) -> Recall:
    """Add what was just written to an answer from the index, by its share of the question."""
    texts = [one.text[:_LONGEST].casefold() for one in new]
    words = [other_terms(text) for text in texts]

    def frequencies(wanted: Iterable[str]) -> Mapping[str, int]:
        return {word: sum(word in text for text in texts) for word in wanted}

    terms = content_terms(topic(question[:_LONGEST]), lambda line: cut_by_frequency(line, frequencies))
    held = [
        frozenset(term for term in terms if (term in own if term.isascii() else term in text))
        for own, text in zip(words, texts, strict=True)
    ]
    count = len(texts) + _SMOOTHING
    rarity = {term: idf(count, sum(term in one for one in held)) for term in terms}
    found: list[tuple[Hit, Confidence]] = []
    for one, own, text in zip(new, held, texts, strict=True):
        if own:
            scored = _scored(one.hit, share(rarity, own), rarity, question)
            turn = float(scored.kind == "turn")
            evidence = Evidence(scored.score, None, len(texts), len(rarity), len(text.split()), turn=turn)
            found.append((scored, confidence(evidence)))
    if not found:
        return answer
    found.sort(key=lambda pair: -pair[0].score)
    ours = [hit for hit, _ in found[:k]]
    places = {(hit.path, hit.start_line) for hit in ours if hit.start_line}
    theirs = [hit for hit in answer.hits if (hit.path, hit.start_line) not in places]
    hits = sorted((*ours, *theirs), key=lambda hit: -hit.score)[:k]
    best = found[0][1]
    return replace(
        answer,
        hits=tuple(hits),
        mode="lexical",
        on_topic=max(answer.on_topic, best.on_topic),
        believable=max(answer.believable, best.believable),
    )


def _scored(hit: Hit, held: float, rarity: Mapping[str, float], question: str) -> Hit:
    score, meta, text = _WEIGHT * held, hit.meta, readable(hit.text).text
    if hit.origin != "owner" and looks_like_instructions(hit.text):
        score, meta = score * SUSPECT_FACTOR, {**meta, "suspect": True}
    shown = snippet(text, rarity, title=hit.title, question=question)
    return replace(hit, score=round(score, 4), text=text, snippet=shown, meta=meta)
