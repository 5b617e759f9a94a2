"""Tell a file that both machines renamed from files that both deleted."""

from collections import Counter, defaultdict
from collections.abc import Mapping


def kept_names(here: Mapping[str, bytes], there: Mapping[str, bytes]) -> set[str]:
    """Return the names that stay of files of which each side deleted what the other has.

    Where two machines renamed a file, each at its time, either name counts as deleted on the other side, and
    the file would be lost. Two files are the same under two names if they share half of the lines of the
    shorter one. The first name by the alphabet stays, so that it is the same on all machines.

    Args:
        here: the files that the other side deleted, by name.
        there: the files of the other side that were deleted here.
    """
    lines = {name: _lines(data) for name, data in there.items()}
    holding: defaultdict[bytes, list[str]] = defaultdict(list)
    for name, found in lines.items():
        for line in found:
            holding[line].append(name)
    kept = set()
    for name, data in here.items():
        own = _lines(data)
        shared = Counter(other for line in own for other in holding.get(line, ()))
        for other, count in shared.items():
            if 2 * count >= min(len(own), len(lines[other])):
                kept.add(min(name, other))
    return kept


def _lines(data: bytes) -> frozenset[bytes]:
    """Return the lines of a file that say something; of one without any, its bytes."""
    return frozenset(line for line in data.split(b"\n") if line.strip()) or frozenset({data})
