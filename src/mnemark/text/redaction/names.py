"""Classify names as names of secrets, in snake, camel and kebab case, English and Chinese."""

from functools import lru_cache
from typing import Final, Literal

from mnemark.text.lazy_pattern import lazy_pattern

Strength = Literal["strong", "plain", "pin"]
"""Strong: any value is secret. Plain: only values that look random. Pin: a few digits."""

_WORDS = lazy_pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_STRONG_ENDS = ("password", "passwd", "passphrase", "passcode")
_PLAIN_ENDS = ("token", "secret", "apikey", "secretkey", "accesskey", "privatekey", "contribsyscom")


@lru_cache(maxsize=4096)
def strength(name: str) -> Strength | None:
    """Return how strongly a name indicates a secret value; None if it does not."""
    parts = [word.lower() for word in _WORDS.findall(name)] or [name]
    last = parts[-1]
    if last.isdigit() and len(parts) > 1:
        parts.pop()
        last = parts[-1]
    if not name.isascii():
        return _strength_zh(name)
    joined = "".join(parts)
    public = last in ("token", "key") and not PUBLIC.isdisjoint(parts[:-1])
    if (last in ABOUT and joined != "secretid") or public:
        return None
    if last in STRONG or joined.endswith(_STRONG_ENDS):
        return "strong"
    of = parts[-2] if len(parts) > 1 else ""
    constant = name.isupper() and NO_SECRET_KEYS.isdisjoint(parts)
    secret_key = last == "key" and (of in KEYS_OF or constant)
    if last in PLAIN or joined.endswith(_PLAIN_ENDS) or secret_key:
        return "plain"
    return "pin" if last in PIN else None


def _strength_zh(name: str) -> Strength | None:
    tables: tuple[tuple[frozenset[str], Strength], ...] = ((STRONG, "strong"), (PLAIN, "plain"), (PIN, "pin"))
    return next(
        (found for words, found in tables for word in words if not word.isascii() and name.endswith(word)),
        None,
    )


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


STRONG: Final = _words("""
    password passwd passwort passphrase passcode pass pwd pw psk passin passout requirepass masterauth 密码
    密碼 口令 暗号 授权码 授權碼 提取码 kennwort senha wachtwoord parola haslo heslo sifre contrasena passe
    contraseña hasło şifre şifrem khẩu lösenord jelszó пароль пароля パスワード 비밀번호 암호 wifi是 wi-fi是
""")
"""Names whose value is always secret."""
PLAIN: Final = _words("""
    secret secrets token bearer credential credentials apikey accesskey secretkey authkey appsecret 密钥 密鑰
    秘钥 金钥 金鑰 令牌 私钥 私鑰 权杖 authorization auth authtoken apitoken jwt sig signature csrftoken
    sessionid appkey pat
""")
"""Names whose value is secret if it looks random."""
PIN: Final = _words("pin 验证码 驗證碼 动态码 校验码")
"""Names whose value is secret if it is a few digits."""
KEYS_OF: Final = _words("""
    api access secret private encryption master account auth service signing shared storage app deploy session
    license subscription client admin fernet crypto aes des hmac webhook bot provider llm embedding 密
    openai anthropic claude gemini deepseek dashscope qwen kimi aws azure google github gitlab stripe slack
    twilio sendgrid mailgun algolia heroku datadog cloudflare rapidapi
""")
"""Words before `key` that make it a secret."""
NO_SECRET_KEYS: Final = _words("""
    public publishable primary foreign unique sort partition cache redis index hash group object row column
    map dict data row file image s3 bucket storage topic routing message event queue job task lock config
    setting settings feature flag query search lookup idempotency dedupe idem record item entity node
    translation i18n locale host ssh known registry winreg hkey sitemap menu shortcut hot
""")
"""Words of a constant's name that say that its key is no secret."""
ABOUT: Final = _words("""
    count counts counter length len limit limits type types name names id ids file files path dir url uri
    endpoint field label input form reset policy hash hashed hasher strength expiry expires expiration expired
    ttl age size max min budget usage used index idx list map set error errors required valid verified
    provider class model env var variable prompt hint manager store rule rules created updated at date time
    algorithm alg format pattern regex re string str position pos start end stream kind changed enabled
    disabled info ring vault rotation scope scopes ref from
""")
"""Last words of names of a secret's properties, which are not secret."""
PUBLIC: Final = _words("""
    public publishable pub max min num total prompt completion input output cache
""")
"""Words before `key` and `token` that make them public values or counts."""
STAND_INS: Final = _words("""
    your my the a an this some any here example examples sample placeholder dummy fake test testing demo todo
    tbd fixme changeme change me replace insert put enter fill value values key keys api secret secrets token
    tokens password passwd pass pwd passphrase access auth client app user username login account id foo bar
    baz qux redacted hidden masked removed omitted private none null nil nan true false yes no on off
    undefined unset empty default string str text int integer float number bool boolean bytes bytearray object
    dict list tuple type optional required char varchar uuid ellipsis env environ secretstr bearer basic
    digest xxx new old current same see above below with of in to from hash hashed encrypted string's literal
    ascii utf8 generated random input output prompt stdin credential credentials 您的 你的 密码 示例 密钥
""")
"""Words of placeholders, types and references: a value of only these words is not secret."""
TELLS: Final = _words("""
    required wrong incorrect invalid valid correct not never always still already too also only just stored
    saved kept hashed encrypted protected safe secure weak strong long short needed missing empty blank lost
    forgotten unknown unchanged changed reset expired expiring shown hidden visible printed sent given set
    used rejected accepted case-sensitive plain-text plaintext being going about available read checked
    compared generated provided specified optional mandatory there here where what when which that this these
    those because more less very quite really in on at it he she they we you random rotated shared different
    identical unique common leaked compromised exposed public cached passed returned
""")
"""Words that a sentence says about a password without stating it."""
