"""What Chinese sentences leave: whose a fact is, what ends, what is lasting and what only passes."""

from datetime import UTC, datetime

import pytest

from mnemark.extraction.extract import by_rules as extract
from mnemark.facts.keys import holds_many, predicate_key, subject_key, value_key, value_words

NOW = datetime(2026, 3, 11, 10, tzinfo=UTC)


def facts(text: str) -> list[tuple[str, str, str]]:
    return [(one.subject, one.predicate, one.value) for one in extract(text, time=NOW) if not one.over]


def ended(text: str) -> list[tuple[str, str]]:
    return [(one.predicate, one.value) for one in extract(text, time=NOW) if one.over]


def kept(text: str) -> list[tuple[str, str]]:
    return [(one.topic, one.value) for one in extract(text, time=NOW) if not one.predicate]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("我家有两只仓鼠。", [("pets", "两只仓鼠")]),
        ("我养了一只兔子，叫年糕。", [("pets", "年糕，兔子")]),
        ("我今年47岁。", [("age", "47")]),
        ("我是洛阳人。", [("hometown", "洛阳")]),
        ("我在一家书店工作。", [("employer", "书店")]),
        ("我是一名救生员。", [("job", "救生员")]),
        ("我是理疗师。", [("job", "理疗师")]),
        ("我丈夫叫周涛，女儿叫朵朵。", [("spouse", "周涛"), ("children", "朵朵")]),
        ("我女儿叫朵朵，儿子叫天天。", [("children", "朵朵"), ("children", "天天")]),
        ("我对芒果和虾过敏。", [("allergies", "芒果"), ("allergies", "虾")]),
        ("我有慢性胃炎。", [("health", "慢性胃炎")]),
        ("我会拉二胡。", [("instruments", "二胡")]),
        ("我开一辆二手的丰田。", []),
        ("我有三个姐姐。", [("siblings", "三个姐姐")]),
        ("我最喜欢的歌手是周深。", [("favorite singer", "周深")]),
        ("我毕业于兰州大学。", [("school", "兰州大学")]),
        ("我身高168厘米。", [("height", "168厘米")]),
        ("我离异，有一个女儿。", [("marital status", "离异"), ("children", "一个女儿")]),
        ("我下个月要去日本旅行。", [("plans", "下个月（2026-04）要去日本旅行")]),
        ("我打算春节回老家结婚。", [("plans", "春节回老家结婚")]),
        ("我打算明年考研究生。", [("plans", "明年考研究生（2027）")]),
        ("我会说粤语，也会说法语。", [("languages", "粤语"), ("languages", "法语")]),
        ("我在天津上班，老家在甘肃。", [("hometown", "甘肃")]),
        ("我结婚七年了，有个两岁的儿子。", [("marital status", "已婚"), ("children", "一个两岁的儿子")]),
        ("我不抽烟。", [("habits", "不抽烟")]),
        ("我用的手机是华为P60。", [("possessions", "华为P60手机")]),
    ],
)
def test_what_the_owner_says_of_themselves(text: str, found: list[tuple[str, str]]) -> None:
    assert facts(text) == [("user", *one) for one in found] or (not found and kept(text))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("我爸妈上个月搬到昆明了。", [("父母", "city", "昆明")]),
        (
            "我外婆（周桂兰）81岁，是退休护士。",
            [("周桂兰", "relation", "外婆"), ("周桂兰", "age", "81"), ("周桂兰", "job", "退休护士")],
        ),
        ("我爸高血压十年了。", [("爸爸", "health", "高血压")]),
        ("我弟弟对坚果过敏。", [("弟弟", "allergies", "坚果")]),
        ("我儿子李乐今年9岁。", [("李乐", "relation", "儿子"), ("李乐", "age", "9")]),
        (
            "我女儿叫糖糖，今年5岁。",
            [("user", "children", "糖糖"), ("糖糖", "relation", "女儿"), ("糖糖", "age", "5")],
        ),
        ("我老公是厨师，我是会计。", [("丈夫", "job", "厨师"), ("user", "job", "会计")]),
        ("我有个儿子，今年7岁。", [("user", "children", "一个儿子")]),
        ("我姐姐住在大连，喜欢画画。", [("姐姐", "city", "大连"), ("姐姐", "likes", "画画")]),
        ("赵敏是我的同事，她今年30岁。", [("赵敏", "relation", "同事"), ("赵敏", "age", "30")]),
    ],
)
def test_what_is_said_of_a_relative_is_about_them(text: str, found: list[tuple[str, str, str]]) -> None:
    assert facts(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "我同事住在南京。",
        "我邻居对花粉过敏。",
        "我妈妈家在修水管。",
        "我爸爸的朋友是医生。",
        "我爸还是老样子。",
        "我妹妹周末来，我去接她。",
        "他说他是老师。",
        "医生说我有高血压。",
        "我老公说我们明年搬到广州。",
        "如果我是医生，我会怎么说？",
        "我想当老师。",
        "我可能搬到青岛。",
        "我今天在图书馆工作到很晚。",
        "我喜欢你刚才的建议。",
        "我喜欢这个方案。",
        "我不是北京人。",
        "我没有对花生过敏。",
        "我对花生不过敏。",
        "我已经叫好车了。",
        "我去沈阳出差，住在和平区。",
        "我的兴趣有点变了。",
        "我不会弹钢琴。",
        "我也不是医生。",
        "我住着挺舒服的。",
        "我住院了。",
        "我有点担心。",
        "我有两个问题想问。",
        "我平时有点忙，你帮我看看吧。",
        "我每天都在想这件事。",
        "我今天去公园跑步了。",
        "周末我们去爬山吧。",
        "帮我查一下明天的天气。",
        "我会按你说的做。",
        "我可以试试。",
        "我是说第三行。",
    ],
)
def test_what_is_another_s_or_passing_leaves_nothing(text: str) -> None:
    assert extract(text, time=NOW) == []


def test_the_assistant_says_nothing_about_the_owner() -> None:
    said = "我住在上海，我有两只狗。我每天六点起床。"
    assert extract(said, time=NOW, role="assistant", origin="agent") == []


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("我每天早上五点半起床。", "habits"),
        ("我从不熬夜。", "habits"),
        ("我是独生子。", "people"),
        ("我在孤儿院长大。", "self"),
        ("我和奶奶一起住。", "home"),
        ("我在养老院当志愿者已经四年。", ""),
        ("我奶奶前年去世了。", "people"),
        ("我最好的朋友是个消防员。", "people"),
        ("爵士乐是我的最爱。", "tastes"),
        ("我的座右铭是少即是多。", "beliefs"),
        ("我在院子里种了几棵果树。", "leisure"),
    ],
)
def test_a_lasting_sentence_is_kept_under_its_topic(text: str, topic: str) -> None:
    assert not topic or kept(text) == [(topic, text.rstrip("。"))]


def test_a_statement_begins_and_ends_with_what_lasts() -> None:
    assert kept("不过我每周三晚上练书法，但最近没去。") == []
    assert kept("而且我每周三晚上练书法，所以很充实。") == [("habits", "我每周三晚上练书法")]


@pytest.mark.parametrize(
    ("text", "over"),
    [
        ("我不喜欢喝奶茶了。", [("likes", "喝奶茶")]),
        ("我不再喜欢爬山。", [("likes", "爬山")]),
        ("我去年戒酒了。", [("habits", "喝酒")]),
        ("我上周离职了。", [("employer", "")]),
        ("我从招商银行辞职了。", [("employer", "招商银行")]),
        ("我和男朋友分手了。", [("spouse", "")]),
        ("我已经搬走了。", [("city", ""), ("region", ""), ("country", ""), ("address", "")]),
        ("我不住浙江了。", [("region", "浙江")]),
        ("我不在深圳住了。", [("city", "深圳")]),
        ("我对牛奶不再过敏了。", [("allergies", "牛奶")]),
        ("我不吃素了。", [("diet", "吃素")]),
        ("我已经不用 Emacs 了。", [("editor", "Emacs")]),
        ("我不喜欢喝奶茶。", []),
        ("我不喝了。", []),
        ("我妈妈戒烟了。", []),
        ("我不再写Java。", [("", "我写Java")]),
        ("我不做护士了。", [("job", "护士"), ("", "我做护士")]),
        ("我把相机卖了。", [("possessions", "相机")]),
        ("我把家里的猫送人了。", [("pets", "猫")]),
        ("我退学了。", [("school", "")]),
        ("我离开上海了。", [("city", "上海"), ("school", "上海")]),
        ("我离开腾讯了。", [("employer", "腾讯"), ("city", "腾讯"), ("school", "腾讯")]),
        ("我今天不喝咖啡了。", []),
        ("我不仅自己做到了。", []),
        ("我不那么慌了。", []),
        ("我不想写了。", []),
    ],
)
def test_what_ends(text: str, over: list[tuple[str, str]]) -> None:
    assert ended(text) == over


def test_what_changes_has_its_new_value() -> None:
    assert facts("我现在最喜欢的颜色是紫色。") == [("user", "favorite color", "紫色")]
    assert facts("我从重庆搬到珠海了。") == [("user", "city", "珠海")]
    assert facts("我们从 yarn 换成 pnpm 了。") == [("project", "package manager", "pnpm")]
    assert ended("我们从 yarn 换成 pnpm 了。") == [("package manager", "yarn")]
    assert facts("我们改用 pnpm 了，不再用 yarn。") == [("project", "package manager", "pnpm")]
    assert facts("这个项目已经换用 PostgreSQL 了。") == [("project", "database", "PostgreSQL")]
    assert facts("我换工作了，现在是导游。") == [("user", "job", "导游")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("记住我的生日是8月2日。", [("user", "birthday", "8月2日")]),
        ("请记住，我的停车位在B2。", [("user", "", "我的停车位在B2")]),
        ("别忘了我周四要值班。", [("user", "", "我周四要值班")]),
        ("请记住：每次提交都要写测试。", [("user", "rules", "每次提交都要写测试")]),
        ("我记住了。", []),
        ("别忘了带伞。", []),
        ("你记住我的名字了吗？", []),
        ("记住这个。", []),
    ],
)
def test_what_is_to_be_remembered_is_kept(text: str, found: list[tuple[str, str, str]]) -> None:
    assert facts(text) == found


def test_a_rule_is_told_to_the_agent() -> None:
    def rules(text: str) -> list[str]:
        return [one.value for one in extract(text, time=NOW) if one.type == "rule"]

    assert rules("不要再用表情符号了。") == ["不要再用表情符号"]
    assert facts("请一直用英文回答。") == [("user", "language", "英文")]
    for text in (
        "就当是今天的总结了。",
        "本群禁止发广告。",
        "禁止乱发消息。",
        "以后再说吧。",
        "饭前总要洗手。",
    ):
        assert rules(text) == [], text


def test_predicates_of_both_languages_have_one_key() -> None:
    pairs = {
        "学历": "degree",
        "兄弟姐妹": "siblings",
        "最喜欢的电影": "favorite film",
        "乐器": "instrument",
        "习惯": "habits",
    }
    for chinese, english in pairs.items():
        assert predicate_key(chinese) == predicate_key(english), chinese
    assert subject_key("我妈") == subject_key("my mother") == "mother"
    assert all(holds_many(name) for name in ("health", "possessions", "plans", "习惯"))


def test_values_of_both_languages_have_one_key_where_that_is_sure() -> None:
    assert value_key("花生") == value_key("Peanuts") == value_key("peanut.")
    assert value_key("慕尼黑") == value_key("Munich") == "munich"
    assert value_key("苹果") != value_key("apple"), "a fruit and a maker"
    assert value_words("花生") == "花生", "texts are searched for the words as written"


@pytest.mark.parametrize(
    ("text", "home"),
    [
        ("我住在宾夕法尼亚州。", ("region", "宾夕法尼亚州")),
        ("我住在浙江。", ("region", "浙江")),
        ("我住在美国。", ("country", "美国")),
        ("我住在岳麓区。", ("address", "岳麓区")),
        ("我住在天津静海区。", ("city", "天津静海区")),
        ("我搬到广州了。", ("city", "广州")),
    ],
)
def test_a_home_is_as_exact_as_it_is_told(text: str, home: tuple[str, str]) -> None:
    assert facts(text) == [("user", *home)]


@pytest.mark.parametrize("text", ["我搬到美国了。", "I moved to Spain."])
def test_a_move_ends_the_home_before_as_exact_or_not(text: str) -> None:
    assert ended(text) == [("city", ""), ("region", ""), ("address", "")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "服务器叫 lark，数据库是 SQLite。",
            [("project", "server", "lark"), ("project", "数据库", "SQLite")],
        ),
        ("测试服务器叫 lark-2。", [("project", "test server", "lark-2")]),
        ("线上环境的服务器改名叫 swift 了。", [("project", "production server", "swift")]),
        ("服务器叫什么？", []),
        ("服务器叫不醒了。", []),
    ],
)
def test_what_a_server_is_called(text: str, found: list[tuple[str, str, str]]) -> None:
    assert facts(text) == found


def test_what_a_team_no_longer_uses_ends_nothing_of_its_owner() -> None:
    def ends(text: str) -> list[tuple[str, str, str]]:
        found = extract(text, time=datetime(2026, 3, 2, tzinfo=UTC))
        return [(one.subject, one.predicate, one.value) for one in found if one.over]

    assert ends("我们不再用 SQLite 了。") == [("project", "database", "SQLite")]
    assert ends("我们不再用 SQLite 了，评论功能换成 PostgreSQL。") == [("project", "database", "SQLite")]
    assert ends("我不再用 SQLite 了。") == [("user", "database", "SQLite")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("我女朋友小雨下周三生日", [("小雨", "relation", "女朋友"), ("小雨", "birthday", "3月18日")]),
        ("我女朋友小雨周日生日，送什么。", [("小雨", "relation", "女朋友"), ("小雨", "birthday", "3月15日")]),
        ("我女朋友小雨的生日是11月25日", [("小雨", "relation", "女朋友"), ("小雨", "birthday", "11月25日")]),
        ("我妈下周三生日", [("妈妈", "birthday", "3月18日")]),
        ("搬家了，现在住在滨江，离公司近。", [("user", "city", "滨江")]),
        ("我最近升职了，现在是产品总监。", [("user", "job", "产品总监")]),
    ],
)  # fmt: skip
def test_names_end_before_a_time_and_news_name_nobody(text: str, found: list[tuple[str, str, str]]) -> None:
    assert [(one.subject, one.predicate, one.value) for one in extract(text, time=NOW)] == found


@pytest.mark.parametrize(
    "text",
    [
        "我女朋友小雨下周三过来",
        "我女朋友下周三要去北京",
        "我女朋友小雨下周三生日吗？",
        "听说我女朋友小雨下周三生日",
        "下周三公司生日会",
        "他搬家了，现在住在滨江。",
        "小雨给我打电话。搬家了，现在住在滨江。",
        "公司搬家了，现在住在滨江。",
        "搬家了吗，现在住在滨江？",
        "老周最近升职了，现在是产品总监。",
    ],
)
def test_others_news_and_other_days_leave_nothing(text: str) -> None:
    wrong = {"birthday", "city", "job"}
    assert not wrong & {one.predicate for one in extract(text, time=NOW)}


@pytest.mark.parametrize(
    ("text", "since"),
    [
        ("上周末我们搬到南京了。", "2026-03-07"),
        ("我们上周末搬到南京了。", "2026-03-07"),
        ("上周六我们从苏州搬到南京了。", "2026-03-07"),
        ("昨天，我们搬到南京了。", "2026-03-10"),
        ("今天我们搬到南京了。", "2026-03-11"),
        ("去年我们搬到南京了。", "2025-01-01"),
        ("我们搬到南京了。", "2026-03-11"),
    ],
)
def test_a_move_is_read_with_its_time_on_both_sides_of_the_subject(text: str, since: str) -> None:
    moved = [one for one in extract(text, time=NOW) if not one.over]
    assert [(one.predicate, one.value, f"{one.since:%Y-%m-%d}") for one in moved] == [("city", "南京", since)]


@pytest.mark.parametrize(
    "text",
    [
        "下个月我们搬到南京。",
        "我们下个月搬到南京。",
        "上周末他们搬到南京了。",
        "上周末我朋友搬到南京了。",
        "上周末我们去南京了。",
        "上周末我们搬到会议室了。",
        "上周末我住在南京。",
        "上周末我们差点搬到南京了。",
    ],
)
def test_who_has_not_moved_lives_where_they_did(text: str) -> None:
    assert [one for one in facts(text) if one[1] == "city"] == []


@pytest.mark.parametrize(
    ("text", "predicate"),
    [
        ("上周末我戒烟了。", "habits"),
        ("昨天我从招商银行辞职了。", "employer"),
        ("上周我离职了。", "employer"),
    ],
)
def test_what_ended_is_read_with_its_time_first(text: str, predicate: str) -> None:
    assert predicate in [key for key, _ in ended(text)]


@pytest.mark.parametrize(
    "text", ["我同事叫周涛，女儿叫朵朵。", "我姐姐叫周兰，女儿叫朵朵。", "我妹妹有个儿子，女儿叫朵朵。"]
)
def test_the_child_of_somebody_else_is_not_the_owner_s(text: str) -> None:
    assert [one for one in facts(text) if one[:2] == ("user", "children")] == []


@pytest.mark.parametrize("text", ["我是大师。", "我是他的理疗师。", "我是法师。"])
def test_not_every_master_has_a_job(text: str) -> None:
    assert [one for one in facts(text) if one[1] == "job"] == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("我上周搬家了，现在住闵行区莘庄。", [("user", "address", "闵行区莘庄")]),
        ("我住在徐汇区漕河泾。", [("user", "address", "徐汇区漕河泾")]),
        ("我换工作了，现在在美团。", [("user", "employer", "美团")]),
        ("我跳槽去阿里了。", [("user", "employer", "阿里")]),
        ("我跳槽到美团了。", [("user", "employer", "美团")]),
        ("我换手机号了，新号是13900002222。", [("user", "phone", "13900002222")]),
        ("我儿子今年三岁半。", [("儿子", "age", "三岁半")]),
        ("我血型是O型，青霉素过敏。", [("user", "blood type", "O型"), ("user", "allergies", "青霉素")]),
        ("我们的上线日期是12月20日。", [("project", "发布日期", "2026-12-20")]),
        ("帮我记一下：4月3号下午两点开家长会。", [("user", "appointments", "2026-04-03 14:00 开家长会")]),
    ],
)
def test_changes_in_the_words_that_people_use(text: str, found: list[tuple[str, str, str]]) -> None:
    assert facts(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "我这周住在广州，开会。",
        "我这个月住在北京，帮客户做项目。",
        "我这两天住在深圳。",
        "我这周住在北京出差。",
        "我昨天住在南京的酒店。",
        "梦里我住在火星。",
        "小说里我在百度上班。",
    ],
)
def test_where_somebody_stays_or_dreams_of_is_no_home(text: str) -> None:
    assert not {"city", "address", "employer"} & {predicate for _, predicate, _ in facts(text)}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("以后还是用中文回答吧。", ("language", "中文")),
        ("算了，以后还是用中文回答我。", ("language", "中文")),
        ("以后回答我尽量简短，用中文。", ("rules", "回答我尽量简短，用中文")),
        (
            "以后写 commit message 请用英文，遵循 Conventional Commits。",
            ("rules", "写 commit message 请用英文，遵循 Conventional Commits"),
        ),
    ],
)
def test_an_order_is_whole_and_a_language_takes_the_place_of_another(
    text: str, found: tuple[str, str]
) -> None:
    assert [(predicate, value) for _, predicate, value in facts(text)] == [found]
