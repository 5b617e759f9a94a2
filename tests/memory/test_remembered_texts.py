"""A process remembers redacted texts for their next reader: no secret, and nothing that was erased."""

from pathlib import Path

from mnemark import Memory
from mnemark.text.words import segment

LONG = "".join(f"- line {n} of the harbour\n" for n in range(200))


def test_no_secret_is_remembered_and_nothing_erased(tmp_path: Path) -> None:
    note = tmp_path / "memory/note.md"
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        note.parent.mkdir(exist_ok=True)
        note.write_text(
            f"# Note\n\n{LONG}\n- the password is hunter2secret!\n\nThe walrus sleeps.\n", "utf-8"
        )
        memory.sync()
        assert "walrus sleeps" in repr(vars(memory.workspace.visible))  # else this says nothing
        assert "hunter2secret" not in repr(vars(memory.workspace.visible))
        assert memory.forget("memory/note.md#L206", erase=True).action == "erased"
        assert "walrus" not in note.read_text("utf-8")
        assert "walrus" not in repr(vars(memory.workspace.visible))
        assert memory.search("harbour").hits


def test_no_word_of_what_was_erased_is_remembered(tmp_path: Path) -> None:
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        session = memory.session("one")
        session.add("user", "The parcel has the number zq81xk7731.")
        memory.sync()
        assert memory.search("zq81xk7731").hits
        assert "zq81xk7731" in segment._cache  # else this says nothing
        assert memory.forget(session=session.id, erase=True).action == "erased"
        assert "zq81xk7731" not in segment._cache
