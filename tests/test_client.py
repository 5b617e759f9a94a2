"""What the TypeScript client has of the HTTP API is what the API is now; `make client` tries it."""

import json
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

from mnemark import __version__

ROOT = Path(__file__).parent.parent
CLIENT = ROOT / "clients/typescript"


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setattr(sys, "path", [str(ROOT / "tools"), *sys.path])
    return runpy.run_path(str(ROOT / "tools/client.py"))


def test_the_tables_are_those_of_the_api(tool: dict[str, Any]) -> None:
    pytest.importorskip("starlette")
    made = tool["table"](tool["openapi"]())
    assert CLIENT.joinpath("src/table.ts").read_text("utf-8") == made, "run: python tools/client.py write"


def test_the_types_have_each_call_and_each_field(tool: dict[str, Any]) -> None:
    document, types = tool["openapi"](), CLIENT.joinpath("src/api.ts").read_text("utf-8")
    fields = {
        name for shape in document["components"]["schemas"].values() for name in shape.get("properties", {})
    }
    missing = {path for path in document["paths"] if f'"{path}": {{' not in types}
    missing |= {name for name in fields if f" {name}: " not in types and f" {name}?: " not in types}
    assert not missing, "run: python tools/client.py write"


def test_the_package_has_the_version_of_mnemark() -> None:
    package, lock = (
        json.loads((CLIENT / name).read_text("utf-8")) for name in ("package.json", "package-lock.json")
    )
    assert (package["version"], lock["version"], lock["packages"][""]["version"]) == (__version__,) * 3
    assert not package.get("dependencies")


def test_the_lock_names_no_registry() -> None:
    lock = json.loads((CLIENT / "package-lock.json").read_text("utf-8"))
    assert [name for name, one in lock["packages"].items() if "resolved" in one] == []
    assert all(one.get("integrity") for name, one in lock["packages"].items() if name)
