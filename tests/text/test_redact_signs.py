"""Every sign, at every place of a value, in every manner of giving it: the whole value is taken out.

Exceptions are written down with their reason, and each of them has to be one: a sign at the edge of a value
may stay where it may as well belong to the text around (`OPENS`, `ENDS`), and what has a certain sign at a
certain place of a certain manner may be no value (`Manner`).
"""

import random
import string
from typing import NamedTuple

import pytest

from mnemark.text.redaction.json import redact_json
from mnemark.text.redaction.redact import redact
from sampled import sampled

ASCII = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
WIDE = "，。；：、！？（）【】《》“”‘’「」『』·…—～＆＠＃￥％＋＝｜＊"
# (beginning, rest) of values: letters and digits in both, a word first, signs in the rest as well.
VALUES = (("hunter2", "x9kq4"), ("Sun", "Moon2024"), ("ab", "cd12!x"))
ENDS = ".,;:)]}>\"'`\\<，。；：、！？）】》”’」』…—（【《“‘「『·～"
"""At the end these may close the sentence, the list or the quotation around it: such a sign may stay."""
OPENS = ":=\"'`<>;,\\，。；：、！？（【《“‘「『”’」』）】》·…—～＆＠＃￥％＋＝｜＊"
"""At the beginning these may open it, or be a pause: such a sign may stay, what follows may not."""


class Manner(NamedTuple):
    """One way to give a value: `{}` stands for it. Signs at which some value stays, and why."""

    text: str
    start: str = ""
    middle: str = ""
    end: str = ""
    why: str = ""


_MASK = "a mask: …x9kq"
_EMPTY = "the empty word"
_CLOSED = "the quotation is over"
_REMARK = "a remark in brackets, an option, an escape"
_VARIABLE = "a variable"
_SHELL = "the shell's own signs"
MANNERS = {
    "said": Manner("The wifi password is {}", "…", "", "", _MASK),
    "said, with more": Manner("my password is {} and the rest is as before", "…", "", "", _MASK),
    "said, full stop": Manner("My password is {}. Good night", "…", "", "", _MASK),
    "said, comma": Manner("my password is {}, thanks", "…", "", "", _MASK),
    "said of something": Manner("password for the router: {}", "…", "", "", _MASK),
    "told after a colon": Manner("Password: {}", "…", "", "", _MASK),
    "in a list of two": Manner("Login: ann, password: {}", "…", "", "", _MASK),
    "changed": Manner("I changed the db password to {} today", "…", "", "", _MASK),
    "beside": Manner("login with user ann and password {}", "(-<[\\{…", "", "", _REMARK),
    "used as": Manner("I use {} as my password", "…", "", "", _MASK),
    "quoted": Manner('password: "{}"'),
    "quoted singly": Manner("password = '{}'"),
    "in backticks": Manner("my password is `{}`"),
    "in curly marks": Manner("my password is “{}”", "", "”", "", _CLOSED),
    "in brackets": Manner("my password is ({})", "\"'`…", "", "", "a quotation of its own; a mask"),
    "in bold": Manner("my password is **{}**", "*…", "", "", "a mask: ***x9kq"),
    "under a bold name": Manner("- **Password:** {}", "…", "", "", _MASK),
    "after a bold name": Manner("**Password**: {}", "…", "", "", _MASK),
    "numbered": Manner("1. Password: {}", "…", "", "", _MASK),
    "bullet": Manner("- wifi password: {}", "…", "", "", _MASK),
    "zh said": Manner("我的密码是{}"),
    "zh said, spaced": Manner("我的密码是 {}。别告诉他"),
    "zh colon": Manner("密码：{}"),
    "zh in a list": Manner("用户名：ann，密码：{}，请勿外传"),
    "zh beside": Manner("账号 ann 密码 {}"),
    "zh changed": Manner("把数据库的密码改为{}"),
    "zh changed, spaced": Manner("密码我改成 {} 了"),
    "zh quoted": Manner("把数据库的密码改为“{}”", "", "”", "", _CLOSED),
    "yaml": Manner("password: {}", "…", "", "", _MASK),
    "yaml below": Manner("db:\n  password: {}\n  port: 1", "…", "", "", _MASK),
    "ini": Manner("password={}", "$…", "", "(),[{", "a variable; an argument, a call with its end below"),
    "toml": Manner("password = {}", "…", "", "", _MASK),
    "env": Manner("DB_PASSWORD={}", "$…", "", "", _VARIABLE),
    "export": Manner("export DB_PASSWORD={}", "$…", "", "", _VARIABLE),
    "json": Manner('{{"password": "{}", "port": 2}}', "", "", "\\", "JSON escapes it"),
    "json in a string": Manner('{{\\"password\\": \\"{}\\"}}', '"', '"', '"', "JSON escapes it"),
    "json, cut": Manner('{{"user": "ann", "password": "{}', "", '"', "", "JSON escapes it"),
    "json without marks": Manner("{{password: {}, port: 2}}", "{…", "", "", "an object"),
    "query": Manner("https://example.net/a?user=ann&password={}&x=1", "…", "", "", _MASK),
    "fragment": Manner("https://example.net/a#password={}&x=1", "…", "", "", _MASK),
    "connection string": Manner("Server=db;User Id=sa;Password={};Timeout=5", "…", "", "", _MASK),
    "statements": Manner("a=db; password={}; b=5", "$(<[{…", "([{", "([{", "a call: `a = 1; password=f(x)`"),
    "cookie": Manner("Cookie: sid={}; a=dark", "\"$';<>\\`{}…", ";", "", "a template; `;` separates"),
    "option": Manner("tool --password {} --verbose", "$(-<[\\{…", "", "", "a variable, option or file"),
    "option =": Manner("tool --password={} --verbose", "$…", "", "", _VARIABLE),
    "command ended": Manner("tool --password={}; ls", "$…", "", "", _VARIABLE),
    "environment of a command": Manner("PGPASSWORD={} psql -h db && ls", "$…", "", "", _VARIABLE),
    "curl": Manner("curl -u ann:{} https://example.net", "\"$';<>`|…", "", "|", _SHELL),
    "curl quoted": Manner("curl -u 'ann:{}' https://example.net", "", "'", "", _CLOSED),
    "mysql": Manner("mysql -u root -p{} app", "\"$';<>`|…", "", "|", _SHELL),
    "sshpass": Manner("sshpass -p '{}' ssh ann@host", "'", "'", "", _CLOSED),
    "netrc": Manner("machine git.example.net login ann password {}", "(-<[\\{…", "", "", _REMARK),
    "login of a URL": Manner("https://ann:{}@example.net/repo", "/…", "", "", "ends the host"),
    "row": Manner("| password | {} |", "|…", "|", "|", "a cell ends"),
    "column": Manner("| user | password |\n|---|---|\n| ann | {} |", "|…", "|", "|", "a cell ends"),
    "name and value in a cell": Manner("| wifi password: {} | home |", "…", "", "", _MASK),
    "bracketed": Manner("(password: {})", "(…", "(", "(", "a call, with the bracket behind it"),
    "xml": Manner("<password>{}</password>", "<…", "<", "<", "no XML holds it"),
    "go": Manner("passwd := {}", "…", "", "", _MASK),
    "private": Manner("<private>{}</private> rest"),
}  # fmt: skip


def _stays(manner: Manner, value: str) -> set[int]:
    """Which characters of a value, given in that manner, are left."""
    text = manner.text.format(value)
    at = text.index(value)
    hidden = {place - at for _, start, end in redact(text).findings for place in range(start, end)}
    return set(range(len(value))) - hidden


def _left(manner: Manner) -> dict[str, str]:
    """Signs by position at which something of a value stays, edges apart."""
    left = {"start": "", "middle": "", "end": ""}
    for sign in ASCII + WIDE:
        for one, two in VALUES:
            values = {"start": sign + one + two, "middle": one + sign + two, "end": one + two + sign}
            for position, value in values.items():
                stays = _stays(manner, value)
                stays -= {0} if position == "start" and sign in OPENS else set()
                stays -= {len(value) - 1} if position == "end" and sign in ENDS else set()
                if stays and sign not in left[position]:
                    left[position] += sign
    return left


@pytest.mark.parametrize("name", sampled(MANNERS, 3))
def test_the_whole_value_goes(name: str) -> None:
    manner = MANNERS[name]
    left = {position: set(signs) for position, signs in _left(manner).items()}
    assert left == {"start": set(manner.start), "middle": set(manner.middle), "end": set(manner.end)}, (
        manner.why
    )


def _made_by_a_machine(dice: random.Random, signs: str) -> str:
    """As password generators do: twelve letters and digits, three signs among them."""
    made = [dice.choice(string.ascii_letters + string.digits) for _ in range(12)]
    made[dice.randrange(12)] = dice.choice(string.digits)
    for place in dice.sample(range(1, 11), 3):
        made[place] = dice.choice(signs)
    return "".join(made)


def test_values_with_several_signs_go_too() -> None:
    dice = random.Random("several signs")
    lost: dict[str, int] = {}
    for name, manner in MANNERS.items():
        signs = "".join(sign for sign in ASCII if sign not in "\"'`\\" + manner.middle)
        lost[name] = sum(bool(_stays(manner, _made_by_a_machine(dice, signs))) for _ in range(50))
    assert sum(lost.values()) <= 0.03 * 50 * len(MANNERS), lost
    assert max(lost.values()) <= 5, lost


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("https://example.net/a?password=ab&cd12!x&page=2", "https://example.net/a?password=@@&page=2"),
        ("Server=db;Password=hunter2;x9#k;Timeout=5", "Server=db;Password=@@;Timeout=5"),
        ("f(user=ann,password=hunter2x,port=22)", "f(user=ann,password=@@,port=22)"),
        ("tool --password=hunter2;x9; make && ls", "tool --password=@@; make && ls"),
        ("export DB_PASSWORD=hunter2&x9 && make", "export DB_PASSWORD=@@ && make"),
        ('{"a": "my password is hunter2;x9", "b": 1}', '{"a": "my password is @@", "b": 1}'),
        ('{"a":"my password is hunter2;x9","b":1}', '{"a":"my password is @@","b":1}'),
        ("say 'my password is hunter2;x9', he said", "say 'my password is @@', he said"),
        ("<td>password: hunter2&x9</td><td>b</td>", "<td>password: @@</td><td>b</td>"),
        ("<b>password: hunter2&x9</b> and more", "<b>password: @@</b> and more"),
        ("| ann | wifi password: hunter2&x9 | home |", "| ann | wifi password: @@ | home |"),
        ("(my password is hunter2&x9), the other", "(my password is @@), the other"),
        ("密码是hunter2&x9，用户名是 ann", "密码是@@，用户名是 ann"),
        ("密码：hunter2;x9。别告诉他", "密码：@@。别告诉他"),
        ("**Password:** hunter2&x9, or ask", "**Password:** @@, or ask"),
        ("PASSWORD=hunter2;x9 # since May", "PASSWORD=@@ # since May"),
        ("|host|password|\n|-|-|\n| a | h2;x&9 |\n|b| |", "|host|password|\n|-|-|\n| a | @@ |\n|b| |"),
        ("password: hunter2x\\nuser: ann", "password: @@\\nuser: ann"),
    ],
)  # fmt: skip
def test_a_sign_with_nothing_glued_to_it_separates(text: str, clean: str) -> None:
    assert redact(text).text == clean.replace("@@", "[redacted:password:00000000]")


@pytest.mark.parametrize(
    "text",
    [
        "password = get();",
        "password = settings.get('password1', None);",
        '"password": dict(fallback=(env_fallback, ["NET_PASSWORD2"])),',
        "new_params['v3Passphrase'] = snmp_v3_credential.get(\n    'x')",
        "client_key=dict(type='path2'),",
        "    pkcs12_passphrase=pkcs12_passphrase,",
        "esxi1_password: @ESXI1_PASSWORD",
        "input[type=password]:focus,input[type=email]:focus",
        "FunctionPass *createFloat2IntPass();",
        "pass :data:`h11.CLIENT` to it",
        "use a password (https://example.net/issues/288)",
        "the password has [8-20 characters]",
        "password: (8 characters or more)",
        "The password is required;see page2",
        "password: none,user: ann2",
        "Wrong password & user1, again",
        "SELECT * FROM users WHERE password=:password1",
        "password=$row2&x=1",
        "the token (OAuth2) and the password (SHA256)",
        "| field | password |\n|---|---|\n| type | VARCHAR(255) |\n| hash | SHA-256 |",
        "| password | string | required |",
        "密码（8 到 20 位）",
        "密码，用户名和 port2",
        "auth(password&user1)",
        "if (password && user2) {",
        "git log --pretty=%s password;ls v1.2",
    ],
)
def test_code_and_talk_with_signs_is_left_alone(text: str) -> None:
    assert redact(text) == (text, ())


def test_a_password_that_begins_like_a_variable_goes() -> None:
    assert redact("my password is $ecret12").text == "my password is [redacted:password:00000000]"
    assert redact_json({"password": "$ecret12"}) == {"password": "[redacted:password:00000000]"}
    for text in ("my password is $PASSWORD", "password: $db_pass1", "password: $HOME/x2", "password: ${PW2}"):
        assert redact(text) == (text, ())


def test_a_mark_is_no_name() -> None:
    text = "token=[redacted:secret:0a1b2c3d],next=ab12cd34 [redacted:password:0a1b2c3d]&x9y8z7"
    assert redact(text) == (text, ())
