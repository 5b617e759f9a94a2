"""Define candidates, rules and value readers, shared by the rules of both languages."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Final, Literal, NamedTuple

import msgspec

from mnemark.text.lazy_pattern import lazy_pattern

TOPICS: Final = (
    "self", "people", "pets", "home", "work", "study", "health", "food", "tastes", "leisure", "habits", "skills",
    "possessions", "travel", "plans", "events", "beliefs", "tools", "project",
)  # fmt: skip
"""What facts and statements are about."""


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate fact extracted from a turn."""

    subject: str
    predicate: str
    value: str
    type: str = "fact"
    since: datetime  # start of validity: the turn's time, or an earlier one that the sentence names
    confidence: float  # 0 to 1, by the wording
    importance: float  # 0 to 1
    priority: str = "long"
    topic: str = ""
    """One of `TOPICS`, of a statement: a sentence kept as it is, without a predicate."""
    over: bool = False
    """Whether the turn says that this no longer holds ("I no longer like coffee"); an empty value: none of it."""
    standing: bool = False
    """Whether a rule says by its form that it is a standing order, whoever it seems addressed to."""
    announced: bool = False
    """Whether the whole sentence says what it is: "Final decision: …"."""
    against: Literal["", "change", "doubt"] = ""
    """Empty: it counts by itself. Else only where a fact of the same key is known: `change`: too unsure to be news,
    likely as a change, or an end whose value may be misread; `doubt`: no more than a doubt of that fact."""
    quote: str


class Clause(NamedTuple):
    """A clause of a sentence, with quotations masked by `BLOT`."""

    text: str
    sentence: str  # the whole sentence, masked
    turn: str  # the whole turn, cleaned
    time: datetime


class Found(NamedTuple):
    """A triple that a rule read from a clause."""

    subject: str
    predicate: str
    value: str
    over: bool = False  # it no longer holds


Read = Callable[[re.Match[str], Clause], list[Found]]


class Rule(NamedTuple):
    """A pattern and the reader of its match."""

    pattern: re.Pattern[str]
    read: Read
    type: str = "fact"
    whole: bool = False  # match whole sentences instead of clauses
    agent: bool = False  # apply to turns of agents, too
    importance: float = 0.5
    priority: str = "long"
    dated: bool = False  # a past time in the sentence starts the validity
    standing: bool = False  # its orders are plainly standing ones


BLOT: Final = "\x00"
"""Masks each character of a quotation."""
_NOT_A_VALUE: Final = lazy_pattern(
    r"(?i)^(?:it|this|that|these|those|them|one|ones|you|your|his|her|their|here|there|me|us|what|how|when|why|who|"
    r"which|whatever|please|.*,? (?:and|but|so) (?:I|I'm|we|my)|same|none|nothing|anything|everything|something|someone|not|no|none|to|"
    r"(?:the|this|that|these|those|your|its|any|some)\s.*|.*\b(?:above|below|one|ones|version of this)$)(?:\s.*)?$"
    r"|^(?:这|那|它|他|她|你|您|第[一二三四五六七八九十\d]|上面|下面|前面|后面|前者|后者|哪|什么|谁|啥|别的|其他|同样|某).*$"
)
_LIST_EN: Final = lazy_pattern(r",? and | ?, ?| ?& ?")
_LIST_ZH: Final = lazy_pattern(r"[、，,和与及]")
_ARTICLE: Final = lazy_pattern(r"(?i)^(?:an?|the)\s+")


def usable(value: str, longest: int = 80) -> bool:
    """Return whether `value` can be a value: not empty, not too long, no quotation, pronoun or the like."""
    return bool(value) and len(value) <= longest and BLOT not in value and not _NOT_A_VALUE.match(value)


def bare(value: str) -> str:
    """Remove the article, closing punctuation and backticks."""
    return _ARTICLE.sub("", value.strip()).rstrip(" .。!！,，;；:：~`").lstrip("`").strip()


def listed(value: str, *, chinese: bool = False, words: int = 3) -> list[str]:
    """Split a list such as "hiking and climbing" or 粤语和英语; return it whole if a part is long."""
    whole = " ".join(value.split())
    parts = [bare(part) for part in (_LIST_ZH if chinese else _LIST_EN).split(whole)]
    if any(not part or len(part.split()) > words for part in parts):
        return [bare(value)]
    return parts


def slot(subject: str, predicate: str, *, longest: int = 60) -> Read:
    """Return a reader that takes group `v` as one value."""

    def read(match: re.Match[str], _: Clause) -> list[Found]:
        value = bare(match["v"])
        return [Found(subject, predicate, value)] if usable(value, longest) else []

    return read


def many(subject: str, predicate: str, *, chinese: bool = False) -> Read:
    """Return a reader that takes group `v` as a list of values."""

    def read(match: re.Match[str], _: Clause) -> list[Found]:
        values = listed(match["v"], chinese=chinese)
        return [Found(subject, predicate, value) for value in values if usable(value, 60)]

    return read


def tool(match: re.Match[str], _: Clause) -> list[Found]:
    """Read group `v` as a program; the predicate is its kind, such as "editor"."""
    value = bare(match["v"])
    kind = kind_of(value)
    return [Found("user", kind, value)] if kind else []


_KINDS: Final = {
    "editor": "neovim, nvim, vim, vi, emacs, doom emacs, vs code, vscode, visual studio code, visual studio, zed, "
    "helix, sublime text, pycharm, intellij, intellij idea, webstorm, goland, rider, clion, cursor, windsurf, "
    "nano, kakoune, notepad++, android studio, xcode, jupyter, rstudio, eclipse",
    "shell": "zsh, bash, fish, nushell, powershell, ksh, tcsh, xonsh",
    "terminal": "kitty, alacritty, wezterm, iterm, iterm2, ghostty, tmux, windows terminal, warp",
    "os": "arch linux, arch, ubuntu, debian, fedora, nixos, macos, mac os, windows, linux mint, linux, opensuse, "
    "manjaro, freebsd, openbsd, centos, rocky linux, gentoo, alpine, pop!_os, wsl, wsl2, chromeos",
    "browser": "firefox, chrome, safari, brave, edge, vivaldi, arc",
    "database": "postgresql, postgres, mysql, mariadb, sqlite, mongodb, duckdb, cockroachdb, clickhouse, oracle, "
    "sql server, cassandra, dynamodb",
    "package manager": "pnpm, npm, yarn, bun, uv, poetry, pip, pdm, conda, cargo, homebrew, nix, pipenv",
}
_VERSIONED: Final = (
    "python, node, nodejs, node.js, ruby, go, golang, rust, java, php, django, flask, fastapi, rails, react, vue, "
    "angular, svelte, next.js, typescript, kotlin, swift, scala, elixir, erlang, postgresql, postgres, mysql, "
    "redis, mongodb, sqlite, kubernetes, docker, terraform, ubuntu, debian, numpy, pandas, pytorch, tensorflow, "
    "spring boot, laravel, electron, gradle, maven, gcc, clang, cuda, elasticsearch, kafka, nginx, spark, "
    "airflow, pydantic, sqlalchemy, poetry, pnpm, npm, yarn, bun, deno, zig, .net, dotnet, c++, perl, lua, julia, "
    "haskell, ocaml, clojure, vite, webpack, tailwind, bootstrap, jdk, openssl, mariadb, rabbitmq, ansible"
)
_OTHERS: Final = (
    "github, gitlab, bitbucket, jenkins, slack, discord, notion, jira, linear, figma, aws, azure, gcp, heroku, "
    "vercel, netlify, graphql, rest, grpc, kanban, scrum, teams, zoom, obsidian, git, mercurial, svn, circleci, "
    "trello, asana, gmail, outlook, cloudflare, s3, helm, podman, nomad, celery, sentry, grafana, prometheus"
)
_KIND_OF: Final = {name: kind for kind, names in _KINDS.items() for name in names.split(", ")}
PROGRAMS: Final = frozenset(_KIND_OF) | frozenset(_VERSIONED.split(", ")) | frozenset(_OTHERS.split(", "))
_VERSION_TAIL: Final = lazy_pattern(r"(?<!\s)\s++v?\d[\w.]*+(?:\s?(?:LTS|Pro|Home))?$", re.IGNORECASE)

VERSION: Final = r"v?\d+(?:\.\d+){0,3}(?:[-.]?(?:rc|beta|alpha|b|a)\d*)?"
VERSIONED: Final = "|".join(re.escape(name) for name in sorted(_VERSIONED.split(", "), key=len, reverse=True))
NAMED: Final = "|".join(re.escape(name) for name in sorted(_KIND_OF, key=len, reverse=True))


HOME: Final = ("city", "region", "country", "address")
"""Predicates of where somebody lives, more or less exactly."""


def moved(home: list[Found]) -> list[Found]:
    """Return a new home with the end of what was known of the old one, as exact or not: a move ends all."""
    ends = [
        Found(one.subject, level, "", over=True) for one in home for level in HOME if level != one.predicate
    ]
    return [*home, *ends]


def kind_of(name: str) -> str:
    """Return the kind of a program ("editor"), ignoring its version; empty if unknown.

    >>> kind_of("VS Code"), kind_of("macOS 15"), kind_of("Bonn")
    ('editor', 'os', '')
    """
    return _KIND_OF.get(_VERSION_TAIL.sub("", name.strip()).casefold(), "")


def is_program(name: str) -> bool:
    """Return whether a name is a known program, programming language or service."""
    words = _VERSION_TAIL.sub("", name.strip()).casefold()
    return words in PROGRAMS or words.split(" ")[0] in PROGRAMS
