"""Define the Chinese rules that extract lasting facts, measured by `tests/data/extraction`."""

import re
from typing import Any, Final

from mnemark.text.extraction.candidate import (
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
    many,
    slot,
    tool,
    usable,
)
from mnemark.text.lazy_pattern import lazy_pattern

_HAN: Final = r"[\u4e00-\u9fff]"
_JOBS: Final = (
    "工程师|设计师|产品经理|项目经理|经理|医生|护士|老师|教师|律师|会计|学生|研究生|研究员|程序员|分析师|记者|编辑|"
    "翻译|厨师|司机|教授|架构师|科学家|顾问|摄影师|药剂师|公务员|作家|画家|运营|创始人|牙医|飞行员|建筑师|主管"
)
_ORGANISATION: Final = (
    "公司|科技|网络|集团|银行|大学|医院|学校|软件|研究院|研究所|传媒|证券|资本|电子|汽车|学院|实验室|中学|小学|出版社|"
    "电视台|报社|工作室|事务所"
)
_REGIONS: Final = (
    "北京|上海|天津|重庆|河北|山西|辽宁|吉林|黑龙江|江苏|浙江|安徽|福建|江西|山东|河南|湖北|湖南|广东|海南|四川|贵州|"
    "云南|陕西|甘肃|青海|台湾|内蒙古|广西|西藏|宁夏|新疆|香港|澳门|杭州|南京|苏州|成都|武汉|西安|广州|深圳|青岛|大连|"
    "厦门|宁波|长沙|郑州|沈阳|温州|绍兴"
)
_LANGUAGES: Final = (
    "中文|英文|英语|汉语|普通话|粤语|日语|日文|法语|法文|德语|德文|西班牙语|韩语|俄语|葡萄牙语|意大利语|闽南语|"
    "上海话|四川话|阿拉伯语|繁体中文|简体中文|双语"
)
_ANSWER: Final = (
    rf"(?:用|使用|说|讲)\s*(?P<v>{_LANGUAGES})\s*(?:来)?(?:回复|回答|答复|交流|沟通|对话|跟我说|和我说|写)?"
)
_NOW: Final = "(?:现在|目前|如今|平时|一般|主要|通常|一直|都|已经|习惯|日常|平常|常)*"
_VERY: Final = "(?:很|非常|特别|最|比较|更|更加|一直|也|还|挺|超|超级|真的|其实)*"
_ONE_OFF: Final = lazy_pattern(
    "这次|这一次|就一次|今天|今晚|现在|这个|这张|这份|这段|这条|这里|这样|那个|那张|他们?|她们?|它|^先|再说|暂时|目前|刚才|"
    "上面|下面|吧$|你们"
)
_OURS: Final = (
    "数据库|包管理器|包管理工具|默认分支|主分支|许可证|测试框架|构建工具|消息队列|前端框架|后端框架|云服务商|"
    "代码格式化工具|缓存|编程语言"
)


def _rule(pattern: str, read: Read, **options: Any) -> Rule:
    lead = r"(?:(?:对了|嗯++|好的?|哦|那|另外|还有|顺便说一下|顺便|其实|你好|您好|注意|请记住|记一下|所以|然后|最后|最终|补充(?:一下)?|更新|更正|背景|备注|关于我|自我介绍)[，,：:、 ]*+)*"
    return Rule(re.compile(f"^{lead}{pattern}$"), read, **options)


def _place(match: re.Match[str], _: Clause) -> list[Found]:
    value = re.sub("(?:了|这边|那边|市区)$", "", bare(match["v"]))
    generic = re.search(
        "家里|公司|学校|宿舍|附近|隔壁|楼|酒店|医院|这|那|哪|还是|外面|一起|乡下|城里|国外|外地|路$|街$|道$|号$|小区|村$|苑$|园$|镇$|页|模块|文件",
        value,
    )
    return [] if generic or is_program(value) or not usable(value, 20) else [Found("user", "city", value)]


def _version(match: re.Match[str], _: Clause) -> list[Found]:
    own = match.groupdict().get("who") == "我"
    return [Found("user" if own else "project", f"{match['t'].lower()} version", match["v"])]


def _ours(match: re.Match[str], _: Clause) -> list[Found]:
    value = re.sub("(?:了|吧)$", "", bare(match["v"]))
    good = usable(value, 30) and not re.search("坏|慢|没|不|还|问题|错|满", value)
    return [Found("project", match["p"], value)] if good else []


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
    "日志|配置|数据|问我|确认|备份|发布|上线|脚本|变量|单位|称呼|叫我|语气|表情|表格|列表|引用|来源|中文|英文|代号|依赖|"
    "工单|标题|摘要|总结|链接|日期|时间格式|编码|缩进|空格|模板"
)


def _standing(match: re.Match[str], _: Clause) -> list[Found]:
    """Read a standing instruction, as opposed to a one-off request."""
    value = match["v"].strip().rstrip("。！! ，,")
    if not _WORK.search(value) or _ONE_OFF.search(value) or BLOT in value or not 4 <= len(value) <= 80:
        return []
    if re.search("您|一定会|保障|努力|呗|^(?:强调|建议|提醒)|[（(] *[）)]|担心|客气|见过|想过", value):
        return []
    if re.match("我|咱", value) and "我们" not in value:
        return []
    if answered := re.fullmatch(
        rf"(?:请|都|一律|始终|总是|永远|统一|全部|只|尽量|务必)*{_ANSWER}(?:我|吧|就行|即可)?(?:问题)?", value
    ):
        return [Found("user", "language", answered["v"])]
    return [Found("user", "rules", value)]


def _path(match: re.Match[str], _: Clause) -> list[Found]:
    vague = re.search("错误|问题|报错|这|那|哪|函数|代码$|bug|结果", match["p"])
    return [] if vague else [Found("project", f"{match['p']}路径", match["v"].rstrip(".,"))]


def _likes(predicate: str) -> Read:
    def read(match: re.Match[str], _: Clause) -> list[Found]:
        value = re.sub("(?:了|啦|的)$", "", bare(match["v"]))
        vague = len(value) < 2 or re.search("一个$|方案$|版本$|bug|[这那][个位]", value)
        return [Found("user", predicate, value)] if usable(value, 30) and not vague else []

    return read


_SURNAMES: Final = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪"
    "范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤"
)
PERSON: Final = rf"(?:(?:[{_SURNAMES}]|欧阳|司马|上官|诸葛)(?!个|是|不|在|座){_HAN}{{1,2}}|[小阿老]{_HAN}{{1,2}}|[A-Z][a-z]+(?: [A-Z][a-z]+)?)"
"""Pattern of a person's name: a surname and one or two characters, a nickname, or a Latin name."""
_NO_PLACE_OF_WORK: Final = lazy_pattern(
    f"^(?:{_REGIONS})|^(?:这|那|哪|一|某|新|外|家|你|他|她|公司|单位|学校|学院|大学|国外|外地|国内|线上|网上|平台)|"
    "(?:市|省|区|县|家|馆|店|厅|室|楼|上|里|下|边|前|后|中|组|团队|部门|部|方面|行业|期间|时候)$"
)
_ASKS: Final = "(?:现在|目前)*(?:是|在|为|改成了?|换成了?|变成了?|改为了?|换到了?)"


def _work_place(match: re.Match[str], clause: Clause) -> list[Found]:
    """Read an employer without a suffix like 公司, if the turn is an introduction or about a new job."""
    value = match["v"]
    told = re.search("换工作|跳槽|入职|我(?:的名字)?叫|我是", clause.turn)
    return [Found("user", "employer", value)] if told and not _NO_PLACE_OF_WORK.search(value) else []


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

RULES: Final[tuple[Rule, ...]] = (
    _rule(rf"我(?:的名字)?(?:叫做?|名叫|的名字是)\s*(?P<v>(?![了他她你它人车来去不着什啥醒停]|名字){_HAN}{{2,3}}|[A-Z]\w+)", slot("user", "name"), importance=0.9),
    _rule(rf"我?(?:的)?名字(?:是|叫)\s*(?P<v>{_HAN}{{2,4}}|[A-Z]\w+)", lambda m, _: [Found("user", "name", m["v"])] if m[0].lstrip("，, ").startswith("我") else [], importance=0.9),
    _rule(rf"(?:你?可以|请|以后|就|直接)*叫我\s*(?P<v>[老小阿]{_HAN}{{1,2}}|{_HAN}{{2,3}}(?=就|即|吧)|[A-Z]\w*)(?:就行|就好|就可以|即可|就行了|吧)*", slot("user", "nickname"), importance=0.8),
    _rule(rf"我{_NOW}(?:住在?|定居在?|常住在?|居住在|长住)\s*(?P<v>{_HAN}{{2,6}}|[A-Z]\w+(?: [A-Z]\w+)?)", _place, importance=0.8, dated=True),
    _rule(rf"我们?(?:家)?(?:刚|刚刚|已经|前几天|{_HAN}{{2,5}})?(?:从\s*[^，,。]{{2,8}}?)?搬到了?\s*(?P<v>{_HAN}{{2,6}}|[A-Z]\w+)\s*了?", lambda m, c: [] if re.search("可能|打算|计划|准备|想|要|考虑|明年|下", m[0]) else _place(m, c), importance=0.8, dated=True),
    _rule(rf"我{_NOW}在\s*(?P<v>{_HAN}{{2,6}}?|[A-Z]\w+)\s*(?:生活|定居|常住|居住)", _place, importance=0.8),
    _rule(rf"(?:我)?{_NOW}(?:是|当|做|担任)了?(?:一?[名个位])?\s*(?P<v>{_HAN}{{0,8}}(?:{_JOBS}))", lambda m, c: [Found("user", "job", m["v"])] if c.sentence.startswith("我") and not re.search("[他她你]|以前|曾经", c.sentence) and usable(m["v"], 14) else [], importance=0.8, dated=True),
    _rule(rf"我的?(?:职业|职位|工作|岗位)是\s*(?:一?[名个位])?(?P<v>{_HAN}{{2,12}})", slot("user", "job"), importance=0.8),
    _rule(rf"我{_NOW}在\s*[^，,。]{{2,12}}?(?:做|当|担任)\s*(?:一?[名个位])?(?P<v>{_HAN}{{0,6}}(?:{_JOBS}))", slot("user", "job"), importance=0.8),
    _rule(rf"我{_NOW}在\s*(?P<v>(?!一家|某|这|那){_HAN}{{1,10}}(?:{_ORGANISATION})|[A-Z]\w+)\s*(?:工作|上班|任职|就职)", slot("user", "employer"), importance=0.8),
    _rule(rf"我(?:刚|刚刚|已经|上周|上个月|最近|今年)?(?:跳槽|入职)(?:到|去|了)?了?\s*(?P<v>(?!一家|某|新){_HAN}{{1,10}}(?:{_ORGANISATION})|[A-Z]\w+)了?", slot("user", "employer"), importance=0.8, dated=True),
    _rule(rf"我(?:刚|刚刚|已经|最近)?(?:跳槽|入职)(?:到了?|去了?|了)\s*(?P<v>(?!一家|某|新|公司|单位|手续){_HAN}{{2,6}})", lambda m, _: [] if _NO_PLACE_OF_WORK.search(m["v"]) else [Found("user", "employer", m["v"])], importance=0.8, dated=True),
    _rule(rf"我{_NOW}在\s*(?P<v>{_HAN}{{2,6}})\s*(?:工作|上班|任职|就职)", _work_place, importance=0.8, dated=True),
    _rule(rf"我{_NOW}在\s*(?P<v>{_HAN}{{1,6}}?(?:组|团队|部门|部))(?:工作|上班)?", _team, importance=0.6, dated=True),
    _rule(rf"我的?(?:直属|新|直接)*(?:经理|上司|老板|主管|领导)(?:现在)*(?:是|叫|名叫|换成了?)\s*(?P<v>{PERSON})了?", slot("user", "manager"), importance=0.7, dated=True),
    _rule(rf"我的?(?:老婆|妻子|太太|爱人|老公|丈夫|先生|对象)(?:的名字)?(?:是|叫|名叫)\s*(?P<v>{PERSON})", slot("user", "spouse"), importance=0.7),
    _rule(r"我(?:今年|现在)*(?P<v>\d{1,2}|[一二三四五六七八九十]{1,3})岁了?", lambda m, _: [Found("user", "age", m["v"])], importance=0.5),
    _rule(rf"我的?(?:新)?(?:电话|手机)(?:号码?)?{_ASKS}\s*(?P<v>[+\d][\d -]{{5,18}}\d)\s*了?", slot("user", "phone"), importance=0.6),
    _rule(rf"(?P<s>{_HAN}{{1,10}}|[A-Za-z][\w-]*)\s*项目(?:已经|刚|终于|正式|被|都)*(?P<v>结束|完成|完工|取消|暂停|上线|终止|搁置|下线|验收|交付)了", _status, importance=0.6, dated=True),
    _rule(rf"我的?(?:老家|家乡)(?:在|是)\s*(?P<v>{_HAN}{{2,6}})", slot("user", "hometown")),
    _rule(rf"我是\s*(?P<v>{_REGIONS})人", slot("user", "hometown")),
    _rule(r"我的?生日(?:是|在)?\s*(?P<v>[^，,。]*[\d一二三四五六七八九十][^，,。]*[日号\d])", slot("user", "birthday", longest=20), importance=0.7),
    _rule(r"我对\s*+(?P<v>[^，,。\s][^，,。]{0,15}?)\s*+(?:严重)?过敏", many("user", "allergies", chinese=True), importance=0.9),
    _rule(r"我(?:现在|一直|是|只)*(?P<v>吃素|吃全素|吃清真|素食者|素食主义者|纯素)的?", lambda m, _: [Found("user", "diet", m["v"])], importance=0.8),
    _rule(rf"我的?时区{_ASKS}\s*(?P<v>[A-Za-z][\w/+: -]{{2,29}}?|东{_HAN}{{1,2}}区|北京时间)\s*了?", slot("user", "timezone"), importance=0.7),
    _rule(rf"我(?:会说|会讲|能说)\s*(?P<v>(?:{_LANGUAGES})(?:[、，和与及](?:{_LANGUAGES}))*)", many("user", "languages", chinese=True)),
    _rule(rf"我的?(?:女儿|儿子|孩子|闺女)(?:叫|的名字(?:是|叫))\s*(?P<v>{_HAN}{{2,4}})", slot("user", "children")),
    _rule(r"我(?:们)?(?:家)?有\s*(?P<v>[一两三四\d]个(?:孩子|女儿|儿子|小孩))", lambda m, _: [Found("user", "children", m["v"])]),
    _rule(rf"我(?:们)?家?(?:养了?|有)(?:一|两)?[只条个]{_HAN}{{1,4}}?[，,]?(?:名字)?叫\s*(?P<v>{_HAN}{{2,4}})", slot("user", "pets")),
    _rule(r"我的?(?:工作|私人|新)?(?:电子)?(?:邮箱|邮件)(?:地址)?" + _ASKS + r"\s*(?P<v>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)\s*了?", slot("user", "email"), importance=0.7),
    _rule(rf"我{_VERY}喜欢的\s*(?P<p>颜色|食物|水果|季节|音乐|电影|书|运动|歌手|城市)是\s*(?P<v>[^，,。]{{1,12}})", lambda m, _: [Found("user", f"最喜欢的{m['p']}", m["v"])] if usable(m["v"]) else [], type="preference"),
    _rule(rf"我{_VERY}(?:喜欢|喜爱|偏好|习惯于)(?!的)\s*(?P<v>[^，,。{BLOT}]{{2,30}})", _likes("likes"), type="preference"),
    _rule(rf"我{_VERY}爱(?P<v>[吃喝看听玩打跑写读画唱][^，,。{BLOT}]{{1,20}})", _likes("likes"), type="preference"),
    _rule(r"我的?(?:爱好|兴趣爱好|兴趣)(?:是|有)?\s*(?P<v>[^，,。]{2,30})", many("user", "hobbies", chinese=True)),
    _rule(rf"(?P<who>我)?{_VERY}(?:不太?喜欢|讨厌|反感|受不了|不爱)\s*(?P<v>[^，,。{BLOT}]{{2,30}})", lambda m, c: _likes("dislikes")(m, c) if c.sentence.startswith("我") else [], type="preference"),
    _rule(rf"我(?:从来|一向)?(?P<v>不[吃喝][^，,。{BLOT}]{{1,10}})", lambda m, _: [Found("user", "dislikes", m["v"][1:])] if not re.search("了$|不[吃喝](?:饭|早饭|午饭|晚饭|下)", m["v"]) else [], type="preference"),
    _rule(rf"我{_NOW}(?:用|使用|在用)(?:的(?:编辑器|终端|系统|浏览器|数据库)?是|的)?\s*(?P<v>(?i:{NAMED})(?: \d[\w.]*)?){_MORE}", tool),
    _rule(rf"我的?(?:主力|默认)?(?:编辑器|终端|系统|操作系统|电脑|shell|浏览器|笔记本)(?:是|用的是|装的是)\s*(?P<v>(?i:{NAMED})(?: \d[\w.]*)?)", tool),
    _rule(r"我(?:已经|刚|现在)*(?:把)?(?:我?的)?(?P<p>编辑器|终端|操作系统|系统|浏览器|shell|数据库)(?:已经|刚|现在)*(?:换成|改成|改用|换到|换为)了?\s*(?P<v>[A-Za-z][\w.+ -]{1,28}?)\s*了?", lambda m, _: [Found("user", m["p"], bare(m["v"]))] if usable(bare(m["v"]), 30) else [], dated=True),
    _rule(rf"我(?:已经|刚|现在|最近)*(?:从\s*[^，,。]{{2,20}}?)?(?:换|切换|迁移|转|改用|换成)(?:到|成)?了?\s*(?P<v>(?i:{NAMED}))\s*了?", tool, dated=True),
    _rule(rf"(?P<who>我们|我|项目|这个项目|本项目|团队)的?{_NOW}(?:是|用|使用|在用|跑在|跑的是)(?:的是)?\s*(?P<t>(?i:{VERSIONED}))\s*(?P<v>{VERSION})(?:了)?", _version, dated=True),
    _rule(rf"(?:(?P<who>我们|我|项目)(?:已经|刚)?)?(?:把)?\s*(?P<t>(?i:{VERSIONED}))\s*(?:版本)?(?:已经|刚)?从\s*{VERSION}\s*(?:升级|升|换|迁移|更新|切换?)(?:到|成|为)了?\s*(?P<v>{VERSION})\s*了?", _version, dated=True),
    _rule(rf"(?P<who>我们|我|项目)(?:已经|刚)*从\s*(?P<t>(?i:{VERSIONED}))\s*{VERSION}\s*(?:升级|升|换|迁移|更新|切换?)(?:到|成|为)了?\s*(?:(?i:{VERSIONED})\s*)?(?P<v>{VERSION})\s*了?", _version, dated=True),
    _rule(rf"(?:我们|项目|这个项目|本项目)的?\s*(?P<t>(?i:{VERSIONED}))\s*(?:的)?版本(?:是|为)\s*(?P<v>{VERSION})", _version),
    _rule(rf"(?:我们项目的?|我们的?|项目的?|这个项目的?)?(?P<p>{_OURS})(?:已经|现在)?(?:统一)?(?:是|用的是|用|使用|换成了?|改成了?|改为)\s*(?P<v>[A-Za-z][\w.+ -]{{1,28}})了?", _ours, dated=True),
    _rule(r"(?:开会|会上|大家|团队)?(?:我们|咱们|团队|大家)?(?:开会|最后|最终|已经|一致|都|还是)*(?:决定|商定|敲定|选定|选择了?)了?(?P<v>[^，,。？?]{2,80})", lambda m, c: _decision(m, c) if re.match("(?:最后|最终)?[，,]?(?:开会|会上|大家|团队|我们|咱们)", c.sentence) and not m["v"].startswith(("了", "其", "一个", "的")) else [], agent=True, importance=0.7),
    _rule(r"(?:最终)?决定[：:]\s*(?P<v>[^？?]{2,80})", _decision, whole=True, agent=True, importance=0.7),
    _rule(r"(?:那|我们|咱们)?就(?P<v>(?:用|选|按)\s*[A-Za-z][^，,。]{1,30}?)吧", _decision, importance=0.6),
    _rule(r"(?:.*?定下来了|.*?说好了|.*?确定了)[，,：:](?P<v>(?=.*(?:用|采用|统一|不再|支持|改成|改为|选))[^？?]{3,80})", _decision, whole=True, importance=0.6),
    _rule(r"(?:请)?(?:以后|今后|从现在起|从现在开始|从今以后|往后|从今天起)[，,]?(?:请|你|都|就|要|必须|务必)*(?P<v>[^，,。？?]{3,80})", lambda m, c: _standing(m, c) if not re.search("[他她]", c.sentence) else [], type="rule", importance=0.8, priority="permanent"),
    _rule(r"(?:请)?(?P<v>(?:永远|始终|一律|务必|总是|绝对|绝不|严禁|禁止)(?!这样|是)[^，,。？?]{3,80})", _standing, type="rule", importance=0.8, priority="permanent"),
    _rule(r"(?:请)?(?P<v>[^，,。？?]{2,30}?(?:之前|以前|之后|前|后)(?:一定|必须|务必|都|总)(?:要|得)?[^，,。？?]{2,60})", _standing, type="rule", importance=0.8, priority="permanent"),
    _rule(r"(?:请)?(?P<v>(?:每次|每个|所有|凡是|任何)[^，,。？?]{1,30}?(?:都要|都必须|必须|一定要|务必|不得|不能|不许|都得)[^，,。？?]{2,60})", _standing, type="rule", importance=0.8, priority="permanent"),
    _rule(r"(?:请)?(?:记住|牢记|记得)[，,：:]\s*(?P<v>(?=.*(?:所有|每次|每个|都要|必须|一律|不要|任何)).{4,80})", _standing, type="rule", whole=True, importance=0.8, priority="permanent"),
    _rule(rf"(?:我们的?|项目的?)?(?P<p>[\u4e00-\u9fffA-Za-z]{{2,10}}?)(?:都)?(?:在|放在|位于|是|存在|保存在)\s*{_PATH}(?:里|下|下面|目录下|中)?", _path),
    _rule(r"(?:我们的?|项目的?)?(?P<p>测试|构建|部署|启动|发布|检查|格式化|运行)命令(?:是|为|用)\s*(?P<v>`[^`]{2,80}`|[\w./-]+(?: [\w./=-]+){0,5})", lambda m, _: [Found("project", {"测试": "test command", "构建": "build command", "部署": "deploy command"}.get(m["p"], m["p"] + "命令"), m["v"].strip("` "))]),
)  # fmt: skip
