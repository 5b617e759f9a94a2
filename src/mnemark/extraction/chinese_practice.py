"""Read Chinese sentences about how a project is worked on, in step with `english_practice`."""

import re
from typing import Final

from mnemark.extraction.candidate import BLOT, Found
from mnemark.extraction.hosting import platform
from mnemark.extraction.practice import (
    CALLED,
    LONGEST,
    Form,
    Heard,
    Practice,
    fact,
    first,
    form,
    line_length,
    order,
    programs,
)
from mnemark.extraction.practice_words import (
    ARTEFACTS_ZH,
    CODE_PARTS_ZH,
    RUNNERS,
    is_ci,
    role_named,
    role_of,
)
from mnemark.text.lazy_pattern import lazy_pattern

_REPO: Final = "(?:项目|仓库|代码库|工程)"
_SCOPE: Final = rf"(?:在)?(?:这个|本|该|我们的?|咱们的?)(?:整个)?{_REPO}(?:里面|里|中|内|上|下)?"
_LEAD: Final = lazy_pattern(
    r"(?:(?:对了|另外|还有|顺便说一下|顺便|注意|提醒一下|备注|背景|补充(?:一下)?|规则|约定|规定|规范|请记住|记住|记得|说明一下|你好|好的?|嗯)[，,：:、 ]+)*+"
)
_PLEASE: Final = lazy_pattern(r"(?:请|麻烦)?")
_FIRST: Final = lazy_pattern(rf"(?P<here>{_SCOPE})(?:的)?[，,：: ]*(?=[^，,的])")
_LASTING: Final = lazy_pattern(
    r"(?:请)?(?:以后|今后|从现在起|从现在开始|从今以后|往后|从今天起|默认情况下|默认(?=都|用|使用)|一般来说|原则上|平时)[，,]?(?:请|都|就)*"
)
_POINTS: Final = lazy_pattern(
    r"重写|重新写|为准|等我|我看完|等[他她]|[这那](?:个|次|些|里|样|段|行|条|份|张|一|边)|这(?=文件|函数)|它|他们?|她们?|您|今[天晚]|明天|昨天|刚才|现在|先把|先别|暂时|目前|再说|上面|下面|前面|后面|下一步|上一|第[一二三四五\d]|当前|"
    r"[吧吗呢？?]$|试试|看看|[看试]一下|跑一下|改一下|一下|了$|失败|报错|出错|有问题|不对|坏|太[多长慢短大]|换成|改成|改为|另一|其他|别的|如果|可能|也许|打算|准备|考虑|应该|想|帮我|给我|为什么|怎么|哪|什么|是不是|看起来|好像|听说|据说|还没|还是|刚"
)
_CMD: Final = rf"(?P<c>`[^`]{{2,80}}`|(?a:(?:{RUNNERS})(?: [\w./:=@*-]+){{0,5}}))"
_ONE_RUN: Final = lazy_pattern(
    r"::|(?:^|\s)-(?:k|x|v|vv|vvv|-watch|-lf|-ff)\b|\.(?:py|ts|js|go|rb|rs|tsx)\b|#"
)
_JOBS: Final = {
    "测试": "test command", "单元测试": "unit test command", "单测": "unit test command", "集成测试": "integration test command", "端到端测试": "e2e test command", "全部测试": "test command",
    "构建": "build command", "编译": "build command", "打包": "build command", "项目": "build command", "代码检查": "lint command", "静态检查": "lint command", "检查": "check command", "lint": "lint command",
    "格式化": "format command", "类型检查": "type check command", "部署": "deploy command", "发布": "release command", "发版": "release command", "迁移": "migrate command", "数据库迁移": "migrate command",
    "开发服务器": "dev server command", "开发环境": "dev server command", "本地服务": "dev server command", "服务": "start command", "前端": "frontend start command", "后端": "backend start command",
    "启动": "start command", "文档": "docs build command", "生成代码": "code generation command", "代码生成": "code generation command",
}  # fmt: skip
_JOB: Final = "(?P<j>" + "|".join(sorted(_JOBS, key=len, reverse=True)) + ")"
_WE: Final = rf"(?:我们(?:团队|组|这边)?(?:的项目)?|项目(?:里|中)?|咱们|团队|大家|(?:这个|本|我们的?|咱们的?){_REPO}(?:里|中)?)"
_OFTEN: Final = "(?:现在|目前|都|统一|一律|一直|一般|平时|只|已经|是|主要)*"
_ITEM: Final = rf"`?{CALLED}`?"
_ITEMS: Final = rf"(?P<v>{_ITEM}(?:(?: ?(?:和|、|与|跟|加|以及|\+|,|，) ?){_ITEM}){{0,5}})"
_SEPARATOR: Final = lazy_pattern(r" ?(?:和|、|与|跟|加|以及|\+|,|，) ?")
_NOT: Final = rf"(?P<not>[，, ]*(?:而)?(?:不要用|不用|别用|不是|而不是|不能用|禁止用|不准用|绝不用|从不用|不再用|不要使用) ?{_ITEM})?"
_PATH: Final = r"`?(?P<v>(?:[\w.@~-]*/)+[\w.@*-]*|\.[\w.-]{2,30}|[A-Za-z][\w-]*(?=`? ?(?:目录|文件夹)))`?"
_GATE: Final = lazy_pattern(
    rf"{_SCOPE}|我们|咱们|团队|项目|推|提|我的?|每|所有|任何|凡是|新增|新建|新加|改[了完动]|修改|提交|推送|合并|发布|发版|上线|部署|合入|加|添加|安装|引入|不要|别|禁止|严禁|永远|绝不|绝对|务必|必须|一律|优先|尽量|没有|未经|用|使用|"
    rf"遵循|遵守|测试|单元|单测|集成|端到端|静态|资源|模板|组件|包管理|监控|需求|任务|工单|跑|运行|构建|编译|启动|代码|生成|文档|数据库|迁移|密钥|配置|日志|CI|ci|流水线|持续集成|默认|主分支|从|后端|前端|开发|行宽|每行|缩进|字符串|版本|(?:{ARTEFACTS_ZH}|{CODE_PARTS_ZH})|`[^`]{{2,80}}`|[A-Za-z]"
)

_WORK: Final = lazy_pattern(
    "[A-Za-z`]|提交|推送|合并|分支|代码|测试|部署|构建|编译|发布|上线|仓库|项目|函数|变量|注释|接口|迁移|依赖|缩进|空格|引号|行宽|文件|数据库|密钥|日志|组合|脚本|类型|命名|资源|格式化|前端|后端|云"
)


def chinese_practices(sentence: str) -> list[Practice]:
    """Return what a sentence says of how its speaker works, and of their project.

    >>> [one.found.predicate for one in chinese_practices("我们用 ruff 做代码检查。")]
    ['linter']
    >>> chinese_practices("跑一下测试。")
    []
    """
    text = sentence.strip(" 。.!！,，;；、～~")
    if not 5 <= len(text) <= LONGEST // 2 or BLOT in text or "\n" in text:
        return []
    if lead := _LEAD.match(text):
        text = text[lead.end() :]
    if not _GATE.match(text.removeprefix("请")) or not _WORK.search(text):
        return []
    if found := _read(text):
        return found
    parts = [part for part in re.split(r"[，,；;]\s*", text) if part]
    if not 2 <= len(parts) <= 4:
        return []
    read = [_read(part) for part in parts]
    known = all(read) or _facts_first(parts, read)
    return [one for part in read for one in part] if known else []


def _facts_first(parts: list[str], read: list[list[Practice]]) -> bool:
    """Return whether clauses tell facts, then something else that takes none of it back: 主题是 PaperMod."""
    if not read[0] or any(one.order or not one.firm for found in read for one in found):
        return False
    others = [part for part, found in zip(parts, read, strict=True) if not found]
    return all(_TELLS_MORE.match(part) and not _POINTS.search(part) for part in others)


_TELLS_MORE: Final = lazy_pattern(
    "(?!但|不过|可是|就是|只是|老|总|问题)[^，,]{1,10}?(?:是|叫|为) ?[^，,没不]+$"
)


def _read(text: str) -> list[Practice]:
    whole = text.removeprefix("请")
    here = lasting = False
    text = whole
    for _ in range(2):
        if match := _LASTING.match(text):
            text, lasting = text[match.end() :], True
        elif match := _FIRST.match(text):
            text, here = text[match.end() :], True
    said = Heard(text.removeprefix("请"), whole, here, lasting)
    return first(_FORMS, said) or (first(_FORMS, said._replace(text=whole)) if here else [])


def _uses(match: re.Match[str], _: Heard) -> list[Practice]:
    """Read 我们用 ruff 做代码检查, 这个项目用 Python 3.12 和 ruff, 后端用 FastAPI."""
    groups = match.groupdict()
    part = {"后端": "backend", "前端": "frontend", "服务端": "backend", "客户端": "client"}.get(
        groups.get("part") or "", ""
    )
    role = (groups.get("r") or "").strip()
    contrast = (match["not"] or "").replace("`", "").strip("，, ")
    names = _SEPARATOR.split(match["v"].replace("`", ""))
    return programs(names, role=role, part=part, contrast=f"，{contrast}" if contrast else "")


def _used_here(match: re.Match[str], said: Heard) -> list[Practice]:
    firm = said.here or said.lasting
    if not firm and not match["not"]:
        return []
    return [one._replace(firm=firm) for one in _uses(match, said)]


def _ci(match: re.Match[str], _: Heard) -> list[Practice]:
    name = match["v"].strip("` ")
    return fact("ci", name) if is_ci(name) else []


def _role_is(match: re.Match[str], _: Heard) -> list[Practice]:
    role, name = role_named(match["r"]), match["v"].strip("` ")
    return fact(role, name) if role and role_of(name) in {role, "tools"} else []


def _deploy(match: re.Match[str], _: Heard) -> list[Practice]:
    """Read 我们从 main 分支部署到 Fly.io, 从 release 分支发布."""
    found: list[Practice] = []
    if match["v"]:
        name = platform(match["v"]) or (match["v"] if match["v"].endswith("云") else "")
        if not name:
            return []
        found += fact("hosting", name)
    what = "deploy branch" if match["w"] in {"部署", "上线"} else "release branch"
    return found + fact(what, match["b"])


def _hosted(match: re.Match[str], _: Heard) -> list[Practice]:
    name = match["v"].strip()
    return fact("hosting", name) if name.endswith("云") or platform(name) else []


def _default_branch(match: re.Match[str], _: Heard) -> list[Practice]:
    return fact("默认分支", match["v"])


def _base_branch(match: re.Match[str], _: Heard) -> list[Practice]:
    return fact("base branch", match["v"])


def _command(match: re.Match[str], said: Heard) -> list[Practice]:
    """Read 测试用 `make test` 跑, 用 `make build` 构建."""
    value = match["c"].strip("` ")
    what = _JOBS.get(match["j"], "")
    firm = match.groupdict().get("ask") is None or said.here
    return fact(what, value, firm=firm) if what and not _ONE_RUN.search(value) else []


def _stored(match: re.Match[str], _: Heard) -> list[Practice]:
    """Read 数据库迁移放在 db/migrate."""
    what = re.sub("^(?:我们的?|项目的?|所有的?)|(?:文件)?都?$", "", match["p"]) or match["p"]
    if (
        not _FILES.search(match["p"])
        or _POINTS.search(what)
        or re.search("新|旧|错|bug|问题|你|我|把|已|没|不", what)
    ):
        return []
    return fact(f"{what}路径", match["v"].strip("`"))


def _indented(match: re.Match[str], said: Heard) -> list[Practice]:
    contrast = (match["not"] or "").strip("，, ")
    firm = bool(match["we"]) or said.here or said.lasting
    value = match["v"].strip() + (f"，{contrast}" if contrast else "")
    return fact("indentation", value, firm=firm)


def _quotes(match: re.Match[str], said: Heard) -> list[Practice]:
    contrast = (match["not"] or "").strip("，, ")
    if not (match["s"] or said.here or said.lasting):
        return []
    return fact("quotes", match["v"] + (f"，{contrast}" if contrast else ""), firm=True)


def _branch_names(match: re.Match[str], _: Heard) -> list[Practice]:
    who = "user" if match["s"] in {"我的", "我"} else "project"
    return [Practice(Found(who, "branch names", match["v"]))]


_EACH: Final = lazy_pattern("每(?:次|个|条|一|当)|所有|任何|凡是|一律|永远|从不|绝不|总是|始终|务必")
_OUTSIDE: Final = lazy_pattern(
    "用户|客户|顾客|会员|按钮|页面|表单|弹窗|订单|支付|商品|邮箱|账号|登录|密码|请求|响应|返回|显示|展示|点击|上传|下载"
)
_CODE: Final = lazy_pattern(
    f"`|(?:{ARTEFACTS_ZH}|{CODE_PARTS_ZH})|提交|分支|推送|强推|合并|部署|仓库|main|master|生产|线上|数据库|ORM|SQL|缩进|空格|分号|PR|lint|[A-Za-z]\\w*[./_][\\w./]+|git|密钥|锁文件|全局变量|魔法数字|导出|类型注解"
)


def _of_code(text: str) -> bool:
    return _CODE.search(text) is not None or any(role_of(word) for word in _WORD.findall(text))


_WORD: Final = lazy_pattern(r"[A-Za-z][\w.+#-]*")


def _on_condition(_: re.Match[str], said: Heard) -> list[Practice]:
    """Read an order for every time something is done: 提交前先跑测试, 改了模型之后要生成迁移."""
    if _POINTS.search(said.text) or _OUTSIDE.search(said.text) or not _of_code(said.text):
        return []
    return order(said.whole, firm=bool(_EACH.search(said.text)) or said.lasting or said.here)


def _ban(match: re.Match[str], said: Heard) -> list[Practice]:
    """Read what must never be done, or not in this project: 不要改 src/gen 里的文件, 永远不要强推 main."""
    rest = match["o"]
    if _POINTS.search(said.text) or _OUTSIDE.search(rest):
        return []
    if not _of_code(rest) and not (said.here and _WORD.search(rest)):
        return []
    if (
        said.here
        or said.lasting
        or match["n"] not in {"不要", "别", "不能", "不许", "不得", "不可以", "不准"}
    ):
        return order(said.whole, firm=True)
    return order(said.whole, firm=False) if _BY_NATURE.search(said.text) else []


_BY_NATURE: Final = lazy_pattern(
    r"手动|手工|自动生成|自动(?:提交|推送|合并|部署|发布)|直接(?:往|向|推|提交|改|在|push)|强推|强制推送|[\w.@-]+/[\w./@-]* ?(?:目录|文件夹)?(?:里面?|下面?|中|内)?的?(?:任何)?(?:文件|代码|东西|内容)|vendor|node_modules|提交 ?(?:\.env|密钥|密码|证书|凭证)|(?:提交信息|注释|文档|PR|代码|分支名)(?:里|中)"
)


def _style(_: re.Match[str], said: Heard) -> list[Practice]:
    """Read how code is to be written: 提交信息用英文写, 优先用组合而不是继承."""
    if _POINTS.search(said.text) or _OUTSIDE.search(said.text):
        return []
    return order(said.whole, firm=said.here or said.lasting)


def _norm(match: re.Match[str], said: Heard) -> list[Practice]:
    """Read how things of a kind must be: 提交信息必须以工单号开头, 所有公共函数都要有注释."""
    groups = match.groupdict()
    if _POINTS.search(said.text) or _OUTSIDE.search(said.text):
        return []
    if groups.get("part") and not _SAYS_HOW.search(match["o"]):
        return []
    return order(said.whole, firm=bool(groups.get("art") or groups.get("q") or said.here or said.lasting))


_SAYS_HOW: Final = lazy_pattern(
    r"注释|类型|测试|文档|英文|中文|驼峰|下划线|短横线|小写|大写|蛇形|帕斯卡|评审|审查|可回滚|可逆|changelog|[Cc]hange[Ll]og|snake|camel|kebab|Pascal|docstring|UTC|命名|单引号|双引号|`|绝对路径|工单|覆盖率|JSDoc|前缀|后缀"
)


def _habit(match: re.Match[str], said: Heard) -> list[Practice]:
    """Read how a team works: 我们合并前会 squash, 我们不用 ORM, 我们遵循 PEP 8."""
    rest = match["o"]
    if _POINTS.search(said.text) or _OUTSIDE.search(rest) or not (_of_code(rest) or _NORMS.search(rest)):
        return []
    return order(said.whole, firm=True)


_NORMS: Final = lazy_pattern(
    r"PEP ?\d|规范|约定|语义化版本|SemVer|semver|squash|rebase|Git ?[Ff]low|[Tt]runk|约定式提交|[Cc]onventional|风格|TDD|测试驱动"
)


_BEFORE: Final = (
    r"(?:(?:每次|每回|每当|当|在)?(?:提交|推送|合并|部署|发布|发版|上线|合入|push|commit|提 ?PR|开 ?PR|推代码|提代码|改代码|改数据库|改接口)(?:代码|到主分支|到 ?main|PR)?(?:之前|以前|前|之后|以后|后|时|的时候)|"
    r"(?:每次|每回|每当)?(?:新增|新建|添加|增加|加|引入|安装|修改|改动|更新|删除|改)(?:了|完|好)?(?:新的?)?(?:代码|接口|模型|依赖|迁移|表结构|数据库|配置|函数|组件|端点|模块|包|第三方库|文件|功能|字段|表|库)(?:结构)?(?:之前|以前|前|之后|以后|后|时|的时候))"
)
_TO_DO: Final = r"(?:请|先|都|要|得|必须|务必|一定要|需要|记得|再|也|同时|应|自动|总是)*(?:跑|运行|执行|更新|生成|写|补|加|检查|格式化|同步|问我|问一下|rebase|squash|lint|测试|确认|通过|走|开|重新生成|用|提|问|经过|改|升级|打|附)[^，,]{0,40}?"
_VALUE: Final = r"(?:tab|Tab|制表符|空格|[一二两三四\d] ?个?空格)"
_BANS: Final = "(?P<n>永远不要|永远不能|永远别|绝不要?|绝对不要|绝对不能|从不|严禁|禁止|不要再|不要|别|不能|不许|不得|不可以|不准)"
_DONE: Final = r"(?:直接|随便|擅自|手动|手工|自动|强制)?(?:往|向|给|在|从|对|把)?[^，,]{0,20}?(?:改动|修改|改|编辑|动|碰|提交|推送|强推|推|合并|部署|使用|用|加|添加|引入|写|删除|删|安装|装|硬编码|跳过|提到|出现|rebase|push|commit|force|mock|发布|格式化|泄露|打印)"
_FORMS: Final[tuple[Form, ...]] = (
    form(rf"(?P<we>{_WE}(?:的代码)?{_OFTEN}|代码(?:统一|都|一律)?|)(?:用|使用|采用) ?(?P<v>{_VALUE}) ?(?:来|做|进行)?缩进(?P<not>[，,](?:不要用?|不用|别用|不是) ?(?:tab|制表符|空格))?", _indented),
    form(rf"(?P<we>{_WE}(?:的)?|代码(?:的)?)?缩进(?:统一|都|一律)?(?:用|使用|是|为) ?(?P<v>{_VALUE})(?P<not>[，,](?:不要用?|不用|别用|不是) ?(?:tab|制表符|空格))?", _indented),
    form(r"(?P<s>(?:代码里?的?)?字符串)?(?:统一|都|一律)?(?:用|使用)(?P<v>单引号|双引号)(?P<not>[，,](?:不要用?|不用|别用|不是)(?:单引号|双引号))?", _quotes),
    form(r"(?:代码的?|最大)?(?:行宽|每行|单行|行长度?)(?:长度)?(?:限制[为在]?|上限|设?为|最[多大]|不超过|是){1,4}+ ?(?P<v>\d{2,3}) ?(?:个?字符|列)?", line_length),
    form(r"(?P<s>我们的|我的|我|)?(?:feature ?)?分支(?:名称?|命名)(?:都|统一|一律|要|必须|需要|应)*(?P<v>(?:以|用) ?[^，,]{1,24}?(?:开头|结尾|做前缀|作前缀|为前缀|作为前缀)|用 ?[\w-]+/[\w-]+)", _branch_names),
    form(rf"{_WE}(?:的)?{_OFTEN}(?:用|使用|采用|在用|用的是|基于) ?{_ITEMS}(?: ?(?:来做|来|做|进行|负责)?(?P<r>[\u4e00-\u9fffA-Za-z/ ]{{2,8}}?))?{_NOT}", _uses),
    form(rf"(?:我们的?|项目的?)?(?P<part>后端|前端|服务端|客户端)(?:服务|代码|部分)?{_OFTEN}(?:是)?(?:用|使用|采用|基于|跑在)(?:的是)? ?{_ITEMS} ?(?:写|开发|实现|做|构建)?的?{_NOT}", _uses),
    form(rf"(?:请)?(?:都|统一|一律|只)*(?:用|使用) ?{_ITEMS}(?: ?(?:来做|来|做|进行)?(?P<r>[\u4e00-\u9fffA-Za-z/ ]{{2,8}}?))?{_NOT}", _used_here),
    form(rf"(?:我们的?|项目的?|咱们的?)? ?(?:CI|CI/CD|持续集成|流水线) ?{_OFTEN}(?:跑在|运行在|在|用的?是?|使用|换成了?|迁到了?|迁移到了?|搬到了?|改成了?) ?(?P<v>{_ITEM}) ?(?:上面?|里|跑)?了?", _ci),
    form(rf"(?:我们的?|项目的?|咱们的?)?(?P<r>包管理器?|代码检查|静态检查|格式化|类型检查|测试框架|构建工具|需求管理|任务管理|项目管理|依赖管理|日志|监控|状态管理|代码格式化|单元测试|单测){_OFTEN}(?:用的?是?|使用|是|在|换成了?) ?(?P<v>{_ITEM}) ?(?:来?做|上|里|管理)?", _role_is),
    form(rf"(?:我们的?|项目的?)?(?P<r>需求|任务|工单|bug|缺陷|问题)(?:都|统一)?(?:在|放在|记在|用) ?(?P<v>{_ITEM}) ?(?:上面?|里面?|中)?(?:管理|跟踪|跟进|记录)?", lambda m, _: fact("issue tracker", m["v"]) if role_of(m["v"]) == "issue tracker" or is_ci(m["v"]) else []),
    form(rf"(?:{_WE})?{_OFTEN}从 ?`?(?P<b>[\w./-]+)`? ?分支(?P<w>部署|发布|上线|发版)(?:到|在)? ?(?P<v>[A-Z][A-Za-z0-9.-]*(?: [A-Z][A-Za-z0-9.-]*){{0,2}}|[\u4e00-\u9fff]{{2,3}}云)?(?:上)?(?:的)?", _deploy),
    form(r"(?:我们的?)?(?:都|统一)*部署在 ?(?P<v>[A-Z][A-Za-z0-9.-]*(?: [A-Z][A-Za-z0-9.-]*){0,2}|[\u4e00-\u9fff]{2,3}云)(?:上面?|里)?的?", _hosted),
    form(r"(?:我们的?|仓库的?|项目的?)?(?:默认分支|主分支|主干)(?:现在)?(?:是|叫|为) ?`?(?P<v>[A-Za-z][\w./-]*)`?", _default_branch),
    form(r"(?:我们|所有|新|功能)?(?:的)?(?:新)?(?:功能)?分支(?:都|统一)?从 ?`?(?P<v>[A-Za-z][\w./-]*)`? ?(?:上|分支)?(?:切|拉|开|建|创建)(?:出来)?", _base_branch),
    form(rf"(?:跑|运行|执行|启动|做)?(?:全部|所有)?{_JOB}(?:命令)?(?:的命令)?{_OFTEN}(?:用|使用|是|靠|通过|走|执行) ?{_CMD} ?(?:来)?(?:跑|运行|执行|启动|做|构建|打包|编译|部署)?的?", _command),
    form(rf"(?P<ask>用|使用|执行|运行) ?{_CMD} ?(?:来|可以|就可以|命令)*(?:跑|运行|执行|启动|做|进行)?(?:所有|全部)?{_JOB}", _command),
    form(rf"{_CMD} ?(?:是|用来|可以|会|用于)+(?:跑|运行|执行|启动|做|进行)?(?:所有|全部)?{_JOB}(?:的|用的)?", _command),
    form(rf"(?P<p>[\u4e00-\u9fffA-Za-z ]{{1,12}}?)(?:都|统一|一律|全都|一般)*(?:放在|放到|存放在|存在|在|位于|写在|放) ?{_PATH} ?(?:目录|文件夹)?(?:下面|下|里面|里|中|内)?", _stored),
    form(rf"(?P<c>{_BEFORE})[，,]?{_TO_DO}", _on_condition),
    form(rf"(?P<c>(?:改|写)完代码)(?:都|就|必须|要|得|一定|务必|请|先)+{_TO_DO}", _on_condition),
    form(rf"(?P<c>(?:每次|每回|每当)(?:改|写|加|动|提交|推送|合并|发布)[^，,我]{{0,12}}?(?:之前|以前|前|之后|以后|后|都|时|的时候|完))[，,]?{_TO_DO}", _on_condition),
    form(r"(?:没有|没经过?|未经)我?的?(?:同意|允许|确认|批准|许可|授权)[，,]?(?:就|一律|都)*(?P<n>不要|别|不能|不许|不得|不准)(?P<o>[^，,]{0,6}(?:提交|推送|合并|部署|发布|加|装|安装|改|删|动)[^，,]{0,20})", lambda _, s: order(s.whole, firm=False) if not _POINTS.search(s.text) else []),
    form(rf"{_BANS}(?P<o>{_DONE}[^，,]{{0,40}}(?:[，,][^，,]{{2,20}})?)", _ban),
    form(rf"(?P<q>(?:每个|每条|每次|每一个|所有的?|任何|凡是|全部)) ?(?:新的?|公共|公开|对外)*(?P<art>{ARTEFACTS_ZH}|PR|MR|commit|提交|合并) ?(?:都|要|必须|得|需要|应该|应|一定)+(?P<o>[^，,]{{2,40}})", _norm),
    form(rf"(?P<q>(?:每个|每条|所有的?|任何|凡是|全部))(?:新的?|公共|公开|对外)*(?P<part>{CODE_PARTS_ZH})(?:都|要|必须|得|需要|应该|应|一定)+(?P<o>[^，,]{{2,40}})", _norm),
    form(rf"(?P<art>{ARTEFACTS_ZH}) ?(?:都|统一|一律|要|必须|得|需要|应该|应|不要|不能|不得|只|请|一定)*(?P<o>(?:用|使用|以|遵循|写(?!得|错|完)|包含|带|有|按|超过|出现|加|提到|控制在|不超过)[^，,]{{1,40}})", _norm),
    form(rf"(?P<part>{CODE_PARTS_ZH})(?:都|统一|一律|要|必须|得|需要|应该|应|不要|不能|只|请|一定)*(?P<o>(?:用|使用|以|遵循|写(?!得|错|完)|有|加|按|带|放在|可回滚|可逆)[^，,]{{0,40}})", _norm),
    form(r"(?:请)?(?:优先|尽量|统一|一律|只)(?:使用|用|选)(?P<o>[^，,]{2,30}?)(?:而不是|[，,]不要用|[，,]不用|[，,]别用|，少用)(?P<o2>[^，,]{2,20})", _style),
    form(r"(?:请)?(?:遵循|遵守|使用|用|采用) ?(?P<o>约定式提交|语义化版本|[Cc]onventional [Cc]ommits|PEP ?8|[\w ]{2,20}(?:代码)?(?:风格|规范)|驼峰命名|蛇形命名)(?:规范|风格)?", _style),
    form(rf"{_WE}(?:从来?|一般|都|总是|一直|只|统一|平时)*(?P<o>(?:不用(?![改写管等测跑做动加装提再])|不使用|不写|不允许|不直接|不手动|不会直接|不往|不在|不 ?mock|遵循|遵守|采用|合并前|提交前|发布前|合并时|用 ?squash|用 ?rebase|不做)[^，,]{{1,40}})", _habit),
)  # fmt: skip
_FILES: Final = lazy_pattern(
    "迁移|测试|文档|代码$|脚本|配置|密钥|夹具|模板|组件|资源|静态资源|接口定义|定义|schema|fixture|翻译|样式|路由|模型|服务|日志|类型|钩子|工具函数|环境变量|常量|proto|用例|数据"
)
