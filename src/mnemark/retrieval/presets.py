"""Presets of ranking: our own, measured, and those of agents whose users want what they had.

`mnemark bench retrieval --presets` prints them side by side.
"""

from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from mnemark.errors import ConfigError

Fusion = Literal["absolute", "rrf", "weighted"]


class Preset(msgspec.Struct, frozen=True, kw_only=True):
    """All parameters of a ranking. Figures are of the default unless a preset says otherwise."""

    name: str
    fusion: Fusion = "absolute"
    k1: float = 1.6
    """BM25 saturation (Robertson and Zaragoza 2009)."""
    b: float = 0.75
    """BM25 length normalisation."""
    head: float = 1.0
    """What a term in title, file name, speaker or date counts, in occurrences in the text."""
    neighbour: float = 0.33
    """What a term in the passage before or after counts, in occurrences in the passage itself; two steps
    away it counts the square of that."""
    group: float = 0.3
    """Share of the whole session's or note's score that is added to each of its passages."""
    short: float = 4.0
    """Passages of so few words hold little: the score is multiplied by 1 - exp(-words / short). 0: never."""
    dense: float = 0.15
    """Weight of the cosine (neighbours' shared in, as for terms) beside the share of the attainable BM25;
    for "weighted" the dense share."""
    bridge: bool = True
    """Whether terms that no text holds are looked up in the other language."""
    rrf: int = 60
    """Constant of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009)."""
    time: float = 0.15
    """Added to passages inside a time the question names."""
    relevance: float = 1.0
    """Weight of the fused score beside the factors below."""
    near: float = 0.25
    """Added to passages of other documents dated like the best hit, times the square of its score (a weak
    hit is no anchor), fading over `near_days`."""
    near_days: float = 3.0
    phrase: float = 0.5
    """Added to passages that hold a quoted phrase word by word, as a share of the best score."""
    inner: float = 0.3
    """What words inside the question's longer Chinese words count beside those that were said."""
    order: float = 0.05
    """What being the newest (or oldest) of the candidates adds, as a share of the best score, where the
    question asks for that."""
    recency: float = 0.0
    importance: float = 0.0
    access: float = 0.0
    half_life_days: float = 30.0
    """Recency is 0.5 ** (age / half life)."""


DEFAULT: Final = Preset(name="default")
_PLAIN: Final = Preset(name="", k1=1.2, neighbour=0, group=0, short=0, time=0, near=0, bridge=False)
"""BM25 on each passage alone, as FTS5 has it."""
PRESETS: Final[dict[str, Preset]] = {
    preset.name: preset
    for preset in (
        DEFAULT,
        replace(DEFAULT, name="lexical", dense=0.0, bridge=False),
        replace(_PLAIN, name="bm25", dense=0.0),
        replace(_PLAIN, name="nanobot", fusion="rrf"),
        replace(_PLAIN, name="nanobot-weighted", fusion="weighted", dense=0.6),
        # 0.5 vectors and 0.3 BM25 are 0.625 and 0.375 of the 0.8 that recency leaves.
        replace(_PLAIN, name="nanocrab", fusion="weighted", dense=0.625, relevance=0.8, recency=0.2),
        replace(
            _PLAIN,
            name="openakita",
            fusion="weighted",
            dense=0.5,
            relevance=0.4,
            recency=0.25,
            importance=0.2,
            access=0.15,
        ),
    )
}


def preset(name: str) -> Preset:
    """Return the preset of that name.

    Raises:
        ConfigError: there is none; the message lists them.
    """
    if name not in PRESETS:
        raise ConfigError(f'"{name}" is not a preset; use one of {", ".join(PRESETS)}')
    return PRESETS[name]


SUSPECT_FACTOR: Final = 0.6
"""Text shaped like instructions is ranked lower, never hidden."""
