"""Define the Chinese rules that extract lasting facts, measured by `tests/data/extraction`."""

import re
from typing import Any, Final

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
    kind_of,
    slot,
    tool,
    usable,
)
from mnemark.extraction.chinese_words import FIRMS, HAN, LANGUAGES, ORGANISATIONS, PERSON, REGIONS
from mnemark.extraction.hosting import CHINESE as DEPLOYED
from mnemark.extraction.hosting import host
from mnemark.extraction.no_places import is_software
from mnemark.extraction.practice_words import role_of_either
from mnemark.text.lazy_pattern import lazy_pattern

_ANSWER: Final = (
    rf"(?:用|使用|说|讲)\s*(?P<v>{LANGUAGES})\s*(?:来)?(?:回复|回答|答复|交流|沟通|对话|跟我说|和我说|写)?"
)
_NOW: Final = "(?:现在|目前|如今|平时|一般|主要|通常|一直|都|已经|习惯|日常|平常|常)*"
_VERY: Final = "(?:很|非常|特别|最|比较|更|更加|一直|也|还|挺|超|超级|真的|其实)*"
_ONE_OFF: Final = lazy_pattern(
    "这次|这一次|就一次|改成|改为|重写|今天|今晚|现在|这个|这张|这份|这段|这条|这里|这样|那个|那张|他们?|她们?|它|^先|再说|暂时|目前|刚才|"
    "上面|下面|吧$|你们"
)
_OURS: Final = (
    "数据库|包管理器|包管理工具|默认分支|主分支|许可证|测试框架|构建工具|消息队列|前端框架|后端框架|云服务商|"
    "代码格式化工具|缓存|编程语言"
)


def _rule(pattern: str, read: Read, **options: Any) -> Rule:
    lead = r"(?:(?:对了|嗯++|好的?|哦|那|另外|还有|顺便说一下|顺便|其实|你好|您好|注意|请记住|记一下|所以|然后|最后|最终|补充(?:一下)?|更新|更正|背景|备注|关于我|自我介绍)[，,：:、 ]*+)*"
    return Rule(re.compile(f"^{lead}{pattern}$"), read, **options)


def _version(match: re.Match[str], _: Clause) -> list[Found]:
    own = match.groupdict().get("who") == "我"
    return [Found("user" if own else "project", f"{match['t'].lower()} version", match["v"])]


def _ours(match: re.Match[str], _: Clause) -> list[Found]:
    value = re.sub("(?:了|吧)$", "", bare(match["v"]))
    good = usable(value, 30) and not re.search("坏|慢|没|不|还|问题|错|满", value)
    return [Found("project", match["p"], value)] if good else []


def _used(match: re.Match[str], _: Clause) -> list[Found]:
    """Read a program that a project uses: 这个项目用 pnpm."""
    value = bare(match["v"])
    return [Found("project", kind_of(value) or "tools", value)]


def _decision(match: re.Match[str], _: Clause) -> list[Found]:
    value = re.sub("(?:了|吧|啦)$", "", bare(match["v"]))
    vague = re.search(
        "第[一二三四五\\d]|这个|这样|那个|那样|前者|后者|上面|看看|再说|试试|暂时|方案 ?[A-Z一二三]$|什么|哪|吗|还是|演示",
        value,
    )
    short = len(value) < 2 or len(value) > 80 or BLOT in value
    return [] if vague or short else [Found("project", "decisions", value)]


_WORK: Final = lazy_pattern(
    "提交|代码|测试|回复|回答|答复|写|文件|分支|推送|部署|函数|注释|文档|命名|格式|输出|报告|邮件|纪要|合并|PR|SQL|接口|版本|"
    "日志|配置|数据|问我|确认|备份|发布|上线|脚本|变量|单位|称呼|叫我|不要再|别再|语气|表情|表格|列表|引用|来源|中文|英文|代号|依赖|"
    "工单|标题|摘要|总结|链接|日期|时间格式|编码|缩进|空格|模板"
)


def _standing(match: re.Match[str], _: Clause) -> list[Found]:
    """Read a standing instruction, as opposed to a one-off request."""
    value = match["v"].strip().rstrip("。！! ，,")
    if answered := re.fullmatch(
        rf"(?:请|都|一律|始终|总是|永远|统一|全部|只|尽量|务必|还是|继续|改回?|换回?)*{_ANSWER}(?:我|吧|就行|即可)*(?:问题)?",
        value,
    ):
        return [Found("user", "language", answered["v"])]
    if not _WORK.search(value) or _ONE_OFF.search(value) or BLOT in value or not 4 <= len(value) <= 80:
        return []
    if re.search("您|一定会|保障|努力|呗|^(?:强调|建议|提醒)|[（(] *[）)]|担心|客气|见过|想过", value):
        return []
    if re.match("我|咱", value) and "我们" not in value:
        return []
    return [Found("user", "rules", value)]


def _when_asked(match: re.Match[str], clause: Clause) -> list[Found]:
    """Read a standing instruction for questions or tasks of a kind: what it asks for may be anything."""
    value = match["v"].strip().rstrip("。！! ，,")
    doubtful = (
        _ONE_OFF.search(value) or BLOT in value or re.search("[他她您]|我们?在|[过了]$", clause.sentence)
    )
    return [] if doubtful else [Found("user", "rules", value)]


def _switched(match: re.Match[str], _: Clause) -> list[Found]:
    """Read what a project uses instead of something else; a decision where the kind is not known."""
    old, new = bare(match["o"]), bare(match["v"])
    if kind := kind_of(new) or kind_of(old) or role_of_either(new, old):
        return [Found("project", kind, old, over=True), Found("project", kind, new)]
    return (
        [Found("project", "decisions", f"从 {old} 换成 {new}")]
        if is_software(old) or is_software(new)
        else []
    )


def _path(match: re.Match[str], _: Clause) -> list[Found]:
    vague = re.search("错误|问题|报错|这|那|哪|函数|代码$|bug|结果", match["p"])
    return [] if vague else [Found("project", f"{match['p']}路径", match["v"].rstrip(".,"))]


_NO_PLACE_OF_WORK: Final = lazy_pattern(
    f"^(?:{REGIONS})|^(?:这|那|哪|一|某|新|外|家|你|他|她|公司|单位|学校|学院|大学|国外|外地|国内|线上|网上|平台)|"
    "(?:市|省|区|县|家|馆|店|厅|室|楼|上|里|下|边|前|后|中|组|团队|部门|部|方面|行业|期间|时候)$"
)
_ASKS: Final = "(?:现在|目前)*(?:是|在|为|改成了?|换成了?|变成了?|改为了?|换到了?)"


def _is_no_workplace(name: str) -> bool:
    """Return whether a name is that of a place or a part of one; 阿里 only ends as such names do."""
    return _NO_PLACE_OF_WORK.search(name) is not None and not re.fullmatch(FIRMS, name)


def _work_place(match: re.Match[str], clause: Clause) -> list[Found]:
    """Read an employer without a suffix like 公司, if the turn is an introduction or about a new job."""
    value = match["v"]
    told = re.search("换工作|跳槽|入职|我(?:的名字)?叫|我是", clause.turn)
    return [Found("user", "employer", value)] if told and not _is_no_workplace(value) else []


def _team(match: re.Match[str], _: Clause) -> list[Found]:
    value = match["v"]
    generic = re.match(
        "这|那|哪|你|他|她|一|同|我们|某|两|别|其|整|各|每|外|团队$|小组$|部门$|全部|内部|外部|局部|总部$",
        value,
    )
    return [] if generic or len(value) < 2 else [Found("user", "team", value)]


def _status(match: re.Match[str], _: Clause) -> list[Found]:
    name = re.sub("^(?:我们的?|咱们的?|公司的?|那个|这个|[，,])", "", match["s"]).strip()
    generic = re.fullmatch(
        "|这|那|本|该|整|哪|测试|新|老|旧|大|小|示例|上|下|另一个?|第.个|前端|后端|子|个|.*的", name
    )
    return [] if generic else [Found(name, "status", match["v"])]


_PATH: Final = r"(?P<v>(?:~|/|[A-Za-z]:\\)[\w.~/\\@+-]+)"
_MORE: Final = r"\s*(?:来?(?:写代码|写程序|编程|开发|工作|办公|做开发|写东西))?"

_SERVERS: Final = {
    "测试": "test server", "生产": "production server", "线上": "production server", "构建": "build server",
    "数据库": "database server", "邮件": "mail server", "备份": "backup server",
}  # fmt: skip


def _server(match: re.Match[str], _: Clause) -> list[Found]:
    """Read 测试服务器叫 lark."""
    return [Found("project", _SERVERS.get(match["p"] or "", "server"), bare(match["v"]))]


RULES: Final[tuple[Rule, ...]] = (
    _rule(rf"(?:你?可以|请|以后|就|直接)*叫我\s*(?P<v>[老小阿]{HAN}{{1,2}}|{HAN}{{2,3}}(?=就|即|吧)|[A-Z]\w*)(?:就行|就好|就可以|即可|就行了|吧)*", slot("user", "nickname"), importance=0.8),
    _rule(rf"我(?:刚|刚刚|已经|上周|上个月|最近|今年)?(?:跳槽|入职)(?:到|去|了)?了?\s*(?P<v>(?!一家|某|新){HAN}{{1,10}}(?:{ORGANISATIONS})|[A-Z]\w+)了?", slot("user", "employer"), importance=0.8, dated=True),
    _rule(rf"我(?:刚|刚刚|已经|最近)?(?:跳槽|入职)(?:到了?|去了?|了)\s*(?P<v>(?!一家|某|新|公司|单位|手续){HAN}{{2,6}}?)了?", lambda m, _: [] if _is_no_workplace(m["v"]) else [Found("user", "employer", m["v"])], importance=0.8, dated=True),
    _rule(rf"我{_NOW}在\s*(?P<v>{HAN}{{2,6}})\s*(?:工作|上班|任职|就职)", _work_place, importance=0.8, dated=True),
    _rule(rf"我{_NOW}在\s*(?P<v>{HAN}{{1,6}}?(?:组|团队|部门|部))(?:工作|上班)?", _team, importance=0.6, dated=True),
    _rule(rf"我的?(?:直属|新|直接)*(?:经理|上司|老板|主管|领导)(?:现在)*(?:是|叫|名叫|换成了?)\s*(?P<v>{PERSON})了?", slot("user", "manager"), importance=0.7, dated=True),
    _rule(rf"我的?(?:新)?(?:电话|手机)(?:号码?)?{_ASKS}\s*(?P<v>[+\d][\d -]{{5,18}}\d)\s*了?", slot("user", "phone"), importance=0.6),
    _rule(r"(?:我的?)?新(?:的)?(?:手机|电话)?号码?(?:是|为|：|:)\s*(?P<v>[+\d][\d -]{5,18}\d)", slot("user", "phone"), importance=0.6),
    _rule(rf"(?P<s>{HAN}{{1,10}}|[A-Za-z][\w-]*)\s*项目(?:已经|刚|终于|正式|被|都)*(?P<v>结束|完成|完工|取消|暂停|上线|终止|搁置|下线|验收|交付)了", _status, importance=0.6, dated=True),
    _rule(rf"我的?时区{_ASKS}\s*(?P<v>[A-Za-z][\w/+: -]{{2,29}}?|东{HAN}{{1,2}}区|北京时间)\s*了?", slot("user", "timezone"), importance=0.7),
    _rule(r"我的?(?:工作|私人|新)?(?:电子)?(?:邮箱|邮件)(?:地址)?" + _ASKS + r"\s*(?P<v>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)\s*了?", slot("user", "email"), importance=0.7),
    _rule(rf"我{_NOW}(?:用|使用|在用)(?:的(?:编辑器|终端|系统|浏览器|数据库)?是|的)?\s*(?P<v>(?i:{NAMED})(?: \d[\w.]*)?){_MORE}", tool),
    _rule(rf"我的?(?:主力|默认)?(?:编辑器|终端|系统|操作系统|电脑|shell|浏览器|笔记本)(?:是|用的是|装的是)\s*(?P<v>(?i:{NAMED})(?: \d[\w.]*)?)", tool),
    _rule(r"我(?:已经|刚|现在)*(?:把)?(?:我?的)?(?P<p>编辑器|终端|操作系统|系统|浏览器|shell|数据库)(?:已经|刚|现在)*(?:换成|改成|改用|换到|换为)了?\s*(?P<v>[A-Za-z][\w.+ -]{1,28}?)\s*了?", lambda m, _: [Found("user", m["p"], bare(m["v"]))] if usable(bare(m["v"]), 30) else [], dated=True),
    _rule(rf"我(?:已经|刚|现在|最近)*(?:从\s*[^，,。]{{2,20}}?)?(?:换|切换|迁移|转|改用|换成)(?:到|成)?了?\s*(?P<v>(?i:{NAMED}))\s*了?", tool, dated=True),
    _rule(rf"(?:我们|咱们|团队|项目)(?:已经|刚|现在|最近)*从\s*(?P<o>[A-Za-z][A-Za-z0-9.+#-]*(?: [A-Za-z0-9.+#-]+)?|{HAN}{{2,3}}云)\s*(?:全面|统一)?(?:换|切换|迁移|转|迁|搬)(?:成|到|为)了?\s*(?P<v>[A-Za-z][A-Za-z0-9.+#-]*(?: [A-Za-z0-9.+#-]+)?|{HAN}{{2,3}}云)\s*了?", _switched, dated=True),
    _rule(rf"(?:我们|咱们|我们项目|团队|项目|这个项目|本项目|这个仓库|本仓库)(?:里|这边|这里)?{_NOW}统?一?(?:改|换)?(?:用|使用|采用)的?是?\s*(?P<v>(?i:{NAMED}))\s*了?", _used, dated=True),
    _rule(DEPLOYED, host, dated=True),
    _rule(rf"(?P<who>我们项目|我们|我|项目|这个项目|本项目|这个仓库|本仓库|团队)的?{_NOW}(?:是|用|使用|在用|跑在|跑的是)(?:的是)?\s*(?P<t>(?i:{VERSIONED}))\s*(?P<v>{VERSION})(?:了)?", _version, dated=True),
    _rule(rf"(?:(?P<who>我们|我|项目)(?:已经|刚)?)?(?:把)?\s*(?P<t>(?i:{VERSIONED}))\s*(?:版本)?(?:已经|刚)?从\s*{VERSION}\s*(?:升级|升|换|迁移|更新|切换?)(?:到|成|为)了?\s*(?P<v>{VERSION})\s*了?", _version, dated=True),
    _rule(rf"(?P<who>我们|我|项目)(?:已经|刚)*从\s*(?P<t>(?i:{VERSIONED}))\s*{VERSION}\s*(?:升级|升|换|迁移|更新|切换?)(?:到|成|为)了?\s*(?:(?i:{VERSIONED})\s*)?(?P<v>{VERSION})\s*了?", _version, dated=True),
    _rule(rf"(?:我们|项目|这个项目|本项目)的?\s*(?P<t>(?i:{VERSIONED}))\s*(?:的)?版本(?:是|为)\s*(?P<v>{VERSION})", _version),
    _rule(rf"(?:我们项目的?|我们的?|项目的?|这个项目的?)?(?P<p>{_OURS})(?:已经|现在)?(?:统一)?(?:是|用的是|用|使用|换成了?|改成了?|改为)\s*(?P<v>[A-Za-z][\w.+ -]{{1,28}})了?", _ours, dated=True),
    _rule(r"(?:开会|会上|大家|团队)?(?:我们|咱们|团队|大家)?(?:开会|最后|最终|已经|一致|都|还是)*(?:决定|商定|敲定|选定|选择了?)了?(?P<v>[^，,。？?]{2,80})", lambda m, c: _decision(m, c) if re.match("(?:最后|最终)?[，,]?(?:开会|会上|大家|团队|我们|咱们)", c.sentence) and not m["v"].startswith(("了", "其", "一个", "的")) else [], agent=True, importance=0.7),
    _rule(r"(?:最终)?决定[：:]\s*(?P<v>[^？?]{2,80})", _decision, whole=True, agent=True, importance=0.7),
    _rule(r"(?:那|我们|咱们)?就(?P<v>(?:用|选|按)\s*[A-Za-z][^，,。]{1,30}?)吧", _decision, importance=0.6),
    _rule(r"(?:.*?定下来了|.*?说好了|.*?确定了)[，,：:](?P<v>(?=.*(?:用|采用|统一|不再|支持|改成|改为|选))[^？?]{3,80})", lambda m, c: [] if re.search("我(?!们)", c.text[:12]) else _decision(m, c), whole=True, importance=0.6),
    _rule(r"(?:请)?(?:以后|今后|往后)?(?P<v>(?:(?:如果|要是|只要|当)我?(?:问到|问起|问|谈到|说到|提到|聊到)[^，,。？?]{1,24}?[，,]|(?:每次|每当|如果|要是|只要|当)?(?:我|你|给我|帮我)*(?:问到|问起|问|谈到|说到|提到|聊到|推荐|写|回答|回复|翻译|总结|解释|介绍)[^，,。？?]{1,24}?(?:的时候|时)[，,]?)(?:请|就|都|也)*(?:请|都|要|一律|必须|务必|不要|别|统一)[^，,。？?]{2,60})", _when_asked, type="rule", whole=True, importance=0.8, priority="permanent"),
    _rule(r"(?:请)?(?:以后|今后|往后)[，,]?(?P<v>(?:如果|要是|只要|当|每次)?我?(?:问到|问起|问|谈到|说到|提到|聊到|推荐|写|回答|翻译|总结|解释|介绍)[^，,。？?]{1,24}?(?:的时候|时)[，,]?(?![^，,]{0,8}[我大您人们])[^，,。？?]{1,8}?(?:都|一律|统一|全部)(?:要|请|得)?(?:用|按|以|写|换算|标|给|列|加|附|换|带)[^，,。？?]{1,40})", _when_asked, type="rule", whole=True, importance=0.8, priority="permanent", standing=True),
    _rule(r"(?P<v>[^，,。？?我你他她]{2,12}?(?:请|都|要)*(?:一律|统一|必须|务必)(?:要|得)?(?:用|写|使用|加上?|按照?)[^，,。？?]{1,40})", _standing, type="rule", importance=0.8, priority="permanent"),
    _rule(r"(?:请)?(?:以后|今后|从现在起|从现在开始|从今以后|往后|从今天起)[，,]?(?:请|你|都|就|要|必须|务必)*(?P<v>[^，,。？?]{3,80}(?:[，,](?:最多|至多|不超过|不要超过|别超过|至少|最少|控制在|限制在|遵循|遵守|并且?|同时|而且|用(?:中|英|日|法|德|俄|韩|粤)[文语]|按照?|不要|别)[^，,。？?]{0,40})?)", lambda m, c: _standing(m, c) if not re.search("[他她]", c.sentence) else [], type="rule", importance=0.8, priority="permanent"),
    _rule(r"(?:请)?(?P<v>(?:永远|始终|一律|务必|总是|绝对|绝不|严禁|禁止)(?!这样|是)[^，,。？?]{3,80})", _standing, type="rule", importance=0.8, priority="permanent"),
    _rule(r"(?:请)?(?P<v>(?:不要|别)再(?:用|使用|说|写|叫我|给我|发|加|重复|自动|主动|建议|推荐|问我|提)[^，,。？?]{1,30}?)了?", _standing, type="rule", importance=0.8, priority="permanent"),
    _rule(rf"请(?:一直|全程|默认)(?:都)?(?P<v>(?:用|使用|说|讲)\s*(?:{LANGUAGES})(?:来)?(?:回复|回答|答复|交流|沟通|对话)?(?:我)?)", lambda m, _: [Found("user", "language", one) for one in re.findall(LANGUAGES, m["v"])[:1]], type="rule", importance=0.8, priority="permanent"),
    _rule(r"(?:请)?(?P<v>[^，,。？?]{2,30}?(?:之前|以前|之后|前|后)(?:一定|必须|务必|都|总(?=是|要|得))(?:要|得)?[^，,。？?]{2,60})", _standing, type="rule", importance=0.8, priority="permanent"),
    _rule(r"(?:请)?(?P<v>(?:每次|每个|所有|凡是|任何)[^，,。？?]{1,30}?(?:都要|都必须|必须|一定要|务必|不得|不能|不许|都得)[^，,。？?]{2,60})", _standing, type="rule", importance=0.8, priority="permanent"),
    _rule(r"(?:请)?(?:记住|牢记|记得)[，,：:]\s*(?P<v>(?=.*(?:所有|每次|每个|都要|必须|一律|不要|任何)).{4,80})", _standing, type="rule", whole=True, importance=0.8, priority="permanent"),
    _rule(rf"(?:我们的?|项目的?)?(?P<p>[\u4e00-\u9fffA-Za-z]{{2,10}}?)(?:都)?(?:在|放在|位于|是|存在|保存在)\s*{_PATH}(?:里|下|下面|目录下|中)?", _path),
    _rule(r"(?:我们的?|项目的?)?(?P<p>测试|生产|线上|构建|数据库|邮件|备份)?(?:环境)?的?服务器(?:现在|已经)*(?:叫做?|名叫|的?名字(?:是|叫)|改名(?:叫|为|成)|改叫)了?\s*(?P<v>[A-Za-z][\w.-]{1,28})\s*(?:了|，.*)?", _server, dated=True),
    _rule(r"(?:我们的?|项目的?)?(?P<p>测试|构建|部署|启动|发布|检查|格式化|运行)命令(?:是|为|用)\s*(?P<v>`[^`]{2,80}`|[\w./-]+(?: [\w./=-]+){0,5})", lambda m, _: [Found("project", {"测试": "test command", "构建": "build command", "部署": "deploy command"}.get(m["p"], m["p"] + "命令"), m["v"].strip("` "))]),
)  # fmt: skip
