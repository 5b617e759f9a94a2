"""Make a folder a workspace."""

from pathlib import Path

from mnemark.errors import ReadOnlyError
from mnemark.files import platform
from mnemark.files.layout import CONFIG, PRIVATE
from mnemark.files.private import create, not_made, private_folder

_CONFIG_TEXT = """\
# mnemark keeps its defaults in the program; write here only what differs. All keys: docs/configuration.md
# recall_budget = 800        # tokens of recalled text in a prompt
# ignore = ["drafts/*"]      # files that are not memory
"""
MEMORY_TEXT = "# Memory\n"
_STIGNORE_TEXT = f"// mnemark's index is rebuilt on each machine.\n(?d){PRIVATE}\n"


def init(root: Path) -> list[str]:
    """Make `root` a minimal workspace and return the relative paths that were created.

    What exists is left as it is. A folder shared by Syncthing (it has `.stfolder`) also gets a `.stignore`;
    see `sync_warning`. Raises ReadOnlyError.
    """
    has_memory = any((root / name).exists() for name in ("MEMORY.md", "memory/MEMORY.md"))
    wanted = {CONFIG: _CONFIG_TEXT} | ({} if has_memory else {"MEMORY.md": MEMORY_TEXT})
    if (root / ".stfolder").exists():
        wanted[".stignore"] = _STIGNORE_TEXT
    try:
        platform.make_folder(root / "memory")
        made = [name for name, text in wanted.items() if create(root / name, text)]
    except (PermissionError, NotADirectoryError, FileExistsError) as error:
        raise ReadOnlyError(f"Cannot write to {root}: {error.strerror}. Choose another folder.") from error
    except OSError as error:
        raise not_made(error, root) from error
    private_folder(root)
    return made
