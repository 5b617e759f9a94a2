"""Function words: they carry no topic, so their rows weigh nothing and questions are asked without them."""

ENGLISH = frozenset(
    """
a about above after again against all also am an and any are aren as at be became because been before being
below between both but by can cannot could couldn d did didn do does doesn doing don down during each either
else ever every few for from further get gets getting go goes going gonna got had hadn has hasn have haven
having he her here hers herself him himself his how however i if in into is isn it its itself just ll let lets
like m may me might more most much must my myself neither no nor not now o of off oh ok okay on once one only
onto or other others our ours ourselves out over own per quite rather re really s said same say says shall she
should shouldn since so some somebody someone something still such t tell than that the their theirs them
themselves then there therefore these they thing things this those though through thus to too under until up
upon us ve very via was wasn we well were weren what when where whether which while who whom whose why will
with within without won would wouldn yeah yes yet you your yours yourself yourselves
""".split()  # noqa: SIM905 - a list literal would be one word a line
)

CHINESE = frozenset(
    """
的 了 和 是 在 我 有 他 这 中 就 不 也 都 而 及 与 着 或 一个 没有 我们 你们
他们 她们 它们 你 她 它 我的 你的 他的 她的 之 于 以 被 把 让 给 对 对于 关于 从
到 向 往 由 为 为了 因为 所以 因此 但 但是 不过 可是 然而 虽然 如果 若 要是 那么
那 那个 那些 这个 这些 这样 那样 这里 那里 哪 哪个 哪些 哪里 哪儿 什么 怎么 怎样
怎么样 如何 为什么 为何 谁 多少 几 吗 呢 吧 啊 呀 哦 嗯 哈 啦 嘛 么 哇 唉 嘿 喂
很 太 更 最 非常 特别 十分 比较 还 还是 还有 又 再 才 只 只是 已 已经 正 正在 曾
曾经 将 将要 会 能 能够 可以 可能 应该 需要 要 想 得 地 过 起来 出来 下来 上来
下去 其 其中 其他 其它 某 某个 某些 每 每个 各 各个 各种 一些 一下 一点 有些 有点
有的 些 个 种 样 次 位 件 项 等 等等 之间 之后 之前 以后 以前 以及 并 并且 而且
或者 还要 就是 不是 是否 是不是 有没有 同时 然后 于是 接着 当 当时 时 时候 的话 来说
来 去 上 下 里 内 外 前 后 中间 左右 一 没 别 请 请问 自己 大家 人家 咱们 咱 您
俺 所 所有 任何 具体 本 该 此 这么 那么 这种 那种 一样 一直 一起 通过 根据 按照
进行 作为 成为 由于 除了 即 则 却 便 仍 仍然 跟 同 比 似的 似乎 好像
""".split()  # noqa: SIM905 - a list literal would be one word a line
)
