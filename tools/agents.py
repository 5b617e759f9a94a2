"""Run the real agents that npm has with mnemark, against a scripted model.

    python tools/agents.py [AGENT ...]     the versions below, which a change has to pass; all by default
    python tools/agents.py --latest        the newest ones; says where they behave otherwise
    python tools/agents.py --bundles       what a release has for them, too: plug-ins and extensions

npm fetches them into `--cache` (default: .agents); where it cannot, the exit code is 75.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Final

ROOT = Path(__file__).resolve().parent.parent
PINNED = {
    "@anthropic-ai/claude-code": ("claude", "claude-code", "2.1.330"),
    "@openai/codex": ("codex", "codex", "0.169.0"),
    "@google/gemini-cli": ("gemini", "gemini-cli", "0.61.0"),
    "@qwen-code/qwen-code": ("qwen", "qwen-code", "0.24.4"),
    "opencode-ai": ("opencode", "opencode", "1.18.33"),
    "@github/copilot": ("copilot", "copilot", "1.0.102"),
    "openclaw": ("openclaw", "openclaw", "2026.9.6"),
    "cline": ("cline", "cline", "3.0.65"),
}
"""Command, name in `mnemark connect` and version, by package."""
NODE: Final = "node@26.10.0"
"""OpenClaw needs a newer Node than most systems have."""


UNFETCHED = 75
"""Exit code where npm could not fetch the agents: nothing was found out."""


def install(folder: Path, agents: Collection[str], *, latest: bool) -> Path:
    """Fetch Node and the agents; return the folder with their commands."""
    wanted = [
        f"{package}@{'latest' if latest else version}"
        for package, (_, agent, version) in PINNED.items()
        if agent in agents
    ]
    folder.mkdir(parents=True, exist_ok=True)
    node = [NODE] if "openclaw" in agents else []
    npm = ["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--loglevel=error"]
    try:
        for packages in filter(None, (node, [*node, *wanted])):
            subprocess.run([*npm, *packages], env=with_commands(folder / "node_modules/.bin"), check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"not run, as npm could not fetch the agents: {error}")
        raise SystemExit(UNFETCHED) from None
    return folder / "node_modules/.bin"


def with_commands(binaries: Path) -> dict[str, str]:
    """Return the environment with a folder of commands before others."""
    return {**os.environ, "PATH": f"{binaries.resolve()}{os.pathsep}{os.environ['PATH']}"}


def version_of(binaries: Path, command: str) -> str:
    """Return what `COMMAND --version` says, without the name."""
    environment = with_commands(binaries)
    words = [str(binaries / command), "--version"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    numbers = [word.rstrip(".") for word in done.stdout.split() if word[:1].isdigit()]
    return numbers[0] if numbers else "unknown"


def main() -> int:
    """Run the tests of each agent; return 1 where one fails."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    known = [agent for _, agent, _ in PINNED.values()]
    parser.add_argument("agents", nargs="*", metavar="AGENT", help=", ".join(known))
    parser.add_argument("--latest", action="store_true")
    parser.add_argument("--bundles", action="store_true")
    parser.add_argument("--cache", type=Path, default=ROOT / ".agents")
    given = parser.parse_args()
    if unknown := set(given.agents).difference(known):
        parser.error(f"there is no {', '.join(sorted(unknown))} here; choose from {', '.join(known)}")
    chosen = given.agents or known
    binaries = install(given.cache / ("latest" if given.latest else "pinned"), chosen, latest=given.latest)
    environment = with_commands(binaries)
    failed = []
    for command, agent, pinned in PINNED.values():
        if agent not in chosen:
            continue
        found = version_of(binaries, command)
        print(f"{agent} {found}", flush=True)
        tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", command,
                 "tests/agent/test_real_agents.py", "tests/agent/test_real_tools.py",
                 *(["tests/agent/test_real_bundles.py"] if given.bundles else [])]  # fmt: skip
        if subprocess.run(tests, env=environment, cwd=ROOT, check=False).returncode:
            otherwise = f"{agent} {found} behaves otherwise"
            failed.append(f"{otherwise} than {pinned}" if found != pinned else f"{otherwise} than it did")
    for line in failed:
        print(f"{line}: see the failed tests above")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
