"""Any server with OpenAI's `/chat/completions`: Ollama, vLLM, DashScope, DeepSeek, OpenAI and others."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec

from mnemark.errors import ConfigError
from mnemark.llm.base import LLMUnavailable, Message
from mnemark.llm.breaker import Breaker
from mnemark.llm.budget import Budget, Ledger, Meter
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

_SIMPLER: Mapping[Format, Format] = {"json_schema": "json_object", "json_object": "text"}
_JSON_OBJECT_HOSTS = ("deepseek.com", "aliyuncs.com")
_NOT_UNDERSTOOD = frozenset({400, 404, 415, 422, 501})
_TOO_LONG = lazy_pattern(
    r"context[ _](?:length|window|size)|maximum (?:context|input)|too (?:long|large|many tokens)"
    r"|input length|exceeds? the|prompt is too",
    re.IGNORECASE,
)


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """How to ask one endpoint for one model."""

    format: Format = "json_schema"
    """How to ask for JSON."""
    length: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """What the limit of the answer's length is called."""
    temperature: bool = True
    """Whether it may be set."""

    def body(
        self, model: str, messages: Sequence[Message], schema: type[msgspec.Struct] | None, most: int
    ) -> dict[str, Json]:
        """Return the request; `most` is the limit of the answer's length in tokens."""
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
        """Return the dialect to retry with after a refusal; None where the fault is elsewhere.

        Args:
            status: of the refusal.
            said: the beginning of its text.
            structured: whether JSON was asked for.
        """
        if status not in _NOT_UNDERSTOOD or too_long(status, said):
            return None
        if self.length == "max_tokens" and "max_completion_tokens" in said:
            return msgspec.structs.replace(self, length="max_completion_tokens")
        if self.temperature and "temperature" in said:
            return msgspec.structs.replace(self, temperature=False)
        # A URL or a model that is not there says so with 404 in any manner of asking.
        simpler = _SIMPLER.get(self.format) if structured and status != 404 else None
        return msgspec.structs.replace(self, format=simpler) if simpler else None


def first_guess(url: str) -> Dialect:
    """Return the dialect to begin with at this base URL."""
    host = urlsplit(url).hostname or ""
    return Dialect(
        format="json_object" if _is(host, *_JSON_OBJECT_HOSTS) else "json_schema",
        length="max_completion_tokens" if _is(host, "api.openai.com") else "max_tokens",
    )


def too_long(status: int, said: str) -> bool:
    """Whether the refusal says that the texts are too long for the model."""
    return status == 413 or (status in {400, 422} and _TOO_LONG.search(said) is not None)


def _is(host: str, *ends: str) -> bool:
    return any(host == end or host.endswith(f".{end}") for end in ends)


_ENDPOINT = "/chat/completions"


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How hard to try and how much to take."""

    attempts: int = 3
    """Of one request, where the fault may pass."""
    silence: float = 60.0
    """Seconds without a byte, within one attempt. A model that thinks is silent until it is done."""
    answer: int = 4096
    """Tokens of one answer, thoughts included; sent with the request."""
    most_bytes: int = 8 * 1024 * 1024
    """Of one answer."""


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
    """Asks one model on one server. Building it does not connect.

    Without a `meter` whose budget allows it, it refuses everything: no call happens unless it was configured.
    What the server understands (how to ask for JSON, what the length is called) is found out and remembered.

    Args:
        model: the server's name for the model.
        url: base URL, with `/v1` where the server has one; None for OpenAI's.
        key_env: name of the environment variable with the API key, read at each request; None for no key.
        limits: attempts, lengths and waits.
        meter: the budget and where it is written down.
        breaker: shared by the clients that should rest together; None for one of its own.
        extra: more members of each request, for what only this server knows, such as
            `{"enable_thinking": False}`; they win over ours.

    Raises:
        ConfigError: the URL is not one, or carries a password or query.
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
                reply = self._persist(body, key, messages, deadline)
            except RefusedError as error:
                refusal = error
                dialect = dialect.simpler(error.status, error.said, structured=schema is not None)
            else:
                # Remembered only now: another manner of asking may not have been the cure.
                self.dialect = dialect
                return reply
        raise self._refused(refusal)

    def _persist(self, body: bytes, key: Key | None, messages: Sequence[Message], deadline: float) -> Reply:
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

    def _refused(self, error: RefusedError) -> LLMUnavailable:
        if too_long(error.status, error.said):
            return LLMUnavailable("too long", f"{error}; send less at a time")
        other = f"check the model name {self.model} and the settings"
        fix = fix_for(error.status, self.model, self._key_env, other=other)
        if 300 <= error.status < 400:
            fix = "the server redirects, and redirects are not followed: set url to the final address"
        return LLMUnavailable("refused", f"{error}; {fix}")


def _reply(content: bytes, model: str, expected: int, key: Key | None) -> Reply:
    """Decode the server's reply.

    Raises:
        TransientError: it is no reply of a chat API, or an error in the guise of one.
    """
    try:
        answer = msgspec.json.decode(content, type=_Answer)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise TransientError("its answer is not a chat completion", billed=True) from None
    if answer.error is not None and not answer.choices:
        raise TransientError(f"it sent an error: {_clean(str(answer.error), key)}")
    if answer.choices is None:
        raise TransientError("its answer is not a chat completion", billed=True)
    choice = answer.choices[0] if answer.choices else _Choice()
    text = _text(choice.message)
    counted_in = _count(answer.usage, "prompt_tokens")
    counted_out = _count(answer.usage, "completion_tokens")
    return Reply(
        text=text,
        tokens_in=expected if counted_in is None else counted_in,
        tokens_out=estimate_tokens(text) if counted_out is None else counted_out,
        model=_clean(answer.model, key) if isinstance(answer.model, str) else model,
        estimated=counted_in is None or counted_out is None,
        truncated=choice.finish_reason == "length",
    )


def _clean(text: str, key: Key | None) -> str:
    return shown(key.hide(text) if key else text)


def _text(message: _Message | None) -> str:
    if message is None:
        return ""
    if message.content is None:
        return message.refusal or ""
    if isinstance(message.content, str):
        return message.content
    return "".join(part["text"] for part in message.content if isinstance(part.get("text"), str))


def _count(usage: Any, name: str) -> int | None:
    """Return a count of the usage; None where the server gives no valid one."""
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if isinstance(count, int) and not isinstance(count, bool) and count >= 0 else None
