import runpy
from pathlib import Path

from mnemark_interfaces.app import COMMANDS, loaded

ROOT = Path(__file__).parents[2]


def test_the_reference_is_what_the_commands_say() -> None:
    reference = runpy.run_path(str(ROOT / "tools/reference.py"))["reference"]
    written = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
    assert written == reference(), "run: python tools/reference.py > docs/cli.md"


def test_a_list_says_of_a_command_what_its_own_help_begins_with() -> None:
    sentences = {name: " ".join(loaded(name).help.split("\n\n")[0].split()) for name in COMMANDS}
    assert sentences == {name: sentence for name, (_, sentence) in COMMANDS.items()}
