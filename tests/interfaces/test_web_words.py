"""The pages speak English and Chinese, completely."""

import re
from datetime import datetime, timedelta
from typing import get_args

import pytest

pytest.importorskip("jinja2")

from interfaces import spoken, web_words
from mnemark.facts.model import PRIORITIES, TYPES
from mnemark.memory.review.attention import What
from mnemark.present.words import BOOSTS, ROUTES, Words, catalogue, language_of, part
from mnemark_faces.web.pages import PAGES
from mnemark_faces.web.pages.prompt import NAMES

NAMED = {*TYPES, *PRIORITIES, *ROUTES.values(), *BOOSTS.values(), *NAMES.values()} - {"QMD"}
"""Names of values that pages show as they are called."""
ROUTE_NAMES = set(PAGES)


def test_every_text_has_a_translation_and_no_translation_is_left_over() -> None:
    asked = web_words.in_templates() | web_words.in_code() | web_words.in_tables() | NAMED
    asked |= spoken.receipt_texts()
    assert sorted(asked - set(catalogue()) - ROUTE_NAMES) == []
    assert sorted({*part("pages"), *part("sentences")} - asked) == []


def test_whatever_needs_a_person_has_a_name_on_the_page_of_today() -> None:
    text = (web_words.WEB / "templates" / "today.html").read_text("utf-8")
    named = re.findall(r'"(\w+)": "', text.split("{% set names = ")[1].split("%}")[0])
    assert set(named) == set(get_args(What))


def test_a_translation_has_the_places_of_its_text() -> None:
    places = re.compile(r"\{(\w+)\}")
    wrong = {en: zh for en, zh in catalogue().items() if set(places.findall(en)) != set(places.findall(zh))}
    assert wrong == {}


def test_a_translation_is_chinese() -> None:
    plain = {
        zh for zh in catalogue().values() if not re.search(r"[\u4e00-\u9fff]", re.sub(r"\{\w+\}", "", zh))
    }
    assert plain == {"{n} / {m} token", "{n} token", "{path}：{what}"}


def test_no_template_has_text_outside_of_the_catalogue() -> None:
    found = []
    for path in sorted((web_words.WEB / "templates").glob("*.html")):
        text = re.sub(r"\{[{%#].*?[}%#]\}", " ", path.read_text("utf-8"), flags=re.DOTALL)
        text = re.sub(r"<(pre|code|kbd)[^>]*>.*?</\1>", " ", text, flags=re.DOTALL)
        text = re.sub(r"<[^>]*>", " ", text, flags=re.DOTALL)
        found += [f"{path.name}: {word}" for word in re.findall(r"[A-Za-z]{2,}", text)]
    assert {one for one in found if not one.endswith(": mnemark")} == {"base.html: English"}


@pytest.mark.parametrize(
    ("chosen", "accepted", "language"),
    [
        ("", "", "en"), ("", "zh-CN,zh;q=0.9,en;q=0.8", "zh"), ("", "de-DE,de;q=0.9,zh-TW;q=0.8", "zh"),
        ("en", "zh-CN", "en"), ("zh", "en-US", "zh"), ("xx", "fr", "en"), ("", "EN-gb", "en"),
    ],
)  # fmt: skip
def test_the_language_is_the_chosen_one_or_the_browsers(chosen: str, accepted: str, language: str) -> None:
    assert language_of(chosen, accepted) == language


def test_times_and_numbers_are_in_words() -> None:
    en, zh = Words("en"), Words("zh")
    now = datetime.fromisoformat("2026-11-22T12:00:00+08:00")
    ago = [
        now - timedelta(**{unit: n})
        for unit, n in (("seconds", 5), ("minutes", 5), ("hours", 3), ("days", 1))
    ]
    assert [en.ago(time, now) for time in ago] == ["just now", "5 min ago", "3 h ago", "yesterday"]
    assert [zh.ago(time, now) for time in ago] == ["刚刚", "5 分钟前", "3 小时前", "昨天"]
    assert en.ago(now - timedelta(days=100), now) == "3 months ago"
    assert (en.count(1, "1 fact", "{n} facts"), en.count(2_000, "1 fact", "{n} facts")) == (
        "1 fact",
        "2\u202f000 facts",
    )
    assert zh.count(1, "1 fact", "{n} facts") == "1 条事实"
    assert en.day(now, now) == "Sunday, 22 November 2026 · today"
    assert zh.day(now - timedelta(days=1), now) == "2026年11月21日 星期六 · 昨天"


def test_values_are_no_formats() -> None:
    assert Words("en")("Remembered: {fact}", fact="{n} {0.__class__}") == "Remembered: {n} {0.__class__}"
