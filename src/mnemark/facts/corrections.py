"""Change fact files as a correction says: the wrong line becomes the right one, and back if that is undone.

Applying a change twice is the same as applying it once. Files are changed by `edit` only.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from functools import partial
from typing import Final

from mnemark.facts import write
from mnemark.facts.file_changes import applied, around_of, fields_of, shown_in_chinese
from mnemark.facts.files import fact_of
from mnemark.facts.fold.tables import Correction
from mnemark.facts.labels import Around, label
from mnemark.facts.model import Fact
from mnemark.facts.parse import ParsedFact, parse
from mnemark.facts.timeline import when
from mnemark.files.edit import edit
from mnemark.files.truth import Folder
from mnemark.text.lines import decode, encode

_WAIT: Final = 0.3  # seconds a change waits for the workspace's lock before it is left for the next time


def paths_of(correction: Correction) -> list[str]:
    """Return the files that a correction changes: that of the wrong line, and that of the right one."""
    sides = (correction.before, correction.fact)
    return list(dict.fromkeys(one.path for one in sides if one is not None and one.path))


def write_correction(truth: Folder, correction: Correction, zone: tzinfo, *, undone: bool) -> bool:
    """Change the files of a correction; return whether none was busy. Errors as for `edit`."""
    for path in paths_of(correction):
        side = correction.before if undone else correction.fact
        if not (truth.root / path).is_file() and (side is None or side.path != path):
            continue  # nothing is to be taken out of it
        around = partial(around_of, truth.root, path)
        change = restored if undone else corrected
        result = edit(
            truth, path,
            lambda data, path=path, change=change, around=around: encode(  # type: ignore[misc]
                change(decode(data), path, correction, zone, around)
            ),
            timeout=_WAIT,
        )  # fmt: skip
        if result.status == "deferred":
            return False
    return True


def corrected(text: str, path: str, correction: Correction, zone: tzinfo, around: Around = tuple) -> str:
    """Return the text of a file with the right line in place of the wrong one, or without that."""
    wrong = _bullet(text, path, correction.wrong)
    new = correction.fact if correction.fact is not None and correction.fact.path == path else None
    if new is None:
        return text if wrong is None else _without(text, path, wrong, correction)
    if any(parsed.id == new.id for parsed in parse(text)):
        return text if wrong is None else text[: wrong.bullet.start] + text[wrong.bullet.end :]
    edited = None if wrong is None else _in_place(text, wrong, new, zone, around)
    if wrong is None or edited is None:
        left = text if wrong is None else _without(text, path, wrong, correction)
        return applied(left, path, new, zone, around)[0]
    before = correction.before
    if before is None or new.supersedes == before.supersedes:
        old_start = wrong.meta.get("since", "")
        return _with_end(edited, path, new.supersedes, new.since, instead=old_start)
    edited = _with_end(edited, path, before.supersedes, before.until, instead=before.since)
    return _with_end(edited, path, new.supersedes, new.since, instead="")


def _bullet(text: str, path: str, identifier: str) -> ParsedFact | None:
    found = ((parsed, fact_of(parsed, path, "").id) for parsed in parse(text))
    return next((parsed for parsed, its_id in found if its_id == identifier), None) if identifier else None


def _without(text: str, path: str, wrong: ParsedFact, correction: Correction) -> str:
    """Delete the wrong line; what it had replaced holds again, or until the wrong one had ended."""
    before = correction.before
    text = text[: wrong.bullet.start] + text[wrong.bullet.end :]
    if before is None:
        return text
    return _with_end(text, path, before.supersedes, before.until, instead=before.since)


def _with_end(text: str, path: str, identifier: str, until: str, *, instead: str) -> str:
    """Set the end of a fact that ended at `instead`; without one, its line is no longer struck through."""
    fact = _bullet(text, path, identifier)
    if fact is None or fact.meta.get("until", "") != instead or until == instead:
        return text
    end = when(until, UTC)
    if end is not None and end <= datetime.now(UTC):
        return write.strike(text, fact, {"until": until} | ({} if fact.id else {"id": identifier}))
    return write.lasting(text, fact, until)


def _in_place(text: str, wrong: ParsedFact, new: Fact, zone: tzinfo, around: Around) -> str | None:
    """Return the text with a bullet that says what is right, and else is as it was; None where none reads so.

    What a person wrote around the value stays, and so do other comments.
    """
    before = parse(text)
    end = when(new.until, zone)
    struck = end is not None and end <= datetime.now(UTC)
    shown = label(new.predicate, chinese=shown_in_chinese(before, new, around=around))
    wanted = write.predicate_words(new.predicate)
    others = sorted((one.predicate, one.value, one.struck) for one in before if one is not wrong)
    for words, fields in _wordings(text, wrong, new, shown):
        marked = f"~~{words}~~" if struck else words
        start, stop = wrong.bullet.words
        candidate = text[:start] + marked + text[stop:]
        mine = next((one for one in parse(candidate) if one.bullet.start == wrong.bullet.start), None)
        if mine is None:
            continue
        candidate = write.change_comment(candidate, mine, fields)
        found = parse(candidate)
        left = sorted((one.predicate, one.value, one.struck) for one in found if one.id != new.id)
        reads = [(one.predicate, one.value, one.struck) for one in found if one.id == new.id]
        if reads == [(wanted, new.value, struck)] and left == others:
            return candidate
    return None


def _wordings(text: str, wrong: ParsedFact, new: Fact, shown: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the words that a bullet may have, with the fields of its comment, the closest to it first."""
    fields = fields_of(new)
    if fields["until"] == wrong.meta.get("until", ""):
        fields.pop("ended")  # who said so stays
    start, stop = wrong.bullet.words
    words = text[start:stop]
    if wrong.struck and words.startswith("~~") and words.endswith("~~"):
        words = words[2:-2]
    at = words.rfind(wrong.value)
    if at >= 0 and write.predicate_words(new.predicate) == write.predicate_words(wrong.predicate):
        yield (
            words[:at]
            + write.words_of("value", new.value).partition(": ")[2]
            + words[at + len(wrong.value) :],
            fields,
        )
    yield (
        write.words_of(shown, new.value),
        fields | {"key": "" if shown == new.predicate else write.predicate_words(new.predicate)},
    )


def restored(
    text: str,
    path: str,
    correction: Correction,
    zone: tzinfo,  # noqa: ARG001 - as `corrected`
    around: Around = tuple,  # noqa: ARG001
) -> str:
    """Return the text of a file as it was before a correction, but for what was changed in it since."""
    before, new = correction.before, correction.fact
    mine = _bullet(text, path, new.id) if new is not None else None
    wrong = _bullet(text, path, correction.wrong)
    back = before is not None and before.path == path and correction.bullet and wrong is None
    same = before is not None and new is not None and new.supersedes == before.supersedes
    same = same and bool(back) and mine is not None
    if mine is not None and new is not None:
        at, stop = mine.bullet.start, mine.bullet.end
        text = text[:at] + (correction.bullet if back else "") + text[stop:]
        if not same:
            text = _with_end(text, path, new.supersedes, new.until, instead=new.since)
    elif back:
        text = _put_back(text, correction)
    if before is None or not back:
        return text
    ended = new.since if same and new is not None else before.until
    return _with_end(text, path, before.supersedes, before.since, instead=ended)


def _put_back(text: str, correction: Correction) -> str:
    """Return the text with the bullet on the line where it stood, or at the end, where it reads as it did."""
    end = write.line_end(text)
    bullet = correction.bullet if correction.bullet.endswith(("\n", "\r")) else correction.bullet + end
    others = sorted((one.predicate, one.value, one.struck) for one in parse(text))
    (alone,) = parse(bullet.lstrip(" \t"))[:1] or (None,)
    lines = text.splitlines(keepends=True)
    at = sum(map(len, lines[: max(correction.line - 1, 0)]))
    closed = text if not text or text.endswith(("\n", "\r")) else text + end
    for candidate in (
        text[:at] + correction.bullet + text[at:],
        text[:at] + bullet + text[at:],
        closed + bullet,
    ):
        found = [(one.predicate, one.value, one.struck) for one in parse(candidate)]
        mine = (alone.predicate, alone.value, alone.struck) if alone is not None else None
        if mine in found:
            found.remove(mine)
            if sorted(found) == others:
                return candidate
    return closed + bullet
