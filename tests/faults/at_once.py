"""A way into a memory, walked by a process of its own: `python -m faults.at_once WAY ROOT REPOSITORY GATE`.

It loads what it needs, says that it is ready, and begins when the file GATE is there.
"""

import io
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SECRET = "xJ4q9TzP1vKe8WmY"
SAID = f"We deploy the heron on Monday, password: {SECRET}"
"""What a person says; of both ways the hash of the secret is the same."""


def _hook(event: str, agent: str, **data: Any) -> Callable[[Path, Path], None]:
    def run(root: Path, repository: Path) -> None:
        from mnemark_agents.hook import command

        given = {"session_id": "one", "cwd": str(repository), **data}
        if agent == "claude-code":
            given["transcript_path"] = str(repository.parent / "transcript.jsonl")
        sys.stdin = io.TextIOWrapper(io.BytesIO(json.dumps(given).encode()))
        assert command.run([event, "--agent", agent, "-w", str(root), "--alone"]) == 0

    return run


def _command(*arguments: str) -> Callable[[Path, Path], None]:
    def run(root: Path, _: Path) -> None:
        from mnemark_interfaces.main import main

        words = list(arguments) if "ROOT" in arguments else [*arguments, "-w", str(root)]
        sys.argv = ["mnemark", *(str(root) if word == "ROOT" else word for word in words)]
        main()

    return run


def _opened(work: Callable[[Any], Any]) -> Callable[[Path, Path], None]:
    def run(root: Path, _: Path) -> None:
        from mnemark import Memory

        with Memory.open(root) as memory:
            work(memory)

    return run


def _mcp(root: Path, _: Path) -> None:
    """Start the server as an agent does, remember a fact, and close."""
    from mnemark_interfaces.main import main

    def call(number: int, method: str, **params: Any) -> str:
        return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})

    client = {"name": "test", "version": "1"}
    said = {"name": "memory_remember", "arguments": {"key": "tea", "value": "oolong"}}
    lines = [
        call(1, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        call(2, "tools/call", **said),
    ]
    sys.stdin = io.TextIOWrapper(io.BytesIO("\n".join([*lines, ""]).encode()))
    sys.argv = ["mnemark", "mcp", "-w", str(root)]
    main()


WAYS: dict[str, Callable[[Path, Path], None]] = {
    "hook prompt": _hook("UserPromptSubmit", "qwen-code", prompt=SAID),
    "hook session-start": _hook("SessionStart", "claude-code", source="startup"),
    "hook stop": _hook("Stop", "claude-code"),
    "hook tool": _hook(
        "PostToolUse", "claude-code", tool_name="Bash", tool_use_id="call-1",
        tool_input={"command": "touch heron.txt"}, tool_response={"stdout": "made"},
    ),
    "hook session-end": _hook("SessionEnd", "claude-code", reason="exit"),
    "add": _command("add", SAID),
    "remember": _command("remember", "tea", "oolong"),
    "observe": _opened(
        lambda memory: memory.session("cli").observe("exec", {"command": "touch otter.txt"}, "ok", call="c")
    ),
    "turn": _opened(lambda memory: memory.session("cli").add("user", SAID)),
    "search": _command("search", "heron"),
    "sync": _command("sync"),
    "mcp": _mcp,
    "consolidate": _command("consolidate"),
    "forget": _command("forget", "--query", "nobody said this"),
    "init": _command("init", "ROOT"),
    "connect": _command("connect", "codex", "--yes"),
    "open": _opened(lambda memory: memory.sync()),
}  # fmt: skip


def main(way: str, root: Path, repository: Path, gate: Path) -> None:
    import mnemark.memory.memory  # noqa: F401 - loaded before the gate opens

    work = WAYS[way]
    gate.with_name(f"ready-{os.getpid()}").touch()
    while not gate.exists():
        time.sleep(0.0005)
    work(root, repository)


if __name__ == "__main__":
    main(sys.argv[1], *map(Path, sys.argv[2:5]))
