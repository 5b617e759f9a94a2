"""Cases of a sweep in two tiers: `make test` tries some of them, `make verify` all."""

from collections.abc import Iterable
from typing import Any, Final

import pytest
from hypothesis import settings

_SHARE: Final = 5
_FEWEST: Final = 20


def examples(count: int) -> int:
    """Return how many examples a property is tried with: all by `test_seeds.py`, else some of them.

    Those of an ordinary run are the same each time, so that more of them find nothing new.
    """
    ordinary = settings.get_current_profile_name() == "pinned"
    return min(count, max(count // _SHARE, _FEWEST)) if ordinary else count


def sampled(cases: Iterable[Any], every: int) -> list[Any]:
    """Return the cases as parameters; all but each `every`-th, beginning with the first, are marked as slow.

    A case of several values is a tuple, and one with a name or marks of its own a `pytest.param`.
    """
    params = [
        case if hasattr(case, "marks") else pytest.param(*case) if type(case) is tuple else pytest.param(case)
        for case in cases
    ]
    for at, param in enumerate(params):
        if at % every:
            params[at] = pytest.param(*param.values, marks=(*param.marks, pytest.mark.slow), id=param.id)
    return params
