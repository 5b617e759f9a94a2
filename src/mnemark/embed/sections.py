r"""Read and write the bundled data files: named arrays in one file that can be memory-mapped.

8 bytes   magic b"MNEMARK\x01"
4 bytes   length of the header, little-endian
header    JSON: {"about": {...}, "sections": {name: [dtype, shape, offset]}}; offsets count from its end
sections  little-endian arrays, each at a multiple of 64 bytes from the start of the file
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnemark.errors import IntegrityError

MAGIC = b"MNEMARK\x01"
ALIGNMENT = 64
_PREFIX = len(MAGIC) + 4


class Sections(NamedTuple):
    """A data file: its metadata, and its arrays, memory-mapped read-only."""

    about: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]


def read_about(path: Path) -> Mapping[str, Any]:
    """Read the metadata of a data file without mapping its arrays.

    Raises:
        IntegrityError: the file is missing or has another format.
    """
    about: Mapping[str, Any] = _header(path)[0]["about"]
    return about


def read_sections(path: Path) -> Sections:
    """Open a data file; arrays are views of the mapped file and use memory only where they are read.

    Raises:
        IntegrityError: the file is missing, truncated, or has another format.
    """
    header, start = _header(path)
    mapped = np.memmap(path, dtype=np.uint8, mode="r")
    arrays: dict[str, NDArray[Any]] = {}
    for name, (dtype, shape, offset) in header["sections"].items():
        size = np.dtype(dtype).itemsize * int(np.prod(shape))
        begin = start + offset
        if begin + size > len(mapped):
            raise IntegrityError(f"{path} is cut off in section {name!r}: reinstall mnemark")
        arrays[name] = np.asarray(mapped[begin : begin + size]).view(dtype).reshape(shape)
    return Sections(header["about"], arrays)


def _header(path: Path) -> tuple[dict[str, Any], int]:
    try:
        with path.open("rb") as file:
            prefix = file.read(_PREFIX)
            if prefix[: len(MAGIC)] != MAGIC or len(prefix) != _PREFIX:
                raise IntegrityError(f"{path} is not a data file of this version: reinstall mnemark")
            length = int.from_bytes(prefix[len(MAGIC) :], "little")
            header: dict[str, Any] = json.loads(file.read(length))
    except (OSError, ValueError) as error:
        raise IntegrityError(f"{path} cannot be read ({error}): reinstall mnemark") from error
    return header, _PREFIX + length


def write_sections(path: Path, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a data file; the same input always gives the same bytes."""
    sections: dict[str, list[Any]] = {}
    offset = 0
    for name, array in arrays.items():
        sections[name] = [array.dtype.newbyteorder("<").str, list(array.shape), offset]
        offset += -(-array.nbytes // ALIGNMENT) * ALIGNMENT
    header = json.dumps({"about": about, "sections": sections}, ensure_ascii=False, sort_keys=True).encode()
    header += b" " * (-(_PREFIX + len(header)) % ALIGNMENT)
    with path.open("wb") as file:
        file.write(MAGIC + len(header).to_bytes(4, "little") + header)
        for array in arrays.values():
            raw = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
            file.write(raw + b"\0" * (-len(raw) % ALIGNMENT))


def pack_words(words: Iterable[str]) -> NDArray[np.uint8]:
    """Encode words without line breaks as one section. Not compressed: the wheel is."""
    return np.frombuffer("\n".join(words).encode(), np.uint8)


def unpack_words(section: NDArray[Any]) -> list[str]:
    """Decode the words of a section made by `pack_words`."""
    return section.tobytes().decode().split("\n")
