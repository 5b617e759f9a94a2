"""How the panel mends what is wrong: a fact, wherever it is seen, and what the night or a hand changed."""

import pytest

from mnemark import Memory

from .conftest import say
from .seat import WIDE, Seat, sit

pytest.importorskip("textual")


def held(memory: Memory) -> list[tuple[str, str]]:
    return sorted((fact.subject, fact.value) for fact in memory.facts())


def past(memory: Memory) -> list[str]:
    return sorted(fact.value for fact in memory.facts(history=True))


def test_a_fact_that_was_never_true_goes_with_one_key_and_comes_back_with_one(memory: Memory) -> None:
    memory.remember("city", "Lisbon")
    memory.remember("coffee", "black", origin="web")

    async def job(at: Seat) -> None:
        await at.press("3", "x")
        assert "It was never true: you live in Lisbon. · u takes it back" in at.text
        assert past(memory) == []
        await at.press("u")
        assert held(memory) == [("user", "Lisbon")]
        await at.press("4", "x")  # what waits is rejected, by n
        assert len(memory.review()) == 1

    sit(memory.root, job)


def test_a_fact_that_changed_keeps_what_was_before(memory: Memory) -> None:
    memory.remember("city", "Lisbon", since="2025-03-01")

    async def job(at: Seat) -> None:
        await at.press("3", "c", *"Porto", "tab", "tab", "tab", "tab", "space", "enter")
        await at.settled()
        assert "Changed: you live in Porto." in at.text
        assert past(memory) == ["Lisbon", "Porto"]
        assert "You live in Porto." in at.flat, "the changed fact stays chosen"
        await at.press("u")
        assert held(memory) == [("user", "Lisbon")]

    sit(memory.root, job)


def test_a_fact_about_somebody_else_is_moved_to_them(memory: Memory) -> None:
    memory.remember("allergies", "penicillin")

    async def job(at: Seat) -> None:
        await at.press("3", "c", "tab", "tab", *"Ann", "enter")
        await at.settled()
        assert held(memory) == [("Ann", "penicillin")]

    sit(memory.root, job)


def test_what_is_typed_at_once_stands_in_the_form(memory: Memory) -> None:
    memory.remember("city", "Lisbon")

    async def job(at: Seat) -> None:
        await at.press("3")
        await at.pilot.press("c", *"Oporto", "enter")  # o would go off the record
        await at.settled()
        assert held(memory) == [("user", "Oporto")]
        assert "off the record" not in at.lines[0]

    sit(memory.root, job)


def test_a_fact_is_corrected_where_it_was_said(memory: Memory) -> None:
    path = say(memory, "s", "I live in Lisbon.", "My dentist is Dr Sousa, my editor is Helix.", "Good night.")
    memory.remember("city", "Lisbon", source=f"{path}#L2")
    for predicate, value in (("dentist", "Dr Sousa"), ("editor", "Helix")):
        memory.remember(predicate, value, source=f"{path}#L3")
    memory.sync()

    async def job(at: Seat) -> None:
        await at.press("1")
        await at.write("kind:turn live in Lisbon")
        await at.press("c", *"Porto", "enter")
        await at.settled()
        assert ("user", "Porto") in held(memory)
        assert "Corrected" in at.flat, "the turn has the correction beside it"
        assert "wrong  You live in Lisbon." in at.flat
        assert "right  You live in Porto." in at.flat
        for words, told in (
            ("dentist editor", "2 facts were learned"),
            ("Good night", "No fact was learned"),
        ):
            await at.press("slash")
            await at.write(f"kind:turn {words}")
            await at.press("c")
            assert told in at.text

    sit(memory.root, job)


def test_a_correction_that_waits_says_what_it_takes_out(memory: Memory) -> None:
    fact = memory.remember("city", "Lisbon")
    memory.correct(fact.id, never=True, origin="agent")

    async def job(at: Seat) -> None:
        await at.press("4")
        assert "This was never true: you live in Lisbon." in at.flat
        assert "c correct" not in at.lines[-1]
        await at.press("y")
        assert past(memory) == []

    sit(memory.root, job, size=WIDE)


def test_last_night_is_undone_from_every_screen(memory: Memory) -> None:
    for value in ("Lisbon", "Porto"):
        memory.remember("city", value)
    memory.consolidate(force=True)

    def stands() -> bool:
        night = memory.browse.tidied()
        return night is not None and not night.undone

    async def job(at: Seat) -> None:
        assert "N shows and undoes it" in at.text
        for screen in "2345":
            await at.press(screen, "N")
            assert "Undo this?" in at.flat
            assert "+" in at.flat
            await at.press("n")
        assert stands()
        await at.press("N", "y")
        await at.settled()
        assert "Undone" in at.text
        assert not stands()
        await at.press("N")
        assert "Nothing was tidied last night, or it was undone." in at.text

    sit(memory.root, job)


def test_a_change_is_undone_in_the_timeline_and_the_last_one_until_another_is_chosen(memory: Memory) -> None:
    memory.remember("city", "Lisbon")
    say(memory, "s", "the ferry leaves at seven", "the bakery opens at six")
    memory.sync()

    async def job(at: Seat) -> None:
        await at.press("j", "j", "d", "y")
        assert "Forgotten: 1 message" in at.text
        await at.press("u")
        assert "ferry" in at.flat, "what was taken back is chosen again"
        await at.press("g", "j", "j", "u")  # behind the change that was taken back, and taking it back
        assert "Undo this?" in at.flat
        assert "Learned: you live in Lisbon." in at.flat

    sit(memory.root, job)


def test_hits_that_only_resemble_the_words_stand_apart_and_facts_stand_first(memory: Memory) -> None:
    for number in range(4):
        say(memory, f"s{number}", f"The weather on day {number} was fine and the harbour was calm.")
    say(memory, "s", "Nothing to eat with peanuts please, I'm allergic to peanuts.")
    memory.remember("allergies", "peanuts")
    memory.sync()

    async def job(at: Seat) -> None:
        await at.press("1")
        await at.write("what am I allergic to")
        assert "You are allergic to peanuts." in at.flat, "it is the chosen one"
        assert at.text.index("You are allergic to peanuts.") < at.text.index("Nothing to eat")

    sit(memory.root, job, size=WIDE)


def test_times_are_those_of_the_workspaces_clock(memory: Memory) -> None:
    say(memory, "s", "the ferry leaves at seven")
    memory.remember("city", "Lisbon", since="2026-03-02T01:30:00+00:00")

    async def job(at: Seat) -> None:
        await at.press("3")
        assert "since      2 March, 09:30" in at.flat  # Shanghai

    sit(memory.root, job)
