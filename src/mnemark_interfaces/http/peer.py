"""Tell whose program is at the other end of a connection on this machine, where the system says so.

While the daemon rests, a program of another user can listen on its port, and is sent the cookie when a tab is
loaded there. On Linux that cookie is of no use to it: the system knows who opened a connection.
"""

import os
import socket
import sys
from pathlib import Path
from typing import Any, Final

_TABLES: Final = (("/proc/net/tcp", ""), ("/proc/net/tcp6", "0000000000000000FFFF0000"))
"""Connections by address, and what stands before the address of IPv4 there."""
_UID: Final = 7
"""Column of the user's number."""


def is_of_another_user(client: Any, server: Any) -> bool:
    """Whether a connection from `client` to `server`, each host and port, is another user's but root's.

    False where that is not known: not on Linux, or for a connection that is gone.
    """
    if sys.platform != "linux" or not client or not server:
        return False
    here, there = _written(client), _written(server)
    for table, mapped in _TABLES:
        try:
            rows = Path(table).read_text("ascii").splitlines()
        except OSError:
            continue
        pair = [f"{mapped}{here}", f"{mapped}{there}"]
        for row in rows:
            if (found := row.split())[1:3] == pair:
                return int(found[_UID]) not in {0, os.getuid()}
    return False


def _written(address: Any) -> str:
    """Return an address as the tables have it."""
    host, port = address
    packed = socket.inet_aton(host)
    return f"{(packed[::-1] if sys.byteorder == 'little' else packed).hex().upper()}:{port:04X}"
