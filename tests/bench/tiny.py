"""A set of two small memories in both languages, made by hand: which unit answers is plain to see."""

import json
from pathlib import Path

UNITS = [
    ("ann/1", "ann", "ann/d1", "2025-03-01T09:00:00", "ann", "The boiler in the cellar leaks again."),
    ("ann/2", "ann", "ann/d1", "2025-03-01T09:01:00", "bob", "Call the plumber Kowalski, he repaired ours."),
    ("ann/3", "ann", "ann/d2", "2025-03-09T18:00:00", "ann", "Training for the marathon starts on Monday."),
    ("ann/4", "ann", "ann/d2", "2025-03-09T18:02:00", "bob", "I bought new running shoes in Utrecht."),
    ("li/1", "li", "li/d1", "2025-04-02T08:00:00", "li", "昨天我在杭州参观了丝绸博物馆。"),
    ("li/2", "li", "li/d1", "2025-04-02T08:05:00", "wang", "数据库迁移安排在周五晚上。"),
    ("li/3", "li", "li/d2", "2025-04-20T21:00:00", "li", "猫打翻了花瓶，地毯全湿了。"),
    ("li/4", "li", "li/d2", "2025-04-20T21:01:00", "wang", "明天去宠物医院给猫打疫苗。"),
]
QUESTIONS = [
    ("q1", "ann", "Who is the plumber?", ["ann/2"], ["ann/d1"], "fact", True),
    ("q2", "ann", "running shoes from Utrecht", ["ann/4"], ["ann/d2"], "fact", True),
    ("q3", "li", "数据库什么时候迁移？", ["li/2"], ["li/d1"], "time", True),
    ("q4", "li", "猫的疫苗", ["li/4", "li/3"], ["li/d2"], "fact", True),
    ("q5", "li", "What is not there", [], [], "none", False),
    ("q6", "li", "丝绸", ["li/99"], ["li/d9"], "fact", True),
]


def write(folder: Path, *, kind: str = "turn") -> Path:
    """The set as files."""
    folder.mkdir(parents=True, exist_ok=True)
    units: list[dict[str, object]] = [
        {
            "id": identifier,
            "scope": scope,
            "session_id": session,
            "time": time,
            "role": role,
            "kind": kind,
            "text": text,
            "lang": "zh" if scope == "li" else "en",
            "seq": number,
            "meta": {},
        }
        for number, (identifier, scope, session, time, role, text) in enumerate(UNITS)
    ]
    questions: list[dict[str, object]] = [
        {
            "qid": qid,
            "query": query,
            "scopes": [scope],
            "gold_ids": gold,
            "gold_sessions": sessions,
            "category": category,
            "query_date": "2025-05",
            "answerable": answerable,
        }
        for qid, scope, query, gold, sessions, category, answerable in QUESTIONS
    ]
    _lines(folder / "corpus.jsonl", units)
    _lines(folder / "queries.jsonl", questions)
    return folder


def _lines(path: Path, values: list[dict[str, object]]) -> None:
    path.write_text(
        "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values), encoding="utf-8"
    )
