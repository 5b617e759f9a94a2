"""Check arguments as callers give them."""

from collections.abc import Mapping
from typing import Any

import msgspec

from mnemark.errors import ConfigError
from mnemark.files.config import Config


def changed(settings: Config, changes: Mapping[str, Any]) -> Config:
    """Settings with some of them replaced, checked like those of a file."""
    try:
        return msgspec.convert(msgspec.to_builtins(settings) | dict(changes), Config)
    except msgspec.ValidationError as error:
        raise ConfigError(f"config: {error}; docs/configuration.md lists all settings") from error
