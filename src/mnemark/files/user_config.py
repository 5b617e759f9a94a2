"""Read the user's own configuration, `~/.config/mnemark/config.toml`, and the table `[llm]` of any.

Whoever cloned a workspace has not chosen its `mnemark.toml`. So only this file, which lies outside of all
workspaces, can name a program to start, variables of the environment to read as keys or to pass on, folders
outside of a workspace to search with it, and, beside `MNEMARK_HOSTS`, hosts that texts may be sent to, this
machine included: what listens here need not be the user's.
"""

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from mnemark.errors import ConfigError
from mnemark.files import layout, platform, settings_path
from mnemark.files.disk_errors import shortage
from mnemark.text import toml
from mnemark.types import Problem

VARIABLE: Final = settings_path.VARIABLE
path = settings_path.path
KEY: Final = "MNEMARK_EMBEDDER_KEY"
"""Environment variable with an embedder's key where the user's configuration has no table `[embedder]`."""
EMBEDDERS: Final = r"^(bundled|hashing|none|fastembed:\S+|api:\S+)$"
_WHOLE_PATH: Final = r"^(/|~|[A-Za-z]:[\\/]|\\\\)"
"""A path that means the same wherever a process stands."""
NAMES: Final = r"^[\w-][\w.-]*$"
_NOT_ACCEPTED: Final = (
    "mount {}: {} lies outside of this folder and is not read: a folder's settings never open others, as "
    "whoever copied the folder has not chosen them; to allow it, run `mnemark mount {} --name {} -w {}`"
)
HOST: Final = "host"
"""The model's name where it is that of the agent that opened the memory."""


class LLMConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table `[llm]`: a language model and what it may cost. Both are needed."""

    model: str = ""
    """The server's or program's name for the model; "host": that of the agent; empty: none."""
    url: str = ""
    """Base address of an OpenAI-compatible server; empty: OpenAI's."""
    key_env: str = ""
    """Name of the environment variable with the key; empty: no key is sent."""
    command: str | tuple[str, ...] = ""
    """A program instead of a server: a ready setting, or a list; only in the user's own configuration."""
    env: tuple[str, ...] = ()
    """Names of further environment variables that the program gets."""
    calls_per_day: Annotated[int, Meta(ge=0)] = 0
    """Requests a day, retries included; 0: none."""
    tokens_per_day: Annotated[int, Meta(ge=0)] = 0
    """Tokens a day, prompts and answers; 0: none."""
    timeout: Annotated[float, Meta(gt=0, le=600)] = 60.0
    """Seconds for one answer, retries included."""
    batch: Annotated[int, Meta(ge=1, le=50)] = 10
    """Most parts of conversations that are read at once."""

    @property
    def active(self) -> bool:
        """Whether there is a model and a budget to ask it with."""
        return bool(self.model or self.command) and self.calls_per_day > 0 and self.tokens_per_day > 0


class EmbedderConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table `[embedder]`: the server of embedders of the kind "api:MODEL"."""

    model: Annotated[str, Meta(pattern=EMBEDDERS)] | None = None
    """The `embedder` of all workspaces that name none."""
    url: str = ""
    """Base address of an OpenAI-compatible server; empty: OpenAI's."""
    key_env: str = ""
    """Name of the environment variable with the key of that server alone; empty: no key is sent."""


class MountConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A folder to search with a workspace."""

    folder: str
    files: tuple[str, ...] = ()
    """Patterns of the only files to read (see `scan.only`); none: all texts."""


class UserConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The user's own configuration, for all workspaces."""

    language: Literal["", "en", "zh"] = ""
    """Of pages, panel and command line; empty: that of the browser and the locale."""
    hosts: tuple[str, ...] = ()
    """Hosts that texts and keys may be sent to."""
    embedder: EmbedderConfig | None = None
    """The embedding server that keys are for."""
    llm: LLMConfig | None = None
    """The model of all workspaces that name none."""
    trusted: tuple[Annotated[str, Meta(pattern=_WHOLE_PATH)], ...] = ()
    """Folders that are trusted as if they were made here (see `trust`), with all folders in them."""
    mounts: dict[str, dict[str, MountConfig | bool]] = {}
    """By workspace, the folders to search with it, by name; false for one that the user refused."""


def language() -> str:
    """Return the language that the user set; empty where they set none, or `doctor` finds the file wrong.

    It is read again when the file has changed.
    """
    place = path()
    try:
        return _language(place, platform.identity(place))
    except OSError:
        return ""


@lru_cache(maxsize=8)
def _language(place: Path, state: object) -> str:  # noqa: ARG001 - what it is kept by
    try:
        return load().language
    except ConfigError:
        return ""


def load() -> UserConfig:
    """Read the user's configuration; without a file, or with one that is closed to us, it is empty.

    Raises:
        ConfigError: the file cannot be read, or has an unknown key or a wrong value.
    """
    place = path()
    try:
        data = toml.loads(platform.content(place).decode("utf-8-sig"))
        return msgspec.convert(data, UserConfig)
    except (FileNotFoundError, NotADirectoryError, PermissionError):  # another user's home allows nothing
        return UserConfig()
    except msgspec.ValidationError as error:
        names = ", ".join(field.name for field in msgspec.structs.fields(LLMConfig))
        raise ConfigError(
            f"{place}: {error}; it may have language, hosts, trusted, embedder, mounts, and under "
            f"[llm] {names}"
        ) from error
    except OSError as error:
        raise ConfigError(f"{place} cannot be read: {shortage(error)}") from error
    except ValueError as error:
        raise ConfigError(f"{place} cannot be read: {error}. Correct the file, or move it away.") from error


def of_workspace(root: Path, own: UserConfig) -> Mapping[str, MountConfig | bool]:
    """Return what the user accepted or refused (False) for a workspace, by name."""
    if not own.mounts:
        return {}
    real = os.path.realpath(root)
    known = {os.path.realpath(Path(place).expanduser()): found for place, found in own.mounts.items()}
    return known.get(real, {})


def trusted(root: Path, given: Mapping[str, str], own: UserConfig) -> tuple[dict[str, str], list[Problem]]:
    """Return those mounts of a folder's settings that lie inside of it, and why others are left out."""
    from shlex import quote  # few need it

    real = os.path.realpath(root)
    accepted = {
        os.path.realpath(Path(one.folder).expanduser())
        for one in of_workspace(root, own).values()
        if isinstance(one, MountConfig)
    }
    kept: dict[str, str] = {}
    problems = []
    for name, place in given.items():
        folder = os.path.realpath(root / Path(place).expanduser())
        if Path(folder).is_relative_to(real):
            kept[name] = place
        elif folder not in accepted:
            words = (quote(layout.shown(folder)), name, quote(layout.shown(real)))
            reason = _NOT_ACCEPTED.format(name, layout.shown(place), *words)
            problems.append(Problem(layout.CONFIG, reason, skipped=False))
    return kept, problems
