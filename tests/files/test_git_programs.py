"""Nothing in a repository starts a program: each setting that can, with plain git as the control."""

import os
import pty
import re
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

import forked
from mnemark import Memory
from mnemark.files import git
from mnemark.files.needles import BytePatterns
from mnemark_agents import upkeep
from sampled import sampled

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
SOURCE = Path(__file__).parents[2] / "src"
SIGNED = """git cat-file commit HEAD | sed 's/^committer .*/&\\ngpgsig {begin}\\n \\n x\\n {end}/' > signed
    git update-ref HEAD $(git hash-object -t commit -w --literally signed); rm signed"""
PGP = SIGNED.format(begin="-----BEGIN PGP SIGNATURE-----", end="-----END PGP SIGNATURE-----")
NESTED = """git init -q sub; git -C sub commit -q --allow-empty -m x
    git update-index --add --cacheinfo 160000,$(git -C sub rev-parse HEAD),sub
    git -C sub config core.fsmonitor PROGRAM"""
CHANGE = "echo more >> MEMORY.md"
COMMIT = f"{CHANGE}; git commit -qam x"
FETCH = "git fetch x"
FETCH_NEW = "git init -q new; git -C new commit -q --allow-empty -m x; git fetch ./new"
CREDENTIAL = "printf 'protocol=https\\nhost=x\\n\\n' | git credential fill"
PACKS = """git repack -q; git commit -q --allow-empty -m x; git repack -q
    git -c gc.autoPackLimit=1 gc --auto"""
INFO = "mkdir -p .git/info; echo '*.md filter=x' > .git/info/attributes"
MORE = "git config -f .git/more core.fsmonitor PROGRAM"
OLD_SIGNED = f"git checkout -q old\n{PGP}\ngit checkout -q main"


class Row(NamedTuple):
    """A way by which a repository names a program.

    Attributes:
        config: lines for a file of settings, or empty; PROGRAM is the program's path.
        control: commands by which plain git starts it; empty for what newer versions of git have.
        prepare: commands that make the repository so.
        attributes: a line of `.gitattributes`.
        terminal: whether git starts it on a terminal only.
    """

    config: str
    control: str
    prepare: str = ""
    attributes: str = ""
    terminal: bool = False


def of(key: str, value: str = "PROGRAM") -> str:
    section, _, rest = key.partition(".")
    sub, _, name = rest.rpartition(".")
    quoted = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'[{section}{f" {chr(34)}{sub}{chr(34)}" if sub else ""}]\n\t{name} = "{quoted}"\n'


HOOKS = {
    "pre-commit": COMMIT,
    "prepare-commit-msg": COMMIT,
    "commit-msg": COMMIT,
    "post-commit": COMMIT,
    "post-index-change": COMMIT,
    "reference-transaction": COMMIT,
    "post-rewrite": "git commit -q --amend -m y",
    "post-checkout": "git checkout -q -b new",
    "pre-rebase": "git rebase other",
    "post-merge": "git merge -q old",
    "pre-auto-gc": PACKS,
    "fsmonitor-watchman": "",
}
PLANT = "mkdir -p {folder}; cp PROGRAM {folder}/{hook}"
HOOK_ROWS = {
    f"hooks/{hook}": Row("", control, PLANT.format(folder=".git/hooks", hook=hook))
    for hook, control in HOOKS.items()
}
ROWS: Mapping[str, Row] = HOOK_ROWS | {
    "core.fsmonitor": Row(of("core.fsmonitor"), "git status"),
    "core.hooksPath": Row(
        of("core.hooksPath", ".hooks"), COMMIT, PLANT.format(folder=".hooks", hook="pre-commit")
    ),
    "hook.command": Row(of("hook.x.command") + of("hook.x.event", "pre-commit"), ""),
    "core.editor": Row(of("core.editor"), f"{CHANGE}; unset GIT_EDITOR; git commit -a"),
    "sequence.editor": Row(of("sequence.editor"), "git rebase -i --root"),
    "core.pager": Row(of("core.pager"), "git log", terminal=True),
    "pager.log": Row(of("pager.log"), "git log", terminal=True),
    "core.sshCommand": Row(of("core.sshCommand"), "git fetch ssh://nowhere.invalid/x"),
    "core.gitProxy": Row(of("core.gitProxy"), "git fetch git://nowhere.invalid/x"),
    "core.askPass": Row(of("core.askPass"), CREDENTIAL),
    "credential.helper": Row(of("credential.helper"), CREDENTIAL),
    "credential.url.helper": Row(of("credential.https://x.helper"), CREDENTIAL),
    "core.alternateRefsCommand": Row(
        of("core.alternateRefsCommand"),
        FETCH_NEW,
        "git clone -q . away; realpath away/.git/objects > .git/objects/info/alternates",
    ),
    "log.showSignature": Row(of("log.showSignature", "true") + of("gpg.program"), "git log -1", PGP),
    "gpg.openpgp.program": Row(
        of("log.showSignature", "true") + of("gpg.openpgp.program"), "git log -1", PGP
    ),
    "gpg.x509.program": Row(
        of("log.showSignature", "true") + of("gpg.x509.program"),
        "git log -1",
        SIGNED.format(begin="-----BEGIN SIGNED MESSAGE-----", end="-----END SIGNED MESSAGE-----"),
    ),
    "gpg.ssh.program": Row(
        of("log.showSignature", "true")
        + of("gpg.ssh.program")
        + of("gpg.ssh.allowedSignersFile", "/dev/null"),
        "git log -1",
        SIGNED.format(begin="-----BEGIN SSH SIGNATURE-----", end="-----END SSH SIGNATURE-----"),
    ),
    "gpg.ssh.defaultKeyCommand": Row(
        of("gpg.format", "ssh") + of("commit.gpgSign", "true") + of("gpg.ssh.defaultKeyCommand"), COMMIT
    ),
    "commit.gpgSign": Row(of("commit.gpgSign", "true") + of("gpg.program"), COMMIT),
    "tag.gpgSign": Row(of("tag.gpgSign", "true") + of("gpg.program"), "git tag -m x v1"),
    "merge.verifySignatures": Row(
        of("merge.verifySignatures", "true") + of("gpg.program"), "git merge old", OLD_SIGNED
    ),
    "diff.external": Row(of("diff.external"), f"{CHANGE}; git diff"),
    "diff.driver.command": Row(of("diff.x.command"), f"{CHANGE}; git diff", attributes="*.md diff=x"),
    "diff.driver.textconv": Row(of("diff.x.textconv"), f"{CHANGE}; git diff", attributes="*.md diff=x"),
    "diff.tool": Row(of("diff.tool", "x") + of("difftool.x.cmd"), f"{CHANGE}; git difftool -y"),
    "interactive.diffFilter": Row(
        of("interactive.diffFilter"), f"{CHANGE}; echo q | git add -p", terminal=True
    ),
    "filter.clean": Row(of("filter.x.clean"), f"{CHANGE}; git add .", attributes="*.md filter=x"),
    "filter.process": Row(of("filter.x.process"), f"{CHANGE}; git add .", attributes="*.md filter=x"),
    "filter.smudge": Row(
        of("filter.x.smudge"), "rm MEMORY.md; git checkout MEMORY.md", attributes="*.md filter=x"
    ),
    "info/attributes": Row(of("filter.x.clean"), f"{CHANGE}; git add .", INFO),
    "core.attributesFile": Row(
        of("core.attributesFile", ".drivers") + of("filter.x.clean"),
        f"{CHANGE}; git add .",
        "echo '*.md filter=x' > .drivers",
    ),
    "merge.driver": Row(of("merge.x.driver"), "git merge other", attributes="*.md merge=x"),
    "merge.tool": Row(of("merge.tool", "x") + of("mergetool.x.cmd"), "git merge other; git mergetool -y"),
    "alias": Row(of("alias.x", "!PROGRAM"), "git x"),
    "init.templateDir": Row(
        of("init.templateDir", "MARK-template"),
        "",
        PLANT.format(folder="MARK-template/hooks", hook="pre-commit"),
    ),
    "include.path": Row(of("include.path", "more"), "git status", MORE),
    "includeIf.path": Row(of("includeIf.gitdir:**.path", "more"), "git status", MORE),
    "config.worktree": Row(
        of("extensions.worktreeConfig", "true"),
        "git status",
        "git config -f .git/config.worktree core.fsmonitor PROGRAM",
    ),
    "remote.uploadpack": Row(of("remote.x.url", ".") + of("remote.x.uploadpack"), FETCH),
    "remote.receivepack": Row(of("remote.x.url", ".") + of("remote.x.receivepack"), "git push x main:new"),
    "protocol.ext": Row(of("remote.x.url", "ext::PROGRAM") + of("protocol.ext.allow", "always"), FETCH),
    "remote.vcs": Row(
        of("remote.x.vcs", "ext") + of("remote.x.url", "PROGRAM") + of("protocol.ext.allow", "always"), FETCH
    ),
    "url.insteadOf": Row(
        of("remote.x.url", "https://x/y")
        + of("url.ext::PROGRAM .insteadOf", "https://x/y")
        + of("protocol.ext.allow", "always"),
        FETCH,
    ),
    "remote.promisor": Row(
        of("remote.x.url", "ext::PROGRAM")
        + of("protocol.ext.allow", "always")
        + of("remote.x.promisor", "true")
        + of("extensions.partialClone", "x"),
        "git cat-file -p HEAD:MEMORY.md",
        "rm -f .git/objects/$(git rev-parse HEAD:MEMORY.md | sed 's,^..,&/,')",
    ),
    "nested repository": Row("", "git status", NESTED),
    "trailer.command": Row(of("trailer.x.command"), "echo a | git interpret-trailers --trailer x=1"),
    "trailer.cmd": Row(of("trailer.x.cmd"), "echo a | git interpret-trailers --trailer x=1"),
    "tar.command": Row(of("tar.x.command"), "git archive --format=x HEAD"),
    "web.browser": Row(of("web.browser", "x") + of("browser.x.cmd"), "git web--browse http://x"),
    "gc.recentObjectsHook": Row(of("gc.recentObjectsHook"), ""),
    "uploadpack.packObjectsHook": Row(of("uploadpack.packObjectsHook"), ""),
    "submodule.update": Row(of("submodule.sub.update", "!PROGRAM") + of("submodule.sub.url", "./sub"), ""),
    "sendemail": Row(of("sendemail.smtpServer") + of("sendemail.toCmd") + of("sendemail.sendmailCmd"), ""),
    "imap.tunnel": Row(of("imap.tunnel"), ""),
    "man.cmd": Row(of("man.viewer", "x") + of("man.x.cmd"), ""),
    "trace2": Row(of("trace2.eventTarget", "MARK"), ""),
    "core.worktree": Row(of("core.worktree", "/") + of("core.fsmonitor"), "git status"),
    "core.bare": Row(of("core.bare", "true") + of("core.fsmonitor"), ""),
}
VARIABLES = {
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "core.fsmonitor",
    "GIT_CONFIG_VALUE_0": "PROGRAM",
    "GIT_CONFIG_PARAMETERS": "'core.fsmonitor'='PROGRAM'",
    "GIT_EXTERNAL_DIFF": "PROGRAM",
    "GIT_EDITOR": "PROGRAM",
    "GIT_PAGER": "PROGRAM",
    "GIT_SSH_COMMAND": "PROGRAM",
    "GIT_ASKPASS": "PROGRAM",
    "GIT_PROXY_COMMAND": "PROGRAM",
    "GIT_SEQUENCE_EDITOR": "PROGRAM",
    "GIT_TRACE": "MARK",
    "GIT_TRACE2_EVENT": "MARK",
    "GIT_DIR": "/nowhere",
    "GIT_WORK_TREE": "/nowhere",
    "GIT_INDEX_FILE": "/nowhere/i",
    "GIT_OBJECT_DIRECTORY": "/nowhere",
    "GIT_COMMON_DIR": "/nowhere",
    "GIT_NAMESPACE": "x",
    "GIT_EXEC_PATH": "/nowhere",
    "GIT_ATTR_SOURCE": "x",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES": "/nowhere",
}


def shell(folder: Path, commands: str, *, terminal: bool = False) -> None:
    """Run commands with a plain git, as a person would, whatever they end with."""
    control, ours = pty.openpty() if terminal else (-1, subprocess.DEVNULL)
    try:
        subprocess.run(
            ["sh", "-c", commands], cwd=folder, stdin=subprocess.DEVNULL, stdout=ours, stderr=ours,
            timeout=60, check=False, start_new_session=True,
        )  # fmt: skip
    finally:
        for one in (control, ours) if terminal else ():
            os.close(one)


def output(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture(autouse=True)
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The settings of a person, who has a name."""
    file = tmp_path / "gitconfig"
    file.write_text("[user]\n\tname = Ann\n\temail = ann@example.org\n[init]\n\tdefaultBranch = main\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(file))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for name in ("GIT_EDITOR", "EDITOR", "VISUAL", "GIT_PAGER", "PAGER", "SSH_ASKPASS", "GIT_ASKPASS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    return file


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """The file that a started program makes."""
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch '{tmp_path}/started'\nexit 1\n")
    program.chmod(0o755)
    return tmp_path / "started"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "memory"
    root.mkdir()
    shell(root, """git init -q; echo one > MEMORY.md; git add .; git commit -qm 'mnemark one'; git branch old
        git checkout -q -b other; echo other > MEMORY.md; git commit -qam other; git checkout -q main
        echo two > MEMORY.md; git commit -qam 'mnemark two'; git checkout -q old; echo a > a; git add a
        git commit -qm old; git checkout -q main""")  # fmt: skip
    return root


def filled(text: str, mark: Path) -> str:
    return text.replace("PROGRAM", str(mark.with_name("program"))).replace("MARK", str(mark))


def plant(root: Path, row: Row, mark: Path) -> None:
    shell(root, filled(row.prepare, mark))
    if row.attributes:
        (root / ".gitattributes").write_text(f"{row.attributes}\n")
    with (root / ".git/config").open("a") as config:
        config.write(filled(row.config, mark))
    mark.unlink(missing_ok=True)  # what made the repository so may have started it


def use(root: Path) -> str:
    """Do all that mnemark does with git; return why nothing was committed."""
    (root / "MEMORY.md").write_text("three\n")
    git.last_commits(root, ["MEMORY.md"])
    problem = git.commit(root, ["MEMORY.md"], "mnemark three")
    git.history(root, BytePatterns(["three"]))
    return problem


def check(root: Path, row: Row, mark: Path) -> None:
    problem = use(root)
    assert not mark.exists()
    if "filter" in row.config:
        assert "filter x, which mnemark does not start" in problem
    else:
        assert not problem
        assert "mnemark three" in (root / ".git/logs/HEAD").read_text()


@pytest.mark.parametrize("name", sampled(ROWS, 5))
def test_a_repository_starts_nothing(name: str, repository: Path, mark: Path) -> None:
    row = ROWS[name]
    plant(repository, row, mark)
    copy = shutil.copytree(repository, repository.with_name("copy"), symlinks=True)
    check(repository, row, mark)
    if row.control:
        shell(copy, filled(row.control, mark), terminal=row.terminal)
        assert mark.exists(), "plain git does not start it: the row tests nothing"


@pytest.mark.parametrize("filters", [False, True])
def test_nor_does_what_a_person_has_set_for_all(
    *, filters: bool, repository: Path, mark: Path, person: Path
) -> None:
    """A folder's attributes may choose a person's programs, and a path in them may lead into the folder."""
    rows = [row for row in ROWS.values() if row.config and ("filter" not in row.config or filters)]
    for row in rows:
        plant(repository, row._replace(config=""), mark)
    (repository / ".gitattributes").write_text("*.md diff=x merge=x filter=x\n")
    with person.open("a") as config:
        config.writelines(filled(row.config, mark) for row in rows if "trace2" not in row.config)
    problem = use(repository)
    assert not mark.exists()
    assert ("does not start" in problem) == filters, problem


def test_nor_do_variables_of_the_environment(
    repository: Path, mark: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, filled(value, mark))
    assert not use(repository)
    assert not mark.exists()
    for name in VARIABLES:
        monkeypatch.delenv(name)
    assert output(repository, "log", "-1", "--format=%an %s") == "Ann mnemark three"


def test_nor_does_a_git_in_the_folder(repository: Path, mark: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(mark.with_name("program"), repository / "git")
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(repository)
    assert not use(repository)
    assert not mark.exists()


BARE = """mkdir -p memory/objects memory/refs; cd memory; touch objects/keep refs/keep; cp CONFIG config
    echo 'ref: refs/heads/main' > HEAD; printf '[consolidate]\\ncommit = true\\n' > mnemark.toml
    printf '# Memory\\n\\n- likes tea\\n' > MEMORY.md; cd ..; git add .; git commit -qm mine"""


def mnemark(folder: Path, *arguments: str, said: str = "") -> str:
    done = forked.mnemark(*arguments, "-w", ".", cwd=folder, given=said)
    assert not done.returncode, done.stderr
    return done.stdout + done.stderr


def learn(folder: Path) -> None:
    with Memory.open(folder) as memory:
        memory.session("talk").add("user", "I moved to Berlin in May, and I prefer tea over coffee.")
        memory.remember("editor", "Helix")


@pytest.mark.timed
@pytest.mark.parametrize("inside", ["memory", "."])
def test_a_cloned_memory_starts_nothing_by_any_command(
    inside: str, tmp_path: Path, repository: Path, mark: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the files of a bare repository, and with all settings planted in its own."""
    for name in ("CONFIG_HOME", "STATE_HOME", "CACHE_HOME", "DATA_HOME", "RUNTIME_DIR"):
        monkeypatch.setenv(f"XDG_{name}", str(tmp_path / "xdg"))
    config = tmp_path / "config"
    config.write_text(
        filled(
            of("core.repositoryFormatVersion", "0")
            + of("core.bare", "false")
            + of("core.worktree", ".")
            + of("core.fsmonitor"),
            mark,
        )
    )
    shell(repository, BARE.replace("CONFIG", str(config)))
    if inside == ".":
        shell(repository, "mv memory/mnemark.toml . ; rm -r memory; git add .; git commit -qm mine")
    output(tmp_path, "clone", "-q", str(repository), "clone")
    folder = tmp_path / "clone" / inside
    copy = shutil.copytree(folder, tmp_path / "copy", symlinks=True)
    shell(copy, "git add MEMORY.md; git status")
    assert mark.exists() == (inside == "memory"), "plain git starts it in the bare repository"
    for name, row in ROWS.items():
        if inside == "." and "filter" not in name and "extensions" not in row.config:
            plant(folder, row._replace(prepare=row.prepare if name.startswith("hooks") else ""), mark)
    mark.unlink(missing_ok=True)
    learn(folder)
    group = re.search(r"mnemark undo (\w+)", mnemark(folder, "consolidate", "--commit"))
    assert group is not None
    if inside == ".":  # else nothing is committed: the folder is no repository's root
        assert ".md" in output(folder, "log", "-1", "--format=", "--name-only")
    mnemark(folder, "undo", group[1])
    mnemark(folder, "forget", "--query", "Berlin", "--erase", "--yes", "--git")
    os.utime(folder / ".mnemark/upkeep", (0, 0))
    with Memory.open(folder) as memory:
        assert upkeep.is_due(memory.workspace)
    mnemark(folder, "search", "tea")  # on the second day
    deadline = time.monotonic() + 60
    while (folder / ".mnemark/upkeep").stat().st_mtime == 0 and time.monotonic() < deadline:
        time.sleep(0.1)
    with Memory.open(folder) as memory:  # waits for the one in the background
        upkeep.keep_up(memory)
    assert not mark.exists()


def test_one_module_runs_git() -> None:
    """What is shown here holds for all commands."""
    named = re.compile(r"""which\(\s*["']git["']|\[\s*["']git["']""")
    found = [path for path in SOURCE.rglob("*.py") if named.search(path.read_text("utf-8"))]
    assert [path.relative_to(SOURCE).as_posix() for path in found] == ["mnemark/files/repository.py"]
