"""What comes first where passages say the same: core memory, the newest, the owner, and what was asked."""

from pathlib import Path

import pytest

from mnemark import Memory
from mnemark.retrieval.ranking.people import asked_about, tells_of

CONFIG = {"embedder": "none"}
SENTENCE = "The spare key of the boat house hangs behind the red door."
FILLER = "\n\nWe talked about the harbour, the weather and the ferry. Nothing was decided.\n"


def fill(root: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def first(root: Path, question: str, k: int = 8) -> list[str]:
    with Memory.open(root, config=CONFIG) as memory:
        memory.sync()
        return [hit.path for hit in memory.search(question, k=k).hits]


def test_core_memory_and_what_is_recent_win_a_tie(tmp_path: Path) -> None:
    root = fill(
        tmp_path,
        {
            "memory/2019-03-02.md": f"# 2019-03-02\n\n{SENTENCE}\n",
            "memory/2026-05-04.md": f"# 2026-05-04\n\n{SENTENCE}{FILLER}",
            "MEMORY.md": f"# Memory\n\n- {SENTENCE}\n- The owner sails on Sundays with the club.{FILLER}",
        },
    )
    wanted = ["MEMORY.md", "memory/2026-05-04.md", "memory/2019-03-02.md"]
    assert first(root, "Where does the spare key of the boat house hang?") == wanted
    # A question that names a time is answered by that time.
    assert first(root, "Where did the spare key of the boat house hang in March 2019?")[0] == wanted[2]


def test_an_old_note_that_says_more_stays_first(tmp_path: Path) -> None:
    root = fill(
        tmp_path,
        {
            "memory/2019-03-02.md": f"# 2019-03-02\n\n{SENTENCE} The alarm code is 4711.\n",
            "MEMORY.md": f"# Memory\n\n- {SENTENCE}{FILLER}",
        },
    )
    assert first(root, "spare key of the boat house, alarm code")[0] == "memory/2019-03-02.md"


def test_the_owner_comes_before_tools_on_the_same_matter(tmp_path: Path) -> None:
    said = "By the way, and before I forget it again, our staging server is called Kestrel, like the bird."
    with Memory.open(tmp_path, config=CONFIG) as memory:
        memory.session("cli:1").add("user", said)
        memory.session("cli:2").add("user", "Can you look for the staging server Kestrel?")
        memory.session("cli:3").add("tool", "staging server: Kestrel, staging server Kestrel")
        memory.sync()
        hits = memory.search("staging server Kestrel").hits
    places = {hit.text: place for place, hit in enumerate(hits)}
    tool = next(place for place, hit in enumerate(hits) if hit.origin == "tool")
    assert places[said] < tool  # and nothing is lost


def test_tools_that_say_more_are_not_put_below(tmp_path: Path) -> None:
    with Memory.open(tmp_path, config=CONFIG) as memory:
        session = memory.session("cli:1")
        session.add("user", "our staging server is called Kestrel")
        session.add("tool", "staging server Kestrel listens on port 8443")
        memory.sync()
        hits = memory.search("staging server Kestrel port", explain=True).hits
        assert {hit.origin for hit in hits} == {"owner", "tool"}
        assert not any("tie" in hit.why["boosts"] for hit in hits)


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("how to enable WAL mode in sqlite", "on.md"),
        ("switch WAL mode on in sqlite", "on.md"),
        ("how do I disable WAL mode in sqlite", "off.md"),
        ("turning WAL mode off in sqlite", "off.md"),
    ],
)
def test_a_section_on_the_opposite_is_no_answer(tmp_path: Path, question: str, wanted: str) -> None:
    root = fill(
        tmp_path,
        {
            "on.md": "# Enabling WAL mode for SQLite databases\n\nReaders and a writer at once: run the "
            "pragma journal_mode=WAL once for each file, with the command line.\n",
            "off.md": "# Turning WAL mode off\n\nIn sqlite: `PRAGMA journal_mode=delete;` Then enable it "
            "by hand.\n",
        },
    )
    assert first(root, question)[0] == wanted


def test_who_a_person_is_comes_before_what_mentions_them(tmp_path: Path) -> None:
    talk = "".join(
        f"- Asked Amina about relation number {n} of the database, in relation to the report.\n\n## {n}\n\n"
        for n in range(60)
    )
    told = "# People\n\nOn the way home I met a few of them. Amina is my sister's colleague and plays chess."
    root = fill(tmp_path, {"memory/2026-05-04.md": talk, "people.md": told + FILLER})
    for question in (
        "Who is Amina in relation to me?",
        "Who is Amina?",
        "how do I know Amina?",
        "remind me who Amina is",
    ):
        assert first(root, question)[0] == "people.md", question


def test_who_a_person_is_comes_before_what_was_done_with_them(tmp_path: Path) -> None:
    talk = "".join(
        f"- Amina, relation {n} is late; I sent my report to Amina, and my boss asked Amina.\n\n## {n}\n\n"
        for n in range(60)
    )
    told = "# People\n\nOn the way home I met a few of them. We have a new designer, Amina."
    root = fill(tmp_path, {"memory/2026-05-04.md": talk, "people.md": told + FILLER})
    assert first(root, "Who is Amina in relation to me?")[0] == "people.md"


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Who is Amina in relation to me?", "Amina"),
        ("who's Ann Lee?", "Ann Lee"),
        ("What is Amina related to me", "Amina"),
        ("小美是谁？", "小美"),
        ("谁是王小明", "王小明"),
        ("谁是我的经理？", ""),
        ("他的老师是谁？", ""),
        ("我和王小明是什么关系？", "王小明"),
        ("Who is responsible for the backups?", ""),
        ("Who is the owner of the boat?", ""),
        ("What did Amina say?", ""),
        ("Can you tell me who Amina is?", "Amina"),
        ("who was Amina again?", "Amina"),
        ("Who is Amina a fan of?", ""),
        ("Who is Amina meeting today?", ""),
        ("Who is Amina's boss?", ""),
        ("Tell me who the owner is", ""),
    ],
)
def test_the_person_asked_about(question: str, name: str) -> None:
    assert asked_about(question) == name


@pytest.mark.parametrize(
    ("name", "text", "tells"),
    [
        ("Amina", "Amina is my sister's colleague", True),
        ("Amina", "Yesterday my old friend Amina called.", True),
        ("Amina", "Amina, my neighbour, has a dog", True),
        ("Amina", "my boss is called Amina", True),
        ("Amina", "Amina, can you send the report?", False),
        ("Amina", "I asked Amina about it", False),
        ("Amina", "my mentor, Amina, said so", True),
        ("Amina", "My sister-in-law Amina moved in", True),
        ("Amina", "Amina - she's my manager - is ill", True),
        ("Amina", "I'm Amina's brother", True),
        ("Amina", "Amina and I are cousins", True),
        ("Amina", "I got married to Amina in May", True),
        ("Amina", "a friend of mine, Amina, sings", True),
        ("Amina", "I have a daughter named Amina", True),
        ("Amina", "my kids Amina and Ben", True),
        ("Amina", "I sent my report to Amina", False),
        ("Amina", "my sister asked Amina for salt", False),
        ("Amina", "my boss trusts Amina", False),
        ("Amina", "my mother called Amina yesterday", False),
        ("Amina", "my phone rang and Amina laughed", False),
        ("Amina", "Amina, the report is late", False),
        ("Amina", "Amina's report is the longest", False),
        ("小美", "小美是我表妹", True),
        ("小美", "我同事小美养猫", True),
        ("小美", "小美是谁？", False),
        ("小美", "小美，把报告发我", False),
        ("小美", "小美，我的大学室友，来了", True),
        ("小美", "和小美结婚三年了", True),
        ("小美", "我的同事小美", True),
        ("小美", "我问了小美一件事", False),
        ("小美", "我把报告给小美", False),
        ("小美", "我和小美去吃饭", False),
        ("小美", "我今天看见小美了", False),
        ("小美", "小美是下午来的", False),
    ],
)
def test_what_tells_of_a_person(name: str, text: str, *, tells: bool) -> None:
    assert tells_of(name, text) is tells
