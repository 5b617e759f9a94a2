"""Show Markdown as people read it: without its marks, and without what a file says to programs."""

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.markdown import drop_comments
from mnemark.text.markdown.frontmatter import front_matter

_LEAD: Final = lazy_pattern(r"^[ \t]{0,20}(?:#{1,6} |[-*+] )")
_OWN_LINK: Final = lazy_pattern(r"\[([^\[\]\n]{1,300})\]\((?![a-z]{1,9}:)[^()\s]{1,500}\)")
"""A link to a file of the workspace."""
_LINK: Final = lazy_pattern(r"\[([^\[\]\n]{1,300})\]\(([^()\s]{1,500})\)")
_BOX: Final = lazy_pattern(r"\[([ xX])\](?= )")
_BLANK: Final = lazy_pattern(r"\n{3,}")
_FENCE: Final = "---"


class ChangedLine(NamedTuple):
    """A line that a change added or took out, in words."""

    text: str
    added: bool


def plain(text: str) -> str:
    """Return a line without the marks of Markdown; the box of a task is shown as one."""
    text = _BOX.sub(lambda found: "☐" if found[1] == " " else "☑", without_links(text))
    return _LEAD.sub("", drop_comments(text, blanks=" ")).replace("**", "").strip()


def for_people(text: str) -> str:
    """Return a file without its front matter, the comments that programs left in it, and marks of links."""
    body = text[front_matter(text).end :] if text.startswith(_FENCE) else text
    return _BLANK.sub("\n\n", without_links(drop_comments(body, blanks=" \t"))).strip()


def without_links(text: str) -> str:
    """Return a text with the words of its links; where one leads out of the workspace is shown."""
    return _LINK.sub(r"\1 (\2)", _OWN_LINK.sub(r"\1", text))


def changed_lines(diff: str, most: int) -> Sequence[ChangedLine]:
    """Return the lines that a diff adds and takes out, as far as people wrote them or are to read them."""
    found: list[ChangedLine] = []
    fields = False
    for line in diff.split("\n"):
        sign, rest = line[:1], line[1:]
        if sign in {"+", "-"} and rest == _FENCE:
            fields = not fields
        elif (
            sign in {"+", "-"}
            and not fields
            and not line.startswith(("+++", "---"))
            and (said := plain(rest))
        ):
            found.append(ChangedLine(said, sign == "+"))
    both = Counter(one.text for one in found if one.added) & Counter(
        one.text for one in found if not one.added
    )
    return [one for one in found if one.text not in both][:most]
