"""Dates that were moved: of releases, deadlines and appointments, with what stands around them."""

from datetime import UTC, datetime

import pytest

from mnemark.extraction.extract import by_rules as extract

NOW = datetime(2026, 3, 11, 10, tzinfo=UTC)


def facts(text: str) -> list[tuple[str, str]]:
    return [(one.predicate, one.value) for one in extract(text, time=NOW) if one.predicate and not one.over]


def ended(text: str) -> list[tuple[str, str]]:
    return [(one.predicate, one.value) for one in extract(text, time=NOW) if one.over]


@pytest.mark.parametrize(
    "text",
    [
        "The release moved to 4 May because of the audit.",
        "The release slipped to 4 May due to the audit.",
        "The release moved to 4 May because of the audit on 3 April.",
        "The release was moved from 3 April to 4 May.",
        "Because of the audit, the release moved to 4 May.",
    ],
)
def test_a_release_date_is_read_with_its_reason(text: str) -> None:
    assert facts(text) == [("release date", "2026-05-04")]


@pytest.mark.parametrize(
    "text",
    [
        "因为审计，上线推迟到5月4号",
        "由于审计，上线推迟到了5月4号",
        "上线因为审计推迟到5月4号",
        "上线推迟到5月4号，因为审计还没做完",
        "上线从4月3号推迟到5月4号",
    ],
)
def test_a_chinese_release_date_is_read_with_its_reason(text: str) -> None:
    assert facts(text) == [("发布日期", "2026-05-04")]


@pytest.mark.parametrize(
    "text",
    [
        "The release is on 4 May unless the audit fails.",
        "If the audit fails, the release moved to 4 May.",
        "The release moved to 4 May because of the audit or later.",
        "The release moved to 4 May because we might slip.",
        "The release is on 4 May or 11 May.",
        "如果审计不过，上线推迟到5月4号",
        "因为审计，上线可能推迟到5月4号",
        "上线推迟到5月4号或5月11号",
    ],
)
def test_a_doubtful_date_is_not(text: str) -> None:
    assert facts(text) == []


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        (
            "The dentist moved my appointment to 4 May at 9:00.",
            "dentist appointment",
            "2026-05-04 09:00 dentist appointment",
        ),
        (
            "My dentist appointment was moved to 4 May.",
            "dentist appointment",
            "2026-05-04 dentist appointment",
        ),
        ("I rescheduled my eye exam to 4 May at 3pm.", "eye exam", "2026-05-04 15:00 eye exam"),
        ("The office moved my appointment to 4 May.", "appointment", "2026-05-04 appointment"),
        (
            "Our team meeting moved from 3 April at 14:30 to 4 May at 9:00.",
            "team meeting",
            "2026-05-04 09:00 team meeting",
        ),
        ("My eye exam on 3 April has been moved to 4 May.", "eye exam", "2026-05-04 eye exam"),
        ("牙医把我的预约改到5月4号9点", "牙医预约", "2026-05-04 09:00 牙医预约"),
        ("我的面试推迟到5月4号下午3点", "面试", "2026-05-04 15:00 面试"),
        ("我4月3号的牙医预约改到5月4号上午9点了", "牙医预约", "2026-05-04 09:00 牙医预约"),
    ],
)
def test_a_moved_appointment_takes_the_place_of_the_one_of_its_kind(text: str, kind: str, value: str) -> None:
    assert ended(text) == [("appointments", kind)]
    assert facts(text) == [("appointments", value)]


@pytest.mark.parametrize(
    "text",
    [
        "The dentist moved his appointment to 4 May.",
        "The dentist wants to move my appointment to 4 May.",
        "Maybe the dentist moved my appointment to 4 May.",
        "The dentist moved my appointment to 4 May or 11 May.",
        "Could the dentist move my appointment to 4 May?",
        "The dentist moved to Ghent on 4 May.",
        "牙医能不能把我的预约改到5月4号",
        "牙医想把我的预约改到5月4号",
        "牙医把我的预约改到5月4号了吗",
    ],
)
def test_what_may_be_moved_or_is_another_s_is_not(text: str) -> None:
    assert facts(text) == []
    assert ended(text) == []
