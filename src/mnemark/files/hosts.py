"""Decide which servers a folder's settings may name: those that the user's own configuration names.

Whoever copied a folder has not chosen its settings. So they never choose a server, not even on this
machine, where what listens may be another user's; nor a variable of the environment to read or to pass on.
"""

import json
import os
from typing import Any, Final

from msgspec.structs import replace

from mnemark.errors import ConfigError
from mnemark.files import layout, user_config
from mnemark.files.user_config import KEY, EmbedderConfig, LLMConfig, UserConfig
from mnemark.types import Problem

OPENAI: Final = "https://api.openai.com/v1"
"""The server of models without a URL, as `net` has it, which takes a hook a millisecond to load."""
HOSTS: Final = "MNEMARK_HOSTS"
"""Environment variable with the hosts, with or without a port, that texts and keys may be sent to."""
_NO_VARIABLE: Final = (
    "{} is ignored: a folder's settings never choose variables of the environment, as whoever copied the "
    "folder has not chosen them; to use it, put the table [{}] with {} into your own {}"
)


def check_host(url: str, what: str, own: UserConfig | None = None) -> None:
    """Check that the user's own configuration, or `MNEMARK_HOSTS`, names a server; an empty URL is OpenAI's.

    Raises:
        ConfigError: it does not; the message names the fix.
    """
    from urllib.parse import urlsplit

    own = user_config.load() if own is None else own
    try:
        parts = urlsplit(_full(url).lower())
        host, place = parts.hostname, parts.netloc.rpartition("@")[2]
    except ValueError:
        host = place = ""
    if not host:
        raise ConfigError(f"{what} must be an address like https://host/v1")
    given = {name.strip().lower() for name in os.environ.get(HOSTS, "").split(",")} - {""}
    named = {name.strip().lower() for name in own.hosts}
    tables = (own.embedder, own.llm)
    if {host, place} & (named | given) or any(
        _full(url) == _full(one.url) for one in tables if one and _asks(one)
    ):
        return
    raise ConfigError(
        f"{what} is at {place}, and sending texts there was not allowed yet; to allow it, put the line "
        f"hosts = {json.dumps(sorted({*named, place}))} into your own {user_config.path()}, or set the "
        f"environment variable {HOSTS}={','.join(sorted({*given, place}))}"
    )


def restrict(settings: dict[str, Any], own: UserConfig) -> list[Problem]:
    """Replace what a folder's settings cannot choose by the user's choice; return what was ignored.

    A server that was not allowed stays in the settings of the embedder and the model: they refuse it when it
    is asked for, so that a search says why it goes on without.
    """
    problems = [*_set_embedder(settings, own), *_set_llm(settings, own)]
    routes, llm = settings.get("routes"), settings.get("llm")
    if settings.get("embedder", "").startswith("api:"):
        problems += _refused("embedder_url", settings.get("embedder_url", ""), own)
    if llm is not None and llm.active and not llm.command and llm.model != user_config.HOST:
        problems += _refused("llm.url", llm.url, own)
    if routes is not None and routes.qmd and (found := _refused("routes.qmd", routes.qmd, own)):
        settings["routes"] = replace(routes, qmd="")
        problems += found
    return problems


def _set_llm(settings: dict[str, Any], own: UserConfig) -> list[Problem]:
    """Set the user's `[llm]` where the folder has none; else its key at the same URL, within its budget."""
    given: LLMConfig | None = settings.get("llm")
    if given is None:
        settings |= {} if own.llm is None else {"llm": own.llm}
        return []
    mine = own.llm if own.llm and _asks(own.llm) else None
    llm = replace(given, url=given.url or (mine.url if mine else ""), key_env="", env=())
    if mine and _full(llm.url) == _full(mine.url):
        calls = min(given.calls_per_day, mine.calls_per_day)
        tokens = min(given.tokens_per_day, mine.tokens_per_day)
        llm = replace(llm, key_env=mine.key_env, calls_per_day=calls, tokens_per_day=tokens)
    settings["llm"] = llm
    problems = _no_variable("llm.key_env", given.key_env, llm.key_env, url=given.url)
    return [*problems, *_no_variable("llm.env", list(given.env), [])]


def _set_embedder(settings: dict[str, Any], own: UserConfig) -> list[Problem]:
    """Set the user's embedding server where the folder names none; its key is for that URL alone."""
    wanted, key = settings.pop("embedder_key_env", None), KEY
    if own.embedder is not None:
        if own.embedder.model is not None:
            settings.setdefault("embedder", own.embedder.model)
        url = settings["embedder_url"] = settings.get("embedder_url") or own.embedder.url
        key = own.embedder.key_env if _full(url) == _full(own.embedder.url) else ""
    settings["embedder_key_env"] = "" if wanted == "" else key
    return _no_variable("embedder_key_env", wanted, key, url=settings.get("embedder_url", ""))


def _no_variable(key: str, wanted: Any, used: Any, **beside: str) -> list[Problem]:
    """Report names of variables that are not used."""
    if not wanted or wanted == used:
        return []
    name = key.removeprefix("embedder_").removeprefix("llm.")
    table = "llm" if key.startswith("llm.") else "embedder"
    values = {**{one: value for one, value in beside.items() if value}, name: wanted}
    lines = ", ".join(f"{one} = {json.dumps(value)}" for one, value in values.items())
    reason = _NO_VARIABLE.format(key, table, lines, user_config.path())
    return [Problem(layout.CONFIG, reason, skipped=False)]


def _refused(key: str, url: str, own: UserConfig) -> list[Problem]:
    try:
        check_host(url, key, own)
    except ConfigError as error:
        return [Problem(layout.CONFIG, f"ignored: {error}", skipped=False)]
    return []


def _asks(table: EmbedderConfig | LLMConfig) -> bool:
    """Whether a table of the user's own names a server; OpenAI's needs no URL, but a key or a model of it."""
    if isinstance(table, LLMConfig) and table.command:
        return False
    model = table.model or ""
    api = (
        model.startswith("api:") if isinstance(table, EmbedderConfig) else model not in {"", user_config.HOST}
    )
    return bool(table.url or table.key_env or api)


def _full(url: str) -> str:
    return (url or OPENAI).rstrip("/")
