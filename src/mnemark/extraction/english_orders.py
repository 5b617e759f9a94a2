"""Read standing orders in English: what is always, never or on a condition to be done, and how things must be."""

import re
from typing import Final

from mnemark.extraction.practice import Form, Heard, Practice, form, order
from mnemark.extraction.practice_words import ARTEFACTS, CODE_PARTS, CODE_SIGNS, role_of
from mnemark.text.lazy_pattern import lazy_pattern

POINTS: Final = lazy_pattern(
    r"(?i)\b(?:this|that|these|those|it|its|it's|they|them|he|she|him|her|his|their|there|here|today|tonight|tomorrow|yesterday|yet|again|first|next|current|currently|"
    r"above|below|just|still|already|another|other|others|last|previous|following|until|once|second|third|old|wrong|too|soon|later|somehow|anyway|if|but|because|since|instead(?! of)|"
    r"needed|necessary|possible|broken|failing|fails?|failed|crash\w*|errors? out|slow|problem|issue #|said|says|try|trying|let's|maybe)\b|#\d|\?"
)
"""Words that point to the task at hand, or tell what happened."""
_THE: Final = lazy_pattern(
    r"(?i)\bthe (?!(?:(?:full|whole|entire|complete|relevant|unit|integration|e2e|fuzz|existing|project's|matching|corresponding|openapi|api|swagger|schema|graphql|database|db|main|default|develop|"
    r"production|prod|staging|ticket|issue|jira|style|type|code|commit|pr|package|lock|version|public|generated|release|subject|test|affected) )*"
    r"(?:tests?|suites?|linters?|formatters?|checkers?|type ?checks?|hooks?|build|ci|checks?|changelog|docs|documentation|readme|schemas?|specs?|types|client|lock ?files?|version|versions|"
    r"number|key|id|ticket|issue|branch(?:es)?|database|db|style|guide|mood|tense|scope|line|body|names?|code|migrations?|snapshots|translations|makefile|title|description|standard library|stdlib|same commit|same pr|team|api|console|diff|title|code owners?|pipeline|repo|repository|root|type|message|prefix)\b)"
)
"""A thing that is named as known, beside what every project has."""


def points(text: str, *, known: bool = False) -> bool:
    """Return whether a text points to the task at hand; `known`: things named as known are fine."""
    plain = _QUOTED_CODE.sub("x", text)
    return POINTS.search(plain) is not None or (not known and _THE.search(plain) is not None)


_QUOTED_CODE: Final = lazy_pattern("`[^`]*`")
_WORK: Final = (
    r"(?:use|run|update|add|write|regenerate|generate|bump|rebase|squash|format|lint|type-?check|check|test|document|sync|rebuild|execute|tag|create|ask (?:me|us)|review|mention|include|reference|"
    r"link|increment|keep|put|append|verify|re-?run|amend|sign)"
)
_BAN: Final = (
    r"(?:use|edit|touch|change|modify|commit|push|force-push|merge|rebase|delete|remove|add|introduce|write|put|create|install|import|mock|skip|disable|deploy|log|hardcode|hard-code|check in|"
    r"mention|include|amend|squash|rename|bypass|rewrite|reformat|run|sign|publish|release|upgrade|open|close|make|have|leave|store|call|ship|pin|silence|ignore|suppress|swallow|catch|expose|print|work|copy|format)"
)
_DOES: Final = (
    r"(?:commit|push|merg|deploy|releas|tag|publish|chang|edit|modify|add|creat|touch|updat|writ|renam|remov|delet|install|upgrad|bump|submit|open|refactor|implement|introduc|ship)"
    r"(?:e|es|ing|t?ting|s)?"
)
_GENERAL: Final = r"(?:(?:an?|any|every|each|new) [\w`./-]+(?: [\w`./-]+){0,4}|(?:[\w-]+ ){0,2}(?:[\w-]{2,}[a-rt-z]s|code|anything|something)|(?:directly )?(?:to|into) (?:main|master|production|prod|develop|trunk|staging)|the (?:database )?(?:schema|api|public api|models?|protos?|dependencies|lock ?file|openapi spec|spec|parser|grammar))"
_WHEN: Final = (
    rf"(?:(?P<each>whenever|every time|each time|any time)(?: you| we| i)? {_DOES}(?: [^,]{{2,60}}?)?|(?:when|before|after)(?: you| we)? {_DOES}(?: {_GENERAL})?|"
    rf"(?:before|after|for|with|on|in) (?P<each2>every|each|any|all) (?:new |public |code )?[\w-]+(?: [\w-]+){{0,2}})"
)
CONDITION: Final = lazy_pattern(rf"(?i){_WHEN},? ")
_DO: Final = rf"(?:please |always |also |(?:make|be) sure to |never |don't |do not |you (?:should|must) |we )*{_WORK}\b[^,]{{2,100}}"
_OUTSIDE: Final = lazy_pattern(
    r"(?i)\b(?:users?|customers?|visitors?|buttons?|pages?|forms?|screens?|modals?|dialogs?|orders?|payments?|invoices?|products?|emails?|carts?|accounts?|logged in|sessions?)\b"
)
"""What a program is about: an order that names it may be a requirement."""


def _on_condition(match: re.Match[str], said: Heard) -> list[Practice]:
    """Read an order for every time something is done: "before pushing, run the tests"."""
    groups = match.groupdict()
    each = groups.get("each") or groups.get("each2")
    if (
        _STEP.search(said.text)
        or points(said.text, known=bool(groups.get("each")))
        or not _of_code(said.text)
    ):
        return []
    return order(said.whole, firm=bool(each) or said.lasting or said.here)


_STEP: Final = lazy_pattern(
    r"(?i)\b(?:each|every|any) (?:step|phase|task|iteration|part|item|point|fix|section|attempt|round)\b"
)


def _ban(match: re.Match[str], said: Heard) -> list[Practice]:
    """Read what must never be done, or not in this project: "never force-push to main"."""
    rest = match["o"]
    never = match["n"].casefold() in {"never", "don't ever", "do not ever", "we never", "please never"}
    if points(said.text):
        return []
    if said.here or said.lasting:
        return order(said.whole, firm=True)
    if never:
        return order(said.whole, firm=True) if _of_code(rest) else []
    if _BY_NATURE.search(rest) or _TREE.search(rest.strip()):
        return order(said.whole, firm=False)
    return []


_BY_NATURE: Final = lazy_pattern(
    r"(?i)\b(?:by hand|manually|generated (?:files?|code)|without (?:asking|my (?:ok|approval|permission|consent)|a (?:pr|review|ticket)|approval|review|checking with me)|"
    r"unless (?:i|we) (?:ask|say|tell|explicitly)|directly (?:to|on|into) (?:main|master|production|prod|develop|trunk)|to (?:main|master) directly|(?:in|to|from) (?:commits?|commit messages?|comments|docstrings|prs?|pull requests|branch names|changelogs?))\b"
)
_TREE: Final = lazy_pattern(
    r"(?i)^(?:files|code|anything|stuff) (?:in|under|inside|from) `?[\w.@-]*/?[\w./@-]*`?(?:/| (?:folder|directory))?$"
)
_CODE: Final = lazy_pattern(
    rf"(?i)`|\b(?:{ARTEFACTS}|functions?|methods?|class(?:es)?|modules?|components?|tests?|imports?|exports?|comments?|migrations?|endpoints?|variables?|types?|code|sql|orm|orms|lint\w*|main|master|trunk|develop|production|"
    r"prod|staging|ci|dependenc(?:y|ies)|packages?|secrets?|api keys?|credentials|passwords|tokens|lock ?files?|rebase|force-push|hooks?|lockfiles?|vendor|generated|console\.log|print|any(?= (?:in|types?)\b|$)|sudo|docker|globals?|singletons?|mutable defaults?|magic numbers|emojis?|co-author\w*|wildcard imports?|databases?|repo|repositor(?:y|ies)|git|semicolons?|tabs|spaces|files?)\b|\b\w+[._/]\w+"
)


def _of_code(text: str) -> bool:
    """Return whether what is ordered is about work on code."""
    return _CODE.search(text) is not None or any(role_of(word.strip(".,`")) for word in text.split())


def _style(match: re.Match[str], said: Heard) -> list[Practice]:
    """Read how code is to be written: "prefer named exports over default exports", "use snake_case for function names"."""
    if points(said.text) or _TO_DO.search(said.text):
        return []
    if said.here or said.lasting:
        fine = match["o"] and not _DEFINITE.match(match["o"].strip())
        return order(said.whole, firm=True) if fine and _in_style(said, match["o"]) else []
    if not _GENERAL_STYLE.fullmatch(said.text):
        return []
    return order(said.whole, firm=_LIKED.fullmatch(said.text) is not None)


def _in_style(said: Heard, rest: str) -> bool:
    return _of_code(rest) or said.lasting or _FOR.search(rest) is not None


_FOR: Final = lazy_pattern(r"(?i)\bfor (?:all )?[\w-]+(?:ing|s)\b| (?:instead of|rather than|over) ")
_TO_DO: Final = lazy_pattern(r"(?i)\bto (?!main|master|the main|production|staging)[a-z]+\b")
_DEFINITE: Final = lazy_pattern(r"(?i)(?:the|a|an|my|your|some|branch|both|only|one|two)\b")
_NORM: Final = (
    r"(?:conventional commits|gitmoji|semantic versioning|semver|calver|trunk-based development|git flow|gitflow|github flow|pep ?8|pep ?257|the [\w-]+ (?:[\w-]+ )?style guide|[\w-]+(?:'s)? (?:[\w-]+ )?style(?: guide)?|"
    r"google style|numpy style|keep a changelog|tdd|test-driven development)"
)
_CASES: Final = r"(?:snake_case|camelCase|PascalCase|kebab-case|UPPER_CASE|SCREAMING_SNAKE_CASE|UPPER_SNAKE_CASE|(?:snake|camel|pascal|kebab) case|british|american|english|german|chinese|present tense|imperative mood|the imperative mood)"
_PREFER: Final = r"prefer (?:[a-z-]+ ){1,2}(?-i:commits|branches|PRs|pull requests|merge requests|commit messages|diffs|functions|docstrings|comments|tests)(?:, (?:I|we) [^,]{3,60})?"
"""What is to be preferred is a matter of taste, so it holds in general; the person may say why."""
_LIKED: Final = lazy_pattern(rf"(?i){_PREFER}")
_GENERAL_STYLE: Final = lazy_pattern(
    rf"(?i)(?:use|follow|stick to|we follow) {_NORM}(?: (?:for|in) (?:all )?[\w -]{{2,40}})?|"
    rf"use {_CASES}(?: spelling| english)? (?:for|in) (?:all )?(?:the )?(?:{ARTEFACTS}|{CODE_PARTS}|identifiers|names)|"
    rf"{_PREFER}|"
    rf"prefer (?P<a>[\w `'-]{{3,40}}?) (?:over|to) [\w `'-]{{3,40}}|"
    rf"(?:use|prefer) (?:type hints|type annotations|absolute imports|relative imports|named exports|strict mode|arrow functions|f-strings|docstrings|const)(?: everywhere| (?:in|for) all [\w ]{{3,30}}|, (?:not|never) [\w -]{{3,30}}| (?:instead of|rather than) [\w -]{{3,30}})|"
    rf"no [\w -]{{3,30}} in (?:{ARTEFACTS}|docs|code)|"
    rf"write (?:all )?(?:the )?(?:{ARTEFACTS}|comments|code comments|docs|documentation) in (?:english|german|french|spanish|chinese|japanese|the imperative(?: mood)?|imperative mood|present tense|\w+ style)|"
    rf"avoid [\w `-]{{3,40}} in (?:{ARTEFACTS})|"
    rf"keep (?:all )?(?:lines|functions|methods|files|modules|classes|{ARTEFACTS}) (?:under|below|shorter than|within|small|short|atomic|focused)(?: (?:\d{{1,3}}|[\w ]{{2,20}}))?(?: (?:characters|chars|columns|lines))?|"
    rf"open (?:all )?(?:prs|pull requests|merge requests) (?:against|to|into) [\w./-]+(?:, (?:not|never) [\w./-]+)?"
)


def _permission(_: re.Match[str], said: Heard) -> list[Practice]:
    """Read what needs the person's word: "ask before adding dependencies", "only commit when I tell you to"."""
    if points(said.text.replace("tell you to", "")):
        return []
    return order(said.whole, firm=said.here or said.lasting)


def _norm(match: re.Match[str], said: Heard) -> list[Practice]:
    """Read how things of a kind must be: "commit messages should be in imperative mood"."""
    groups = match.groupdict()
    rest = match["o"]
    if points(said.text) or _OUTSIDE.search(rest):
        return []
    if _ONE_OFF.fullmatch(rest.strip()) and not (said.here or said.lasting):
        return []
    if groups.get("part") and not (_says_how(rest) or (match["q"] and _CODE_THING.search(rest))):
        return []
    art = groups.get("art") or ""
    if art and not match["q"] and not art.endswith(("s", "S")):
        return []
    if _ELSEWHERE_TOO.fullmatch(art) and not (
        _says_how(rest) or _CODE_THING.search(rest) or _OF_WORK.search(rest)
    ):
        return []
    firm = bool(match["q"] or art or said.here or said.lasting)
    return order(said.whole, firm=firm)


_ONE_OFF: Final = lazy_pattern(
    r"(?i)(?:be|get) (?:deleted|removed|renamed|moved|fixed|updated|rewritten|changed|corrected|shortened|merged|closed|reopened|refactored|cleaned(?: up)?|migrated|converted|ported|replaced|adjusted|adapted|restored|reverted)"
    r"(?: (?:too|as well|accordingly|please))?"
)
"""Work on what is there, which is done once: "test files need to be deleted"."""
_CODE_THING: Final = lazy_pattern(
    r"(?i)\b(?:tests?|docstrings?|type hints?|types|typed|documented|tested|changelog|docs?|comments?|review(?:ed)?|approval|reversible|annotat\w+|fixtures?|covered|in (?:english|german|chinese|utc))\b"
)


_ELSEWHERE_TOO: Final = lazy_pattern(
    r"(?i)commits?|branch(?:es)?|(?:pull|merge) requests?|[PM]Rs?|tags?|releases|TODOs?|hotfix(?:es)?|code reviews?|source files?|release notes"
)
"""What a program may be about, too: it may have a list of branches."""
_OF_WORK: Final = lazy_pattern(
    r"(?i)\b(?:ticket|issue|jira|review(?:er|s)?|approv\w+|develop|main|master|trunk|squash\w*|rebas\w+|merged?|changelog|conventional|prefix\w*|imperative|descriptions?|titles?|messages?|ci|lint\w*|tests?|green|linked|kebab|lower ?case|under \d+|lines|semver|version|owner|signed|generated)\b|[A-Z]{2,}-|/"
)


def _says_how(rest: str) -> bool:
    words = {word.strip(".,`'").casefold() for word in rest.split()}
    return not CODE_SIGNS.isdisjoint(words) or _SPELLED.search(rest) is not None


_SPELLED: Final = lazy_pattern(
    r"`[^`]+`|\b_?[\w*]*(?:_test|\.test|\.spec)\.\w+|\b(?:next to|alongside|beside) the (?:code|source)|\b\w+/(?:\s|$)"
)


def _habit(match: re.Match[str], said: Heard) -> list[Practice]:
    """Read how a team or a person works: "we squash commits before merging", "I sign my commits"."""
    rest = match["o"]
    if points(said.text) or _OUTSIDE.search(rest) or _DEFINITE_ONE.match(rest.strip()):
        return []
    if match["who"].casefold() == "i" and not _OF_GIT.search(rest):
        return []
    general = (
        _ARTEFACT.search(rest)
        or re.fullmatch(f"(?i){_NORM}", rest.strip())
        or _CODE_KIND.fullmatch(rest.strip())
        or (match["how"] and _of_code(rest))
    )
    return (
        order(said.whole, firm=True)
        if general or (_ALONE.fullmatch(match["w"]) and (not rest or _INSTEAD.match(rest)))
        else []
    )


_INSTEAD: Final = lazy_pattern(r"(?i) (?:instead of|rather than) \w+ing$")
_OF_GIT: Final = lazy_pattern(rf"(?i)\b(?:{ARTEFACTS})\b|conventional commits|rebas|squash")
_ALONE: Final = lazy_pattern("(?i)squash-merge|rebase|squash|squash and merge")
_ARTEFACT: Final = lazy_pattern(rf"(?i)\b(?:{ARTEFACTS})\b")
_CODE_KIND: Final = lazy_pattern(
    rf"(?i)(?:{CODE_PARTS})(?: (?:in|for|with|by|from|before|after|without) .{{2,60}})?"
)
_DEFINITE_ONE: Final = lazy_pattern(r"(?i)(?:the|a|an|some|both|two|three|one)\b")


def _no_use(match: re.Match[str], said: Heard) -> list[Practice]:
    """Read "we don't use class components", "we don't mock the database in tests"."""
    rest = match["o"]
    if (
        points(said.text)
        or re.search(r"(?i)\b(?:any ?more|any longer|know|now)\b", rest)
        or _DEFINITE_ONE.match(rest.replace("the database", "").strip())
    ):
        return []
    general = _of_code(rest) or _KIND.fullmatch(rest.strip()) or _WHEN_NOT.match(rest.strip())
    return order(said.whole, firm=True) if general else []


_WHEN_NOT: Final = lazy_pattern(
    r"(?i)on (?:mon|tues|wednes|thurs|fri|satur|sun)days?$|on weekends$|without [a-z]+|after hours$"
)


_KIND: Final = lazy_pattern(r"(?:[\w-]+ ){0,2}[\w-]*[A-Za-z]s")


_QUANTITY: Final = r"(?P<q>(?:all|every|each|any)(?: (?:of )?(?:the|our))? )?(?:our )?"
_MUST: Final = (
    r"(?:(?:should|must|have to|has to|need to|needs to|shall)(?: (?:always|never|not|only))?|must(?:n't| not)|should(?:n't| not)|need|needs|get|gets|require|requires|"
    r"(?:always |never )?(?:start|starts|begin|begins|end|ends|follow|follows|use|uses)|(?:go|goes)(?= (?:against|to|into|in|through|on) )|(?:live|lives)|are(?: always)? (?:written|named|in|squashed|signed|prefixed|sorted|typed|kept|formatted|squash-merged|rebased)|"
    r"is(?: always)? (?:written|named|in|typed|formatted)|don't|do not|never)"
)
ORDERS: Final[tuple[Form, ...]] = (
    form(rf"(?P<do>{_DO}),? {_WHEN}", _on_condition),
    form(rf"{_WHEN},? {_DO}", _on_condition),
    form(r"(?:never|don't|do not) (?P<v>commit|push|merge|deploy|release|publish|rebase|install|add|create|delete)(?P<o>[^,]{0,60}?) (?:unless|until) (?:i|we) (?:explicitly |have )?(?:ask|asked|say|said|tell|told|approve|approved)(?: you)?(?: to| so)?", _permission),
    form(r"only (?:ever )?(?:commit|push|merge|deploy|release|publish|rebase)(?P<o>[^,]{0,40}?) (?:when|if|after) (?:i|we) (?:explicitly )?(?:ask|say|tell|approve)(?: you)?(?: to| so)?", _permission),
    form(r"(?:avoid|no) (?:adding|creating|installing|deleting|committing|pushing|introducing|changing|removing|new)(?P<o> [^,]{2,60}?) without (?:asking(?: me| us)?(?: first)?|(?:my |our |prior )?(?:approval|permission|discussion|consent|ok))", _permission),
    form(rf"(?:always )?(?:ask|check with|consult|confirm with)(?: me| us)?(?: first)? before (?:you )?{_DOES} {_GENERAL}(?: to (?:the )?(?:project|repo|main|master|code))?", _permission),
    form(rf"(?P<n>never|don't ever|do not ever|don't|do not|we never) (?:ever |directly )*(?P<v>(?!have to\b){_BAN})\b(?P<o> [^,]{{2,120}}(?:, [^,]{{2,60}})?)", _ban),
    form(r"(?:use|prefer|avoid|follow|stick to|keep|no|open|write)(?P<o> .{2,120})", _style),
    form(r"(?:we|(?P<who2>i)) (?:don't|do not|never)(?: ever)? (?:use|allow|mock|write|commit|push|merge|rebase|support|depend on|vendor|check in|rely on|edit|force-push|deploy|release|publish)(?P<o> [^,]{2,80})", _no_use),
    form(r"(?P<who>we|i) (?P<how>always |only |usually |generally |normally )?(?P<w>squash and merge|squash-merge|squash|rebase|prefix|sign|tag|name|write|follow|use|prefer|review|merge|document|type|version|keep)(?P<o>(?: [^,]{2,100})?)", _habit),
    form(rf"{_QUANTITY}(?P<art>{ARTEFACTS}) {_MUST}(?P<o> .{{2,120}})", _norm),
    form(rf"{_QUANTITY}(?P<part>{CODE_PARTS}) {_MUST}(?P<o> .{{2,120}})", _norm),
)  # fmt: skip
