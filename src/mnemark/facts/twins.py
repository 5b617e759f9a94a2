"""List common values that are one in English and Chinese, and in singular and plural.

Only whole values count: "花生" is "peanuts", "花生酱" is another value. A word that may mean several things
has no place here.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_ROWS: Final = """\
peanuts: peanut, 花生
nuts: nut, 坚果
milk: 牛奶
lactose: 乳糖
eggs: egg, 鸡蛋, 蛋
fish: 鱼
seafood: 海鲜
shellfish: 贝类, 甲壳类
shrimp: shrimps, prawns, prawn, 虾
wheat: 小麦
gluten: 麸质
soy: soya, 大豆
pollen: 花粉
dust: 灰尘, 粉尘
penicillin: 青霉素
cats: cat, 猫, 猫咪
dogs: dog, 狗, 狗狗
coffee: 咖啡
tea: 茶
green tea: 绿茶
beer: 啤酒
wine: 葡萄酒
red wine: 红酒
chocolate: 巧克力
ice cream: 冰淇淋, 冰激凌
pizza: 披萨, 比萨
sushi: 寿司
noodles: 面条
rice: 米饭
dumplings: 饺子
hot pot: hotpot, 火锅
spicy food: 辣的, 吃辣, 辣
apples: apple, 苹果
bananas: banana, 香蕉
strawberries: strawberry, 草莓
mangoes: mango, mangos, 芒果
music: 音乐
jazz: 爵士, 爵士乐
rock music: 摇滚, 摇滚乐
classical music: 古典音乐
movies: movie, films, film, 电影
books: book, 书
reading: reading books, 阅读, 看书, 读书
cooking: 做饭, 烹饪
baking: 烘焙
hiking: 徒步
climbing: 攀岩
running: 跑步
jogging: 慢跑
swimming: 游泳
cycling: 骑行, 骑自行车
yoga: 瑜伽
photography: 摄影
painting: 画画, 绘画
drawing: 素描
dancing: 跳舞
singing: 唱歌
gardening: 园艺
fishing: 钓鱼
travelling: traveling, travel, 旅行, 旅游
basketball: 篮球, 打篮球, playing basketball
football: 足球, 踢足球, playing football
soccer: playing soccer
tennis: 网球, 打网球, playing tennis
badminton: 羽毛球, 打羽毛球, playing badminton
table tennis: ping pong, 乒乓球, 打乒乓球
skiing: 滑雪
piano: playing the piano, 钢琴, 弹钢琴
guitar: playing the guitar, 吉他, 弹吉他
vegetarian: 素食者, 素食主义者, 吃素
vegan: 纯素, 纯素食者
english: 英语, 英文
chinese: 中文, 汉语
mandarin: 普通话
cantonese: 粤语
japanese: 日语, 日文
korean: 韩语
french: 法语, 法文
german: 德语, 德文
spanish: 西班牙语
italian: 意大利语
portuguese: 葡萄牙语
russian: 俄语
arabic: 阿拉伯语
red: 红色
blue: 蓝色
green: 绿色
yellow: 黄色
black: 黑色
white: 白色
purple: 紫色
pink: 粉色, 粉红色
grey: gray, 灰色
brown: 棕色
beijing: 北京
shanghai: 上海
guangzhou: 广州
shenzhen: 深圳
hangzhou: 杭州
nanjing: 南京
suzhou: 苏州
chengdu: 成都
wuhan: 武汉
xi'an: xian, 西安
chongqing: 重庆
tianjin: 天津
qingdao: 青岛
xiamen: 厦门
hong kong: 香港
taipei: 台北
tokyo: 东京
singapore: 新加坡
london: 伦敦
paris: 巴黎
berlin: 柏林
new york: 纽约
china: 中国
japan: 日本
germany: 德国
france: 法国
canada: 加拿大
australia: 澳大利亚
teacher: 老师, 教师
doctor: 医生
nurse: 护士
lawyer: 律师
engineer: 工程师
software engineer: 软件工程师
programmer: 程序员
designer: 设计师
accountant: 会计
student: 学生
police officer: 警察
"""


def _table() -> Mapping[str, str]:
    rows = (row.partition(": ") for row in _ROWS.splitlines())
    return MappingProxyType({word: key for key, _, words in rows for word in words.split(", ")})


TWINS: Final = _table()
"""Keys of values by their other words."""
