"""`import mnemark` is the contract: its names, and a quick start that runs."""

import doctest
from pathlib import Path

import pytest

import mnemark


def test_the_names_are_sorted_few_and_all_there() -> None:
    assert sorted(mnemark.__all__) == mnemark.__all__
    assert len(mnemark.__all__) <= 25
    for name in mnemark.__all__:
        assert getattr(mnemark, name) is not None
    assert dir(mnemark) == mnemark.__all__


def test_every_error_is_public_and_is_where_it_says() -> None:
    from mnemark import errors

    kinds = [value for value in vars(errors).values() if isinstance(value, type)]
    names = {kind.__name__ for kind in kinds if issubclass(kind, errors.MnemarkError)}
    assert names <= set(mnemark.__all__)
    assert mnemark.NotFoundError is errors.NotFoundError


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Memori'"):
        mnemark.Memori  # noqa: B018 - looking it up is the test


def test_the_quick_start_in_the_docstring_runs(tmp_path: Path) -> None:
    failed, tried = doctest.testmod(mnemark, extraglobs={"folder": tmp_path / "agent"})
    assert (failed, tried > 3) == (0, True)


def test_memory_has_about_thirty_names() -> None:
    names = [name for name in dir(mnemark.Memory) if not name.startswith("_")]
    assert len(names) <= 35
    assert all(getattr(mnemark.Memory, name).__doc__ for name in names)
