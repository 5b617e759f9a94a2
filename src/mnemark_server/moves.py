"""Move whole memories over HTTP: an archive of one out, and one in, as it is or merged.

Archives are files on the disk of the node, of which a piece at a time is in memory. Nothing in one is
trusted; see `restore.unpack`.
"""

import asyncio
import hashlib
import shutil
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from mnemark.errors import BusyError, IntegrityError, MnemarkError, UsageError
from mnemark.files import platform
from mnemark.files.private import private
from mnemark.memory.merging import bases, steps
from mnemark.memory.merging.merge import Merged, merge_folder
from mnemark.memory.merging.source import comes_along
from mnemark.memory.transfer.backup import pack
from mnemark.memory.transfer.restore import Most, TooLargeError, unpack
from mnemark.types import Problem
from mnemark_interfaces.http.app import with_errors
from mnemark_interfaces.http.pool import Lanes
from mnemark_server.database import Database
from mnemark_server.guard import ACCESS
from mnemark_server.limits import IMPORT_BYTES, IMPORT_FILES
from mnemark_server.node import Tenants
from mnemark_server.rows import TenantRows
from mnemark_server.whole import NotEmptyError, Taken, is_empty, take_in

UPLOAD_SECONDS: Final = 900.0
STILL_SECONDS: Final = 30.0
"""Seconds after which an upload of which nothing comes is given up."""
AT_ONCE: Final = 2
"""Archives that a node makes or takes in at a time; more wait."""
_WAIT_SECONDS: Final = 60.0
_BLOCK: Final = 1 << 20
_LONGEST_SOURCE: Final = 200
_TYPES: Final = frozenset({"application/zip", "application/octet-stream"})


class Sent(NamedTuple):
    """An archive that was sent, unpacked."""

    files: Path
    """The folder with its files."""
    mark: str
    """Names all that is in it, so that the same, sent again, is known."""
    problems: Sequence[Problem]
    """What stayed out."""


class Moves:
    """The endpoints of a node."""

    def __init__(self, database: Database, tenants: Tenants, lanes: Lanes, home: Path) -> None:
        self._database = database
        self._tenants = tenants
        self._lanes = lanes
        self._home = home
        self._moving: set[int] = set()
        self._guard = threading.Lock()
        self._turn = asyncio.Semaphore(AT_ONCE)

    def routes(self) -> list[Route]:
        """Return the routes, which go before those of one machine."""
        return [
            Route("/v1/export", with_errors(self._export), methods=["GET"]),
            Route("/v1/import", with_errors(self._import), methods=["POST"]),
            Route("/v1/merge", with_errors(self._merge), methods=["POST"]),
        ]

    async def _export(self, request: Request) -> Response:
        tenant = _tenant(request)
        with ExitStack() as kept:
            claim = kept.enter_context(ExitStack())
            folder = kept.enter_context(self._one(tenant, claim))
            async with self._in_turn():
                await self._lanes.run(str(tenant), lambda: self._pack(tenant, folder))
            return _Archive(folder / _ARCHIVE, claim, kept.pop_all())

    def _pack(self, tenant: int, folder: Path) -> None:
        """Make an archive of the rows alone: a folder here may hold what another node has just erased."""
        files = folder / "files"
        platform.make_folder(files)
        TenantRows(self._database, tenant, self._tenants.node).copy_to(files)
        pack(files, folder / _ARCHIVE, without=lambda _: False)
        shutil.rmtree(files)

    async def _import(self, request: Request) -> Response:
        return await self._take_sent(request, self._take)

    async def _merge(self, request: Request) -> Response:
        name = request.query_params.get("source", "")[:_LONGEST_SOURCE] or "what was sent"
        dry_run = request.query_params.get("dry_run", "") in {"1", "true"}
        return await self._take_sent(request, partial(self._join, name=name, dry_run=dry_run))

    async def _take_sent(self, request: Request, take: Callable[[int, Sent], Taken | Merged]) -> Response:
        """Receive an archive, and answer with what `take` makes of it for the memory of the request."""
        tenant = _tenant(request)
        with self._one(tenant) as folder:
            mark = await _received(request, folder / _ARCHIVE)
            async with self._in_turn():
                done = await self._lanes.run(
                    str(tenant), lambda: take(tenant, _unpacked(folder, _most(request), mark))
                )
        return Response(msgspec.json.encode(done), media_type="application/json")

    def _take(self, tenant: int, sent: Sent) -> Taken:
        taken = take_in(self._database, tenant, sent.files, mark=sent.mark, left_out=sent.problems)
        self._tenants.discard(tenant)
        return taken

    def _join(self, tenant: int, sent: Sent, *, name: str, dry_run: bool) -> Merged:
        if dry_run or is_empty(self._database, tenant):
            with self._tenants.lease(str(tenant)) as at, _without_notes(at.root):
                foreseen = merge_folder(at.memory.workspace, sent.files, name, dry_run=True)
            if dry_run:
                return replace(foreseen, problems=(*foreseen.problems, *sent.problems))
            with suppress(NotEmptyError):  # since a moment ago: they are merged
                return replace(foreseen, dry_run=False, problems=self._take(tenant, sent).problems)
        merged = merge_into(self._tenants, tenant, sent.files, name)
        return replace(merged, problems=(*merged.problems, *sent.problems))

    @contextmanager
    def _one(self, tenant: int, claim: ExitStack | None = None) -> Iterator[Path]:
        """Have a folder for the one archive of a tenant that is moved at a time.

        Args:
            tenant: whose it is.
            claim: ends when the next one may be moved, if that is before the folder is removed.

        Raises:
            BusyError: another one is moved.
        """
        with claim or ExitStack() as claimed:
            claimed.enter_context(self._claimed(tenant))
            made = tempfile.TemporaryDirectory(prefix="moving-", dir=self._home)
            with made as folder, _unnamed(self._home):
                yield Path(folder)

    @contextmanager
    def _claimed(self, tenant: int) -> Iterator[None]:
        with self._guard:
            if tenant in self._moving:
                raise BusyError("another import, merge or export of this memory is going on; try again")
            self._moving.add(tenant)
        try:
            yield
        finally:
            with self._guard:
                self._moving.discard(tenant)

    @asynccontextmanager
    async def _in_turn(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(_WAIT_SECONDS):
                await self._turn.acquire()
        except TimeoutError:
            raise BusyError("this server is moving other memories; try again in a minute") from None
        try:
            yield
        finally:
            self._turn.release()


@contextmanager
def _unnamed(home: Path) -> Iterator[None]:
    """Say what is wrong without the place of the node's folders."""
    try:
        yield
    except MnemarkError as error:
        if str(home) not in str(error):
            raise
        raise type(error)(str(error).replace(str(home), "the server's folder")) from error


_ARCHIVE: Final = "memory.zip"


class _Archive(FileResponse):
    """An archive, which is deleted when it was sent, or nobody reads it any more."""

    def __init__(self, path: Path, claim: ExitStack, kept: ExitStack) -> None:
        super().__init__(path, media_type="application/zip", filename=_ARCHIVE)
        self._claim = claim
        self._kept = kept

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sent(message: Message) -> None:
            if message["type"] == "http.response.body" and not message.get("more_body"):
                self._claim.close()  # before: who has all of it may ask for the next at once
            await send(message)

        try:
            await super().__call__(scope, receive, sent)
        finally:
            self._kept.close()


def _tenant(request: Request) -> int:
    return int(request.headers["mnemark-workspace"])  # the guard put it there


def _most(request: Request) -> Most:
    limits: Mapping[str, Any] = request.scope[ACCESS].limits
    return Most(int(limits.get("import_bytes", IMPORT_BYTES)), int(limits.get("import_files", IMPORT_FILES)))


async def _received(request: Request, target: Path) -> str:
    """Write what is sent to a file, and return a mark of it.

    Raises:
        TooLargeError: it is more than the tenant may send.
        UsageError: it is no archive, was cut off, or takes too long.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in _TYPES:
        raise UsageError(
            "send the archive of a memory, as `mnemark backup` writes it, with Content-Type: application/zip;"
            " a folder of one machine is sent by `mnemark merge FOLDER --server URL`"
        )
    most, size, digest = _most(request).bytes, 0, hashlib.sha256()
    declared = request.headers.get("content-length", "0")
    if not declared.isdigit() or int(declared) > most:
        raise _too_large(most)
    stream = aiter(request.stream())
    try:
        async with asyncio.timeout(UPLOAD_SECONDS):
            with platform.open_new(target) as out:
                async for block in _blocks(stream):
                    size += len(block)
                    if size > most:
                        raise _too_large(most)
                    await asyncio.to_thread(digest.update, block)
                    await asyncio.to_thread(out.write, block)
    except ClientDisconnect:
        raise UsageError("the upload was cut off; send it again") from None
    except TimeoutError:
        raise UsageError(
            f"the upload took longer than {UPLOAD_SECONDS:.0f} s, or stood still for {STILL_SECONDS:.0f} s;"
            " send it again"
        ) from None
    return f"archive:{digest.hexdigest()}"


def _too_large(most: int) -> TooLargeError:
    return TooLargeError(
        f"this memory is too large for the server, which takes {most:,} bytes; ask whoever runs it"
    )


async def _blocks(stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Join what comes to blocks. Raises TimeoutError where nothing comes."""
    parts = bytearray()
    while True:
        async with asyncio.timeout(STILL_SECONDS):
            part = await anext(stream, None)
        if part is None:
            break
        parts += part
        if len(parts) >= _BLOCK:
            yield bytes(parts)
            parts.clear()
    yield bytes(parts)


def _unpacked(folder: Path, most: Most, mark: str) -> Sent:
    """Unpack what was sent."""
    archive, files = folder / _ARCHIVE, folder / "files"
    platform.make_folder(files)
    try:
        found = unpack(archive, files, most=most, wanted=comes_along)
    except IntegrityError as error:
        raise UsageError(str(error)) from error
    platform.FS.unlink(archive)
    return Sent(files, mark, found.problems)


@contextmanager
def _without_notes(root: Path) -> Iterator[None]:
    """Merge as a machine that met no other before: what a merge notes for itself is on one node alone.

    Else the result depended on which node answers, and on what a failed merge noted.
    """
    folders = [private(root) / name for name in (bases.FOLDER, steps.FOLDER)]
    for one in folders:
        shutil.rmtree(one, ignore_errors=True)
    try:
        yield
    finally:
        for one in folders:
            shutil.rmtree(one, ignore_errors=True)


def merge_into(tenants: Tenants, tenant: int, files: Path, name: str) -> Merged:
    """Merge a folder into the memory of a tenant, on this node."""
    try:
        with tenants.lease(str(tenant)) as at, _without_notes(at.root):
            at.memory.sync(embed=False)
            merged = merge_folder(at.memory.workspace, files, name)
            at.memory.sync(embed=False)
    except BaseException:
        tenants.discard(tenant)  # the rows are the truth: nothing of it is there
        raise
    return replace(merged, id="")  # what an undo needs would be on this node alone
