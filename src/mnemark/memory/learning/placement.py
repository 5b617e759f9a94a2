"""Decide whether a statement is about the person or about the project they work on.

Said while working in a project, what is about the person goes to their own memory, wherever it was said, and
what is about the project stays in it. Where neither is plain, it is the project's if it names what code is
made of and worked on with, else the person's.
"""

from typing import Final, NamedTuple

from mnemark.extraction.work_words import (
    AT_HOME,
    EVERYWHERE,
    FIRST_PERSON,
    HERE,
    OF_SELF,
    TO_PERSON,
    names_code,
)
from mnemark.facts.keys import predicate_key, subject_key
from mnemark.facts.labels import topic as topic_of
from mnemark.files.projects import is_project

_LONGEST: Final = 4_000
"""Characters of a statement that are looked at."""
_PERSONS: Final = frozenset({"editor", "shell", "terminal", "os", "browser", "language"})
"""What a person has, in whichever project they work."""
_OF_LIFE: Final = frozenset({
    "name", "nickname", "age", "birthday", "gender", "hometown", "city", "region", "country", "address",
    "spouse", "children", "siblings", "pets", "health", "allergies", "diet", "marital status",
})  # fmt: skip
"""What a person is wherever they work, though the sentence names the project, too."""
_WORK: Final = frozenset({"", "tools", "project"})
"""Topics of what projects are worked on with; also of what has no topic."""
_VAGUE: Final = frozenset({"self", "work", "habits"})
"""Topics that a sentence about work gets, too."""


class StatedFact(NamedTuple):
    """What is known of a statement: the parts of its fact, and the sentence, where there was one."""

    subject: str
    predicate: str
    value: str
    type: str = "fact"
    topic: str = ""
    """One of `TOPICS`, of a sentence that is kept as it is."""
    sentence: str = ""


def scope_for(said: StatedFact, scope: str) -> str:
    """Return the scope of a statement that was said in one: the root's, where it is about the person."""
    return "" if is_project(scope) and not is_of_project(said) else scope


def is_of_project(said: StatedFact) -> bool:
    """Tell whether a statement is about the project that its owner works on, not about the owner.

    Words for here and everywhere decide before its subject does, and its subject before what code is made of.
    """
    text = (said.sentence or f"{said.predicate} {said.value}")[:_LONGEST]
    subject = subject_key(said.subject)
    of_life = subject == "user" and predicate_key(said.predicate) in _OF_LIFE
    if HERE.search(text) and not of_life:
        return True
    if of_life or EVERYWHERE.search(text):
        return False
    if subject == "project":
        return names_code(f"{said.predicate[:_LONGEST]} {text}") or not AT_HOME.search(text)
    if subject not in {"user", "agent"}:  # a person, or a thing: its name tells which, or what is said of it
        return topic_of(said.predicate) in _WORK and names_code(f"{said.subject} {said.predicate}"[:_LONGEST])
    if said.type == "rule" or predicate_key(said.predicate) == "rules":
        return names_code(text) and not (TO_PERSON.search(text) or OF_SELF.match(text))
    return said.type != "preference" and _is_of_work(said, text)


def _is_of_work(said: StatedFact, text: str) -> bool:
    """Tell whether a fact or a sentence whose subject is the owner is about the project they work on."""
    key = predicate_key(said.predicate)
    about = topic_of(said.predicate) if key else said.topic
    if key in _PERSONS or about not in (_WORK if key else _WORK | _VAGUE):
        return False
    return names_code(f"{said.predicate[:_LONGEST]} {text}") and not FIRST_PERSON.search(text)
