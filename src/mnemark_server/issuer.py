"""Accept access tokens of a server of identities: mnemark is an OAuth 2.1 resource (RFC 9728, RFC 9068)."""

import re
import threading
import time
from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import httpx
import jwt

from mnemark.errors import UsageError
from mnemark.files.server_keys import is_readable_on_its_way
from mnemark_server.database import UnavailableError

METADATA: Final = "/.well-known/oauth-protected-resource"
"""Where clients read who gives out tokens (RFC 9728)."""
SCOPES: Final = ("read", "write")
"""What a key or a token may allow; who may write may read."""
SCOPE: Final = "memory:{}"
"""How scopes are called in tokens."""
_ALGORITHMS: Final = (*(f"{kind}{bits}" for kind in ("RS", "PS", "ES") for bits in (256, 384, 512)), "EdDSA")
"""Those with a public key alone: nobody can sign with what the issuer publishes."""
_TOKEN: Final = re.compile(rb"[\w-]+\.[\w-]+\.[\w-]+")
_LEEWAY_SECONDS: Final = 30
"""How far the clocks may differ."""
_TIMEOUT_SECONDS: Final = 5
_AGAIN_SECONDS: Final = 30.0
"""How long an issuer is not asked again, whether it answered or not, whatever tokens name."""
_KEPT_SECONDS: Final = 300.0
"""How long its keys count."""


class InvalidTokenError(Exception):
    """A token is no valid one of this issuer for this server."""


class Claims(NamedTuple):
    """What a valid token says."""

    subject: str
    scopes: tuple[str, ...]
    seconds: float
    """Until it is over."""


class Issuer:
    """A server of identities. Thread-safe; it is asked for its public keys when a token first needs them.

    Args:
        url: the issuer, as its tokens name it.
        resource: public address of this server, which tokens must be meant for, with or without `/mcp`.

    Raises:
        UsageError: one is no https address; http is for this machine alone.
    """

    def __init__(self, url: str, resource: str) -> None:
        self.url = checked(url)
        self.resource = checked(resource).rstrip("/")
        self._keys: Mapping[str, jwt.PyJWK] = {}
        self._until = 0.0
        """When the keys count no longer."""
        self._ask_at = 0.0
        self._answers = False
        """Whether the issuer answered when it was last asked."""
        self._asking = threading.Lock()

    def metadata(self) -> dict[str, Any]:
        """Return what clients read to get a token."""
        return {
            "resource": f"{self.resource}/mcp",
            "authorization_servers": [self.url],
            "scopes_supported": [SCOPE.format(one) for one in SCOPES],
            "bearer_methods_supported": ["header"],
        }

    def challenge(self) -> str:
        """Return the value of `WWW-Authenticate` that tells a client where to begin."""
        return f'Bearer resource_metadata="{self.resource}{METADATA}/mcp"'

    def claims(self, token: bytes) -> Claims:
        """Return what a token says.

        Raises:
            InvalidTokenError: it is over, for another server, of another issuer, or made up.
            UnavailableError: the issuer does not answer for its keys.
        """
        text = token.decode("ascii")
        try:
            said = jwt.decode(
                text, self._key_of(text), algorithms=_ALGORITHMS, issuer=self.url, leeway=_LEEWAY_SECONDS,
                audience=[self.resource, f"{self.resource}/", f"{self.resource}/mcp"],
                options={"require": ["exp", "iss", "aud", "sub"]},
            )  # fmt: skip
        except jwt.PyJWTError as error:
            raise InvalidTokenError(type(error).__name__) from error
        return Claims(said["sub"], _scopes(said), max(said["exp"] + _LEEWAY_SECONDS - time.time(), 0.0))

    def _key_of(self, token: str) -> jwt.PyJWK:
        name = jwt.get_unverified_header(token).get("kid", "")
        if name not in self._keys or time.monotonic() >= self._until:
            self._ask()
        if name not in self._keys:
            raise InvalidTokenError("it is signed with no key of the issuer")
        return self._keys[name]

    def _ask(self) -> None:
        """Ask the issuer for its keys, unless it was asked a moment ago.

        Nobody waits for another who asks: made-up tokens must not hold the threads that look up keys.
        """
        if not self._asking.acquire(blocking=False):
            if not self._keys:
                raise UnavailableError(_AWAY)
            return
        try:
            if time.monotonic() >= self._ask_at:
                self._ask_at, self._answers = time.monotonic() + _AGAIN_SECONDS, False
                self._keys = _keys_of(self.url)
                self._until, self._answers = time.monotonic() + _KEPT_SECONDS, True
            if not self._answers:
                raise UnavailableError(_AWAY)
        finally:
            self._asking.release()


_AWAY: Final = "the server of identities does not answer; try again"


def is_token(given: bytes) -> bool:
    """Whether something looks like a signed token, which keys of mnemark do not."""
    return _TOKEN.fullmatch(given) is not None


def _keys_of(issuer: str) -> dict[str, jwt.PyJWK]:
    """Return the keys that an issuer signs with, by name. Raises UnavailableError."""
    said = _read(_address_of_keys(issuer))
    try:
        found = jwt.PyJWKSet.from_dict(said)
    except jwt.PyJWTError as error:
        raise UnavailableError(_AWAY) from error
    return {one.key_id: one for one in found.keys if one.key_id and one.public_key_use in {"sig", None}}


def _address_of_keys(issuer: str) -> str:
    """Return where an issuer publishes its keys (RFC 8414, or OpenID Connect). Raises UnavailableError."""
    parts = urlsplit(issuer)
    path = parts.path.rstrip("/")
    origin = f"{parts.scheme}://{parts.netloc}"
    for address in (
        f"{origin}/.well-known/oauth-authorization-server{path}",
        f"{origin}{path}/.well-known/openid-configuration",
    ):
        said = _read(address)
        keys = said.get("jwks_uri") if said.get("issuer") == issuer else None
        if isinstance(keys, str) and _is_address(keys):
            return keys
    raise UnavailableError(_AWAY)


def _read(address: str) -> dict[str, Any]:
    """Return what an address publishes; nothing where it does not."""
    try:
        answer = httpx.get(address, timeout=_TIMEOUT_SECONDS)
        said = answer.json() if answer.status_code == httpx.codes.OK else {}
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def _scopes(said: dict[str, Any]) -> tuple[str, ...]:
    """Return what a token allows here; issuers write scopes as words of a text, or as a list."""
    given = said.get("scope", said.get("scp", ""))
    named = set(given.split() if isinstance(given, str) else given if isinstance(given, list) else ())
    found = tuple(one for one in SCOPES if SCOPE.format(one) in named)
    return SCOPES if "write" in found else found


def checked(url: str) -> str:
    """Return an address that nobody on the way can read or change. Raises UsageError for others."""
    if not _is_address(url):
        raise UsageError(f"{url!r} is no address of a server; write https://HOST")
    return url


def _is_address(url: str) -> bool:
    """Whether nobody on the way can read or change what goes there."""
    parts = urlsplit(url)
    return bool(parts.hostname) and parts.scheme in {"http", "https"} and not is_readable_on_its_way(url)
