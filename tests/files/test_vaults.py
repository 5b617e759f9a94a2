"""Vaults of Obsidian and graphs of Logseq: their notes are read, their templates and old versions are not."""

import json
from pathlib import Path
from typing import Any

import pytest

from mnemark import Memory
from mnemark.files.scan import scan

UUID = "65e6f3a1-1111-4222-8333-123456789abc"


def fill(folder: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")


def paths(folder: Path) -> list[str]:
    return [entry.path for entry in scan(folder).entries]


def test_old_versions_of_logseq_are_no_notes(tmp_path: Path) -> None:
    names = ("journals/2024_03_05.md", "pages/a.md", "logseq/bak/pages/a.md", "bak/b.md", "logseq/custom.md")
    fill(tmp_path / "graph", dict.fromkeys(names, "x"))
    fill(tmp_path, {"bak/mine.md": "x", "logseq/bak/mine.md": "x"})  # no graph: there are no journals
    assert paths(tmp_path) == [
        "bak/mine.md", "graph/journals/2024_03_05.md", "graph/logseq/custom.md", "graph/pages/a.md",
        "logseq/bak/mine.md",
    ]  # fmt: skip


def test_days_of_logseq_are_dates_and_ids_stand_in_no_snippet(tmp_path: Path) -> None:
    day = (
        f"- Plumber came\n  id:: {UUID}\n  collapsed:: true\n\t- Replaced the valve, see (({UUID})) again\n"
        "- 阀门换了\n"
    )
    fill(tmp_path, {"journals/2024_03_05.md": day, "logseq/config.edn": "{}"})
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        (hit,) = memory.search("valve", since="2024-03-01", until="2024-03-10").hits
        assert hit.date == "2024-03-05"
        assert hit.snippet == "Plumber came Replaced the valve, see again 阀门换了"
        assert UUID in memory.read(hit.ref)


SETTINGS: dict[str, tuple[dict[str, Any], bool]] = {
    "templates": ({"templates.json": {"folder": "T/mine"}, "core-plugins.json": {"templates": True}}, True),
    "old list": ({"templates.json": {"folder": "/T/mine/"}, "core-plugins.json": ["templates"]}, True),
    "templater": ({"plugins/templater-obsidian/data.json": {"templates_folder": "T/mine"}}, True),
    "switched off": (
        {"templates.json": {"folder": "T/mine"}, "core-plugins.json": {"templates": False}},
        False,
    ),
    "none": ({}, False),
    "no folder": ({"templates.json": {"folder": ""}}, False),
    "outside": ({"templates.json": {"folder": "../notes/T/mine"}}, False),
    "odd": ({"templates.json": [1], "core-plugins.json": 3}, False),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_the_folder_of_templates_is_the_one_in_the_settings(tmp_path: Path, name: str) -> None:
    settings, left_out = SETTINGS[name]
    vault = tmp_path / "vault"
    texts = {"a.md": "x", "T/mine/t.md": "x", "T/b.md": "x", ".trash/c.md": "x", ".obsidian/x.md": "x"}
    fill(vault, texts | {f".obsidian/{file}": json.dumps(value) for file, value in settings.items()})
    kept = [] if left_out else ["vault/T/mine/t.md"]
    assert paths(tmp_path) == ["vault/T/b.md", *kept, "vault/a.md"]


@pytest.mark.parametrize("folder", ["memory", "Memory/facts", "sessions", "users/ann", "journal"])
def test_a_vault_cannot_hide_the_memory_itself(tmp_path: Path, folder: str) -> None:
    fill(tmp_path, {"memory/facts/user.md": "- city: Bern\n", "users/ann/a.md": "x"})
    before = paths(tmp_path)
    fill(tmp_path, {".obsidian/templates.json": json.dumps({"folder": folder})})
    assert paths(tmp_path) == before


def test_settings_that_cannot_be_read_hide_nothing(tmp_path: Path) -> None:
    fill(tmp_path, {"a.md": "x", ".obsidian/templates.json": "{", ".obsidian/core-plugins.json": "?"})
    (tmp_path / ".obsidian/plugins").symlink_to(tmp_path / "gone")
    assert paths(tmp_path) == ["a.md"]


def test_properties_are_told_and_found(tmp_path: Path) -> None:
    fill(tmp_path, {
        "roof.md": "---\nstatus: done\nproject: Attic\n---\nInsulated the roof. ^a1b2c3\n",
        "fence.md": "---\nstatus: open\n---\nPaint the fence.\n",
    })  # fmt: skip
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        first = memory.search("status: done").hits[0]
        assert (first.path, first.snippet) == ("roof.md", "status: done project: Attic Insulated the roof.")


def test_drawings_give_their_texts_and_not_their_data(tmp_path: Path) -> None:
    data = "".join(f"N4KAkARAL{n:x}gDgUwgLgAQQQDwMYEMA2AlgCYBOuA7hAD" for n in range(40))
    drawing = (
        "---\nexcalidraw-plugin: parsed\n---\n# Excalidraw Data\n## Text Elements\n"
        "Pump room plan ^Ab12Cd34\n\n"
        f"阀门在左边 ^zZ98yY76\n\n%%\n## Drawing\n```compressed-json\n{data}\n\n{data}\n```\n%%\n"
    )
    fill(tmp_path, {"plan.excalidraw.md": drawing})
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        (hit,) = memory.search("pump room").hits
        assert "Pump room plan 阀门在左边" in hit.snippet
        assert "N4KAkARAL" not in hit.text
        assert memory.search("阀门在左边").hits
