"""The last step of a ranking: who said it counts, softly, and nothing else changes its scale."""

from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from mnemark.index.rows import KIND_CODE, ROW
from mnemark.index.snapshot import SegmentView, Snapshot
from mnemark.memory.memory import Memory
from mnemark.retrieval.presets import DEFAULT, PRESETS
from mnemark.retrieval.ranking.rescore import DEPTH, Clues, rescore
from mnemark.types import Hit

NOW = datetime(2026, 6, 1)  # noqa: DTZ001 - wall time
OTHER = (
    ("Cara", "The weather is nice in the valley today, and the train was late again."),
    ("Dan", "We painted the fence last week, it looks much better than before."),
)


def asked(folder: Path, turns: list[tuple[str, str]], question: str) -> list[Hit]:
    """The turns found, best first; each stands in a session of its own, between others."""
    with Memory.open(folder) as memory:
        for number, (speaker, text) in enumerate(turns):
            session = memory.session(f"chat-{number}")
            for role, said in (OTHER[0], (speaker, text), OTHER[1]):
                session.add(role, said)
        memory.sync()
        return list(memory.search(question, now=NOW, explain=True).hits)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What did Ana cook for the birthday dinner?", "Ana"),
        ("what did BEN cook for the birthday dinner?", "Ben"),
    ],
)
@pytest.mark.parametrize("order", [1, -1])
def test_the_speaker_whom_a_question_names_comes_first(
    tmp_path: Path, question: str, first: str, order: int
) -> None:
    said = [("Ana", "I will cook for the birthday dinner."), ("Ben", "I will cook for the birthday dinner!")]
    best = asked(tmp_path, said[::order], question)[0]
    assert best.meta["role"] == first
    assert best.why["boosts"]["named"] > 0


def test_a_chinese_name_counts_as_well(tmp_path: Path) -> None:
    said = [("王芳", "生日晚饭我来做红烧肉。"), ("李强", "生日晚饭我来做红烧肉吧。")]
    assert asked(tmp_path, said, "李强生日晚饭做什么？")[0].meta["role"] == "李强"


def test_a_character_of_a_name_names_nobody(tmp_path: Path) -> None:
    said = [("王芳", "生日晚饭我来做红烧肉。"), ("王强", "生日晚饭我来做红烧肉吧。")]
    named = {
        hit.meta["role"]
        for hit in asked(tmp_path, said, "王强生日晚饭做什么？")
        if hit.why["boosts"].get("named")
    }
    assert named == {"王强"}


@pytest.mark.parametrize("role", ["agent chat", "System", "用户"])
def test_a_role_is_no_name(tmp_path: Path, role: str) -> None:
    said = [(role, "The login of the shop was slow."), ("Ben", "The login of the shop was slow, too.")]
    hits = asked(tmp_path, said, f"Which login was slow, {role}?")
    assert {hit.meta["role"] for hit in hits} >= {role, "Ben"}
    assert not any(hit.why["boosts"].get("named") for hit in hits)


@pytest.mark.parametrize(
    ("question", "said", "named"),
    [
        ("What did Mel cook for the dinner?", {"Ben": 1, "Melanie": 2}, {"Melanie"}),
        ("What did Mel cook for the dinner?", {"Anna Melling": 1, "Ben": 2}, {"Anna Melling"}),
        ("What did Mel cook for the dinner?", {"Melissa": 1, "Melanie": 2}, set()),
        ("What did Mel cook for the dinner?", {"Mel": 1, "Melanie": 2}, {"Mel"}),
        ("What did the art class cook for the dinner?", {"Arthur": 1, "Ben": 2}, set()),
        ("What did they cook for the dinner in San Marino?", {"Sandra": 1, "Ben": 2}, set()),
        ("Will they cook the dinner in May?", {"Maya": 1, "William": 2}, set()),
        ("小王晚饭做什么？", {"李强": 1, "王芳": 2}, {"王芳"}),
        ("阿强晚饭做什么？", {"王芳": 1, "李强": 2}, {"李强"}),
    ],
)
def test_a_short_name_means_the_one_speaker_it_fits(
    tmp_path: Path, question: str, said: dict[str, int], named: set[str]
) -> None:
    text = "晚饭我来做红烧肉，第{}个。" if "晚饭" in question else "I will cook for the dinner, at {}."
    hits = asked(tmp_path, [(name, text.format(number)) for name, number in said.items()], question)
    raised = {hit.meta["role"] for hit in hits if hit.why["boosts"].get("named", 0) > 0}
    assert raised & set(said) == named


def test_a_short_name_counts_before_a_sync(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        session = memory.session("chat")
        for name in ("Ben", "Melanie"):
            session.add(name, "I will cook for the dinner.")
        best = memory.search("What did Mel cook for the dinner?", now=NOW).hits[0]
    assert best.meta["role"] == "Melanie"


def test_a_wrong_name_does_not_hide_the_one_who_said_it(tmp_path: Path) -> None:
    said = [
        ("Ben", "I adopted a grey parrot named Kiwi from the shelter."),
        ("Ana", "I went to the shelter on Monday to help."),
    ]
    best = asked(tmp_path, said, "What is the name of the parrot that Ana adopted from the shelter?")[0]
    assert best.meta["role"] == "Ben"


def test_an_answer_comes_before_the_question_for_it(tmp_path: Path) -> None:
    said = [
        ("Ben", "Which violin teacher did you choose then?"),
        ("Ana", "I chose the violin teacher uptown."),
    ]
    assert asked(tmp_path, said, "Which violin teacher did Ana choose?")[0].text == said[1][1]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Which running shoes did I buy for the marathon?", "user"),
        ("Which running shoes did you recommend for the marathon?", "assistant"),
    ],
)
def test_the_user_is_meant_unless_the_assistant_is(tmp_path: Path, question: str, first: str) -> None:
    said = [
        ("user", "For the marathon I am thinking of running shoes with a wide toe box."),
        ("assistant", "For the marathon you might think of running shoes with a wide toe box."),
    ]
    hits = [hit for hit in asked(tmp_path, said, question) if "marathon" in hit.text]
    boosts = {hit.meta["role"]: hit.why["boosts"].get("user", 0) for hit in hits}
    assert (boosts["user"] > 0) == (first == "user")
    assert boosts["assistant"] == 0


def test_words_come_before_the_output_of_tools_which_is_found(tmp_path: Path) -> None:
    said = [
        ("tool", "commit 4f2a: rename the retry flag of the uploader"),
        ("assistant", "I will rename the retry flag of the uploader now."),
    ]
    roles = [hit.meta["role"] for hit in asked(tmp_path, said, "rename the retry flag of the uploader")]
    assert roles.index("assistant") < roles.index("tool")


def snapshot(kinds: list[int]) -> Snapshot:
    rows = np.zeros(len(kinds), ROW)
    rows["passage"] = rows["ordinal"] = np.arange(len(kinds))
    rows["kind"] = kinds
    rows["length"] = np.arange(len(kinds)) % 7
    view = SegmentView(rows, np.zeros(len(kinds), np.bool_), 0, lambda _terms: {})
    return Snapshot(1, [view], np.zeros(1, np.int64))


KINDS = st.lists(st.sampled_from(sorted(KIND_CODE.values())), min_size=1, max_size=2 * DEPTH)


@given(KINDS, st.floats(1e-3, 1e3), st.booleans())
def test_documents_and_the_best_turn_keep_their_scores(kinds: list[int], scale: float, user: bool) -> None:  # noqa: FBT001 - drawn
    count = len(kinds)
    known = snapshot(kinds)
    fused = np.linspace(scale, scale / 10, count, dtype=np.float32)
    cosines = np.cos(np.arange(count)).astype(np.float32)
    clues = Clues(known, cosines, np.arange(count) % 3 == 0, user)
    scores, parts = rescore(np.arange(count), fused, clues, DEFAULT)
    logged = np.isin(kinds, [KIND_CODE["turn"], KIND_CODE["observation"]])
    assert scores[logged].max(initial=0) == pytest.approx(fused[logged].max(initial=0), rel=1e-4)
    assert scores[~logged] == pytest.approx(fused[~logged], rel=1e-4)
    assert (scores >= 0).all()
    assert all(part.shape == (count,) for part in parts.values())
    # Twice the scores rank the same.
    twice, _ = rescore(np.arange(count), 2 * fused, clues, DEFAULT)
    assert twice == pytest.approx(2 * scores, rel=1e-4, abs=1e-6)


@given(st.integers(1, 2 * DEPTH))
def test_documents_and_other_rankings_are_left_alone(count: int) -> None:
    fused = np.linspace(1, 0.1, count, dtype=np.float32)
    for kind, preset in (("note", DEFAULT), ("turn", PRESETS["bm25"])):
        known = snapshot([KIND_CODE[kind]] * count)  # type: ignore[index]
        clues = Clues(known, fused[::-1], np.ones(count, np.bool_), user=True)
        scores, parts = rescore(np.arange(count), fused, clues, preset)
        assert scores.tolist() == fused.tolist()
        assert parts == {}


def test_what_a_model_reads_weighs_more_than_word_vectors() -> None:
    count = 20
    known = snapshot([KIND_CODE["turn"]] * count)
    fused = np.linspace(1, 0.9, count, dtype=np.float32)
    cosines = np.zeros(count, np.float32)
    cosines[12] = 0.5
    clues = Clues(known, cosines, np.zeros(count, np.bool_), user=False)
    places = []
    for encoder in (False, True):
        scores, _ = rescore(np.arange(count), fused, replace(clues, encoder=encoder), DEFAULT)
        places.append(float(scores[12] - scores[11]))
    assert 0 < places[0] < places[1]


def test_nothing_found_stays_nothing() -> None:
    clues = Clues(snapshot([0]), None, np.zeros(0, np.bool_), user=True)
    scores, parts = rescore(np.zeros(0, np.int64), np.zeros(0, np.float32), clues, replace(DEFAULT, name="x"))
    assert (scores.shape, parts) == ((0,), {})


def worked(folder: Path, sessions: dict[str, list[tuple[str, str]]], question: str) -> list[str]:
    """The sessions found, best first."""
    with Memory.open(folder) as memory:
        for name, turns in sessions.items():
            session = memory.session(name)
            for role, said in turns:
                session.add(role, said)
        memory.sync()
        found = memory.search(question, now=NOW).hits
    return list(dict.fromkeys(Path(hit.path).stem.rsplit("-", 1)[0] for hit in found))


LOG = (
    "commit 81c{0}: Rename the retry flag\ncommit 81d{0}: Rotate the tokens of the uploader\n"
    + "x = {0}\n" * 30
)


def test_the_session_that_did_it_comes_before_those_that_printed_it(tmp_path: Path) -> None:
    sessions = {
        f"read-{number}": [
            ("user", "What is the state of the release?"),
            *[("tool", LOG.format(f"{number}{line}")) for line in range(6)],
            ("assistant", "The release is ready but for the notes."),
        ]
        for number in range(3)
    }
    sessions["did"] = [
        ("user", "One token for ever is not safe, see the uploader."),
        ("tool", "The file client.py has been updated"),
        ("assistant", "They rotate every hour now, and the uploader asks for new ones."),
    ]
    assert worked(tmp_path, sessions, "Rotate the tokens of the uploader")[0] == "did"


def test_what_a_tool_printed_is_found_by_its_words(tmp_path: Path) -> None:
    sessions = {
        "build": [
            ("user", "Run the build."),
            ("tool", "error E0499: cannot borrow `queue` as mutable more than once at a time"),
            ("assistant", "The build fails; I look into it."),
        ],
        "other": [("user", "Which cake do we bake?"), ("assistant", "A cake with plums.")],
    }
    assert worked(tmp_path, sessions, "E0499 cannot borrow queue as mutable")[0] == "build"


def test_what_a_tool_printed_is_no_word_of_who_called_it(tmp_path: Path) -> None:
    turns = [
        ("user", "Is the work of this week done?"),
        ("assistant", "I stage all files now."),
        ("tool", "Rotate the tokens of the uploader"),
        ("assistant", "Everything is in the commit."),
        *[("user", f"What do we do about the cake number {number}?") for number in range(9)],
        ("user", "At night the old uploader in the other building was not to be reached for an hour."),
    ]
    with Memory.open(tmp_path) as memory:
        session = memory.session("work")
        for role, said in turns:
            session.add(role, said)
        memory.sync()
        texts = [hit.text for hit in memory.search("Rotate the tokens of the uploader", now=NOW).hits]
    assert turns[2][1] in texts
    assert not {turns[1][1], turns[3][1]}.intersection(texts[: texts.index(turns[-1][1])])


@pytest.mark.parametrize(
    ("question", "meant", "other"),
    [
        (
            "Update the help of the `check` command",
            "We gave the `check` command a page of help.",
            "We check that a command has a page of help.",
        ),
        (
            "Update the help of `--dry-run`",
            "Its help lists `upload --dry-run` as well.",
            "A dry place to run: the help of the update.",
        ),
        ("更新 `check` 的帮助", "`check` 命令的帮助缺了几个参数。", "我们再 check 一次命令的旧帮助。"),
    ],
)
def test_code_in_a_question_is_found_as_it_is_written(
    tmp_path: Path, question: str, meant: str, other: str
) -> None:
    assert asked(tmp_path, [("assistant", other), ("assistant", meant)], question)[0].text == meant


def test_what_a_user_pasted_is_not_raised_as_their_words(tmp_path: Path) -> None:
    log = "\n\n".join(f"Step {number}: the marathon page loads.\n" + "x " * 400 for number in range(4))
    with Memory.open(tmp_path) as memory:
        session = memory.session("chat")
        for role, said in (("user", log), ("assistant", "I see."), ("user", "I ran a marathon in May.")):
            session.add(role, said)
        memory.sync()
        hits = memory.search("Which marathon did I run?", now=NOW, explain=True).hits
    raised = {hit.text: hit.why["boosts"].get("user", 0) for hit in hits if hit.meta["role"] == "user"}
    assert raised.pop("I ran a marathon in May.") > 0
    assert len(raised) > 1
    assert not any(raised.values())
