"""Tell whose program is at the other end of a connection on this machine, where the system says so.

While the daemon rests, a program of another user can listen on its port, and is sent the cookie when a tab is
loaded there. On Linux that cookie is of no use to it: the system knows who opened a connection.
"""

import os
import socket
import struct
import sys
from typing import Any, Final

_SOCK_DIAG: Final = 4
"""Protocol of netlink that tells of sockets: https://man7.org/linux/man-pages/man7/sock_diag.7.html."""
_BY_FAMILY: Final = 20
"""Type of a request about one family of addresses, and of its answer."""
_HEAD: Final = struct.Struct("=IHHII")
_ASKED: Final = struct.Struct("=BBBBI")
_SOCKET: Final = struct.Struct("!HH4s12x4s12x")
"""What a socket is found by: its port and the other end's, its address and the other end's."""
_ANY: Final = struct.pack("=III", 0, 0xFFFFFFFF, 0xFFFFFFFF)
"""Any interface, and no cookie."""
_ALL_STATES: Final = 0xFFFFFFFF
_UID_AT: Final = 80
"""Place of the owner's number in an answer: behind its head, four bytes, the socket and three numbers."""


def is_of_another_user(client: Any, server: Any) -> bool:
    """Whether a connection from `client` to `server`, each host and port, is another user's but root's.

    False where that is not known: not on Linux, or for a connection that is gone.
    """
    if sys.platform != "linux" or not client or not server:
        return False
    return _owner(client, server) not in {None, 0, os.getuid()}


def _owner(client: Any, server: Any) -> int | None:
    """Return the number of the user who opened a connection; None where the system does not say."""
    (host, port), (other, other_port) = client, server
    socket_of = _SOCKET.pack(port, other_port, socket.inet_aton(host), socket.inet_aton(other)) + _ANY
    asked = _ASKED.pack(socket.AF_INET, socket.IPPROTO_TCP, 0, 0, _ALL_STATES) + socket_of
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCK_DIAG) as kernel:
            kernel.sendto(_HEAD.pack(_HEAD.size + len(asked), _BY_FAMILY, 1, 1, 0) + asked, (0, 0))
            answer = kernel.recv(8_192)
    except OSError:
        return None
    if _HEAD.unpack_from(answer)[1] != _BY_FAMILY:  # there is no such connection
        return None
    owner: int = struct.unpack_from("=I", answer, _UID_AT)[0]
    return owner
