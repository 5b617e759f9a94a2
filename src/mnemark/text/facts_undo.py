"""Taking a fact out of its file, so that the one before it holds again."""

from mnemark.text.facts import parse
from mnemark.text.facts_types import ParsedFact
from mnemark.text.facts_write import change_comment


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
