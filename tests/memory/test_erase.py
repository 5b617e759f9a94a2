"""Erased means gone: from every byte of the folder, and from nothing else."""

import json
import os
import random
import shutil
import sqlite3
import subprocess
import threading
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from memory.erasing import KINDS, Planted, holding, line_of, old, phrase, write
from mnemark import Memory
from mnemark.errors import UsageError
from mnemark.files import layout
from mnemark.files.journal import Change, Journal
from mnemark.files.sessions import SessionLog
from mnemark.files.truth import Folder
from mnemark.memory.sessions.observations import age_out, note_down
from mnemark.memory.sessions.observing import observe
from mnemark.memory.transfer.backup import backup
from mnemark.text.dates import local_now


def opened(root: Path, embedder: str = "none") -> Memory:
    return Memory.open(root, config={"embedder": embedder})


def audit(root: Path, count: int, seed: int, embedder: str) -> None:
    """Plant `count` things, erase them one after the other, and look at all bytes each time."""
    dice = random.Random(seed)
    with opened(root, embedder) as memory:
        planted = [KINDS[number % len(KINDS)](memory, dice) for number in range(count)]
        memory.sync()
        dice.shuffle(planted)
        for number, thing in enumerate(planted):
            assert holding(root, thing.text), thing
            ref = thing.name.get("ref")
            if ref and "#" in ref:  # what stood above it may be gone by now
                path = ref.partition("#")[0]
                ref = f"{path}#L{line_of(memory, path, thing.text)}"
            receipt = memory.forget(ref, id=thing.name.get("id"), query=thing.name.get("query"), erase=True)
            assert receipt.waiting == (), (thing, receipt)
            assert holding(root, thing.text) == [], thing
            assert thing.text not in receipt.text
            rest = planted[number + 1 :]
            if rest:  # nothing else went with it
                assert holding(root, rest[0].text), (thing, rest[0])
        shutil.rmtree(root / ".mnemark")
        memory.sync()
        assert [thing for thing in planted if holding(root, thing.text)] == []


def test_one_of_each_kind_and_more_is_gone_to_the_byte(tmp_path: Path) -> None:
    audit(tmp_path, 18, 1, "none")


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3])
def test_two_hundred_things_are_gone_to_the_byte(tmp_path: Path, seed: int) -> None:
    audit(tmp_path, 100, seed, "hashing")


@pytest.mark.parametrize("line", [
    '{"role":"user","content":"the zebra is in the garden"}',
    '{"role":"user","content":"zebra, garden","tool_calls":[{"id":"01KB0000000000000000000000"}]}',
    '{"id":"","role":"user","content":"the zebra is in the garden"}',
    '{"id":"0\\u0031KB0000000000000000000000","role":"user","content":"the zebra is in the garden"}',
    '{"id":"01KB0000000000000000000000","id":"","role":"user","content":"the zebra is in the garden"}',
    '{"id":"01KB0000000000000000000000","message":{"uuid":"one","role":"user","content":"zebra, garden"}}',
    ' {"id": "01KB0000000000000000000000", "role": "user", "content": "the zebra is in the garden"}',
])  # fmt: skip
def test_a_turn_is_erased_however_its_id_is_written(tmp_path: Path, line: str) -> None:
    log = tmp_path / "sessions" / "other.jsonl"
    log.parent.mkdir()
    own = '{"id":"01KB0000000000000000000001","role":"user","content":"A sentence that stays."}'
    log.write_text(f'{{"session":"other"}}\n{own}\n{line}\n', encoding="utf-8")
    with opened(tmp_path) as memory:
        receipt = memory.forget(query="zebra", erase=True)
        assert (receipt.action, receipt.waiting) == ("erased", ())
    assert holding(tmp_path, "zebra") == holding(tmp_path, "garden") == []
    assert own in log.read_text(encoding="utf-8")


@pytest.mark.parametrize("count", [3, 40])
@pytest.mark.parametrize(
    "form", ["019a{:04x}-0000-7000-8000-000000000000", "01kb{:022d}", "0/{}", "0-zebra-{}"]
)
def test_a_session_is_erased_whatever_ids_its_host_gave(tmp_path: Path, form: str, count: int) -> None:
    with opened(tmp_path) as memory:
        log = memory.session("cli:a")
        said = [log.turn("user", f"a {number}") for number in range(count)]
        log.add_many([msgspec.structs.replace(turn, id=form.format(at)) for at, turn in enumerate(said)])
        receipt = memory.forget(session="cli:a", erase=True)
        assert (receipt.action, receipt.waiting) == ("erased", ())
        assert list(log.last()) == []
    lines = (tmp_path / log.path).read_text(encoding="utf-8").splitlines()
    assert sum('"erased"' in line for line in lines) == count


def test_what_files_were_called_is_forgotten_by_the_process(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.remember("diet", "zebra grass", subject="Zebulon")
        memory.forget(query="Zebulon", erase=True)
        known = [layout.place.cache_info().currsize, layout.scope_of.cache_info().currsize]
    assert known == [0, 0]


def test_a_turn_leaves_a_tombstone_and_lines_stay_where_they_are(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        log = memory.session("cli:a")
        turns = [
            log.add("user", text) for text in ("first of them", "second, a long secret sentence", "第三句话")
        ]
        memory.forget(f"{log.path}#L3", erase=True)
        lines = [json.loads(line) for line in (tmp_path / log.path).read_text(encoding="utf-8").splitlines()]
        assert sorted(lines[2]) == ["erased", "id"]
        assert lines[2]["id"] == turns[1].id
        assert [turn.content for turn in log.last()] == ["first of them", "第三句话"]
        assert memory.search("第三句话").hits[0].ref == f"{log.path}#L4"
        log.add("user", "and on it goes")
        assert memory.search("goes").hits[0].ref == f"{log.path}#L5"


def test_words_that_many_say_are_left_to_the_others(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        log = memory.session("cli:a")
        log.add("user", "yes, please")
        log.add("user", "yes, please")
        write(memory, "memory/2026-02-13.md", "- yes, please\n")
        memory.forget(f"{log.path}#L2", erase=True)
        assert [turn.content for turn in log.last()] == ["yes, please"]
        assert (tmp_path / "memory/2026-02-13.md").read_text() == "- yes, please\n"


def test_what_cites_only_an_erased_turn_goes_with_it(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        log = memory.session("cli:a")
        log.add("user", "my doctor is called Ms Abernathy")
        log.add("user", "I live in Berlin")
        memory.remember("doctor", "Abernathy", origin="agent", source=f"{log.path}#L2")
        memory.remember("city", "Berlin", origin="agent", source=f"{log.path}#L3")
        both = f"({log.path}#L2, {log.path}#L3)"
        write(
            memory, "memory/2026-02-13.md", f"- spoke of a doctor ({log.path}#L2)\n- of two things {both}\n"
        )
        receipt = memory.forget(f"{log.path}#L2", erase=True)
        assert {item.kind for item in receipt.items} == {"turn", "fact"}
        assert holding(tmp_path, "Abernathy") == []
        assert [fact.value for fact in memory.facts()] == ["Berlin"]
        assert "two things" in (tmp_path / "memory/2026-02-13.md").read_text()
        assert "a doctor" not in (tmp_path / "memory/2026-02-13.md").read_text()


def test_what_a_forgotten_fact_had_replaced_does_not_come_back(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.remember("city", "Berlin", since="2026-01-01")
        newer = memory.remember("city", "Hangzhou", since="2026-02-01")
        memory.forget(newer.id, erase=True)
        assert list(memory.facts()) == []
        assert [fact.value for fact in memory.facts(as_of="2026-01-15")] == ["Berlin"]
        shutil.rmtree(tmp_path / ".mnemark")
        with opened(tmp_path) as again:
            assert list(again.facts()) == []
        assert "Hangzhou" not in "".join(path.read_text() for path in tmp_path.rglob("*.md"))
        memory.remember("city", "Hangzhou")  # said again, it counts again
        assert [fact.value for fact in memory.facts()] == ["Hangzhou"]


def test_bookkeeping_of_any_schema_is_cleaned(tmp_path: Path) -> None:
    secret = "the heron nests behind the old mill"
    with opened(tmp_path) as memory:
        turn = memory.session("cli:a").add("user", secret)
        with sqlite3.connect(tmp_path / ".mnemark/other.db") as other:
            other.execute("PRAGMA journal_mode=WAL")
            other.execute("CREATE TABLE queue (id TEXT PRIMARY KEY, payload BLOB) WITHOUT ROWID")
            rows = [("one", json.dumps({"text": secret}).encode()), ("two", b"other"), (turn.id, b"short")]
            other.executemany("INSERT INTO queue VALUES (?, ?)", rows)
        other.close()
        (tmp_path / ".mnemark/compiled").mkdir()
        (tmp_path / ".mnemark/compiled/user.md").write_text(f"- {secret}\n")
        memory.forget(turn.id, erase=True)
        assert holding(tmp_path, secret) == []
        with sqlite3.connect(tmp_path / ".mnemark/other.db") as other:
            assert other.execute("SELECT id FROM queue").fetchall() == [("two",)]
        other.close()


def test_files_of_others_are_named_and_left(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        turn = memory.session("cli:a").add("user", "the heron nests behind the old mill")
        (tmp_path / "export.json").write_text('["the heron nests behind the old mill"]')
        (tmp_path / "backup.zip").write_bytes(b"PK")
        receipt = memory.forget(turn.id, erase=True)
        assert any(line.startswith("export.json") for line in receipt.still)
        assert any("backup.zip" in line for line in receipt.still)
        assert receipt.waiting == ()


def test_what_someone_saves_meanwhile_stays(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        write(memory, "notes.md", "- keep\n- the heron nests behind the old mill\n")
        (tmp_path / "notes.md").touch()  # being saved: the erasing waits until nobody does
        stop = threading.Event()

        def person() -> None:
            number = 0
            while not stop.wait(0.25) and number < 4:
                with (tmp_path / "notes.md").open("a", encoding="utf-8") as file:
                    file.write(f"- mine {number}\n")
                number += 1

        writer = threading.Thread(target=person)
        writer.start()
        receipt = memory.forget(query="heron nests", erase=True)
        stop.set()
        writer.join()
        memory.sync()
        assert receipt.action == "erased"
        assert holding(tmp_path, "heron nests") == []
        text = (tmp_path / "notes.md").read_text()
        assert text.startswith("- keep\n")
        assert [line for line in text.splitlines() if "mine" in line]


def test_a_busy_file_is_finished_by_the_next_sync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnemark.memory.forgetting.sweep.LOCK_SECONDS", 0.2)
    secret = "the heron nests behind the old mill"
    with opened(tmp_path) as memory:
        log = memory.session("cli:a")
        log.add("user", secret)
        write(memory, "notes.md", f"- {secret}\n")
        (tmp_path / "notes.md").touch()
        receipt = memory.forget(f"{log.path}#L2", erase=True)
        assert any("notes.md" in line for line in receipt.waiting)
        assert not [hit for hit in memory.search("heron").hits if hit.path == log.path]
        assert secret in (tmp_path / log.path).read_text()  # its words are needed to find the copy
        old(tmp_path / "notes.md")
        memory.sync()
        assert holding(tmp_path, secret) == []
        assert not memory.workspace.index.hidden.unfinished()


def test_what_was_noted_and_cut_off_is_finished_by_the_next_sync(tmp_path: Path) -> None:
    secret = "the heron nests behind the old mill"
    with opened(tmp_path) as memory:
        log = memory.session("cli:a")
        turn = log.add("user", secret)
        memory.sync()
        payload = {"turns": {log.path: [turn.id]}, "erase": True}
    Journal(Folder(tmp_path)).append(Change(kind="forget", payload=payload))
    with opened(tmp_path) as memory:
        assert not memory.search("heron").hits
        memory.sync()
        assert holding(tmp_path, secret) == []


def test_logs_of_other_programs(tmp_path: Path) -> None:
    lines = [
        {"role": "user", "content": [{"type": "text", "text": "苍鹭在老磨坊后面筑巢"}]},
        {"role": "user", "content": "b"},
    ]
    write_log = tmp_path / "sessions/other.jsonl"
    write_log.parent.mkdir()
    write_log.write_text("\n".join(json.dumps(line) for line in lines) + "\n")
    with opened(tmp_path) as memory:
        memory.forget("sessions/other.jsonl#L1", erase=True)
        assert holding(tmp_path, "苍鹭在老磨坊后面筑巢") == []
        assert [turn.turn.content for turn in SessionLog.at(tmp_path, "sessions/other.jsonl").turns()] == [
            "b"
        ]


def put(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, "utf-8")


def git(root: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", *arguments]
    return subprocess.run(command, cwd=root, check=True, capture_output=True).stdout.decode(
        "utf-8", "replace"
    )


def test_git_history_is_named_and_left_as_it_is(tmp_path: Path) -> None:
    secret = "the heron nests behind the old mill"
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "notes.md").write_text(f"- keep\n- {secret}\n")
    git(tmp_path, "add", "notes.md")
    git(tmp_path, "commit", "-q", "-m", f"note: {secret}")
    (tmp_path / "notes.md").write_text("- keep\n- more\n")
    git(tmp_path, "commit", "-q", "-am", "second")
    head = git(tmp_path, "rev-parse", "HEAD")
    write_path = tmp_path / "memory.md"
    write_path.write_text(f"- {secret}\n")
    old(write_path)
    with opened(tmp_path) as memory:
        receipt = memory.forget(query=secret, erase=True)
        (told,) = [line for line in receipt.still if line.startswith("git:")]
        assert "2 versions in the history contain it; --git shows how to remove them" in told
        write_path.write_text(f"- {secret}\n")
        old(write_path)
        receipt = memory.forget(query=secret, erase=True, git=True)
    (told,) = [line for line in receipt.still if line.startswith("git:")]
    assert f"git -C {tmp_path} filter-repo --force --replace-text ~/words.txt" in told
    assert secret not in told
    assert not any(place.path == ".git" for place in receipt.places)
    assert git(tmp_path, "rev-parse", "HEAD") == head
    assert secret in git(tmp_path, "log", "--format=%s")
    assert (tmp_path / "notes.md").read_text() == "- keep\n- more\n"


def test_names_and_backups_that_hold_the_words_are_named(tmp_path: Path) -> None:
    """No sync changes a name, so nothing waits for one."""
    root = tmp_path / "home"
    put(root / "Zanzibarix plan.md", "A plan for dinner.\n\nWe asked Zanzibarix.\n")
    with opened(root) as memory:
        session = memory.session("chat about Zanzibarix")
        session.add("user", "I met Zanzibarix yesterday")
        session.add("user", "the heron")
        memory.remember("employer", "Acme", subject="Zanzibarix")
        session.end()
        memory.sync()
        saved = backup(root).target
        other = tmp_path / "home-of-others.zip"
        other.write_bytes(b"")
        receipt = memory.forget(query="Zanzibarix", erase=True)
        assert receipt.waiting == ()
        assert not (root / "memory/facts/zanzibarix.md").exists()
        for path in ("Zanzibarix plan.md", session.path):
            (told,) = [line for line in receipt.still if line.startswith(f"{path}: its name; ")]
            assert ("session's id" in told) == (path == session.path)
        (told,) = [line for line in receipt.still if line.startswith(str(saved))]
        assert "mnemark backup" in told
        assert str(other) not in "".join(receipt.still)
        assert memory.workspace.unfinished() == []


@pytest.mark.skipif(shutil.which("git-filter-repo") is None, reason="needs git-filter-repo")
def test_the_commands_for_the_history_work(tmp_path: Path) -> None:
    secret = "the heron nests behind the old mill"
    root, remote = tmp_path / "home", tmp_path / "remote"
    put(root / "notes.md", f"- keep\n- {secret}\n")
    git(tmp_path, "init", "-q", "--bare", str(remote))
    for arguments in (
        ("init", "-q", "-b", "main"), ("config", "user.name", "x"), ("config", "user.email", "x@example.org"),
        ("add", "notes.md"), ("commit", "-q", "-m", f"note: {secret}"),
        ("remote", "add", "origin", str(remote)), ("push", "-q", "origin", "main"),
    ):  # fmt: skip
        git(root, *arguments)
    with opened(root) as memory:
        receipt = memory.forget(query=secret, erase=True, git=True)
        (history,) = [line for line in receipt.still if line.startswith("git:")]
        (pushed,) = [line for line in receipt.still if line.startswith("git remotes")]
        before, after = pushed.split("`")[1::2]
        (tmp_path / "words.txt").write_text(f"{secret}\n", "utf-8")
        script = "\n".join((before, history.split("`")[1], after))
        home = os.environ | {"HOME": str(tmp_path)}
        subprocess.run(["sh", "-c", script], cwd=tmp_path, env=home, check=True, capture_output=True)
        for folder in (root, remote):
            assert secret not in git(folder, "log", "--all", "-p")
        assert (root / "notes.md").read_text("utf-8") == "- keep\n"
        put(root / "more.md", f"{secret}\n")
        old(root / "more.md")
        memory.sync()
        assert not [one for one in memory.forget(query=secret, erase=True).still if one.startswith("git:")]


def test_remotes_that_may_hold_it_are_named(tmp_path: Path) -> None:
    secret = "the heron nests behind the old mill"
    home, remote = tmp_path / "home", tmp_path / "remote"
    home.mkdir()
    git(tmp_path, "init", "-q", "--bare", str(remote))
    git(home, "init", "-q", "-b", "main")
    (home / "notes.md").write_text(f"- {secret}\n")
    git(home, "add", "notes.md")
    git(home, "commit", "-q", "-m", "note")
    git(home, "remote", "add", "origin", str(remote))
    git(home, "push", "-q", "-u", "origin", "main")
    old(home / "notes.md")
    with opened(home) as memory:
        receipt = memory.forget(query=secret, erase=True, git=True)
        assert secret not in (home / "notes.md").read_text()
        assert any("origin" in line for line in receipt.still)


def test_two_processes(tmp_path: Path) -> None:
    secret = phrase(random.Random(5))
    with opened(tmp_path) as one, opened(tmp_path) as two:
        planted = Planted("turn", secret, {"id": one.session("cli:a").add("user", secret).id})
        fact = two.remember("bird", secret.replace("\t", " "))
        one.sync()
        assert [hit for hit in two.search(secret).hits if secret in hit.text]
        one.forget(planted.name["id"], erase=True)
        two.remember("other", "thing")  # it must not note what it once knew
        one.forget(fact.id, erase=True) if any(known.id == fact.id for known in one.facts()) else None
        assert not [hit for hit in two.search(secret).hits if secret in hit.text]
        two.sync()
        assert holding(tmp_path, secret) == []


def test_observations_go_with_what_was_written_down_of_them(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        log = memory.session("cli:a")
        log.add("user", "look for the heron")
        secret = "the heron nests behind the old mill"
        observe(
            memory.workspace.session_journal,
            "cli:a",
            "exec",
            {"command": f"make all; echo '{secret}'"},
            f"1: {secret}",
        )
        kept = observe(
            memory.workspace.session_journal, "cli:a", "exec", {"command": "make all the targets"}, "built"
        )
        note_down(memory.workspace)
        hit = next(hit for hit in memory.search("heron nests mill").hits if hit.path.startswith("journal/"))
        for path in tmp_path.rglob("*.md"):
            old(path)
        hidden = memory.forget(hit.ref)
        assert not [one for one in memory.search("heron nests mill").hits if secret in one.text]
        memory.undo(hidden.id)
        assert [one for one in memory.search("heron nests mill").hits if secret in one.text]
        memory.forget(hit.ref, erase=True)
        assert holding(tmp_path, secret) == []
        notes = "".join(path.read_text() for path in tmp_path.rglob("*.md"))
        assert kept is not None
        assert f"observed: {kept.id}" in notes
        assert notes.count("observed:") == 1


def test_archived_observations_go_as_a_whole(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        secret = "the heron nests behind the old mill"
        for text in (secret, "the weather is fine today, and warm"):
            observe(
                memory.workspace.session_journal,
                "cli:a",
                "exec",
                {"command": f"make it; echo {text}"},
                f"{text}\nok",
            )
        note_down(memory.workspace)
        age_out(memory.workspace, local_now("") + timedelta(days=40))
        for path in tmp_path.rglob("*.md"):
            old(path)
        memory.forget(query=secret, erase=True)
        assert holding(tmp_path, secret) == []
        archived = next((tmp_path / "memory/archive/observations").glob("*.md")).read_text()
        assert "weather" in archived
        assert archived.count("```") == 2


def test_lines_that_stand_in_many_places_stay_in_the_others(tmp_path: Path) -> None:
    first = "```\n{\n  heron\n}\n```\n"
    second = "```\n{\n  otter\n}\n```\n"
    with opened(tmp_path) as memory:
        write(memory, "notes.md", f"# A\n\n{first}\n# B\n\n{second}")
        hidden = memory.forget("notes.md#L3-L7")
        assert not [hit for hit in memory.search("heron").hits if "heron" in hit.text]
        assert [hit for hit in memory.search("otter").hits if second.strip() in hit.text]
        memory.undo(hidden.id)
        memory.forget("notes.md#L3-L7", erase=True)
        assert (tmp_path / "notes.md").read_text() == f"# A\n\n\n# B\n\n{second}"


LONG = (
    "Could you please remind me that the treatment of QUAGGA starts on Monday, and that I have to bring all "
    "the papers of the last three years, the insurance card, and the letter of the doctor who saw me first?"
)


@pytest.mark.parametrize(
    "said",
    [
        "I prefer the colour QUAGGA for the boat called Vela.",  # a title has no full stop
        LONG,  # told without politeness, and cut off
        "记得我的银行密码提示是 QUAGGA，不要告诉别人。",
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_what_ends_of_sessions_wrote_of_a_turn_goes_with_it(
    tmp_path: Path, said: str, *, first: bool
) -> None:
    other = ["The boat is in the harbour of Kiel.", "Good, I know that now."]
    said_all = [said, "Noted.", *other] if first else [*other, said, "Noted."]
    with opened(tmp_path) as memory:
        session = memory.session("cli:a")
        turns = [session.add("user" if n % 2 == 0 else "assistant", text) for n, text in enumerate(said_all)]
        session.end()
        memory.sync()
        episode = next((tmp_path / "memory/episodes").glob("*.md"))
        assert "QUAGGA" in episode.read_text(encoding="utf-8")
        receipt = memory.forget(id=turns[0 if first else 2].id, erase=True)
        assert receipt.waiting == ()
        assert holding(tmp_path, "QUAGGA") == []
        assert holding(tmp_path, "harbour of Kiel")
        if first and "quagga" in episode.name:
            (name,) = (
                place.what.removeprefix("renamed to ")
                for place in receipt.places
                if place.path.endswith(episode.name) and place.what.startswith("renamed to ")
            )
            assert (tmp_path / name).exists()
            assert not episode.exists()


def test_an_undo_right_after_an_erasure_takes_back_nothing_else(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        kept = memory.remember("city", "Leeds")
        memory.remember("employer", "Acme")
        memory.forget(query="Acme", erase=True)
        with pytest.raises(UsageError, match="the last change was an erasure"):
            memory.undo()
        assert [fact.value for fact in memory.facts()] == ["Leeds"]
        assert [one.id for one in memory.undo(kept.id)] == [kept.id]
        memory.remember("city", "Oslo")
        memory.undo()  # what came after the erasure
        assert list(memory.facts()) == []


def test_a_note_that_goes_with_its_fact_is_no_copy_that_remains(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        write(memory, "notes.md", "- I am allergic to penicillin\n- a line that does not say it\n")
        memory.remember("allergies", "pollen", source="notes.md#L2")
        memory.remember("allergies", "penicillin", source="notes.md#L1")
        pollen, penicillin = (memory.forget(query=word, erase=True) for word in ("pollen", "penicillin"))
    assert [one for one in pollen.still if "learned from" in one] == [
        "notes.md#L2: a fact was learned from it; forget that too if you want"
    ]
    assert not [one for one in penicillin.still if "learned from" in one]


def test_what_stands_in_conflict_copies_alone_is_erased_as_in_their_originals(tmp_path: Path) -> None:
    """Where the words are quoted elsewhere, or nowhere: another machine still has the originals."""
    with opened(tmp_path) as memory:
        log = memory.session("cli:main")
        log.add("user", "Hello.")
        path = tmp_path / log.path
        copy = path.with_name(f"{path.stem}.sync-conflict-20260213-101500-ABCDEF7.jsonl")
        shutil.copy(path, copy)
        with copy.open("a", encoding="utf-8") as stream:
            stream.write(
                '{"id":"01M8GSHV83R84P57VFQVC2R1YD","role":"user","content":"The number is zq1wx."}\n'
            )
        write(memory, "notes/plan.md", "# Plan\n\n- milk\n")
        write(
            memory, "notes/plan.sync-conflict-20260213-101500-ABCDEF7.md", "# Plan\n\n- call zq1wx\n- milk\n"
        )
        assert memory.forget(query="zq1wx", erase=True, dry_run=True).items
        receipt = memory.forget(query="zq1wx", erase=True)
        assert (receipt.action, receipt.waiting) == ("erased", ())
        assert {item.kind for item in receipt.items} == {"turn", "note"}
    assert holding(tmp_path, "zq1wx") == []
    assert '{"id":"01M8GSHV83R84P57VFQVC2R1YD","erased":' in copy.read_text("utf-8")
    # The other machine's original, as a program for syncing brings it.
    with path.open("a", encoding="utf-8") as stream:
        stream.write('{"id":"01M8GSHV83R84P57VFQVC2R1YD","role":"user","content":"The number is zq1wx."}\n')
    with opened(tmp_path) as memory:
        memory.sync()
        assert not memory.search("zq1wx").hits
