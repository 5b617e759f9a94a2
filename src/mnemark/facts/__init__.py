"""All about facts that needs no index: format, files, journal, versions."""
