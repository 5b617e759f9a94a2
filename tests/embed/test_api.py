import base64
import email.utils
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from embed import scripted_server as server
from mnemark import net
from mnemark.embed import EmbedderUnavailable, make
from mnemark.embed import api as api_module
from mnemark.embed.api import ApiEmbedder, ApiLimits
from mnemark.errors import ConfigError

SECRET = "sk-made-up-0123456789"
QUICK = ApiLimits(attempts=3, attempt=0.4, passages=1.5, query=1.0)


@pytest.fixture
def script() -> Iterator[server.Script]:
    with server.serve() as script:
        yield script


@pytest.fixture
def embedder(script: server.Script, monkeypatch: pytest.MonkeyPatch) -> Iterator[ApiEmbedder]:
    monkeypatch.setattr(net, "_MIN_PAUSE", 0.01)
    monkeypatch.setenv("MADE_UP_KEY", SECRET)
    embedder = ApiEmbedder("some/model", url=script.url, key_env="MADE_UP_KEY", limits=QUICK)
    yield embedder
    embedder.close()


def unit(text: str) -> Any:
    vector = np.array(server.vector(text))
    return vector / np.linalg.norm(vector)


def test_vectors_come_back_in_order_and_normalised(script: server.Script, embedder: ApiEmbedder) -> None:
    texts = ["one", "四十二", "three"]
    matrix = embedder.passages(texts)
    assert matrix.dtype == np.float32
    np.testing.assert_allclose(matrix, [unit(text) for text in texts], rtol=1e-6)
    np.testing.assert_allclose(embedder.query("one"), matrix[0])
    assert script.paths == ["/v1/embeddings"] * 2
    assert script.headers[0]["authorization"] == f"Bearer {SECRET}"
    assert script.requests[0] == {"model": "some/model", "input": texts, "encoding_format": "float"}


def test_a_shuffled_reply_is_put_in_order(script: server.Script, embedder: ApiEmbedder) -> None:
    script.steps = [server.data(lambda items: items[::-1])]
    np.testing.assert_allclose(embedder.passages(["a", "bb"]), [unit("a"), unit("bb")], rtol=1e-6)


def test_base64_is_understood_though_not_asked_for(script: server.Script, embedder: ApiEmbedder) -> None:
    def encode(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [
            item | {"embedding": base64.b64encode(np.array(item["embedding"], "<f4").tobytes()).decode()}
            for item in items
        ]

    script.steps = [server.data(encode)]
    np.testing.assert_allclose(embedder.query("x"), unit("x"), rtol=1e-6)


def test_blank_texts_are_not_sent_and_stay_zero(script: server.Script, embedder: ApiEmbedder) -> None:
    matrix = embedder.passages(["", "word", " \n"])
    assert script.requests[0]["input"] == ["word"]
    assert matrix.any(axis=1).tolist() == [False, True, False]
    assert embedder.passages([]).shape == (0, server.DIMENSION)


def test_text_that_is_no_unicode_is_sent_all_the_same(script: server.Script, embedder: ApiEmbedder) -> None:
    assert embedder.query("name\udcff").any()
    assert script.requests[0]["input"] == ["name?"]


def test_many_texts_go_in_batches(script: server.Script, embedder: ApiEmbedder) -> None:
    texts = [f"text {number}" for number in range(150)]
    np.testing.assert_allclose(embedder.passages(texts), [unit(text) for text in texts], rtol=1e-5)
    assert [len(request["input"]) for request in script.requests] == [64, 64, 22]


def test_long_texts_go_in_smaller_batches(script: server.Script, embedder: ApiEmbedder) -> None:
    embedder.passages(["字" * 45_000] * 5)
    assert [len(request["input"]) for request in script.requests] == [2, 2, 1]


def test_dashscope_gets_ten_at_a_time() -> None:
    embedder = ApiEmbedder("text-embedding-v4", url="https://dashscope.aliyuncs.com/compatible-mode/v1")
    assert [len(batch) for batch in embedder._batches(["x"] * 25)] == [10, 10, 5]
    assert embedder.dimension == 1024


def test_a_server_that_takes_fewer_texts_gets_fewer(script: server.Script, embedder: ApiEmbedder) -> None:
    def picky(handler: server.Handler, body: dict[str, Any]) -> None:
        if len(body["input"]) > 20:
            handler.reply(b'{"error": "batch size is invalid"}', 400)
        else:
            server.good(handler, body)

    script.steps = [picky]
    texts = [f"text {number}" for number in range(100)]
    np.testing.assert_allclose(embedder.passages(texts), [unit(text) for text in texts], rtol=1e-5)
    before = len(script.requests)
    embedder.passages(texts[:16])
    assert len(script.requests) == before + 1


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
    ],
    ids=["429", "429-date", "429-odd", "500", "503", "dropped", "slow"],
)
def test_a_passing_fault_is_tried_again(
    script: server.Script, embedder: ApiEmbedder, fault: server.Step
) -> None:
    script.steps = [fault, server.good]
    assert embedder.query("x").any()
    assert len(script.requests) == 2


@pytest.mark.timed
def test_retry_after_is_waited_for(script: server.Script, embedder: ApiEmbedder) -> None:
    script.steps = [server.status(429, retry_after="1"), server.good]
    start = time.monotonic()
    embedder.passages(["x"])
    assert time.monotonic() - start >= 1


@pytest.mark.timed
@pytest.mark.parametrize(
    "fault",
    [
        server.status(500),
        server.drop,
        server.slow(3),
        server.trickle(3),
        server.status(429, retry_after="60"),
    ],
    ids=["500", "dropped", "slow", "trickle", "429-long"],
)
def test_a_lasting_fault_is_an_error_by_the_deadline(
    script: server.Script, embedder: ApiEmbedder, fault: server.Step
) -> None:
    script.steps = [fault]
    start = time.monotonic()
    with pytest.raises(EmbedderUnavailable, match="gave no vectors"):
        embedder.query("x")
    assert time.monotonic() - start < 1.6
    assert len(script.requests) <= 3


def without_last(items: list[dict[str, Any]]) -> Any:
    return items[:-1]


def same_index(items: list[dict[str, Any]]) -> Any:
    return [item | {"index": 0} for item in items]


def short_first(items: list[dict[str, Any]]) -> Any:
    return [items[0] | {"embedding": [1.0]}, *items[1:]]


def infinite(items: list[dict[str, Any]]) -> Any:
    return [item | {"embedding": [1e300, 1, 1, 1]} for item in items]


def zeros(items: list[dict[str, Any]]) -> Any:
    return [item | {"embedding": [0, 0, 0, 0]} for item in items]


def bad_base64(items: list[dict[str, Any]]) -> Any:
    return [item | {"embedding": "AAA"} for item in items]


def half_a_float(items: list[dict[str, Any]]) -> Any:
    return [item | {"embedding": base64.b64encode(b"12345").decode()} for item in items]


@pytest.mark.parametrize(
    "fault",
    [
        *map(server.data, [without_last, same_index, short_first, infinite, zeros, bad_base64, half_a_float]),
        server.data(lambda items: []),
        server.data(lambda items: "none"),
        server.raw(b'{"data": ['),
        server.raw(b"<html>it works</html>"),
        server.raw(b""),
        server.raw(b'{"data": [{"index": 0, "embedding": [NaN, 1]}]}'),
        server.raw(b'{"error": {"message": "no"}}'),
        server.raw(b"\xff\xfe"),
    ],
)
def test_a_broken_reply_is_an_error_and_never_vectors(
    script: server.Script, embedder: ApiEmbedder, fault: server.Step
) -> None:
    script.steps = [fault]
    with pytest.raises(EmbedderUnavailable, match="no valid embeddings"):
        embedder.passages(["a", "bb"])


@pytest.mark.parametrize(
    ("code", "fix"), [(401, "MADE_UP_KEY"), (403, "MADE_UP_KEY"), (404, "some/model"), (400, "some/model")]
)
def test_a_refusal_is_not_repeated_and_names_the_fix_without_the_key(
    script: server.Script, embedder: ApiEmbedder, code: int, fix: str
) -> None:
    script.steps = [server.status(code, f"wrong key {SECRET}\x1b[31m")]
    with pytest.raises(EmbedderUnavailable, match=fix) as caught:
        embedder.query("x")
    assert len(script.requests) == 1
    assert f"HTTP {code}" in str(caught.value)
    assert SECRET not in str(caught.value)
    assert "\x1b" not in str(caught.value)
    assert SECRET not in repr(embedder)


def test_no_credit_is_not_waited_for(script: server.Script, embedder: ApiEmbedder) -> None:
    script.steps = [server.status(429, '{"error": {"code": "insufficient_quota"}}')]
    with pytest.raises(EmbedderUnavailable, match="credit"):
        embedder.query("x")
    assert len(script.requests) == 1


def test_an_error_of_the_server_does_not_repeat_the_key(script: server.Script, embedder: ApiEmbedder) -> None:
    script.steps = [server.status(500, f"panic: {SECRET}")]
    with pytest.raises(EmbedderUnavailable) as caught:
        embedder.query("x")
    assert "panic" in str(caught.value)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("value", ["", "  ", "two words", "line\nbreak", "schlüssel"])
def test_a_key_that_is_none_is_said_without_showing_it(
    embedder: ApiEmbedder, script: server.Script, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("MADE_UP_KEY", value)
    with pytest.raises(EmbedderUnavailable, match="MADE_UP_KEY") as caught:
        embedder.query("x")
    assert not value.strip() or value not in str(caught.value)
    assert not script.requests


def test_without_a_key_variable_no_key_is_sent(script: server.Script) -> None:
    embedder = ApiEmbedder("m", url=script.url + "/")
    assert embedder.query("x").any()
    assert "authorization" not in script.headers[0]
    embedder.close()


def test_the_dimension_is_asked_once_and_then_kept_to(script: server.Script, embedder: ApiEmbedder) -> None:
    assert embedder.dimension == server.DIMENSION
    assert f"-{server.DIMENSION}-" in embedder.name
    assert len(script.requests) == 1
    script.steps = [server.data(lambda items: [item | {"embedding": [1, 2]} for item in items])]
    with pytest.raises(EmbedderUnavailable, match="configure dimension 2"):
        embedder.query("x")


def test_a_configured_dimension_is_sent_and_checked(script: server.Script) -> None:
    embedder = make("api:m", url=script.url, dimension=8)
    assert embedder.dimension == 8
    assert "-8-" in embedder.name
    assert not script.requests
    with pytest.raises(EmbedderUnavailable, match="expected 8"):
        embedder.query("x")
    assert script.requests[0]["dimensions"] == 8


def test_names_are_safe_and_never_shared() -> None:
    def named(model: str, url: str = "http://localhost:11434/v1", dimension: int = 8) -> str:
        return ApiEmbedder(model, url=url, dimension=dimension).name

    names = [
        named("a/b"),
        named("a-b"),
        named("A/b"),
        named("a/b", dimension=9),
        named("a/b", "http://other/v1"),
        named("模型:最新" * 40),
    ]
    assert len({name.lower() for name in names}) == len(names)
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789.-") for name in names)
    assert max(map(len, names)) < 120


def test_no_server_at_all_is_an_error_that_names_it() -> None:
    with server.serve() as script:
        url = script.url
    embedder = ApiEmbedder("m", url=url, limits=ApiLimits(attempts=1))
    with pytest.raises(EmbedderUnavailable, match=url):
        _ = embedder.name


@pytest.mark.parametrize(
    "url", ["localhost:1", "ftp://x", "https://", "https://user:pass@host/v1", "https://host/v1?key=abc"]
)
def test_a_wrong_url_is_refused_without_showing_what_it_carries(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        ApiEmbedder("m", url=url)
    assert "pass" not in str(caught.value).replace("password", "")
    assert "abc" not in str(caught.value)


def test_pauses_grow_to_a_limit_and_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: Callable[[int], list[float]] = lambda attempt: [net._pause(attempt) for _ in range(50)]  # noqa: E731
    assert 0.25 <= min(pauses(0)) < max(pauses(0)) <= 0.5
    assert 4 <= min(pauses(9)) < max(pauses(9)) <= 8
    assert api_module._MAX_BATCH_CHARACTERS >= 8192
