"""Measure redaction: how many made-up secrets it takes out, and how many ordinary lines it touches.

    python tools/check_redaction.py                     both written sets, and the standard library
    python tools/check_redaction.py --set open --missed what was missed, form by form
    python tools/check_redaction.py --set formats       the formats of issuers, in many contexts
    python tools/check_redaction.py FOLDER …            share of the lines of all text files there
    python tools/check_redaction.py --show 40 FOLDER    with examples

The secrets are in tests/text (redact_*.txt, secret_formats.tsv), as templates that are filled at run time
from a fixed seed.
"""

import argparse
import random
import re
import string
import sys
import sysconfig
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from mnemark.text.redaction.redact import redact

SETS = Path(__file__).resolve().parent.parent / "tests" / "text"
_SUFFIXES = {".py", ".md", ".txt", ".json", ".jsonl", ".toml", ".cfg", ".rst", ".yaml", ".yml"}
_HOLE = re.compile(r"\{\{(?:=(?P<words>[^}]*)|(?P<shape>[a-z0-9]+)(?::(?P<size>[^}]*))?)\}\}")
_B64 = string.ascii_letters + string.digits
_ALPHABETS = {
    "alnum": _B64,
    "b64": _B64 + "+/",
    "b64url": _B64 + "-_",
    "hex": "0123456789abcdef",
    "upper": string.ascii_uppercase + "234567",
    "digits": string.digits,
    "pw": _B64 + "!#%^*+=?~@",
    "lower": string.ascii_lowercase + string.digits,
    "alpha": string.ascii_letters,
    "bech32": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "entra": _B64 + "-_~.",
}
_ALONE = r"""
{}
use {} for that
key: {}, thanks
"{}"
x = '{}'
[{}]
({})
我的是{}，请保存
- {}
url?x={}&y=1
a\n {}\n b
<b>{}</b>
{}.
`{}`
| name | {} |
""".strip().splitlines()
"""Contexts of formats that are secrets wherever they stand."""
_BESIDE = r"""
{upper}={}
{upper} = "{}"
{upper} := "{}"
{upper} ::= "{}"
{upper} ?= {}
{upper} += "{}"
export {upper}={}
ENV {upper} {}
setx {upper} "{}"
docker run -e {upper}={} image
- name: {upper}\n  value: {}
{"name": "{upper}", "value": "{}"}
getenv("{upper}", "{}")
os.environ.get("{upper}", "{}")
{lower}: {}
{lower}: '{}'
{lower}: |\n  {}
{lower}: >\n  {}
{"{lower}": "{}"}
{\"{lower}\": \"{}\"}
{camel} = '{}'
{camel} := `{}`
string {camel} = "{}";
var {camel} string = "{}"
val {camel}: String = "{}"
const {camel} = process.env.{upper} || "{}";
${camel} .= "{}"
"{camel}" => "{}"
<{camel}>{}</{camel}>
<{camel}>\n    {}\n</{camel}>
<add key="{camel}" value="{}" />
{camel},{},
tool --{kebab} {} --verbose
tool --{kebab}={}
| {words} | {} |
{words} | {}
the {words} is {}
""".strip().splitlines()
"""Contexts of formats that are secrets beside a name."""
_FORMAT = re.compile(r"(?:(?P<name>\w+) = )?(?P<format>.+)")


class Case(NamedTuple):
    """A made-up text and the spans in it that are secret."""

    form: str
    text: str
    secrets: tuple[tuple[int, int], ...]


def read_cases(name: str) -> list[Case]:
    """The set `name` ("open", "sealed" or "formats"), filled from a fixed seed."""
    dice = random.Random(f"mnemark {name}")
    if name == "formats":
        return [_fill(f"{row[0]} {text}", dice) for row in read_formats() for text in _in_contexts(row[1])]
    lines = (SETS / f"redact_{name}.txt").read_text("utf-8").splitlines()
    return [_fill(line, dice) for line in lines if line and not line.startswith("#")]


def read_formats() -> list[list[str]]:
    """The formats of issuers: issuer, format, source."""
    lines = (SETS / "secret_formats.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return [[row[0].replace(" ", "-"), *row[1:]] for row in rows]


def _in_contexts(text: str) -> Iterator[str]:
    found = _FORMAT.fullmatch(text)
    name, form = found.group("name", "format") if found else (None, text)
    words = (name or "").lower().replace("__", "_").split("_")
    camel = words[0] + "".join(map(str.capitalize, words[1:]))
    forms = {
        "upper": (name or "").upper(),
        "lower": "_".join(words),
        "kebab": "-".join(words),
        "camel": camel,
    }
    forms["words"] = " ".join(words)
    for context in _BESIDE if name else _ALONE:
        filled = re.sub(r"\{(upper|lower|kebab|camel|words)\}", lambda found: forms[found[1]], context)
        yield filled.replace("{}", form)


def missed(case: Case) -> bool:
    """Whether any part of a secret of the case is left."""
    found = redact(case.text).findings
    hidden = {at for _, start, end in found for at in range(start, end)}
    return any(not hidden.issuperset(range(start, end)) for start, end in case.secrets)


def _fill(line: str, dice: random.Random) -> Case:
    form, template = line.split(" ", 1)
    template = re.sub(r"\\n(?![a-z])", "\n", template.replace("\\n ", "\n ")) if form != "json" else template
    text = ""
    secrets: list[tuple[int, int]] = []
    last = 0
    for hole in _HOLE.finditer(template):
        text += template[last : hole.start()]
        value = hole["words"] or _made(hole["shape"], hole["size"] or "", dice, escaped=form == "json")
        secrets.append((len(text), len(text) + len(value)))
        text += value
        last = hole.end()
    return Case(form, text + template[last:], tuple(secrets))


def _made(shape: str, size: str, dice: random.Random, *, escaped: bool) -> str:
    if shape in ("pem", "pemopen"):
        body = [_drawn("b64", 64, dice) for _ in range(4)]
        lines = [f"-----BEGIN {size}-----", *body]
        lines += [f"-----END {size}-----"] if shape == "pem" else []
        return ("\\n" if escaped else "\n").join(lines)
    if shape == "jwt":
        return f"eyJ{_drawn('b64url', 30, dice)}.eyJ{_drawn('b64url', 60, dice)}.{_drawn('b64url', 43, dice)}"
    if shape == "uuid":
        return "-".join(_drawn("hex", count, dice) for count in (8, 4, 4, 4, 12))
    return _drawn(shape, int(size), dice)


def _drawn(alphabet: str, size: int, dice: random.Random) -> str:
    return "".join(dice.choice(_ALPHABETS[alphabet]) for _ in range(size))


def report_set(name: str, *, show: bool) -> bool:
    """Print the share of the set's cases that are taken out whole; whether it is 95 % or more."""
    cases = read_cases(name)
    lost = [case for case in cases if missed(case)]
    print(f"{name}: {len(cases) - len(lost)} of {len(cases)} = {1 - len(lost) / len(cases):.1%}")
    forms = Counter(case.form for case in cases)
    lost_forms = Counter(case.form for case in lost)
    print("  " + ", ".join(f"{form} {count - lost_forms[form]}/{count}" for form, count in forms.items()))
    for case in lost if show else ():
        print(f"  missed {case.form}: {case.text!r}\n      -> {redact(case.text).text!r}")
    return len(lost) <= 0.05 * len(cases)


def texts(folder: Path) -> Iterator[str]:
    """All text files below `folder`, or the one file."""
    for path in [folder] if folder.is_file() else sorted(folder.rglob("*")):
        if path.suffix.lower() in _SUFFIXES and path.is_file() and "site-packages" not in path.parts:
            yield path.read_text("utf-8", errors="replace")


def report_lines(folder: Path, *, show: int) -> bool:
    """Print the share of lines with findings, e-mail addresses apart; whether it is 0.1 % or less."""
    lines = size = 0
    seconds = 0.0
    touched: Counter[str] = Counter()
    flagged = 0
    examples: list[str] = []
    for text in texts(folder):
        begin = time.process_time()
        found = redact(text).findings
        seconds += time.process_time() - begin
        lines += text.count("\n") + 1
        size += len(text.encode("utf-8", "replace"))
        rows: set[int] = set()
        for kind, start, end in found:
            touched[kind] += 1
            if kind != "email":
                first = text.count("\n", 0, start)
                rows.update(range(first, first + text.count("\n", start, end) + 1))
                around = text[max(0, start - 50) : min(end, start + 60) + 12]
                examples.append(f"{kind:14} {text[start:end][:40]!r:45} {around!r}")
        flagged += len(rows)
    print(f"{folder}: {flagged} of {lines} lines = {flagged / max(1, lines):.4%}, e-mail {touched['email']}")
    speed = size / 1e6 / max(seconds, 1e-9)
    print(f"  {size / 1e6:.1f} MB in {seconds:.1f} s of CPU = {speed:.1f} MB/s; {dict(touched)}")
    for example in random.Random(1).sample(examples, min(show, len(examples))):
        print("  ", example)
    return flagged <= 0.001 * lines


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--set", choices=("open", "sealed", "formats"), action="append", default=[])
    parser.add_argument("--missed", action="store_true", help="print what of the sets was missed")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print N findings")
    options = parser.parse_args()
    folders = options.folders
    names = options.set
    if not folders and not names:
        names, folders = ["open", "sealed"], [Path(sysconfig.get_path("stdlib"))]
    reached = [report_set(name, show=options.missed) for name in names]
    reached += [report_lines(folder, show=options.show) for folder in folders]
    return 0 if all(reached) else 1


if __name__ == "__main__":
    sys.exit(main())
