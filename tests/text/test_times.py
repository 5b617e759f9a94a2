import re
import time
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mnemark.text.dates.calendar import FESTIVALS, easter_sunday, festival, lunar_day, nth_weekday
from mnemark.text.dates.ranges import LONGEST, date_ranges, order_hint, spans
from mnemark.types import DateRange
from sampled import examples

_DANGLING = re.compile(r"\b(?:in|on|at|during|over|from|of)(?:\s+the)?\s*$", re.IGNORECASE)


def strip_ranges(text: str, ranges: Iterable[DateRange]) -> str:
    """Remove the words of `ranges`, and prepositions before them, from a text; collapse white space."""
    at = 0
    kept: list[str] = []
    for found in ranges:
        start = text.find(found.text, at) if found.text else -1
        if start < 0:
            continue
        kept.append(_DANGLING.sub("", text[at:start]))
        at = start + len(found.text)
    kept.append(text[at:])
    return " ".join(" ".join(kept).split()) if len(kept) > 1 else text


NOW = datetime.fromisoformat("2026-02-18 14:30")  # a Wednesday, the second day of the Chinese year

# phrase | the words that name the time | start | end
ENGLISH = """
what did I do yesterday | yesterday | 2026-02-17 | 2026-02-18
today | today | 2026-02-18 | 2026-02-19
tomorrow | tomorrow | 2026-02-19 | 2026-02-20
the day before yesterday | the day before yesterday | 2026-02-16 | 2026-02-17
last Tuesday | last Tuesday | 2026-02-17 | 2026-02-18
this Tuesday | this Tuesday | 2026-02-17 | 2026-02-18
next Tuesday | next Tuesday | 2026-02-24 | 2026-02-25
Tuesday | Tuesday | 2026-02-17 | 2026-02-18
due on Tuesday, 3 February | Tuesday, 3 February | 2026-02-03 | 2026-02-04
Tuesday 3 February at noon | Tuesday 3 February | 2026-02-03 | 2026-02-04
next Tuesday, 3 February | next Tuesday, 3 February | 2026-02-03 | 2026-02-04
on Friday | Friday | 2026-02-13 | 2026-02-14
last week | last week | 2026-02-09 | 2026-02-16
last month | last month | 2026-01-01 | 2026-02-01
last year | last year | 2025-01-01 | 2026-01-01
this morning | this morning | 2026-02-18 05:00 | 2026-02-18 12:00
tonight | tonight | 2026-02-18 18:00 | 2026-02-19 06:00
last night | last night | 2026-02-17 18:00 | 2026-02-18 06:00
yesterday morning | yesterday morning | 2026-02-17 05:00 | 2026-02-17 12:00
three days ago | three days ago | 2026-02-15 | 2026-02-16
2 weeks ago | 2 weeks ago | 2026-02-02 | 2026-02-09
5 months ago | 5 months ago | 2025-09-01 | 2025-10-01
a year ago | a year ago | 2025-01-01 | 2026-01-01
half a year ago | half a year ago | 2025-08-01 | 2025-09-01
a couple of days ago | a couple of days ago | 2026-02-16 | 2026-02-17
a few weeks ago | a few weeks ago | 2026-01-05 | 2026-02-09
in the last 3 days | the last 3 days | 2026-02-15 | 2026-02-19
the past two weeks | the past two weeks | 2026-02-04 | 2026-02-19
past 6 months | past 6 months | 2025-08-18 | 2026-02-19
in March | March | 2025-03-01 | 2025-04-01
March 2025 | March 2025 | 2025-03-01 | 2025-04-01
5 May | 5 May | 2025-05-05 | 2025-05-06
May 5th, 2025 | May 5th, 2025 | 2025-05-05 | 2025-05-06
May 5 | May 5 | 2025-05-05 | 2025-05-06
2025-05-05 | 2025-05-05 | 2025-05-05 | 2025-05-06
2025/5/5 | 2025/5/5 | 2025-05-05 | 2025-05-06
early January | early January | 2026-01-01 | 2026-01-11
mid January | mid January | 2026-01-11 | 2026-01-21
late January 2025 | late January 2025 | 2025-01-21 | 2025-02-01
last summer | last summer | 2025-06-01 | 2025-09-01
in the summer of 2023 | summer of 2023 | 2023-06-01 | 2023-09-01
in 2024 | 2024 | 2024-01-01 | 2025-01-01
since Monday | since Monday | 2026-02-16 | 2026-02-19
before March 2025 | before March 2025 | 0001-01-01 | 2025-03-01
after Christmas | after Christmas | 2025-12-27 | 2026-02-19
until 2025-05-05 | until 2025-05-05 | 0001-01-01 | 2025-05-06
by Friday | by Friday | 0001-01-01 | 2026-02-14
between March and May | between March and May | 2025-03-01 | 2025-06-01
between 2025-01-01 and 2025-02-01 | between 2025-01-01 and 2025-02-01 | 2025-01-01 | 2025-02-02
from March to May | from March to May | 2025-03-01 | 2025-06-01
from Monday to Friday | from Monday to Friday | 2026-02-16 | 2026-02-21
from 2020 to 2023 | from 2020 to 2023 | 2020-01-01 | 2024-01-01
2020-2023 in years | 2020-2023 | 2020-01-01 | 2024-01-01
Q3 2025 | Q3 2025 | 2025-07-01 | 2025-10-01
the third quarter of 2025 | the third quarter of 2025 | 2025-07-01 | 2025-10-01
H1 2025 | H1 2025 | 2025-01-01 | 2025-07-01
the first week of June | the first week of June | 2025-06-01 | 2025-06-08
last week of January | last week of January | 2026-01-25 | 2026-02-01
the weekend | the weekend | 2026-02-14 | 2026-02-16
last weekend | last weekend | 2026-02-14 | 2026-02-16
this weekend | this weekend | 2026-02-21 | 2026-02-23
Christmas | Christmas | 2025-12-24 | 2025-12-27
last Christmas | last Christmas | 2025-12-24 | 2025-12-27
Christmas 2024 | Christmas 2024 | 2024-12-24 | 2024-12-27
New Year's Eve | New Year's Eve | 2025-12-31 | 2026-01-01
Easter | Easter | 2025-04-18 | 2025-04-22
Easter 2024 | Easter 2024 | 2024-03-29 | 2024-04-02
Halloween | Halloween | 2025-10-31 | 2025-11-01
Thanksgiving | Thanksgiving | 2025-11-27 | 2025-11-28
Valentine's Day | Valentine's Day | 2026-02-14 | 2026-02-15
end of last month | end of last month | 2026-01-21 | 2026-02-01
beginning of this year | beginning of this year | 2026-01-01 | 2026-03-01
the end of 2025 | the end of 2025 | 2025-11-01 | 2026-01-01
the day after Christmas | the day after Christmas | 2025-12-27 | 2025-12-28
May 5-8 | May 5-8 | 2025-05-05 | 2025-05-09
May 5 to May 8, 2025 | May 5 to May 8, 2025 | 2025-05-05 | 2025-05-09
Tuesday of last week | Tuesday of last week | 2026-02-10 | 2026-02-11
last March | last March | 2025-03-01 | 2025-04-01
next March | next March | 2026-03-01 | 2026-04-01
March last year | March last year | 2025-03-01 | 2025-04-01
the week before last | the week before last | 2026-02-02 | 2026-02-09
an hour ago | an hour ago | 2026-02-18 13:00 | 2026-02-18 14:00
since the beginning of March | since the beginning of March | 2025-03-01 | 2026-02-19
Mother's Day 2025 | Mother's Day 2025 | 2025-05-11 | 2025-05-12
early 2024 | early 2024 | 2024-01-01 | 2024-05-01
last quarter | last quarter | 2025-10-01 | 2026-01-01
Chinese New Year 2025 | Chinese New Year 2025 | 2025-01-29 | 2025-01-30
Black Friday | Black Friday | 2025-11-28 | 2025-11-29
4th of July | 4th of July | 2025-07-04 | 2025-07-05
the year 2019 | 2019 | 2019-01-01 | 2020-01-01
three weeks from now | three weeks from now | 2026-03-09 | 2026-03-16
last few days | last few days | 2026-02-12 | 2026-02-19
next 3 days | next 3 days | 2026-02-19 | 2026-02-22
Monday morning | Monday morning | 2026-02-16 05:00 | 2026-02-16 12:00
on the afternoon of May 5 | the afternoon of May 5 | 2025-05-05 12:00 | 2025-05-05 18:00
5/13/2025 | 5/13/2025 | 2025-05-13 | 2025-05-14
20th of February | 20th of February | 2025-02-20 | 2025-02-21
last year's budget | last year | 2025-01-01 | 2026-01-01
this month's report | this month | 2026-02-01 | 2026-03-01
on the night of 5 May | the night of 5 May | 2025-05-05 18:00 | 2025-05-06 06:00
in the fall of 2022 | fall of 2022 | 2022-09-01 | 2022-12-01
this summer | this summer | 2026-06-01 | 2026-09-01
last winter | last winter | 2024-12-01 | 2025-03-01
since summer | since summer | 2025-06-01 | 2026-02-19
what happened in the first half of 2025 | the first half of 2025 | 2025-01-01 | 2025-07-01
the last day of January | the last day of January | 2026-01-31 | 2026-02-01
back in 2019 | 2019 | 2019-01-01 | 2020-01-01
in late 2023 | late 2023 | 2023-09-01 | 2024-01-01
on Sat we met | Sat | 2026-02-14 | 2026-02-15
two hours ago | two hours ago | 2026-02-18 12:00 | 2026-02-18 13:00
15 minutes ago | 15 minutes ago | 2026-02-18 14:15 | 2026-02-18 14:16
Christmas Day | Christmas Day | 2025-12-25 | 2025-12-26
Boxing Day 2024 | Boxing Day 2024 | 2024-12-26 | 2024-12-27
Good Friday 2025 | Good Friday 2025 | 2025-04-18 | 2025-04-19
the night of 2025-12-31 | the night of 2025-12-31 | 2025-12-31 18:00 | 2026-01-01 06:00
the year before last | the year before last | 2024-01-01 | 2025-01-01
Father's Day | Father's Day | 2025-06-15 | 2025-06-16
Spring Festival 2025 | Spring Festival 2025 | 2025-01-28 | 2025-02-05
from May 5 to June 2 | from May 5 to June 2 | 2025-05-05 | 2025-06-03
from 2025-01-01 until 2025-01-15 | from 2025-01-01 until 2025-01-15 | 2025-01-01 | 2025-01-16
last Sunday | last Sunday | 2026-02-15 | 2026-02-16
next Sunday | next Sunday | 2026-02-22 | 2026-02-23
31 December 2024 | 31 December 2024 | 2024-12-31 | 2025-01-01
Feb 29, 2024 | Feb 29, 2024 | 2024-02-29 | 2024-03-01
last Christmas Eve | last Christmas Eve | 2025-12-24 | 2025-12-25
this Christmas | this Christmas | 2026-12-24 | 2026-12-27
next Easter | next Easter | 2026-04-03 | 2026-04-07
up to March 2025 | up to March 2025 | 0001-01-01 | 2025-04-01
the Sunday before 25 October 2022 | the Sunday before 25 October 2022 | 2022-10-23 | 2022-10-24
the week before August 3, 2023 | the week before August 3, 2023 | 2023-07-27 | 2023-08-03
the weekend after 2025-05-05 | the weekend after 2025-05-05 | 2025-05-10 | 2025-05-12
last weekend before April 10, 2023 | last weekend before April 10, 2023 | 2023-04-08 | 2023-04-10
Friday evening | Friday evening | 2026-02-13 18:00 | 2026-02-14
"""
CHINESE = """
今天 | 今天 | 2026-02-18 | 2026-02-19
昨天我做了什么 | 昨天 | 2026-02-17 | 2026-02-18
前天 | 前天 | 2026-02-16 | 2026-02-17
大前天 | 大前天 | 2026-02-15 | 2026-02-16
明天 | 明天 | 2026-02-19 | 2026-02-20
后天 | 后天 | 2026-02-20 | 2026-02-21
大后天 | 大后天 | 2026-02-21 | 2026-02-22
今早 | 今早 | 2026-02-18 05:00 | 2026-02-18 12:00
昨晚 | 昨晚 | 2026-02-17 18:00 | 2026-02-18 06:00
昨天下午 | 昨天下午 | 2026-02-17 12:00 | 2026-02-17 18:00
上周 | 上周 | 2026-02-09 | 2026-02-16
上周五 | 上周五 | 2026-02-13 | 2026-02-14
这周三 | 这周三 | 2026-02-18 | 2026-02-19
下周 | 下周 | 2026-02-23 | 2026-03-02
下周一 | 下周一 | 2026-02-23 | 2026-02-24
上个月 | 上个月 | 2026-01-01 | 2026-02-01
上上个月 | 上上个月 | 2025-12-01 | 2026-01-01
这个月 | 这个月 | 2026-02-01 | 2026-03-01
去年 | 去年 | 2025-01-01 | 2026-01-01
前年 | 前年 | 2024-01-01 | 2025-01-01
今年 | 今年 | 2026-01-01 | 2027-01-01
去年三月 | 去年三月 | 2025-03-01 | 2025-04-01
三天前 | 三天前 | 2026-02-15 | 2026-02-16
两周前 | 两周前 | 2026-02-02 | 2026-02-09
半年前 | 半年前 | 2025-08-01 | 2025-09-01
最近一周 | 最近一周 | 2026-02-11 | 2026-02-19
最近三天 | 最近三天 | 2026-02-15 | 2026-02-19
过去两个月 | 过去两个月 | 2025-12-18 | 2026-02-19
1月中旬 | 1月中旬 | 2026-01-11 | 2026-01-21
三月初 | 三月初 | 2025-03-01 | 2025-03-11
月底 | 月底 | 2026-02-21 | 2026-03-01
年初 | 年初 | 2026-01-01 | 2026-03-01
年底 | 年底 | 2025-11-01 | 2026-01-01
2025年1月 | 2025年1月 | 2025-01-01 | 2025-02-01
1月18日 | 1月18日 | 2026-01-18 | 2026-01-19
十月一号 | 十月一号 | 2025-10-01 | 2025-10-02
上半年 | 上半年 | 2026-01-01 | 2026-07-01
下半年 | 下半年 | 2025-07-01 | 2026-01-01
第三季度 | 第三季度 | 2025-07-01 | 2025-10-01
周末 | 周末 | 2026-02-14 | 2026-02-16
春天 | 春天 | 2025-03-01 | 2025-06-01
去年夏天 | 去年夏天 | 2025-06-01 | 2025-09-01
5月5日到5月8日 | 5月5日到5月8日 | 2025-05-05 | 2025-05-09
5月5日到8日 | 5月5日到8日 | 2025-05-05 | 2025-05-09
5 月 5 日 | 5 月 5 日 | 2025-05-05 | 2025-05-06
2025 年 5 月 5 号 | 2025 年 5 月 5 号 | 2025-05-05 | 2025-05-06
2025 年 5 月 | 2025 年 5 月 | 2025-05-01 | 2025-06-01
3月以来 | 3月以来 | 2025-03-01 | 2026-02-19
春节以前 | 春节以前 | 0001-01-01 | 2026-02-16
国庆之后 | 国庆之后 | 2025-10-08 | 2026-02-19
春节 | 春节 | 2026-02-16 | 2026-02-24
2025年春节 | 2025年春节 | 2025-01-28 | 2025-02-05
除夕 | 除夕 | 2026-02-16 | 2026-02-17
元宵节 | 元宵节 | 2025-02-12 | 2025-02-13
端午节 | 端午节 | 2025-05-31 | 2025-06-01
中秋 | 中秋 | 2025-10-06 | 2025-10-07
去年中秋节 | 去年中秋节 | 2025-10-06 | 2025-10-07
七夕 | 七夕 | 2025-08-29 | 2025-08-30
重阳节 | 重阳节 | 2025-10-29 | 2025-10-30
清明 | 清明 | 2025-04-04 | 2025-04-05
国庆 | 国庆 | 2025-10-01 | 2025-10-08
五一 | 五一 | 2025-05-01 | 2025-05-06
元旦 | 元旦 | 2026-01-01 | 2026-01-02
圣诞节 | 圣诞节 | 2025-12-24 | 2025-12-27
双十一 | 双十一 | 2025-11-11 | 2025-11-12
情人节 | 情人节 | 2026-02-14 | 2026-02-15
母亲节 | 母亲节 | 2025-05-11 | 2025-05-12
2024年 | 2024年 | 2024-01-01 | 2025-01-01
2024年底 | 2024年底 | 2024-11-01 | 2025-01-01
今年初 | 今年初 | 2026-01-01 | 2026-03-01
去年年底 | 去年年底 | 2025-11-01 | 2026-01-01
上个月15号 | 上个月15号 | 2026-01-15 | 2026-01-16
二十天前 | 二十天前 | 2026-01-29 | 2026-01-30
十几天前 | 十几天前 | 2026-01-30 | 2026-02-08
几个月前 | 几个月前 | 2025-08-01 | 2026-01-01
一年前 | 一年前 | 2025-01-01 | 2026-01-01
前几天 | 前几天 | 2026-02-12 | 2026-02-19
这几天 | 这几天 | 2026-02-12 | 2026-02-19
周五 | 周五 | 2026-02-13 | 2026-02-14
星期天 | 星期天 | 2026-02-15 | 2026-02-16
上周末 | 上周末 | 2026-02-14 | 2026-02-16
上个星期三 | 上个星期三 | 2026-02-11 | 2026-02-12
从三月到五月 | 三月到五月 | 2025-03-01 | 2025-06-01
2023年到2025年 | 2023年到2025年 | 2023-01-01 | 2026-01-01
2025-05-05 | 2025-05-05 | 2025-05-05 | 2025-05-06
2025年5月5日下午 | 2025年5月5日下午 | 2025-05-05 12:00 | 2025-05-05 18:00
去年三月五号 | 去年三月五号 | 2025-03-05 | 2025-03-06
二〇二五年三月 | 二〇二五年三月 | 2025-03-01 | 2025-04-01
大年初三 | 大年初三 | 2025-01-31 | 2025-02-01
农历八月十五 | 农历八月十五 | 2025-10-06 | 2025-10-07
自从去年以来 | 自从去年以来 | 2025-01-01 | 2026-02-19
截至5月5日为止 | 截至5月5日为止 | 0001-01-01 | 2025-05-06
上季度 | 上季度 | 2025-10-01 | 2026-01-01
去年第四季度 | 去年第四季度 | 2025-10-01 | 2026-01-01
2025年上半年 | 2025年上半年 | 2025-01-01 | 2025-07-01
三个月前 | 三个月前 | 2025-11-01 | 2025-12-01
5月5号晚上 | 5月5号晚上 | 2025-05-05 18:00 | 2025-05-06
1月1日-1月3日 | 1月1日-1月3日 | 2026-01-01 | 2026-01-04
十一假期 | 十一假期 | 2025-10-01 | 2025-10-08
六一 | 六一 | 2025-06-01 | 2025-06-02
3到5月 | 3到5月 | 2025-03-01 | 2025-06-01
两年前 | 两年前 | 2024-01-01 | 2025-01-01
过去一年 | 过去一年 | 2025-02-18 | 2026-02-19
近半年 | 近半年 | 2025-08-18 | 2026-02-19
上上周 | 上上周 | 2026-02-02 | 2026-02-09
下个月 | 下个月 | 2026-03-01 | 2026-04-01
明年三月 | 明年三月 | 2027-03-01 | 2027-04-01
本周 | 本周 | 2026-02-16 | 2026-02-23
本月 | 本月 | 2026-02-01 | 2026-03-01
25年3月 | 25年3月 | 2025-03-01 | 2025-04-01
冬至 | 冬至 | 2025-12-21 | 2025-12-22
腊八 | 腊八 | 2026-01-26 | 2026-01-27
春节期间 | 春节 | 2026-02-16 | 2026-02-24
在5月和6月之间 | 在5月和6月之间 | 2025-05-01 | 2025-07-01
周一的会 | 周一 | 2026-02-16 | 2026-02-17
3月前 | 3月前 | 0001-01-01 | 2025-03-01
这周天气怎么样 | 这周 | 2026-02-16 | 2026-02-23
前年国庆 | 前年国庆 | 2024-10-01 | 2024-10-08
去年十一长假 | 去年十一长假 | 2025-10-01 | 2025-10-08
明天早上 | 明天早上 | 2026-02-19 05:00 | 2026-02-19 12:00
今晚 | 今晚 | 2026-02-18 18:00 | 2026-02-19 06:00
大年三十 | 大年三十 | 2026-02-16 | 2026-02-17
2024年第二季度 | 2024年第二季度 | 2024-04-01 | 2024-07-01
本季度 | 本季度 | 2026-01-01 | 2026-04-01
下半年以来 | 下半年以来 | 2025-07-01 | 2026-02-19
1月底 | 1月底 | 2026-01-21 | 2026-02-01
12月上旬 | 12月上旬 | 2025-12-01 | 2025-12-11
两个小时前 | 两个小时前 | 2026-02-18 12:00 | 2026-02-18 13:00
过去三年 | 过去三年 | 2023-02-18 | 2026-02-19
近几天 | 近几天 | 2026-02-12 | 2026-02-19
这周末 | 这周末 | 2026-02-21 | 2026-02-23
上礼拜二 | 上礼拜二 | 2026-02-10 | 2026-02-11
万圣节 | 万圣节 | 2025-10-31 | 2025-11-01
2023年冬天 | 2023年冬天 | 2023-12-01 | 2024-03-01
自从春节 | 自从春节 | 2026-02-16 | 2026-02-19
三年前 | 三年前 | 2023-01-01 | 2024-01-01
教师节 | 教师节 | 2025-09-10 | 2025-09-11
正月十五 | 正月十五 | 2025-02-12 | 2025-02-13
"""


def rows(table: str) -> list[tuple[str, ...]]:
    return [tuple(part.strip() for part in line.split("|")) for line in table.strip().splitlines()]


def test_there_are_enough_phrases() -> None:
    assert len(rows(ENGLISH)) >= 80
    assert len(rows(CHINESE)) >= 80


@pytest.mark.parametrize(("phrase", "words", "start", "end"), rows(ENGLISH) + rows(CHINESE))
def test_phrase(phrase: str, words: str, start: str, end: str) -> None:
    expected = DateRange(datetime.fromisoformat(start), datetime.fromisoformat(end), words)
    assert date_ranges(phrase, NOW) == [expected]
    assert date_ranges(f"({phrase})", NOW) == [expected]


ORDINARY = """
you may want to march on for a second
the spring boot app and a fall in price
I may go, it may 5x
June said hello to April
she felt a sense of august calm
port 2024 is open, in 2000 words
v2.2025.1 and 10.2024.3.1
march 5 people out
the sun is up and sat down
He sat with Mon and Wed
the first half was good, a second quarter note
three days of work, a week in the life
what does the config say about retries
every Monday I run, I work on Mondays
issue 2019 is fixed at 2025 lines
Now is the winter of our discontent
meet May at the station
back then we moved house last
between you and me
until now, since then
May was nice
2025-02-30 and 2025-13-01
in 99999 years, 9999 years ago
我每周五跑步
上周期待
晚上月亮很好
公交18号线
三个月饼
一周天气
周围的人都很好
天气很好
明白了吗
今后怎么办
前面有家店
后来怎么样了
一年级学生的五年计划
一天两次
年轻的时候
春风十里
秋刀鱼怎么做
十一个人
五一路怎么走
星期几开会
周到的服务
初中同学上半场
以后再说之前的方案
配置里重试怎么写
每天早上跑步
3号楼在哪里
第三天
三天打鱼
两天的假
2月30日
"""


@pytest.mark.parametrize("text", ORDINARY.strip().splitlines())
def test_words_that_only_look_like_times(text: str) -> None:
    assert date_ranges(text, NOW) == []


@pytest.mark.parametrize(
    ("text", "days"),
    [("３天前", 3), ("3 天前", 3), ("٣ days ago", 3), ("十二天前", 12), ("twelve days ago", 12)],
)
def test_numerals(text: str, days: int) -> None:
    start = datetime.fromisoformat("2026-02-18") - timedelta(days=days)
    assert [found.start for found in date_ranges(text, NOW)] == [start]


def test_several_times_with_their_places() -> None:
    text = "Did we meet last week or 昨天下午, and what about March 2024?"
    found = spans(text, NOW)
    assert [text[start:end] for start, end, _ in found] == ["last week", "昨天下午", "March 2024"]
    assert [found_range.text for _, _, found_range in found] == ["last week", "昨天下午", "March 2024"]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("what did Ann say last week about tea", "what did Ann say about tea"),
        ("what did we buy in March 2025", "what did we buy"),
        ("上周五我们讨论了什么", "我们讨论了什么"),
        ("from May to June we met", "we met"),
        ("nothing  here", "nothing  here"),
    ],
)
def test_the_text_without_its_times(text: str, left: str) -> None:
    assert strip_ranges(text, date_ranges(text, NOW)) == left


def test_now_in_another_zone_is_taken_as_its_clock_shows() -> None:
    late = datetime(2026, 2, 18, 23, 30, tzinfo=timezone(timedelta(hours=-8)))
    today, tomorrow = datetime.fromisoformat("2026-02-18"), datetime.fromisoformat("2026-02-19")
    assert date_ranges("today", late) == [DateRange(today, tomorrow, "today")]
    assert date_ranges("today", late.astimezone(UTC))[0].start == tomorrow


@pytest.mark.parametrize(
    ("now", "phrase", "start"),
    [
        ("2026-01-01", "last month", "2025-12-01"),
        ("2026-01-01", "last quarter", "2025-10-01"),
        ("2026-03-31", "a month ago", "2026-02-01"),
        ("2026-03-31", "the last month", "2026-02-01"),
        ("2026-03-31", "最近一个月", "2026-02-28"),
        ("2026-05-01", "May 5", "2025-05-05"),
        ("2026-05-05", "May 5", "2026-05-05"),
        ("2026-07-15", "last summer", "2025-06-01"),
        ("2026-10-15", "last summer", "2026-06-01"),
        ("2026-02-22", "last weekend", "2026-02-14"),
        ("2026-02-22", "the weekend", "2026-02-21"),
        ("2026-02-16", "Monday", "2026-02-16"),
        ("2026-02-16", "last Monday", "2026-02-09"),
        ("2026-02-16", "next Monday", "2026-02-23"),
        ("2026-02-16", "上周一", "2026-02-09"),
        ("2026-02-10", "春节", "2025-01-28"),
        ("2026-02-16", "春节", "2026-02-16"),
        ("2027-03-01", "Feb 29, 2024", "2024-02-29"),
    ],
)
def test_at_the_edges_of_the_calendar(now: str, phrase: str, start: str) -> None:
    assert date_ranges(phrase, datetime.fromisoformat(now))[0].start == datetime.fromisoformat(start)


WORDS = st.sampled_from(
    """last next this Tuesday May march 5 2025 since before after until between and from to early end of the
    week month ago 3 years days 上 周 月 年 五 三 日 前 后 以来 到 春节 去年 十 二 底 号 天 半 最近 9999 0 - /
    Christmas weekend morning 晚上 Q3 first 农历 初 1月 2月30日 29 February""".split()  # noqa: SIM905 - a list to read
)
PHRASES = st.lists(WORDS, max_size=12)


@given(
    st.one_of(
        st.text(max_size=60),
        st.lists(WORDS, max_size=12).map(" ".join),
        st.lists(WORDS, max_size=12).map("".join),
    ),
    st.datetimes(),
)
@settings(max_examples=examples(400), deadline=None)
@example("1月前0天", datetime.fromisoformat("2026-02-13T09:00"))
def test_any_text_at_any_time(text: str, now: datetime) -> None:
    at = 0
    for start, end, found in spans(text, now):
        assert at <= start < end
        at = end
        assert found.start < found.end
        assert found.text == text[start:end]
    strip_ranges(text, date_ranges(text, now))
    order_hint(text)


@pytest.mark.timed
@pytest.mark.parametrize(
    "unit",
    [
        "last ",
        "三",
        "2025-",
        "May ",
        "five ",
        "从5月到",
        " ",
        "9",
        "年",
        "what did ",
        "the ",
        "day before ",
        "1月1日到",
        "<",
        "一月",
    ],
)
def test_a_megabyte_is_quick(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    started = time.perf_counter()
    spans(text, NOW)
    order_hint(text)
    assert time.perf_counter() - started < 5  # measured below 0.3 s


def test_only_the_beginning_of_a_long_text_is_read() -> None:
    assert date_ranges(" " * LONGEST + "yesterday", NOW) == []


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("What did I do before the trip to Rome?", "before"),
        ("where did we go right after dinner", "after"),
        ("搬家之前我住在哪里", "before"),
        ("开完会之后我们去了哪", "after"),
        ("what is my latest phone number", "latest"),
        ("the most recent release", "latest"),
        ("where do I currently live", "latest"),
        ("最近一次体检是什么时候", "latest"),
        ("我现在用什么编辑器", "latest"),
        ("when did we first meet Ann", "first"),
        ("the first time I ran a marathon", "first"),
        ("第一次见面在哪里", "first"),
        ("我们最早用的是什么数据库", "first"),
        ("到目前为止一共去过几次", None),
        ("我上次画的小狗老师夸了我", None),
        ("这与之前哪件事相关", None),
        ("How long after the trip did it break", None),
        ("think before you speak", None),
        ("who looks after the cat", None),
        ("what is the first argument of open", None),
        ("have I done this before", None),
        ("之前的方案很好", None),
        ("", None),
    ],
)
def test_order_words(text: str, hint: str | None) -> None:
    assert order_hint(text) == hint


@pytest.mark.parametrize(
    ("name", "year", "day"),
    [
        ("lunar new year", 1990, "1990-01-27"),
        ("lunar new year", 2000, "2000-02-05"),
        ("lunar new year", 2023, "2023-01-22"),
        ("lunar new year", 2033, "2033-01-31"),
        ("lunar new year", 2034, "2034-02-19"),
        ("lunar new year", 2100, "2100-02-09"),
        ("mid-autumn", 2020, "2020-10-01"),  # after a leap fourth month
        ("mid-autumn", 2025, "2025-10-06"),  # after a leap sixth month
        ("dragon boat", 2023, "2023-06-22"),
        ("qixi", 2024, "2024-08-10"),
        ("double ninth", 2024, "2024-10-11"),
        ("new year's eve (lunar)", 2025, "2025-01-28"),
        ("laba", 2025, "2025-01-07"),
        ("qingming", 2023, "2023-04-05"),
        ("qingming", 2024, "2024-04-04"),
        ("winter solstice", 2024, "2024-12-21"),
        ("easter sunday", 2024, "2024-03-31"),
        ("easter sunday", 2025, "2025-04-20"),
        ("thanksgiving", 2024, "2024-11-28"),
        ("memorial", 2025, "2025-05-26"),
        ("mother", 2024, "2024-05-12"),
    ],
)
def test_festival(name: str, year: int, day: str) -> None:
    assert festival(name, year)[0].isoformat() == day


def test_every_festival_has_days_in_every_year_of_the_table() -> None:
    for name in FESTIVALS:
        for year in range(1991, 2101):
            start, end = festival(name, year)
            assert start < end
            assert start.year == year or (name == "laba" and start.isoformat() > f"{year - 1}-12-27")


def test_chinese_years_follow_each_other() -> None:
    for year in range(1990, 2100):
        last = max(day for day in (29, 30) if _exists(year, 12, day))
        assert lunar_day(year + 1, 1, 1) - lunar_day(year, 12, last) == timedelta(days=1)


def _exists(year: int, month: int, day: int) -> bool:
    try:
        lunar_day(year, month, day)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(("year", "month", "day"), [(1989, 1, 1), (2101, 1, 1), (2025, 13, 1), (2025, 1, 31)])
def test_days_outside_the_table_are_an_error(year: int, month: int, day: int) -> None:
    with pytest.raises(ValueError, match=str(year)):
        lunar_day(year, month, day)


def test_weekdays_are_counted_from_both_ends() -> None:
    assert nth_weekday(2025, 11, 3, 4).isoformat() == "2025-11-27"
    assert nth_weekday(2025, 12, 0, -1).isoformat() == "2025-12-29"
    assert easter_sunday(2000).isoformat() == "2000-04-23"


@pytest.mark.parametrize(
    "text",
    [
        "我周末喜欢做什么？",
        "周一我一般几点开会？",
        "What do I usually do at the weekend?",
        "Where do I like to eat on Friday?",
    ],
)
def test_a_day_that_comes_again_is_no_date(text: str) -> None:
    now = datetime(2026, 3, 11, tzinfo=UTC)
    assert date_ranges(text, now) == []
    assert date_ranges("What do I usually do, and what did I do last Friday?", now) != []


@pytest.mark.timed
def test_blanks_between_words_of_time_take_no_time() -> None:
    begin = time.process_time()
    assert order_hint("when did" + " " * 1_900 + "I") is None
    assert spans("1911" + " " * 16_000 + "年后", NOW) is not None
    assert time.process_time() - begin < 1, "seconds"
