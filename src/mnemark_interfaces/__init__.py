"""Command line and other faces; they all render through one module."""
