"""Keep the keys of memories on servers, by address, in a file that only its user can read.

It lies beside the user's own configuration, which people put under version control: so it is a file of its
own. Agents' settings name an address alone. Imports stay light: hooks need this.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from mnemark.errors import UsageError
from mnemark.files import platform, settings_path
from mnemark.files.disk_errors import translate_os_errors

NAME: Final = "servers.json"
"""The file, beside `config.toml`."""
VARIABLE: Final = "MNEMARK_KEY"
"""Environment variable with a key, which wins."""
_LOCK: Final = "servers.lock"
"""File in the user's state folder that is locked while the keys are changed."""
_SECONDS: Final = 5.0
_NO_TLS: Final = "WRONG_VERSION_NUMBER"
"""What OpenSSL calls an answer that is not TLS."""
_LOCAL: Final = frozenset({"localhost", "127.0.0.1", "::1"})


def path() -> Path:
    """Return the path of the file, which need not exist."""
    return settings_path.path().with_name(NAME)


def address(url: str) -> str:
    """Return the address of a server as it is kept: without a slash at the end.

    Raises:
        UsageError: it is no address, or holds what could be a secret.
    """
    parts = urlsplit(url.strip())
    if parts.scheme not in {"http", "https"} or not parts.hostname or not _has_port(url):
        raise UsageError("the address of a server is like https://memory.example.org")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UsageError("the address of a server has no password and no query; the key is given apart")
    return url.strip().rstrip("/")


def _has_port(url: str) -> bool:
    """Tell whether the port of an address is a number, or left out."""
    try:
        return urlsplit(url).port != 0
    except ValueError:
        return False


def why_unreachable(error: BaseException) -> str:
    """Return in words why a server was not reached: what the system says beneath errors of libraries."""
    said: BaseException | None = error
    while said is not None and not isinstance(said, OSError):
        said = said.__cause__ or said.__context__
    reason = str(getattr(said, "reason", None) or "")
    if reason == _NO_TLS:
        return "it speaks no TLS there; an address without TLS begins with http://"
    found = error if said is None else said
    return str(getattr(found, "strerror", None) or str(found) or type(found).__name__)


def is_readable_on_its_way(url: str) -> bool:
    """Tell whether a key that is sent to an address can be read by others on its way."""
    parts = urlsplit(url)
    return parts.scheme == "http" and parts.hostname not in _LOCAL


def checked(key: str) -> str:
    """Return a key without the spaces around it. Raises UsageError, without the key, for what is none."""
    bare = key.strip()
    if not bare or not (bare.isascii() and bare.isprintable()) or " " in bare:
        raise UsageError("a key is one word, as `mnemark db keys NAME add KEY` printed it; give it again")
    return bare


class Known(NamedTuple):
    """A key, and whose memory it opens."""

    key: str
    memory: str = ""
    """The name that the server gave; empty for a key of the environment."""

    def __repr__(self) -> str:
        """Return no key, which a traceback would show."""
        return f"Known(memory={self.memory!r})"


def key_of(url: str) -> Known:
    """Return the key for a server: that of `MNEMARK_KEY`, else the one that is kept.

    Raises:
        UsageError: there is none, or others may read the file.
    """
    if given := os.environ.get(VARIABLE, ""):
        return Known(checked(given))
    if (found := kept(url)) is not None:
        return found
    raise UsageError(
        f"there is no key for {address(url)}; run `mnemark connect AGENT --server {address(url)}`, or set "
        f"{VARIABLE}"
    )


def key_or_why(url: str) -> tuple[Known, str]:
    """Return the key for a server; where there is none, an empty one of no memory, and why."""
    try:
        return key_of(url), ""
    except UsageError as error:
        return Known("", "?"), str(error)


def kept(url: str) -> Known | None:
    """Return the key that is kept for a server. Raises UsageError."""
    return _read().get(address(url))


def servers() -> set[str]:
    """Return the addresses of the servers whose keys are kept; none where the file cannot be read."""
    try:
        return set(_read())
    except UsageError:
        return set()


def keep(url: str, known: Known) -> None:
    """Keep the key for a server. Raises MnemarkError."""
    _change(lambda keys: {**keys, address(url): known._replace(key=checked(known.key))})


def drop(url: str) -> None:
    """Remove the key for a server, and the file with the last one. Raises MnemarkError."""
    if path().exists():
        _change(lambda keys: {name: key for name, key in keys.items() if name != address(url)})


def _read() -> dict[str, Known]:
    place = path()
    try:
        data, status = platform.read_file(place)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise UsageError(f"{place} cannot be read: {error.strerror}") from error
    if not platform.is_private(status):
        raise UsageError(f"others may read the keys in {place}; run `chmod 600 {place}`")
    try:
        found = json.loads(data)
        return {url: Known(checked(one["key"]), str(one.get("memory") or "")) for url, one in found.items()}
    except (ValueError, RecursionError, AttributeError, LookupError, TypeError, UsageError):
        raise UsageError(f"{place} is damaged; remove it, and connect again") from None


def _change(change: Callable[[dict[str, Known]], dict[str, Known]]) -> None:
    place, state = path(), platform.state_folder()
    with translate_os_errors(place):
        platform.private_folder(state)
        with platform.locked(state / _LOCK, os.O_RDWR | os.O_CREAT, timeout=_SECONDS):
            after = {url: known._asdict() for url, known in change(_read()).items()}
            if after:
                platform.make_folder(place.parent)
                platform.write_private(place, f"{json.dumps(after, indent=2)}\n".encode())
            elif place.exists():
                platform.FS.unlink(place)
