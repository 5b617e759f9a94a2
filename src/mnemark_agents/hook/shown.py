"""Remember what a model has in its context, so that it does not get it twice. Imports stay light.

What a session was shown is kept as hashes of lines, of the words of sentences, and of the refs of facts,
until a compaction or an erasure; of its own turns, the number of lines that have left the context.
"""

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemark.errors import MnemarkError
from mnemark.files import layout, platform
from mnemark.files.jsonl import count_lines
from mnemark.files.private import session_note, write_session_note
from mnemark.hashes import blake2b
from mnemark.retrieval.block import Quotable, block
from mnemark.text.markdown import drop_comments
from mnemark.text.words.restated import BareSentence, SaidSentences, sentences
from mnemark_agents.hook.event import FLOOR, checked

if TYPE_CHECKING:
    from mnemark.memory.prompt.briefing import Briefing
    from mnemark.types import Hit, Recall

_MOST: Final = 3_000
"""Maximum number of marks kept of a session: those of some 50 recalls. Each prompt compares all of them."""
_WINDOW: Final = ""
"""Ending of the note with the number of lines that have left the model's context."""
_LETTERS: Final = str.maketrans("0123456789", "ghijklmnop")
_CLAUDE: Final = f"{layout.MOUNT}claude-code"


def _mark(text: str) -> str:
    return blake2b(" ".join(text.split()).casefold().encode("utf-8", "replace"), digest_size=6).hexdigest()


def marks_of(lines: Iterable[str], refs: Iterable[str] = ()) -> frozenset[str]:
    """Return the marks of lines without their bullets, of the sentences in them, and of refs."""
    bare = [text for line in lines if (text := line.strip(" \t-*#"))]
    said = map(_sentence_mark, sentences("\n".join(bare)))
    return frozenset((*map(_mark, (*bare, *refs)), *said))


def marks_of_briefing(found: "Briefing") -> frozenset[str]:
    """Return the marks of a briefing; its facts also as a page may state them, in the other language."""
    others = (fact.other for fact in found.facts)
    return marks_of((*found.text.splitlines(), *others), (fact.ref for fact in found.facts))


def _sentence_mark(sentence: BareSentence) -> str:
    """Return a mark of what a sentence says: 16 bits of a hash of each word."""
    return ".".join(map(_short_hash, (" ".join(sentence.sense), *sentence.words)))


def _short_hash(word: str) -> str:
    found = blake2b(word.encode("utf-8", "replace"), digest_size=2).hexdigest()
    return found.translate(_LETTERS) if word.isalpha() else f"0{found}"


def _marked(mark: str) -> BareSentence:
    sense, *words = mark.split(".")
    return BareSentence(tuple(words), (sense,))


def new_block(
    found: "Recall",
    marks: frozenset[str],
    budget: int,
    *,
    least: float = FLOOR,
    agent: str = "",
    folder: str = "",
) -> tuple[str, frozenset[str]]:
    """Return the block of a recall without what was shown, and the marks of what stands in it.

    Args:
        found: a recall.
        marks: of what the model has.
        budget: tokens of the block.
        least: the minimum of `Recall.on_topic`.
        agent: the agent's name; what it reads itself at each start is not repeated.
        folder: where it works; what Claude Code noted of another project is left out.

    Returns:
        The block is empty where what is left is not likely on the topic: as the best hit is, so is its share.
    """
    known = _read_by(agent, folder)
    context = _Context(marks)
    told = {hit.ref for hit in found.hits if known(hit) or (marks and context.has(hit))}
    left = tuple(hit for hit in found.hits if hit.ref not in told)
    left = tuple(hit for hit in found.hits if hit.ref not in told or _corrects(hit, left))
    best = found.hits[0].score if found.hits else 0.0
    share = min(left[0].score / best, 1.0) if left and best > 0 and left[0] != found.hits[0] else 1.0
    # Beside the best, which the model has, only what may answer, too, is worth its tokens.
    sure = found.on_topic if share == 1.0 else min(found.on_topic, found.believable) * share
    if not left or sure < least:
        return "", frozenset()
    same = found.text and len(left) == len(found.hits)
    text, hits = (found.text, left) if same else block(left, budget=budget)
    lines = (line for hit in hits for line in drop_comments(hit.text, blanks=" \t").splitlines())
    return checked(text), marks_of(line for line in lines if line.strip() in text)


def _corrects(hit: "Hit", others: Iterable["Hit"]) -> bool:
    """Return whether a fact was changed, and one of these turns or notes still says its old value.

    Beside such words it is told again: the model would take the last it reads for what holds.
    """
    before = hit.meta.get("replaces")
    old = str(before.get("value", "")).casefold() if isinstance(before, dict) else ""
    return bool(old) and any(old in one.text.casefold() for one in others if one.kind != "fact")


def _read_by(agent: str, folder: str) -> "Callable[[Hit], bool]":
    """Return what tells whether a hit is of a file that the agent reads itself, or of another project.

    Agents read files such as CLAUDE.md, at the top of their mounts. Claude Code notes what it learned of a
    project in `projects/<its path, with a hyphen for all but letters and digits>/memory/`, and begins with
    the MEMORY.md there.
    """
    places = (folder, *map(str, Path(folder).parents)) if folder else ()
    here = {re.sub("[^A-Za-z0-9]", "-", place) for place in places}

    def is_known(hit: "Hit") -> bool:
        mount, _, path = hit.path.partition("/")
        if not agent or not mount.startswith(layout.MOUNT):
            return False
        own, (first, *rest) = mount == f"{layout.MOUNT}{agent}", path.split("/")
        if mount == _CLAUDE and first == "projects" and rest:
            return rest[0] not in here or (own and rest[1:] == ["memory", "MEMORY.md"])
        return own and not rest

    return is_known


class _Context:
    """What a model has in its context, as marks."""

    def __init__(self, marks: frozenset[str]) -> None:
        self._marks = marks

    @cached_property
    def _said(self) -> SaidSentences:
        """The sentences; thousands in a long session, and compared only where lines and refs do not tell."""
        return SaidSentences(_marked(mark) for mark in self._marks if "." in mark)

    def has(self, hit: "Hit") -> bool:
        """Return whether a hit says nothing that the model does not have."""
        text = drop_comments(hit.text, blanks=" \t")  # no model is shown them
        bare = (line.strip(" \t-*#") for line in text.splitlines() if not line.startswith("#"))
        whole = [line for line in bare if line]
        lines = frozenset(_mark(line) for line in whole if not _is_pointer(line))
        if whole and not lines:
            return True
        if _mark(hit.ref) in self._marks or (bool(lines) and lines <= self._marks):
            return True
        told = Quotable(hit)
        return told.may_go and self._said.repeats(_marked(_sentence_mark(one)) for one in told.sentences)


def _is_pointer(line: str) -> bool:
    """Return whether a line only points from a generated page to its facts, or to the turns of an episode."""
    words, _, target = line.rpartition("](")
    facts = line.startswith("[") and "memory/facts" in target
    return target.endswith(")") and (facts or (" · [" in words and "/sessions/" in target))


def load(root: Path, session: str) -> frozenset[str]:
    """Return the marks of what a session (the path of its file) was shown; none where they cannot be read."""
    try:
        return frozenset(platform.content(session_note(root, session, layout.SHOWN)).decode().split())
    except (OSError, UnicodeDecodeError):
        return frozenset()


def save(root: Path, session: str, marks: frozenset[str]) -> None:
    """Keep the marks of a session; without any, remove its file.

    Where nothing can be written, a model may be told something twice.
    """
    with suppress(OSError, MnemarkError):
        if marks:
            write_session_note(root, session, layout.SHOWN, "\n".join(sorted(marks)[:_MOST]).encode())
        else:
            platform.FS.unlink(session_note(root, session, layout.SHOWN))


def note_compaction(root: Path, session: str) -> None:
    """Record that all lines of a session's file (a path in `root`) have left the model's context."""
    path = root / session
    if path.is_file():
        write_session_note(root, session, _WINDOW, b"%d\n" % count_lines(path, path.stat().st_size))


def first_visible_line(root: Path, session: str) -> int:
    """Return the first line of a session's file in the model's context; a recall excludes turns from there.

    Without the stored number it is 1, which only makes the recall smaller.
    """
    try:
        return int(platform.content(session_note(root, session, _WINDOW))) + 1
    except (OSError, ValueError):
        return 1
