"""Read messages, one per line: our own export, those in OpenAI's form, and tables by the names of columns."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Final

from mnemark.errors import IntegrityError, NotFoundError, UsageError
from mnemark.files import jsonl
from mnemark.files.turns import created, decode_turn
from mnemark.memory.transfer.importer import Incoming
from mnemark.types import Problem, Turn
from mnemark_adapters.importers.conversations import (
    Conversation,
    Record,
    dicts,
    moment,
    said_by,
    turns_of,
)  # fmt: skip
from mnemark_adapters.importers.source import Source

COLUMNS: Final = ("text", "role", "time", "session")
"""What columns can be named for."""


def read(incoming: Incoming, source: Source, columns: Mapping[str, str]) -> None:
    """Import our export, or messages: one per line (a session), or `messages` lists (a session per line).

    With `columns`, each line is a message whose text, role and time stand under these names.
    """
    path = source.path
    if not path.is_file():
        raise NotFoundError(f"{path} is not a JSON Lines file")
    if columns:
        read_rows(incoming, path.stem, source.members[0].records(), columns)
        return
    problems: list[Problem] = []
    records = jsonl.records(path, problems=problems, name=path.name)
    first = next(records, None)
    if first is None:
        raise IntegrityError(f"{path.name} contains no JSON Lines")
    if first[1].get("mnemark") == "export":
        _read_own_export(incoming, (record for _, record in records))
    else:
        _messages(incoming, path.stem, chain([first[1]], (record for _, record in records)))
    incoming.problems.extend(problems)


def _read_own_export(incoming: Incoming, records: Iterator[Record]) -> None:
    notes: dict[str, list[str]] = defaultdict(list)
    sessions: dict[tuple[str, str, str], list[Turn]] = defaultdict(list)
    changes: dict[str, list[bytes]] = defaultdict(list)
    added = {"type", "path", "line", "session", "scope"}
    for record in records:
        match record.get("type"), record.get("path"):
            case "passage", str(path):
                notes[path].append(str(record.get("text", "")))
            case "turn", str(path):
                kept = {key: value for key, value in record.items() if key not in added}
                if (turn := decode_turn(kept, jsonl.Line(0, 0, b"", 0))) is not None:
                    session = str(record.get("session") or path)
                    sessions[str(record.get("scope") or ""), session, path].append(turn)
            case "change", str(path):
                changes[path].append(jsonl.encode(record.get("record")))
            case _:
                incoming.problems.append(
                    Problem("export", f"a record of type {record.get('type')!r} was skipped")
                )
    for path, texts in notes.items():
        incoming.note(path, "".join(texts).encode("utf-8", "replace"))
    for (scope, session, path), turns in sessions.items():
        try:
            incoming.turns(scope, session, turns, path)
        except UsageError as error:  # of the scope: somebody's name that is no folder of memory
            incoming.problems.append(Problem("export", f"{len(turns)} messages skipped: {error}"))
    for path, lines in changes.items():
        incoming.lines(path, lines)


def _messages(incoming: Incoming, name: str, records: Iterable[Record]) -> None:
    """Import conversations, one a line, or one conversation with a message a line; the other kind waits.

    What the first line is, is read as a stream: such files have gigabytes.
    """
    other: list[tuple[int, Record]] = []
    numbered = iter(enumerate(records, 1))
    first = next(numbered)
    together = _is_conversation(first[1])

    def alike() -> Iterator[tuple[int, Record]]:
        for one in chain([first], numbered):
            if _is_conversation(one[1]) == together:
                yield one
            else:
                other.append(one)

    for read in (alike(), other):
        if together:
            for number, record in read:
                _conversation(incoming, f"{name}-{number}", record)
        else:
            loose = Conversation(name, "", None, (record for _, record in read))
            incoming.turns("", f"import:{name}", turns_of("import", loose))
        together = not together


def _is_conversation(record: Record) -> bool:
    return isinstance(record.get("messages"), list)


def _conversation(incoming: Incoming, name: str, record: Record) -> None:
    session = str(record.get("id") or record.get("session") or name)
    title = str(record.get("title") or record.get("name") or "")
    found = Conversation(session, title, created(record), dicts(record["messages"]))
    incoming.turns("", f"import:{session}", turns_of("import", found))


def read_csv(incoming: Incoming, source: Source, columns: Mapping[str, str]) -> None:
    """Import the rows of a CSV file, by the names of its columns."""
    for member in source.matching("*.csv"):
        rows = member.rows()
        read_rows(incoming, member.base.rpartition(".")[0] or member.base, rows, columns)


def read_rows(
    incoming: Incoming, name: str, rows: Iterable[Mapping[str, Any]], columns: Mapping[str, str]
) -> None:
    """Import rows as turns.

    Args:
        incoming: the import.
        name: the session of rows that name none.
        rows: by the names of columns.
        columns: the names of those with `text` (which must be given), `role`, `time` and `session`; small
            and capital letters are the same.

    Raises:
        UsageError: a column is not named, or not there.
    """
    wanted = {key: value.strip().lower() for key, value in columns.items()}
    if unknown := sorted(wanted.keys() - set(COLUMNS)):
        raise UsageError(f"there is no {unknown[0]!r} of a message; name columns for {', '.join(COLUMNS)}")
    if "text" not in wanted:
        raise UsageError(
            "name the column with the text: --columns text=NAME,role=NAME,time=NAME,session=NAME"
        )
    sessions: dict[str, list[Record]] = defaultdict(list)
    seen: dict[tuple[str, ...], int] = defaultdict(int)
    for row in rows:
        values = {key.strip().lower(): value for key, value in row.items()}
        if missing := [one for one in wanted.values() if one not in values]:
            raise UsageError(f"there is no column {missing[0]!r}; there are {', '.join(map(str, row))}")
        said = {key: values[one] for key, one in wanted.items()}
        text, session = str(said["text"] or ""), str(said.get("session") or name)
        if not text.strip():
            incoming.left("row", "it has no text")
            continue
        role = str(said.get("role") or "user")
        key = (session, role, str(said.get("time")), text)
        seen[key] += 1
        # Not by its number: a longer export of the same table begins earlier.
        message: Record = {"id": "\n".join((*key, str(seen[key]))), "content": text}
        known = _ROLES.get(role.strip().lower())
        message |= {"role": known} if known else said_by(incoming, role, text)
        if (when := moment(said.get("time"))) is not None:
            message["time"] = when.isoformat()
        sessions[session].append(message)
    for session, messages in sessions.items():
        found = Conversation(session, "", None, messages)
        incoming.turns("", f"import:{session}", turns_of("import", found))


_ROLES: Final = {
    **dict.fromkeys(
        ("assistant", "ai", "bot", "model", "chatgpt", "claude", "gemini", "copilot", "grok"), "assistant"
    ),
    **dict.fromkeys(("user", "human", "owner", "me", "you", "我"), "user"),
    "system": "system", "tool": "tool",
}  # fmt: skip
"""The roles of who is named; others are people, of whom one may be the owner."""
