"""Apply changes of facts to the text of a fact file. Applying a change twice is the same as applying it once.

Files are changed by `edit` only.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, tzinfo
from functools import partial
from pathlib import Path
from typing import Final

from mnemark.facts import write
from mnemark.facts.files import Confirmation, fact_of, facts_in, subject_of, time_in_id
from mnemark.facts.keys import predicate_key, subject_key
from mnemark.facts.labels import Around, is_chinese, shows_chinese
from mnemark.facts.model import Fact, refs_in
from mnemark.facts.parse import ParsedFact, parse
from mnemark.facts.timeline import in_order, timeline, when
from mnemark.files.edit import EditResult, edit
from mnemark.files.truth import Folder
from mnemark.text.lines import clean, decode, encode
from mnemark.text.markdown.frontmatter import front_matter

_MAX_AROUND: Final = 20_000
"""Characters of the user's facts that are read for their language."""
_BLANK: Final = "\ufeff \t\r\n"
_MIN_BATCH: Final = 3  # from so many on, new facts are added to a file in one step
_WAIT: Final = 0.3  # seconds a change waits for the workspace's lock before it is left for the next time


def project(
    truth: Folder, path: str, changes: Sequence[Fact | Confirmation], zone: tzinfo
) -> tuple[EditResult, list[str]]:
    """Apply acknowledged changes to a file; return the result and the ids of those now in it.

    A busy file is left alone (status "deferred"). Errors as for `edit`.
    """
    done: list[str] = []
    around = partial(around_of, truth.root, path)

    def change(data: bytes) -> bytes:
        text, batch = _with_batch(decode(data), path, changes, zone, around)
        done[:] = batch
        for item in changes:
            if item.id not in batch:
                text, is_in = applied(text, path, item, zone, around)
                done.extend([item.id] if is_in else [])
        return encode(text)

    result = edit(truth, path, change, timeout=_WAIT)
    return result, [] if result.status == "deferred" else done


def _with_batch(
    text: str, path: str, changes: Sequence[Fact | Confirmation], zone: tzinfo, around: Around
) -> tuple[str, frozenset[str]]:
    """Append all facts with new keys at once; return the text and their ids.

    If any fact would not parse back unchanged, none is appended; the caller then adds them one by one.
    """
    facts = [change for change in changes if isinstance(change, Fact)]
    if len(facts) < _MIN_BATCH:
        return text, frozenset()
    now = datetime.now(UTC)
    standing = {fact.key[:2] for fact in facts_in(text, path, now.isoformat())}
    counts = Counter(fact.key for fact in facts)
    groups: defaultdict[tuple[str, str], list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.key[:2] not in standing and counts[fact.key] == 1:
            groups[fact.key[:2]].append(fact)
    new = [fact for group in groups.values() for fact in group]
    if len(new) < _MIN_BATCH:
        return text, frozenset()
    end = write.line_end(text)
    there = parse(text)
    chinese = shown_in_chinese(there, *new, around=around)
    if not text.strip(_BLANK):
        text += _heading(path, chinese=chinese)
    elif not text.endswith(("\n", "\r")):
        text += end
    candidate = text + end.join(
        [*(_bullet(fact, timeline([fact], zone)[0].end, now, chinese=chinese) for fact in new), ""]
    )
    after = parse(candidate)
    found = {one.id: (one.predicate, one.value) for one in after}
    wanted = {fact.id: (write.predicate_words(fact.predicate), fact.value) for fact in new}
    before = [(one.predicate, one.value, one.struck) for one in there]
    others = [(one.predicate, one.value, one.struck) for one in after if one.id not in wanted]
    if others != before or any(found.get(one) != words for one, words in wanted.items()):
        return text, frozenset()
    return candidate, frozenset(wanted)


_CHINESE_TITLES: Final = {"user": "用户", "agent": "助手", "project": "项目"}


def _heading(path: str, *, chinese: bool) -> str:
    subject = clean(subject_of(path))
    return f"# {(chinese and _CHINESE_TITLES.get(subject_key(subject))) or subject.capitalize()}\n\n"


def shown_in_chinese(there: Iterable[ParsedFact], *new: Fact, around: Around = tuple) -> bool:
    """Return whether the values of a file are in Chinese, so that its predicates are shown in it."""
    return shows_chinese([*(parsed.value for parsed in there), *(fact.value for fact in new)], around)


def around_of(root: Path, path: str) -> Sequence[str]:
    """Return the values of the user's facts, for a file beside theirs."""
    beside = root / path
    user = beside.with_name("user.md")
    if beside.name == user.name:
        return ()
    try:
        return [parsed.value for parsed in parse(decode(user.read_bytes())[:_MAX_AROUND])]
    except OSError:
        return ()


def _bullet(fact: Fact, end: datetime | None, now: datetime, *, chinese: bool) -> str:
    struck = end is not None and end <= now
    return write.bullet_of(fact.predicate, fact.value, fields_of(fact), struck=struck, chinese=chinese)


def applied(
    text: str, path: str, change: Fact | Confirmation, zone: tzinfo, around: Around = tuple
) -> tuple[str, bool]:
    """Apply one change to a file's text; return the text and whether the change is in it."""
    if isinstance(change, Confirmation):
        return _confirm(text, path, change), True
    now = datetime.now(UTC)
    found = parse(text)
    if any(parsed.id == change.id for parsed in found):
        return text, True
    key = change.key
    standing = [
        (at, parsed, fact, fact.key)
        for at, parsed in enumerate(found)
        if predicate_key(parsed.predicate) == key[1]
        for fact in [fact_of(parsed, path, now.isoformat())]
    ]
    same = [(parsed, fact) for _, parsed, fact, its_key in standing if its_key == key]
    held = {one.fact.id: one for one in in_order([*(fact for _, fact in same), change], zone)}
    mine = held[change.id].fact
    for parsed, fact in reversed(same):
        one = held[fact.id]
        if one.fact.until != fact.until and one.end == held[change.id].begin and one.end is not None:
            fields = {} if parsed.id else fields_of(fact)
            change_line = write.strike if one.end <= now else write.change_comment
            text = change_line(text, parsed, fields | {"until": mine.since})
    beside = [(at, fact) for at, _, fact, its_key in standing if its_key[:2] == key[:2]]
    near = [at for at, fact in beside if fact.id == mine.supersedes] or [at for at, _ in beside]
    return _insert(text, mine, near[-1] if near else None, held[change.id].end, now, around=around)


def fields_of(fact: Fact) -> dict[str, str]:
    """Return the fields of a fact's comment, without those that say what is assumed without them."""
    derived = {fact.since, _to_second(time_in_id(fact.id))}
    key, path_subject = subject_key(fact.subject), subject_of(fact.path)
    # A file's name is in small letters: the capitals of a name are kept beside it.
    same = subject_key(path_subject) == key and (key in _CHINESE_TITLES or path_subject == fact.subject)
    return {
        "id": fact.id,
        "type": "" if fact.type == "fact" else fact.type,
        "subject": "" if same else fact.subject,
        "priority": fact.priority,
        "since": fact.since,
        "until": fact.until,
        "ended": fact.ended,
        "recorded": "" if {fact.recorded, _to_second(fact.recorded)} & derived else fact.recorded,
        "origin": fact.origin,
        "importance": "" if fact.importance is None else f"{fact.importance:g}",
        "confidence": "" if fact.confidence is None else f"{fact.confidence:g}",
        "tags": ", ".join(fact.tags),
        "source": fact.source,
        "supersedes": fact.supersedes,
    }


def _to_second(time: str) -> str:
    """Return a time in ISO format in UTC and seconds; as it is if it is none."""
    try:
        return datetime.fromisoformat(time).astimezone(UTC).isoformat(timespec="seconds")
    except ValueError:
        return time


def _insert(
    text: str, fact: Fact, below: int | None, end: datetime | None, now: datetime, *, around: Around
) -> tuple[str, bool]:
    """Insert a fact's bullet where it parses back unchanged and alters no other bullet."""
    parsed = parse(text)
    chinese = shown_in_chinese(parsed, fact, around=around)
    line = _bullet(fact, end, now, chinese=chinese)
    if not text.strip(_BLANK):
        return f"{text}{_heading(fact.path, chinese=chinese)}{line}\n", True
    after = None if below is None else parsed[below]
    before = sorted((one.predicate, one.value, one.struck) for one in parsed)
    for candidate in _with_line(text, line, after):
        found = parse(candidate)
        mine = [one for one in found if one.id == fact.id]
        others = sorted((one.predicate, one.value, one.struck) for one in found if one.id != fact.id)
        wanted = write.predicate_words(fact.predicate)
        reads = [(one.predicate, one.value) for one in mine] == [(wanted, fact.value)]
        if reads and others == before:
            return candidate, True
    return text, False


def _with_line(text: str, line: str, after: ParsedFact | None) -> Iterator[str]:
    """Yield a text with a bullet added: below another one if there is one, at the end, at the start."""
    if after is not None:
        yield write.add_bullet(text, line, after=after)
    yield write.add_bullet(text, line)
    start = front_matter(text).end or (1 if text.startswith("\ufeff") else 0)
    yield f"{text[:start]}{line}{write.line_end(text)}{text[start:]}"


def _confirm(text: str, path: str, change: Confirmation) -> str:
    """Write a confirmation or an end to the comment of its fact, if the fact is still in the file."""
    for parsed in parse(text):
        fact = fact_of(parsed, path, "")
        if fact.id == change.fact:
            fields = ({} if parsed.id else fields_of(fact)) | dict(change.fields)
            if source := change.fields.get("source"):
                sources = [*refs_in(fact.source), source]
                fields["source"] = ", ".join(dict.fromkeys(sources))
            over = when(fields.get("until", ""), UTC) if "until" in change.fields else None
            ended = over is not None and over <= datetime.now(UTC)
            return (write.strike if ended else write.change_comment)(text, parsed, fields)
    return text


def review_bullet(data: bytes, fact: Fact) -> bytes:
    """Add a proposal to the review file, unless it is there."""
    text = decode(data)
    if any(parsed.id == fact.id for parsed in parse(text)):
        return data
    fields = fields_of(fact) | {
        "subject": fact.subject,
        "review": fact.review,
        "against": fact.against,
        "quote": fact.quote,
    }
    line = write.bullet_of(fact.predicate, fact.value, fields, chinese=is_chinese(fact.value))
    return encode(write.add_bullet(text or "# To review\n\n", line))
