"""Define the words whose full stop belongs to a name: "St. Lucas hospital", "Acme Inc. in Ghent"."""

from typing import Final

from mnemark.text.lazy_pattern import lazy_pattern

TITLES: Final = "St|Ste|Mt|Ft|Dr|Prof|Rev|Mr|Mrs|Ms|Mx|Capt|Sgt|Hon"
_FIRMS: Final = "Inc|Co|Ltd|Corp|Bros|Jr|Sr|Univ|Dept|Inst|Assoc|Intl"
_OPENS: Final = (
    r"\s+(?:I|My|We|Our|It|Its|The|He|She|They|His|Her|Their|This|That|These|Those|You|Your|And|But|So|If|When|What|How|Who|"
    r"Where|Why|Please|In|On|At|There|Then|Now|Also|Can|Could|Do|Does|Is|Are|Last|Next|Today|Tomorrow|Yesterday)(?=[\s',])"
)
TITLE: Final = rf"(?:(?:{TITLES}|[A-Z])\. ){{0,2}}"
"""May stand before a name."""
ABBREVIATED: Final = lazy_pattern(
    rf"(?:(?P<title>{TITLES})|(?P<firm>{_FIRMS})|(?P<initial>[A-Z](?:\.[A-Z])*+)|No|vs)"
)
"""A word that a full stop may belong to."""
OPENS: Final = lazy_pattern(_OPENS)
"""The first word of a sentence, which no name begins with."""
NAME_FOLLOWS: Final = lazy_pattern(rf"(?!{_OPENS})\s+[A-Z]")
GOES_ON: Final = lazy_pattern(r"\s+(?:[a-z&]|\d)")
"""The sentence goes on: "Acme Inc. in Ghent", "No. 5"."""
FIRM_ENDS: Final = lazy_pattern(rf"\b(?:{_FIRMS})\.$")
OPEN_OR_SHUT: Final = lazy_pattern(r"\b(?:St|[A-Z])\.$")
"""Ends a sentence as often as it begins a name: "on Main St.", "plan B."."""
