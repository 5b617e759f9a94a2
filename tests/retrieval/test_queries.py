"""Any text is a query: none raises, none takes long."""

import random
import time

import pytest

from faults.logical import LEXICAL
from mnemark.memory.memory import Memory
from sampled import sampled

PIECES = (
    *(
        '"',
        "'",
        "(",
        ")",
        "*",
        "^",
        ":",
        "-",
        "+",
        "AND",
        "OR",
        "NOT",
        "NEAR(",
        "{",
        "}",
        "\\",
        "%",
        "_",
        ";--",
    ),
    *("\0", "\x01", "\x1f", "\x7f", "\ud800", "\udfff", "\ufeff", "\u200b", "\u202e", "\u2028", "\ufffd"),
    *("😀", "👩\u200d🚀", "🇨🇳", "é", "e\u0301", "ß", "İ", "ǅ", "ﬁ", "①", "㍿", "𝕏", "𠮷"),
    *(
        "数",
        "据",
        "库",
        "的",
        "数据库",
        "数据库系统",
        "資料庫",
        "ＡＢＣ",
        "２０２６",
        "「",
        "」",
        "。",
        "、",
        "　",
    ),
    *(
        "alpha",
        "beta",
        "database",
        "camelCase",
        "snake_case",
        "a/b/c.py",
        "3.12",
        "v1.2.3",
        "x" * 300,
        "0x1F",
    ),
    *("yesterday", "last week", "昨天", "上周五", "in March", "2026-02-13", "2026-13-45", "0000", "9" * 40),
    *(
        "first",
        "latest",
        "最近",
        "before",
        "之前",
        "\n",
        "\t",
        " ",
        "\r\n",
        "",
        "<mnemark-recall 0123>",
        "#L12",
        "?",
    ),
    *("SELECT", "'; DROP TABLE passages; --", "NULL", "true", "../../etc", "file://", "http://a.b/c?d=e&f"),
)


def queries(count: int, seed: int) -> list[str]:
    chance = random.Random(seed)
    found = ["", " ", "\0", "\ud800", "数", "😀", '"', '""', "a" * 1_000_000, "数" * 300_000, "😀" * 250_000]
    found += ["(" * 100_000, '"a" ' * 50_000, "\0" * 1_000_000, "2026-01-01 " * 90_000]
    found += [piece * 300_000 for piece in ("yesterday ", "昨天", "a_b", "aB", "/", "1.")]
    while len(found) < count:
        match chance.randrange(10):
            case 0:
                found.append("".join(chr(chance.randrange(0x110000)) for _ in range(chance.randrange(30))))
            case 1:
                found.append(chr(chance.randrange(0x4E00, 0x9FFF)))
            case 2:
                found.append("".join(chance.choices(PIECES, k=chance.randrange(200, 900))))
            case _:
                found.append(chance.choice(["", " "]).join(chance.choices(PIECES, k=chance.randrange(1, 12))))
    return found[:count]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    root = tmp_path_factory.mktemp("w")
    chance = random.Random(5)
    readable = [piece for piece in PIECES if piece.isprintable() and piece.isalnum()]
    for number in range(60):
        words = " ".join(chance.choices(readable, k=120))
        (root / f"2026-02-{1 + number % 28:02}-note{number}.md").write_text(f"# Note {number}\n\n{words}\n")
    found = Memory.open(root, config=LEXICAL)
    session = found.session("cli:main")
    session.add_many([session.turn("user", " ".join(chance.choices(readable, k=20))) for _ in range(300)])
    found.sync()
    return found


@pytest.mark.timed
@pytest.mark.parametrize("count", [150, pytest.param(100_000, marks=pytest.mark.slow)])
def test_any_query_is_answered_in_time(memory: Memory, count: int) -> None:
    worst, hits = (0.0, ""), 0
    for number, query in enumerate(queries(count, count)):
        started = time.process_time()  # of this process: a busy machine adds nothing
        explain, context = number % 50 == 0, (query,) if number % 7 == 0 else ()
        found = memory.search(query, explain=explain, context=context)
        took = time.process_time() - started
        worst = max(worst, (took, query[:60]))
        hits += bool(found.hits)
        assert 0 <= found.believable <= 1
        assert all(
            one.score >= two.score - 1e-9 for one, two in zip(found.hits, found.hits[1:], strict=False)
        )
    print(f"{count} queries, {hits} with hits, worst {worst[0] * 1000:.0f} ms: {worst[1]!r}")  # noqa: T201
    assert worst[0] < 1
    assert hits > count // 3


@pytest.mark.parametrize("query", sampled(queries(60, 1), 5))
def test_any_query_is_recalled_and_can_be_a_time(memory: Memory, query: str) -> None:
    import msgspec

    from mnemark.errors import UsageError

    msgspec.json.encode(memory.recall(query, budget=300, deadline=2.0))
    for name in ("since", "until", "as_of"):
        try:
            memory.search("alpha", **{name: query})  # type: ignore[arg-type]
        except UsageError as error:
            assert name in str(error)  # noqa: PT017


def test_an_option_that_no_search_has_is_refused(memory: Memory) -> None:
    with pytest.raises(TypeError, match="no option 'kind'; it has k, scope, kinds"):
        memory.search("tea", kind=["fact"])  # type: ignore[call-arg]
