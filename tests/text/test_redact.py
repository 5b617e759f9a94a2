import importlib.util
import random
import re
import string
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linear import within
from mnemark.errors import UsageError
from mnemark.text.redaction import MARK
from mnemark.text.redaction.key_formats import emails, key_blocks, keys_and_tokens
from mnemark.text.redaction.redact import DEFAULT, may_hold_formats, redact
from sampled import examples, sampled

SALTED = DEFAULT.with_salt(b"only for these tests")
TOOL = Path(__file__).parents[2] / "tools" / "check_redaction.py"


def _made(alphabet: str, size: int, seed: int = 1) -> str:
    """Made up at run time, so that no scanner takes this file for a leak."""
    dice = random.Random(seed)
    return "".join(dice.choice(alphabet) for _ in range(size))


ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
GITHUB = "ghp_" + _made(ALNUM, 36)


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_redaction", TOOL)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["open", "sealed"])
def test_the_written_sets_are_taken_out(tool: ModuleType, name: str) -> None:
    cases = tool.read_cases(name)
    lost = [case.text for case in cases if tool.missed(case)]
    assert len(cases) >= 150
    assert len(lost) <= 0.05 * len(cases), lost


def test_the_rest_of_the_text_stays() -> None:
    text = f"before\nTOKEN={GITHUB}\nafter, and my password is hunter2. Good night"
    clean, findings = redact(text)
    assert clean == (
        "before\nTOKEN=[redacted:key:00000000]\n"
        "after, and my password is [redacted:password:00000000]. Good night"
    )
    assert [(kind, text[start:end]) for kind, start, end in findings] == [
        ("key", GITHUB),
        ("password", "hunter2"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "password = getpass()",
        "password = getpass.getpass('Password: ')",
        "token: str",
        "token: str = None",
        "API_KEY=$API_KEY",
        "API_KEY=${API_KEY}",
        'export API_KEY="$(pass show api)"',
        "api_key = os.environ['API_KEY']",
        "password = self.password",
        "self.password = password",
        "def login(user: str, password: str) -> Token:",
        "connect(user=user, password=password)",
        "api_key: <your-key>",
        "API_KEY=your-api-key-here",
        "password: ********",
        "token=xxxxxxxxxxxxxxxx",
        "password: example",
        "password=changeme",
        "{{ secrets.API_TOKEN }}",
        '"password": "{password}"',
        '{"type": "object", "properties": {"password": {"type": "string"}}}',
        '{"max_tokens": 4096, "token_count": 12345678}',
        "the password is required",
        "your password is incorrect, please try again",
        "Password must have 8 characters",
        "The token is invalid or has expired",
        "密码错误，请重新输入",
        "密码是什么？",
        "忘记密码怎么办",
        "密码不能少于 8 位",
        "we tokenize 4096 tokens with tokenizer2",
        "commit " + _made(HEX, 40),
        "sha256:" + _made(HEX, 64),
        "primary key: 9f86d081-884c-4d65-9a2f-eaa0c55ad015",
        "cache_key=" + _made(HEX, 32),
        "ssh-rsa " + "AAAA" + _made(ALNUM, 60),
        "public_key: " + _made(ALNUM, 44),
        "https://example.net/a?id=" + _made(HEX, 32),
        "git@example.net:a/b.git",
        "use -----BEGIN PRIVATE KEY----- as the first line",
        "monkey: banana, keyboard: qwerty12",
        "Authorization: Bearer <token>",
        "Authorization: Bearer $TOKEN",
        'headers = {"Authorization": f"Bearer {token}"}',
        "postgres://user:password@localhost/db",
        "postgres://$USER:$PASS@localhost/db",
        ".sk-estimator-doc-link-with-a-long-name",
        "the pass rate: 1200 of 1300",
        "spin: 4821",
        "## 10:25 [Router password hint](episodes/2026-11-23-router-password-hint.md)",
        "[api key rotation](docs/2026/api-key-rotation.md) and [token budget](https://example.net/2026/budget1)",
    ],
)
def test_code_placeholders_hashes_and_talk_are_left_alone(text: str) -> None:
    assert redact(text) == (text, ())


@pytest.mark.parametrize(
    "kind", ["RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PRIVATE KEY", "PGP PRIVATE KEY BLOCK"]
)
@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("prefix", ["", "    ", "> "])
def test_key_blocks_go_whole(kind: str, closed: bool, prefix: str) -> None:  # noqa: FBT001 - a parameter of the test
    body = [_made(ALNUM + "+/", 64, seed) for seed in range(5)] + ["QQ=="]
    lines = [f"-----BEGIN {kind}-----", *body, *([f"-----END {kind}-----"] if closed else [])]
    text = "look:\n" + "\n".join(prefix + line for line in lines) + "\n\nThat was all, he said."
    clean = redact(text).text
    assert clean.startswith("look:\n")
    assert clean.endswith("That was all, he said.")
    assert not any(line in clean for line in body)


def test_an_address_is_a_kind_of_its_own_and_can_stay() -> None:
    text = "write to ann.lee@mail.example.com, or to 李雷<li@example.cn>"
    assert [kind for kind, *_ in redact(text).findings] == ["email", "email"]
    assert "@" not in redact(text).text
    assert redact(text, type(DEFAULT)(emails=False)) == (text, ())


def test_hashes_follow_the_salt() -> None:
    text = "my password is hunter2, your password is hunter3, the db password is hunter2"
    one, two, three = MARK.findall(redact(text, SALTED).text)
    assert one == three
    assert one != two
    assert redact(text, SALTED) == redact(text, SALTED)
    other = DEFAULT.with_salt(b"another salt for tests")
    assert MARK.findall(redact(text, other).text)[0] != one


@pytest.mark.parametrize(
    "text",
    [
        "[the password correct-Horse9](notes.md)",
        "the password hunter](Xy9!kTz is",
        "[a\nb password hunter](Xy9!kTz",
        "[token reset](https://example.net/?token=q8Zt4LwP0xVb7KmR)",
    ],
)
def test_a_password_in_or_behind_a_link_is_found(text: str) -> None:
    assert redact(text).text != text


def test_without_a_salt_a_mark_tells_nothing() -> None:
    assert redact("PIN: 4821").text == redact("PIN: 4822").text == "PIN: [redacted:pin:00000000]"


def test_a_salt_that_is_too_short_is_refused() -> None:
    with pytest.raises(UsageError, match="16 to 32"):
        DEFAULT.with_salt(b"short")


def test_exact_values_go_wherever_they_stand() -> None:
    rules = DEFAULT.with_values(["plain-looking-value", "plain-looking", "short"])
    assert redact("xplain-looking-valuey short plain-looking", rules).text == (
        "x[redacted:value:00000000]y short [redacted:value:00000000]"
    )


def test_a_persons_patterns_are_used() -> None:
    rules = DEFAULT.with_patterns([r"EMP-\d{6}", "x"])
    assert (
        redact("EMP-123456 and xxx", rules).text
        == "[redacted:custom:00000000] and [redacted:custom:00000000]"
    )
    assert redact("xxx", rules).text == "[redacted:custom:00000000]"


@given(
    st.text(alphabet=string.ascii_letters, max_size=7) | st.sampled_from(["token", "pin", "private", "eyJ"])
)
def test_a_short_word_is_no_secret(word: str) -> None:
    assert redact(word).text == word
    assert redact(f" {word} ").text == f" {word} "


@pytest.mark.parametrize("pattern", ["(", "a*", "", "a" * 501, "a(?=b)"])
def test_unusable_patterns_are_refused(pattern: str) -> None:
    with pytest.raises(UsageError):
        DEFAULT.with_patterns([pattern])


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("<password>kettle42</password>", "<password>[redacted:password:00000000]</password>"),
        ("密码我改成 kettle42 了", "密码我改成 [redacted:password:00000000] 了"),
        ('password: "kettle(42"', 'password: "[redacted:password:00000000]"'),
        ("https://token:kettle42@example.net/a", "https://token:[redacted:url-login:00000000]@example.net/a"),
    ],
)
def test_only_the_secret_goes(text: str, clean: str) -> None:
    assert redact(text).text == clean


def test_private_text_is_taken_out_first() -> None:
    assert redact(f"a <private>{GITHUB}</private> b").text == "a [private] b"


def test_the_letter_that_grows_in_lower_case_moves_nothing() -> None:
    assert redact("İİİİ password=hunter2x").text == "İİİİ password=[redacted:password:00000000]"


_PIECES = st.sampled_from(
    [
        "password",
        "token",
        "secret",
        "api_key",
        "密码",
        "密钥",
        "Authorization",
        "Cookie",
        "Bearer ",
        "=",
        ":",
        ": ",
        " is ",
        "是",
        '"',
        "'",
        "`",
        "\\",
        " ",
        "\n",
        ",",
        ";",
        "{",
        "}",
        "$",
        "://",
        "@",
        "a:b@",
        "?key=",
        "--",
        "-p ",
        "hunter2",
        "correcthorse",
        "Ab9-klmn-2Q",
        "4821",
        GITHUB,
        "sk-" + _made(ALNUM, 48),
        "eyJ" + _made(ALNUM, 20),
        ".",
        "ann@example.com",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        _made(ALNUM, 40),
        "[redacted:key:00000000]",
        "[private]",
        "[redacted:",
        "<private>",
        "</private>",
        "export ",
        "- name: ",
        "value: ",
        "mysql -u root -p",
        "curl -u a:",
        "my ",
        "as my password",
        "use ",
        "Sun&Moon2024",
        "hunter2;x9#k",
        "&",
        "**",
        "<b>",
        "(",
        ")",
        "，",
        "| ",
        "|---|---|\n",
        "$ecret12",
        "to ",
    ]
)


@given(st.lists(_PIECES, max_size=25).map("".join))
@settings(max_examples=examples(200), deadline=None)
def test_twice_is_once(text: str) -> None:
    for rules in (SALTED.with_values(["correcthorse"]).with_patterns(["orse", "r+"]), DEFAULT):
        once = redact(text, rules).text
        assert redact(once, rules) == (once, ())


@given(st.one_of(st.text(max_size=200), st.lists(_PIECES, max_size=25).map("".join)))
@settings(max_examples=examples(200), deadline=None)
def test_what_is_not_read_for_formats_holds_none(text: str) -> None:
    found = [*key_blocks(text), *keys_and_tokens(text), *emails(text)]
    assert may_hold_formats(text) or not found


@given(st.one_of(st.text(max_size=200), st.lists(_PIECES, max_size=25).map("".join)))
@settings(max_examples=examples(150), deadline=None)
def test_findings_are_spans_of_the_text_given(text: str) -> None:
    clean, findings = redact(text, SALTED)
    rest = clean
    last = 0
    for _, start, end in findings:
        assert last <= start < end <= len(text)
        kept = text[last:start]
        assert rest.startswith(kept)
        mark = MARK.match(rest, len(kept))
        assert mark
        rest = rest[mark.end() :]
        last = end
    assert rest == text[last:]


@pytest.mark.timed
@pytest.mark.parametrize(
    "unit",
    [
        "password",
        "password=",
        "password: ",
        "password=a ",
        "密码",
        "密码是",
        "token ",
        "key=key=",
        'password="',
        "my ",
        "-----BEGIN PRIVATE KEY-----\n",
        "-----BEGIN PRIVATE KEY-----\n" + "A" * 64 + "\n",
        "eyJ",
        "eyJaaaaaaaaaa.",
        "://a:",
        "://",
        "a@",
        "a.b@c.",
        "@a.aa",
        "sk-",
        "ghp_",
        "SG.aaaaaaaaaaaaaaaaa.",
        "Cookie: a=b;",
        "a=b; ",
        "Authorization: Digest ",
        "mysql -p",
        "curl -u a:b ",
        "echo a |",
        "M" * 24 + ".",
        '"',
        "\\",
        "{",
        "_",
        "a_",
        "aB1",
        "use x as my ",
        "password for a b c d ",
        "1:AA",
        "?key=aaa",
        "[redacted:",
        "pass:",
        "value: ",
        "\\n",
        "passphrase: ab ab ab ab",
        'secret": "',
        "key\n\n\n\n\n\n\n\nvalue",
        "login -p",
        "password|\n ",
        "my password is a;",
        "my password is a'b",
        "password: <a",
        "password: a(",
        "password: **",
        "password=&amp;",
        "密码是a，",
        "密码是，a1",
        "| password | a ",
        "| password |\n|---|\n| a |\n",
        "-|",
        "-|\n",
        "https://a:b'",
        "https://a:b/c@",
        "curl -u 'a:",
        "mysql -p'a",
        'cookie: a="',
        "password=/a1b/",
    ],
)
@pytest.mark.parametrize("size", sampled((50_000, 150_000), 2))
def test_a_text_made_to_be_slow_is_not(unit: str, size: int) -> None:
    text = unit * (size // len(unit))
    assert within(size / 150_000, lambda: redact(text, DEFAULT)), "seconds; what is quadratic takes minutes"


@pytest.mark.timed
@pytest.mark.parametrize(
    "text",
    [
        "password: " + "eyJa." * 60 + "-",
        "password: '" + "aAa." * 60 + "-'",
        "mysql" * 8_000 + " -p",
        "mariadb-" * 5_000 + " -p",
        "eyJ___" * 20_000 + ".",
    ],
    ids=["names with humps", "quoted", "mysql", "mariadb", "heads of tokens"],
)
def test_what_nearly_is_a_secret_takes_no_time(text: str) -> None:
    assert within(2, lambda: redact(text, DEFAULT)), "seconds; minutes before"


_WORDS = "legal winner thank year wave sausage worth useful legal winner thank yellow"
_CHARACTERS = "的 一 是 在 不 了 有 和 人 这 中 大"


@pytest.mark.parametrize(
    "text",
    [
        *(f"My seed phrase is {_WORDS}", f"seed phrase: {_WORDS}.", f"Recovery phrase:\n{_WORDS}"),
        f"my seed phrase is {_WORDS} please keep it",
        *(f"The mnemonic is `{_WORDS}`", f"助记词：{_CHARACTERS}", f"我的助记词是 {_WORDS}"),
        *(f"助记词：{_CHARACTERS.replace(' ', '')}", f"recovery phrase = {_WORDS} {_WORDS}"),
        "seed words:\n" + "\n".join(f"{number}. {word}" for number, word in enumerate(_WORDS.split(), 1)),
        *("Log in as ann with kettle42x", "sign in as ann@example.org with 'kettle42x'"),
        *(
            "把 kettle42 设为密码",
            "把kettle42x设为我的密码",
            "将密码设为 kettle42",
            "用 kettle42x 作为WiFi密码",
        ),
        *("WiFi是 kettle42x", "WiFi是kettle42x", "contraseña: kettle42x", "mi contraseña es kettle42x"),
        *("mot de passe : kettle42x", "mon mot de passe est kettle42x", "mein Passwort ist kettle42x"),
        *("minha senha é kettle42x", "DB_SENHA=kettle42x", "пароль: kettle42x", "Пароль — kettle42x"),
        *(
            "パスワードは kettle42x です",
            "パスワード：kettle42x",
            "비밀번호는 kettle42x 입니다",
            "비밀번호: kettle42x",
        ),
        *("wachtwoord is kettle42x", "hasło: kettle42x", "la parola: kettle42x", "şifrem: kettle42x"),
        *("Contraseña=kettle42x", "mật khẩu: kettle42x", "heslo: kettle42x", "Kennwort: kettle42x"),
    ],
)
def test_what_people_call_secrets_elsewhere(text: str) -> None:
    clean = redact(text).text
    assert "redacted" in clean
    assert not re.search("ettle|winner|sausage|和 ?人", clean), clean


@pytest.mark.parametrize(
    "text",
    [
        *(
            "seed phrase is a list of words that a wallet shows once",
            "seed phrase:\nnever share it with anybody",
        ),
        "The recovery phrase should never be shared with anybody else online",
        *(
            "助记词是用来恢复钱包的十二个单词",
            "mnemonic devices help people remember long lists when they study",
        ),
        *("Log in as ann with your password", "log in as root with ed25519 key", "把 README.md 设为默认"),
        *("WiFi是关的", "la contraseña es muy larga", "le mot de passe est perdu", "пароль неверный"),
        *("パスワードを忘れた", "비밀번호를 잊었다", "parola d'ordine: amicizia"),
    ],
)
def test_what_only_speaks_of_them_stays(text: str) -> None:
    assert redact(text).text == text
