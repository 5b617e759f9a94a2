"""Stands for a program that answers a prompt: does what its first argument says."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TextIO


def say(text: str, file: TextIO = sys.stdout) -> None:
    file.write(f"{text}\n")
    file.flush()


def leave(noted: str, how: str) -> None:
    """Start a process that no longer is in this one's group, in one of several ways."""
    code = f"import os, time; open({noted!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    sleeper = [sys.executable, "-c", code]
    if how == "clears":  # its environment, but not its parent
        subprocess.Popen(sleeper, start_new_session=True, env={})
    elif how == "setsid":
        subprocess.Popen(sleeper, start_new_session=True)
    else:  # its parent ends at once, so that it is below nobody; "daemon" with closed outputs
        null = subprocess.DEVNULL if how == "daemon" else None
        if os.fork() == 0:
            os.setsid()
            subprocess.Popen(sleeper, start_new_session=True, stdin=null, stdout=null, stderr=null)
            os._exit(0)
        os.wait()
    while not Path(noted).exists() or not Path(noted).read_text():
        time.sleep(0.01)


def main(how: str, *more: str) -> int:  # noqa: C901, PLR0912 - one case for each way to behave
    if how == "ignore":  # never reads its stdin
        say('{"drink": "tea"}')
        return 0
    prompt = sys.stdin.read()
    match how:
        case "right":
            say('{"drink": "tea"}')
        case "repeat":
            say(json.dumps({"drink": prompt}))
        case "garbage":
            say("\x1b[1mI could not say \x00\xff" * 20)
        case "slow":
            time.sleep(float(more[0]))
            say('{"drink": "tea"}')
        case "huge":
            while True:
                say("x" * 100_000)
        case "fails":
            say(more[1], sys.stderr)
            return int(more[0])
        case "says":
            say(more[0])
            return 1
        case "surroundings":
            seen = {
                "cwd": str(Path.cwd()),
                "files": [*map(str, Path().iterdir())],
                "env": dict(os.environ),
                "argv": sys.argv,
            }
            say(json.dumps({"drink": json.dumps(seen)}))
        case "children":  # leaves one that holds its output, and a file with its id
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
            Path(more[0]).write_text(str(child.pid))
            if len(more) > 1:
                time.sleep(60)
            say('{"drink": "tea"}')
        case "escapes":  # leaves one in a session of its own, whose parent has ended, and waits
            leave(more[0], more[1])
            if len(more) > 2:
                time.sleep(60)
            say('{"drink": "tea"}')
        case "killed":
            os.kill(os.getpid(), 9)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
