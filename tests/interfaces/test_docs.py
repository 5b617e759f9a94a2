from pathlib import Path

from mnemark.interfaces.reference import reference

CLI = Path(__file__).parents[2] / "docs/cli.md"


def test_the_reference_is_what_the_commands_say() -> None:
    assert CLI.read_text(encoding="utf-8") == reference(), (
        "run: python -m mnemark.interfaces.reference > docs/cli.md"
    )
