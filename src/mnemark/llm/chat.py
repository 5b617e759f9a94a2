"""Call an OpenAI-compatible `/chat/completions` API: Ollama, vLLM, DashScope, DeepSeek, OpenAI and others."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec

from mnemark.errors import ConfigError
from mnemark.llm.base import LLMUnavailable, Message
from mnemark.llm.budget import Breaker, Budget, Ledger, Meter
from mnemark.llm.dialogue import Dialogue, Reply, shown, tokens_of
from mnemark.llm.schema import response_format
from mnemark.net import (
    OPENAI,
    Channel,
    GaveUpError,
    Key,
    KeyMissingError,
    RefusedError,
    TransientError,
    base_url,
    fix_for,
    json_bytes,
    key_from,
    persist,
)
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.tokens import estimate_tokens
from mnemark.types import Json

Format = Literal["json_schema", "json_object", "text"]

_FALLBACK: Mapping[Format, Format] = {"json_schema": "json_object", "json_object": "text"}
_JSON_OBJECT_HOSTS = ("deepseek.com", "aliyuncs.com")
_BAD_REQUEST = frozenset({400, 404, 415, 422, 501})
_TOO_LONG = lazy_pattern(
    r"context[ _](?:length|window|size)|maximum (?:context|input)|too (?:long|large|many tokens)"
    r"|input length|exceeds? the|prompt is too",
    re.IGNORECASE,
)


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """The request parameters that an endpoint supports for a model."""

    format: Format = "json_schema"
    """Type of `response_format` for JSON answers; `text` sends none."""
    length: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """Name of the parameter that limits the answer's tokens."""
    temperature: bool = True
    """Whether the server accepts the parameter `temperature`."""

    def body(
        self, model: str, messages: Sequence[Message], schema: type[msgspec.Struct] | None, most: int
    ) -> dict[str, Json]:
        """Return the request body; `most` is the maximum number of answer tokens."""
        body: dict[str, Json] = {
            "model": model,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            "stream": False,
            self.length: most,
        }
        if self.temperature:
            body["temperature"] = 0
        if schema is not None and self.format == "json_schema":
            body["response_format"] = response_format(schema)
        elif schema is not None and self.format == "json_object":
            body["response_format"] = {"type": "json_object"}
        return body

    def simpler(self, status: int, said: str, *, structured: bool) -> "Dialect | None":
        """Return the dialect to retry with after a client error; None if no other dialect would help.

        Args:
            status: HTTP status of the error.
            said: beginning of its body.
            structured: whether the request has a schema.
        """
        if status not in _BAD_REQUEST or too_long(status, said):
            return None
        if self.length == "max_tokens" and "max_completion_tokens" in said:
            return msgspec.structs.replace(self, length="max_completion_tokens")
        if self.temperature and "temperature" in said:
            return msgspec.structs.replace(self, temperature=False)
        # 404 means an unknown URL or model, whatever the response format.
        simpler = _FALLBACK.get(self.format) if structured and status != 404 else None
        return msgspec.structs.replace(self, format=simpler) if simpler else None


def first_guess(url: str) -> Dialect:
    """Return the dialect of the first request to this base URL."""
    host = urlsplit(url).hostname or ""
    return Dialect(
        format="json_object" if _has_domain(host, *_JSON_OBJECT_HOSTS) else "json_schema",
        length="max_completion_tokens" if _has_domain(host, "api.openai.com") else "max_tokens",
    )


def too_long(status: int, said: str) -> bool:
    """Return whether a client error says that the prompt exceeds the model's context length."""
    return status == 413 or (status in {400, 422} and _TOO_LONG.search(said) is not None)


def _has_domain(host: str, *domains: str) -> bool:
    return any(host == domain or host.endswith(f".{domain}") for domain in domains)


_ENDPOINT = "/chat/completions"


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of requests and answers."""

    attempts: int = 3
    """Maximum attempts of one request after transient errors."""
    silence: float = 60.0
    """Read timeout of one attempt in seconds. Nothing is streamed: a model sends nothing until it is done."""
    answer: int = 4096
    """Maximum tokens of one answer, reasoning included; sent with the request."""
    most_bytes: int = 8 * 1024 * 1024
    """Maximum size of one response in bytes."""


class _Message(msgspec.Struct):
    content: str | list[dict[str, Any]] | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct):
    message: _Message | None = None
    finish_reason: str | None = None


class _Answer(msgspec.Struct):
    choices: list[_Choice] | None = None
    usage: Any = None
    model: Any = None
    error: Any = None


class ChatClient(Dialogue):
    """Client for one model on one server. Creating it does not connect.

    Without a `meter` whose budget allows it, every request is refused: no call happens unless configured.
    The dialect that the server accepts is found by trying and kept for later requests.

    Args:
        model: the server's name for the model.
        url: base URL, with `/v1` where the server has one; None for OpenAI's.
        key_env: name of the environment variable with the API key, read at each request; None for no key.
        limits: attempts, timeouts and sizes.
        meter: the budget and its ledger.
        breaker: circuit breaker, possibly shared with other clients; None for its own.
        extra: additional fields of each request body, for parameters that only this server has, such as
            `{"enable_thinking": False}`; they override mnemark's.

    Raises:
        ConfigError: the URL is invalid, or has a user, password, query or fragment.
    """

    def __init__(
        self,
        model: str,
        *,
        url: str | None = None,
        key_env: str | None = None,
        limits: Limits | None = None,
        meter: Meter | None = None,
        breaker: Breaker | None = None,
        extra: Mapping[str, Json] | None = None,
    ) -> None:
        super().__init__(model, breaker or Breaker())
        try:
            self._base = base_url(url or OPENAI, "the model's").removesuffix(_ENDPOINT)
        except ValueError as error:
            raise ConfigError(str(error)) from None
        self._key_env = key_env
        self._limits = limits or Limits()
        self._meter = meter or Meter(Budget(), Ledger.in_memory())
        self._extra = dict(extra or {})
        self._channel = Channel(
            f"{self._base}{_ENDPOINT}", silence=self._limits.silence, most_bytes=self._limits.most_bytes
        )
        self.dialect = first_guess(self._base)

    def __repr__(self) -> str:
        return f"ChatClient({self.model!r}, url={self._base!r})"

    def close(self) -> None:
        """Close the connections."""
        self._channel.close()

    def _ask(
        self, messages: Sequence[Message], schema: type[msgspec.Struct] | None, deadline: float
    ) -> Reply:
        try:
            key = key_from(self._key_env)
        except KeyMissingError as error:
            raise LLMUnavailable("key", str(error)) from None
        dialect: Dialect | None = self.dialect
        while dialect is not None:
            body = json_bytes(dialect.body(self.model, messages, schema, self._limits.answer) | self._extra)
            try:
                reply = self._send(body, key, messages, deadline)
            except RefusedError as error:
                refusal = error
                dialect = dialect.simpler(error.status, error.said, structured=schema is not None)
            else:
                # Kept only after success: the new dialect may fail as well.
                self.dialect = dialect
                return reply
        raise self._refusal_error(refusal)

    def _send(self, body: bytes, key: Key | None, messages: Sequence[Message], deadline: float) -> Reply:
        expected = tokens_of(messages)

        def attempt() -> Reply:
            with self._meter.request(self.model, expected, self._limits.answer) as ticket:
                try:
                    reply = _reply(self._channel.post(body, key, deadline), self.model, expected, key)
                except TransientError as fault:
                    if not fault.billed:
                        ticket.unused()
                    raise
                except RefusedError:
                    ticket.unused()
                    raise
                ticket.answered(reply.tokens_in, reply.tokens_out)
                return reply

        try:
            return persist(attempt, self._limits.attempts, deadline)
        except GaveUpError as error:
            raise LLMUnavailable(
                "unreachable",
                f"{self._channel.url} gave no answer: {error}; try later, or check the URL and the server",
                error.after,
            ) from None

    def _refusal_error(self, error: RefusedError) -> LLMUnavailable:
        if too_long(error.status, error.said):
            return LLMUnavailable("too long", f"{error}; send less at a time")
        other = f"check the model name {self.model} and the settings"
        fix = fix_for(error.status, self.model, self._key_env, other=other)
        if 300 <= error.status < 400:
            fix = "the server redirects, and redirects are not followed: set url to the final address"
        return LLMUnavailable("refused", f"{error}; {fix}")


def _reply(content: bytes, model: str, expected: int, key: Key | None) -> Reply:
    """Decode a response of the chat API.

    Raises:
        TransientError: it is not a chat completion, or an error with status 200.
    """
    try:
        answer = msgspec.json.decode(content, type=_Answer)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise TransientError("its answer is not a chat completion", billed=True) from None
    if answer.error is not None and not answer.choices:
        raise TransientError(f"it sent an error: {_printable(str(answer.error), key)}")
    if answer.choices is None:
        raise TransientError("its answer is not a chat completion", billed=True)
    choice = answer.choices[0] if answer.choices else _Choice()
    text = _content_text(choice.message)
    counted_in = _usage_count(answer.usage, "prompt_tokens")
    counted_out = _usage_count(answer.usage, "completion_tokens")
    return Reply(
        text=text,
        tokens_in=expected if counted_in is None else counted_in,
        tokens_out=estimate_tokens(text) if counted_out is None else counted_out,
        model=_printable(answer.model, key) if isinstance(answer.model, str) else model,
        estimated=counted_in is None or counted_out is None,
        truncated=choice.finish_reason == "length",
    )


def _printable(text: str, key: Key | None) -> str:
    return shown(key.hide(text) if key else text)


def _content_text(message: _Message | None) -> str:
    if message is None:
        return ""
    if message.content is None:
        return message.refusal or ""
    if isinstance(message.content, str):
        return message.content
    return "".join(part["text"] for part in message.content if isinstance(part.get("text"), str))


def _usage_count(usage: Any, name: str) -> int | None:
    """Return a token count from the `usage` object; None if it is missing or invalid."""
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if isinstance(count, int) and not isinstance(count, bool) and count >= 0 else None
