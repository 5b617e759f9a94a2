"""What an import reads: a file, a folder or an archive, as members that are read as streams.

Nothing is unpacked, and no member is read as a whole but by the readers that say so: an export of years has
gigabytes.
"""

import csv
import fnmatch
import io
import itertools
import json
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

from mnemark.errors import IntegrityError, NotFoundError
from mnemark.files import platform
from mnemark.text.decoding import decode

if TYPE_CHECKING:
    import sqlite3

_EVENTS: Final = 4_000
"""Parts of a JSON file that are looked at to tell what it is."""
_HEAD: Final = 1 << 16
_PART: Final = 1 << 20
"""Characters of a text that are read at a time."""
_NAMES: Final = 200_000
"""Files of a folder that are looked at."""
MOST_BYTES: Final = 256 << 20
"""Largest member that is read as a whole."""
_MOST_CELL: Final = 64 << 20
"""Characters of a cell in a CSV file; Python's own limit is shorter than an answer may be."""
_PARSED: Final = 1 << 14
"""Bytes of JSON whose parts are made at once."""
_LONGEST_PLACE: Final = 10_000
"""Characters of a place in JSON: each level makes its own, so that depth costs its square."""
_VALUES: Final = frozenset({"string", "number", "boolean", "null"})
_ENDS: Final = frozenset({"end_map", "end_array"})
SQLITE: Final = b"SQLite format 3\0"

Record = dict[str, Any]


class Look(NamedTuple):
    """What a member shows at its beginning."""

    paths: frozenset[str] = frozenset()
    """Places in its JSON, as `item.mapping`: of a list its first items; of JSON Lines the first line."""
    head: str = ""
    """Its first characters, of a text or JSON."""
    columns: frozenset[str] = frozenset()
    """Names in its first line, of a CSV file; in small letters."""
    tables: frozenset[str] = frozenset()
    """Tables, of an SQLite database."""


class Child(NamedTuple):
    """An item of a list within an object of a JSON file."""

    parent: str
    """Where the object stands."""
    about: dict[str, Record]
    """The plain values of the objects that were asked for, by their places, as far as they stood before."""
    item: Any


class Member(NamedTuple):
    """A file of a source."""

    name: str
    """Path in the folder or archive; of a single file, its name."""
    size: int
    open: Callable[[], IO[bytes]]
    path: Path | None = None
    """Where it lies on disk, unless in an archive."""

    @property
    def base(self) -> str:
        """Its name without folders."""
        return self.name.rpartition("/")[2]

    def data(self) -> bytes:
        """Return all bytes. Raises IntegrityError for a member that is too large to be read as a whole."""
        if self.size > MOST_BYTES:
            raise IntegrityError(f"{self.name} is larger than {MOST_BYTES >> 20} MB")
        with readable(self.name), closing(self.open()) as file:
            return file.read(MOST_BYTES + 1)

    def text(self) -> str:
        """Return the text of a member. Raises IntegrityError if it is too large, or no text."""
        found = decode(self.data())
        if found is None:
            raise IntegrityError(f"{self.name} is not text in a known encoding")
        return found[0]

    def json(self) -> Any:
        """Return the JSON value of a member. Raises IntegrityError if it is too large, or no JSON."""
        try:
            return json.loads(self.text().removeprefix("\ufeff"))
        except (ValueError, RecursionError) as error:
            raise IntegrityError(f"{self.name} is not JSON: {error}") from error

    def items(self, *prefixes: str) -> Iterator[Any]:
        """Yield the items of lists in a JSON member, one at a time; raises IntegrityError if it is damaged.

        Args:
            *prefixes: where the lists may stand: `item` for a list as such, `conversations.item` for one
                under that name. Each is looked for, in this order, where `look` found it.
        """
        import ijson  # few need it

        prefix = next((one for one in prefixes if self._has(one)), prefixes[0])
        with readable(self.name), closing(self.open()) as file:
            yield from ijson.items(_events(file), prefix)

    def children(self, key: str, parents: Sequence[str], beside: Sequence[str] = ()) -> Iterator[Child]:
        """Yield the items of the lists under a name in objects, one at a time, with what stood before them.

        So a chat of any length is read, whose title stands outside of the list of its messages.

        Args:
            key: the name of the list.
            parents: where objects with such a list may stand; "" is the outermost.
            beside: where other objects stand whose plain values are wanted, too.

        Raises:
            IntegrityError: the member is damaged.
        """
        lists = {f"{parent}.{key}.item".lstrip("."): parent for parent in parents}
        about: dict[str, Record] = {parent: {} for parent in (*parents, *beside)}
        with readable(self.name), closing(self.open()) as file:
            events = _events(file)
            for prefix, event, value in events:
                if prefix in lists:
                    item = _built(event, value, events, prefix)
                    yield Child(lists[prefix], about, item)
                elif event == "start_map" and prefix in about:
                    about[prefix] = {}  # a new one: who holds the one before keeps it
                elif event in _VALUES and (place := prefix.rpartition("."))[0] in about:
                    about[place[0]][place[2]] = value

    def lines(self) -> Iterator[str]:
        """Yield the lines of a text member, without their ends; raises IntegrityError if it is no text."""
        for line in self._text_lines(newline=None):
            yield line.rstrip("\n")

    def parts(self) -> Iterator[str]:
        """Yield the text of a member in parts; raises IntegrityError if it is no text."""
        with self._as_text(newline=None) as text:
            while part := text.read(_PART):
                yield part

    def _text_lines(self, newline: str | None) -> Iterator[str]:
        with self._as_text(newline) as text:
            for number, line in enumerate(text):
                yield line if number else line.removeprefix("\ufeff")

    @contextmanager
    def _as_text(self, newline: str | None) -> Iterator[io.TextIOWrapper]:
        with readable(self.name), closing(self.open()) as file:
            found = _decoded(file.read(_HEAD))
        if found is None:
            raise IntegrityError(f"{self.name} is not text in a known encoding")
        with readable(self.name), closing(self.open()) as file:
            yield io.TextIOWrapper(file, found[1], errors="replace", newline=newline)

    @contextmanager
    def database(self) -> "Iterator[Database]":
        """Open an SQLite member for reading. Raises IntegrityError if it is none, damaged, or in an archive.

        Where another program has it open, what that program wrote last is seen, too.
        """
        import sqlite3

        if self.path is None:
            raise IntegrityError(f"{self.name} is a database in an archive: unpack it first")
        beside = self.path.with_name(f"{self.path.name}-wal")
        # Without a log beside it nothing is written by anyone, and reading makes no file.
        how = "mode=ro" if beside.is_file() and beside.stat().st_size else "mode=ro&immutable=1"
        try:
            with closing(sqlite3.connect(f"{self.path.as_uri()}?{how}", uri=True)) as database:
                database.text_factory = _as_text
                yield Database(database, self.name)
        except sqlite3.Error as error:
            raise IntegrityError(f"{self.name} is no database that can be read: {error}") from error

    def _has(self, prefix: str) -> bool:
        return any(path == prefix or path.startswith(f"{prefix}.") for path in self.look().paths)

    def records(self) -> Iterator[Record]:
        """Yield the JSON objects of a member of JSON Lines; lines that are none are skipped."""
        with readable(self.name), closing(self.open()) as file:
            for line in file:
                try:
                    found = json.loads(line)
                except (ValueError, RecursionError):
                    continue
                if isinstance(found, dict):
                    yield found

    def rows(self) -> Iterator[dict[str, str]]:
        """Yield the rows of a CSV member by the names of its columns, in small letters.

        A row that is short has empty values at its end; blank lines are none.
        """
        csv.field_size_limit(_MOST_CELL)
        text = self._text_lines(newline="")
        first = next(text, "")
        # Where a comma is the decimal mark, spreadsheets write a semicolon.
        delimiter = next((one for one in ",;\t" if one in first), ",")
        lines = csv.reader(itertools.chain([first], text), delimiter=delimiter)
        try:
            names = [name.strip().lower() for name in next(lines, [])]
            for row in filter(None, lines):
                yield dict(itertools.zip_longest(names, row[: len(names)], fillvalue=""))
        except csv.Error as error:
            raise IntegrityError(f"{self.name} is not CSV: {error}") from error

    def look(self) -> Look:
        """Return what the member shows at its beginning; empty if it can be read no further."""
        try:
            with closing(self.open()) as file:
                head = file.read(_HEAD)
                if head.startswith(SQLITE):
                    return Look(tables=_tables(self))
                begins = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
                if begins in {b"{", b"["}:
                    paths = _paths(head if len(head) < _HEAD else head + file.read(_HEAD * 63))
                    return Look(paths=paths, head=head.decode("utf-8-sig", "replace"))
        except (OSError, *BROKEN):
            return Look()
        found = _decoded(head)
        return Look() if found is None else _look_at_text(found[0])


class Database:
    """An SQLite database of another program, for reading."""

    def __init__(self, connection: "sqlite3.Connection", name: str) -> None:
        self._connection = connection
        self._name = name

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query. Raises IntegrityError if it is damaged, or of another form."""
        import sqlite3

        try:
            return self._connection.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise IntegrityError(f"{self._name} is no database that can be read: {error}") from error


class Source:
    """The members of a file, folder or archive that is imported; close it after use."""

    def __init__(self, path: Path) -> None:
        """Raises NotFoundError if it is neither a file nor a folder, IntegrityError for a damaged archive."""
        self.path = path
        self._archive: zipfile.ZipFile | None = None
        self._looks: dict[str, Look] = {}
        if not path.is_dir() and not path.is_file():  # reading a pipe would block
            raise NotFoundError(f"{path} is neither a file nor a folder")
        self.is_single = not path.is_dir()
        if self.is_single and zipfile.is_zipfile(path):
            with readable(path.name):
                self._archive = zipfile.ZipFile(path)
            self.is_single = False

    @property
    def is_archive(self) -> bool:
        """Whether it is a zip file."""
        return self._archive is not None

    def close(self) -> None:
        """Close the archive."""
        if self._archive is not None:
            self._archive.close()

    @cached_property
    def members(self) -> Sequence[Member]:
        """All files, sorted by name; hidden ones and links are left out."""
        if self._archive is not None:
            return sorted(map(self._in_archive, self._files_of(self._archive)), key=_by_name)
        if self.is_single:
            return [_on_disk(self.path, self.path.name)]
        found = itertools.islice(_walk(self.path), _NAMES)
        return sorted((_on_disk(one, one.relative_to(self.path).as_posix()) for one in found), key=_by_name)

    def matching(self, *patterns: str) -> list[Member]:
        """Return the members whose names, or ends of their paths, match a pattern; a single file does."""
        if self.is_single:
            return list(self.members)
        return [one for one in self.members if any(_matches(one.name, pattern) for pattern in patterns)]

    def look(self, member: Member) -> Look:
        """Return what a member shows at its beginning; each is looked at once."""
        if member.name not in self._looks:
            self._looks[member.name] = member.look()
        return self._looks[member.name]

    @staticmethod
    def _files_of(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
        return [one for one in archive.infolist() if not one.is_dir() and "__MACOSX/" not in one.filename]

    def _in_archive(self, info: zipfile.ZipInfo) -> Member:
        archive = self._archive
        if archive is None:
            raise IntegrityError(f"{self.path.name} was closed")
        return Member(_name_in(info), info.file_size, lambda: archive.open(info))


BROKEN: Final = (
    zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, NotImplementedError, EOFError, RuntimeError,
)  # fmt: skip
"""What reading a damaged or unsupported archive raises."""


@contextmanager
def readable(name: str) -> Iterator[None]:
    """Raise IntegrityError for what reading a damaged member raises."""
    import ijson

    try:
        yield
    except RecursionError as error:
        raise IntegrityError(f"{name} is nested too deeply") from error
    except (ijson.JSONError, UnicodeDecodeError, *BROKEN) as error:
        raise IntegrityError(f"{name} is damaged: {error}") from error


def _name_in(info: zipfile.ZipInfo) -> str:
    """Return a member's name; older programs write UTF-8 without saying so."""
    name = info.filename
    if info.flag_bits & 0x800:
        return name
    try:
        return name.encode("cp437").decode("utf-8")
    except UnicodeError:
        return name


def _on_disk(path: Path, name: str) -> Member:
    return Member(name, path.stat().st_size, lambda: platform.open_file(path), path)


def _walk(folder: Path) -> Iterator[Path]:
    for one in sorted(folder.iterdir()):
        if one.name.startswith(".") or one.is_symlink():
            continue
        if one.is_dir():
            yield from _walk(one)
        elif one.is_file():
            yield one


def _by_name(member: Member) -> str:
    return member.name


def _matches(name: str, pattern: str) -> bool:
    parts = name.lower().split("/")
    depth = pattern.count("/") + 1
    return fnmatch.fnmatchcase("/".join(parts[-depth:]), pattern.lower())


def _events(file: IO[bytes]) -> Iterator[tuple[str, str, Any]]:
    """Yield the parts of a JSON file, with their places. Raises RecursionError where one is too deep."""
    import ijson

    for event in ijson.parse(file, use_float=True, buf_size=_PARSED):
        if len(event[0]) > _LONGEST_PLACE:
            raise RecursionError
        yield event


def _paths(data: bytes) -> frozenset[str]:
    """Return the places in JSON of which the beginning is given; a line of JSON Lines is a value as well."""
    import ijson

    found: set[str] = set()
    try:
        text = io.BytesIO(data.removeprefix(b"\xef\xbb\xbf"))
        events = ijson.parse(text, multiple_values=False, buf_size=_PARSED)
        for prefix, _, _ in itertools.islice(events, _EVENTS):
            found.add(prefix)
    except (ijson.JSONError, UnicodeDecodeError, RecursionError):  # cut off, or more lines follow
        pass
    return frozenset(found)


def _look_at_text(text: str) -> Look:
    first, _, _ = text.removeprefix("\ufeff").partition("\n")
    try:
        names = next(csv.reader([first]), []) if "," in first else []
    except csv.Error:  # it has a line end of old within
        names = []
    return Look(head=text.removeprefix("\ufeff"), columns=frozenset(name.strip().lower() for name in names))


def _tables(member: Member) -> frozenset[str]:
    try:
        with member.database() as database:
            return frozenset(name for (name,) in database.rows("SELECT name FROM sqlite_master"))
    except IntegrityError:
        return frozenset()


def _as_text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _decoded(head: bytes) -> tuple[str, str] | None:
    """Return the beginning of a text and its encoding; a character may be cut off at the end."""
    found = decode(head) or decode(head[: head.rfind(b"\n") + 1])
    return None if found is None else (found[0], found[1])


def _built(event: str, value: Any, events: "Iterable[tuple[str, str, Any]]", place: str) -> Any:
    """Return the JSON value that begins with an event."""
    import ijson

    if event in _VALUES:
        return value
    builder = ijson.ObjectBuilder()
    builder.event(event, value)
    for prefix, inner, given in events:
        builder.event(inner, given)
        if prefix == place and inner in _ENDS:
            break
    return builder.value
