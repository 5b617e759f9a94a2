"""Run git in a repository that others may have made, so that nothing in it starts a program.

A repository's settings name programs in dozens of places (`core.fsmonitor`, hooks, filters, helpers), and
new versions of git add more. So git reads none of them here: its common directory is a private folder, made
for the call, with links to the objects and branches of the repository, without hooks, and with a `config` of
a few values that cannot name a program. Its variables in the environment are left out, too.
"""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from mnemark.errors import MnemarkError
from mnemark.files import platform
from mnemark.files.projects import named_in

_SECONDS: Final = 120
_LINKED: Final = ("objects", "refs", "packed-refs", "logs", "reftable", "shallow", "info")
"""Parts of a common directory without settings; attributes in `info` may name filters, but none is set."""
_TAKEN: Final = frozenset(
    {"user.name", "user.email", "user.useconfigonly", "author.name", "author.email", "committer.name"}
    | {"committer.email", "core.autocrlf", "core.eol", "core.safecrlf", "core.filemode", "core.symlinks"}
    | {"core.ignorecase", "core.precomposeunicode", "core.excludesfile", "core.attributesfile"}
    | {"core.sharedrepository", "core.logallrefupdates", "core.checkstat", "core.trustctime"}
)
"""Settings, of the person and of the repository, that git gets: none can name a program or another place."""
_FORMATS: Final = {
    "extensions.objectformat": frozenset({"sha1", "sha256"}),
    "extensions.refstorage": frozenset({"files", "reftable"}),
}
_HARMLESS: Final = frozenset(
    f"extensions.{name}"
    for name in ("noop", "noop-v1", "partialclone", "preciousobjects", "relativeworktrees", "worktreeconfig")
)
"""Extensions of the format that make no difference to what is done here."""
_FIXED: Final = (
    "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"
)
_NOBODY: Final = ("[user]\n\tname = mnemark\n", "\temail = mnemark@localhost\n")
"""Who commits where git knows no address."""
_PERSON: Final = (
    "GIT_AUTHOR_",
    "GIT_COMMITTER_",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
)
"""What variables of git's begin with that it gets: who commits, and where a person's settings are."""


class _GitPlace(NamedTuple):
    """Where a repository's parts lie."""

    git_folder: Path
    """`.git`, or what the file `.git` of a linked worktree or a submodule names."""
    common: Path
    """The folder with objects and branches; a linked worktree's is that of its main repository."""


class Repository:
    """A repository in which git can be run; see `opened`.

    Attributes:
        root: its work tree.
        settings: the repository's own settings with their values, read as data.
        filters: names of the filters that the person or the repository has set; none is started.
    """

    def __init__(self, root: Path, place: _GitPlace, private: Path) -> None:
        self.root = root
        self._private = private
        kept = {
            name: value for name, value in os.environ.items()
            if not name.startswith("GIT_") or name.startswith(_PERSON)
        }  # fmt: skip
        self._environment = kept | {
            "LC_ALL": "C", "GIT_DIR": str(place.git_folder), "GIT_COMMON_DIR": str(private),
            "GIT_WORK_TREE": str(root), "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0",
            "GIT_LITERAL_PATHSPECS": "1", "GIT_NO_REPLACE_OBJECTS": "1", "GIT_NO_LAZY_FETCH": "1",
        }  # fmt: skip
        file = place.common / "config"
        said = platform.content(file) if os.path.lexists(file) else b""
        (private / "config").write_text(_FIXED, "utf-8")
        self.settings = _parsed(
            self.output("config", "--file", "-", "--no-includes", "--list", "-z", said=said)
        )
        own = _parsed(self.output("config", "--list", "-z"))
        self._check_owner(place, own.get("safe.directory", []))
        self._check_owned_by_tree(place)
        self.filters = {key.split(".", 1)[1].rpartition(".")[0] for key in (*own, *self.settings)
                        if key.startswith("filter.")}  # fmt: skip
        self._environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        lines = [*_format_lines(root, self.settings), *_taken_lines(own), *_taken_lines(self.settings)]
        if not {"user.email", "author.email"} & {*own, *self.settings} and "GIT_AUTHOR_EMAIL" not in kept:
            lines += _NOBODY
        with (private / "config").open("a", encoding="utf-8", errors="surrogateescape") as config:
            config.writelines(lines)

    def _check_owner(self, place: _GitPlace, allowed: Sequence[str]) -> None:
        """Raise MnemarkError where another user owns it, unless the person told git that this is right."""
        if sys.platform == "win32" or {"*", str(self.root)} & set(allowed):
            return
        for path in (self.root, self.root / ".git", *place):
            if path.lstat().st_uid != os.geteuid():
                raise MnemarkError(
                    f"{path} belongs to another user, so git is not run there; if it is yours, run "
                    f"`git config --global --add safe.directory {shlex.quote(str(self.root))}`"
                )

    def _check_owned_by_tree(self, place: _GitPlace) -> None:
        """Raise MnemarkError where `.git` names a repository that does not name this folder back."""
        dot_git = self.root / ".git"
        if place.git_folder == dot_git and not (dot_git / "commondir").exists():
            return
        entry = place.git_folder
        back = [named_in(entry / "gitdir")] if place.common != entry else []
        trees = [entry / tree / ".git" for tree in self.settings.get("core.worktree", [])[-1:]]
        if not any(os.path.realpath(one) == os.path.realpath(dot_git) for one in (*back, *trees) if one):
            raise MnemarkError(f"{dot_git} names a repository elsewhere, which does not name this folder")

    def check_links(self, place: _GitPlace) -> None:
        """Raise MnemarkError where links in a repository could have git write to files elsewhere."""
        tops = {folder / name for folder in place for name in ("HEAD", "index", *_LINKED)}
        below = (
            Path(folder, name)
            for top in tops if top.name in {"refs", "logs"}
            for folder, folders, files in os.walk(top) for name in (*folders, *files)
        )  # fmt: skip
        for path in (*tops, *below):
            if path.is_symlink():
                raise MnemarkError(f"{path} is a link, so mnemark does not write to this repository")

    def run(self, *arguments: str, said: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
        """Run git, with paths taken literally; one that takes too long has failed."""
        git = _program()
        if git is None:
            raise MnemarkError("git is not installed")
        try:
            return subprocess.run(
                [git, *arguments], input=said, capture_output=True, cwd=self.root,
                env=self._environment, timeout=_SECONDS, check=False,
            )  # fmt: skip
        except OSError as error:
            raise MnemarkError(f"git {arguments[0]} failed: {error}") from error
        except subprocess.TimeoutExpired:
            late = b"git took longer than %d s" % _SECONDS
            return subprocess.CompletedProcess(arguments, 1, b"", late)

    def output(self, *arguments: str, said: bytes = b"") -> bytes:
        """Run git and return its output. Raises MnemarkError with its message."""
        done = self.run(*arguments, said=said)
        if done.returncode:
            told = done.stderr.decode("utf-8", "replace").strip()[:300]
            raise MnemarkError(f"git {arguments[0]} failed: {told}")
        return done.stdout


@contextmanager
def opened(root: Path, *, writes: bool = False) -> Iterator[Repository]:
    """Yield the repository whose work tree is the folder `root`.

    Args:
        root: a folder with `.git`. The files of a bare repository in it are none.
        writes: whether git will write to the repository.

    Raises:
        MnemarkError: git is missing, or is not run there, as another user owns the repository, it belongs
            to another folder, or is of a format that is not known.
    """
    if _program() is None:
        raise MnemarkError("git is not installed")
    root = Path(os.path.realpath(root))
    place = _place(root)
    private = Path(tempfile.mkdtemp(prefix="mnemark-git-"))
    try:
        for name in _LINKED:
            if (target := place.common / name).exists() or (writes and name == "logs"):
                _link(private / name, target)
        repository = Repository(root, place, private)
        if writes:
            repository.check_links(place)
            (place.common / "logs").mkdir(exist_ok=True)
        yield repository
    except OSError as error:
        raise MnemarkError(f"git is not run in {root}: {error}") from error
    finally:
        shutil.rmtree(private, ignore_errors=True)  # the links themselves


def is_installed() -> bool:
    """Tell whether there is a git to run."""
    return _program() is not None


def run_plain(arguments: Sequence[str], *, seconds: float) -> "subprocess.CompletedProcess[bytes]":
    """Run git with a person's own settings, but no hooks, no programs of a URL, and no questions.

    Raises:
        MnemarkError: git is not installed, or could not be run.
    """
    git = _program()
    if git is None:
        raise MnemarkError("git is not installed")
    safe = (
        "-c", f"core.hooksPath={os.devnull}", "-c", "protocol.ext.allow=never", "-c", "core.fsmonitor=false",
    )  # fmt: skip
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        return subprocess.run(
            [git, *safe, *arguments], capture_output=True, check=False, timeout=seconds,
            env=kept | {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"},
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MnemarkError(f"git could not be run: {error}") from error


def _program() -> str | None:
    """Return the path of git, from absolute folders of PATH alone: others are searched in the folder."""
    folders = [folder for folder in os.get_exec_path() if Path(folder).is_absolute()]
    found = shutil.which("git", path=os.pathsep.join(folders))
    return found if found and Path(found).is_absolute() else None


def _place(root: Path) -> _GitPlace:
    dot_git = root / ".git"
    if dot_git.is_dir() and not dot_git.is_symlink():
        return _GitPlace(dot_git, dot_git)
    entry = Path(os.path.realpath(dot_git)) if dot_git.is_symlink() else named_in(dot_git, "gitdir:")
    if entry is None or not entry.is_dir():
        raise MnemarkError(f"{dot_git} names no repository")
    entry = Path(os.path.realpath(entry))
    common = named_in(entry / "commondir")
    return _GitPlace(entry, Path(os.path.realpath(common)) if common else entry)


def _link(place: Path, target: Path) -> None:
    try:
        place.symlink_to(target)
    except OSError:
        if sys.platform == "win32":
            import _winapi  # Windows lets few people make links, and all make junctions

            if target.is_dir():
                _winapi.CreateJunction(str(target), str(place))
            else:
                shutil.copyfile(target, place)
        else:
            raise


def _parsed(listing: bytes) -> dict[str, list[str]]:
    """Return the settings of `git config --list -z`: names in lower case, values in order."""
    found: dict[str, list[str]] = {}
    for entry in filter(None, os.fsdecode(listing).split("\0")):
        key, equals, value = entry.partition("\n")
        found.setdefault(key, []).append(value if equals else "true")
    return found


def _format_lines(root: Path, settings: dict[str, list[str]]) -> Iterator[str]:
    for key, values in settings.items():
        if key.startswith("extensions.") and key not in _HARMLESS:
            if values[-1].lower() not in _FORMATS.get(key, ()):
                raise MnemarkError(
                    f"the repository of {root} has the extension {key[11:]}, unknown to mnemark"
                )
            yield _line(key, values[-1].lower())


def _taken_lines(settings: dict[str, list[str]]) -> Iterator[str]:
    return (_line(key, values[-1]) for key, values in settings.items() if key in _TAKEN)


def _line(key: str, value: str) -> str:
    section, _, name = key.partition(".")
    for mark, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n")):
        value = value.replace(mark, escaped)
    return f'[{section}]\n\t{name} = "{value}"\n'
