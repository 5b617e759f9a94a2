"""Scopes that do not exist: a command names the nearest; one that is empty is no mistake."""

import pytest

from .conftest import Shell

COMMANDS = [
    ("search", "tea"), ("recall", "tea"), ("prompt", "tea"), ("log",), ("facts",), ("review", "list"),
    ("forget", "--query", "tea"),
]  # fmt: skip


@pytest.fixture
def shop(shell: Shell) -> Shell:
    shell("init")
    shell.write("mnemark.toml", 'embedder = "none"\n')
    shell.write("MEMORY.md", "We drink tea.\n")
    shell.write("projects/shop/MEMORY.md", "Sells tea.\n")
    shell.write("users/ann/MEMORY.md", "Ann drinks tea.\n")
    (shell.folder / "projects/empty").mkdir()
    return shell


@pytest.mark.parametrize("command", COMMANDS, ids=lambda one: one[0])
def test_the_nearest_scopes_are_named(shop: Shell, command: tuple[str, ...]) -> None:
    ran = shop(*command, "--scope", "projects/shpo")
    assert ran.code == 2
    assert "there is no scope projects/shpo; the nearest are projects/shop" in ran.err
    assert ran.out == ""


@pytest.mark.parametrize("command", COMMANDS, ids=lambda one: one[0])
def test_an_empty_scope_is_no_mistake(shop: Shell, command: tuple[str, ...]) -> None:
    assert shop(*command, "--scope", "projects/empty").code == 0


def test_where_nothing_is_near_those_there_are_are_named(shop: Shell) -> None:
    assert "users/ann, projects/empty, projects/shop" in shop("search", "tea", "--scope", "agents/x").err


def test_a_memory_without_scopes_says_so(shell: Shell) -> None:
    shell.write("MEMORY.md", "We drink tea.\n")
    ran = shell("search", "tea", "--scope", "users/ann")
    assert (ran.code, "there is no scope users/ann, nor any other" in ran.err) == (2, True)


def test_a_new_scope_is_made_by_what_writes(shop: Shell) -> None:
    assert shop("remember", "city", "Rome", "--scope", "users/bob").code == 0
    assert shop("add", "Sells coffee.", "--scope", "projects/cafe").code == 0
    assert "Rome" in shop("facts", "--scope", "users/bob").out
