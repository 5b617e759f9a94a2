"""Make identifiers: ULIDs, which sort by time, and ids derived from content.

Both are 26 characters of Crockford's base 32: 48 bits of milliseconds since 1970 and 80 further bits
(https://github.com/ulid/spec). Within a process ULIDs grow strictly.
"""

import hashlib
import secrets
import threading
import time
from datetime import UTC, datetime

LENGTH = 26
_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_BASE_32 = str.maketrans(_ALPHABET, "0123456789abcdefghijklmnopqrstuv")
"""To the digits that `int` reads."""
_TIME_LENGTH = 10
_PAIRS = [one + other for one in _ALPHABET for other in _ALPHABET]
_SHIFTS = range(120, -1, -10)
_RANDOM_BITS = 80
_STEP_BITS = 32  # within a millisecond the random part grows by a random step: ids cannot be guessed

_lock = threading.Lock()
_last = 0


def new_id() -> str:
    """Return a new ULID, greater than every one made before by this process."""
    global _last  # noqa: PLW0603 - growing ids need the last one; guarded by the lock
    value = time.time_ns() // 1_000_000 << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS)
    with _lock:
        if value >> _RANDOM_BITS <= _last >> _RANDOM_BITS:
            value = _last + 1 + secrets.randbits(_STEP_BITS)
        _last = value
    return _encode(value)


def derived_id(content: bytes, moment: datetime | None = None) -> str:
    """Return an id that is the same for the same content and moment; a time without zone is read as UTC."""
    tail = int.from_bytes(hashlib.blake2b(content, digest_size=_RANDOM_BITS // 8).digest(), "big")
    if moment is None:
        return _encode(tail)
    zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    milliseconds = max(0, int(zoned.timestamp() * 1000)) & (1 << 48) - 1
    return _encode(milliseconds << _RANDOM_BITS | tail)


def time_of(identifier: str) -> datetime:
    """Return when a ULID was made (UTC). Raises ValueError."""
    if not is_id(identifier):
        raise ValueError(f"{identifier!r} is no ULID")
    value = int(identifier[:_TIME_LENGTH].translate(_BASE_32), 32)
    return datetime.fromtimestamp(value / 1000, UTC)


def is_id(text: str) -> bool:
    """Whether `text` has the shape of a ULID."""
    return len(text) == LENGTH and text[0] <= "7" and not text.strip(_ALPHABET)


def _encode(value: int) -> str:
    # Two characters at a time: ids are made on the way to each acknowledgement.
    return "".join([_PAIRS[value >> shift & 1023] for shift in _SHIFTS])
