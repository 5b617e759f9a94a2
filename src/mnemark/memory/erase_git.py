"""Rewriting the git history of a workspace without erased words."""

from pathlib import Path

from mnemark.files import git
from mnemark.memory.forgetting.needles import Words
from mnemark.memory.forgetting.receipt import Place


def rewrite(root: Path, words: Words) -> list[Place]:
    """Rewrite what was not pushed; the place for the receipt, none where nothing held it.

    Raises:
        UsageError: it is not simple or not safe; nothing was changed.
    """
    git.check_rewritable(root, words.notes)
    count = git.rewrite(root, words.notes)
    return [Place(path=".git", what=f"{count} versions in the history")] if count else []
