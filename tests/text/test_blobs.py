"""What only programs read is cut out of a text; all else stays where it was."""

import base64
import random

import pytest

from mnemark.text.markdown.blobs import readable

UUID = "65e6f3a1-1111-4222-8333-123456789abc"
DATA = base64.b64encode(random.Random(38).randbytes(3_000)).decode()
BROKEN = "\n".join(DATA[at : at + 76] for at in range(0, len(DATA), 76))
CHUNKS = "\n\n".join(DATA[at : at + 256] for at in range(0, 700, 256))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"A ![map](data:image/png;base64,{DATA}) of the marsh.\n", "A ![map](…) of the marsh.\n"),
        (f'<img src="data:image/svg+xml,{DATA[:90]}"> two', '<img src="…"> two'),
        (f"raw {DATA} end, raw {DATA} end", "raw … end, raw … end"),
        (f"one\r\n{BROKEN}\r\ntwo\r\n".replace("\n", "\r\n").replace("\r\r", "\r"), "one\ntwo\n"),
        (
            f"%%\n# Text\nReeds ^a1\n## Drawing\n```compressed-json\n{CHUNKS}\n```\n%%",
            "# Text\nReeds ^a1\n## Drawing",
        ),
        ('%%\n## Drawing\n```json\n{"type": "x",\n"elements": []}\n```\n%%\nEnd', "## Drawing\nEnd"),
        (f"- sow\n  id:: {UUID}\n  collapsed:: true\n- reap", "- sow\n- reap"),
        (f"see (({UUID})) and ((mine)), two", "see and ((mine)), two"),
        ("Reeds ^a1b2c3\nSedge ^Ab12Cd34  \nEnd", "Reeds\nSedge  \nEnd"),
        (f"* Reeds\n:PROPERTIES:\n:ID:       {UUID}\n:KIND: sedge\n:END:\nEnd", "* Reeds\n:KIND: sedge\nEnd"),
        ("- [ ] sow\n\n%% board:settings\n```\n{}\n```\n%%\n", "- [ ] sow\n"),
    ],
)
def test_blobs_are_cut_out_and_lines_stay(text: str, left: str) -> None:
    found = readable(text)
    assert [line for line in found.text.splitlines() if line] == left.splitlines()
    assert found.text.count("\n") == text.count("\n")
    for word in ("of the marsh", "two", "End", "end,"):
        if word in found.text:
            assert text[found.original(found.text.index(word)) :].startswith(word)
    assert found.original(len(found.text)) == len(text)


@pytest.mark.parametrize(
    "text",
    [
        "commit 3f2a9c1e8b7d6f5a4c3b2a1908f7e6d5c4b3a291 fixes it",
        f"sha512 {'0a1b2c3d4e5f6789' * 40}",  # no capitals
        f"ssh-rsa {DATA[:716]} and a token {DATA[716:1500]}",
        "data: none yet, data:text/plain,hello",
        f"the id is {UUID}\nid:: mine\n[[{UUID}]]",
        "x^2345678 and 2 ^1024 or see ^summary\n(((a)))",
        f"{'-' * 700}\n{'=' * 700}\n",
        "一段很长的中文" * 200,
        '%% a remark %%\n```json\n{"mine": 1}\n```\n',
        "%%\nhidden remark\n```python\nprint(1)\n```\n%%\n",
    ],
)
def test_words_are_no_blobs(text: str) -> None:
    assert readable(text).text == text
