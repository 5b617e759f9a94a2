"""Remember what an endpoint understands of OpenAI's chat requests, and simplify where it does not.

Sources: the documentation of the APIs. OpenAI and vLLM take `json_schema`, Ollama does from 0.5 on (its cloud
accepts and ignores it); DeepSeek knows `json_object` only, DashScope `json_schema` for its newest models only
and `json_object` for most. OpenAI's reasoning models refuse `max_tokens` and any temperature but their own.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Literal
from urllib.parse import urlsplit

import msgspec

from mnemark.llm.base import Message
from mnemark.llm.schema import response_format
from mnemark.types import Json

Format = Literal["json_schema", "json_object", "text"]

_SIMPLER: Mapping[Format, Format] = {"json_schema": "json_object", "json_object": "text"}
_JSON_OBJECT_HOSTS = ("deepseek.com", "aliyuncs.com")
_NOT_UNDERSTOOD = frozenset({400, 404, 415, 422, 501})
_TOO_LONG = re.compile(
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
        """The request; `most` is the limit of the answer's length in tokens."""
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
        """How to ask again after a refusal; None where the fault is not in the manner of asking.

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
    """How to begin with the API at this base URL."""
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
