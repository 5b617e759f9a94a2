"""Define ranking presets: mnemark's own, and those that reproduce the ranking of other agents.

`mnemark bench retrieval --preset` compares them.
"""

from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from mnemark.errors import ConfigError

Fusion = Literal["absolute", "rrf", "weighted"]


class Preset(msgspec.Struct, frozen=True, kw_only=True):
    """Parameters of a ranking; the defaults are those of the preset "default"."""

    name: str
    fusion: Fusion = "absolute"
    k1: float = 1.6
    """BM25 saturation (Robertson and Zaragoza 2009)."""
    b: float = 0.75
    """BM25 length normalisation."""
    head: float = 1.0
    """Weight of a term in title, file name, speaker or date, as a number of occurrences in the text."""
    neighbour: float = 0.33
    """Weight of a term in the passage before or after, relative to the passage itself; squared for two steps
    away."""
    group: float = 0.3
    """Share of the score of the whole session or note that is added to each of its passages."""
    printed: float = 1.0
    """Share of the score of tools' output that its session and its neighbours do not get."""
    short: float = 4.0
    """Scale in words of the penalty for short passages, 1 - exp(-(words + 0.5) / short); 0 for none."""
    dense: float = 0.15
    """Weight of the cosine (neighbours' mixed in, as for terms) relative to the share of the attainable BM25;
    for "weighted" the share of the dense score."""
    bridge: bool = True
    """Whether terms that occur in no passage are translated."""
    rrf: int = 60
    """Constant of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009)."""
    time: float = 0.15
    """Added to passages dated inside a time that the query names."""
    relevance: float = 1.0
    """Weight of the fused score relative to recency and importance."""
    near: float = 0.25
    """Added to passages of other documents dated near the best hit, times the square of its score (so that a
    weak hit adds little), decaying over `near_days`."""
    near_days: float = 3.0
    phrase: float = 0.5
    """Added to passages that contain a quoted phrase, as a share of the best score."""
    code: float = 0.2
    """Added to passages that hold all code spans of the query, as a share of the best score."""
    inner: float = 0.3
    """Weight of words inside the query's longer Chinese words."""
    order: float = 0.05
    """Added to the newest (or oldest) candidate, as a share of the best score, where the query asks for the
    latest (or first)."""
    named: float = 0.2
    """Added to turns of a speaker whom the query names, but for questions. This and the next ones are shares
    of a candidate's own score; `rescore` applies them to the best candidates."""
    asks: float = 0.15
    """Taken from turns that ask a question, where the query names a speaker."""
    user: float = 0.1
    """Added to the user's messages in chats with an assistant, but for long ones: most are pasted."""
    observed: float = 0.5
    """Taken from the output of tools."""
    long: float = 0.05
    """Taken from turns longer than the median candidate, and added to shorter ones, by the logarithm."""
    meaning: float = 0.1
    """Added by the cosine among the candidates' cosines, per four standard deviations, as a share of the best
    score."""
    encoder: float = 0.2
    """As `meaning`, of vectors by a model that reads texts as wholes: they tell more than those of words."""
    ties: bool = True
    """Whether near ties are settled by what the candidates are; see `ranking.ties`."""
    identity: bool = True
    """Whether notes that the query names come first; see `ranking.identity`."""
    recency: float = 0.0
    importance: float = 0.0
    half_life_days: float = 30.0
    """Recency is 0.5 ** (age / half life)."""


DEFAULT: Final = Preset(name="default")
_PLAIN: Final = Preset(
    name="", k1=1.2, neighbour=0, group=0, short=0, time=0, near=0, bridge=False, named=0, asks=0, user=0,
    observed=0, long=0, meaning=0, encoder=0, ties=False, identity=False,
)  # fmt: skip
"""BM25 on each passage alone, as in FTS5; quotations, code and an order that is asked for count as here."""
PRESETS: Final[dict[str, Preset]] = {
    preset.name: preset
    for preset in (
        DEFAULT,
        replace(DEFAULT, name="lexical", dense=0.0, bridge=False),
        replace(_PLAIN, name="bm25", dense=0.0),
        replace(_PLAIN, name="nanobot", fusion="rrf"),
        replace(_PLAIN, name="nanobot-weighted", fusion="weighted", dense=0.6),
        # Weights of 0.5 (vectors) and 0.3 (BM25) are 0.625 and 0.375 of the 0.8 that recency leaves.
        replace(_PLAIN, name="nanocrab", fusion="weighted", dense=0.625, relevance=0.8, recency=0.2),
        replace(
            _PLAIN,
            name="openakita",
            fusion="weighted",
            dense=0.5,
            relevance=0.4,
            recency=0.25,
            importance=0.2,
        ),
    )
}


def preset(name: str) -> Preset:
    """Return the preset of that name.

    Raises:
        ConfigError: the name is unknown; the message lists the presets.
    """
    if name not in PRESETS:
        raise ConfigError(f'"{name}" is not a preset; use one of {", ".join(PRESETS)}')
    return PRESETS[name]


SUSPECT_FACTOR: Final = 0.6
"""Factor on the score of text that looks like instructions: ranked lower, never hidden."""
