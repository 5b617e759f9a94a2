"""Define the English rules that extract lasting facts, measured by `tests/data/extraction`."""

import re
from typing import Any, Final

from mnemark.extraction.abbreviations import TITLE
from mnemark.extraction.candidate import (
    BLOT,
    NAMED,
    VERSION,
    VERSIONED,
    Clause,
    Found,
    Read,
    Rule,
    bare,
    is_program,
    kind_of,
    many,
    slot,
    tool,
    usable,
)
from mnemark.extraction.english_objects import place
from mnemark.extraction.english_people import NAMED_FIRST, THEIRS, person_of
from mnemark.extraction.english_words import base_of_gerund, is_job
from mnemark.extraction.hosting import OURS as DEPLOYED
from mnemark.extraction.hosting import THERE as HOSTED
from mnemark.extraction.hosting import host
from mnemark.extraction.no_places import is_no_place, is_software
from mnemark.extraction.practice_words import role_of, role_of_either
from mnemark.extraction.work_words import names_code
from mnemark.text.dates.ranges import spans
from mnemark.text.lazy_pattern import lazy_pattern

_NAME: Final = rf"{TITLE}[A-Z][\w'-]*(?: {TITLE}[A-Z][\w'-]*){{0,2}}"
_PLACE: Final = r"[A-Z][\w.'-]*(?: [A-Z][\w.'-]*){0,2}"
_JOBS: Final = (
    r"engineer|developer|programmer|manager|nurse|teacher|doctor|designer|student|scientist|analyst|researcher|"
    r"lawyer|accountant|writer|administrator|admin|architect|consultant|professor|physician|journalist|founder|"
    r"translator|photographer|electrician|chef|pharmacist|dentist|editor|freelancer|contractor|carpenter|pilot|"
    r"librarian|economist|musician|sysadmin|technician|therapist|director|recruiter|tester|physicist|biologist"
)
_LANGUAGES: Final = (
    r"English|German|French|Spanish|Italian|Portuguese|Dutch|Chinese|Mandarin|Cantonese|Japanese|Korean|Russian|"
    r"Polish|Turkish|Arabic|Hindi|Swedish|Norwegian|Danish|Finnish|Greek|Czech|Ukrainian|Vietnamese|Thai|"
    r"Indonesian|Hebrew|Hungarian|Romanian"
)
_WHAT: Final = (
    "editor|code editor|text editor|ide|shell|terminal|os|operating system|browser|package manager|database"
)
_OURS: Final = (
    "package manager|database|default branch|main branch|license|licence|issue tracker|test framework|test runner|"
    "build tool|build system|message queue|linter|formatter|code formatter|cloud provider|web framework|"
    "frontend framework|backend framework|ci|ci system|task runner|primary key type|orm"
)
_ANSWER: Final = rf"(?:answer|reply|respond|write|speak|talk|communicate)(?: to me| back)?(?: only| always)? in (?P<v>{_LANGUAGES})"
_ONE_OFF: Final = lazy_pattern(
    r"(?i)\b(?:this(?! (?:repo|repository|project|codebase|code base|monorepo|workspace|memory|account|house|chat|format|order|style|way|language|tone)\b)|just once|today|tonight|for now|"
    r"right now|now|yet|here|again|below|above|it|that|these|those|him|her|them|until)\b"
)
_PARTICIPLE: Final = lazy_pattern(
    r"(?i)^(?:never|always)[,!]?\s+(?:mind|seen|heard|been|had|said|thought|used|tried|saw|got|knew|again|ever|was|is|are|a|"
    r"the|\w+(?:ed|ing)|happens?|works?|fails?|wanted|liked|fun|good|nice)\b"
)
_LEAD: Final = (
    r"(?i:(?:(?:hi|hello|hey|ok(?:ay)?|yes|yeah|well|also|and|so|then|btw|by the way|fyi|great|alright|right|sure|"
    r"for the record|just so you know|note that|please note that|remember that|please remember that|actually|"
    r"as of \w+|in the end|after (?:the|our|a) \w+|at (?:the|our) \w+|in (?:the|our) \w+)[,:]? )*)"
)


def _rule(pattern: str, read: Read, **options: Any) -> Rule:
    return Rule(re.compile(f"^{_LEAD}{pattern}$"), read, **options)


_DEFINITE: Final = lazy_pattern(
    r"(?i)\b(?:them|it|this|these|that|those|you|your|yours|him|her|us|ones?|the(?! (?:sea|outdoors|mountains|beach|morning|evening|"
    r"office|cold|heat|dark)\b))\b|^(?:having|holding|seeing|being|getting|doing|knowing|how|when|what|to (?:hear|see|know|think))\b"
)


def _likes(predicate: str) -> Read:
    """Return a reader of general likes, unlike "the idea" and "seeing them"."""
    listing = many("user", predicate)

    def read(match: re.Match[str], clause: Clause) -> list[Found]:
        return [] if _DEFINITE.search(match["v"]) else listing(match, clause)

    return read


def _place(match: re.Match[str], clause: Clause) -> list[Found]:
    """Read where somebody lives or moved to: not what a team moved to, nor what takes the place of no place."""
    old = match.groupdict().get("old")
    if (old and is_no_place(old)) or (_OF_TEAM.search(match[0]) and names_code(clause.sentence)):
        return []
    value = bare(match["v"])
    if is_no_place(value) or not usable(value):
        return []
    named = place(value.split(" "))
    return [Found("user", named[0] if named else "city", value)]


_OF_TEAM: Final = lazy_pattern(r"(?i)\bwe\b")


def _hometown(match: re.Match[str], clause: Clause) -> list[Found]:
    """Read where somebody comes from."""
    return [] if is_no_place(match["v"]) else slot("user", "hometown")(match, clause)


def _name(match: re.Match[str], clause: Clause) -> list[Found]:
    greeted = re.search(
        r"(?i)\b(?:hi|hello|hey|nice to meet|pleased to meet|good (?:morning|evening))\b", clause.turn
    )
    return [Found("user", "name", match["v"])] if greeted and not is_program(match["v"]) else []


_employer = slot("user", "employer", longest=80)


def _position(match: re.Match[str], _: Clause) -> list[Found]:
    """Read a job and its employer: "a data analyst at Fabrikam"."""
    job, employer = bare(match["v"]), bare(match["e"] or "")
    found = [Found("user", "job", job)] if usable(job, 40) else []
    return found + ([Found("user", "employer", employer)] if employer and usable(employer) else [])


def _occupation(match: re.Match[str], _: Clause) -> list[Found]:
    """Read a job as a noun that names one: "my job is nurse", unlike "my job is demanding"."""
    value = bare(match["v"])
    named = is_job(value.split(" ")[-1]) or is_job(value.split(" ")[0])
    return [Found("user", "job", value)] if named and usable(value, 40) else []


def _joined(match: re.Match[str], clause: Clause) -> list[Found]:
    """Read the employer in "joined X" if the sentence says when, unlike joining a call or a channel."""
    when = re.search(
        r"(?i)\b(?:ago|last|this|yesterday|today|as an?|left|new job|in [A-Z]\w+|on [A-Z]\w+|since)\b",
        clause.sentence,
    )
    return _employer(match, clause) if when and not is_program(bare(match["v"])) else []


def _status(match: re.Match[str], _: Clause) -> list[Found]:
    name = match["s"] or match["s2"]
    return [] if _NO_NAME.fullmatch(name) else [Found(name, "status", match["v"].lower())]


_NO_NAME: Final = lazy_pattern(
    r"(?i)the|this|that|whole|entire|test|demo|sample|example|my|our|your|new|old|first|last|other|side|pet|small|big|current"
)


def _named_tool(match: re.Match[str], _: Clause) -> list[Found]:
    value = bare(match["v"])
    known = is_program(value) or bool(re.match(r"[A-Z]", value))
    return [Found("user", match["p"].lower(), value)] if known and usable(value, 30) else []


def _favorite(match: re.Match[str], clause: Clause) -> list[Found]:
    what, value = match["p"].lower(), bare(match["v"])
    if not usable(value, 40):
        return []
    if re.fullmatch(_WHAT, what):
        return _named_tool(match, clause)
    return [Found("user", f"favorite {what}", value)]


def _version(match: re.Match[str], _: Clause) -> list[Found]:
    tech = match.groupdict().get("t2") or match["t"] or ""
    if not tech:
        return []
    own = match["who"].lower() in {"i", "i'm", "i am", "i've"}
    return [Found("user" if own else "project", f"{tech.lower()} version", match["v"])]


def _account(match: re.Match[str], _: Clause) -> list[Found]:
    return [Found("user", f"{match['p']} username", match["v"].rstrip("."))]


def _server(match: re.Match[str], _: Clause) -> list[Found]:
    value = match["v"].rstrip(".,")
    return [Found("project", match["p"].lower(), value)] if usable(value) else []


def _role(match: re.Match[str], _: Clause) -> list[Found]:
    return [Found("project", match["p"].lower(), match["v"])] if not is_program(match["v"]) else []


_VERSION_OF: Final = lazy_pattern(rf"(?i)(?P<t>{VERSIONED}) (?P<v>{VERSION})")


def _replaced(match: re.Match[str], _: Clause) -> list[Found]:
    """Read which program of a project replaced which: "switched from Jenkins to CircleCI"."""
    old, new = bare(match["old"]), bare(match["v"])
    if (
        not (is_software(old) or is_software(new))
        or not (usable(old, 30) and usable(new, 30))
        or new[:1].isdecimal()
    ):
        return []
    if version := _VERSION_OF.fullmatch(new):
        return [Found("project", f"{version['t'].lower()} version", version["v"])]
    if kind := kind_of(new) or kind_of(old):
        return [Found("project", kind, new)]
    what = role_of_either(new, old) or "tools"
    return [Found("project", what, new), Found("project", "tools", old, over=True)]


_STATE: Final = lazy_pattern(
    r"(?i)^(?:broken|slow|fast|down|up|not|too|still|red|green|full|empty|dead|fine|good|bad|great|ready|flaky|failing|passing|"
    r"protected|unprotected|locked|frozen|behind|ahead|gone|missing|stale|outdated|offline|on|ok|okay|stuck|huge|tiny|big|small|old|new|busy|back|done|running|working|so|very|really|quite)\b|\b(?:again|today)$"
)
"""Words for a state, which are not values."""


def _ours(match: re.Match[str], _: Clause) -> list[Found]:
    value = bare(match["v"])
    good = usable(value, 40) and len(value.split()) <= 4 and not _STATE.search(value)
    if _PROGRAM.fullmatch(match["p"]):  # "our linter is angry" tells no name of a program
        good = good and (is_software(value) or role_of(value) != "" or _NAMED_SO.search(value) is not None)
    return [Found("project", match["p"].lower(), value)] if good else []


_PROGRAM: Final = lazy_pattern(
    r"(?i)(?:issue tracker|test framework|test runner|build tool|build system|linter|formatter|code formatter|ci|ci system|task runner)"
)
_NAMED_SO: Final = lazy_pattern(r"^[A-Z`]|[\d._-]")


def _instead(match: re.Match[str], clause: Clause) -> list[Found]:
    """Read a program that took the place of another of its kind: "I quit Neovim, it's Zed for me now"."""
    if kind_of(match["old"]) != kind_of(match["v"]):
        return []
    return tool(match, clause)


def _used(match: re.Match[str], _: Clause) -> list[Found]:
    """Read a program that a project uses: "we use pnpm here"."""
    value = bare(match["v"])
    return [Found("project", kind_of(value) or "tools", value)]


def _decision(match: re.Match[str], clause: Clause) -> list[Found]:
    value = bare(match["v"])
    # "We decided on Monday to turn back": that day is when it was decided.
    first = next(iter(spans(value, clause.time)), None)
    after = value[first[1] :].lstrip() if first and first[0] == 0 else value
    if after.startswith("to "):
        value = after.removeprefix("to ")
    if re.search(r"(?i)\blet's", match[0]):
        chosen = is_program(value) or re.search(r"(?i)\b(?:for|as|instead of|over)\b", value)
        if not chosen or match["v"].lower().startswith("the "):
            return []
    social = r"(?i)(?:that )?(?:meet|chat|talk|go (?!with)|come|stay|find time|have an?|call|visit|get together|everything|need)\b"
    if " " not in value and not is_program(value):
        return []
    if re.match(social, value) or re.search(
        r"(?i)\b(?:weekend|tomorrow|tonight|next (?:time|week)|in touch)\b", value
    ):
        return []
    vague = re.search(
        r"(?i)\b(?:for now|see (?:how|what)|the (?:first|second|third|last|other|former|latter)|option \w|later|yet)\b",
        value,
    )
    pointing = re.match(
        r"(?i)(?:it|that|this|them|these|those|you|from now|in \w+$|use (?:it|this|that|these|the)\b)", value
    )
    pointing = pointing or re.search(
        r"(?i)\b(?:this|you|your|previously|last time|already|the idea)\b|\*", value
    )
    passing = re.search(
        r"(?i)\b(?:tomorrow|tonight|next (?:week|month|time)|today)\b|\b(?:settled|agreed|decided|opted) (?:on|for) the\b",
        clause.sentence,
    )
    pointing = pointing or passing
    short = len(value) < 3 or len(value) > 160 or BLOT in value
    return [] if vague or pointing or short else [Found("project", "decisions", value)]


_WORK: Final = lazy_pattern(
    r"(?i)\b(?:run|use|write|ask|commit|push|check|format|reply|respond|answer|keep|add|include|delete|merge|deploy|test|send|"
    r"put|create|install|document|explain|show|cite|translate|avoid|name|review|lint|update|log|quote|store|save|read|"
    r"edit|touch|change|remove|confirm|have|rebase|squash|tag|sign|mention|start|end|address|call me|make sure|back up|"
    r"open|close|post|publish|share|summari[sz]e|report|schedule|book|order|prefer|round|convert|pin)\b"
)


def _standing(match: re.Match[str], _: Clause) -> list[Found]:
    """Read a standing instruction, as opposed to a one-off request."""
    value = match["v"].strip().rstrip(" .!")
    order = _WORK.search(value)
    if order is None or len(value[: order.start()].split()) > 6 or not 3 <= len(value.split()) <= 30:
        return []
    told = re.match(r"(?:I|he|she|they)\b", value) or _PARTICIPLE.match(value) or not _ADDRESSED.match(value)
    if told or BLOT in value or _ONE_OFF.search(_SAYS_THAT.sub("", _REASON.sub("", value))):
        return []
    if answered := re.search(f"(?i:{_ANSWER})$", value):
        return [Found("user", "language", answered["v"])]
    return [Found("user", "rules", value)]


_SAYS_THAT: Final = lazy_pattern(r"(?i)(?<=\b(?:say|ell|now|ink|ure|aim) )that(?= (?!\w+$))")
"""A "that" which points to nothing: "before you say that something is done"."""
_REASON: Final = lazy_pattern(
    r"(?i), (?:because |since |as )?(?:it|they|that)(?:'s|'re| is| are) (?![^,]{0,60}\b(?:now|today|yet|currently|broken|failing|still|again)\b)[^,]{3,60}$"
)
"""Why an order holds, behind it: "…, it's frozen until January"."""


_ADDRESSED: Final = lazy_pattern(
    rf"(?i)(?:(?:please|always|never|only|do not|don't|just|you (?:should|must|can|will|shall)|make sure(?: to| that)?|be sure to|try to|ever|also|to|then|not)[, ]+)*"
    rf"(?:{_WORK.pattern.removeprefix('(?i)')}|be\b|give\b|provide\b|highlight\b|stop\b|call\b|refer\b|assume\b|speak\b|consider\b|skip\b|follow\b|set\b|look\b)|"
    r"(?:when|whenever|before|after|if|for|in|unless) |"
    r"(?:every|each|all) (?:[\w-]+ ){1,3}?(?:must|should|has to|have to|needs? to)\b|"
    r"(?:the |your |our )?[\w-]+(?: [\w-]+){0,3} (?:must|should|has to|have to|needs? to)\b"
)
"""An instruction to the agent: an imperative, or what must be so."""


def _no_more_rule(match: re.Match[str], _: Clause) -> list[Found]:
    """Read which standing instruction is over: "stop answering in such short sentences"."""
    verb = base_of_gerund(match["w"])
    rest = " ".join(
        re.sub(r"(?i)\b(?:such|so|those|all the time|any ?more|now|please)\b", " ", match["v"]).split()
    )
    return [Found("user", "rules", f"{verb} {rest}", over=True)] if verb != match["w"] and rest else []


def _from_now_on(match: re.Match[str], clause: Clause) -> list[Found]:
    """Read an order that says at its end since when it holds: "answer briefly from now on"."""
    value = match["v"] + (match["more"] or "")
    if _BRIEF.fullmatch(match["v"]):  # two words that say how to answer
        return [Found("user", "rules", value)]
    if not _IMPERATIVE.match(value):
        return []
    found = _standing(match, clause)
    return [one._replace(value=value) if one.predicate == "rules" else one for one in found]


_BRIEF: Final = lazy_pattern(r"(?i)(?:answer|reply|respond|write|explain) (?:more )?[a-z]{2,14}(?:er|ly)")
_LIMIT: Final = r"(?i:,? (?:(?:in|with|using|and) )?(?:at most|no more than|not more than|up to|a maximum of|at least|within|under|max) [^,.;?]{2,40})"
"""A limit behind an order: "at most five sentences"."""


_IMPERATIVE: Final = lazy_pattern(
    rf"(?i)^(?:(?:please|always|never|only|do not|don't)[, ]{{1,2}}){{0,3}}+(?!make sure|have\b|order\b|show\b|test\b|report\b|start\b|end\b){_WORK.pattern.removeprefix('(?i)').removeprefix(chr(92) + 'b')}"
)


_I_ASK: Final = (
    r"(?i:when(?:ever)?|if|every time|each time|any ?time) (?i:I|we) (?i:ask|inquire|request)(?: you)?"
    r"(?: questions?)?(?= (?i:about|for|to|how|where|what|which|when|who|why|whether|if|on|a|an)\b)"
)
"""The condition of an instruction that is plainly addressed to the agent."""


def _when_asked(match: re.Match[str], _: Clause) -> list[Found]:
    """Read a standing instruction for questions of a kind: what it asks for may be anything."""
    value = match["v"].strip().rstrip(" .!")
    fits = 5 <= len(value.split()) <= 40 and BLOT not in value and not _ONE_OFF.search(value)
    return [Found("user", "rules", value)] if fits else []


def _general_ban(match: re.Match[str], clause: Clause) -> list[Found]:
    """Read a general ban, about a plural: "don't use emojis in commit messages"."""
    words = match["v"]
    general = re.search(
        r"(?i)\b(?:in|to|on|for|with|inside) (?:any |all |our |your |my )?(?:\w+ )?\w{2,}[^s\W]s\b", words
    )
    return _standing(match, clause) if general else []


def _path(match: re.Match[str], _: Clause) -> list[Found]:
    what = match["p"].strip().lower()
    vague = r"(?:error|bug|problem|issue|typo|output|function|code|file|class|test|line|answer|result)s?"
    return [] if re.fullmatch(vague, what) else [Found("project", f"{what} path", match["v"].rstrip(".,"))]


def _command(match: re.Match[str], _: Clause) -> list[Found]:
    value = match["v"].strip("` ")
    good = usable(value) and not _STATE.search(value)
    return [Found("project", f"{match['p'].lower()} command", value)] if good else []


_IS: Final = r"(?: is(?: now| currently)?|'s(?: now)?|(?: has|'s)? (?:just )?changed to)"
_CALLED: Final = r"(?:(?:'s name)?(?: is(?: now| called| named)?|'s(?: called)?))"
_OVER: Final = "finished|done|complete|completed|cancell?ed|on hold|paused|shelved|over|launched|shipped|live|archived|discontinued|abandoned"
_OFTEN: Final = r"(?:(?:now|currently|mostly|usually|mainly|always|still|really|also|particularly|generally|just|recently) )*"
_PATH: Final = r"(?P<v>(?:~|/|\.{1,2}/|[A-Za-z]:\\)[\w.~/\\@+-]+)"
_MEANS: Final = r"(?i:uses|use|used|using|run|runs|running|on)"

_SERVERS: Final = "(?:(?:staging|production|prod|test|dev|build|ci|mail|web|database|db|backup|git|demo|main) )(?:server|host|url|database|machine|cluster|environment|instance)"
_ROLES: Final = (
    "pm|product manager|product owner|project manager|tech lead|team lead|lead|lead developer|maintainer|designer|architect|qa|tester|"
    "scrum master|cto|ceo|release manager|client|customer|contact|dba|sysadmin|admin"
)

_OTHERS: Final = r"(?i:tutorial|example|sample|template|librar(?:y|ies)|docs?|documentation|book|course|article|video|blog|upstream|branch|pr|pull request|test|function|class|file|snippet|other|old|package)\b"
"""What is not the project, or only a passing part of it."""

RULES: Final[tuple[Rule, ...]] = (
    _rule(rf"(?i:my (?:full |first |real )?name(?: is|'s)) (?P<v>{_NAME})", slot("user", "name"), importance=0.9),
    _rule(rf"(?i:I'm|I am|this is) (?P<v>{_NAME})", _name, importance=0.9),
    _rule(rf"(?i:(?:please |you can |just )*call me) (?P<v>{_NAME})(?: please)?", slot("user", "nickname"), importance=0.8),
    _rule(rf"(?i:I (?:now |currently )?live|I'm (?:now |currently )?(?:living|based)|I am (?:now |currently )?(?:living|based)|I reside) (?:now )?in (?P<v>{_PLACE})", _place, importance=0.8, dated=True),
    _rule(rf"(?i:(?:I|we)(?:'ve| have)? {_OFTEN}(?:moved|relocated)(?: back)?(?: from (?P<old>{_PLACE}))? to) (?P<v>{_PLACE})", _place, importance=0.8, dated=True),
    _rule(rf"(?i:I {_OFTEN}work (?:at|for)) (?P<e>{_NAME}) as (?:an? |the )?(?P<v>[\w /&-]{{3,40}})", _position, importance=0.8),
    _rule(rf"(?i:I {_OFTEN}work as) (?:an? |the )?(?P<v>[\w /&-]{{3,40}}?)(?:(?: (?i:at|for|with) (?P<e>{_NAME}))| (?i:at|in|for|by) .*)?", _position, importance=0.8),
    _rule(rf"(?i:(?:I work as|I became) (?:now )?(?:an?|the) )(?P<v>(?:[\w/-]+ ){{0,3}}(?:{_JOBS}))(?:(?: (?i:at|for|with) (?P<e>{_NAME}))| (?i:at|in|for|by|with|from|here|now)\b.*)?", _position, importance=0.8, dated=True),
    _rule(r"(?i:my (?:job|job title|occupation|profession|role)(?: is|'s)) (?P<v>(?:an? )?[\w /&-]{3,40})", _occupation, importance=0.8),
    _rule(rf"(?i:(?:I(?:'m| am)?|I have) {_OFTEN}(?:work|working|worked)? ?(?:at|for)) (?P<v>{_NAME})", lambda m, c: _employer(m, c) if "work" in m[0] else [], importance=0.8),
    _rule(rf"(?i:I(?:'ve| have)? {_OFTEN}(?:started|got|took) a (?:new )?job at) (?P<v>{_NAME})", _employer, importance=0.8, dated=True),
    _rule(rf"(?i:I(?:'ve| have)? left) {_NAME} (?i:and (?:have )?(?:joined|moved to|work (?:at|for)|started at)|to join|for) (?P<v>{_NAME})", _employer, importance=0.8, dated=True),
    _rule(rf"(?i:I(?:'ve| have)? {_OFTEN}joined) (?P<v>{_NAME})(?: (?i:as) .*)?", _joined, importance=0.8, dated=True),
    _rule(rf"(?i:my (?:new |current |direct |line )?(?:manager|boss|supervisor)){_CALLED} (?P<v>{_NAME})", slot("user", "manager"), importance=0.7, dated=True),
    _rule(THEIRS, person_of, importance=0.7, dated=True),
    _rule(NAMED_FIRST, person_of, importance=0.7, dated=True),
    _rule(rf"(?i:my (?:wife|husband|partner|spouse)){_CALLED} (?P<v>{_NAME})", slot("user", "spouse"), importance=0.7),
    _rule(rf"(?i:my (?:new )?team{_CALLED}|(?:I'm|I am)(?: now)? (?:on|in|part of)) (?:(?i:the) )?(?P<v>{_NAME})(?: (?P<team>(?i:team)))?", lambda m, _: slot("user", "team")(m, _) if m["team"] or "team" in m[0].lower() else [], importance=0.6, dated=True),
    _rule(rf"(?i:my (?:new )?(?:phone|mobile|cell)(?: phone)?(?: number)?{_IS}) (?P<v>[+\d][\d ()-]{{5,20}}\d)", slot("user", "phone"), importance=0.6),
    _rule(rf"(?i:the )?(?:(?P<s>[\w-]+) (?i:project)|(?i:project) (?P<s2>[\w-]+)) (?i:is|was|has been|got) (?:(?i:now|officially|finally) )?(?P<v>(?i:{_OVER}))", _status, importance=0.6, dated=True),
    _rule(rf"(?i:I grew up in|I'm originally from|I am originally from|I come from|my home ?town is) (?P<v>{_PLACE})", _hometown),
    _rule(r"(?i:my birthday is|my birthday's|I was born)(?: (?:on|in))? (?P<v>(?i:\d|the \d|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d)[\w ,./-]*)", slot("user", "birthday", longest=30), importance=0.7),
    _rule(r"(?i:I'm|I am) (?P<v>lactose intolerant|gluten[- ]free)", slot("user", "diet"), importance=0.8),
    _rule(r"(?i:I'm|I am) (?:severely |very )allergic to (?P<v>[\w, -]{3,60})", many("user", "allergies"), importance=0.9),
    _rule(r"(?i:my time ?zone" + _IS + r") (?P<v>[A-Z][\w/+:-]+)", slot("user", "timezone"), importance=0.7),
    _rule(r"(?i:my (?:work |private |new )?e-?mail(?: address)?" + _IS + r") (?P<v>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)", slot("user", "email"), importance=0.7),
    _rule(rf"(?i:I'd rather have) (?P<v>[^,{BLOT}]{{3,60}})", _likes("likes"), type="preference"),
    _rule(r"(?i:my preferred) (?P<p>\w+(?: \w+)?) (?i:is|are) (?P<v>[^,]{2,40})", _favorite, type="preference"),
    _rule(rf"(?i:I(?:'m| am)? {_OFTEN}(?:use|using)) (?P<v>[^,]{{2,30}}) (?i:as (?:my|an?|the)) (?:main |default )?(?P<p>{_WHAT})", _named_tool),
    _rule(rf"(?i:my (?:main |default )?(?P<p>{_WHAT}) is(?: now)?) (?P<v>[^,]{{2,30}})", _named_tool),
    _rule(rf"(?i:I(?:'ve| have)? {_OFTEN}(?:switched|moved|changed) my (?P<p>{_WHAT})(?: over)?(?: from [^,]{{2,30}}?)? to) (?P<v>[^,]{{2,30}})", _named_tool, dated=True),
    _rule(rf"(?i:I(?:'ve| have)? {_OFTEN}(?:switched|moved|changed)(?: over)?(?: from [^,]{{2,30}}?)? to) (?P<v>(?i:{NAMED}))", tool, dated=True),
    _rule(rf"(?i:I(?:'ve| have)? {_OFTEN}(?:quit|dropped|ditched|left|moved off|gave up(?: on)?|stopped using)) (?P<old>(?i:{NAMED}))(?i:(?:,| and|, and|, so) (?:now )?(?:it's|it is|I use|I'm on|I'm using|I am on)(?: all)?(?: now)?) (?P<v>(?i:{NAMED}))(?i:(?: for me)?(?: now)?(?: for me)?)", _instead, whole=True, dated=True),
    _rule(rf"(?i:(?:I|I'm|I am) {_OFTEN}{_MEANS}) (?P<v>(?i:{NAMED})(?: \d[\w.]*)?)", tool),
    _rule(r"(?i:my) (?P<p>[\w.+-]+) (?P<kind>(?i:user ?name|handle|login|account name|user id)) is (?P<v>[\w.@/+-]{2,40})", _account, importance=0.6),
    _rule(rf"(?i:the|our) (?P<p>(?i:{_SERVERS}|server(?= is(?: now)? (?:called|named) ))) (?i:is|runs|lives)(?: now)?(?: (?i:at|on|called|named))? (?P<v>(?=[\w-]*(?:[.:/]|\d|-\w))[\w-](?:[\w-]|[.:/](?=[\w/-]))*+)(?: and (?i:is|runs|has|lives) [^,]{{2,60}})?", _server, dated=True),
    _rule(rf"(?i:the |our )?(?P<p>(?i:{_SERVERS}|server))(?i:(?:'s name)?(?: was| is|'s| has)?(?: now| just)? (?:renamed|changed)(?:(?: by the way)?[:,] it(?: is|'s)(?: now)?| to)) (?P<v>(?=[\w-]*(?:\d|-\w))[\w-][\w/-]*+)(?: now)?", _server, dated=True),
    _rule(rf"(?i:our|the project's) (?P<p>(?i:{_ROLES})){_CALLED} (?P<v>{_NAME})", _role, dated=True),
    _rule(rf"(?i:we|our team|the team|the project)(?i:(?:'ve| have| has)? {_OFTEN}(?:switched|moved|migrated|changed)(?: over| away)?) (?i:from) (?P<old>[^,]{{2,30}}?) (?i:to) (?P<v>[^,]{{2,30}})", _replaced, dated=True),
    _rule(rf"(?P<who>(?i:I'm|I am|I|we're|we are|we|(?:the|this|our) (?!{_OTHERS})[\w-]+(?: [\w-]+)?)) {_OFTEN}(?:(?i:needs|is|are) )?{_MEANS}(?: (?i:on))? (?P<t>(?i:{VERSIONED})) (?P<v>{VERSION})", _version, dated=True),
    _rule(rf"(?P<who>(?i:I|we|I've|we've|we have|the (?:project|team|backend|frontend))) (?i:{_OFTEN}(?:moved|upgraded|migrated|switched|updated|bumped))(?: (?i:from))? ?(?P<t>(?i:{VERSIONED}))?(?: (?i:from))? ?(?:{VERSION})? ?(?i:to) (?P<t2>(?i:{VERSIONED}))? ?(?P<v>{VERSION})", _version, dated=True),
    _rule(rf"(?i:(?:we|our team|the team|(?:this|the|our) (?:project|repo|repository|codebase))(?: all)? {_OFTEN}uses?) (?P<v>(?i:{NAMED}))(?i: here| (?:in|for) (?:this|the|our) (?:project|repo|repository|codebase))?", _used, dated=True),
    _rule(DEPLOYED, host, dated=True),
    _rule(HOSTED, host, dated=True),
    _rule(rf"(?i:(?:we|the project|this project) {_OFTEN}uses?) (?P<v>[^,]{{2,30}}) (?i:as (?:our|the|its|an?)) (?:main |default )?(?P<p>{_OURS})", _ours),
    _rule(rf"(?i:(?:our|the project's) (?:main )?(?P<p>{_OURS}) is(?: now)?) (?!(?i:called|named) )(?P<v>[^,]{{2,40}})", _ours),
    _rule(r"(?i:(?:after|in|at) (?:the|our|a) \w+ we|we)(?i:(?:'ve| have)?(?: all| finally| already| just| now)* (?:decided|agreed|settled|opted)(?: that| to| on| for)?) (?P<v>[^,;]{3,160})", _decision, agent=True, importance=0.7),
    _rule(r"(?i:we)(?i:(?:'ve| have)(?: all| finally| already| just)* (?:chosen|picked|gone with)) (?P<v>[^,;]{3,160})", _decision, agent=True, importance=0.7),
    _rule(r"(?i:(?:final )?decision(?: made)?) ?[:–-] (?P<v>.{3,160})", _decision, whole=True, agent=True, importance=0.7),
    _rule(r"(?i:let's) (?i:go with|stick with|stick to|settle on|standardi[sz]e on) (?P<v>[^,;]{3,120})", _decision, importance=0.6),
    _rule(r"(?i:we'll|we will) (?P<v>(?i:go with|stick with|stick to|standardi[sz]e on) [^,;]{3,120})", _decision, importance=0.6),
    _rule(rf"(?:(?i:please|and|also|so),? )*(?P<v>(?i:always|never(?! mind)|please|don't|do not|make sure|remember) .{{3,160}}? {_I_ASK} .{{2,80}})", _when_asked, type="rule", whole=True, importance=0.8, priority="permanent"),
    _rule(rf"(?:(?i:please|and|also|so|from now on),? )*(?P<v>{_I_ASK} [^,]{{2,80}}, (?i:please|always|never|don't|do not|make sure|only|just|you (?:should|must)) .{{3,160}})", _when_asked, type="rule", whole=True, importance=0.8, priority="permanent"),
    _rule(r"(?:(?i:please|and|also|so),? )*(?P<v>(?i:in|for|on|with) [^,]{3,60}, (?:please )?(?i:always|never|don't|do not|only) .{3,160})", _standing, type="rule", whole=True, importance=0.8, priority="permanent"),
    _rule(r"(?i:please )?(?P<v>(?i:always|never) .{3,200})", _standing, type="rule", whole=True, importance=0.8, priority="permanent"),
    _rule(r"(?i:from now on|going forward|from here on|henceforth|in (?:the )?future),? (?:(?i:please|you should|you must|always) )*(?P<v>.{3,200})", _standing, type="rule", whole=True, importance=0.8, priority="permanent"),
    _rule(r"(?:(?i:please|and) )*(?P<v>(?i:don't|do not) (?:ever )?(?i:use|add|commit|push|write|put|mention|include|send|delete|create|install|edit|run|translate|format) .{3,160})", _general_ban, type="rule", whole=True, importance=0.7),
    _rule(r"(?:(?i:please|and|also|so|now),? )*(?i:(?:you can )?stop|no need to keep|you need not keep) (?:(?i:always) )?(?P<w>[a-z]{2,12}ing) (?P<v>[^,]{3,80})", _no_more_rule, type="rule"),
    _rule(rf"(?:(?i:please|and|also|so),? )*(?P<v>.{{3,160}}?),? (?i:from now on|going forward|from here on|henceforth|in (?:the )?future)(?:,? (?i:please))?(?P<more>{_LIMIT})?", _from_now_on, type="rule", whole=True, importance=0.8, priority="permanent"),
    _rule(r"(?:(?i:please|always) )*(?i:remember to) (?P<v>(?=.*\b(?i:all|every|any|each|always)\b).{3,160})", _standing, type="rule", whole=True, importance=0.7, priority="permanent"),
    _rule(r"(?P<v>(?i:every|each|all) \w+(?: \w+)? (?i:must|should|has to|have to|needs to|need to) .{3,160})", _standing, type="rule", whole=True, importance=0.7, priority="permanent"),
    _rule(r"(?P<v>(?i:when|whenever|before|after) (?i:you|\w+ing)\b[^,]{0,80}, (?:please )?(?i:always|never) .{3,160})", _standing, type="rule", whole=True, importance=0.8, priority="permanent"),
    _rule(rf"(?i:the|our|my) (?P<p>(?:[\w-]+ ){{0,2}}[\w-]+) (?i:is|are|lives?|sits?)(?: (?i:at|in|under|stored in|kept in|located at)) {_PATH}", _path),
    _rule(r"(?i:(?:(?:the|our) [\w-]+ )?(?P<p>logs?|backups|reports)) (?i:are|go|live)(?: (?i:in|to|under|at)) (?P<v>(?:~|/)[\w.~/@+-]+)", _path),
    _rule(r"(?i:the|our) (?P<p>test|build|deploy|lint|format|release|start|run|check) (?i:command is) (?P<v>`[^`]{2,80}`|[\w./-]+(?: [\w./=-]+){0,5})", _command),
)  # fmt: skip
