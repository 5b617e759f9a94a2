"""The shortest form of a hit still leads to it."""

from mnemark.retrieval.disclose import block
from mnemark.types import Hit


def test_a_long_ref_is_never_cut() -> None:
    name = "sessions/claude-code-a1a953e2-5951-4fd3-8693-1a3e381e52a2-v1rxv0hhb0.jsonl"
    hits = [
        Hit(
            ref=f"{name}#L{line}", path=name, start_line=line, end_line=line, kind="turn", title="s",
            date="2026-11-21T08:07:35+00:00", origin="owner", scope="", score=0.5,
            text="word " * 500, snippet="word " * 60,
        )
        for line in range(100, 108)
    ]  # fmt: skip
    shown = block(hits, budget=600)
    rows = [line for line in shown.splitlines() if line.startswith("- ")]
    assert len(rows) > 4
    assert all(row.split()[1] == hit.ref for row, hit in zip(rows, hits, strict=False))
