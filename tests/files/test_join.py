"""Two versions of a file become one, the same on both machines, and nothing of either is lost."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemark.files import ids
from mnemark.files.join import is_doubled, join_logs, join_texts


def line(identifier: str | None, content: str = "", **more: str) -> bytes:
    return json.dumps(({"id": identifier} if identifier else {}) | {"content": content} | more).encode()


EARLY, MIDDLE, LATE = (f"01J{digit}{'0' * 22}" for digit in "123")


def log(*lines: bytes) -> bytes:
    return b"".join(one + b"\n" for one in lines)


def test_records_stand_in_the_order_they_were_said() -> None:
    ours = log(line(EARLY, "one"), line(LATE, "three"))
    theirs = log(line(EARLY, "one"), line(MIDDLE, "two"))
    joined = join_logs(ours, theirs)
    assert joined.data == log(line(EARLY, "one"), line(MIDDLE, "two"), line(LATE, "three"))
    assert (joined.ours, joined.theirs, joined.added) == ({2: 3}, {}, 1)


def test_records_without_a_ulid_are_ordered_by_their_time() -> None:
    second = line("x-1", "b", time="2024-01-01T02:00:00Z")
    later = line(ids.derived_id(b"c", None).replace("0", "7", 1), "c")
    assert join_logs(log(later), log(second)).data == log(second, later)


def test_another_content_of_a_known_id_stays_beside_it() -> None:
    assert join_logs(log(line(EARLY, "a")), log(line(EARLY, "b"))).data == log(
        line(EARLY, "a"), line(EARLY, "b")
    )


def test_what_one_side_erased_is_erased() -> None:
    erased = json.dumps({"id": EARLY, "erased": "2026-02-13T10:00:00Z"}).encode()
    for ours, theirs in ((erased, line(EARLY, "secret")), (line(EARLY, "secret"), erased)):
        assert join_logs(log(ours), log(theirs)).data == log(erased)


def test_a_line_of_another_program_stays_below_the_record_before_it() -> None:
    joined = join_logs(log(line(EARLY), line(LATE)), log(line(EARLY), b"// by hand"))
    assert joined.data == log(line(EARLY), b"// by hand", line(LATE))


def test_a_torn_line_is_left_out_where_its_whole_is_there() -> None:
    whole = line(EARLY, "hello")
    assert join_logs(log(whole), whole[:20]).data == log(whole)
    assert join_logs(log(line(LATE)), whole[:20]).data == log(whole[:20], line(LATE))


def test_marks_of_git_and_other_line_ends_are_no_records() -> None:
    marked = log(line(EARLY), b"<<<<<<< HEAD", line(MIDDLE), b"=======", line(LATE), b">>>>>>> other")
    assert join_logs(marked, b"").data == log(line(EARLY), line(MIDDLE), line(LATE))
    assert join_logs(log(line(EARLY)), log(line(EARLY)).replace(b"\n", b"\r\n")).data == log(line(EARLY))


records = st.builds(
    line,
    st.sampled_from([EARLY, MIDDLE, LATE, "not-a-ulid", None]),
    st.text(max_size=3),
    time=st.sampled_from(["2026-02-13", "2026-02-13T10:00:00Z", "no time", "9999-12-31T23:59:59-14:00"]),
)
logs = st.lists(records | st.binary(max_size=4) | records.map(lambda data: data[:9]), max_size=6).map(
    b"\n".join
)


def lines_of(data: bytes) -> set[bytes]:
    return {clean for part in data.split(b"\n") if (clean := part.strip(b"\xef\xbb\xbf \t\r"))}


@given(logs, logs)
def test_every_line_of_both_is_kept_but_for_torn_ones(ours: bytes, theirs: bytes) -> None:
    joined = join_logs(ours, theirs).data
    assert lines_of(joined) <= lines_of(ours) | lines_of(theirs)
    for left_out in (lines_of(theirs) | lines_of(ours)) - lines_of(joined):
        assert any(one.startswith(left_out) for one in lines_of(joined))


@given(logs, logs)
def test_logs_are_joined_the_same_from_either_side_and_once(ours: bytes, theirs: bytes) -> None:
    joined = join_logs(ours, theirs).data
    assert joined == join_logs(theirs, ours).data or ours == theirs
    assert join_logs(joined, theirs).data == join_logs(joined, ours).data == joined


growing = st.lists(st.integers(0, 40), unique=True, max_size=8).map(
    lambda numbers: log(*(line(f"01J1{number:022d}", str(number)) for number in sorted(numbers)))
)


@given(growing, growing, growing)
def test_logs_of_three_machines_are_the_same_in_any_order(one: bytes, two: bytes, three: bytes) -> None:
    assert join_logs(join_logs(one, two).data, three).data == join_logs(one, join_logs(two, three).data).data


BASE = b"# Plan\n\n- tea\n- salt\n\nport: 80\n"


def test_changes_in_different_places_are_both_made() -> None:
    ours = BASE.replace(b"- tea", b"- green tea")
    theirs = BASE.replace(b"port: 80", b"port: 81").replace(b"- salt\n", b"")
    assert join_texts(BASE, ours, theirs).data == b"# Plan\n\n- green tea\n\nport: 81\n"


def test_items_that_both_added_are_in_one_order() -> None:
    ours, theirs = (
        BASE.replace(b"salt\n", b"salt\n- rice\n"),
        BASE.replace(b"salt\n", b"salt\n- oats\n- figs\n"),
    )
    joined = join_texts(BASE, ours, theirs)
    assert b"- salt\n- oats\n- figs\n- rice\n" in joined.data
    assert not joined.doubled


BANK = b"# 2026-11-28\n\n- 09:12 Paid the gas bill of 82 euros\n"
POST = b"# 2026-11-28\n\n- 09:40 Paid the gas bill of 84 euros\n  and of October\n- 11:05 Rang the dentist\n"
DAY = b"# 2026-11-28\n\nA free day.\n"


def test_two_machines_that_begin_the_same_day_have_all_entries_by_time_and_no_mark() -> None:
    joined = join_texts(None, BANK, POST)
    assert joined.data == BANK + POST.split(b"\n", 2)[2]
    assert not joined.doubled
    assert join_texts(None, BANK.replace(b"09:12", b"09:40"), POST).doubled  # one of them was corrected


@pytest.mark.parametrize("more", [b"\n", b"\n## Evening\n\n"])
def test_entries_that_both_added_below_a_text_have_one_heading_and_no_mark(more: bytes) -> None:
    ours, theirs = (DAY + more + text.split(b"\n", 2)[2] for text in (BANK, POST))
    joined = join_texts(DAY, theirs, ours)
    assert joined.data == ours + POST.split(b"\n", 2)[2]
    assert not joined.doubled


def test_lines_that_both_changed_stand_marked_and_a_third_version_joins_them() -> None:
    one, two, three = (BASE.replace(b"80", port) for port in (b"81", b"82", b"83"))
    joined = join_texts(BASE, one, two)
    assert joined.doubled
    assert is_doubled(joined.data)
    assert joined.data.index(b"port: 81") < joined.data.index(b"port: 82")
    again = join_texts(None, joined.data, three)
    assert again.data.count(b"keep one version") == 1
    assert all(port in again.data for port in (b"81", b"82", b"83"))


def test_a_change_stays_where_the_other_side_deleted() -> None:
    changed = BASE.replace(b"- salt", b"- sea salt")
    assert join_texts(BASE, changed, BASE.replace(b"- salt\n", b"")).data == changed


def test_without_a_base_nothing_counts_as_deleted() -> None:
    assert join_texts(None, BASE, BASE.replace(b"- tea\n", b"")).data == BASE


@pytest.mark.parametrize("place", [b"---\ntitle: a\n---\n# Note\n", b"```\nport: 80\n```\n"])
def test_no_mark_stands_in_front_matter_or_code(place: bytes) -> None:
    one = place.replace(b"title: a", b"title: ab").replace(b"80", b"81")
    two = place.replace(b"title: a", b"title: ac").replace(b"80", b"82")
    joined = join_texts(place, one, two)
    assert joined.left_out
    assert b"<!--" not in joined.data
    assert joined.data == two


texts = st.lists(st.sampled_from([b"- a", b"- b", b"- c", b"x", b"y", b"", b"# h"]), max_size=7).map(
    lambda lines: b"".join(one + b"\n" for one in lines)
)


@given(st.none() | texts, texts, texts)
def test_texts_are_joined_the_same_from_either_side(base: bytes | None, ours: bytes, theirs: bytes) -> None:
    joined = join_texts(base, ours, theirs)
    assert joined == join_texts(base, theirs, ours)
    assert join_texts(base, ours, ours).data == ours
    if base is not None:
        assert join_texts(base, ours, base).data == ours


@given(texts, texts)
def test_without_a_base_each_line_of_both_is_there(ours: bytes, theirs: bytes) -> None:
    assert {*ours.split(b"\n"), *theirs.split(b"\n")} <= set(join_texts(None, ours, theirs).data.split(b"\n"))


CALL = "- 15:30 Bash: make {} <!-- observed: {} -->"


def test_two_tool_calls_of_one_minute_are_no_versions_of_one() -> None:
    """The note of a day that both machines began has no version that both had."""
    head = "# 2026-02-13\n\n## Observations\n\n"
    one, other = (f"{head}{CALL.format('coffee', name)}\n".encode() for name in (EARLY, LATE))
    for ours, theirs in ((one, other), (other, one)):
        joined = join_texts(None, ours, theirs)
        assert (
            joined.data.decode() == f"{head}{CALL.format('coffee', EARLY)}\n{CALL.format('coffee', LATE)}\n"
        )
        assert not joined.doubled
        assert join_texts(None, joined.data, theirs).data == joined.data


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (CALL.format("coffee", EARLY), CALL.format("coffee for two", EARLY)),
        ("- 15:30 buy milk at the shop", "- 15:30 buy milk at the market"),
    ],
)
def test_an_entry_that_may_be_the_other_edited_is_marked(one: str, other: str) -> None:
    versions = [f"# 2026-02-13\n\n{line}\n".encode() for line in (one, other)]
    joined = join_texts(None, *versions)
    assert joined == join_texts(None, *reversed(versions))
    assert joined.doubled
    assert all(joined.data.decode().count(line + "\n") == 1 for line in (one, other))
