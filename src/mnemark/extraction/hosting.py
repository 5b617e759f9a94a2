"""Read on what a project is deployed: "we deploy on Hetzner", 我们部署在阿里云."""

import re
from typing import Final

from mnemark.extraction.candidate import Clause, Found, bare, kind_of, usable
from mnemark.extraction.english_words import COUNTRIES, REGIONS, word_set
from mnemark.extraction.no_places import is_thing

_OFTEN: Final = r"(?:(?:now|currently|mostly|usually|mainly|always|still|also|just|all) )*"
_PART: Final = (
    r"(?P<part>frontend|front end|backend|back end|api|website|site|docs|documentation|blog|staging|database)"
)
_WHOLE: Final = r"(?:app|application|project|service|services|product|stack|servers|everything)"
_WHAT: Final = rf"(?:(?:our|the|this) (?:[\w-]+ )?(?:{_PART}|{_WHOLE})|everything|it all)"
_ON: Final = r"(?P<v>[A-Za-z][\w.-]*(?: [A-Z][\w.-]*){0,2})"
OURS: Final = (
    rf"(?i:(?:we|our team|the team)(?:(?:'re| are) {_OFTEN}hosted|(?:'re| are|'ve| have)? {_OFTEN}(?:deploy|deploying|host|hosting|run))(?: (?:it all|everything|(?:our|the) (?:{_PART}|{_WHOLE})))? "
    rf"(?:on|to|with|at)) {_ON}"
)
"""Pattern of "we deploy on Hetzner": the platform is in `v`, what of the project is there in `part`."""
THERE: Final = rf"(?i:{_WHAT}(?:'s| is| are)? {_OFTEN}(?:deployed|hosted|running|runs|run|lives)(?: now)? (?:on|to|at|with)) {_ON}"
"""Pattern of "our app is hosted on Vercel"."""
CHINESE: Final = (
    r"(?=[我咱项本这团公前后网官接文博数服应系产业代])(?:我们的?|咱们的?|项目的?|本项目的?|这个项目的?|团队的?|公司的?)?"
    r"(?:(?P<part>前端|后端|网站|官网|接口|文档|博客|数据库)|项目|服务|应用|系统|产品|业务|代码)?"
    r"(?:现在|目前|已经|都|全部|全都|统一|是|一直)*(?:部署|托管|跑|运行|搬|迁移|迁)(?:在|到|于)了?\s*"
    r"(?P<v>[A-Z][A-Za-z0-9.-]*(?: [A-Z][A-Za-z0-9.-]*){0,2}|[a-z][a-z0-9-]*\.[a-z]{2,3}|[\u4e00-\u9fff]{2,3}云)\s*(?:上面?|里|平台|服务器|集群)?(?:上面?|里)?(?:的|了)?"
)
"""Pattern of 我们部署在阿里云."""
_HOSTS: Final = word_set(
    "aws azure gcp heroku vercel netlify cloudflare hetzner digitalocean linode ovh vultr fly.io fly render railway kubernetes "
    "openshift ec2 ecs eks gke fargate lambda openstack proxmox nomad scaleway google_cloud cloud_run app_engine github_pages "
    "阿里云 腾讯云 华为云 百度云 金山云 天翼云 火山云 青云 京东云"
)
_STAGES: Final = word_set(
    "production prod staging pypi npm maven crates.io testflight dev test main master qa preview prerelease users customers call demand site time"
)
_PARTS: Final = {
    "front end": "frontend", "back end": "backend", "前端": "frontend", "后端": "backend", "网站": "website", "官网": "website",
    "接口": "api", "文档": "docs", "documentation": "docs", "博客": "blog", "site": "website", "数据库": "database",
}  # fmt: skip


def platform(name: str, *, spoken: bool = True) -> str:
    """Return a platform by its name, without the article; empty if it is a day, a stage or a place.

    Args:
        name: the name.
        spoken: whether the sentence says that something is deployed there; else the platform must be known.
    """
    value = bare(name)
    low = value.casefold()
    named = (
        value[:1].isupper()
        and not is_thing(value)
        and low.split(" ")[0] not in _STAGES
        and low not in COUNTRIES | REGIONS
        and not kind_of(value)
    )
    return value if (low in _HOSTS or (spoken and named)) and usable(value, 40) else ""


def host(match: re.Match[str], _: Clause) -> list[Found]:
    """Read the platform a project is deployed on: no day, no stage; what merely runs is on a known one."""
    spoken = re.search(r"(?i)\bdeploy(?!\w* with\b)|\bhosted (?:on|at)\b|部署|托管", match[0])
    value = platform(match["v"], spoken=spoken is not None)
    if not value:
        return []
    part = (match["part"] or "").casefold()
    part = _PARTS.get(part, part)
    return [Found("project", f"{part} hosting" if part else "hosting", value)]
