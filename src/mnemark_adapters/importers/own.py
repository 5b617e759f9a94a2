"""Read what mnemark itself writes, folders of notes, and those of agents whose memory is such a folder."""

from collections.abc import Mapping

from mnemark.memory.transfer import own_files
from mnemark.memory.transfer.importer import Incoming
from mnemark_adapters.importers.source import Source


def read_markdown(incoming: Incoming, source: Source, _: Mapping[str, str]) -> None:
    """Import a folder or an archive of notes, which are kept below `imported/`."""
    if source.is_archive:
        own_files.read_notes_in_zip(incoming, source.path)
    else:
        own_files.read_markdown(incoming, source.path)


def read_zip(incoming: Incoming, source: Source, _: Mapping[str, str]) -> None:
    """Import an export of a workspace, or a backup."""
    own_files.read_zip(incoming, source.path)


def read_agent(incoming: Incoming, source: Source, _: Mapping[str, str]) -> None:
    """Import the folder of another agent."""
    incoming.migrate(source.path)
