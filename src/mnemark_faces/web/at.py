"""What a page is made for: the workspace, the browser's session, the request, the language."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlencode

from mnemark.errors import UsageError
from mnemark.present.sources import place
from mnemark.present.words import Words
from mnemark_interfaces.http.door import BrowserSession, Door

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory
    from mnemark_faces.web.background import Background


ONE_MACHINE: Final = frozenset({"check", "connect", "health", "import", "pause", "settings", "sync"})
"""Pages and forms of one machine: its agents, files, disk and settings, and what `.mnemark` alone notes."""
CHANGES: Final = frozenset({"edit", "forget", "receipt"})
"""Pages that only lead to a change: whoever may only read has none of them on a server."""


class PageContent(NamedTuple):
    """A page: its template, what stands in it, and the data for `?format=json`, or what makes them."""

    template: str
    values: Mapping[str, Any]
    data: Any = None


class Go(NamedTuple):
    """Go to another page of the workspace."""

    path: str


class Flash(NamedTuple):
    """What the next page tells: done, and how to take it back."""

    text: str
    undo: Sequence[str] = ()
    """Ids for `undo`."""


class At:
    """The place of a request."""

    def __init__(
        self,
        memory: "Memory",
        base: str,
        session: BrowserSession,
        words: Words,
        *,
        query: Mapping[str, Sequence[str]],
        form: Mapping[str, Sequence[str]] = MappingProxyType({}),
        page: str = "",
        checks: "Background | None" = None,
        imports: "Background | None" = None,
        learning: "Background | None" = None,
        confined: bool = False,
        door: Door | None = None,
        host: str = "",
        hosted: bool = False,
        name: str = "",
        readonly: bool = False,
    ) -> None:
        self.memory = memory
        self.hosted = hosted
        """Whether this is on a server: what is of one machine is not there."""
        self.name = name or memory.root.name
        """What the memory is called."""
        self.readonly = readonly or memory.readonly
        """Whether this browser may change nothing."""
        self.confined = confined
        self.door = door
        self.host = host
        self.checks = checks
        self.imports = imports
        self.learning = learning
        self.page = page
        self.base = base
        self.session = session
        self.words = words
        self._query = query
        self._form = form
        self.now: datetime = memory.workspace.now()

    @property
    def root(self) -> Path:
        """The folder of the workspace."""
        return self.memory.root

    @property
    def home(self) -> str:
        """The address of the list of workspaces."""
        return self.base.rpartition("/w/")[0]

    def has(self, page: str) -> bool:
        """Whether a page or a form is there for this browser."""
        return not self.hosted or not (page in ONE_MACHINE or (self.readonly and page in CHANGES))

    def asked(self, name: str) -> str:
        """Return a parameter of the address; empty where it is missing."""
        return self._query.get(name, [""])[-1].strip()

    def all_asked(self, name: str) -> list[str]:
        """Return all values of a parameter of the address."""
        return [one for one in self._query.get(name, ()) if one]

    def sent(self, name: str) -> str:
        """Return a field of the form as it was typed, with line ends as in files."""
        return self._form.get(name, [""])[-1].replace("\r\n", "\n")

    def all_sent(self, name: str) -> list[str]:
        """Return all values of a field of the form."""
        return list(self._form.get(name, ()))

    def number(self, name: str, otherwise: int) -> int:
        """Return a parameter of the address as a number.

        Raises:
            UsageError: it is none.
        """
        given = self.asked(name)
        if (given and not given.isascii()) or (not given.isdecimal() and given):
            raise UsageError(f"{name} must be a number, not {given!r}")
        return int(given) if given else otherwise

    def link(self, page: str = "", /, **query: Any) -> str:
        """Return the address of a page of this workspace; empty parameters are left out."""
        return address(f"{self.base}/{page}" if page else self.base, query)

    def same(self, /, **query: Any) -> str:
        """Return the address of this page with some parameters changed; a list begins again."""
        kept = {name: values for name, values in self._query.items() if name not in {"after", "format"}}
        return self.link(self.page, **{**kept, **query})

    def back(self, page: str, /, **query: Any) -> Go:
        """Go back to the page that the form names, or else to this one."""
        given = self.sent("back")
        own = given == self.base or given.startswith((f"{self.base}/", f"{self.base}?"))
        return Go(given) if own and "\n" not in given else Go(self.link(page, **query))

    def place(self, ref: str, *, heading: bool = False) -> str:
        """Return what a ref leads to in words, never as a path; as a heading it begins with a capital."""
        said = place(self.memory.workspace, ref, self.words)
        return said[:1].upper() + said[1:] if heading else said

    def tell(self, text: str, /, *, undo: str | Sequence[str] = (), **values: Any) -> None:
        """Tell something on the next page, in its language; `undo` has the ids that take it back."""
        ids = [undo] if isinstance(undo, str) else undo
        self.session.tell(Flash(self.words(text, **values), tuple(filter(None, ids))))


def address(path: str, query: Mapping[str, Any]) -> str:
    """Return a path with its query, without empty parameters."""
    kept = {name: value for name, value in query.items() if value not in (None, "", [], ())}
    return f"{path}?{urlencode(kept, doseq=True)}" if kept else path
