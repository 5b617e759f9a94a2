"""Say what is forgotten, and where it stands or may still stand, as people call things."""

from collections.abc import Iterable, Sequence

from mnemark.files import layout
from mnemark.files.names import split_ref
from mnemark.memory.forgetting.receipt import ErasedPlace, ForgottenItem
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.review.explain import fact_named
from mnemark.present.facts import sentence
from mnemark.present.plain import plain
from mnemark.present.sources import place
from mnemark.present.words import Translated, Words


def item(ws: OpenWorkspace, one: ForgottenItem, words: Words) -> str:
    """Return what an item says: a fact as a sentence, others as they begin."""
    fact = fact_named(ws, one.id) if one.kind == "fact" else None
    return sentence(fact, words) if fact is not None and one.words else plain(one.words)


def kind(one: ForgottenItem) -> str:
    """Return what an item is, as a key of the words: what tools did is a turn that nobody said."""
    found = layout.place(split_ref(one.ref)[0]) if one.ref else None
    return "tool call" if one.kind == "turn" and found is not None and found.role == "journal" else one.kind


def places(ws: OpenWorkspace, found: Iterable[ErasedPlace], words: Words) -> Sequence[str]:
    """Return where words stand, or stood: people's files by name, those that mnemark makes in a number."""
    paths = dict.fromkeys(one.path for one in found)
    own = [path for path in paths if not path.startswith(f"{layout.PRIVATE}/")]
    named = list(dict.fromkeys(place(ws, path, words) for path in own))
    if derived := len(paths) - len(own):
        made = words.count(derived, "1 file that mnemark makes itself", "{n} files that mnemark makes itself")
        named.append(made)
    return named


def copy(ws: OpenWorkspace, told: str, words: Words) -> Translated:
    """Return what a receipt says of a copy that may remain, with its place in words."""
    ref, mark, rest = told.partition(": ")
    if not mark or layout.place(split_ref(ref)[0]) is None:
        return words.told(told)
    said, where = words.told(told), place(ws, ref, words)
    if not said.lang:
        return Translated(said.text.replace(ref, where))
    said = words.told(rest)
    return Translated(f"{where}: {said.text}", said.lang)
