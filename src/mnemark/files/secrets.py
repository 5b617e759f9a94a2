"""Collect what redaction needs from the machine: secrets in the environment and in `.env`, and the salt.

The salt keys the hashes in redaction marks. It lies in `.mnemark/`, readable by its owner only: who finds a
workspace's notes cannot test guessed passwords against their marks. Each machine has its own.
"""

import contextlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import quote

import msgspec

from mnemark.errors import IntegrityError, ReadOnlyError
from mnemark.files import jsonl, platform
from mnemark.files.config import Config
from mnemark.files.disk_errors import translate_os_errors
from mnemark.files.private import private, private_folder
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.redaction.json import redact_json
from mnemark.text.redaction.redact import DEFAULT, Rules, redact
from mnemark.text.redaction.values import is_path, looks_chosen, stands_in_said, strength
from mnemark.types import Turn

ENV_FILE = ".env"
SALT_FILE = "salt"
SALT_BYTES = 32
_SHORTEST = 8
_LARGEST_FILE = 1 << 20

_ROLES = frozenset({"user", "assistant", "tool", "system"})
_FOLDERS = frozenset({"PWD", "OLDPWD"})
_LINE = lazy_pattern(r"\s*(?:export\s+)?(?P<name>[A-Za-z_][\w.-]*)\s*=\s*(?P<value>.*)")
# Where only an escaped mark closes it, as behind the backslash of a Windows folder, the last one does.
_QUOTED = lazy_pattern(
    r"""(?P<mark>["'`])(?:(?P<value>(?:\\.|(?!(?P=mark))[^\\])*+)(?P=mark)|(?P<torn>.*)(?P=mark))"""
)
_LOGIN = lazy_pattern(r"[A-Za-z][\w+.-]*://[^\s/?#@:]*:(?P<password>[^\s/?#]+|(?![0-9]{0,5}[/?#])[^\s@]+)@")
_ADDRESS = lazy_pattern(r"[A-Za-z]:[\\/]|\\\\|[./~]|[\w+.-]+://|[\w.-]+@[\w.-]+$|[\w-]+(?:\.[\w-]+)+$")


def rules_for(
    root: Path,
    *,
    patterns: Iterable[str] = (),
    env: Mapping[str, str] | None = None,
    readonly: bool = False,
) -> Rules:
    """Return the rules for texts to be written, or with `readonly` for those that would be.

    Raises UsageError, or IntegrityError for a damaged salt.
    """
    return rules_without_salt(root, patterns=patterns, env=env).with_salt(salt(root, readonly=readonly))


def configured_rules(root: Path, config: Config, *, readonly: bool = False) -> Rules:
    """Return the rules for texts to be written, as they are configured; see `rules_for`."""
    rules = rules_for(root, patterns=config.redact, readonly=readonly)
    return msgspec.structs.replace(rules, emails=config.redact_emails)


def rules_without_salt(
    root: Path, *, patterns: Iterable[str] = (), env: Mapping[str, str] | None = None
) -> Rules:
    """Return the rules for texts that are only shown: the same on every machine, and nothing is written.

    They have the `patterns`, and the secrets in the environment and in the `.env` files of the workspace and
    of the current folder. Raises UsageError for an unusable pattern.
    """
    values = secret_values(os.environ if env is None else env)
    for folder in {root.resolve(), Path.cwd()}:
        values |= secret_values(read_env_file(folder / ENV_FILE))
    return DEFAULT.with_patterns(patterns).with_values(values)


def redacted_turn(turn: Turn, rules: Rules) -> Turn:
    """Redact secrets and private passages in all of a turn. Raises UsageError for what is no JSON."""
    return msgspec.structs.replace(
        turn,
        role=turn.role if turn.role in _ROLES else redact(turn.role, rules).text,
        content=redact(turn.content, rules).text,
        tool_calls=redact_json(list(turn.tool_calls), rules) if turn.tool_calls else (),
        tool_results=redact_json(list(turn.tool_results), rules) if turn.tool_results else (),
        attachments=redact_json(list(turn.attachments), rules) if turn.attachments else (),
        meta=redact_json(dict(turn.meta), rules) if turn.meta else {},
    )


def secret_values(env: Mapping[str, str]) -> set[str]:
    """Return values of variables with a secret's name, and passwords in URLs, in all spellings.

    Values that would tear holes into ordinary text are left out: those of fewer than 8 characters, words,
    paths, addresses, placeholders.
    """
    found: set[str] = set()
    for name, whole in env.items():
        login = _LOGIN.match(whole) if "://" in whole else None
        value = login["password"] if login else whole
        named = name not in _FOLDERS and strength(name) is not None
        if (named or login) and _is_distinctive(value):
            escaped = {json.dumps(value, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)}
            found |= {value, quote(value, safe=""), *escaped}
    return found


def read_env_file(path: Path) -> dict[str, str]:
    """Read names and values of a `.env` file; empty if there is none.

    Handles `export`, comments and quotation marks. References to other variables are not followed.
    """
    try:
        if path.stat().st_size > _LARGEST_FILE:
            return {}
        text = platform.content(path).decode("utf-8-sig", "replace")
    except OSError:
        return {}  # absent or not readable: then nothing in this process can have read a secret from it
    values: dict[str, str] = {}
    for line in text.splitlines():
        found = _LINE.match(line)
        if found is None:
            continue
        quoted = _QUOTED.match(found["value"])
        inside = (quoted["value"] or quoted["torn"] or "") if quoted else ""
        values[found["name"]] = inside if quoted else found["value"].split(" #")[0].strip()
    return values


def salt(root: Path, *, readonly: bool = False) -> bytes:
    """Return the workspace's salt, 32 random bytes, made when first needed.

    A missing one is not kept where nothing can be written, or with `readonly`: each call returns another.

    Raises:
        IntegrityError: the file is damaged.
        MnemarkError: it cannot be written, for example because the disk is full.
    """
    if readonly and not (private(root) / SALT_FILE).exists():
        return os.urandom(SALT_BYTES)
    try:
        path = private_folder(root) / SALT_FILE
    except ReadOnlyError:
        return os.urandom(SALT_BYTES)
    if not path.exists():
        made = platform.temporary_beside(path)
        with translate_os_errors(path):
            jsonl.write_new(made, os.urandom(SALT_BYTES))
            # Whoever was first has made it; the name is taken with the content already in place.
            with contextlib.suppress(FileExistsError):
                platform.FS.rename_new(made, path)
            platform.FS.unlink(made)
    data, _ = platform.read_file(path)
    if len(data) != SALT_BYTES:
        raise IntegrityError(
            f"{path} is damaged; delete it: a new one is created, and hashes in [redacted: …] marks change"
        )
    return data


def _is_distinctive(value: str) -> bool:
    """Whether a value cannot be mistaken for a word, a number, a path or an address."""
    if len(value) < _SHORTEST or value != value.strip() or stands_in_said(value) or is_path(value):
        return False
    if value.isdigit():
        return len(value) >= 12
    if _ADDRESS.match(value) and not looks_chosen(value.replace(".", "").replace("/", "")):
        return False
    return not value.isalpha() or not (value.islower() or value.isupper() or value.istitle())
