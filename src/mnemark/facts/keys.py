"""Normalize subjects and predicates to keys, independent of case, number, language and synonyms.

`name`, `Names`, `my name`, `名字` and `姓名` have one key; a word not in the table is its own key. Keys are
only compared: files keep the words as written.
"""

from collections.abc import Mapping
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Final

from mnemark.facts.kinds import MANY, MANY_ZH, NAMES, chosen, of_singulars, one_of_many, widened
from mnemark.facts.values import twin_key
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import HAN, fold, normalize

_SYNONYMS: Final = {
    "name": "full name, real name, is called, called, named, 名字, 姓名, 名, 叫, 全名, 名称",
    "nickname": "nick name, goes by, 昵称, 外号, 小名",
    "city": "lives in, live in, living in, resides in, residence, home city, current city, "
    "city of residence, based in, moved to, "
    "住在, 居住地, 城市, 所在城市, 居住城市, 现居, 现居地, 常住地, 住址城市, 搬到",
    "country": "nation, 国家, 所在国家",
    "address": "home address, postal address, 地址, 住址, 家庭住址",
    "hometown": "home town, is from, comes from, grew up in, 家乡, 老家, 籍贯, 来自",
    "email": "e mail, mail, email address, e mail address, mail address, 邮箱, "
    "电子邮箱, 电子邮件, 邮件地址, 邮箱地址",
    "phone": "phone number, telephone, telephone number, mobile, mobile number, mobile phone, cell phone, "
    "电话, 手机, 手机号, 电话号码, 手机号码, 联系电话",
    "birthday": "birth date, birthdate, date of birth, born on, dob, 生日, 出生日期, 出生",
    "age": "years old, 年龄, 岁数",
    "gender": "sex, 性别",
    "job": "occupation, profession, job title, work as, works as, role, position, "
    "职业, 工作, 职位, 岗位, 职务",
    "employer": "company, works at, work at, works for, work for, workplace, 公司, "
    "雇主, 单位, 就职于, 工作单位, 就职公司",
    "team": "works in team, 团队, 小组",
    "manager": "boss, supervisor, 经理, 上司, 主管, 老板",
    "spouse": "wife, husband, partner, married to, girlfriend, boyfriend, 配偶, 妻子, 丈夫, "
    "老婆, 老公, 爱人, 伴侣, 女朋友, 男朋友",
    "language": "preferred language, reply language, response language, language preference, "
    "语言, 首选语言, 回复语言, 使用语言",
    "dentist": "牙医",
    "doctor": "family doctor, gp, physician, 医生, 家庭医生, 私人医生",
    "lawyer": "attorney, solicitor, 律师",
    "accountant": "tax accountant, 会计, 税务会计",
    "landlord": "landlady, 房东, 房东太太",
    "therapist": "心理医生, 心理咨询师, 治疗师",
    "mentor": "导师",
    "vet": "veterinarian, 兽医",
    "coach": "trainer, personal trainer, 教练, 私教, 私人教练, 健身教练",
    "tutor": "家教",
    "nanny": "babysitter, 保姆",
    "hairdresser": "hair stylist, hairstylist, barber, 理发师, 发型师",
    "realtor": "real estate agent, 中介, 房产中介",
    "hosting": "hosted on, deployed on, deployed to, hosting provider, deployment target, "
    "部署, 部署在, 部署平台, 托管",
    "timezone": "time zone, tz, 时区, 所在时区",
    "editor": "code editor, text editor, ide, preferred editor, 编辑器, 代码编辑器, 文本编辑器",
    "shell": "terminal shell, default shell, 终端, 命令行",
    "os": "operating system, 操作系统, 系统",
    "python version": "python, python ver",
    "node version": "node, nodejs, node js, nodejs version, node js version",
    "database": "db, database engine, 数据库",
    "package manager": "包管理器, 包管理工具",
    "branch": "default branch, main branch, 分支, 默认分支, 主分支",
    "ci": "ci system, continuous integration, 持续集成, 流水线",
    "linter": "lint tool, 代码检查, 代码检查工具",
    "formatter": "code formatter, formatting tool, 格式化工具, 代码格式化工具",
    "type checker": "类型检查, 类型检查工具",
    "test framework": "test runner, testing framework, 测试框架",
    "build tool": "build system, 构建工具",
    "backend framework": "后端框架",
    "frontend framework": "前端框架",
    "issue tracker": "bug tracker, ticket system, 需求管理, 任务管理, 缺陷管理",
    "deploy branch": "deployment branch, 部署分支",
    "release branch": "发布分支",
    "branch names": "branch name, branch naming, branch prefix, 分支命名, 分支名",
    "indentation": "indent, 缩进",
    "quotes": "quote style, 引号",
    "line length": "max line length, maximum line length, line width, 行宽",
    "test command": "测试命令",
    "build command": "构建命令",
    "lint command": "检查命令",
    "format command": "格式化命令",
    "deploy command": "部署命令",
    "server": "server name, 服务器",
    "dev server command": "开发服务器命令",
    "migrations path": "migration path, 数据库迁移路径, 迁移路径",
    "docs path": "documentation path, 文档路径",
    "tests path": "test path, 测试路径",
    "secrets path": "密钥路径",
    "config path": "configuration path, 配置路径",
    "generated code path": "生成的代码路径",
    "repository": "repo, git repository, git repo, 仓库, 代码仓库",
    "license": "licence, 许可证, 许可",
    "deadline": "due date, due, due by, 截止日期, 截止时间, 期限, 截止",
    "release date": "released on, launch date, 发布日期, 发布日, 上线日期, 上线时间",
    "status": "state, 状态",
    "budget": "预算",
    "diet": "饮食, 饮食习惯, 忌口",
    "health": "health condition, health conditions, medical condition, conditions, illness, 健康, "
    "健康状况, 疾病, 病史",
    "marital status": "relationship status, 婚姻状况, 婚姻, 感情状况",
    "nationality": "citizenship, 国籍",
    "school": "university, college, studied at, graduated from, alma mater, 学校, 毕业院校, 大学, 母校",
    "degree": "education, education level, 学历, 学位, 教育背景, 文化程度",
    "major": "field of study, studies, studied, 专业, 主修",
    "parents": "parent, 父母, 爸妈",
    "siblings": "sibling, brother, sister, brothers, sisters, 兄弟姐妹, 兄弟, 姐妹",
    "possessions": "possession, owns, belongings, 拥有, 物品, 财物",
    "car": "vehicle, drives, 车, 汽车, 座驾",
    "instruments": "instrument, plays instrument, musical instruments, 乐器",
    "habits": "habit, routine, 习惯, 生活习惯",
    "plans": "plan, planning, 计划, 打算",
    "purchases": "purchase, bought, 购买, 买了",
    "religion": "faith, 宗教, 宗教信仰",
    "beliefs": "belief, 信念, 信仰",
    "relation": "relationship, relation to user, 关系",
    "height": "身高",
    "personality": "personality type, mbti, 性格",
    "zodiac": "star sign, zodiac sign, 生肖, 属相, 星座",
    "blood type": "blood group, 血型",
    "favorite color": "favourite color, favourite colour, favorite colour, 最喜欢的颜色, 喜欢的颜色",
    "favorite food": "favourite food, favorite dish, 最喜欢的食物, 喜欢的食物, 最喜欢的菜, 最爱吃的",
    "favorite drink": "favourite drink, 最喜欢的饮料",
    "favorite fruit": "favourite fruit, 最喜欢的水果",
    "favorite season": "favourite season, 最喜欢的季节",
    "favorite music": "favourite music, favorite genre, 最喜欢的音乐",
    "favorite movie": "favourite movie, favorite film, favourite film, 最喜欢的电影",
    "favorite book": "favourite book, 最喜欢的书",
    "favorite sport": "favourite sport, 最喜欢的运动",
    "favorite singer": "favourite singer, favorite musician, 最喜欢的歌手",
    "favorite band": "favourite band, 最喜欢的乐队",
    "favorite city": "favourite city, 最喜欢的城市",
    "favorite animal": "favourite animal, 最喜欢的动物",
    "favorite author": "favourite author, 最喜欢的作家",
    "favorite actor": "favourite actor, 最喜欢的演员",
    "favorite game": "favourite game, 最喜欢的游戏",
    "favorite activity": "favourite activity, 最喜欢的活动",
    "favorite hobby": "favourite hobby, 最喜欢的爱好",
    "favorite character": "favourite character, 最喜欢的角色",
    "region": "state or province, province, 省份, 州",
    "sports": "sport, plays sport, 运动项目",
    "likes": "like, loves, love, enjoys, enjoy, is fond of, 喜欢, 喜爱, 爱好是",
    "dislikes": "dislike, hates, hate, does not like, doesn t like, 不喜欢, 讨厌",
    "hobbies": "hobby, interest, interests, 爱好, 兴趣, 兴趣爱好",
    "allergies": "allergy, allergic to, is allergic to, 过敏, 对什么过敏, 过敏原",
    "members": "member, 成员, 团队成员, 队员",
    "children": "child, kids, kid, son, daughter, 孩子, 子女, 儿子, 女儿",
    "pets": "pet, 宠物",
    "friends": "friend, 朋友, 好友",
    "aliases": "alias, also known as, aka, 别名, 又名",
    "tags": "tag, 标签",
    "appointments": "appointment, meeting, meetings, 约会, 会议, 预约",
}

_TRANSLATIONS: Final = {
    "test server": "测试服务器, 测试环境服务器",
    "staging server": "预发布服务器, 预发服务器, 预生产服务器",
    "production server": "生产服务器, 线上服务器, 生产环境服务器, 正式服务器",
    "build server": "构建服务器",
    "database server": "数据库服务器",
    "mail server": "邮件服务器",
    "backup server": "备份服务器",
    "unit test command": "单元测试命令, 单测命令",
    "integration test command": "集成测试命令",
    "e2e test command": "端到端测试命令",
    "check command": "全部检查命令",
    "type check command": "类型检查命令",
    "release command": "发布命令, 发版命令",
    "migrate command": "迁移命令, 数据库迁移命令",
    "start command": "启动命令",
    "frontend start command": "前端启动命令",
    "backend start command": "后端启动命令",
    "docs build command": "文档构建命令",
    "code generation command": "代码生成命令",
    "e2e test framework": "端到端测试框架",
    "logging": "日志工具",
    "monitoring": "监控工具",
    "error tracking": "错误追踪工具, 错误上报工具",
    "cache": "缓存",
    "job queue": "任务队列",
    "message queue": "消息队列",
    "state management": "状态管理工具",
    "styling": "样式工具",
    "migration tool": "迁移工具, 数据库迁移工具",
    "documentation tool": "文档工具",
    "feature flags": "功能开关工具",
    "secrets manager": "密钥管理工具",
    "authentication": "登录认证, 身份认证",
    "code review": "代码评审工具",
    "version control": "版本控制工具",
    "infrastructure tool": "基础设施工具",
    "search": "搜索工具",
    "orm": "orm框架",
    "validation": "数据校验工具",
    "chat tool": "聊天工具",
    "design tool": "设计工具",
    "release tool": "发布工具",
    "client": "客户端",
    "frontend": "前端",
    "backend": "后端",
}
"""Chinese names of predicates that a question in English may name by some of their words."""

_SUBJECTS: Final = {
    "user": "the user, me, i, myself, owner, the owner, my, 用户, 我, 本人, 主人, 自己",
    "agent": "assistant, the assistant, the agent, you, yourself, ai, 助手, 助理, 你, 智能体",
    "mother": "mom, mum, mommy, 妈妈, 母亲, 妈, 老妈, 我妈",
    "father": "dad, daddy, 爸爸, 父亲, 爸, 老爸, 我爸",
    "parents": "my parents, 父母, 爸妈, 我爸妈",
    "wife": "妻子, 老婆, 太太, 媳妇",
    "husband": "丈夫, 老公",
    "girlfriend": "女朋友, 女友",
    "boyfriend": "男朋友, 男友",
    "son": "儿子",
    "daughter": "女儿, 闺女",
    "sister": "姐姐, 妹妹, 姐, 妹",
    "brother": "哥哥, 弟弟, 哥, 弟",
    "grandmother": "grandma, granny, 奶奶, 外婆, 姥姥, 祖母",
    "grandfather": "grandpa, 爷爷, 外公, 姥爷, 祖父",
    "project": "the project, this project, our project, 项目, 本项目, 这个项目, 该项目",
}

_LEADING: Final = lazy_pattern(
    r"^(?:(?:my|our|your|his|her|their|the|a|an|this|is|are|was|has|have|prefers?|preferred|current|user s|"
    r"users s|owner s)\s+)+(?=\S)"
)
_LEADING_ZH: Final = lazy_pattern(r"^(?:(?:我们|用户|我|本人|当前|目前|现在)的?)(?=[\u3400-\u9fff])")
_VERSION_OF: Final = lazy_pattern(r"^version of (?P<of>.+)$|^(?P<zh>.+?) ?(?:的 ?)?(?:版本|版本号)$")
_CAMEL: Final = lazy_pattern(r"(?<=[a-z0-9])(?=[A-Z])")
_SEPARATORS: Final = lazy_pattern(r"(?:[^\w+#.]|_)+")
_ES: Final = lazy_pattern(r"(?:s|x|z|ch|sh)es$")
_NOT_PLURAL: Final = lazy_pattern(r"(?:ss|us|is|[^a-z]s)$|^.{0,3}$")
_SINGULAR: Final = frozenset(
    (  # noqa: SIM905 - a list of this length reads as words
        "news series species status address business process access os ios lens bus dns"
    ).split()
)

_MAX_ROUNDS: Final = 8


def _table(groups: dict[str, str]) -> dict[str, str]:
    found = {key: key for key in groups}
    for key, words in groups.items():
        found |= {plain_words(word): key for word in words.split(", ") if word}
    return found


def plain_words(text: str) -> str:
    """Return the words in lower case with single blanks, without Markdown and punctuation."""
    return _SEPARATORS.sub(" ", normalize(_CAMEL.sub(" ", fold(text)))).strip(" .")


def singular(word: str) -> str:
    """Return the singular of an English word by its ending; a word that only looks like a plural is kept.

    >>> [singular(word) for word in ("cities", "boxes", "editors", "status", "class")]
    ['city', 'box', 'editor', 'status', 'class']
    """
    if not word.endswith("s") or word in _SINGULAR or not word.isascii() or _NOT_PLURAL.search(word):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if _ES.search(word) else word[:-1]


@cache
def predicate_names() -> Mapping[str, str]:
    """Return the keys of predicates by all their names, in both languages."""
    return MappingProxyType({**of_singulars(), **_table(NAMES), **_table(_SYNONYMS)})


@cache
def translated_names() -> Mapping[str, str]:
    """Return the keys of predicates that a question may name by some of their words, by Chinese names."""
    pairs = ((name, key) for key, names in _TRANSLATIONS.items() for name in names.split(", "))
    return MappingProxyType({plain_words(name): key for name, key in pairs})


@cache
def _all_names() -> Mapping[str, str]:
    return MappingProxyType({**translated_names(), **predicate_names()})


@cache
def subject_names() -> Mapping[str, str]:
    """Return the keys of common subjects by all their names."""
    return MappingProxyType(_table(_SUBJECTS))


@lru_cache(maxsize=32_768)
def predicate_key(predicate: str) -> str:
    """Return the key of a predicate; empty if it has no words.

    >>> {predicate_key(word) for word in ("City", "lives_in", "居住地", "my city", "cities", "**住在**")}
    {'city'}
    >>> predicate_key("version of Python") == predicate_key("Python 版本") == predicate_key("pythonVersion")
    True
    """
    key, known = plain_words(predicate), _all_names()
    if key not in known and (one := one_of_many(key)):
        return one
    key = chosen(key) or key
    for _ in range(_MAX_ROUNDS):  # "the boxes' sizes" settles in a few; the bound is for safety only
        words, forms = key, _forms(key)
        unknown = words if _natural_plural(words) else widened(forms[-1])
        key = next((known[form] for form in forms if form in known), unknown)
        if key == words:
            break
    return key


def _forms(words: str) -> list[str]:
    """Return the spellings to look up, the most literal first."""
    short = _LEADING_ZH.sub("", _LEADING.sub("", words))
    found = [words, short, _singular_phrase(words)]
    if short != words:
        found.append(_singular_phrase(short))
    if match := _VERSION_OF.match(short):
        found.append(f"{(match['of'] or match['zh']).strip()} version")
    return found


def _singular_phrase(words: str) -> str:
    before, space, last = words.rpartition(" ")
    return words if _natural_plural(words) else f"{before}{space}{singular(last)}"


def _natural_plural(words: str) -> bool:
    return words.rpartition(" ")[2] in MANY


@lru_cache(maxsize=32_768)
def subject_key(subject: str) -> str:
    """Return the key of a subject: `User`, `the user`, `me`, `我` and `用户` are one.

    >>> subject_key("用户") == subject_key("Me") == "user"
    True
    """
    words = plain_words(subject)
    bare = _LEADING.sub("", words)
    known = subject_names()
    return known.get(words) or known.get(bare) or bare or normalize(subject).strip()


@lru_cache(maxsize=32_768)
def holds_many(predicate: str) -> bool:
    """Whether a predicate holds several values at once: statements, and kinds of which one has many.

    >>> [holds_many(name) for name in ("喜欢", "rule", "coding rule", "team members", "")]
    [True, True, True, True, True]
    >>> [holds_many(name) for name in ("city", "current project", "editor preference")]
    [False, False, False]
    """
    key = predicate_key(predicate)
    return not key or _natural_plural(key) or (key.endswith(MANY_ZH) and not one_of_many(key))


def value_key(value: str) -> str:
    """Return the key by which values are compared: that of its words, and of its twin in the other language.

    >>> value_key("Peanuts.") == value_key("花生")
    True
    """
    return twin_key(value_words(value))


def value_words(text: str) -> str:
    """Return the words of a value or text: one width and case, single blanks, no full stop at the end.

    >>> value_words("Visual  Studio Code.") == value_words("visual studio code")
    True
    """
    return " ".join(normalize(text).split()).rstrip(".。! ")


_FILLERS: Final = frozenset(
    (  # noqa: SIM905 - a list of this length reads as words
        "a an the i me my mine we us our am is are was were be been do does did have has had ve m s d ll "
        "re also just really very quite so too actually currently now still already well and that to of "
        "in at on for"
    ).split()
)
"""Words without which a statement says the same: no negation, no number, nothing that turns it round."""
_FILLERS_ZH: Final = lazy_pattern(
    "[我的了也很还呢啊呀吧哦是啦]|现在|其实|一直|已经|目前|真的|非常|特别|个|只|名|位|在|，"
)
_WORD: Final = lazy_pattern(r"[\w+#]+(?:\.[\w+#]+)*")
_BY_ORDER: Final = lazy_pattern(
    r"\b(?:than|before|after|from|by|over|instead|rather|not|never|no|without|but|if|because)\b|n't\b"
)
"""Words with which the order of the others matters."""


@lru_cache(maxsize=32_768)
def statement_key(statement: str) -> str:
    """Return the key of a statement: its words without fillers, in any order unless it matters.

    >>> statement_key("I have two cats") == statement_key("Also, I really have two cats!")
    True
    >>> statement_key("Ann taught Bob") == statement_key("Bob taught Ann")
    False
    """
    text = value_words(statement)
    if HAN.search(text):
        return "".join(_WORD.findall(_FILLERS_ZH.sub("", text)))
    words = [singular(word) for word in _WORD.findall(text) if word not in _FILLERS]
    names = [
        word for word in _WORD.findall(statement) if word[:1].isupper() and word.casefold() not in _FILLERS
    ]
    ordered = len(names) > 1 or _BY_ORDER.search(text)
    return " ".join(words if ordered else sorted(words)) or text


def content_key(predicate: str, value: str) -> str:
    """Return the key of the value of a predicate, or of a statement if the predicate is empty."""
    return value_key(value) if predicate_key(predicate) else statement_key(value)
