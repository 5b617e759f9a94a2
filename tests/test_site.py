"""What the site is made with: pages become its pages without loss, and what is wrong with it is found."""

import tomllib
from pathlib import Path

import pytest
from tools.site import check, pages

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def test_lists_tables_and_code_stand_apart() -> None:
    text = "Two:\n- one\n  goes on\n- two\nText\n| a |\n|---|\n| `x \\| y` |\n```\n- code\nText\n```\nText\n"
    assert pages.separated(text) == (
        "Two:\n\n- one\n  goes on\n- two\n\nText\n\n"
        "| a |\n|---|\n| `x | y` |\n\n```\n- code\nText\n```\n\nText\n"
    )


def test_a_longer_fence_holds_a_shorter_one() -> None:
    text = "````\n```\n# no heading\n```\n````\n"
    assert pages.anchored(text) == text


@pytest.mark.parametrize(
    ("path", "link", "there"),
    [
        ("docs/a.md", "b.md#c", "b.md#c"),
        ("docs/a.md", "../SECURITY.md#d", "security.md#d"),
        ("docs/agents/a.md", "../../CHANGELOG.md", "../changes.md"),
        ("SECURITY.md", "docs/trust.md#whose-folder", "trust.md#whose-folder"),
        ("CONTRIBUTING.md", "CHANGELOG.md", "changes.md"),
        ("docs/a.md", "https://example.org/docs/b.md", "https://example.org/docs/b.md"),
        ("docs/a.md", "../pyproject.toml", "../pyproject.toml"),
    ],
)
def test_links_lead_to_where_files_are_on_the_site(path: str, link: str, there: str) -> None:
    assert pages.relinked(f"A [page]({link}).\n", path) == f"A [page]({there}).\n"


def test_links_in_code_are_left_alone() -> None:
    text = "```\n[page](docs/a.md)\n```\n"
    assert pages.relinked(text, "SECURITY.md") == text


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("Chats of several people: `--me`", "chats-of-several-people---me"),
        ("`<private>`", "private"),
        ("SOUL.md, AGENTS.md and USER.md", "soulmd-agentsmd-and-usermd"),
        ("抹除：真的没有了", "抹除真的没有了"),
    ],
)
def test_anchors_are_those_of_forges(heading: str, anchor: str) -> None:
    assert pages.slug(heading) == anchor


def test_a_heading_twice_has_two_anchors() -> None:
    assert pages.anchored("## Facts\n\n## Facts\n") == "## Facts { #facts }\n\n## Facts { #facts-1 }\n"


def test_the_switch_of_languages_leads_to_the_same_page() -> None:
    found = frozenset(
        {"index.md", "start.md", "agents/README.md", "cli.md", "zh/index.md", "zh/start.md", "zh/agents.md"}
    )
    pairs = {uri: pages.counterpart(uri, found) for uri in found}
    assert pairs == {
        "index.md": "zh/index.md",
        "start.md": "zh/start.md",
        "agents/README.md": "zh/agents.md",
        "cli.md": "zh/index.md",
        "zh/index.md": "index.md",
        "zh/start.md": "start.md",
        "zh/agents.md": "agents/README.md",
    }
    assert pages.address("agents/README.md") == "agents/index.html"


def test_every_page_has_its_place_in_the_navigation() -> None:
    settings = tomllib.loads((ROOT / "tools/site/zensical.toml").read_text("utf-8"))

    def leaves(part: object) -> list[str]:
        if isinstance(part, str):
            return [part]
        parts = part.values() if isinstance(part, dict) else part
        assert not isinstance(parts, str)
        return [leaf for each in parts for leaf in leaves(each)]  # type: ignore[attr-defined]

    placed = leaves(settings["project"]["nav"])
    there = [path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")]
    assert sorted(placed) == sorted([*there, *(uri for uri in pages.BROUGHT.values() if uri.endswith(".md"))])


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "site").mkdir()
    (tmp_path / "pages").mkdir()
    return tmp_path


def found(site: Path, html: str, source: str = "") -> list[str]:
    (site / "site/a.html").write_text(html, "utf-8")
    (site / "pages/a.md").write_text(source, "utf-8")
    return check.problems(site / "site", site / "pages")


@pytest.mark.parametrize(
    "html",
    [
        '<script src="https://example.org/a.js"></script>',
        '<link rel="stylesheet" href="//example.org/a.css">',
        '<img src="http://example.org/a.png">',
        "<p style=\"background: url('https://example.org/a.png')\">x</p>",
        "<style>@import 'https://example.org/a.css';</style>",
        '<svg><use href="https://example.org/a.svg"/></svg>',
    ],
)
def test_what_is_fetched_from_elsewhere_is_found(site: Path, html: str) -> None:
    assert [each for each in found(site, html) if "fetches" in each and "example.org" in each]


def test_a_style_sheet_that_fetches_is_found(site: Path) -> None:
    (site / "site/a.css").write_text("@font-face { src: url(https://example.org/a.woff2) }", "utf-8")
    assert found(site, "") == ["a.css: fetches https://example.org/a.woff2"]


def test_links_to_elsewhere_and_data_in_the_page_are_no_requests(site: Path) -> None:
    assert found(site, '<a href="https://example.org">x</a><img src="data:image/png;base64,AA==">') == []


def test_links_that_arrive_nowhere_are_found(site: Path) -> None:
    links = "".join(f'<a href="{link}">x</a>' for link in ("#here", "a.html#gone", "b.html"))
    assert found(site, f'<h2 id="here">x</h2>{links}<img src="c.png">') == [
        "a.html: links to a.html#gone, where there is no such anchor",
        "a.html: links to b.html, which is not there",
        "a.html: links to c.png, which is not there",
    ]


def test_words_that_were_lost_are_found(site: Path) -> None:
    source = "A list:\n\n- `one` two\n\n| a |\n|---|\n| three |\n"
    whole = (
        "<article><p>A list:</p><ul><li><code>o<span>ne</span></code> two</li></ul>"
        "<table><tr><th>a</th></tr><tr><td>three</td></tr></table></article>"
    )
    assert found(site, whole, source) == []
    assert found(site, whole.replace("three", ""), source) == [
        "a.html: shows other words than its source, such as three"
    ]


def test_a_page_that_was_not_made_is_named(site: Path) -> None:
    (site / "pages/b.md").write_text("B\n", "utf-8")
    assert found(site, "") == ["b.html: not made; is it in the navigation?"]
