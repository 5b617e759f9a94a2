"""docs/prompts.md holds every text that a language model is sent, as the code has it.

Make it anew: `python tests/test_prompts.py > docs/prompts.md`.
"""

import re
import sys
from datetime import datetime
from pathlib import Path

import msgspec

from mnemark.facts.model import Fact
from mnemark.llm import programs
from mnemark.llm.schema import instruction
from mnemark.memory.consolidation import condense, duplicates, tidy
from mnemark.memory.curation import identity
from mnemark.memory.learning import model_prompt
from mnemark.memory.sessions import compaction
from mnemark.text.quoting.fence import inert
from mnemark.types import Turn

PAGE = Path(__file__).parent.parent / "docs/prompts.md"
_HEAD = """\
# The exact prompts
All that a language model is asked, word for word; a test keeps this page and the code the same. `{…}` \
stands for what is filled in. Texts of conversations and files come in the message after it, quoted \
between marks with a random number, redacted, and without passages marked private. Where JSON is wanted, \
this is added to the system text, with the schema of the answer:

"""


def sections() -> list[tuple[str, str, str]]:
    """Title, when it is sent, and the text."""
    told = instruction(model_prompt.SittingAnswer)
    return [
        ("A sitting", "When a session ended, at `learn` and consolidation: one request a sitting.",
         model_prompt.SITTING_TASK),
        ("The schema of its answer", "Added to the text above.", told),
        ("Facts", "For sittings of one or two turns, and for daily notes at consolidation.",
         model_prompt.FACTS_TASK),
        ("Compaction", "When a conversation outgrows its window.", compaction._TASK),
        ("A month of notes", "At consolidation, when a month's notes are condensed.", condense._TASK),
        ("The same fact", "At consolidation, for facts that look alike.", duplicates._TASK),
        ("Lines of MEMORY.md", "At consolidation, for what people wrote there.", tidy._TASK),
        ("SOUL.md, AGENTS.md and USER.md", "When one does not fit its part of the prompt.", identity._TASK),
        ("Programs", "The system prompt of `claude-code`, `codex` and `gemini`.", programs._SYSTEM),
    ]  # fmt: skip


def example() -> str:
    """The message that follows the first of them, without the marks of the quotation."""
    moment = datetime.fromisoformat("2026-11-21T09:30:00+08:00")
    said = [
        ("user", "owner", "We moved to Bremen."),
        ("assistant", "agent", "Noted."),
        ("tool", "tool", "ok"),
    ]
    turns = [
        model_prompt.TurnExcerpt(Turn(id="", time=moment, role=role, content=text, origin=origin), "", "")  # type: ignore[arg-type]
        for role, origin, text in said
    ]
    known = [Fact(id="", subject="user", predicate="city", value="Oslo", source="")]
    content = model_prompt.question(turns, known, model_prompt.SITTING_TASK)[1].content
    shown = re.sub(r"\b[0-9a-f]{16}\b", "{number}", content)
    return "\n".join("{mark}" if "mnemark-" in line else line for line in shown.splitlines())


def page() -> str:
    told = instruction(msgspec.defstruct("Answer", [])).partition("\n")[0]
    parts = [f"{_HEAD}```text\n{told}\n{{schema}}\n```\n"]
    for title, when, text in sections():
        parts.append(f"## {title}\n{when}\n```text\n{inert(text).strip()}\n```\n")
        if title == "A sitting":
            parts.append(f"The message after it, for example:\n```text\n{example()}\n```\n")
    return "\n".join(parts)


def test_the_page_holds_every_prompt_as_it_is() -> None:
    assert PAGE.read_text("utf-8") == page()


def test_no_prompt_is_missing() -> None:
    """Every module that asks a model has its text on the page."""
    source = Path(model_prompt.__file__).parents[2]
    asking = {
        path.stem for path in source.rglob("*.py") if ".complete(" in path.read_text("utf-8")
        and "memory" in path.parts
    }  # fmt: skip
    assert asking == {
        "by_model", "from_notes", "compaction", "condense", "duplicates", "tidy", "identity",
    }  # fmt: skip


if __name__ == "__main__":
    sys.stdout.write(page())
