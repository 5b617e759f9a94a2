"""Parse time words such as "last Tuesday" as time spans."""
