"""Name predicates for people, in English and Chinese, and tell what they are about.

Files and core memory show a predicate in the language of the person; it is stored under its own name, which
the comment of a bullet keeps.
"""

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Final

from mnemark.facts.keys import predicate_key, subject_key
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import HAN

_ROWS: Final = """\
name self 名字
nickname self 昵称
birthday self 生日
age self 年龄
gender self 性别
nationality self 国籍
height self 身高
blood type self 血型
zodiac self 星座/生肖
aliases self 别名
personality self 性格
phone self 电话
email self 邮箱
language self 首选语言
religion beliefs 信仰
beliefs beliefs 信念
marital status people 婚姻状况
spouse people 配偶
children people 孩子
parents people 父母
siblings people 兄弟姐妹
friends people 朋友
relation people 关系
pets pets 宠物
city home 城市
country home 国家
region home 省份
address home 地址
hometown home 家乡
timezone home 时区
job work 职业
employer work 公司
team work 团队
manager work 上司
dentist people 牙医
doctor people 医生
lawyer people 律师
accountant people 会计
landlord people 房东
therapist people 心理医生
mentor people 导师
vet people 兽医
coach people 教练
tutor people 家教
nanny people 保姆
hairdresser people 理发师
realtor people 中介
school study 学校
degree study 学历
major study 专业
health health 健康
allergies health 过敏
diet food 饮食
favorite food food 最喜欢的食物
favorite drink food 最喜欢的饮料
favorite fruit food 最喜欢的水果
likes tastes 喜欢
dislikes tastes 不喜欢
favorite color tastes 最喜欢的颜色
favorite season tastes 最喜欢的季节
favorite animal tastes 最喜欢的动物
favorite movie tastes 最喜欢的电影
favorite music tastes 最喜欢的音乐
favorite book tastes 最喜欢的书
favorite singer tastes 最喜欢的歌手
favorite band tastes 最喜欢的乐队
favorite sport leisure 最喜欢的运动
hobbies leisure 爱好
sports leisure 运动
habits habits 习惯
languages skills 会说的语言
skills skills 技能
instruments skills 乐器
possessions possessions 物品
purchases possessions 买过的东西
car possessions 车
plans plans 计划
goals plans 目标
appointments plans 预约
editor tools 编辑器
tools tools 工具
shell tools 终端
os tools 操作系统
browser tools 浏览器
database tools 数据库
package manager tools 包管理器
linter project 代码检查工具
formatter project 格式化工具
type checker project 类型检查工具
test framework project 测试框架
build tool project 构建工具
site generator project 建站工具
backend framework project 后端框架
frontend framework project 前端框架
ci project 持续集成
issue tracker project 任务管理
hosting project 部署平台
repository project 仓库
branch project 分支
deploy branch project 部署分支
server project 服务器
release branch project 发布分支
branch names project 分支命名
indentation project 缩进
quotes project 引号
line length project 行宽
test command project 测试命令
build command project 构建命令
lint command project 检查命令
format command project 格式化命令
deploy command project 部署命令
dev server command project 开发服务器命令
migrations path project 数据库迁移路径
docs path project 文档路径
tests path project 测试路径
secrets path project 密钥路径
config path project 配置路径
test server project 测试服务器
staging server project 预发布服务器
production server project 生产服务器
build server project 构建服务器
database server project 数据库服务器
mail server project 邮件服务器
backup server project 备份服务器
unit test command project 单元测试命令
integration test command project 集成测试命令
e2e test command project 端到端测试命令
check command project 全部检查命令
type check command project 类型检查命令
release command project 发布命令
migrate command project 迁移命令
start command project 启动命令
frontend start command project 前端启动命令
backend start command project 后端启动命令
docs build command project 文档构建命令
code generation command project 代码生成命令
generated code path project 生成的代码路径
e2e test framework project 端到端测试框架
logging project 日志工具
monitoring project 监控工具
error tracking project 错误追踪工具
cache project 缓存
job queue project 任务队列
message queue project 消息队列
state management project 状态管理工具
styling project 样式工具
migration tool project 迁移工具
documentation tool project 文档工具
feature flags project 功能开关工具
secrets manager project 密钥管理工具
authentication project 登录认证
code review project 代码评审工具
version control project 版本控制工具
infrastructure tool project 基础设施工具
search project 搜索工具
orm project ORM框架
validation project 数据校验工具
chat tool project 聊天工具
design tool project 设计工具
release tool project 发布工具
client project 客户端
frontend project 前端
backend project 后端
favorite activity leisure 最喜欢的活动
favorite actor tastes 最喜欢的演员
favorite author tastes 最喜欢的作家
favorite character tastes 最喜欢的角色
favorite city tastes 最喜欢的城市
favorite game leisure 最喜欢的游戏
favorite hobby leisure 最喜欢的爱好
license project 许可证
deadline project 截止日期
release date project 发布日期
status project 状态
budget project 预算
members project 成员
decisions project 决定
errors project 错误
rules habits 规则
preferences tastes 偏好
projects work 项目
tasks plans 任务
notes self 备注
lessons habits 教训
"""
"""Key, topic (see `text.extraction.candidate.TOPICS`) and Chinese name of predicates."""
_VERSION: Final = lazy_pattern(r"(?P<of>\S[^\n]*?) version\Z", re.IGNORECASE)
_SUBJECTS: Final = {
    "mother": "妈妈", "father": "爸爸", "parents": "父母", "wife": "妻子", "husband": "丈夫",
    "spouse": "配偶", "son": "儿子", "daughter": "女儿", "children": "孩子",
    "brother": "兄弟", "sister": "姐妹",
    "grandmother": "奶奶", "grandfather": "爷爷", "project": "项目", "agent": "助手",
}  # fmt: skip
"""Chinese names of common subjects."""


@cache
def _table() -> dict[str, tuple[str, str, str]]:
    """Return the rows by the keys that `predicate_key` gives."""
    rows = (row.rsplit(" ", 2) for row in _ROWS.splitlines())
    return {predicate_key(key): (key, topic, chinese) for key, topic, chinese in rows}


def is_chinese(text: str) -> bool:
    """Return whether a text holds Chinese characters."""
    return HAN.search(text) is not None


def _has_words(text: str) -> bool:
    return is_chinese(text) or any(word.strip(".,;:!?'\"()").isalpha() for word in text.split())


def in_chinese(*values: Iterable[str], before: bool | None = None) -> bool:
    """Return whether values are those of a person who writes Chinese: more than a third; names may not be.

    The first of several collections decides that has words: numbers, heron-2 and the like tell nothing.
    What was written in one language `before` (whether it is Chinese) stays in it, unless the values clearly
    changed.
    """
    least = {None: 1 / 3, True: 1 / 5, False: 9 / 20}[before]
    for group in values:
        if found := [is_chinese(value) for value in group if _has_words(value)]:
            return sum(found) > len(found) * least
    return before or False


@lru_cache(maxsize=4_096)
def label(predicate: str, *, chinese: bool) -> str:
    """Return the name of a predicate in a language; as it is if it is in that language, or has none there.

    >>> label("city", chinese=True), label("城市", chinese=False), label("lives in", chinese=False)
    ('城市', 'city', 'lives in')
    """
    row = _table().get(predicate_key(predicate))
    if is_chinese(predicate) == chinese:
        return predicate
    if row is None:
        of = _VERSION.match(predicate) if chinese else None
        return f"{of['of']} 版本" if of else predicate
    return row[2] if chinese else row[0]


def subject_label(subject: str, *, chinese: bool) -> str:
    """Return the name of a subject in a language; as it is if it is in that language, or has none there."""
    key = subject_key(subject)
    if key not in _SUBJECTS or is_chinese(subject) == chinese:
        return subject
    return _SUBJECTS[key] if chinese else key


def labels(predicate: str) -> tuple[str, ...]:
    """Return all names that a predicate is shown under, its own first."""
    return tuple(dict.fromkeys((predicate, label(predicate, chinese=False), label(predicate, chinese=True))))


def topic(predicate: str) -> str:
    """Return what a predicate is about; empty if unknown."""
    row = _table().get(predicate_key(predicate))
    return row[1] if row is not None else ""
