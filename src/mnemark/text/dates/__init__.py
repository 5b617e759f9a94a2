"""Words such as "last Tuesday" as spans of time."""
