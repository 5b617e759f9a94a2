import logging
from typing import Any

import pytest

from llm import scripted_chat as server
from llm.samples import PLENTY, QUESTION, SECRET, TEA, Facts
from mnemark import net
from mnemark.errors import ConfigError
from mnemark.llm import Ledger, LLMUnavailable, Message, Meter
from mnemark.llm.chat import ChatClient


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
