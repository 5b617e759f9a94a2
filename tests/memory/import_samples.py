"""Small made-up files, one of each form that an import reads."""

# ruff: noqa: E501 - records read better whole

import json
import sqlite3
import zipfile
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

Files = Mapping[str, str]


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def as_lines(*values: Any) -> str:
    return "".join(as_json(value) + "\n" for value in values)


GEMINI: Final = as_json([
    {"header": "Gemini Apps", "title": "Prompted and in the dark?", "time": "2026-03-04T10:05:00.000Z",
     "products": ["Gemini Apps"], "details": [{"url": "https://gemini.google.com/app/aa11bb22cc33"}],
     "safeHtmlItem": [{"html": "<p>Then it flashes <b>twice</b>.</p><ul><li>red</li><li>white</li></ul>"}]},
    {"header": "Gemini Apps", "title": "Prompted How does the lighthouse blink?",
     "time": "2026-03-04T10:00:00.000Z", "products": ["Gemini Apps"],
     "details": [{"url": "https://gemini.google.com/app/aa11bb22cc33"}], "attachedFiles": ["lamp.png"],
     "safeHtmlItem": [{"html": "<p>Once a minute &amp; slowly.</p>"}]},
    {"header": "Gemini Apps", "title": "Gave feedback: Good response", "time": "2026-03-04T09:00:00.000Z",
     "products": ["Gemini Apps"]},
    {"header": "Gemini Apps", "title": "Created Gemini Canvas titled Keeper's plan",
     "time": "2026-03-03T09:00:00.000Z", "products": ["Gemini Apps"],
     "subtitles": [{"name": "Polish the lens on Mondays."}]},
    {"header": "Search", "title": "Searched for gulls", "time": "2026-03-03T08:00:00.000Z", "products": ["Search"]},
])  # fmt: skip

_CELL: Final = (
    '<div class="outer-cell mdl-cell mdl-cell--12-col mdl-shadow--2dp"><div class="mdl-grid"><div class="header-cell '
    'mdl-cell mdl-cell--12-col"><p class="mdl-typography--title">Gemini Apps<br></p></div><div class="content-cell '
    'mdl-cell mdl-cell--6-col mdl-typography--body-1">{}</div><div class="content-cell mdl-cell mdl-cell--6-col '
    'mdl-typography--body-1 mdl-typography--text-right"></div></div></div>'
)
GEMINI_PAGE: Final = (
    "<html><head><style>.outer-cell{}</style></head><body>"
    + _CELL.format("Prompted\xa0How does the lighthouse blink?<br>Mar 4, 2026, 10:00:00\u202fPM CET<br>"
                   "<p>Once a minute.</p><pre><code>on()\noff()</code></pre>")
    + _CELL.format("Prompted\xa0灯塔多高？<br>2026年3月5日 08:30:15 CST<br><p>三十米。</p>")
    + "</body></html>"
)  # fmt: skip

GROK: Final = as_json({"conversations": [{
    "conversation": {"id": "g-1", "title": "Lighthouse", "create_time": "2026-03-04T10:00:00.000000Z"},
    "responses": [
        {"response": {"_id": "r1", "sender": "human", "message": "How does the lighthouse blink?",
                      "create_time": {"$date": {"$numberLong": "1772618400000"}}}},
        {"response": {"_id": "r2", "sender": "ASSISTANT", "message": "Never.", "parent_response_id": "r1",
                      "create_time": {"$date": {"$numberLong": "1772618410000"}}}},
        {"response": {"_id": "r3", "sender": "ASSISTANT", "message": "Once a minute.", "parent_response_id": "r1",
                      "create_time": {"$date": {"$numberLong": "1772618420000"}}}},
    ],
}], "projects": []})  # fmt: skip

_WEBUI_MESSAGES: Final = {
    "u1": {"id": "u1", "parentId": None, "childrenIds": ["a1", "a2"], "role": "user", "timestamp": 1772618400,
           "content": "How does the lighthouse blink?",
           "files": [{"type": "file", "id": "f1", "name": "lamp.txt",
                      "file": {"data": {"content": "The lamp turns by clockwork."}}}]},
    "a1": {"id": "a1", "parentId": "u1", "childrenIds": [], "role": "assistant", "timestamp": 1772618410,
           "content": "Never."},
    "a2": {"id": "a2", "parentId": "u1", "childrenIds": [], "role": "assistant", "timestamp": 1772618420,
           "content": '<details type="reasoning" done="true">\n<summary>Thought</summary>\n> hm\n</details>\nOnce a minute.'},
}  # fmt: skip
OPEN_WEBUI: Final = as_json([{
    "id": "w-1", "user_id": "owner-1", "title": "Lighthouse", "created_at": 1772618400, "archived": False,
    "chat": {"title": "Lighthouse", "models": ["m"], "history": {"messages": _WEBUI_MESSAGES, "currentId": "a2"},
             "messages": []},
}])  # fmt: skip

LIBRECHAT: Final = as_json({
    "conversationId": "l-1", "endpoint": "agents", "title": "Lighthouse", "exportAt": "10:00:00 GMT+0000",
    "branches": True, "recursive": True,
    "messagesTree": [{
        "messageId": "u1", "parentMessageId": "00000000-0000-0000-0000-000000000000", "sender": "User",
        "isCreatedByUser": True, "text": "How does the lighthouse blink?", "createdAt": "2026-03-04T10:00:00.000Z",
        "children": [
            {"messageId": "a1", "parentMessageId": "u1", "sender": "GPT", "isCreatedByUser": False,
             "text": "Never.", "createdAt": "2026-03-04T10:00:10.000Z", "children": []},
            {"messageId": "a2", "parentMessageId": "u1", "sender": "GPT", "isCreatedByUser": False, "text": "",
             "content": [{"type": "think", "think": "hm"}, {"type": "text", "text": {"value": "Once a minute."}}],
             "createdAt": "2026-03-04T10:00:20.000Z", "children": []},
        ],
    }],
})  # fmt: skip

COPILOT: Final = (
    "\ufeffConversation,Time,Author,Message\r\n"
    'Lighthouse,2026-03-04T10:00:10,AI,"Once a minute,\nslowly."\r\n'
    "Lighthouse,2026-03-04T10:00:00,Human,How does the lighthouse blink?\r\n"
)

_REQUEST: Final = {
    "requestId": "request_1", "timestamp": 1772618400000, "message": {"text": "How does the lighthouse blink?", "parts": []},
    "response": [{"value": "See "}, {"kind": "inlineReference", "inlineReference": {"path": "/src/lamp.py"}},
                 {"value": ": once a minute."}, {"kind": "toolInvocationSerialized", "toolId": "read"},
                 {"kind": "undoStop", "id": "x"}],
}  # fmt: skip
GITHUB_COPILOT: Final = as_json(
    {"responderUsername": "GitHub Copilot", "initialLocation": "panel", "requests": [_REQUEST]}
)
COPILOT_LOG: Final = as_lines(
    {"kind": 0, "v": {"version": 3, "sessionId": "vs-1", "creationDate": 1772618400000, "requests": []}},
    {"kind": 1, "k": ["customTitle"], "v": "Lighthouse"},
    {"kind": 2, "k": ["requests"], "v": [{**_REQUEST, "response": []}]},
    {"kind": 2, "k": ["requests", 0, "response"], "v": [{"value": "Once"}, {"value": " a draft"}]},
    {"kind": 2, "k": ["requests", 0, "response"], "i": 1, "v": [{"value": " a minute."}]},
    {"kind": 1, "k": ["requests", 7, "response"], "v": []},
)

_GEMINI_ABOUT: Final = {"sessionId": "gs-1", "projectHash": "f" * 64, "startTime": "2026-03-04T10:00:00.000Z",
                        "lastUpdated": "2026-03-04T10:00:10.000Z"}  # fmt: skip
_GEMINI_ASKED: Final = {"id": "m1", "timestamp": "2026-03-04T10:00:00.000Z", "type": "user",
                        "content": [{"text": "How does the lighthouse blink?"}]}  # fmt: skip
_GEMINI_ANSWERED: Final = {"id": "m2", "timestamp": "2026-03-04T10:00:10.000Z", "type": "gemini",
                           "content": "Once a minute.", "thoughts": [{"subject": "hm"}],
                           "toolCalls": [{"id": "c", "name": "ls"}]}  # fmt: skip
GEMINI_CLI: Final = as_json({**_GEMINI_ABOUT, "messages": [
    _GEMINI_ASKED, _GEMINI_ANSWERED, {"id": "i", "timestamp": "2026-03-04T10:00:11.000Z", "type": "info", "content": "Saved."}]})  # fmt: skip
GEMINI_CLI_LOG: Final = as_lines(
    {**_GEMINI_ABOUT, "kind": "main"}, _GEMINI_ASKED, {**_GEMINI_ANSWERED, "content": ""}, _GEMINI_ANSWERED,
    {"$set": {"lastUpdated": "2026-03-04T10:00:12.000Z", "messages": []}},
    {"id": "m3", "timestamp": "2026-03-04T10:01:00.000Z", "type": "user", "content": "Forget that."},
    {"$rewindTo": "m3"},
)  # fmt: skip
GEMINI_CLI_SHARED: Final = as_json([
    {"role": "user", "parts": [{"text": "How does the lighthouse blink?"}]},
    {"role": "model", "parts": [{"text": "Once a minute."}]},
])  # fmt: skip

_OPENCODE_ABOUT: Final = {
    "id": "ses_1",
    "title": "Lighthouse",
    "projectID": "p",
    "time": {"created": 1772618400000},
}
OPENCODE: Final = as_json({"info": _OPENCODE_ABOUT, "messages": [
    {"info": {"id": "msg_1", "role": "user", "time": {"created": 1772618400000}},
     "parts": [{"id": "prt_1", "type": "text", "text": "How does the lighthouse blink?"},
               {"id": "prt_2", "type": "text", "text": "contents of a file", "synthetic": True}]},
    {"info": {"id": "msg_2", "role": "assistant", "time": {"created": 1772618410000}},
     "parts": [{"id": "prt_3", "type": "step-start"}, {"id": "prt_4", "type": "reasoning", "text": "hm"},
               {"id": "prt_5", "type": "tool", "tool": "bash"}, {"id": "prt_6", "type": "text", "text": "Once a minute."}]},
]})  # fmt: skip
OPENCODE_STORAGE: Final = {
    "storage/session/p/ses_1.json": as_json(_OPENCODE_ABOUT),
    "storage/session/p/ses_2.json": as_json({"id": "ses_2", "parentID": "ses_1", "title": "sub", "time": {}}),
    "storage/message/ses_1/msg_1.json": as_json({"id": "msg_1", "role": "user", "time": {"created": 1772618400000}}),
    "storage/message/ses_1/msg_2.json": as_json({"id": "msg_2", "role": "assistant", "time": {"created": 1772618410000}}),
    "storage/part/msg_1/prt_1.json": as_json({"id": "prt_1", "type": "text", "text": "How does the lighthouse blink?"}),
    "storage/part/msg_2/prt_6.json": as_json({"id": "prt_6", "type": "text", "text": "Once a minute."}),
}  # fmt: skip


def telegram_message(number: int, sender: tuple[str, str], text: Any, **more: Any) -> dict[str, Any]:
    name, identifier = sender
    return {"id": number, "type": "message", "date": f"2026-03-04T10:0{number}:00",
            "date_unixtime": str(1772618400 + 60 * number), "from": name, "from_id": identifier, "text": text,
            "text_entities": [], **more}  # fmt: skip


_ANN, _BEN = ("Ann Lee", "user11"), ("Ben Oak", "user22")
_TELEGRAM_CHAT: Final = {
    "name": "Ben Oak", "type": "personal_chat", "id": 22, "messages": [
        {"id": 0, "type": "service", "date": "2026-03-04T10:00:00", "date_unixtime": "1772618400", "actor": "Ben Oak",
         "actor_id": "user22", "action": "phone_call", "text": ""},
        telegram_message(1, _BEN, "I live in Oslo near the lighthouse."),
        telegram_message(2, _ANN, ["I live in ", {"type": "bold", "text": "Bergen"}, "."],
                         reactions=[{"type": "emoji", "emoji": "👍", "count": 2}]),
        telegram_message(3, _BEN, "", media_type="sticker", file="s.webp"),
        telegram_message(4, _ANN, "I live in Madrid.", forwarded_from="Cy Reed"),
        telegram_message(5, _BEN, "看这个", photo="photos/1.jpg"),
    ],
}  # fmt: skip
TELEGRAM: Final = as_json(_TELEGRAM_CHAT)
TELEGRAM_ALL: Final = as_json({
    "about": "Here is the data you requested.",
    "personal_information": {"user_id": 11, "first_name": "Ann", "last_name": "Lee"},
    "contacts": {"about": "", "list": []},
    "chats": {"about": "", "list": [
        _TELEGRAM_CHAT,
        {"name": "Keepers", "type": "private_group", "id": 33, "messages": [
            telegram_message(1, _BEN, "The lighthouse is closed."), telegram_message(2, _ANN, "Since when?")]},
        {"type": "saved_messages", "id": 11, "messages": [telegram_message(1, _ANN, "Buy lamp oil.")]},
    ]},
})  # fmt: skip

WHATSAPP_ANDROID: Final = (
    "04/03/2026, 10:00 - Messages and calls are end-to-end encrypted. Tap to learn more.\n"
    "04/03/2026, 10:01 - Ben Oak: I live in Oslo near the lighthouse.\n"
    "04/03/2026, 10:02 - Ann Lee: I live in Bergen.\nIt rains here: every day.\n"
    "04/03/2026, 10:02 - Ann Lee: ok\n04/03/2026, 10:02 - Ann Lee: ok\n"
    "04/03/2026, 10:03 - Ben Oak: <Media omitted>\n"
    "14/03/2026, 22:03 - Ben Oak: IMG-20260314-WA0001.jpg (file attached)\nThe tower at night\n"
    "14/03/2026, 22:04 - Ann Lee: This message was deleted\n"
)
WHATSAPP_IOS: Final = (
    "[3/4/26, 10:00:00\u202fAM] Ben Oak: \u200eMessages and calls are end-to-end encrypted.\n"
    "[3/4/26, 10:01:09\u202fAM] Ben Oak: I live in Oslo near the lighthouse.\n"
    "[3/4/26, 10:02:00\u202fPM] Ann Lee: I live in Bergen. \u200e<This message was edited>\n"
    "\u200e[3/14/26, 12:03:00\u202fAM] Ben Oak: \u200eimage omitted\n"
    "\u200e[3/14/26, 12:04:00\u202fAM] Ben Oak: The tower \u200e<attached: 00000012-PHOTO.jpg>\n"
    "[3/14/26, 12:05:00\u202fAM] Ann Lee: \u200ePOLL:\nTea?\n\u200eOPTION: yes\n"
)
WHATSAPP_CHINESE: Final = (
    "2026/3/4 上午10:01 - 本: 我住在奥斯陆，灯塔旁边。\n2026/3/4 下午10:02 - 安: 我住在卑尔根。\n"
    "2026/3/4 下午10:03 - 本: <省略影音内容>\n"
)
WECHAT: Final = (
    "2026-03-04 10:01:00 本\n我住在奥斯陆，灯塔旁边。\n\n2026-03-04 10:02:00 我\n我住在卑尔根。\n第二行\n\n"
    "2026-03-04 10:03:00 本\n[图片]\n\n2026-03-04 10:04:00 本\n[捂脸]\n"
)
WECHAT_COPIED: Final = (
    "本 2026年3月4日 下午10:01\n我住在奥斯陆，灯塔旁边。\nMe Mar 4, 2026 10:02 PM\nI live in Bergen.\n"
)
WECHAT_MAILED: Final = (
    "安 和 本 的聊天记录如下:\n\n—————  2026-03-04  —————\n\n\n本  10:01\n\n灯塔旁边见\n\n\n安  10:02\n\n好\n\n\n"
    "—————  2026-03-05  —————\n\n\n本  09:00\n\n到了\n"
)
WECHAT_TABLE: Final = (
    "localId,TalkerId,Type,SubType,IsSender,CreateTime,Status,StrContent,StrTime,Remark,NickName,Sender\n"
    "1,7,1,0,0,1772618460,,我住在奥斯陆，灯塔旁边。,2026-03-04 18:01:00,本,Ben,wxid_ben\n"
    "2,7,1,0,1,1772618520,,我住在卑尔根。,2026-03-04 18:02:00,安,Ann,wxid_ann\n"
    "3,7,3,0,0,1772618580,,<img/>,2026-03-04 18:03:00,本,Ben,wxid_ben\n"
)
MCP_MEMORY: Final = as_lines(
    {
        "type": "entity",
        "name": "default_user",
        "entityType": "person",
        "observations": ["Keeps the lighthouse", "喝绿茶"],
    },
    {"type": "entity", "name": "Ben Oak", "entityType": "person", "observations": ["Lives in Oslo"]},
    {"type": "relation", "from": "Ben Oak", "to": "default_user", "relationType": "brother_of"},
)
ZEP: Final = as_json({"edges": [
    {"uuid": "e1", "name": "LIVES_IN", "fact": "Ben Oak lives in Oslo", "source_node_uuid": "n1",
     "target_node_uuid": "n2", "source_node_name": "Ben Oak", "created_at": "2026-03-04T10:00:00Z",
     "valid_at": "2026-03-01T00:00:00Z"},
    {"uuid": "e2", "name": "LIVES_IN", "fact": "Ben Oak lives in Tromsø", "source_node_uuid": "n1",
     "target_node_uuid": "n3", "created_at": "2025-03-04T10:00:00Z", "invalid_at": "2026-03-01T00:00:00Z"},
]})  # fmt: skip
LETTA: Final = as_json({
    "agents": [{"name": "Keeper", "memory_blocks": [], "block_ids": ["block-0", "block-1"], "agent_type": "letta_v1_agent",
                "system": "You are.", "messages": [
        {"type": "message", "role": "system", "id": "message-0", "content": [{"type": "text", "text": "You are."}]},
        {"type": "message", "role": "user", "id": "message-1", "created_at": "2026-03-04T10:00:00Z", "content": [
            {"type": "text", "text": '{"type": "user_message", "message": "How does the lighthouse blink?"}'}]},
        {"type": "message", "role": "user", "id": "message-2", "created_at": "2026-03-04T10:00:01Z", "content": [
            {"type": "text", "text": '{"type": "heartbeat", "reason": "x"}'}]},
        {"type": "message", "role": "assistant", "id": "message-3", "created_at": "2026-03-04T10:00:10Z",
         "content": [{"type": "text", "text": "I should answer"}],
         "tool_calls": [{"function": {"name": "send_message", "arguments": '{"message": "Once a minute."}'}}]},
    ]}],
    "groups": [], "files": [], "tools": [], "sources": [], "mcp_servers": [],
    "blocks": [{"id": "block-0", "label": "human", "value": "# About\n- Likes gulls\n- Lives in Bergen"},
               {"id": "block-1", "label": "persona", "value": "I keep the light."}],
})  # fmt: skip
BASIC_MEMORY: Final = {
    "people/ben.md": "---\ntitle: Ben\ntype: note\npermalink: people/ben\ntags: [x]\n---\n# Ben\n\n"
    "- [place] Lives in Oslo near the lighthouse #home\n- brother_of [[Ann]]\n",
}

SINGLE: Final[dict[str, tuple[str, str, str]]] = {
    "gemini": ("gemini", "MyActivity.json", GEMINI),
    "gemini page": ("gemini", "MyActivity.html", GEMINI_PAGE),
    "grok": ("grok", "prod-grok-backend.json", GROK),
    "open-webui": ("open-webui", "chat-export-1772618400.json", OPEN_WEBUI),
    "open-webui, one chat": ("open-webui", "chat.json", as_json(json.loads(OPEN_WEBUI)[0])),
    "librechat": ("librechat", "Lighthouse.json", LIBRECHAT),
    "copilot": ("copilot", "copilot-activity-history.csv", COPILOT),
    "github-copilot": ("github-copilot", "chat.json", GITHUB_COPILOT),
    "github-copilot log": ("github-copilot", "vs-1.jsonl", COPILOT_LOG),
    "gemini-cli": ("gemini-cli", "session-2026-03-04T10-00-gs1.json", GEMINI_CLI),
    "gemini-cli log": ("gemini-cli", "session-2026-03-04T10-00-gs1.jsonl", GEMINI_CLI_LOG),
    "gemini-cli shared": ("gemini-cli", "gemini-session.json", GEMINI_CLI_SHARED),
    "opencode": ("opencode", "opencode-session.json", OPENCODE),
    "telegram": ("telegram", "result.json", TELEGRAM),
    "telegram, all": ("telegram", "result.json", TELEGRAM_ALL),
    "whatsapp, Android": ("whatsapp", "WhatsApp Chat with Ben Oak.txt", WHATSAPP_ANDROID),
    "whatsapp, iOS": ("whatsapp", "_chat.txt", WHATSAPP_IOS),
    "whatsapp, Chinese": ("whatsapp", "与本的 WhatsApp 聊天.txt", WHATSAPP_CHINESE),
    "wechat": ("wechat", "本.txt", WECHAT),
    "wechat, copied": ("wechat", "copied.txt", WECHAT_COPIED),
    "wechat, mailed": ("wechat", "安和本.txt", WECHAT_MAILED),
    "wechat, table": ("wechat", "本.csv", WECHAT_TABLE),
    "mcp-memory": ("mcp-memory", "memory.jsonl", MCP_MEMORY),
    "zep": ("zep", "edges.json", ZEP),
    "letta": ("letta", "keeper.af", LETTA),
}
"""By a name: the format, the file's name, and its text."""
PACKED: Final[dict[str, tuple[str, Files]]] = {
    "gemini": ("gemini", {"Takeout/My Activity/Search/MyActivity.json": GEMINI.replace("Gemini", "Search"),
                          "Takeout/My Activity/Gemini Apps/MyActivity.json": GEMINI}),
    "gemini, Chinese": ("gemini", {"Takeout/我的活动/Gemini 应用/我的活动记录.json": GEMINI}),
    "grok": ("grok", {"ttl/30d/export_data/u/prod-grok-backend.json": GROK, "ttl/30d/export_data/u/prod-mc-billing.json": "{}"}),
    "librechat": ("librechat", {"Lighthouse.json": LIBRECHAT}),
    "github-copilot": ("github-copilot", {"abc/chatSessions/vs-1.jsonl": COPILOT_LOG, "abc/workspace.json": "{}"}),
    "gemini-cli": ("gemini-cli", {"hash/chats/session-1.jsonl": GEMINI_CLI_LOG, "hash/logs.json": "[]"}),
    "opencode": ("opencode", OPENCODE_STORAGE),
    "telegram": ("telegram", {"ChatExport_2026-03-04/result.json": TELEGRAM, "ChatExport_2026-03-04/css/style.css": ""}),
    "whatsapp": ("whatsapp", {"_chat.txt": WHATSAPP_IOS, "00000012-PHOTO.jpg": "x"}),
    "wechat": ("wechat", {"微信聊天 本.txt": WECHAT, "notes.txt": "some words"}),
    "mcp-memory": ("mcp-memory", {"memory.jsonl": MCP_MEMORY}),
    "letta": ("letta", {"keeper.af": LETTA}),
}  # fmt: skip
"""By a name: the format, and the files of a folder or archive."""


def cursor_database(path: Path) -> Path:
    bubbles = {
        "bubbleId:c-1:b1": {"type": 1, "bubbleId": "b1", "text": "How does the lighthouse blink?", "createdAt": "2026-03-04T10:00:00.000Z"},
        "bubbleId:c-1:b2": {"type": 2, "bubbleId": "b2", "text": "", "thinking": {"text": "hm"}},
        "bubbleId:c-1:b3": {"type": 2, "bubbleId": "b3", "text": "Once a minute.", "toolFormerData": {"name": "ls"}},
    }  # fmt: skip
    headers = [{"bubbleId": name, "type": 2} for name in ("b1", "b2", "b3", "gone")]
    talk = {
        "composerId": "c-1",
        "name": "Lighthouse",
        "createdAt": 1772618400000,
        "fullConversationHeadersOnly": headers,
    }
    old = {"tabs": [{"tabId": "t-1", "chatTitle": "Old", "lastSendTime": 1672531200000, "bubbles": [
        {"id": "o1", "type": "user", "text": "Is it tall?"}, {"id": "o2", "type": "ai", "rawText": "Thirty metres."}]}]}  # fmt: skip
    with closing(sqlite3.connect(path)) as database, database:
        for table in ("ItemTable", "cursorDiskKV"):
            database.execute(f"CREATE TABLE {table} (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
        rows = [("composerData:c-1", as_json(talk)), ("composerData:c-2", "{}"), ("composerData:c-3", "no json"),
                *((key, as_json(value).encode()) for key, value in bubbles.items())]  # fmt: skip
        database.executemany("INSERT INTO cursorDiskKV VALUES (?, ?)", rows)
        database.execute(
            "INSERT INTO ItemTable VALUES (?, ?)",
            ("workbench.panel.aichat.view.aichat.chatdata", as_json(old)),
        )
    return path


def opencode_database(path: Path) -> Path:
    export = json.loads(OPENCODE)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE session (id TEXT, title TEXT, parent_id TEXT, time_created INTEGER)")
        database.execute("CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT)")
        database.execute("CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT)")
        database.execute("INSERT INTO session VALUES ('ses_1', 'Lighthouse', NULL, 1772618400000)")
        database.execute("INSERT INTO session VALUES ('ses_2', 'sub', 'ses_1', 1772618400000)")
        for one in export["messages"]:
            info = one["info"]
            database.execute(
                "INSERT INTO message VALUES (?, 'ses_1', ?, ?)",
                (info["id"], info["time"]["created"], as_json(info)),
            )
            for part in one["parts"]:
                database.execute(
                    "INSERT INTO part VALUES (?, ?, 'ses_1', ?)", (part["id"], info["id"], as_json(part))
                )
    return path


DATABASES: Final[dict[str, tuple[str, Callable[[Path], Path]]]] = {
    "cursor": ("state.vscdb", cursor_database),
    "opencode": ("opencode.db", opencode_database),
}


def as_folder(folder: Path, files: Files) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return folder


def as_archive(path: Path, files: Files) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path
