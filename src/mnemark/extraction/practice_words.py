"""List the words of software development: programs by their role, tasks, and what conventions are about."""

from functools import cache
from typing import Final

from mnemark.extraction.candidate import PROGRAMS, is_program, kind_of
from mnemark.extraction.english_words import word_set
from mnemark.extraction.work_words import AMBIGUOUS
from mnemark.text.lazy_pattern import lazy_pattern

_PROGRAMS: Final = {
    "linter": "ruff, eslint, flake8, pylint, golangci-lint, clippy, rubocop, biome, oxlint, shellcheck, stylelint, ktlint, "
    "checkstyle, phpstan, swiftlint, hadolint, credo, staticcheck",
    "formatter": "prettier, black, gofmt, gofumpt, rustfmt, dprint, clang-format, shfmt, yapf, autopep8, isort",
    "type checker": "mypy, pyright, basedpyright, pyre, tsc",
    "test framework": "pytest, unittest, jest, vitest, mocha, jasmine, ava, rspec, minitest, junit, junit 5, testng, phpunit, "
    "pest, nose, exunit, xunit, nunit, googletest, gtest, catch2, testify, ginkgo, kotest, spock, bun test",
    "e2e test framework": "playwright, cypress, selenium, puppeteer, webdriverio, testcafe, detox",
    "build tool": "vite, webpack, rollup, esbuild, turbopack, parcel, tsup, gradle, maven, bazel, cmake, meson, ninja, turborepo, "
    "nx, pants, buck2, sbt, rspack, swc, make, just, taskfile",
    "ci": "github actions, gitlab ci, gitlab ci/cd, jenkins, circleci, travis, travis ci, buildkite, azure pipelines, teamcity, drone, "
    "bitbucket pipelines, woodpecker, appveyor, semaphore, forgejo actions, gitea actions, concourse, argo workflows",
    "issue tracker": "jira, linear, youtrack, github issues, gitlab issues, bugzilla, redmine, shortcut, trello, asana, clickup, "
    "azure boards, github projects, 禅道, tapd, 飞书项目, 云效",
    "backend framework": "fastapi, django, flask, rails, ruby on rails, laravel, spring boot, spring, express, nestjs, koa, gin, "
    "echo, fiber, actix, axum, phoenix, asp.net core, ktor, litestar, starlette, hono, symfony",
    "frontend framework": "react, vue, vue 3, angular, svelte, sveltekit, next.js, nextjs, nuxt, solidjs, remix, astro, preact, ember, htmx",
    "orm": "sqlalchemy, prisma, drizzle, typeorm, sequelize, hibernate, activerecord, gorm, sqlmodel, mikroorm, diesel, mybatis",
    "migration tool": "alembic, flyway, liquibase, goose, dbmate, golang-migrate",
    "styling": "tailwind, tailwindcss, tailwind css, sass, scss, styled-components, css modules, emotion, unocss",
    "state management": "redux, redux toolkit, zustand, mobx, pinia, jotai, recoil, vuex",
    "infrastructure tool": "terraform, opentofu, pulumi, ansible, cloudformation, helm, kustomize",
    "logging": "structlog, loguru, winston, pino, logback, log4j, zap, slog, zerolog, tracing",
    "job queue": "celery, sidekiq, bullmq, rq, resque, temporal, dramatiq",
    "site generator": "hugo, jekyll, hexo, eleventy, 11ty, gatsby, pelican, zola, vuepress",
    "documentation tool": "mkdocs, sphinx, docusaurus, vitepress, mdbook, typedoc, jsdoc",
    "package manager": "rye, pixi, bundler, composer, mamba, hatch, lerna, yarn berry",
    "database": "supabase, timescaledb, neo4j, tidb, cockroach, libsql, turso, planetscale",
    "programming language": "python, typescript, javascript, go, golang, rust, java, kotlin, swift, ruby, php, scala, elixir, erlang, "
    "c++, c#, zig, haskell, ocaml, clojure, f#, lua, perl, dart, julia, r, c",
    "hosting": "fly.io, vercel, netlify, heroku, railway, hetzner, cloudflare, cloudflare pages, cloudflare workers, aws, gcp, azure, digitalocean, render, "
    "kubernetes, ecs, eks, gke, cloud run, github pages, 阿里云, 腾讯云, 华为云",
    "tools": "docker, docker compose, redis, kafka, rabbitmq, nginx, graphql, grpc, sentry, grafana, prometheus, datadog, storybook, "
    "pre-commit, husky, lefthook, renovate, dependabot, openapi, protobuf, elasticsearch, pydantic, zod, numpy, pandas, polars, pytorch, "
    "devcontainers, mise, asdf, direnv, nvm, volta, changesets, semantic-release, commitlint, launchdarkly, vault, doppler, sops, "
    "trpc, tanstack query, react query, shadcn, msw, hypothesis, tox, nox, poe, invoke, deno, node, nodejs, node.js",
}
_HOSTS_OF_CI: Final = {
    "gitlab",
    "github",
    "bitbucket",
    "azure devops",
    "gitea",
    "forgejo",
    "codeberg",
    "aws codebuild",
    "cloud build",
    "gitee",
    "coding",
}
"""What CI runs on beside what is CI alone."""
ROLES: Final = {
    "linter": "linting, lint, lints, static analysis, linter",
    "formatter": "formatting, code formatting, code style, formatter, code formatter",
    "type checker": "type checking, type-checking, typechecking, type checks, static typing, type checker",
    "test framework": "tests, testing, unit tests, unit testing, test runner, test framework, test library, all tests, our tests",
    "e2e test framework": "e2e tests, e2e testing, end-to-end tests, end-to-end testing, browser tests, ui tests",
    "build tool": "builds, building, bundling, the build, build system, build tool, bundler",
    "ci": "ci, ci/cd, continuous integration, our ci, the ci, pipelines, ci system",
    "package manager": "dependency management, package management, package manager, dependencies, packages, managing dependencies, installing packages",
    "issue tracker": "issue tracking, issue tracker, issues, tickets, bug tracking, project management, task tracking, tasks, bugs",
    "hosting": "hosting, deployment, deployments, deploys, deploying",
    "logging": "logging, logs", "monitoring": "monitoring, metrics, observability, alerting", "error tracking": "error tracking, crash reports, error reporting",
    "cache": "caching, cache, the cache", "job queue": "background jobs, queues, job queues, async jobs, scheduled jobs",
    "state management": "state management, state, global state", "styling": "styling, css, styles",
    "migration tool": "migrations, database migrations, schema migrations, db migrations",
    "documentation tool": "docs, documentation, our docs", "feature flags": "feature flags, feature toggles", "secrets manager": "secrets, secret management",
    "authentication": "auth, authentication, login", "search": "search, full-text search", "code review": "code review, code reviews, reviews",
    "version control": "version control", "release tool": "releases, releasing, versioning", "infrastructure tool": "infrastructure, provisioning, infra",
    "chat tool": "chat, team chat, communication", "design tool": "design, mockups", "orm": "database access, orm", "validation": "validation, schema validation",
    "message queue": "messaging, events, message queues, queueing",
}  # fmt: skip
"""Predicate of what a program is used for: "we use ruff for linting"."""
ROLES_ZH: Final = {
    "linter": "代码检查, 静态检查, 静态分析, 代码规范检查, lint, 检查代码", "formatter": "格式化, 代码格式化, 格式化代码", "type checker": "类型检查",
    "test framework": "测试, 写测试, 单元测试, 跑测试, 单测", "e2e test framework": "端到端测试, e2e 测试, UI 测试", "build tool": "构建, 打包, 编译",
    "ci": "持续集成, CI, CI/CD, 流水线", "package manager": "包管理, 依赖管理, 管理依赖, 装依赖, 安装依赖",
    "issue tracker": "管理需求, 需求管理, 管理任务, 任务管理, 管理 bug, 跟踪问题, 项目管理, 提工单, 管理工单, 工单管理, 缺陷管理",
    "hosting": "部署", "logging": "日志, 打日志, 记日志", "monitoring": "监控, 告警", "error tracking": "错误上报, 异常上报", "cache": "缓存, 做缓存",
    "job queue": "异步任务, 后台任务, 定时任务", "state management": "状态管理", "styling": "写样式, 样式", "migration tool": "数据库迁移, 迁移",
    "documentation tool": "写文档, 生成文档, 文档", "feature flags": "功能开关, 特性开关", "secrets manager": "密钥管理, 管理密钥",
    "authentication": "登录, 鉴权, 认证", "code review": "代码评审, 代码审查", "message queue": "消息队列", "version control": "版本控制, 版本管理",
    "infrastructure tool": "基础设施", "search": "搜索, 全文检索",
}  # fmt: skip
"""The same in Chinese: 我们用 ruff 做代码检查."""
RUNNERS: Final = (
    "make|just|task|npm|npx|pnpm|yarn|bun|bunx|uv|poetry|pdm|hatch|pip|cargo|go|tox|nox|pytest|python|python3|mvn|gradle|bazel|bazelisk|docker|"
    "docker-compose|rake|bundle|rails|mix|dotnet|composer|php|invoke|inv|deno|turbo|nx|ninja|cmake|ctest|sbt|swift|zig|ruff|mypy|eslint|"
    "golangci-lint|jest|vitest|playwright|rspec|prettier|fly|flyctl|vercel|kubectl|helm|terraform|ansible-playbook|alembic|flask|django-admin|"
    r"pre-commit|goreleaser|mkdocs|hugo|\.?\.?/[\w./-]+|(?:bin|scripts?)/[\w./-]+"
)
"""First words of a command."""


@cache
def _table() -> dict[str, str]:
    return {name: role for role, names in _PROGRAMS.items() for name in names.split(", ")}


@cache
def _roles() -> dict[str, str]:
    return {
        name.casefold(): role
        for roles in (ROLES, ROLES_ZH)
        for role, names in roles.items()
        for name in names.split(", ")
    }


def role_of(name: str) -> str:
    """Return what a program is for, as a predicate of a project; empty if it is not known.

    >>> role_of("ruff"), role_of("pnpm"), role_of("Redis"), role_of("the queue")
    ('linter', 'package manager', 'tools', '')
    """
    plain = name.strip().casefold()
    kind = kind_of(name)
    if plain in _table():
        return _table()[plain]
    return kind if kind in {"database", "package manager"} else "tools" if is_program(name) else ""


def role_of_either(new: str, old: str) -> str:
    """Return what a program and the one it replaced are for; empty if that is not known, or if they differ in it."""
    roles = {role for name in (new, old) if (role := role_of(name)) not in {"", "tools"}}
    return roles.pop() if len(roles) == 1 else ""


def role_named(words: str) -> str:
    """Return the predicate of a role by its name: "linting", 代码检查; empty if it is none."""
    return _roles().get(words.strip().casefold(), "")


def is_ci(name: str) -> bool:
    """Return whether CI runs on something of that name."""
    return name.strip().casefold() in _HOSTS_OF_CI or role_of(name) == "ci"


ARTEFACTS: Final = (
    r"(?:git )?commits?(?: messages?| titles?| subjects?| headers?| bodies)?|branch(?:es)?(?: names?)?|(?:pull|merge) requests?(?: titles?| descriptions?)?|"
    r"[PM]Rs?(?: titles?| descriptions?)?|changelog entries|release notes|docstrings?|doc comments|file ?names?|test names?|variable names?|function names?|class names?|"
    r"test files?|migration files?|component files?|tags?|releases|code reviews?|TODOs?|feature branch(?:es)?|hotfix(?:es)?|source files?"
)
"""What only those who work on code speak of; norms for it are norms of work."""
CODE_PARTS: Final = (
    r"(?:(?:public|private|new|exported|unit|integration|e2e|async|helper|react|api|database|db|schema|type|python|typescript|go|rust|shared|all|our|"
    r"bug|feature|production|generated|config|sql|css) )*(?:functions?|methods?|class(?:es)?|modules?|components?|tests?|imports?|exports?|comments?|migrations?|endpoints?|"
    r"variables?|constants?|types?|interfaces?|enums?|hooks?|packages?|dependenc(?:y|ies)|scripts?|code|files?|fix(?:es)?|features?|changes?|quer(?:y|ies)|mocks|fixtures|"
    r"log messages|SQL|logs|strings|errors|exceptions|docs|documentation|APIs|configs?|env vars|environment variables|secrets|directories|folders|lines|services|models|routes|handlers|snapshots|lock ?files|assets|dates|timestamps|translations)"
)
"""What programs are made of. What is said of it may be a requirement of the program, so the rest must name code, too."""
CODE_PARTS_ZH: Final = "函数名?|方法名?|类名?|变量名?|常量名?|模块|组件|测试(?:用例|文件)?|单测|用例|注释|文档|接口|类型|文件名?|代码|依赖|脚本|迁移|日志|字符串|导入|import|组件名|目录名|公共函数|公共方法|改动|新功能|新代码"
ARTEFACTS_ZH: Final = "(?:git ?)?(?:commit|提交) ?(?:信息|说明|消息|记录|标题|message)|分支(?:名称?)?|PR ?(?:标题|描述)?|MR ?(?:标题|描述)?|合并请求|拉取请求|变更日志|changelog|版本号|标签名|文档字符串"
CODE_SIGNS: Final = word_set(
    "typed type-safe reversible idempotent documented tested unit-tested annotated squashed signed rebased reviewed approved formatted linted prefixed pure async immutable private small atomic "
    "linear focused stateless snake_case camelcase pascalcase kebab-case lowercase english german french spanish chinese british american imperative alphabetically "
    "jsdoc utc iso tests test docstring docstrings type types hints annotations changelog fixtures mocks snake camel kebab pascal lower upper utf-8 eslint "
    "strict readonly deterministic self-documenting alphabetical grouped absolute relative pinned covered coverage"
)
"""Words that say of parts of a program how they are to be written, not what they are to do."""

_COMMON: Final = word_set(
    "go make just task r c express spring echo fiber black linear shortcut drone semaphore nose spock ava pest render railway diesel drizzle react "
    "rest tracing vault actions boot compose tasks login search chat design checks style state on of and for in the our all code reviews events cache fly helm "
    "bugs monitoring metrics alerting messaging provisioning validation versioning authentication observability infrastructure work installing managing building time types docs issues tests ui full text bun air swift rust dart julia lua ruby java temporal phoenix remix astro ember "
    "emotion parcel maven nomad concourse travis project access feature global modules query github pages run projects boards database tailwind gin hono koa hugo pelican zola gatsby"
)
"""Words of programs and roles that are words of daily life, too."""
_WORK: Final = word_set(
    "commit commits committing committed push pushes pushing force-push merge merges merging rebase rebasing squash squash-merge branch branches repo repository codebase monorepo "
    "lint linter linters linting formatter formatting typecheck type-check typed deploy deploys deployed deploying deployments release releases releasing ci pr prs mr mrs pull tests test migrations migration migrate "
    "indent indentation tabs spaces semicolons quotes docstring docstrings imports import exports export functions function classes methods components component modules module endpoints endpoint variables "
    "dependencies dependency packages package code project generated files file schema fixtures server backend frontend makefile changelog readme build builds built stack biome semantic trunk-based log translations locales assets templates fixtures test-driven pep camelcase snake_case "
    "kebab-case pascalcase conventional line composition inheritance console.log orm orms sql database types type api docs documentation issues bugs tickets secrets configs config scripts logs tags TODOs "
    "todo gitflow semver production staging main master trunk develop parser dev typescript lines actions hooks mocks strings constants"
)
_TOKEN: Final = lazy_pattern(r"[a-z][\w.+#-]*\w|`")


@cache
def _tokens() -> tuple[frozenset[str], frozenset[str]]:
    """Return words of software development, and those that are only as names, which begin with a capital."""
    words = frozenset(name for name in (*_table(), *_roles(), *PROGRAMS) if " " not in name)
    common = (_COMMON | AMBIGUOUS) - {"bun"}
    return (words - common) | _WORK | {"`"}, frozenset(word.capitalize() for word in words & common)


def speaks_of_work(text: str) -> bool:
    """Return whether an English text has a word of software development: a quick look, before patterns are tried."""
    words, names = _tokens()
    return not (words.isdisjoint(_TOKEN.findall(text.casefold())) and names.isdisjoint(text.split()))
