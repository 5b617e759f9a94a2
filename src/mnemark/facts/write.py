"""Write facts into a file's text: add a bullet, strike it through, or change its comment.

Every function returns the new text and leaves all it does not name as it is, to the byte.
"""

import re
from collections.abc import Mapping
from typing import Final

from mnemark.facts.keys import subject_key
from mnemark.facts.model import Fact
from mnemark.facts.parse import ParsedFact, clean, encode_field, parse, split_words

ORDER: Final = (
    "id",
    "type",
    "subject",
    "priority",
    "since",
    "until",
    "recorded",
    "origin",
    "importance",
    "confidence",
    "tags",
    "source",
    "supersedes",
)
"""Keys of a comment in the order they are written; others follow as given."""

_ESCAPE: Final = re.compile(r"(?<!\\)(?:\\*~~|\\+[:：])|(?<=<)\\*!--")
_STARTS: Final = re.compile(r"^(?=\\*[-+*#>|`_])")
_COLON: Final = re.compile(r"[:：]")


def words_of(predicate: str, value: str) -> str:
    r"""A bullet's words, on one line, that read back as the same predicate and value.

    >>> words_of("python version", "3.12"), words_of("", "note: tea")
    ('**python version**: 3.12', 'note\\: tea')
    """
    key, text = predicate_words(predicate), _escape(clean(value))
    if key:
        return f"**{key}**: {text}"
    text = _STARTS.sub(r"\\", text)
    while split_words(text)[0]:
        found = _COLON.search(text, _first_key_colon(text))
        if found is None:
            break
        text = f"{text[: found.start()]}\\{text[found.start() :]}"
    return text


def _escape(text: str) -> str:
    return _ESCAPE.sub(lambda found: "\\" + found[0], text)


def predicate_words(predicate: str) -> str:
    """A predicate as it can stand between `**`: on one line, without marks and colons."""
    return " ".join(re.sub(r"[*:：\\]|~~|__|<!--|-->", " ", clean(predicate)).split()).strip(" _`")


def _first_key_colon(text: str) -> int:
    """Where the colon stands that makes the text's beginning a key."""
    return len(split_words(text)[0])


def comment_of(fields: Mapping[str, str]) -> str:
    """The comment that holds what a machine needs."""
    rank = {name: place for place, name in enumerate(ORDER)}
    kept = sorted(
        ((name, text) for name, text in fields.items() if text), key=lambda pair: rank.get(pair[0], 99)
    )
    return f"<!-- {' | '.join(f'{name}: {encode_field(text)}' for name, text in kept)} -->"


def bullet_of(predicate: str, value: str, fields: Mapping[str, str], *, struck: bool = False) -> str:
    """A whole bullet without line end."""
    words = words_of(predicate, value)
    return f"- {f'~~{words}~~' if struck else words} {comment_of(fields)}"


def line_end(text: str) -> str:
    r"""The line end of a file: that of its first line; `\n` where it has none."""
    match = re.search(r"\r\n?|\n", text)
    return match[0] if match else "\n"


def add_bullet(text: str, line: str, *, after: ParsedFact | None = None) -> str:
    """With one more bullet: below `after`, as deep as it, or at the end of the file."""
    end = line_end(text)
    if after is not None:
        at, line = after.bullet.end, after.bullet.indent + after.bullet.marker + line[1:]
    else:
        at = len(text)
    before = end if at and not text[:at].endswith(("\n", "\r")) and text[:at] != "\ufeff" else ""
    return f"{text[:at]}{before}{line}{end}{text[at:]}"


def change_comment(text: str, fact: ParsedFact, fields: Mapping[str, str]) -> str:
    """With these keys in the bullet's comment; an empty value takes a key out. Other comments are kept."""
    spans = fact.bullet
    if spans.comment is not None:
        own = dict(_own_fields(fact, text)) | dict(fields)
        start, end = spans.comment
        return text[:start] + comment_of(own) + text[end:]
    end = spans.start + len(text[spans.start : spans.end].rstrip("\r\n"))
    end = max(len(text[:end].rstrip()), spans.words[1])
    return f"{text[:end]} {comment_of(fields)}{text[end:]}"


def _own_fields(fact: ParsedFact, text: str) -> Mapping[str, str]:
    own = text[slice(*fact.bullet.comment)] if fact.bullet.comment else ""
    names = {part.partition(":")[0].strip().lower() for part in own[4:-3].replace("：", ":").split("|")}
    return {name: value for name, value in fact.meta.items() if name in names}


def strike(text: str, fact: ParsedFact, fields: Mapping[str, str]) -> str:
    """With the bullet struck through, and these keys in its comment."""
    changed = change_comment(text, fact, fields)
    if fact.struck:
        return changed
    start, end = fact.bullet.words
    if fact.bullet.comment is not None and fact.bullet.comment[0] < end:  # its comment stands between words
        fact = next(found for found in parse(changed) if found.bullet.start == fact.bullet.start)
        start, end = fact.bullet.words
    return f"{changed[:start]}~~{changed[start:end]}~~{changed[end:]}"


def core_entry(fact: Fact) -> str:
    """A fact as a line of the core memory; one that replaced another says since when."""
    value = fact.value.replace("<!--", "<! --")  # nothing in a value may look like a marker
    about = "" if subject_key(fact.subject) == "user" else f"{fact.subject} "
    words = f"{about}{fact.predicate}".strip()
    since = f" (since {fact.since[:10]})" if fact.supersedes and fact.since else ""
    return f"- {words}: {value}{since}" if words else f"- {value}{since}"


def without_fact(text: str, identifier: str) -> str:
    """The text without the bullet of that id.

    What it had replaced holds again, or ends when it ended itself. Unchanged where there is no such bullet.
    """
    gone = next((fact for fact in parse(text) if fact.id == identifier), None)
    if gone is None:
        return text
    text = text[: gone.bullet.start] + text[gone.bullet.end :]
    before = next((fact for fact in parse(text) if _was_ended_by(fact, gone)), None)
    if before is None:
        return text
    if gone.struck:
        return change_comment(text, before, {"until": gone.meta.get("until", "")})
    return _unstruck(text, before)


def _was_ended_by(fact: ParsedFact, gone: ParsedFact) -> bool:
    until = fact.meta.get("until", "")
    return (
        bool(fact.id and until) and fact.id == gone.meta.get("supersedes") and until == gone.meta.get("since")
    )


def _unstruck(text: str, fact: ParsedFact) -> str:
    start, end = fact.bullet.words
    words = text[start:end]
    if fact.struck and words.startswith("~~") and words.endswith("~~"):
        changed = change_comment(text, fact, {"until": ""})
        # The comment stands behind the words, so that their span is still right.
        return f"{changed[:start]}{words[2:-2]}{changed[end:]}"
    return change_comment(text, fact, {"until": ""})
