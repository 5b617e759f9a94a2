"""What people come to the panel for, with keys counted: each may take so many and no more.

In a terminal, at the sizes that people have, on the month of somebody; see `interfaces/test_web_flows.py`.
"""

import re
import shutil
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Final, NamedTuple

import pytest

pytest.importorskip("textual")

import month
from mnemark import Memory
from sampled import sampled

from .hands import Hand, hand
from .seat import USUAL, WIDE

pytestmark = [
    pytest.mark.timed,
    pytest.mark.skipif(sys.platform == "win32", reason="needs a Unix terminal"),
    pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux"),
]


class Said(NamedTuple):
    """What a person looks for in the month, and what the panel says in their language."""

    question: str
    answer: str
    of_fact: str
    fact: str
    quote: str
    known: str
    right: str
    of_turn: str
    turn: str
    rule: str
    night: str
    why: str
    would_hide: str
    hidden: str
    undone: str
    found_again: str
    erase: str
    erased: str
    removed: str
    corrected: str
    accept: str
    suspect: str
    review: str


IN: Final = {
    "en": Said(
        question="when is the council visit at mum's", answer="between 10 and 12",
        of_fact="what am i allergic to", fact="You are allergic to penicillin.",
        quote="i'm allergic to penicillin", known="penicillin", right="amoxicillin",
        of_turn="sourdough starter Gladys", turn="the starter is called Gladys", rule="24 hour",
        night="N shows and undoes it", why="It comes from", would_hide="This would be hidden: 1 message",
        hidden="Forgotten: 1 message", undone="Undone: ", found_again="Found by searches again: ",
        erase="Type {n} and press Enter",
        erased="Erased: 1 message", removed="Removed from",
        corrected="Corrected: you are allergic to amoxicillin.", accept="y accept",
        suspect="Looks like instructions", review="4 Review {n}",
    ),
    "zh": Said(
        question="宽带什么时候来装", answer="西子说装宽带改到", of_fact="我对什么过敏", fact="你对芒果过敏。",
        quote="另外我对芒果过敏", known="芒果", right="菠萝", of_turn="馒头 死面", turn="馒头又发成死面了",
        rule="二十四小时制", night="按 N 查看并撤销", why="来自", would_hide="将会隐藏：1 条消息",
        hidden="已遗忘：1 条消息", undone="已撤销", found_again="又能搜到：",
        erase="输入 {n} 再按 Enter", erased="已抹除：1 条消息",
        removed="已移除的位置", corrected="已更正：你对菠萝过敏。", accept="y 接受",
        suspect="像是写给模型的指令", review="4 审核 {n}",
    ),
}  # fmt: skip


class Flow(NamedTuple):
    """A person at the panel of their memory."""

    at: Hand
    root: Path
    said: Said

    def find(self, words: str, answer: str) -> None:
        """Search from any screen."""
        self.at.press("/").type(words)
        self.at.sees(answer)


def undo_last_night(flow: Flow) -> None:
    core = flow.root / "MEMORY.md"
    assert flow.said.rule in core.read_text("utf-8")
    flow.at.sees(flow.said.night)
    flow.at.press("N")
    flow.at.sees(flow.said.rule, "y ")
    flow.at.press("y")
    flow.at.sees(flow.said.undone)
    assert flow.said.rule not in core.read_text("utf-8")


def find(flow: Flow) -> None:
    flow.find(flow.said.question, flow.said.answer)


def why(flow: Flow) -> None:
    flow.at.press("w")
    flow.at.sees(flow.said.fact, flow.said.why, flow.said.quote)


def correct(flow: Flow) -> None:
    flow.at.press("c").type(flow.said.right)
    flow.at.sees(flow.said.corrected)
    with Memory.open(flow.root, readonly=True) as memory:
        assert flow.said.right in [fact.value for fact in memory.facts()]
        assert flow.said.known not in [fact.value for fact in memory.facts(history=True)], "it was never so"


def hide(flow: Flow) -> None:
    flow.at.press("d")
    flow.at.sees(flow.said.would_hide, flow.said.turn)
    flow.at.press("y")
    flow.at.sees(flow.said.hidden)
    assert not _found(flow)


def take_back(flow: Flow) -> None:
    flow.at.press("u")
    flow.at.sees(flow.said.found_again)
    assert _found(flow)


def erase(flow: Flow) -> None:
    flow.at.press("D")
    screen = flow.at.sees(flow.said.erase.partition("{n}")[0], flow.said.turn)
    number = re.search(r"(\d+) Enter", screen)
    assert number is not None, screen
    flow.at.type(number[1])
    flow.at.sees(flow.said.erased, flow.said.removed)
    flow.at.press("Escape")  # the receipt
    told = flow.said.turn.encode()
    assert not [one for one in flow.root.glob("sessions/*.jsonl") if told in one.read_bytes()]


def decide_twenty(flow: Flow) -> None:
    flow.at.press("4")
    flow.at.sees(flow.said.accept)
    with Memory.open(flow.root, readonly=True) as memory:
        waiting = len(memory.review())
    assert waiting >= 20
    for left in range(waiting, waiting - 20, -1):
        screen = flow.at.sees(flow.said.review.format(n=left))
        suspect = _chosen(screen, flow.said.suspect)
        flow.at.press("y" if left % 2 and not suspect else "n")
    flow.at.sees(flow.said.review.format(n=waiting - 20))
    with Memory.open(flow.root, readonly=True) as memory:
        assert len(memory.review()) <= waiting - 20


def _chosen(screen: str, text: str) -> bool:
    """Whether the right side says this of the chosen row."""
    return any(text in line.rpartition("│")[2] for line in screen.splitlines())


def _found(flow: Flow) -> bool:
    with Memory.open(flow.root, readonly=True) as memory:
        hits = memory.search(flow.said.of_turn).hits
        return any(hit.kind == "turn" and flow.said.turn in hit.text for hit in hits)


SEATS: Final = [
    pytest.param((language, size), id=f"{language} {size[0]}x{size[1]}")
    for language, size in product(month.LANGUAGES, (USUAL, WIDE))
]


@pytest.fixture(params=sampled(SEATS, 3))
def flow(
    request: pytest.FixtureRequest, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Flow]:
    """The panel of the month of somebody, in a terminal of 80 or 120 columns."""
    language, size = request.param
    root = month.copy_of(language, tmp_path / "agent", tmp_path_factory)
    with hand(root, tmp_path / "tmux", size=size, language=language) as at:
        yield Flow(at, root, IN[language])


def test_what_people_come_for_takes_few_keys(flow: Flow) -> None:
    said = flow.said

    def takes(most: int, act: Callable[[Flow], None]) -> None:
        flow.at.count = 0
        act(flow)
        assert flow.at.count <= most, act.__name__

    takes(2, undo_last_night)
    takes(1, find)
    flow.find(said.of_fact, said.fact)
    takes(1, why)
    flow.at.press("Escape")
    takes(2, correct)
    flow.find(said.of_turn, said.turn)
    takes(3, hide)
    takes(1, take_back)
    takes(4, erase)
    takes(1 + 20, decide_twenty)
