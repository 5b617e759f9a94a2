"""Read who the people are that one has: "my dentist is Dr. Okafor", "Ann Bell is my lawyer"."""

import re
from typing import Final

from mnemark.extraction.candidate import Clause, Found, bare, usable
from mnemark.extraction.english_words import LANGUAGES, ROLES, TRAITS, class_of, is_job, word_set
from mnemark.extraction.no_places import is_no_place
from mnemark.text.lazy_pattern import lazy_pattern

_AT_HOME: Final = (
    "(?:family |house )?doctor|landlord|landlady|vet|veterinarian|pediatrician|paediatrician|nanny|babysitter|au pair|housekeeper|"
    "cleaner|cleaning lady|gardener|plumber|electrician|midwife|marriage counsell?or|real estate agent|realtor|(?:family )?therapist"
)
"""Whom a family has, who says "our"; other people of whom one says so may be a company's."""
_HELPERS: Final = (
    rf"{_AT_HOME}|dentist|orthodontist|(?:eye |primary care |personal )?doctor|gp|physician|psychologist|psychiatrist|counsell?or|"
    r"dermatologist|gyna?ecologist|cardiologist|oncologist|neurologist|optometrist|ophthalmologist|physiotherapist|physio|"
    r"physical therapist|chiropractor|surgeon|(?:tax )?accountant|bookkeeper|tax adviser|tax advisor|lawyer|attorney|solicitor|notary|"
    r"mentor|(?:financial |academic |thesis |phd )?advis[eo]r|(?:[a-z]+ )?tutor|(?:[a-z]+ )?teacher|(?:[a-z]+ )?coach|(?:personal )?trainer|"
    r"(?:[a-z]+ )?instructor|barber|hairdresser|hair ?stylist|mechanic|insurance agent|travel agent|pastor|priest|rabbi|imam"
)
_TITLE: Final = r"(?:(?i:dr|prof|mr|mrs|ms|mx|rev)\.? |(?i:professor|doctor|father|rabbi|pastor|coach) )"
_TITLED: Final = lazy_pattern(_TITLE)
_NAMED: Final = (
    rf"(?P<v>{_TITLE}{{1,2}}[A-Za-z][\w'-]*(?: [A-Z][\w'-]*){{0,2}}|[A-Z][\w'-]*(?: [A-Z][\w'.-]*){{0,2}})"
)
_CALLED: Final = r"(?:(?:'s name)?(?: is(?: now| called| named)?|'s(?: called)?))"
THEIRS: Final = rf"(?i:(?:my(?: new| current)?) (?P<p>{_HELPERS})|our(?: new| current)? (?P<p2>{_AT_HOME}))(?i:{_CALLED}) {_NAMED}"
"""Pattern of "my dentist is Dr. Okafor": the role is in `p` or `p2`, the name in `v`."""
NAMED_FIRST: Final = rf"{_NAMED}(?i:'s| is)(?i: now)? (?i:(?:my(?: new| current)?) (?P<p>{_HELPERS})|our(?: new| current)? (?P<p2>{_AT_HOME}))"
"""Pattern of "Dr. Okafor is my dentist"."""
_NO_NAME: Final = word_set(
    "he she it they this that there here who which what one not also so very always never now the a an in on at from of out off "
    "no yes great good best bad nice kind okay ok fine amazing awesome back late i we you my our your his her their and but "
    "dead alive ill sick unwell well busy tired angry upset sad happy gone away missing absent available ready free sure right wrong"
)


def person_of(match: re.Match[str], _: Clause) -> list[Found]:
    """Read who somebody's dentist, lawyer or landlord is, unlike "my dentist is Italian"."""
    value, role = bare(match["v"]), (match["p"] or match["p2"]).casefold()
    words = value.casefold().replace(".", "").split(" ")
    one_word_first = len(words) < 2 and match.start("v") < match.start("p" if match["p"] else "p2")
    plain = (
        one_word_first  # "Life is my teacher"
        or words[0] in _NO_NAME | TRAITS | LANGUAGES | ROLES
        or is_job(words[0])
        or class_of(words[0]) != ""
    )
    titled = _TITLED.match(value) is not None
    if value.endswith("'s") or (plain and not titled) or is_no_place(value) or not usable(value, 40):
        return []
    return [Found("user", role, value)]
