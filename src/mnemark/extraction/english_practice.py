"""Read English sentences about how a project is worked on: programs, commands, folders and standing orders."""

import re
from typing import Final

from mnemark.extraction.candidate import BLOT, Found, bare
from mnemark.extraction.english_orders import CONDITION, ORDERS, POINTS, points
from mnemark.extraction.hosting import platform
from mnemark.extraction.practice import (
    CALLED,
    FROM_NOW,
    LONGEST,
    Form,
    Heard,
    Practice,
    fact,
    first,
    form,
    line_length,
    programs,
)
from mnemark.extraction.practice_words import (
    ARTEFACTS,
    CODE_PARTS,
    RUNNERS,
    is_ci,
    role_named,
    role_of,
    speaks_of_work,
)
from mnemark.text.lazy_pattern import lazy_pattern

_REPO: Final = "(?:repo|repository|project|codebase|code base|monorepo|workspace)"
_LEAD: Final = lazy_pattern(
    r"(?i)(?:(?:remember to|(?:make|be) sure (?:to|you|that you)) |(?:ok(?:ay)?|yes|well|also|and|so|btw|by the way|fyi|note|please note|note that|please note that|reminder|a reminder|as a reminder|heads up|remember|"
    r"one (?:more )?(?:thing|rule)|(?:our |a |general )?(?:rule|convention|policy)(?: here)?|important|hi|hello|hey|for the record|for reference|for future reference|just so you know|for context|context|generally|in general|as a rule)\b[,:.!]*(?: -+)? +)*+"
)
_PLEASE: Final = lazy_pattern(r"(?i)(?:please,? )+")
_SCOPE: Final = rf"(?:(?:in|for|on|within|across|throughout) (?:this|our|the)(?: whole| entire)? {_REPO})"
_FIRST: Final = lazy_pattern(rf"(?i)(?P<here>{_SCOPE}|here),? (?=\w|`)")
_LAST: Final = lazy_pattern(rf"(?i),? (?P<here>{_SCOPE})(?=$|, not |, never | instead of )")
_LASTING: Final = lazy_pattern(
    rf"(?i)(?P<always>always(?= use\b)|{FROM_NOW}|by default|as a rule|in general|generally|at all times),? (?=\w)"
)
_GATE: Final = lazy_pattern(
    rf"(?i)(?:{_SCOPE},? |here,? we )|(?:we|our|my|this|the|every|each|all|any|ci|everyone|i|you can|to|for|before|after|when(?:ever)?|every time|each time|always|never|don't|do not|no|only|ask|check with|it's all|it is all|"
    r"use|prefer|avoid|follow|keep|stick to|run|build|lint|format|start|deploy(?:s|ed)?|releases?|linting|formatting|type-?checking|generated|tests?|pull|prs?|mrs?|merge|branch(?:es)?|commit|commits|from|going|by|as a rule|"
    rf"in general|open|put|avoid|production|everything|everyone|stack|logging|monitoring|error|state|caching|auth|dependency|package|styling|dev|local|(?:[\w-]+ ){{0,3}}(?:{ARTEFACTS}|{CODE_PARTS}|schema|fixtures|templates|logs|assets|database|dockerfiles))\b|`[^`]{{2,80}}`"
)
_CMD: Final = rf"(?P<c>`[^`]{{2,80}}`|(?-i:(?:{RUNNERS})(?: (?!(?:and|but|to|it|the|on|in|for|then|is|fails?|again)\b)[\w./:=@*-]+){{0,5}}))"
_JOB: Final = (
    r"(?P<j>(?:all |our )?(?:unit |integration |e2e |end-to-end |backend |frontend )?(?:tests|test suite)|linter|linters|lint checks|formatter|type ?checker|type checks|build|dev server|development server|"
    r"server|app|docs|documentation|site|migrations|benchmarks|checks|project|code|client code|(?:dev |local |test )?database|frontend|backend|release|types|storybook)"
)
_RUN: Final = "(?:run|execute|start|build|launch|generate|apply|create|serve|deploy|lint|format|check|test)"
_COMMANDS: Final = {
    "run tests": "test command", "run test suite": "test command", "execute tests": "test command", "test": "test command", "test project": "test command", "test code": "test command",
    "run linter": "lint command", "run linters": "lint command", "run lint checks": "lint command", "lint": "lint command", "lint code": "lint command", "lint project": "lint command",
    "run formatter": "format command", "format": "format command", "format code": "format command",
    "run type checker": "type check command", "run typechecker": "type check command", "run type checks": "type check command", "type-check": "type check command", "typecheck": "type check command",
    "check types": "type check command", "run checks": "check command", "run benchmarks": "benchmark command",
    "build": "build command", "build project": "build command", "build app": "build command", "build code": "build command", "run build": "build command", "start build": "build command",
    "build frontend": "frontend build command", "build backend": "backend build command", "build docs": "docs build command", "build documentation": "docs build command", "build site": "docs build command",
    "generate docs": "docs build command", "serve docs": "docs server command",
    "start dev server": "dev server command", "run dev server": "dev server command", "start development server": "dev server command", "run development server": "dev server command", "launch dev server": "dev server command",
    "start server": "start command", "run server": "start command", "start app": "start command", "run app": "start command", "launch app": "start command", "run project": "start command", "start project": "start command",
    "start frontend": "frontend start command", "run frontend": "frontend start command", "start backend": "backend start command", "run backend": "backend start command", "start database": "database start command",
    "run migrations": "migrate command", "apply migrations": "migrate command", "create migrations": "migration create command", "generate migrations": "migration create command",
    "generate types": "code generation command", "generate code": "code generation command", "generate client code": "code generation command",
    "deploy": "deploy command", "deploy app": "deploy command", "release": "release command", "create release": "release command", "start dev database": "database start command", "start local database": "database start command", "start test database": "test database start command", "run storybook": "storybook command", "start storybook": "storybook command",
}  # fmt: skip
_KINDS: Final = ("unit", "integration", "e2e", "end-to-end", "backend", "frontend")
_ONE_RUN: Final = lazy_pattern(
    r"::|(?:^|\s)-(?:k|x|v|vv|vvv|-watch|-lf|-ff)\b|\s--(?:\s|port\b)|\.(?:py|ts|js|go|rb|rs|tsx)\b|#"
)
"""Options and files of a single run, not of a project's command."""
_PASSIVE: Final = {
    "runs": "run", "starts": "start", "builds": "build", "lints": "lint", "formats": "format", "deploys": "deploy",
    "run": "run", "executed": "run", "started": "start", "built": "build", "launched": "launch", "generated": "generate", "applied": "apply", "created": "create",
    "deployed": "deploy", "served": "serve", "linted": "lint", "formatted": "format", "invoked": "run", "tested": "test", "released": "release",
}  # fmt: skip
_US: Final = rf"(?:we|our team|the team|everyone|(?:this|our|the) {_REPO})"
_PART: Final = r"(?:the|our) (?P<part>backend|frontend|api|server|cli|website|mobile app|front end|back end)"
_OFTEN: Final = (
    r"(?:(?:now|currently|mostly|usually|mainly|always|still|all|also|only|exclusively|generally|normally) )*"
)
_ITEM: Final = rf"`?{CALLED}`?"
_ITEMS: Final = rf"(?P<v>{_ITEM}(?:(?:, | and |, and | \+ | & |/){_ITEM}){{0,5}})"
_NOT: Final = (
    rf"(?P<not>,? (?:and )?(?:not|never|no|instead of|rather than|(?:and|but) (?:not|never)) {_ITEM})?"
)
_NOT_FROM: Final = r"(?:,? (?:and )?(?:not|never) (?:from )?(?:the |our )?`?[\w./-]+`?(?: branch)?)?"
_SEPARATOR: Final = lazy_pattern(r", and | and |, | \+ | & ")
_PATH: Final = r"(?P<v>`[^`\s]{2,80}`|(?:[\w.@~-]*/)+[\w.@*-]*|\.[\w.-]{2,30}|(?:the )?`?[\w./-]+`?(?= (?:folder|directory|dir)$))"
_STORED: Final = lazy_pattern(
    r"(?i)(?:(?:the|our|all(?: the| our)?) )?(?P<p>(?:[\w-]+ ){0,2}?(?:migrations|tests|fixtures|docs|documentation|code|schemas?|specs?|templates|components|assets|scripts|configs?|configuration|secrets|"
    r"translations|locale files|locales|types|typings|protos|proto files|files|hooks|stories|snapshots|styles|routes|models|services|handlers|migrations scripts|env vars|environment variables|runbooks|ADRs|plugins|dockerfiles|mocks|stubs|seeds|queries|workflows|playbooks))"
    rf" (?:(?:all )?(?:now )?(?:live|lives|are|is|go|goes|belong|belongs|sit|sits|reside)(?: all| now)?(?: kept| stored| located| placed| found)? (?:in|under|into|inside|at)) {_PATH}(?: (?:folder|directory|dir))?"
)
_NO_KIND_OF_FILE: Final = lazy_pattern(
    r"(?i)\b(?:looks?|like|seems?|according|to|that|think|see|know|if|when|where|why|how|because|and|or|all|of|in|new|old|first|last|missing|broken|failing|these|those|my|your|relevant|bad|changed|modified|other|error|same|extra|unused|affected)\b"
)


def english_practices(sentence: str) -> list[Practice]:
    """Return what a sentence says of how its speaker works, and of their project.

    >>> [one.found.predicate for one in english_practices("Our CI runs on GitLab.")]
    ['ci']
    >>> english_practices("Run the tests.")
    []
    """
    text = sentence.strip(" .!,;")
    if not 8 <= len(text) <= LONGEST or BLOT in text or "\n" in text or not speaks_of_work(text):
        return []
    text = text[_end(_LEAD, text) :]
    if not _GATE.match(text[_end(_PLEASE, text) :]):
        return []
    if found := _read(text):
        return found
    read = [_read(part) for part in _clauses(text)]
    return [one for part in read for one in part] if read and read[0] else []


def _end(pattern: re.Pattern[str], text: str) -> int:
    match = pattern.match(text)
    return match.end() if match else 0


_NEXT: Final = lazy_pattern(
    r"(?i)(?:[,;]? and |, but |; |, )(?=(?:we|our|the|this|it's all|tests|ci|migrations|releases|never|always|don't) )"
)


def _clauses(text: str) -> list[str]:
    """Return the clauses of a sentence that tells several things; nothing of one that tells one."""
    parts = _NEXT.split(text)
    if not 2 <= len(parts) <= 4 or any(len(part.split()) < 3 for part in parts):
        return []
    if CONDITION.match(text):
        return []
    return parts if all(_GATE.match(part) for part in parts) else []


def _heard(text: str) -> Heard:
    here = lasting = False
    whole = text
    for _ in range(2):
        text = text[_end(_PLEASE, text) :]
        if match := _LASTING.match(text):
            text, lasting = text[match.end() :], True
        elif match := _FIRST.match(text):
            text, here = text[match.end() :], True
    if match := _LAST.search(text):
        text, here = text[: match.start()] + text[match.end() :], True
    return Heard(text[_end(_PLEASE, text) :], whole[_end(_PLEASE, whole) :], here, lasting)


def _read(text: str) -> list[Practice]:
    said = _heard(text.strip(" .!,;"))
    return first(_FORMS, said) or first(ORDERS, said)


# Facts of the project


def _uses(match: re.Match[str], _: Heard) -> list[Practice]:
    """Read "we use pytest, not unittest", "this project uses Python 3.12 and ruff"."""
    groups = match.groupdict()
    part = (groups.get("part") or "").casefold().replace(" end", "end")
    names = _SEPARATOR.split(match["v"].replace("`", ""))
    contrast = (match["not"] or "").replace("`", "")
    if contrast.startswith((" not", " never", " no ")):
        contrast = f",{contrast}"
    return programs(names, role=(groups.get("r") or "").strip(), part=part, contrast=contrast)


def _use_each(match: re.Match[str], _: Heard) -> list[Practice]:
    """Read "we use ruff for linting and black for formatting"."""
    found = []
    for one in _PAIR.finditer(match["v"]):
        found += programs([one["v"].replace("`", "")], role=one["r"])
    return found


_PAIR: Final = lazy_pattern(rf"(?i)(?P<v>{_ITEM}) for (?P<r>[\w/ -]{{2,40}}?)(?:, and |, | and |$)")


def _use_here(match: re.Match[str], said: Heard) -> list[Practice]:
    """Read "use pnpm" where the sentence says that it holds for the project, or what is not to be used."""
    firm = said.here or said.lasting
    if not firm and not re.match(r",? (?:and )?(?:not|never) ", match["not"] or ""):
        return []
    return [one._replace(firm=firm) for one in _uses(match, said)]


def _role_is(match: re.Match[str], _: Heard) -> list[Practice]:
    """Read "linting is done with ruff", "our package manager is pnpm"."""
    role, name = role_named(match["r"]), bare(match["v"].replace("`", ""))
    known = role_of(name)
    sure = known == role or (not known and match["sure"]) or (known == "tools" and role)
    return fact(role, name) if role and sure else []


def _verb_with(match: re.Match[str], _: Heard) -> list[Practice]:
    """Read "we lint with ruff"; what is no program may be a command."""
    gerund = _GERUNDS[match["w"].casefold()]
    names = _SEPARATOR.split(match["v"].replace("`", ""))
    return programs(names, role=role_named(gerund) and gerund) if all(map(role_of, names)) else []


_GERUNDS: Final = {
    "lint": "linting", "format": "formatting", "type-check": "type checking", "typecheck": "type checking", "test": "testing", "build": "builds",
    "bundle": "bundling", "deploy": "hosting", "log": "logging", "style": "styling", "document": "documentation",
}  # fmt: skip


def _all_now(match: re.Match[str], _: Heard) -> list[Practice]:
    """Read "it's all vitest now"; a word of daily life there is no program."""
    role = role_of(name := bare(match["v"].replace("`", "")))
    return fact(role, name) if role not in {"", "tools"} and speaks_of_work(name.casefold()) else []


def _left(match: re.Match[str], _: Heard) -> list[Practice]:
    """Read "we moved off jest": it is used no more."""
    role = role_of(name := bare(match["v"].replace("`", "")))
    return [Practice(Found("project", role, name, over=True))] if role else []


def _ci(match: re.Match[str], _: Heard) -> list[Practice]:
    name = bare(match["v"].replace("`", ""))
    return fact("ci", name) if is_ci(name) else []


def _moved(match: re.Match[str], _: Heard) -> list[Practice]:
    """Read "we moved CI to GitHub Actions", "linting moved to biome"."""
    role, name = role_named(match["r"]), bare(match["v"])
    fits = is_ci(name) if role == "ci" else role_of(name) in {role, "tools"}
    return fact(role, name) if role and fits else []


def _tracker(match: re.Match[str], _: Heard) -> list[Practice]:
    name = bare(match["v"])
    return fact("issue tracker", name) if role_of(name) == "issue tracker" or is_ci(name) else []


def _deploy(match: re.Match[str], _: Heard) -> list[Practice]:
    """Read "we deploy to Fly.io from the main branch"."""
    found = []
    if match["b"] and not _is_branch(match, match["b"]):
        return []
    if where := match["v"]:
        name = platform(where)
        if not name:
            return []
        found += fact("hosting", name)
    verb = match["w"].casefold()
    what = "deploy" if verb.startswith(("deploy", "host", "ship")) else "release"
    return found + (fact(f"{what} branch", match["b"]) if match["b"] else [])


def _is_branch(match: re.Match[str], name: str) -> bool:
    """Return whether a word names a branch: it looks like one, or is called one."""
    return (
        _BRANCH.fullmatch(name) is not None
        or re.search(r"(?i)\bbranch`?$|\b(?:called|named)\b", match[0]) is not None
    )


_BRANCH: Final = lazy_pattern(
    r"(?i)main|master|trunk|develop|dev|development|stable|next|release|releases|staging|production|prod|mainline|integration|canary|beta|[\w.-]+/[\w./-]+|release[-.\d]\S*|v\d\S*"
)


def _branch(match: re.Match[str], _: Heard) -> list[Practice]:
    if not _is_branch(match, match[match.lastgroup or 0]):
        return []
    return fact((match.lastgroup and _BRANCHES[match.lastgroup]) or "", match[match.lastgroup or 0])


_BRANCHES: Final = {"release": "release branch", "base": "base branch", "default": "default branch"}


def _command(match: re.Match[str], _said: Heard) -> list[Practice]:
    """Read which command does a job: "the tests are run with `make test`"."""
    groups = match.groupdict()
    verb = (groups.get("w") or "run").casefold()
    verb = _PASSIVE.get(verb, verb)
    job = (groups.get("j") or "").casefold().removeprefix("all ").removeprefix("our ")
    kind, _, rest = job.partition(" ")
    kind, job = (kind, rest) if kind in _KINDS and rest else ("", job)
    job = job.replace("typechecker", "type checker")
    what = _COMMANDS.get(f"{verb} {job}".strip()) or _COMMANDS.get(job, "")
    value = match["c"].strip("` ")
    if not what or _ONE_RUN.search(value):
        return []
    return fact(f"{kind} {what}".strip(), value, firm=groups.get("ask") is None)


def _stored(match: re.Match[str], _: Heard) -> list[Practice]:
    """Read where files of a kind are: "migrations live in db/migrate"."""
    what, path = match["p"].casefold(), match["v"].strip("`")
    what = what.removeprefix("new ") if _GO.search(match[0]) else what
    if _NO_KIND_OF_FILE.search(what) or POINTS.search(path) or what in {"files", "code", "changes"}:
        return []
    return fact(f"{what} path", path.removeprefix("the "))


_GO: Final = lazy_pattern(r"(?i) (?:go|goes|belong|belongs) ")


def _indented(match: re.Match[str], said: Heard) -> list[Practice]:
    groups = match.groupdict()
    told = groups.get("role") or groups.get("not") or groups.get("we")
    if not told:
        return []
    value = match["v"] + (groups.get("not") or "")
    return fact(
        (match.lastgroup == "q" and "quotes") or "indentation",
        value,
        firm=bool(groups.get("we") or said.here or said.lasting),
    )


def _branch_names(match: re.Match[str], _: Heard) -> list[Practice]:
    """Read how branches are named: "my branch names start with kx/"."""
    value = match["v"].strip()
    if (
        points(value)
        or re.search(r"(?i)\b(?:named|called) [^,]*/$", value)
        or (match["s"] or "").casefold() == "the"
    ):
        return []
    who = "user" if (match["s"] or "").casefold() == "my" else "project"
    return [Practice(Found(who, "branch names", value))]


_FORMS: Final[tuple[Form, ...]] = (
    form(r"(?P<we>we )?(?:all )?(?:use|prefer|indent (?:with|using|by)) (?P<v>tabs|spaces|(?:\d|two|four|eight)[ -]spaces?)(?P<not>,? (?:and )?(?:not|never|no|instead of|rather than|over) (?:tabs|spaces))?(?P<role> (?:for|as) (?:indent(?:ation|s|ing)|the indent)| per (?:level|indent))?(?: here)?", _indented),
    form(r"(?P<we>(?:we|our code) )?(?:all )?indents? (?:with|using|by|code with) (?P<v>tabs|spaces|(?:\d|two|four|eight)[ -]spaces?)(?P<not>,? (?:not|never) (?:tabs|spaces))?(?P<role>)", _indented),
    form(r"(?P<we>(?:our |the )?indentation (?:is|uses) )(?P<v>tabs|spaces|(?:\d|two|four|eight)[ -]spaces?)(?P<not>,? (?:not|never) (?:tabs|spaces))?", _indented),
    form(r"(?P<we>we )?(?:use|prefer) (?P<q>(?P<v>(?:single|double) quotes)(?P<not>,? (?:and )?(?:not|never|instead of|rather than|over) (?:single|double)(?: quotes| ones)?)?)", _indented),
    form(r"(?:(?:the|our) )?(?:max(?:imum|imal)? )?line (?:length|width|limit)(?: limit)? is(?: set to| limited to)? (?P<v>\d{2,3})(?: characters| chars| columns)?", line_length),
    form(r"(?P<s>my|our|all|the)? ?(?:git )?(?:feature )?(?:branches|branch names)(?: (?:should|must|have to|always))? (?P<v>(?:start|starts|begin|begins|end|ends) with [^,]{2,40}|(?:are|is|be) (?:prefixed with|named|called) [^,]{2,40})", _branch_names),
    form(rf"{_US}(?:'re| are)? {_OFTEN}(?:uses?|using|on|runs?(?: on)?|is (?:on|built (?:with|on)|written in|based on)|are on|went with|standardi[sz]ed on) {_ITEMS}{_NOT}(?: (?:for|as (?:our|the|a|an|its)) (?P<r>[\w/ -]{{2,40}}?))?(?: here)?", _uses),
    form(rf"{_US} {_OFTEN}uses? (?P<v>{_ITEM} for [^,]{{2,40}}?(?:(?:, and |, | and ){_ITEM} for [^,]{{2,40}}?){{1,4}})", _use_each),
    form(rf"{_PART} {_OFTEN}(?:uses|runs on|is (?:built (?:with|on)|written in|in|on|based on)|is a) {_ITEMS}(?: (?:app|service|application))?{_NOT}(?: for (?P<r>[\w/ -]{{2,40}}?))?", _uses),
    form(rf"(?:please )?use {_ITEMS}{_NOT}(?: for (?P<r>[\w/ -]{{2,40}}?))?", _use_here),
    form(rf"(?:the |our |this project's )?(?P<r>[\w/-]+(?: [\w-]+){{0,2}}?) (?:is|are)(?: now)?(?P<sure> (?:done|handled|managed|checked|enforced) (?:with|by|via|through|using))?(?:(?: done| handled| managed| checked| enforced)? in)? (?P<v>{_ITEM})", _role_is),
    form(rf"(?:our |the |all )?(?P<r>[\w/-]+(?: [\w-]+){{0,2}}?) uses?(?P<sure>) (?P<v>{_ITEM})", _role_is),
    form(rf"{_US} {_OFTEN}(?:manage|handle|do|run|track)(?: our| all)? (?P<r>[\w/-]+(?: [\w-]+){{0,2}}?) (?:with|via|through|using) {_ITEMS}{_NOT}", _uses),
    form(rf"(?P<r>[\w/-]+(?: [\w-]+){{0,2}}?)(?P<sure> goes through) (?P<v>{_ITEM})", _role_is),
    form(rf"for (?P<r>[\w/ -]{{2,30}}?),? (?:we|this repo|this project|our team) {_OFTEN}uses? {_ITEMS}{_NOT}", _uses),
    form(rf"(?:our|the project's|this project's) (?:tech )?stack is {_ITEMS}{_NOT}", _uses),
    form(rf"{_US} {_OFTEN}(?P<w>lint|format|type-check|typecheck|test|build|bundle|log|style|document)(?: (?:everything|our code|the code|code))? (?:with|using|via|through) {_ITEMS}", _verb_with),
    form(rf"(?:(?:our|the) )?(?:ci|ci/cd|pipelines?|ci pipelines?|builds)(?: jobs)?(?: now)? (?:runs?|is|are|lives?|moved|is run|are run)(?: now)?(?: on| in| to| via| with| through)? (?P<v>{_ITEM})", _ci),
    form(rf"{_US} {_OFTEN}(?:run|do) (?:our |the )?(?:ci|pipelines|builds) (?:on|in|with|via) (?P<v>{_ITEM})", _ci),
    form(rf"{_US}(?:'ve| have| has)? {_OFTEN}(?:just |recently |finally )?(?:moved|migrated|switched) (?:our |the )?(?P<r>ci|linting|formatting|testing|issue tracking|tests|logging|deployment|hosting|tickets|issues|type checking|bundling|builds)(?: over)?(?: from {_ITEM})? to (?P<v>{_ITEM})", _moved),
    form(rf"it(?:'s| is) all (?:on |in |with )?(?P<v>{_ITEM}) now", _all_now),
    form(rf"{_US}(?:'ve| have| has)? (?:just |recently |finally )?(?:moved|migrated|switched) (?:off|away from) (?P<v>{_ITEM})(?: (?:last|this) (?:week|month|year|quarter|spring|summer|autumn|fall|winter)| recently| in (?:19|20)\d\d)?", _left),
    form(rf"(?:our |the )?(?P<r>ci|linting|formatting|testing|issue tracking|logging|deployment|hosting|type checking|bundling)(?: has)? (?:just |recently |finally )?(?:moved|migrated|switched)(?: over)?(?: from {_ITEM})? to (?P<v>{_ITEM})", _moved),
    form(rf"{_US} {_OFTEN}(?:track|manage|file|keep|report)(?: all)?(?: our)? (?:issues|bugs|tickets|tasks|work|stories|feature requests)(?: and (?:issues|bugs|tickets|tasks))? (?:in|on|with|via) (?P<v>{_ITEM})", _tracker),
    form(rf"(?:our |the |all )?(?:issues|bugs|tickets|tasks|stories|issue tracker) (?:are|is|live|lives|go)(?: all)?(?: tracked| managed| filed| kept)?(?: in| on| with| into)? (?P<v>{_ITEM})", _tracker),
    form(rf"(?:we|our team|the team|everything is|it all is|(?:production|staging|our app|the app|the site|our site) is) (?:(?:now|always|only|usually|automatically) )*(?P<w>deploy|deployed|release|released|ship|publish)(?: everything| the app| production)?(?: (?:to|on|at) (?P<v>[A-Za-z][\w.-]*(?: [A-Z][\w.-]*){{0,2}}))?,? from (?:the |our )?`?(?P<b>[\w./-]+)`?(?: branch)?{_NOT_FROM}", _deploy),
    form(rf"(?:our |all )?(?P<w>deploys|deployments|releases)(?: to (?P<v>[A-Za-z][\w.-]*(?: [A-Z][\w.-]*){{0,2}}))? (?:are|happen|go out|are (?:cut|made|tagged|done|built))(?: cut| made| tagged| done)? (?:from|off) (?:the |our )?`?(?P<b>[\w./-]+)`?(?: branch)?{_NOT_FROM}", _deploy),
    form(r"(?:we|we all|new branches|feature branches|all branches) (?:always )?(?:branch(?: off)?(?: of| from)?|start from|are cut from|come off|fork from|branch off from) (?:the |our )?`?(?P<base>[\w./-]+)`?(?: branch)?", _branch),
    form(r"(?:the|our) (?:main|default|trunk|integration) branch is(?: called| named)? `?(?P<default>[\w./-]+)`?", _branch),
    form(rf"(?:the |our |all )?{_JOB} (?:are|is)(?: now| always)? (?P<w>run|executed|started|built|launched|generated|applied|created|deployed|served|invoked|linted|formatted|tested|released) (?:with|using|via|by|through)(?: running| calling)? {_CMD}", _command),
    form(rf"(?:the |our |all )?(?P<j>tests|(?:unit|integration|e2e) tests|linter|benchmarks|checks|migrations) (?P<w>run)(?: now)? (?:with|via|through|using) {_CMD}", _command),
    form(rf"(?:use|run|do|type) {_CMD} to (?P<w>{_RUN}|lint|format|type-?check|check)(?: (?:all )?(?:the |our )?{_JOB})?", _command),
    form(rf"to (?P<w>{_RUN}|lint|format|type-?check|check)(?: (?:all )?(?:the |our )?{_JOB})?, (?:use|run|do|type|call|we use|we run) {_CMD}", _command),
    form(rf"(?:we|you can|you) (?P<w>{_RUN}|lint|format|type-?check)(?: (?:all )?(?:the |our )?{_JOB})? (?:with|using|via|by running) {_CMD}", _command),
    form(rf"(?P<ask>(?P<w>run|start|build|lint|format|launch|deploy|type-?check)(?: (?:all )?(?:the |our )?{_JOB})? (?:with|using|via|by running)) {_CMD}", _command),
    form(rf"(?P<ask>{_JOB}): {_CMD}", _command),
    form(rf"{_CMD} (?P<w>runs|starts|builds|lints|formats|deploys) (?:all )?(?:the |our )?{_JOB}", _command),
    form(rf"{_STORED.pattern.removeprefix('(?i)')}", _stored),
)  # fmt: skip
