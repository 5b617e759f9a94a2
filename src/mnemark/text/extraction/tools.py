"""Names of programs: tell "I switched to Zed" (an editor) from "I moved to Bonn" (a city)."""

import re
from typing import Final

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
_ALL: Final = frozenset(_KIND_OF) | frozenset(_VERSIONED.split(", ")) | frozenset(_OTHERS.split(", "))
_VERSION_TAIL: Final = re.compile(r"(?<!\s)\s++v?\d[\w.]*+(?:\s?(?:LTS|Pro|Home))?$", re.IGNORECASE)

VERSION: Final = r"v?\d+(?:\.\d+){0,3}(?:[-.]?(?:rc|beta|alpha|b|a)\d*)?"
VERSIONED: Final = "|".join(re.escape(name) for name in sorted(_VERSIONED.split(", "), key=len, reverse=True))
NAMED: Final = "|".join(re.escape(name) for name in sorted(_KIND_OF, key=len, reverse=True))


def kind_of(name: str) -> str:
    """What a program is ("editor"), its version not counted; empty where it is not known.

    >>> kind_of("VS Code"), kind_of("macOS 15"), kind_of("Bonn")
    ('editor', 'os', '')
    """
    return _KIND_OF.get(_VERSION_TAIL.sub("", name.strip()).casefold(), "")


def is_program(name: str) -> bool:
    """Whether a name is that of a program, language or service."""
    words = _VERSION_TAIL.sub("", name.strip()).casefold()
    return words in _ALL or words.split(" ")[0] in _ALL
