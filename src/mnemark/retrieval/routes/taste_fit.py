"""Tell how well a taste fits what is asked to be done or advised, by meaning.

A taste seldom shares a word with a request: "I avoid hotels with nightlife" fits "where could I stay?". So it
is compared with what such requests are about (`text.matters`), with hotels, and with the request itself: this
orders the tastes of one matter.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from mnemark.embed.bundled import BundledEmbedder
from mnemark.index.snapshot import Floats
from mnemark.text.matters import matters_of
from mnemark.text.triggers import request_of

MIN_FIT: Final = 0.4
"""Minimum fit of a taste, and of an instruction's trigger: of 24 rules one or more fit 4 % of the questions
of other people, most on its matter."""
_NAMED: Final = 0.45
"""Fit of what names the matter in the words of a request."""
ALIKE: Final = 0.2
"""Likeness to the request below which a word of its matter has another sense: a train, a train split."""
_DIRECT: Final = 0.5
"""Weight of the likeness to the request itself."""


class TasteFit:
    """How well tastes fit a message; nothing fits one that asks for nothing."""

    def __init__(self, message: str) -> None:
        self.request = request_of(message)
        """The sentences that ask."""
        self._matters = matters_of(self.request)
        self._anchors = tuple(anchor for matter in self._matters for anchor in matter.anchors)

    def of(self, texts: Sequence[str], least: float = 0.0) -> Floats:
        """Return how well each text fits, (len(texts),), from 0 to 1; `least`: see `ALIKE`."""
        vectors = vectors_of(tuple(texts))
        direct: Floats = np.maximum(vectors @ vectors_of((self.request,))[0], np.float32(0))
        if not self._anchors:
            return direct
        about = (vectors @ vectors_of(self._anchors).T).max(axis=1)
        named = np.array([any(one in self._matters for one in matters_of(text)) for text in texts], np.bool_)
        named &= direct >= least
        about = np.maximum(about, np.where(named, np.float32(_NAMED), np.float32(0)))
        fits: Floats = np.clip(about + np.float32(_DIRECT) * direct, direct, 1)
        return fits

    def asked(self) -> Floats:
        """Return vectors near those of what may fit, (n, dimension)."""
        about = " ".join(self._anchors)
        return vectors_of((self.request, about) if about else (self.request,))


@lru_cache(maxsize=2_048)
def vectors_of(texts: tuple[str, ...]) -> Floats:
    """Return the vectors of texts, (len(texts), dimension)."""
    return BundledEmbedder().passages(texts)
