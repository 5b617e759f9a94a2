"""What is counted and queued for a memory is the same on all nodes."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from index import test_state
from llm import scripted_chat
from mnemark_server import grants
from mnemark_server.bookkeeping import SharedState
from mnemark_server.database import Database, connect
from mnemark_server.node import Tenants
from server.conftest import MakeNode

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
LOG = "sessions/main-3f2a.jsonl"
SAME = (
    test_state.test_positions,
    test_state.test_each_item_is_queued_once_and_claimed_by_one,
    test_state.test_a_claim_that_never_comes_back_is_due_again_and_fails_in_the_end,
    test_state.test_three_misses_are_kept_as_failed_with_the_last_reason,
    test_state.test_the_next_try_is_told,
    test_state.test_what_was_not_tried_is_no_try,
    test_state.test_the_days_spend,
    test_state.test_an_item_that_a_wrong_clock_put_off_for_years_is_due,
)
"""What is true of a state on one machine."""
MakeState = Callable[..., SharedState]


@pytest.fixture
def new_state(url: str, tmp_path: Path) -> Iterator[MakeState]:
    """Makes the state of a tenant on another node each time."""
    with ExitStack() as stack:

        def make(tenant: int = 1) -> SharedState:
            database = Database(url)
            stack.callback(database.close)
            return SharedState(tmp_path, database, tenant)

        yield make


@pytest.mark.parametrize("same", SAME, ids=[one.__name__ for one in SAME])
def test_as_on_one_machine(
    same: Callable[[Path], None], new_state: MakeState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(test_state, "State", lambda _: new_state())
    same(tmp_path)


def test_nodes_share_all_but_another_memory(new_state: MakeState) -> None:
    one, two, other = new_state(), new_state(), new_state(2)
    one.enqueue([(LOG, 2, 9), (LOG, 10, 12)], NOW, noting={"learned:" + LOG: "12"})
    one.spend(("r", "2026-11-21", NOW.isoformat(), "small", "asked", 1, 900, 100))
    two.spend(("s", "2026-11-21", NOW.isoformat(), "small", "answered", 0, -100, 20))
    assert two.positions("learned:") == {"learned:" + LOG: "12"}
    assert two.waiting(NOW).due == 2
    assert one.spent(date(2026, 11, 21)) == two.spent(date(2026, 11, 21)) == (1, 920)
    assert two.spent_since(date(2026, 11, 1)) == [
        ("2026-11-21", "answered", 0, -80), ("2026-11-21", "asked", 1, 1000),
    ]  # fmt: skip
    assert other.positions("") == {}
    assert other.waiting(NOW) == (0, 0, 0)
    assert other.spent(date(2026, 11, 21)) == (0, 0)
    (first,), (second,) = one.claim(1, NOW), two.claim(1, NOW)
    assert {first.first, second.first} == {2, 10}
    other.done([first.id, second.id])
    assert two.next_try(NOW) == NOW + timedelta(seconds=300)
    two.done([first.id, second.id])
    assert one.waiting(NOW) == (0, 0, 0)


def test_a_model_reads_a_talk_once_and_within_the_budget_of_all_nodes(
    new_node: MakeNode, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_MODEL_KEY", "none")
    with scripted_chat.serve() as model:
        settings = tmp_path / "config.toml"
        monkeypatch.setenv("MNEMARK_CONFIG", str(settings))
        settings.write_text(
            f'[llm]\nmodel = "small"\nurl = "{model.url}"\nkey_env = "TEST_MODEL_KEY"\n'
            "calls_per_day = 50\ntokens_per_day = 100000\n"
        )
        model.steps = [scripted_chat.says('{"facts": [], "notes": []}')] * 20
        one, two = new_node(), new_node()
        for number, node in enumerate((one, two)):
            with node.lease("1") as at:
                session = at.session(f"chat:{number}")
                session.add(
                    "user", f"I put the spare key number {number} under the blue pot.", origin="owner"
                )
                session.end(wait=True)
        asked = len(model.requests)
        assert asked >= 2
        for node in (one, two, new_node()):  # a fresh one knows what was read, too
            with node.lease("1") as at:
                for number in range(2):
                    at.session(f"chat:{number}").end(wait=True)
        assert len(model.requests) == asked
        assert [calls_of(node) for node in (one, two)] == [asked, asked]
        with connect(url) as owner:
            grants.set_limits(owner, "bob", {"calls_per_day": 1})
        for number, node in enumerate((one, two)):
            with node.lease("2") as at:
                session = at.session(f"chat:{number}")
                session.add("user", f"I put the spare key number {number} under the red pot.", origin="owner")
                session.end(wait=True)
        assert len(model.requests) == asked + 1, "the second node asked for more than the budget of both"


def calls_of(node: Tenants) -> int:
    with node.lease("1") as at:
        return at.memory.browse.spend().days[-1].calls


def test_a_tenants_settings_start_and_send_nothing(new_node: MakeNode) -> None:
    node = new_node()
    with node.lease("1") as at, at.memory.workspace.truth.change() as files:
        files.wrote("mnemark.toml")
        (at.root / "mnemark.toml").write_text(
            'timezone = "Asia/Tokyo"\nembedder = "api:big"\nembedder_url = "http://127.0.0.1:9/v1"\n'
            '[llm]\nurl = "http://127.0.0.1:9/v1"\nmodel = "x"\n[mounts]\nall = "/"\n'
        )
    fresh = new_node()
    with fresh.lease("1") as at:
        config = at.memory.workspace.config
        assert (config.timezone, config.embedder, config.mounts) == ("Asia/Tokyo", "bundled", {})
        assert not config.llm.active
