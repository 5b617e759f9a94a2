"""Folders and archives for tests that move memories."""

import io
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path

import httpx

from mnemark import Memory
from mnemark.memory.merging.source import comes_along
from mnemark.memory.remote import RemoteMemory
from mnemark.memory.transfer.backup import pack
from server.conftest import truth

TYPE = {"content-type": "application/zip"}


def client(server: str, key: str) -> httpx.Client:
    return httpx.Client(base_url=server, headers={"authorization": f"Bearer {key}"}, timeout=60)


def write(root: Path, files: Mapping[str, bytes]) -> None:
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)


def packed(root: Path, target: Path) -> bytes:
    pack(root, target, without=lambda path: not comes_along(path))
    return target.read_bytes()


def zipped(entries: list[tuple[str, bytes]]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return made.getvalue()


def exported(server: str, key: str, folder: Path) -> dict[str, bytes]:
    with Memory.connect(server, key) as memory:
        memory.export(folder)
    return truth(folder)


def a_life(root: Path) -> dict[str, bytes]:
    """A folder with facts, review, an erasure, scopes, attachments; return what is true in it."""
    with Memory.open(root, trusted=True) as memory:
        session = memory.session("chat:1")
        session.add("user", "My cat is called Nimbus and sleeps on the harbour wall.", origin="owner")
        session.add("assistant", "Nimbus, noted.")
        session.add("user", "我的狗叫豆豆，今年三岁。", origin="owner")
        session.end()
        memory.session("chat:2", user="ben").add("user", "I play the violin.", origin="owner")
        memory.remember("city", "Lisbon", since="2026-03-01")
        memory.remember("city", "Porto", since="2026-06-01")
        memory.remember("tea", "green", scope="users/ben")
        memory.session("chat:3").add("user", "The vault code is quetzal-7781.", origin="owner")
        memory.forget(query="quetzal-7781", erase=True)
        hidden = memory.remember("shoe size", "43")
        memory.forget(id=hidden.id)
    write(root, {"memory/attachments/图 1.png": os.urandom(5_000), "notes/Zitrone.md": b"A lemon tree.\n"})
    with Memory.open(root, trusted=True) as memory:
        memory.sync()
    return truth(root)


def of_others(root: Path) -> dict[str, bytes]:
    """What is true in a folder but for what the server noted: that an erasure is done there, too."""
    return {path: data for path, data in truth(root).items() if path != "journal/server.jsonl"}


QUESTIONS = (
    "what is my cat called?",
    "where do I live?",
    "豆豆几岁了？",
    "lemon tree",
    "violin",
    "vault code",
)


def answers(memory: Memory | RemoteMemory) -> list[list[tuple[str, str]]]:
    return [[(hit.ref, hit.text) for hit in memory.search(one, scope="*").hits] for one in QUESTIONS]
