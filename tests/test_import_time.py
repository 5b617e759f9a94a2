"""`import mnemark` costs next to nothing; what is heavy is loaded by what needs it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mnemark import Memory
from mnemark.files.trust import trust

pytestmark = pytest.mark.timed
"""What a slow process does by its deadline loads other modules."""


@pytest.fixture(autouse=True)
def _no_daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start processes that no daemon of this machine answers for: they would load next to nothing."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


BUDGET = 0.060
"""Seconds of CPU for `import mnemark`."""

_COUNTED = """
import sys, time
started = time.process_time()
import mnemark
spent = time.process_time() - started
heavy = {'apsw', 'httpx', 'markdown_it', 'msgspec', 'numpy', 'rich', 'rjieba', 'typer', 'watchfiles'}
print(spent, *sorted(heavy & set(sys.modules)))
"""


def _probe(folder: Path) -> tuple[float, list[str]]:
    ran = subprocess.run(
        [sys.executable, "-c", _COUNTED], cwd=folder, capture_output=True, text=True, check=True
    )
    seconds, *heavy = ran.stdout.split()
    return float(seconds), heavy


def test_import_is_quick_and_loads_nothing_heavy(tmp_path: Path) -> None:
    probes = [_probe(tmp_path) for _ in range(3)]
    assert [heavy for _, heavy in probes] == [[], [], []]
    assert min(seconds for seconds, _ in probes) <= BUDGET


_COUNTING = """
import os, re._compiler, sys
compiled, plain = [], re._compiler.compile
def counted(pattern, flags=0):
    compiled.append(pattern)
    return plain(pattern, flags)
re._compiler.compile = counted
from mnemark_interfaces.main import main
sys.argv[0] = "mnemark"
try:
    main()
except SystemExit as end:
    own = [name for name in sys.modules if name.startswith("mnemark")]
    slow = {"_hashlib", "subprocess" if hasattr(os, "posix_spawn") else ""} & set(sys.modules)
    print(end.code, len(own), len(sys.modules), len(compiled), *slow, file=sys.stderr)
"""
_LOADED = """
import sys
from mnemark_interfaces.main import main
sys.argv[0] = "mnemark"
try:
    main()
except SystemExit:
    print("rjieba" in sys.modules, file=sys.stderr)
"""
_PROMPT = {"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "When does the backup run?"}
_START = {"session_id": "s", "hook_event_name": "SessionStart", "source": "startup"}


@pytest.mark.parametrize(
    ("command", "own", "modules", "patterns"),
    [
        (["--version"], 5, 70, 0),
        (["hook", "prompt", "--agent", "claude-code", "--alone"], 154, 380, 69),
        (["hook", "start", "--agent", "claude-code", "--alone"], 108, 235, 54),
        (["search", "when does the backup run"], 204, 434, 61),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, list) else None,
)
def test_a_start_loads_and_compiles_what_it_needs(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: list[str],
    *,
    own: int,
    modules: int,
    patterns: int,
) -> None:
    monkeypatch.setenv("MNEMARK_CONFIG", str(tmp_path / "none.toml"))
    trust(tmp_path)  # as what `init` makes is
    (tmp_path / "note.md").write_text("The backup runs at 03:00.\n备份在三点。\n", encoding="utf-8")
    if command[1:2] == ["start"]:
        (tmp_path / "MEMORY.md").write_text("The backup runs at 03:00.\n", encoding="utf-8")
    subprocess.run([sys.executable, "-m", "mnemark", "sync", "-w", str(tmp_path)], check=True, timeout=60)
    where = [] if command == ["--version"] else ["-w", str(tmp_path)]
    ran = subprocess.run(
        [sys.executable, "-c", _COUNTING, *command, *where],
        input=json.dumps((_START if command[1:2] == ["start"] else _PROMPT) | {"cwd": str(tmp_path)}),
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    code, *counts, slow = [*ran.stderr.splitlines()[-1].split(maxsplit=4), ""][:5]
    assert (code, slow) == ("0", ""), "neither OpenSSL nor what starts other processes"
    assert "03:00" in ran.stdout or command == ["--version"]
    assert [int(count) <= most for count, most in zip(counts, (own, modules, patterns), strict=True)] == [
        True, True, True,
    ], counts  # fmt: skip


_NOT_FOR_A_PROMPT = (
    "tomllib", "mnemark.files.journal", "mnemark.files.listing", "mnemark.files.sessions",
    "mnemark.files.workspace", "mnemark.summary.tool_titles", "mnemark.text.redaction.key_formats",
)  # fmt: skip
"""What a prompt that asks nothing needs none of: its words are kept for all that."""


@pytest.mark.parametrize(("said", "reads"), [("run the tests", True), ("go on", False)])
def test_a_prompt_that_asks_nothing_is_kept_and_loads_little(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, *, reads: bool
) -> None:
    monkeypatch.setenv("MNEMARK_CONFIG", str(tmp_path / "none.toml"))
    root = tmp_path / "memory"
    subprocess.run([sys.executable, "-m", "mnemark", "init", str(root)], check=True, timeout=60)
    told = _LOADED.replace('print("rjieba" in sys.modules,', "print(*sys.modules,")
    ran = subprocess.run(
        [sys.executable, "-c", told, "hook", "prompt", "--agent", "claude-code", "--alone", "-w", str(root)],
        input=json.dumps(_PROMPT | {"cwd": str(tmp_path), "prompt": said}),
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    loaded = ran.stderr.split()
    assert [path.read_text("utf-8") for path in (root / ".mnemark/hooks").glob("*.said")] == [said]
    assert [name for name in _NOT_FOR_A_PROMPT if name in loaded] == []
    assert ("mnemark.text.words.stopwords" in loaded) is reads


def test_a_hook_alone_reads_chinese_without_the_dictionary(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("备份在凌晨三点运行。\n", encoding="utf-8")
    subprocess.run([sys.executable, "-m", "mnemark", "sync", "-w", str(tmp_path)], check=True, timeout=60)
    ran = subprocess.run(
        [sys.executable, "-c", _LOADED, "hook", "prompt", "--alone", "-w", str(tmp_path)],
        input=json.dumps(_PROMPT | {"cwd": str(tmp_path), "prompt": "备份是几点运行的？"}),
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert "凌晨三点" in json.loads(ran.stdout)["hookSpecificOutput"]["additionalContext"]
    assert ran.stderr.split()[-1] == "False"


def test_an_english_search_of_conversations_loads_no_dictionary(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        memory.session("one").add("user", "The backup runs at 03:00. 备份在凌晨三点。")
        memory.sync()
    code = "import sys, mnemark; memory = mnemark.Memory.open(sys.argv[1], readonly=True); "
    code += "print(memory.search('when does the backup run').hits[0].text, 'rjieba' in sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True, timeout=60
    )
    assert "03:00" in ran.stdout
    assert ran.stdout.split()[-1] == "False"


def test_the_tools_of_models_load_what_a_call_needs() -> None:
    code = "import sys, mnemark_interfaces.tools_run; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    loaded = ran.stdout.split()
    assert not [name for name in loaded if name.startswith(("mnemark.extraction", "mnemark.memory"))]


@pytest.mark.parametrize("command", [["remember", "city", "Porto"], ["facts"], ["log"]])
def test_what_shows_facts_does_not_load_what_reads_turns(tmp_path: Path, command: list[str]) -> None:
    loads = _LOADED.replace('"rjieba"', '"mnemark.extraction.english"')
    with Memory.open(tmp_path) as memory:
        memory.remember("city", "Leeds")
    ran = subprocess.run(
        [sys.executable, "-c", loads, *command, "-w", str(tmp_path)],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert ran.stderr.split()[-1] == "False"
