"""The package as a whole."""

import mnemark


def test_version_is_a_release_number() -> None:
    assert mnemark.__version__.count(".") == 2
