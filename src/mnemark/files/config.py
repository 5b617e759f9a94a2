"""Read the configuration: `mnemark.toml`, and settings of an existing agent's `config.json`.

Everything has a default. In `mnemark.toml` a mistake is an error that names the fix. A `config.json` belongs
to another program, so nothing in it is an error: the table `_SEEDS` maps its settings to ours, others are
reported.
"""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from mnemark.errors import ConfigError, UsageError
from mnemark.files import hosts, layout, platform, trust, user_config
from mnemark.files.disk_errors import shortage
from mnemark.files.user_config import EMBEDDERS, KEY, NAMES, LLMConfig, trusted
from mnemark.text import toml
from mnemark.text.redaction.redact import DEFAULT
from mnemark.types import Problem

FOREIGN = "config.json"
_DEEPEST = 8  # nested tables: more than any setting has
_TIMES = r"^(([01]\d|2[0-3]):[0-5]\d)?$"
_FORMS = {
    EMBEDDERS: '"bundled", "hashing", "none", "fastembed:MODEL" or "api:MODEL"',
    _TIMES: 'a time such as "03:00", or "" for never',
}
_NO_PROGRAM = (
    "[llm] is ignored: a folder's settings never start a program, as whoever copied the folder has not "
    "chosen them; to use one, put the table into your own {}"
)
_HARMLESS = frozenset(
    {"timezone", "ignore", "passage_tokens", "redact_emails", "observe", "projects", "preset"}
    | {"recall_hits", "brief_tokens"}
)
"""Settings that hold in a folder that its user does not trust: they start, send, open and slow nothing."""
_UNTRUSTED = (
    "ignored, as mnemark did not make this folder here: {}. If you wrote them, or looked at them and want "
    "them, run `mnemark trust {}`"
)
_LARGEST = 1 << 18
_SHOWN = 60  # characters of a wrong value that a message shows


class ConsolidateConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table `[consolidate]`: the nightly upkeep."""

    at: Annotated[str, Meta(pattern=_TIMES)] = "03:00"
    """Time of day; empty: never by itself."""
    commit: bool = False
    """Whether each step is a git commit, where the workspace is a repository's root."""
    condense_days: Annotated[int, Meta(ge=0)] = 60
    """Days after a month's end at which its daily notes become a monthly one; 0: never."""


class RoutesConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table `[routes]`: other programs to search beside the own index."""

    qmd: str = ""
    """Address of QMD's daemon, such as "http://localhost:8181"; empty: not asked."""
    qmd_collection: Annotated[str, Meta(min_length=1)] = "memory"
    """QMD's name for the collection whose folder is the workspace."""


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All settings; see `docs/configuration.md`."""

    owner: str = ""
    """Name of the person whose memory this is."""
    timezone: str = ""
    """IANA name, such as "Asia/Shanghai", for "yesterday" and dated notes; empty: the machine's."""

    passage_tokens: Annotated[int, Meta(ge=32, le=2048)] = 256
    """Longest passage, in estimated tokens."""
    ignore: tuple[str, ...] = ()
    """Shell patterns of files that are not memory (see `scan`)."""
    mounts: dict[Annotated[str, Meta(pattern=NAMES)], str] = {}
    """Read-only folders of others, inside of the workspace (see `files.mounts`): name to path."""
    redact: tuple[str, ...] = ()
    """Regular expressions of further secrets, beside the built-in ones."""
    redact_emails: bool = False
    """Whether e-mail addresses are redacted like secrets; a memory is often asked for them."""
    observe: tuple[str, ...] = ()
    """Further tools whose executions are kept: words of names, shell patterns, `!` excludes."""
    projects: bool = True
    """Whether each git repository that agents work in has a memory of its own, in `projects/`."""
    retention_days: Annotated[int, Meta(ge=0)] = 0
    """Days of silence after which a session's log goes to the archive; 0: never."""

    embedder: Annotated[str, Meta(pattern=EMBEDDERS)] = "bundled"
    """"bundled", "hashing", "none", "fastembed:MODEL" or "api:MODEL"."""
    embedder_url: str = ""
    """Base address of an OpenAI-compatible interface, for "api:MODEL"."""
    embedder_key_env: str = KEY
    """Name of the environment variable that holds the key, from the user's own configuration; see `hosts`."""
    embedder_dimension: Annotated[int, Meta(ge=0, le=8192)] = 0
    """Dimension to ask the model for; 0: its own."""
    embedder_tokens_per_day: Annotated[int, Meta(ge=0)] = 1_000_000
    """Tokens of passages that are sent to "api:MODEL" in a day without being asked for; 0: none."""
    vector_store: Literal["exact", "sqlite-vec", "chroma"] = "exact"
    """Where vectors are compared."""
    reranker: str = ""
    """Folder with a cross-encoder as ONNX, absolute, from home or from the workspace; empty: none."""

    preset: Literal["default", "lexical", "bm25", "nanobot", "nanobot-weighted", "nanocrab", "openakita"] = (
        "default"
    )
    """Weights by which routes are fused and ranked."""
    recall_hits: Annotated[int, Meta(ge=1, le=100)] = 8
    """Hits a search returns."""
    recall_budget: Annotated[int, Meta(ge=50)] = 800
    """Tokens of the recall block."""
    recall_deadline_ms: Annotated[int, Meta(ge=1)] = 150
    """Milliseconds after which recall answers with what is ready."""
    brief_tokens: Annotated[int, Meta(ge=10)] = 60
    """Tokens of one brief row."""

    consolidate: ConsolidateConfig = ConsolidateConfig()
    routes: RoutesConfig = RoutesConfig()
    llm: LLMConfig = LLMConfig()


class Loaded(msgspec.Struct, frozen=True):
    """A configuration, and what was ignored: keys of `config.json`, what a folder's settings never decide."""

    config: Config
    problems: tuple[Problem, ...] = ()


_FIELDS = {field.name: field for field in msgspec.structs.fields(Config)}
_TABLES = frozenset({"llm", "consolidate", "routes"})

Setting = tuple[str, Any]
Convert = Callable[[Any], Setting | str]
"""Map another program's value to (field, value), or to the reason why it is not used."""


def load(root: Path) -> Config:
    """Load the configuration: defaults, the user's own, `config.json`, then `mnemark.toml`.

    Raises:
        ConfigError: `mnemark.toml` or the user's own file is no TOML, or has an unknown key or a wrong value.
    """
    return load_reported(root).config


def with_changes(settings: Config, changes: Mapping[str, Any]) -> Config:
    """Return the settings with some of them replaced, validated like those of a file. Raises ConfigError."""
    try:
        return msgspec.convert(msgspec.to_builtins(settings) | dict(changes), Config)
    except msgspec.ValidationError as error:
        wrong = [f"{name}: {why}" for name, value in changes.items() if (why := why_wrong(name, value))]
        raise ConfigError(f"config: {' '.join(wrong) or error} See docs/configuration.md.") from error


def load_reported(root: Path) -> Loaded:
    """Load the configuration as `load` does, with what was ignored of `config.json` and `mnemark.toml`."""
    foreign, problems = _read_foreign(root / FOREIGN)
    settings = foreign | _read_own(root / layout.CONFIG)
    if not (trust.is_trusted(root) and trust.standing(root).settings):
        settings, refused = _harmless(root, settings)
        problems += refused
    own = user_config.load()
    if "mounts" in settings:
        settings["mounts"], refused = trusted(root, settings["mounts"], own)
        problems += refused
    if "llm" in settings and settings["llm"].command:
        del settings["llm"]
        problems.append(Problem(layout.CONFIG, _NO_PROGRAM.format(user_config.path()), skipped=False))
    problems += hosts.restrict(settings, own)
    return Loaded(Config(**settings), tuple(problems))


def withheld(root: Path) -> list[str]:
    """Return the names of a folder's settings that hold only if its user trusts it, sorted."""
    settings = _read_foreign(root / FOREIGN)[0] | _read_own(root / layout.CONFIG)
    return sorted(settings.keys() - _HARMLESS)


def _harmless(root: Path, settings: Mapping[str, Any]) -> tuple[dict[str, Any], list[Problem]]:
    """Return the settings that hold in a folder that nobody trusts, and the problem that names the others."""
    from shlex import quote  # few need it

    ignored = ", ".join(sorted(settings.keys() - _HARMLESS))
    reason = _UNTRUSTED.format(ignored, quote(layout.shown(str(root))))
    kept = {name: value for name, value in settings.items() if name in _HARMLESS}
    return kept, [Problem(layout.CONFIG, reason, skipped=False)] if ignored else []


def _read_own(path: Path) -> dict[str, Any]:
    try:
        with platform.opened(path) as file:
            text = file.read(_LARGEST + 1)
        if len(text) > _LARGEST:
            raise ConfigError(f"{path} is larger than any settings are; correct the file, or move it away")
        data = toml.loads(text.decode("utf-8-sig"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {shortage(error)}") from error
    except ValueError as error:
        raise ConfigError(
            f"{path.name} cannot be read: {error}. Correct the file, or move it away."
        ) from error
    settings: dict[str, Any] = {}
    for key, value in _flat(data):
        found = _own_setting(key, value)
        wrong = found if isinstance(found, str) else _why_wrong(*found)
        if isinstance(found, str) or wrong:
            raise ConfigError(f"{path.name}: {key}: {wrong}")
        settings[found[0]] = _typed(*found)
    return settings


def _own_setting(key: str, value: Any) -> Setting | str:
    """Return the setting of a key of `mnemark.toml`, or what is wrong with it."""
    if (name := _own_name(key)) is not None:
        return name, value
    return _SEEDS[key](value) if key in _SEEDS else f"there is no such key. {_nearest(key)}"


def _read_foreign(path: Path) -> tuple[dict[str, Any], list[Problem]]:
    try:
        data = json.loads(platform.content(path).decode("utf-8-sig"))
    except FileNotFoundError:
        return {}, []
    except (ValueError, RecursionError, OSError) as error:
        return {}, [Problem(path.name, f"ignored, because it cannot be read: {error}", skipped=False)]
    settings: dict[str, Any] = {}
    reasons: list[str] = []
    others: dict[str, None] = {}
    # The table's order decides, not the file's: a later row wins, and own keys, which come last.
    ranks = {key: rank for rank, key in enumerate(_SEEDS)}
    pairs = dict(_flat(data if isinstance(data, dict) else {}))
    for key in sorted(pairs, key=lambda key: ranks.get(key, len(ranks))):
        found = _foreign_setting(key, pairs[key])
        if isinstance(found, str):
            reasons.append(f"{key}: {found}")
        elif found is None:
            others[key.split(".")[0]] = None
        else:
            settings[found[0]] = found[1]
    if others and (settings or reasons):
        reasons.append(f"ignored settings of other programs: {', '.join(others)}")
    return settings, [Problem(path.name, reason, skipped=False) for reason in reasons]


def _foreign_setting(key: str, value: Any) -> Setting | str | None:
    """Return the setting of a key of `config.json`, why it sets nothing, or None for other keys."""
    if key in _SEEDS:
        found = _SEEDS[key](value)
        if isinstance(found, str):
            return found
        name, value = found
    elif "." in key and (own := _own_name(key)) is not None:
        name = own
    elif key.startswith("memory."):
        return "ignored: mnemark has no such setting"
    else:
        return None
    wrong = _why_wrong(name, value)
    return f"ignored: {wrong}" if wrong else (name, _typed(name, value))


def _flat(data: Mapping[str, Any], prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield dotted keys in snake case; a table that is itself a value (`mounts`) stays whole."""
    for raw, value in data.items():
        key = prefix + _snake(raw)
        if isinstance(value, dict) and _own_name(key) is None and depth < _DEEPEST:
            yield from _flat(value, f"{key}.", depth + 1)
        else:
            yield key, value


def _snake(key: str) -> str:
    """Turn `recallBudget` and `recall-budget` into `recall_budget`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).replace("-", "_").lower()


def _own_name(key: str) -> str | None:
    """Return the field of a dotted key, with or without a section name `memory` or `mnemark`."""
    name = key.removeprefix("memory.").removeprefix("mnemark.")
    return name if name in _FIELDS else None


def _nearest(key: str) -> str:
    known = [*_FIELDS, *(seed for seed in _SEEDS if "." in key)]
    import difflib

    close = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
    return f"Did you mean {close[0]!r}?" if close else f"Keys are: {', '.join(_FIELDS)}."


def _typed(name: str, value: Any) -> Any:
    if name in _TABLES and isinstance(value, dict):
        value = {_snake(key): part for key, part in value.items()}
    return msgspec.convert(value, _FIELDS[name].type)


def _why_wrong(name: str, value: Any) -> str | None:
    """Say what is wrong with a value, which are valid and the default; None if it is right."""
    field = _FIELDS[name]
    default = msgspec.json.encode(field.default if field.default is not msgspec.NODEFAULT else {}).decode()
    try:
        _typed(name, value)
        _check(name, value)
    except msgspec.ValidationError:
        if name in _TABLES and isinstance(value, dict):
            return _why_wrong_in_table(name, value)
        return f"must be {_valid(field.type)}, not {_shown(value)}; the default is {default}."
    except ValueError as error:
        return f"{error}; the default is {default}."
    return None


def why_wrong(name: str, value: Any) -> str | None:
    """Say what is wrong with a setting given by name; None for a valid one."""
    return _why_wrong(name, value) if name in _FIELDS else f"there is no such key. {_nearest(name)}"


def _why_wrong_in_table(name: str, table: Mapping[str, Any]) -> str:
    fields = {field.name: field for field in msgspec.structs.fields(_FIELDS[name].type)}
    for key, value in ((_snake(key), value) for key, value in table.items()):
        if key not in fields:
            return f"there is no key {key!r} in [{name}]. Keys are: {', '.join(fields)}."
        try:
            msgspec.convert(value, fields[key].type)
        except msgspec.ValidationError:
            default = msgspec.json.encode(fields[key].default).decode()
            valid = _valid(fields[key].type)
            return f"{key} must be {valid}, not {_shown(value)}; the default is {default}."
    return f"must be a table with the keys {', '.join(fields)}."


def _valid(wanted: Any) -> str:
    """Return the values that a type takes, in words."""
    kind = msgspec.inspect.type_info(wanted)
    if isinstance(kind, msgspec.inspect.LiteralType):
        *first, last = (f'"{value}"' for value in kind.values)
        return f"{', '.join(first)} or {last}"
    if isinstance(kind, msgspec.inspect.StrType):
        return _FORMS[kind.pattern] if kind.pattern else "text in quotes"
    if isinstance(kind, (msgspec.inspect.IntType, msgspec.inspect.FloatType)):
        what = "a whole number" if isinstance(kind, msgspec.inspect.IntType) else "a number"
        least = f"more than {kind.gt}" if kind.gt is not None else f"{kind.ge} or more"
        return f"{what}, {least}" + ("" if kind.le is None else f" and at most {kind.le}")
    others = {
        msgspec.inspect.BoolType: "true or false",
        msgspec.inspect.VarTupleType: 'a list of texts, such as ["a", "b"]',
        msgspec.inspect.UnionType: 'a name in quotes, or a list of texts, such as ["a", "b"]',
        msgspec.inspect.DictType: 'a table of folders, such as team = "~/notes" (no spaces in names)',
    }
    return others.get(type(kind), "a table")


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _check(name: str, value: Any) -> None:
    """Check what a type cannot say. Raises ValueError."""
    if name == "timezone" and value:
        import zoneinfo

        try:
            zoneinfo.ZoneInfo(value)
        except (zoneinfo.ZoneInfoNotFoundError, OSError) as error:
            raise ValueError(
                f"must be the name of a time zone, such as Europe/Berlin, not {value!r}"
            ) from error
    if name == "ignore" and any(pattern.startswith("!") for pattern in value):
        raise ValueError("no pattern can begin with '!': name what is not memory, not what is")
    if name == "redact":
        try:
            DEFAULT.with_patterns(value)
        except UsageError as error:
            raise ValueError(str(error)) from error


def _as(name: str) -> Convert:
    return lambda value: (name, value)


def _scaled(name: str, factor: float) -> Convert:
    def convert(value: Any) -> Setting | str:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            return "must be a number"
        return name, round(value * factor)

    return convert


def _fixed(usual: float) -> Convert:
    """Convert a weight of a formula, which the preset fixes."""

    def convert(value: Any) -> Setting | str:
        return (
            ("preset", "nanobot") if value == usual else f"ignored: the preset 'nanobot' always uses {usual}"
        )

    return convert


def _model(value: Any) -> Setting | str:
    if not isinstance(value, str) or not value:
        return "must be the name of a model"
    if value == "multilingual":
        return "embedder", "bundled"
    return "embedder", f"{'api' if value.startswith('text-embedding') else 'fastembed'}:{value}"


def _online_model(value: Any) -> Setting | str:
    return ("embedder", f"api:{value}") if isinstance(value, str) and value else "must be the name of a model"


def _embedder_url(value: Any) -> Setting | str:
    urls = {
        "dashscope": "https://dashscope.aliyuncs.com/compatible-mode/v1",
        "openai": hosts.OPENAI,
    }
    known = isinstance(value, str) and value in urls
    return ("embedder_url", urls[value]) if known else f"must be one of {', '.join(urls)}"


def _means_nothing(why: str) -> Convert:
    return lambda _: why


_UNUSED = _means_nothing("ignored: mnemark has no such setting")
_SECRET = _means_nothing(
    f"not read, because it is a secret; put it in the environment variable {KEY}, or name another as key_env "
    "under [embedder] in your own config.toml"
)

_SEEDS: dict[str, Convert] = {
    # nanobot
    "memory.embedding_model": _model,
    "memory.recall_timeout": _scaled("recall_deadline_ms", 1000),  # seconds
    "memory.recall_top_k": _as("recall_hits"),
    "memory.max_context_tokens": _as("recall_budget"),
    "memory.chunk_max_tokens": _as("passage_tokens"),
    "memory.vector_weight": _fixed(0.6),
    "memory.fts_weight": _fixed(0.4),
    "memory.observation_max_age_days": _means_nothing(
        "ignored: it concerns observations only; see retention_days for sessions"
    ),
    "memory.retrieval.limit": _as("recall_hits"),
    "memory.retrieval.rrf_k": _fixed(60),
    "memory.retrieval.max_context_chars": _scaled("recall_budget", 0.25),  # about four characters a token
    "memory.enabled": _UNUSED,
    "memory.db_path": _means_nothing("ignored: the index is always in .mnemark"),
    # OpenAkita
    "embedding_api_key": _SECRET,
    "embedding_api_model": _online_model,
    "embedding_api_provider": _embedder_url,
    # Last, because a model may be named although the search does without.
    "search_backend": lambda value: ("embedder", "none") if value == "fts5" else _UNUSED(value),
}
