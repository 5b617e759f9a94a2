"""Find the sessions that contain some text."""

from mnemark.index.store import Index

_LOGS = "(d.path LIKE 'sessions/%' OR d.path LIKE '%/sessions/%')"


def sessions_with(index: Index, text: str) -> frozenset[str]:
    """Return the paths of the logs whose session id or turns contain `text`, upper and lower case alike."""
    if not index.exists():
        return frozenset()
    wanted = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    sql = f"""
        SELECT d.path FROM documents d WHERE {_LOGS} AND d.title LIKE ?1 ESCAPE '\\'
        UNION SELECT d.path FROM documents d JOIN passages p ON p.document = d.id
        WHERE {_LOGS} AND p.text LIKE ?1 ESCAPE '\\'
    """  # noqa: S608 - a constant
    return frozenset(path for (path,) in index.rows(sql, (f"%{wanted}%",)))
