"""Old names of the modules in `mnemark.adapters`: import from there."""
