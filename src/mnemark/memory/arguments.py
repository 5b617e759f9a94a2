"""Check settings that callers pass to `Memory.open`."""

from collections.abc import Mapping
from typing import Any

import msgspec

from mnemark.errors import ConfigError
from mnemark.files.config import Config, why_wrong


def changed(settings: Config, changes: Mapping[str, Any]) -> Config:
    """Return the settings with some of them replaced, validated like those of a file."""
    try:
        return msgspec.convert(msgspec.to_builtins(settings) | dict(changes), Config)
    except msgspec.ValidationError as error:
        wrong = [f"{name}: {why}" for name, value in changes.items() if (why := why_wrong(name, value))]
        raise ConfigError(f"config: {' '.join(wrong) or error} See docs/configuration.md.") from error
