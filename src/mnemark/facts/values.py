"""Tell which values in two languages are one: peanuts and 花生, Beijing and 北京.

Only words with one meaning each are listed; 苹果 is a fruit and a maker, so it is not. The first word of a
line is the key.
"""

from typing import Final

_TWINS: Final = """
peanuts, peanut, 花生
nuts, tree nuts, 坚果
cashews, cashew, 腰果
walnuts, walnut, 核桃
almonds, almond, 杏仁
shellfish, 贝类, 甲壳类
seafood, 海鲜
shrimp, shrimps, prawns, 虾
crab, crabs, 螃蟹, 蟹
fish, 鱼
milk, cow's milk, 牛奶
dairy, dairy products, 乳制品, 奶制品
lactose, 乳糖
eggs, egg, 鸡蛋
gluten, 麸质, 麸质蛋白
wheat, 小麦
soy, soya, 大豆
sesame, 芝麻
mango, mangoes, mangos, 芒果
pineapple, 菠萝
strawberries, strawberry, 草莓
kiwi, kiwis, 猕猴桃
pollen, 花粉
dust mites, dust mite, 尘螨
dust, 灰尘
mold, mould, 霉菌
cat hair, 猫毛
dog hair, 狗毛
latex, 乳胶
penicillin, 青霉素
aspirin, 阿司匹林
cephalosporins, 头孢
alcohol, 酒精
bee stings, 蜂毒
coffee, 咖啡
black coffee, 黑咖啡
tea, 茶
green tea, 绿茶
beer, 啤酒
red wine, 红酒
cilantro, coriander, 香菜
chocolate, 巧克力
ice cream, 冰淇淋, 冰激凌
pizza, 披萨, 比萨
sushi, 寿司
hot pot, hotpot, 火锅
dumplings, 饺子
noodles, 面条
rice, 米饭
tofu, 豆腐
cheese, 奶酪, 芝士
beef, 牛肉
pork, 猪肉
lamb, mutton, 羊肉
chicken, 鸡肉
spicy food, 辣, 吃辣, 辣的
durian, 榴莲
bananas, banana, 香蕉
watermelon, 西瓜
cats, cat, 猫, 猫咪
dogs, dog, 狗, 狗狗
rabbits, rabbit, 兔子
parrots, parrot, 鹦鹉
hamsters, hamster, 仓鼠
turtles, turtle, 乌龟
horses, horse, 马
spiders, spider, 蜘蛛
snakes, snake, 蛇
diabetes, 糖尿病
type 2 diabetes, 2型糖尿病, 二型糖尿病
high blood pressure, hypertension, 高血压
asthma, 哮喘
cancer, 癌症
migraine, migraines, 偏头痛
depression, 抑郁症
arthritis, 关节炎
epilepsy, 癫痫
gout, 痛风
anemia, anaemia, 贫血
heart disease, 心脏病
insomnia, 失眠
lactose intolerance, lactose intolerant, 乳糖不耐, 乳糖不耐受
color blindness, colour blindness, color blind, colour blind, 色盲
chinese, 中文, 汉语
mandarin, 普通话
cantonese, 粤语, 广东话
english, 英语, 英文
german, 德语, 德文
french, 法语, 法文
spanish, 西班牙语
portuguese, 葡萄牙语
italian, 意大利语
japanese, 日语, 日文
korean, 韩语, 韩文
russian, 俄语
arabic, 阿拉伯语
thai, 泰语
vietnamese, 越南语
hindi, 印地语
dutch, 荷兰语
sign language, 手语
china, 中国
united states, usa, us, the us, the usa, the united states, america, 美国
united kingdom, uk, the uk, the united kingdom, 英国
germany, 德国
france, 法国
italy, 意大利
spain, 西班牙
portugal, 葡萄牙
netherlands, the netherlands, 荷兰
switzerland, 瑞士
austria, 奥地利
sweden, 瑞典
norway, 挪威
denmark, 丹麦
finland, 芬兰
poland, 波兰
russia, 俄罗斯
japan, 日本
south korea, 韩国
india, 印度
thailand, 泰国
vietnam, 越南
singapore, 新加坡
malaysia, 马来西亚
indonesia, 印度尼西亚, 印尼
philippines, the philippines, 菲律宾
australia, 澳大利亚
new zealand, 新西兰
canada, 加拿大
mexico, 墨西哥
brazil, 巴西
egypt, 埃及
south africa, 南非
beijing, 北京
shanghai, 上海
guangzhou, 广州
shenzhen, 深圳
hangzhou, 杭州
nanjing, 南京
suzhou, 苏州
chengdu, 成都
chongqing, 重庆
wuhan, 武汉
xi'an, xian, 西安
tianjin, 天津
qingdao, 青岛
xiamen, 厦门
changsha, 长沙
hong kong, 香港
macau, macao, 澳门
taipei, 台北
taiwan, 台湾
tokyo, 东京
kyoto, 京都
osaka, 大阪
seoul, 首尔
bangkok, 曼谷
london, 伦敦
paris, 巴黎
berlin, 柏林
munich, 慕尼黑
hamburg, 汉堡市
vienna, 维也纳
zurich, zürich, 苏黎世
rome, 罗马
milan, 米兰
madrid, 马德里
barcelona, 巴塞罗那
lisbon, 里斯本
amsterdam, 阿姆斯特丹
moscow, 莫斯科
new york, new york city, nyc, 纽约
los angeles, 洛杉矶
san francisco, 旧金山
seattle, 西雅图
boston, 波士顿
chicago, 芝加哥
toronto, 多伦多
vancouver, 温哥华
sydney, 悉尼
melbourne, 墨尔本
red, 红色
blue, 蓝色
green, 绿色
yellow, 黄色
black, 黑色
white, 白色
purple, 紫色
pink, 粉色, 粉红色
orange color, 橙色
gray, grey, 灰色
spring, 春天
summer, 夏天
autumn, 秋天
winter, 冬天
swimming, 游泳
running, 跑步
hiking, 徒步
reading, 看书, 读书, 阅读
cooking, 做饭, 烹饪
photography, 摄影
traveling, travelling, 旅行, 旅游
basketball, 篮球, 打篮球
football, soccer, 足球, 踢足球
tennis, 网球, 打网球
badminton, 羽毛球, 打羽毛球
table tennis, ping pong, 乒乓球, 打乒乓球
chess, 国际象棋
yoga, 瑜伽
fishing, 钓鱼
gardening, 园艺
piano, the piano, 钢琴
guitar, the guitar, 吉他
violin, the violin, 小提琴
cello, the cello, 大提琴
drums, the drums, 架子鼓
vegetarian, a vegetarian, 素食者, 吃素, 素食, 素食主义者
vegan, a vegan, 纯素, 纯素食者, 纯素者, 纯素主义者
teacher, a teacher, 老师, 教师
doctor, a doctor, 医生
nurse, a nurse, 护士
lawyer, a lawyer, 律师
engineer, an engineer, 工程师
software engineer, a software engineer, 软件工程师
accountant, an accountant, 会计, 会计师
married, 已婚, 结婚
single, 单身
divorced, 离异, 离婚
female, woman, 女, 女性
male, man, 男, 男性
mother, mom, mum, 妈妈, 母亲
father, dad, 爸爸, 父亲
wife, 妻子, 老婆, 太太
husband, 丈夫, 老公
daughter, 女儿
son, 儿子
grandfather, grandpa, 爷爷
colleague, coworker, co-worker, 同事
friend, 朋友
"""
_KEYS: Final = {
    word: line.partition(", ")[0] for line in _TWINS.split("\n") if line for word in line.split(", ")
}


def twin_key(words: str) -> str:
    """Return the key that a value shares with its twins in the other language; itself if none is known.

    >>> twin_key("花生"), twin_key("peanut"), twin_key("苹果")
    ('peanuts', 'peanuts', '苹果')
    """
    return _KEYS.get(words, words)
