import multiprocessing
import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mnemark.errors import ReadOnlyError, UsageError
from mnemark.facts.pending import catch_up
from mnemark.facts.remember import facts, follow, remember
from mnemark.files import edit
from mnemark.files.journal import Change, Journal
from mnemark.memory.memory import Memory
from mnemark.memory.review.review import accept, reject, waiting
from mnemark.text.markdown.generated import put

USER = "memory/facts/user.md"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "agent", config={"timezone": "Asia/Shanghai"}) as opened:
        yield opened


def written(memory: Memory, path: str = USER) -> str:
    return (memory.root / path).read_text(encoding="utf-8")


def save(memory: Memory, text: str, path: str = USER) -> None:
    """As a person saves it, some time ago."""
    target = memory.root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")
    age(target)


def age(path: Path, seconds: float = 5.0) -> None:
    os.utime(path, (time.time() - seconds,) * 2)


def said(memory: Memory, **asked: object) -> list[str]:
    return [str(fact) for fact in facts(memory.workspace.fact_store, **asked)]  # type: ignore[arg-type]


def values(memory: Memory, **asked: object) -> list[str]:
    return [fact.value for fact in facts(memory.workspace.fact_store, **asked)]  # type: ignore[arg-type]


def kinds(memory: Memory) -> list[str]:
    return [entry.change.kind for entry in Journal(memory.workspace.truth).read()]


def test_a_fact_is_a_bullet_that_reads_as_a_part_of_a_sentence(memory: Memory) -> None:
    fact = remember(
        memory.workspace.fact_store,
        "python version",
        "3.12",
        importance=0.8,
        tags=["dev"],
        source="notes.md#L3",
    )
    assert str(fact) == "user python version: 3.12"
    assert said(memory) == ["user python version: 3.12"]
    (kept,) = facts(memory.workspace.fact_store)
    assert not kept.pending
    assert (kept.id, kept.importance, kept.confidence, kept.tags) == (fact.id, 0.8, 0.9, ("dev",))
    assert memory.read(kept.ref).startswith("- **python version**: 3.12 <!-- id: ")
    assert written(memory).startswith("# User\n\n- **python version**: 3.12 <!-- ")


def test_a_newer_value_takes_the_place_of_the_older_and_names_it(memory: Memory) -> None:
    old = remember(memory.workspace.fact_store, "python version", "3.10", since="2026-01-05")
    new = remember(memory.workspace.fact_store, "Python 版本", "3.12", since="2026-02-20")
    assert values(memory) == ["3.12"]
    assert values(memory, as_of="2026-02-19") == ["3.10"]
    assert values(memory, as_of="2026-01-01") == []
    first, second = facts(memory.workspace.fact_store, history=True)
    assert (first.value, first.supersedes, second.value) == ("3.12", old.id, "3.10")
    assert second.until == first.since == new.since
    lines = written(memory).splitlines()
    assert lines[2].startswith("- ~~**python version**: 3.10~~ <!-- id: ")
    assert f"until: {new.since}" in lines[2]
    assert f"supersedes: {old.id}" in lines[3]


def test_facts_told_together_know_of_each_other(memory: Memory) -> None:
    told = [{"predicate": "city", "value": value} for value in ("Lisbon", "Porto", "Porto")]
    first, second, third = memory.remember_many(told)
    assert (second.supersedes, third.id) == (first.id, second.id)
    assert [fact.value for fact in memory.facts(history=True)] == ["Porto", "Lisbon"]


def test_since_holds_at_its_moment_and_until_not(memory: Memory) -> None:
    remember(memory.workspace.fact_store, "city", "Bonn", since="2026-01-01T00:00:00+08:00")
    remember(memory.workspace.fact_store, "住在", "杭州", since="2026-02-01T12:00:00+08:00")
    assert values(memory, as_of="2026-02-01T11:59:59+08:00") == ["Bonn"]
    assert values(memory, as_of="2026-02-01T12:00:00+08:00") == ["杭州"]
    assert values(memory, as_of="2026-02-01T04:00:00+00:00") == ["杭州"]


def test_an_older_value_that_arrives_late_is_history(memory: Memory) -> None:
    remember(memory.workspace.fact_store, "city", "Berlin", since="2026-02-01")
    remember(memory.workspace.fact_store, "city", "Bonn", since="2025-06-01")
    remember(memory.workspace.fact_store, "city", "Köln", since="2025-09-01")
    assert values(memory) == ["Berlin"]
    assert values(memory, history=True) == ["Berlin", "Köln", "Bonn"]
    assert values(memory, as_of="2025-07-01") == ["Bonn"]
    assert values(memory, as_of="2025-10-01") == ["Köln"]
    assert written(memory).count("~~") == 4


def test_what_will_hold_later_does_not_hold_now(memory: Memory) -> None:
    remember(memory.workspace.fact_store, "employer", "Acme", since="2020-01-01")
    remember(memory.workspace.fact_store, "employer", "Globex", since="2199-01-01")
    assert values(memory) == ["Acme"]
    assert values(memory, as_of="2199-06-01") == ["Globex"]
    assert "~~" not in written(memory)


def test_likes_and_statements_stand_side_by_side(memory: Memory) -> None:
    remember(memory.workspace.fact_store, "likes", "green tea")
    remember(memory.workspace.fact_store, "喜欢", "围棋")
    remember(memory.workspace.fact_store, "", "run the tests before a commit", type="rule")
    remember(memory.workspace.fact_store, "", "note: never push on Fridays", type="rule")
    assert values(memory) == [
        "green tea",
        "围棋",
        "run the tests before a commit",
        "note: never push on Fridays",
    ]
    assert "~~" not in written(memory)


def test_the_same_again_from_another_source_makes_it_surer(memory: Memory) -> None:
    fact = remember(
        memory.workspace.fact_store, "city", "Berlin", origin="agent", source="sessions/a.jsonl#L3"
    )
    again = remember(
        memory.workspace.fact_store, "lives in", "berlin.", origin="agent", source="sessions/a.jsonl#L9"
    )
    assert (again.id, again.confidence) == (fact.id, 0.7)
    surer = remember(
        memory.workspace.fact_store, "city", "Berlin", origin="agent", source="sessions/b.jsonl#L1"
    )
    assert (surer.id, surer.confidence) == (fact.id, 0.805)
    (kept,) = facts(memory.workspace.fact_store)
    assert (kept.confidence, kept.source) == (0.805, "sessions/a.jsonl#L3, sessions/b.jsonl#L1")
    remember(memory.workspace.fact_store, "city", "Berlin", origin="web", source="https://example.org")
    assert [fact.confidence for fact in facts(memory.workspace.fact_store)] == [0.805]
    assert next(iter(facts(memory.workspace.fact_store))).origin == "agent"
    remember(memory.workspace.fact_store, "city", "Berlin")
    assert next(iter(facts(memory.workspace.fact_store))).origin == "owner"


def test_whom_we_trust_less_does_not_overrule(memory: Memory) -> None:
    owner = remember(memory.workspace.fact_store, "editor", "Vim")
    claim = remember(memory.workspace.fact_store, "编辑器", "Emacs", origin="agent")
    assert (claim.review, claim.supersedes) == ("conflict", owner.id)
    assert values(memory) == ["Vim"]
    assert "Emacs" not in written(memory)
    assert "Emacs" in written(memory, "memory/review/facts.md")
    assert "conflict" in kinds(memory)
    remember(memory.workspace.fact_store, "editor", "Helix")
    assert values(memory) == ["Helix"]


@pytest.mark.parametrize("origin", ["tool", "web"])
def test_tools_and_the_web_never_make_a_fact(memory: Memory, origin: str) -> None:
    claim = remember(memory.workspace.fact_store, "city", "Nowhere", origin=origin)
    assert claim.review == "untrusted"
    assert values(memory) == []
    assert [one.fact.value for one in waiting(memory.workspace)] == ["Nowhere"]
    assert memory.search("Nowhere").hits == ()
    accept(memory.workspace, claim.id)
    assert waiting(memory.workspace) == []
    assert [fact.origin for fact in facts(memory.workspace.fact_store)] == ["owner"]


def test_a_rejected_proposal_is_no_fact(memory: Memory) -> None:
    claim = remember(memory.workspace.fact_store, "city", "Nowhere", origin="web")
    assert reject(memory.workspace, claim.id) is None
    assert waiting(memory.workspace) == []
    assert values(memory) == []


def test_an_agent_that_cites_the_owner_speaks_for_the_owner(memory: Memory) -> None:
    session = memory.session("cli:main")
    session.add("user", "by the way, I moved to Hamburg")
    session.add("assistant", "So you live in Bremen?")
    remember(memory.workspace.fact_store, "city", "Berlin")
    claim = remember(
        memory.workspace.fact_store, "city", "Bremen", origin="agent", source=f"{session.path}#L3"
    )
    assert claim.review == "conflict"
    part = remember(memory.workspace.fact_store, "city", "Ham", origin="agent", source=f"{session.path}#L2")
    assert part.review == "conflict"
    fact = remember(
        memory.workspace.fact_store, "city", "Hamburg", origin="agent", source=f"{session.path}#L2"
    )
    assert (fact.review, fact.origin) == ("", "owner")
    assert values(memory) == ["Hamburg"]


def test_bullets_a_person_wrote_are_facts(memory: Memory) -> None:
    save(memory, "# Ann\n- 名字：小明\n- **email**: ann@example.org <!-- importance: 9 -->\n- likes tea\n")
    found = list(facts(memory.workspace.fact_store))
    assert [(fact.value, fact.origin) for fact in found] == [
        ("小明", "file"),
        ("ann@example.org", "file"),
        ("likes tea", "file"),
    ]
    assert found[1].importance == 0.9
    before = written(memory)
    assert values(memory, as_of="2001-01-01") == ["小明", "ann@example.org", "likes tea"]
    assert written(memory) == before


def test_replacing_a_bullet_without_a_comment_gives_it_one(memory: Memory) -> None:
    save(memory, "# U\r\n- lives in: Bonn <!-- trigger: home -->\r\n- name: Ann\r\n")
    remember(memory.workspace.fact_store, "city", "Berlin")
    lines = (memory.root / USER).read_bytes().split(b"\r\n")
    assert lines[1].startswith(b"- ~~lives in: Bonn~~ <!-- trigger: home --> <!-- id: ")
    assert lines[2].startswith(b"- **city**: Berlin <!-- ")
    assert lines[3:] == [b"- name: Ann", b""]
    assert values(memory, subject="user") == ["Berlin", "Ann"]
    assert values(memory, history=True) == ["Berlin", "Bonn", "Ann"]


def test_a_date_said_now_replaces_what_nobody_dated(memory: Memory) -> None:
    save(memory, "- city: Bonn\n")
    remember(memory.workspace.fact_store, "city", "Berlin", since="2026-01-01")
    assert values(memory) == ["Berlin"]
    assert values(memory, as_of="2025-12-01") == ["Bonn"]
    assert "~~city: Bonn~~" in written(memory)


@pytest.mark.parametrize("noted", [False, True])
def test_a_value_changed_in_the_file_is_a_supersession_by_a_person(memory: Memory, noted: bool) -> None:  # noqa: FBT001 - a parameter of the test
    fact = remember(memory.workspace.fact_store, "city", "Bonn", since="2026-01-01")
    save(memory, written(memory).replace("Bonn", "Köln"))
    if noted:
        assert follow(memory.workspace.fact_store) == 1
        assert follow(memory.workspace.fact_store) == 0
    now, before = facts(memory.workspace.fact_store, history=True)
    assert (now.value, now.id, now.origin, before.value) == ("Köln", fact.id, "file", "Bonn")
    assert now.supersedes == before.id
    assert before.until == now.since
    assert values(memory, as_of="2026-02-01") == ["Bonn"]
    remember(memory.workspace.fact_store, "city", "Berlin")
    assert values(memory, history=True) == ["Berlin", "Köln", "Bonn"]


def test_a_bullet_written_anew_without_a_comment_replaces_itself(memory: Memory) -> None:
    save(memory, "- city: Bonn\n- name: Ann\n")
    follow(memory.workspace.fact_store)
    save(memory, "- city: Köln\n- name: Ann\n")
    assert follow(memory.workspace.fact_store) == 1
    assert values(memory, history=True) == ["Köln", "Bonn", "Ann"] or values(memory, history=True) == [
        "Köln",
        "Ann",
        "Bonn",
    ]
    assert "tombstone" not in kinds(memory)


def test_a_bullet_struck_through_by_hand_holds_no_longer(memory: Memory) -> None:
    remember(memory.workspace.fact_store, "city", "Bonn", since="2026-01-01")
    save(memory, written(memory).replace("**city**: Bonn", "~~**city**: Bonn~~"))
    assert follow(memory.workspace.fact_store) == 1
    (past,) = facts(memory.workspace.fact_store, history=True)
    assert values(memory) == []
    assert values(memory, as_of="2026-02-01") == ["Bonn"]
    remember(memory.workspace.fact_store, "name", "Ann")  # saves the file again
    assert next(fact.until for fact in facts(memory.workspace.fact_store, history=True)) == past.until
    assert follow(memory.workspace.fact_store) == 0


def test_a_bullet_moved_to_another_file_is_the_same_fact(memory: Memory) -> None:
    fact = remember(memory.workspace.fact_store, "database", "PostgreSQL")
    remember(memory.workspace.fact_store, "name", "Ann")
    lines = written(memory).splitlines(keepends=True)
    save(memory, "".join(line for line in lines if "PostgreSQL" not in line))
    save(memory, "".join(line for line in lines if "PostgreSQL" in line), "memory/facts/project.md")
    for _ in range(2):
        (moved,) = facts(memory.workspace.fact_store, subject="project")
        assert (moved.id, str(moved)) == (fact.id, "project database: PostgreSQL")
        assert moved.since == fact.since
        follow(memory.workspace.fact_store)
    assert values(memory, subject="user") == ["Ann"]
    assert [
        entry.change.payload["action"]
        for entry in Journal(memory.workspace.truth).read()
        if entry.change.kind == "edit"
    ] == ["moved"]


def test_a_removed_bullet_stays_removed(memory: Memory) -> None:
    remember(memory.workspace.fact_store, "city", "Bonn", origin="agent")
    remember(memory.workspace.fact_store, "name", "Ann")
    save(memory, "".join(line for line in written(memory).splitlines(keepends=True) if "Bonn" not in line))
    assert values(memory) == ["Ann"]
    assert follow(memory.workspace.fact_store) == 1
    assert kinds(memory)[-1] == "tombstone"
    again = remember(memory.workspace.fact_store, "住在", "Bonn", origin="agent")
    assert again.review == "removed"
    assert values(memory) == ["Ann"]
    session = memory.session("cli:main")
    session.add("user", "I am back in Bonn")
    remember(memory.workspace.fact_store, "city", "Bonn", source=f"{session.path}#L2")
    assert values(memory) == ["Ann", "Bonn"]


def test_a_file_that_is_being_saved_has_lost_nothing(memory: Memory) -> None:
    remember(memory.workspace.fact_store, "city", "Bonn")
    whole = written(memory)
    (memory.root / USER).write_text("")  # an editor empties the file before it writes
    assert follow(memory.workspace.fact_store) == 0
    save(memory, whole)
    assert follow(memory.workspace.fact_store) == 0
    assert values(memory) == ["Bonn"]


def test_a_copied_bullet_leaves_its_id_to_the_one_with_the_known_words(memory: Memory) -> None:
    fact = remember(memory.workspace.fact_store, "city", "Bonn")
    line = written(memory).splitlines()[2]
    save(memory, f"{line.replace('city', 'birthplace').replace('Bonn', 'Trier')}\n{line}\n")
    found = {one.value: one.id for one in facts(memory.workspace.fact_store)}
    assert found["Bonn"] == fact.id
    assert found["Trier"] != fact.id


def test_a_busy_file_leaves_the_fact_waiting_and_found(memory: Memory) -> None:
    save(memory, "- city: Bonn\n")
    os.utime(memory.root / USER)  # saved this moment
    fact = remember(memory.workspace.fact_store, "city", "Berlin")
    assert fact.pending
    assert written(memory) == "- city: Bonn\n"
    assert [(one.value, one.pending) for one in facts(memory.workspace.fact_store)] == [("Berlin", True)]
    age(memory.root / USER)
    catch_up(memory.workspace.fact_store)
    assert [(one.value, one.pending) for one in facts(memory.workspace.fact_store)] == [("Berlin", False)]
    assert written(memory).count("Berlin") == 1


def test_a_backlog_is_shown_whole_and_brought_in_bit_by_bit(memory: Memory) -> None:
    backlog = [
        Change(kind="remember", origin="owner", payload={"predicate": f"key {number}", "value": "v"})
        for number in range(120)
    ]
    Journal(memory.workspace.truth).append_many(backlog)
    assert len(list(facts(memory.workspace.fact_store))) == 120
    waiting = [sum(fact.pending for fact in facts(memory.workspace.fact_store))]
    while waiting[-1]:
        waiting.append(catch_up(memory.workspace.fact_store))
        assert waiting[-1] < waiting[-2]
    assert waiting[0] > 0
    assert written(memory).count("<!-- id:") == 120


def test_subjects_have_files_with_safe_names(memory: Memory) -> None:
    for subject in ("Ann Lee", "../etc", "con", "用户", "a" * 300, "a/b", "A/B"):
        remember(memory.workspace.fact_store, "city", "Bonn", subject=subject)
    assert len(list(facts(memory.workspace.fact_store))) == 6
    names = sorted(path.name for path in (memory.root / "memory/facts").iterdir())
    assert "ann-lee.md" in names
    assert "user.md" in names
    assert len(list(facts(memory.workspace.fact_store, subject="ann lee"))) == 1
    assert {fact.path.rpartition("/")[0] for fact in facts(memory.workspace.fact_store)} == {"memory/facts"}


def test_scopes_keep_to_themselves(memory: Memory) -> None:
    remember(memory.workspace.fact_store, "city", "Bonn")
    remember(memory.workspace.fact_store, "city", "Berlin", scope="users/ann")
    assert values(memory) == ["Bonn"]
    assert values(memory, scope="users/ann") == ["Berlin", "Bonn"]
    assert "Berlin" in written(memory, "users/ann/memory/facts/user.md")


def test_secrets_and_recalled_text_are_not_kept(memory: Memory) -> None:
    remember(memory.workspace.fact_store, "wifi password", "hunter2hunter")
    remember(memory.workspace.fact_store, "token", "ghp_" + "a1B2" * 9)
    remember(memory.workspace.fact_store, "邮箱", "ann@example.org")
    memory.session("s").add("user", "we decided on SQLite")
    block = memory.recall("what did we decide", deadline=5.0).text
    assert block
    with pytest.raises(UsageError):
        remember(memory.workspace.fact_store, "decision", block)
    everything = "".join(path.read_text() for path in memory.root.rglob("*.jsonl")) + written(memory)
    assert "ghp_" not in everything
    assert "hunter2" not in everything
    assert "ann@example.org" in written(memory)


def test_wrong_arguments_are_named(memory: Memory) -> None:
    for wrong in ({"type": "x"}, {"origin": "me"}, {"importance": 2}, {"scope": "ann"}, {"since": "soonish"}):
        with pytest.raises(UsageError):
            remember(memory.workspace.fact_store, "city", "Bonn", **wrong)
    with pytest.raises(UsageError):
        remember(memory.workspace.fact_store, "city", "  ")
    with Memory.open(memory.root, readonly=True) as readonly:
        assert values(readonly) == []
        with pytest.raises(ReadOnlyError):
            remember(readonly.workspace.fact_store, "city", "Bonn")


def remember_many(root: Path, who: str, count: int) -> None:
    with Memory.open(root) as memory:
        for number in range(count):
            remember(memory.workspace.fact_store, f"{who} fact {number}", f"value {number}")
            remember(memory.workspace.fact_store, "likes", f"{who} {number}")


def test_two_processes_remember_into_one_file(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=remember_many, args=(tmp_path, who, 8)) for who in ("one", "two")]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    age(tmp_path / USER)
    with Memory.open(tmp_path) as memory:
        found = [fact for fact in facts(memory.workspace.fact_store) if not fact.pending]
        assert len(found) == 32
        assert len({fact.id for fact in found}) == 32
        assert written(memory).count("<!-- id:") == 32


class _Gone(BaseException):
    """The process is killed."""


def test_a_kill_between_journal_and_file_loses_nothing_and_doubles_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory.open(tmp_path) as memory:
        remember(memory.workspace.fact_store, "city", "Bonn", since="2026-01-01")
        original = Journal.append_many
        for at in range(2):
            calls = [0]

            def dying(
                journal: Journal, changes: list[Change], at: int = at, calls: list[int] = calls
            ) -> object:
                kept = original(journal, changes) if calls[0] == 0 or at == 0 else None
                calls[0] += 1
                if calls[0] == 1 + at:
                    raise _Gone  # acknowledged, not in the file; or in the file, and not noted as such
                return kept

            monkeypatch.setattr(Journal, "append_many", dying)
            with pytest.raises(_Gone):
                remember(memory.workspace.fact_store, "city", f"Berlin {at}")
            monkeypatch.setattr(Journal, "append_many", original)
            age(tmp_path / USER)
            for _ in range(2):
                with Memory.open(tmp_path) as reopened:
                    assert values(reopened) == [f"Berlin {at}"]
                    reopened.sync()
                    assert written(reopened).count(f"Berlin {at}") == 1
    assert written(memory).count("<!-- id:") == 3


def test_a_workspace_without_its_index_and_journal_still_has_its_facts(memory: Memory) -> None:
    remember(memory.workspace.fact_store, "city", "Bonn", since="2026-01-01")
    remember(memory.workspace.fact_store, "city", "Berlin", since="2026-02-01")
    expected = [
        (fact.id, fact.value, fact.until) for fact in facts(memory.workspace.fact_store, history=True)
    ]
    for path in (memory.root / "journal").iterdir():
        path.unlink()
    with Memory.open(memory.root) as fresh:
        assert [
            (fact.id, fact.value, fact.until) for fact in facts(fresh.workspace.fact_store, history=True)
        ] == expected
    assert [
        (fact.id, fact.value, fact.until) for fact in facts(memory.workspace.fact_store, history=True)
    ] == expected
    assert edit.settle(memory.workspace.truth) == []


def test_a_full_file_is_followed_by_others(memory: Memory) -> None:
    folder = memory.root / "memory/facts"
    many = [{"subject": "Ann", "predicate": f"book {n}", "value": f"title {n} " * 20} for n in range(700)]
    first = memory.remember_many(many)
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["ann-2.md", "ann-3.md", "ann-4.md", "ann.md"]
    assert all((folder / name).stat().st_size < 80_000 for name in names)
    later = remember(memory.workspace.fact_store, "book of the year", "none yet", subject="ann")
    assert later.path.removeprefix("memory/facts/") in names
    changed = remember(memory.workspace.fact_store, "book 3", "another title", subject="Ann")
    assert changed.path == "memory/facts/ann.md"
    assert changed.supersedes == first[3].id
    remember(memory.workspace.fact_store, "age", "2", subject="Ann 2")
    with Memory.open(memory.root, config={"embedder": "none"}) as other:
        found = list(facts(other.workspace.fact_store, subject="Ann"))
        assert len(found) == 701
        assert {fact.subject for fact in found} == {"Ann", "ann"}
        (age,) = facts(other.workspace.fact_store, subject="Ann 2")
        assert (age.value, age.path) == ("2", "memory/facts/ann-2-2.md")  # `ann-2.md` is full


def test_days_of_facts_are_those_of_the_workspace(memory: Memory) -> None:
    """07:30 of the 22nd in Shanghai is 23:30 of the 21st in UTC."""
    early = "2026-01-21T23:30:00+00:00"
    memory.remember("city", "Hamburg", since=early)
    memory.sync()
    (hit,) = memory.search("which city", kinds=["fact"], since="2026-01-22").hits
    assert "since 2026-01-22" in hit.text
    assert not memory.search("which city", kinds=["fact"], until="2026-01-21").hits
    assert [fact.value for fact in memory.facts(as_of="2026-01-22")] == ["Hamburg"]
    assert list(memory.facts(as_of="2026-01-21")) == []
    assert memory.search("which city", since="2026-01-21T23:00:00Z").hits
    assert not memory.search("which city", kinds=["fact"], until="2026-01-21T23:00:00Z").hits


def test_plans_and_statements_keep_their_words_and_get_their_dates(memory: Memory) -> None:
    log = memory.session("s")
    saturday = datetime(2026, 11, 20, 23, 30, tzinfo=UTC)  # 07:30 of the 21st, a Saturday
    for text in ("Remember that I fly to Rome tomorrow.", "我们决定明天上线"):
        log.add("user", text, time=saturday)
    log.end()
    found = {fact.value: fact.origin for fact in memory.facts()}
    assert found == {"I fly to Rome tomorrow (2026-11-22)": "owner", "明天（2026-11-22）上线": "owner"}


def test_a_chinese_memory_has_no_english_names_beside_latin_values(tmp_path: Path) -> None:
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        session = memory.session("s")
        for said in (
            "以后回答简短一点",
            "测试服务器叫 heron-2，生产服务器叫 osprey-1。",
            "我们把 Postgres 从 15 升级到 17 了。",
        ):
            session.add("user", said)
            session.add("assistant", "好")
        session.end()
        memory.consolidate(force=True)
        found = {fact.predicate: fact.value for fact in memory.facts(subject="project")}
    assert found == {"test server": "heron-2", "production server": "osprey-1", "postgres version": "17"}
    core = (tmp_path / "MEMORY.md").read_text("utf-8")
    for line in ("项目的测试服务器：heron-2", "项目的生产服务器：osprey-1", "项目的postgres 版本：17"):
        assert f"- {line}\n" in core
    page = (tmp_path / "memory/facts/project.md").read_text("utf-8")
    assert page.startswith("# 项目\n")
    assert "**测试服务器**: heron-2" in page


def test_an_entry_with_the_name_that_an_earlier_version_wrote_goes_with_its_fact(tmp_path: Path) -> None:
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        memory.remember("test server", "heron-2", subject="project")
        core = tmp_path / "MEMORY.md"
        core.write_text(put("# 记忆\n", "core", ["- 项目的test server：heron-2"]), "utf-8")
        os.utime(core, (1, 1))  # no other program is saving it
        memory.remember("测试服务器", "heron-3", subject="project")
        assert "heron-2" not in core.read_text("utf-8")
