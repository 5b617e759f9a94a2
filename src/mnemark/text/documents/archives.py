"""Read parts of documents that are zip archives, up to a size: they may unpack to a thousand times theirs."""

import zipfile
from io import BytesIO
from typing import Final

from mnemark.text.documents import UnreadableDocumentError

MOST: Final = 64 * 1024 * 1024
"""Maximum number of bytes that the texts of a document may unpack to."""
_ENCRYPTED: Final = 1


class Archive:
    """A zip archive in memory, of which no more than `MOST` bytes are unpacked."""

    def __init__(self, data: bytes) -> None:
        """Raises UnreadableDocumentError for bytes that are no archive."""
        try:
            self._zip = zipfile.ZipFile(BytesIO(data))
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise UnreadableDocumentError("is damaged, or not what its name says") from error
        self.members = {member.filename: member for member in self._zip.infolist()}
        self._left = MOST

    def read(self, name: str) -> bytes:
        """Return a member; empty where there is none. Raises UnreadableDocumentError."""
        member = self.members.get(name)
        if member is None:
            return b""
        if member.flag_bits & _ENCRYPTED:
            raise UnreadableDocumentError("is encrypted: save it without a password")
        with self._zip.open(member) as file:
            data = file.read(self._left + 1)
        self._left -= len(data)
        if self._left < 0:
            raise UnreadableDocumentError(f"would unpack to more than {MOST >> 20} MB of text")
        return data
