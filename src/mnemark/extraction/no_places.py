"""Tell what one moves to, leaves or lives in as people do of a place, although it is none: software, teams, days."""

from typing import Final

from mnemark.extraction.candidate import is_program, kind_of
from mnemark.extraction.english_words import COUNTRIES, REGIONS, word_set
from mnemark.text.lazy_pattern import lazy_pattern

_SOFTWARE: Final = word_set(
    "redux zustand mobx jotai recoil webpack vite rollup esbuild turbopack parcel bazel cmake babel eslint prettier biome jest "
    "vitest mocha cypress playwright selenium storybook jquery ember nuxt nextjs remix gatsby sveltekit express nestjs hono koa prisma "
    "drizzle sequelize mongoose supabase firebase auth0 okta stripe paypal twilio sendgrid mailchimp hubspot salesforce zendesk "
    "intercom datadog splunk pagerduty hetzner digitalocean linode ovh vultr rackspace openstack proxmox cloudways openshift "
    "whatsapp telegram signal messenger facebook instagram twitter tiktok snapchat reddit linkedin pinterest youtube twitch "
    "bluesky mastodon wechat weibo qq skype viber protonmail proton fastmail hotmail yahoo imessage mattermost rocketchat zulip "
    "evernote onenote logseq anki todoist ticktick clickup basecamp airtable confluence sharepoint dropbox onedrive nextcloud "
    "excel powerpoint photoshop illustrator lightroom blender canva wordpress wix squarespace shopify jekyll drupal joomla "
    "substack netflix spotify hulu chatgpt claude gemini copilot ollama langchain llamaindex openai anthropic huggingface keras "
    "jax xgboost snowflake databricks bigquery redshift tableau powerbi looker dbt airbyte fivetran pulumi vagrant puppet saltstack "
    "argocd istio linkerd envoy traefik haproxy apache caddy tomcat quarkus micronaut hibernate junit pytest unittest tox ruff "
    "flake8 mypy pyright golang fortran cobol pascal javascript coffeescript html css sass matlab stata spss vba latex markdown "
    "subversion perforce gerrit phabricator teamcity buildkite nats mqtt zeromq memcached valkey couchdb neo4j influxdb "
    "timescaledb milvus qdrant weaviate pinecone chroma faiss android ios ipados iphone ipad mac macbook chromebook kindle playstation "
    "xbox nintendo ethereum bitcoin soap json yaml xml protobuf websockets microservices serverless monorepo agile waterfall devops tdd"
)
"""Programs, services and ways to work beside those of `candidate`; none has the name of a well-known place."""
_COMMON: Final = word_set("rest swift fish arch edge go oracle brave spark windows rust chrome helm")
"""Names of programs that begin names of places, too: "Swift Current"."""
_PLACE_ENDS: Final = (
    COUNTRIES
    | REGIONS
    | word_set(
        "street road avenue lane hill hills town city village county junction park beach springs falls heights valley island creek grove"
    )
)
"""What a name ends with that is one of a place, whatever it begins with: "Signal Hill", "Claude, Texas"."""
_THINGS: Final = word_set(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october "
    "november december spring summer autumn winter christmas easter thanksgiving halloween "
    "management engineering backend frontend sales marketing finance legal operations support design product research security "
    "infrastructure platform premium enterprise production staging team department dept role position plan tier development "
    "framework stack version codebase app application tool editor library database cloud actions api sdk subscription shift schedule monolith"
)
"""Days, months, teams and plans, and what a name of such ends with."""
_SHAPE: Final = lazy_pattern(
    r"(?!(?:Ma?c|De|La|Le|Du|Van|Fitz|San|Di|Kwa)[A-Z]|(?:[A-Z][a-z]){2}\b|TriBeCa\b)\w*[a-z][A-Z]|[\w-]+\.(?:js|io|ai|dev|net|app|com|org|py|rs)\b|Team\b|[A-Za-z].*\d"
)
"""Spelled as brands are: "GitHub", "Fly.io"; names such as "McAllen", "LaGrange" and "SoHo" are not."""
_CHINESE: Final = lazy_pattern(
    "(?:企业)?微信|钉钉|飞书|微博|抖音|快手|小红书|淘宝|天猫|拼多多|支付宝|知乎|豆瓣|哔哩哔哩|[Bb]站|语雀|石墨文档|印象笔记|有道云笔记|滴答清单|"
    "苹果|安卓|鸿蒙|微服务|单体|(?:阿里|腾讯|华为|百度|网易|天翼|金山|七牛|私有|公有|混合)云|.*(?:组|团队|部门|办公室|工位|平台|系统|框架|软件|版本|模式|方案|数据库|岗位|(?<![东西南北中])部)"
)


def is_no_place(name: str) -> bool:
    """Return whether a name is none of a place: of software, a service, a team, a day, or spelled as a brand.

    >>> [is_no_place(name) for name in ("Redux", "GitHub Actions", "Fly.io", "Sales", "飞书", "后端组")]
    [True, True, True, True, True, True]
    >>> [is_no_place(name) for name in ("Bonn", "McAllen", "SoHo", "Signal Hill", "Swift Current", "龙岗")]
    [False, False, False, False, False, False]
    """
    words = name.strip(".,:;!?()\"' ").split()
    if not words or (len(words) > 1 and words[-1].casefold() in _PLACE_ENDS):
        return False
    first, last = words[0].casefold(), words[-1].casefold()
    return (
        kind_of(" ".join(words)) != ""
        or (is_program(" ".join(words)) and (len(words) == 1 or first not in _COMMON))
        or first in _SOFTWARE
        or last in _THINGS
        or _SHAPE.match(words[0]) is not None
        or _CHINESE.fullmatch("".join(words)) is not None
    )


def is_thing(name: str) -> bool:
    """Return whether a name is that of a day, a month, a team, a stage or a plan."""
    last = name.rsplit(" ", 1)[-1].casefold()
    return not {last, last.removesuffix("s")}.isdisjoint(_THINGS)


def is_software(name: str) -> bool:
    """Return whether a name is that of a known program, service or way to work."""
    first, _, _ = name.strip().casefold().partition(" ")
    return is_program(name) or first in _SOFTWARE
