"""Classify tool executions (significant? failed?) and return short titles for them.

Hosts name tools differently (`exec`, `Bash`, `functions.exec_command`, `mcp__git__commit`), so names are
split into words.
"""

import json
import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.types import Json

SIGNIFICANT: Final = (
    *("exec", "execute", "run", "shell", "bash", "sh", "zsh", "powershell", "terminal", "command", "process"),
    *("python", "code", "write", "edit", "multiedit", "patch", "create", "append", "insert", "replace"),
    *("delete", "remove", "move", "rename", "save", "upload", "download", "fetch", "web", "webfetch"),
    *("websearch", "browser", "browse", "navigate", "http", "request", "curl", "git", "commit", "push", "pr"),
    *("send", "message", "email", "mail", "post", "publish", "notify", "reply", "deploy", "install", "build"),
    *("test", "migrate", "schedule", "cron", "task", "agent", "subagent", "spawn", "delegate", "update"),
)
"""Words in a tool's name that make its executions significant."""
_READ_WORDS: Final = frozenset(
    {
        *("read", "list", "ls", "glob", "grep", "find", "search", "view", "cat", "get", "show", "open"),
        *("status", "memory", "recall", "remember", "todo", "todowrite", "think", "plan", "query", "lookup"),
    }
)
_READ_PROGRAMS: Final = frozenset(
    {
        *("ls", "cat", "pwd", "head", "tail", "echo", "which", "type", "grep", "rg", "ag", "find", "fd"),
        *(
            "wc",
            "tree",
            "stat",
            "file",
            "less",
            "more",
            "whoami",
            "date",
            "env",
            "printenv",
            "du",
            "df",
            "ps",
        ),
        *("top", "dir", "history", "man", "cd", "sort", "uniq", "cut", "jq", "true"),
    }
)
_READ_GIT: Final = frozenset({"status", "log", "diff", "show", "branch", "blame", "remote", "rev-parse"})
_WORDS: Final = lazy_pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\da-zA-Z_]+")
_COMMAND_KEYS: Final = ("command", "cmd", "commands", "script", "code", "input", "argv", "args")
PATH_KEYS: Final = (
    *("path", "file_path", "filePath", "filepath", "filename", "file", "notebook_path", "target_file"),
    *("target", "output", "output_path", "destination", "dest"),
)
_ARGUMENT_KEYS: Final = ("arguments", "input", "args", "params")
_URL_KEYS: Final = ("url", "uri", "href", "link")
_TEXT_KEYS: Final = ("query", "q", "message", "text", "subject", "title", "prompt", "description", "to")
_EXIT_KEYS: Final = ("exit_code", "exitCode", "exit_status", "returncode", "return_code", "code")
_EXIT: Final = lazy_pattern(
    r"(?:exit(?:ed)?(?:\s+with)?(?:\s+(?:code|status))?|退出码|returned non-zero exit status)"
    r"\s*+(?:[:=：]\s*+)?(?P<code>-?\d{1,6})\b",
    re.IGNORECASE,
)
_ERROR_START: Final = lazy_pattern(
    r"\s*(?:(?:error|fatal)(?:\s*[:\[(]|\s*$)|traceback \(most recent|[\w.]*(?:Error|Exception)\b\s*[:(]|"
    r"command not found|permission denied|no such file|错误|失败|异常|报错)",
    re.IGNORECASE,
)
_SPLIT: Final = lazy_pattern(r"&&|\|\||[;|\n]")
TITLE: Final = 96
"""Maximum length of a title in characters."""


class Execution(NamedTuple):
    """A tool call, as the host reports it."""

    tool: str
    arguments: Json
    call: str = ""  # the host's id of the call


def execution_of(call: Json) -> Execution | None:
    """Parse a tool call in the format of OpenAI, Anthropic or `{"name", "arguments"}`; None if it is none."""
    if not isinstance(call, Mapping):
        return None
    inner = call.get("function")
    source = inner if isinstance(inner, Mapping) else call
    name = source.get("name") or call.get("tool") or call.get("tool_name")
    if not isinstance(name, str) or not name.strip():
        return None
    arguments: Json = next((source[key] for key in _ARGUMENT_KEYS if key in source), {})
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            arguments = {"input": arguments}
    identifier = call.get("id") or call.get("call_id") or call.get("tool_call_id") or ""
    return Execution(name.strip(), arguments, str(identifier))


def short_name(tool: str) -> str:
    """Return the last part of a tool's name: `commit` of `mcp__git__commit`, `exec` of `functions.exec`."""
    last = re.split(r"__|[.:/\\]", tool.strip())[-1]
    return " ".join((last or tool).split())[:40] or "tool"


def words_of(tool: str) -> list[str]:
    """Return the words in a tool's name, in lower case."""
    return [word.lower() for word in _WORDS.findall(tool.replace("-", " "))]


def significant_tools(own: Sequence[str]) -> tuple[str, ...]:
    """Return the patterns of tools whose executions are recorded: the known ones and those of a workspace."""
    return (*SIGNIFICANT, *own)


def is_significant(tool: str, arguments: Json, patterns: Sequence[str] = SIGNIFICANT) -> bool:
    """Return whether an execution should be recorded.

    Args:
        tool: the tool's name.
        arguments: arguments of the call.
        patterns: words of tool names, or shell patterns of whole names (`mcp__git__*`); `!read*` excludes.
    """
    name = tool.casefold()
    if any(fnmatchcase(name, one[1:].casefold()) for one in patterns if one.startswith("!")):
        return False
    wanted = {one.casefold() for one in patterns if not one.startswith("!")}
    if any(fnmatchcase(name, one) for one in wanted if "*" in one):
        return True
    words = words_of(short_name(tool)) or words_of(tool)
    if name not in wanted:
        if not wanted.intersection(words_of(tool)):
            return False
        web = "web" in words or "browser" in words
        if words and words[0] in _READ_WORDS and not web:
            return False
    command = _command(arguments)
    return not (command and _only_reads(command))


def _only_reads(command: str) -> bool:
    if ">" in command.replace("2>&1", "").replace("2>/dev/null", "") or "$(" in command or "`" in command:
        return False
    for part in _SPLIT.split(command):
        words = part.split()
        if not words:
            continue
        program = words[0].rpartition("/")[2]
        reads = program in _READ_PROGRAMS or (program == "git" and len(words) > 1 and words[1] in _READ_GIT)
        if not reads or "-exec" in words or "-delete" in words:
            return False
    return True


class Outcome(NamedTuple):
    """The result of an execution."""

    failed: bool
    reason: str = ""  # short: "exit 2", "ConnectionError"


def outcome_of(result: Json, error: object = None) -> Outcome:  # noqa: PLR0911 - one for each sign
    """Return whether an execution failed, and why, judged by the host's error, exit code or output."""
    if error:
        return Outcome(failed=True, reason=_reason(str(error)))
    if isinstance(result, Mapping):
        for key in _EXIT_KEYS:
            code = result.get(key)
            if isinstance(code, int) and not isinstance(code, bool) and (key != "code" or code < 256):
                return Outcome(failed=code != 0, reason=f"exit {code}" if code else "")
        flags = result.get("is_error"), result.get("isError"), result.get("ok") is False or None
        if any(flags):
            return Outcome(failed=True, reason=_reason(str(result.get("error") or "")))
        if result.get("error"):
            return Outcome(failed=True, reason=_reason(str(result["error"])))
    text = text_of(result)
    edge = text[:400] + "\n" + text[-400:] if len(text) > 800 else text
    if found := _EXIT.search(edge):
        code = int(found["code"])
        return Outcome(failed=code != 0, reason=f"exit {code}" if code else "")
    if _ERROR_START.match(text):
        return Outcome(failed=True, reason=_reason(text))
    return Outcome(failed=False)


def _reason(text: str) -> str:
    if found := _EXIT.search(text):
        return f"exit {found['code']}"
    kind = re.search(r"\b([A-Z]\w*(?:Error|Exception|Timeout))\b", text)
    return kind[1] if kind else ""


def text_of(value: Json) -> str:
    """Return a tool result as text."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        parts = [value[k] for k in ("stdout", "stderr", "output", "content", "result", "text") if k in value]
        if parts and all(isinstance(part, str) for part in parts):
            return "\n".join(part for part in parts if part)
    return json.dumps(value, ensure_ascii=False, default=str)


def head_and_tail(text: str, limit: int) -> str:
    """Shorten `text` to about `limit` characters, two thirds from the start, in whole lines if possible."""
    if len(text) <= limit:
        return text
    head, tail = text[: limit * 2 // 3], text[-(limit // 3) :]
    if "\n" in head[len(head) // 2 :]:
        head = head[: head.rindex("\n")]
    if "\n" in tail[: len(tail) // 2]:
        tail = tail[tail.index("\n") + 1 :]
    return f"{head}\n… {len(text) - len(head) - len(tail):,} characters left out …\n{tail}"


def title_of(tool: str, arguments: Json, outcome: Outcome, *, limit: int = TITLE) -> str:
    """Return a short title: "exec: make test failed (exit 2)", "write: src/app.py", "fetch: example.com/a".

    It is made of name, arguments and outcome, so that no output of a tool gets into notes by a title.
    """
    end = (f" failed ({outcome.reason})" if outcome.reason else " failed") if outcome.failed else ""
    about = _about(arguments)
    head = f"{short_name(tool)}: {about}" if about else short_name(tool)
    room = limit - len(end)
    return (head if len(head) <= room else head[: room - 1].rstrip() + "…") + end


def _about(arguments: Json) -> str:  # noqa: PLR0911 - one for each shape
    if isinstance(arguments, str):
        return _first_line(arguments)
    if not isinstance(arguments, Mapping):
        return _first_line(json.dumps(arguments, ensure_ascii=False, default=str)) if arguments else ""
    if command := _command(arguments):
        return _first_line(command)
    texts: dict[str, str] = {key: text for key, text in arguments.items() if isinstance(text, str) and text}
    if path := next((texts[key] for key in PATH_KEYS if key in texts), ""):
        return _first_line(path)
    if url := next((texts[key] for key in _URL_KEYS if key in texts), ""):
        return _first_line(re.sub(r"^https?://(?:www\.)?", "", re.split(r"[?#]", url, maxsplit=1)[0]))
    if text := next((texts[key] for key in _TEXT_KEYS if texts.get(key, "").strip()), ""):
        return _first_line(text)
    return _first_line(next((value for value in texts.values() if len(value) <= 200), ""))


def _command(arguments: Json) -> str:
    if not isinstance(arguments, Mapping):
        return ""
    for key in _COMMAND_KEYS:
        value = arguments.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip()
        if isinstance(value, (list, tuple)) and value and all(isinstance(one, str) for one in value):
            return " ".join(value)
    return ""


def _first_line(text: str) -> str:
    lines = [line for raw in text.splitlines() if (line := " ".join(raw.split()))]
    return lines[0] + (" …" if len(lines) > 1 else "") if lines else ""
