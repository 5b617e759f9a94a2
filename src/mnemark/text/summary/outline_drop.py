"""Drop from an outline placeholders nobody filled in, examples, and keys without a value."""

import re
from typing import Final

from mnemark.text.markdown.outline import Item, ancestors

_EXAMPLE_HEADING: Final = re.compile(
    r"^[\W_\d]*(?:(?:(?:few[- ]shot|usage|sample|code|some|an?) )?examples?\b|templates?\b|samples?\b|e\.g\.|"
    r"示例|例子|举例|范例|样例|案例|模板)(?!\w* (?:of what|for who))",
    re.IGNORECASE,
)
_EXAMPLE: Final = re.compile(
    r"^[\W_]*(?:(?:good |bad )?examples?(?: \d+)?\s*(?:[:：]|\*\*)|e\.g\.?[,:\s]|for example\b|"
    r"for instance\b|such as:|(?:例如|比如|譬如|举例|示例|例子|例)\d*\s*[:：,，])",
    re.IGNORECASE,
)
_HOLLOW: Final = (
    r"(?:your|the user'?s?|user|agent|add|insert|fill|enter|describe|write|pick|choose|put|list|e\.g|"
    r"optional|something|placeholder|name here|todo|tbd|"
    r"在此|在这里|请|此处|这里|填|输入|你的|您的|待|可选|例如|如[:：])"
)
_PLACEHOLDER: Final = re.compile(
    rf"(?<![(（\[【<_*])[(（\[【<_*]++\s*+{_HOLLOW}[^()（）\[\]【】<>]{{0,120}}[)）\]】>_*]+", re.IGNORECASE
)
_TODO: Final = re.compile(
    r"^[\W_]*(?:TODO|TBD|FIXME|XXX|N/?A|none yet|nothing yet|coming soon|lorem ipsum|待定|待填写?|待补充?|"
    r"待办|暂无|无|略|空)(?:\b|(?=[:：。\W])|$)",
    re.IGNORECASE,
)
_BLANKS: Final = re.compile(r"^[\W_]*$")
_CHECKBOX: Final = re.compile(r"^\[[ xX]\]\s*")
_KEY: Final = re.compile(r"^[*_]*+[^:：\n]{1,60}[*_]*+\s*+[:：][*_]*\s*(?P<value>.*)$", re.DOTALL)


def kept(items: list[Item]) -> list[int]:
    """Places of the items that say something."""
    gone: set[int] = set()
    for at, item in enumerate(items):
        if any(above in gone for above in ancestors(items, at)) or _is_out(items, at):
            gone.add(at)
        elif item.kind == "code" and at and at - 1 in gone and _EXAMPLE.match(items[at - 1].text):
            gone.add(at)  # "Example:" and below it the example
    filled: set[int] = set()
    """Places with something below that stays."""
    for at in range(len(items) - 1, -1, -1):
        if at not in gone and at not in filled and _is_hollow(items, at, gone):
            gone.add(at)
        elif at not in gone:
            filled.add(items[at].parent)
    return [at for at in range(len(items)) if at not in gone]


def _is_out(items: list[Item], at: int) -> bool:
    item = items[at]
    if item.kind == "heading":
        return bool(_EXAMPLE_HEADING.match(item.text) or _PLACEHOLDER.fullmatch(item.text))
    if item.kind == "code":
        return False
    text = _CHECKBOX.sub("", item.text)
    if _EXAMPLE.match(text):
        return True
    key = _KEY.match(text)
    return _says_nothing(text) or bool(key and key["value"] and _says_nothing(key["value"]))


def _says_nothing(text: str) -> bool:
    """Whether it is a placeholder and nothing else."""
    left = _PLACEHOLDER.sub("", text)
    if left != text and _BLANKS.match(left):
        return True
    return bool(_TODO.match(text)) and (
        len(text) < 24 or text.lstrip("*_-[ ").upper().startswith(("TODO", "TBD", "FIXME"))
    )


def _is_hollow(items: list[Item], at: int, gone: set[int]) -> bool:
    """Whether nothing is left of what has nothing below it: a heading, or a key."""
    item = items[at]
    if item.kind == "heading":
        return True
    follows = items[at + 1].kind if at + 1 < len(items) and at + 1 not in gone else ""
    if follows in {"code", "table", "quote"}:  # without its "Do not run:" the code says the opposite
        return False
    text = _CHECKBOX.sub("", item.text)
    key = _KEY.match(text)
    return bool(_BLANKS.match(text)) or bool(key and _BLANKS.match(key["value"]))
