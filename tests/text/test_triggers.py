"""When a standing instruction applies, as its own words say."""

import pytest

from mnemark.text.triggers import asks_for, request_of, trigger_of

CONDITIONS = [
    ("Always give dates as DD/MM/YYYY when I ask about scheduling", "scheduling"),
    ("When I ask about recipes, always give quantities in grams", "recipes"),
    ("Whenever I ask you for translations, give the pinyin too", "translations"),
    ("Every time I ask about stocks, please show the currency", "stocks"),
    ("If the build fails, always show me the log", "build fails"),
    ("Never suggest seafood when I ask where to eat", "where to eat"),
    ("When you write emails for me, never use exclamation marks", "emails"),
    ("In commit messages, never mention ticket numbers", "commit messages"),
    ("always use metric units in recipes", "recipes"),
    ("Before deploying, always run the smoke tests", "deploying"),
    ("Always ask before you delete files", "delete files"),
    ("When it comes to contracts please cite the paragraph", "contracts"),
    ("每次我问天气的时候都要告诉我要不要带伞", "天气"),
    ("以后推荐餐厅的时候，都要推荐素食的", "推荐餐厅"),
    ("问到电影的时候不要剧透", "电影"),
    ("提到我妈妈的时候，语气要温和", "妈妈"),
    ("写邮件的时候，一律用敬语", "邮件"),
    ("提交信息一律用英文写", "提交信息"),
    ("代码里的注释请一律用英文", "代码里的注释"),
    ("每次提交之前必须先跑测试", "提交"),
    ("如果我问到股票，请注明币种", "股票"),
    ("所有的会议纪要都要写日期", "会议纪要"),
]


@pytest.mark.parametrize(("said", "condition"), CONDITIONS)
def test_the_condition_is_the_trigger(said: str, condition: str) -> None:
    assert trigger_of(said) == (condition, True)


@pytest.mark.parametrize(
    "said", ["Keep answers short", "Never commit to main", "一律用中文回复", "window seats", ""]
)
def test_without_a_condition_it_is_about_all_it_says(said: str) -> None:
    assert trigger_of(said) == (said, False)


def test_tastes_count_where_something_is_asked_to_be_done_or_advised() -> None:
    for message in (
        "Book me a seat on the train to Bern", "What should I cook tonight?", "Put on some music",
        "Order pizza", "Could we eat out?", "I need a present for Tom", "What would you suggest for dinner?",
        "给我推荐一家餐厅", "我想看个电影", "请安排一下", "推荐一部电影", "帮我订个座位",
            "晚上吃什么？", "周末去哪玩好", "Any ideas for a present?",
    ):  # fmt: skip
        assert request_of(message), message
    for message in (
        "Who sat beside me on the flight?", "When did we last eat sushi?", "What is the name of the cat?",
        "What substitute does Nate suggest for butter?", "What did you recommend?",
        "Which book did I read in May?",
        "In what order did they arrive?", "我的计划是什么？", "她想要什么？",
        "小王推荐的餐厅在哪？", "我上周看的那部电影叫什么？", "昨天谁给我打了电话？",
    ):  # fmt: skip
        assert not request_of(message), message


def test_forms_of_questions_say_what_they_ask_for() -> None:
    assert asks_for("How much does the new phone cost?") == asks_for("这台相机多少钱？") == ("price",)
    assert asks_for("How far is it to the lake?") == asks_for("从家到公司有多远？") == ("distance",)
    assert asks_for("How do I get from Lyon to Turin?") == asks_for("怎么去成都最方便？") == ("travel",)
    assert asks_for("Summarize this article") == asks_for("总结一下这篇文章") == ("summary",)
    for message in ("How much time is left?", "How did the cat get out?", "我把总结发给谁了"):
        assert asks_for(message) == (), message
