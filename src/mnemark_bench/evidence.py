"""What the confidence of an answer rests on, read from its explanation."""

from typing import Final

from mnemark.retrieval.ranking.confidence import Evidence, features
from mnemark.types import Recall

NAMES: Final = ("score", "cosine", "passages", "terms", "words")
"""The features in the order of `confidence.features`."""


def rests_on(found: Recall) -> list[float] | None:
    """Return the features of an answer that was asked for with `explain`; None where nothing was found."""
    evidence = found.hits[0].why.get("answer") if found.hits else None
    return None if evidence is None else list(features(Evidence(**evidence)))
