"""Keep a tenant's bookkeeping in rows, so that all nodes have one: what was read, what waits, what it cost.

How often something was recalled stays on the node: it is expendable. Row-level security shows the rows of the
tenant alone, so that statements do not name it.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any, Final

from mnemark.index.state import TRIES, QueueCounts, Queued, State
from mnemark_server.database import Database, Rows, Statement

_ITEM: Final = "id, path, first, last, tries, reason"
BUDGETS: Final = ("calls_per_day", "tokens_per_day")
_OF_Q: Final = ", ".join(f"q.{name}" for name in _ITEM.split(", "))
_DUE: Final = "NOT failed AND (next_try <= %(now)s OR next_try > %(now)s + 604800)"
"""Or put off for years by a wrong clock."""


class SharedState(State):
    """The state of a tenant. Safe for threads and several nodes; methods are as in `State`.

    All but the counts of recalls raises UnavailableError where the database does not answer.
    """

    def __init__(self, root: Path, database: Database, tenant: int) -> None:
        super().__init__(root)
        self._database = database
        self._tenant = tenant

    def _read(self, text: str, **values: Any) -> Rows:
        (rows,) = self._database.read(self._tenant, Statement(text, values))
        return rows

    def _change(self, text: str, **values: Any) -> Rows:
        (rows,) = self._database.write(self._tenant, Statement(text, values))
        return rows

    # positions

    def position(self, name: str) -> str:
        """Return the position stored under `name`; empty if there is none."""
        rows = self._read("SELECT value FROM mnemark.positions WHERE name = %(name)s", name=name)
        return str(rows[0][0]) if rows else ""

    def positions(self, prefix: str) -> dict[str, str]:
        """Return all positions whose names begin with `prefix`."""
        return dict(self._read(
            "SELECT name, value FROM mnemark.positions WHERE starts_with(name, %(prefix)s)",
            prefix=prefix,
        ))  # fmt: skip

    def note(self, values: Mapping[str, str]) -> None:
        """Set positions by name; an empty value deletes the name."""
        self._database.write(self._tenant, *_noting(values))

    # the queue

    def enqueue(
        self, items: Iterable[tuple[str, int, int]], now: datetime, *, noting: Mapping[str, str] | None = None
    ) -> int:
        """Queue turns and return how many are new; positions are set in the same transaction."""
        paths, firsts, lasts = zip(*items, strict=True) if (items := list(items)) else ((), (), ())
        adding = Statement(
            "INSERT INTO mnemark.queue (tenant, path, first, last, next_try)"
            " SELECT mnemark.me(), path, first, last, %s"
            " FROM unnest(%s::text[], %s::bigint[], %s::bigint[]) AS new (path, first, last)"
            " ON CONFLICT (tenant, path, first, last) DO NOTHING RETURNING id",
            [now.timestamp(), list(paths), list(firsts), list(lasts)],
        )
        return len(self._database.write(self._tenant, adding, *_noting(noting or {}))[0])

    def claim(self, most: int, now: datetime, *, lease: float = 300.0, path: str = "") -> list[Queued]:
        """Claim up to `most` due items, oldest first, for `lease` seconds; with `path`, only that file's."""
        rows = self._change(
            "WITH due AS (SELECT id FROM mnemark.queue"  # noqa: S608 - ours
            f" WHERE {_DUE} AND (%(path)s = '' OR path = %(path)s)"
            " ORDER BY next_try, id LIMIT %(most)s FOR UPDATE SKIP LOCKED)"
            " UPDATE mnemark.queue q SET tries = least(q.tries + 1, %(tries)s), "
            " failed = q.tries >= %(tries)s,"
            " next_try = CASE WHEN q.tries < %(tries)s THEN %(until)s ELSE q.next_try END,"
            " reason = CASE WHEN q.tries >= %(tries)s AND q.reason = '' THEN 'interrupted each time'"
            " ELSE q.reason END"
            f" FROM due WHERE q.id = due.id RETURNING q.failed, {_OF_Q}",
            now=now.timestamp(), path=path, most=most, tries=TRIES, until=now.timestamp() + lease,
        )  # fmt: skip
        return sorted((Queued(*row) for failed, *row in rows if not failed), key=lambda item: item.id)

    def done(self, ids: Iterable[int]) -> None:
        """Delete processed items from the queue."""
        self._change("DELETE FROM mnemark.queue WHERE id = ANY (%(ids)s)", ids=list(ids))

    def give_back(self, ids: Iterable[int], due: datetime) -> None:
        """Release claimed items that were not tried; they are due again at `due`."""
        self._change(
            "UPDATE mnemark.queue SET tries = greatest(tries - 1, 0), next_try = %(due)s"
            " WHERE id = ANY (%(ids)s) AND NOT failed",
            due=due.timestamp(), ids=list(ids),
        )  # fmt: skip

    def missed(self, ids: Iterable[int], reason: str, due: datetime) -> None:
        """Record a failed try of claimed items: retry them at `due`, or mark them failed after `TRIES`."""
        self._change(
            "UPDATE mnemark.queue SET reason = %(reason)s, next_try = %(due)s, failed = tries >= %(tries)s"
            " WHERE id = ANY (%(ids)s) AND NOT failed",
            reason=reason, due=due.timestamp(), tries=TRIES, ids=list(ids),
        )  # fmt: skip

    def failed(self, most: int = 100) -> list[Queued]:
        """Return up to `most` failed items, the latest first."""
        text = f"SELECT {_ITEM} FROM mnemark.queue WHERE failed ORDER BY id DESC LIMIT %(most)s"  # noqa: S608 - ours
        return [Queued(*row) for row in self._read(text, most=most)]

    def retry_failed(self, now: datetime) -> int:
        """Make failed items due again with zero tries; return their number."""
        return len(self._change(
            "UPDATE mnemark.queue SET failed = false, tries = 0, next_try = %(now)s WHERE failed"
            " RETURNING id",
            now=now.timestamp(),
        ))  # fmt: skip

    def is_due(self, now: datetime) -> bool:
        """Whether any item can be claimed."""
        text = f"SELECT 1 FROM mnemark.queue WHERE {_DUE} LIMIT 1"  # noqa: S608 - ours
        return bool(self._read(text, now=now.timestamp()))

    def waiting(self, now: datetime) -> QueueCounts:
        """Return the counts of queue items by status."""
        ((due, failed, every),) = self._read(
            f"SELECT count(*) FILTER (WHERE {_DUE}), count(*) FILTER (WHERE failed), count(*)"  # noqa: S608 - ours
            " FROM mnemark.queue",
            now=now.timestamp(),
        )
        return QueueCounts(due, every - due - failed, failed)

    def next_try(self, now: datetime) -> datetime | None:
        """Return when the next item that is not due yet will be, in the zone of `now`, or None."""
        ((moment,),) = self._read(
            f"SELECT min(next_try) FROM mnemark.queue WHERE NOT failed AND NOT ({_DUE})",  # noqa: S608 - ours
            now=now.timestamp(),
        )
        return None if moment is None else datetime.fromtimestamp(moment, now.tzinfo)

    # what the model cost

    def budget(self) -> dict[str, int]:
        """Return what its model may cost a day at most, as settings of `[llm]`; what lacks, the node says."""
        ((limits,),) = self._read("SELECT limits FROM mnemark.myself()")
        return {name: value for name, value in (limits or {}).items() if name in BUDGETS}

    def spend(self, entry: Sequence[str | int]) -> None:
        """Add a cost entry: request, day, time, model, what, calls, tokens in and out."""
        _, day, _, model, what, calls, tokens_in, tokens_out = entry
        self._change(
            "INSERT INTO mnemark.spend AS known (tenant, day, what, model, calls, tokens_in, tokens_out)"
            " VALUES (mnemark.me(), %(day)s, %(what)s, %(model)s, %(calls)s, %(sent)s, %(got)s)"
            " ON CONFLICT (tenant, day, what, model) DO UPDATE"
            " SET calls = known.calls + excluded.calls, tokens_in = known.tokens_in + excluded.tokens_in,"
            " tokens_out = known.tokens_out + excluded.tokens_out",
            day=day, what=what, model=model, calls=calls, sent=tokens_in, got=tokens_out,
        )  # fmt: skip

    def spent(self, day: date) -> tuple[int, int]:
        """Return the number of calls and tokens of a day, on all nodes."""
        ((calls, tokens),) = self._read(
            "SELECT coalesce(sum(calls), 0), coalesce(sum(tokens_in + tokens_out), 0) FROM mnemark.spend"
            " WHERE day = %(day)s",
            day=day,
        )
        return int(calls), int(tokens)

    def spent_since(self, day: date) -> list[tuple[str, str, int, int]]:
        """Return day, purpose, calls and tokens from a day on, the earliest first."""
        rows = self._read(
            "SELECT day, what, sum(calls), sum(tokens_in + tokens_out) FROM mnemark.spend"
            " WHERE day >= %(day)s GROUP BY day, what ORDER BY day, what",
            day=day,
        )
        return [(found.isoformat(), what, int(calls), int(tokens)) for found, what, calls, tokens in rows]


def _noting(values: Mapping[str, str]) -> tuple[Statement, ...]:
    """Return the statements that set positions."""
    if not values:
        return ()
    kept = {name: value for name, value in values.items() if value}
    gone = [name for name in values if not values[name]]
    return (
        Statement(
            "INSERT INTO mnemark.positions (tenant, name, value)"
            " SELECT mnemark.me(), name, value FROM unnest(%s::text[], %s::text[]) AS new (name, value)"
            " ON CONFLICT (tenant, name) DO UPDATE SET value = excluded.value",
            [list(kept), list(kept.values())],
        ),
        Statement("DELETE FROM mnemark.positions WHERE name = ANY (%s)", [gone]),
    )
