"""Ask a memory on a server with what Python has: a hook has no time to load an HTTP library of others.

`mnemark.memory.remote` does the same for programs. What is alike here and with the daemon is in `daemon`.
"""

import json
import threading
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from mnemark._version import __version__
from mnemark.files.server_keys import why_unreachable
from mnemark_agents.daemon import MAX_ANSWER, UnreachableError, decoded

if TYPE_CHECKING:
    from http.client import HTTPConnection

WHO: Final = "/v1/key"
"""The path that says what a key opens."""


def post(url: str, key: str, path: str, body: Any, seconds: float) -> Any:
    """Send JSON to a server and return the JSON of its answer.

    Args:
        url: the address of the server, without a slash at the end.
        key: of a memory; it appears in no message.
        path: such as "/v1/key".
        body: any JSON value.
        seconds: for everything, the lookup of its name and the agreement on keys, too.

    Raises:
        UnreachableError: it did not answer in time, or went away.
        DaemonRefusedError: it answered with an error.
    """
    data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    found: list[tuple[int, bytes] | UnreachableError] = []

    def work() -> None:
        try:
            found.append(_exchange(url, key, path, data, seconds))
        except UnreachableError as error:
            found.append(error)

    # As `within` does, which loads `logging`: no timeout of a socket covers the lookup of a name.
    thread = threading.Thread(target=work, name="mnemark-net", daemon=True)
    thread.start()
    thread.join(seconds)
    if not found:
        raise UnreachableError(f"{url} does not answer within {seconds:g} s", sent=True, slow=True)
    if isinstance(found[0], UnreachableError):
        raise found[0]
    return decoded(*found[0], f"what answers at {url} is no server of mnemark")


def _exchange(url: str, key: str, path: str, data: bytes, seconds: float) -> tuple[int, bytes]:
    """Send a request on a new connection; redirects are not followed: the key is for this server."""
    from http.client import HTTPException

    headers = {
        "Authorization": f"Bearer {key}", "Content-Type": "application/json", "Connection": "close",
        "User-Agent": f"mnemark/{__version__}",
    }  # fmt: skip
    try:
        with closing(_connection(url, seconds)) as connection:
            connection.request("POST", urlsplit(url).path.rstrip("/") + path, data, headers)
            answer = connection.getresponse()
            return answer.status, answer.read(MAX_ANSWER)
    except (OSError, HTTPException, ValueError) as error:  # ValueError: of a name that cannot be one
        raise UnreachableError(f"{url} does not answer: {why_unreachable(error)}", sent=True) from error


def _connection(url: str, seconds: float) -> "HTTPConnection":
    from http import client

    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme != "https":
        return client.HTTPConnection(host, parts.port, timeout=seconds)
    import ssl

    context = ssl.create_default_context()
    paths = ssl.get_default_verify_paths()
    if not (paths.cafile or paths.capath):  # a Python that knows no place of the system's certificates
        import certifi

        context.load_verify_locations(certifi.where())
    return client.HTTPSConnection(host, parts.port, timeout=seconds, context=context)
