import email.utils
import logging
import time
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

import msgspec
import pytest

from llm import scripted_chat as server
from mnemark import net
from mnemark.errors import ConfigError
from mnemark.llm import Breaker, Budget, Entry, Ledger, LLMUnavailable, Message, Meter, Spent, spent_on
from mnemark.llm.chat import ChatClient, Limits

SECRET = "sk-made-up-0123456789"
QUESTION = [Message("system", "You take notes."), Message("user", "我喜欢喝茶。")]
PLENTY = Budget(calls_per_day=100, tokens_per_day=1_000_000)
QUICK = Limits(attempts=3, silence=0.4, answer=500, most_bytes=1_000_000)


class Fact(msgspec.Struct):
    text: str
    confidence: float = 0.5


class Facts(msgspec.Struct):
    facts: list[Fact]


TEA = Facts([Fact("likes tea", 0.9)])


@pytest.fixture
def script() -> Iterator[server.Script]:
    with server.serve() as script:
        yield script


@pytest.fixture
def entries() -> list[Entry]:
    return []


@pytest.fixture
def client(
    script: server.Script, entries: list[Entry], monkeypatch: pytest.MonkeyPatch
) -> Iterator[ChatClient]:
    monkeypatch.setattr(net, "_FIRST_PAUSE", 0.01)
    monkeypatch.setenv("MADE_UP_KEY", SECRET)
    ledger = Ledger(entries.append, lambda day: spent_on(day, entries))
    client = ChatClient(
        "some/model",
        url=script.url,
        key_env="MADE_UP_KEY",
        limits=QUICK,
        meter=Meter(PLENTY, ledger),
        breaker=Breaker(failures=100),
    )
    yield client
    client.close()


def spent(entries: list[Entry]) -> Spent:
    return spent_on(entries[0].day, entries)


def test_free_text_comes_back_with_its_count(script: server.Script, client: ChatClient) -> None:
    script.steps = [server.says("Tea, then.")]
    answer = client.complete(QUESTION)
    assert (answer.text, answer.value) == ("Tea, then.", None)
    assert (answer.tokens_in, answer.tokens_out, answer.estimated) == (20, 7, False)
    assert (answer.model, answer.requests) == ("served-model", 1)
    assert script.paths == ["/v1/chat/completions"]
    assert script.headers[0]["authorization"] == f"Bearer {SECRET}"
    assert script.requests[0] == {
        "model": "some/model",
        "messages": [
            {"role": "system", "content": "You take notes."},
            {"role": "user", "content": "我喜欢喝茶。"},
        ],
        "stream": False,
        "max_tokens": 500,
        "temperature": 0,
    }


def test_an_answer_is_the_type_that_was_asked_for(script: server.Script, client: ChatClient) -> None:
    assert client.complete(QUESTION, schema=Facts).value == TEA
    sent = script.requests[0]
    wanted = sent["response_format"]["json_schema"]
    assert wanted["strict"] is True
    assert wanted["schema"]["type"] == "object"
    assert wanted["schema"]["$defs"]["Fact"]["required"] == ["text", "confidence"]
    assert [message["role"] for message in sent["messages"]] == ["system", "user"]
    assert sent["messages"][0]["content"].startswith("You take notes.\n\nAnswer with one JSON object")


@pytest.mark.parametrize("formats", [("json_schema",), ("json_object", "text"), ("text",)], ids=str)
def test_what_the_server_understands_is_found_out_once(
    script: server.Script, client: ChatClient, formats: tuple[str, ...]
) -> None:
    script.steps = [server.knows(*formats)]
    assert client.complete(QUESTION, schema=Facts).value == TEA
    tried = len(script.requests)
    assert client.dialect.format == formats[0]
    assert client.complete(QUESTION, schema=Facts).value == TEA
    assert len(script.requests) == tried + 1
    assert "JSON" in script.requests[-1]["messages"][0]["content"]


def test_an_unrelated_refusal_teaches_nothing(script: server.Script, client: ChatClient) -> None:
    script.steps = [server.status(400, '{"error": "no such model"}')]
    with pytest.raises(LLMUnavailable, match="some/model") as caught:
        client.complete(QUESTION, schema=Facts)
    assert caught.value.kind == "refused"
    assert client.dialect.format == "json_schema"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (400, "This model's maximum context length is 8192 tokens."),
        (413, ""),
        (400, "Range of input length should be [1, 30720]"),
    ],
)
def test_too_much_text_is_said_and_not_asked_again(
    script: server.Script, client: ChatClient, code: int, said: str
) -> None:
    script.steps = [server.status(code, said)]
    with pytest.raises(LLMUnavailable, match="send less") as caught:
        client.complete(QUESTION, schema=Facts)
    assert caught.value.kind == "too long"
    assert len(script.requests) == 1


def test_settings_a_model_refuses_are_left_out(script: server.Script, client: ChatClient) -> None:
    def picky(handler: server.Handler, body: dict[str, Any]) -> None:
        if "max_tokens" in body:
            handler.reply(b'{"error": "max_tokens: use max_completion_tokens instead"}', 400)
        elif "temperature" in body:
            handler.reply(b'{"error": "temperature does not support 0"}', 400)
        else:
            server.good(handler, body)

    script.steps = [picky]
    assert client.complete(QUESTION, schema=Facts).value == TEA
    assert script.requests[-1]["max_completion_tokens"] == 500
    client.complete(QUESTION, schema=Facts)
    assert len(script.requests) == 4


def test_where_to_begin_is_known_for_some_hosts() -> None:
    def guess(url: str | None) -> tuple[str, str]:
        dialect = ChatClient("m", url=url).dialect
        return dialect.format, dialect.length

    assert guess(None) == ("json_schema", "max_completion_tokens")
    assert guess("https://api.deepseek.com/v1") == ("json_object", "max_tokens")
    assert guess("https://dashscope-intl.aliyuncs.com/compatible-mode/v1") == ("json_object", "max_tokens")
    assert guess("http://localhost:11434/v1") == ("json_schema", "max_tokens")
    assert guess("https://notdeepseek.com/v1") == ("json_schema", "max_tokens")


def test_members_only_one_server_knows_are_passed_on(script: server.Script) -> None:
    meter = Meter(PLENTY, Ledger.in_memory())
    extra = {"enable_thinking": False, "temperature": 0.3}
    client = ChatClient("m", url=script.url + "/chat/completions", meter=meter, extra=extra)
    client.complete(QUESTION)
    client.close()
    assert script.requests[0]["enable_thinking"] is False
    assert script.requests[0]["temperature"] == 0.3
    assert "authorization" not in script.headers[0]
    assert script.paths == ["/v1/chat/completions"]


@pytest.mark.parametrize(
    "fault",
    [
        server.status(429, "slow down", retry_after="0"),
        server.status(429, retry_after=email.utils.formatdate(usegmt=True)),
        server.status(429, retry_after="soon"),
        server.status(500),
        server.status(503),
        server.drop,
        server.slow(0.6),
        server.raw(b'{"choices": [{"mess'),
        server.raw(b"<html>starting up</html>"),
        server.raw(b"\xff\xfe"),
        server.raw(b"not packed", content_encoding="gzip"),
        server.bomb,
        server.sends({"error": {"message": "overloaded"}}),
        server.sends({"choices": "none"}),
    ],
)
def test_a_passing_fault_is_tried_again(
    script: server.Script, client: ChatClient, fault: server.Step
) -> None:
    script.steps = [fault, server.good]
    assert client.complete(QUESTION, schema=Facts, timeout=5).value == TEA
    assert len(script.requests) == 2


def test_retry_after_is_waited_for(script: server.Script, client: ChatClient) -> None:
    script.steps = [server.status(429, retry_after="1"), server.good]
    start = time.monotonic()
    client.complete(QUESTION)
    assert time.monotonic() - start >= 1


@pytest.mark.parametrize(
    "fault",
    [
        server.status(500),
        server.drop,
        server.slow(3),
        server.trickle(3),
        server.trickle(3, in_headers=True),
        server.status(429, retry_after="60"),
        server.raw(b" " * 2_000_000),
        server.bomb,
        server.sends({"choices": None}),
    ],
    ids=["500", "dropped", "slow", "trickle", "headers", "429-long", "huge", "bomb", "null"],
)
def test_a_lasting_fault_is_an_error_by_the_deadline(
    script: server.Script, client: ChatClient, fault: server.Step
) -> None:
    script.steps = [fault]
    start = time.monotonic()
    with pytest.raises(LLMUnavailable, match="gave no answer") as caught:
        client.complete(QUESTION, schema=Facts, timeout=0.6)
    assert time.monotonic() - start < 1.1
    assert caught.value.kind == "unreachable"
    assert caught.value.asked
    assert len(script.requests) <= 3


def test_a_redirect_is_not_followed(script: server.Script, client: ChatClient) -> None:
    script.steps = [server.status(307, location="http://127.0.0.1:1/v1/chat/completions")]
    with pytest.raises(LLMUnavailable, match="configure the URL it points to"):
        client.complete(QUESTION)
    assert len(script.requests) == 1


def test_packed_answers_are_unpacked(script: server.Script, client: ChatClient) -> None:
    script.steps = [server.packed]
    assert client.complete(QUESTION, schema=Facts).value == Facts([])


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (server.says('{"facts": [{"text": 5}]}'), "Expected `str`, got `int` - at `$.facts[0].text`"),
        (server.says('{"facts": [{"te', finish="length"), "Be shorter"),
        (server.says('{"facts": [}'), "the JSON is broken"),
        (server.says('{"memories": []}'), "facts"),
        (server.says("I could not find any."), "no JSON object"),
    ],
)
def test_a_wrong_answer_is_repaired_once(
    script: server.Script, client: ChatClient, wrong: server.Step, told: str
) -> None:
    script.steps = [wrong, server.good]
    answer = client.complete(QUESTION, schema=Facts)
    assert (answer.value, answer.requests) == (TEA, 2)
    assert (answer.tokens_in, answer.tokens_out) == (40, 14)
    assert [message["role"] for message in script.requests[1]["messages"]] == [
        "system",
        "user",
        "assistant",
        "user",
    ]
    assert told in script.requests[1]["messages"][-1]["content"]


@pytest.mark.parametrize(
    "empty",
    [
        server.sends({"choices": [], "usage": None}),
        server.says(None),
        server.says("  \n"),
        server.says("<think>so"),
        server.sends({"choices": [{}]}),
    ],
)
@pytest.mark.parametrize("schema", [Facts, None])
def test_an_empty_answer_is_asked_for_again(
    script: server.Script, client: ChatClient, empty: server.Step, schema: type[Facts] | None
) -> None:
    script.steps = [empty, server.good]
    answer = client.complete(QUESTION, schema=schema) if schema else client.complete(QUESTION)
    assert "likes tea" in answer.text
    assert script.requests[1]["messages"] == script.requests[0]["messages"]


def test_a_model_that_never_fits_is_an_error(script: server.Script, client: ChatClient) -> None:
    script.steps = [server.says(f'{{"facts": "none, my password is: {SECRET}"}}')]
    with pytest.raises(LLMUnavailable, match="a larger model") as caught:
        client.complete(QUESTION, schema=Facts)
    assert caught.value.kind == "invalid"
    assert len(script.requests) == 2
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": None, "completion_tokens": -5}, "many"])
def test_tokens_nobody_counted_are_estimated(script: server.Script, client: ChatClient, usage: Any) -> None:
    script.steps = [server.says("A cup of tea and a book.", usage=usage, model=None)]
    answer = client.complete(QUESTION)
    assert answer.estimated
    assert 10 <= answer.tokens_in <= 30
    assert 5 <= answer.tokens_out <= 12
    assert answer.model == "some/model"


def test_parts_and_refusals_are_text(script: server.Script, client: ChatClient) -> None:
    script.steps = [server.says([{"type": "text", "text": "Te"}, {"type": "text", "text": "a"}, {}])]
    assert client.complete(QUESTION).text == "Tea"
    script.steps = [server.sends({"choices": [{"message": {"refusal": "I would rather not."}}]})]
    assert client.complete(QUESTION).text == "I would rather not."


def test_text_that_is_no_unicode_is_sent_all_the_same(script: server.Script, client: ChatClient) -> None:
    client.complete([Message("user", "name\udcff")])
    assert script.requests[0]["messages"][0]["content"] == "name?"


@pytest.mark.parametrize(
    "fault",
    [
        server.status(401, f"wrong key {SECRET}\x1b[31m"),
        server.status(400, SECRET),
        server.status(500, "x" * 190 + SECRET),
        server.sends({"error": f"wrong key {SECRET}"}),
        server.says("ok", model=SECRET),
        server.raw(SECRET.encode()),
    ],
)
def test_the_key_is_in_no_error_log_or_repr(
    script: server.Script, client: ChatClient, caplog: pytest.LogCaptureFixture, fault: server.Step
) -> None:
    caplog.set_level(logging.DEBUG)
    script.steps = [fault]
    try:
        shown = repr(client.complete(QUESTION))
    except LLMUnavailable as error:
        shown = f"{error} {error!r} {error.__cause__!r}"
        assert "\x1b" not in shown
    for part in (shown, caplog.text, repr(client), repr(net.key_from("MADE_UP_KEY"))):
        assert SECRET not in part
        assert SECRET[:12] not in part


@pytest.mark.parametrize(("code", "fix"), [(401, "MADE_UP_KEY"), (403, "MADE_UP_KEY"), (404, "some/model")])
def test_a_refusal_names_the_fix(script: server.Script, client: ChatClient, code: int, fix: str) -> None:
    script.steps = [server.status(code)]
    with pytest.raises(LLMUnavailable, match=fix):
        client.complete(QUESTION, schema=Facts)
    assert len(script.requests) == 1


def test_a_missing_key_is_said_and_nothing_is_sent(
    script: server.Script, client: ChatClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MADE_UP_KEY")
    with pytest.raises(LLMUnavailable, match="set the environment variable MADE_UP_KEY") as caught:
        client.complete(QUESTION)
    assert caught.value.kind == "key"
    assert not caught.value.asked
    assert not script.requests


@pytest.mark.parametrize("url", ["localhost:1", "https://user:pass@host/v1", "https://host/v1?key=abc"])
def test_a_wrong_url_is_refused_without_showing_what_it_carries(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        ChatClient("m", url=url)
    assert "pass" not in str(caught.value).replace("password", "")
    assert "abc" not in str(caught.value)


def test_without_a_budget_nothing_is_sent(script: server.Script) -> None:
    client = ChatClient("m", url=script.url)
    with pytest.raises(LLMUnavailable, match="calls_per_day") as caught:
        client.complete(QUESTION)
    assert caught.value.kind == "budget"
    assert not script.requests


def test_every_request_is_in_the_ledger_first(
    script: server.Script, client: ChatClient, entries: list[Entry]
) -> None:
    seen: list[int] = []

    def watch(step: server.Step) -> server.Step:
        def watched(handler: server.Handler, body: dict[str, Any]) -> None:
            seen.append(len(entries))
            step(handler, body)

        return watched

    script.steps = [watch(server.status(500)), watch(server.says("no")), watch(server.good)]
    client.complete(QUESTION, schema=Facts)
    assert seen == [1, 3, 5]
    whats = [entry.what for entry in entries]
    assert whats == ["asked", "failed", "asked", "answered", "asked", "answered"]
    assert spent(entries) == Spent(calls=3, tokens=54)


@pytest.mark.parametrize(
    ("fault", "most"),
    [(server.status(500), 0), (server.status(400), 0), (server.slow(1), 600), (server.drop, 600)],
)
def test_what_may_have_been_billed_counts(
    script: server.Script, client: ChatClient, entries: list[Entry], fault: server.Step, most: int
) -> None:
    script.steps = [fault]
    with pytest.raises(LLMUnavailable):
        client.complete(QUESTION, timeout=0.3)
    sums = spent(entries)
    assert sums.calls == len(script.requests)
    assert most * 0.8 * sums.calls <= sums.tokens <= most * sums.calls


def test_a_server_that_is_not_there_costs_no_tokens(entries: list[Entry]) -> None:
    with server.serve() as script:
        url = script.url
    ledger = Ledger(entries.append, lambda day: spent_on(day, entries))
    client = ChatClient("m", url=url, limits=Limits(attempts=1), meter=Meter(PLENTY, ledger))
    with pytest.raises(LLMUnavailable, match=url):
        client.complete(QUESTION)
    assert spent(entries) == Spent(calls=1, tokens=0)


def test_retries_end_with_the_budget(script: server.Script, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(net, "_FIRST_PAUSE", 0.01)
    meter = Meter(Budget(calls_per_day=2, tokens_per_day=100_000), Ledger.in_memory())
    client = ChatClient("m", url=script.url, meter=meter, limits=Limits(attempts=5))
    script.steps = [server.status(500)]
    with pytest.raises(LLMUnavailable, match="budget of 2 calls"):
        client.complete(QUESTION)
    client.close()
    assert len(script.requests) == 2


def test_a_server_that_fails_is_left_alone(script: server.Script) -> None:
    now = [0.0]
    breaker = Breaker(failures=2, pause=60, clock=lambda: now[0])
    meter = Meter(PLENTY, Ledger.in_memory())
    client = ChatClient("m", url=script.url, meter=meter, breaker=breaker, limits=Limits(attempts=1))
    script.steps = [server.status(500)]
    kinds: Callable[[], str] = lambda: _kind(client)  # noqa: E731
    assert [kinds(), kinds(), kinds()] == ["unreachable", "unreachable", "breaker"]
    assert len(script.requests) == 2
    now[0] = 61
    script.steps = [server.good]
    assert kinds() == "answered"
    client.close()


def test_a_server_that_asks_for_time_gets_it_at_once(script: server.Script) -> None:
    now = [0.0]
    breaker = Breaker(failures=5, clock=lambda: now[0])
    meter = Meter(PLENTY, Ledger.in_memory())
    client = ChatClient("m", url=script.url, meter=meter, breaker=breaker, limits=Limits(attempts=1))
    script.steps = [server.status(429, retry_after="90"), server.good]
    assert [_kind(client), _kind(client)] == ["unreachable", "breaker"]
    now[0] = 91
    assert _kind(client) == "answered"
    client.close()


def _kind(client: ChatClient) -> str:
    try:
        client.complete(QUESTION)
    except LLMUnavailable as error:
        return error.kind
    return "answered"


def test_a_ledger_that_cannot_be_written_lets_nothing_out(script: server.Script) -> None:
    def full(entry: Entry) -> None:
        raise OSError("no space left")

    def nothing(day: date) -> Spent:
        return Spent()

    client = ChatClient("m", url=script.url, meter=Meter(PLENTY, Ledger(full, nothing)))
    with pytest.raises(OSError, match="no space"):
        client.complete(QUESTION)
    assert not script.requests
