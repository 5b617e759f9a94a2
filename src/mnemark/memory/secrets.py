"""What is taken out of a turn before it is stored."""

from pathlib import Path

import msgspec

from mnemark.files import secrets
from mnemark.files.config import Config
from mnemark.text.redact import Rules, redact
from mnemark.text.redact_json import redact_json
from mnemark.types import Turn


def rules_for(root: Path, config: Config) -> Rules:
    """The workspace's rules: built-in shapes, its own patterns, and the secrets of its surroundings."""
    rules = secrets.rules_for(root, patterns=config.redact)
    return msgspec.structs.replace(rules, emails=config.redact_emails)


def redacted_turn(turn: Turn, rules: Rules) -> Turn:
    """The turn without secrets and private passages, in its text and in all that came with it.

    Raises:
        UsageError: calls, results, attachments or `meta` are no JSON.
    """
    return msgspec.structs.replace(
        turn,
        content=redact(turn.content, rules).text,
        tool_calls=redact_json(list(turn.tool_calls), rules),
        tool_results=redact_json(list(turn.tool_results), rules),
        attachments=redact_json(list(turn.attachments), rules),
        meta=redact_json(dict(turn.meta), rules),
    )
