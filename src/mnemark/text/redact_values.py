"""Is this a secret's name, and is that a secret? Judged by the words of the key and the look of the value.

Names are strong ("password": whatever stands there is the secret) or plain ("token", "key": only what looks
random is). Values that refer to a secret (`$API_KEY`, `getpass()`, `self.token`), describe one (`str`,
`required`) or stand in for one (`<your-key>`, `xxxx`, `changeme`) are left alone.
"""

import math
import re
from collections import Counter
from functools import lru_cache
from typing import Literal

Strength = Literal["strong", "plain", "pin"]

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_STRONG = frozenset(
    "password passwd passwort passphrase passcode pass pwd pw psk passin passout requirepass masterauth "
    "密码 密碼 口令 暗号 授权码 授權碼 提取码".split()
)
_PLAIN = frozenset(
    "secret secrets token bearer credential credentials apikey accesskey secretkey authkey appsecret "
    "密钥 密鑰 秘钥 金钥 金鑰 令牌 私钥 私鑰 权杖 authorization auth authtoken apitoken jwt sig signature "
    "csrftoken sessionid".split()
)
_PIN = frozenset("pin 验证码 驗證碼 动态码 校验码".split())
_KEYS_OF = frozenset(
    "api access secret private encryption master account auth service signing shared storage app deploy "
    "session license subscription client admin fernet crypto aes des hmac webhook bot openai anthropic "
    "provider llm embedding".split()
)
# The last word decides what a name names; these make it something about the secret.
_ABOUT = frozenset(
    "count counts counter length len limit limits type types name names id ids file files path dir url uri "
    "endpoint field label input form reset policy hash hashed hasher strength expiry expires expiration "
    "expired ttl age size max min budget usage used index idx list map set error errors required valid "
    "verified provider class model env var variable prompt hint manager store rule rules created updated at "
    "date time algorithm alg format pattern regex re string str position pos start end stream kind changed "
    "enabled disabled info ring vault rotation scope scopes ref from".split()
)
_PUBLIC = frozenset("public publishable pub max min num total prompt completion input output cache".split())


@lru_cache(maxsize=4096)
def strength(name: str) -> Strength | None:
    """How much a key's name says that its value is a secret; None if it does not."""
    words = [word.lower() for word in _WORDS.findall(name)] or [name]
    last = words[-1]
    if last.isdigit() and len(words) > 1:
        words.pop()
        last = words[-1]
    joined = "".join(words)
    if not name.isascii():
        return _strength_zh(name)
    if last in _ABOUT and joined != "secretid":
        return None
    if last in _STRONG:
        return "strong"
    if any(word in _PUBLIC for word in words[:-1]) and last in ("token", "key"):
        return None
    if joined.endswith(("password", "passwd", "passphrase", "passcode")):
        return "strong"
    if last in _PLAIN or joined.endswith(("token", "secret", "apikey", "secretkey", "accesskey", "privatekey")):
        return "plain"
    if last == "key" and len(words) > 1 and words[-2] in _KEYS_OF:
        return "plain"
    return "pin" if last in _PIN else None


def _strength_zh(name: str) -> Strength | None:
    for words, found in ((_STRONG, "strong"), (_PLAIN, "plain"), (_PIN, "pin")):
        if any(name.endswith(word) for word in words if not word.isascii()):
            return found  # type: ignore[return-value]  # the literals above are the three strengths
    return None


_STAND_INS = frozenset(
    "your my the a an this some any here example examples sample placeholder dummy fake test testing demo "
    "todo tbd fixme changeme change me replace insert put enter fill value values key keys api secret "
    "secrets token tokens password passwd pass pwd passphrase access auth client app user username login "
    "account id foo bar baz qux abc redacted hidden masked removed omitted private none null nil nan true "
    "false yes no on off undefined unset empty default string str text int integer float number bool "
    "boolean bytes bytearray object dict list tuple any type optional required char varchar uuid ellipsis "
    "env environ secretstr bearer basic digest xxx new old current same see above below with of in to from "
    "hash hashed encrypted string's literal ascii utf8 generated random input output prompt stdin "
    "credential credentials 您的 你的 密码 示例 密钥".split()
)
_PARTS = re.compile(r"[^\W\d_]+|\d+")
_REFERENCE = re.compile(
    r"\$|%[({A-Z]?[\w-]*[)}%sdr]|\{|<|\(|\)|\[|\.\.\.|…|\*{2,}|&[A-Za-z_]\w*$|@\w+$|!\w|#\{|`|\\?u?\{|://|\||!!|->"
)
_CALL = re.compile(r"[A-Za-z_][\w.:>-]*[(\[{]|.*[(\[]\)?$|.*\{\w*\}|.*\$\{|.*<[\w -]+>|.*%\(\w+\)s")
_PATH = re.compile(r"(?:[A-Za-z_]\w*(?:\.|->|::))+[A-Za-z_]\w*$")
_FILE = re.compile(r"~?\.{0,2}/(?:[\w.-]+/)*[\w.-]+$|[\w-]+\.(?:py|js|ts|json|ya?ml|toml|txt|md|pem|key|crt|html?)$")
_SAME = re.compile(r"(.)\1*$|(?:(.)(?:\2)*[-_. ]?)+$", re.DOTALL)


def stands_in(value: str) -> bool:
    """Whether the value is no secret but a reference to one, a type, or a placeholder."""
    if _REFERENCE.match(value) or _CALL.match(value) or _FILE.match(value):
        return True
    if set(value) <= set("xX*.-_•●?#…·=0 "):
        return True
    parts = _PARTS.findall(value.lower())
    return all(part in _STAND_INS or part in ("1", "123", "0") or set(part) <= {"x"} for part in parts)


def is_path(value: str) -> bool:
    """Whether the value reads as a name in code: `self.password`, `settings::token`."""
    return _PATH.match(value) is not None and not any(map(str.isdigit, value))


_COMPOUND = re.compile(r"[A-Za-z]+(?:[_.-][A-Za-z]+|[A-Z][a-z]+)+$")


def refers(value: str) -> bool:
    """Whether the value is itself the name of a secret: `db_password`, `userToken`."""
    return _COMPOUND.match(value) is not None and strength(value) is not None


def classes(value: str) -> int:
    """How many of lower case, upper case, digits and signs occur."""
    return (
        any(map(str.islower, value))
        + any(map(str.isupper, value))
        + any(map(str.isdigit, value))
        + any(not char.isalnum() for char in value)
    )


def entropy(value: str) -> float:
    """Shannon entropy of the characters, in bits per character."""
    total = len(value)
    return -sum(n / total * math.log2(n / total) for n in Counter(value).values())


def looks_random(value: str) -> bool:
    """Long and mixed enough to be made by a machine: letters with digits, or many kinds of signs."""
    if len(value) < 12 or " " in value:
        return False
    head = value[:512]
    digits = sum(map(str.isdigit, head))
    letters = sum(map(str.isalpha, head))
    if not letters:
        return len(value) >= 20 and digits >= 16
    if not digits and not (len(head) >= 20 and _case_changes(head) >= len(head) / 4):
        return False
    return entropy(head) >= (2.8 if len(head) < 20 else 3.0)


def _case_changes(value: str) -> int:
    return sum(one.isupper() != two.isupper() for one, two in zip(value, value[1:], strict=False))


def looks_chosen(value: str) -> bool:
    """As people choose passwords when told to: letters with digits or signs, four characters or more."""
    if not 4 <= len(value) <= 128:
        return False
    digits = any(map(str.isdigit, value))
    letters = any(map(str.isalpha, value))
    signs = any(char in "!@#$%^&*+=?~" for char in value[1:])
    return (digits and (letters or len(value) >= 4)) or (letters and signs)
