"""Import the package of a host when it is used, or say how to install it."""

from collections.abc import Iterator
from contextlib import contextmanager

from mnemark.errors import MnemarkError


@contextmanager
def needs(title: str, package: str) -> Iterator[None]:
    """Wrap imports of a host's package; raise MnemarkError where it is not installed, or too old."""
    try:
        yield
    except (ImportError, AttributeError) as error:
        raise MnemarkError(f"the adapter needs {title} ({error}); run: pip install -U {package}") from error
