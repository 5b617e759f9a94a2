"""List the wordings by which a sentence is about work on code, the project at hand, or life at home."""

from typing import Final

from mnemark.extraction.candidate import is_program
from mnemark.extraction.english_words import word_set
from mnemark.text.lazy_pattern import lazy_pattern

HERE: Final = lazy_pattern(
    r"(?i)\b(?:this|our|my) (?!other|side|old|last|next|first|previous|private)(?:[\w-]+ )?(?:repo|repository|project|codebase|code base|monorepo|app|application|package)\b|"
    r"\b(?:in|of|for) (?:the|these) (?:repo|repository|project|codebase|code base|monorepo)s?\b|"
    r"(?:这个?|本|该|此|我们的?|咱们的?)(?:项目|仓库|代码库|代码仓|库|应用|程序|工程)"
)
"""Names the project as such."""
EVERYWHERE: Final = lazy_pattern(
    r"(?i)\b(?:all|every|any|each|whichever|whatever) (?:of )?(?:my |our )?(?:other )?(?:projects?|repos?|repositor(?:y|ies)|codebases?)\b"
    r"|\beverywhere\b|(?:所有|每个|任何|各个|全部)的?(?:项目|仓库|代码库)|(?:无论|不管)(?:在)?(?:哪个|什么)(?:项目|仓库)"
)
TO_PERSON: Final = lazy_pattern(
    r"(?i)^(?:(?:please|always|never|from now on|going forward|only|also|do not|don't|just|you (?:should|must)|"
    r"make sure(?: to| you)?|be sure to|try to|(?:when(?:ever)?|if|before|after|in) [^,]{2,60},)[, ]+)*"
    r"(?:answer|reply|respond|explain|speak|talk|call me|address|greet|ask|tell|show|remind|warn|thank|inform|summari[sz]e|"
    r"translate|apologi[sz]e|confirm|be (?:brief|concise|short|polite|direct|honest|formal|friendly|careful)|give me|"
    r"keep (?:it|your|answers?|replies|responses?|explanations?)|stop)\b|"
    r"\byour (?:answers?|repl(?:y|ies)|responses?|explanations?|tone|messages)\b|\b(?:ask|tell|show|call|remind|warn|inform) me\b|"
    r"(?:回答|回复|答复|解释|叫我|称呼|语气|(?:跟|和|对|给|先?问|告诉|提醒|通知)我(?!们))"
)
"""Says how the agent is to behave towards the person."""
_CODE: Final = lazy_pattern(
    r"(?i)`|\b(?:commit(?:s|ted|ting)?|branch(?:es)?|push(?:es|ed|ing)?|pull requests?|prs?|merg(?:e|es|ed|ing)|rebas\w+|squash\w*|"
    r"repos?|repositor(?:y|ies)|codebase|code|coding|git\w*|ci|pipelines?|builds?|deploy\w*|staging|prod(?:uction)?|"
    r"tests|test (?:suite|command|framework|runner|files?|coverage)|lint\w*|formatter|"
    r"type (?:hint|annotation)s?|typings?|tabs|semicolons|(?:default|named) exports?|imports|inheritance|(?:snake|kebab)[_-]case|camelCase|PascalCase|docstrings?|functions?|methods?|modules?|variables?|apis?|endpoints?|schemas?|"
    r"migrations?|databases?|db|sql|servers?|backends?|frontends?|dependenc(?:y|ies)|lockfiles?|docker\w*|containers?|"
    r"kubernetes|config(?:s|uration)?|env(?:ironment)? var(?:iable)?s?|ports?|scripts?|log files|version(?:s|ing)?|releas(?:e|es|ing)|"
    r"changelog|readme|source files?|bugs?|refactor\w*|compil\w+|localhost|cli|sdk|cache|webhooks?|"
    r"framework|library|libraries|indent(?:ation|ed)?|linter|makefile|stack ?trace|tickets?|issues?|hotfix\w*|rollback|"
    r"commands?|package managers?|default branch|deploy key|feature flags?)\b|"
    r"(?<![\w-])[\w-]+\.(?:py|pyi|tsx?|jsx?|mjs|rs|go|java|kts?|rb|php|cpp|hpp|cs|swift|toml|ya?ml|json|md|sql|sh|css|scss|html|lock|ini|cfg|proto|xml)\b|"
    r"(?<![\w:])(?:~|\.{1,2})?/[\w.-]+/[\w./-]*|\bsrc/|(?<!\S)--?[a-z][\w-]+|\b[a-z]+_[a-z_]+\b|\w\(\)|"
    r"提交|代码|测试|分支|推送|合并|部署|构建|编译|上线|发布|仓库|函数|变量|注释|接口|数据库|依赖|版本|配置|脚本|日志|"
    r"服务器|端口|前端|后端|流水线|镜像|容器|迁移|缓存|报错|框架|包管理|命令|路径|缩进|重构|回滚|导出|类型注解|单引号|双引号|继承|约定式提交|PR"
)
"""Names what code is made of and worked on with."""
AMBIGUOUS: Final = word_set(
    "go rest rust swift arch fish edge arc teams linear notion zoom windows slack node spark flask rider "
    "cursor eclipse brave chrome safari warp oracle poetry clion nano bun dart julia elixir helm trello "
    "asana gmail outlook vi conda nix sentry"
)
"""Programs that are words of daily life, too, or that people use beside their work on code."""
_WORD: Final = lazy_pattern(r"[A-Za-z][\w.+#-]*")
FIRST_PERSON: Final = lazy_pattern(r"\bI\b|(?i:\b(?:my|mine|me|myself)\b)|我(?!们)|本人|俺|咱(?!们)")
OF_SELF: Final = lazy_pattern(r"(?i)(?:(?:and|also|so|fyi|btw|note(?: that)?),? )*(?:I|my)\b|我(?!们)")
"""Begins with the person themselves: "I sign my commits"."""
AT_HOME: Final = lazy_pattern(
    r"(?i)\b(?:famil(?:y|ies)|kids?|child(?:ren)?|sons?|daughters?|wife|husband|wedding|marr(?:y|ied|iage)|engaged|bab(?:y|ies)|"
    r"pregnan\w+|holidays?|vacations?|trips?|travel\w*|honeymoon|apartments?|flat|house|home|rent|mortgage|garden|dogs?|cats?|pets?|"
    r"school|doctor|dentist|hospital|dinner|lunch|breakfast|restaurants?|vegetarian|vegan|christmas|birthdays?|anniversar\w+|"
    r"weekends?|church|moved?|neighbou?rs?|parents?)\b|"
    r"结婚|婚礼|订婚|离婚|孩子|宝宝|老公|老婆|丈夫|妻子|家里|家人|旅游|旅行|度假|搬家|房子|租房|买房|装修|医院|学校|吃饭|晚饭|生日|过年|春节|"
    r"宠物|养[猫狗]|爸妈|父母|周末"
)
"""Names the life at home, of which people say "we", too."""


def names_code(text: str) -> bool:
    """Return whether a text names what code is made of and worked on with."""
    if _CODE.search(text):
        return True
    return any(is_program(word) and word.casefold() not in AMBIGUOUS for word in _WORD.findall(text))
