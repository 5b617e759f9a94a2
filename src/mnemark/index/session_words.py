"""Find the sessions that contain some text, and what is of a session or a tool."""

from mnemark.index.store import Index

_OF_SESSION_AND_TOOL = """
    SELECT id FROM passages WHERE kind IN ('turn', 'observation') AND (?1 = '' OR title = ?1)
    AND (?2 = '' OR (kind = 'observation' AND json_extract(meta, '$.tool') = ?2))
"""
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


def passages_of(index: Index, *, session: str = "", tool: str = "") -> frozenset[int]:
    """Return the numbers of the turns and tool calls of a session, of a tool, or of both."""
    if not index.exists():
        return frozenset()
    return frozenset(number for (number,) in index.rows(_OF_SESSION_AND_TOOL, (session, tool)))
