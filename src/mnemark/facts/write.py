"""Write facts into a file's text: add a bullet, strike it through, or change its comment.

Every function returns the new text; all other parts stay unchanged to the byte.
"""

import re
from collections.abc import Mapping
from typing import Final

import msgspec

from mnemark.facts.keys import predicate_key, subject_key
from mnemark.facts.labels import label, subject_label
from mnemark.facts.model import Fact
from mnemark.facts.parse import ParsedFact, parse, split_words
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.lines import clean

ORDER: Final = (
    "id", "key", "type", "subject", "priority", "since", "until", "ended", "recorded", "origin",
    "importance", "confidence", "tags", "source", "supersedes",
)  # fmt: skip
"""Keys of a comment in the order they are written; others follow as given."""

_ESCAPE: Final = lazy_pattern(r"(?<!\\)(?:\\*~~|\\+[:：])|(?<=<)\\*!--")
_STARTS: Final = lazy_pattern(r"^(?=\\*[-+*#>|`_])")
_COLON: Final = lazy_pattern(r"[:：]")
_RESERVED: Final = lazy_pattern(r"%(?=25|7C|3E|0A|0D)|[|>\r\n]")
_CODES: Final = {sign: f"%{ord(sign):02X}" for sign in "%|>\r\n"}


def encode_field(text: str) -> str:
    r"""Escape a value for a comment: no `|`, `>` and line ends; read back by `parse.decode_field`.

    >>> encode_field("a|b --> 50%7C")
    'a%7Cb --%3E 50%257C'
    """
    return _RESERVED.sub(lambda found: _CODES[found[0]], text.strip())


def words_of(predicate: str, value: str) -> str:
    r"""Return a bullet's text, on one line, that parses back to the same predicate and value.

    >>> words_of("python version", "3.12"), words_of("", "note: tea")
    ('**python version**: 3.12', 'note\\: tea')
    """
    key, text = predicate_words(predicate), _ESCAPE.sub(r"\\\g<0>", clean(value))
    if key:
        return f"**{key}**: {text}"
    text = _STARTS.sub(r"\\", text)
    while (key := split_words(text)[0]) and (found := _COLON.search(text, len(key))):
        text = f"{text[: found.start()]}\\{text[found.start() :]}"
    return text


def predicate_words(predicate: str) -> str:
    """Return a predicate that is safe between `**`: on one line, without marks and colons."""
    return " ".join(re.sub(r"[*:：\\]|~~|__|<!--|-->", " ", clean(predicate)).split()).strip(" _`")


def comment_of(fields: Mapping[str, str]) -> str:
    """Return a comment with the non-empty fields, in `ORDER`."""
    names = dict.fromkeys((*ORDER, *fields))
    kept = (f"{name}: {encode_field(text)}" for name in names if (text := fields.get(name)))
    return f"<!-- {' | '.join(kept)} -->"


def bullet_of(
    predicate: str,
    value: str,
    fields: Mapping[str, str],
    *,
    struck: bool = False,
    chinese: bool | None = None,
) -> str:
    """Return a complete bullet without line end; `chinese`: the language that the predicate is shown in."""
    shown = predicate if chinese is None else label(predicate, chinese=chinese)
    words = words_of(shown, value)
    fields = {**fields, "key": "" if shown == predicate else predicate_words(predicate)}
    return f"- {f'~~{words}~~' if struck else words} {comment_of(fields)}"


def line_end(text: str) -> str:
    r"""Return the line end of a file's first line; `\n` if it has none."""
    match = re.search(r"\r\n?|\n", text)
    return match[0] if match else "\n"


def add_bullet(text: str, line: str, *, after: ParsedFact | None = None) -> str:
    """Insert a bullet below `after`, at its depth, or at the end of the file."""
    end = line_end(text)
    if after is not None:
        at, line = after.bullet.end, after.bullet.indent + after.bullet.marker + line[1:]
    else:
        at = len(text)
    before = end if at and not text[:at].endswith(("\n", "\r")) and text[:at] != "\ufeff" else ""
    return f"{text[:at]}{before}{line}{end}{text[at:]}"


def change_comment(text: str, fact: ParsedFact, fields: Mapping[str, str]) -> str:
    """Set fields of the bullet's own comment; an empty value removes the field."""
    spans = fact.bullet
    if spans.comment is not None:
        start, end = spans.comment
        parts = text[start + 4 : end - 3].replace("：", ":").split("|")
        names = {part.partition(":")[0].strip().lower() for part in parts}
        own = {name: value for name, value in fact.meta.items() if name in names}
        return text[:start] + comment_of(own | dict(fields)) + text[end:]
    end = spans.start + len(text[spans.start : spans.end].rstrip("\r\n"))
    end = max(len(text[:end].rstrip()), spans.words[1])
    return f"{text[:end]} {comment_of(fields)}{text[end:]}"


def strike(text: str, fact: ParsedFact, fields: Mapping[str, str]) -> str:
    """Strike a bullet through, and set fields of its comment."""
    changed = change_comment(text, fact, fields)
    if fact.struck:
        return changed
    start, end = fact.bullet.words
    if fact.bullet.comment is not None and fact.bullet.comment[0] < end:  # its comment stands between words
        fact = next(found for found in parse(changed) if found.bullet.start == fact.bullet.start)
        start, end = fact.bullet.words
    return f"{changed[:start]}~~{changed[start:end]}~~{changed[end:]}"


HEADINGS: Final = frozenset({"rules", "errors"})
"""Predicates that the heading above an entry says already."""


def without_marker(text: str) -> str:
    """Return a text in which nothing looks like the beginning of a comment or marker."""
    return text.replace("<!--", "<! --")


def core_entry(
    fact: Fact, *, chinese: bool | None = None, translated: bool = True, doubled: bool = True
) -> str:
    """Return a fact as a line of the core memory, with its date if it superseded another.

    What speaks against it follows. Subject and predicate are shown in Chinese or in English; as earlier
    versions did, the predicate not `translated`, or a subject of one character not `doubled`.
    """
    value = without_marker(fact.value)
    is_kept = chinese is None or (len(fact.subject) == 1 and not doubled)
    subject = fact.subject if is_kept else subject_label(fact.subject, chinese=bool(chinese))
    of = (" 的" if subject.isascii() else "的") if chinese else " "
    about = "" if subject_key(subject) == "user" else f"{subject}{of}"
    shown = fact.predicate
    if chinese is not None and translated:
        shown = label(fact.predicate, chinese=chinese)
    if chinese is not None and predicate_key(shown) in HEADINGS:
        shown = ""
    words = f"{about}{shown}".strip(" 的")
    day = fact.since[:10] if fact.supersedes else ""
    since = f"（{day} 起）" if chinese else f" (since {day})"
    said = f"{words}{'：' if chinese else ': '}{value}" if words else value
    return f"- {said}{since if day else ''}{_doubt(fact, chinese=bool(chinese))}"


def _doubt(fact: Fact, *, chinese: bool) -> str:
    if fact.otherwise is None:
        return ""
    quote = clean(without_marker(fact.otherwise.quote))
    day = fact.otherwise.time[:10]
    return f"（但 {day} 说：“{quote}”）" if chinese else f" (but on {day}: “{quote}”)"


def core_entries(fact: Fact) -> tuple[str, ...]:
    """Return the lines by which the core memory may state a fact: as stored, in English, in Chinese.

    The last two are in Chinese as earlier versions wrote it: with the predicate as stored, as they had fewer
    Chinese names, and with a subject of one character. What speaks against the fact stands in all of them;
    `undoubted_entries` are without it.
    """
    ways = [core_entry(fact, chinese=chinese) for chinese in (None, False, True)]
    before = [core_entry(fact, chinese=True, translated=one, doubled=False) for one in (False, True)]
    return (*ways, *before)


def undoubted_entries(fact: Fact) -> tuple[str, ...]:
    """Return the lines of `core_entries` as they are where nothing speaks against the fact."""
    return core_entries(msgspec.structs.replace(fact, otherwise=None))


def without_fact(text: str, identifier: str) -> str:
    """Delete a bullet by id; the fact it superseded is valid again, or until the deleted one ended."""
    gone = next((fact for fact in parse(text) if fact.id == identifier), None)
    return text if gone is None else without_bullet(text, gone)


def without_bullet(text: str, gone: ParsedFact) -> str:
    """Delete a bullet; see `without_fact`."""
    text = text[: gone.bullet.start] + text[gone.bullet.end :]
    before = next((fact for fact in parse(text) if _was_ended_by(fact, gone)), None)
    if before is None:
        return text
    return lasting(text, before, gone.meta.get("until", "") if gone.struck else "")


def without_end(text: str, identifier: str, until: str) -> str:
    """Remove the end `until` of a fact, so that it is valid again; another end is kept."""
    ended = next((fact for fact in parse(text) if fact.id == identifier), None)
    return text if ended is None or ended.meta.get("until") != until else lasting(text, ended, "")


def lasting(text: str, fact: ParsedFact, until: str) -> str:
    """Set the end of a fact; without one, its words are no longer struck through."""
    changed = change_comment(text, fact, {"until": until, "ended": ""})
    start, end = fact.bullet.words
    words = text[start:end]
    if not until and fact.struck and words.startswith("~~") and words.endswith("~~"):
        # The comment follows the words, so that their span is unchanged.
        return f"{changed[:start]}{words[2:-2]}{changed[end:]}"
    return changed


def _was_ended_by(fact: ParsedFact, gone: ParsedFact) -> bool:
    until = fact.meta.get("until", "")
    ended = (gone.meta.get("supersedes"), gone.meta.get("since"))
    return bool(fact.id and until) and (fact.id, until) == ended
