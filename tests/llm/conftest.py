from collections.abc import Iterator

import pytest

from llm import scripted_chat as server
from llm.samples import PATIENT, PLENTY, SECRET
from mnemark import net
from mnemark.llm import Breaker, Entry, Ledger, Meter, spent_on
from mnemark.llm.chat import ChatClient, Limits


@pytest.fixture
def script() -> Iterator[server.Script]:
    with server.serve() as script:
        yield script


@pytest.fixture
def entries() -> list[Entry]:
    return []


@pytest.fixture
def limits() -> Limits:
    return PATIENT


@pytest.fixture
def client(
    script: server.Script, entries: list[Entry], limits: Limits, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ChatClient]:
    monkeypatch.setattr(net, "_MIN_PAUSE", 0.01)
    monkeypatch.setenv("MADE_UP_KEY", SECRET)
    ledger = Ledger(entries.append, lambda day: spent_on(day, entries))
    client = ChatClient(
        "some/model",
        url=script.url,
        key_env="MADE_UP_KEY",
        limits=limits,
        meter=Meter(PLENTY, ledger),
        breaker=Breaker(failures=100),
    )
    yield client
    client.close()
