"""Know a browser at the pages of a server: all of it is in its cookie and in a row, nothing in a node."""

import hashlib
import hmac
from typing import Final

from mnemark_interfaces.http.door import BrowserSession

_COOKIE: Final = "mnemark"
_OWN: Final = "__Host-"
"""With it a browser takes a cookie only over TLS, and from this host alone."""


class HostedSession(BrowserSession):
    """A browser that has signed in to a memory; made anew for each request, as any node may answer the next.

    Args:
        token: the secret of its cookie.
        tenant: what its memory is opened by.
        name: what the memory is called.
        readonly: whether it may only read.
    """

    def __init__(self, token: str, *, tenant: str, name: str, readonly: bool) -> None:
        self.token = token
        self.tenant = tenant
        self.name = name
        self.readonly = readonly
        super().__init__(0.0, self.key_for("form"))

    def key_for(self, purpose: str) -> str:
        """Return a secret that this session alone has, for one purpose."""
        return hmac.new(self.token.encode(), purpose.encode(), hashlib.sha256).hexdigest()


def cookie_name(secure: bool, part: str = "") -> str:  # noqa: FBT001 - whether it is over TLS
    """Return the name of the session's cookie, or of another `part` beside it."""
    return f"{_OWN if secure else ''}{_COOKIE}{f'-{part}' if part else ''}"
