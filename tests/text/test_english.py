"""What English sentences leave: facts by one grammar, statements, ends, and nothing."""

from datetime import UTC, datetime

import pytest

from mnemark.extraction.extract import by_rules as extract

NOW = datetime(2026, 3, 11, 10, tzinfo=UTC)


def facts(text: str) -> list[tuple[str, str, str]]:
    found = extract(text, time=NOW)
    return [(one.subject, one.predicate, one.value) for one in found if one.predicate and not one.over]


def ended(text: str) -> list[tuple[str, str]]:
    return [(one.predicate, one.value) for one in extract(text, time=NOW) if one.over]


def statements(text: str) -> list[tuple[str, str]]:
    return [(one.topic, one.value) for one in extract(text, time=NOW) if not one.predicate]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I have two goats and a parrot.", [("pets", "two goats"), ("pets", "parrot")]),
        ("i have 3 brothers", [("siblings", "3 brothers")]),
        ("Our hamster's name is pip.", [("pets", "Pip (hamster)")]),
        ("im 41", [("age", "41")]),
        ("I play the cello and the harp.", [("instruments", "cello"), ("instruments", "harp")]),
        ("I like to swim.", [("likes", "swimming")]),
        ("I like to sing and dance.", [("likes", "singing"), ("likes", "dancing")]),
        ("I like tea too.", [("likes", "tea")]),
        ("I enjoy drama and fantasy novels.", [("likes", "drama and fantasy novels")]),
        ("I dont like olives", [("dislikes", "olives")]),
        ("Purple is my favourite colour.", [("favorite colour", "Purple")]),
        ("I work at a bakery.", [("employer", "bakery")]),
        ("I am a retired bus driver.", [("job", "retired bus driver")]),
        ("I'm allergic to latex.", [("allergies", "latex")]),
        ("I have asthma.", [("health", "asthma")]),
        ("I live in Oregon.", [("region", "Oregon")]),
        ("I live in utrecht with my cousin.", [("city", "Utrecht")]),
        ("I want to learn welding.", [("goals", "learn welding")]),
        ("We're moving to Porto in June.", [("plans", "moving to Porto in June (2026-06)")]),
        ("I was born in Graz in 1984.", [("hometown", "Graz"), ("birthday", "1984")]),
        ("I got a kitten two weeks ago.", [("pets", "kitten")]),
        ("I bought a Volvo V60 last month.", [("purchases", "Volvo V60")]),
        ("I bought a used tractor last year.", [("purchases", "used tractor")]),
    ],
)
def test_facts_of_the_owner(text: str, expected: list[tuple[str, str]]) -> None:
    assert facts(text) == [("user", *one) for one in expected]


def test_what_is_said_of_a_relative_is_a_fact_about_the_relative() -> None:
    assert facts("My sister Vera works at a bank.") == [
        ("Vera", "relation", "sister"),
        ("Vera", "employer", "bank"),
    ]
    assert facts("My dad is a plumber and my mom lives in Turin.") == [
        ("dad", "job", "plumber"),
        ("mom", "city", "Turin"),
    ]


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("I grew up on a vineyard.", "self"),
        ("I was a stay at home father.", "people"),
        ("My parents divorced when I was six.", "people"),
        ("I go to church every Sunday.", "habits"),
        ("My grandfather passed away.", "people"),
        ("I'm left-handed.", "self"),
        ("I know how to weld.", "skills"),
        ("I believe in ghosts.", "beliefs"),
        ("I live with my aunt and two cousins.", "home"),
        ("I have never been to Norway.", "travel"),
        ("I dropped out of college.", "study"),
    ],
)
def test_what_fits_no_key_is_a_statement_in_the_owner_s_words(text: str, topic: str) -> None:
    assert statements(text) == [(topic, text.rstrip("."))]


@pytest.mark.parametrize(
    "text",
    [
        "I love that!",
        "I love the way he says it.",
        "I'm so tired today.",
        "I am really excited about the trip!",
        "I have a question about the invoice.",
        "I bought a car seat cover.",
        "I have a meeting at noon.",
        "I'm working on the report.",
        "I need a table with three columns.",
        "I want to see the second draft.",
        "I went to the market yesterday.",
        "I like your plan.",
        "I enjoyed the show so much.",
        "I feel much better now.",
        "I think I live in a bubble.",
        "If I had two dogs, I would move.",
        "My code is in the wrong branch.",
        "He likes people who accept and love me.",
        "It was loud, with joy and love everywhere.",
        "I always feel better after a nap.",
        "Advertising is never allowed there.",
        "In the future, my shop will be a landmark.",
        "We agreed to meet at the corner next week.",
        "We settled on the packing list for the hike.",
        "Remember, everyone is proud of you!",
        "Remember that sometimes a closed door is a gift.",
        "Don't forget to have fun!",
        "Your store looks great, I remember that.",
    ],
)
def test_passing_talk_leaves_nothing(text: str) -> None:
    assert extract(text, time=NOW) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I no longer like beer.", [("likes", "beer")]),
        ("I don't like poodles any more.", [("likes", "poodles")]),
        ("I used to play the oboe.", [("instruments", "oboe")]),
        ("I quit Initrode.", [("employer", "Initrode")]),
        ("I quit Initrode, I start at Acme on 1 December.", [("employer", "Initrode")]),
        ("I quit Vim.", []),
        ("I quit my job.", [("employer", "")]),
        ("We broke up.", [("spouse", "")]),
        ("I stopped eating meat.", [("habits", "eating meat")]),
        ("I sold my van.", [("possessions", "van")]),
        ("I'm not vegan anymore.", [("diet", "vegan")]),
        ("I no longer live in Ghent.", [("city", "Ghent")]),
    ],
)
def test_what_ends_is_over(text: str, expected: list[tuple[str, str]]) -> None:
    assert ended(text) == expected
    assert facts(text) == []


def test_a_change_gives_the_new_value() -> None:
    assert facts("My favourite editor is now Helix.") == [("user", "editor", "Helix")]
    assert facts("We switched from Trello to Linear.") == [("project", "issue tracker", "Linear")]
    assert ended("We switched from Trello to Linear.") == [("tools", "Trello")]
    assert facts("We moved from MySQL to PostgreSQL.") == [("project", "database", "PostgreSQL")]
    assert facts("We moved from Python 3.11 to Python 3.12.") == [("project", "python version", "3.12")]
    assert facts("I moved from Ghent to Lille.") == [("user", "city", "Lille")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Remember that my birthday is 4 May", ("birthday", "4 May")),
        ("Can you remember that I'm vegetarian?", ("diet", "vegetarian")),
        ("I'm allergic to penicillin, please remember that.", ("allergies", "penicillin")),
        ("please remember: the spare key hangs in the shed", ("", "the spare key hangs in the shed")),
        ("note that I sign with my middle name", ("", "I sign with my middle name")),
        ("Remember to call Odile tomorrow.", ("plans", "call Odile tomorrow (2026-03-12)")),
    ],
)
def test_what_is_asked_to_be_remembered_always_leaves_something(text: str, expected: tuple[str, str]) -> None:
    (found,) = extract(text, time=NOW)
    assert (found.predicate, found.value) == expected
    assert found.type != "rule"


def test_of_a_long_sentence_only_the_lasting_clause_is_kept() -> None:
    assert statements("I run a small bakery, so I am quite busy these days.") == [
        ("leisure", "I run a small bakery")
    ]


def test_accounts_servers_and_people_of_a_project() -> None:
    assert facts("My gitlab username is odile7.") == [("user", "gitlab username", "odile7")]
    assert facts("The server is called heron-2 and runs on Hetzner.") == [("project", "server", "heron-2")]
    assert facts("Our server is now named heron-3.") == [("project", "server", "heron-3")]
    assert facts("The server is called twice a day.") == facts("Our database is called orders.") == []
    assert facts("Server's name changed by the way: it's heron-4 now.") == [("project", "server", "heron-4")]
    assert facts("The server was renamed to heron-5.") == [("project", "server", "heron-5")]
    assert facts("The server changed the format to utf-8.") == []
    assert facts("The staging server is at stage.example.org.") == [
        ("project", "staging server", "stage.example.org")
    ]
    assert facts("Our tech lead is Ines.") == [("project", "tech lead", "Ines")]


def test_marriages_pets_and_homes_end() -> None:
    assert ended("My wife and I separated.") == [("spouse", "")]
    assert ended("My cat Momo died.") == [("pets", "Momo (cat)")]
    assert ended("I moved out of Ghent.") == [("city", "Ghent")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I'm vegetarian since January.", [("user", "diet", "vegetarian")]),
        ("I'm allergic to nuts since last summer.", [("user", "allergies", "nuts")]),
        ("My sister Ann is a nurse since 2019.", [("Ann", "job", "nurse")]),
    ],
)
def test_since_when_is_no_part_of_what_someone_is(text: str, found: list[tuple[str, str, str]]) -> None:
    assert [one for one in facts(text) if one[1] in {"diet", "allergies", "job"}] == found


@pytest.mark.parametrize(
    "text",
    [
        "I'm allergic to shellfish, keep that in mind for recipes.",
        "I'm allergic to shellfish, so please keep it in mind.",
        "I'm allergic to shellfish; bear that in mind when you suggest a dish.",
    ],
)
def test_what_is_to_be_kept_in_mind_is_read_without_the_request(text: str) -> None:
    assert facts(text) == [("user", "allergies", "shellfish")]


@pytest.mark.parametrize(
    "text", ["Life is short, keep that in mind.", "Trains are late, keep it in mind for trips."]
)
def test_wisdom_to_keep_in_mind_is_not_kept(text: str) -> None:
    assert extract(text, time=NOW) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My daughter is Mia.", [("children", "Mia (daughter)")]),
        ("My sister is Anna.", [("siblings", "Anna (sister)")]),
        ("My partner is Wim and my daughter is Mia.", [("children", "Mia (daughter)"), ("spouse", "Wim")]),
        ("My daughter is Dutch.", []),
        ("My daughter is Catholic.", []),
        ("My son is Happy.", []),
        ("My son is Captain of the team.", []),
        ("My son is March born.", []),
    ],
)
def test_children_and_siblings_are_named_plainly(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(key, value) for _, key, value in facts(text) if key] == expected
