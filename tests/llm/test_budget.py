import threading
from datetime import date, datetime, timedelta, timezone
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemark.llm import Budget, Entry, Ledger, LLMUnavailable, Meter, Spent, spent_on
from sampled import examples

ZONE = timezone(timedelta(hours=8))
NOON = datetime(2026, 3, 1, 12, tzinfo=ZONE)
BUDGET = Budget(calls_per_day=3, tokens_per_day=1000)


def spend(meter: Meter, tokens: int = 100) -> bool:
    try:
        with meter.request("m", tokens, 0) as ticket:
            ticket.answered(tokens, 0)
    except LLMUnavailable:
        return False
    return True


def test_the_default_budget_allows_nothing() -> None:
    ledger = Ledger.in_memory()
    for budget in (Budget(), Budget(calls_per_day=5), Budget(tokens_per_day=5)):
        assert not spend(Meter(budget, ledger))
    assert Meter(BUDGET, ledger).spent() == Spent()


def test_calls_and_tokens_end() -> None:
    meter = Meter(BUDGET, Ledger.in_memory())
    assert [spend(meter) for _ in range(5)] == [True, True, True, False, False]
    assert meter.spent() == Spent(calls=3, tokens=300)
    meter = Meter(BUDGET, Ledger.in_memory())
    assert [spend(meter, 600), spend(meter, 600), spend(meter, 400)] == [True, False, True]


def test_a_new_local_day_begins_anew_and_a_late_answer_counts_for_the_old() -> None:
    entries: list[Entry] = []
    now = [datetime(2026, 3, 1, 23, 59, tzinfo=ZONE)]
    ledger = Ledger(entries.append, lambda day: spent_on(day, entries))
    meter = Meter(BUDGET, ledger, clock=lambda: now[0])
    with meter.request("m", 100, 400) as ticket:
        now[0] += timedelta(minutes=2)
        ticket.answered(100, 50)
    assert meter.spent() == Spent()
    assert spent_on(date(2026, 3, 1), entries) == Spent(calls=1, tokens=150)
    assert len({entry.id for entry in entries}) == 1


def test_a_restart_keeps_what_was_spent(tmp_path: Path) -> None:
    file = tmp_path / "ledger.jsonl"

    def append(entry: Entry) -> None:
        with file.open("ab") as lines:
            lines.write(msgspec.json.encode(entry) + b"\n")

    def spent(day: date) -> Spent:
        lines = file.read_bytes().splitlines() if file.exists() else []
        return spent_on(day, (msgspec.json.decode(line, type=Entry) for line in lines))

    for expected in (True, True, True, False):
        assert spend(Meter(BUDGET, Ledger(append, spent), clock=lambda: NOON)) is expected


def test_a_call_that_was_killed_stays_at_its_estimate() -> None:
    meter = Meter(BUDGET, Ledger.in_memory())
    with pytest.raises(KeyboardInterrupt), meter.request("m", 100, 400):
        raise KeyboardInterrupt
    assert meter.spent() == Spent(calls=1, tokens=500)


def test_two_who_take_the_last_call_at_once_do_not_both_get_it() -> None:
    entries: list[Entry] = []
    other = Entry(id="other", day=NOON.date(), time=NOON, model="m", what="asked", calls=3)

    def append(entry: Entry) -> None:
        if not entries:
            entries.append(other)  # between our look and our entry
        entries.append(entry)

    meter = Meter(BUDGET, Ledger(append, lambda day: spent_on(day, entries)), clock=lambda: NOON)
    assert not spend(meter)
    assert [entry.what for entry in entries] == ["asked", "asked", "withdrawn"]
    assert meter.spent() == Spent(calls=3, tokens=0)


def test_threads_share_a_budget() -> None:
    meter = Meter(Budget(calls_per_day=20, tokens_per_day=10**6), Ledger.in_memory())
    won: list[bool] = []
    threads = [threading.Thread(target=lambda: won.extend(spend(meter) for _ in range(10))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(won) == 20


@settings(max_examples=examples(60))
@given(
    st.integers(0, 12),
    st.integers(0, 400),
    st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99), st.sampled_from("auk")), max_size=15),
)
def test_a_day_never_costs_more_than_its_budget(
    calls: int, tokens: int, requests: list[tuple[int, int, str]]
) -> None:
    budget = Budget(calls_per_day=calls, tokens_per_day=tokens)
    meter = Meter(budget, Ledger.in_memory(), clock=lambda: NOON)
    for tokens_in, tokens_out, end in requests:
        try:
            with meter.request("m", tokens_in, tokens_out) as ticket:
                if end == "a":
                    ticket.answered(tokens_in, tokens_out // 2)
                elif end == "u":
                    ticket.unused()
        except LLMUnavailable:
            pass
        spent = meter.spent()
        assert 0 <= spent.calls <= calls
        assert 0 <= spent.tokens <= tokens


def test_a_refusal_says_what_is_left_and_that_nothing_was_asked() -> None:
    meter = Meter(BUDGET, Ledger.in_memory())
    assert spend(meter, 700)
    with (
        pytest.raises(LLMUnavailable, match="budget of 1000 has 300 left") as caught,
        meter.request("m", 200, 200),
    ):
        pass
    assert caught.value.kind == "budget"
    assert not caught.value.asked
