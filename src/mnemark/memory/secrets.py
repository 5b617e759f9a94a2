"""The rules by which a workspace's turns and notes are redacted before they are written."""

from pathlib import Path

import msgspec

from mnemark.files import secrets
from mnemark.files.config import Config
from mnemark.files.secrets import redacted_turn
from mnemark.text.redaction.redact import Rules

__all__ = ["redacted_turn", "rules_for"]


def rules_for(root: Path, config: Config) -> Rules:
    """The workspace's rules: built-in shapes, its own patterns, and the secrets of its surroundings."""
    rules = secrets.rules_for(root, patterns=config.redact)
    return msgspec.structs.replace(rules, emails=config.redact_emails)
