"""The formats of issuers (secret_formats.tsv) are redacted in many contexts; what is like them is not."""

import importlib.util
import random
import re
import string
import sys
from pathlib import Path
from types import ModuleType

import pytest

from mnemark.text.redaction.redact import redact

TOOL = Path(__file__).parents[2] / "tools" / "check_redaction.py"
SOURCE = re.compile(r"https://\S+|(?:gitleaks|trufflehog|security-utilities) [\w/-]+")


def _made(alphabet: str, size: int, seed: int = 3) -> str:
    """Made up at run time, so that no scanner takes this file for a leak."""
    dice = random.Random(seed)
    return "".join(dice.choice(alphabet) for _ in range(size))


HEX = "0123456789abcdef"
ALNUM = string.ascii_letters + string.digits
UUID = "-".join(_made(HEX, size, size) for size in (8, 4, 4, 4, 12))


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_redaction", TOOL)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_each_format_names_its_issuer_and_its_source(tool: ModuleType) -> None:
    rows = tool.read_formats()
    assert len({row[0] for row in rows}) >= 100
    assert len({row[1] for row in rows}) == len(rows) >= 250
    assert [row for row in rows if len(row) != 3 or not SOURCE.fullmatch(row[2])] == []


def test_the_formats_of_issuers_are_redacted(tool: ModuleType) -> None:
    cases = tool.read_cases("formats")
    lost = [case.text for case in cases if tool.missed(case)]
    assert len(cases) > 5_000
    assert len(lost) <= 0.01 * len(cases), lost


def test_a_prefix_alone_and_a_key_cut_short_stay(tool: ModuleType) -> None:
    for issuer, form, _ in tool.read_formats():
        prefix = form.partition(" = ")[2] or form
        prefix = prefix.partition("{{")[0]
        if len(prefix) < 3 or prefix.startswith(("https", "bedrock-api-key-")):  # which ends in encoded words
            continue
        for text in (
            f"keys of {issuer} begin with {prefix}, it says",
            f'"{prefix}" stands in front',
            f"{prefix}… or {prefix}...",
            f"{prefix}<your key>",
            f"x{prefix}a1b2c3",
        ):
            assert redact(text) == (text, ())


@pytest.mark.parametrize(
    "text",
    [
        # hashes, ids and encoded data beside harmless names
        f"commit {_made(HEX, 40)}",
        f"sha256:{_made(HEX, 64)} and {_made(HEX, 32)}",
        f'"integrity": "sha512-{_made(ALNUM, 86)}=="',
        f'integrity="sha384-{_made(ALNUM, 64)}" crossorigin',
        f"checksum = {_made(HEX, 64)}",
        f"etag: {_made(HEX, 32)}-5",
        f"id: {UUID}",
        f"request {UUID} took 20 ms",
        f"primary key: {UUID}",
        f"CACHE_KEY={_made(HEX, 32)}",
        f'"tool_use_id": "toolu_{_made(ALNUM, 24)}"',
        f"call_{_made(ALNUM, 24)} chatcmpl-{_made(ALNUM, 29)} msg_{_made(HEX, 48)}",
        f"data:image/png;base64,{_made(ALNUM + '+/', 400)}",
        f"![]({_made(HEX, 32)}.png) {_made(HEX, 20)}.js",
        f"h1:{_made(ALNUM + '+/', 43)}=",
        f"{_made(HEX, 32)}  file-us.txt",
        # types, look-ups, placeholders and code
        "password: null",
        "token: str",
        "token ::= identifier | literal",
        "API_KEY ?= $(shell cat key)",
        "api_key += 1",
        'os.environ["API_KEY"]',
        'getenv("API_TOKEN", "")',
        'getenv("API_TOKEN", "changeme")',
        'os.environ.get("DB_PASSWORD", "<your-password>")',
        'key = process.env.API_KEY || "your-api-key-here"',
        'token = token or "default"',
        'fields = ["password", "username", "token"]',
        'form.get("password")',
        "api_key: <your-key>",
        "API_KEY=${API_KEY}",
        "SECRET_KEY=xxxxxxxxxxxxxxxx",
        "cat token | base64 --decode",
        "echo password | md5sum",
        "api key | meaning",
        "username, password, remember_me",
        "EC_KEY *d2i_ECPrivateKey_bio(BIO *bp, EC_KEY **eckey);",
        "X509_SIG *PKCS12_SAFEBAG_get0_pkcs8(const PKCS12_SAFEBAG *bag);",
        "a function is identified by its name, and grouped by 'kind'",
        "def test_a_very_long_name_of_a_test_with_2_numbers_1(): ...",
        "ossl_der_oid_ripemd160WithRSAEncryption",
        "/etc/passwd, C:\\x.md",
        "curl -u $USER:$PASS https://example.net",
        "live_update_of_the_index_and_of_all_vectors_in_it",
        # prose
        "The key is under the mat, and the token is lost.",
        "Rotate your API keys; an access token expires after 3600 seconds.",
        "密码要每年改一次，密钥放在保险箱里。",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == (text, ())


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("curl -sSu ann:kettle42 https://a.example", "curl -sSu ann:{} https://a.example"),
        ("curl -X POST \\\n  -u ann:kettle42 \\\n  https://a.example", "curl -X POST \\\n  -u ann:{} \\\n  https://a.example"),
        ("ldapsearch -D cn=x -w kettle42 -b y", "ldapsearch -D cn=x -w {} -b y"),
        ("mongosh -u ann -p kettle42 --host x", "mongosh -u ann -p {} --host x"),
        ("sqlcmd -S x -U sa -P kettle42", "sqlcmd -S x -U sa -P {}"),
        ("smbclient //x/y -U ann%kettle42", "smbclient //x/y -U ann%{}"),
        ("CREATE USER ann IDENTIFIED BY 'kettle42';", "CREATE USER ann IDENTIFIED BY '{}';"),
        ('ConvertTo-SecureString "kettle42" -AsPlainText', 'ConvertTo-SecureString "{}" -AsPlainText'),
        ('setenv("DB_PASSWORD", "kettle42")', 'setenv("DB_PASSWORD", "{}")'),
        ("db password | Kettle#42", "db password | {}"),
    ],
)  # fmt: skip
def test_only_the_secret_of_a_command_goes(text: str, clean: str) -> None:
    assert redact(text).text == clean.format("[redacted:password:00000000]")


@pytest.mark.parametrize("prefix", ["acme_live_", "acme_sk_", "acme_pat_", "zz_"])
def test_a_key_of_an_unknown_issuer_is_redacted(prefix: str) -> None:
    texts = [f"use {prefix}{_made(ALNUM, 32, seed)} for that" for seed in range(40)]
    left = [text for text in texts if redact(text).text != "use [redacted:key:00000000] for that"]
    assert len(left) <= 2, left  # those with hardly a digit


_MIXED = (
    "here it is: {}",
    "please use {} for Acme",
    'new AcmeClient("{}")',
    "acme = {}",
    "密钥给你：{}",
    "- {}\n",
    "{}",
)


@pytest.mark.parametrize("context", _MIXED)
@pytest.mark.parametrize(
    ("alphabet", "size"), [(ALNUM, 28), (ALNUM, 44), (ALNUM + "-_", 64), (ALNUM[:26] + string.digits, 40)]
)
def test_a_word_that_only_a_machine_writes_is_redacted(context: str, alphabet: str, size: int) -> None:
    words = [_made(alphabet, size, seed) for seed in range(60)]
    left = [word for word in words if word.strip("-_") in redact(context.format(word)).text]
    assert len(left) <= 12, left  # chance makes some that hardly change between letters and digits


@pytest.mark.parametrize(
    "text",
    [
        f"commit {_made(HEX, 40)}",
        f"id {UUID}",
        f"run {_made('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 26)}",
        f"toolu_{_made(ALNUM, 24)}",
        f"chatcmpl-{_made(ALNUM, 29)}",
        f"https://docs.example.com/d/{_made(ALNUM, 44)}/edit",
        f"files/{_made(ALNUM, 30)}.bin",
        f"sha512-{_made(ALNUM, 86)}==",
        f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{_made(ALNUM, 43)} ann@host",
        f"0x{_made(HEX + 'ABCDEF', 40)}",
        f"1{_made('123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz', 33)}",
        "\n".join(_made(ALNUM, 64, seed) for seed in range(6)),
        "MCC_GetSlowCompTauX20Enable test-8000Hz-le-3ch-5S-24bit.wav _ZN4node16NodeMainInstance3RunEv",
        "ELBSecurityPolicy-TLS13-1-2-Ext1-2021-06 Test64BitMatrixSameAsArray",
        "a database id cjld2cjxh0000qzrmn831i7rn",
        f"SHA256:{_made(ALNUM, 43)}",
        f"wallet bc1q{_made('023456789acdefghjklmnpqrstuvwxyz', 38)}",
        f"file bafy{_made('234567abcdefghijklmnopqrstuvwxyz', 55)}",
        f"peer 12D3KooW{_made('123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz', 44)}",
        f"![a](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA{_made(ALNUM, 40)})",
        f"<!-- mnemark:begin user | {_made(ALNUM, 40)} {_made(ALNUM, 44)} | without: {_made(ALNUM, 48)} -->",
    ],
)
def test_ids_hashes_public_keys_and_data_stay(text: str) -> None:
    assert redact(text).text == text
