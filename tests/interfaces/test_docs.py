from pathlib import Path

from mnemark.interfaces.app import COMMANDS, loaded
from mnemark.interfaces.reference import reference

CLI = Path(__file__).parents[2] / "docs/cli.md"


def test_the_reference_is_what_the_commands_say() -> None:
    assert CLI.read_text(encoding="utf-8") == reference(), (
        "run: python -m mnemark.interfaces.reference > docs/cli.md"
    )


def test_a_list_says_of_a_command_what_its_own_help_begins_with() -> None:
    sentences = {name: " ".join(loaded(name).help.split("\n\n")[0].split()) for name in COMMANDS}
    assert sentences == {name: sentence for name, (_, sentence) in COMMANDS.items()}
