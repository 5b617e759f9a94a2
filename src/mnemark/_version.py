"""The version, read by the build and by `mnemark --version`."""

__version__ = "0.1.0"
