"""Taking what was dropped from an index out of the pages and vectors that still hold it."""

from typing import TYPE_CHECKING

from mnemark.embed.base import EmbedderUnavailable
from mnemark.errors import ConfigError
from mnemark.files import layout, platform
from mnemark.files.locks import sync_lock
from mnemark.index.erase import scrub_index
from mnemark.index.vectors import VectorStore, discard_other_models
from mnemark.memory.forget_receipt import Place

if TYPE_CHECKING:
    from mnemark.memory.core import Memory


def scrub(memory: "Memory", *, wait: float) -> list[Place]:
    """Rewrite index and vectors of a memory whose index is at the state of its files; what became smaller.

    Raises:
        BusyError: another process syncs, or reads the index.
        MnemarkError, OSError: it cannot be rewritten.
    """
    index = memory.index
    private = index.home / layout.PRIVATE
    memory.reader.let_go()
    with sync_lock(index.home, timeout=wait):
        for name in private.glob("index.db.new*"):  # a rebuilding that was cut off
            platform.FS.unlink(name)
    store, kept = _store(memory)
    size = scrub_index(index, store, wait=wait)
    if kept is not None:
        discard_other_models(private / "vectors", kept)
    places = [Place(path=f"{layout.PRIVATE}/index.db", what="index", bytes=size)]
    vectors = [Place(path=f"{layout.PRIVATE}/vectors", what="vectors")] if kept is not None else []
    return [*places, *vectors]


def _store(memory: "Memory") -> tuple[VectorStore | None, str | None]:
    """The vectors, and the name of the model to keep; ("" keeps none, None: there are none)."""
    if not (memory.index.home / layout.PRIVATE / "vectors").is_dir():
        return None, None
    if not memory.vectors.wanted:
        return None, ""
    try:
        return memory.vectors.store(), memory.vectors.embedder().name
    except (EmbedderUnavailable, ConfigError):
        return None, ""  # they are made again once it answers
