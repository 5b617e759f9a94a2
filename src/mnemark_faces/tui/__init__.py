"""The panel: look at memory in a terminal, decide what waits, and take changes back. Needs Textual."""
