"""Rankings to choose from: our own, measured, and those of agents whose users want what they had.

`mnemark bench retrieval --presets` prints them side by side.
"""

from typing import Final, Literal

import msgspec

from mnemark.errors import ConfigError

Fusion = Literal["absolute", "rrf", "weighted"]


class Preset(msgspec.Struct, frozen=True, kw_only=True):
    """All parameters of a ranking. Figures are of the default unless a preset says otherwise."""

    name: str
    fusion: Fusion = "absolute"
    k1: float = 1.2
    """BM25 saturation (Robertson and Zaragoza 2009)."""
    b: float = 0.75
    """BM25 length normalisation."""
    head: float = 1.0
    """What a term in title, file name, speaker or date counts, in occurrences in the text."""
    neighbour: float = 0.4
    """What a term in the passage before or after counts, in occurrences in the passage itself."""
    group: float = 0.3
    """Share of the whole session's or note's score that is added to each of its passages."""
    dense: float = 0.125
    """Weight of the cosine beside the share of the attainable BM25; for "weighted" the dense share."""
    rrf: int = 60
    """Constant of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009)."""
    time: float = 0.15
    """Added to passages inside a time the question names."""
    recency: float = 0.0
    importance: float = 0.0
    access: float = 0.0
    half_life_days: float = 30.0
    """Recency is 0.5 ** (age / half life)."""


DEFAULT: Final = Preset(name="default")
PRESETS: Final[dict[str, Preset]] = {
    preset.name: preset
    for preset in (
        DEFAULT,
        Preset(name="lexical", dense=0.0),
        Preset(name="nanobot", fusion="rrf", neighbour=0, group=0, time=0),
        Preset(name="nanobot-weighted", fusion="weighted", dense=0.6, neighbour=0, group=0, time=0),
        Preset(name="nanocrab", fusion="weighted", dense=0.625, recency=0.2, neighbour=0, group=0, time=0),
        Preset(
            name="openakita",
            fusion="weighted",
            dense=0.5,
            recency=0.25,
            importance=0.2,
            access=0.15,
            neighbour=0,
            group=0,
            time=0,
        ),
    )
}


def preset(name: str) -> Preset:
    """The preset of that name.

    Raises:
        ConfigError: there is none; the message lists them.
    """
    if name not in PRESETS:
        raise ConfigError(f'"{name}" is no preset; use one of {", ".join(PRESETS)}')
    return PRESETS[name]
