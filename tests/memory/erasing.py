"""A workspace with one unmistakable thing of each kind in it, and a look at all bytes of a folder."""

import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from mnemark import Memory
from mnemark.memory import file_edits

WORDS_EN = (
    "heron",
    "lantern",
    "orchard",
    "velvet",
    "compass",
    "granite",
    "saffron",
    "harbour",
    "thimble",
    "ember",
)
WORDS_ZH = "苍鹭灯笼果园天鹅绒罗盘花岗石藏红花港湾草甸顶针胡桃余烬山谷河流青瓦白墙"


class Planted(NamedTuple):
    """One thing: what its text is, and how it is named."""

    kind: str
    text: str
    name: dict[str, str]


def phrase(dice: random.Random) -> str:
    """Words nobody else says, in one of the languages, at times with what JSON escapes."""
    mark = f"{dice.getrandbits(48):012x}"
    if dice.random() < 0.5:
        words = "".join(dice.choice(WORDS_ZH) for _ in range(12))
        return f"{words}{mark}在{words[:4]}"
    odd = dice.choice(["", ' said "yes"', " at C:\\tmp\\x", " 5 < 7 | a", "\ttabbed"])
    return f"the {dice.choice(WORDS_EN)} {mark} {dice.choice(WORDS_EN)} {dice.choice(WORDS_EN)}{odd}"


def old(path: Path) -> None:
    """Nobody has saved it for a while."""
    os.utime(path, (1e9, 1e9))


def write(memory: Memory, path: str, text: str) -> None:
    file = memory.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    file.write_text(before + text, encoding="utf-8", newline="")
    old(file)


def line_of(memory: Memory, path: str, text: str) -> int:
    lines = (memory.root / path).read_text(encoding="utf-8").split("\n")
    return next(number for number, line in enumerate(lines, 1) if text in line)


def turn(memory: Memory, dice: random.Random) -> Planted:
    text = phrase(dice)
    log = memory.session(f"cli:{dice.randrange(4)}")
    said = log.add(dice.choice(["user", "assistant"]), text)
    log.add("assistant", f"You said: {text} - noted")
    return Planted("turn", text, {"id": said.id})


def tool(memory: Memory, dice: random.Random) -> Planted:
    text = phrase(dice)
    log = memory.session("cli:tools")
    call = {"name": "exec", "arguments": json.dumps({"command": f"echo {text}"})}
    said = log.add("assistant", "running it", tool_calls=[call], tool_results=[{"output": text}])
    return Planted("tool", text, {"id": said.id})


def note(memory: Memory, dice: random.Random) -> Planted:
    text = phrase(dice)
    path = dice.choice(
        ["MEMORY.md", "memory/2026-02-13.md", "users/ann/memory/2026-03-01.md", "memory/archive/x.md"]
    )
    write(memory, path, f"- 10:00 before\n- 11:00 {text}\n- 12:00 after\n")
    return Planted("note", text, {"ref": f"{path}#L{line_of(memory, path, text)}"})


def edited(memory: Memory, dice: random.Random) -> Planted:
    """A line that was written automatically: the journal has it, too."""
    text = phrase(dice).replace("\t", " ")
    file_edits.write(
        memory.workspace, "memory/2026-02-14.md", lambda before: f"{before}- {text}\n", step="test"
    )
    return Planted(
        "edited", text, {"ref": f"memory/2026-02-14.md#L{line_of(memory, 'memory/2026-02-14.md', text)}"}
    )


def copied(memory: Memory, dice: random.Random) -> Planted:
    text = phrase(dice)
    write(memory, "memory/2026-02-15.md", f"Some words.\n\n{text}\n")
    write(memory, "memory/2026-02-15.sync-conflict-20260215-101010-ABCDEFG.md", f"Some words.\n\n{text}\n")
    return Planted("copied", text, {"query": text})


def fact(memory: Memory, dice: random.Random) -> Planted:
    text = " ".join(phrase(dice).split())
    kept = memory.remember(f"key {dice.getrandbits(24)}", text, scope=dice.choice(["", "users/ann"]))
    return Planted("fact", text, {"id": kept.id})


def proposal(memory: Memory, dice: random.Random) -> Planted:
    text = " ".join(phrase(dice).split())
    kept = memory.remember(f"key {dice.getrandbits(24)}", text, origin="web")
    return Planted("proposal", text, {"id": kept.id})


def by_hand(memory: Memory, dice: random.Random) -> Planted:
    text = phrase(dice).replace("|", "or").replace("<", "below").replace("\t", " ")
    path = "memory/facts/hand.md"
    write(memory, path, f"- **key {dice.getrandbits(24)}**: {text}\n")
    return Planted("by hand", text, {"ref": f"{path}#L{line_of(memory, path, text)}"})


def document(memory: Memory, dice: random.Random) -> Planted:
    text = phrase(dice)
    path = f"memory/episodes/2026-02-{dice.randrange(1, 28):02}-{dice.getrandbits(24)}.md"
    write(memory, path, f"# Episode\r\n\r\n{text}\r\n\r\nThe end.\r\n")
    return Planted("document", text, {"ref": path})


KINDS: tuple[Callable[[Memory, random.Random], Planted], ...] = (
    turn, tool, note, edited, copied, fact, proposal, by_hand, document,
)  # fmt: skip


def holding(root: Path, text: str) -> list[str]:
    """Files that hold the text's bytes, as they are or as JSON escapes them."""
    plain = [text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]]
    wanted = {form.encode() for form in plain} | {json.dumps(plain[2])[1:-1].encode()}
    files = [path for path in root.rglob("*") if path.is_file()]
    return [
        path.relative_to(root).as_posix()
        for path in files
        if any(form in path.read_bytes() for form in wanted)
    ]
